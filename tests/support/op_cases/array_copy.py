"""Copies, copies with changed rows, fingerprints, and the legacy ways to join."""

import numpy as np

from . import case, floats, ints, text

X, V = floats(4, 3), floats(3, 3, seed=1)
ROWS = np.array([1, 3, 1], np.int32)


def updated(x, i, v):
    result = np.array(x)
    for row, value in zip(i % max(len(x), 1), v):
        result[row] = value
    return result


def added(sign):
    def function(x, i, v):
        result = np.array(x)
        np.add.at(result, i % max(len(x), 1), sign * v)
        return result

    return function


CASES = []
for name, function in {"InplaceUpdate": updated, "InplaceAdd": added(1), "InplaceSub": added(-1)}.items():
    CASES += [
        case(name, X, ROWS, V, expect=function),
        case(name, X[:, 0], np.int32([-1, 5]), V[:2, 0], expect=function, note="wraps"),
        case(name, ints(4, 2), ROWS, ints(3, 2, seed=1), expect=function, note="int32"),
        case(name, X[:0], np.zeros(0, np.int32), X[:0], expect=X[:0], note="empty"),
    ]
for name in ("DeepCopy", "Snapshot", "GuaranteeConst"):
    CASES += [
        case(name, X, expect=X, grad="none"),
        case(name, X[:0], expect=X[:0], grad="none", note="empty"),
        case(name, np.int32(3), expect=np.int32(3), note="scalar"),
    ]
CASES += [
    case(
        "InplaceUpdate",
        text([["a"], ["b"]]),
        np.int32([1]),
        text([["c"]]),
        expect=[[["a"], ["c"]]],
        note="string",
    ),
    case("GuaranteeConst", text(["a", "b"]), expect=[["a", "b"]], note="string"),
    case("Empty", np.array([2, 3], np.int32), dtype=np.float32, init=True, expect=np.zeros((2, 3))),
    case(
        "Empty", np.array([0, 3], np.int32), dtype=np.int64, expect=np.zeros((0, 3), np.int64), note="empty"
    ),
    case("Empty", np.zeros(0, np.int32), dtype=np.bool_, init=True, expect=np.array(False), note="scalar"),
    case(
        "Fingerprint",
        text(["a", "", "tensor"]),
        text("farmhash64"),
        expect=[
            np.uint8(
                [
                    [227, 117, 223, 182, 101, 66, 69, 179],
                    [79, 64, 144, 47, 59, 106, 225, 154],
                    [74, 180, 120, 46, 179, 234, 218, 71],
                ]
            )
        ],
        note="string",
    ),
    case(
        "Fingerprint",
        np.array([[1, 2], [3, 4]], np.int32),
        text("farmhash64"),
        expect=[np.uint8([[76, 18, 253, 133, 168, 204, 240, 10], [254, 162, 60, 240, 103, 244, 53, 255]])],
    ),
    case(
        "Fingerprint",
        text([["a", "b"]]),
        text("farmhash64"),
        expect=[np.uint8([[122, 64, 59, 169, 136, 60, 55, 83]])],
        note="rows",
    ),
    case(
        "Fingerprint",
        np.zeros((0, 2), np.float32),
        text("farmhash64"),
        expect=np.zeros((0, 8), np.uint8),
        note="empty",
        oracle="divides by zero",
    ),
]

OLD = "removed from TensorFlow long ago: files that have it are old"
for dtype in (np.float32, np.float64, np.int32, np.int64, np.complex64):
    CASES.append(
        case(
            "TileGrad",
            floats(4, 6).astype(dtype),
            np.int32([2, 3]),
            expect=lambda x, m: x.reshape(2, 2, 3, 2).sum((0, 2)),
            note=np.dtype(dtype).name,
            atol=1e-6,
            oracle=OLD,
        )
    )
CASES += [
    case("TileGrad", floats(4), np.int32([1]), expect=floats(4), note="once", oracle=OLD),
    case("TileGrad", floats(0, 4), np.int32([1, 2]), expect=np.zeros((0, 2)), note="empty", oracle=OLD),
    case("TileGrad", np.float32(2), np.zeros(0, np.int32), expect=np.float32(2), note="scalar", oracle=OLD),
    case("AccumulateNV2", [X, X + 1, 2 * X], shape=[4, 3], expect=4 * X + 1, atol=1e-6),
    case("AccumulateNV2", [X], shape=[4, 3], expect=X, note="one"),
    case(
        "AccumulateNV2", [ints(3), ints(3, seed=1)], shape=[3], expect=ints(3) + ints(3, seed=1), note="int32"
    ),
    case("AccumulateNV2", [X[:0], X[:0]], shape=[0, 3], expect=X[:0], grad="empty", note="empty"),
]

