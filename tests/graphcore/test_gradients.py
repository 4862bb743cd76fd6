"""`tf.gradients`: aggregation, stopping, seeds and what has no gradient."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_gradients_of_several_paths_and_ys_are_added(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    a, b = x * x, 3.0 * x
    (grad,) = tf.gradients([a, b, a + b], [x])
    np.testing.assert_allclose(session.run(grad, {x: [1.0, 2.0]}), [2 * (2 + 3), 2 * (4 + 3)])


def test_grad_ys_weigh_the_ys(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    (grad,) = tf.gradients(x * x, x, grad_ys=tf.constant([10.0, 0.0]))
    np.testing.assert_allclose(session.run(grad, {x: [1.0, 2.0]}), [20.0, 0.0])
    (grad,) = tf.gradients([x * x, x], x, grad_ys=[None, 5.0 * tf.ones([2])])
    np.testing.assert_allclose(session.run(grad, {x: [1.0, 2.0]}), [7.0, 9.0])
    with pytest.raises(ValueError, match="Passed 2 grad_ys for 1 ys"):
        tf.gradients(x, x, grad_ys=[x, x])
    with pytest.raises(TypeError, match="does not match the type"):
        tf.gradients(x * x, x, grad_ys=tf.constant([1.0, 2.0], tf.float64))


def test_stopping(session: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    inner = x * x
    (through,) = tf.gradients(inner * x, x)
    (stopped_op,) = tf.gradients(tf.stop_gradient(inner) * x, x)
    (stopped,) = tf.gradients(inner * x, x, stop_gradients=[inner])
    assert session.run([through, stopped_op, stopped], {x: 3.0}) == [27.0, 9.0, 9.0]
    grads = tf.gradients(inner * x, [inner, x], stop_gradients=[inner])
    assert session.run(grads, {x: 3.0}) == [3.0, 9.0]


def test_what_does_not_depend_has_none_or_zero(session: Any) -> None:
    x, unrelated = tf.placeholder(tf.float32, [2]), tf.constant([1.0, 2.0, 3.0])
    assert tf.gradients(x * x, unrelated) == [None]
    assert tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x) == [None]
    (zero,) = tf.gradients(x * x, unrelated, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(session.run(zero), [0, 0, 0])
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients"):
        tf.gradients(x, x, unconnected_gradients="nothing")


def test_y_itself_is_an_x(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    y = x * 2.0
    grads = tf.gradients(y, [y, x])
    np.testing.assert_array_equal(session.run(grads, {x: [1, 2]}), [[1, 1], [2, 2]])


def test_second_derivatives(session: Any) -> None:
    x = tf.placeholder(tf.float64, [])
    y = tf.sin(x) * tf.exp(x)
    (first,) = tf.gradients(y, x)
    (second,) = tf.gradients(first, x)
    assert session.run(second, {x: 0.7}) == pytest.approx(2 * np.cos(0.7) * np.exp(0.7))
    v = tf.placeholder(tf.float64, [2])
    (hessian,) = tf.hessians(v[0] ** 2 * v[1], v)
    np.testing.assert_allclose(session.run(hessian, {v: [3.0, 5.0]}), [[10.0, 6.0], [6.0, 0.0]])


def test_variables_of_both_kinds(session: Any) -> None:
    ref, resource = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0], use_resource=True)
    loss = tf.reduce_sum(ref * resource * resource)
    grads = tf.gradients(loss, [ref, resource])
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(grads), [[9.0, 16.0], [6.0, 16.0]])


def test_a_gather_gives_rows(session: Any) -> None:
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    rows = tf.gather(table, [2, 0, 2])
    (grad,) = tf.gradients(tf.reduce_sum(rows * rows), table)
    assert isinstance(grad, tf.IndexedSlices)
    session.run(table.initializer)
    dense = session.run(tf.convert_to_tensor(grad))
    np.testing.assert_allclose(dense, [[0, 2], [0, 0], [16, 20]])
    (both,) = tf.gradients(tf.reduce_sum(rows * rows) + tf.reduce_sum(table), table)
    np.testing.assert_allclose(session.run(tf.convert_to_tensor(both)), [[1, 3], [1, 1], [17, 21]])
    (twice,) = tf.gradients(tf.reduce_sum(rows) + tf.reduce_sum(tf.gather(table, [1])), table)
    assert isinstance(twice, tf.IndexedSlices)


def test_what_has_no_gradient_is_told(session: Any) -> None:
    x = tf.placeholder(tf.complex64, [])
    with pytest.raises(TypeError, match="Gradients of complex tensors must set grad_ys"):
        tf.gradients(x * x, x)
    graph_def = tf.get_default_graph().as_graph_def()
    node = graph_def.node.add(name="strange", op="NobodysOp", input=[x.op.name])
    after = graph_def.node.add(name="after", op="Identity", input=["strange"])
    after.attr["T"].type = 8
    assert node.name == "strange"
    with tf.Graph().as_default():
        x, y = tf.import_graph_def(graph_def, return_elements=[x.name, "after:0"], name="") or []
        with pytest.raises(
            LookupError, match=r"No gradient defined for operation 'strange' \(op type: NobodysOp\)"
        ):
            tf.gradients(y, x, grad_ys=y)


def test_registered_and_overridden_gradients(session: Any) -> None:
    @tf.RegisterGradient("TestDouble")
    def _(op: Any, grad: Any) -> Any:
        return grad * 100.0

    x = tf.placeholder(tf.float32, [])
    with tf.get_default_graph().gradient_override_map({"Square": "TestDouble"}):
        y = tf.square(x)
    assert y.op.get_attr("_gradient_op_type") == b"TestDouble"
    (grad,) = tf.gradients(y, x)
    assert session.run(grad, {x: 3.0}) == 100.0
    with pytest.raises(KeyError, match="Registering two gradient with name 'TestDouble'"):
        tf.RegisterGradient("TestDouble")(lambda op, grad: grad)


def test_gated_gradients_wait_for_one_another(session: Any) -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    grads = tf.gradients(x * y, [x, y], gate_gradients=True)
    assert session.run(grads, {x: 2.0, y: 5.0}) == [5.0, 2.0]
    assert all(grad.op.control_inputs for grad in grads)


@pytest.mark.parametrize("method", [0, 1, 2])
def test_every_aggregation_method_gives_the_sum(session: Any, method: int) -> None:
    x = tf.placeholder(tf.float32, [])
    (grad,) = tf.gradients(x * x + x * 3.0 + tf.exp(x), x, aggregation_method=method)
    assert session.run(grad, {x: 1.0}) == pytest.approx(5 + np.e)
