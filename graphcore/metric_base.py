"""What all of `tf.metrics` share: their variables, the shapes of their arguments, where results are kept.

A metric is two tensors: its value, from variables of the graph, and an operation that adds a batch to these
and gives the value after that.

Source: tensorflow/python/ops/metrics_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collections, get_default_graph
from .dtypes import float32
from .op import raw_ops
from .ops.array_create import zeros
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_sum
from .variable_scope import get_variable_scope, variable_scope
from .variables import Variable, VariableAggregation, VariableSynchronization, assign_add
from .weights_broadcast import broadcast_weights, matched_weights, remove_squeezable_dimensions

Metric = tuple[Any, Any]


def metric_variable(shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None) -> Any:
    """A local variable of zeros, in LOCAL_VARIABLES and METRIC_VARIABLES."""
    return Variable(
        lambda: zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
        use_resource=get_variable_scope().use_resource,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
    )


def published(
    metrics_collections: Any, updates_collections: Any, value: Callable[[], Any], update: Callable[[], Any]
) -> Metric:
    """(value, update), added to the collections; the value depends on no control input around the call."""
    with get_default_graph().control_dependencies(None):
        made = value()
    if metrics_collections:
        add_to_collections(metrics_collections, made)
    changed = update()
    if updates_collections:
        add_to_collections(updates_collections, changed)
    return made, changed


def aligned(predictions: Any, labels: Any = None, weights: Any = None) -> tuple[Any, Any, Any]:
    """Predictions, labels and weights, without a last dimension of 1 that one of them has and others not.

    Raises:
        ValueError: Predictions and labels do not have one shape.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return predictions, labels, None if weights is None else matched_weights(predictions, weights)


def non_negative_fraction(total: Any, count: Any, name: str | None = None) -> Any:
    """`total / count`, 0 where `count` is 0 or less."""
    return raw_ops.DivNoNan(total, raw_ops.Maximum(count, 0.0), name=name)


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """`tf.metrics.mean`: the weighted mean of all values.

    Args:
        values: A tensor of any shape.
        weights: A scalar, or a tensor of the rank of `values`, each dimension 1 or as theirs; or None.
        metrics_collections: Collections to add the value to.
        updates_collections: Collections to add the update to.
        name: Name of the variable scope.

    Returns:
        (value, update), float32 scalars.

    Raises:
        ValueError: The weights do not fit.
    """
    with variable_scope(name, "mean", (values, weights)):
        values = tf_cast(values, float32)
        total = metric_variable([], float32, name="total")
        count = metric_variable([], float32, name="count")
        if weights is None:
            number = tf_cast(raw_ops.Size(values), float32)
        else:
            values, _, weights = aligned(values, weights=weights)
            weights = broadcast_weights(tf_cast(weights, float32), values)
            values = raw_ops.Mul(values, weights)
            number = reduce_sum(weights)
        new_total = assign_add(total, reduce_sum(values))
        with get_default_graph().control_dependencies([values]):
            new_count = assign_add(count, number)
        return published(
            metrics_collections,
            updates_collections,
            lambda: non_negative_fraction(total, count, "value"),
            lambda: non_negative_fraction(new_total, new_count, "update_op"),
        )
