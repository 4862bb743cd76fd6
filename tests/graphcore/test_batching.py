"""Batch, Unbatch and BatchFunction around a model."""

from __future__ import annotations

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.function_defs import FunctionWriter

OPTIONS = {"num_batch_threads": 1, "max_batch_size": 4, "batch_timeout_micros": 1000}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def batched(*tensors, **options):
    return tf.raw_ops.Batch(list(tensors), grad_timeout_micros=1000, **OPTIONS, **options)


def test_a_model_between_batch_and_unbatch():
    x = tf.placeholder(tf.float32, [None, 2])
    made = batched(x, allowed_batch_sizes=[2, 4])
    squares = made.batched_tensors[0] ** 2.0
    y = tf.raw_ops.Unbatch(squares, made.batch_index, made.id, timeout_micros=1000)
    assert y.get_shape().as_list() == [None, 2]
    value = np.float32([[1, 2], [3, 4], [5, 6]])
    with tf.Session() as session:
        assert session.run(made.batched_tensors[0], {x: value}).shape == (4, 2)
        first, second = session.run(made.id, {x: value}), session.run(made.id, {x: value})
        assert first != second
        assert session.run(y, {x: value}).tolist() == (value**2).tolist()


def test_gradients_of_a_batch():
    x = tf.placeholder(tf.float32, [None])
    made = batched(x)
    y = tf.raw_ops.Unbatch(made.batched_tensors[0] ** 2.0, made.batch_index, made.id, timeout_micros=1000)
    (grad,) = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run(grad, {x: [1.0, 2.0, 3.0]}).tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([np.float32(1)], "must have at least one dimension"),
        ([np.zeros(2), np.zeros(3)], "must have equal 0th-dimension size"),
        ([np.zeros(5)], "larger than maximum batch size 4"),
    ],
)
def test_what_is_no_batch(values, sentence):
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=sentence):
        session.run(batched(*values).id)


def test_a_function_of_a_batch(graph):
    writer = FunctionWriter("double_it")
    (x,) = writer.args([tf.float32])
    f = writer.finish(writer.node("AddV2", [x, x], T=tf.float32), [tf.float32], graph._functions)
    made = tf.raw_ops.BatchFunction(
        [tf.constant([1.0, 2.0, 3.0])], [], f=f, Tout=[tf.float32], allowed_batch_sizes=[4], **OPTIONS
    )
    with tf.Session() as session:
        assert session.run(made[0]).tolist() == [2, 4, 6]
