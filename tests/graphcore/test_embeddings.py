"""Embeddings, sampled losses, moments, and tables that lie in several variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf

TABLE = np.arange(21, dtype=np.float32).reshape(7, 3)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def run(tensors: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def partitioned(parts: int = 3, **options: Any) -> Any:
    return tf.get_variable(
        "table", initializer=tf.constant(TABLE), partitioner=tf.fixed_size_partitioner(parts), **options
    )


def sparse_ids(values: list[int]) -> Any:
    return tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant(values, tf.int64), [3, 2])


# Looking up


@pytest.mark.parametrize("use_resource", [False, True])
def test_rows_of_a_partitioned_table(use_resource: bool) -> None:
    table = partitioned(use_resource=use_resource)
    found = tf.nn.embedding_lookup(table, [[6, 0], [3, 3]], partition_strategy="div")
    assert found.shape.as_list() == [2, 2, 3]
    np.testing.assert_array_equal(run(found), TABLE[[[6, 0], [3, 3]]])


def test_the_two_strategies_number_rows_differently() -> None:
    parts = [tf.constant(TABLE[:3]), tf.constant(TABLE[3:5]), tf.constant(TABLE[5:])]
    by_div = tf.nn.embedding_lookup(parts, list(range(7)), "div")
    by_mod = tf.nn.embedding_lookup(parts, list(range(7)))
    div, mod = run([by_div, by_mod])
    np.testing.assert_array_equal(div, TABLE)
    np.testing.assert_array_equal(mod, TABLE[[0, 3, 5, 1, 4, 6, 2]])


def test_long_rows_are_cut_to_a_norm() -> None:
    rows = run(tf.nn.embedding_lookup(tf.constant([[3.0, 4.0], [0.3, 0.4]]), [0, 1], max_norm=1.0))
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_tables_that_are_none() -> None:
    with pytest.raises(ValueError, match="params must be specified"):
        tf.nn.embedding_lookup(None, [0])
    with pytest.raises(ValueError, match="Need at least one param"):
        tf.nn.embedding_lookup([], [0])
    with pytest.raises(ValueError, match="Unrecognized partition strategy: hash"):
        tf.nn.embedding_lookup([tf.constant(TABLE), tf.constant(TABLE)], [0], "hash")
    with pytest.raises(ValueError, match="Missing embedding_weights"):
        tf.nn.safe_embedding_lookup_sparse([], sparse_ids([0, 1, 2]))


@pytest.mark.parametrize(
    ("combiner", "first"),
    [
        ("sum", TABLE[1] * 2 + TABLE[4] * 3),
        ("mean", (TABLE[1] * 2 + TABLE[4] * 3) / 5),
        ("sqrtn", (TABLE[1] * 2 + TABLE[4] * 3) / np.sqrt(13)),
    ],
)
def test_rows_are_combined(combiner: str, first: Any) -> None:
    weights = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [2.0, 3.0, 1.0], [3, 2])
    found = tf.nn.embedding_lookup_sparse(
        partitioned(), sparse_ids([1, 4, 6]), weights, "div", combiner=combiner
    )
    np.testing.assert_allclose(run(found)[0], first, rtol=1e-5)


def test_what_is_not_sparse_is_refused() -> None:
    table = tf.constant(TABLE)
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse(table, [0], None)
    with pytest.raises(TypeError, match="sp_weights must be either None or SparseTensor"):
        tf.nn.embedding_lookup_sparse(table, sparse_ids([0, 1, 2]), [1.0])
    with pytest.raises(ValueError, match="combiner must be one of 'mean', 'sqrtn' or 'sum'"):
        tf.nn.embedding_lookup_sparse(table, sparse_ids([0, 1, 2]), None, combiner="max")


def test_empty_rows_and_bad_numbers_are_safe() -> None:
    table = tf.constant(TABLE)
    ids = sparse_ids([1, -1, 6])
    zeros, default = run(
        [
            tf.nn.safe_embedding_lookup_sparse(table, ids),
            tf.nn.safe_embedding_lookup_sparse(table, ids, default_id=2),
        ]
    )
    np.testing.assert_array_equal(zeros, [TABLE[1], np.zeros(3), TABLE[6]])
    np.testing.assert_array_equal(default, [TABLE[1], TABLE[2], TABLE[6]])


def test_gradients_reach_the_rows_of_each_part() -> None:
    table = partitioned()
    loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [0, 6, 6], "div"))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        after = session.run(table.as_tensor())
    changes = TABLE - after
    np.testing.assert_array_equal(changes[:, 0], [1, 0, 0, 0, 0, 0, 2])


@pytest.mark.parametrize("loss", [tf.nn.nce_loss, tf.nn.sampled_softmax_loss])
def test_sampled_losses_fall(loss: Any) -> None:
    weights = tf.get_variable("w", [50, 4], partitioner=tf.fixed_size_partitioner(3))
    biases = tf.get_variable("b", [50], initializer=tf.zeros_initializer())
    inputs = tf.constant(np.random.RandomState(0).randn(8, 4).astype(np.float32))
    labels = tf.constant(np.arange(8).reshape(8, 1))
    mean = tf.reduce_mean(loss(weights, biases, labels, inputs, 10, 50, partition_strategy="div"))
    train = tf.train.AdamOptimizer(0.1).minimize(mean)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = np.mean([session.run(mean) for _ in range(5)])
        for _ in range(40):
            session.run(train)
        assert np.mean([session.run(mean) for _ in range(5)]) < before / 2


# Partitioned variables


def test_parts_and_what_they_are_called() -> None:
    table = partitioned()
    assert isinstance(table, tf.PartitionedVariable)
    assert (table.name, table.dtype, table.shape.as_list(), len(table)) == ("table", tf.float32, [7, 3], 3)
    assert [part.op.name for part in table] == ["table/part_0", "table/part_1", "table/part_2"]
    assert [part.shape.as_list() for part in table] == [[3, 3], [2, 3], [2, 3]]
    assert [part._get_save_slice_info().spec for part in table] == [
        "7 3 0,3:0,3",
        "7 3 3,2:0,3",
        "7 3 5,2:0,3",
    ]
    assert tf.trainable_variables() == list(table)
    product = tf.matmul(table, tf.eye(3))
    np.testing.assert_array_equal(run(product), TABLE)
    np.testing.assert_array_equal(run(table + 1.0), TABLE + 1)
    assert "table/ConcatPartitions/concat" in [op.name for op in tf.get_default_graph().get_operations()]


def test_assignments_to_all_parts() -> None:
    table = partitioned()
    changes = [
        table.assign(TABLE * 2),
        table.assign_add([TABLE[:3], TABLE[3:5], TABLE[5:]]),
        table.assign_sub(TABLE),
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for change in changes:
            session.run(change)
        np.testing.assert_array_equal(session.run(table.as_tensor()), TABLE * 2)


def test_sharing() -> None:
    table = partitioned()
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("table", [7, 3]) is table
        for arguments, text in [
            ({"shape": [7, 4]}, r"specified shape \(7, 4\) and found shape \(7, 3\)"),
            ({"shape": [7, 3], "dtype": tf.int32}, "specified dtype int32 and found dtype float32"),
            (
                {"shape": [7, 3], "partitioner": tf.fixed_size_partitioner(2)},
                r"specified partitions \[2, 1\] and found partitions \[3, 1\]",
            ),
        ]:
            with pytest.raises(ValueError, match=text):
                tf.get_variable("table", **arguments)
    with pytest.raises(ValueError, match="Partitioned variable with name table already exists"):
        partitioned()
    with pytest.raises(ValueError, match="No partitioner was provided, but a partitioned version"):
        tf.get_variable("table", [7, 3])
    tf.get_variable("plain", [4])
    with pytest.raises(ValueError, match="A partitioner was provided, but an unpartitioned version"):
        tf.get_variable("plain", [4], partitioner=tf.fixed_size_partitioner(2))


@pytest.mark.parametrize(
    ("partitioner", "text"),
    [
        (5, "Partitioner must be callable, but received: 5"),
        (lambda **_: 3, "Partitioner must return a sequence, but saw: 3"),
        (lambda **_: [1], "partition list that does not match the Variable's rank"),
        (lambda **_: [0, 1], "Partitioner returned zero partitions for some axes"),
        (lambda **_: [2, 2], "Can only slice a variable along one dimension"),
    ],
)
def test_partitioners_that_are_wrong(partitioner: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        tf.get_variable("v", [4, 6], partitioner=partitioner)


def test_scalars_are_not_partitioned() -> None:
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)):
        assert tf.get_variable("v", []).op.name == "s/v"


def test_partitioners() -> None:
    shape = tf.TensorShape([64, 1024])
    assert tf.fixed_size_partitioner(5, axis=1)(shape=shape) == [1, 5]
    assert tf.fixed_size_partitioner(100)(shape=shape) == [64, 1]
    assert tf.variable_axis_size_partitioner(1 << 16)(shape, tf.float32) == [4, 1]
    assert tf.variable_axis_size_partitioner(1 << 16, max_shards=3)(shape, tf.float32) == [3, 1]
    assert tf.variable_axis_size_partitioner(1 << 16)(shape, tf.string) == [16, 1]
    assert tf.min_max_variable_partitioner(8, min_slice_size=64 << 10)(shape, tf.float32) == [4, 1]
    assert tf.min_max_variable_partitioner(2, axis=1, min_slice_size=1)(shape, tf.float32) == [1, 2]
    with pytest.raises(ValueError, match="must be positive"):
        tf.variable_axis_size_partitioner(0)
    with pytest.raises(ValueError, match="Can not partition variable along axis 2"):
        tf.min_max_variable_partitioner(axis=2)(shape, tf.float32)


def test_variables_by_slicing() -> None:
    parts = tf.create_partitioned_variables([4, 3], [1, 2], tf.ones_initializer())
    assert [part.op.name for part in parts] == ["PartitionedVariable/part_0", "PartitionedVariable/part_1"]
    assert [part.shape.as_list() for part in parts] == [[4, 2], [4, 1]]
    with pytest.raises(ValueError, match="must have the length"):
        tf.create_partitioned_variables([4, 3], [2], tf.ones_initializer())


def test_initializers_are_told_of_the_whole() -> None:
    told = []

    def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        told.append((list(shape), partition_info.full_shape, partition_info.var_offset))
        return tf.zeros(shape, dtype)

    tf.get_variable("v", [5, 2], initializer=initializer, partitioner=tf.fixed_size_partitioner(2))
    assert told == [([3, 2], [5, 2], [0, 0]), ([2, 2], [5, 2], [3, 0])]


def test_a_checkpoint_holds_the_whole(tmp_path: Path) -> None:
    partitioned()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, str(tmp_path / "model"))
    assert tf.train.list_variables(prefix) == [("table", [7, 3])]
    np.testing.assert_array_equal(tf.train.load_variable(prefix, "table"), TABLE)
    for parts in (1, 2, 7):
        with tf.Graph().as_default(), tf.Session() as session:
            table = partitioned(parts)
            tf.train.Saver().restore(session, prefix)
            np.testing.assert_array_equal(session.run(table.as_tensor()), TABLE)
    with tf.Graph().as_default(), tf.Session() as session:
        whole = tf.get_variable("table", [7, 3])
        tf.train.Saver().restore(session, prefix)
        np.testing.assert_array_equal(session.run(whole), TABLE)


# Moments


def test_moments_by_parts_are_the_moments() -> None:
    x = np.random.RandomState(1).rand(4, 5, 2).astype(np.float32) + 100
    for shift in (None, 100.0):
        with tf.Graph().as_default():
            statistics = tf.nn.sufficient_statistics(tf.constant(x), [0, 1], shift, keep_dims=True)
            mean, variance = run(tf.nn.normalize_moments(*statistics))
        np.testing.assert_allclose(mean, x.mean((0, 1), keepdims=True), rtol=1e-5)
        if shift is not None:
            np.testing.assert_allclose(variance, x.var((0, 1), keepdims=True), rtol=1e-3)


def test_weighted_moments_count_each_element() -> None:
    x = np.float32([[1, 2], [3, 5]])
    mean, variance = run(tf.nn.weighted_moments(tf.constant(x), [0], [[3.0], [1.0]]))
    np.testing.assert_allclose(mean, [1.5, 2.75])
    np.testing.assert_allclose(variance, [0.75, 1.6875])


def test_losses_of_examples_are_averaged() -> None:
    losses = tf.constant([1.0, 2.0, 3.0])
    found = run(
        [
            tf.nn.compute_average_loss(losses),
            tf.nn.compute_average_loss(losses, [1.0, 0.0, 2.0], 4),
            tf.nn.scale_regularization_loss(losses),
        ]
    )
    assert found == [2.0, 1.75, 6.0]
    with pytest.raises(ValueError, match="Expected a tensor with at least rank 1"):
        tf.nn.compute_average_loss(tf.constant(1.0))


# Connectionist temporal classification


def test_dense_and_sparse_labels_have_one_loss() -> None:
    logits = np.random.RandomState(2).randn(6, 2, 4).astype(np.float32)
    labels = np.int32([[1, 3, 0], [2, 0, 0]])
    dense = tf.nn.ctc_loss_v2(labels, logits, [2, 1], [6, 5])
    moved = tf.nn.ctc_loss_v2(labels - 1, np.roll(logits, -1, 2), [2, 1], [6, 5], blank_index=-1)
    indices = [[0, 0], [0, 1], [1, 0]]
    sparse = tf.nn.ctc_loss_v2(
        tf.SparseTensor(indices, tf.constant([1, 3, 2]), [2, 2]), logits, None, [6, 5], blank_index=0
    )
    found = run([dense, moved, sparse])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-5)
    with pytest.raises(ValueError, match="blank_index must be given when using SparseTensor labels"):
        tf.nn.ctc_loss_v2(tf.SparseTensor(indices, tf.constant([1, 3, 2]), [2, 2]), logits, None, [6, 5])


def test_labels_without_repetitions() -> None:
    collapsed, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2], [3, 1, 1, 1]], [4, 3])
    unique, places = tf.nn.ctc_unique_labels([[5, 7, 5], [1, 1, 1]])
    found = run([collapsed, lengths, unique, places])
    assert [item.tolist() for item in found] == [
        [[1, 2], [3, 1]], [2, 2], [[5, 7, 0], [1, 0, 0]], [[0, 1, 0], [0, 0, 0]],
    ]  # fmt: skip


# Dilation


def test_any_window_is_dilated() -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 8, 2)

    def pairs(tensor: Any, axes: int, padding: str) -> Any:
        assert (axes, padding) == (1, "VALID")
        return tensor[:, :-1] + tensor[:, 1:]

    found = run(tf.nn.with_space_to_batch(tf.constant(x), [3], "VALID", pairs))
    np.testing.assert_array_equal(found, x[:, :-3] + x[:, 3:])
    for arguments, text in [
        (([[1]], "VALID"), "rate must be rank 1"),
        (([0], "VALID"), "dilation_rate must be positive"),
        (([2], "SAME"), "filter_shape must be specified for SAME padding"),
        (([2], "OTHER"), "Invalid padding method"),
        (([2, 2, 2], "VALID"), "input tensor must have rank 4 at least"),
    ]:
        with pytest.raises(ValueError, match=text):
            tf.nn.with_space_to_batch(tf.constant(x), *arguments, pairs)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_dilated_convolutions_are_the_gradient(padding: str) -> None:
    random = np.random.RandomState(3)
    kernel = random.rand(3, 2, 2, 4).astype(np.float32)
    x = tf.constant(random.rand(1, 7, 8, 2).astype(np.float32))
    y = tf.nn.atrous_conv2d(x, kernel, 2, padding)
    dy = random.rand(*y.shape.as_list()).astype(np.float32)
    gradient = tf.gradients(y, x, dy)[0]
    transposed = tf.nn.atrous_conv2d_transpose(dy, kernel, [1, 7, 8, 2], 2, padding)
    found = run([gradient, transposed])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4)
