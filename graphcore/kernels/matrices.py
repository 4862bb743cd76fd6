"""Numerics of batches of matrices that NumPy does not have; the rest is numpy.linalg.

All functions take matrices in the last two axes, of a floating or complex dtype of at least 32 bits, and work
on the whole batch at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, MissingExtraError
from .arrays import Array


def adjoint(a: Array) -> Array:
    """The conjugate transpose of each matrix."""
    return np.conj(np.swapaxes(a, -1, -2))


def triangular_solve(a: Array, b: Array, lower: bool, is_adjoint: bool) -> Array:
    """The x with a x = b, or adjoint(a) x = b, of a triangular a.

    Args:
        a: (..., n, n); only the lower or upper triangle is read.
        b: (..., n, k), the same dtype and batch.
        lower: Which triangle of `a` counts.
        is_adjoint: Whether to solve with the adjoint.

    Returns:
        (..., n, k).

    Raises:
        InvalidArgumentError: There is a zero on the diagonal.
    """
    if np.any(np.diagonal(a, axis1=-2, axis2=-1) == 0):
        raise InvalidArgumentError("Input matrix is not invertible.")
    matrix = adjoint(a) if is_adjoint else a
    forward = lower != is_adjoint
    x = np.array(b)
    size = a.shape[-1]
    for row in range(size) if forward else range(size - 1, -1, -1):
        known = slice(0, row) if forward else slice(row + 1, size)
        x[..., row, :] -= (matrix[..., row, None, known] @ x[..., known, :])[..., 0, :]
        x[..., row, :] /= matrix[..., row, row, None]
    return x


def lu(a: Array) -> tuple[Array, Array]:
    """The LU decomposition with partial pivoting.

    Args:
        a: (..., n, n).

    Returns:
        `(packed, permutation)`: L below the diagonal (its own is 1) and U from it on, and the rows of `a`
        in their new order, int64 (..., n).

    Raises:
        InvalidArgumentError: A matrix is singular.
    """
    packed = np.array(a).reshape(-1, *a.shape[-2:])
    size = a.shape[-1]
    order = np.broadcast_to(np.arange(size), packed.shape[:2]).copy()
    batch = np.arange(len(packed))
    for column in range(size):
        pivot = column + np.argmax(np.abs(packed[:, column:, column]), axis=1)
        for part in (packed, order):
            part[batch, column], part[batch, pivot] = part[batch, pivot].copy(), part[batch, column].copy()
        if np.any(packed[:, column, column] == 0):
            raise InvalidArgumentError("Input is not invertible.")
        packed[:, column + 1 :, column] /= packed[:, column, column, None]
        packed[:, column + 1 :, column + 1 :] -= (
            packed[:, column + 1 :, column, None] * packed[:, column, None, column + 1 :]
        )
    return packed.reshape(a.shape), order.reshape(a.shape[:-1])


def cholesky_grad(l: Array, grad: Array) -> Array:  # noqa: E741 (as TensorFlow names it)
    """The gradient of a Cholesky factor, by that of the matrix: symmetric.

    Source: Murray, "Differentiation of the Cholesky decomposition", 2016, arXiv:1602.07527.

    Args:
        l: Factors, (..., n, n).
        grad: The gradients by them; only the lower triangle is read.

    Returns:
        (..., n, n).
    """
    middle = np.tril(adjoint(l) @ np.tril(grad))
    index = np.arange(l.shape[-1])
    middle[..., index, index] /= 2
    # adjoint(l)^-1 middle l^-1
    left = triangular_solve(l, middle, True, True)
    whole = adjoint(triangular_solve(l, adjoint(left), True, True))
    return (whole + adjoint(whole)) / 2


def finite_matrices(a: Array) -> tuple[Array, Array]:
    """Which matrices of (..., m, n) are finite, and all of them with zeros for those that are not.

    LAPACK's singular value decomposition loops forever over some infinities.
    """
    finite = np.asarray(np.isfinite(a).all((-2, -1)))
    return finite, a if finite.all() else np.where(finite[..., None, None], a, a.dtype.type(0))


def least_squares(a: Array, b: Array, l2_regularizer: float, fast: bool) -> Array:
    """The x that minimizes |a x - b|^2 + l2 |x|^2; of many, the shortest.

    Args:
        a: (..., m, n).
        b: (..., m, k), the same dtype and batch.
        l2_regularizer: Weight of the length of x.
        fast: By Cholesky decomposition of the normal equations; else exactly, without regularizer.

    Returns:
        (..., n, k).

    Raises:
        InvalidArgumentError: The regularizer is negative, or (fast) the normal equations are singular.
    """
    if l2_regularizer < 0:
        raise InvalidArgumentError("l2_regularizer must be >= 0.")
    rows, columns = a.shape[-2:]
    if 0 in (rows, columns, b.shape[-1]):
        return np.zeros((*a.shape[:-2], columns, b.shape[-1]), a.dtype)
    if not fast:
        finite, safe = finite_matrices(a)
        found = np.linalg.pinv(safe) @ b
        found[~finite] = np.nan
        return np.asarray(found)
    over = rows >= columns
    gramian = adjoint(a) @ a if over else a @ adjoint(a)
    index = np.arange(gramian.shape[-1])
    gramian[..., index, index] += a.dtype.type(l2_regularizer)
    try:
        factor = np.linalg.cholesky(gramian)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError(
            "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger "
            "l2_regularizer > 0."
        ) from error
    right = adjoint(a) @ b if over else b
    x = triangular_solve(factor, triangular_solve(factor, right, True, False), True, True)
    return x if over else adjoint(a) @ x


def tridiagonal_solve(diagonals: Array, rhs: Array, pivoting: bool) -> Array:
    """The x with a x = rhs of tridiagonal matrices.

    Args:
        diagonals: (..., 3, n): above, on and below the diagonal; the last of the first and the first of
            the last are not read.
        rhs: (..., n, k), the same dtype and batch.
        pivoting: Whether rows are exchanged for stability, as LAPACK's gtsv does.

    Returns:
        (..., n, k); NaN where the matrix is singular.

    Raises:
        InvalidArgumentError: Without pivoting, the first element of a diagonal is zero.
    """
    size = rhs.shape[-2]
    upper, main, lower = (np.moveaxis(diagonals[..., part, :], -1, 0).copy() for part in range(3))
    x = np.moveaxis(rhs, -2, 0).copy()
    if not pivoting and size and np.any(main[0] == 0):
        raise InvalidArgumentError("The first element of diagonal is zero. Cannot solve the system.")
    second = np.zeros_like(main)  # what an exchange leaves two above the diagonal
    for row in range(size - 1):
        upper_next = upper[row + 1] if row + 2 < size else np.zeros_like(upper[row])
        swap = np.abs(lower[row + 1]) > np.abs(main[row]) if pivoting else np.zeros(main[row].shape, bool)
        pivot, pivot_upper = (
            np.where(swap, lower[row + 1], main[row]),
            np.where(swap, main[row + 1], upper[row]),
        )
        other, other_upper = (
            np.where(swap, main[row], lower[row + 1]),
            np.where(swap, upper[row], main[row + 1]),
        )
        second[row] = np.where(swap, upper_next, 0)
        last = np.where(swap, 0, upper_next)
        factor = other / pivot
        main[row], upper[row] = pivot, pivot_upper
        main[row + 1] = other_upper - factor * pivot_upper
        if row + 2 < size:
            upper[row + 1] = last - factor * second[row]
        first, rest = (
            np.where(swap[..., None], x[row + 1], x[row]),
            np.where(swap[..., None], x[row], x[row + 1]),
        )
        x[row], x[row + 1] = first, rest - factor[..., None] * first
    for row in range(size - 1, -1, -1):
        if row + 1 < size:
            x[row] -= upper[row][..., None] * x[row + 1]
        if row + 2 < size:
            x[row] -= second[row][..., None] * x[row + 2]
        x[row] /= main[row][..., None]
    result = np.moveaxis(x, 0, -2)
    singular = np.any(main == 0, axis=0)
    return np.where(singular[..., None, None], np.nan, result).astype(rhs.dtype)


def tridiagonal_product(upper: Array, main: Array, lower: Array, rhs: Array) -> Array:
    """The product of tridiagonal matrices, given by diagonals of (..., 1, n), with (..., n, k)."""
    above, on, below = (np.swapaxes(part, -1, -2) for part in (upper, main, lower))
    result = np.array(on * rhs)
    result[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    result[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return result


_PADE = 13
_PADE_NORM = 5.371920351148152
"""Up to which 1-norm the Pade approximant of this degree is exact in double precision."""


def expm(a: Array) -> Array:
    """The exponential of each square matrix, by scaling, a Pade approximant, and squaring.

    Source: Higham, "The scaling and squaring method for the matrix exponential revisited", 2005.

    Args:
        a: (..., n, n).

    Returns:
        The same shape and dtype.
    """
    if a.size == 0:
        return np.array(a)
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    norm = np.max(np.sum(np.abs(wide), axis=-2), axis=-1)
    with np.errstate(all="ignore"):
        squarings = np.maximum(np.ceil(np.log2(norm / _PADE_NORM)), 0)
    squarings = np.where(np.isfinite(squarings), squarings, 0).astype(int)
    wide = wide / np.exp2(squarings)[..., None, None]
    coefficient, power = 1.0, np.broadcast_to(np.eye(a.shape[-1]), wide.shape)
    even, odd = np.array(power, wide.dtype), np.zeros_like(wide)
    for k in range(1, _PADE + 1):
        coefficient *= (_PADE - k + 1) / (k * (2 * _PADE - k + 1))
        power = power @ wide
        if k % 2:
            odd += coefficient * power
        else:
            even += coefficient * power
    result = np.linalg.solve(even - odd, even + odd)
    for step in range(int(squarings.max())):
        result = np.where((step < squarings)[..., None, None], result @ result, result)
    return result.astype(a.dtype)


def each_by_scipy(name: str, a: Array) -> Array:
    """A function of scipy.linalg, `sqrtm` or `logm`, of each square matrix.

    Args:
        name: The function's.
        a: (..., n, n).

    Returns:
        The same shape and dtype.

    Raises:
        MissingExtraError: SciPy is not installed.
        InvalidArgumentError: A real matrix has no real result.
    """
    try:
        import scipy.linalg
    except ImportError as error:
        raise MissingExtraError(
            f"The matrix function {name} needs the SciPy library. Install it: pip install 'sgtool[scipy]'.",
            extra="scipy",
        ) from error
    function: Any = getattr(scipy.linalg, name)
    result = np.empty_like(a)
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    for place in np.ndindex(a.shape[:-2]):
        value = function(wide[place]) if a.shape[-1] else wide[place]
        if a.dtype.kind != "c" and np.iscomplexobj(value):
            raise InvalidArgumentError(f"The matrix has no real {name}.")
        result[place] = value
    return result
