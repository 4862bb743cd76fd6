"""Decompositions and functions of matrices: QR, SVD, eigenvalues, LU, exponential, logarithm, square root.

Source: tensorflow/core/ops/linalg_ops.cc and python/ops/linalg_grad.py (r1.15), behaviour only. Where a
decomposition is unique up to signs only, the signs are LAPACK's; those of singular vectors of real matrices
with less than 16 columns are TensorFlow's. What is not asked for is a scalar zero: a scalar is what
TensorFlow returns, though its shape rule says an empty vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..dtypes import COMPLEX, INDEX, float16, float32, float64, int32
from ..errors import InvalidArgumentError, UnimplementedError
from ..kernels import matrices as kernels, svd_signs
from ..kernels.arrays import widened
from ..op import op, raw_ops
from ..shapes import Dim, Shape, with_rank_at_least
from .array_shape import matrix_transpose as transposed
from .control_flow import tf_assert, with_dependencies
from .linalg import matmul
from .linalg_solve import LEGACY, LINEAR, band_part, check_matrix, pair, square

_WIDE = (float64, float32)


def _adjoint(x: Any) -> Any:
    return transposed(x, conjugate=True)


def _min(a: Dim, b: Dim) -> Dim:
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else min(a, b)


# QR


@op("Qr", "input: T -> q: T, r: T", "full_matrices: bool = false", T=LINEAR)
def qr_op(input: Any, *, full_matrices: bool) -> tuple[Any, Any]:
    """The orthogonal (unitary) and upper triangular factors of each matrix."""
    check_matrix(input, is_square=False)
    q, r = np.linalg.qr(widened(input), mode="complete" if full_matrices else "reduced")
    return q.astype(input.dtype), r.astype(input.dtype)


@qr_op.shape
def _(node: Any) -> list[Shape]:
    shape = with_rank_at_least(node.shape(0), 2)
    if shape is None:
        return [None, None]
    rows, columns = shape[-2:]
    inner = rows if node.attr("full_matrices") else _min(rows, columns)
    return [(*shape[:-2], rows, inner), (*shape[:-2], inner, columns)]


@qr_op.grad
def _(node: Any, dq: Any, dr: Any) -> Any:
    q, r = node.outputs
    if q.dtype.is_complex:
        raise UnimplementedError(f"QrGrad not implemented for dtype: {q.dtype!r}")
    shape = r.static_shape
    reason = "QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows."
    if shape is None or None in shape[-2:]:
        sizes = raw_ops.StridedSlice(raw_ops.Shape(r), [-2], [0], [1], end_mask=1)
        r = with_dependencies([tf_assert(raw_ops.Equal(sizes[0], sizes[1]), [reason, sizes])], r)
    elif shape[-2] != shape[-1]:
        raise UnimplementedError(reason)

    def solve(x: Any) -> Any:
        """The product of x and the adjoint of the inverse of r."""
        return _adjoint(raw_ops.MatrixTriangularSolve(r, _adjoint(x), lower=False, adjoint=False))

    qdq, rdr = matmul(q, dq, adjoint_a=True), matmul(r, dr, adjoint_b=True)
    lower = band_part(qdq - _adjoint(qdq) + rdr - _adjoint(rdr), -1, 0)
    return matmul(q, dr + solve(lower)) + solve(dq - matmul(q, qdq))


# Singular values


@pair(
    "Svd",
    "input: T -> s: T, u: T, v: T",
    "compute_uv: bool = true",
    "full_matrices: bool = false",
    legacy=(*_WIDE, *COMPLEX),
)
def _svd(input: Any, *, compute_uv: bool, full_matrices: bool) -> tuple[Any, Any, Any]:
    """The singular values of each matrix, falling, and its left and right singular vectors in columns."""
    check_matrix(input, is_square=False)
    dtype = input.dtype
    finite, safe = kernels.finite_matrices(input)
    matrix = widened(safe)
    try:
        if compute_uv:
            u, s, vh = np.linalg.svd(matrix, full_matrices=full_matrices)
            v = kernels.adjoint(vh)
            if matrix.dtype.kind == "f" and matrix.shape[-1] < svd_signs.LIMIT:
                u, v = svd_signs.as_tensorflow(matrix, s, u, v)
            u[~finite] = v[~finite] = np.nan
        else:
            s, u, v = np.linalg.svd(matrix, compute_uv=False), dtype.type(0), dtype.type(0)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(f"Svd: {error}: numbers of very different sizes, or too large") from error
    s[~finite] = np.nan
    return s.astype(dtype), u.astype(dtype), v.astype(dtype)


def _svd_shape(node: Any) -> list[Shape]:
    shape = with_rank_at_least(node.shape(0), 2)
    if shape is None:
        return [None] * 3 if node.attr("compute_uv") else [None, (), ()]
    rows, columns = shape[-2:]
    inner, batch = _min(rows, columns), shape[:-2]
    if not node.attr("compute_uv"):
        return [(*batch, inner), (), ()]
    full = node.attr("full_matrices")
    return [
        (*batch, inner),
        (*batch, rows, rows if full else inner),
        (*batch, columns, columns if full else inner),
    ]


for _declared in _svd:
    _declared.shape(_svd_shape)


def _reciprocal_differences(x: Any, zero: Any) -> Any:
    """1 / (x_j - x_i), and 0 on the diagonal."""
    differences = raw_ops.ExpandDims(x, -2) - raw_ops.ExpandDims(x, -1)
    # ones on the diagonal: whatever is done there is replaced, also in second derivatives
    safe = raw_ops.MatrixSetDiag(differences, raw_ops.OnesLike(x))
    return raw_ops.MatrixSetDiag(raw_ops.Reciprocal(safe), zero)


@_svd[0].grad
def _(node: Any, ds: Any, du: Any, dv: Any) -> Any:
    a = node.inputs[0]
    ds_matrix = raw_ops.MatrixDiag(ds)
    if not node.attr("compute_uv"):
        _, u, v = raw_ops.Svd(a, compute_uv=True)
        return matmul(u, matmul(ds_matrix, v, adjoint_b=True))
    if a.dtype.is_complex:
        raise UnimplementedError("SVD gradient is not implemented for complex types and compute_uv=True.")
    s, u, v = node.outputs
    s_matrix = raw_ops.MatrixDiag(s)
    inverse = raw_ops.MatrixDiag(raw_ops.Reciprocal(s))
    f = _reciprocal_differences(raw_ops.Square(s), raw_ops.ZerosLike(s))
    missing_u = missing_v = None
    if node.attr("full_matrices"):
        (u, du, missing_u), (v, dv, missing_v) = _without_null_space(a, u, v, du, dv)
    u_du, v_dv = matmul(u, du, adjoint_a=True), matmul(v, dv, adjoint_a=True)
    f_u, f_v = f * u_du, f * v_dv
    inner = ds_matrix + matmul(f_u + _adjoint(f_u), s_matrix) + matmul(s_matrix, f_v + _adjoint(f_v))
    grad = matmul(u, matmul(inner, v, adjoint_b=True))
    # what of the vectors' gradients lies outside the space that they span; nothing where they are square
    outside_u, outside_v = du - matmul(u, u_du), dv - matmul(v, v_dv)
    outside_u = outside_u if missing_u is None else outside_u - missing_u
    outside_v = outside_v if missing_v is None else outside_v - missing_v
    grad = grad + matmul(outside_u, matmul(inverse, v, adjoint_b=True))
    return grad + matmul(matmul(u, inverse), outside_v, adjoint_b=True)


def _without_null_space(a: Any, u: Any, v: Any, du: Any, dv: Any) -> Any:
    """Full matrices cut down to the vectors with singular values, and what the others' gradients do."""
    shape = a.static_shape
    if shape is None or None in shape[-2:]:
        raise UnimplementedError(
            "SVD gradient has not been implemented for input with unknown inner matrix shape."
        )
    rows, columns = shape[-2:]
    if abs(rows - columns) > 1:
        raise UnimplementedError(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True"
        )
    inner = min(rows, columns)

    def cut(x: Any, dx: Any, size: int) -> Any:
        if size == inner:
            return x, dx, None
        kept, rest = np.arange(inner, dtype=np.int32), np.arange(inner, size, dtype=np.int32)
        first, null, d_null = (
            raw_ops.GatherV2(item, at, -1) for item, at in ((x, kept), (x, rest), (dx, rest))
        )
        return first, raw_ops.GatherV2(dx, kept, -1), matmul(null, matmul(d_null, first, adjoint_a=True))

    return cut(u, du, rows), cut(v, dv, columns)


