"""`sgtool convert` to an ONNX model: from checkpoints, frozen graphs, texts and SavedModels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx_runs import difference, onnx, run

from sgtool import graphcore as tf

if TYPE_CHECKING:
    from .conftest import Tool

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


@pytest.fixture
def trained(tmp_path: Path) -> tuple[str, np.ndarray]:
    """The prefix of a checkpoint with its graph, and what its `prob:0` is for X."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        keep = tf.placeholder_with_default(1.0, [], name="keep")
        tf.nn.softmax(tf.layers.dense(tf.layers.dense(x, 5, tf.nn.relu) * keep, 2), name="prob")
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver().save(session, f"{tmp_path}/model")
        return prefix, session.run("prob:0", {"x:0": X})


def test_a_model_in_every_form(trained: tuple[str, np.ndarray], sgtool: Tool, tmp_path: Path) -> None:
    prefix, wanted = trained
    assert sgtool("convert", prefix, "frozen.pb", "--fetch", "prob:0").code == 0
    assert sgtool("convert", "frozen.pb", "frozen.pbtxt").code == 0
    assert sgtool("convert", prefix, "saved/", "--fetch", "prob:0").code == 0
    for source in (prefix, f"{prefix}.meta", "frozen.pb", "frozen.pbtxt", "saved"):
        named = () if source == "saved" else ("--fetch", "prob:0")
        result = sgtool("convert", source, "out.onnx", *named)
        assert (result.code, result.err) == (0, result.err)
        assert result.out.startswith("Wrote out.onnx (onnx): "), result.out
        (got,) = run(tmp_path / "out.onnx", ["prob:0"], {"x:0": X})
        assert not difference(got, wanted), source
        (tmp_path / "out.onnx").unlink()


def test_what_json_says(trained: tuple[str, np.ndarray], sgtool: Tool, tmp_path: Path) -> None:
    prefix, wanted = trained
    result = sgtool("convert", prefix, "out", "--to", "onnx", "--fetch", "prob", "--json")
    told = result.json
    assert (told["output"], told["format"]) == ("out", "onnx")
    assert (told["inputs"], told["outputs"], told["fixed"]) == (["x:0"], ["prob:0"], ["keep:0"])
    model = onnx.load(tmp_path / "out")
    assert told["opset"] == model.opset_import[0].version
    assert (told["nodes"], told["variables"]) == (len(model.graph.node), len(model.graph.initializer))
    assert told["bytes"] >= 4 * (4 * 5 + 5 + 5 * 2 + 2)
    kept = sgtool("convert", prefix, "out.onnx", "--fetch", "prob:0", "--input", "keep:0", "--json").json
    assert (sorted(kept["inputs"]), kept["fixed"]) == (["keep:0", "x:0"], [])
    (got,) = run(tmp_path / "out.onnx", ["prob:0"], {"x:0": X, "keep:0": np.float32(1)})
    assert not difference(got, wanted)


def test_a_signature_names_inputs_and_outputs(sgtool: Tool, tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        text = tf.placeholder(tf.string, [None], name="text")
        x = tf.strings.to_number(text, name="x")
        y, z = tf.multiply(x, 2, name="y"), tf.subtract(x, 1, name="z")
        tf.saved_model.simple_save(session, f"{tmp_path}/saved", {"x": x}, {"y": y})
        assert z.graph is graph
    told = sgtool("convert", "saved", "out.onnx", "--json").json
    assert (told["inputs"], told["outputs"]) == (["x:0"], ["y:0"])


def test_refusals_come_before_anything_is_written(sgtool: Tool, tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        text = tf.placeholder(tf.string, [None], name="text")
        tf.strings.to_number(tf.strings.substr(text, 0, 1, name="cut"), name="y")
        tf.io.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
    (tmp_path / "out.onnx").write_bytes(b"old")
    result = sgtool("convert", "graph.pb", "out.onnx", "--fetch", "y:0", "--json")
    assert result.code == 6
    rows = {row["name"]: row for row in result.error["nodes"]}
    assert {name: row["op"] for name, row in rows.items()} == {"cut": "Substr", "y": "StringToNumber"}
    assert all(row["reason"] for row in rows.values())
    assert "'cut' (Substr): ONNX has no operators on strings" in result.error["message"]
    assert (tmp_path / "out.onnx").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.pb", "out.onnx"]


def test_wrong_inputs(
    trained: tuple[str, np.ndarray], sgtool: Tool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prefix, _ = trained
    result = sgtool("convert", prefix, "out.onnx", "--fetch", "probe:0")
    assert result.code == 3
    assert "Did you mean 'prob'" in result.err
    assert sgtool("convert", prefix, "out.onnx", "--fetch", "prob:0", "--input", "y:0").code == 3
    assert sgtool("convert", prefix, "out.pb", "--fetch", "prob:0", "--input", "x:0").code == 2
    assert sgtool("save", prefix, "-o", "out.onnx").code == 2
    weights = sgtool("convert", prefix, "weights.npz")
    assert weights.code == 0
    with np.load(tmp_path / "weights.npz") as archive:
        np.savez(tmp_path / "bare.npz", **{key: archive[key] for key in archive.files if "__" not in key})
    assert sgtool("convert", "bare.npz", "out.onnx", "--fetch", "prob:0").code == 3
    assert sgtool("convert", prefix, "nowhere/out.onnx", "--fetch", "prob:0").code == 3
    monkeypatch.setitem(sys.modules, "onnx", None)
    missing = sgtool("convert", prefix, "out.onnx", "--fetch", "prob:0")
    assert missing.code != 0
    assert "pip install 'sgtool[onnx]'" in missing.err
    assert not (tmp_path / "out.onnx").exists()
