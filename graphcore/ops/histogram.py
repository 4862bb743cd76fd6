"""Counting what falls where: histograms, buckets and places in sorted rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, INDEX, float32, float64, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, with_rank
from . import rules

_COUNTED = (int32, int64, float32, float64)
_UNDEFINED = "TensorFlow has none"


@op(
    "Bucketize",
    "input: T -> output: int32",
    "boundaries: list(float)",
    T=_COUNTED,
    undefined_grad=_UNDEFINED,
)
def bucketize_op(input: Any, *, boundaries: list[float]) -> Any:
    """Which of the buckets between sorted boundaries each element is in; a boundary opens the next one."""
    edges = np.array(boundaries, np.float32)
    if np.any(edges[1:] < edges[:-1]):
        raise InvalidArgumentError("Expected sorted boundaries")
    # C++ compares an integer with a float as floats
    values = input if input.dtype == np.float64 else input.astype(np.float32)
    places = np.searchsorted(edges.astype(values.dtype), values, side="right")
    # no boundary is smaller than NaN for NumPy, which sorts it last; none is larger for C++
    return np.asarray(places).astype(np.int32)


bucketize_op.shape(rules.unchanged)


@op(
    "Bincount",
    "arr: int32, size: int32, weights: T -> bins: T",
    T=_COUNTED,
    undefined_grad=_UNDEFINED,
)
def bincount_op(arr: Any, size: Any, weights: Any) -> Any:
    """How often each number below `size` occurs, or the sum of the weights where it does."""
    if np.ndim(size):
        raise InvalidArgumentError(f"Shape must be rank 0 but is rank {np.ndim(size)}")
    count = int(size)
    if count < 0:
        raise InvalidArgumentError(f"size ({count}) must be non-negative")
    flat = np.reshape(arr, -1)
    if np.any(flat < 0):
        raise InvalidArgumentError("Input arr must be non-negative!")
    kept = flat < count
    bins = np.zeros(count, weights.dtype)
    if not weights.size:
        bins += np.bincount(flat[kept], minlength=count).astype(weights.dtype)
        return bins
    if weights.size < flat.size:
        raise InvalidArgumentError(
            f"weights must be empty or of the size of arr, which is {flat.size}; they have {weights.size}"
        )
    np.add.at(bins, flat[kept], np.reshape(weights, -1)[: flat.size][kept])
    return bins


@bincount_op.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(1), 0)
    size = node.value(1)
    if size is None:
        return (None,)
    if size < 0:
        raise InvalidValueError(f"size ({int(size)}) must be non-negative")
    return (int(size),)


@op(
    "HistogramFixedWidth",
    "values: T, value_range: T, nbins: int32 -> out: dtype",
    T=_COUNTED,
    dtype=(INDEX, int32),
    undefined_grad=_UNDEFINED,
)
def histogram_fixed_width_op(values: Any, value_range: Any, nbins: Any, *, dtype: Any) -> Any:
    """How many values are in each of `nbins` equal parts of a range; the ends take what is outside."""
    if np.ndim(value_range) != 1:
        raise InvalidArgumentError("value_range should be a vector.")
    if np.size(value_range) != 2:
        raise InvalidArgumentError("value_range should be a vector of 2 elements.")
    if np.ndim(nbins):
        raise InvalidArgumentError("nbins should be a scalar.")
    low, high, count = value_range[0], value_range[1], int(nbins)
    if not low < high:
        raise InvalidArgumentError(
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'"
        )
    if count <= 0:
        raise InvalidArgumentError(f"nbins should be a positive number, but got '{count}'")
    flat = np.reshape(values, -1)
    if np.any(flat != flat):
        raise InvalidArgumentError("Histogram has NaN values")
    step = float(high - low) / count
    # In double precision, in which differences of large integers do not wrap.
    moved = np.maximum(flat, low).astype(np.float64) - float(low)
    places = np.minimum(moved / step, count - 1)
    return np.bincount(places.astype(np.int32), minlength=count).astype(dtype)


@histogram_fixed_width_op.shape
def _(node: Any) -> Shape:
    (size,) = with_rank(node.shape(1), 1)
    if size not in (None, 2):
        raise InvalidValueError(f"Dimension must be 2 but is {size}")
    with_rank(node.shape(2), 0)
    count = node.value(2)
    if count is None:
        return (None,)
    if count <= 0:
        raise InvalidValueError(f"Requires nbins > 0: {int(count)}")
    return (int(count),)


# Places in sorted rows


def _bound(name: str, side: Any, text: str) -> Any:
    def kernel(sorted_inputs: Any, values: Any, *, out_type: Any) -> Any:
        if np.ndim(sorted_inputs) < 2:
            raise InvalidArgumentError("sorted input argument must be a matrix")
        if sorted_inputs.ndim > 2 or np.ndim(values) != 2:
            shapes = [format_shape(np.shape(item)) for item in (sorted_inputs, values)]
            raise InvalidArgumentError(
                f"sorted_inputs and values must be matrices, not {' and '.join(shapes)}"
            )
        if sorted_inputs.shape[0] != values.shape[0]:
            raise InvalidArgumentError("Leading dim_size of both tensors must match.")
        places = np.zeros(values.shape, out_type)
        for row, wanted, place in zip(sorted_inputs, values, places):
            place[...] = np.searchsorted(row, wanted, side=side)
        return places

    kernel.__doc__ = text
    declared = op(
        name,
        "sorted_inputs: T, values: T -> output: out_type",
        T=ANY,
        out_type=(INDEX, int32),
        undefined_grad=_UNDEFINED,
    )(kernel)

    @declared.shape
    def _(node: Any) -> Shape:
        with_rank(node.shape(0), 2)
        return with_rank(node.shape(1), 2)

    return declared


lower_bound = _bound("LowerBound", "left", "Where each value would come first in its sorted row.")
upper_bound = _bound("UpperBound", "right", "Where each value would come last in its sorted row.")


# TensorFlow's Python functions


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
) -> Any:
    """`tf.bincount`: how often each number occurs, up to the largest one.

    Args:
        arr: An int32 tensor of numbers >= 0.
        weights: Of the shape of `arr`, to be summed instead.
        minlength: The least length of the result.
        maxlength: The largest length of the result.
        dtype: The result's where there are no weights.
    """
    with name_scope("bincount"):
        arr = convert_to_tensor(arr, int32, name="arr")
        has_any = raw_ops.Cast(raw_ops.Greater(_over_all(raw_ops.Prod, raw_ops.Shape(arr)), 0), DstT=int32)
        size = has_any * (_over_all(raw_ops.Max, arr) + 1)
        if minlength is not None:
            size = raw_ops.Maximum(convert_to_tensor(minlength, int32, name="minlength"), size)
        if maxlength is not None:
            size = raw_ops.Minimum(convert_to_tensor(maxlength, int32, name="maxlength"), size)
        if weights is not None:
            return raw_ops.UnsortedSegmentSum(convert_to_tensor(weights, name="weights"), arr, size)
        return bincount_op(arr, size, constant([], dtype))


def _over_all(reduction: Any, tensor: Any) -> Any:
    rank = tensor.get_shape().ndims
    axes = raw_ops.Range(0, raw_ops.Rank(tensor), 1) if rank is None else constant(list(range(rank)), int32)
    return reduction(tensor, axes)


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> Any:
    """`tf.histogram_fixed_width`: how many values are in each of `nbins` equal parts of a range.

    Args:
        values: A numeric tensor.
        value_range: The two ends, of the same dtype; the end parts take what lies outside.
        nbins: How many parts.
        dtype: The counts', int32 or int64.
        name: Name of the operation.
    """
    with name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as scope:
        return histogram_fixed_width_op(values, value_range, nbins, dtype=dtype, name=scope)


def histogram_fixed_width_bins(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = int32, name: str | None = None
) -> Any:
    """`tf.histogram_fixed_width_bins`: in which part of the range each value is; arguments as above."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        shape = raw_ops.Shape(values)
        values = raw_ops.Reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, int32, name="nbins")
        count = raw_ops.Cast(nbins, DstT=values.dtype) if values.dtype != int32 else nbins
        from .math_binary import truediv

        scaled = truediv(values - value_range[0], value_range[1] - value_range[0], name="scaled_values")
        indices = raw_ops.Floor(count * scaled, name="indices")
        one, zero = (convert_to_tensor(number, indices.dtype) for number in (1, 0))
        clipped = raw_ops.Maximum(raw_ops.Minimum(indices, count - one), zero)
        return raw_ops.Reshape(raw_ops.Cast(clipped, DstT=int32), shape)


def searchsorted(
    sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = int32, name: str | None = None
) -> Any:
    """`tf.searchsorted`: where values go in sorted rows, so that the rows stay sorted.

    Args:
        sorted_sequence: A tensor sorted along its last axis.
        values: Of the same shape but for the last axis.
        side: 'left': before equal ones; 'right': behind them.
        out_type: int32 or int64.
        name: Name of the operation.

    Raises:
        ValueError: Another side.
    """
    length = raw_ops.Shape(sorted_sequence, name="shape_internal")[-1]
    wanted = raw_ops.Shape(values, name="shape_internal")
    rows = raw_ops.Reshape(sorted_sequence, raw_ops.Pack([-1, length]))
    flat = raw_ops.Reshape(values, raw_ops.Pack([-1, wanted[-1]]))
    if side not in ("left", "right"):
        raise InvalidValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    declared = upper_bound if side == "right" else lower_bound
    return raw_ops.Reshape(declared(rows, flat, out_type=out_type, name=name), wanted)
