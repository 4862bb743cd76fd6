"""Graph files that are cut off or damaged inside: every node that is whole is found, told and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import files, graph_file, protos
from sgtool.formats.errors import AlreadyExistsError, DataLossError, InvalidValueError
from sgtool.formats.graph_salvage import whole_part
from sgtool.formats.tensor_proto import from_array, to_array
from sgtool.formats.verification import Verification
from sgtool.formats.verify import salvage_graph, verify

GOLDEN = Path(__file__).parents[1] / "golden"
SOURCES = (GOLDEN / "model/model.ckpt-2.meta", GOLDEN / "functions.meta", GOLDEN / "constants.pb")


def nodes_of(graph: graph_file.GraphFile) -> list[Any]:
    graphs = [one.graph_def for one in graph.meta_graphs] or [graph.message]
    return [node for one in graphs for node in one.node]


def frozen(count: int = 20) -> Any:
    graph = protos.GraphDef()
    for i in range(count):
        node = graph.node.add(name=f"c{i}", op="Const")
        node.attr["value"].tensor.CopyFrom(from_array(np.full((3, 5), i, np.float32)))
        node.attr["dtype"].type = 1
        graph.node.add(name=f"n{i}", op="Add", input=[f"c{i}:0", f"n{i - 1}" if i else "c0"])
    graph.versions.producer = 134
    return graph


def check(path: Path) -> Verification:
    (found,) = verify(path)
    return found


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
@pytest.mark.parametrize("text", [False, True])
def test_every_cut_leaves_the_nodes_before_it(source: Path, text: bool) -> None:
    whole = graph_file.read_graph(source)
    data = protos.format_text(whole.message).encode() if text else source.read_bytes()
    every = nodes_of(whole)
    seen = set()
    for keep in range(1, len(data), max(1, len(data) // (12 if text else 60))):
        found = whole_part(data[:keep], "g")
        if found is None:
            continue
        assert found.graph.kind == whole.kind
        assert found.nodes == every[: len(found.nodes)]
        seen.add(len(found.nodes))
        assert found.passed_over == 0
    assert len(seen) > 3
    assert max(seen) > len(every) // 2


def test_what_is_cut_behind_its_graph_keeps_all_of_that() -> None:
    data = SOURCES[0].read_bytes()
    found = whole_part(data[:-10], "g")
    assert found is not None
    whole = protos.MetaGraphDef.FromString(data)
    assert found.graph.message.graph_def == whole.graph_def
    assert found.graph.message.meta_info_def == whole.meta_info_def


def test_a_node_that_does_not_parse_is_passed_over() -> None:
    graph = frozen()
    data = bytearray(protos.encode(graph))
    at = data.index(b"n7\x12\x03Add") - 1  # the tag and length of its name lie before
    data[at] = 0x7F  # a name longer than the node
    found = whole_part(bytes(data), "g")
    assert found is not None
    assert found.passed_over == 1
    assert found.nodes == [node for node in graph.node if node.name != "n7"]
    assert found.dangling() == ["n8"]
    assert found.graph.message.versions.producer == 134


def test_text_with_a_line_that_does_not_parse() -> None:
    lines = protos.format_text(frozen()).splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if '"n7"' in line)
    lines[at] = '  name: "n7\n'
    found = whole_part("".join(lines).encode(), "g")
    assert found is not None
    assert [node.name for node in found.nodes][-1] == "c7"


@pytest.mark.parametrize("name", ["g.pb", "g.pbtxt"])
@pytest.mark.parametrize("output", ["rescued", "rescued.pb", "rescued.pbtxt"])
def test_verify_and_salvage(name: str, output: str, tmp_path: Path) -> None:
    graph = frozen()
    graph_file.write_graph(tmp_path / name, graph)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: len(data) // 2])
    found = check(tmp_path / name)
    assert not found.whole
    kept = [node.name for node in graph.node][: len(nodes_of(found.graph))] if found.graph else []
    assert 15 < len(kept) < 25
    assert found.intact == [one for one in kept if one.startswith("c")]
    assert f"{len(kept)} nodes are whole before the place where it breaks" in found.notes[0]
    path, nodes, dangling = salvage_graph([found], tmp_path / output)
    assert (nodes, dangling) == (kept, [])
    assert path == str(tmp_path / ("rescued.pb" if output == "rescued" else output))
    again = graph_file.read_graph(path)
    assert again.text == path.endswith("txt")
    assert list(again.message.node) == list(graph.node)[: len(kept)]
    assert to_array(again.message.node[4].attr["value"].tensor, "").tolist() == [[2.0] * 5] * 3
    assert check(Path(path)).whole
    with pytest.raises(AlreadyExistsError):
        salvage_graph([found], path)
    with pytest.raises(InvalidValueError, match=r"cannot hold a graph.*\.meta, \.pb, \.pbtxt"):
        salvage_graph([found], tmp_path / "x.npz")


def test_inputs_that_come_later_are_lost(tmp_path: Path) -> None:
    graph = protos.GraphDef()
    for i in range(9):
        graph.node.add(name=f"n{i}", op="Identity", input=[f"n{i + 1}"] if i < 8 else [])
    files.write_bytes(tmp_path / "g.pb", protos.encode(graph)[:-5])
    found = check(tmp_path / "g.pb")
    assert "1 of these take inputs that are lost: 'n7'." in found.notes[1]
    assert salvage_graph([found], tmp_path / "out")[1:] == ([f"n{i}" for i in range(8)], ["n7"])


def test_a_saved_model_that_is_cut_off(tmp_path: Path) -> None:
    whole = graph_file.read_graph(GOLDEN / "saved_model")
    data = Path(whole.path).read_bytes()
    (tmp_path / "saved_model.pb").write_bytes(data[: len(data) // 2])
    (found,) = verify(tmp_path)
    path, nodes, _ = salvage_graph([found], tmp_path / "rescued.pb")
    again = graph_file.read_graph(path)
    assert again.kind == "saved_model"
    assert [node.name for node in nodes_of(whole)][: len(nodes)] == nodes
    assert list(again.meta_graphs[0].meta_info_def.tags) == ["serve"]


@pytest.mark.parametrize("data", [b"", b"\x0a", b"just text", b"\x0a\x7f", bytes(100)])
def test_what_has_no_whole_node(data: bytes) -> None:
    assert whole_part(data, "g") is None


def test_whatever_is_changed_the_answer_is_a_graph_or_none() -> None:
    generator = np.random.default_rng(3)
    for data in (SOURCES[0].read_bytes(), protos.encode(frozen()), protos.format_text(frozen()).encode()):
        for _ in range(40):
            changed = bytearray(data)
            for at in generator.integers(0, len(data), generator.choice([1, 5])):
                changed[at] = generator.integers(256)
            found = whole_part(bytes(changed), "g")
            assert found is None or found.nodes


def test_a_graph_that_is_cut_off_between_two_nodes(tmp_path: Path) -> None:
    graph = frozen()
    files.write_bytes(tmp_path / "g.pb", protos.encode(graph))
    assert check(tmp_path / "g.pb").notes == []
    del graph.node[10:]
    graph.ClearField("versions")
    files.write_bytes(tmp_path / "g.pb", protos.encode(graph))
    assert "cut off exactly at the end of a node" in check(tmp_path / "g.pb").notes[0]


@pytest.mark.parametrize("data", [b"\x08\x01", b"saved_model_schema_version: 1\n"])
def test_a_saved_model_without_a_graph_is_damaged(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(data)
    with pytest.raises(DataLossError, match="is a SavedModel without a graph"):
        graph_file.read_graph(tmp_path)
    assert "is a SavedModel without a graph" in check(tmp_path).damaged[0].why


def test_text_of_a_saved_model_at_every_cut() -> None:
    data = protos.format_text(graph_file.read_graph(GOLDEN / "saved_model").message).encode()
    counts = []
    for keep in range(0, len(data), len(data) // 25):
        found = whole_part(data[:keep], "g")
        counts.append(len(found.nodes) if found is not None else 0)
    assert counts == sorted(counts)
    assert counts[-1] > 50
