"""Matrix products."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import REAL, SIGNED, bfloat16, float32
from ..errors import FailedPreconditionError, InvalidArgumentError, InvalidValueError
from ..kernels import parallel
from ..op import op, raw_ops
from ..operation import Tensor
from ..shapes import Dim, Shape, broadcast, format_shape, merge, merge_dims, with_rank, with_rank_at_least
from . import rules


@op(
    "MatMul",
    "a: T, b: T -> product: T",
    "transpose_a: bool = false",
    "transpose_b: bool = false",
    T=SIGNED,
)
def mat_mul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    """The product of two matrices, each transposed on request."""
    if a.ndim != 2 or b.ndim != 2:
        which, shape = ("0", a.shape) if a.ndim != 2 else ("1", b.shape)
        raise InvalidArgumentError(f"In[{which}] is not a matrix: {format_shape(shape)}")
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {format_shape(a.shape)}, In[1]: {format_shape(b.shape)}"
        )
    return _product(left, right)


def _product(a: Any, b: Any) -> Any:
    """`a @ b`; 16-bit floats through float32."""
    if a.dtype.itemsize == 2 and a.dtype.kind not in "iu":
        return parallel.matmul(a.astype(np.float32), b.astype(np.float32)).astype(a.dtype)
    return parallel.matmul(a, b)


@mat_mul.shape
def _product_shape(node: Any) -> Shape:
    a, b = with_rank(node.shape(0), 2), with_rank(node.shape(1), 2)
    rows, inner = a[::-1] if node.attr("transpose_a") else a
    other, columns = b[::-1] if node.attr("transpose_b") else b
    merge_dims(inner, other)
    return rows, columns


@mat_mul.specialize
def _(view: Any) -> Any:
    """Plain float matrices need no checks: the static shapes fit."""
    a, b = view.shape(0), view.shape(1)
    if a is None or b is None or len(a) != 2 or len(b) != 2 or view.node.inputs[0].dtype.size < 4:
        return None
    transpose_a, transpose_b = view.attr("transpose_a"), view.attr("transpose_b")
    inner, other = a[0 if transpose_a else 1], b[1 if transpose_b else 0]
    if inner is None or inner != other:
        return None
    rows, columns = a[1 if transpose_a else 0], b[0 if transpose_b else 1]
    small = rows is not None and columns is not None and rows * inner * columns < parallel.ALONE
    multiply = np.matmul if small else parallel.matmul
    if not transpose_a and not transpose_b:
        return multiply
    if transpose_a and transpose_b:
        return lambda a, b: multiply(a.T, b.T)
    return (lambda a, b: multiply(a.T, b)) if transpose_a else (lambda a, b: multiply(a, b.T))


@mat_mul.grad
def _(node: Any, dy: Any) -> Any:
    a, b = rules.conjugate(node.inputs[0]), rules.conjugate(node.inputs[1])
    multiply = raw_ops.MatMul
    transpose_a, transpose_b = node.attr("transpose_a"), node.attr("transpose_b")
    if not transpose_a and not transpose_b:
        return multiply(dy, b, transpose_b=True), multiply(a, dy, transpose_a=True)
    if not transpose_a:
        return multiply(dy, b), multiply(dy, a, transpose_a=True)
    if not transpose_b:
        return multiply(b, dy, transpose_b=True), multiply(a, dy)
    return (
        multiply(b, dy, transpose_a=True, transpose_b=True),
        multiply(dy, a, transpose_a=True, transpose_b=True),
    )


def _adjoint(x: Any, wanted: bool) -> Any:
    return np.conj(np.swapaxes(x, -1, -2)) if wanted else x


def _batch_matmul(x: Any, y: Any, *, adj_x: bool, adj_y: bool) -> Any:
    """The products of matrices in the last two axes, each conjugated and transposed on request."""
    if x.ndim < 2 or y.ndim < 2:
        raise InvalidArgumentError(f"In[0] ndims must be >= 2: {min(x.ndim, y.ndim)}")
    left, right = _adjoint(x, adj_x), _adjoint(y, adj_y)
    if left.shape[-1] != right.shape[-2]:
        raise InvalidArgumentError(
            f"In[0] mismatch In[1] shape: {left.shape[-1]} vs. {right.shape[-2]}: {format_shape(x.shape)} "
            f"{format_shape(y.shape)} "
            f"{int(adj_x)} {int(adj_y)}"
        )
    return _product(left, right)


def _last_two(shape: Shape, adjoint: bool) -> tuple[Dim, Dim]:
    rows, columns = (None, None) if shape is None else shape[-2:]
    return (columns, rows) if adjoint else (rows, columns)


def _batch_shape(node: Any) -> Shape:
    x, y = with_rank_at_least(node.shape(0), 2), with_rank_at_least(node.shape(1), 2)
    rows, inner = _last_two(x, node.attr("adj_x"))
    other, columns = _last_two(y, node.attr("adj_y"))
    batches = [None if shape is None else shape[:-2] for shape in (x, y)]
    if node.node.type == "BatchMatMul":
        batch = merge(*batches)
        merge_dims(inner, other)
    else:  # only the second version broadcasts
        merge_dims(inner, other)
        batch = broadcast(*batches)
    return None if batch is None else (*batch, rows, columns)


_BATCH = ("x: T, y: T -> output: T", "adj_x: bool = false", "adj_y: bool = false")
batch_mat_mul = op("BatchMatMul", *_BATCH, T=SIGNED)(_batch_matmul)
batch_mat_mul_v2 = op("BatchMatMulV2", *_BATCH, T=SIGNED)(_batch_matmul)
batch_mat_mul.shape(_batch_shape)
batch_mat_mul_v2.shape(_batch_shape)


def _batch_grads(node: Any, dy: Any, multiply: Any) -> tuple[Any, Any]:
    x, y = node.inputs
    adj_x, adj_y = node.attr("adj_x"), node.attr("adj_y")
    if not adj_x and not adj_y:
        return multiply(dy, y, adj_y=True), multiply(x, dy, adj_x=True)
    if not adj_x:
        return multiply(dy, y), multiply(dy, x, adj_x=True)
    if not adj_y:
        return multiply(y, dy, adj_y=True), multiply(x, dy)
    return multiply(y, dy, adj_x=True, adj_y=True), multiply(dy, x, adj_x=True, adj_y=True)


batch_mat_mul.grad(lambda node, dy: _batch_grads(node, dy, raw_ops.BatchMatMul))


@batch_mat_mul_v2.grad
def _(node: Any, dy: Any) -> Any:
    """As BatchMatMul's, summed over the batch axes that were broadcast."""
    grads = _batch_grads(node, dy, raw_ops.BatchMatMulV2)
    x, y = node.inputs
    shapes = x.static_shape, y.static_shape
    if all(shape is not None and None not in shape for shape in shapes) and shapes[0][:-2] == shapes[1][:-2]:
        return grads
    shape_x, shape_y = raw_ops.Shape(x), raw_ops.Shape(y)
    axes = raw_ops.BroadcastGradientArgs(batch_part(shape_x), batch_part(shape_y))
    return tuple(
        raw_ops.Reshape(raw_ops.Sum(grad, axis), shape)
        for grad, axis, shape in zip(grads, axes, (shape_x, shape_y))
    )


