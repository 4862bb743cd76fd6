"""Matrix products."""

import ml_dtypes
import numpy as np

from . import case, floats, ints

A, B = floats(2, 3), floats(3, 4, seed=1)
BATCH_A, BATCH_B = floats(2, 1, 2, 3), floats(2, 3, 4, seed=1)

BATCHED = ("BatchMatMul", "BatchMatMulV2")

CASES = []
for flip_a in (False, True):
    for flip_b in (False, True):
        a, b = (A.T.copy() if flip_a else A), (B.T.copy() if flip_b else B)
        CASES.append(case("MatMul", a, b, transpose_a=flip_a, transpose_b=flip_b, expect=A @ B, atol=1e-6))
        x = np.swapaxes(BATCH_B, 1, 2).copy() if flip_b else BATCH_B
        y = floats(2, 3, 2, seed=2) if flip_a else floats(2, 2, 3, seed=2)
        left = np.swapaxes(y, 1, 2) if flip_a else y
        flips = {"adj_x": flip_a, "adj_y": flip_b}
        CASES += [case(name, y, x, **flips, expect=left @ BATCH_B, atol=1e-6) for name in BATCHED]
Z, W = A + 1j * A[::-1], B - 0.5j * B[::-1]
CASES += [
    case("MatMul", Z, W, expect=np.matmul, note="complex", rtol=1e-5),
    case("MatMul", ints(2, 3), ints(3, 2, seed=1), expect=np.matmul, note="int32"),
    case(
        "MatMul",
        np.zeros((2, 0), np.float32),
        np.zeros((0, 3), np.float32),
        expect=np.zeros((2, 3)),
        grad="empty",
    ),
    case(
        "MatMul",
        np.zeros((0, 2), np.float32),
        np.zeros((2, 3), np.float32),
        expect=np.zeros((0, 3)),
        grad="empty",
    ),
    case(
        "MatMul",
        A.astype(ml_dtypes.bfloat16),
        B.astype(ml_dtypes.bfloat16),
        expect=lambda a, b: a.astype(np.float32) @ b.astype(np.float32),
        grad="as float32",
        note="bfloat16",
        rtol=2e-2,
    ),
    case("BatchMatMulV2", BATCH_A, BATCH_B, expect=np.matmul, note="broadcast", atol=1e-6),
    case("BatchMatMulV2", A, BATCH_B, expect=np.matmul, note="broadcast_rank", atol=1e-6),
    case(
        "BatchMatMul",
        np.stack([Z, Z]),
        np.stack([W, 2 * W]),
        expect=np.matmul,
        note="complex",
        rtol=1e-5,
        atol=1e-5,
    ),
    case(
        "BatchMatMulV2",
        np.zeros((0, 2, 3), np.float32),
        BATCH_B[:1],
        expect=np.zeros((0, 2, 4)),
        grad="empty",
    ),
]

SPARSE = A * (floats(2, 3, seed=5) > 0)
for flip_a in (False, True):
    for flip_b in (False, True):
        flips = {"transpose_a": flip_a, "transpose_b": flip_b, "a_is_sparse": True, "b_is_sparse": flip_b}
        a, b = (SPARSE.T.copy() if flip_a else SPARSE), (B.T.copy() if flip_b else B)
        CASES.append(case("SparseMatMul", a, b, **flips, expect=SPARSE @ B, atol=1e-6))
HALF_A, HALF_B = A.astype(ml_dtypes.bfloat16), B.astype(ml_dtypes.bfloat16)
CASES += [
    case(
        "SparseMatMul",
        HALF_A,
        HALF_B,
        expect=HALF_A.astype(np.float32) @ HALF_B.astype(np.float32),
        grad="as float32",
        note="bfloat16",
        atol=1e-6,
    ),
    case(
        "SparseMatMul",
        np.zeros((0, 3), np.float32),
        B,
        expect=np.zeros((0, 4)),
        grad="empty",
        note="empty",
    ),
    case("Cross", floats(2, 3), floats(2, 3, seed=1), expect=np.cross, atol=1e-6),
    case("Cross", floats(3, dtype=np.float64), floats(3, seed=1, dtype=np.float64), expect=np.cross),
    case("Cross", ints(2, 2, 3), ints(2, 2, 3, seed=1), expect=np.cross, note="int32"),
    case(
        "Cross",
        floats(2, 3, dtype=np.float16),
        floats(2, 3, seed=1, dtype=np.float16),
        expect=np.cross,
        grad="as float32",
        note="float16",
        atol=4e-3,
    ),
    case("Cross", floats(0, 3), floats(0, 3), expect=floats(0, 3), grad="empty", note="empty"),
]
