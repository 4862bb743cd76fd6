"""Functions on arrays that are programs over ops: masks, grids, sorting, repeating.

Source: tensorflow/python/ops/array_ops.py and sort_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import as_dtype, bool_, int32, int64
from ..errors import InvalidTypeError, InvalidValueError
from ..indexed_slices import IndexedSlices
from ..op import raw_ops
from ..operation import Tensor
from .array_create import constant_value, ones, zeros
from .array_join import stack
from .array_select import gather, top_k
from .array_shape import expand_dims, tf_rank, tf_reshape, tf_shape, tf_size, transpose
from .math_unary import tf_cast
from .reduction import all_axes


def either(first: Any, second: Any, first_name: str, second_name: str) -> Any:
    """The one of two arguments that is given: a function's argument and the older name of it.

    Raises:
        ValueError: Both are.
    """
    if first is not None and second is not None:
        raise InvalidValueError(f"Cannot specify both '{second_name}' and '{first_name}'")
    return second if first is None else first


def reverse_sequence(
    input: Any,
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
    seq_dim: int | None = None,
    batch_dim: int | None = None,
) -> Any:
    """The first `seq_lengths[i]` slices of each batch entry in reverse order; the rest as it is.

    Args:
        input: Tensor.
        seq_lengths: Int32 or int64 vector, one length per batch entry.
        seq_axis: The axis to reverse.
        batch_axis: The axis of the batch; 0 by default.
        name: Name of the operation.
        seq_dim: Older name of `seq_axis`.
        batch_dim: Older name of `batch_axis`.
    """
    return raw_ops.ReverseSequence(
        input,
        seq_lengths,
        seq_dim=either(seq_axis, seq_dim, "seq_axis", "seq_dim"),
        batch_dim=either(batch_axis, batch_dim, "batch_axis", "batch_dim") or 0,
        name=name,
    )


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = bool_, name: str | None = None) -> Any:
    """True (or one) in the first `lengths[...]` places of each row of `maxlen`.

    Args:
        lengths: Tensor of integers, of any shape.
        maxlen: Scalar: the length of the new last axis; the largest of `lengths` by default.
        dtype: The dtype of the result.
        name: Name scope.

    Raises:
        ValueError: `maxlen` is no scalar.
    """
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = raw_ops.Max(lengths, all_axes(lengths))
            maxlen = raw_ops.Maximum(constant(0, maxlen.dtype), maxlen)
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.get_shape().ndims not in (None, 0):
            raise InvalidValueError("maxlen must be scalar for sequence_mask")
        row = raw_ops.Range(constant(0, maxlen.dtype), maxlen, constant(1, maxlen.dtype))
        matrix = tf_cast(expand_dims(lengths, -1), maxlen.dtype)
        mask = row < matrix
        return mask if dtype is None or as_dtype(dtype).base_dtype == bool_ else tf_cast(mask, dtype)


def meshgrid(*args: Any, **kwargs: Any) -> list[Tensor]:
    """The coordinates of a grid: one tensor per axis, all of the grid's shape.

    Args:
        *args: Vectors (or scalars) of one dtype.
        **kwargs: `indexing`: "xy" (as of an image, by default; the first two axes are swapped) or "ij" (as
            of a
            matrix); `name`: name scope.

    Raises:
        TypeError: Another keyword.
        ValueError: Another indexing.
    """
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise InvalidTypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise InvalidValueError("indexing parameter must be either 'xy' or 'ij'")
    with name_scope(name, "meshgrid", args):
        rank = len(args)
        axes = list(range(rank))
        if indexing == "xy" and rank > 1:
            axes[:2] = 1, 0
        output = [
            tf_reshape(stack(x), [-1 if place == axis else 1 for place in range(rank)])
            for x, axis in zip(args, axes)
        ]
        sizes = [tf_size(args[axis]) for axis in axes]
        whole = ones(sizes, convert_to_tensor(args[0]).dtype.base_dtype)
        return [x * whole for x in output]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Each element (or slice) of `input` repeated, like `numpy.repeat`.

    Args:
        input: Tensor.
        repeats: Scalar or vector of integers: how often.
        axis: The axis whose slices are repeated; None flattens `input` first.
        name: Name scope.

    Raises:
        TypeError: `axis` is no int.
        ValueError: `axis` is outside the rank, or `repeats` does not fit it.
    """
    if axis is None:
        input = tf_reshape(input, [-1])
        axis = 0
    if not isinstance(axis, int):
        raise InvalidTypeError(f"axis must be an int; got {type(axis).__name__}")
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        repeats = convert_to_tensor(repeats, name="repeats")
        if repeats.dtype.base_dtype not in (int32, int64):
            repeats = tf_cast(repeats, int32)
        repeats.get_shape().with_rank_at_most(1)
        if data.get_shape().ndims == 0:
            data = expand_dims(data, 0)
        rank = data.get_shape().ndims
        axis = _positive_axis(axis, rank)
        if repeats.get_shape().ndims == 1 and rank is not None and repeats.get_shape()[0] != 1:
            data.get_shape().dims[axis].assert_is_compatible_with(repeats.get_shape()[0])
        shape = tf_shape(data)
        counts = raw_ops.BroadcastTo(tf_reshape(repeats, [-1]), tf_reshape(shape[axis], [1]))
        # The output's row i comes from the slice in whose run of repeats i lies.
        total = raw_ops.Cumsum(counts, 0)
        zero, one = (constant(value, counts.dtype.base_dtype) for value in (0, 1))
        rows = raw_ops.Range(zero, raw_ops.Sum(counts, 0), one)
        places = raw_ops.UpperBound(expand_dims(total, 0), expand_dims(rows, 0))
        return gather(data, tf_reshape(places, [-1]), axis=axis)


