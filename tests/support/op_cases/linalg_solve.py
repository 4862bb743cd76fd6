"""Linear systems, inverses, determinants, Cholesky factors."""

import numpy as np

from . import case, floats

OLD = "removed from TensorFlow long ago: files that have it are old"


def h(a):
    return np.conj(np.swapaxes(a, -1, -2))


def regular(*shape, seed=0, dtype=np.float32):
    """Matrices far from singular ones."""
    a = floats(*shape, seed=seed, dtype=np.float64)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * floats(*shape, seed=seed + 7, dtype=np.float64)
    return (a + 4 * np.eye(shape[-1])).astype(dtype)


def positive(*shape, seed=0, dtype=np.float32):
    a = regular(*shape, seed=seed, dtype=dtype)
    return (a @ h(a) / 8).astype(dtype)


A, B = regular(3, 3), floats(3, 2, seed=1)
BATCH, RIGHT = regular(2, 1, 3, 3), floats(2, 1, 3, 2, seed=1)
Z = regular(2, 2, dtype=np.complex64)
W = (floats(2, 3) + 1j * floats(2, 3, seed=2)).astype(np.complex64)
WIDE = {"rtol": 1e-5, "atol": 1e-5}
EMPTY = {"grad": "empty", "note": "empty"}


def both(name, *inputs, **options):
    """A case of an op and one of its legacy twin."""
    return [case(name, *inputs, **options), case(f"Batch{name}", *inputs, **options | {"oracle": OLD})]


CASES = []
for flag in (False, True):
    flip = h if flag else np.asarray
    CASES += [
        *both(
            "MatrixInverse",
            A,
            adjoint=flag,
            expect=lambda a, f=flip: np.linalg.inv(f(a)),
            **WIDE,
            oracle_grad=not flag or "its gradient forgets the attribute",
            exported=True,
        ),
        case(
            "MatrixInverse",
            BATCH,
            adjoint=flag,
            expect=lambda a, f=flip: np.linalg.inv(f(a)),
            **WIDE,
            note="batch",
            oracle_grad=not flag or "its gradient forgets the attribute",
        ),
        *both(
            "MatrixSolve", A, B, adjoint=flag, expect=lambda a, b, f=flip: np.linalg.solve(f(a), b), **WIDE
        ),
        case(
            "MatrixSolve",
            BATCH,
            RIGHT,
            adjoint=flag,
            expect=lambda a, b, f=flip: np.linalg.solve(f(a), b),
            **WIDE,
            note="batch",
        ),
        case(
            "MatrixSolve",
            Z,
            W,
            adjoint=flag,
            expect=lambda a, b, f=flip: np.linalg.solve(f(a), b),
            **WIDE,
            note="complex",
        ),
    ]
    for lower in (False, True):
        cut = np.tril if lower else np.triu
        flags = {"lower": lower, "adjoint": flag}

        def solved(a, b, cut=cut, flip=flip):
            return np.linalg.solve(flip(cut(a)), b)

        CASES += [
            *both("MatrixTriangularSolve", A, B, **flags, expect=solved, **WIDE),
            case("MatrixTriangularSolve", BATCH, RIGHT, **flags, expect=solved, **WIDE, note="batch"),
            case("MatrixTriangularSolve", Z, W, **flags, expect=solved, **WIDE, note="complex"),
        ]
