"""`tf.losses`: losses that are kept in a collection, and their sum.

Source: tensorflow/python/ops/losses (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import not_yet
from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, get_collection, name_scope
from .errors import InvalidValueError
from .op import raw_ops
from .ops import nn_loss
from .ops.array_create import ones_like
from .ops.array_shape import squeeze
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_sum


class Reduction:
    """How weighted losses become one number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS


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
        weights: A scalar, or a tensor that broadcasts to `losses`.
        scope: Name scope.
        loss_collection: Where to keep it; None for nowhere.
        reduction: See `Reduction`.
    """
    with name_scope(scope, "weighted_loss", [losses]):
        losses = convert_to_tensor(losses)
        kind = losses.dtype
        losses = tf_cast(losses, "float32")
        weights = tf_cast(convert_to_tensor(weights), "float32")
        weighted = losses * weights
        loss = weighted if reduction == Reduction.NONE else reduce_sum(weighted)
        if reduction == Reduction.MEAN:
            loss = _safe(loss, reduce_sum(ones_like(losses) * weights))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            loss = _safe(loss, _present(losses, weights))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = _safe(loss, tf_cast(raw_ops.Size(losses), "float32"))
        loss = tf_cast(loss, kind)
        if loss_collection:
            add_to_collection(loss_collection, loss)
        return loss


def _safe(total: Any, count: Any) -> Any:
    return raw_ops.DivNoNan(total, count, name="value")


def _present(losses: Any, weights: Any) -> Any:
    present = raw_ops.Select(
        raw_ops.Equal(weights, 0.0), raw_ops.ZerosLike(weights), raw_ops.OnesLike(weights)
    )
    return reduce_sum(ones_like(losses) * present, name="num_present")


def _pair(labels: Any, predictions: Any) -> tuple[Any, Any]:
    if labels is None:
        raise InvalidValueError("labels must not be None.")
    if predictions is None:
        raise InvalidValueError("predictions must not be None.")
    predictions = tf_cast(convert_to_tensor(predictions), "float32")
    labels = tf_cast(convert_to_tensor(labels), "float32")
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
        with name_scope(scope, default_scope, [predictions, labels]) as inner:
            return compute_weighted_loss(
                function(*_pair(labels, predictions)), weights, inner, loss_collection, reduction
            )

    loss.__doc__ = (
        f"`tf.losses.{default_scope}` of labels and predictions of one shape; see `compute_weighted_loss`."
    )
    return loss


mean_squared_error = _loss(
    "mean_squared_error", lambda labels, predictions: raw_ops.SquaredDifference(predictions, labels)
)
absolute_difference = _loss(
    "absolute_difference", lambda labels, predictions: raw_ops.Abs(predictions - labels)
)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """`-labels * log(predictions) - (1 - labels) * log(1 - predictions)`."""
    with name_scope(scope, "log_loss", [predictions, labels]) as inner:
        labels, predictions = _pair(labels, predictions)
        losses = -labels * raw_ops.Log(predictions + epsilon) - (1 - labels) * raw_ops.Log(
            1 - predictions + epsilon
        )
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of softmax(logits) with one-hot labels of shape (batch, classes)."""
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels]) as inner:
        logits = convert_to_tensor(logits)
        labels = tf_cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = labels.get_shape()[1].value
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        losses = nn_loss.softmax_cross_entropy_with_logits_v2(
            labels=raw_ops.StopGradient(labels), logits=logits
        )
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Any:
    """Cross entropy of softmax(logits) with class numbers of shape (batch,) or (batch, 1)."""
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels]) as inner:
        labels, logits = convert_to_tensor(labels), convert_to_tensor(logits)
        ranks = labels.get_shape().ndims, logits.get_shape().ndims
        if None not in ranks and ranks[0] == ranks[1]:
            labels = squeeze(labels, [-1])
        losses = nn_loss.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
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
    """Cross entropy of sigmoid(logits) with labels between 0 and 1 of the same shape."""
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels]) as inner:
        logits = convert_to_tensor(logits)
        labels = tf_cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = nn_loss.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
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
