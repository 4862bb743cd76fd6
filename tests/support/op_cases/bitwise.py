"""Shifts, bit counts and bit packing."""

import numpy as np

from . import case, floats, ints

CASES = []
for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 1, 5, 100, 7], dtype)
    bits = info.bits
    by = np.array([1, 1, bits - 1, 3, bits, bits + 20], dtype)
    wide, moved = x.astype(object), np.minimum(by.astype(object), bits - 1)
    left = [(int(a) << int(b)) & (2**bits - 1) for a, b in zip(wide, moved)]
    if info.min < 0:
        left = [value - 2**bits if value > info.max else value for value in left]
    CASES += [
        case("LeftShift", x, by, expect=[np.array(left, dtype)], note=np.dtype(dtype).name),
        case(
            "RightShift",
            x,
            by,
            expect=[np.array([int(a) >> int(b) for a, b in zip(wide, moved)], dtype)],
            note=np.dtype(dtype).name,
        ),
        case(
            "PopulationCount",
            x,
            expect=[np.array([bin(int(a) & (2**bits - 1)).count("1") for a in wide], np.uint8)],
            note=np.dtype(dtype).name,
        ),
    ]
CASES += [
    case(
        "LeftShift",
        np.array([[1], [3]]),
        np.array([0, 2, -4]),
        expect=[[[1, 4, 1], [3, 12, 3]]],
        note="broadcast",
    ),
    case(
        "RightShift",
        np.array([[-8], [9]]),
        np.array([0, 2, -4]),
        expect=[[[-8, -2, -8], [9, 2, 9]]],
        note="broadcast",
    ),
    case(
        "LeftShift",
        np.zeros((0, 2), np.int32),
        np.zeros(2, np.int32),
        expect=np.zeros((0, 2), np.int32),
        note="empty",
    ),
    case("PopulationCount", np.zeros((0, 2), np.int32), expect=np.zeros((0, 2), np.uint8), note="empty"),
]


DROPPED = "TensorFlow 2 does not have it"


def bitpack(*inputs, **options):
    return case("CompareAndBitpack", *inputs, oracle=DROPPED, **options)


def packed(x, threshold):
    return np.packbits(x if x.dtype == bool else x > threshold, axis=-1)


CASES += [
    bitpack(floats(2, 16, dtype=dtype), dtype(0.1), expect=packed, note=np.dtype(dtype).name)
    for dtype in (np.float16, np.float32, np.float64)
]
CASES += [
    bitpack(ints(3, 8, dtype=dtype), dtype(1), expect=packed, note=np.dtype(dtype).name)
    for dtype in (np.int8, np.int16, np.int32, np.int64)
]
CASES += [
    bitpack(ints(24) > 0, np.array(True), expect=packed, note="bool"),
    bitpack(
        np.zeros((0, 8), np.float32),
        np.float32(0),
        expect=np.zeros((0, 1), np.uint8),
        note="empty",
    ),
    bitpack(
        np.array([np.nan, np.inf, 1, 0] * 2, np.float32),
        np.float32(0),
        expect=[[0b01100110]],
        note="nan",
    ),
]