# Eigenvalues


def _eigh(input: Any) -> tuple[Any, Any]:
    check_matrix(input)
    matrix = widened(input)
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid."
        ) from error
    return values.astype(input.dtype), vectors.astype(input.dtype)


@pair("SelfAdjointEigV2", "input: T -> e: T, v: T", "compute_v: bool = true")
def _self_adjoint_eig_v2(input: Any, *, compute_v: bool) -> tuple[Any, Any]:
    """The eigenvalues of each Hermitian matrix, rising, and its eigenvectors in columns."""
    values, vectors = _eigh(input)
    return values, vectors if compute_v else input.dtype.type(0)


def _self_adjoint_eig_shape(node: Any) -> list[Shape]:
    shape = square(node.shape(0))
    if shape is None:
        return [None, None if node.attr("compute_v") else ()]
    return [shape[:-1], shape if node.attr("compute_v") else ()]


for _declared in _self_adjoint_eig_v2:
    _declared.shape(_self_adjoint_eig_shape)


@_self_adjoint_eig_v2[0].grad
def _(node: Any, de: Any, dv: Any) -> Any:
    e, v = node.outputs
    if node.attr("compute_v"):
        f = _reciprocal_differences(e, raw_ops.ZerosLike(e))
        inner = raw_ops.MatrixDiag(de) + f * matmul(v, dv, adjoint_a=True)
    else:
        v = raw_ops.SelfAdjointEigV2(node.inputs[0]).v
        inner = raw_ops.MatrixDiag(de)
    grad = matmul(v, matmul(inner, v, adjoint_b=True))
    # only the lower triangle is read
    grad = band_part(grad + _adjoint(grad), -1, 0)
    half = convert_to_tensor(0.5, grad.dtype.base_dtype)
    return raw_ops.MatrixSetDiag(grad, half * raw_ops.MatrixDiagPart(grad))


