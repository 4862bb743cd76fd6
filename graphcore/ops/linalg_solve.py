"""Inverses, determinants, solutions of linear systems, Cholesky factors; batches in the leading axes.

Source: tensorflow/core/ops/linalg_ops.cc and python/ops/linalg_grad.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import COMPLEX, float16, float32, float64
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..kernels import matrices as kernels
from ..kernels.arrays import widened
from ..op import GraphOp, op, raw_ops
from ..shapes import Dim, Shape, format_shape, merge, merge_dims, with_rank, with_rank_at_least
from .array_create import eye
from .array_shape import matrix_transpose as transposed
from .linalg import matmul

LINEAR = (float64, float32, float16, *COMPLEX)
_WIDE = (float64, float32)
LEGACY = "TensorFlow has none for this legacy op"


def square(shape: Shape) -> Shape:
    """The shape of square matrices."""
    shape = with_rank_at_least(shape, 2)
    if shape is None:
        return None
    size = merge_dims(shape[-2], shape[-1])
    return (*shape[:-2], size, size)


def check_matrix(input: Any, is_square: bool = True) -> None:
    """Raises InvalidArgumentError unless the input holds (square) matrices."""
    if input.ndim < 2:
        raise InvalidArgumentError(f"Input tensor 0 must have rank >= 2, got {input.ndim}")
    if is_square and input.shape[-1] != input.shape[-2]:
        raise InvalidArgumentError("Input matrix must be square.")


def _check_system(matrix: Any, rhs: Any, is_square: bool = True) -> None:
    if matrix.ndim < 2:
        raise InvalidArgumentError(f"Input tensor 0 must have rank >= 2, got {matrix.ndim}")
    if matrix.ndim != rhs.ndim:
        raise InvalidArgumentError("All input tensors must have the same rank.")
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise InvalidArgumentError("All input tensors must have the same outer dimensions.")
    if is_square and matrix.shape[-1] != matrix.shape[-2]:
        raise InvalidArgumentError("First input (lhs) must be a square matrix.")
    if matrix.shape[-2] != rhs.shape[-2]:
        raise InvalidArgumentError("Input matrix and rhs are incompatible.")


def _system_shape(node: Any, is_square: bool = True) -> Shape:
    matrix = square(node.shape(0)) if is_square else with_rank_at_least(node.shape(0), 2)
    rhs = with_rank_at_least(node.shape(1), 2)
    if matrix is None or rhs is None:
        known = matrix or rhs
        return None if known is None else (*known[:-2], *_last_of(matrix, rhs, is_square))
    batch = merge(matrix[:-2], rhs[:-2])
    rows = merge_dims(matrix[-2], rhs[-2])
    return (*(batch or ()), rows if is_square else matrix[-1], rhs[-1])


def _last_of(matrix: Shape, rhs: Shape, is_square: bool) -> tuple[Dim, Dim]:
    if matrix is not None:
        return matrix[-1], None
    return rhs[-2] if rhs and is_square else None, rhs[-1] if rhs else None


def pair(
    name: str, signature: str, *attrs: str, kinds: Any = LINEAR, legacy: Any = _WIDE
) -> Callable[[Callable[..., Any]], tuple[GraphOp, GraphOp]]:
    """Declares an op and its legacy twin, `Batch` before its name, which takes fewer dtypes."""

    def declare(kernel: Callable[..., Any]) -> tuple[GraphOp, GraphOp]:
        return (
            op(name, signature, *attrs, T=kinds)(kernel),
            op(f"Batch{name}", signature, *attrs, T=legacy, undefined_grad=LEGACY)(kernel),
        )

    return declare


@pair("MatrixInverse", "input: T -> output: T", "adjoint: bool = false")
def _inverse(input: Any, *, adjoint: bool) -> Any:
    """The inverse of each square matrix, or of its adjoint."""
    check_matrix(input)
    matrix = widened(input)
    try:
        result = np.linalg.inv(kernels.adjoint(matrix) if adjoint else matrix)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError("Input is not invertible.") from error
    return result.astype(input.dtype)


for _declared in _inverse:
    _declared.shape(lambda node: square(node.shape(0)))


@_inverse[0].grad
def _(node: Any, dy: Any) -> Any:
    inverse = node.outputs[0]
    if node.attr("adjoint"):  # TensorFlow's gradient takes no notice of it
        return -matmul(inverse, matmul(dy, inverse, adjoint_a=True), adjoint_b=False)
    return -matmul(inverse, matmul(dy, inverse, adjoint_b=True), adjoint_a=True)


@pair(
    "MatrixDeterminant",
    "input: T -> output: T",
    kinds=(float16, float32, float64, *COMPLEX),
    legacy=(float32, float64, *COMPLEX),
)
def _determinant(input: Any) -> Any:
    """The determinant of each square matrix."""
    check_matrix(input)
    return np.asarray(np.linalg.det(widened(input))).astype(input.dtype)


def _batch_of(shape: Shape) -> Shape:
    shape = with_rank_at_least(shape, 2)
    if shape is None:
        return None
    merge_dims(shape[-1], shape[-2])
    return shape[:-2]


for _declared in _determinant:
    _declared.shape(lambda node: _batch_of(node.shape(0)))


def _as_matrices(values: Any) -> Any:
    """A tensor with two more axes of length 1."""
    return raw_ops.Reshape(values, raw_ops.ConcatV2([raw_ops.Shape(values), [1, 1]], 0))


_determinant[0].grad(
    lambda node, dy: _as_matrices(dy * node.outputs[0]) * raw_ops.MatrixInverse(node.inputs[0], adjoint=True)
)


@op(
    "LogMatrixDeterminant",
    "input: T -> sign: T, log_abs_determinant: T",
    T=(float16, float32, float64, *COMPLEX),
)
def log_matrix_determinant(input: Any) -> Any:
    """The sign (or phase) of each determinant, and the logarithm of its absolute value."""
    check_matrix(input)
    sign, logarithm = np.linalg.slogdet(widened(input))
    return np.asarray(sign).astype(input.dtype), np.asarray(logarithm).astype(input.dtype)


log_matrix_determinant.shape(lambda node: [_batch_of(node.shape(0))] * 2)
log_matrix_determinant.grad(
    lambda node, _, dy: _as_matrices(dy) * raw_ops.MatrixInverse(node.inputs[0], adjoint=True)
)


@pair("MatrixSolve", "matrix: T, rhs: T -> output: T", "adjoint: bool = false")
def _solve(matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    """The x with matrix x = rhs, or adjoint(matrix) x = rhs."""
    _check_system(matrix, rhs)
    wide = widened(matrix)
    try:
        result = np.linalg.solve(kernels.adjoint(wide) if adjoint else wide, widened(rhs))
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError("Input matrix is not invertible.") from error
    return result.astype(rhs.dtype)


@pair(
    "MatrixTriangularSolve", "matrix: T, rhs: T -> output: T", "lower: bool = true", "adjoint: bool = false"
)
def _triangular(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    """The x with matrix x = rhs, or adjoint(matrix) x = rhs, of a triangular matrix."""
    _check_system(matrix, rhs)
    return kernels.triangular_solve(widened(matrix), widened(rhs), lower, adjoint).astype(rhs.dtype)


for _declared in (*_solve, *_triangular):
    _declared.shape(_system_shape)


def _system_grad(node: Any, by_rhs: Any) -> Any:
    """The gradient by the matrix, of that by the right-hand side."""
    x = node.outputs[0]
    return -matmul(x, by_rhs, adjoint_b=True) if node.attr("adjoint") else -matmul(by_rhs, x, adjoint_b=True)


@_solve[0].grad
def _(node: Any, dy: Any) -> Any:
    by_rhs = raw_ops.MatrixSolve(node.inputs[0], dy, adjoint=not node.attr("adjoint"))
    return _system_grad(node, by_rhs), by_rhs


@_triangular[0].grad
def _(node: Any, dy: Any) -> Any:
    lower = node.attr("lower")
    by_rhs = raw_ops.MatrixTriangularSolve(node.inputs[0], dy, lower=lower, adjoint=not node.attr("adjoint"))
    band = (-1, 0) if lower else (0, -1)
    return band_part(_system_grad(node, by_rhs), *band), by_rhs


def band_part(x: Any, num_lower: int, num_upper: int) -> Any:
    """MatrixBandPart with constant numbers."""
    numbers = [convert_to_tensor(np.array(number, np.int64)) for number in (num_lower, num_upper)]
    return raw_ops.MatrixBandPart(x, *numbers)


@pair("MatrixSolveLs", "matrix: T, rhs: T, l2_regularizer: float64 -> output: T", "fast: bool = true")
def _least_squares(matrix: Any, rhs: Any, l2_regularizer: Any, *, fast: bool) -> Any:
    """The x for which matrix x is nearest to rhs; of many, the shortest."""
    if np.ndim(l2_regularizer):
        raise InvalidArgumentError(
            f"l2_regularizer must be scalar, got shape {format_shape(np.shape(l2_regularizer))}"
        )
    _check_system(matrix, rhs, is_square=False)
    wide = widened(matrix), widened(rhs)
    return kernels.least_squares(*wide, float(l2_regularizer), fast).astype(rhs.dtype)


@_least_squares[0].shape
@_least_squares[1].shape
def _(node: Any) -> Shape:
    with_rank(node.shape(2), 0)
    return _system_shape(node, is_square=False)


@_least_squares[0].grad
def _(node: Any, dy: Any) -> Any:
    if not node.attr("fast"):
        raise InvalidValueError("Gradient not defined for fast=False")
    a, b, l2 = node.inputs
    l2 = raw_ops.Cast(l2, DstT=a.dtype.base_dtype)
    x = node.outputs[0]

    def of_many_rows() -> list[Any]:
        z = _cholesky_solve(_gramian_factor(a, l2, True), dy)
        product = matmul(x, z, adjoint_b=True)
        symmetric = product + transposed(product)
        return [matmul(b, z, adjoint_b=True) - matmul(a, symmetric), matmul(a, z)]

    def of_few_rows() -> list[Any]:
        factor = _gramian_factor(a, l2, False)
        by_b = _cholesky_solve(factor, matmul(a, dy))
        solved = _cholesky_solve(factor, b)
        first = -matmul(by_b, matmul(solved, a, adjoint_a=True))
        rest = dy - matmul(a, by_b, adjoint_a=True)
        return [first + matmul(solved, rest, adjoint_b=True), by_b]

    shape = a.static_shape
    if shape is not None and None not in shape[-2:]:
        return [*(of_many_rows() if shape[-2] >= shape[-1] else of_few_rows()), None]
    from ..conditional import cond

    sizes = raw_ops.StridedSlice(raw_ops.Shape(a), [-2], [0], [1], end_mask=1)
    is_tall = raw_ops.GreaterEqual(sizes[0], sizes[1])
    return [*cond(is_tall, of_many_rows, of_few_rows), None]


def _gramian_factor(a: Any, l2: Any, first_kind: bool) -> Any:
    gramian = matmul(a, a, adjoint_a=first_kind, adjoint_b=not first_kind)
    diagonal = raw_ops.MatrixDiagPart(gramian)
    return raw_ops.Cholesky(raw_ops.MatrixSetDiag(gramian, diagonal + l2))


def _cholesky_solve(factor: Any, rhs: Any) -> Any:
    y = raw_ops.MatrixTriangularSolve(factor, rhs, adjoint=False, lower=True)
    return raw_ops.MatrixTriangularSolve(factor, y, adjoint=True, lower=True)


@pair("Cholesky", "input: T -> output: T")
def _cholesky(input: Any) -> Any:
    """The lower triangular factor L of each positive definite matrix L adjoint(L); its lower part is read."""
    check_matrix(input)
    try:
        return np.linalg.cholesky(widened(input)).astype(input.dtype)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(
            "Cholesky decomposition was not successful. The input might not be valid."
        ) from error


@_cholesky[0].grad
def _(node: Any, dy: Any) -> Any:
    factor = node.outputs[0]
    shape = factor.static_shape
    if shape is not None and None not in shape:
        identity = eye(shape[-1], batch_shape=list(shape[:-2]), dtype=factor.dtype)
    else:
        ones = raw_ops.OnesLike(raw_ops.MatrixDiagPart(factor))
        identity = raw_ops.MatrixDiag(ones)
    inverse = raw_ops.MatrixTriangularSolve(factor, identity)
    middle = matmul(factor, dy, adjoint_a=True)
    half = convert_to_tensor(0.5, middle.dtype.base_dtype)
    middle = raw_ops.MatrixSetDiag(middle, half * raw_ops.MatrixDiagPart(middle))
    middle = band_part(middle, -1, 0)
    grad = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    return (grad + transposed(grad, conjugate=True)) * half


@op(
    "CholeskyGrad",
    "l: T, grad: T -> output: T",
    T=(float16, float32, float64),
    undefined_grad="TensorFlow has none",
)
def cholesky_grad(l: Any, grad: Any) -> Any:  # noqa: E741 (as TensorFlow names it)
    """The gradient by a matrix, of that by its Cholesky factor."""
    _check_system(l, grad)
    check_matrix(grad)
    return kernels.cholesky_grad(widened(l), widened(grad)).astype(l.dtype)


batch_cholesky_grad = op(
    "BatchCholeskyGrad", "l: T, grad: T -> output: T", T=(float32, float64), undefined_grad=LEGACY
)(cholesky_grad.kernel)
for _declared in (*_cholesky, cholesky_grad, batch_cholesky_grad):
    _declared.shape(lambda node: square(node.shape(0)))


# Tridiagonal matrices


@op(
    "TridiagonalSolve",
    "diagonals: T, rhs: T -> output: T",
    "partial_pivoting: bool = true",
    T=(float64, float32, *COMPLEX),
)
def tridiagonal_solve_op(diagonals: Any, rhs: Any, *, partial_pivoting: bool) -> Any:
    """The x with a x = rhs, of matrices given by the diagonals above, on and below the main one."""
    if diagonals.ndim < 2 or diagonals.ndim != rhs.ndim:
        raise InvalidArgumentError("All input tensors must have the same rank.")
    if diagonals.shape[:-2] != rhs.shape[:-2]:
        raise InvalidArgumentError("All input tensors must have the same outer dimensions.")
    if diagonals.shape[-2] != 3:
        raise InvalidArgumentError(f"Expected diagonals to have 3 rows, got {diagonals.shape[-2]}")
    if diagonals.shape[-1] != rhs.shape[-2]:
        raise InvalidArgumentError("The length of diagonals must be equal to the number of rows of rhs.")
    with np.errstate(all="ignore"):
        return kernels.tridiagonal_solve(diagonals, rhs, partial_pivoting)


@tridiagonal_solve_op.shape
def _(node: Any) -> Shape:
    left, rhs = with_rank_at_least(node.shape(0), 2), with_rank_at_least(node.shape(1), 2)
    if left is not None and left[-2] not in (None, 3):
        raise InvalidValueError(f"Dimension must be 3 but is {left[-2]}")
    if left is not None and rhs is not None:
        merge(left[:-2], rhs[:-2])
        merge_dims(left[-1], rhs[-2])
    return rhs


@tridiagonal_solve_op.grad
def _(node: Any, dy: Any) -> Any:
    diagonals, x = node.inputs[0], node.outputs[0]
    upper, main, lower = (_row(diagonals, part) for part in range(3))
    flipped = raw_ops.ConcatV2([_shifted_right(lower, -1, -1), main, _shifted_right(upper, -1, 1)], -2)
    by_rhs = raw_ops.TridiagonalSolve(flipped, dy, partial_pivoting=node.attr("partial_pivoting"))
    left, right = by_rhs, raw_ops.Conj(x) if x.dtype.is_complex else x
    parts = [
        raw_ops.Sum(left * _shifted_right(right, -2, -1), [-1]),
        raw_ops.Sum(left * right, [-1]),
        raw_ops.Sum(left * _shifted_right(right, -2, 1), [-1]),
    ]
    return -raw_ops.ConcatV2([raw_ops.ExpandDims(part, -2) for part in parts], -2), by_rhs


def _row(x: Any, index: int) -> Any:
    rows = raw_ops.GatherV2(x, [index], -2)
    return raw_ops.Conj(rows) if x.dtype.is_complex else rows


def _shifted_right(x: Any, axis: int, by: int) -> Any:
    """Shifted by one along one of the last two axes, a zero drawn in."""
    rank = raw_ops.Rank(x)
    at = raw_ops.ExpandDims(rank + axis, 0)
    size = raw_ops.GatherV2(raw_ops.Shape(x), at[0], 0)
    start, stop = (0, size - 1) if by > 0 else (1, size)
    kept = raw_ops.GatherV2(x, raw_ops.Range(start, stop, 1), axis)
    zero = raw_ops.ZerosLike(raw_ops.GatherV2(x, raw_ops.Range(0, raw_ops.Minimum(size, 1), 1), axis))
    return raw_ops.ConcatV2([zero, kept] if by > 0 else [kept, zero], axis)


@op(
    "TridiagonalMatMul",
    "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T",
    T=(float64, float32, *COMPLEX),
)
def tridiagonal_mat_mul(superdiag: Any, maindiag: Any, subdiag: Any, rhs: Any) -> Any:
    """The product of matrices, given by three diagonals, with rhs."""
    expected = (*rhs.shape[:-2], 1, rhs.shape[-2]) if rhs.ndim >= 2 else None
    for name, diagonal in (("superdiag", superdiag), ("maindiag", maindiag), ("subdiag", subdiag)):
        if diagonal.shape != expected:
            raise InvalidArgumentError(
                f"{name} must have shape {format_shape(expected)} to fit rhs, got "
                f"{format_shape(diagonal.shape)}"
            )
    return kernels.tridiagonal_product(superdiag, maindiag, subdiag, rhs)


@tridiagonal_mat_mul.shape
def _(node: Any) -> Shape:
    diagonal: Shape = None
    for index in range(3):
        diagonal = merge(diagonal, with_rank_at_least(node.shape(index), 2))
    rhs = with_rank_at_least(node.shape(3), 2)
    if diagonal is not None:
        if diagonal[-2] not in (None, 1):
            raise InvalidValueError(f"Dimension must be 1 but is {diagonal[-2]}")
        if rhs is not None:
            merge(diagonal[:-2], rhs[:-2])
            merge_dims(diagonal[-1], rhs[-2])
    return rhs


@tridiagonal_mat_mul.grad
def _(node: Any, dy: Any) -> Any:
    upper, main, lower = (transposed(tensor, conjugate=True) for tensor in node.inputs[:3])
    rhs = node.inputs[3]
    rhs = raw_ops.Conj(rhs) if rhs.dtype.is_complex else rhs

    def summed(x: Any) -> Any:
        return raw_ops.ExpandDims(raw_ops.Sum(x * dy, [-1]), -2)

    by_rhs = _shifted_right(upper * dy, -2, 1) + main * dy + _shifted_right(lower * dy, -2, -1)
    return summed(_shifted_right(rhs, -2, -1)), summed(rhs), summed(_shifted_right(rhs, -2, 1)), by_rhs


# TensorFlow's Python functions

matrix_inverse, matrix_determinant = _inverse[0], _determinant[0]
matrix_solve, matrix_triangular_solve, cholesky = _solve[0], _triangular[0], _cholesky[0]


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """`tf.cholesky_solve`: x with a x = rhs, of a matrix a given by its Cholesky factor."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        return _cholesky_solve(chol, rhs)


