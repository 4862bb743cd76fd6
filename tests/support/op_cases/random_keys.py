"""Stateless random numbers by key and counter: TensorFlow's numbers."""

import numpy as np

from . import Var, case
from .random_state import STATE, seeded

SHAPE, KEY, COUNTER = (
    np.array([3, 5], np.int32),
    np.array([77], np.uint64),
    np.array([3, 2**63 + 9], np.uint64),
)
ALG = np.int32(1)
CASES = [
    seeded(op, SHAPE, KEY, COUNTER, ALG, dtype=dtype, rtol=1e-5, note=dtype.__name__)
    for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2")
    for dtype in (np.float16, np.float32, np.float64)
]
for dtype in (np.int32, np.int64, np.uint32, np.uint64):
    CASES += [
        seeded("StatelessRandomUniformFullIntV2", SHAPE, KEY, COUNTER, ALG, dtype=dtype, note=dtype.__name__),
        seeded(
            "StatelessRandomUniformIntV2",
            SHAPE,
            KEY,
            COUNTER,
            ALG,
            dtype(3),
            dtype(999),
            note=dtype.__name__,
            oracle=dtype in (np.int32, np.int64) or "no such kernel",
        ),
        seeded(
            "StatelessRandomUniformFullInt",
            SHAPE,
            np.array([3, 4], np.int64),
            dtype=dtype,
            note=dtype.__name__,
        ),
    ]
CASES += [
    seeded("StatelessRandomUniformV2", SHAPE[:0], KEY, COUNTER, np.int32(3), note="automatic"),
    seeded("StatelessRandomUniformV2", np.array([0, 2], np.int64), KEY, COUNTER, ALG, note="empty"),
    seeded("StatelessRandomGetKeyCounter", np.array([3, -4], np.int64)),
    seeded("StatelessRandomGetKeyCounterAlg", np.array([3, 4], np.int32)),
    case("StatelessRandomGetAlg", expect=np.int32(1)),
    case("RngReadAndSkip", Var(STATE), ALG, np.uint64(10), expect=(STATE, STATE + np.int64([2560, 0, 0]))),
    case(
        "RngReadAndSkip",
        Var(np.array([-1, 4, 9], np.int64)),
        ALG,
        np.uint64(1),
        expect=([-1, 4, 9], [255, 5, 9]),
        note="carries",
    ),
]