def _self_adjoint_eig_v1(input: Any) -> Any:
    """The eigenvalues of each symmetric matrix in the first row, its eigenvectors in the columns below."""
    values, vectors = _eigh(input)
    return np.concatenate([values[..., None, :], vectors], axis=-2)


def _self_adjoint_eig_v1_shape(node: Any) -> Shape:
    shape = square(node.shape(0))
    if shape is None:
        return None
    return (*shape[:-2], None if shape[-1] is None else shape[-1] + 1, shape[-1])


for _name, _types in (("SelfAdjointEig", (*_WIDE, float16)), ("BatchSelfAdjointEig", _WIDE)):
    _declared = op(_name, "input: T -> output: T", T=_types, undefined_grad=LEGACY)(_self_adjoint_eig_v1)
    _declared.shape(_self_adjoint_eig_v1_shape)


# LU


@op(
    "Lu",
    "input: T -> lu: T, p: output_idx_type",
    T=LINEAR,
    output_idx_type=(INDEX, int32),
    undefined_grad="TensorFlow 1 has none",
)
def lu_op(input: Any, *, output_idx_type: Any) -> tuple[Any, Any]:
    """The triangular factors of each square matrix with permuted rows, in one matrix, and the permutation."""
    check_matrix(input)
    packed, order = kernels.lu(widened(input))
    return packed.astype(input.dtype), order.astype(output_idx_type)


@lu_op.shape
def _(node: Any) -> list[Shape]:
    shape = square(node.shape(0))
    return [shape, None if shape is None else shape[:-1]]


# Functions


@op("MatrixExponential", "input: T -> output: T", T=LINEAR, undefined_grad="TensorFlow 1 has none")
def matrix_exponential(input: Any) -> Any:
    """The exponential of each square matrix."""
    check_matrix(input)
    return kernels.expm(widened(input)).astype(input.dtype)


@op("MatrixLogarithm", "input: T -> output: T", T=COMPLEX, undefined_grad="TensorFlow 1 has none")
def matrix_logarithm(input: Any) -> Any:
    """The principal logarithm of each square matrix."""
    check_matrix(input)
    return kernels.each_by_scipy("logm", input)


@op("MatrixSquareRoot", "input: T -> output: T", T=LINEAR)
def matrix_square_root(input: Any) -> Any:
    """The principal square root of each square matrix."""
    check_matrix(input)
    return kernels.each_by_scipy("sqrtm", widened(input)).astype(input.dtype)


for _declared in (matrix_exponential, matrix_logarithm, matrix_square_root):
    _declared.shape(lambda node: square(node.shape(0)))


@matrix_square_root.grad
def _(node: Any, dy: Any) -> Any:
    """From R dR + dR R = dA, as a linear system of all elements."""
    root = node.outputs[0]
    shape = raw_ops.Shape(root)
    size = shape[-1]
    batch = raw_ops.StridedSlice(shape, [0], [-2], [1], begin_mask=1)
    identity = raw_ops.MatrixDiag(raw_ops.OnesLike(raw_ops.MatrixDiagPart(root)))

    def reshaped(x: Any, *dims: Any) -> Any:
        return raw_ops.Reshape(x, raw_ops.ConcatV2([batch, raw_ops.Pack(list(dims))], 0))

    def kronecker(a: Any, b: Any) -> Any:
        product = reshaped(a, size, 1, size, 1) * reshaped(b, 1, size, 1, size)
        return reshaped(product, size * size, size * size)

    total = kronecker(identity, transposed(root)) + kronecker(root, identity)
    total = raw_ops.Conj(total) if root.dtype.is_complex else total
    solved = raw_ops.MatrixSolve(total, reshaped(transposed(dy), size * size, 1))
    return transposed(raw_ops.Reshape(solved, shape))


# TensorFlow's Python functions


def self_adjoint_eig(tensor: Any, name: str | None = None) -> Any:
    """`tf.self_adjoint_eig`: `(eigenvalues, eigenvectors)` of Hermitian matrices."""
    e, v = raw_ops.SelfAdjointEigV2(tensor, compute_v=True, name=name)
    return e, v


def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Any:
    """`tf.self_adjoint_eigvals`: the eigenvalues of Hermitian matrices, rising."""
    return raw_ops.SelfAdjointEigV2(tensor, compute_v=False, name=name).e


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """`tf.svd`: `(s, u, v)` with tensor = u diag(s) adjoint(v), or the singular values alone.

    Args:
        tensor: (..., m, n).
        full_matrices: Whether u and v are square.
        compute_uv: Whether u and v are computed.
        name: Name of the operation.
    """
    s, u, v = raw_ops.Svd(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (convert_to_tensor(s), u, v) if compute_uv else s
