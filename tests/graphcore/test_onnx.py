"""Networks, loops and conditionals as ONNX models: what onnxruntime computes is what our session does."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from control_flow_programs import PROGRAMS
from onnx_runs import difference, frozen, onnx, run, runtime

from sgtool import graphcore as tf
from sgtool.formats.errors import (
    InternalError,
    InvalidValueError,
    MissingExtraError,
    MissingNameError,
    UnimplementedError,
)
from sgtool.formats.rewrite import model_of
from sgtool.graphcore import onnx as exporter
from sgtool.graphcore.onnx.blocks import Builder
from sgtool.graphcore.onnx.write import write_model

Feeds = dict[str, Any]


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def images(*shape: int | None) -> Any:
    return tf.placeholder(tf.float32, shape, name="x")


def exported(build: Callable[[], Any], feeds: list[Feeds], path: Path, **options: Any) -> Counter[str]:
    """Exports what `build` makes, compares both on all feeds; gives how often each operator is in it."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = build()
        outputs = list(made) if isinstance(made, (list, tuple)) else [made]
        session.run(tf.global_variables_initializer())
        wanted = [session.run(outputs, one) for one in feeds]
        model = frozen(session, outputs)
    names = [tensor.name for tensor in outputs]
    result = exporter.export(model, names, **options)
    result.write(path / "model.onnx")
    if not result.unranked:
        onnx.checker.check_model(str(path / "model.onnx"), full_check=True)
    for one, values in zip(feeds, wanted, strict=True):
        got = run(path / "model.onnx", names, one)
        lines = [difference(a, b) for a, b in zip(got, values, strict=True)]
        assert not any(lines), lines
    return Counter(node.op for _, node in result.make.root.walk())


# ---- networks --------------------------------------------------------------------------------------


def test_a_perceptron(tmp_path: Path) -> None:
    def build() -> Any:
        hidden = tf.layers.dense(images(None, 4), 8, tf.nn.tanh)
        return tf.nn.softmax(tf.layers.dense(hidden, 3), name="prob")

    ops = exported(build, [{"x:0": floats(2, 4)}, {"x:0": floats(7, 4)}], tmp_path)
    assert ops == {"MatMul": 2, "Add": 2, "Tanh": 1, "Softmax": 1}
    model = onnx.load(tmp_path / "model.onnx")
    assert [one.name for one in model.graph.input] == ["x:0"]
    assert [one.name for one in model.graph.output] == ["prob:0"]
    sizes = model.graph.input[0].type.tensor_type.shape.dim
    assert sizes[0].dim_param
    assert sizes[1].dim_value == 4
    assert model.opset_import[0].version >= 17


@pytest.mark.parametrize("switched", [False, True], ids=["plain", "placeholder"])
def test_a_residual_network_has_no_transposes_and_no_norms_inside(tmp_path: Path, switched: bool) -> None:
    def build() -> Any:
        training = tf.placeholder_with_default(False, [], name="training") if switched else False
        y = tf.layers.conv2d(images(None, 8, 8, 3), 4, 3, padding="same", use_bias=False)
        y = tf.nn.relu(tf.layers.batch_normalization(y, training=training))
        z = tf.layers.conv2d(y, 4, 3, padding="same")
        z = tf.layers.batch_normalization(z, training=training, fused=False)
        y = tf.nn.relu6(y + z)
        y = tf.pad(y, [[0, 0], [1, 1], [1, 1], [0, 0]])
        y = tf.layers.max_pooling2d(tf.layers.separable_conv2d(y, 6, 3, strides=2), 2, 2)
        y = tf.concat([y, tf.nn.leaky_relu(y)], -1)
        y = tf.layers.dropout(tf.reduce_mean(y, [1, 2]), training=training)
        return tf.layers.dense(y, 5)

    ops = exported(build, [{"x:0": floats(2, 8, 8, 3)}, {"x:0": floats(3, 8, 8, 3)}], tmp_path)
    assert ops["Transpose"] == 1, ops
    assert ops["Conv"] == 4
    assert not {
        "BatchNormalization",
        "Mul",
        "Sub",
        "Div",
        "Sqrt",
        "If",
        "Identity",
        "RandomUniformLike",
    } & set(ops)


