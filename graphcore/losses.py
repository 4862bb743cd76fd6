"""`tf.losses`: losses that are kept in a collection, and their sum.

Source: tensorflow/python/ops/losses (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import not_yet
from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, get_collection, get_default_graph, name_scope
from .dtypes import float32
from .errors import InvalidValueError
from .op import raw_ops
from .ops import nn_loss
from .ops.array_create import ones_like, tf_range, zeros_like
from .ops.array_select import where
from .ops.array_shape import tf_rank, tf_shape, tf_size
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_sum
from .weights_broadcast import (
    assert_broadcastable,
    broadcast_weights,
    remove_squeezable_dimensions,
    squeezed_weights,
)


class Reduction:
    """How weighted losses become one number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Refuses what is none of them.

        Raises:
            ValueError: `key` is none.
        """
        if key not in cls.all():
            raise InvalidValueError(f"Invalid Reduction Key {key}.")


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """The weighted loss, added to a collection.

    Args:
        losses: Losses of any shape.
        weights: A scalar, or a tensor of the rank of `losses`, each dimension 1 or as theirs.
        scope: Name scope.
        loss_collection: Where to keep it; None for nowhere.
        reduction: See `Reduction`.

    Raises:
        ValueError: The weights do not fit, or `reduction` is unknown.
    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", [losses, weights]),
        get_default_graph().control_dependencies([assert_broadcastable(weights, losses)]),
    ):
        losses = convert_to_tensor(losses)
        kind = losses.dtype
        losses = tf_cast(losses, float32)
        weights = tf_cast(weights, float32)
        loss = losses * weights
        if reduction != Reduction.NONE:
            loss = reduce_sum(loss)
        if reduction == Reduction.MEAN:
            loss = _safe_mean(loss, reduce_sum(ones_like(losses) * weights))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            loss = _safe_mean(loss, _num_present(losses, weights))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = _safe_mean(loss, _num_elements(losses))
        loss = tf_cast(loss, kind)
        add_loss(loss, loss_collection)
        return loss


def _safe_mean(losses: Any, count: Any) -> Any:
    return raw_ops.DivNoNan(reduce_sum(losses), count, name="value")


def _num_elements(losses: Any) -> Any:
    with name_scope(None, "num_elements", [losses]) as scope:
        return tf_cast(tf_size(losses, name=scope), losses.dtype)


