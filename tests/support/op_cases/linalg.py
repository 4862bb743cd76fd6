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