SQUARES = floats(0, 3, 3)
CASES += [
    case("MatrixInverse", Z, expect=np.linalg.inv, **WIDE, note="complex"),
    case("MatrixInverse", regular(4, 4, dtype=np.float64), expect=np.linalg.inv, rtol=1e-9, note="float64"),
    case("MatrixInverse", SQUARES, expect=SQUARES, **EMPTY),
    case("MatrixSolve", SQUARES, SQUARES, expect=SQUARES, **EMPTY),
    case("MatrixTriangularSolve", SQUARES, SQUARES, expect=SQUARES, **EMPTY),
    *both("MatrixDeterminant", A, expect=np.linalg.det, **WIDE),
    case("MatrixDeterminant", BATCH, expect=np.linalg.det, **WIDE, note="batch"),
    case(
        "MatrixDeterminant",
        Z,
        expect=np.linalg.det,
        **WIDE,
        numeric="TensorFlow's is not that of complex numbers",
        note="complex",
    ),
    case("MatrixDeterminant", floats(0, 0), expect=np.float32(1), **EMPTY),
    case(
        "MatrixDeterminant",
        np.ones((2, 2), np.float32),
        expect=np.float32(0),
        grad="singular",
        note="singular",
    ),
    case("LogMatrixDeterminant", A, expect=np.linalg.slogdet, **WIDE),
    case("LogMatrixDeterminant", -BATCH, expect=np.linalg.slogdet, **WIDE, note="batch"),
    case("LogMatrixDeterminant", floats(0, 0), expect=(np.float32(1), np.float32(0)), **EMPTY),
    *both(
        "Cholesky",
        positive(3, 3),
        expect=np.linalg.cholesky,
        **WIDE,
        numeric="of symmetric matrices only",
        exported=False,
    ),
    case(
        "Cholesky",
        positive(2, 3, 3, dtype=np.float64),
        expect=np.linalg.cholesky,
        rtol=1e-9,
        numeric="of symmetric matrices only",
        note="batch",
    ),
    case(
        "Cholesky",
        positive(2, 2, dtype=np.complex64),
        expect=np.linalg.cholesky,
        **WIDE,
        grad="of real ones",
        note="complex",
    ),
    case(
        "Cholesky",
        np.float32([[4, 99], [2, 5]]),
        expect=[[[2, 0], [1, 2]]],
        grad="as above",
        note="lower_part",
    ),
    case("Cholesky", SQUARES, expect=SQUARES, **EMPTY),
]


def cholesky_grad(factor, g):
    """By differences, of the matrices that are symmetric."""
    factor, g = factor.astype(np.float64), np.tril(g).astype(np.float64)
    a, step, size = factor @ factor.T, 1e-5, len(factor)
    result = np.zeros_like(a)
    for i in range(size):
        for j in range(size):
            e = np.zeros_like(a)
            e[i, j] += step / 2
            e[j, i] += step / 2
            difference = np.linalg.cholesky(a + e) - np.linalg.cholesky(a - e)
            result[i, j] = np.sum(difference * g) / (2 * step)
    return result


L = np.tril(regular(3, 3))
CASES += both("CholeskyGrad", L, floats(3, 3, seed=3), expect=cholesky_grad, rtol=1e-4, atol=1e-5)
CASES.append(case("CholeskyGrad", SQUARES, SQUARES, expect=SQUARES, note="empty"))


def least_squares(a, b, l2):
    n = a.shape[-1]
    if a.shape[-2] >= n:
        return np.linalg.solve(h(a) @ a + l2 * np.eye(n), h(a) @ b)
    return h(a) @ np.linalg.solve(a @ h(a) + l2 * np.eye(a.shape[-2]), b)


TALL, SHORT = floats(4, 2, seed=4), floats(2, 4, seed=4)
for l2 in (0.0, 0.5):
    CASES += [
        *both(
            "MatrixSolveLs",
            TALL,
            floats(4, 3),
            np.float64(l2),
            expect=least_squares,
            rtol=1e-4,
            atol=1e-4,
            grad=[0, 1],
        ),
        case(
            "MatrixSolveLs",
            SHORT,
            floats(2, 3),
            np.float64(l2),
            expect=least_squares,
            rtol=1e-4,
            atol=1e-4,
            grad=[0, 1],
            note="short",
        ),
    ]
