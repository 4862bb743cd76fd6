"""The metrics that are means: of errors, of right answers, of classes.

Source: tensorflow/python/ops/metrics_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .confusion import confusion_matrix
from .convert import convert_to_tensor
from .default import add_to_collections, get_default_graph
from .dtypes import float32, float64, int64
from .metric_base import Metric, aligned, mean, metric_variable, non_negative_fraction, published
from .op import raw_ops
from .ops.array_create import ones, ones_like, zeros_like
from .ops.array_select import where
from .ops.array_shape import tf_reshape
from .ops.math_binary import tf_div
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_mean, reduce_sum
from .ops.state_scatter import scatter_add
from .variable_scope import variable_scope
from .variables import assign_add
from .weights_broadcast import broadcast_weights, remove_squeezable_dimensions


def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How often predictions equal labels; see `tf.metrics.mean` for the other arguments.

    Raises:
        ValueError: The shapes do not fit.
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions = tf_cast(predictions, labels.dtype)
    is_correct = tf_cast(raw_ops.Equal(predictions, labels), float32)
    return mean(is_correct, weights, metrics_collections, updates_collections, name or "accuracy")


def _mean_error(default_name: str, text: str, error: Callable[[Any, Any], Any]) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        predictions, labels, weights = aligned(predictions, labels, weights)
        errors = error(labels, predictions)
        return mean(errors, weights, metrics_collections, updates_collections, name or default_name)

    metric.__name__ = default_name
    metric.__doc__ = f"""{text}; see `tf.metrics.mean` for the other arguments.

    Raises:
        ValueError: The shapes do not fit.
    """
    return metric


mean_absolute_error = _mean_error(
    "mean_absolute_error",
    "The mean of absolute errors",
    lambda labels, predictions: raw_ops.Abs(predictions - labels),
)
mean_squared_error = _mean_error(
    "mean_squared_error",
    "The mean of squared errors",
    lambda labels, predictions: raw_ops.SquaredDifference(labels, predictions),
)


def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The root of the mean of squared errors; see `tf.metrics.mean` for the other arguments.

    Raises:
        ValueError: The shapes do not fit.
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    value, update = mean_squared_error(
        labels, predictions, weights, None, None, name or "root_mean_squared_error"
    )
    return published(
        metrics_collections, updates_collections, lambda: raw_ops.Sqrt(value), lambda: raw_ops.Sqrt(update)
    )


def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """1 minus the mean scalar product along `dim`; see `tf.metrics.mean` for the other arguments.

    Raises:
        ValueError: The shapes do not fit.
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    products = reduce_sum(raw_ops.Mul(predictions, labels), [dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = raw_ops.Sub(1.0, value), raw_ops.Sub(1.0, update)
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of absolute errors divided by `normalizer`, 0 where that is 0.

    See `tf.metrics.mean` for the other arguments.

    Raises:
        ValueError: The shapes do not fit.
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(normalizer.get_shape())
    errors = where(
        raw_ops.Equal(normalizer, convert_to_tensor(0.0, normalizer.dtype)),
        zeros_like(labels),
        tf_div(raw_ops.Abs(labels - predictions), normalizer),
    )
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of each element over batches; see `tf.metrics.mean` for the arguments.

    Returns:
        (value, update) in the shape of `values`, which is known.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = tf_cast(values, float32)
        total = metric_variable(values.get_shape(), float32, name="total_tensor")
        count = metric_variable(values.get_shape(), float32, name="count_tensor")
        number = ones_like(values)
        if weights is not None:
            values, _, weights = aligned(values, weights=weights)
            weights = broadcast_weights(tf_cast(weights, float32), values)
            values = raw_ops.Mul(values, weights)
            number = raw_ops.Mul(number, weights)
        new_total = assign_add(total, values)
        with get_default_graph().control_dependencies([values]):
            new_count = assign_add(count, number)
        return published(
            metrics_collections,
            updates_collections,
            lambda: non_negative_fraction(total, count, "value"),
            lambda: non_negative_fraction(new_total, new_count, "update_op"),
        )


def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """How many values lie below `threshold`, a fraction; see `tf.metrics.mean` for the other arguments."""
    below = tf_cast(raw_ops.Less(values, threshold), float32)
    return mean(
        below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold"
    )


def _flat(tensor: Any) -> Any:
    rank = tensor.get_shape().ndims
    return tf_reshape(tensor, [-1]) if rank is None or rank > 1 else tensor


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of how often their examples are predicted to be of them.

    Args:
        labels: Class numbers of any shape.
        predictions: Class numbers of that shape.
        num_classes: Number of classes.
        weights: What each example counts, of that shape; or None.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name of the variable scope.

    Returns:
        (mean, update); the update gives the classes' accuracies, (num_classes,).

    Raises:
        ValueError: The shapes do not fit.
    """
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(tf_cast(labels, int64))
        predictions = _flat(convert_to_tensor(predictions))
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        total = metric_variable([num_classes], float32, name="total")
        count = metric_variable([num_classes], float32, name="count")
        number = ones([raw_ops.Size(labels)], float32)
        predictions = tf_cast(predictions, labels.dtype)
        is_correct = tf_cast(raw_ops.Equal(predictions, labels), float32)
        if weights is not None:
            weights = tf_cast(_flat(convert_to_tensor(weights)), float32)
            is_correct, number = is_correct * weights, number * weights
        new_total = scatter_add(total, labels, number)
        new_count = scatter_add(count, labels, is_correct)
        return published(
            metrics_collections,
            updates_collections,
            lambda: reduce_mean(non_negative_fraction(count, total), name="mean_accuracy"),
            lambda: non_negative_fraction(new_count, new_total, "update_op"),
        )


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over classes of intersection divided by union of labels and predictions.

    See `mean_per_class_accuracy` for the arguments.

    Returns:
        (mean, update); the update gives the confusion matrix after it.

    Raises:
        ValueError: The shapes do not fit.
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        matrix = metric_variable([num_classes, num_classes], float64, name="total_confusion_matrix")
        predictions, labels = _flat(tf_cast(predictions, int64)), _flat(tf_cast(labels, int64))
        if weights is not None:
            weights = _flat(convert_to_tensor(weights))
        current = confusion_matrix(
            labels, predictions, tf_cast(num_classes, int64), dtype=float64, weights=weights
        )
        update = assign_add(matrix, current)

        def value() -> Any:
            rows = tf_cast(reduce_sum(matrix, 0), float32)
            columns = tf_cast(reduce_sum(matrix, 1), float32)
            both = tf_cast(raw_ops.DiagPart(matrix), float32)
            union = rows + columns - both
            # Classes that occur nowhere do not count.
            present = reduce_sum(tf_cast(raw_ops.NotEqual(union, 0.0), float32))
            quotients = tf_div(both, where(union > 0, union, ones_like(union)))
            return where(present > 0, reduce_sum(quotients, name="mean_iou") / present, 0.0)

        return published(metrics_collections, updates_collections, value, lambda: update)