def batch_part(shape: Any) -> Any:
    """All but the last two entries of a shape tensor."""
    return raw_ops.StridedSlice(shape, [0], [-2], [1], begin_mask=1)


@op(
    "SparseMatMul",
    "a: Ta, b: Tb -> product: float32",
    "transpose_a: bool = false",
    "transpose_b: bool = false",
    "a_is_sparse: bool = false",
    "b_is_sparse: bool = false",
    Ta=((float32, bfloat16), float32),
    Tb=((float32, bfloat16), float32),
)
def sparse_mat_mul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    """The product of two matrices that hold many zeros, in float32."""
    for name, matrix in (("a", a), ("b", b)):
        if matrix.ndim != 2:
            raise InvalidArgumentError(f"{name} is not a matrix")
    left, right = a.T if transpose_a else a, b.T if transpose_b else b
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(
            f"Matrix size incompatible: a: {format_shape(a.shape)}, b: {format_shape(b.shape)}"
        )
    return np.matmul(left.astype(np.float32), right.astype(np.float32))


sparse_mat_mul.shape(_product_shape)


@sparse_mat_mul.grad
def _(node: Any, dy: Any) -> Any:
    a, b = node.inputs
    sparse_a, sparse_b = node.attr("a_is_sparse"), node.attr("b_is_sparse")
    dy_is_sparse = dy.op.type == "ReluGrad"

    def product(x: Any, x_sparse: bool, y: Any, y_sparse: bool, like: Any, adj: tuple[bool, bool]) -> Any:
        if adj[1]:
            y = raw_ops.Transpose(y, [1, 0])
        result = matmul(x, y, transpose_a=adj[0], a_is_sparse=x_sparse, b_is_sparse=y_sparse)
        return result if result.dtype == like.dtype else raw_ops.Cast(result, DstT=like.dtype)

    transpose_a, transpose_b = node.attr("transpose_a"), node.attr("transpose_b")
    of_a, of_b, of_dy = (a, sparse_a), (b, sparse_b), (dy, dy_is_sparse)
    if transpose_a:
        grad_a = product(*of_b, *of_dy, a, (transpose_b, True))
    else:
        grad_a = product(*of_dy, *of_b, a, (False, not transpose_b))
    if transpose_b:
        grad_b = product(*of_dy, *of_a, b, (True, transpose_a))
    else:
        grad_b = product(*of_a, *of_dy, b, (not transpose_a, False))
    return grad_a, grad_b


