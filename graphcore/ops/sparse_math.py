"""Arithmetic of sparse tensors: sums, products, reductions, parts.

A sparse tensor is indices (int64, one row a value), values and a shape. Where order matters, indices are
taken to be in row-major order, as TensorFlow takes them.

Source: tensorflow/core/kernels/sparse_*_op.cc and python/ops/sparse_grad.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, INDEX, NUMBER, REAL, float32, float64, int32, int64
from ..errors import InternalError, InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..op import GraphOp, op, raw_ops
from ..shapes import Shape, format_shape, merge_dims, with_rank
from ..sparse_tensor import SparseTensor
from .math_binary import floordiv, truediv_types
from .reduction import reduced_shape

_ONE = "a_indices: int64, a_values: T, a_shape: int64"
_TWO = f"{_ONE}, b_indices: int64, b_values: T, b_shape: int64"


def check_sparse(indices: Any, values: Any, shape: Any, what: str = "") -> None:
    """Checks that three arrays are a sparse tensor.

    Raises:
        InvalidArgumentError: Ranks or sizes do not fit.
    """
    for name, array, rank, kind in (
        ("indices", indices, 2, "a matrix"),
        ("values", values, 1, "a vector"),
        ("shape", shape, 1, "a vector"),
    ):
        if np.ndim(array) != rank:
            raise InvalidArgumentError(
                f"Input {what}{name} should be {kind} but received shape {format_shape(np.shape(array))}"
            )
    if len(indices) != len(values):
        raise InvalidArgumentError(
            f"The first dimension of values and indices should match. ({len(values)} vs. {len(indices)})"
        )
    if indices.shape[1] != len(shape):
        raise InvalidArgumentError(
            f"Number of dimensions must match second dimension of indices. Got {len(shape)} dimensions, "
            f"indices shape: {format_shape(indices.shape)}"
        )


def sparse_shapes(indices: Shape, values: Shape, shape: Shape) -> int | None:
    """The rank of a sparse tensor, by the shapes of its three tensors.

    Raises:
        InvalidValueError: They do not fit.
    """
    (rows, rank), (count,), (dims,) = with_rank(indices, 2), with_rank(values, 1), with_rank(shape, 1)
    if rows is not None and count is not None and rows != count:
        raise InvalidValueError(f"Number of elements in index ({rows}) and values ({count}) do not match.")
    if rank is not None and dims is not None and rank != dims:
        raise InvalidValueError(f"Index rank ({rank}) and shape rank ({dims}) do not match.")
    return dims if rank is None else rank


def check_bounds(indices: Any, shape: Any) -> None:
    """Raises InvalidArgumentError where an index lies outside of the shape."""
    wrong = np.flatnonzero(((indices < 0) | (indices >= shape)).any(axis=1))
    if len(wrong):
        raise InvalidArgumentError(
            f"indices[{wrong[0]}] = {format_shape(indices[wrong[0]].tolist())} is out of bounds: "
            f"need 0 <= index < {format_shape(np.asarray(shape).tolist())}"
        )


def flat_places(indices: Any, shape: Sequence[int]) -> np.ndarray:
    """Where each index lies in row-major order."""
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    places: np.ndarray = (
        indices @ np.array(strides, np.int64) if strides else np.zeros(len(indices), np.int64)
    )
    return places


def _order(indices: Any) -> np.ndarray:
    """What sorts indices in row-major order, equal ones as they come."""
    if not indices.shape[1]:
        return np.arange(len(indices))
    return np.lexsort(indices.T[::-1])


def run_starts(ordered: np.ndarray) -> np.ndarray:
    """Where the runs of equal values begin."""
    return np.flatnonzero(np.concatenate([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]]))


# Order


@op(
    "SparseReorder",
    "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, output_values: T",
    T=ANY,
)
def sparse_reorder(input_indices: Any, input_values: Any, input_shape: Any) -> tuple[Any, Any]:
    """The same values in row-major order."""
    check_sparse(input_indices, input_values, input_shape)
    order = _order(input_indices)
    return input_indices[order], input_values[order]


sparse_reorder.shape(lambda node: [with_rank(node.shape(0), 2), with_rank(node.shape(1), 1)])


@sparse_reorder.grad
def _(node: Any, _: Any, dvalues: Any) -> Any:
    indices, values, shape = node.inputs
    numbers = raw_ops.Range(0, raw_ops.Shape(values)[0], 1)
    back = raw_ops.InvertPermutation(raw_ops.SparseReorder(indices, numbers, shape).output_values)
    return [None, raw_ops.GatherV2(dvalues, back, 0), None]


# Two sparse tensors


def _joined(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The indices of both in order without repetition, and which of them each of `a` and of `b` is.

    They may lie outside of the shape, at which TensorFlow does not look here.
    """
    both = np.concatenate([a, b])
    if not both.size:
        return both[:1], np.zeros(len(a), np.int64), np.zeros(len(b), np.int64)
    low = both.min(axis=0)
    shape = (both.max(axis=0) - low + 1).tolist()
    places, back = np.unique(flat_places(both - low, shape), return_inverse=True)
    back = back.reshape(-1)
    return _indices_at(places, shape) + low, back[: len(a)], back[len(a) :]


