"""Arrays of tensors: what is written is read, with TensorFlow's errors and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours

LENGTHS = np.array([1, 0, 3], np.int64)


def array(tf: Any, size: int = 3, **attrs: Any) -> tuple[Any, Any]:
    made = tf.raw_ops.TensorArrayV3(size=size, dtype=tf.float32, tensor_array_name="a", **attrs)
    return made.handle, made.flow


def rows(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [None, 2], name="rows")


def written(tf: Any, value: Any, index: int = 0, **attrs: Any) -> tuple[Any, Any]:
    handle, flow = array(tf, **attrs)
    return handle, tf.raw_ops.TensorArrayWriteV3(handle=handle, index=index, value=value, flow_in=flow)


def read(tf: Any, handle: Any, index: int, flow: Any) -> Any:
    return tf.raw_ops.TensorArrayReadV3(handle=handle, index=index, flow_in=flow, dtype=tf.float32)


def write_and_read(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value, 1)
    return read(tf, handle, 1, flow) * 2.0


def read_twice(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value, 1, clear_after_read=False)
    return read(tf, handle, 1, flow) * read(tf, handle, 1, flow)


def never_written(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value, 1, element_shape=[4, 2])
    return read(tf, handle, 0, flow) + value


def scatter_and_gather(tf: Any, value: Any) -> Any:
    handle, flow = array(tf, 4)
    flow = tf.raw_ops.TensorArrayScatterV3(handle=handle, indices=[2, 0, 3, 1], value=value, flow_in=flow)
    return (
        tf.raw_ops.TensorArrayGatherV3(handle=handle, indices=[1, 2], flow_in=flow, dtype=tf.float32) ** 2.0
    )


def split_and_concat(tf: Any, value: Any) -> Any:
    handle, flow = array(tf)
    flow = tf.raw_ops.TensorArraySplitV3(handle=handle, value=value, lengths=LENGTHS, flow_in=flow)
    joined = tf.raw_ops.TensorArrayConcatV3(handle=handle, flow_in=flow, dtype=tf.float32)
    return joined.value * tf.cast(tf.reduce_sum(joined.lengths), tf.float32) ** 2.0


def grown(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value, 6, dynamic_size=True)
    size = tf.raw_ops.TensorArraySizeV3(handle=handle, flow_in=flow)
    return value * tf.cast(size, tf.float32)


GRAPHS = [write_and_read, read_twice, never_written, scatter_and_gather, split_and_concat, grown]
VALUE = np.arange(8, dtype=np.float32).reshape(4, 2) - 3
# What comes out, and the derivative of its sum.
EXPECTED = {
    "write_and_read": (VALUE * 2, np.full_like(VALUE, 2)),
    "read_twice": (VALUE**2, VALUE * 2),
    "never_written": (VALUE, np.ones_like(VALUE)),
    "scatter_and_gather": (VALUE[[3, 0]] ** 2, VALUE * 2 * [[1], [0], [0], [1]]),
    "split_and_concat": (VALUE * 16, np.full_like(VALUE, 16)),
    "grown": (VALUE * 7, np.full_like(VALUE, 7)),
}


def already_written(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value)
    return tf.raw_ops.TensorArrayWriteV3(handle=handle, index=0, value=value, flow_in=flow)


def outside(tf: Any, value: Any) -> Any:
    return written(tf, value, 3)[1]


def cleared(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value)
    first = read(tf, handle, 0, flow)
    with tf.control_dependencies([first]):
        return read(tf, handle, 0, tf.identity(flow))


def read_outside(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value)
    return read(tf, handle, -1, flow)


def no_shape(tf: Any, value: Any) -> Any:
    handle, flow = array(tf)
    return read(tf, handle, 0, flow)


def other_dtype(tf: Any, value: Any) -> Any:
    handle, flow = written(tf, value)
    return tf.raw_ops.TensorArrayReadV3(handle=handle, index=0, flow_in=flow, dtype=tf.int32)


def other_shape(tf: Any, value: Any) -> Any:
    return written(tf, value, element_shape=[3, 2])[1]


def too_many(tf: Any, value: Any) -> Any:
    handle, flow = array(tf)
    return tf.raw_ops.TensorArrayScatterV3(handle=handle, indices=[0, 1], value=value, flow_in=flow)


def wrong_lengths(tf: Any, value: Any) -> Any:
    handle, flow = array(tf)
    return tf.raw_ops.TensorArraySplitV3(handle=handle, value=value, lengths=LENGTHS + 1, flow_in=flow)


def negative(tf: Any, value: Any) -> Any:
    return array(tf, -1)[1]


# What the error says, in TensorFlow as in ours.
ERRORS = [
    (already_written, "Could not write to TensorArray index 0 because it has already been written to"),
    (outside, "Tried to write to index 3 but array is not resizeable and size is: 3"),
    (cleared, "Could not read index 0 twice because it was cleared after a previous read"),
    (read_outside, "Tried to read from index -1 but array size is: 3"),
    (no_shape, "Could not read from TensorArray index 0"),
    (other_dtype, "TensorArray dtype is float"),
    (other_shape, "because the value shape is"),
    (too_many, r"Expected len\(indices\) == values.shape\[0\], but saw: 2 vs. 4"),
    (wrong_lengths, "Expected sum of lengths to be equal to values.shape"),
    (negative, "Size should be >= 0"),
]


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
        module.disable_control_flow_v2()  # as TensorFlow 1 has it: its gradients of arrays need that
    with module.Graph().as_default():
        yield module


@pytest.mark.parametrize("build", GRAPHS, ids=lambda build: build.__name__)
def test_values_and_gradients(tf: Any, build: Any) -> None:
    value = rows(tf)
    result = build(tf, value)
    (gradient,) = tf.gradients(tf.reduce_sum(result), value)
    with tf.Session() as session:
        for expected, got in zip(EXPECTED[build.__name__], session.run([result, gradient], {value: VALUE})):
            np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize(("build", "message"), ERRORS, ids=lambda build: getattr(build, "__name__", ""))
def test_errors(tf: Any, build: Any, message: str) -> None:
    value = rows(tf)
    result = build(tf, value)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(result, {value: VALUE})


def test_each_run_has_its_own_array(tf: Any) -> None:
    value = rows(tf)
    result = write_and_read(tf, value)
    with tf.Session() as session:
        for _ in range(2):
            session.run(result, {value: VALUE})