CASES += [
    case(
        "MatrixSolveLs",
        TALL,
        floats(4, 3),
        np.float64(0),
        fast=False,
        expect=lambda a, b, l2: np.linalg.pinv(a) @ b,
        rtol=1e-4,
        atol=1e-5,
        grad="none",
        note="slow",
    ),
    case(
        "MatrixSolveLs",
        np.ones((3, 2), np.float32),
        floats(3, 1),
        np.float64(0),
        fast=False,
        expect=lambda a, b, l2: np.linalg.pinv(a) @ b,
        atol=1e-5,
        grad="none",
        note="deficient",
    ),
    case(
        "MatrixSolveLs",
        floats(2, 4, 2, dtype=np.float64),
        floats(2, 4, 3, dtype=np.float64),
        np.float64(0.1),
        expect=least_squares,
        rtol=1e-9,
        grad=[0, 1],
        note="batch",
    ),
    case(
        "MatrixSolveLs",
        floats(0, 2),
        floats(0, 3),
        np.float64(0),
        expect=np.zeros((2, 3)),
        grad="empty",
        oracle="TensorFlow leaves it as it was in memory",
        note="empty",
    ),
]


def dense(upper, main, lower):
    return np.diag(main) + np.diag(upper[:-1], 1) + np.diag(lower[1:], -1)


DIAGONALS = floats(3, 5, seed=6)
DOMINANT = DIAGONALS + np.float32([[0], [5], [0]])
RHS = floats(5, 2, seed=7)
TIED = np.float32([[1, 2, 0], [0, 0, 3], [0, 4, 1]])  # nothing goes without exchanging rows
CASES += [
    case(
        "TridiagonalSolve",
        DIAGONALS,
        RHS,
        expect=lambda d, b: np.linalg.solve(dense(*d), b),
        rtol=1e-4,
        atol=1e-4,
        note="pivots",
        second="costly",
    ),
    case(
        "TridiagonalSolve",
        DOMINANT,
        RHS,
        partial_pivoting=False,
        expect=lambda d, b: np.linalg.solve(dense(*d), b),
        rtol=1e-4,
        atol=1e-5,
    ),
    case(
        "TridiagonalSolve",
        TIED,
        RHS[:3],
        expect=lambda d, b: np.linalg.solve(dense(*d), b),
        rtol=1e-4,
        atol=1e-5,
        note="zeros",
    ),
    case(
        "TridiagonalSolve",
        np.stack([DOMINANT, DIAGONALS]),
        np.stack([RHS, RHS]),
        expect=lambda d, b: np.stack([np.linalg.solve(dense(*x), y) for x, y in zip(d, b)]),
        rtol=1e-4,
        atol=1e-4,
        note="batch",
    ),
    case(
        "TridiagonalSolve",
        (DOMINANT + 0.5j).astype(np.complex64),
        (RHS + 1j).astype(np.complex64),
        expect=lambda d, b: np.linalg.solve(dense(*d), b),
        rtol=1e-4,
        atol=1e-5,
        oracle_grad="TensorFlow forgets to conjugate",
        note="complex",
    ),
    case(
        "TridiagonalSolve", DOMINANT[:, :1], RHS[:1], expect=lambda d, b: b / d[1, 0], note="one", rtol=1e-5
    ),
    case("TridiagonalSolve", floats(3, 0), floats(0, 2), expect=floats(0, 2), grad="empty", note="empty"),
    case(
        "TridiagonalMatMul",
        *DIAGONALS[:, None],
        RHS,
        expect=lambda u, m, lo, b: dense(u[0], m[0], lo[0]) @ b,
        atol=1e-5,
    ),
    case(
        "TridiagonalMatMul",
        *(DIAGONALS[:, None] + 0.5j).astype(np.complex64),
        (RHS + 1j).astype(np.complex64),
        expect=lambda u, m, lo, b: dense(u[0], m[0], lo[0]) @ b,
        atol=1e-5,
        note="complex",
    ),
    case(
        "TridiagonalMatMul", *floats(3, 1, 0), floats(0, 2), expect=floats(0, 2), grad="empty", note="empty"
    ),
]