def _indices_at(places: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    if not len(shape):
        return np.zeros((len(places), 0), np.int64)
    return np.stack(np.unravel_index(places, [max(size, 1) for size in shape]), axis=1).astype(np.int64)


def _check_pair(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> None:
    if all(np.ndim(one[0]) == 2 and np.ndim(one[1]) == 1 for one in (a, b)):
        ranks = [one[0].shape[1] for one in (a, b)]
        if ranks[0] != ranks[1]:
            raise InvalidArgumentError(
                f"Input indices must have the same dimension, got {ranks[0]} and {ranks[1]}"
            )
        rows, counts = ([len(one[place]) for one in (a, b)] for place in (0, 1))
        if rows != counts:
            raise InvalidArgumentError(
                f"Expected {rows[0]} and {rows[1]} non-empty input values, got {counts[0]} and {counts[1]}"
            )
    for one, name in ((a, "a_"), (b, "b_")):
        indices, _, shape = one
        if np.ndim(indices) == 2 and np.ndim(shape) == 1 and indices.shape[1] != len(shape):
            raise InvalidArgumentError(
                f"Second dimension of {name}indices and length of {name}shape must match, got "
                f"{indices.shape[1]} and {len(shape)}"
            )
        check_sparse(*one, what=name)
    if len(a[2]) != len(b[2]):
        raise InvalidArgumentError(
            f"Operands do not have the same ranks; got shapes: {a[2].tolist()} and {b[2].tolist()}"
        )
    for axis, (x, y) in enumerate(zip(a[2].tolist(), b[2].tolist())):
        if x != y:
            raise InvalidArgumentError(f"Operands' shapes do not match: got {x} and {y} for dimension {axis}")


@op(
    "SparseAdd",
    f"{_TWO}, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64",
    T=NUMBER,
    Treal=REAL,
)
def sparse_add(
    a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any, thresh: Any
) -> tuple[Any, Any, Any]:
    """The sum; where both have a value whose sum is smaller than `thresh`, it is left out."""
    _check_pair((a_indices, a_values, a_shape), (b_indices, b_values, b_shape))
    if np.ndim(thresh):
        raise InvalidArgumentError(
            f"The magnitude threshold must be a scalar: got shape {format_shape(np.shape(thresh))}"
        )
    places, of_a, of_b = _joined(a_indices, b_indices)
    total = np.zeros(len(places), a_values.dtype)
    np.add.at(total, of_a, a_values)
    np.add.at(total, of_b, b_values)
    kept = np.ones(len(places), bool)
    both = np.intersect1d(of_a, of_b)
    kept[both] = np.abs(total[both]) >= thresh
    return places[kept], total[kept], a_shape


sparse_add.shape(lambda node: [(None, (node.shape(2) or (None,))[0]), (None,), with_rank(node.shape(2), 1)])


@sparse_add.grad
def _(node: Any, _: Any, dvalues: Any, __: Any) -> Any:
    a, b = raw_ops.SparseAddGrad(dvalues, node.inputs[0], node.inputs[3], node.outputs[0])
    a.set_shape(node.inputs[1].get_shape())
    b.set_shape(node.inputs[4].get_shape())
    return [None, a, None, None, b, None, None]


@op(
    "SparseAddGrad",
    "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> "
    "a_val_grad: T, b_val_grad: T",
    T=NUMBER,
    no_grad="TensorFlow declares none",
)
def sparse_add_grad(backprop_val_grad: Any, a_indices: Any, b_indices: Any, sum_indices: Any) -> Any:
    """The gradients of the values of both operands; zero for those that the sum leaves out."""
    if len(sum_indices) != len(backprop_val_grad):
        raise InvalidArgumentError(
            "# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got "
            f"{len(backprop_val_grad)} and {len(sum_indices)}"
        )
    if len({array.shape[1:] for array in (a_indices, b_indices, sum_indices)}) > 1:
        shapes = ", ".join(format_shape(array.shape) for array in (a_indices, b_indices, sum_indices))
        raise InvalidArgumentError(
            "The densified operands should have the same ndims; for a, b, sum got indices of shapes: "
            f"{shapes}"
        )
    every = np.concatenate([a_indices, b_indices, sum_indices])
    shape = (every.max(axis=0) + 1).tolist() if len(every) else [1] * every.shape[1]
    at = dict(zip(flat_places(sum_indices, shape).tolist(), backprop_val_grad))
    zero = backprop_val_grad.dtype.type(0)
    found = []
    for indices in (a_indices, b_indices):
        values = [at.get(place, zero) for place in flat_places(indices, shape).tolist()]
        found.append(np.array(values, backprop_val_grad.dtype))
    return tuple(found)


sparse_add_grad.shape(lambda node: [((node.shape(i) or (None,))[0],) for i in (1, 2)])


def _extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def kernel(
        a_indices: Any, a_values: Any, a_shape: Any, b_indices: Any, b_values: Any, b_shape: Any
    ) -> tuple[Any, Any]:
        """The larger (smaller) value in each place; a missing one is zero."""
        _check_pair((a_indices, a_values, a_shape), (b_indices, b_values, b_shape))
        places, of_a, of_b = _joined(a_indices, b_indices)
        first, second = np.zeros(len(places), a_values.dtype), np.zeros(len(places), a_values.dtype)
        first[of_a], second[of_b] = a_values, b_values
        return places, choose(first, second)

    return kernel


for _name, _choose, _types in (
    ("SparseSparseMaximum", np.maximum, REAL),
    ("SparseSparseMinimum", np.minimum, NUMBER),
):
    op(
        _name,
        f"{_TWO} -> output_indices: int64, output_values: T",
        T=_types,
        undefined_grad="TensorFlow says that it is not implemented",
    )(_extreme(_choose)).shape(lambda node: [(None, (node.shape(2) or (None,))[0]), (None,)])


# A sparse and a dense tensor

_DENSE = "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T"


def _dense_values(sp_indices: Any, sp_values: Any, sp_shape: Any, dense: Any) -> Any:
    """The dense tensor's value for each of the sparse one's, the dense one being broadcast."""
    check_sparse(sp_indices, sp_values, sp_shape, "sp_")
    shape = tuple(sp_shape.tolist())
    if dense.ndim > len(shape) or any(
        size not in (1, wanted) for size, wanted in zip(dense.shape[::-1], shape[::-1])
    ):
        raise InvalidArgumentError(
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"{format_shape(shape)} vs. {format_shape(dense.shape)}"
        )
    if len(sp_indices) and ((sp_indices < 0) | (sp_indices >= sp_shape)).any():
        raise InvalidArgumentError(
            "Provided indices are out-of-bounds w.r.t. dense side with broadcasted shape"
        )
    return np.broadcast_to(dense, shape)[tuple(sp_indices.T)]


def _cwise(name: str, compute: Callable[..., Any]) -> Any:
    def kernel(sp_indices: Any, sp_values: Any, sp_shape: Any, dense: Any) -> Any:
        """The operation on each value of the sparse tensor and what the dense one has in its place."""
        found = _dense_values(sp_indices, sp_values, sp_shape, dense)
        if name == "SparseDenseCwiseDiv" and found.dtype.kind in "iu":
            if (found == 0).any():
                raise InvalidArgumentError(
                    "SparseDenseCwiseDiv cannot divide by zero,but input dense tensor contains zero "
                )
            return np.trunc(sp_values / found).astype(sp_values.dtype)
        return compute(sp_values, found).astype(sp_values.dtype)

    made = op(
        name,
        _DENSE,
        T=NUMBER,
        undefined_grad="TensorFlow says that it is not implemented" if name.endswith("Add") else None,
    )(kernel)
    made.shape(lambda node: (merge_dims(with_rank(node.shape(0), 2)[0], with_rank(node.shape(1), 1)[0]),))
    return made


sparse_dense_add = _cwise("SparseDenseCwiseAdd", np.add)
sparse_dense_mul = _cwise("SparseDenseCwiseMul", np.multiply)
sparse_dense_div = _cwise("SparseDenseCwiseDiv", np.divide)


def _dense_grad(is_mul: bool) -> Callable[..., Any]:
    def gradient(node: Any, dy: Any) -> Any:
        indices, values, shape, dense = node.inputs
        dense_shape = raw_ops.Shape(dense, out_type=int64)
        added = raw_ops.ExpandDims(raw_ops.Size(shape) - raw_ops.Size(dense_shape), 0)
        augmented = raw_ops.ConcatV2([raw_ops.Fill(added, constant(1, int64)), dense_shape], 0)
        scaled = floordiv(indices, floordiv(shape, augmented))
        scaled = raw_ops.Slice(scaled, raw_ops.ConcatV2([[0], added], 0), [-1, -1])
        found = raw_ops.GatherNd(dense, scaled)
        if is_mul:
            by_values, by_found = dy * found, dy * values
        else:
            by_values = dy / found
            by_found = dy * (-values / raw_ops.Square(found))
        by_dense = raw_ops.SparseTensorDenseAdd(scaled, by_found, dense_shape, raw_ops.ZerosLike(dense))
        return [None, by_values, None, by_dense]

    return gradient


sparse_dense_mul.grad(_dense_grad(True))
sparse_dense_div.grad(_dense_grad(False))


@op(
    "SparseTensorDenseAdd",
    "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T",
    T=NUMBER,
    Tindices=INDEX,
)
def sparse_tensor_dense_add(a_indices: Any, a_values: Any, a_shape: Any, b: Any) -> Any:
    """The sum as a dense tensor."""
    check_sparse(a_indices, a_values, a_shape, "a_")
    if len(a_shape) != b.ndim:
        raise InvalidArgumentError(
            f"Two operands have different ranks; received: {len(a_shape)} and {b.ndim}"
        )
    for axis, (x, y) in enumerate(zip(a_shape.tolist(), b.shape)):
        if x != y:
            raise InvalidArgumentError(
                f"Dimension {axis} does not equal (no broadcasting is supported): sparse side {x} vs dense "
                f"side {y}"
            )
    outside = (a_indices < 0) | (a_indices >= a_shape)
    if outside.any():
        axis = int(np.nonzero(outside)[1][0])
        raise InvalidArgumentError(
            f"Sparse tensor has some invalid index on dimension {axis}; dense tensor shape: "
            f"{format_shape(b.shape)}"
        )
    result = b.copy()
    np.add.at(result, tuple(a_indices.T), a_values)
    return result


sparse_tensor_dense_add.shape(lambda node: node.shape(3))
sparse_tensor_dense_add.grad(lambda node, dy: [None, raw_ops.GatherNd(dy, node.inputs[0]), None, dy])


@op(
    "SparseTensorDenseMatMul",
    "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T",
    "adjoint_a: bool = false",
    "adjoint_b: bool = false",
    T=ANY,
    Tindices=(INDEX, int64),
)
def sparse_tensor_dense_matmul(
    a_indices: Any, a_values: Any, a_shape: Any, b: Any, *, adjoint_a: bool, adjoint_b: bool
) -> Any:
    """The product of a sparse and a dense matrix."""
    for array, rank, text in (
        (b, 2, "Tensor 'b' is not a matrix"),
        (a_shape, 1, "Tensor 'a_shape' is not a vector"),
        (a_values, 1, "Tensor 'a_values' is not a vector"),
        (a_indices, 2, "Tensor 'a_indices' is not a matrix"),
    ):
        if np.ndim(array) != rank:
            raise InvalidArgumentError(text)
    if len(a_shape) != 2:
        raise InvalidArgumentError("Tensor 'a_shape' must have 2 elements")
    if len(a_indices) != len(a_values):
        raise InvalidArgumentError("Number of rows of a_indices does not match number of entries in a_values")
    if a_indices.shape[1] != 2:
        raise InvalidArgumentError(
            "Number of columns of a_indices does not match number of entries in a_shape"
        )
    rows, columns = a_indices[:, 0], a_indices[:, 1]
    height, width = a_shape.tolist()
    values = a_values
    if adjoint_a:
        rows, columns, height, width, values = columns, rows, width, height, np.conj(values)
    dense = np.conj(b.T) if adjoint_b else b
    if width != dense.shape[0]:
        raise InvalidArgumentError(
            f"Cannot multiply A and B because inner dimension does not match: {width} vs. {dense.shape[0]}.  "
            f"Did you forget a transpose?  Dimensions of A: [{height}, {width}).  Dimensions of B: "
            f"{format_shape(dense.shape)}"
        )
    for name, found, limit in (("k", columns, width), ("m", rows, height)):
        wrong = np.flatnonzero((found < 0) | (found >= limit))
        if len(wrong):
            at = int(name == "k") ^ int(adjoint_a)
            raise InvalidArgumentError(
                f"{name} ({found[wrong[0]]}) from index[{wrong[0]},{at}] out of bounds (>={limit})"
            )
    if height < 0:
        raise InvalidArgumentError(f"Expected a non-negative size, got {height}")
    result = np.zeros((height, dense.shape[1]), b.dtype)
    if len(values):
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        parts = values[order, None] * dense[columns[order]]
        starts = run_starts(ordered)
        result[ordered[starts]] = np.add.reduceat(parts, starts, axis=0)
    return result


@sparse_tensor_dense_matmul.shape
def _(node: Any) -> Shape:
    for index, rank in ((0, 2), (1, 1), (2, 1)):
        with_rank(node.shape(index), rank)
    b, a = with_rank(node.shape(3), 2), with_rank(node.value_as_shape(2), 2)
    height, inner = a[::-1] if node.attr("adjoint_a") else a
    other, width = b[::-1] if node.attr("adjoint_b") else b
    merge_dims(inner, other)
    return height, width


@sparse_tensor_dense_matmul.grad
def _(node: Any, dy: Any) -> Any:
    indices, values, shape, b = node.inputs
    adjoint_a, adjoint_b = node.attr("adjoint_a"), node.attr("adjoint_b")
    if values.dtype.is_complex:
        raise InvalidTypeError("SparseTensorDenseMatMul op does not support complex gradients.")
    by_b = raw_ops.SparseTensorDenseMatMul(indices, values, shape, dy, adjoint_a=not adjoint_a)
    if adjoint_b:
        by_b = raw_ops.Transpose(by_b, [1, 0])
    rows, columns = indices[:, 0], indices[:, 1]
    if adjoint_a:
        rows, columns = columns, rows
    dense = raw_ops.Transpose(b, [1, 0]) if adjoint_b else b
    product = raw_ops.GatherV2(dy, rows, 0) * raw_ops.GatherV2(dense, columns, 0)
    return [None, raw_ops.Sum(product, 1), None, by_b]


# Reductions


def _axes(reduction_axes: Any, rank: int) -> list[int]:
    if np.ndim(reduction_axes) > 1:
        raise InvalidArgumentError(
            "Expected reduction_axes to be a scalar or a vector; got shape: "
            f"{format_shape(np.shape(reduction_axes))}"
        )
    found = []
    for axis in np.reshape(reduction_axes, -1).tolist():
        if not -rank <= axis < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
        found.append(axis % rank)
    return found


def _groups(
    indices: Any, values: Any, shape: Any, reduction_axes: Any, reduce: Any, keep_dims: bool
) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """The reduced values of the groups that have any, their indices, and the shape of all."""
    check_sparse(indices, values, shape)
    check_bounds(indices, shape)
    sizes = shape.tolist()
    axes = _axes(reduction_axes, len(sizes))
    left = [axis for axis in range(len(sizes)) if axis not in axes]
    kept = [sizes[axis] for axis in left]
    places = flat_places(indices[:, left], kept)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = run_starts(ordered)
    if len(starts):
        found = reduce.reduceat(values[order], starts).astype(values.dtype)
        at = _indices_at(ordered[starts], kept)
    else:
        found, at = values[:0], np.zeros((0, len(kept)), np.int64)
    if keep_dims:
        whole = np.zeros((len(at), len(sizes)), np.int64)
        whole[:, left] = at
        return found, whole, [sizes[axis] if axis in left else 1 for axis in range(len(sizes))]
    return found, at, kept


def _reduction(name: str, reduce: Any, types: Any, **options: Any) -> GraphOp:
    def dense(
        input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *, keep_dims: bool
    ) -> Any:
        """The sums (largest values) over some axes, as a dense tensor; zero where there is nothing."""
        found, at, shape = _groups(
            input_indices, input_values, input_shape, reduction_axes, reduce, keep_dims
        )
        result = np.zeros(shape, input_values.dtype)
        result[tuple(at.T)] = found if at.shape[1] else found[0] if len(found) else 0
        return result

    def sparse(
        input_indices: Any, input_values: Any, input_shape: Any, reduction_axes: Any, *, keep_dims: bool
    ) -> tuple[Any, Any, Any]:
        """The sums (largest values) over some axes, as a sparse tensor."""
        found, at, shape = _groups(
            input_indices, input_values, input_shape, reduction_axes, reduce, keep_dims
        )
        return at, found, np.array(shape, np.int64)

    signature = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"
    made = op(f"{name}", f"{signature} -> output: T", "keep_dims: bool = false", T=types, **options)(dense)

    @made.shape
    def _(node: Any) -> Shape:
        shape, axes = node.value_as_shape(2), node.value(3)
        if shape is None or axes is None:
            return None
        reduced = {axis % len(shape) for axis in np.reshape(axes, -1).tolist()}
        if node.attr("keep_dims"):
            return tuple(1 if axis in reduced else size for axis, size in enumerate(shape))
        return tuple(size for axis, size in enumerate(shape) if axis not in reduced)

    op(
        f"{name}Sparse",
        f"{signature} -> output_indices: int64, output_values: T, output_shape: int64",
        "keep_dims: bool = false",
        T=types,
        no_grad="TensorFlow declares none",
    )(sparse).shape(lambda node: [None, None, None])
    return made


sparse_reduce_sum = _reduction("SparseReduceSum", np.add, NUMBER)
_reduction("SparseReduceMax", np.maximum, REAL, undefined_grad="TensorFlow registers none")


@sparse_reduce_sum.grad
def _(node: Any, dy: Any) -> Any:
    indices, _, shape, axes = node.inputs
    kept = reduced_shape(raw_ops.Cast(shape, DstT=int32), axes)
    reshaped = raw_ops.Reshape(dy, kept)
    scale = floordiv(shape, raw_ops.Cast(kept, DstT=int64))
    return [None, raw_ops.GatherNd(reshaped, floordiv(indices, scale)), None, None]


@op(
    "SparseSoftmax",
    "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T",
    T=(float32, float64),
)
def sparse_softmax(sp_indices: Any, sp_values: Any, sp_shape: Any) -> Any:
    """The softmax along the last axis of the values that are there."""
    check_sparse(sp_indices, sp_values, sp_shape, "sp_")
    if len(sp_shape) < 2:
        raise InvalidArgumentError(f"Input should have rank >= 2, but received shape: {sp_shape.tolist()}")
    places = flat_places(sp_indices[:, :-1], sp_shape.tolist()[:-1])
    _, group = np.unique(places, return_inverse=True)
    group = group.reshape(-1)
    count = int(group.max(initial=-1)) + 1
    largest = np.full(count, -np.inf, sp_values.dtype)
    np.maximum.at(largest, group, sp_values)
    powers = np.exp(sp_values - largest[group])
    total = np.zeros(count, sp_values.dtype)
    np.add.at(total, group, powers)
    return (powers / total[group]).astype(sp_values.dtype)


sparse_softmax.shape(lambda node: with_rank(node.shape(1), 1))


@sparse_softmax.grad
def _(node: Any, dy: Any) -> Any:
    indices, _, shape = node.inputs
    result = node.outputs[0]
    total = -raw_ops.SparseReduceSum(indices, result * dy, shape, [-1], keep_dims=True)
    return [None, raw_ops.SparseDenseCwiseAdd(indices, dy, shape, total) * result, None]


# Parts


def _concat(indices: Any, values: Any, shapes: Any, *, concat_dim: int) -> tuple[Any, Any, Any]:
    """Sparse tensors one after the other along an axis."""
    rank = len(shapes[0])
    for number, (index, value, shape) in enumerate(zip(indices, values, shapes)):
        check_sparse(index, value, shape)
        if len(shape) != rank:
            raise InvalidArgumentError(
                f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at position "
                f"{number}"
            )
    if not -rank <= concat_dim < rank:
        raise InvalidArgumentError(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis = concat_dim % rank
    for number, shape in enumerate(shapes):
        for other in range(rank):
            if other != axis and shape[other] != shapes[0][other]:
                raise InvalidArgumentError(
                    f"Input shapes must match: expected {shapes[0][other]} for dimension {other} but got "
                    f"{shape[other]} at position {number}"
                )
    moved, start = [], 0
    for index, shape in zip(indices, shapes):
        shifted = index.copy()
        shifted[:, axis] += start
        moved.append(shifted)
        start += int(shape[axis])
    every = np.concatenate(moved)
    order = _order(every)
    whole = shapes[0].copy()
    whole[axis] = start
    return every[order], np.concatenate(values)[order], whole


sparse_concat = op(
    "SparseConcat",
    "indices: N * int64, values: N * T, shapes: N * int64 -> output_indices: int64, output_values: T, "
    "output_shape: int64",
    "concat_dim: int",
    "N: int >= 2",
    T=ANY,
    no_grad="TensorFlow declares none",
)(_concat)


@sparse_concat.shape
def _(node: Any) -> list[Shape]:
    count = node.num_inputs // 3
    total: Any = 0
    rank = None
    kinds = (node.shapes[start : start + count] for start in (0, count, 2 * count))
    for indices, values, size in zip(*kinds):
        rows, columns = with_rank(indices, 2)
        rows = merge_dims(rows, with_rank(values, 1)[0])
        total = None if total is None or rows is None else total + rows
        rank = merge_dims(rank, merge_dims(columns, with_rank(size, 1)[0]))
    return [(total, rank), (total,), (rank,)]


@op(
    "SparseSplit",
    "split_dim: int64, indices: int64, values: T, shape: int64 -> output_indices: num_split * int64, "
    "output_values: num_split * T, output_shape: num_split * int64",
    "num_split: int >= 1",
    T=ANY,
    undefined_grad="TensorFlow registers none",
)
def sparse_split(split_dim: Any, indices: Any, values: Any, shape: Any, *, node: Any) -> Any:
    """A sparse tensor in parts along an axis; the first ones are larger where it does not go evenly."""
    check_sparse(indices, values, shape)
    check_bounds(indices, shape)
    count, rank = node.attr("num_split"), len(shape)
    if np.ndim(split_dim):
        raise InvalidArgumentError(
            f"Input axis should be a scalar but received shape {format_shape(np.shape(split_dim))}"
        )
    if not 0 <= split_dim < rank:
        raise InvalidArgumentError(
            f"Input split_dim should be between 0 and rank ({rank}), got {int(split_dim)}"
        )
    axis = int(split_dim)
    if not 1 <= count <= shape[axis]:
        raise InvalidArgumentError(
            "Input num_split should be between 1 and the splitting dimension size "
            f"({int(shape[axis])}), got {count}"
        )
    size, more = divmod(int(shape[axis]), count)
    bounds = np.cumsum([0] + [size + (number < more) for number in range(count)])
    parts = []
    for start, end in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
        inside = (indices[:, axis] >= start) & (indices[:, axis] < end)
        part, sizes = indices[inside].copy(), shape.copy()
        part[:, axis] -= start
        sizes[axis] = end - start
        parts.append((part, values[inside], sizes))
    return [each for column in zip(*parts) for each in column]


@sparse_split.shape
def _(node: Any) -> list[Shape]:
    count = node.attr("num_split")
    rank = (node.shape(3) or (None,))[0]
    return [(None, rank)] * count + [(None,)] * count + [(rank,)] * count


@op(
    "SparseSlice",
    "indices: int64, values: T, shape: int64, start: int64, size: int64 -> output_indices: int64, "
    "output_values: T, output_shape: int64",
    T=ANY,
)
def sparse_slice(indices: Any, values: Any, shape: Any, start: Any, size: Any) -> tuple[Any, Any, Any]:
    """A box of a sparse tensor."""
    check_sparse(indices, values, shape)
    for name, given in (("start", start), ("size", size)):
        if np.ndim(given) != 1:
            raise InvalidArgumentError(
                f"Input {name} should be a vector but received shape {format_shape(np.shape(given))}"
            )
        if len(given) != len(shape):
            raise InvalidArgumentError(
                f"Expected {name} to be a vector of length {len(shape)} but got length {len(given)}"
            )
    if (shape < 0).any():
        raise InvalidArgumentError(f"Expected shape dimensions to be non-negative, got {shape.tolist()}")
    if (size < 0).any():
        raise InvalidArgumentError(f"Expected a non-negative size, got {size.tolist()}")
    inside = ((indices >= start) & (indices < start + size)).all(axis=1)
    return indices[inside] - start, values[inside], np.maximum(np.minimum(start + size, shape) - start, 0)


sparse_slice.shape(lambda node: [(None, (node.shape(2) or (None,))[0]), (None,), with_rank(node.shape(2), 1)])


@sparse_slice.grad
def _(node: Any, _: Any, dvalues: Any, __: Any) -> Any:
    indices, values, _, start, _ = node.inputs
    made = raw_ops.SparseSliceGrad(dvalues, indices, start, node.outputs[0])
    made.set_shape(values.get_shape())
    return [None, made, None, None, None]


@op(
    "SparseSliceGrad",
    "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> val_grad: T",
    T=NUMBER,
    undefined_grad="TensorFlow has none for it",
)
def sparse_slice_grad(
    backprop_val_grad: Any, input_indices: Any, input_start: Any, output_indices: Any
) -> Any:
    """The gradient of the values: zero for those outside of the box."""
    if len(output_indices) != len(backprop_val_grad):
        raise InvalidArgumentError(
            "# elements of backprop_val_grad and # rows of output_indices should match (#nnz of sum): got "
            f"{len(backprop_val_grad)} and {len(output_indices)}"
        )
    if not input_indices.shape[1] == output_indices.shape[1] == len(input_start):
        raise InvalidArgumentError(
            "The input_indices and output_indices should have the same ndims as input_start: got "
            f"{input_indices.shape[1]}, {output_indices.shape[1]} and {len(input_start)}"
        )
    result = np.zeros(len(input_indices), backprop_val_grad.dtype)
    at = {
        tuple(index): value
        for index, value in zip((output_indices + input_start).tolist(), backprop_val_grad)
    }
    for position, index in enumerate(map(tuple, input_indices.tolist())):
        if index in at:
            result[position] = at.pop(index)
    if at:
        raise InternalError(
            f"Elements of backprop_val_grad aren't all propagated. Num elements:{len(output_indices)}, used: "
            f"{len(output_indices) - len(at)}; of the other output indices, the first "
            f"{list(next(iter(at)))}, are no input index moved by {input_start.tolist()}"
        )
    return result


sparse_slice_grad.shape(lambda node: ((node.shape(1) or (None,))[0],))


# Operators of a SparseTensor with what is dense: of its elements alone, so that it stays sparse.


def _sparse_operator(word: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def operator(x: SparseTensor, y: Any) -> SparseTensor:
        with name_scope(None, word, [x, y]) as scope:
            y = convert_to_tensor(y, x.dtype.base_dtype, name="y")
            values = function(x.indices, x.values, x.dense_shape, y, name=scope)
            return SparseTensor(x.indices, values, x.dense_shape)

    return operator


def _sparse_truediv(indices: Any, values: Any, shape: Any, y: Any, name: str | None = None) -> Any:
    """Integers are divided as floats."""
    with name_scope(name, "truediv", [indices, values, shape, y]) as scope:
        wider = truediv_types(values.dtype.base_dtype)
        if wider is not None:
            values, y = raw_ops.Cast(values, DstT=wider), raw_ops.Cast(y, DstT=wider)
        return raw_ops.SparseDenseCwiseDiv(indices, values, shape, y, name=scope)


SparseTensor.__mul__ = _sparse_operator("mul", sparse_dense_mul)
SparseTensor.__div__ = _sparse_operator("div", sparse_dense_div)
SparseTensor.__truediv__ = _sparse_operator("truediv", _sparse_truediv)
