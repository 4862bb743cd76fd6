"""Random numbers: those that TensorFlow 2.21 gave for these seeds."""

import numpy as np

from . import case, floats

SEEDS = {"seed": 87654321, "seed2": 42}
PAIR = np.array([3, 5])

CASES = [
    case(
        "RandomUniform",
        [2, 2],
        dtype=np.float32,
        **SEEDS,
        expect=[[[0.9522714614868164, 0.6774077415466309], [0.7953182458877563, 0.7557817697525024]]],
    ),
    case(
        "RandomUniform",
        np.array([3]),
        dtype=np.float64,
        **SEEDS,
        expect=[[0.6181726095777149, 0.36254602252651336, 0.8076457653772362]],
    ),
    case("RandomUniform", [3], dtype=np.float16, **SEEDS, expect=[[0.0078125, 0.32421875, 0.2470703125]]),
    case("RandomUniform", [0, 2], dtype=np.float32, **SEEDS, expect=np.zeros((0, 2))),
    case("RandomUniformInt", [5], np.int32(-3), np.int32(10), **SEEDS, expect=[[4, 9, 0, 5, 5]]),
    case(
        "RandomUniformInt",
        [5],
        np.int64(-3),
        np.int64(2**40),
        **SEEDS,
        expect=[[329355026406, 503437667011, 103177189835, 701094306718, 267193873292]],
    ),
    case(
        "RandomStandardNormal",
        [5],
        dtype=np.float32,
        **SEEDS,
        rtol=1e-5,
        expect=[[-0.28077507, -0.1377521, -0.6763296, 0.024580413, -0.89358455]],
    ),
    case(
        "RandomStandardNormal",
        [5],
        dtype=np.float64,
        **SEEDS,
        rtol=1e-9,
        expect=[
            [
                0.7456244549943906,
                -0.6371964266311646,
                0.04856931364585292,
                -0.6518469707884212,
                -0.861626965289776,
            ]
        ],
    ),
    case(
        "TruncatedNormal",
        [7],
        dtype=np.float32,
        **SEEDS,
        rtol=1e-5,
        expect=[[-0.28077507, -0.1377521, -0.6763296, 0.024580413, -0.46845472, -0.0024663184, -0.9745911]],
    ),
    case("RandomShuffle", np.arange(7, dtype=np.int32), **SEEDS, expect=[[6, 5, 1, 4, 0, 2, 3]]),
    case("RandomShuffle", floats(5, 2), **SEEDS, expect=lambda x: x[[2, 1, 3, 4, 0]]),
    case("Multinomial", floats(2, 4), 6, **SEEDS, expect=[[[3, 2, 3, 3, 3, 3], [3, 0, 0, 3, 3, 3]]]),
    case(
        "Multinomial",
        floats(2, 4),
        6,
        output_dtype=np.int32,
        **SEEDS,
        expect=[[[3, 2, 3, 3, 3, 3], [3, 0, 0, 3, 3, 3]]],
    ),
    case(
        "StatelessRandomUniform",
        [4],
        PAIR,
        dtype=np.float32,
        expect=[[0.30866754, 0.095970035, 0.3703704, 0.39366353]],
    ),
    case(
        "StatelessRandomUniform",
        [4],
        PAIR.astype(np.int32),
        dtype=np.float64,
        expect=[[0.469340566724483, 0.9629636265219441, 0.1070694083810797, 0.731160729249549]],
    ),
    case(
        "StatelessRandomNormal",
        [5],
        PAIR,
        dtype=np.float32,
        rtol=1e-5,
        expect=[[0.8695505, 1.2628788, 0.8731732, -1.106378, -0.22128268]],
    ),
    case(
        "StatelessTruncatedNormal",
        [5],
        PAIR,
        dtype=np.float32,
        rtol=1e-5,
        expect=[[0.8695505, 1.2628788, 0.8731732, -1.106378, -0.35297453]],
    ),
    case("StatelessRandomUniformInt", [5], PAIR, np.int32(0), np.int32(100), expect=[[87, 95, 28, 29, 22]]),
    case("StatelessMultinomial", floats(2, 4), 5, PAIR, expect=[[[3, 3, 1, 3, 3], [3, 3, 3, 3, 0]]]),
]
