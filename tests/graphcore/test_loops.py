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


def test_shapes_inside_are_found_around_the_back_edges(graph: Any) -> None:
    """As TensorFlow wrote them into the file; but what enters has the shape that it has."""
    differ, count = {}, 0
    for operation in graph.get_operations():
        known = operation.get_attr("_output_shapes") if operation.outputs else []
        count += len(known)
        for tensor, shape in zip(operation.outputs, known):
            if str(tensor.shape) != str(tf.TensorShape(shape)):
                differ[tensor.name] = (tensor.shape.as_list(), tf.TensorShape(shape).as_list())
    assert count > 200
    assert differ == {"while_5/Enter_1:0": ([1, 3], [None, 3])}


def test_a_shape_that_an_iteration_changes_is_not_known() -> None:
    with tf.Graph().as_default():
        any_row = tf.TensorShape([None, 2])

        def inner(j: Any, rows: Any) -> Any:
            return j + 1, tf.concat([rows, rows], 0)

        def body(i: Any, rows: Any, fixed: Any) -> Any:
            _, grown = tf.while_loop(lambda j, _: j < 2, inner, [0, rows], [tf.TensorShape([]), any_row])
            return i + 1, grown, tf.matmul(fixed, fixed)

        _, rows, fixed = tf.while_loop(
            lambda i, *_: i < 2,
            body,
            [0, tf.ones([1, 2]), tf.ones([3, 3])],
            [tf.TensorShape([]), any_row, tf.TensorShape([3, 3])],
        )
        graph = tf.Graph()
        names = [rows.name, fixed.name]
        definition = rows.graph.as_graph_def()
    with graph.as_default():
        imported: Any = tf.import_graph_def(definition, return_elements=names)
        rows, fixed = imported
        assert rows.shape.as_list() == [None, 2]
        assert fixed.shape.as_list() == [3, 3]
        with tf.Session() as session:
            assert session.run(rows).shape == (16, 2)


def test_an_iteration_that_cannot_run_is_an_error_when_it_runs() -> None:
    with tf.Graph().as_default():
        value = tf.placeholder(tf.float32, None)
        steps = tf.placeholder(tf.int32, [], name="steps")
        _, end = tf.while_loop(lambda i, _: i < steps, lambda i, v: (i + 1, v @ tf.ones([5, 4])), [0, value])
        name, definition = end.name, end.graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        imported: Any = tf.import_graph_def(definition, {value.name: tf.ones([2, 3])}, [name])
        (end,) = imported
        assert end.shape.ndims is None
        assert session.run(end, {"import/steps:0": 0}).shape == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"3 vs\. 5: \[2,3\] \[5,4\]"):
            session.run(end, {"import/steps:0": 1})


def test_what_branches_and_iterations_give_is_no_constant() -> None:
    with tf.Graph().as_default():
        flag = tf.placeholder(tf.bool, [])
        sizes = tf.cond(flag, lambda: tf.constant([2, 3]), lambda: tf.constant([3, 2]))
        chosen = tf.reshape(tf.range(6), sizes)
        _, sizes = tf.while_loop(
            lambda i, _: i < 1, lambda i, _: (i + 1, tf.constant([3, 2])), [0, tf.constant([2, 3])]
        )
        looped = tf.reshape(tf.range(6), sizes)
        assert chosen.shape.as_list() == looped.shape.as_list() == [None, None]
        with tf.Session() as session:
            for given, shape in ((True, (2, 3)), (False, (3, 2))):
                assert session.run(tf.shape(chosen), {flag: given}).tolist() == list(shape)
            assert session.run(tf.shape(looped)).tolist() == [3, 2]


def test_training_through_a_loop() -> None:
    """An optimizer gates gradients: in the loop of gradients an Identity stands between Switch and Exit."""
    with tf.Graph().as_default():
        weight = tf.Variable([1.0, -2.0])
        bias = tf.Variable(0.5)
        _, end = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * 2.0 + bias), [0, weight])
        loss = tf.reduce_sum(end)
        step = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            assert session.run(weight).tolist() == [1.0 - 0.25 * 8, -2.0 - 0.25 * 8]
            assert session.run(bias) == 0.5 - 0.25 * 2 * (1 + 2 + 4)


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


def test_what_stands_before_an_exit_is_computed_once() -> None:
    with tf.Graph().as_default():
        _, end = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * 2.0), [0, tf.constant(1.5)])
        definition = end.graph.as_graph_def()
        (leaving,) = [node for node in definition.node if node.name == end.op.name]
        negative = definition.node.add(name="while/negative", op="Neg", input=[leaving.input[0]])
        negative.attr["T"].type = tf.float32.as_datatype_enum
        leaving.input[0] = negative.name
    with tf.Graph().as_default(), tf.Session() as session:
        imported: Any = tf.import_graph_def(definition, return_elements=[end.name])
        assert session.run(imported[0]) == -12.0
