"""Segments, gather and scatter. Cases that record.py records."""

# ruff: noqa: B023 - each lambda is called before its loop goes on; a row of a table is a line
import numpy as np
import tensorflow as tf

raw = tf.raw_ops


def segment(r):
    x = r.normal(4, 2)
    half, whole = x.astype("float16"), r.ints(1, 9, 4, 2)
    for name in ("sum", "mean", "prod", "max", "min"):
        op = getattr(raw, f"Segment{name.capitalize()}")
        for data, ids in [
            (x, [0, 0, 2, 2]),
            (x, [1, 1, 4, 4]),
            (x[:0], []),
            (half, [0, 0, 0, 1]),
            (whole, [0, 0, 0, 1]),
            (x[:, 0], [0, 1, 1, 1]),
            (r.normal(3, 2, 2), [0, 0, 3]),
            (x, [0, 2, 1, 2]),
            (x, [-1, 0, 1, 2]),
            (x, [0, 1]),
            (x, [[0, 1]]),
            (np.float32(1), [0]),
        ]:
            for kind in ("int32", "int64"):
                y = np.array(ids, kind)
                r.add(
                    f"segment.segment_{name}",
                    lambda: op(data=tf.constant(data), segment_ids=y),
                    [data, y],
                    rtol=1e-3,
                )
    for name in ("sum", "prod", "max", "min"):
        op = getattr(raw, f"UnsortedSegment{name.capitalize()}")
        grid = [[0, 1], [2, -1], [2, 1], [0, 0]]
        for data, ids, count in [
            (x, [2, -1, 0, 2], 4),
            (half, [2, -1, 0, 2], 4),
            (whole, [2, -1, 0, 2], 4),
            (x, grid, 3),
            (x[:0], [], 2),
            (x, [-1] * 4, 2),
            (r.normal(30, 3), r.ints(-1, 6, 30), 6),
            (x, [0, 1, 2, 7], 3),
            (x, [[0, 1], [2, 5], [2, 1], [0, 0]], 3),
            (x, [0, 1], 3),
            (x, [0, 1, 2, 0], -3),
        ]:
            y = np.array(ids, "int32")
            r.add(
                f"segment.unsorted_segment_{name}",
                lambda: op(data=tf.constant(data), segment_ids=y, num_segments=count),
                [data, y, count],
                rtol=1e-3,
            )
    for kind, name in (("sum", "Sum"), ("mean", "Mean"), ("sqrt_n", "SqrtN")):
        for data, indices, ids, count in [
            (x, [3, 0, 1], [0, 0, 2], None),
            (x, [3, 3, 1], [0, 0, 1], 4),
            (x, [], [], None),
            (x.astype("float64"), [3, 0], [1, 1], None),
            (x, [3, 4, 1], [0, 0, 2], None),
            (x, [3, 2, 1], [0, 2, 1], None),
            (x, [3, 2, 1], [-1, 2, 2], None),
            (x, [3, 2, 1], [1, 2], None),
            (x, [3, 2, 1], [0, 0, 4], 4),
            (x, [3], [0], -1),
        ]:
            names = {
                "data": tf.constant(data),
                "indices": np.array(indices, "int32"),
                "segment_ids": np.array(ids, "int32"),
            }
            more = {} if count is None else {"num_segments": count}
            op = getattr(raw, f"SparseSegment{name}" + ("WithNumSegments" if more else ""))
            r.add(
                "segment.sparse_segment",
                lambda: op(**names, **more),
                [kind, data, names["indices"], names["segment_ids"], count],
            )
        if kind == "sum":
            continue
        for indices, ids in [([3, 0, 3], [0, 0, 2]), ([3, 0, 5], [0, 0, 2]), ([3, 0, 1], [-1, 0, 2])]:
            names = {"indices": np.array(indices, "int32"), "segment_ids": np.array(ids, "int32")}
            dy = r.normal(3, 2)
            r.add(
                "segment.sparse_segment_grad",
                lambda: getattr(raw, f"SparseSegment{name}Grad")(grad=dy, **names, output_dim0=5),
                [kind, dy, names["indices"], names["segment_ids"], 5],
            )


