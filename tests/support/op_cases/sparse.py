"""Sparse tensors: another shape, and a value in each row."""

import numpy as np

from . import case, floats, ints, text

INDICES = np.array([[0, 1], [1, 2], [1, 0]])
ONCE = "TensorFlow differentiates it once"
UNORDERED = np.array([[3, 0], [0, 1], [0, 0]])


def reshaped(old, new):
    def expect(indices, *_):
        places = np.ravel_multi_index(tuple(indices.T), old)
        return np.stack(np.unravel_index(places, new), 1), np.array(new)

    return expect


def filled(indices, values, shape, default):
    rows = [
        [(tuple(index), value) for index, value in zip(indices, values, strict=True) if index[0] == row]
        for row in range(shape[0])
    ]
    empty = [not row for row in rows]
    flat = [
        item
        for number, row in enumerate(rows)
        for item in row or [((number, *[0] * (len(shape) - 1)), default)]
    ]
    places = [index for index, _ in flat]
    return (
        np.array(places).reshape(-1, len(shape)),
        np.array([value for _, value in flat], values.dtype),
        np.array(empty, bool),
        np.array([places.index(tuple(index)) for index in indices]),
    )


CASES = [
    case("SparseReshape", INDICES, np.array([2, 3]), np.array([3, 2]), expect=reshaped((2, 3), (3, 2))),
    case(
        "SparseReshape",
        INDICES,
        np.array([2, 3]),
        np.array([1, -1, 3]),
        expect=reshaped((2, 3), (1, 2, 3)),
        note="missing_size",
    ),
    case(
        "SparseReshape", INDICES, np.array([2, 3]), np.array([-1]), expect=reshaped((2, 3), (6,)), note="flat"
    ),
    case(
        "SparseReshape",
        np.zeros((0, 2), np.int64),
        np.array([0, 3]),
        np.array([3, -1]),
        expect=(np.zeros((0, 2)), [3, 0]),
        note="empty",
    ),
    case(
        "SparseFillEmptyRows",
        UNORDERED,
        floats(3),
        np.array([5, 2]),
        np.float32(9),
        expect=filled,
        second=ONCE,
    ),
    case(
        "SparseFillEmptyRows",
        np.array([[0, 2], [1, 1]]),
        floats(2),
        np.array([2, 3]),
        np.float32(9),
        expect=filled,
        note="nothing_empty",
        second=ONCE,
    ),
    case(
        "SparseFillEmptyRows",
        np.array([[1]]),
        text(["a"]),
        np.array([3]),
        text("none"),
        expect=([[0], [1], [2]], text(["none", "a", "none"]), [True, False, True], [1]),
        note="strings",
    ),
    case(
        "SparseFillEmptyRows",
        np.zeros((0, 2), np.int64),
        np.zeros(0, np.float32),
        np.array([2, 3]),
        np.float32(9),
        expect=filled,
        note="all_empty",
        grad="empty",
    ),
    case(
        "SparseFillEmptyRowsGrad",
        np.array([2, 0]),
        floats(4),
        expect=lambda places, grad: (grad[places], grad[[1, 3]].sum()),
    ),
    case("SparseFillEmptyRowsGrad", np.array([0]), ints(2), expect=lambda places, grad: (grad[:1], grad[1])),
]
