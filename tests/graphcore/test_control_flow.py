"""Loops, conditionals and arrays of tensors that are built here: values, gradients, files, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from control_flow_programs import PROGRAMS

from sgtool import graphcore as tf
from sgtool.graphcore.compiler import Options


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def total(outputs: list[Any]) -> Any:
    return tf.add_n([tf.reduce_sum(tf.sin(output)) for output in outputs])


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_what_small_steps_say(name: str) -> None:
    outputs, feeds = PROGRAMS[name](tf)
    loss = total(outputs)
    gradients = [tf.convert_to_tensor(grad) for grad in tf.gradients(loss, list(feeds))]
    with tf.Session() as session:
        found = session.run(gradients, feeds)
        for (tensor, value), gradient in zip(feeds.items(), found):
            assert gradient.shape == value.shape
            for index in np.ndindex(value.shape):
                sides = []
                for step in (1e-6, -1e-6):
                    moved = value.copy()
                    moved[index] += step
                    sides.append(session.run(loss, {**feeds, tensor: moved}))
                assert gradient[index] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", ["nested_loops", "conditional_in_loop", "scanned"])
def test_passes_of_the_compiler_change_nothing(name: str) -> None:
    outputs, feeds = PROGRAMS[name](tf)
    fetches = [*outputs, *tf.gradients(total(outputs), list(feeds))]
    off = Options(fold=False, simplify=False, free=False, reuse=False, specialize=False)
    with tf.Session() as session, tf.Session(options=off) as plain:
        for a, b in zip(session.run(fetches, feeds), plain.run(fetches, feeds)):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("scope", [None, "in"])
def test_an_imported_loop_can_be_differentiated(name: str, scope: str | None) -> None:
    """The contexts in a MetaGraphDef say which loop an operation is in."""
    outputs, feeds = PROGRAMS[name](tf)
    expected_of = [*outputs, *[tf.convert_to_tensor(g) for g in tf.gradients(total(outputs), list(feeds))]]
    with tf.Session() as session:
        expected = session.run(expected_of, feeds)
    exported = tf.train.export_meta_graph()
    with tf.Graph().as_default() as again:
        tf.train.import_meta_graph(exported, import_scope=scope)
        prefix = f"{scope}/" if scope else ""
        results = [again.get_tensor_by_name(prefix + output.name) for output in outputs]
        inputs = [again.get_tensor_by_name(prefix + tensor.name) for tensor in feeds]
        gradients = [tf.convert_to_tensor(grad) for grad in tf.gradients(total(results), inputs)]
        with tf.Session() as session:
            values = session.run([*results, *gradients], dict(zip(inputs, feeds.values())))
        for value, wanted in zip(values, expected):
            np.testing.assert_allclose(value, wanted, rtol=1e-12)
        assert again.as_graph_def().node == again.as_graph_def().node
        contexts = exported.collection_def
        written = tf.train.export_meta_graph().collection_def
        assert set(contexts) <= set(written)


def test_the_graph_is_the_one_that_tensorflow_builds() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.constant([2.0, 3.0], name="w")
    tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w), [tf.constant(0, name="i"), x])
    nodes = {node.name: (node.op, list(node.input)) for node in tf.get_default_graph().as_graph_def().node}
    assert nodes["while/Enter_1"] == ("Enter", ["x"])
    assert nodes["while/Merge_1"] == ("Merge", ["while/Enter_1", "while/NextIteration_1"])
    assert nodes["while/Less"] == ("Less", ["while/Merge", "while/Less/y"])
    assert nodes["while/Less/y"] == ("Const", ["^while/Merge"])
    assert nodes["while/LoopCond"] == ("LoopCond", ["while/Less"])
    assert nodes["while/Switch_1"] == ("Switch", ["while/Merge_1", "while/LoopCond"])
    assert nodes["while/Identity_1"] == ("Identity", ["while/Switch_1:1"])
    assert nodes["while/mul/Enter"] == ("Enter", ["w"])
    assert nodes["while/mul"] == ("Mul", ["while/Identity_1", "while/mul/Enter"])
    assert nodes["while/add/y"] == ("Const", ["^while/Identity"])
    assert nodes["while/NextIteration_1"] == ("NextIteration", ["while/mul"])
    assert nodes["while/Exit_1"] == ("Exit", ["while/Switch_1"])
    (context,) = tf.get_collection(tf.GraphKeys.WHILE_CONTEXT)
    message = context.to_proto()
    assert message.context_name == "while/while_context"
    assert list(message.loop_enter_names) == ["while/Enter:0", "while/Enter_1:0"]
    assert list(message.loop_exit_names) == ["while/Exit:0", "while/Exit_1:0"]
    assert message.values_def.external_values["w:0"] == "while/mul/Enter:0"
    assert message.back_prop
    assert message.parallel_iterations == 10


def test_variables_can_be_updated_in_a_loop() -> None:
    counter = tf.Variable(0, name="counter")
    handle = tf.Variable(1.0, name="handle", use_resource=True)

    def body(i: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(counter, 2), handle.assign(handle.read_value() * 3.0)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 4, body, [0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(loop) == 4
        assert session.run([counter, handle]) == [8, 81.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_variable_in_a_loop_trains(use_resource: bool) -> None:
    w = tf.Variable([0.5, -0.3], use_resource=use_resource)
    _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w + 1.0), [0, tf.ones([2])])
    loss = tf.reduce_sum(tf.square(y - 2.0))
    step = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(60):
            session.run(step)
        assert session.run(loss) < 1e-3 * before


def test_back_prop_false_stops_gradients() -> None:
    x = tf.constant([1.0])
    _, y = tf.while_loop(lambda i, v: i < 2, lambda i, v: (i + 1, v * 2.0), [0, x], back_prop=False)
    assert tf.gradients(y, x) == [None]


def test_a_gradient_inside_of_the_loop() -> None:
    def body(i: Any, v: Any) -> Any:
        u = v * v
        return i + 1, v - 0.1 * tf.gradients(u * u, v)[0]

    _, y = tf.while_loop(lambda i, v: i < 3, body, [0, tf.constant(0.5)])
    value = 0.5
    for _ in range(3):
        value -= 0.1 * 4 * value**3
    with tf.Session() as session:
        assert session.run(y) == pytest.approx(value)


def test_one_variable_comes_back_alone_unless_asked_for() -> None:
    alone = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    listed = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True)
    assert isinstance(alone, tf.Tensor)
    assert isinstance(listed, list)
    with tf.Session() as session:
        assert session.run([alone, listed]) == [3, [3]]


def test_sparse_loop_variables() -> None:
    start = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 4])
    rows = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]), tf.constant([4, 1]))

    def body(i: Any, sparse: Any, slices: Any) -> Any:
        doubled = tf.SparseTensor(sparse.indices, sparse.values * 2.0, sparse.dense_shape)
        return i + 1, doubled, tf.IndexedSlices(slices.values + 1.0, slices.indices, slices.dense_shape)

    _, sparse, slices = tf.while_loop(lambda i, *_: i < 3, body, [0, start, rows])
    with tf.Session() as session:
        found = session.run(sparse)
        np.testing.assert_array_equal(found.values, [8.0, 16.0])
        np.testing.assert_array_equal(found.dense_shape, [3, 4])
        np.testing.assert_array_equal(session.run(slices).values, [[4.0], [5.0]])


def one(i: Any) -> Any:
    return i + 1


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: tf.while_loop(1, one, [0]), TypeError, "cond must be callable."),
        (lambda: tf.while_loop(one, 1, [0]), TypeError, "body must be callable."),
        (lambda: tf.while_loop(one, one, []), ValueError, "No loop variables provided"),
        (
            lambda: tf.while_loop(lambda i: i < 1, one, [0], parallel_iterations=0),
            TypeError,
            "parallel_iterations must be a positive integer.",
        ),
        (
            lambda: tf.while_loop(lambda i: i < 1, one, [0], maximum_iterations=[1]),
            ValueError,
            r"maximum_iterations must be a scalar, saw shape: \(1,\)",
        ),
        (
            lambda: tf.while_loop(lambda i: i[0] < 9, lambda i: tf.concat([i, i], 0), [tf.constant([1])]),
            ValueError,
            r"Input tensor 'Const:0' enters the loop with shape \(1,\), but has shape \(2,\) after one "
            "iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument",
        ),
        (
            lambda: tf.while_loop(
                lambda i: i[0] < 9, lambda i: i, [tf.constant([1])], shape_invariants=[tf.TensorShape([2])]
            ),
            ValueError,
            r"The shape invariant specified for Const:0 is not compatible with the initial shape of the loop "
            r"variable. It enters the loop with shape \(1,\), but the specified shape invariant is \(2,\).",
        ),
        (
            lambda: tf.while_loop(lambda i: i < 9, lambda i: tf.cast(i, tf.float32), [0]),
            TypeError,
            "enters the loop with dtype int32, but has dtype float32 after one iteration",
        ),
        (
            lambda: tf.while_loop(lambda i, j: i < 9, lambda i, j: [i], [0, 1]),
            ValueError,
            "don't have the same nested structure(.|\n)*First structure has 2, second structure has 1.",
        ),
        (lambda: tf.cond(True, lambda: 1, lambda: 2), TypeError, "pred must not be a Python bool"),
        (
            lambda: tf.cond(tf.constant(True), lambda: 1),
            TypeError,
            r"cond\(\): false_fn argument required",
        ),
        (
            lambda: tf.cond(tf.constant(True), lambda: None, lambda: 2),
            ValueError,
            "true_fn must have a return value.",
        ),
        (
            lambda: tf.cond(tf.constant(True), lambda: 1.0, lambda: 2),
            ValueError,
            "Outputs of true_fn and false_fn must have the same type: float32, int32",
        ),
        (
            lambda: tf.cond(tf.constant(True), lambda: (1, 2), lambda: [1, 2]),
            TypeError,
            "Incompatible return types of true_fn and false_fn: The two structures don't have the same",
        ),
        (lambda: tf.case([(True, one)]), TypeError, "pred must be a Tensor, got: True"),
        (lambda: tf.case([one]), TypeError, "Each entry in pred_fn_pairs must be a 2-tuple"),
        (lambda: tf.map_fn(1, [1]), TypeError, "fn must be callable."),
        (lambda: tf.map_fn(one, 1), ValueError, r"elems must be a 1\+ dimensional Tensor, not a scalar"),
        (lambda: tf.TensorArray(tf.float32), ValueError, "Size must be provided if handle is not provided"),
        (
            lambda: tf.TensorArray(tf.float32, 2, element_shape=[3]).write(0, [1.0]),
            ValueError,
            r"Inconsistent shapes: saw \(1,\) but expected \(3,\)",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_built_says_why(build: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()


def test_a_tensor_of_a_loop_stays_inside() -> None:
    kept: list[Any] = []

    def body(i: Any) -> Any:
        kept.append(i * 2)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    with pytest.raises(
        ValueError,
        match=r"Cannot use 'while/mul' as input to 'outside' because 'while/mul' is in a while loop",
    ):
        tf.identity(kept[0], name="outside")
    with pytest.raises(ValueError, match="because they are in different while loops"):
        tf.while_loop(lambda i: i < 3, lambda i: i + kept[0], [0])


def test_gradients_by_what_a_variable_starts_with_are_refused_inside() -> None:
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="gradient inside while loop with respect to op 'Const'"):
        tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + tf.gradients(v * v, x)[0]), [0, x])


def test_second_derivatives_of_loops_are_refused_as_in_tensorflow() -> None:
    x = tf.constant(1.0)
    _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * v), [0, x])
    with pytest.raises(TypeError, match=r"Second-order gradient for while loops not supported\."):
        tf.gradients(tf.gradients(y * y, x), x)


def test_no_case_holds() -> None:
    x = tf.placeholder(tf.int32, [])
    pairs = [(x < 1, lambda: tf.constant(1)), (x < 2, lambda: tf.constant(2))]
    y = tf.case(pairs)
    z = tf.case([(x < 5, lambda: 1), (x < 6, lambda: 2)], default=lambda: 3, exclusive=True)
    with tf.Session() as session:
        assert session.run(y, {x: 1}) == 2
        with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
            session.run(y, {x: 7})
        assert session.run(z, {x: 7}) == 3
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
            session.run(z, {x: 0})


def test_gradient_of_a_loop_with_a_map_inside() -> None:
    """The arrays of the inner loop are kept on a stack, as handles."""
    param = tf.constant(2.0)
    _, y = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, y: [i + 1, tf.map_fn(lambda x: x * param, y)],
        [tf.constant(0), tf.constant([1.0, 2.0])],
    )
    with tf.Session() as session:
        assert session.run(tf.gradients(y, param)[0]) == 3 * 2.0**2 * 3


def test_gradient_beside_a_stopped_one_of_the_same_loop() -> None:
    x = tf.Variable(1.0)
    _, _, r = tf.while_loop(
        lambda i, y, r: i < 1,
        lambda i, y, r: [i + 1, y * x, r + tf.reduce_sum(y * x)],
        [tf.constant(0), tf.ones(5), tf.constant(0.0)],
    )
    stopped = tf.stop_gradient(tf.square(tf.gradients(r, x)[0]))
    with tf.Session() as session:
        session.run(x.initializer)
        assert session.run(tf.gradients(r + stopped, x)[0]) == 5


def test_a_variable_that_only_the_condition_reads() -> None:
    q = tf.Variable([7.0, 8.0])

    def body(x: Any, _: Any) -> Any:
        return tf.constant(0, tf.int64), tf.cast(x, tf.float32) + tf.reduce_sum(q)

    _, y = tf.while_loop(lambda _, y: tf.equal(y, 0.0), body, (tf.argmin(q), 0.0))
    with tf.Session() as session:
        session.run(q.initializer)
        assert session.run(tf.gradients(y, q)[0]).tolist() == [1, 1]


def test_sparse_loop_variables_may_change_their_number_of_elements() -> None:
    x = tf.SparseTensor([[0], [3]], [2.0, 4.0], [10])

    def body(i: Any, x: Any) -> Any:
        return i + 1, tf.SparseTensor(tf.concat([x.indices, [[i]]], 0), tf.concat([x.values, [1.0]], 0), [10])

    _, x = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0, tf.int64), x])
    assert x.indices.shape.as_list() == [None, 1]
    with tf.Session() as session:
        assert session.run(x).values.tolist() == [2, 4, 1, 1, 1]


def test_a_frame_without_a_loop_passes_values_on() -> None:
    entered = tf.raw_ops.Enter(tf.constant(3.0), frame_name="frame")
    left = tf.raw_ops.Exit(entered * entered)
    with tf.Session() as session:
        assert session.run(left) == 9


def test_a_loop_ends_with_its_time() -> None:
    forever = tf.while_loop(lambda x: True, lambda x: x + 1, [tf.constant(0)])
    with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError, match="Timed out"):
        session.run(forever, options=tf.RunOptions(timeout_in_ms=20))


def test_dependencies_of_slices_and_lists_of_other_dtypes() -> None:
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([2]))
    first, second = tf.tuple([slices, tf.constant(3)])
    i = tf.constant(4)
    joined = tf.concat([tf.constant([[1]], tf.int64), [[i]]], 0)
    with tf.Session() as session:
        assert session.run([first.values, second])[0].tolist() == [[1]]
        assert session.run(joined).tolist() == [[1], [4]]


def test_what_lies_on_the_branch_not_taken_says_which_fetch() -> None:
    dead, _ = tf.raw_ops.Switch(tf.constant(1.0), tf.constant(True))
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"Retval\[1\] does not have value"),
    ):
        session.run([tf.constant(1.0), dead])


def test_switch_case_takes_the_branch_of_that_number() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        number, x = tf.placeholder(tf.int32, []), tf.constant(3.0)
        branches = {1: lambda: x * 10.0, 0: lambda: x + 1.0}
        last = tf.switch_case(number, branches)
        other = tf.switch_case(number, [lambda: [x, x], lambda: [x, -x]], default=lambda: [-x, -x])
        grad = tf.gradients(last, x)[0]
        found = [session.run([last, other, grad], {number: each}) for each in (0, 1, 2, -1)]
    assert found == [
        [4.0, [3.0, 3.0], 1.0],
        [30.0, [3.0, -3.0], 10.0],
        [30.0, [-3.0, -3.0], 10.0],
        [30.0, [-3.0, -3.0], 10.0],
    ]


@pytest.mark.parametrize(
    ("branches", "kind", "text"),
    [
        ([], ValueError, "Must provide at least one item in branch_fns"),
        (3, TypeError, "branch_fns must be a list, tuple, or dict"),
        ([(0, 1)], TypeError, "fn for key 0 must be callable"),
        ({1: lambda: 0, 2: lambda: 0}, ValueError, r"contiguous range of \[0 to 2\) but found \{1,2\}"),
        ([("a", lambda: 0)], TypeError, "key must be a Python `int`"),
    ],
)
def test_branches_that_are_none(branches: Any, kind: type[Exception], text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(kind, match=text):
        tf.switch_case(tf.constant(0), branches)


def test_specs_as_shape_invariants() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        specs = [tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)]
        body = lambda i, x: (i + 1, tf.concat([x, x], 0))  # noqa: E731
        _, end = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.constant([1])], specs)
        assert end.shape.as_list() == [None]
        assert session.run(end).shape == (8,)
        with pytest.raises(TypeError, match=r"TypeSpec .* is not compatible with"):
            tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.constant([1.0])], specs)


def test_tuple_takes_operations() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(1.0)
        session.run(variable.initializer)
        step, nothing, value = tf.tuple([variable.assign_add(1.0).op, None, tf.constant(5.0)])
        assert nothing is None
        assert session.run(value) == 5.0
        session.run(step)
        assert session.run(variable) == 3.0
