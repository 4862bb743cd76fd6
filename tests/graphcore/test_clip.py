"""Clipping, in TensorFlow and here: the same source text, the same values and operations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours

VALUE = np.array([[3.0, -4.0], [0.0, 0.5]], np.float32)
NORM = float(np.sqrt(np.sum(VALUE**2)))


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    with module.Graph().as_default():
        yield module


def evaluate(tf: Any, fetches: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetches)


def test_values(tf: Any) -> None:
    x = tf.constant(VALUE)
    clipped = tf.clip_by_value(x, -1.0, 2.0, name="clip")
    assert clipped.op.name == "clip"
    (slope,) = tf.gradients(clipped, x)
    got, derivative = evaluate(tf, [clipped, slope])
    np.testing.assert_array_equal(got, np.clip(VALUE, -1, 2))
    np.testing.assert_array_equal(derivative, [[0, 0], [1, 1]])


def test_norm(tf: Any) -> None:
    x = tf.constant(VALUE)
    small, large, rows = evaluate(
        tf, [tf.clip_by_norm(x, 1.0), tf.clip_by_norm(x, 9.0), tf.clip_by_norm(x, 1.0, axes=[1])]
    )
    np.testing.assert_allclose(small, VALUE / NORM, rtol=1e-6)
    np.testing.assert_allclose(large, VALUE, rtol=1e-6)
    np.testing.assert_allclose(rows, [[0.6, -0.8], [0.0, 0.5]], rtol=1e-6)
    zeros = tf.zeros([2])
    np.testing.assert_array_equal(evaluate(tf, tf.gradients(tf.clip_by_norm(zeros, 1.0), zeros)[0]), [1, 1])


def test_global_norm(tf: Any) -> None:
    x, y = tf.constant(VALUE), tf.constant([12.0])
    slices = tf.IndexedSlices(tf.constant([[2.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    clipped, norm = tf.clip_by_global_norm([x, None, y, slices], 2.0)
    assert clipped[1] is None
    assert isinstance(clipped[3], tf.IndexedSlices)
    whole = np.sqrt(NORM**2 + 144 + 8)
    got = evaluate(
        tf, [norm, tf.global_norm([x, None, y, slices]), clipped[0], clipped[2], clipped[3].values]
    )
    for value, expected in zip(got, [whole, whole, VALUE * 2 / whole, [24 / whole], [[4 / whole] * 2]]):
        np.testing.assert_allclose(value, expected, rtol=1e-6)
    infinite, _ = tf.clip_by_global_norm([tf.constant([np.inf, 1.0])], 1.0)
    assert np.isnan(evaluate(tf, infinite[0])).all()
    with pytest.raises(TypeError, match="should be a sequence"):
        tf.clip_by_global_norm(x, 1.0)


def test_operations_are_named_alike(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.clip_by_value(x, 0.0, 1.0)
    tf.clip_by_norm(x, 1.0)
    tf.clip_by_global_norm([x], 1.0)
    names = {operation.name for operation in tf.get_default_graph().get_operations()}
    assert {
        "clip_by_value/Minimum", "clip_by_value",
        "clip_by_norm/mul", "clip_by_norm/Sum", "clip_by_norm/Select", "clip_by_norm/Maximum",
        "clip_by_norm/truediv", "clip_by_norm",
        "global_norm/L2Loss", "global_norm/stack", "global_norm/global_norm",
        "clip_by_global_norm/truediv", "clip_by_global_norm/mul",
        "clip_by_global_norm/clip_by_global_norm/_0",
    } - {name.replace("SelectV2", "Select") for name in names} == set()  # fmt: skip
