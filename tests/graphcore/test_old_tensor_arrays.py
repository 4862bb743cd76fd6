"""Arrays of tensors of the first two generations: here, and the same graphs in TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf

VERSIONS = pytest.mark.parametrize("version", ["", "V2"], ids=["V1", "V2"])


def call(name: str, version: str, *inputs: Any, **attrs: Any) -> Any:
    return getattr(tf.raw_ops, f"TensorArray{name}{version}")(*inputs, **attrs)


def by_elements(version: str) -> list[Any]:
    """Written and read one by one, gathered; the gradient of all."""
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    array = call("", version, 3, dtype=tf.float32, clear_after_read=False, element_shape=[2])
    flow = tf.constant(0.0)
    for index in range(3):
        flow = call("Write", version, array, index, x[index] * float(index + 1), flow)
    one = call("Read", version, array, 1, flow, dtype=tf.float32)
    some = call("Gather", version, array, [2, 0], flow, dtype=tf.float32)
    total = tf.reduce_sum(one * one) + tf.reduce_sum(some * [[1.0, 2.0], [3.0, 4.0]])
    size = call("Size", version, array, flow)
    return [one, some, size, total, *tf.gradients(total, [x])]


def by_rows(version: str) -> list[Any]:
    """Scattered, split and joined again; the gradients."""
    x = tf.constant(np.arange(8, dtype=np.float32).reshape(4, 2))
    first = call("", version, 4, dtype=tf.float32)
    flow = call("Scatter", version, first, [3, 0, 1, 2], x, 0.0)
    joined = call("Gather", version, first, [0, 1, 2, 3], flow, dtype=tf.float32)
    second = call("", version, 2, dtype=tf.float32)
    lengths = tf.constant([3, 1], tf.int64)
    flow = call("Split", version, second, joined * joined, lengths, flow)
    value, sizes = call("Concat", version, second, flow, dtype=tf.float32)
    total = tf.reduce_sum(value * tf.constant([[1.0], [2.0], [3.0], [4.0]]))
    return [joined, value, sizes, *tf.gradients(total, [x])]


def packed(version: str) -> list[Any]:
    x = tf.constant([[1, 2], [3, 4]])
    array = tf.raw_ops.TensorArray(2, dtype=tf.int32)
    flow = tf.raw_ops.TensorArrayUnpack(array, x, 0.0)
    value = tf.raw_ops.TensorArrayPack(array, flow, dtype=tf.int32)
    with tf.control_dependencies([value]):
        closed = tf.raw_ops.TensorArrayClose(array)
    with tf.control_dependencies([closed]):
        return [tf.identity(value)]


def in_a_loop(version: str) -> list[Any]:
    array = call("", version, 5, dtype=tf.int32)

    def body(index: Any, flow: Any) -> Any:
        return index + 1, call("Write", version, array, index, index * index, flow)

    _, flow = tf.while_loop(lambda index, _: index < 5, body, [tf.constant(0), tf.constant(0.0)])
    return [call("Gather", version, array, [0, 1, 2, 3, 4], flow, dtype=tf.int32)]


PROGRAMS = {"elements": by_elements, "rows": by_rows, "packed": packed, "loop": in_a_loop}
EXPECTED = {
    "elements": [[6, 8], [[15, 18], [1, 2]], 3, 162, [[3, 4], [24, 32], [3, 6]]],
    "rows": [
        [[2, 3], [4, 5], [6, 7], [0, 1]],
        [[4, 9], [16, 25], [36, 49], [0, 1]],
        [3, 1],
        [[0, 8], [4, 6], [16, 20], [36, 42]],
    ],
    "packed": [[[1, 2], [3, 4]]],
    "loop": [[0, 1, 4, 9, 16]],
}


@VERSIONS
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, version: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fetches = PROGRAMS[name](version)
        for _ in range(2):  # each run has arrays of its own
            found = [np.asarray(value).tolist() for value in session.run(fetches)]
            assert found == EXPECTED[name]


@pytest.mark.oracle
@VERSIONS
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_in_tensorflow(name: str, version: str) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_v2_behavior()
    with tf.Graph().as_default() as graph:
        fetches = [tensor.name for tensor in PROGRAMS[name](version)]
        data = graph.as_graph_def().SerializeToString()
    definition = theirs.GraphDef.FromString(data)
    definition.versions.producer = 10  # when these ops were current
    definition.versions.min_consumer = 0
    with theirs.Graph().as_default(), theirs.Session() as session:
        theirs.import_graph_def(definition, name="")
        found = [np.asarray(value).tolist() for value in session.run(fetches)]
    assert found == EXPECTED[name]


@VERSIONS
def test_errors(version: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        array = call("", version, 1, dtype=tf.float32, tensor_array_name="a")
        flow = call("Write", version, array, 0, 1.0, 0.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been written to"):
            session.run(call("Write", version, array, 0, 2.0, flow))
        with pytest.raises(tf.errors.InvalidArgumentError, match="TensorArray a: Tried to read from index 3"):
            session.run(call("Read", version, array, 3, flow, dtype=tf.float32))
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="dtype is float32 but Op requested dtype int32"
        ):
            session.run(call("Read", version, array, 0, flow, dtype=tf.int32))
        x = tf.constant([1.0])
        old = tf.raw_ops.TensorArray(1, dtype=tf.float32)
        flow = tf.raw_ops.TensorArrayUnpack(old, x, 0.0)
        value = tf.raw_ops.TensorArrayPack(old, flow, dtype=tf.float32)
        with pytest.raises(LookupError, match="No gradient defined"):
            tf.gradients(value, [x])
