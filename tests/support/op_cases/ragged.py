"""Ragged tensors: rows of different lengths."""

import numpy as np

from . import case, floats, ints, text

OUTER, INNER = np.array([0, 2, 2, 3]), np.array([0, 2, 3, 3])  # [[[a, b], [c]], [], [[]]]
ONE = np.array([0, 3, 3, 4])
VALUES = floats(4, 2)
NO_GRAD = "TensorFlow has none"


def to_tensor(shape, default, kinds, partitions, expect, note, values=None):
    return case(
        "RaggedTensorToTensor",
        np.array(shape),
        ints(4, low=1) if values is None else values,
        np.int32(default) if values is None else values.dtype.type(default),
        [np.array(each) for each in partitions],
        row_partition_types=kinds,
        expect=expect,
        grad=NO_GRAD,
        note=note,
    )


V = ints(4, low=1)
CASES = [
    case(
        "RaggedRange",
        np.int32(0),
        np.array([3, 0, -2], np.int32),
        np.array([1, 1, -1], np.int32),
        expect=(np.array([0, 3, 3, 5]), np.array([0, 1, 2, 0, -1], np.int32)),
    ),
    case(
        "RaggedRange",
        np.float32([0, 1]),
        np.float32([1, 0]),
        np.float32([0.3, -0.5]),
        Tsplits=np.int32,
        expect=(np.array([0, 4, 6], np.int32), np.float32([0, 0.3, 0.6, 0.9, 1, 0.5])),
        grad=NO_GRAD,
        note="floats",
    ),
    case("RaggedRange", np.int32(1), np.int32(8), np.int32(3), expect=([0, 3], [1, 4, 7]), note="scalars"),
    case(
        "RaggedGather",
        [ONE],
        VALUES,
        np.array([2, 0, 2]),
        OUTPUT_RAGGED_RANK=1,
        expect=lambda splits, values, _: (np.array([0, 1, 4, 5]), values[[3, 0, 1, 2, 3]]),
        exported="TensorFlow's Python alone makes its RaggedRange",
    ),
    case(
        "RaggedGather",
        [OUTER, INNER],
        floats(3),
        np.array([[2, 0]], np.int32),
        OUTPUT_RAGGED_RANK=3,
        expect=lambda splits, values, _: (
            np.array([0, 2]),
            np.array([0, 1, 3]),
            np.array([0, 0, 2, 3]),
            values,
        ),
        note="nested",
    ),
    case(
        "RaggedGather",
        [ONE],
        text(["a", "b", "c", "d"]),
        np.int32(0),
        OUTPUT_RAGGED_RANK=0,
        expect=text(["a", "b", "c"]),
        note="a_row",
    ),
    case(
        "RaggedTensorToSparse",
        [ONE],
        floats(4),
        expect=lambda _, values: (np.array([[0, 0], [0, 1], [0, 2], [2, 0]]), values, np.array([3, 3])),
    ),
    case(
        "RaggedTensorToSparse",
        [OUTER, INNER],
        floats(3),
        expect=lambda _, values: (
            np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]]),
            values,
            np.array([3, 2, 2]),
        ),
        note="nested",
    ),
    case(
        "RaggedTensorToSparse",
        [np.array([0, 1, 2], np.int32)],
        floats(2, 2),
        expect=lambda _, values: (
            np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]),
            values.reshape(-1),
            np.array([2, 1, 2]),
        ),
        note="inner_dimension",
    ),
    to_tensor([-1, -1], 9, ["ROW_SPLITS"], [ONE], np.array([V[:3], [9, 9, 9], [V[3], 9, 9]]), "row_splits"),
    to_tensor(
        [2, 4],
        9,
        ["FIRST_DIM_SIZE", "VALUE_ROWIDS"],
        [3, [0, 0, 0, 2]],
        np.array([[*V[:3], 9], [9] * 4]),
        "cut_and_filled",
    ),
    to_tensor([-1, 2], 0, ["ROW_SPLITS"], [ONE], np.array([V[:2], [0, 0], [V[3], 0]]), "rows_cut"),
    to_tensor(
        [-1, -1, -1],
        0,
        ["ROW_SPLITS", "ROW_SPLITS"],
        [[0, 2, 3], [0, 1, 3, 4]],
        np.array([[[V[0], 0], [V[1], V[2]]], [[V[3], 0], [0, 0]]]),
        "nested",
    ),
    to_tensor(
        [-1, -1, 2],
        5.0,
        ["ROW_SPLITS"],
        [ONE],
        np.stack([VALUES[:3], np.full((3, 2), 5, np.float32), np.stack([VALUES[3], [5, 5], [5, 5]])]),
        "inner_dimension",
        values=VALUES,
    ),
]
