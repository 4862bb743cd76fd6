"""Gamma and Poisson numbers, generators in variables, sampled classes: TensorFlow's numbers."""

import numpy as np

from . import Var, case

SEEDS = {"seed": 87, "seed2": 13}


def seeded(op, *inputs, **options):
    """A case whose expected numbers are what we draw: the comparison is with TensorFlow."""
    return case(op, *inputs, expect=lambda *_: drawn(op, inputs, options), **options)


def drawn(op, inputs, options):
    from op_runs import run

    from sgtool import graphcore

    names = {"grad", "note", "rtol", "atol", "numeric", "second", "oracle", "oracle_grad", "exported"}
    kept = {key: value for key, value in options.items() if key not in names}
    return run(graphcore, case(op, *inputs, expect=None, **kept))[1]


ALPHA = np.array([0.3, 1.0, 0.9, 4.0, 70.0], np.float32)
RATE = np.array([0.0, 0.5, 9.9, 10.0, 300.0], np.float32)
GRAD = {"numeric": "the numbers jump where one is rejected", "second": False}
SHAPE = np.array([50, 2], np.int32)
CASES = [
    seeded("RandomGamma", SHAPE, ALPHA, **SEEDS, rtol=1e-5, **GRAD),
    seeded(
        "RandomGamma",
        SHAPE.astype(np.int64),
        ALPHA.astype(np.float64),
        **SEEDS,
        rtol=1e-10,
        **GRAD,
        note="float64",
    ),
    seeded(
        "RandomGamma",
        SHAPE,
        ALPHA.astype(np.float16),
        **SEEDS,
        grad="TensorFlow has none in half precision",
        note="float16",
    ),
    seeded("RandomGamma", np.zeros(0, np.int32), np.float32(2.5), **SEEDS, **GRAD, note="scalar"),
    seeded("RandomGamma", np.array([0, 2], np.int32), ALPHA, **SEEDS, grad="empty", note="empty"),
    seeded(
        "RandomPoisson", SHAPE, RATE, **SEEDS, oracle="removed from TensorFlow: files that have it are old"
    ),
    seeded("RandomPoissonV2", np.array([0], np.int32), RATE, dtype=np.int64, **SEEDS, note="empty"),
]
CASES += [
    seeded(
        "RandomPoissonV2",
        SHAPE,
        RATE.astype(kind),
        dtype=dtype,
        **SEEDS,
        note=f"{kind.__name__}_{dtype.__name__}",
    )
    for kind, dtype in (
        (np.float64, np.int64),
        (np.float32, np.float32),
        (np.int32, np.int32),
        (np.int64, np.float64),
        (np.float16, np.float16),
    )
]

BOUNDS = {
    "normal": (-2.0, 2.0),
    "flat": (0.5, 0.9),
    "tail": (2.0, np.inf),
    "reversed": (-np.inf, -1.0),
    "one_side": (-1.0, 9.0),
}
CASES += [
    seeded(
        "ParameterizedTruncatedNormal",
        np.array([10, 7], np.int32),
        dtype(0.5),
        dtype(1.5),
        dtype(0.5 + 1.5 * low),
        dtype(0.5 + 1.5 * high),
        **SEEDS,
        rtol=1e-5,
        note=f"{name}_{dtype.__name__}",
    )
    for dtype in (np.float32, np.float64)
    for name, (low, high) in BOUNDS.items()
]
CASES += [
    seeded(
        "ParameterizedTruncatedNormal",
        np.array([2, 4], np.int32),
        *map(np.float32, ([0, 9], [1, 2], [-1, 8], [1, 14])),
        **SEEDS,
        rtol=1e-5,
        note="batches",
        oracle="threads take the batches",
    ),
    seeded(
        "ParameterizedTruncatedNormal",
        np.array([0, 4], np.int64),
        *map(np.float32, (0, 1, -1, 1)),
        **SEEDS,
        note="empty",
    ),
]

