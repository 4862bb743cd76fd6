"""Graph files: told apart by content, whatever they are called; what is no graph is said to be what it is."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import graph_file, protos, registry, summary
from sgtool.formats.errors import (
    DataLossError,
    InvalidValueError,
    MissingFileError,
    OpError,
    UnimplementedError,
)

GOLDEN = Path(__file__).parents[1] / "golden"


def graph_def(*names: str) -> Any:
    return protos.GraphDef(node=[protos.NodeDef(name=name, op="NoOp") for name in names])


def meta_graph(**fields: Any) -> Any:
    return protos.MetaGraphDef(graph_def=graph_def("a", "b"), **fields)


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("model/model.ckpt-1.meta", "meta_graph_def", False),
        ("model/graph.pb", "graph_def", False),
        ("model/graph.pbtxt", "graph_def", True),
        ("saved_model", "saved_model", False),
        ("saved_model/saved_model.pb", "saved_model", False),
        ("constants.pb", "graph_def", False),
    ],
)
def test_tensorflows_files(path: str, kind: str, text: bool) -> None:
    read = graph_file.read_graph(GOLDEN / path)
    assert (read.kind, read.text) == (kind, text)
    assert len(read.meta_graphs) == (kind != "graph_def")


def test_tensorflows_text_and_binary_are_one_graph() -> None:
    binary, text = (
        graph_file.read_graph(GOLDEN / "model" / f"graph.{end}").message for end in ("pb", "pbtxt")
    )
    assert binary == text
    assert protos.format_text(text) == (GOLDEN / "model" / "graph.pbtxt").read_text()


def test_tensorflows_meta_is_written_back_the_same(tmp_path: Path) -> None:
    path = GOLDEN / "model" / "model.ckpt-1.meta"
    message = graph_file.read_graph(path).message
    graph_file.write_graph(tmp_path / "x.meta", message)
    assert graph_file.read_graph(tmp_path / "x.meta").message == message
    assert len((tmp_path / "x.meta").read_bytes()) == path.stat().st_size


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (graph_def("a"), "graph_def"),
        (graph_def("a", "b"), "graph_def"),
        (protos.GraphDef(versions=protos.VersionDef(producer=27)), "graph_def"),
        (protos.GraphDef(version=3), "graph_def"),
        (protos.GraphDef(library=protos.FunctionDefLibrary(function=[protos.FunctionDef()])), "graph_def"),
        (meta_graph(), "meta_graph_def"),
        (meta_graph(meta_info_def={"tags": ["x"], "meta_graph_version": "1"}), "meta_graph_def"),
        (meta_graph(meta_info_def={"stripped_op_list": {"op": [{"name": "NoOp"}]}}), "meta_graph_def"),
        (meta_graph(saver_def=protos.SaverDef(version=2)), "meta_graph_def"),
        (protos.MetaGraphDef(collection_def={"x": protos.CollectionDef()}), "meta_graph_def"),
        (protos.SavedModel(saved_model_schema_version=1, meta_graphs=[meta_graph()]), "saved_model"),
    ],
)
@pytest.mark.parametrize("name", ["x.meta", "x.pb", "x.pbtxt", "expected_graph"])
def test_content_decides(tmp_path: Path, message: Any, kind: str, name: str) -> None:
    graph_file.write_graph(tmp_path / name, message)
    read = graph_file.read_graph(tmp_path / name)
    assert (read.kind, read.message, read.text) == (kind, message, name == "x.pbtxt")
    graph_file.write_graph(tmp_path / name, message, text=not read.text)
    assert graph_file.read_graph(tmp_path / name).message == message


def test_text_may_begin_with_comments(tmp_path: Path) -> None:
    (tmp_path / "g.pb").write_text('# RUN: something\n\n# more\nnode { name: "a" op: "NoOp" }')
    assert graph_file.read_graph(tmp_path / "g.pb").message == graph_def("a")


ONNX = b"\x08\x07\x12\x07pytorch\x3a\x04\x0a\x02ab\x42\x02\x10\x0b"


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        (b"", DataLossError, "is empty"),
        (b"<!DOCTYPE html><html>404", DataLossError, "HTML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", DataLossError, "Git LFS pointer"),
        (pickle.dumps({"w": [1, 2]}), UnimplementedError, "pickle"),
        (b"\x89HDF\r\n\x1a\n", InvalidValueError, "HDF5"),
        (b"PK\x03\x04rest", UnimplementedError, "zip"),
        (b'{"nodes": []}', UnimplementedError, "JSON"),
        (b'model_checkpoint_path: "m"', InvalidValueError, "checkpoint"),
        (b"\0" * 100, DataLossError, "zero"),
        (b"layers { top: 1 }", UnimplementedError, "begins with 'layers'"),
        (b'node { name: "a"\n  op: "B" input', DataLossError, "line 2"),
        (b'node { name: "\xff\xfe" }', DataLossError, "line 1: not UTF-8"),
        (b"\xff\xff\xff", DataLossError, "neither a GraphDef"),
        (ONNX, UnimplementedError, "ONNX"),
        ((GOLDEN / "dtypes.index").read_bytes(), InvalidValueError, "table"),
        ((GOLDEN / "model/model.ckpt-1.meta").read_bytes()[:5000], DataLossError, "cut short"),
    ],
)
def test_what_is_no_graph(tmp_path: Path, content: bytes, error: type[OpError], says: str) -> None:
    path = tmp_path / "thing.pb"
    path.write_bytes(content)
    with pytest.raises(error, match=says) as caught:
        graph_file.read_graph(path)
    assert str(path) in str(caught.value)


def test_missing_and_directories(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="no such file"):
        graph_file.read_graph(tmp_path / "x.meta")
    with pytest.raises(MissingFileError, match="directory without a SavedModel"):
        graph_file.read_graph(tmp_path)


def test_a_failed_write_keeps_the_old_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sgtool.formats import files

    graph_file.write_graph(tmp_path / "g.pb", graph_def("old"))
    monkeypatch.setattr(files, "fault_hook", lambda step, path: 1 / 0 if step == "replace" else None)
    with pytest.raises(ZeroDivisionError):
        graph_file.write_graph(tmp_path / "g.pb", graph_def("new"))
    assert graph_file.read_graph(tmp_path / "g.pb").message == graph_def("old")
    assert len(list(tmp_path.iterdir())) == 1


def test_arrays_are_no_graphs(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros(3))
    with pytest.raises(UnimplementedError, match="npy"):
        graph_file.read_graph(tmp_path / "x.npy")


def test_a_saved_model_in_chunks_is_named(tmp_path: Path) -> None:
    (tmp_path / "saved_model.cpb").write_bytes(b"riegeli/records\n")
    for read in (graph_file.read_graph, summary.summarise):
        with pytest.raises(UnimplementedError, match=r"a SavedModel in chunks .* save it again"):
            read(tmp_path)


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbfnode { name: "a" op: "NoOp" }'
    (tmp_path / "g.pbtxt").write_bytes(text)
    graph = graph_file.read_graph(tmp_path / "g.pbtxt")
    assert graph.message.node[0].name == "a"
    assert registry.detect(tmp_path / "g.pbtxt").name == "graph"
    (tmp_path / "g.pbtxt").write_bytes(text.replace(b"op:", b"ops:"))
    with pytest.raises(OpError, match="line 1"):
        graph_file.read_graph(tmp_path / "g.pbtxt")