def matrix_solve_ls(
    matrix: Any, rhs: Any, l2_regularizer: Any = 0.0, fast: bool = True, name: str | None = None
) -> Any:
    """`tf.matrix_solve_ls`: x for which matrix x is nearest to rhs.

    Args:
        matrix: (..., m, n).
        rhs: (..., m, k).
        l2_regularizer: A scalar >= 0, the weight of the length of x.
        fast: By the normal equations; else by a slower, more exact way without regularizer.
        name: Name of the operation.
    """
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        return _least_squares[0](matrix, rhs, l2_regularizer, fast=fast)


def slogdet(input: Any, name: str | None = None) -> Any:
    """`tf.linalg.slogdet`: `(sign, log_abs_determinant)` of each square matrix."""
    return log_matrix_determinant(input, name=name)


def logdet(matrix: Any, name: str | None = None) -> Any:
    """`tf.linalg.logdet`: the logarithm of the determinant of each Hermitian positive definite matrix."""
    with name_scope(name, "logdet", [matrix]):
        diagonal = raw_ops.MatrixDiagPart(cholesky(matrix), name="diag_part")
        diagonal = (
            raw_ops.Real(diagonal, Tout=diagonal.dtype.real_dtype) if diagonal.dtype.is_complex else diagonal
        )
        total = raw_ops.Sum(raw_ops.Log(diagonal), [-1])
        return convert_to_tensor(2.0, total.dtype) * total


