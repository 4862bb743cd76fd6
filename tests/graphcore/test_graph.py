"""Graphs: names, scopes, control dependencies, devices, collections, static shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


# Names


def test_names_are_made_unique_whatever_their_case(graph: Any) -> None:
    names = [tf.constant(0, name=name).op.name for name in ("a", "a", "A", "a_1", "b", "B")]
    assert names == ["a", "a_1", "A_2", "a_1_1", "b", "B_1"]
    assert graph.unique_name("a", mark_as_used=False) == graph.unique_name("a", mark_as_used=False)


def test_scopes_nest_repeat_and_are_entered_again() -> None:
    with tf.name_scope("outer") as scope:
        assert scope == "outer/"
        first = tf.constant(0, name="x")
        with tf.name_scope("inner"):
            second = tf.constant(0, name="x")
        with tf.name_scope("inner") as again:
            assert again == "outer/inner_1/"
        with tf.name_scope(None):
            third = tf.constant(0, name="x")
    with tf.name_scope("outer") as other:
        assert other == "outer_1/"
    with tf.name_scope("outer/"):
        fourth = tf.constant(0, name="x")
    names = [tensor.op.name for tensor in (first, second, third, fourth)]
    assert names == ["outer/x", "outer/inner/x", "x", "outer/x_1"]


def test_a_name_scope_has_a_default_and_checks_its_values() -> None:
    with tf.name_scope(None, "standard", [tf.constant(1)]) as scope:
        assert scope == "standard/"
    with tf.Graph().as_default():
        foreign = tf.constant(1)
    with (
        pytest.raises(ValueError, match="must be from the same graph as"),
        tf.name_scope("s", values=[tf.constant(1), foreign]),
    ):
        pass
    for bad in ("_a", "a b", "-a"):
        with pytest.raises(ValueError, match="is not a valid scope name"), tf.name_scope(bad):
            pass
    with pytest.raises(ValueError, match="'a b' is not a valid node name"):
        tf.constant(1, name="a b")


def test_elements_are_found_by_name_or_the_nearest_is_told(graph: Any) -> None:
    c = tf.constant([1.0], name="weights")
    assert graph.get_tensor_by_name("weights:0") is c
    assert graph.get_operation_by_name("weights") is c.op
    assert graph.as_graph_element("weights:0") is c
    assert graph.as_graph_element(c.op) is c.op
    with pytest.raises(KeyError, match="Did you mean 'weights'"):
        graph.get_tensor_by_name("weight:0")
    with pytest.raises(KeyError, match="exists but only has 1 outputs"):
        graph.get_tensor_by_name("weights:1")
    with pytest.raises(ValueError, match="refers to an Operation, not a Tensor"):
        graph.get_tensor_by_name("weights")
    with pytest.raises(ValueError, match="appears to refer to a Tensor, not a Operation"):
        graph.get_operation_by_name("weights:0")
    with pytest.raises(TypeError, match="Can not convert a int into a Tensor or Operation"):
        graph.as_graph_element(3)


# Control dependencies


def test_control_dependencies_are_pruned_as_in_tensorflow() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([a]):
        plain = tf.constant(3.0)
        direct = tf.negative(a)  # a is an input already
        inside = tf.negative(plain)  # its input was made in the block
        outside = tf.negative(b)
        with tf.control_dependencies([b]):
            both = tf.constant(4.0)
            with tf.control_dependencies(None):
                free = tf.constant(5.0)
    names = [
        [op.name for op in tensor.op.control_inputs]
        for tensor in (plain, direct, inside, outside, both, free)
    ]
    assert names == [["a"], [], [], ["a"], ["a", "b"], []]


def test_a_group_waits_for_all() -> None:
    v, w = tf.Variable(0.0), tf.Variable(0.0)
    both = tf.group(tf.assign(v, 1.0), tf.assign(w, 2.0), name="both")
    assert both.name == "both"
    first, second = tf.tuple([tf.identity(v), tf.identity(w)], control_inputs=[both])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(both)
        assert session.run([v, w]) == [1.0, 2.0]
        assert session.run([first, second]) == [1.0, 2.0]


# Devices, colocation, other scopes


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["/cpu:0"], "/device:CPU:0"),
        (["/gpu:1"], "/device:GPU:1"),
        (["/job:ps/task:1", "/cpu:0"], "/job:ps/task:1/device:CPU:0"),
        (["/job:ps/task:1/cpu:0", "/task:2"], "/job:ps/task:2/device:CPU:0"),
        (["/cpu:0", None], ""),
    ],
)
def test_device_names_merge(graph: Any, names: list[str | None], wanted: str) -> None:
    managers = [graph.device(name) for name in names]
    for manager in managers:
        manager.__enter__()
    assert tf.constant(1).device == wanted
    for manager in reversed(managers):
        manager.__exit__(None, None, None)


def test_a_device_may_be_a_function() -> None:
    with tf.device(lambda op: "/gpu:0" if op.type == "Const" else "/cpu:0"):
        c = tf.constant(1.0)
        assert (c.device, tf.negative(c).device) == ("/device:GPU:0", "/device:CPU:0")


def test_colocation() -> None:
    with tf.device("/gpu:3"):
        a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        b = tf.constant(2.0)
    assert b.op.colocation_groups() == [b"loc:@a"]
    assert b.device == "/device:GPU:3"
    assert a.op.colocation_groups() == [b"loc:@a"]


# Collections, finalizing


def test_collections(graph: Any) -> None:
    tf.add_to_collection("c", 1)
    tf.add_to_collections(["c", "d", "c"], 2)
    assert tf.get_collection("c") == [1, 2]
    assert tf.get_collection("d") == [2]
    tf.get_collection_ref("d").append(3)
    assert tf.get_collection("d") == [2, 3]
    tf.get_collection("d").append(4)
    assert tf.get_collection("d") == [2, 3]
    with tf.name_scope("s"):
        inside = tf.constant(1, name="x")
    tf.add_to_collection("t", inside)
    tf.add_to_collection("t", tf.constant(1, name="y"))
    assert tf.get_collection("t", scope="s/") == [inside]
    graph.clear_collection("t")
    assert tf.get_collection("t") == []


def test_a_finalized_graph_does_not_change(graph: Any) -> None:
    x = tf.constant(1.0)
    graph.finalize()
    for change in (
        lambda: tf.constant(1),
        lambda: tf.add_to_collection("c", 1),
        lambda: x.op._set_attr("a", 1),
    ):
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            change()
    with tf.Session() as session:
        assert session.run(x) == 1.0


def test_graphs_do_not_mix() -> None:
    a = tf.constant(1.0)
    with tf.Graph().as_default():
        b = tf.constant(1.0)
    with pytest.raises(ValueError, match="must be from the same graph"):
        a + b


# Building: types and shapes


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (
            lambda: tf.constant([1.0]) + tf.constant([1]),
            TypeError,
            "Input 'y' of 'AddV2' Op has type int32 that does not match type float32 of argument 'x'.",
        ),
        (lambda: tf.constant([1.0]) + "text", TypeError, "text"),
        (
            lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])),
            ValueError,
            "Dimensions must be equal, but are 3 and 2 for 'MatMul' (op: 'MatMul') with input shapes: "
            "[2,3], [2,3].",
        ),
        (lambda: tf.matmul(tf.ones([2]), tf.ones([2, 3])), ValueError, "Shape must be rank 2 but is rank 1"),
        (
            lambda: tf.reshape(tf.ones([6]), [4]),
            ValueError,
            "Cannot reshape a tensor with 6 elements to shape [4]",
        ),
        (
            lambda: tf.nn.relu(tf.constant(["a"])),
            TypeError,
            "Value passed to parameter 'features' has DataType string not in list of allowed values",
        ),
        (lambda: tf.constant(1.5, tf.int32), TypeError, "Expected int32, got 1.5 of type 'float' instead."),
        (lambda: tf.constant([[1], [2, 3]]), ValueError, "must be a dense tensor"),
        (lambda: tf.constant(None), ValueError, "None values not supported."),
        (
            lambda: tf.raw_ops.MatMul(tf.ones([1, 1])),
            TypeError,
            "No argument for input 'b' of op 'MatMul' was given",
        ),
        (lambda: tf.raw_ops.Exp(1.0, wrong=2), TypeError, "unexpected keyword argument 'wrong'"),
        (
            lambda: tf.concat([tf.ones([2]), tf.ones([2, 2])], 0),
            ValueError,
            "Shape must be rank 1 but is rank 2",
        ),
        (lambda: bool(tf.constant(True)), TypeError, "Using a `tf.Tensor` as a Python `bool` is not allowed"),
        (lambda: list(tf.constant([1])), TypeError, "iterable"),
    ],
)
def test_mistakes_are_told_while_building(build: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error) as info:
        build()
    assert says in str(info.value)


def test_a_refused_operation_leaves_no_trace(graph: Any) -> None:
    a = tf.ones([2, 3])
    count = len(graph.get_operations())
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        tf.matmul(a, a, name="m")
    assert len(graph.get_operations()) == count


def test_python_values_get_tensorflows_dtypes() -> None:
    values = [1, 2.5, True, "s", [1, 2**40], np.float64(1), np.arange(2, dtype=np.int16), 1 + 2j]
    names = [tf.constant(value).dtype.name for value in values]
    assert names == ["int32", "float32", "bool", "string", "int64", "float64", "int16", "complex128"]


def test_static_shapes_go_through_computed_shapes() -> None:
    x = tf.placeholder(tf.float32, [None, 4, 6])
    flat = tf.reshape(x, [tf.shape(x)[0], 24])
    assert flat.get_shape().as_list() == [None, 24]
    assert tf.reshape(x, tf.stack([-1, tf.shape(x)[1] * tf.shape(x)[2]])).get_shape().as_list() == [None, 24]
    assert tf.zeros(tf.shape(x)[1:]).get_shape().as_list() == [4, 6]
    assert tf.concat([x, x], axis=0).get_shape().as_list() == [None, 4, 6]
    assert tf.concat([x, x], axis=-1).get_shape().as_list() == [None, 4, 12]
    x.set_shape([3, None, None])
    assert x.get_shape().as_list() == [3, 4, 6]
    with pytest.raises(ValueError, match="are not compatible"):
        x.set_shape([5, 4, 6])


def test_either_side_of_a_switch_has_the_value_of_its_data() -> None:
    with tf.Graph().as_default():
        dead, live = tf.raw_ops.Switch(data=tf.constant([1]), pred=tf.constant(True))
        rows = tf.placeholder(tf.float32, [4, 3])
        for side in (live, dead):  # as in TensorFlow: what is dead is never used
            assert tf.slice(rows, tf.concat([side, [0]], 0), [1, -1]).shape.as_list() == [1, 3]


def test_tensors_are_told_apart_by_identity() -> None:
    a, b = tf.constant(1.0), tf.constant(1.0)
    assert (a == b) is False
    assert a == a
    assert len({a, b, a}) == 2
    assert str(a) == 'Tensor("Const:0", shape=(), dtype=float32)'
    assert repr(b) == "<tf.Tensor 'Const_1:0' shape=() dtype=float32>"
    assert repr(a.op) == "<tf.Operation 'Const' type=Const>"


def test_operations_know_where_they_come_from_and_who_takes_them() -> None:
    a = tf.constant(1.0)
    b = tf.exp(a)
    c = tf.log(a)
    assert a.consumers() == [b.op, c.op]
    assert b.op.traceback[-1][0].endswith("test_graph.py")
    assert b.op.traceback[-1][3] == "b = tf.exp(a)"
    assert b.op.get_attr("T") == tf.float32
    with pytest.raises(ValueError, match="Operation 'Exp' has no attr named 'X'"):
        b.op.get_attr("X")
    assert b.op.node_def.op == "Exp"
    assert b.op.op_def.name == "Exp"


def test_shapes_and_dimensions_are_tensorflow_1s() -> None:
    shape = tf.TensorShape([None, 3])
    assert shape[1] == 3
    assert isinstance(shape[0], tf.Dimension)
    assert shape[0].value is None
    assert str(shape) == "(?, 3)"
    assert repr(shape) == "TensorShape([Dimension(None), Dimension(3)])"
    assert shape.is_compatible_with([2, 3])
    assert shape.merge_with([4, None]).as_list() == [4, 3]
    assert shape.concatenate([1]).as_list() == [None, 3, 1]
    assert shape.num_elements() is None
    assert [int(dim) for dim in tf.TensorShape([2, 3])] == [2, 3]
    assert tf.TensorShape(None).ndims is None
    with pytest.raises(ValueError, match="as_list\\(\\) is not defined on an unknown TensorShape"):
        tf.TensorShape(None).as_list()
    assert (tf.Dimension(2) * tf.Dimension(None)).value is None
    assert tf.Dimension(7) // 2 == 3
    assert tf.broadcast_static_shape([1, 3], [2, 1]).as_list() == [2, 3]


def test_dtypes_are_tensorflows() -> None:
    assert tf.float32 == np.float32
    assert tf.as_dtype("float32_ref") != tf.float32
    assert tf.as_dtype("float32_ref").base_dtype is tf.float32
    assert tf.float32.as_numpy_dtype is np.float32
    assert repr(tf.bool) == "tf.bool"
    assert tf.int8.min == -128
    assert tf.bfloat16.is_floating
    assert tf.bfloat16.size == 2
    assert tf.as_dtype(float) is tf.float32
    with pytest.raises(TypeError, match="Cannot convert value 'float31' to a TensorFlow DType"):
        tf.as_dtype("float31")


def test_keys_for_tensors_and_variables() -> None:
    with tf.Graph().as_default():
        tensor, variable = tf.constant(1.0), tf.Variable([1.0, 2.0])
        keys = {each.experimental_ref(): each.name for each in (tensor, variable)}
        assert keys[tensor.experimental_ref()] == tensor.name
        assert keys[variable.experimental_ref()] == variable.name
        assert tensor.experimental_ref().deref() is tensor
        assert tensor.experimental_ref() != tf.constant(1.0).experimental_ref()


def test_where_an_operation_comes_from_and_goes_to() -> None:
    with tf.Graph().as_default() as graph:
        assert not graph.building_function
        graph.switch_to_thread_local()
        slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
        used = tf.add(slices.values, 1.0)
        also = tf.group(tf.identity(slices.indices))
        assert slices.consumers() == [used.op, also.control_inputs[0]]
        *_, (file, line, name, _, start) = used.op.traceback_with_start_lines
        assert file == __file__
        assert name == "test_where_an_operation_comes_from_and_goes_to"
        assert 0 < line - start < 10
