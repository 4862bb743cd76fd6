"""Weights beside values: what may be broadcast, and shapes that differ by a last dimension of 1.

Shared by `tf.losses` and `tf.metrics`.

Source: tensorflow/python/ops/weights_broadcast_ops.py, confusion_matrix.py and losses/util.py (r1.15),
behaviour only.
"""

from __future__ import annotations

from typing import Any

from .conditional import cond
from .convert import convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import float32
from .errors import InvalidValueError
from .op import no_op, raw_ops
from .ops.array_create import constant_value, ones_like
from .ops.array_join import concat
from .ops.array_shape import expand_dims, squeeze, tf_rank, tf_shape
from .ops.control_flow import tf_assert
from .ops.math_unary import tf_cast
from .ops.sets import set_difference

_PREFIX = "weights can not be broadcast to values."


def assert_broadcastable(weights: Any, values: Any) -> Any:
    """An operation that fails unless weights are a scalar, or each dimension is 1 or that of the values.

    Raises:
        ValueError: What is known of the shapes says that they do not fit.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        with name_scope(None, "weights", [weights]) as inner:
            weights = convert_to_tensor(weights, name=inner)
            weights_shape = tf_shape(weights, name="shape")
            weights_rank = tf_rank(weights, name="rank")
        with name_scope(None, "values", [values]) as inner:
            values = convert_to_tensor(values, name=inner)
            values_shape = tf_shape(values, name="shape")
            values_rank = tf_rank(values, name="rank")
        ranks = weights.get_shape().ndims, values.get_shape().ndims
        if None not in ranks:
            if ranks[0] == 0:
                return no_op(name="static_scalar_check_success")
            if ranks[0] != ranks[1]:
                raise InvalidValueError(
                    f"{_PREFIX} values.rank={ranks[1]}. weights.rank={ranks[0]}. "
                    f"values.shape={values.get_shape()}. weights.shape={weights.get_shape()}."
                )
            known = constant_value(weights_shape), constant_value(values_shape)
            if known[0] is not None and known[1] is not None:
                for axis, (weight, value) in enumerate(zip(*known)):
                    if weight not in (1, value):
                        raise InvalidValueError(
                            f"{_PREFIX} Mismatch at dim {axis}. values.shape={known[1]} "
                            f"weights.shape={known[0]}."
                        )
                return no_op(name="static_dims_check_success")
        is_scalar = raw_ops.Equal(0, weights_rank, name="is_scalar")
        data = [
            _PREFIX, "weights.shape=", weights.name, weights_shape,
            "values.shape=", values.name, values_shape, "is_scalar=", is_scalar,
        ]  # fmt: skip
        valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _valid_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return tf_assert(valid, data, name=scope)


def _valid_shape(weights_rank: Any, weights_shape: Any, values_rank: Any, values_shape: Any) -> Any:
    tensors = [weights_rank, weights_shape, values_rank, values_shape]
    with name_scope(None, "has_valid_nonscalar_shape", tensors) as scope:
        same = raw_ops.Equal(values_rank, weights_rank, name="is_same_rank")
        return cond(same, lambda: _valid_dims(weights_shape, values_shape), lambda: same, name=scope)


def _valid_dims(weights_shape: Any, values_shape: Any) -> Any:
    """Whether each dimension of the weights is one of {that of the values, 1}."""
    with name_scope(None, "has_invalid_dims", [weights_shape, values_shape]) as scope:
        column = expand_dims(values_shape, -1)
        allowed = concat([column, ones_like(column)], axis=1)
        invalid = set_difference(expand_dims(weights_shape, -1), allowed)
        return raw_ops.Equal(0, raw_ops.Size(invalid.values, name="num_invalid_dims"), name=scope)


def broadcast_weights(weights: Any, values: Any) -> Any:
    """The weights in the shape of the values.

    Raises:
        ValueError: They cannot be, see `assert_broadcastable`.
    """
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        shapes = weights.get_shape(), values.get_shape()
        if all(shape.is_fully_defined() for shape in shapes) and shapes[0].is_compatible_with(shapes[1]):
            return weights
        with get_default_graph().control_dependencies([assert_broadcastable(weights, values)]):
            return raw_ops.Mul(weights, ones_like(values), name=scope)


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Any, Any]:
    """(labels, predictions), the last dimension of one taken off where its rank is 1 too high.

    Args:
        labels: A tensor.
        predictions: A tensor.
        expected_rank_diff: By how much the rank of the predictions is to be higher.
        name: Name scope.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        shapes = labels.get_shape(), predictions.get_shape()
        if shapes[0].ndims is not None and shapes[1].ndims is not None:
            excess = shapes[1].ndims - shapes[0].ndims - expected_rank_diff
            if excess == 1:
                predictions = squeeze(predictions, [-1])
            elif excess == -1:
                labels = squeeze(labels, [-1])
            return labels, predictions
        difference = tf_rank(predictions) - tf_rank(labels)
        predictions = _squeezed_if(predictions, expected_rank_diff + 1, difference)
        return _squeezed_if(labels, expected_rank_diff - 1, difference), predictions


def squeezed_weights(weights: Any, labels: Any) -> Any:
    """The weights without a last dimension where their rank is 1 higher than that of the labels."""
    weights = convert_to_tensor(weights)
    ranks = weights.get_shape().ndims, labels.get_shape().ndims
    if None not in ranks:
        return squeeze(weights, [-1]) if ranks[0] - ranks[1] == 1 else weights
    return _squeezed_if(weights, 1, tf_rank(weights) - tf_rank(labels))


def _squeezed_if(tensor: Any, expected: int, difference: Any) -> Any:
    static = tensor.static_shape
    if static is not None and (not static or static[-1] not in (None, 1)):
        return tensor
    return cond(raw_ops.Equal(expected, difference), lambda: squeeze(tensor, [-1]), lambda: tensor)


def matched_weights(values: Any, weights: Any) -> Any:
    """The weights with a last dimension of 1 more or less where their rank differs by 1 from the values'."""
    weights = convert_to_tensor(weights)
    ranks = weights.get_shape().ndims, values.get_shape().ndims
    if ranks[0] == 0:
        return weights
    if None not in ranks:
        if ranks[0] - ranks[1] == 1:
            return squeeze(weights, [-1])
        return expand_dims(weights, [-1]) if ranks[1] - ranks[0] == 1 else weights
    rank = tf_rank(weights)
    difference = rank - tf_rank(values)

    def adjusted() -> Any:
        static = weights.static_shape
        squeezable = static is None or (static and static[-1] in (None, 1))
        fitting = (lambda: squeeze(weights, [-1])) if squeezable else (lambda: weights)
        return cond(raw_ops.Equal(difference, 1), fitting, expanded)

    def expanded() -> Any:
        return cond(raw_ops.Equal(difference, -1), lambda: expand_dims(weights, [-1]), lambda: weights)

    return cond(raw_ops.Equal(rank, 0), lambda: weights, adjusted)


def scale_by_sample_weight(losses: Any, sample_weight: Any) -> Any:
    """Losses times weights that fit by `matched_weights` and `broadcast_weights`, as float32."""
    losses, weights = tf_cast(losses, float32), tf_cast(sample_weight, float32)
    return raw_ops.Mul(losses, broadcast_weights(matched_weights(losses, weights), losses))
