"""Functions of a graph's library: calls, conditionals and loops as TensorFlow 2 writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from control_flow_programs import PROGRAMS

from sgtool import graphcore as tf
from sgtool.formats import graph_file
from sgtool.graphcore.compiler import Options
from sgtool.graphcore.function_defs import FunctionWriter
from sgtool.graphcore.op import raw_ops

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
FEEDS = {"n:0": 5, "x:0": [1.0, -2.0, 3.0]}


@pytest.fixture
def message() -> Any:
    return graph_file.read_graph(GOLDEN / "functions.meta").message


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    "options",
    [Options(), Options(fold=False, simplify=False, free=False, reuse=False, specialize=False)],
    ids=["all passes", "no pass"],
)
def test_functions_give_what_tensorflow_computes(message: Any, options: Options) -> None:
    with np.load(GOLDEN / "functions.npz") as archive:
        expected = dict(archive)
    tf.train.import_meta_graph(message)
    with tf.Session(options=options) as session:
        session.run(tf.global_variables_initializer())
        for name, value in zip(expected, session.run(list(expected), FEEDS)):
            assert np.asarray(value).dtype == expected[name].dtype
            np.testing.assert_allclose(value, expected[name], rtol=1e-6, err_msg=name)


def test_other_branches_and_no_iteration(message: Any) -> None:
    tf.train.import_meta_graph(message)
    names = ["chosen:0", "not_chosen:0", "collatz:0", "product:0", "nested:0"]
    with tf.Session() as session:
        chosen, total, *rest = session.run(names, {"n:0": 0, "x:0": [2.0, 4.0]})
        assert chosen.tolist() == [1.0, 3.0]
        assert [total, *rest] == [4.0, 0, 8.0, -1]
        assert session.run("not_chosen:0", {"n:0": 31, "x:0": [2.0, 4.0]}) == 6.0
        assert session.run("collatz:0", {"n:0": 27}) == 111


def test_a_function_changes_variables_each_time(message: Any) -> None:
    tf.train.import_meta_graph(message)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run("counted:0", FEEDS) for _ in range(3)] == [30, 40, 50]


def test_an_error_inside_a_function_names_its_node(message: Any) -> None:
    tf.train.import_meta_graph(message)
    says = r"uninitialized(.|\n)*node AssignAddVariableOp(.|\n)*run by .*node StatefulPartitionedCall"
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match=says):
        session.run("counted:0", FEEDS)


def test_a_missing_function_and_a_missing_op_are_named(message: Any) -> None:
    library = message.graph_def.library
    (double,) = [one for one in library.function if "double" in one.signature.name]
    (node,) = [one for one in double.node_def if one.op == "Mul"]
    node.op = "NoSuchOp"
    (chosen,) = [one for one in message.graph_def.node if one.name == "cond"]
    chosen.attr["then_branch"].func.name = "cond_true_21"
    tf.train.import_meta_graph(message)
    with tf.Session() as session:
        with pytest.raises(tf.errors.UnimplementedError, match=r"The op is not implemented: NoSuchOp"):
            session.run("called:0", FEEDS)
        with pytest.raises(tf.errors.NotFoundError, match=r"cond_true_21 is not defined.*cond_true_"):
            session.run("chosen:0", FEEDS)


def test_the_library_is_exported_unchanged(message: Any, graph: Any) -> None:
    tf.train.import_meta_graph(message)
    assert graph.as_graph_def().library == message.graph_def.library


# Gradients. What they are is told by the same programs built of TensorFlow 1's loops, whose gradients
# test_control_flow.py checks.

with np.load(GOLDEN / "control_flow_v2.npz") as _archive:
    CONTROL_FLOW_V2 = dict(_archive)
CONTROL_FLOW_V2_NAMES = sorted({key.partition("/")[0] for key in CONTROL_FLOW_V2})


def expected_of(name: str) -> tuple[list[Any], dict[str, Any]]:
    """Results and gradients of a program, and its feeds by name."""
    with tf.Graph().as_default():
        outputs, feeds = PROGRAMS[name](tf)
        loss = tf.add_n([tf.reduce_sum(tf.sin(output)) for output in outputs])
        gradients = [tf.convert_to_tensor(grad) for grad in tf.gradients(loss, list(feeds))]
        with tf.Session() as session:
            values = session.run([*outputs, *gradients], feeds)
        return values, {tensor.name: value for tensor, value in feeds.items()}


@pytest.mark.parametrize("name", CONTROL_FLOW_V2_NAMES)
def test_gradients_that_tensorflow_2_built(name: str) -> None:
    expected, feeds = expected_of(name)
    gradients = CONTROL_FLOW_V2[f"{name}/gradients"].tolist()
    tf.train.import_meta_graph(tf.MetaGraphDef.FromString(CONTROL_FLOW_V2[f"{name}/trained"].tobytes()))
    results = [f"result_{index}:0" for index in range(len(expected) - len(gradients))]
    with tf.Session() as session:
        for value, wanted in zip(session.run([*results, *gradients], feeds), expected, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-9)


@pytest.mark.parametrize("name", CONTROL_FLOW_V2_NAMES)
def test_gradients_of_functional_conditionals_and_loops(graph: Any, name: str) -> None:
    expected, feeds = expected_of(name)
    tf.train.import_meta_graph(tf.MetaGraphDef.FromString(CONTROL_FLOW_V2[f"{name}/plain"].tobytes()))
    inputs = [graph.get_tensor_by_name(key) for key in feeds]
    count = len(expected) - len(inputs)
    results = [graph.get_tensor_by_name(f"result_{index}:0") for index in range(count)]
    loss = tf.add_n([tf.reduce_sum(tf.sin(result)) for result in results])
    gradients = [tf.convert_to_tensor(grad) for grad in tf.gradients(loss, inputs)]
    again = [tf.convert_to_tensor(grad) for grad in tf.gradients(loss, inputs)]
    with tf.Session() as session:
        values = session.run([*results, *gradients], feeds)
        for value, wanted in zip(values, expected, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-9)
        for value, wanted in zip(session.run(again, feeds), values[count:]):
            np.testing.assert_array_equal(value, wanted)


def square_defun() -> Any:
    """A graph whose node `out` calls the function `square_sum` by its name, as old `Defun`s are."""
    definition = tf.GraphDef()
    function = definition.library.function.add()
    function.signature.name = "square_sum"
    for name in ("x", "y"):
        function.signature.input_arg.add(name=name, type_attr="T")
    function.signature.output_arg.add(name="z", type_attr="T")
    function.signature.attr.add(name="T", type="type")
    for name, op, inputs in (("m", "Mul", ["x", "x"]), ("a", "AddV2", ["m:z:0", "y"])):
        node = function.node_def.add(name=name, op=op, input=inputs)
        node.attr["T"].placeholder = "T"
    function.ret["z"] = "a:z:0"
    for name in ("p", "q"):
        definition.node.add(name=name, op="Placeholder").attr["dtype"].type = tf.float32.as_datatype_enum
    call = definition.node.add(name="out", op="square_sum", input=["p", "q"])
    call.attr["T"].type = tf.float32.as_datatype_enum
    return definition


def test_a_node_may_be_named_after_a_function(graph: Any) -> None:
    tf.import_graph_def(square_defun(), name="")
    p, q, out = (graph.get_tensor_by_name(name) for name in ("p:0", "q:0", "out:0"))
    assert out.dtype == tf.float32
    gradients = tf.gradients(out, [p, q])
    assert gradients[0].op.type == "SymbolicGradient"
    with tf.Session() as session:
        assert session.run([out, *gradients], {p: 3.0, q: 4.0}) == [13.0, 6.0, 1.0]


def test_a_function_with_a_gradient_function_of_its_own(graph: Any) -> None:
    definition = square_defun()
    own = definition.library.function.add()
    own.CopyFrom(definition.library.function[0])
    own.signature.name = "own_gradient"
    own.signature.input_arg.add(name="dz", type_attr="T")
    del own.signature.output_arg[:], own.node_def[:]
    own.ret.clear()
    for name in ("dx", "dy"):
        own.signature.output_arg.add(name=name, type_attr="T")
        own.ret[name] = "dz" if name == "dx" else "x"
    definition.library.gradient.add(function_name="square_sum", gradient_func="own_gradient")
    tf.import_graph_def(definition, name="")
    p, q, out = (graph.get_tensor_by_name(name) for name in ("p:0", "q:0", "out:0"))
    with tf.Session() as session:
        gradients = tf.gradients(out, [p, q], grad_ys=tf.constant(7.0))
        assert session.run(gradients, {p: 3.0, q: 4.0}) == [7.0, 3.0]


def add_function(graph: Any, name: str, op: str, *, twice: bool = False, lead: bool = False) -> Any:
    """A function name(x) = op(x) or op(x, x), with an int32 argument before x where `lead`."""
    writer = FunctionWriter(name)
    if lead:
        writer.arg(tf.int32)
    x = writer.arg(tf.float32)
    outputs = writer.node(op, [x, x] if twice else [x], T=tf.float32)
    return writer.finish(outputs, [tf.float32], graph._functions)


def test_case_for_and_remote_call(graph: Any) -> None:
    branches = [add_function(graph, "neg", "Neg"), add_function(graph, "sq", "Square")]
    index, x = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, [])
    (case,) = raw_ops.Case(index, [x], Tout=[tf.float32], branches=branches)
    (doubled,) = raw_ops.For(0, 3, 1, [x], body=add_function(graph, "dbl", "AddV2", twice=True, lead=True))
    (remote,) = raw_ops.RemoteCall("/cpu:0", [x], Tout=[tf.float32], f=branches[1])
    (gradient,) = tf.gradients(case, x)
    with tf.Session() as session:
        assert session.run([case, gradient], {index: 0, x: 3.0}) == [-3.0, -1.0]
        assert session.run([case, gradient], {index: 1, x: 3.0}) == [9.0, 6.0]
        # Any other number means the last branch.
        assert session.run([case, gradient], {index: -5, x: 3.0}) == [9.0, 6.0]
        assert session.run([doubled, remote], {x: 3.0}) == [24.0, 9.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="delta cannot be zero"):
            session.run(raw_ops.For(0, 3, 0, [x], body=branches[0])[0], {x: 1.0})
        assert session.run(raw_ops.FakeParam(dtype=tf.float32, shape=[2, None])).shape == (2, 0)


def test_each_call_of_a_function_draws_its_own_numbers(graph: Any) -> None:
    """Two nodes that call one function, and the same op outside of it, begin at the same number each."""
    writer = FunctionWriter("drawn")
    x = writer.arg(tf.float32)
    shape = writer.node("Shape", [x], T=tf.float32, out_type=tf.int32)
    (number,) = writer.node("RandomUniform", shape, dtype=tf.float32, T=tf.int32, seed=5, seed2=7)
    body = writer.finish([number], [tf.float32], graph._functions)
    zero, yes = tf.constant(0.0), tf.constant(True)
    calls = [raw_ops.StatefulPartitionedCall([zero], Tout=[tf.float32], f=body)[0] for _ in range(2)]
    calls.append(raw_ops.If(yes, [zero], Tout=[tf.float32], then_branch=body, else_branch=body)[0])
    outer = raw_ops.RandomUniform(tf.constant([], tf.int32), dtype=tf.float32, seed=5, seed2=7)
    with tf.Session() as session:
        series = [float(session.run(outer)) for _ in range(3)]
        assert len(set(series)) == 3
        a, b, c = calls
        drawn = [float(session.run(call)) for call in (a, a, b, a, c)]
        assert drawn == [series[index] for index in (0, 1, 0, 2, 0)]
        assert session.run([a, b, c]) == [session.run(outer), series[1], series[1]]


def test_a_dataset_draws_anew_with_each_initialization() -> None:
    dataset = tf.data.Dataset.range(2).map(lambda _: tf.random_uniform([], seed=5)).repeat(2)
    iterator = tf.data.make_initializable_iterator(dataset)
    following = iterator.get_next()
    with tf.Session() as session:
        epochs = []
        for _ in range(2):
            session.run(iterator.initializer)
            epochs.append([float(session.run(following)) for _ in range(4)])
    assert epochs[0] == epochs[1]
    assert len(set(epochs[0])) == 4
