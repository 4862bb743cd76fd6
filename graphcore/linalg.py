"""`tf.linalg`: matrices, their decompositions, and solutions of linear systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .clip import global_norm
from .linear_operator import LinearOperator
from .linear_operators import (
    LinearOperatorAdjoint,
    LinearOperatorComposition,
    LinearOperatorDiag,
    LinearOperatorFullMatrix,
    LinearOperatorIdentity,
    LinearOperatorInversion,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from .matrix_functions import (
    matrix_exponential as expm,
    matrix_rank,
    matvec,
    normalize,
    pinv,
    tridiagonal_matmul,
)
from .ops.array_create import eye
from .ops.array_shape import matrix_transpose, matrix_transpose as transpose
from .ops.einsum import einsum
from .ops.linalg import cross, matmul
from .ops.linalg_eig import (
    matrix_logarithm as logm,
    matrix_square_root as sqrtm,
    qr_op as qr,
    self_adjoint_eig as eigh,
    self_adjoint_eigvals as eigvalsh,
    svd,
)
from .ops.linalg_functions import lu, norm, tensordot
from .ops.linalg_solve import (
    adjoint,
    cholesky,
    cholesky_solve,
    logdet,
    matrix_determinant as det,
    matrix_inverse as inv,
    matrix_solve as solve,
    matrix_solve_ls as lstsq,
    matrix_triangular_solve as triangular_solve,
    slogdet,
    tridiagonal_solve,
)
from .ops.matrix_diag import (
    diag as tensor_diag,
    matrix_band_part as band_part,
    matrix_diag as diag,
    matrix_diag_part as diag_part,
    matrix_set_diag as set_diag,
    tensor_diag_part,
    trace,
)
from .ops.nn_norm import l2_normalize

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorComposition", "LinearOperatorDiag",
    "LinearOperatorFullMatrix", "LinearOperatorIdentity", "LinearOperatorInversion",
    "LinearOperatorLowerTriangular", "LinearOperatorScaledIdentity",
    "adjoint", "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "eigh",
    "eigvalsh", "einsum", "expm", "eye", "global_norm", "inv", "l2_normalize", "logdet", "logm", "lstsq",
    "lu", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize", "pinv", "qr",
    "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part", "tensordot",
    "trace", "transpose", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve",
]  # fmt: skip
