"""While loops of TensorFlow 1: graphs that TensorFlow made give what TensorFlow computes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.compiler import Options

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FEEDS = {"n:0": 5, "x:0": [1.0, -2.0, 3.0]}


@pytest.fixture
def expected() -> dict[str, Any]:
    with np.load(GOLDEN / "loops.npz") as archive:
        return dict(archive)


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(str(GOLDEN / "loops.meta"))
        yield graph


@pytest.mark.parametrize(
    "options",
    [Options(), Options(fold=False, simplify=False, free=False, reuse=False, specialize=False)],
    ids=["all passes", "no pass"],
)
def test_loops_of_every_make(expected: dict[str, Any], options: Options) -> None:
    with tf.Session(options=options) as session:
        session.run(tf.global_variables_initializer())
        values = session.run(list(expected), FEEDS)
    for name, value in zip(expected, values):
        assert np.asarray(value).dtype == expected[name].dtype
        np.testing.assert_allclose(value, expected[name], rtol=1e-6, err_msg=name)


def test_each_run_starts_anew_and_state_stays() -> None:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(["steps:0", "fibonacci:0"], {"n:0": 3}) == [3, 2]
        assert session.run(["steps:0", "fibonacci:0"], {"n:0": 6}) == [9, 8]
        assert session.run("state:0", {"n:0": 0}) == 2.0**9


def test_a_tensor_inside_a_loop_is_neither_fetched_nor_fed() -> None:
    inner = next(op for op in tf.get_default_graph().get_operations() if op.type == "NextIteration")
    says = "Inside a while loop a tensor has a value in each"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=says):
        session.run(inner.outputs[0], FEEDS)


def test_an_error_inside_a_loop_names_its_node() -> None:
    with tf.Session() as session:
        session.run("accumulator/Assign")  # the counter stays without a value
        with pytest.raises(
            tf.errors.FailedPreconditionError, match=r"\[\[node while.*/AssignAddVariableOp"
        ) as info:
            session.run("steps:0", FEEDS)
    assert info.value.fields["op"] == "AssignAddVariableOp"


def test_an_optimizer_trains_what_goes_into_a_loop() -> None:
    """Its gates stand between the Switch of a gradient's loop and the Exit."""
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * v), [0, w * 1.5])
        (gradient,) = tf.gradients(y, [w])
        step = tf.train.GradientDescentOptimizer(0.01).minimize(y)
        session.run(tf.global_variables_initializer())
        expected = session.run(gradient)
        np.testing.assert_allclose(expected, 8 * 1.5**8, rtol=1e-6)
        session.run(step)
        np.testing.assert_allclose(session.run(w), 1 - 0.01 * expected, rtol=1e-6)
