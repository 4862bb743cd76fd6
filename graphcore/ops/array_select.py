"""Choosing elements: gather and scatter, conditions, one-hot, sets, top k."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, INDEX, NUMBER, REAL, as_dtype, bool_, float32, int32, int64, uint8
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..indexed_slices import IndexedSlices
from ..kernels import gather_scatter as kernels
from ..op import op, raw_ops
from ..shapes import (
    Shape,
    broadcast,
    format_shape,
    merge,
    merge_dims,
    merge_prefix,
    num_elements,
    with_rank,
    with_rank_at_least,
)
from . import rules

_INDICES = "its results are indices"


# Gather


def _gather_shape(params: Shape, indices: Shape, axis: int | None, batch_dims: int) -> Shape:
    if axis is not None:
        with_rank_at_least(params, axis + 1 if axis >= 0 else -axis)
    with_rank_at_least(params, 1)
    if indices is not None and not -len(indices) <= batch_dims <= len(indices):
        raise InvalidValueError(
            f"Expected batch_dims in the range [{-len(indices)}, {len(indices)}], but got {batch_dims}"
        )
    if params is None or indices is None:
        return None
    batch = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    with_rank_at_least(params, batch)
    if axis is None:
        return (None,) * (len(params) + len(indices) - 1 - batch)
    axis %= len(params)
    if axis < batch:
        raise InvalidValueError(f"batch_dims ({batch}) must be less than or equal to axis ({axis})")
    shared = merge(params[:batch], indices[:batch]) or ()
    return (*shared, *params[batch:axis], *indices[batch:], *params[axis + 1 :])


@op(
    "Gather",
    "params: Tparams, indices: Tindices -> output: Tparams",
    "validate_indices: bool = true",
    Tparams=ANY,
    Tindices=INDEX,
)
def gather_v1(params: Any, indices: Any) -> Any:
    """Rows of `params`."""
    return kernels.gather(params, indices)


@op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    "batch_dims: int = 0",
    Tparams=ANY,
    Tindices=INDEX,
    Taxis=INDEX,
)
def gather_v2(params: Any, indices: Any, axis: Any, *, batch_dims: int) -> Any:
    """Slices of `params` along an axis."""
    if np.ndim(axis):
        raise InvalidArgumentError(f"axis must be scalar, got shape {format_shape(np.shape(axis))}")
    return kernels.gather(params, indices, int(axis), batch_dims)


gather_v1.shape(lambda node: _gather_shape(node.shape(0), node.shape(1), 0, 0))


@gather_v2.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(2), 0)
    axis = node.value(2)
    return _gather_shape(
        node.shape(0), node.shape(1), None if axis is None else int(axis), node.attr("batch_dims")
    )


def _shape32(tensor: Any) -> Any:
    return raw_ops.Cast(raw_ops.Shape(tensor, out_type=int64), DstT=int32)


def _gathered_rows(node: Any, dy: Any) -> IndexedSlices:
    """The gradient of the rows that a gather along axis 0 took."""
    params, indices = node.inputs[:2]
    with dy.graph.colocate_with(params.op):
        shape = _shape32(params)
    size = raw_ops.ExpandDims(raw_ops.Size(indices), 0)
    values = raw_ops.Reshape(dy, raw_ops.ConcatV2([size, shape[1:]], 0))
    return IndexedSlices(values, raw_ops.Reshape(indices, size), shape)


gather_v1.grad(lambda node, dy: [_gathered_rows(node, dy), None])


@gather_v2.grad
def _(node: Any, dy: Any) -> Any:
    params, indices, axis = node.inputs
    batch_dims = node.attr("batch_dims")
    static = node.graph.constant_value(axis)
    if static is not None and static == 0 and batch_dims == 0:
        return [_gathered_rows(node, dy), None, None]
    shape = _shape32(params)
    rank = raw_ops.Rank(params)
    axis = raw_ops.FloorMod(raw_ops.Cast(axis, DstT=int32), rank)
    batch: Any = batch_dims if batch_dims >= 0 else raw_ops.Rank(indices) + batch_dims
    # dy is (batch, between, chosen, rest): sum (batch, chosen) into segments of (batch, axis), the
    # number of a segment being batch number * axis length + index.
    chosen = raw_ops.Rank(indices) - batch
    order = raw_ops.ConcatV2(
        [
            raw_ops.Range(0, batch, 1),
            raw_ops.Range(axis, axis + chosen, 1),
            raw_ops.Range(batch, axis, 1),
            raw_ops.Range(axis + chosen, raw_ops.Rank(dy), 1),
        ],
        0,
    )
    length = raw_ops.GatherV2(shape, axis, 0)
    batch_shape, inner = shape[:batch], raw_ops.ConcatV2([shape[batch:axis], shape[axis + 1 :]], 0)
    count = raw_ops.Prod(batch_shape, [0])
    starts = raw_ops.Reshape(raw_ops.Range(0, count, 1) * length, raw_ops.Pack([count, 1]))
    flat = raw_ops.Reshape(
        raw_ops.Cast(indices, DstT=int32), raw_ops.Pack([count, _rest_size(indices, batch)])
    )
    segments = raw_ops.Reshape(flat + starts, [-1])
    rows = raw_ops.Reshape(
        raw_ops.Transpose(dy, order), raw_ops.ConcatV2([raw_ops.Shape(segments), inner], 0)
    )
    summed = raw_ops.UnsortedSegmentSum(rows, segments, count * length)
    unflat = raw_ops.Reshape(summed, raw_ops.ConcatV2([batch_shape, raw_ops.Pack([length]), inner], 0))
    back = raw_ops.ConcatV2(
        [
            raw_ops.Range(0, batch, 1),
            raw_ops.Range(batch + 1, axis + 1, 1),
            raw_ops.Pack([raw_ops.Identity(batch)]),
            raw_ops.Range(axis + 1, rank, 1),
        ],
        0,
    )
    return [raw_ops.Transpose(unflat, back), None, None]


def _rest_size(indices: Any, batch: Any) -> Any:
    return raw_ops.Prod(raw_ops.Shape(indices)[batch:], [0])


@op("GatherNd", "params: Tparams, indices: Tindices -> output: Tparams", Tparams=ANY, Tindices=INDEX)
def gather_nd_op(params: Any, indices: Any) -> Any:
    """Slices of `params` at tuples of indices."""
    return kernels.gather_nd(params, indices)


def gather_nd_shape(params: Shape, indices: Shape) -> Shape:
    """The shape of what GatherNd gives.

    Raises:
        InvalidValueError: `indices` has no axis, or longer tuples than `params` has axes.
    """
    indices = with_rank_at_least(indices, 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise InvalidValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {list(indices)} "
            f"and params shape: {list(params)}"
        )
    return (*indices[:-1], *params[indices[-1] :])


gather_nd_op.shape(lambda node: gather_nd_shape(node.shape(0), node.shape(1)))


@gather_nd_op.grad
def _(node: Any, dy: Any) -> Any:
    params, indices = node.inputs
    shape = raw_ops.Shape(params, out_type=indices.dtype)
    known = indices.static_shape
    if known is not None and len(known) == 2 and known[-1] == 1:
        return [IndexedSlices(dy, raw_ops.Squeeze(indices, squeeze_dims=[-1]), shape), None]
    return [raw_ops.ScatterNd(indices, dy, shape), None]


# Scatter


@op("ScatterNd", "indices: Tindices, updates: T, shape: Tindices -> output: T", T=ANY, Tindices=INDEX)
def scatter_nd_op(indices: Any, updates: Any, shape: Any) -> Any:
    """Updates added up at tuples of indices in a tensor of zeros."""
    return kernels.scatter_nd(indices, updates, shape)


@scatter_nd_op.shape
def _(node: Any) -> Shape:
    indices, updates = with_rank_at_least(node.shape(0), 1), with_rank_at_least(node.shape(1), 1)
    shape: Shape = node.value_as_shape(2)
    if num_elements(shape) == 0 and (num_elements(indices) or num_elements(updates)):
        raise InvalidValueError("Indices and updates specified for empty output shape")
    rules.check_scatter_nd(indices, updates, shape, "output")
    return shape


scatter_nd_op.grad(lambda node, dy: [None, raw_ops.GatherNd(dy, node.inputs[0]), None])


def _into_copy(combine: Any) -> Callable[..., Any]:
    """A kernel that combines updates with elements of a copy of the tensor, in order."""

    def kernel(tensor: Any, indices: Any, updates: Any) -> Any:
        kernels.check_scatter(indices, updates, tensor.shape)
        depth = indices.shape[-1]
        places = kernels.flat_positions(indices, tensor.shape, "shape")
        result = tensor.copy()
        rows = result.reshape(int(np.prod(tensor.shape[:depth])), -1) if result.size else result
        if result.size and places.size:
            values = updates.reshape(len(places), rows.shape[1])
            if combine is None:
                rows[places] = values
            else:
                combine.at(rows, places, values)
        return result

    return kernel


tensor_scatter_update, tensor_scatter_add, tensor_scatter_sub = (
    op(name, "tensor: T, indices: Tindices, updates: T -> output: T", T=ANY, Tindices=INDEX, text=text)(
        _into_copy(combine)
    )
    for name, combine, text in (
        ("TensorScatterUpdate", None, "The tensor with updates in place of elements or slices."),
        ("TensorScatterAdd", np.add, "The tensor with updates added to elements or slices."),
        ("TensorScatterSub", np.subtract, "The tensor with updates subtracted from elements or slices."),
    )
)
scatter_nd_non_aliasing_add = op(
    "ScatterNdNonAliasingAdd",
    "input: T, indices: Tindices, updates: T -> output: T",
    T=(*NUMBER, bool_),
    Tindices=INDEX,
    text="The input with updates added to elements or slices.",
)(_into_copy(np.add))


def _into_copy_shape(node: Any) -> Shape:
    shape, indices, updates = node.shapes
    if shape is not None and num_elements(shape) == 0 and num_elements(indices) and num_elements(updates):
        raise InvalidValueError("Indices and updates specified for empty output")
    if indices is None or not indices or updates is None:
        return shape  # type: ignore[no-any-return]
    outer = len(indices) - 1
    kernels.check_scattered((0, outer), "indices", indices, (0, outer), updates, InvalidValueError)
    if shape is not None and indices[-1] is not None:
        inner, rest = (indices[-1], len(shape)), (outer, len(updates))
        kernels.check_scattered(inner, "input", shape, rest, updates, InvalidValueError)
    return shape  # type: ignore[no-any-return]


for _scatter in (tensor_scatter_update, tensor_scatter_add, tensor_scatter_sub, scatter_nd_non_aliasing_add):
    _scatter.shape(_into_copy_shape)


@tensor_scatter_update.grad
def _(node: Any, dy: Any) -> Any:
    _, indices, updates = node.inputs
    kept = raw_ops.TensorScatterUpdate(raw_ops.Identity(dy), indices, raw_ops.ZerosLike(updates))
    return [kept, None, raw_ops.GatherNd(dy, indices)]


tensor_scatter_add.grad(lambda node, dy: [dy, None, raw_ops.GatherNd(dy, node.inputs[1])])
tensor_scatter_sub.grad(lambda node, dy: [dy, None, -raw_ops.GatherNd(dy, node.inputs[1])])
scatter_nd_non_aliasing_add.grad(lambda node, dy: [dy, None, raw_ops.GatherNd(dy, node.inputs[1])])


@op(
    "SparseToDense",
    "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> dense: T",
    "validate_indices: bool = true",
    T=ANY,
    Tindices=INDEX,
)
def sparse_to_dense_op(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any, *, validate_indices: bool
) -> Any:
    """A tensor of a default with values at some places."""
    return kernels.sparse_to_dense(
        sparse_indices, output_shape, sparse_values, default_value, validate_indices
    )


sparse_to_dense_op.shape(lambda node: node.value_as_shape(1))


@sparse_to_dense_op.grad
def _(node: Any, dy: Any) -> Any:
    indices, _, values, _ = node.inputs
    # A scalar or vector of indices stands for places in a vector, one number each.
    places = raw_ops.Reshape(indices, raw_ops.Pack([-1, raw_ops.Rank(dy)]))
    picked = raw_ops.GatherNd(dy, places)
    by_values, _ = rules.unbroadcast(values, picked, picked, None)
    total = raw_ops.Sum(dy, raw_ops.Range(0, raw_ops.Rank(dy), 1))
    return [None, None, by_values, total - raw_ops.Sum(picked, [0])]


@op("DynamicStitch", "indices: N * int32, data: N * T -> merged: T", T=ANY)
def dynamic_stitch(indices: list[Any], data: list[Any]) -> Any:
    """Rows of several tensors at their indices; later ones win."""
    return kernels.dynamic_stitch(indices, data)


@op("ParallelDynamicStitch", "indices: N * int32, data: N * T -> merged: T", T=ANY)
def parallel_dynamic_stitch(indices: list[Any], data: list[Any]) -> Any:
    """As DynamicStitch, for indices without repetition."""
    return kernels.dynamic_stitch(indices, data)


def _stitch_shape(node: Any) -> Shape:
    count = node.num_inputs // 2
    rest: Shape = None
    rows: int | None = 0
    for index in range(count):
        places, data, value = node.shape(index), node.shape(count + index), node.value(index)
        rows = None if rows is None or value is None else max([rows, *(np.ravel(value) + 1).tolist()])
        if places is None or data is None:
            continue
        if len(data) < len(places):
            raise InvalidValueError(f"Shape must be at least rank {len(places)} but is rank {len(data)}")
        merge_prefix(data, places)
        rest = merge(rest, data[len(places) :])
    return None if rest is None else (rows, *rest)


def _stitch_grad(node: Any, dy: Any) -> Any:
    count = len(node.inputs) // 2
    if isinstance(dy, IndexedSlices):
        rows = raw_ops.Shape(node.outputs[0])[0]
        dy = raw_ops.UnsortedSegmentSum(dy.values, dy.indices, rows)
    return [None] * count + [raw_ops.GatherV2(dy, places, 0) for places in node.inputs[:count]]


for _stitch in (dynamic_stitch, parallel_dynamic_stitch):
    _stitch.shape(_stitch_shape)
    _stitch.grad(_stitch_grad)


@op("DynamicPartition", "data: T, partitions: int32 -> outputs: num_partitions * T", T=ANY)
def dynamic_partition(data: Any, partitions: Any, *, num_partitions: int) -> list[Any]:
    """The rows of a tensor by their partition number."""
    return kernels.dynamic_partition(data, partitions, num_partitions)


@dynamic_partition.shape
def _(node: Any) -> list[Shape]:
    data, partitions, count = node.shape(0), node.shape(1), node.num_outputs
    data, partitions = merge_prefix(data, partitions)
    if partitions is None or data is None:
        return [None] * count
    return [(None, *data[len(partitions) :])] * count


@dynamic_partition.grad
def _(node: Any, *dys: Any) -> Any:
    data, partitions = node.inputs
    shape = raw_ops.Shape(partitions)
    numbers = raw_ops.Reshape(raw_ops.Range(0, raw_ops.Prod(shape, [0]), 1), shape)
    parts = raw_ops.DynamicPartition(numbers, partitions, num_partitions=node.attr("num_partitions"))
    merged = raw_ops.ParallelDynamicStitch(parts, list(dys))
    return [raw_ops.Reshape(merged, raw_ops.Shape(data)), None]


# Conditions


@op("Select", "condition: bool, t: T, e: T -> output: T", T=ANY)
def select(condition: Any, t: Any, e: Any) -> Any:
    """`t` where the condition holds, else `e`; a scalar chooses all, a vector rows."""
    if np.shape(t) != np.shape(e):
        raise InvalidArgumentError(
            f"'then' and 'else' must have the same size.  but received: {format_shape(np.shape(t))} "
            f"vs. {format_shape(np.shape(e))}"
        )
    if np.ndim(condition) == 0:
        return t if condition else e
    if condition.shape == t.shape:
        return np.where(condition, t, e)
    if condition.ndim != 1 or t.ndim == 0 or condition.shape[0] != t.shape[0]:
        raise InvalidArgumentError(
            f"Number of batches of 'then' must match size of 'cond', but saw: {format_shape(t.shape)} "
            f"vs. {format_shape(condition.shape)}"
        )
    return np.where(condition.reshape(-1, *[1] * (t.ndim - 1)), t, e)


@select.shape
def _(node: Any) -> Shape:
    condition, data = node.shape(0), merge(node.shape(1), node.shape(2))
    if condition is None or len(condition) == 0 or data is None:
        if condition is not None and len(condition) > 1:
            return merge(condition, data)
        return data
    if len(condition) == 1:
        with_rank_at_least(data, 1)
        return (merge(condition, data[:1]) or ()) + data[1:]
    return merge(condition, data)


@select.grad
def _(node: Any, dy: Any) -> Any:
    condition, t, _ = node.inputs
    zeros = raw_ops.ZerosLike(t)
    return None, raw_ops.Select(condition, dy, zeros), raw_ops.Select(condition, zeros, dy)


@op("SelectV2", "condition: bool, t: T, e: T -> output: T", T=ANY)
def select_v2(condition: Any, t: Any, e: Any) -> Any:
    """`t` where the condition holds, else `e`; all three are broadcast."""
    try:
        return np.where(condition, t, e)
    except ValueError:
        shapes = [format_shape(np.shape(each)) for each in (condition, t, e)]
        raise InvalidArgumentError(
            "condition {}, then {}, and else {} must be broadcastable".format(*shapes)
        ) from None


select_v2.shape(lambda node: broadcast(node.shape(0), broadcast(node.shape(1), node.shape(2))))


@select_v2.grad
def _(node: Any, dy: Any) -> Any:
    condition, t, e = node.inputs
    output, zero = node.outputs[0], constant(0, dtype=dy.dtype.base_dtype)
    by_t, _ = rules.unbroadcast(t, output, raw_ops.SelectV2(condition, dy, zero), None)
    by_e, _ = rules.unbroadcast(e, output, raw_ops.SelectV2(condition, zero, dy), None)
    return None, by_t, by_e


@op("Where", "input: T -> index: int64", T=((*NUMBER, bool_), bool_), no_grad=_INDICES)
def where_op(input: Any) -> Any:
    """The indices of what is not zero (true), one a row, in C order."""
    if np.ndim(input) == 0:
        raise InvalidArgumentError("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(input).astype(np.int64, copy=False)


where_op.shape(lambda node: (None, None if node.shape(0) is None else len(node.shape(0))))


@op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    "axis: int = -1",
    T=ANY,
    TI=((uint8, int32, int64), int64),
    no_grad="indices have no derivative, and TensorFlow declares none for its values",
)
def one_hot_op(indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    """`on_value` at the index along a new axis of length `depth`, else `off_value`."""
    return kernels.one_hot(np.asarray(indices), depth, on_value, off_value, axis)


@one_hot_op.shape
def _(node: Any) -> Shape:
    indices, depth, axis = node.shape(0), node.value(1), node.attr("axis")
    if axis < -1:
        raise InvalidValueError("axis must be >= -1")
    if depth is not None and depth < 0:
        raise InvalidValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {depth}"
        )
    if indices is None:
        return None
    if axis > len(indices):
        raise InvalidValueError(
            f"Expected axis to be -1 or between [0, {len(indices) + 1}).  But received: {axis}"
        )
    at = len(indices) if axis == -1 else axis
    return (*indices[:at], None if depth is None else int(depth), *indices[at:])


# Sets


def _unique_parts(x: Any, out_idx: Any) -> tuple[Any, Any, Any]:
    """The distinct values of a vector in the order of their first places, where each went, counts."""
    if np.ndim(x) != 1:
        raise InvalidArgumentError("unique expects a 1D vector.")
    numbers: dict[Any, int] = {}
    places = np.array([numbers.setdefault(value, len(numbers)) for value in x.tolist()], out_idx)
    first = np.zeros(len(numbers), np.int64)
    first[places[::-1]] = np.arange(len(x))[::-1]
    return x[first], places, np.bincount(places, minlength=len(numbers)).astype(out_idx)


@op(
    "Unique",
    "x: T -> y: T, idx: out_idx",
    T=ANY,
    out_idx=(INDEX, int32),
    undefined_grad="TensorFlow has none",
)
def unique_op(x: Any, *, out_idx: Any) -> Any:
    """Distinct values in order of appearance, and for each element which one it is."""
    return _unique_parts(x, out_idx)[:2]


@op(
    "UniqueWithCounts",
    "x: T -> y: T, idx: out_idx, count: out_idx",
    T=ANY,
    out_idx=(INDEX, int32),
    undefined_grad="TensorFlow has none",
)
def unique_with_counts_op(x: Any, *, out_idx: Any) -> Any:
    """As Unique, with how often each value occurs."""
    return _unique_parts(x, out_idx)


unique_op.shape(lambda node: [(None,), with_rank(node.shape(0), 1)])
unique_with_counts_op.shape(lambda node: [(None,), with_rank(node.shape(0), 1), (None,)])


def _unique_slices(x: Any, axis: Any, out_idx: Any) -> tuple[Any, Any, Any]:
    """`_unique_parts` of the slices along an axis; an empty axis means that x is a vector."""
    if np.ndim(axis) != 1:
        raise InvalidArgumentError("axis expects a 1D vector.")
    if np.size(axis) > 1:
        raise InvalidArgumentError("axis does not support input tensors larger than 1 elements")
    if np.size(axis) == 0:
        return _unique_parts(x, out_idx)
    at = int(axis[0]) + (x.ndim if axis[0] < 0 else 0)
    if not 0 <= at < x.ndim:
        raise InvalidArgumentError(f"axis has to be between [0, {x.ndim})")
    rows = np.moveaxis(x, at, 0)
    numbers: dict[Any, int] = {}
    keys = map(tuple, rows.reshape(len(rows), -1).tolist() if rows.size else [()] * len(rows))
    places = np.array([numbers.setdefault(key, len(numbers)) for key in keys], out_idx)
    first = np.zeros(len(numbers), np.int64)
    first[places[::-1]] = np.arange(len(rows))[::-1]
    return np.take(x, first, at), places, np.bincount(places, minlength=len(numbers)).astype(out_idx)


_UNIQUE_V2: dict[str, Any] = {"T": ANY, "Taxis": (INDEX, int64), "out_idx": (INDEX, int32)}


@op("UniqueV2", "x: T, axis: Taxis -> y: T, idx: out_idx", **_UNIQUE_V2, undefined_grad="TensorFlow has none")
def unique_v2(x: Any, axis: Any, *, out_idx: Any) -> Any:
    """Distinct slices along an axis in order of appearance, and for each slice which one it is."""
    return _unique_slices(x, axis, out_idx)[:2]


@op(
    "UniqueWithCountsV2",
    "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx",
    **_UNIQUE_V2,
    undefined_grad="TensorFlow has none",
)
def unique_with_counts_v2(x: Any, axis: Any, *, out_idx: Any) -> Any:
    """As UniqueV2, with how often each slice occurs."""
    return _unique_slices(x, axis, out_idx)


def _unique_v2_shape(node: Any) -> list[Shape]:
    shape, axis = node.shape(0), node.value(1)
    at = None if axis is None else int(axis[0]) if np.size(axis) else 0
    known: tuple[Shape, Shape]
    if shape is None or at is None or not -len(shape) <= at < len(shape):
        known = (None if shape is None else (None,) * len(shape)), (None,)
    else:
        known = rules.replace_dim(shape, at % len(shape), None), (shape[at],)
    return [*known, (None,)][: node.num_outputs]


unique_v2.shape(_unique_v2_shape)
unique_with_counts_v2.shape(_unique_v2_shape)


@op(
    "ListDiff",
    "x: T, y: T -> out: T, idx: out_idx",
    T=ANY,
    out_idx=(INDEX, int32),
    undefined_grad="TensorFlow has none",
)
def list_diff(x: Any, y: Any, *, out_idx: Any) -> tuple[Any, Any]:
    """What is in x and not in y, in the order of x, and where it stands there."""
    for name, value in (("x", x), ("y", y)):
        if np.ndim(value) != 1:
            raise InvalidArgumentError(f"{name} should be a 1D vector.")
    other = set(y.tolist())
    places = np.array([place for place, value in enumerate(x.tolist()) if value not in other], out_idx)
    return x[places], places


list_diff.shape(lambda node: [(None,), (None,)])


# The largest


def _top_k_shape(node: Any, k: int | None) -> list[Shape]:
    source = with_rank_at_least(node.shape(0), 1)
    if source is None:
        return [None, None]
    if k is not None and source[-1] is not None and source[-1] < k:
        raise InvalidValueError(f"input must have last dimension >= k = {k} but is {source[-1]}")
    return [(*source[:-1], k)] * 2


@op("TopK", "input: T -> values: T, indices: int32", "k: int >= 0", "sorted: bool = true", T=REAL)
def top_k_v1(input: Any, *, k: int, sorted: bool) -> Any:
    """The k largest along the last axis, and where they are."""
    return kernels.top_k(input, k, sorted)


@op("TopKV2", "input: T, k: int32 -> values: T, indices: int32", "sorted: bool = true", T=REAL)
def top_k_v2(input: Any, k: Any, *, sorted: bool) -> Any:
    """The k largest along the last axis, and where they are."""
    if np.ndim(k):
        raise InvalidArgumentError(f"k must be scalar, got shape {format_shape(np.shape(k))}")
    return kernels.top_k(input, int(k), sorted)


top_k_v1.shape(lambda node: _top_k_shape(node, node.attr("k")))


@top_k_v2.shape
def _(node: Any) -> list[Shape]:
    k = node.value(1)
    return _top_k_shape(node, None if k is None else int(k))


def _top_k_grad(node: Any, dy: Any) -> Any:
    source, places = node.inputs[0], node.outputs[1]
    shape, chosen = raw_ops.Shape(source), raw_ops.Shape(places)
    k = raw_ops.GatherV2(chosen, raw_ops.Size(chosen) - 1, 0)
    length = raw_ops.GatherV2(shape, raw_ops.Size(shape) - 1, 0)
    rows = raw_ops.Reshape(places, raw_ops.Pack([-1, k]))
    count = raw_ops.Shape(rows)[0]
    flat = raw_ops.Reshape(rows + raw_ops.ExpandDims(raw_ops.Range(0, count * length, length), -1), [-1])
    total = raw_ops.Pack([raw_ops.Prod(shape, [0])])
    spread = raw_ops.ScatterNd(raw_ops.ExpandDims(flat, -1), raw_ops.Reshape(dy, [-1]), total)
    return raw_ops.Reshape(spread, shape)


top_k_v1.grad(lambda node, dy, _: _top_k_grad(node, dy))
top_k_v2.grad(lambda node, dy, _: [_top_k_grad(node, dy), None])


@op(
    "InTopK",
    "predictions: float32, targets: T -> precision: bool",
    "k: int",
    T=(INDEX, int32),
    no_grad="booleans have no derivative",
)
def in_top_k_v1(predictions: Any, targets: Any, *, k: int) -> Any:
    """Whether the target is among the k largest predictions of its row."""
    return kernels.in_top_k(predictions, targets, k)


@op(
    "InTopKV2",
    "predictions: float32, targets: T, k: T -> precision: bool",
    T=(INDEX, int32),
    no_grad="booleans have no derivative",
)
def in_top_k_v2(predictions: Any, targets: Any, k: Any) -> Any:
    """Whether the target is among the k largest predictions of its row."""
    return kernels.in_top_k(predictions, targets, int(k))


def _in_top_k_shape(node: Any) -> Shape:
    predictions, targets = with_rank(node.shape(0), 2), with_rank(node.shape(1), 1)
    return (merge_dims(predictions[0], targets[0]),)


for _in_top in (in_top_k_v1, in_top_k_v2):
    _in_top.shape(_in_top_k_shape)


# TensorFlow's Python functions


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """`tf.gather`: slices of `params` along `axis` (default: `batch_dims`)."""
    axis = batch_dims if axis is None else axis
    if isinstance(axis, int) and axis == 0 and hasattr(params, "sparse_read"):
        return params.sparse_read(indices, name=name)
    return gather_v2(params, indices, axis, batch_dims=batch_dims, name=name)


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """`tf.batch_gather`: gather along the last axis of `indices`, all axes before it shared.

    Raises:
        ValueError: The rank of `indices` is not known.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        ndims = indices.get_shape().ndims
        if ndims is None:
            raise InvalidValueError("batch_gather does not allow indices with unknown shape.")
        return gather(params, indices, batch_dims=ndims - 1)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """`tf.gather_nd`: slices of `params` at the tuples in the last axis of `indices`.

    Args:
        params: The tensor.
        indices: (..., depth).
        name: Name of the operation.
        batch_dims: Leading axes that both share; their sizes must be known.

    Raises:
        ValueError: `batch_dims` does not fit.
    """
    if not batch_dims:
        if hasattr(params, "gather_nd"):
            return params.gather_nd(indices, name=name)
        return gather_nd_op(params, indices, name=name)
    indices = convert_to_tensor(indices)
    static = indices.static_shape
    if static is None or not 0 < batch_dims < len(static) or None in static[:batch_dims]:
        raise InvalidValueError(f"batch_dims = {batch_dims} does not fit indices of shape {static}")
    grid = np.indices((*static[:batch_dims], *[1] * (len(static) - 1 - batch_dims)))[:batch_dims]
    leading = constant(np.moveaxis(grid, 0, -1), indices.dtype.base_dtype)
    shape = raw_ops.ConcatV2([raw_ops.Shape(indices)[:-1], [batch_dims]], 0)
    full = raw_ops.ConcatV2([raw_ops.BroadcastTo(leading, shape), indices], -1)
    return gather_nd_op(params, full, name=name)


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """`tf.scatter_nd`: updates added up at tuples of indices in zeros of `shape`."""
    return scatter_nd_op(indices, updates, shape, name=name)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`tf.where`: `x` where `condition` holds, else `y`; with the condition alone, where it holds.

    Raises:
        ValueError: Only one of x and y is given.
    """
    if x is None and y is None:
        with name_scope(name, "Where", [condition]) as scope:
            condition = convert_to_tensor(condition, preferred_dtype=bool_, name="condition")
            return where_op(condition, name=scope)
    if x is None or y is None:
        raise InvalidValueError("x and y must both be non-None or both be None.")
    return select(condition, x, y, name=name)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.one_hot`: `on_value` (1) at each index along a new axis of length `depth`, else `off_value` (0).

    Raises:
        TypeError: The dtypes of the values and `dtype` differ.
    """
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        wanted = None if dtype is None else as_dtype(dtype)
        values: dict[str, Any] = {}
        for key, value in (("on_value", on_value), ("off_value", off_value)):
            if value is None:
                continue
            values[key] = convert_to_tensor(value, preferred_dtype=wanted, name=key)
            found = values[key].dtype.base_dtype
            if wanted is not None and found != wanted:
                raise InvalidTypeError(f"dtype {found} of {key} does not match dtype parameter {wanted}")
        if len(values) == 2 and values["on_value"].dtype != values["off_value"].dtype:
            dtypes = [str(values[key].dtype) for key in ("on_value", "off_value")]
            raise InvalidTypeError(
                f"dtype {dtypes[0]} of on_value does not match dtype {dtypes[1]} of off_value"
            )
        if wanted is None:
            wanted = next(iter(values.values())).dtype.base_dtype if values else float32
        on = values["on_value"] if "on_value" in values else convert_to_tensor(1, wanted, name="on_value")
        off = values["off_value"] if "off_value" in values else convert_to_tensor(0, wanted, name="off_value")
        return one_hot_op(indices, depth, on, off, axis=-1 if axis is None else axis, name=scope)


