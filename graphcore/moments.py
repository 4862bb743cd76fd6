"""Moments by their sufficient statistics or by weights, and averages of losses over a batch.

Source: tensorflow/python/ops/nn_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .checks import assert_greater_equal
from .convert import constant, convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import float16, float32
from .errors import InvalidValueError
from .op import raw_ops
from .ops.array_create import zeros_like
from .ops.array_select import gather
from .ops.array_shape import squeeze, tf_rank, tf_shape
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_prod, reduce_sum
from .weights_broadcast import scale_by_sample_weight

_SCALAR = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1"


def sufficient_statistics(
    x: Any,
    axes: Any,
    shift: Any = None,
    keep_dims: bool | None = None,
    name: str | None = None,
    keepdims: bool | None = None,
) -> tuple[Any, Any, Any, Any]:
    """`tf.nn.sufficient_statistics`: (number of elements, sum, sum of squares, shift) over `axes`.

    Args:
        x: A tensor.
        axes: A list of axes.
        shift: Taken off each element first, for numbers that are far from 0; or None.
        keep_dims: Old name of `keepdims`.
        name: Name scope.
        keepdims: Keep the reduced dimensions with length 1.
    """
    axes = list(set(axes))
    keep = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        static = x.static_shape
        sizes = [None if static is None else static[axis] for axis in axes]
        if None not in sizes:
            count = 1
            for size in sizes:
                count *= size or 0
            counts = constant(count, dtype=x.dtype)
        else:
            counts = reduce_prod(gather(tf_cast(tf_shape(x), x.dtype), axes), name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, name="shift")
            first, second = raw_ops.Sub(x, shift), raw_ops.SquaredDifference(x, shift)
        else:
            first, second = x, raw_ops.Square(x)
        mean_sum = reduce_sum(first, axes, keepdims=keep, name="mean_ss")
        return counts, mean_sum, reduce_sum(second, axes, keepdims=keep, name="var_ss"), shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Any, Any]:
    """`tf.nn.normalize_moments`: (mean, variance) from what `sufficient_statistics` gave."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = raw_ops.Reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = raw_ops.Mul(mean_ss, divisor, name="shifted_mean")
            mean = raw_ops.AddV2(shifted, shift, name="mean")
        else:
            mean = shifted = raw_ops.Mul(mean_ss, divisor, name="mean")
        variance = raw_ops.Sub(raw_ops.Mul(variance_ss, divisor), raw_ops.Square(shifted), name="variance")
        return mean, variance


def weighted_moments(
    x: Any,
    axes: Any,
    frequency_weights: Any,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Any, Any]:
    """`tf.nn.weighted_moments`: (mean, variance) over `axes`, each element counted by its weight.

    Args:
        x: A tensor; float16 is computed in float32.
        axes: The axes.
        frequency_weights: Weights that broadcast against `x`.
        name: Name scope.
        keep_dims: Old name of `keepdims`.
        keepdims: Keep the reduced dimensions with length 1.
    """
    keep = bool(keep_dims if keepdims is None else keepdims)
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(frequency_weights, name="frequency_weights")
        is_half = x.dtype.base_dtype == float16
        x = tf_cast(x, float32) if is_half else x
        weights = tf_cast(weights, x.dtype)
        total = reduce_sum(weights * x, axes, keepdims=True, name="weighted_input_sum")
        # Also where the weights are to be broadcast, each element counts.
        weight = reduce_sum(weights + zeros_like(x), axes, keepdims=True, name="sum_of_weights")
        divisor = raw_ops.Reciprocal(weight, name="inv_weight_sum")
        mean = raw_ops.Mul(total, divisor)
        deviation = raw_ops.SquaredDifference(x, mean)
        variance = raw_ops.Mul(
            reduce_sum(weights * deviation, axes, keepdims=True, name="weighted_distsq"), divisor
        )
        if not keep:
            mean, variance = squeeze(mean, axis=axes), squeeze(variance, axis=axes)
        if is_half:
            mean, variance = tf_cast(mean, float16), tf_cast(variance, float16)
        return mean, variance


def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """`tf.nn.compute_average_loss`: the sum of the examples' losses divided by the size of the batch.

    Args:
        per_example_loss: Of rank 1 or more; the first axis is the batch.
        sample_weight: Weights of the examples.
        global_batch_size: By default the length of the first axis.

    Raises:
        ValueError: `per_example_loss` is a scalar.
    """
    loss = convert_to_tensor(per_example_loss)
    dtype = loss.dtype
    rank = loss.get_shape().ndims
    if rank == 0:
        raise InvalidValueError(f"{_SCALAR}, received: {loss}")
    checks = []
    if rank is None:
        checks = [assert_greater_equal(tf_rank(loss), 1, message=f"{_SCALAR}.")]
    with get_default_graph().control_dependencies(checks):
        if sample_weight is not None:
            loss = scale_by_sample_weight(loss, sample_weight)
        loss = tf_cast(loss, dtype)
        if global_batch_size is None:
            global_batch_size = tf_cast(tf_shape(loss)[0], dtype)
        return reduce_sum(loss) / global_batch_size


def scale_regularization_loss(regularization_loss: Any) -> Any:
    """`tf.nn.scale_regularization_loss`: the sum of a regularization loss, for one replica."""
    return reduce_sum(regularization_loss) / 1
