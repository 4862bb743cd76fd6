"""Chains of element-wise nodes that run block by block: what is joined, what is not, and equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.compiler import Options, compile_plan
from sgtool.graphcore.resources import SessionState

RANDOM = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def graph() -> Any:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def array(*shape: int, scale: float = 1.0) -> Any:
    return (RANDOM.normal(size=shape) * scale).astype(np.float32)


def steps(fetches: list[Any], feeds: dict[Any, Any]) -> list[str]:
    shapes = {tensor: np.shape(value) for tensor, value in feeds.items()}
    plan = compile_plan(fetches[0].graph, fetches, shapes, SessionState(), Options())
    return [operation.type for operation in plan.operations]


def both(fetches: list[Any], feeds: dict[Any, Any]) -> list[Any]:
    """The values with chains, after comparing them with those of the plain plan."""
    results = []
    for options in (Options(), Options(fuse=False, reuse=False)):
        with tf.Session(options=options) as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(fetches, feeds))
    for joined, plain in zip(*results):
        np.testing.assert_array_equal(joined, plain)
    return results[0]


@pytest.mark.parametrize("shape", [(2, 9, 11, 8), (1, 40, 40, 16)])
@pytest.mark.parametrize("strides", [[1, 1, 1, 1], [1, 2, 2, 1]])
@pytest.mark.parametrize("depthwise", [False, True])
def test_a_convolution_with_all_that_follows_is_one_step(
    shape: tuple[int, ...], strides: list[int], depthwise: bool
) -> None:
    x = tf.placeholder(tf.float32, [None, *shape[1:]])
    if depthwise:
        y = tf.nn.depthwise_conv2d(x, tf.constant(array(3, 3, shape[3], 2)), strides, "SAME")
    else:
        y = tf.nn.conv2d(x, tf.constant(array(3, 3, shape[3], 24)), strides, "SAME")
    filters = int(y.shape[3])
    residual = tf.placeholder(tf.float32, [None, *y.shape.as_list()[1:]])
    scale, offset, mean, variance = (tf.constant(np.abs(array(filters))) for _ in range(4))
    y, *_ = tf.nn.fused_batch_norm(y, scale, offset, mean, variance, is_training=False)
    y = tf.nn.relu6(residual - tf.nn.bias_add(y, tf.constant(array(filters)))) * 0.5
    feeds = {x: array(*shape), residual: array(shape[0], *y.shape.as_list()[1:])}
    assert steps([y], feeds) == ["Mul"]
    (value,) = both([y], feeds)
    assert value.std() > 0


def test_what_somebody_else_takes_stays_a_step() -> None:
    x = tf.placeholder(tf.float32, [1, 32, 32, 4])
    y = tf.nn.conv2d(x, tf.constant(array(3, 3, 4, 8)), [1, 1, 1, 1], "SAME")
    z = tf.nn.relu(y)
    feeds = {x: array(1, 32, 32, 4)}
    assert steps([z], feeds) == ["Relu"]
    assert steps([z, y], feeds) == ["Conv2D", "Relu"]
    assert steps([z, tf.reduce_sum(y)], feeds)[:2] == ["Conv2D", "Relu"]
    both([z, y], feeds)


def test_large_element_wise_nodes_are_one_step() -> None:
    x, y = (tf.placeholder(tf.float32, [300, 500]) for _ in range(2))
    row, scalar = tf.constant(array(500)), tf.constant(2.0)
    z = tf.exp(tf.tanh(x * y + row) / scalar) - x
    feeds = {x: array(300, 500), y: array(300, 500)}
    assert steps([z], feeds) == ["Sub"]
    both([z], feeds)


@pytest.mark.parametrize("shape", [[300, 1], [1], [1, 500], [1, 1, 1]])
def test_broadcasts_of_every_kind(shape: list[int]) -> None:
    x = tf.placeholder(tf.float32, [300, 500])
    both([tf.nn.relu(x + tf.constant(array(*shape))) * 2.0], {x: array(300, 500)})


def test_an_input_that_a_later_link_reads_is_not_written_over() -> None:
    x = tf.placeholder(tf.float32, [300, 500])
    a = tf.exp(x)
    b = tf.sqrt(a) + a  # a dies with the chain that begins with sqrt
    both([b], {x: array(300, 500)})


def test_a_chain_does_not_move_over_an_assignment() -> None:
    v = tf.Variable(np.ones((300, 500), np.float32), use_resource=False)
    y = tf.exp(v)
    with tf.control_dependencies([y]):
        after = tf.assign(v, tf.zeros([300, 500]))
    with tf.control_dependencies([after]):
        z = y + 1.0
    (value,) = both([z], {})
    np.testing.assert_allclose(value, np.full((300, 500), np.e + 1), rtol=1e-6)


def test_nan_and_infinity_pass() -> None:
    x = tf.placeholder(tf.float32, [256, 300])
    value = array(256, 300)
    value[0, :3] = np.nan, np.inf, -np.inf
    both([tf.nn.relu(x) + 1.0, tf.nn.relu6(tf.negative(x)) * 2.0], {x: value})


def test_an_error_names_the_node_that_failed() -> None:
    x = tf.placeholder(tf.float32, [1, None, None, 4], name="x")
    y = tf.nn.relu(tf.nn.conv2d(x, tf.constant(array(5, 5, 4, 8)), [1, 1, 1, 1], "VALID"), name="result")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(y, {x: np.zeros((1, 2, 2, 4), np.float32)})
    assert caught.value.op.type == "Conv2D"


def test_a_trace_names_all_that_ran_as_one() -> None:
    x = tf.placeholder(tf.float32, [1, 32, 32, 4], name="x")
    y = tf.nn.relu(tf.nn.conv2d(x, tf.constant(array(5, 5, 4, 8)), [1, 1, 1, 1], "SAME"), name="result")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        trace = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(y, {x: array(1, 32, 32, 4)}, options=trace, run_metadata=metadata)
    (stats,) = metadata.step_stats.dev_stats[0].node_stats
    assert stats.node_name == "result"
    assert stats.timeline_label == "result = Conv2D+Relu(x, Const)"