def boolean_mask(tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None) -> Any:
    """`tf.boolean_mask`: the slices of `tensor` whose place in `mask` is true, flattened along those axes.

    Args:
        tensor: The tensor.
        mask: A boolean tensor of known rank, at least 1.
        name: Name scope of the operations.
        axis: The axis of `tensor` at which the mask's axes begin.

    Raises:
        ValueError: The mask is a scalar, of unknown rank, or does not fit.
    """
    with name_scope(name, "boolean_mask", [tensor, mask]):
        tensor, mask = convert_to_tensor(tensor, name="tensor"), convert_to_tensor(mask, name="mask")
        ndims = mask.get_shape().ndims
        if ndims == 0:
            raise InvalidValueError("mask cannot be scalar.")
        if ndims is None:
            raise InvalidValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  "
                "E.g. shape=[None] is ok, but shape=None is not."
            )
        first = axis or 0
        static = tensor.get_shape()
        masked = static[first : first + ndims]
        masked.assert_is_compatible_with(mask.get_shape())
        shape = raw_ops.Shape(tensor)
        size = raw_ops.Prod(shape[first : first + ndims], [0])
        target = raw_ops.ConcatV2([shape[:first], raw_ops.Pack([size]), shape[first + ndims :]], 0)
        flat = raw_ops.Reshape(tensor, target)
        if static.ndims is not None:
            dims = static.as_list()
            flat.set_shape([*dims[:first], masked.num_elements(), *dims[first + ndims :]])
        places = raw_ops.Squeeze(where_op(raw_ops.Reshape(mask, [-1])), squeeze_dims=[1])
        return gather(flat, places, axis=first)


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """`tf.unique`: `(y, idx)`, the distinct values in order of appearance, and which one each element is."""
    return unique_op(x, out_idx=out_idx, name=name)


def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> Any:
    """`tf.unique_with_counts`: as `tf.unique`, with how often each occurs."""
    return unique_with_counts_op(x, out_idx=out_idx, name=name)


def setdiff1d(x: Any, y: Any, index_dtype: Any = int32, name: str | None = None) -> Any:
    """`tf.setdiff1d`: `(out, idx)`, what is in x and not in y, and where it stands in x."""
    return list_diff(x, y, out_idx=index_dtype, name=name)


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    """`tf.sparse_to_dense`: a tensor of `default_value` with values at some places."""
    return sparse_to_dense_op(
        sparse_indices,
        output_shape,
        sparse_values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """`tf.nn.top_k`: `(values, indices)` of the k largest along the last axis."""
    return top_k_v2(input, k, sorted=sorted, name=name)


def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Any:
    """`tf.nn.in_top_k`: whether the target is among the k largest predictions of its row."""
    with name_scope(name, "in_top_k"):
        return in_top_k_v2(predictions, targets, k, name=name)
