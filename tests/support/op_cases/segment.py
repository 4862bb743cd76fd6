"""Sums, products, means and extrema over segments."""

import numpy as np

from . import case, floats, ints

X = floats(5, 2)
SORTED = np.array([0, 0, 1, 3, 3], np.int32)
MIXED = np.array([2, 0, -1, 2, 0], np.int64)
FUNCTIONS = {"Sum": (np.sum, 0), "Prod": (np.prod, 1), "Max": (np.max, None), "Min": (np.min, None)}


def sorted_segments(function, empty):
    def expect(data, ids):
        rows = [data[ids == number] for number in range(ids[-1] + 1 if len(ids) else 0)]
        empty_row = np.full(data.shape[1:], empty, data.dtype)
        return np.stack([function(part, axis=0) if len(part) else empty_row for part in rows]).astype(
            data.dtype
        )

    return expect


def unsorted_segments(function, empty):
    def expect(data, ids, count):
        flat = data.reshape(ids.size, *data.shape[ids.ndim :])
        limit = np.finfo(data.dtype) if data.dtype.kind == "f" else np.iinfo(data.dtype)
        fill = {np.max: limit.min, np.min: limit.max}.get(function, empty)
        rows = [flat[ids.ravel() == number] for number in range(int(count))]
        empty_row = np.full(flat.shape[1:], fill, data.dtype)
        return np.stack([function(part, axis=0) if len(part) else empty_row for part in rows]).astype(
            data.dtype
        )

    return expect


def sparse_segments(divide):
    def expect(data, indices, ids):
        rows = []
        for number in range(ids[-1] + 1):
            part = data[indices[ids == number]]
            rows.append(part.sum(0) / divide(max(len(part), 1)))
        return np.stack(rows)

    return expect


def sparse_grad(divide):
    def expect(grad, indices, ids, rows):
        out = np.zeros((int(rows), *grad.shape[1:]), grad.dtype)
        for place, number in zip(indices, ids, strict=True):
            out[place] += grad[number] / divide(np.sum(ids == number))
        return out

    return expect


EMPTY_SEGMENT = "as in TensorFlow, 0 / 0 in a segment without rows"
FULL, FULL_MIXED = np.array([0, 0, 1, 2, 2], np.int32), np.array([2, 0, 1, 2, 0], np.int64)

CASES = []
for name, (function, empty) in FUNCTIONS.items():
    hole = EMPTY_SEGMENT if name in ("Max", "Min") else True
    CASES += [
        case(f"Segment{name}", X, FULL, expect=sorted_segments(function, 0), note="full"),
        case(f"UnsortedSegment{name}", X, FULL_MIXED, 3, expect=unsorted_segments(function, 0), note="full"),
        case(
            f"Segment{name}",
            X,
            SORTED,
            expect=sorted_segments(function, 1 if name == "Prod" else 0),
            second=hole,
        ),
        case(
            f"Segment{name}",
            ints(5, 2),
            SORTED.astype(np.int64),
            expect=sorted_segments(function, 1 if name == "Prod" else 0),
            note="int32",
        ),
        case(
            f"Segment{name}",
            np.zeros((0, 2), np.float32),
            np.zeros(0, np.int32),
            expect=np.zeros((0, 2)),
            grad="empty",
            note="empty",
        ),
        case(f"UnsortedSegment{name}", X, MIXED, 4, expect=unsorted_segments(function, empty), numeric=hole),
        case(
            f"UnsortedSegment{name}",
            X,
            np.array([[1, 0], [1, 1], [0, 2], [-3, 0], [2, 2]], np.int32),
            3,
            expect=unsorted_segments(function, empty),
            note="rank_2",
        ),
        case(
            f"UnsortedSegment{name}",
            ints(5, 2),
            MIXED,
            np.int64(3),
            expect=unsorted_segments(function, empty),
            note="int32",
        ),
        case(
            f"UnsortedSegment{name}",
            np.zeros((0, 2), np.float32),
            np.zeros(0, np.int32),
            2,
            expect=unsorted_segments(function, empty),
            grad="empty",
            note="empty",
        ),
    ]
CASES += [
    case(
        "SegmentProd",
        np.array([0.0, 2.0, 0.0, 0.0, 3.0]),
        SORTED,
        expect=sorted_segments(np.prod, 1),
        note="zeros",
        second=False,
    ),
    case(
        "UnsortedSegmentProd",
        np.array([0.0, 2.0, 5.0, 3.0, 0.0]),
        MIXED,
        3,
        expect=unsorted_segments(np.prod, 1),
        note="zeros",
        second=False,
    ),
    case("SegmentMean", X, SORTED, expect=sorted_segments(np.mean, 0), second=EMPTY_SEGMENT),
    case("SegmentMean", X, FULL, expect=sorted_segments(np.mean, 0), note="full"),
    case(
        "SegmentMean",
        floats(5, 2, dtype=np.float16),
        SORTED,
        expect=lambda x, ids: sorted_segments(np.mean, 0)(x.astype(np.float32), ids),
        grad="as float32",
        note="float16",
    ),
    *(
        case(
            f"SparseSegment{name}WithNumSegments",
            X,
            [4, 0, 4],
            [0, 0, 2],
            np.int32(count),
            expect=lambda *args, divide=divide: np.concatenate(
                [
                    sparse_segments(divide)(*args[:3]),
                    np.zeros((int(args[3]) - 3, *args[0].shape[1:]), np.float32),
                ]
            ),
            second=True if name == "Sum" else "TensorFlow has none",
            note=str(count),
        )
        for name, divide in (("Sum", lambda n: 1), ("Mean", lambda n: n), ("SqrtN", np.sqrt))
        for count in (3, 5)
    ),
    case("SparseSegmentSum", X, [4, 0, 4], [0, 0, 2], expect=sparse_segments(lambda n: 1)),
    case(
        "SparseSegmentMean",
        X,
        [4, 0, 4],
        [0, 0, 2],
        expect=sparse_segments(lambda n: n),
        second="TensorFlow has none",
    ),
    case(
        "SparseSegmentSqrtN",
        X,
        np.array([4, 0, 4]),
        [0, 0, 2],
        expect=sparse_segments(np.sqrt),
        second="TensorFlow has none",
    ),
    case("SparseSegmentMeanGrad", X[:3], [4, 0, 4], [0, 0, 2], 6, expect=sparse_grad(lambda n: n)),
    case("SparseSegmentSqrtNGrad", X[:3], [4, 0, 4], [0, 0, 2], 6, expect=sparse_grad(np.sqrt)),
]