def test_a_norm_that_stands_alone_stays(tmp_path: Path) -> None:
    def build() -> Any:
        return tf.layers.batch_normalization(images(None, 4, 4, 3))

    assert exported(build, [{"x:0": floats(2, 4, 4, 3)}], tmp_path)["BatchNormalization"] == 1


def test_a_convolution_whose_result_is_fetched_is_not_scaled(tmp_path: Path) -> None:
    def build() -> Any:
        conv = tf.layers.conv2d(images(None, 6, 6, 2), 3, 3)
        return [conv, conv * tf.constant([1.0, 2.0, 3.0])]

    assert exported(build, [{"x:0": floats(1, 6, 6, 2)}], tmp_path)["Mul"] == 1


def test_sizes_of_images_that_only_the_run_knows(tmp_path: Path) -> None:
    def build() -> Any:
        x = images(None, None, None, 3)
        y = tf.nn.relu(tf.layers.conv2d(x, 4, 3, strides=2, padding="same"))
        shape = tf.shape(x)
        kernel = tf.get_variable("kernel", [3, 3, 2, 4])
        up = tf.nn.conv2d_transpose(y, kernel, [shape[0], shape[1], shape[2], 2], [1, 2, 2, 1])
        wide = tf.image.resize_bilinear(up, [shape[1] * 2, shape[2] + 3])
        return [up, wide, tf.nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")]

    feeds = [{"x:0": floats(2, 7, 6, 3)}, {"x:0": floats(1, 12, 9, 3)}]
    exported(build, feeds, tmp_path)


def test_channels_first_needs_no_transposes(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3, 8, 8], name="x")
        tf.nn.conv2d(x, tf.constant(floats(3, 3, 3, 4)), [1, 1, 2, 2], "SAME", data_format="NCHW", name="y")
    result = exporter.export(model_of(graph.as_graph_def()), ["y:0"])
    assert [node.op for _, node in result.make.root.walk()] == ["Conv"]


# ---- control flow ----------------------------------------------------------------------------------


def row(*shape: int | None) -> Any:
    return tf.placeholder(tf.float32, shape or (None, 3), name="x")


def _counted() -> Any:
    return tf.while_loop(
        lambda i, y: tf.less(i, 5), lambda i, y: (i + 1, y * 1.5 + tf.cast(i, tf.float32)), [0, row()]
    )


def _nested() -> Any:
    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z + 1.0), [0, y])[1] * 0.5

    return tf.while_loop(lambda i, y: i < 4, body, [0, row()])[1]


def _branch_in_loop() -> Any:
    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: y * 2, lambda: y + 1)

    return tf.while_loop(lambda i, y: i < 5, body, [0, row()])[1]


def _map() -> Any:
    return tf.map_fn(lambda one: one * tf.reduce_max(one), row())


def _scan() -> Any:
    return tf.scan(lambda total, one: total * 0.5 + one, row())


def _fold() -> Any:
    return tf.foldl(lambda total, one: total * 0.5 + one, row())


def _gated() -> Any:
    """A loop of gradients with gates between its last values and what leaves it."""
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    _, y = tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, -v), [0, x])
    return tf.gradients(tf.reduce_sum(tf.sin(y)), x, gate_gradients=True)[0]


LOOPS = {
    "counted": _counted,
    "nested": _nested,
    "branch": _branch_in_loop,
    "map": _map,
    "scan": _scan,
    "fold": _fold,
}


@pytest.mark.parametrize("name", LOOPS)
def test_while_loops(name: str, tmp_path: Path) -> None:
    ops = exported(LOOPS[name], [{"x:0": floats(2, 3)}, {"x:0": floats(5, 3)}], tmp_path)
    assert ops["Loop"] == (2 if name == "nested" else 1)
    assert ops["If"] == (name == "branch")


