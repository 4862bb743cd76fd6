"""The plan compiler: its passes, each switchable, and the hazards that every pass must respect."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.compiler import Options, compile_plan
from sgtool.graphcore.resources import RunContext, SessionState

PASSES = ("fold", "simplify", "free", "reuse", "fuse", "specialize")
ALL_OPTIONS = [
    Options(**dict(zip(PASSES, flags))) for flags in itertools.product((False, True), repeat=len(PASSES))
]  # fmt: skip


@pytest.fixture(autouse=True)
def graph() -> Any:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def steps(fetch: Any, feeds: dict[Any, Any] | None = None, **options: bool) -> list[str]:
    """The op types of the steps that a plan for `fetch` runs."""
    plan = compile_plan(fetch.graph, [fetch], feeds or {}, SessionState(), Options(**options))
    return [operation.type for operation in plan.operations]


# Passes


def test_constants_are_folded() -> None:
    total = tf.constant(2.0) * 3.0 + 1.0
    assert steps(total) == []
    assert steps(total, fold=False) == ["Mul", "AddV2"]


def test_shapes_fold_once_the_fed_shape_is_known() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    size = tf.shape(x)[0] * 2
    assert steps(size, {x: (4, 3)}) == []
    assert "StridedSlice" in steps(size, {x: (None, 3)})


def test_folding_is_bounded() -> None:
    big = tf.fill([2000, 2000], 1.0) + 1.0  # 16 MB
    assert steps(big) == ["Fill", "AddV2"]


def test_identities_go_and_equal_expressions_are_computed_once() -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.identity(tf.exp(x)) + tf.exp(tf.identity(x))
    assert steps(y, {x: (3,)}) == ["Exp", "AddV2"]
    assert sorted(steps(y, {x: (3,)}, simplify=False)) == ["AddV2", "Exp", "Exp", "Identity", "Identity"]


def test_random_ops_are_neither_folded_nor_merged() -> None:
    a, b = tf.random_uniform([4], seed=1), tf.random_uniform([4], seed=1)
    assert steps(a + b).count("RandomUniform") == 2
    with tf.Session() as session:
        first, second = session.run(a), session.run(a)
    assert not np.array_equal(first, second)


def test_a_dead_buffer_is_reused_and_nothing_else() -> None:
    x = tf.placeholder(tf.float32, [100, 100])
    kept = tf.exp(x)
    y = tf.sqrt(tf.square(kept) + 1.0)
    value = np.linspace(-1, 1, 10_000, dtype=np.float32).reshape(100, 100)
    original = value.copy()
    for options in ALL_OPTIONS:
        with tf.Session(options=options) as session:
            got_kept, got = session.run([kept, y], {x: value})
        np.testing.assert_allclose(got_kept, np.exp(original), rtol=1e-6)
        np.testing.assert_allclose(got, np.sqrt(np.exp(original) ** 2 + 1), rtol=1e-6)
        np.testing.assert_array_equal(value, original)  # a fed array is never written


def test_a_buffer_is_really_reused() -> None:
    """Three element-wise steps in a row: the second and third write into the first one's result."""
    x = tf.placeholder(tf.float32, [100, 100])
    y = tf.negative(tf.sqrt(tf.exp(x)))
    feed = np.zeros((100, 100), np.float32)
    for reuse in (True, False):
        plan = compile_plan(y.graph, [y], {x: (100, 100)}, SessionState(), Options(reuse=reuse, free=reuse))
        addresses: set[int] = set()

        def spied(function: Any, addresses: set[int] = addresses) -> Any:
            def call(*values: Any, **options: Any) -> Any:
                result = function(*values, **options)
                addresses.add(result.ctypes.data)
                return result

            return call

        plan.steps[:] = [
            (spied(step[0]) if not index else step[0], *step[1:]) for index, step in enumerate(plan.steps)
        ]
        (result,) = plan.run(RunContext(SessionState(), y.graph), [feed])
        np.testing.assert_array_equal(result, -np.ones((100, 100)))
        assert (result.ctypes.data in addresses) == reuse


def test_a_view_of_a_dead_tensor_keeps_its_values() -> None:
    x = tf.placeholder(tf.float32, [100, 100])
    base = tf.exp(x)
    view = tf.reshape(base, [10_000])
    y = tf.negative(base)  # base dies here, but `view` is the same memory
    with tf.Session() as session:
        got_view, got = session.run([view, y], {x: np.ones((100, 100), np.float32)})
    np.testing.assert_allclose(got_view, np.full(10_000, np.e), rtol=1e-6)
    np.testing.assert_allclose(got, np.full((100, 100), -np.e), rtol=1e-6)