def adjoint(matrix: Any, name: str | None = None) -> Any:
    """`tf.linalg.adjoint`: the conjugate transpose of each matrix."""
    with name_scope(name, "adjoint", [matrix]):
        return transposed(convert_to_tensor(matrix, name="matrix"), conjugate=True)


def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Any:
    """`tf.linalg.tridiagonal_solve`: solutions of tridiagonal systems.

    Args:
        diagonals: (..., 3, n): above, on and below the diagonal; or, by `diagonals_format`, a sequence of
            the three, or whole matrices.
        rhs: (..., n), or (..., n, k).
        diagonals_format: 'compact', 'sequence' or 'matrix'.
        transpose_rhs: Whether rhs is transposed before, where it has k.
        conjugate_rhs: Whether rhs is conjugated before.
        name: Name of the operation.
        partial_pivoting: Whether rows are exchanged for stability.

    Raises:
        ValueError: Another format, or shapes that do not fit.
    """
    if diagonals_format not in ("compact", "sequence", "matrix"):
        raise InvalidValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    with name_scope(name, "tridiagonal_solve", [diagonals, rhs]):
        if diagonals_format == "sequence":
            diagonals = _padded_diagonals(diagonals)
        diagonals = convert_to_tensor(diagonals, name="diagonals")
        rhs = convert_to_tensor(rhs, diagonals.dtype.base_dtype, name="rhs")
        if diagonals_format == "matrix":
            zero = convert_to_tensor(0, diagonals.dtype.base_dtype)
            packed = raw_ops.MatrixDiagPartV2(diagonals, [-1, 1], zero)
            rows = [raw_ops.GatherV2(packed, [index], -2) for index in range(3)]
            diagonals = raw_ops.ConcatV2([*rows[:2], _shifted_right(rows[2], -1, 1)], -2)
        ranks = diagonals.get_shape().ndims, rhs.get_shape().ndims
        if None in ranks:
            raise InvalidValueError("Expected diagonals and rhs to have known ranks")
        is_vector = ranks[1] == ranks[0] - 1
        if conjugate_rhs and rhs.dtype.is_complex:
            rhs = raw_ops.Conj(rhs)
        if is_vector:
            rhs = raw_ops.ExpandDims(rhs, -1)
        elif transpose_rhs:
            rhs = transposed(rhs)
        solved = tridiagonal_solve_op(diagonals, rhs, partial_pivoting=partial_pivoting)
        if is_vector:
            return raw_ops.Squeeze(solved, squeeze_dims=[-1])
        return transposed(solved) if transpose_rhs else solved


def _padded_diagonals(diagonals: Any) -> Any:
    """Three diagonals as one tensor; the outer ones may be one shorter than the main one."""
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise InvalidTypeError("Expected diagonals to be a sequence of length 3.")
    upper, main, lower = (convert_to_tensor(part) for part in diagonals)
    size = main.get_shape()[-1].value
    rank = main.get_shape().ndims

    def padded(part: Any, pad: list[int]) -> Any:
        if size is not None and part.get_shape()[-1].value == size - 1:
            return raw_ops.Pad(part, [[0, 0]] * (rank - 1) + [pad])
        return part

    return raw_ops.Pack([padded(upper, [0, 1]), main, padded(lower, [1, 0])], axis=-2)
