"""Variables, slots, partitions, connections: what a summary says beyond names and shapes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import graph_file, protos, summary
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of
from sgtool.formats.parts import Part
from sgtool.formats.slots import slots_by_name, slots_of_graph
from sgtool.formats.statistics import statistics


def variable(graph: Any, name: str, *shape: int, op: str = "VariableV2") -> None:
    node = graph.node.add(name=name, op=op)
    node.attr["dtype"].type = 1
    node.attr["shape"].shape.SetInParent()
    for size in shape:
        node.attr["shape"].shape.dim.add(size=size)


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows}


def summarise(graph: Any, path: Path) -> dict[str, Any]:
    graph_file.write_graph(path, graph)
    return summary.summarise(path)


def test_slots_by_the_apply_operations_whatever_their_names() -> None:
    graph = protos.GraphDef()
    for name, op in (("w", "VariableV2"), ("m", "VariableV2"), ("v", "VarHandleOp"), ("a", "VarHandleOp")):
        variable(graph, name, 2, op=op)
    variable(graph, "rate")
    graph.node.add(name="rate/read", op="Identity", input=["rate"])
    graph.node.add(name="t", op="ApplyMomentum", input=["w", "m", "rate/read", "g", "rate/read", "^x"])
    graph.node.add(name="u", op="ResourceSparseApplyAdagrad", input=["v:0", "a:0", "rate/read", "g", "i"])
    assert slots_of_graph(graph.node) == {"m": "w", "a": "v"}


def test_slots_by_name_need_a_base_of_the_same_shape() -> None:
    shapes: dict[str, list[int]] = {
        "w": [2, 3],
        "w/Adam": [2, 3],
        "w/Adam_1": [2, 3],
        "train/w/Momentum": [2, 3],
        "beta1_power": [],
        "train/beta2_power_1": [],
        "b/Adam": [2],
        "b": [3],
        "x/Momentum": [1],
    }
    assert slots_by_name(shapes) == {
        "w/Adam": "w",
        "w/Adam_1": "w",
        "train/w/Momentum": "w",
        "beta1_power": None,
        "train/beta2_power_1": None,
    }
    assert slots_by_name({"beta1_power": []}) == {}
    key = "net/w/.OPTIMIZER_SLOT/opt/m/.ATTRIBUTES/VARIABLE_VALUE"
    assert slots_by_name({key: [2]}) == {key: "net/w/.ATTRIBUTES/VARIABLE_VALUE"}


def test_a_checkpoint_alone_counts_its_weights(tmp_path: Path) -> None:
    values = {"beta1_power": (), "w": (2, 3), "w/Adam": (2, 3), "w/Adam_1": (2, 3)}
    write_bundle(tmp_path / "m", [entry_of(n, np.zeros(s, np.float32)) for n, s in values.items()])
    found = summary.summarise(tmp_path / "m")
    assert {row["name"]: row.get("slot_of", "") for row in found["variables"]} == {
        "w": "",
        "w/Adam": "w",
        "w/Adam_1": "w",
        "beta1_power": None,
    }
    assert (found["parameters"], found["bytes"]) == (6, 76)


@pytest.mark.parametrize("saved", [False, True])
def test_a_partitioned_variable_is_one_row(saved: bool, tmp_path: Path) -> None:
    meta = protos.MetaGraphDef()
    values = meta.collection_def["variables"].bytes_list.value
    trained = meta.collection_def["trainable_variables"].bytes_list.value
    for index, rows in ((0, 3), (1, 2)):
        name = f"w/part_{index}"
        variable(meta.graph_def, name, rows, 4)
        one = protos.VariableDef(variable_name=f"{name}:0")
        info = one.save_slice_info_def
        info.full_name = "w"
        info.full_shape.extend([5, 4])
        info.var_offset.extend([3 * index, 0])
        info.var_shape.extend([rows, 4])
        values.append(protos.encode(one))
        trained.append(protos.encode(one))
    graph_file.write_graph(tmp_path / "m.meta", meta)
    if saved:
        array = np.zeros((5, 4), np.float32)
        parts = [Part((5, 4), ((0, 3), (0, 4))), Part((5, 4), ((3, 2), (0, 4)))]
        entries = [entry_of("w", array[p.ranges[0][0] : p.ranges[0][1]], part=p) for p in parts]
        write_bundle(tmp_path / "m", entries)
    found = summary.summarise(tmp_path / "m.meta")
    row = {"name": "w", "dtype": "float32", "shape": [5, 4], "bytes": 80, "parts": 2, "trainable": True}
    assert found["variables"] == [row | ({"saved": True} if saved else {})]
    assert found["parameters"] == 20


def test_what_outputs_need() -> None:
    graph = protos.GraphDef()
    graph.node.add(name="x", op="Placeholder")
    graph.node.add(name="unused", op="Placeholder")
    graph.node.add(name="rate", op="Placeholder")
    graph.node.add(name="keep", op="PlaceholderWithDefault", input=["one"])
    graph.node.add(name="one", op="Const")
    # a loop, in an order that is not that of the computation
    graph.node.add(name="exit", op="Exit", input=["switch"])
    graph.node.add(name="next", op="NextIteration", input=["body"])
    graph.node.add(name="body", op="Mul", input=["switch:1", "keep"])
    graph.node.add(name="switch", op="Switch", input=["merge", "cond"])
    graph.node.add(name="cond", op="LoopCond", input=["merge"])
    graph.node.add(name="merge", op="Merge", input=["enter", "next"])
    graph.node.add(name="enter", op="Enter", input=["x"])
    graph.node.add(name="y", op="Identity", input=["exit"])
    graph.node.add(name="z", op="Neg", input=["one", "^x"])
    variable(graph, "w", 2)
    graph.node.add(name="train", op="ApplyGradientDescent", input=["w", "rate", "y"])
    found = summary.summarise_graph(graph_file.GraphFile("graph_def", graph, False, "g.pb"))
    inputs = by_name(found["inputs"])
    assert list(inputs) == ["x:0", "rate:0", "keep:0"]
    assert inputs["keep:0"]["optional"] is True
    assert inputs["rate:0"]["needed"] is False
    assert "needed" not in inputs["x:0"]
    outputs = by_name(found["outputs"])
    assert outputs["z:0"]["needs"] == ["x:0"]
    assert not {"train:0", "w:0"} & set(outputs)


def test_a_loop_hands_on_what_its_body_needs() -> None:
    graph = protos.GraphDef()
    for name in ("x", "k"):
        graph.node.add(name=name, op="Placeholder")
    graph.node.add(name="exit", op="Exit", input=["switch"])
    graph.node.add(name="next", op="NextIteration", input=["body"])
    graph.node.add(name="body", op="Mul", input=["switch:1", "k"])
    graph.node.add(name="switch", op="Switch", input=["merge", "cond"])
    graph.node.add(name="merge", op="Merge", input=["enter", "next"])
    graph.node.add(name="cond", op="LoopCond", input=["merge"])
    graph.node.add(name="enter", op="Enter", input=["x"])
    graph.node.add(name="y", op="Neg", input=["exit"])
    found = summary.summarise_graph(graph_file.GraphFile("graph_def", graph, False, "g.pb"))
    assert by_name(found["outputs"])["y:0"]["needs"] == ["x:0", "k:0"]


def test_versions_devices_origin_and_what_is_not_listed(tmp_path: Path) -> None:
    meta = protos.MetaGraphDef()
    graph = meta.graph_def
    graph.versions.producer, graph.versions.min_consumer = 134, 12
    for name, device in (("a", "/gpu:0"), ("b", "/gpu:0"), ("c", "/cpu:0"), ("d", "")):
        node = graph.node.add(name=name, op="Known", device=device)
        node.attr["T"].type = 1
        node.attr["_private"].i = 1
    node.attr["new"].i = 1
    graph.node.add(name="e", op="Strange")
    graph.node.add(name="f", op="Own")
    graph.library.function.add().signature.name = "Own"
    found = summarise(meta, tmp_path / "g.meta")
    assert found["min_consumer"] == 12
    assert found["devices"] == {"/gpu:0": 2, "/cpu:0": 1}
    assert found["functions"] == ["Own"]
    assert "unlisted_ops" not in found  # there is no list
    assert "made_by" not in found["producer"]
    meta.meta_info_def.stripped_op_list.op.add(name="Known").attr.add(name="T")
    meta.meta_info_def.tensorflow_git_version = "sgtool"
    found = summarise(meta, tmp_path / "g.meta")
    assert (found["unlisted_ops"], found["unlisted_attributes"]) == (["Strange"], ["Known.new"])
    assert found["producer"]["made_by"] == "sgtool"


def test_all_complete_checkpoints_of_the_directory(tmp_path: Path) -> None:
    for name in ("m-9", "m-10", "other"):
        write_bundle(tmp_path / name, [entry_of("w", np.float32(1))])
    (tmp_path / "broken-3.index").write_bytes((tmp_path / "m-9.index").read_bytes())
    (tmp_path / "checkpoint").write_text(
        'model_checkpoint_path: "m-10" all_model_checkpoint_paths: "m-9" all_model_checkpoint_paths: "m-10"'
    )
    for path in (tmp_path, tmp_path / "m-9", tmp_path / "checkpoint"):
        rows = {Path(row["prefix"]).name: row for row in summary.summarise(path)["checkpoints"]}
        assert {name: (row["in_state"], row["latest"]) for name, row in rows.items()} == {
            "m-9": (True, False),
            "m-10": (True, True),
            "other": (False, False),
        }
        assert (rows["m-10"]["step"], "step" in rows["other"]) == (10, False)


@pytest.mark.parametrize("size", [1, 7, (1 << 18) - 1, 1 << 18, (1 << 19) + 3])
def test_statistics_in_pieces_are_those_of_the_whole(size: int) -> None:
    array = np.random.default_rng(size).normal(1e6, 1, size).astype(np.float32)
    array[::5] = 0
    if size > 5:
        array[1], array[3] = np.nan, 7
    found = statistics(array)
    wide = array.astype(np.float64)
    assert found["size"] == size
    assert found["min"] == np.nanmin(wide)
    assert found["max"] == np.nanmax(wide)
    assert found["mean"] == pytest.approx(np.nanmean(wide), rel=1e-12)
    assert found["std"] == pytest.approx(np.nanstd(wide), rel=1e-9, abs=1e-9)
    assert found["zeros"] == (wide == 0).sum()
    assert found["nan"] == np.isnan(wide).sum()


def test_statistics_of_what_has_none() -> None:
    assert statistics(np.zeros(0, np.float32)) == {"size": 0}
    assert statistics(np.array([b"a"], object)) == {"size": 1}
    gone = statistics(np.full(3, np.nan, np.float32))
    assert (gone["min"], gone["mean"], gone["nan"]) == (None, None, 3)
    assert statistics(np.array([3 + 4j], np.complex64))["max"] == 5
    assert statistics(np.array([True, False, True]))["mean"] == pytest.approx(2 / 3)
    infinite = statistics(np.array([1, np.inf], np.float32))
    assert (infinite["max"], infinite["inf"]) == (np.inf, 1)


def test_items_of_collections_of_every_kind() -> None:
    meta = protos.MetaGraphDef()
    for key, message in {
        "queue_runners": protos.QueueRunnerDef(queue_name="q", enqueue_op_name=["q/a", "q/b"]),
        "cond_context": protos.CondContextDef(context_name="c/text", pred_name="c/pred:0", branch=1),
        "while_context": protos.WhileContextDef(
            context_name="w/ctx", loop_exit_names=["w/Exit:0"], parallel_iterations=10
        ),
        "savers": protos.SaverDef(save_tensor_name="save/control:0", max_to_keep=5),
        "mine": protos.VariableDef(variable_name="v:0"),
    }.items():
        meta.collection_def[key].bytes_list.value.append(protos.encode(message))
    meta.collection_def["raw"].bytes_list.value.append(b"\xff\x00")
    meta.collection_def["numbers"].int64_list.value.extend([3, -1])
    meta.collection_def["any"].any_list.value.add(type_url="type.googleapis.com/x.Thing", value=b"12345")
    found = summary.summarise_graph(graph_file.GraphFile("meta_graph_def", meta, False, "g.meta"))
    assert found["collections"] == {
        "any": ["<Thing, 5 bytes>"],
        "cond_context": ["c/text (branch 1 of c/pred:0)"],
        "mine": ["v:0"],
        "numbers": [3, -1],
        "queue_runners": ["q (enqueues by q/a, q/b)"],
        "raw": ["<2 bytes>"],
        "savers": ["save/control:0 (keeps 5)"],
        "while_context": ["w/ctx (1 results, 10 at a time)"],
    }


def test_a_graph_that_only_writes_has_what_it_writes_as_outputs() -> None:
    graph = protos.GraphDef()
    variable(graph, "w", 2)
    graph.node.add(name="zero", op="Const")
    graph.node.add(name="delta", op="Placeholder")
    graph.node.add(name="w/Assign", op="Assign", input=["w", "zero"])
    graph.node.add(name="add", op="AssignAdd", input=["w", "delta"])
    found = summary.summarise_graph(graph_file.GraphFile("graph_def", graph, False, "g.pb"))
    assert by_name(found["outputs"])["add:0"]["needs"] == ["delta:0"]
    graph.node.add(name="y", op="Neg", input=["delta"])
    graph.node.add(name="set", op="Assign", input=["w", "y"])
    del graph.node[4]
    found = summary.summarise_graph(graph_file.GraphFile("graph_def", graph, False, "g.pb"))
    assert list(by_name(found["outputs"])) == ["y:0"]