def test_the_gradient_of_a_loop(tmp_path: Path) -> None:
    assert exported(_gated, [{"x:0": floats(2, 3)}], tmp_path)["Loop"] == 2


def _pair() -> Any:
    x, p = row(), tf.placeholder(tf.bool, [], name="p")
    return tf.cond(p, lambda: (x * 2, tf.reduce_sum(x)), lambda: (tf.nn.relu(x), tf.constant(3.0)))


def _within() -> Any:
    x, p = row(), tf.placeholder(tf.bool, [], name="p")
    q = tf.reduce_sum(x) > 0
    return tf.cond(
        p,
        lambda: tf.cond(q, lambda: x * 2, lambda: x * 3),
        lambda: tf.cond(q, lambda: x - 1, lambda: x + 1),
    )


def _loop_in_branch() -> Any:
    x, p = row(), tf.placeholder(tf.bool, [], name="p")
    return tf.cond(
        p, lambda: tf.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, y * 2), [0, x])[1], lambda: x
    )


def _shapes_in_branch() -> Any:
    x, p = row(), tf.placeholder(tf.bool, [], name="p")
    return tf.cond(p, lambda: tf.reshape(x, [-1, 1]), lambda: tf.reshape(x, [1, -1]))


CONDS = {
    "pair": (_pair, 1),
    "within": (_within, 3),
    "loop": (_loop_in_branch, 1),
    "shapes": (_shapes_in_branch, 1),
}


@pytest.mark.parametrize("name", CONDS)
def test_conditionals(name: str, tmp_path: Path) -> None:
    build, count = CONDS[name]
    feeds = [{"x:0": sign * floats(2, 3), "p:0": p} for p in (True, False) for sign in (1, -1)]
    assert exported(build, feeds, tmp_path)["If"] == count


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("cell", ["lstm", "gru", "stacked"])
def test_recurrent_networks(cell: str, known: bool, tmp_path: Path) -> None:
    cells = tf.nn.rnn_cell
    make = {
        "lstm": lambda: cells.LSTMCell(4),
        "gru": lambda: cells.GRUCell(4),
        "stacked": lambda: cells.MultiRNNCell([cells.BasicLSTMCell(3), cells.GRUCell(2)]),
    }[cell]

    def build() -> Any:
        x = row(None, 5 if known else None, 3)
        length = tf.placeholder(tf.int32, [None] if known else None, name="n")
        output, state = tf.nn.dynamic_rnn(make(), x, length, dtype=tf.float32)
        return [output, *tf.nest.flatten(state)]

    feeds = [{"x:0": floats(2, 5, 3), "n:0": np.array([5, 3], np.int32)}]
    if not known:
        feeds.append({"x:0": floats(3, 7, 3), "n:0": np.array([1, 7, 4], np.int32)})
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = build()
        session.run(tf.global_variables_initializer())
        wanted = [session.run(outputs, one) for one in feeds]
        model = frozen(session, outputs)
    names = [tensor.name for tensor in outputs]
    result = exporter.export(model, names)
    assert result.unranked == ([] if known else ["n:0"])
    result.write(tmp_path / "model.onnx")
    for one, values in zip(feeds, wanted, strict=True):
        lines = [
            difference(a, b) for a, b in zip(run(tmp_path / "model.onnx", names, one), values, strict=True)
        ]
        assert not any(lines), lines


