"""Winograd's convolution against the plain one, and filters that change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.compiler import Options
from sgtool.graphcore.kernels import convolution, winograd

RANDOM = np.random.default_rng(0)


def array(*shape: int, scale: float = 1.0) -> Any:
    return (RANDOM.normal(size=shape) * scale).astype(np.float32)


@pytest.mark.parametrize("padding", ["SAME", "VALID", "EXPLICIT"])
@pytest.mark.parametrize(
    ("shape", "filters"),
    [((1, 30, 37, 32), 32), ((3, 21, 26, 32), 64), ((2, 26, 26, 300), 260), ((1, 80, 90, 64), 40)],
)
def test_it_gives_what_the_plain_convolution_gives(
    shape: tuple[int, ...], filters: int, padding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, w = array(*shape), array(3, 3, shape[3], filters, scale=(9 * shape[3]) ** -0.5)
    explicit = (0, 0, 2, 1, 0, 3, 0, 0) if padding == "EXPLICIT" else ()
    options: Any = {"strides": [1] * 4, "padding": padding, "explicit_paddings": explicit}
    asked = []

    def transformed() -> Any:
        asked.append(True)
        return winograd.transform_filters(w)

    plain = convolution.conv2d(x, w, **options)
    for strip, whole in ((1 << 18, 1 << 24), (1 << 12, 1 << 16)):
        monkeypatch.setattr(winograd, "_STRIP", strip)
        monkeypatch.setattr(winograd, "_WHOLE", whole)
        seen = np.zeros(plain.size // filters, int)

        def finish(block: Any, rows: slice, columns: slice, seen: Any = seen) -> None:
            assert block.shape == (rows.stop - rows.start, filters)
            seen[rows] += 1
            block += 1

        fast = convolution.conv2d(x, w, **options, transformed=transformed, finish=finish)
        np.testing.assert_allclose(fast, plain + 1, rtol=0, atol=3e-5)
        assert (seen == 1).all()
    assert len(asked) == 2


@pytest.mark.parametrize("is_resource", [False, True])
def test_filters_that_change_are_transformed_again(is_resource: bool) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [1, 40, 40, 32])
        w = tf.get_variable("w", initializer=array(3, 3, 32, 32), use_resource=is_resource)
        y = tf.nn.relu(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"))
        new = tf.placeholder(tf.float32, [3, 3, 32, 32])
        changes = [tf.assign(w, new), tf.assign_add(w, new)]
        trained = tf.train.GradientDescentOptimizer(1e-3).minimize(tf.reduce_sum(y))
        feeds = {x: array(1, 40, 40, 32), new: array(3, 3, 32, 32)}
        with tf.Session() as session, tf.Session(options=Options(winograd=False)) as plain:
            for each in (session, plain):
                each.run(tf.global_variables_initializer())
            for change in (None, *changes, trained):
                if change is not None:
                    session.run(change, feeds)
                    plain.run(change, feeds)
                np.testing.assert_allclose(session.run(y, feeds), plain.run(y, feeds), rtol=1e-4, atol=1e-2)


def test_fed_filters_are_taken() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [1, 40, 40, 32])
        w = tf.get_variable("w", initializer=array(3, 3, 32, 32), use_resource=True)
        read = tf.identity(w)
        y = tf.nn.conv2d(x, read, [1, 1, 1, 1], "SAME")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            zeros = np.zeros((3, 3, 32, 32), np.float32)
            assert not session.run(y, {x: array(1, 40, 40, 32), read: zeros}).any()