@pytest.mark.parametrize("options", ALL_OPTIONS, ids=str)
def test_every_combination_of_passes_trains_the_same(options: Options) -> None:
    x = tf.placeholder(tf.float32, [None, 8], name="x")
    target = tf.placeholder(tf.float32, [None, 1])
    w = tf.get_variable("w", initializer=np.linspace(-1, 1, 8, dtype=np.float32).reshape(8, 1))
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer(), use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w) + b) - target))
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    random = np.random.default_rng(0)
    data, wanted = random.normal(size=(16, 8)).astype("f"), random.normal(size=(16, 1)).astype("f")
    with tf.Session(options=options) as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step], {x: data, target: wanted})[0] for _ in range(5)]
    np.testing.assert_allclose(losses, _reference(data, wanted, 5), rtol=1e-5)


def _reference(x: np.ndarray, target: np.ndarray, steps: int) -> list[float]:
    """The same training in plain NumPy."""
    w = np.linspace(-1, 1, 8).reshape(8, 1)
    b = np.zeros(1)
    velocity_w, velocity_b = np.zeros_like(w), np.zeros_like(b)
    losses = []
    for _ in range(steps):
        y = np.tanh(x @ w + b)
        losses.append(float(np.mean((y - target) ** 2)))
        delta = 2 * (y - target) / y.size * (1 - y**2)
        velocity_w = 0.9 * velocity_w + x.T @ delta
        velocity_b = 0.9 * velocity_b + delta.sum(0)
        w -= 0.1 * velocity_w
        b -= 0.1 * velocity_b
    return losses


# Hazards


def test_an_identity_of_a_ref_variable_is_an_alias() -> None:
    """As in TensorFlow: fetched beside an assign_add it shows the new value."""
    v = tf.Variable([1.0, 2.0])
    alias = tf.identity(v)
    added = tf.assign_add(v, [10.0, 10.0])
    with tf.Session() as session:
        session.run(v.initializer)
        got, after = session.run([alias, added])
    np.testing.assert_array_equal(got, [11.0, 12.0])
    np.testing.assert_array_equal(after, [11.0, 12.0])


