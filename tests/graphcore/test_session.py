"""Sessions: what may be fetched and fed, and what a wrong call is told."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.formats.files import FilePolicy

Pair = namedtuple("Pair", ["first", "second"])


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def test_fetches_keep_their_structure() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant([2, 3], name="b")
    none = tf.no_op(name="nothing")
    with tf.Session() as session:
        assert session.run(a) == 1.0
        assert isinstance(session.run(a), np.float32)
        assert session.run("a:0") == 1.0
        assert session.run("a") is None  # without an index: the operation
        assert session.run(none) is None
        assert session.run([]) == []
        assert session.run({}) == {}
        nested = session.run({"x": [a, (b, none)], "y": Pair(a, [b])})
        assert nested["x"][0] == 1.0
        assert isinstance(nested["x"][1], tuple)
        assert nested["x"][1][1] is None
        assert isinstance(nested["y"], Pair)
        np.testing.assert_array_equal(nested["y"].second[0], [2, 3])
        ordered = session.run(OrderedDict([("z", a), ("a", b)]))
        assert isinstance(ordered, OrderedDict)
        assert list(ordered) == ["z", "a"]
        assert session.run([a]) == [1.0]
        assert session.run((a,)) == (1.0,)
        assert session.run([[a]]) == [[1.0]]


def test_scalar_strings_are_bytes_and_arrays_are_objects() -> None:
    with tf.Session() as session:
        assert session.run(tf.constant("text")) == b"text"
        array = session.run(tf.constant(["a", "bc"]))
        assert array.dtype == object
        assert array.tolist() == [b"a", b"bc"]


def test_indexed_slices_are_fetched_and_fed_as_their_parts() -> None:
    slices = tf.IndexedSlices(tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [None]))
    with tf.Session() as session:
        value = session.run(slices, {slices: (np.array([1.0, 2.0]), np.array([0, 3]))})
    assert isinstance(value, tf.IndexedSlicesValue)
    np.testing.assert_array_equal(value.indices, [0, 3])
    assert value.dense_shape is None


def test_any_tensor_may_be_fed_by_object_or_name() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    doubled = tf.multiply(x, 2.0, name="doubled")
    result = tf.add(doubled, tf.constant(1.0, name="one"), name="result")
    v = tf.Variable(3.0, name="v")
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(result, {x: [1, 2]}), [3, 5])
        np.testing.assert_array_equal(session.run(result, {"x:0": [1, 2]}), [3, 5])
        np.testing.assert_array_equal(session.run(result, {doubled: [10.0]}), [11])  # x is not needed then
        np.testing.assert_array_equal(session.run(result, {x: [1], "one:0": 5}), [7])
        assert session.run(v + 1.0, {v: 10.0}) == 11.0  # a variable without a value
        np.testing.assert_array_equal(session.run(x, {x: [4]}), [4])
        np.testing.assert_array_equal(session.run(result, feed_dict={x: np.array([1, 2], np.int32)}), [3, 5])
        np.testing.assert_array_equal(session.run(result, {x: (1.5,)}), [4])


@pytest.mark.parametrize(
    ("fetch", "error", "says"),
    [
        (None, TypeError, "Fetch argument None has invalid type"),
        (3.5, TypeError, "Fetch argument 3.5 has invalid type"),
        (
            "nope:0",
            ValueError,
            "The name 'nope:0' refers to a Tensor which does not exist. The operation, 'nope'",
        ),
        ("xx", ValueError, "refers to an Operation not in the graph. Did you mean 'x'"),
        ("x:1", ValueError, "exists but only has 1 outputs"),
        ("x:y", ValueError, "Tensor names must be of the form"),
    ],
)
def test_wrong_fetches(fetch: Any, error: type[Exception], says: str) -> None:
    tf.placeholder(tf.float32, name="x")
    with tf.Session() as session, pytest.raises(error) as info:
        session.run(fetch)
    assert says in str(info.value)


def test_wrong_feeds() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    y = x * 2.0
    with tf.Session() as session:
        with pytest.raises(
            ValueError,
            match=r"Cannot feed value of shape \(3,\) for Tensor 'x:0', which has shape '\(\?, 2\)'",
        ):
            session.run(y, {x: [1, 2, 3]})
        with pytest.raises(
            TypeError, match="Cannot interpret feed_dict key as Tensor: Can not convert a Operation"
        ):
            session.run(y, {y.op: 1})
        with pytest.raises(TypeError, match=r"Cannot interpret feed_dict key as Tensor(.|\n)*does not exist"):
            session.run(y, {"z:0": 1})
        with pytest.raises(TypeError, match=r"cannot be a tf\.Tensor object"):
            session.run(y, {x: y})
        with pytest.raises(TypeError, match="Cannot feed 'text' for Tensor 'x:0' with dtype float32"):
            session.run(y, {x: "text"})
        with pytest.raises(TypeError, match="not compatible with Tensor type"):
            session.run(n, {n: 2**40})
        with pytest.raises(TypeError, match="feed_dict must be a dictionary"):
            session.run(y, [1])
        assert session.run(n, {n: np.float32(1.5)}) == 1  # as in TensorFlow: NumPy's conversion
        tf.get_default_graph().prevent_feeding(x)
        with pytest.raises(ValueError, match="may not be fed"):
            session.run([y], {x: [[1, 2]]})


def test_life_of_a_session(graph: Any) -> None:
    with tf.Session() as empty, pytest.raises(RuntimeError, match="The Session graph is empty"):
        empty.run([])
    c = tf.constant(1.0)
    session = tf.Session()
    assert session.graph is graph
    session.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        session.run(c)
    other = tf.Graph()
    with tf.Session(graph=other):
        assert tf.get_default_graph() is other
    assert tf.get_default_graph() is graph
    with pytest.raises(TypeError, match=r"graph must be a tf\.Graph"):
        tf.Session(graph=3)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as configured:
        assert configured.run(c) == 1.0


def test_default_sessions() -> None:
    c = tf.constant(7.0)
    with pytest.raises(ValueError, match="No default session is registered"):
        c.eval()
    with tf.Session() as session:
        assert tf.get_default_session() is session
        assert c.eval() == 7.0
        tf.no_op().run()
    assert tf.get_default_session() is None
    session = tf.Session()
    with session.as_default():
        assert c.eval() == 7.0
    assert session.run(c) == 7.0  # as_default does not close
    assert c.eval(session=session) == 7.0
    interactive = tf.InteractiveSession()
    assert (c + 1.0).eval() == 8.0
    interactive.close()
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError, match="different from the session's graph"):
        foreign.eval(session=session)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        session.run(foreign)


def test_each_session_has_its_own_variables() -> None:
    v = tf.Variable(1.0)
    with tf.Session() as one, tf.Session() as two:
        one.run(v.initializer)
        one.run(tf.assign_add(v, 1.0))
        two.run(v.initializer)
        assert (one.run(v), two.run(v)) == (2.0, 1.0)


def test_a_failing_kernel_names_its_node_inputs_and_line() -> None:
    x = tf.placeholder(tf.float32, name="x")
    y = tf.placeholder(tf.float32, name="y")
    bad = tf.add(x, y, name="bad")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as info:
        session.run(bad, {x: [1, 2, 3], y: [1, 2]})
    text = str(info.value)
    assert text.startswith("Incompatible shapes: [3] vs. [2]")
    assert "[[node bad (op: Add), defined at " in text
    assert "test_session.py:" in text
    assert "inputs: float32[3], float32[2]" in text
    assert info.value.op is bad.op
    assert info.value.node_def.name == "bad"
    assert info.value.fields["node"] == "bad"


def test_run_metadata_has_a_row_for_every_step() -> None:
    x = tf.placeholder(tf.float32, [100, 100], name="x")
    y = tf.matmul(x, tf.exp(x), name="product")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(
            y, {x: np.ones((100, 100))}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), metadata
        )
        untouched = tf.RunMetadata()
        session.run(y, {x: np.ones((100, 100))}, run_metadata=untouched)
    (device,) = metadata.step_stats.dev_stats
    assert device.device.endswith("/device:CPU:0")
    rows = {row.node_name: row for row in device.node_stats}
    assert list(rows) == ["Exp", "product"]
    assert rows["product"].timeline_label == "product = MatMul(x, Exp)"
    assert rows["product"].all_start_micros >= rows["Exp"].all_start_micros > 1e15
    assert rows["product"].op_end_rel_micros >= 0
    assert not untouched.HasField("step_stats")


def test_a_callable_takes_its_feeds_in_order() -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with tf.Session() as session:
        subtract = session.make_callable(x - y, [x, y])
        assert subtract(5.0, 3.0) == 2.0
        with pytest.raises(ValueError, match="Expected 2 feeds, got 1"):
            subtract(5.0)


def test_the_file_policy_holds_for_the_graphs_own_ops(tmp_path: Any) -> None:
    path = tmp_path / "secret.txt"
    path.write_text("secret", encoding="utf-8")
    contents = tf.raw_ops.ReadFile(str(path))
    nothing = FilePolicy(allow_read="nothing", allow_write="nothing", how="pass --allow-files")
    with tf.Session() as session:
        assert session.run(contents) == b"secret"
    with tf.Session(file_policy=nothing) as session, pytest.raises(tf.errors.PermissionDeniedError) as info:
        session.run(contents)
    assert "node 'ReadFile' (op ReadFile) wants to read" in str(info.value)
    assert "pass --allow-files" in str(info.value)
    v = tf.Variable([1.0])
    saver = tf.train.Saver()
    with tf.Session(file_policy=FilePolicy(allow_write=(str(tmp_path),))) as session:
        session.run(v.initializer)
        saver.save(session, str(tmp_path / "m"))
        definition = saver.saver_def
        session.run(definition.save_tensor_name, {definition.filename_tensor_name: str(tmp_path / "n")})
        outside = str(tmp_path.parent / "outside")
        with pytest.raises(tf.errors.PermissionDeniedError):
            session.run(definition.save_tensor_name, {definition.filename_tensor_name: outside})


def test_the_default_of_a_placeholder_is_no_constant() -> None:
    with tf.Graph().as_default():
        training = tf.placeholder_with_default(False, [], name="training")
        assert tf.get_static_value(training) is None
        x = tf.placeholder(tf.float32, [None, 3])
        dropped = tf.layers.dropout(x, 0.9999, training=training)
        rows = tf.placeholder_with_default(2, [])
        padded = tf.zeros(tf.stack([rows, 3])) + x
        assert padded.shape.as_list() == [None, 3]
        axis = tf.placeholder_with_default(0, [])
        total = tf.reduce_sum(x * x, axis)
        (slope,) = tf.gradients(total, x)
        with tf.Session() as session:
            ones = np.ones((4, 3), np.float32)
            assert session.run(dropped, {x: ones}).sum() == 12
            assert session.run(dropped, {x: ones, training: True}).sum() != 12
            assert session.run(padded, {x: ones, rows: 4}).shape == (4, 3)
            for fed in (0, 1):
                sums, slopes = session.run([total, slope], {x: ones, axis: fed})
                assert sums.shape == ((3,), (4,))[fed]
                np.testing.assert_array_equal(slopes, ones * 2)


def test_what_may_be_fed_and_fetched() -> None:
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    with tf.Session() as session:
        assert session.run([a + b, c], {((a,), b): ((1,), 2), c: 3}) == [3, 3]
        with pytest.raises(ValueError, match="Key had 2 elements, but value had 3 elements"):
            session.run(a, {(a, b): (1, 2, 3)})
        assert session.run(b"Placeholder:0", {a: 4}) == 4
        with pytest.raises(TypeError, match="Type of feed value 1 with type"):
            session.run(tf.placeholder(tf.string, [], name="s"), {"s:0": 1})
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(a)
    assert caught.value.op is a.op


def test_conversion_functions_feed() -> None:
    class Doubled:
        def __init__(self, tensor: Any) -> None:
            self.inner = tensor

    tf.register_session_run_conversion_functions(
        Doubled,
        lambda each: ([each.inner], lambda values: 2 * values[0]),
        lambda each, value: [(each.inner, value)],
    )
    x = Doubled(tf.placeholder(tf.float32, []))
    with tf.Session() as session:
        assert session.run(x, {x: 4.0}) == 8


def test_what_a_session_refuses() -> None:
    tf.constant(1.0)
    with pytest.raises(TypeError, match=r"target must be a string.*Did you do"):
        tf.Session(tf.ConfigProto())
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session("grpc://somewhere:2222")
    with pytest.raises(TypeError, match=r"config must be a tf\.ConfigProto"):
        tf.Session(config={})
    session = tf.Session()
    with session, pytest.raises(RuntimeError, match="not re-entrant"), session:
        pass


def test_metadata_is_of_the_last_run() -> None:
    c = tf.constant(1.0) + 2.0
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(c, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
        assert {node.op for node in metadata.partition_graphs[0].node} == {"Const", "AddV2"}
        session.run(c, run_metadata=metadata)
    assert not metadata.partition_graphs


def test_a_second_interactive_session_warns() -> None:
    first = tf.InteractiveSession()
    with pytest.warns(UserWarning, match="An interactive session is already active"):
        second = tf.InteractiveSession()
    second.close()
    first.close()