@op("Cross", "a: T, b: T -> product: T", T=REAL)
def cross(a: Any, b: Any) -> Any:
    """The cross product of vectors of three elements."""
    if a.shape != b.shape:
        raise InvalidArgumentError(
            f"Both inputs must be of same shape: {format_shape(a.shape)} vs. {format_shape(b.shape)}"
        )
    if a.ndim < 1:
        raise InvalidArgumentError(f"Input must be at least 1D{format_shape(a.shape)}")
    if a.shape[-1] != 3:
        raise FailedPreconditionError("Cross-products are only defined for 3-element vectors.")
    x, y, z = np.moveaxis(a, -1, 0)
    u, v, w = np.moveaxis(b, -1, 0)
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


@cross.shape
def _(node: Any) -> Shape:
    shape = merge(with_rank_at_least(node.shape(0), 1), with_rank_at_least(node.shape(1), 1))
    if shape is None:
        return None
    if shape[-1] not in (None, 3):
        raise InvalidValueError(f"Dimension must be 3 but is {shape[-1]}")
    return (*shape[:-1], 3)


cross.grad(lambda node, dy: [raw_ops.Cross(node.inputs[1], dy), raw_ops.Cross(dy, node.inputs[0])])


# TensorFlow's Python functions


def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.sparse_matmul`: the product of two matrices of which one holds many zeros."""
    return raw_ops.SparseMatMul(
        a,
        b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        name=name,
    )


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.matmul`: the product of matrices, or of batches of matrices.

    Args:
        a: A tensor of rank >= 2.
        b: A tensor of the same dtype and rank >= 2.
        transpose_a: Multiply by the transpose of `a`.
        transpose_b: Multiply by the transpose of `b`.
        adjoint_a: Multiply by the conjugate transpose of `a`.
        adjoint_b: Multiply by the conjugate transpose of `b`.
        a_is_sparse: Whether `a` holds many zeros: matrices of float32 or bfloat16 are then multiplied by
            the op SparseMatMul.
        b_is_sparse: The same of `b`.
        name: Name of the operation.

    Raises:
        ValueError: Both a transpose and an adjoint are asked for, or the shapes do not fit.
    """
    if transpose_a and adjoint_a:
        raise InvalidValueError("Only one of transpose_a and adjoint_a can be True.")
    if transpose_b and adjoint_b:
        raise InvalidValueError("Only one of transpose_b and adjoint_b can be True.")
    with name_scope(name, "MatMul", [a, b]) as scope:
        flags = (transpose_a, transpose_b, adjoint_a, adjoint_b)
        return _matmul(a, b, *flags, (a_is_sparse, b_is_sparse), scope)


def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool,
    transpose_b: bool,
    adjoint_a: bool,
    adjoint_b: bool,
    is_sparse: tuple[bool, bool],
    name: str,
) -> Any:
    a = convert_to_tensor(a, name="a")
    b = convert_to_tensor(b, preferred_dtype=a.dtype.base_dtype, name="b")
    dtypes = [tensor.dtype.base_dtype for tensor in (a, b)]
    ranks = [tensor.get_shape().ndims for tensor in (a, b)]
    if not any(is_sparse) and any(rank is None or rank > 2 for rank in ranks):
        return raw_ops.BatchMatMulV2(
            rules.conjugate(a) if transpose_a else a,
            rules.conjugate(b) if transpose_b else b,
            adj_x=transpose_a or adjoint_a,
            adj_y=transpose_b or adjoint_b,
            name=name,
        )
    mixed = bfloat16 in dtypes and dtypes[0] != dtypes[1]
    if mixed or (any(is_sparse) and all(dtype in (float32, bfloat16) for dtype in dtypes)):
        product = sparse_mat_mul(
            a,
            b,
            transpose_a=transpose_a or adjoint_a,
            transpose_b=transpose_b or adjoint_b,
            a_is_sparse=is_sparse[0],
            b_is_sparse=is_sparse[1],
            name=name,
        )
        return raw_ops.Cast(product, DstT=bfloat16) if dtypes == [bfloat16, bfloat16] else product
    return _matmul_2d(a, b, transpose_a or adjoint_a, transpose_b or adjoint_b, adjoint_a, adjoint_b, name)


def _matmul_2d(
    a: Any, b: Any, transpose_a: bool, transpose_b: bool, conj_a: bool, conj_b: bool, name: Any
) -> Any:
    return mat_mul(
        rules.conjugate(a) if conj_a else a,
        rules.conjugate(b) if conj_b else b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        name=name,
    )


Tensor._override_operator("__matmul__", lambda x, y: matmul(x, y))
Tensor._override_operator("__rmatmul__", lambda y, x: matmul(convert_to_tensor(x, y.dtype.base_dtype), y))
