"""Ragged tensors: rows of different lengths, given as row splits and the values of all rows.

Source: tensorflow/core/kernels/ragged_*.cc and python/ops/ragged (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import ANY, INDEX, bfloat16, float32, float64, int32, int64
from ..errors import InvalidArgumentError
from ..indexed_slices import IndexedSlices
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, merge_dims, with_rank, with_rank_at_least, with_rank_at_most

_SPLITS = (INDEX, int64)


@op(
    "RaggedRange",
    "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T",
    T=((bfloat16, float32, float64, int32, int64), int32),
    Tsplits=_SPLITS,
    no_grad="TensorFlow declares none",
)
def ragged_range(starts: Any, limits: Any, deltas: Any, *, Tsplits: Any) -> tuple[Any, Any]:
    """Ranges one after another, and where each begins."""
    given = {"starts": starts, "limits": limits, "deltas": deltas}
    for name, array in given.items():
        if np.ndim(array) > 1:
            raise InvalidArgumentError(f"{name} must be a scalar or vector")
    sizes = {len(array) for array in given.values() if np.ndim(array)}
    if len(sizes) > 1:
        raise InvalidArgumentError("starts, limits, and deltas must have the same shape")
    rows = sizes.pop() if sizes else 1
    columns = [np.broadcast_to(array, (rows,)).tolist() for array in given.values()]
    ranges = []
    for start, limit, delta in zip(*columns):
        if delta == 0:
            raise InvalidArgumentError("Requires delta != 0")
        if not all(map(math.isfinite, (start, limit, delta))):
            raise InvalidArgumentError(
                f"Requires finite starts, limits and deltas, got {start}, {limit} and {delta}"
            )
        span = (limit - start) / delta if isinstance(delta, float) else -((start - limit) // delta)
        ranges.append((start, delta, max(math.ceil(span), 0)))
    splits = np.array([0, *itertools.accumulate(size for *_, size in ranges)], np.dtype(Tsplits))
    # Each value is the one before plus delta, which rounds as TensorFlow's loop does.
    dtype = np.asarray(starts).dtype
    parts = [
        np.cumsum(np.array([start, *[delta] * (size - 1)], dtype), dtype=dtype)
        for start, delta, size in ranges
        if size
    ]
    return splits, np.concatenate(parts) if parts else np.zeros(0, dtype)


@ragged_range.shape
def _(node: Any) -> list[Shape]:
    known = [with_rank_at_most(shape, 1) for shape in node.shapes]
    rows: Any = 1 if known == [()] * 3 else None
    for shape in known:
        rows = merge_dims(rows, shape[0]) if shape else rows
    return [(None if rows is None else rows + 1,), (None,)]


def _check_splits(splits: Sequence[Any], rows: int) -> None:
    """Raises InvalidArgumentError for row splits that are none, or that point past what they split."""
    for depth, each in enumerate(splits):
        last = rows if depth == len(splits) - 1 else len(splits[depth + 1])
        if not len(each):
            raise InvalidArgumentError("Ragged splits may not be empty")
        if each[0] < 0:
            raise InvalidArgumentError("Ragged splits must be non-negative")
        if each[-1] > last:
            raise InvalidArgumentError("Ragged splits must not point past values")
        if (each[1:] < each[:-1]).any():
            raise InvalidArgumentError("Ragged splits must be sorted")


@op(
    "RaggedGather",
    "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices: Tindices -> "
    "output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
    "PARAMS_RAGGED_RANK: int >= 1",
    "OUTPUT_RAGGED_RANK: int >= 0",
    Tvalues=ANY,
    Tindices=INDEX,
    Tsplits=_SPLITS,
)
def ragged_gather(params_nested_splits: Any, params_dense_values: Any, indices: Any) -> list[Any]:
    """The rows of a ragged tensor at some indices."""
    splits = [np.asarray(each) for each in params_nested_splits]
    if not splits[0].ndim:
        raise InvalidArgumentError("Split tensors must not be scalars")
    flat = np.reshape(indices, -1)
    wrong = np.flatnonzero((flat < 0) | (flat >= len(splits[0]) - 1))
    if len(wrong):
        place = "".join(f"[{int(at)}]" for at in np.unravel_index(wrong[0], np.shape(indices)))
        raise InvalidArgumentError(f"indices{place} = {flat[wrong[0]]} is not in [0, {len(splits[0]) - 1})")
    if not params_dense_values.ndim:
        raise InvalidArgumentError("params.rank must be nonzero")
    _check_splits(splits, len(params_dense_values))
    sizes = np.shape(indices)
    outer = [
        np.arange(sizes[axis] + 1) * sizes[axis + 1] if axis + 1 < len(sizes) else None
        for axis in range(len(sizes) - 1)
    ]
    results: list[Any] = [np.asarray(each, splits[0].dtype) for each in outer]
    ranges = [(int(index), int(index) + 1) for index in flat]
    for depth, each in enumerate(splits):
        if depth or np.ndim(indices):
            lengths = [each[start + 1 : end + 1] - each[start:end] for start, end in ranges]
            found = np.concatenate([np.zeros(1, each.dtype), *lengths])
            results.append(np.cumsum(found, dtype=each.dtype))
        ranges = [(int(each[start]), int(each[end])) for start, end in ranges]
    rows = [params_dense_values[start:end] for start, end in ranges]
    return [*results, np.concatenate(rows) if rows else params_dense_values[:0]]


@ragged_gather.shape
def _(node: Any) -> list[Shape]:
    count = node.attr("OUTPUT_RAGGED_RANK")
    depth = node.attr("PARAMS_RAGGED_RANK")
    with_rank(node.shape(depth + 1), count - depth + 1)
    for each in node.shapes[:depth]:
        with_rank(each, 1)
    values = with_rank_at_least(node.shape(depth), 1)
    rest: Shape = None if values is None else (None, *values[1:])
    return [*[(None,)] * count, rest]


@ragged_gather.grad
def _(node: Any, *grads: Any) -> Any:
    *splits, values, indices = node.inputs
    whole = splits[0]
    for each in splits[1:]:
        whole = raw_ops.GatherV2(each, whole, 0)
    flat = raw_ops.Reshape(indices, [-1])
    starts, limits = raw_ops.GatherV2(whole, flat, 0), raw_ops.GatherV2(whole[1:], flat, 0)
    one = raw_ops.Cast(1, DstT=starts.dtype)
    rows = raw_ops.RaggedRange(starts, limits, one, Tsplits=starts.dtype).rt_dense_values
    return [*[None] * len(splits), IndexedSlices(grads[-1], rows, raw_ops.Shape(values)), None]


@op(
    "RaggedTensorToSparse",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T -> sparse_indices: int64, "
    "sparse_values: T, sparse_dense_shape: int64",
    "RAGGED_RANK: int >= 1",
    T=ANY,
    Tsplits=_SPLITS,
)
def ragged_tensor_to_sparse(rt_nested_splits: Any, rt_dense_values: Any) -> tuple[Any, Any, Any]:
    """The same values as a sparse tensor."""
    splits = [np.asarray(each).astype(np.int64) for each in rt_nested_splits]
    last = None
    for each in splits:
        if not len(each):
            raise InvalidArgumentError("ragged splits may not be empty.")
        if each[0]:
            raise InvalidArgumentError("First value of ragged splits must be 0.")
        down = np.flatnonzero(each[1:] < each[:-1])
        if len(down):
            raise InvalidArgumentError(
                f"Ragged splits should be non decreasing, but we got {each[down[0]]} followed by "
                f"{each[down[0] + 1]}"
            )
        if last is not None and len(each) != last + 1:
            raise InvalidArgumentError(
                "Final value of ragged splits must match the length the corresponding ragged values."
            )
        last = int(each[-1])
    if len(rt_dense_values) != last:
        raise InvalidArgumentError(
            "Final value of ragged splits must match the length the corresponding ragged values."
        )
    # The index of each row within all rows above it, then within the one that it is in.
    columns: list[np.ndarray] = [np.arange(len(splits[0]) - 1)]
    for each in splits:
        lengths = each[1:] - each[:-1]
        columns = [np.repeat(column, lengths) for column in columns]
        columns.append(np.arange(each[-1]) - np.repeat(each[:-1], lengths))
    inner = rt_dense_values.shape[1:]
    size = math.prod(inner)
    columns = [np.repeat(column, size) for column in columns]
    for column in np.unravel_index(np.arange(size), inner) if inner else ():
        columns.append(np.tile(column, len(rt_dense_values)))
    widths = [int((each[1:] - each[:-1]).max(initial=0)) for each in splits]
    shape = np.array([len(splits[0]) - 1, *widths, *inner], np.int64)
    return np.stack(columns, axis=1).astype(np.int64), rt_dense_values.reshape(-1), shape


@ragged_tensor_to_sparse.shape
def _(node: Any) -> list[Shape]:
    depth = node.attr("RAGGED_RANK")
    for each in node.shapes[:depth]:
        with_rank(each, 1)
    values = with_rank_at_least(node.shape(depth), 1)
    rank = None if values is None else depth + len(values)
    count = None if values is None or None in values else math.prod(values)  # type: ignore[arg-type]
    return [(count, rank), (count,), (rank,)]


@ragged_tensor_to_sparse.grad
def _(node: Any, _: Any, dvalues: Any, __: Any) -> Any:
    *splits, values = node.inputs
    return [*[None] * len(splits), raw_ops.Reshape(dvalues, raw_ops.Shape(values))]


@op(
    "RaggedTensorToTensor",
    "shape: Tshape, values: T, default_value: T, "
    "row_partition_tensors: num_row_partition_tensors * Tindex -> result: T",
    "num_row_partition_tensors: int >= 1",
    "row_partition_types: list(string)",
    T=ANY,
    Tindex=(int64, int32),
    Tshape=(int64, int32),
    undefined_grad="TensorFlow 1.15 registers none",
)
def ragged_tensor_to_tensor(
    shape: Any,
    values: Any,
    default_value: Any,
    row_partition_tensors: Any,
    *,
    row_partition_types: Sequence[str],
) -> Any:
    """The same values as a dense tensor, `default_value` where rows are short; longer rows are cut."""
    partitions = [np.reshape(each, -1) for each in row_partition_tensors]
    kinds = list(row_partition_types)
    if not kinds:
        raise InvalidArgumentError("No row_partition_types given.")
    if not partitions[0].size:
        raise InvalidArgumentError("Invalid first partition input. Tensor requires at least one element.")
    if kinds[0] == "FIRST_DIM_SIZE":
        first = int(partitions[0][0])
        partitions, kinds = partitions[1:], kinds[1:]
    elif kinds[0] == "ROW_SPLITS":
        first = len(partitions[0]) - 1
    else:
        raise InvalidArgumentError(f"Cannot handle {kinds[0]} in first dimension.")
    # Which row each row one level down is in, at all levels.
    owners: list[np.ndarray] = []
    count = first
    for kind, each in zip(kinds, partitions):
        if kind == "VALUE_ROWIDS":
            owner = each.astype(np.int64)
            if owner.size and (owner.max() >= count or owner.min() < 0):
                raise InvalidArgumentError(
                    f"Got current_value_rowid={int(owner.max())} which is not less than {count}"
                )
        elif kind == "ROW_SPLITS":
            if len(each) - 1 > count:
                raise InvalidArgumentError(
                    f"Row partition size is greater than output size: {len(each) - 1} > {count}"
                )
            lengths = each[1:] - each[:-1]
            if (lengths < 0).any() or (len(each) and each[0]):
                raise InvalidArgumentError("Invalid row split size.")
            owner = np.repeat(np.arange(len(lengths)), lengths)
        else:
            raise InvalidArgumentError(f"Unsupported partition type:{kind}")
        owners.append(owner)
        count = len(owner)
    if count != len(values):
        raise InvalidArgumentError(
            f"The row partitions are of {count} values, but there are {len(values)} in a tensor of shape "
            f"{format_shape(values.shape)}"
        )
    columns = [_numbers(owner) for owner in owners]
    sizes = _output_sizes(shape, values, first, columns)
    result = np.empty(sizes, values.dtype)
    result[...] = default_value
    rows = np.arange(count)
    index: list[np.ndarray] = []
    for owner, column in zip(reversed(owners), reversed(columns)):
        index.insert(0, column[rows])
        rows = owner[rows]
    index.insert(0, rows)
    kept = np.all([each < size for each, size in zip(index, sizes)], axis=0)
    inner = [slice(size) for size in np.minimum(values.shape[1:], sizes[len(index) :]).tolist()]
    result[tuple(each[kept] for each in index)] = values[(kept, *inner)]
    return result


def _numbers(owner: np.ndarray) -> np.ndarray:
    """The number of each element within the run of its owner."""
    begins = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]])) if len(owner) else owner
    lengths = np.diff(np.concatenate([begins, [len(owner)]]))
    numbers: np.ndarray = np.arange(len(owner)) - np.repeat(begins, lengths)
    return numbers


def _output_sizes(shape: Any, values: Any, first: int, columns: Sequence[np.ndarray]) -> list[int]:
    """The sizes of the result: those asked for, else as large as needed."""
    needed = [first, *(int(column.max(initial=-1)) + 1 for column in columns), *values.shape[1:]]
    if np.ndim(shape) == 0:
        if int(shape) != -1:
            raise InvalidArgumentError(f"The shape must be a vector or -1, not {int(shape)}")
        return needed
    if len(shape) != len(needed):
        raise InvalidArgumentError(
            f"Shape {shape.tolist()} has {len(shape)} dimensions, but the ragged tensor has {len(needed)}"
        )
    wanted = [size if size >= 0 else need for size, need in zip(shape.tolist(), needed)]
    if wanted[len(columns) + 1 :] != needed[len(columns) + 1 :]:
        raise InvalidArgumentError(
            f"Shape {shape.tolist()} does not fit values of shape {format_shape(values.shape)}: only ragged "
            "dimensions can be cut or filled up"
        )
    return wanted


@ragged_tensor_to_tensor.shape
def _(node: Any) -> Shape:
    wanted: Shape = node.value_as_shape(0)
    values: Shape = node.shape(1)
    kinds = node.attr("row_partition_types")
    depth = len(kinds) - (1 if kinds and kinds[0] in (b"FIRST_DIM_SIZE", "FIRST_DIM_SIZE") else 0)
    if values is None:
        return wanted
    inner: list[int | None] = [*[None] * (depth + 1), *values[1:]]
    if wanted is None:
        return tuple(inner)
    return tuple(a if a is not None else b for a, b in zip(wanted, inner))
