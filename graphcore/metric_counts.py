"""The metrics that count right and wrong answers of two classes, at one threshold or at several.

Source: tensorflow/python/ops/metrics_impl.py (r1.15), behaviour only; the interpolation of precision and
recall is that of Davis and Goadrich, "The relationship between precision-recall and ROC curves" (2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .checks import assert_greater_equal, assert_less_equal
from .convert import constant, convert_to_tensor
from .default import get_default_graph
from .dtypes import bool_, float32, int32, int64
from .errors import InvalidValueError
from .metric_base import Metric, aligned, metric_variable, published
from .op import raw_ops
from .ops.array_create import ones_like
from .ops.array_join import stack, tf_tile
from .ops.array_select import where
from .ops.array_shape import expand_dims, tf_rank, tf_reshape, tf_shape, transpose
from .ops.math_binary import tf_div
from .ops.math_unary import tf_cast
from .ops.reduction import argmax, argmin, reduce_min, reduce_sum, tf_cumsum
from .shape_checks import assert_rank_in
from .variable_scope import variable_scope
from .variables import assign_add
from .weights_broadcast import broadcast_weights

# By key: the name, and whether label and prediction are positive.
_KINDS = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}


def _count(key: str) -> Callable[..., Metric]:
    title, label, prediction = _KINDS[key]

    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, title, (predictions, labels, weights)):
            predictions, labels, weights = aligned(
                tf_cast(predictions, bool_), tf_cast(labels, bool_), weights
            )
            values = raw_ops.LogicalAnd(raw_ops.Equal(labels, label), raw_ops.Equal(predictions, prediction))
            count = metric_variable([], float32, name="count")
            values = tf_cast(values, float32)
            if weights is not None:
                with get_default_graph().control_dependencies(
                    [assert_rank_in(weights, (0, tf_rank(values)))]
                ):
                    values = raw_ops.Mul(values, tf_cast(weights, float32))
            return published(
                metrics_collections,
                updates_collections,
                count.read_value,
                lambda: assign_add(count, reduce_sum(values)),
            )

    metric.__name__ = title
    metric.__doc__ = f"""`tf.metrics.{title}`: how many {title.replace("_", " ")} there are, by weight.

    Args:
        labels: Truth values, or numbers that become them.
        predictions: The same, of one shape.
        weights: A scalar, or a tensor of the rank of `labels`, each dimension 1 or as theirs; or None.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name of the variable scope.

    Returns:
        (value, update), float32 scalars.

    Raises:
        ValueError: The shapes do not fit.
    """
    return metric


true_positives, false_negatives = _count("tp"), _count("fn")
true_negatives, false_positives = _count("tn"), _count("fp")


def _at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any,
    keys: Sequence[str] = tuple(_KINDS),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """By key: the variables (thresholds,) of counts, and their updates."""
    predictions = convert_to_tensor(predictions)
    message = "predictions must be in [0, 1]"
    checks = [
        assert_greater_equal(predictions, tf_cast(0.0, predictions.dtype), message=message),
        assert_less_equal(predictions, tf_cast(1.0, predictions.dtype), message=message),
    ]
    with get_default_graph().control_dependencies(checks):
        predictions, labels, weights = aligned(tf_cast(predictions, float32), tf_cast(labels, bool_), weights)
    number = len(thresholds)
    column = tf_reshape(predictions, [-1, 1])
    size = column.get_shape().as_list()[0]
    size = tf_shape(column)[0] if size is None else size
    limits = tf_tile(expand_dims(constant(list(thresholds)), [1]), stack([1, size]))
    is_positive = {"prediction": raw_ops.Greater(tf_tile(transpose(column), [number, 1]), limits)}
    is_positive["label"] = tf_tile(tf_reshape(labels, [1, -1]), [number, 1])
    if weights is not None:
        weights = broadcast_weights(tf_cast(weights, float32), predictions)
        weights = tf_tile(tf_reshape(weights, [1, -1]), [number, 1])
        limits.get_shape().assert_is_compatible_with(weights.get_shape())
    values, updates = {}, {}
    for key in keys:
        title, *wanted = _KINDS[key]
        sides = [
            is_positive[side] if positive else raw_ops.LogicalNot(is_positive[side])
            for side, positive in zip(("label", "prediction"), wanted)
        ]
        values[key] = metric_variable([number], float32, name=title)
        hits = tf_cast(raw_ops.LogicalAnd(*sides), float32)
        hits = hits if weights is None else hits * weights
        updates[key] = assign_add(values[key], reduce_sum(hits, 1))
    return values, updates


def _count_at_thresholds(key: str) -> Callable[..., Metric]:
    title = _KINDS[key][0]

    def metric(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, title, (predictions, labels, weights)):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, (key,))
            return published(
                metrics_collections, updates_collections, values[key].read_value, lambda: updates[key]
            )

    metric.__name__ = f"{title}_at_thresholds"
    metric.__doc__ = f"""`tf.metrics.{title}_at_thresholds`: {title.replace("_", " ")} at each threshold.

    Args:
        labels: Truth values, or numbers that become them.
        predictions: Numbers between 0 and 1; positive above a threshold.
        thresholds: A list of floats.
        weights: A scalar, or a tensor of the rank of `labels`, each dimension 1 or as theirs; or None.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name of the variable scope.

    Returns:
        (value, update), float32 of shape (thresholds,).

    Raises:
        ValueError: The shapes do not fit.
        InvalidArgumentError: When it runs: a prediction lies outside.
    """
    return metric


true_positives_at_thresholds = _count_at_thresholds("tp")
false_negatives_at_thresholds = _count_at_thresholds("fn")
true_negatives_at_thresholds = _count_at_thresholds("tn")
false_positives_at_thresholds = _count_at_thresholds("fp")


def _share(title: str, other: Callable[..., Metric], text: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, title, (predictions, labels, weights)):
            predictions, labels, weights = aligned(
                tf_cast(predictions, bool_), tf_cast(labels, bool_), weights
            )
            right, right_update = true_positives(labels, predictions, weights)
            wrong, wrong_update = other(labels, predictions, weights)

            def share(right: Any, wrong: Any, name: str) -> Any:
                return where(right + wrong > 0, tf_div(right, right + wrong), 0.0, name)

            return published(
                metrics_collections,
                updates_collections,
                lambda: share(right, wrong, "value"),
                lambda: share(right_update, wrong_update, "update_op"),
            )

    metric.__name__ = title
    metric.__doc__ = f"{text}, 0 where there are none; see `tf.metrics.true_positives` for the arguments."
    return metric


precision = _share("precision", false_positives, "The share of right ones among positive predictions")
recall = _share("recall", false_negatives, "The share of positive labels that are predicted")


def _share_at_thresholds(title: str, other: str, text: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with variable_scope(name, f"{title}_at_thresholds", (predictions, labels, weights)):
            values, updates = _at_thresholds(labels, predictions, thresholds, weights, ("tp", other))

            def share(counts: dict[str, Any], name: str) -> Any:
                return tf_div(counts["tp"], 1e-7 + counts["tp"] + counts[other], name=f"{title}_{name}")

            return published(
                metrics_collections,
                updates_collections,
                lambda: share(values, "value"),
                lambda: share(updates, "update_op"),
            )

    metric.__name__ = f"{title}_at_thresholds"
    metric.__doc__ = f"{text}; see `tf.metrics.true_positives_at_thresholds` for the arguments."
    return metric


precision_at_thresholds = _share_at_thresholds(
    "precision", "fp", "The share of right ones among positive predictions, at each threshold"
)
recall_at_thresholds = _share_at_thresholds(
    "recall", "fn", "The share of positive labels that are predicted, at each threshold"
)

_EPSILON = 1e-7


def _even_thresholds(number: int) -> list[float]:
    return [(index + 1) * 1.0 / (number - 1) for index in range(number - 2)]


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area under a curve of right against wrong positives, by thresholds.

    Args:
        labels: Truth values, or numbers that become them.
        predictions: Numbers between 0 and 1; positive above a threshold.
        weights: A scalar, or a tensor of the rank of `labels`, each dimension 1 or as theirs; or None.
        num_thresholds: How many thresholds, evenly spaced.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        curve: "ROC", true against false positives; or "PR", precision against recall.
        name: Name of the variable scope.
        summation_method: "trapezoidal"; "careful_interpolation", the one to use for "PR"; "minoring" or
            "majoring", sums that lie below or above.
        thresholds: The thresholds in place of evenly spaced ones.

    Returns:
        (value, update), float32 scalars.

    Raises:
        ValueError: The shapes do not fit, or an argument is unknown.
        InvalidArgumentError: When it runs: a prediction lies outside.
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise InvalidValueError(f"curve must be either ROC or PR, {curve} unknown")
        inner = _even_thresholds(num_thresholds) if thresholds is None else sorted(thresholds)
        values, updates = _at_thresholds(labels, predictions, [-_EPSILON, *inner, 1 + _EPSILON], weights)

        def area(counts: dict[str, Any], name: str) -> Any:
            return _area(counts, curve, summation_method, name)

        return published(
            metrics_collections,
            updates_collections,
            lambda: area(values, "value"),
            lambda: area(updates, "update_op"),
        )


def _area(counts: dict[str, Any], curve: str, method: str, name: str) -> Any:
    tp, fn, tn, fp = (counts[key] for key in ("tp", "fn", "tn", "fp"))
    if curve == "PR" and method == "careful_interpolation":
        return _interpolated_area(tp, fp, fn)
    epsilon = 1e-6
    rate = tf_div(tp + epsilon, tp + fn + epsilon)
    if curve == "ROC":
        x, y = tf_div(fp, fp + tn + epsilon), rate
    else:
        x, y = rate, tf_div(tp + epsilon, tp + fp + epsilon)
    if method in ("trapezoidal", "careful_interpolation"):
        heights = (y[:-1] + y[1:]) / 2.0
    elif method == "minoring":
        heights = raw_ops.Minimum(y[:-1], y[1:])
    elif method == "majoring":
        heights = raw_ops.Maximum(y[:-1], y[1:])
    else:
        raise InvalidValueError(f"Invalid summation_method: {method}")
    return reduce_sum(raw_ops.Mul(x[:-1] - x[1:], heights), name=name)


def _interpolated_area(tp: Any, fp: Any, fn: Any) -> Any:
    """The area under precision against recall, false positives linear in true ones between thresholds."""
    gained = tp[:-1] - tp[1:]
    positives = tp + fp
    before, after = positives[:-1], positives[1:]
    slope = raw_ops.DivNoNan(gained, raw_ops.Maximum(before - after, 0.0), name="prec_slope")
    intercept = tp[1:] - raw_ops.Mul(slope, after)
    ratio = where(
        raw_ops.LogicalAnd(before > 0, after > 0),
        raw_ops.DivNoNan(before, raw_ops.Maximum(after, 0.0), name="recall_relative_ratio"),
        ones_like(after),
    )
    total = slope * (gained + intercept * raw_ops.Log(ratio))
    increments = raw_ops.DivNoNan(total, raw_ops.Maximum(tp[1:] + fn[1:], 0.0), name="pr_auc_increment")
    return reduce_sum(increments, name="interpolate_pr_auc")


def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The share of positive labels that are found at the threshold of a share of negative ones.

    Args:
        labels: Truth values, or numbers that become them.
        predictions: Numbers between 0 and 1.
        specificity: That share, between 0 and 1.
        weights: A scalar, or a tensor of the rank of `labels`, each dimension 1 or as theirs; or None.
        num_thresholds: How many thresholds to choose from.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name of the variable scope.

    Raises:
        ValueError: The shapes do not fit, or `specificity` lies outside.
    """
    if not 0 <= specificity <= 1:
        raise InvalidValueError("`specificity` must be in the range [0, 1].")
    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        thresholds = [-_EPSILON, *_even_thresholds(num_thresholds), 1 + _EPSILON]
        values, updates = _at_thresholds(labels, predictions, thresholds, weights)

        def sensitivity(counts: dict[str, Any], name: str) -> Any:
            tp, tn, fp, fn = (counts[key] for key in ("tp", "tn", "fp", "fn"))
            found = tf_div(tn, tn + fp + _EPSILON)
            nearest = tf_cast(argmin(raw_ops.Abs(found - specificity), 0), int32)
            return tf_div(tp[nearest], tp[nearest] + fn[nearest] + _EPSILON, name)

        return published(
            metrics_collections,
            updates_collections,
            lambda: sensitivity(values, "value"),
            lambda: sensitivity(updates, "update_op"),
        )