def gather_scatter(r):
    def add(name, op, given, **attributes):
        """The arguments of op and kernel have the same order; lists of lists become int32 arrays."""
        names = {}
        for key, item in given.items():
            several = key in ("indices", "data") and isinstance(item, tuple)
            names[key] = [np.asarray(i) for i in item] if several else item
        args = [tuple(v) if isinstance(v, list) else v for v in names.values()]

        def run():
            result = op(
                **{k: v if isinstance(v, list | int | bool) else tf.constant(v) for k, v in names.items()},
                **attributes,
            )
            return list(result) if isinstance(result, tuple | list) else result

        r.add(f"gather_scatter.{name}", run, args)
        case = r.cases[-1]
        if "error" in case:
            case["error"] = case["error"].split(", node name")[0].split("\n")[0]

    def ints(value, dtype="int32"):
        return np.array(value, dtype)

    x, y = r.normal(4, 2), r.normal(3, 4, 5, 2)
    for params, indices, axis, batch in [
        (x, [0, 3], 0, 0),
        (x, [[0, 1], [3, 2]], 0, 0),
        (x, 2, 0, 0),
        (x, [1, 0, 1], 1, 0),
        (x, [0], -1, 0),
        (y, [[4, 0]], 2, 0),
        (x, [[0], [1], [1], [0]], 1, 1),
        (y, r.ints(0, 5, 3, 4, 2), 2, 2),
        (y, r.ints(0, 5, 3, 2), 2, 1),
        (y, r.ints(0, 4, 3), 1, 1),
        (x[:0], np.zeros((0, 3)), 0, 0),
        (x[:, :0], [1], 0, 0),
        (x, [], 1, 0),
        (x.astype("int8"), [2], 0, 0),
        (x, [0, 5], 0, 0),
        (x, [[0, 1], [-1, 2]], 0, 0),
        (x, 5, 0, 0),
        (x, [0, 1, 2], 1, 0),
        (x, [0], 2, 0),
        (np.float32(1), [0], 0, 0),
        (x, [[0], [1], [1], [0]], 0, 1),
        (x, [[0], [1]], 1, 1),
        (x, [[0], [3], [1], [0]], 1, 1),
        (x, [0, 1, 1, 0], 1, 3),
        (x[:0], [0], 0, 0),
        (x, [[0], [1], [1], [0]], 1, -1),
    ]:
        for kind in ("int32", "int64"):
            add(
                "gather",
                lambda params, indices, axis, batch_dims: raw.GatherV2(
                    params=params, indices=indices, axis=axis, batch_dims=batch_dims
                ),
                {"params": params, "indices": ints(indices, kind), "axis": axis, "batch_dims": batch},
            )
    for params, indices in [
        (x, [[0, 1], [3, 1]]),
        (x, [[0], [3]]),
        (y, r.ints(0, 3, 2, 2, 3)),
        (x, [0, 1]),
        (x, np.zeros((2, 0))),
        (x, np.zeros((0, 2))),
        (x, [[0, 1], [3, 2]]),
        (x, [[[0, 1]], [[-1, 1]]]),
        (x, [[0], [4]]),
        (x, [[0, 0, 0]]),
        (x, 0),
        (x[:0], [[0]]),
    ]:
        add("gather_nd", raw.GatherNd, {"params": params, "indices": ints(indices)})
    for indices, updates, shape in [
        ([[0], [2], [0]], r.normal(3), [4]),
        ([[0, 1], [2, 0]], r.normal(2), [4, 2]),
        ([[2], [2]], r.normal(2, 3), [4, 3]),
        (np.zeros((0, 1)), r.normal(0), [3]),
        ([[[0], [2]], [[1], [1]]], r.ints(0, 9, 2, 2), [4]),
        ([[0], [5]], r.normal(2), [4]),
        ([[0, 0], [1, -1]], r.normal(2), [4, 2]),
        ([[0], [1]], r.normal(3), [4]),
        ([[0], [1]], r.normal(2, 2), [4, 3]),
        ([[0]], r.normal(1), [0]),
        (0, np.float32(1), [4]),
    ]:
        add("scatter_nd", raw.ScatterNd, {"indices": ints(indices), "updates": updates, "shape": ints(shape)})
    for indices, data in [
        (([0, 2], [1, 0]), (x[:2], x[2:])),
        ((1, [0, 2]), (x[0], x[:2])),
        (([],), (x[:0],)),
        (([[0, 1], [3, 2]], [2]), (y[:2, :2], y[0, :1])),
        (([0, -1],), (x[:2],)),
        (([0, 1],), (x[:3],)),
        (([0, 1], [2]), (x[:2], x[:1, :1])),
    ]:
        add("dynamic_stitch", raw.DynamicStitch, {"indices": tuple(ints(i) for i in indices), "data": data})
    for data, partitions, count in [
        (x, [1, 0, 2, 1], 4),
        (x, [[1, 0], [0, 0], [1, 1], [1, 1]], 2),
        (x[:0], [], 2),
        (x, [1, 0, 4, 1], 4),
        (x, [1, -1, 4, 1], 4),
        (x, [1, 0], 4),
    ]:
        add(
            "dynamic_partition",
            raw.DynamicPartition,
            {"data": data, "partitions": ints(partitions), "num_partitions": count},
        )
    for indices, shape, values, check in [
        ([1, 3], [5], [1, 2], True),
        ([[1, 0], [2, 1]], [3, 2], 7, True),
        (2, [5], 1, True),
        ([3, 1], [5], [1, 2], False),
        (np.zeros((0, 2)), [2, 2], [], True),
        ([1, 5], [5], [1, 2], True),
        ([3, 1], [5], [1, 2], True),
        ([1, 1], [5], [1, 2], True),
        ([[1, 0], [3, 1]], [3, 2], [1, 7], True),
        ([[1, 0], [3, 1]], [3], [1, 7], True),
        ([1, 3], [5], [1, 2, 3], True),
    ]:
        given = {
            "sparse_indices": ints(indices),
            "output_shape": ints(shape),
            "sparse_values": np.array(values, "float32"),
            "default_value": np.float32(9),
            "validate_indices": check,
        }
        add("sparse_to_dense", raw.SparseToDense, given)
    ties = r.ints(0, 9, 2, 3, 40, dtype="float32")
    for data, k in [
        (np.array([[1, 3, 3, 2], [0, 0, 0, 0]], "float32"), 3),
        (ties, 40),
        (ties, 3),
        (ties, 1),
        (ties.astype("int32"), 4),
        (ties.astype("uint8"), 20),
        (x.astype("float16"), 2),
        (x, 0),
        (np.array([-np.inf, np.inf, 1, -np.inf], "float32"), 4),
        (x, 3),
        (x, -1),
        (np.float32(1), 0),
        (x[:0], 1),
    ]:
        add("top_k", raw.TopKV2, {"input": data, "k": k})
    rows = np.array([[1, 3, 3, 2], [0, np.nan, 1, 2], [1, 2, np.inf, 3], [0, 1, 2, 3]], "float32")
    for data, targets, k in [
        (rows, [1, 3, 2, 9], 2),
        (rows, [3, 1, 1, -1], 3),
        (rows, [0, 0, 0, 3], 1),
        (rows, [3, 1], 3),
        (rows[:1], [[3]], 3),
    ]:
        add(
            "in_top_k",
            lambda predictions, targets, k: raw.InTopKV2(predictions=predictions, targets=targets, k=k),
            {"predictions": data, "targets": ints(targets), "k": k},
        )
    for indices, depth, axis in [
        ([0, 2, -1, 5], 3, -1),
        ([[0, 2], [1, 5]], 3, 0),
        ([[0, 2], [1, 5]], 3, 1),
        (1, 3, -1),
        ([1], 0, -1),
        ([], 2, -1),
        ([0], -3, -1),
        ([0], 3, 2),
    ]:
        for kind in ("float32", "int32", "bool"):
            on, off = np.array(1).astype(kind)[()], np.array(0).astype(kind)[()]
            given = {"indices": ints(indices), "depth": depth, "on_value": on, "off_value": off}
            r.add(
                "gather_scatter.one_hot",
                lambda: raw.OneHot(
                    **{**given, "on_value": tf.constant(on), "off_value": tf.constant(off)}, axis=axis
                ),
                list(given.values()),
                {"axis": axis},
            )
