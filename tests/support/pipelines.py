"""Pipelines of tf.data, and what they give, for both systems."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

Point = namedtuple("Point", ["x", "y"])


def elements(tf: Any, dataset: Any, limit: int = 100) -> list[Any]:
    """All elements of a dataset, arrays as lists."""
    iterator = tf.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    found: list[Any] = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while len(found) < limit:
            try:
                found.append(plain(session.run(following)))
            except tf.errors.OutOfRangeError:
                break
    return found


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return np.asarray(value).tolist()


def leaves(row: Any) -> list[Any]:
    """The components of an element; lists are values of one."""
    if isinstance(row, dict):
        return [leaf for key in sorted(row) for leaf in leaves(row[key])]
    if isinstance(row, tuple):
        return [leaf for item in row for leaf in leaves(item)]
    return [row]


PIPELINES: dict[str, tuple[Callable[[Any, Any], Any], list[Any]]] = {
    "range": (lambda tf, D: D.range(2, 10, 3), [2, 5, 8]),
    "from_tensors": (lambda tf, D: D.from_tensors(([1, 2], "a")), [([1, 2], b"a")]),
    "slices": (
        lambda tf, D: D.from_tensor_slices({"a": [1, 2], "b": [[1.0], [2.0]]}),
        [{"a": 1, "b": [1.0]}, {"a": 2, "b": [2.0]}],
    ),
    "strings": (lambda tf, D: D.from_tensor_slices(["x", "yy"]).map(lambda s: s + "!"), [b"x!", b"yy!"]),
    "map": (lambda tf, D: D.range(3).map(lambda x: (x * 2, x + 1)), [(0, 1), (2, 2), (4, 3)]),
    "map_of_a_tuple": (lambda tf, D: D.zip((D.range(3), D.range(3, 6))).map(lambda a, b: a * b), [0, 4, 10]),
    "map_of_a_dict": (
        lambda tf, D: D.from_tensor_slices({"a": [1, 2]}).map(lambda d: {"b": d["a"] * 10}),
        [{"b": 10}, {"b": 20}],
    ),
    "map_of_a_named_tuple": (
        lambda tf, D: D.from_tensor_slices(Point([1, 2], [3, 4])).map(lambda p: p.x * p.y),
        [3, 8],
    ),
    "parallel_map": (lambda tf, D: D.range(4).map(lambda x: x * x, num_parallel_calls=2), [0, 1, 4, 9]),
    "zip_nested": (
        lambda tf, D: D.zip((D.range(3), (D.range(2), D.range(5, 9)))),
        [(0, (0, 5)), (1, (1, 6))],
    ),
    "concatenate": (lambda tf, D: D.range(2).concatenate(D.range(5, 7)), [0, 1, 5, 6]),
    "repeat": (lambda tf, D: D.range(2).repeat(2), [0, 1, 0, 1]),
    "repeat_for_ever": (lambda tf, D: D.range(2).repeat().take(5), [0, 1, 0, 1, 0]),
    "repeat_of_nothing": (lambda tf, D: D.range(0).repeat(), []),
    "take_and_skip": (lambda tf, D: D.range(9).skip(2).take(3), [2, 3, 4]),
    "take_all": (lambda tf, D: D.range(3).take(-1), [0, 1, 2]),
    "skip_all": (lambda tf, D: D.range(3).skip(-1), []),
    "shard": (lambda tf, D: D.range(7).shard(3, 1), [1, 4]),
    "filter": (lambda tf, D: D.range(6).filter(lambda x: tf.equal(x % 2, 0)), [0, 2, 4]),
    "batch": (lambda tf, D: D.range(5).batch(2), [[0, 1], [2, 3], [4]]),
    "batch_drop": (lambda tf, D: D.range(5).batch(2, drop_remainder=True), [[0, 1], [2, 3]]),
    "padded_batch": (
        lambda tf, D: D.range(1, 4).map(lambda x: tf.fill([x], x)).padded_batch(2, [None]),
        [[[1, 0], [2, 2]], [[3, 3, 3]]],
    ),
    "padded_batch_of_more": (
        lambda tf, D: (
            D.from_tensor_slices(["a", "b"])
            .map(lambda s: (s, tf.stack([1.0, 2.0])))
            .padded_batch(2, ([], [3]), ("", -1.0))
        ),
        [([b"a", b"b"], [[1.0, 2.0, -1.0], [1.0, 2.0, -1.0]])],
    ),
    "flat_map": (lambda tf, D: D.range(4).flat_map(lambda x: D.range(x)), [0, 0, 1, 0, 1, 2]),
    "flat_map_of_slices": (
        lambda tf, D: D.from_tensor_slices([[1, 2], [3, 4]]).flat_map(D.from_tensor_slices),
        [1, 2, 3, 4],
    ),
    "interleave": (
        lambda tf, D: D.range(1, 5).interleave(lambda x: D.from_tensors(x).repeat(3), 2, 2),
        [1, 1, 2, 2, 1, 2, 3, 3, 4, 4, 3, 4],
    ),
    "parallel_interleave": (
        lambda tf, D: D.range(1, 4).interleave(
            lambda x: D.from_tensors(x).repeat(2), 2, 1, num_parallel_calls=2
        ),
        [1, 2, 1, 2, 3, 3],
    ),
    "enumerate": (lambda tf, D: D.from_tensor_slices(["a", "b"]).enumerate(5), [(5, b"a"), (6, b"b")]),
    "prefetch_and_cache": (lambda tf, D: D.range(3).cache().prefetch(2).repeat(2), [0, 1, 2, 0, 1, 2]),
    "apply": (lambda tf, D: D.range(3).apply(lambda d: d.batch(3)), [[0, 1, 2]]),
    "from_generator": (
        lambda tf, D: D.from_generator(
            lambda n: ((i, [i] * i) for i in range(n)), (tf.int64, tf.int64), ([], [None]), args=[3]
        ),
        [(0, []), (1, [1]), (2, [2, 2])],
    ),
}


def sparse(tf: Any) -> Any:
    """A sparse 3x4 matrix."""
    return tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [5, 6, 7], [3, 4])


def rows_of(tf: Any, D: Any) -> Any:
    return D.from_tensor_slices((sparse(tf), [1.0, 2.0, 3.0]))


def running(tf: Any) -> Any:
    """A sum of what came so far."""
    return tf.data.experimental.scan(np.int64(0), lambda total, x: (total + x, total + x))


PIPELINES.update(
    {
        "sparse_tensors": (
            lambda tf, D: D.from_tensors(sparse(tf)),
            [([[0, 1], [2, 0], [2, 3]], [5, 6, 7], [3, 4])],
        ),
        "sparse_slices": (
            rows_of,
            [(([[1]], [5], [4]), 1.0), (([], [], [4]), 2.0), (([[0], [3]], [6, 7], [4]), 3.0)],
        ),
        "sparse_batch": (
            lambda tf, D: rows_of(tf, D).batch(2),
            [(([[0, 1]], [5], [2, 4]), [1.0, 2.0]), (([[0, 0], [0, 3]], [6, 7], [1, 4]), [3.0])],
        ),
        "sparse_map": (
            lambda tf, D: rows_of(tf, D).map(lambda s, x: {"a": tf.sparse.to_dense(s), "b": s}),
            [
                {"a": [0, 5, 0, 0], "b": ([[1]], [5], [4])},
                {"a": [0, 0, 0, 0], "b": ([], [], [4])},
                {"a": [6, 0, 0, 7], "b": ([[0], [3]], [6, 7], [4])},
            ],
        ),
        "sparse_unbatch": (
            lambda tf, D: D.from_tensors((sparse(tf), [1, 2, 3])).unbatch().map(lambda s, n: (s.values, n)),
            [([5], 1), ([], 2), ([6, 7], 3)],
        ),
        "sparse_concatenate": (
            lambda tf, D: (
                D.from_tensors(sparse(tf)).concatenate(D.from_tensors(sparse(tf))).map(lambda s: s.values)
            ),
            [[5, 6, 7], [5, 6, 7]],
        ),
        "sparse_tensor_slices": (
            lambda tf, D: D.from_sparse_tensor_slices(sparse(tf)),
            [([[1]], [5], [4]), ([], [], [4]), ([[0], [3]], [6, 7], [4])],
        ),
        "unbatch": (lambda tf, D: D.range(5).batch(2).unbatch(), [0, 1, 2, 3, 4]),
        "unbatch_of_a_dict": (
            lambda tf, D: D.from_tensors({"a": [1, 2], "b": ["x", "y"]}).unbatch(),
            [{"a": 1, "b": b"x"}, {"a": 2, "b": b"y"}],
        ),
        "window": (
            lambda tf, D: D.range(7).window(3, 2).flat_map(lambda w: w.batch(9)),
            [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6]],
        ),
        "window_of_pairs": (
            lambda tf, D: (
                D.zip((D.range(5), D.range(5, 10)))
                .window(2, stride=2, shift=1, drop_remainder=True)
                .flat_map(lambda a, b: D.zip((a.batch(2), b.batch(2))))
            ),
            [([0, 2], [5, 7]), ([1, 3], [6, 8]), ([2, 4], [7, 9])],
        ),
        "map_to_a_dataset": (
            lambda tf, D: D.range(3).map(lambda x: D.range(x)).flat_map(lambda d: d.batch(5)),
            [[0], [0, 1]],
        ),
        "options": (lambda tf, D: D.range(2).with_options(options(tf)), [0, 1]),
        "legacy_functions": (
            lambda tf, D: (
                D.range(4)
                .map_with_legacy_function(lambda x: x + 1)
                .filter_with_legacy_function(lambda x: x > 2)
            ),
            [3, 4],
        ),
        "experimental_unbatch": (
            lambda tf, D: D.range(4).batch(3).apply(tf.data.experimental.unbatch()),
            [0, 1, 2, 3],
        ),
        "unique": (
            lambda tf, D: D.from_tensor_slices([3, 1, 3, 2, 1]).apply(tf.data.experimental.unique()),
            [3, 1, 2],
        ),
        "scan": (lambda tf, D: D.range(4).apply(running(tf)), [0, 1, 3, 6]),
        "take_while": (
            lambda tf, D: D.range(9).apply(tf.data.experimental.take_while(lambda x: x < 3)),
            [0, 1, 2],
        ),
        "enumerate_dataset": (
            lambda tf, D: D.range(5, 7).apply(tf.data.experimental.enumerate_dataset(1)),
            [(1, 5), (2, 6)],
        ),
        "map_and_batch": (
            lambda tf, D: D.range(5).apply(
                tf.data.experimental.map_and_batch(lambda x: x * x, 2, drop_remainder=True)
            ),
            [[0, 1], [4, 9]],
        ),
        "dense_to_sparse_batch": (
            lambda tf, D: (
                D.range(1, 4)
                .map(lambda x: tf.fill([x], x))
                .apply(tf.data.experimental.dense_to_sparse_batch(2, [4]))
            ),
            [([[0, 0], [1, 0], [1, 1]], [1, 2, 2], [2, 4]), ([[0, 0], [0, 1], [0, 2]], [3, 3, 3], [1, 4])],
        ),
        "group_by_window": (
            lambda tf, D: D.range(7).apply(
                tf.data.experimental.group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), 3)
            ),
            [[0, 2, 4], [1, 3, 5], [6]],
        ),
        "group_by_reducer": (
            lambda tf, D: D.range(7).apply(
                tf.data.experimental.group_by_reducer(
                    lambda x: x % 2,
                    tf.data.experimental.Reducer(
                        lambda key: np.int64(0), lambda total, x: total + x, lambda total: total * 10
                    ),
                )
            ),
            [120, 90],
        ),
        "buckets": (
            lambda tf, D: (
                D.from_tensor_slices([1, 4, 2, 5, 3, 1])
                .map(lambda x: tf.fill([x], x))
                .apply(tf.data.experimental.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2]))
            ),
            [[[1, 0], [2, 2]], [[4, 4, 4, 4, 0], [5, 5, 5, 5, 5]], [[1]], [[3, 3, 3]]],
        ),
        "buckets_to_the_boundary": (
            lambda tf, D: (
                D.from_tensor_slices([1, 2, 3])
                .map(lambda x: tf.fill([x], x))
                .apply(
                    tf.data.experimental.bucket_by_sequence_length(
                        lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], pad_to_bucket_boundary=True
                    )
                )
            ),
            [[[1, 0], [2, 2]], [[3, 3, 3, 0]]],
        ),
        "choose": (
            lambda tf, D: tf.data.experimental.choose_from_datasets(
                [D.range(3), D.range(10, 13)], D.from_tensor_slices(np.array([1, 0, 0, 1]))
            ),
            [10, 0, 1, 11],
        ),
        "sample_of_one": (lambda tf, D: tf.data.experimental.sample_from_datasets([D.range(3)]), [0, 1, 2]),
        "sample_by_weights": (
            lambda tf, D: tf.data.experimental.sample_from_datasets(
                [D.range(3), D.range(10, 13)], [0.0, 1.0], seed=5
            ).take(3),
            [10, 11, 12],
        ),
        "old_parallel_interleave": (
            lambda tf, D: D.range(1, 4).apply(
                tf.data.experimental.parallel_interleave(lambda x: D.from_tensors(x).repeat(2), 2)
            ),
            [1, 2, 1, 2, 3, 3],
        ),
        "counter": (lambda tf, D: tf.data.experimental.Counter(3, 2).take(3), [3, 5, 7]),
        "ignore_errors": (
            lambda tf, D: (
                D.range(3)
                .map(lambda x: tf.check_numerics(1.0 / tf.cast(x - 1, tf.float32), "bad"))
                .apply(tf.data.experimental.ignore_errors())
            ),
            [-1.0, 1.0],
        ),
    }
)


def options(tf: Any) -> Any:
    made = tf.data.Options()
    made.experimental_deterministic = True
    return made


def parts_of(component: Any) -> list[Any]:
    """The tensors of a component of an element."""
    is_sparse = hasattr(component, "dense_shape")
    return [component.indices, component.values, component.dense_shape] if is_sparse else [component]
