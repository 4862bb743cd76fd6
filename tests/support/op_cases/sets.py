"""Sets along the last axis."""

import numpy as np

from . import case, text

A = np.array([[[3, 1, 1], [2, 2, 5]], [[7, 8, 9], [4, 4, 4]]])
B = np.array([[[1, 9], [5, 2]], [[0, 0], [4, 6]]])
INDICES = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
VALUES = np.array([1, 3, 7, 4, 4])
SHAPE = np.array([2, 2, 2])
FUNCTIONS = {"a-b": np.setdiff1d, "b-a": lambda a, b: np.setdiff1d(b, a), "union": np.union1d}
FUNCTIONS["intersection"] = np.intersect1d


def of_sparse(indices, values, shape):
    rows: list[list[list[object]]] = [[[] for _ in range(shape[1])] for _ in range(shape[0])]
    for index, value in zip(indices, values, strict=True):
        rows[index[0]][index[1]].append(value)
    return rows


def combined(name, a, b):
    found = [
        [FUNCTIONS[name](x, y).tolist() for x, y in zip(*pair, strict=True)]
        for pair in zip(a, b, strict=True)
    ]
    flat = [
        ([i, j, k], v)
        for i, row in enumerate(found)
        for j, each in enumerate(row)
        for k, v in enumerate(each)
    ]
    largest = max(len(each) for row in found for each in row)
    return (
        np.array([index for index, _ in flat]).reshape(-1, 3),
        np.array([value for _, value in flat], np.int64),
        np.array([2, 2, largest]),
    )


CASES = [
    case("SetSize", INDICES, VALUES, SHAPE, expect=np.array([[2, 0], [1, 1]], np.int32)),
    case(
        "SetSize",
        np.array([[0, 0], [1, 1], [1, 2]]),
        text(["a", "b", "b"]),
        np.array([3, 3]),
        expect=np.array([1, 1, 0], np.int32),
        note="strings",
    ),
    *(
        case("DenseToDenseSetOperation", A, B, set_operation=name, expect=combined(name, A, B), note=name)
        for name in FUNCTIONS
    ),
    case(
        "DenseToDenseSetOperation",
        text([["b", "a"], ["c", "c"]]),
        text([["a"], ["d"]]),
        set_operation="union",
        expect=([[0, 0], [0, 1], [1, 0], [1, 1]], text(["a", "b", "c", "d"]), [2, 2]),
        note="strings",
    ),
    case(
        "DenseToDenseSetOperation",
        np.zeros((2, 0), np.int32),
        np.zeros((2, 3), np.int32),
        set_operation="intersection",
        expect=(np.zeros((0, 2)), np.zeros(0, np.int32), [2, 0]),
        note="empty",
    ),
    *(
        case(
            "DenseToSparseSetOperation",
            A,
            INDICES,
            VALUES,
            SHAPE,
            set_operation=name,
            expect=combined(name, A, of_sparse(INDICES, VALUES, SHAPE)),
            note=name,
        )
        for name in ("a-b", "b-a")
    ),
    *(
        case(
            "SparseToSparseSetOperation",
            INDICES,
            VALUES,
            SHAPE,
            INDICES[1:4],
            np.array([3, 8, 4]),
            SHAPE,
            set_operation=name,
            expect=combined(
                name, of_sparse(INDICES, VALUES, SHAPE), of_sparse(INDICES[1:4], [3, 8, 4], SHAPE)
            ),
            note=name,
        )
        for name in ("a-b", "union", "intersection")
    ),
]
