"""Summaries: the facts of TensorFlow's own files, of every corpus file, and none of NumPy on the way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_files import corpus_params, description

from sgtool.formats import graph_file, protos, registry, summary
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import DataLossError, InvalidValueError, MissingFileError

GOLDEN = Path(__file__).parents[1] / "golden"
PREFIX = GOLDEN / "model" / "model.ckpt-2"


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in rows}


def test_a_checkpoint_with_its_graph() -> None:
    found = summary.summarise(PREFIX)
    json.dumps(found)
    assert found["format"] == "meta_graph_def"
    assert found["prefix"] == str(PREFIX)
    assert set(found["producer"]) == {"graph", "tensorflow", "checkpoint"}
    variables = by_name(found["variables"])
    assert variables["layer/w"] == {
        "name": "layer/w",
        "dtype": "float32",
        "shape": [2, 1],
        "bytes": 8,
        "trainable": True,
        "saved": True,
    }
    assert variables["layer/b"]["shape"] == []
    assert variables["layer/w/Momentum"]["trainable"] is False
    assert variables["steps"] == {
        "name": "steps",
        "dtype": "int64",
        "shape": [],
        "bytes": 8,
        "trainable": False,
        "saved": True,
    }
    assert found["inputs"] == [
        {"name": "x:0", "dtype": "float32", "shape": [None, 2]},
        {"name": "target:0", "dtype": "float32", "shape": [None], "label": True},
    ]
    assert {
        "name": "loss:0",
        "dtype": "float32",
        "shape": [],
        "role": "loss",
        "needs": ["x:0", "target:0"],
    } in found["outputs"]
    assert not [row for row in found["outputs"] if row["name"].startswith(("save", "gradients", "train"))]
    assert found["collections"]["hyperparameters"] == ["x:0", "loss:0"]
    assert found["collections"]["trainable_variables"] == ["layer/w:0", "layer/b:0"]
    assert found["collections"]["rate"] == [pytest.approx(0.1)]
    assert found["collections"]["notes"] == ["plain text"]
    assert found["saver"]["restore"] == "save/restore_all"
    assert found["parameters"] == 3
    assert found["bytes"] == 32
    assert sum(found["ops"].values()) == found["nodes"]
    assert list(found["ops"].values()) == sorted(found["ops"].values(), reverse=True)


@pytest.mark.parametrize("form", [".meta", ".index", ".data-00000-of-00001", "/../checkpoint", "/.."])
def test_all_forms_give_the_same(form: str) -> None:
    path = os.path.normpath(f"{PREFIX}{form}") if form.startswith("/") else f"{PREFIX}{form}"
    found = summary.summarise(path)
    found.pop("how", None)
    assert found == summary.summarise(PREFIX)


def test_a_checkpoint_without_graph() -> None:
    found = summary.summarise(GOLDEN / "slices")
    assert found["format"] == "checkpoint"
    assert by_name(found["variables"])["part"] == {
        "name": "part",
        "dtype": "float32",
        "shape": [200, 3],
        "bytes": 2400,
    }
    assert found["parameters"] == 600 + 1 + 12
    assert "inputs" not in found
    assert summary.summarise(GOLDEN / "slices_v1")["format"] == "v1 checkpoint"


def test_graphs_alone(tmp_path: Path) -> None:
    binary = summary.summarise(GOLDEN / "model" / "graph.pb")
    text = summary.summarise(GOLDEN / "model" / "graph.pbtxt")
    assert binary["format"] == "graph_def"
    assert "signatures" not in binary
    assert "trainable" not in binary["variables"][0]
    assert {**text, "text": False, "path": ""} == {**binary, "path": ""}
    shutil.copy(f"{PREFIX}.meta", tmp_path / "alone.meta")
    alone = summary.summarise(tmp_path / "alone.meta")
    assert "prefix" not in alone
    assert by_name(alone["variables"])["layer/w"]["bytes"] == 8


def test_saved_model() -> None:
    found = summary.summarise(GOLDEN / "saved_model")
    assert found["format"] == "saved_model"
    assert (found["tags"], found["meta_graphs"]) == (["serve"], [["serve"]])
    assert found["signatures"]["serving_default"] == {
        "method": "tensorflow/serving/predict",
        "inputs": {"input": {"name": "x:0", "dtype": "float32", "shape": [None, 2]}},
        "outputs": {"score": {"name": "y:0", "dtype": "float32", "shape": [None]}},
    }
    assert found["parameters"] == 3
    with pytest.raises(InvalidValueError, match="no graph with the tags"):
        summary.summarise(GOLDEN / "saved_model", ["train"])


def test_stores_with_and_without_graph(tmp_path: Path) -> None:
    for name, format in (("x.h5", "hdf5"), ("x.npz", "npz")):
        registry.write_store(tmp_path / name, [entry_of("layer/w", np.ones((2, 1), np.float32))])
        found = summary.summarise(tmp_path / name)
        assert (found["format"], found["parameters"], found["bytes"]) == (format, 2, 8)
        graph = Path(f"{PREFIX}.meta").read_bytes()
        registry.write_store(tmp_path / name, registry.open_store(PREFIX).values(), graph)
        found = summary.summarise(tmp_path / name)
        assert (found["format"], found["parameters"], found["path"]) == (format, 3, str(tmp_path / name))


def test_a_damaged_checkpoint_beside_a_graph_is_told(tmp_path: Path) -> None:
    for suffix in (".meta", ".index"):
        shutil.copy(f"{PREFIX}{suffix}", tmp_path / f"m{suffix}")
    with (tmp_path / "m.index").open("r+b") as file:
        file.write(b"\xff")
    for form in ("m.meta", "m", "m.index"):
        found = summary.summarise(tmp_path / form)
        assert "block checksum mismatch" in found["missing"]
        assert list(found["damaged"]) == [str(tmp_path / "m.index")]
        assert found["nodes"]
    (tmp_path / "m.meta").unlink()
    with pytest.raises(DataLossError):
        summary.summarise(tmp_path / "m")
    with pytest.raises(MissingFileError):
        summary.summarise(tmp_path / "other")


def test_unknown_ops_dtypes_and_nothing_at_all(tmp_path: Path) -> None:
    graph = protos.GraphDef()
    graph.node.add(name="x", op="Placeholder").attr["dtype"].type = 99
    graph.node.add(name="odd", op="NeverHeardOf", input=["x:3", "^x"])
    graph_file.write_graph(tmp_path / "g.pb", graph)
    found = summary.summarise(tmp_path / "g.pb")
    assert found["inputs"] == [{"name": "x:0", "dtype": "dtype 99", "shape": None}]
    assert found["outputs"] == [
        {"name": "odd:0", "dtype": None, "shape": None, "role": "result", "needs": ["x:0"]}
    ]
    assert found["variables"] == []


def test_old_placeholders_of_rank_zero_have_no_known_shape(tmp_path: Path) -> None:
    graph = protos.GraphDef()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = 1
    node.attr["shape"].shape.SetInParent()
    graph.node.add(name="y", op="Identity", input=["x"])
    for producer, shape in ((20, None), (24, [])):
        graph.versions.producer = producer
        graph_file.write_graph(tmp_path / "g.pb", graph)
        assert summary.summarise(tmp_path / "g.pb")["inputs"][0]["shape"] == shape


def test_no_numpy_for_graphs_and_checkpoints() -> None:
    code = (
        "import sys; from sgtool.formats import summary;"
        f"summary.summarise({str(PREFIX)!r}); summary.summarise({str(GOLDEN / 'saved_model')!r});"
        "print(sorted({'numpy', 'h5py', 'sgtool.graphcore', 'ml_dtypes'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_seventeen_thousand_nodes() -> None:
    graph = protos.GraphDef()
    graph.node.add(name="n0", op="Placeholder").attr["dtype"].type = 1
    for i in range(1, 17_000):
        node = graph.node.add(
            name=f"block_{i // 50}/n{i}", op=("MatMul", "Relu", "Const")[i % 3], input=["n0"]
        )
        node.attr["T"].type = 1
        if node.op == "Const":
            node.attr["value"].tensor.tensor_shape.dim.add(size=3)
    data = protos.encode(graph)
    start = time.process_time()
    sum(map(len, map(str, range(1_000_000))))  # about a fifth of a second
    reference = time.process_time() - start
    start = time.process_time()
    found = summary.summarise_graph(graph_file.decode_graph(data, "g.pb"))
    assert time.process_time() - start < 3.5 * reference  # 2.2 when this was written
    assert found["nodes"] == 17_000


@pytest.mark.parametrize("folder", corpus_params("models/*"))
def test_every_corpus_model(folder: Path) -> None:
    about = description(folder)
    found = summary.summarise(folder / about["source"])
    json.dumps(found)
    names = {row["name"] for row in found["inputs"]} | {row["name"] for row in found["outputs"]}
    assert all(":" in name for name in names)
    if about.get("ckpt") is not None:
        assert any(row.get("saved") for row in found["variables"]) or found["format"] == "graph_def"
        entries = registry.open_store(folder / about["ckpt"] if about["ckpt"] else f"{folder}/")
        assert sum(entry.read().size for entry in entries.values()) > 0


@pytest.mark.parametrize(
    "path", [p for end in ("meta", "pb", "pbtxt", "index") for p in corpus_params(f"models/**/*.{end}")]
)
def test_every_corpus_graph_and_index(path: Path) -> None:
    assert json.dumps(summary.summarise(path))


def test_every_corpus_op_graph() -> None:
    [first, *rest] = corpus_params("ops/*/graph.pb")
    if first.id == "absent":
        pytest.skip(first.marks[1].kwargs["reason"])
    for parameter in [first, *rest]:
        found = summary.summarise(parameter.values[0])
        assert found["format"] == "graph_def"
        assert found["nodes"] > 0