STATE = np.array([5, 0, 1234567], np.int64)
SIZE, PHILOX = np.array([3, 5], np.int64), np.int64(1)
CASES += [
    seeded(op, Var(STATE), PHILOX, SIZE, dtype=dtype, rtol=1e-5, note=dtype.__name__)
    for op in ("StatefulUniform", "StatefulStandardNormalV2", "StatefulTruncatedNormal")
    for dtype in (np.float16, np.float32, np.float64)
]
CASES += [
    seeded("StatefulUniformFullInt", Var(STATE), PHILOX, SIZE, dtype=dtype, note=dtype.__name__)
    for dtype in (np.int32, np.int64, np.uint32, np.uint64)
]
CASES += [
    seeded(
        "StatefulUniformInt",
        Var(STATE),
        PHILOX,
        SIZE,
        dtype(3),
        dtype(1000),
        note=dtype.__name__,
        oracle=dtype in (np.int32, np.int64) or "no such kernel",
    )
    for dtype in (np.int32, np.int64, np.uint32, np.uint64)
]
CASES += [
    seeded("StatefulUniform", Var(np.array([-1, -1, -7], np.int64)), PHILOX, SIZE, note="wraps"),
    seeded(
        "StatefulStandardNormal",
        Var(np.array([1, *STATE], np.int64)),
        SIZE,
        rtol=1e-5,
        oracle="TensorFlow 2 has V2 only",
    ),
    case("RngSkip", Var(STATE), PHILOX, np.int64(10), expect=[[5 + 2560, 0, 1234567]]),
    case("NonDeterministicInts", np.array([0, 2], np.int64), expect=np.zeros((0, 2), np.int64), note="empty"),
]

TRUE = np.array([[0, 5], [2, 7], [99, 1]], np.int64)
for unique in (False, True):
    flags = {"num_true": 2, "num_sampled": 20, "unique": unique, **SEEDS}
    note = "unique" if unique else ""
    for op in (
        "UniformCandidateSampler",
        "LogUniformCandidateSampler",
        "LearnedUnigramCandidateSampler",
        "ThreadUnsafeUnigramCandidateSampler",
    ):
        for size in (100, 128):
            CASES.append(seeded(op, TRUE, range_max=size, **flags, note=f"{note}{size}", rtol=1e-5))
    CASES += [
        seeded(
            "FixedUnigramCandidateSampler",
            TRUE,
            range_max=100,
            unigrams=np.arange(1.0, 101.0).tolist(),
            **flags,
            note=note,
            rtol=1e-5,
        ),
        seeded(
            "FixedUnigramCandidateSampler",
            TRUE % 50,
            range_max=50,
            unigrams=(1.0 + np.arange(96) % 7).tolist(),
            distortion=0.75,
            num_reserved_ids=4,
            num_shards=2,
            shard=1,
            **flags,
            note=f"{note}_shard",
            rtol=1e-5,
        ),
        case(
            "AllCandidateSampler",
            TRUE % 20,
            **flags,
            expect=(np.arange(20), np.ones((3, 2)), np.ones(20)),
            note=note,
        ),
    ]
CASES += [
    case(
        "ComputeAccidentalHits",
        TRUE,
        np.array([7, 3, 0, 99], np.int64),
        num_true=2,
        expect=([0, 1, 2], [2, 0, 3], [np.finfo(np.float32).min] * 3),
    ),
    case(
        "ComputeAccidentalHits",
        TRUE[:0],
        np.array([7], np.int64),
        num_true=2,
        expect=(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0)),
        note="empty",
    ),
]

BINOMIAL = [
    seeded(
        "StatefulRandomBinomial",
        Var(STATE),
        np.int64(1),
        np.array(shape, np.int32),
        kind(counts),
        kind(probs),
        dtype=dtype,
        oracle=oracle,
        note=note,
    )
    for shape, counts, probs, oracle, note in [
        # Later versions leave the state as it is, and give each number a stretch of its own: of one number
        # both are the same.
        *[
            ([1], count, prob, (0,), f"{count}_{prob}")
            for count in (0, 5, 20, 100, 1000)
            for prob in (0.0, 0.02, 0.3, 0.5, 0.77, 1.0)
        ],
        ([150, 2], 40, 0.4, "later versions draw the second number elsewhere", "many"),
        ([3, 40], [5, 40, 4000], [0.1, 0.5, 0.9], "later versions broadcast", "batches"),
        ([0, 2], 5, 0.5, (0,), "empty"),
    ]
    for kind, dtype in ((np.float64, np.int64), (np.float32, np.float32))
]
CASES += BINOMIAL
