"""Decompositions and functions of matrices; the signs of vectors are LAPACK's, TensorFlow's are Eigen's."""

import numpy as np

from . import case, floats
from .linalg_solve import OLD, both, h, positive, regular
from .random_state import drawn

A = regular(3, 3)
TALL, SHORT = floats(4, 3), floats(3, 4)
WIDE = {"rtol": 1e-4, "atol": 1e-5}
SIGNS = "the signs of the vectors differ"
ONLY_VALUES = {"oracle": (0,), "oracle_grad": SIGNS, "exported": SIGNS}
SYMMETRIC = (A + A.T).astype(np.float32)
Z = regular(3, 3, dtype=np.complex64)
SQUARES = floats(0, 3, 3)


def svd(x, full_matrices=False):
    """Of complex matrices NumPy's; of real ones ours, whose signs are TensorFlow's: compared with it."""
    if not np.iscomplexobj(x) and x.size:
        return drawn("Svd", (x,), {"full_matrices": full_matrices})
    u, s, vh = np.linalg.svd(x, full_matrices=full_matrices)
    return s, u, h(vh)


CASES = [
    case("Qr", A, expect=np.linalg.qr, **WIDE),
    case("Qr", TALL, expect=np.linalg.qr, **WIDE, note="tall"),
    case("Qr", SHORT, expect=np.linalg.qr, **WIDE, grad="TensorFlow has none", note="short"),
    case(
        "Qr",
        TALL,
        full_matrices=True,
        expect=lambda x: np.linalg.qr(x, "complete"),
        **WIDE,
        grad="TensorFlow has none",
        note="full",
    ),
    case("Qr", floats(2, 3, 3, dtype=np.float64), expect=np.linalg.qr, rtol=1e-9, note="batch"),
    case("Qr", Z, expect=np.linalg.qr, **WIDE, grad="TensorFlow has none", note="complex"),
    case("Qr", SQUARES, expect=(SQUARES, SQUARES), grad="empty", note="empty"),
    *both("Svd", A, expect=svd, **WIDE),
    case("Svd", TALL, expect=svd, **WIDE, note="tall"),
    case("Svd", SHORT, expect=svd, **WIDE, note="short"),
    case(
        "Svd",
        TALL,
        full_matrices=True,
        expect=lambda x: svd(x, True),
        numeric="needs known shapes: tests of linear algebra",
        **WIDE,
        note="full",
    ),
    case(
        "Svd",
        floats(2, 2, 3, dtype=np.float64),
        expect=svd,
        rtol=1e-9,
        note="batch",
    ),
    case("Svd", Z, expect=svd, **WIDE, oracle=(0,), grad="TensorFlow has none", note="complex"),
    case("Svd", SQUARES, expect=(SQUARES[..., 0], SQUARES, SQUARES), grad="empty", note="empty"),
    case(
        "Svd",
        floats(2, 4),
        compute_uv=False,
        expect=lambda x: (np.linalg.svd(x, compute_uv=False), 0, 0),
        **WIDE,
        through=[0],
        oracle=(0,),
        oracle_grad=SIGNS,
        note="values",
    ),
    case(
        "Svd",
        np.float32([[-np.inf, -1.2, 0.5], [-0.5, -0.2, 3.4e38], [-1.9, -0.9, 0.1], [0, 1, 3.4e38]]),
        full_matrices=True,
        expect=(np.full(3, np.nan), np.full((4, 4), np.nan), np.full((3, 3), np.nan)),
        grad="not finite",
        note="infinite",
    ),
    case("SelfAdjointEigV2", SYMMETRIC, expect=np.linalg.eigh, **WIDE, **ONLY_VALUES),
    case("BatchSelfAdjointEigV2", SYMMETRIC, expect=np.linalg.eigh, **WIDE, oracle=OLD),
    case(
        "SelfAdjointEigV2",
        positive(2, 3, 3, dtype=np.float64),
        expect=np.linalg.eigh,
        rtol=1e-9,
        oracle=(0,),
        oracle_grad=SIGNS,
        exported=SIGNS,
        note="batch",
    ),
    case(
        "SelfAdjointEigV2",
        (Z + h(Z)).astype(np.complex64),
        expect=np.linalg.eigh,
        **WIDE,
        oracle=(0,),
        grad="phases of vectors are free",
        note="complex",
    ),
    case(
        "SelfAdjointEigV2",
        SYMMETRIC,
        compute_v=False,
        expect=lambda x: (np.linalg.eigvalsh(x), 0),
        **WIDE,
        through=[0],
        oracle=(0,),
        oracle_grad=SIGNS,
        note="values",
    ),
    case(
        "SelfAdjointEigV2",
        np.float32([[1, 99], [2, 1]]),
        compute_v=False,
        expect=([-1, 3], 0),
        through=[0],
        oracle=(0,),
        oracle_grad=SIGNS,
        exported=SIGNS,
        note="lower_part",
    ),
    case("SelfAdjointEigV2", SQUARES, expect=(SQUARES[..., 0], SQUARES), grad="empty", note="empty"),
    *both(
        "SelfAdjointEig",
        SYMMETRIC,
        expect=lambda x: np.concatenate([np.linalg.eigh(x)[0][None], np.linalg.eigh(x)[1]]),
        **WIDE,
        oracle=OLD,
    ),
    case("SelfAdjointEig", SQUARES, expect=np.zeros((0, 4, 3)), oracle=OLD, note="empty"),
]


