"""Sums, products, means and extrema over segments of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import INDEX, NUMBER, REAL, float32, float64, int32
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import segment as kernels
from ..op import GraphOp, op, raw_ops
from ..shapes import Shape, format_shape, merge, merge_prefix, with_rank, with_rank_at_least


def _gather(params: Any, indices: Any) -> Any:
    return raw_ops.GatherV2(params, indices, 0)


def _cast(x: Any, dtype: Any) -> Any:
    return raw_ops.Cast(x, DstT=dtype)


# Sorted segments


def _segment(name: str, kernel: Callable[..., Any], types: Any, grad: Any) -> GraphOp:
    reason = grad if isinstance(grad, str) else None
    declared = op(
        name, "data: T, segment_ids: Tindices -> output: T", T=types, Tindices=INDEX, no_grad=reason
    )(kernel)

    @declared.shape
    def _(node: Any) -> Shape:
        with_rank(node.shape(1), 1)
        data = with_rank_at_least(node.shape(0), 1)
        return None if data is None else (None, *data[1:])

    if not isinstance(grad, str):
        declared.grad(grad)
    return declared


def _segment_mean_grad(node: Any, dy: Any) -> Any:
    data, ids = node.inputs
    rank = raw_ops.ExpandDims(raw_ops.Rank(data) - 1, 0)
    shape = raw_ops.ConcatV2([raw_ops.Shape(ids), raw_ops.Fill(rank, 1)], 0)
    ones = raw_ops.Fill(shape, convert_to_tensor(1, dy.dtype))
    return _gather(raw_ops.RealDiv(dy, raw_ops.SegmentSum(ones, ids)), ids), None


def _segment_extreme_grad(node: Any, dy: Any) -> Any:
    """Shared evenly among the elements that are equal to the extreme."""
    data, ids = node.inputs
    chosen = raw_ops.Equal(data, _gather(node.outputs[0], ids))
    count = raw_ops.SegmentSum(_cast(chosen, dy.dtype), ids)
    shared = _gather(raw_ops.RealDiv(dy, count), ids)
    return raw_ops.Select(chosen, shared, raw_ops.ZerosLike(data)), None


segment_sum = _segment(
    "SegmentSum", kernels.segment_sum, NUMBER, lambda node, dy: [_gather(dy, node.inputs[1]), None]
)
segment_mean = _segment("SegmentMean", kernels.segment_mean, NUMBER, _segment_mean_grad)
segment_prod = _segment(
    "SegmentProd", kernels.segment_prod, NUMBER, lambda node, dy: _segment_prod_grad(node, dy)
)
segment_max = _segment("SegmentMax", kernels.segment_max, REAL, _segment_extreme_grad)
segment_min = _segment("SegmentMin", kernels.segment_min, REAL, _segment_extreme_grad)


def _segment_prod_grad(node: Any, dy: Any) -> Any:
    _, ids = node.inputs
    return _product_grad(
        node, dy, lambda values: segment_sum(values, ids), lambda values: segment_prod(values, ids)
    )


def _product_grad(node: Any, dy: Any, add_up: Callable[..., Any], multiply: Callable[..., Any]) -> Any:
    """The product of the others: of one zero in a segment only it has a gradient, of two none."""
    data, ids = node.inputs[:2]
    is_zero = raw_ops.Equal(data, raw_ops.ZerosLike(data))
    zeros = add_up(_cast(is_zero, int32))
    dy = raw_ops.Select(raw_ops.Greater(zeros, 1), raw_ops.ZerosLike(dy), dy)
    nonzero = raw_ops.Select(is_zero, raw_ops.OnesLike(data), data)
    others = _gather(multiply(nonzero), _clipped(ids))
    product = _gather(node.outputs[0], _clipped(ids))
    partial = raw_ops.Select(is_zero, others, raw_ops.RealDiv(product, nonzero))
    return [_gather_kept(dy, ids)[0] * partial, *[None] * (len(node.inputs) - 1)]


# Segments in any order


def _unsorted(name: str, kernel: Callable[..., Any], types: Any, grad: Any) -> GraphOp:
    def run(data: Any, segment_ids: Any, num_segments: Any) -> Any:
        if np.ndim(num_segments):
            raise InvalidArgumentError(
                f"num_segments should be a scalar, not shape {format_shape(np.shape(num_segments))}"
            )
        return kernel(data, np.asarray(segment_ids), int(num_segments))

    run.__doc__ = kernel.__doc__
    declared = op(
        name,
        "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T",
        T=types,
        Tindices=INDEX,
        Tnumsegments=(INDEX, int32),
    )(run)

    @declared.shape
    def _(node: Any) -> Shape:
        data, ids, count = node.shape(0), node.shape(1), node.value(2)
        if count is not None and count < 0:
            raise InvalidValueError(
                f"Dimension size, given by scalar input 2, must be non-negative but is {count}"
            )
        if data is None or ids is None:
            return None
        if len(data) < len(ids):
            raise InvalidValueError(f"Shape must be at least rank {len(ids)} but is rank {len(data)}")
        merge_prefix(data, ids)
        return (None if count is None else int(count), *data[len(ids) :])

    declared.grad(grad)
    return declared


def _clipped(ids: Any) -> Any:
    """Ids with 0 in place of negative ones, whose rows belong to no segment."""
    return raw_ops.Maximum(ids, raw_ops.ZerosLike(ids))


def _is_kept(ids: Any, like: Any) -> Any:
    """Whether each element of `like` (the shape of data) belongs to a segment."""
    kept = raw_ops.GreaterEqual(ids, raw_ops.ZerosLike(ids))
    extra = raw_ops.Fill(raw_ops.ExpandDims(raw_ops.Rank(like) - raw_ops.Rank(ids), 0), 1)
    kept = raw_ops.Reshape(kept, raw_ops.ConcatV2([raw_ops.Shape(ids), extra], 0))
    everywhere = raw_ops.Fill(raw_ops.Shape(like), convert_to_tensor(True))
    return raw_ops.LogicalAnd(kept, everywhere)


def _gather_kept(params: Any, ids: Any) -> tuple[Any, Any]:
    """Rows of `params` at ids, zeros at negative ids; and which elements are none of those zeros."""
    gathered = _gather(params, _clipped(ids))
    kept = _is_kept(ids, gathered)
    return raw_ops.Select(kept, gathered, raw_ops.ZerosLike(gathered)), kept


def _unsorted_extreme_grad(node: Any, dy: Any) -> Any:
    data, ids, count = node.inputs
    outputs, kept = _gather_kept(node.outputs[0], ids)
    chosen = raw_ops.LogicalAnd(raw_ops.Equal(data, outputs), kept)
    number = raw_ops.UnsortedSegmentSum(_cast(chosen, dy.dtype), ids, count)
    shared, _ = _gather_kept(raw_ops.RealDiv(dy, number), ids)
    return raw_ops.Select(chosen, shared, raw_ops.ZerosLike(shared)), None, None


def _unsorted_prod_grad(node: Any, dy: Any) -> Any:
    _, ids, count = node.inputs
    return _product_grad(
        node,
        dy,
        lambda values: unsorted_segment_sum(values, ids, count),
        lambda values: unsorted_segment_prod(values, ids, count),
    )


unsorted_segment_sum = _unsorted(
    "UnsortedSegmentSum",
    kernels.unsorted_segment_sum,
    NUMBER,
    lambda node, dy: [_gather_kept(dy, node.inputs[1])[0], None, None],
)
unsorted_segment_prod = _unsorted(
    "UnsortedSegmentProd", kernels.unsorted_segment_prod, NUMBER, _unsorted_prod_grad
)
unsorted_segment_max = _unsorted(
    "UnsortedSegmentMax", kernels.unsorted_segment_max, REAL, _unsorted_extreme_grad
)
unsorted_segment_min = _unsorted(
    "UnsortedSegmentMin", kernels.unsorted_segment_min, REAL, _unsorted_extreme_grad
)


# Segments of chosen rows


def _sparse_segment(kind: str, suffix: str, types: Any, is_sized: bool = False) -> GraphOp:
    """`SparseSegment<suffix>`, or where it `is_sized` the one WithNumSegments."""

    def kernel(data: Any, indices: Any, segment_ids: Any, num_segments: Any = None) -> Any:
        if num_segments is not None:
            if np.ndim(num_segments):
                raise InvalidArgumentError(
                    f"num_segments should be a scalar, not shape {format_shape(np.shape(num_segments))}"
                )
            num_segments = int(num_segments)
        return kernels.sparse_segment(kind, data, indices, segment_ids, num_segments)

    what = {"sum": "Sums", "mean": "Means", "sqrt_n": "Sums over the root of their number"}[kind]
    kernel.__doc__ = f"{what} of chosen rows, by segments."
    count: dict[str, Any] = {"Tnumsegments": (INDEX, int32)} if is_sized else {}
    declared = op(
        f"SparseSegment{suffix}" + ("WithNumSegments" if is_sized else ""),
        "data: T, indices: Tidx, segment_ids: int32"
        + (", num_segments: Tnumsegments" if is_sized else "")
        + " -> output: T",
        T=types,
        Tidx=(INDEX, int32),
        **count,
    )(kernel)

    @declared.shape
    def _(node: Any) -> Shape:
        merge(with_rank(node.shape(1), 1), with_rank(node.shape(2), 1))
        data = with_rank_at_least(node.shape(0), 1)
        rows = node.value(3) if is_sized else None
        if is_sized:
            with_rank(node.shape(3), 0)
        if rows is not None and rows < 0:
            raise InvalidValueError("Cannot specify a negative value for num_segments")
        return None if data is None else (None if rows is None else int(rows), *data[1:])

    @declared.grad
    def _(node: Any, dy: Any) -> Any:
        data, indices, ids = node.inputs[:3]
        rows = raw_ops.Shape(data)[0]
        if kind == "sum":
            grad = raw_ops.UnsortedSegmentSum(_gather(dy, ids), indices, rows)
        else:
            grad = getattr(raw_ops, f"SparseSegment{suffix}Grad")(dy, indices, ids, rows)
        return [grad, *[None] * (len(node.inputs) - 1)]

    return declared


def _sparse_segment_grad(kind: str, suffix: str) -> None:
    def kernel(grad: Any, indices: Any, segment_ids: Any, output_dim0: Any) -> Any:
        return kernels.sparse_segment_grad(kind, grad, indices, segment_ids, int(output_dim0))

    kernel.__doc__ = f"The gradient of SparseSegment{suffix}."
    declared = op(
        f"SparseSegment{suffix}Grad",
        "grad: T, indices: Tidx, segment_ids: int32, output_dim0: int32 -> output: T",
        T=(float32, float64),
        Tidx=(INDEX, int32),
        undefined_grad="TensorFlow has none for the gradient of this op",
    )(kernel)

    @declared.shape
    def _(node: Any) -> Shape:
        grad, rows = with_rank_at_least(node.shape(0), 1), node.value(3)
        merge(with_rank(node.shape(2), 1), with_rank(node.shape(1), 1))
        with_rank(node.shape(3), 0)
        return None if grad is None else (None if rows is None else int(rows), *grad[1:])


_sparse_segment("sum", "Sum", REAL)
_sparse_segment("mean", "Mean", (float32, float64))
_sparse_segment("sqrt_n", "SqrtN", (float32, float64))
_sparse_segment("sum", "Sum", REAL, is_sized=True)
_sparse_segment("mean", "Mean", (float32, float64), is_sized=True)
_sparse_segment("sqrt_n", "SqrtN", (float32, float64), is_sized=True)
_sparse_segment_grad("mean", "Mean")
_sparse_segment_grad("sqrt_n", "SqrtN")


# TensorFlow's Python functions


def _counts(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The number of rows of each segment, at least 1, shaped to divide the sums."""
    ndims = segment_ids.get_shape().ndims
    rank = data.get_shape().ndims
    if ndims is None or rank is None:
        raise InvalidValueError(
            f"The ranks must be known: data has shape {format_shape(data.static_shape)}, segment_ids "
            f"{format_shape(segment_ids.static_shape)}"
        )
    ones = raw_ops.Fill(raw_ops.Shape(segment_ids), convert_to_tensor(1, data.dtype.base_dtype))
    counts = raw_ops.UnsortedSegmentSum(ones, segment_ids, num_segments)
    shape = raw_ops.ConcatV2([raw_ops.Shape(counts), convert_to_tensor([1] * (rank - ndims), int32)], 0)
    return raw_ops.Maximum(raw_ops.Reshape(counts, shape), convert_to_tensor(1, data.dtype.base_dtype))


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """`tf.unsorted_segment_mean`: the mean of each segment's rows; 0 for one without rows."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        total = unsorted_segment_sum(data, segment_ids, num_segments)
        return raw_ops.RealDiv(total, _counts(data, segment_ids, num_segments))


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """`tf.unsorted_segment_sqrt_n`: the sum of each segment's rows over the root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        total = unsorted_segment_sum(data, segment_ids, num_segments)
        return raw_ops.RealDiv(total, raw_ops.Sqrt(_counts(data, segment_ids, num_segments)))


def _sparse_segment_function(suffix: str, doc: str) -> Callable[..., Any]:
    def function(
        data: Any, indices: Any, segment_ids: Any, name: str | None = None, num_segments: Any = None
    ) -> Any:
        if num_segments is None:
            return getattr(raw_ops, f"SparseSegment{suffix}")(data, indices, segment_ids, name=name)
        sized = getattr(raw_ops, f"SparseSegment{suffix}WithNumSegments")
        return sized(data, indices, segment_ids, num_segments, name=name)

    function.__doc__ = doc
    return function


sparse_segment_sum = _sparse_segment_function("Sum", "`tf.sparse_segment_sum`: sums of chosen rows.")
sparse_segment_mean = _sparse_segment_function("Mean", "`tf.sparse_segment_mean`: means of chosen rows.")
sparse_segment_sqrt_n = _sparse_segment_function(
    "SqrtN", "`tf.sparse_segment_sqrt_n`: sums of chosen rows over the root of their number."
)