# What these write to arrays is not in order.
DISORDERED = {"array_parts", "scanned"}


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - DISORDERED))
def test_programs_with_control_flow(name: str, tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        outputs, feeds = PROGRAMS[name](tf)
        _check(graph, list(outputs), {tensor.name: value for tensor, value in feeds.items()}, tmp_path)


@pytest.mark.parametrize("name", sorted(DISORDERED))
def test_arrays_that_are_not_filled_in_order_are_refused(name: str) -> None:
    with tf.Graph().as_default() as graph:
        outputs, _ = PROGRAMS[name](tf)
    with pytest.raises(UnimplementedError) as caught:
        exporter.export(model_of(graph.as_graph_def()), [tensor.name for tensor in outputs])
    assert {row["op"][:11] for row in caught.value.fields["nodes"]} == {"TensorArray"}


with np.load(Path(__file__).parents[1] / "golden" / "control_flow_v2.npz") as _archive:
    OF_TENSORFLOW_2 = {key[:-6]: _archive[key].tobytes() for key in _archive.files if key.endswith("/plain")}


@pytest.mark.parametrize("name", OF_TENSORFLOW_2)
def test_functions_that_tensorflow_2_made(name: str, tmp_path: Path) -> None:
    """If, While and lists of tensors."""
    with tf.Graph().as_default():
        outputs, given = PROGRAMS[name](tf)
        feeds = {tensor.name: value for tensor, value in given.items()}
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(tf.MetaGraphDef.FromString(OF_TENSORFLOW_2[name]))
    named = [graph.get_tensor_by_name(f"result_{index}:0") for index in range(len(outputs))]
    _check(graph, named, feeds, tmp_path)


def _check(graph: Any, outputs: list[Any], feeds: Feeds, path: Path) -> None:
    names = [tensor.name for tensor in outputs]
    with tf.Session(graph=graph) as session:
        wanted = session.run(outputs, feeds)
        result = exporter.export(frozen(session, outputs), names)
    result.write(path / "model.onnx")
    lines = [difference(a, b) for a, b in zip(run(path / "model.onnx", names, feeds), wanted, strict=True)]
    assert not any(lines), lines


def test_a_write_out_of_order_is_refused() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        array = tf.TensorArray(tf.float32, 4)
        _, last = tf.while_loop(
            lambda i, a: i < 4, lambda i, a: (i + 1, a.write(3 - i, x[i])), [0, array], name="loop"
        )
        tf.identity(last.stack(), name="y")
    with pytest.raises(
        UnimplementedError, match=r"\(TensorArrayWriteV3\): it writes elements in another order"
    ):
        exporter.export(model_of(graph.as_graph_def()), ["y:0"])


# ---- what is refused, and what is said --------------------------------------------------------------


def test_everything_that_cannot_be_expressed_is_listed(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        text = tf.placeholder(tf.string, [None], name="text")
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        number = tf.strings.to_number(tf.strings.substr(text, 0, 1), name="number")
        axis = tf.placeholder(tf.int32, [], name="axis")
        best = tf.cast(tf.argmax(x, axis), tf.float32)
        spectrum = tf.abs(tf.fft(tf.cast(x, tf.complex64)))
        tf.add_n([number, tf.reduce_sum(spectrum, 1), best], name="y")
    with pytest.raises(UnimplementedError) as caught:
        exporter.export(model_of(graph.as_graph_def()), ["y:0"])
    rows = {row["name"]: row for row in caught.value.fields["nodes"]}
    assert set(rows) == {"Substr", "number", "ArgMax", "Cast_1", "FFT", "Abs"}
    assert "strings" in rows["number"]["reason"]
    assert rows["number"]["op"] == "StringToNumber"
    assert "axis is computed" in rows["ArgMax"]["reason"]
    assert "complex64" in rows["FFT"]["reason"]
    for name, one in rows.items():
        assert f"'{name}' ({one['op']}): {one['reason']}" in str(caught.value)


def test_an_op_that_nobody_knows_is_one_of_the_list() -> None:
    graph_def = tf.GraphDef()
    for name, op, source in (("x", "Placeholder", ()), ("odd", "Odd", ("x",)), ("y", "Relu", ("odd",))):
        node = graph_def.node.add(name=name, op=op, input=source)
        if op != "Odd":
            node.attr["dtype" if op == "Placeholder" else "T"].type = 1
    with pytest.raises(UnimplementedError, match=r"'odd' \(Odd\): no such op"):
        exporter.export(model_of(graph_def), ["y:0"])


def test_a_tensor_that_is_not_there_gets_the_nearest_name() -> None:
    with tf.Graph().as_default() as graph:
        tf.nn.relu(tf.placeholder(tf.float32, [2], name="x"), name="probability")
    model = model_of(graph.as_graph_def())
    with pytest.raises(MissingNameError, match="Did you mean 'probability'"):
        exporter.export(model, ["probabilty:0"])
    with pytest.raises(MissingNameError, match="probability:1"):
        exporter.export(model, ["probability:1"])
    with pytest.raises(MissingNameError, match="'z:0'"):
        exporter.export(model, ["probability:0"], ["z:0"])


def test_an_input_in_the_middle_and_defaults(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        text = tf.placeholder(tf.string, [None], name="text")
        number = tf.strings.to_number(text, name="number")
        factor = tf.placeholder_with_default(2.0, [], name="factor")
        tf.multiply(number, factor, name="y")
    model = model_of(graph.as_graph_def())
    result = exporter.export(model, ["y:0"], ["number:0"])
    assert (result.inputs, result.fixed) == (["number:0"], ["factor:0"])
    result.write(tmp_path / "model.onnx")
    (got,) = run(tmp_path / "model.onnx", ["y:0"], {"number:0": floats(3)})
    np.testing.assert_allclose(got, 2 * floats(3))
    kept = exporter.export(model, ["y:0"], ["number:0", "factor:0"])
    assert (sorted(kept.inputs), kept.fixed) == (["factor:0", "number:0"], [])


def test_an_input_that_is_fetched(tmp_path: Path) -> None:
    def build() -> Any:
        x = images(None, 3)
        return [x, x + 1, tf.identity(x), tf.identity(tf.constant(3.0))]

    exported(build, [{"x:0": floats(4, 3)}], tmp_path)


def test_data_with_a_default_stays_an_input(tmp_path: Path) -> None:
    def build() -> Any:
        return tf.placeholder_with_default(floats(2, 3), [None, 3], name="x") * 2

    exported(build, [{"x:0": floats(4, 3)}], tmp_path)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="y")
    with pytest.raises(MissingExtraError, match=r"sgtool\[onnx\]"):
        exporter.export(model_of(graph.as_graph_def()), ["y:0"])


def test_many_weights_go_to_a_file_beside(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.layers.dense(tf.layers.dense(images(None, 40), 30), 50)
        session.run(tf.global_variables_initializer())
        feeds = {"x:0": floats(2, 40)}
        wanted = session.run(y, feeds)
        result = exporter.export(frozen(session, [y]), [y.name])
    assert write_model(tmp_path / "model.onnx", result.make, limit=1000) > 10000
    assert (tmp_path / "model.onnx").stat().st_size < 2000
    assert (tmp_path / "model.onnx.data").stat().st_size > 10000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.onnx", "model.onnx.data"]
    onnx.checker.check_model(str(tmp_path / "model.onnx"))
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    assert not difference(session.run([y.name], feeds)[0], wanted)


def test_weights_that_are_used_twice_are_written_once(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        weights = tf.constant(floats(30, 30), name="weights")

        def body(i: Any, y: Any) -> Any:
            return i + 1, tf.matmul(y, weights)

        y = tf.matmul(images(None, 30), weights)
        y = tf.while_loop(lambda i, y: i < 2, body, [0, y])[1]
        tf.add(y, tf.gather(weights, [0]), name="y")
    result = exporter.export(model_of(graph.as_graph_def()), ["y:0"])
    assert sum(value.nbytes > 1000 for value in result.make.constants.values()) == 1


def test_what_was_there_stays_where_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    with tf.Graph().as_default() as graph:
        tf.strings.to_number(tf.placeholder(tf.string, [None], name="x"), name="y")
    with pytest.raises(UnimplementedError):
        exporter.export(model_of(graph.as_graph_def()), ["y:0"]).write(path)
    assert path.read_bytes() == b"old"
    make = Builder()
    make.root.outputs.append(make.port(make.emit("Relu", "nowhere"), np.float32, (1,)))
    with pytest.raises(InternalError, match="not valid ONNX"):
        write_model(path, make)
    assert path.read_bytes() == b"old"
    with pytest.raises(InvalidValueError, match="name tensors"):
        exporter.export(model_of(tf.GraphDef()), [])