def test_a_read_of_a_resource_variable_is_a_snapshot() -> None:
    v = tf.Variable([1.0, 2.0], use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        added = v.assign_add([10.0, 10.0], read_value=False)
    with tf.control_dependencies([added]):
        after = v.read_value()
    with tf.Session() as session:
        session.run(v.initializer)
        got = session.run([before, after])
    np.testing.assert_array_equal(got[0], [1.0, 2.0])
    np.testing.assert_array_equal(got[1], [11.0, 12.0])


def test_a_snapshot_outlives_later_runs() -> None:
    v = tf.Variable(np.ones(3, np.float32), use_resource=True)
    add = v.assign_add(np.ones(3, np.float32), read_value=False)
    with tf.Session() as session:
        session.run(v.initializer)
        first = session.run(v)
        session.run(add)
        second = session.run(v)
        session.run(add)
    np.testing.assert_array_equal(first, [1, 1, 1])
    np.testing.assert_array_equal(second, [2, 2, 2])


def test_updates_are_in_place_where_nobody_else_holds_the_value() -> None:
    v = tf.Variable(np.ones(1000, np.float32), use_resource=True)
    add = v.assign_add(np.ones(1000, np.float32), read_value=False)
    with tf.Session() as session:
        session.run(v.initializer)
        holder = session._state.resource_variable(v.op)
        session.run(add)
        address = holder.value.ctypes.data
        session.run(add)
        assert holder.value.ctypes.data == address
        snapshot = holder.read()
        session.run(add)
        assert holder.value.ctypes.data != address
        np.testing.assert_array_equal(snapshot, np.full(1000, 3))


@pytest.mark.parametrize("use_resource", [False, True])
def test_fetched_arrays_stay_as_they_were(use_resource: bool) -> None:
    v = tf.Variable(np.zeros(10, np.float32), use_resource=use_resource)
    constant = tf.constant(np.arange(10, dtype=np.float32))
    add = tf.assign_add(v, constant)
    x = tf.placeholder(tf.float32, [10])
    feed = np.ones(10, np.float32)
    with tf.Session() as session:
        session.run(v.initializer)
        value, same, fed = session.run([v, constant, x], {x: feed})
        session.run(add)
        np.testing.assert_array_equal(value, np.zeros(10))
        for array in (value, same, fed):
            array[:] = 99  # the caller's to change
        np.testing.assert_array_equal(session.run(constant), np.arange(10))
        np.testing.assert_array_equal(session.run(v), np.arange(10))
    np.testing.assert_array_equal(feed, np.ones(10))


def test_control_edges_order_a_read_after_a_write() -> None:
    v = tf.Variable(1.0)
    with tf.control_dependencies([tf.assign(v, 5.0)]):
        after = v + tf.constant(1.0)
        read = tf.identity(v)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(read) == 5.0
        assert session.run(after) == 6.0


def test_a_constant_in_a_control_block_carries_the_order() -> None:
    """TensorFlow leaves the edge off an operation whose input was made inside the block."""
    v = tf.Variable(1.0)
    with tf.control_dependencies([tf.assign(v, 5.0)]):
        one = tf.constant(1.0)
        total = tf.assign_add(v, one)
    assert total.op.control_inputs == []
    for options in ALL_OPTIONS:
        with tf.Session(options=options) as session:
            session.run(v.initializer)
            assert session.run(total) == 6.0


def test_reads_of_a_variable_that_the_plan_writes_are_not_merged() -> None:
    v = tf.Variable(1.0, use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        write = v.assign(2.0, read_value=False)
    with tf.control_dependencies([write]):
        after = v.read_value()
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(before + after) == 3.0


def test_two_threads_share_one_session() -> None:
    x = tf.placeholder(tf.float32, [200, 200])
    y = tf.reduce_sum(tf.exp(tf.square(x) * 0.5))
    v = tf.Variable(np.zeros((), np.int64), use_resource=True)
    count = v.assign_add(np.int64(1), read_value=False)
    errors: list[BaseException] = []
    with tf.Session() as session:
        session.run(v.initializer)

        def work(seed: int) -> None:
            try:
                value = np.full((200, 200), seed / 10, np.float32)
                wanted = 40_000 * np.exp(0.5 * (seed / 10) ** 2)
                for _ in range(50):
                    np.testing.assert_allclose(session.run(y, {x: value}), wanted, rtol=1e-4)
                    session.run(count)
            except BaseException as error:  # handed to the test's own thread
                errors.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, errors[0]
        assert session.run(v) == 200


def test_a_graph_that_grows_keeps_its_plans_and_a_changed_node_does_not(graph: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    with tf.Session() as session:
        assert session.run(y, {x: 3.0}) == 6.0
        call = next(iter(session._calls.values()))
        tf.constant(1.0)
        session.run(y, {x: 3.0})
        assert next(iter(session._calls.values())) is call
        y.op._update_input(1, tf.constant(10.0))
        assert session.run(y, {x: 3.0}) == 30.0


def test_many_shapes_of_a_feed_end_in_one_generic_plan() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x) + tf.cast(tf.shape(x)[0], tf.float32)
    with tf.Session() as session:
        for size in range(1, 10):
            assert session.run(y, {x: np.ones(size)}) == 2 * size
        (call,) = session._calls.values()
        assert len(call.plans) == 5


# Branches that a run does not take


@pytest.mark.parametrize("taken", [True, False])
def test_a_conditional_runs_one_side(taken: bool) -> None:
    pred = tf.placeholder(tf.bool, [])
    x = tf.constant([4.0, 9.0])
    v = tf.Variable(0.0)
    result = tf.cond(pred, lambda: tf.sqrt(x), lambda: x + tf.assign_add(v, 1.0))
    with tf.Session() as session:
        session.run(v.initializer)
        got = session.run(result, {pred: taken})
        np.testing.assert_allclose(got, [2, 3] if taken else [5, 10])
        assert session.run(v) == (0.0 if taken else 1.0)


def test_nested_conditionals() -> None:
    a, b = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    x = tf.constant(1.0)
    result = tf.cond(a, lambda: tf.cond(b, lambda: x + 1, lambda: x + 2), lambda: x + 3)
    with tf.Session() as session:
        got = {(i, j): float(session.run(result, {a: i, b: j})) for i in (True, False) for j in (True, False)}
    assert got == {(True, True): 2, (True, False): 3, (False, True): 4, (False, False): 4}


def test_the_gradient_of_a_conditional() -> None:
    pred = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(pred, lambda: x * x, lambda: 3.0 * x)
    (grad,) = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run(grad, {pred: True, x: 5.0}) == 10.0
        assert session.run(grad, {pred: False, x: 5.0}) == 3.0


def test_what_only_a_control_edge_asks_for_is_not_computed() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [3, 2], name="x")
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(x @ w))
        with tf.control_dependencies([tf.assign(w, w * 2.0) + 1.0]):
            after = tf.identity(w.read_value(), name="after")
        with tf.control_dependencies([tf.check_numerics(x / 0.0, "no number")]):
            guarded = tf.identity(after)
        with tf.Session(graph=graph) as session:
            session.run(tf.global_variables_initializer())
            metadata = tf.RunMetadata()
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            session.run(train_op, {x: np.ones((3, 2))}, options=options, run_metadata=metadata)
            ran = [
                graph.get_operation_by_name(n.node_name).type
                for n in metadata.step_stats.dev_stats[0].node_stats
            ]
            assert ran.count("MatMul") == 1  # the gradient by w, neither that by x nor the product
            # What the dropped node waited for has run all the same, and checks are kept.
            np.testing.assert_allclose(session.run(after), [[1.4], [3.4]], rtol=1e-6)
            with pytest.raises(tf.errors.InvalidArgumentError, match="no number"):
                session.run(guarded, {x: np.ones((3, 2))})