def _num_present(losses: Any, weights: Any, per_batch: bool = False) -> Any:
    """How many losses have a weight other than 0, in all or (batch, 1, ...)."""
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = tf_cast(weights, float32)
        present = where(raw_ops.Equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return reduce_sum(present, tf_range(1, tf_rank(present)), keepdims=True, name=scope)
        return reduce_sum(present, name=scope)


def _require(**given: Any) -> None:
    for name, value in given.items():
        if value is None:
            raise InvalidValueError(f"{name} must not be None.")


def _floats(labels: Any, predictions: Any) -> tuple[Any, Any]:
    """Both as float32, of one shape."""
    predictions, labels = tf_cast(predictions, float32), tf_cast(labels, float32)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, predictions


def _loss(default_scope: str, function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def loss(
        labels: Any,
        predictions: Any,
        weights: Any = 1.0,
        scope: str | None = None,
        loss_collection: str | None = GraphKeys.LOSSES,
        reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    ) -> Any:
        _require(labels=labels, predictions=predictions)
        with name_scope(scope, default_scope, [predictions, labels, weights]) as inner:
            losses = function(*_floats(labels, predictions))
            return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)

    loss.__doc__ = f"""`tf.losses.{default_scope}` of labels and predictions of one shape.

    See `compute_weighted_loss` for the other arguments.

    Raises:
        ValueError: The shapes do not fit, or labels or predictions are None.
    """
    loss.__name__ = default_scope
    return loss


mean_squared_error = _loss(
    "mean_squared_error", lambda labels, predictions: raw_ops.SquaredDifference(predictions, labels)
)
absolute_difference = _loss(
    "absolute_difference", lambda labels, predictions: raw_ops.Abs(raw_ops.Sub(predictions, labels))
)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Any:
    """1 minus the scalar product along `axis` of labels and predictions, which have unit length already.

    Args:
        labels: A tensor.
        predictions: A tensor of its shape.
        axis: The axis of the vectors.
        weights: See `compute_weighted_loss`, as the next ones; its dimension along `axis` is 1.
        scope: Name scope.
        loss_collection: A collection.
        reduction: See `Reduction`.
        dim: Old name of `axis`.

    Raises:
        ValueError: No axis is given, the shapes do not fit, or labels or predictions are None.
    """
    axis = dim if axis is None else axis
    if axis is None:
        raise InvalidValueError("You must specify 'axis'.")
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as inner:
        labels, predictions = _floats(labels, predictions)
        losses = 1 - reduce_sum(raw_ops.Mul(predictions, labels), (axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """`max(0, 1 - (2 * labels - 1) * logits)`, labels 0 or 1; see `compute_weighted_loss` for the rest.

    Raises:
        ValueError: The shapes do not fit, or labels or logits are None.
    """
    _require(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as inner:
        labels, logits = _floats(labels, logits)
        all_ones = ones_like(labels)
        signs = raw_ops.Sub(2 * labels, all_ones)
        losses = raw_ops.Relu(raw_ops.Sub(all_ones, raw_ops.Mul(signs, logits)))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Half the squared error up to an error of `delta`, growing linearly beyond (Huber, 1964).

    See `compute_weighted_loss` for the other arguments.

    Raises:
        ValueError: The shapes do not fit, or labels or predictions are None.
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as inner:
        labels, predictions = _floats(labels, predictions)
        error = raw_ops.Abs(raw_ops.Sub(predictions, labels))
        quadratic = raw_ops.Minimum(error, delta)
        linear = raw_ops.Sub(error, quadratic)
        half = convert_to_tensor(0.5, quadratic.dtype)
        losses = half * (quadratic * quadratic) + delta * linear
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """`-labels * log(predictions) - (1 - labels) * log(1 - predictions)`; see `compute_weighted_loss`.

    Raises:
        ValueError: The shapes do not fit, or labels or predictions are None.
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as inner:
        labels, predictions = _floats(labels, predictions)
        losses = -raw_ops.Mul(labels, raw_ops.Log(predictions + epsilon)) - raw_ops.Mul(
            1 - labels, raw_ops.Log(1 - predictions + epsilon)
        )
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Any:
    """The mean over pairs of elements of an example of the squared error of their difference.

    Args:
        labels: (batch, ...).
        predictions: A tensor of its shape.
        weights: A scalar, or (batch, 1, ...).
        scope: Name scope.
        loss_collection: Where to keep it; None for nowhere.

    Raises:
        ValueError: The shapes do not fit, or labels or predictions are None.
    """
    _require(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights, labels = tf_cast(weights, float32), tf_cast(labels, float32)
        with get_default_graph().control_dependencies([assert_broadcastable(weights, labels)]):
            labels, predictions = _floats(labels, predictions)
            errors = raw_ops.Sub(predictions, labels)
            axes = tf_range(1, tf_rank(errors))
            squares = reduce_sum(raw_ops.Square(errors), axes, keepdims=True)
            count = _num_present(errors, weights, per_batch=True)
            first = 2.0 * raw_ops.DivNoNan(squares, raw_ops.Maximum(count - 1, 0.0), name="value")
            total = raw_ops.Square(reduce_sum(errors, axes, keepdims=True))
            pairs = raw_ops.Maximum(count * (count - 1), 0.0)
            second = 2.0 * raw_ops.DivNoNan(total, pairs, name="value")
            loss = reduce_sum((first - second) * weights)
            mean = where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")
            add_loss(mean, loss_collection)
            return mean


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of softmax(logits) with one-hot labels of shape (batch, classes).

    Args:
        onehot_labels: The probabilities.
        logits: A tensor of their shape.
        weights: See `compute_weighted_loss`, as the next ones; (batch,).
        label_smoothing: How much of each label is given to all classes alike.
        scope: Name scope.
        loss_collection: A collection.
        reduction: See `Reduction`.

    Raises:
        ValueError: The shapes do not fit, or labels or logits are None.
    """
    _require(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as inner:
        logits = convert_to_tensor(logits)
        labels = tf_cast(onehot_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            classes = tf_cast(tf_shape(labels)[-1], logits.dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = raw_ops.StopGradient(labels, name="labels_stop_gradient")
        losses = nn_loss.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of softmax(logits) with class numbers of shape (batch,) or (batch, 1).

    See `compute_weighted_loss` for the other arguments.

    Raises:
        ValueError: The shapes do not fit, or labels or logits are None.
    """
    _require(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as inner:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = squeezed_weights(weights, labels)
        losses = nn_loss.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of sigmoid(logits) with labels between 0 and 1 of the same shape.

    See `softmax_cross_entropy` for the arguments.

    Raises:
        ValueError: The shapes do not fit, or labels or logits are None.
    """
    _require(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as inner:
        logits = convert_to_tensor(logits)
        labels = tf_cast(multi_class_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_loss.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses of a collection."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses that regularizers added."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Any:
    """The sum of the regularization losses; 0 where there are none."""
    found = get_regularization_losses(scope)
    return raw_ops.AddN(found, name=name) if found else convert_to_tensor(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """The sum of all losses that were added.

    Raises:
        ValueError: There are none.
    """
    found = get_losses(scope)
    if add_regularization_losses:
        found += get_regularization_losses(scope)
    if not found:
        raise InvalidValueError("There are no losses to sum up")
    return raw_ops.AddN(found, name=name)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)
