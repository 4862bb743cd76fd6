"""Gather and scatter, conditions, one-hot, sets, top k."""

import numpy as np

from . import case, floats, ints, text

X = floats(3, 4, 5)
ROWS = np.array([[2, 0], [1, 1]], np.int32)
ND = np.array([[2, 1], [0, 3], [2, 1]], np.int32)
UPDATES = floats(3, 5, seed=2)


def scattered(shape, combine=np.add, start=None):
    def expect(indices, updates, base=None):
        out = np.zeros(shape, updates.dtype) if base is None else base.copy()
        for place, update in zip(
            indices.reshape(-1, indices.shape[-1]),
            updates.reshape(-1, *updates.shape[indices.ndim - 1 :]),
            strict=True,
        ):
            out[tuple(place)] = update if combine is None else combine(out[tuple(place)], update)
        return out

    return expect


def into(combine):
    return lambda tensor, indices, updates: scattered(None, combine)(indices, updates, tensor)


def unique(x):
    values, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    places = rank[inverse]
    return values[order], places, np.bincount(places, minlength=len(order))


CASES = [
    case("Gather", X, ROWS, expect=lambda x, i: x[i]),
    case("GatherV2", X, ROWS, 0, expect=lambda x, i, _: x[i]),
    case("GatherV2", X, ROWS, 1, expect=lambda x, i, _: np.take(x, i, 1)),
    case("GatherV2", X, ROWS, -1, expect=lambda x, i, _: np.take(x, i, -1)),
    case("GatherV2", X, np.int64(2), np.int64(0), expect=lambda x, *_: x[2], note="scalar"),
    case("GatherV2", X, np.zeros(0, np.int32), 1, expect=np.zeros((3, 0, 5)), note="empty"),
    case(
        "GatherV2",
        X[:2],
        ROWS,
        1,
        batch_dims=1,
        expect=lambda x, i, _: np.stack([x[b][i[b]] for b in range(2)]),
    ),
    case(
        "GatherV2",
        X[:2],
        ROWS,
        2,
        batch_dims=1,
        expect=lambda x, i, _: np.stack([x[b][:, i[b]] for b in range(2)]),
    ),
    case(
        "GatherV2",
        X[:2],
        ROWS,
        2,
        batch_dims=-1,
        expect=lambda x, i, _: np.stack([x[b][:, i[b]] for b in range(2)]),
    ),
    case("GatherV2", text(["a", "b"]), [1, 1], 0, expect=[text(["b", "b"])]),
    case("GatherNd", X, ND, expect=lambda x, i: x[tuple(i.T)]),
    case("GatherNd", X, ND[:, :1], expect=lambda x, i: x[i[:, 0]], note="rows"),
    case(
        "GatherNd",
        X,
        np.array([[[2, 1, 4]], [[0, 0, 0]]]),
        expect=lambda x, i: x[tuple(np.moveaxis(i, -1, 0))],
    ),
    case(
        "GatherNd",
        X,
        np.zeros((2, 0), np.int32),
        expect=lambda x, _: np.stack([x, x]),
        note="no_index",
        exported="TensorFlow's ScatterNd refuses it",
        oracle_grad="TensorFlow's fails",
    ),
    case("GatherNd", X, np.zeros((0, 2), np.int32), expect=np.zeros((0, 5)), note="empty"),
    case("ScatterNd", ND, UPDATES, [3, 4, 5], expect=lambda i, u, _: scattered((3, 4, 5))(i, u)),
    case(
        "ScatterNd", ND[:, :1], floats(3, 2, seed=1), [4, 2], expect=lambda i, u, _: scattered((4, 2))(i, u)
    ),
    case(
        "ScatterNd",
        np.zeros((0, 1), np.int64),
        np.zeros((0, 2), np.float32),
        np.array([3, 2]),
        expect=np.zeros((3, 2)),
        grad="empty",
    ),
    case("ScatterNdNonAliasingAdd", X, ND, UPDATES, expect=into(np.add)),
    case("TensorScatterUpdate", X, ND[:2], UPDATES[:2], expect=into(None)),
    case("TensorScatterAdd", X, ND, UPDATES, expect=into(np.add)),
    case("TensorScatterSub", X, ND, UPDATES, expect=into(np.subtract)),
    case(
        "SparseToDense",
        np.array([[0, 1], [2, 0]], np.int32),
        [3, 2],
        np.array([5, 6], np.float32),
        1.5,
        expect=[[[1.5, 5], [1.5, 1.5], [6, 1.5]]],
    ),
    case(
        "SparseToDense",
        np.array([1, 3], np.int64),
        np.array([4]),
        np.float32(2),
        np.float32(0),
        expect=[[0, 2, 0, 2]],
        note="one_value",
        oracle_grad="TensorFlow takes the vector for one index",
    ),
    case(
        "SparseToDense",
        np.int32(2),
        [4],
        ints(),
        np.int32(-1),
        expect=lambda i, s, v, d: [np.array([-1, -1, v, -1])],
        note="one_place",
    ),
    case(
        "DynamicStitch",
        [np.array([0, 3], np.int32), np.array([[2], [1]], np.int32)],
        [floats(2, 2), floats(2, 1, 2, seed=1)],
        expect=lambda i, d: np.stack([d[0][0], d[1][1, 0], d[1][0, 0], d[0][1]]),
    ),
    case(
        "DynamicStitch",
        [np.array([0, 1, 1], np.int32)],
        [floats(3)],
        expect=lambda i, d: d[0][[0, 2]],
        note="later_wins",
        numeric="as in TensorFlow, overwritten rows get a gradient",
    ),
    case(
        "DynamicStitch",
        [np.zeros(0, np.int32)],
        [np.zeros((0, 3), np.float32)],
        expect=np.zeros((0, 3)),
        grad="empty",
    ),
    case(
        "ParallelDynamicStitch",
        [np.array([1], np.int32), np.array([0], np.int32)],
        [floats(1, 3), floats(1, 3, seed=1)],
        expect=lambda i, d: np.concatenate([d[1], d[0]]),
    ),
    case(
        "DynamicPartition",
        floats(4, 2),
        [1, 0, 2, 1],
        num_partitions=3,
        expect=lambda x, p: [x[[1]], x[[0, 3]], x[[2]]],
    ),
    case(
        "DynamicPartition", ints(2, 2), ROWS % 2, num_partitions=2, expect=lambda x, p: [x[p == 0], x[p == 1]]
    ),
    case(
        "DynamicPartition",
        floats(3, seed=1),
        [0, 0, 0],
        num_partitions=2,
        expect=lambda x, p: [x, x[:0]],
        note="empty",
    ),
    case(
        "Select",
        np.array([[True, False], [False, True]]),
        floats(2, 2),
        floats(2, 2, seed=1),
        expect=np.where,
    ),
    case(
        "Select",
        np.array([True, False]),
        floats(2, 3),
        floats(2, 3, seed=1),
        expect=lambda c, t, e: np.where(c[:, None], t, e),
        note="rows",
    ),
    case(
        "Select", np.bool_(True), floats(2, 3), floats(2, 3, seed=1), expect=lambda c, t, e: t, note="scalar"
    ),
    case("Select", np.array([True]), text(["a"]), text(["b"]), expect=[text(["a"])]),
    case(
        "Select",
        np.zeros((0, 2), np.bool_),
        np.zeros((0, 2), np.float32),
        np.zeros((0, 2), np.float32),
        expect=np.zeros((0, 2)),
        grad="empty",
    ),
    case("SelectV2", np.array([True, False]), floats(3, 2), floats(3, 2, seed=1), expect=np.where),
    case(
        "SelectV2",
        np.array([[True], [False]]),
        floats(3),
        floats(2, 1, seed=1),
        expect=np.where,
        note="broadcast",
    ),
    case("SelectV2", np.array([True, False]), np.float32(3), floats(1), expect=np.where, note="condition"),
    case("SelectV2", np.bool_(False), ints(2, 3), ints(3, seed=1), expect=np.where, note="integers"),
    case("SelectV2", np.array([True, False]), text("a"), text(["b", "c"]), expect=[text(["a", "c"])]),
    case(
        "SelectV2",
        np.zeros((0, 1), np.bool_),
        np.float32(1),
        floats(2),
        expect=np.zeros((0, 2)),
        grad="empty",
    ),
    case("Where", np.array([[True, False], [True, True]]), expect=np.argwhere),
    case("Where", np.array([0.0, 2.0, -0.0, np.nan]), expect=np.argwhere),
    case("Where", np.zeros((0, 2), np.int32), expect=np.zeros((0, 2)), note="empty"),
    case(
        "OneHot",
        np.array([0, 2, -1, 5]),
        3,
        1.0,
        0.0,
        expect=lambda i, d, on, off: (i[:, None] == np.arange(3)).astype(np.float32),
    ),
    case(
        "OneHot",
        ROWS,
        3,
        np.int32(5),
        np.int32(-1),
        axis=1,
        expect=lambda i, d, on, off: np.where(i[:, None] == np.arange(3)[:, None], 5, -1),
    ),
    case("OneHot", np.uint8(1), 2, True, False, axis=0, expect=[[False, True]], note="scalar"),
    case("OneHot", np.zeros(0, np.int32), 0, 1.0, 0.0, expect=np.zeros((0, 0)), note="empty"),
    case("Unique", np.array([3, 1, 3, 2, 1]), expect=lambda x: unique(x)[:2]),
    case("Unique", floats(3)[[0, 1, 0, 2]], out_idx=np.int64, expect=lambda x: unique(x)[:2]),
    case("Unique", text(["b", "a", "b"]), expect=(text(["b", "a"]), [0, 1, 0])),
    case("Unique", np.zeros(0, np.int32), expect=([], []), note="empty"),
    case("UniqueWithCounts", np.array([3, 1, 3, 2, 1], np.int32), expect=unique),
    case("ListDiff", [1, 2, 3, 2], [2, 9], expect=([1, 3], [0, 2])),
    case("ListDiff", text(["a", "b"]), text(["a"]), out_idx=np.int64, expect=(text(["b"]), [1])),
    case(
        "TopK",
        X,
        k=2,
        expect=lambda x: (-np.sort(-x)[..., :2], np.argsort(-x)[..., :2]),
        second=False,
        oracle="not in TensorFlow 2's raw_ops",
    ),
    case("TopKV2", X, 2, expect=lambda x, k: (-np.sort(-x)[..., :2], np.argsort(-x)[..., :2])),
    case("TopKV2", np.array([1, 5, 5, 2], np.int32), 3, expect=([5, 5, 2], [1, 2, 3]), note="ties"),
    case(
        "TopKV2",
        np.array([[3, 9, 1, 7, 4, 8, 2, 6], [1, 2, 3, 4, 5, 6, 7, 8]], np.float32),
        4,
        sorted=False,
        expect=([[6, 7, 9, 8], [5, 6, 7, 8]], [[7, 3, 1, 5], [4, 5, 6, 7]]),
        note="unsorted",
    ),
    case("TopKV2", X, 1, sorted=False, expect=lambda x, k: (x.max(-1)[..., None], x.argmax(-1)[..., None])),
    case(
        "TopKV2",
        X[:, 0],
        5,
        sorted=False,
        expect=lambda x, k: (-np.sort(-x), np.argsort(-x, kind="stable")),
        note="unsorted_all",
    ),
    case("TopKV2", X, 0, expect=(np.zeros((3, 4, 0)), np.zeros((3, 4, 0))), note="none", grad="empty"),
    case(
        "InTopK",
        floats(3, 4),
        [1, 0, 3],
        k=2,
        expect=lambda p, t: (p > p[np.arange(3), t][:, None]).sum(1) < 2,
    ),
    case(
        "InTopKV2",
        floats(3, 4),
        np.array([1, 0, 9]),
        np.int64(2),
        expect=[[False, True, False]],
        note="out_of_range",
    ),
    case(
        "InTopKV2",
        np.array([[1, np.nan], [2, np.inf]], np.float32),
        [0, 0],
        1,
        expect=[[False, False]],
        note="not_finite",
    ),
]