def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The share of negative labels that are found at the threshold of a share of positive ones.

    See `sensitivity_at_specificity` for the arguments.

    Raises:
        ValueError: The shapes do not fit, or `sensitivity` lies outside.
    """
    if not 0 <= sensitivity <= 1:
        raise InvalidValueError("`sensitivity` must be in the range [0, 1].")
    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        thresholds = [-_EPSILON, *_even_thresholds(num_thresholds), 1 - _EPSILON]
        values, updates = _at_thresholds(labels, predictions, thresholds, weights)

        def specificity(counts: dict[str, Any], name: str) -> Any:
            tp, tn, fp, fn = (counts[key] for key in ("tp", "tn", "fp", "fn"))
            distance = raw_ops.Abs(tf_div(tp, tp + fn + _EPSILON) - sensitivity)
            # The last of the nearest ones: the first at which the running count of them is greatest.
            nearest = tf_cast(raw_ops.Equal(distance, reduce_min(distance)), int64)
            index = tf_cast(argmax(tf_cumsum(nearest), 0), int32)
            return tf_div(tn[index], tn[index] + fp[index] + _EPSILON, name)

        return published(
            metrics_collections,
            updates_collections,
            lambda: specificity(values, "value"),
            lambda: specificity(updates, "update_op"),
        )
