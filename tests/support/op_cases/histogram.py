"""Counting what falls where."""

import numpy as np

from . import case, floats, ints, text

NAN, INF = np.nan, np.inf
EDGES = [-1.0, 0.5, 0.5, 3.0]
CASES = []
for dtype in (np.int32, np.int64, np.float32, np.float64):
    name = np.dtype(dtype).name
    x = ints(3, 4, low=-3, high=6, dtype=dtype)
    CASES += [
        case(
            "Bucketize", x, boundaries=EDGES, expect=lambda x: np.searchsorted(EDGES, x, "right"), note=name
        ),
        case(
            "Bincount",
            ints(9, low=0, high=6),
            np.int32(5),
            ints(9, seed=2, dtype=dtype),
            expect=lambda arr, size, w: np.bincount(arr[arr < 5], w[arr < 5], minlength=5).astype(w.dtype),
            note=name,
        ),
        case(
            "Bincount",
            ints(2, 4, low=0, high=3),
            np.int32(5),
            np.zeros(0, dtype),
            expect=lambda arr, size, w: np.bincount(arr.ravel(), minlength=5).astype(w.dtype),
            note=f"{name}_unweighted",
        ),
        case(
            "HistogramFixedWidth",
            x,
            np.array([-1, 4], dtype),
            np.int32(5),
            expect=lambda x, r, n: np.histogram(np.clip(x, -1, 3.9), 5, (-1, 4))[0].astype(np.int32),
            note=name,
        ),
        case(
            "LowerBound",
            np.sort(x, 1),
            x[:, :3],
            expect=lambda s, v: [[np.searchsorted(a, b) for a, b in zip(s, v)]],
            note=name,
        ),
        case(
            "UpperBound",
            np.sort(x, 1),
            x[:, :3],
            out_type=np.int64,
            expect=lambda s, v: [[np.searchsorted(a, b, "right") for a, b in zip(s, v)]],
            note=name,
        ),
    ]
SOME = np.array([[-5.0, -1.0, 0.5, 2.9999, 3.0], [3.1, 0.0, INF, -INF, 100.0]], np.float32)
CASES += [
    case("Bucketize", SOME, boundaries=EDGES, expect=[[[0, 1, 3, 3, 4], [4, 1, 4, 0, 4]]], note="edges"),
    case("Bucketize", SOME, boundaries=[], expect=np.zeros((2, 5), np.int32), note="no_boundaries"),
    case("Bucketize", np.float32([NAN]), boundaries=EDGES, expect=[[4]], note="nan"),
    case("Bucketize", SOME[:0], boundaries=EDGES, expect=np.zeros((0, 5), np.int32), note="empty"),
    case("Bucketize", np.float64([0.1]), boundaries=[0.1], expect=[[0]], note="float32_boundaries"),
    case(
        "Bincount",
        np.zeros(0, np.int32),
        np.int32(3),
        np.zeros(0, np.float32),
        expect=np.zeros(3),
        note="empty",
    ),
    case(
        "Bincount",
        ints(4, low=0),
        np.int32(0),
        np.zeros(0, np.int32),
        expect=np.zeros(0, np.int32),
        note="no_bins",
    ),
    case(
        "HistogramFixedWidth",
        SOME[:, :2],
        np.float32([0, 5]),
        np.int32(4),
        dtype=np.int64,
        expect=[[3, 0, 1, 0]],
        note="int64",
    ),
    case(
        "HistogramFixedWidth",
        SOME[:0],
        np.float32([0, 5]),
        np.int32(3),
        expect=np.zeros(3, np.int32),
        note="empty",
    ),
    case("HistogramFixedWidth", floats(50), np.float32([-1, 1]), np.int32(1), expect=[[50]], note="one_bin"),
    case(
        "LowerBound",
        text([["a", "b", "bb"]]),
        text([["b", "", "zz"]]),
        expect=[[[1, 0, 3]]],
        note="string",
        oracle="no such kernel",
    ),
    case("LowerBound", SOME[:, :0], SOME[:, :2], expect=np.zeros((2, 2), np.int32), note="empty_rows"),
    case("UpperBound", SOME[:0], SOME[:0], expect=np.zeros((0, 5), np.int32), note="empty"),
]