def lu(x):
    size = len(x)
    order = np.arange(size)
    a = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    for k in range(size):
        pivot = k + int(np.argmax(abs(a[k:, k])))
        a[[k, pivot]], order[[k, pivot]] = a[[pivot, k]], order[[pivot, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, order


def expm(x):
    """By its series."""
    term, total = np.eye(len(x)), np.eye(len(x))
    for k in range(1, 60):
        term = term @ x.astype(np.complex128 if np.iscomplexobj(x) else np.float64) / k
        total = total + term
    return total


PERMUTED = floats(4, 4, seed=3)
CASES += [
    case("Lu", PERMUTED, expect=lu, **WIDE),
    case("Lu", floats(3, 3, dtype=np.float64), output_idx_type=np.int64, expect=lu, rtol=1e-9, note="int64"),
    case("Lu", Z, expect=lu, **WIDE, note="complex"),
    case(
        "Lu",
        np.stack([A, A[::-1]]),
        expect=lambda x: [np.stack(part) for part in zip(*map(lu, x))],
        **WIDE,
        note="batch",
    ),
    case("Lu", SQUARES, expect=(SQUARES, np.zeros((0, 3), np.int32)), note="empty"),
    case("MatrixExponential", A, expect=expm, rtol=1e-4, oracle=OLD),
    case(
        "MatrixExponential",
        floats(3, 3, dtype=np.float64) * 3,
        expect=expm,
        rtol=1e-9,
        oracle=OLD,
        note="scaled",
    ),
    case("MatrixExponential", np.zeros((2, 2), np.float32), expect=np.eye(2), oracle=OLD, note="zero"),
    case("MatrixExponential", SQUARES, expect=SQUARES, oracle=OLD, note="empty"),
    case("MatrixLogarithm", expm(Z / 6).astype(np.complex64), expect=lambda x: Z / 6, **WIDE),
    case("MatrixLogarithm", SQUARES.astype(np.complex64), expect=SQUARES, note="empty"),
    case("MatrixSquareRoot", (A @ A).astype(np.float32), expect=lambda x: A, **WIDE),
    case(
        "MatrixSquareRoot",
        np.stack([positive(2, 2), positive(2, 2, seed=1)]),
        expect=lambda x: np.stack(
            [np.linalg.eigh(a)[1] @ np.diag(np.linalg.eigh(a)[0] ** 0.5) @ np.linalg.eigh(a)[1].T for a in x]
        ),
        **WIDE,
        note="batch",
    ),
    case(
        "MatrixSquareRoot",
        (Z @ Z).astype(np.complex64),
        expect=lambda x: Z,
        **WIDE,
        oracle_grad="TensorFlow forgets to conjugate",
        note="complex",
    ),
    case("MatrixSquareRoot", SQUARES, expect=SQUARES, grad="empty", note="empty"),
]