LOW, HIGH = np.float32(-0.5), np.float32(0.7)
CASES += [
    case("ClipByValue", floats(3, 4), LOW, HIGH, expect=np.clip),
    case(
        "ClipByValue",
        floats(3, 4),
        floats(3, 4, seed=1) / 2 - 1,
        floats(3, 4, seed=2) / 2 + 1,
        expect=lambda x, a, b: np.maximum(np.minimum(x, b), a),
        note="tensors",
    ),
    case(
        "ClipByValue",
        floats(3, 4),
        LOW,
        floats(3, 4, seed=2) / 4 + 1,
        expect=lambda x, a, b: np.maximum(np.minimum(x, b), a),
        note="mixed",
    ),
    case("ClipByValue", ints(6), np.int32(-2), np.int32(5), expect=np.clip, note="int32"),
    case(
        "ClipByValue",
        floats(4, dtype=np.float16),
        np.float16(-0.5),
        np.float16(0.5),
        expect=np.clip,
        note="float16",
        grad="as float32",
    ),
    case("ClipByValue", np.array([3, 7], np.uint8), np.uint8(4), np.uint8(6), expect=np.clip, note="uint8"),
    case(
        "ClipByValue",
        np.float32([np.nan, np.inf, -np.inf]),
        LOW,
        HIGH,
        expect=[[np.nan, 0.7, -0.5]],
        grad="at corners",
        note="nan",
    ),
    case("ClipByValue", floats(0, 4), LOW, HIGH, expect=floats(0, 4), grad="empty", note="empty"),
]

UP, DOWN = np.float32(9), np.float32(-9)
CASES += [
    case("NextAfter", floats(5), UP, expect=np.nextafter, numeric="it is a step", second=False),
    case(
        "NextAfter",
        floats(2, 3, dtype=np.float64),
        floats(3, seed=1, dtype=np.float64),
        expect=np.nextafter,
        grad="as float32",
        note="float64",
    ),
    case(
        "NextAfter",
        np.float32([0, -0.0, np.inf, np.nan, 1]),
        np.float32([1, -1, 0, 1, np.nan]),
        expect=np.nextafter,
        grad="at corners",
        note="specials",
    ),
    case("NextAfter", floats(0, 3), floats(3), expect=floats(0, 3), grad="empty", note="empty"),
]

ROWS3 = np.array([[1, 1, 0], [2, 3, 0], [1, 1, 0], [2, 2, 0], [2, 3, 0]], np.int32)
CASES += [
    case("UniqueV2", np.int32([4, 2, 4, 7, 2]), np.int64([0]), expect=([4, 2, 7], [0, 1, 0, 2, 1])),
    case("UniqueV2", np.int32([4, 2, 4]), np.zeros(0, np.int64), expect=([4, 2], [0, 1, 0]), note="no_axis"),
    case(
        "UniqueV2",
        ROWS3,
        np.int64([0]),
        expect=(ROWS3[[0, 1, 3]], [0, 1, 0, 2, 1]),
        note="rows",
        oracle="its shape rule says vectors",
    ),
    case(
        "UniqueV2",
        ROWS3.T.copy(),
        np.int32([-1]),
        out_idx=np.int64,
        expect=(ROWS3[[0, 1, 3]].T, [0, 1, 0, 2, 1]),
        note="columns",
        oracle="its shape rule says vectors",
    ),
    case("UniqueV2", text(["b", "a", "b"]), np.int64([0]), expect=(["b", "a"], [0, 1, 0]), note="string"),
    case(
        "UniqueV2",
        np.float32([np.nan, 1, np.nan]),
        np.int64([0]),
        expect=([np.nan, 1, np.nan], [0, 1, 2]),
        grad="none",
        note="nan",
    ),
    case(
        "UniqueV2",
        np.zeros(0, np.int32),
        np.int64([0]),
        expect=(np.zeros(0, np.int32), np.zeros(0, np.int32)),
        note="empty",
    ),
    case(
        "UniqueWithCountsV2",
        np.int32([4, 2, 4, 7, 2]),
        np.int64([0]),
        expect=([4, 2, 7], [0, 1, 0, 2, 1], [2, 2, 1]),
    ),
    case(
        "UniqueWithCountsV2",
        ROWS3,
        np.int64([0]),
        expect=(ROWS3[[0, 1, 3]], [0, 1, 0, 2, 1], [2, 2, 1]),
        note="rows",
        oracle="its shape rule says vectors",
    ),
]

CASES += [
    case(
        "UnravelIndex",
        np.int32([0, 7, 22, 59]),
        np.int32([3, 4, 5]),
        expect=lambda i, d: np.stack(np.unravel_index(i, d)),
    ),
    case("UnravelIndex", np.int64(22), np.int64([3, 4, 5]), expect=[[1, 0, 2]], note="scalar"),
    case("UnravelIndex", np.int32([1, 2]), np.int32([5]), expect=[[[1, 2]]], note="vector"),
    case(
        "UnravelIndex",
        np.zeros(0, np.int32),
        np.int32([3, 4]),
        expect=np.zeros((2, 0), np.int32),
        note="empty",
        oracle="an error since TensorFlow 2",
    ),
]

Z = floats(2, 3, 2) + 1j * floats(2, 3, 2, seed=1)
CASES += [
    case(
        "ConjugateTranspose",
        Z.astype(np.complex64),
        np.int32([2, 0, 1]),
        expect=lambda x, p: np.conj(np.transpose(x, p)),
    ),
    case("ConjugateTranspose", floats(2, 3), np.int64([1, 0]), expect=floats(2, 3).T, note="real"),
    case(
        "ConjugateTranspose",
        floats(0, 3),
        np.int32([1, 0]),
        expect=np.zeros((3, 0)),
        grad="empty",
        note="empty",
    ),
]