def _positive_axis(axis: int, rank: int | None) -> int:
    if rank is None:
        if axis < 0:
            raise InvalidValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise InvalidValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """`values` in order along an axis.

    Args:
        values: Numeric tensor of rank 1 or more.
        axis: The axis, a constant.
        direction: "ASCENDING" or "DESCENDING".
        name: Name scope.

    Raises:
        ValueError: Another direction, or the axis is not known now.
    """
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, indices=False)


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Any:
    """The indices (int32) that put `values` in order along an axis; equal values keep their order.

    Args:
        values: Numeric tensor of rank 1 or more.
        axis: The axis, a constant.
        direction: "ASCENDING" or "DESCENDING".
        stable: Has no effect: the result is stable.
        name: Name scope.

    Raises:
        ValueError: Another direction, or the axis is not known now.
    """
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, indices=True)


def _sorted(values: Any, axis: Any, direction: str, indices: bool) -> Any:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise InvalidValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    place = convert_to_tensor(axis, name="axis")
    known = constant_value(place)
    if place.get_shape().ndims != 0 or known is None:
        raise InvalidValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(known), indices)
    result = _descending(-values, int(known), indices)
    return result if indices else -result


def _descending(values: Tensor, axis: int, indices: bool) -> Any:
    count = tf_shape(values)[axis]
    rank = values.get_shape().ndims
    swap: Any = None
    if axis != -1 and axis + 1 != rank:
        if rank is not None:
            order = list(range(rank))
            order[axis % rank], order[-1] = rank - 1, axis % rank
            swap = constant(np.array(order, np.int32), name="transposition")
        else:
            last = tf_rank(values) - 1
            place: Any = axis + last + 1 if axis < 0 else constant(axis)
            places = raw_ops.Range(0, last + 1, 1)
            swap = where_v2(
                raw_ops.Equal(places, place), last, where_v2(raw_ops.Equal(places, last), place, places)
            )
        values = transpose(values, swap)
    result = top_k(values, count)[1 if indices else 0]
    return result if swap is None else transpose(result, swap)


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """The paddings that make a shape divisible by blocks, and the crops that undo them.

    Args:
        input_shape: Int32 vector of N sizes.
        block_shape: Int32 vector of N block sizes.
        base_paddings: Int32 [N, 2]: the least paddings; zeros by default.
        name: Name scope.

    Returns:
        `(paddings, crops)`, each int32 [N, 2]: `paddings` holds the base paddings and what is added at the
        end,
        `crops` zeros and what was added.

    Raises:
        ValueError: Shapes do not fit, or N is not known.
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtype=int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtype=int32, name="block_shape")
        block_shape.get_shape().assert_is_fully_defined()
        block_shape.get_shape().assert_has_rank(1)
        count = block_shape.get_shape().as_list()[0]
        if count == 0:
            return zeros([0, 2], int32), zeros([0, 2], int32)
        input_shape.get_shape().assert_is_compatible_with([count])
        if base_paddings is None:
            base_paddings = zeros([count, 2], int32)
        else:
            base_paddings = convert_to_tensor(base_paddings, dtype=int32, name="base_paddings")
            base_paddings.get_shape().assert_is_compatible_with([count, 2])
        known = [constant_value(tensor) for tensor in (block_shape, input_shape, base_paddings)]
        if all(value is not None for value in known):
            block_shape, input_shape, base_paddings = known
        start, end = base_paddings[:, 0], base_paddings[:, 1]
        added = (block_shape - (input_shape + start + end) % block_shape) % block_shape
        end = end + added
        paddings = stack([[start[i], end[i]] for i in range(count)], name="paddings")
        return paddings, stack([[0, added[i]] for i in range(count)], name="crops")


def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape that two shapes (int vectors) broadcast to."""
    return raw_ops.BroadcastArgs(shape_x, shape_y)


def where_v2(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """The indices where `condition` is true; with `x` and `y`, elements of either, all three broadcast.

    Raises:
        ValueError: Only one of `x` and `y` is given.
    """
    if (x is None) != (y is None):
        raise InvalidValueError("x and y must both be non-None or both be None.")
    if x is not None:
        return raw_ops.SelectV2(condition, x, y, name=name)
    with name_scope(name, "Where", [condition]) as scope:
        return raw_ops.Where(convert_to_tensor(condition, name="condition"), name=scope)


def sparse_mask(a: IndexedSlices, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """`a` without the slices at `mask_indices`.

    Args:
        a: IndexedSlices.
        mask_indices: Vector of the indices to leave out.
        name: Name of the operation that gathers the values.
    """
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        indices, places = raw_ops.ListDiff(a.indices, mask_indices)
        return IndexedSlices(gather(a.values, places, name=scope), indices, a.dense_shape)
