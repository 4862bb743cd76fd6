"""`tf.linalg`'s pseudo-inverse, rank, exponential and kin: programs over ops.

Source: tensorflow/python/ops/linalg/linalg_impl.py (r1.15), behaviour only; the exponential: Higham 2005,
    "The scaling
and squaring method for the matrix exponential revisited".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .convert import constant, convert_to_tensor
from .default import name_scope
from .dtypes import int32
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops.array_create import eye
from .ops.array_functions import where_v2
from .ops.array_join import concat
from .ops.array_select import gather_nd
from .ops.array_shape import expand_dims, squeeze, tf_reshape, tf_shape, transpose
from .ops.control_flow import with_dependencies
from .ops.linalg import matmul
from .ops.linalg_eig import svd
from .ops.linalg_functions import norm
from .ops.linalg_solve import matrix_solve
from .ops.math_unary import tf_abs, tf_cast
from .ops.matrix_diag import matrix_diag_part
from .ops.reduction import reduce_max, reduce_sum
from .shape_checks import assert_rank_at_least
from .while_loops import while_loop


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Matrices [..., n, m] times vectors [..., m]."""
    with name_scope(name, "MatVec", [a, b]):
        product = matmul(
            a,
            expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return squeeze(product, axis=-1)


def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """`(tensor / norm, norm)` with the norm of `tf.norm`, whose `ord` and `axis` these are."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        length = tf_cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / length, length


def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Any:
    """Tridiagonal matrices times matrices.

    Args:
        diagonals: By format: "compact": [..., 3, n], the diagonal above, the main one, the one below (the
            last element
            of the first and the first of the last are ignored); "sequence": the three as [..., n]; "matrix":
            [..., n, n].
        rhs: [..., n, m].
        diagonals_format: See `diagonals`.
        name: Name of the operation.

    Raises:
        ValueError: Another format, or a matrix of unknown size or not square.
    """
    if diagonals_format == "compact":
        diagonals = convert_to_tensor(diagonals)
        parts = [diagonals[..., index, :] for index in range(3)]
    elif diagonals_format == "sequence":
        parts = [convert_to_tensor(each) for each in diagonals]
    elif diagonals_format == "matrix":
        diagonals = convert_to_tensor(diagonals)
        rows, columns = diagonals.get_shape().as_list()[-2:]
        if not rows or not columns:
            raise InvalidValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
        if rows != columns:
            raise InvalidValueError(
                f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}"
            )
        flipped = transpose(diagonals)
        above = [[i + 1, i] for i in range(rows - 1)] + [[0, 0]]
        below = [[0, 0]] + [[i - 1, i] for i in range(1, rows)]
        parts = [
            transpose(gather_nd(flipped, above)),
            matrix_diag_part(diagonals),
            transpose(gather_nd(flipped, below)),
        ]
    else:
        raise InvalidValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    return raw_ops.TridiagonalMatMul(*[expand_dims(part, -2) for part in parts], rhs, name=name)


def _checked_matrix(a: Any, validate_args: bool) -> Any:
    if not a.dtype.is_floating:
        raise InvalidTypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    rank = a.get_shape().ndims
    if rank is not None and rank < 2:
        raise InvalidValueError(f"Input `a` must have at least 2 dimensions (saw: {rank}).")
    if rank is None and validate_args:
        check = assert_rank_at_least(a, rank=2, message="Input `a` must have at least 2 dimensions.")
        return with_dependencies([check], a)
    return a


def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """How many singular values of matrices are larger than `tol`.

    Args:
        a: Float tensor [..., m, n].
        tol: Tensor that broadcasts with the ranks; by default the machine epsilon times the larger size
            times the
            largest singular value.
        validate_args: Whether the run checks the rank of `a` where it is not known now.
        name: Name scope.

    Returns:
        Int32 [...].

    Raises:
        TypeError: `a` is not of a float dtype.
        ValueError: `a` is no matrix.
    """
    with name_scope(name or "matrix_rank"):
        a = _checked_matrix(convert_to_tensor(a, name="a"), validate_args)
        values = svd(a, compute_uv=False)
        if tol is None:
            size = tf_cast(reduce_max(tf_shape(a)[-2:]), a.dtype)
            tol = np.finfo(a.dtype.as_numpy_dtype).eps * size * reduce_max(values, axis=-1, keepdims=True)
        return reduce_sum(tf_cast(values > tol, int32), axis=-1)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Any:
    """The Moore-Penrose pseudo-inverse of matrices, by singular values.

    Args:
        a: Float tensor [..., m, n].
        rcond: Singular values below this part of the largest count as zero; by default 10 times the larger
            size times
            the machine epsilon.
        validate_args: Whether the run checks the rank of `a` where it is not known now.
        name: Name scope.

    Returns:
        [..., n, m].

    Raises:
        TypeError: `a` is not of a float dtype.
        ValueError: `a` is no matrix.
    """
    with name_scope(name or "pinv"):
        a = _checked_matrix(convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            rcond = 10.0 * tf_cast(reduce_max(tf_shape(a)[-2:]), a.dtype) * np.finfo(dtype).eps
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        values, left, right = svd(a, full_matrices=False, compute_uv=True)
        cutoff = expand_dims(rcond * reduce_max(values, axis=-1), -1)
        values = where_v2(values > cutoff, values, convert_to_tensor(np.array(np.inf, dtype)))
        result = matmul(right / expand_dims(values, -2), left, adjoint_b=True)
        shape = a.get_shape()
        if shape.ndims is not None:
            dims = shape.as_list()
            result.set_shape([*dims[:-2], dims[-1], dims[-2]])
        return result


# By precision: up to which 1-norm a Pade approximant of which degree is exact (Higham 2005, table 2.3); the
# last is
# for matrices that are scaled to that norm.
_PADE = {
    4: ((3, 4.258730016922831e-001), (5, 1.880152677804762e000), (7, 3.925724783138660e000)),
    8: (
        (3, 1.495585217958292e-002),
        (5, 2.539398330063230e-001),
        (7, 9.504178996162932e-001),
        (9, 2.097847961257068e000),
        (13, 5.371920351148152e000),
    ),
}


def _pade(matrix: Any, degree: int) -> tuple[Any, Any]:
    """Numerator and denominator, up to sign, of exp: the odd and the even part of the polynomial."""
    coefficients = [
        math.factorial(2 * degree - k) // (math.factorial(k) * math.factorial(degree - k))
        for k in range(degree + 1)
    ]
    scale = coefficients[degree]
    identity = eye(tf_shape(matrix)[-2], batch_shape=tf_shape(matrix)[:-2], dtype=matrix.dtype)
    square = matmul(matrix, matrix)
    power, odd, even = identity, None, None
    for k in range(0, degree + 1, 2):
        one, other = (constant(coefficients[each] / scale, matrix.dtype) for each in (k + 1, k))
        odd = one * power if odd is None else odd + one * power
        even = other * power if even is None else even + other * power
        power = matmul(power, square)
    return matmul(matrix, odd), even


def matrix_exponential(input: Any, name: str | None = None) -> Any:
    """Exp of square matrices, by scaling, a Pade approximant and squaring.

    Args:
        input: Float or complex tensor [..., n, n].
        name: Name scope.

    Raises:
        ValueError: Another dtype.
    """
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        static = matrix.get_shape()
        if static.ndims is not None and static.as_list()[-2:] == [0, 0]:
            return matrix
        if not (matrix.dtype.is_floating or matrix.dtype.is_complex):
            raise InvalidValueError(f"tf.linalg.expm does not support matrices of type {matrix.dtype}")
        whole = tf_shape(matrix)
        flat = tf_reshape(matrix, concat([[-1], whole[-2:]], axis=0))
        size = reduce_max(reduce_sum(tf_abs(flat), axis=-2), axis=-1)
        rows = _PADE[8 if matrix.dtype.real_dtype.size == 8 else 4]
        degree, limit = rows[-1]
        halvings = raw_ops.Maximum(
            raw_ops.Floor(raw_ops.Log(size / limit) / math.log(2.0)), convert_to_tensor(0.0, size.dtype)
        )
        factor = raw_ops.Pow(convert_to_tensor(2.0, size.dtype), halvings)
        scaled = flat / tf_cast(expand_dims(expand_dims(factor, -1), -1), matrix.dtype)
        odd, even = _pade(scaled, degree)
        for lower, bound in reversed(rows[:-1]):
            is_small = expand_dims(expand_dims(size < bound, -1), -1)
            less_odd, less_even = _pade(flat, lower)
            odd, even = where_v2(is_small, less_odd, odd), where_v2(is_small, less_even, even)
        result = matrix_solve(even - odd, odd + even)
        most = reduce_max(halvings)

        def squared(i: Any, r: Any) -> Any:
            again = expand_dims(expand_dims(i < halvings, -1), -1)
            return i + 1, where_v2(again, matmul(r, r), r)

        _, result = while_loop(lambda i, _: i < most, squared, [constant(0.0, size.dtype), result])
        result = tf_reshape(result, whole)
        result.set_shape(static)
        return result
