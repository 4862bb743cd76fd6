"""GraphDefs and MetaGraphDefs in and out: nothing is lost, nothing clashes, everything wrong is listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_files import corpus_params

from sgtool import graphcore as tf
from sgtool.formats import graph_file, protos

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def parse(text: str) -> Any:
    return protos.parse_text(protos.GraphDef, text, "a test")


def small() -> Any:
    """y = x * w + 1, as a GraphDef."""
    with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.constant([[3.0], [4.0]], name="w")
        product = tf.matmul(x, w, name="scope/product")
        one = tf.constant(1.0)
        with tf.control_dependencies([w]):
            tf.add(product, one, name="y")
        return graph.as_graph_def()


def test_names_get_a_prefix() -> None:
    tf.import_graph_def(small())
    y = tf.get_default_graph().get_tensor_by_name("import/y:0")
    assert y.op.inputs[0].name == "import/scope/product:0"
    assert [op.name for op in y.op.control_inputs] == ["import/w"]
    tf.import_graph_def(small())
    assert tf.get_default_graph().get_operation_by_name("import_1/y").device == "/device:CPU:0"
    with tf.Session() as session:
        assert session.run(y, {"import/x:0": [[1, 2]]}) == [[12.0]]


def test_without_a_prefix_taken_names_give_way() -> None:
    tf.constant(1.0, name="y")
    (y,) = tf.import_graph_def(small(), name="", return_elements=["y:0"]) or []
    assert y.name == "y_1:0"
    assert tf.get_default_graph().get_operation_by_name("scope/product")


def test_an_input_map_takes_tensors_of_the_graph() -> None:
    mine = tf.constant([[10.0, 20.0]])
    y, product = tf.import_graph_def(small(), {"x:0": mine}, ["y:0", "scope/product"], name="new") or []
    with tf.Session() as session:
        assert session.run(y) == [[111.0]]
    assert product.type == "MatMul"
    with pytest.raises(
        ValueError, match=r"Attempted to map inputs that were not found in graph_def: \[z:0\]"
    ):
        tf.import_graph_def(small(), {"z:0": mine})


def test_an_opaque_op_is_kept_and_only_running_it_fails() -> None:
    text = """
    node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }
    node { name: "strange" op: "NobodysOp" input: "a" device: "/job:ps/task:3/device:TPU:1"
           attr { key: "secret" value { list { i: 1 i: 2 } } } attr { key: "_hint" value { s: "x" } } }
    node { name: "after" op: "Neg" input: "strange:1" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "beside" op: "Neg" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    """
    tf.import_graph_def(parse(text), name="")
    graph = tf.get_default_graph()
    assert graph.get_operation_by_name("strange").get_attr("secret") == [1, 2]
    again = {node.name: node for node in graph.as_graph_def().node}
    assert again == {node.name: node for node in parse(text).node}
    with tf.Session() as session:
        assert session.run("beside:0") == -2.0
        with pytest.raises(tf.errors.UnimplementedError) as info:
            session.run(["after:0", "beside:0"])
        assert "node 'strange' (op: NobodysOp), needed by the fetch 'after:0'" in str(info.value)
        assert session.run("after:0", {"strange:1": np.float32(5)}) == -5.0


def test_unknown_fields_of_a_node_survive() -> None:
    graph_def = small()
    extra = b"\xfa\x3e\x03abc"  # field 1007, bytes
    graph_def.node[0].MergeFromString(extra)
    graph_def.node[0].experimental_debug_info.original_node_names.append("once")
    tf.import_graph_def(graph_def, name="")
    again = tf.get_default_graph().as_graph_def()
    assert again.node[0].experimental_debug_info.original_node_names == ["once"]
    assert again.node[0].SerializeToString().endswith(extra) or extra in again.node[0].SerializeToString()


def test_every_problem_of_a_graph_is_listed_and_nothing_stays() -> None:
    text = """
    node { name: "a" op: "Neg" input: "nope" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "b" op: "Add" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "a" op: "NoOp" }
    node { name: "c" op: "Neg" input: "a:7" attr { key: "T" value { type: DT_FLOAT } } }
    """
    with pytest.raises(ValueError, match="problems in the GraphDef") as info:
        tf.import_graph_def(parse(text), name="")
    for sentence in (
        "Node 'a': Unknown input node 'nope'",
        "Node 'b' (op: Add) has 1 inputs, its op takes 2",
        "Node 'a' is not unique",
        "Node 'c': Connecting to invalid output 7 of source node a which has 1 outputs.",
    ):
        assert sentence in str(info.value)
    assert tf.get_default_graph().get_operations() == []


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="graph_def must be a GraphDef proto"):
        tf.import_graph_def(3)
    with pytest.raises(ValueError, match=r"Requested return node 'yy' not found in graph def\. Did you mean"):
        tf.import_graph_def(small(), return_elements=["yy"])
    with pytest.raises(TypeError, match="return_elements must be a list of strings"):
        tf.import_graph_def(small(), return_elements=[7])  # type: ignore[list-item]


def test_nodes_may_come_in_any_order() -> None:
    graph_def = small()
    nodes = list(graph_def.node)[::-1]
    del graph_def.node[:]
    graph_def.node.extend(nodes)
    (y,) = tf.import_graph_def(graph_def, return_elements=["y:0"]) or []
    with tf.Session() as session:
        assert session.run(y, {"import/x:0": [[1, 2]]}) == [[12.0]]


def test_a_cycle_is_named() -> None:
    text = """
    node { name: "a" op: "Neg" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "b" op: "Neg" input: "a" attr { key: "T" value { type: DT_FLOAT } } }
    """
    tf.import_graph_def(parse(text), name="")
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="2 nodes in a cycle: a, b"),
    ):
        session.run("a:0")


def test_an_old_placeholder_of_rank_0_is_of_unknown_shape() -> None:
    text = """
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape {} } } }
    versions { producer: 21 }
    """
    tf.import_graph_def(parse(text), name="")
    assert tf.get_default_graph().get_tensor_by_name("x:0").get_shape().ndims is None


# MetaGraphDefs


def test_an_import_scope_goes_before_names_collections_and_saver() -> None:
    saver = tf.train.import_meta_graph(str(GOLDEN / "model" / "model.ckpt-2.meta"), import_scope="old")
    assert saver is not None
    assert [v.op.name for v in tf.global_variables()][:2] == ["old/layer/w", "old/layer/b"]
    x, loss = tf.get_collection("hyperparameters")
    assert (x.name, loss.name) == ("old/x:0", "old/loss:0")
    assert saver.saver_def.filename_tensor_name == "old/save/Const:0"
    with tf.Session() as session:
        saver.restore(session, str(GOLDEN / "model" / "model.ckpt-2"))
        np.testing.assert_allclose(session.run("old/y:0", {x: [[1, 1]]}), [3.5])


def test_importing_twice_gives_working_copies() -> None:
    path = GOLDEN / "model" / "model.ckpt-2"
    first = tf.train.import_meta_graph(f"{path}.meta")
    second = tf.train.import_meta_graph(f"{path}.meta")
    assert first is not None
    assert second is not None
    assert {v.op.name for v in tf.global_variables()} >= {"layer/w", "layer/w_1", "layer/b", "layer/b_1"}
    with tf.Session() as session:
        second.restore(session, str(path))
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run("layer/w:0")
        first.restore(session, str(path))
        np.testing.assert_array_equal(session.run("layer/w_1:0"), session.run("layer/w:0"))


def test_clear_devices() -> None:
    with tf.Graph().as_default(), tf.device("/job:ps/task:1/device:GPU:0"):
        tf.constant(1.0, name="c")
        exported = tf.train.export_meta_graph()
        cleared = tf.train.export_meta_graph(clear_devices=True)
    assert [node.device for node in cleared.graph_def.node] == [""]
    tf.train.import_meta_graph(exported)
    assert tf.get_default_graph().get_operation_by_name("c").device == "/job:ps/task:1/device:GPU:0"
    tf.train.import_meta_graph(exported, clear_devices=True, import_scope="other")
    assert tf.get_default_graph().get_operation_by_name("other/c").device == ""


def test_collections_of_every_kind_come_back() -> None:
    with tf.Graph().as_default():
        v = tf.Variable([1.0], name="v", trainable=False)
        tensor = tf.identity(v, name="t")
        tf.add_to_collection("tensors", tensor)
        tf.add_to_collection("ops", tensor.op)
        tf.add_to_collection("texts", "text")
        tf.add_to_collection("numbers", 7)
        tf.add_to_collection("rates", 0.5)
        tf.cond(tf.constant(True), lambda: tensor, lambda: tensor + 1)
        tf.add_to_collection("strange", object())
        with pytest.warns(UserWarning, match="serializing strange: an item of type object"):
            exported = tf.train.export_meta_graph()
    tf.train.import_meta_graph(exported, import_scope="s")
    assert [item.name for item in tf.get_collection("tensors")] == ["s/t:0"]
    assert [item.name for item in tf.get_collection("ops")] == ["s/t"]
    assert tf.get_collection("texts") == [b"text"]
    assert tf.get_collection("numbers") == [7]
    assert tf.get_collection("rates") == [0.5]
    (v,) = tf.global_variables()
    assert v.op.name == "s/v"
    assert tf.trainable_variables() == []
    contexts = tf.get_collection(tf.GraphKeys.COND_CONTEXT)
    assert [context.pred.name for context in contexts] == ["s/cond/pred_id:0"] * 2
    assert tf.get_default_graph().get_operation_by_name("s/cond/add")._control_flow_context is contexts[1]
    again = tf.train.export_meta_graph()
    assert set(again.collection_def) == set(exported.collection_def)


def test_a_graph_def_is_not_a_meta_graph() -> None:
    with pytest.raises(ValueError, match="is a GraphDef, not a MetaGraphDef"):
        tf.train.import_meta_graph(str(GOLDEN / "model" / "graph.pb"))


def test_text_and_binary_are_told_apart_by_content(tmp_path: Path) -> None:
    meta = graph_file.read_graph(GOLDEN / "model" / "model.ckpt-2.meta").message
    path = tmp_path / "text.meta"
    path.write_text(protos.format_text(meta), encoding="utf-8")
    tf.train.import_meta_graph(str(path))
    assert tf.get_default_graph().get_operation_by_name("train")


@pytest.mark.parametrize("path", corpus_params("models/*/*.meta"))
def test_published_graphs_round_trip(path: Path) -> None:
    """Whatever ops are in them: node for node, attribute for attribute, and the collections."""
    original = graph_file.read_graph(path).message
    tf.train.import_meta_graph(original)
    exported = tf.train.export_meta_graph()
    wanted = {node.name: node for node in original.graph_def.node}
    got = {node.name: node for node in exported.graph_def.node}
    assert list(got) == list(wanted)
    for name, node in got.items():
        node.attr.pop("_output_shapes", None)
        wanted[name].attr.pop("_output_shapes", None)
        assert node == wanted[name], name
    assert set(exported.collection_def) == set(original.collection_def)
    assert exported.graph_def.library == original.graph_def.library


def test_a_tensor_of_another_dtype() -> None:
    text = 'node { name: "b" op: "Neg" input: "x" attr { key: "T" value { type: DT_INT32 } } }'
    with pytest.raises(
        ValueError,
        match=r"Input 0 of node import/b was passed float from Const:0 incompatible with expected int32",
    ):
        tf.import_graph_def(parse(text), input_map={"x": tf.constant(1.0)})
    node = 'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
    with pytest.raises(ValueError, match=r"was passed float from .*x:0 incompatible with expected int32"):
        tf.import_graph_def(parse(node + text))
    assert len(tf.get_default_graph().get_operations()) == 1  # nothing half done


def test_names_that_are_scopes_are_taken() -> None:
    with tf.name_scope("foo"):
        tf.constant(1)
    text = 'node { name: "foo" op: "NoOp" } node { name: "foo/bar" op: "NoOp" }'
    tf.import_graph_def(parse(text), name="")
    assert {"foo_1", "foo/bar"} <= {each.name for each in tf.get_default_graph().get_operations()}


def test_names_in_bytes_and_mapped_outputs_that_nothing_reads() -> None:
    returned: Any = [b"y"]
    found = tf.import_graph_def(small(), {b"x:0": tf.zeros([1, 2])}, returned) or []
    assert found[0].name.endswith("y")
    with pytest.raises(TypeError, match="input_map must be a dictionary"):
        tf.import_graph_def(small(), [tf.zeros([])])
    with pytest.raises(ValueError, match="Invalid return output 7 of node 'y', which has 1 output"):
        tf.import_graph_def(small(), return_elements=["y:7"])
    with pytest.raises(ValueError, match="Cannot convert 'a:b:c' to a tensor name"):
        tf.import_graph_def(small(), return_elements=["a:b:c"])
    with pytest.raises(ValueError, match="requires a non-empty `name` if `input_map` contains non-Tensor"):
        tf.import_graph_def(small(), {"x": 3.0}, name="")


def test_devices_come_from_functions_too() -> None:
    text = 'node { name: "a" op: "NoOp" } node { name: "b" op: "NoOp" device: "/job:ps" }'
    with tf.device("/task:3"), tf.device(lambda op: "/device:CPU:1" if op.name.endswith("a") else op.device):
        a, b = tf.import_graph_def(parse(text), return_elements=["a", "b"]) or []
    assert a.device == "/task:3/device:CPU:1"
    assert b.device == "/job:ps/task:3"
