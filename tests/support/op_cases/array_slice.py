"""Slices, and assignments to slices."""

import numpy as np

from . import Var, case, floats, ints, text

X = floats(3, 4, 5)
SLICES = {
    "range": (np.s_[1:3, 0:4:2, 4:0:-2], ([1, 0, 4], [3, 4, 0], [1, 2, -2]), {}),
    "open": (np.s_[1:, :-1], ([1, 0], [0, -1], [1, 1]), {"begin_mask": 2, "end_mask": 1}),
    "shrink": (np.s_[-1, 1:3], ([-1, 1], [0, 3], [1, 1]), {"shrink_axis_mask": 1}),
    "ellipsis": (np.s_[..., 2], ([0, 2], [0, 3], [1, 1]), {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
    "new_axis": (
        np.s_[:, None, 1:],
        ([0, 0, 1], [0, 0, 0], [1, 1, 1]),
        {"begin_mask": 1, "end_mask": 5, "new_axis_mask": 2},
    ),
    "backwards": (np.s_[::-1], ([0], [0], [-1]), {"begin_mask": 1, "end_mask": 1}),
    "empty": (np.s_[2:1], ([2], [1], [1]), {}),
    "beyond": (np.s_[-9:99], ([-9], [99], [1]), {}),
    "scalar": (np.s_[0, 1, 2], ([0, 1, 2], [1, 2, 3], [1, 1, 1]), {"shrink_axis_mask": 7}),
}


def bounds(parts, dtype=np.int32):
    return [np.array(part, dtype) for part in parts]


def spread(index, shape):
    def expect(dy):
        out = np.zeros(shape, dy.dtype)
        out[index] = dy
        return out

    return expect


def replaced(index):
    def expect(x, *rest):
        out = x.copy()
        out[index] = rest[-1]
        return out

    return expect


CASES = [
    case("Slice", X, [1, 0, 2], [2, -1, 3], expect=lambda x, *_: x[1:3, :, 2:5]),
    case("Slice", X, np.array([3, 0, 0]), np.array([0, 2, -1]), expect=np.zeros((0, 2, 5)), note="empty"),
    case("Slice", X, [0, 0, 0], [-1, -1, -1], expect=lambda x, *_: x, note="all"),
    case(
        "Slice",
        np.float32(2),
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
        expect=lambda x, *_: x,
        note="scalar",
    ),
    case("Slice", text(["a", "b", "c"]), [1], [2], expect=[text(["b", "c"])]),
]
for note, (index, parts, masks) in SLICES.items():
    result = X[index]
    value = floats(*result.shape, seed=4)
    CASES += [
        case("StridedSlice", X, *bounds(parts), **masks, expect=result, note=note),
        case(
            "StridedSlice",
            ints(3, 4, 5),
            *bounds(parts, np.int64),
            **masks,
            expect=lambda x, *_, i=index: x[i],
            note=note,
        ),
        case(
            "StridedSliceGrad",
            [3, 4, 5],
            *bounds(parts),
            value,
            **masks,
            expect=spread(index, (3, 4, 5))(value),
            note=note,
        ),
        case(
            "TensorStridedSliceUpdate",
            X,
            *bounds(parts),
            value,
            **masks,
            expect=replaced(index),
            note=note,
            oracle_grad="TensorFlow 2 may differ",
        ),
        case(
            "StridedSliceAssign",
            Var(X),
            *bounds(parts),
            value,
            **masks,
            expect=lambda *a, i=index: [replaced(i)(*a)] * 2,
            note=note,
        ),
        case(
            "ResourceStridedSliceAssign",
            Var(X),
            *bounds(parts),
            value,
            **masks,
            expect=replaced(index),
            note=note,
        ),
    ]
CASES += [
    case(
        "TensorStridedSliceUpdate",
        X,
        *bounds(([1], [3], [1])),
        np.float32(7),
        expect=replaced(np.s_[1:3]),
        note="broadcast",
    ),
    case(
        "StridedSlice", text(["a", "b"]), [0], [1], [1], shrink_axis_mask=1, expect=[text("a")], note="text"
    ),
    case(
        "StridedSlice",
        np.zeros((0, 3), np.float32),
        [0],
        [5],
        [1],
        expect=np.zeros((0, 3)),
        grad="empty",
        note="empty_input",
    ),
]
