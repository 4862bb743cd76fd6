"""Graph files that are damaged: every command says the same of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sgtool.formats import protos
from sgtool.formats.tensor_proto import from_array

if TYPE_CHECKING:
    from .conftest import Tool

HUGE = """
node { name: "scope/c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value {
  tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1152921504606846976 } } float_val: 1 } } } }
node { name: "a" op: "Identity" input: "scope/c" attr { key: "T" value { type: DT_FLOAT } } }
"""


def test_a_constant_that_claims_to_be_huge(sgtool: Tool) -> None:
    Path("huge.pbtxt").write_text(HUGE)
    result = sgtool("verify", "huge.pbtxt", "--json")
    assert result.code == 4
    (damage,) = result.json["checked"][0]["damaged"]
    assert damage["name"] == "scope/c"
    assert damage["path"] == "huge.pbtxt"
    result = sgtool("inspect", "huge.pbtxt", "--values", "scope/c", "--json")
    assert result.code == 4
    assert result.error["node"] == "scope/c"
    assert "huge.pbtxt: the constant 'scope/c'" in result.error["message"]
    result = sgtool("run", "huge.pbtxt", "--fetch", "a", "--json")
    assert result.code == 4
    assert result.error["node"] == "scope/c"
    assert "The constant 'scope/c' declares shape [1152921504606846976]" in result.error["message"]
    assert sgtool("inspect", "huge.pbtxt").code == 0


def test_a_constant_of_too_few_bytes_is_damage(sgtool: Tool) -> None:
    Path("short.pbtxt").write_text(
        HUGE.replace("1152921504606846976", "2").replace("float_val: 1", 'tensor_content: "abc"')
    )
    result = sgtool("verify", "short.pbtxt", "--json")
    assert result.code == 4
    assert [one["name"] for one in result.json["checked"][0]["damaged"]] == ["scope/c"]
    assert sgtool("inspect", "short.pbtxt", "--values", "scope/c").code == 4
    result = sgtool("run", "short.pbtxt", "--fetch", "a", "--json")
    assert (result.code, result.error["node"]) == (4, "scope/c")


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "BAD"),
        ("run", "BAD", "--fetch", "a"),
        ("train", "BAD"),
        ("save", "BAD", "-o", "out"),
        ("restore", "BAD", "BAD", "-o", "out"),
        ("verify", "BAD"),
        ("build", "BAD", "-o", "out.meta"),
    ],
)
@pytest.mark.parametrize("name", ["bad.meta", "bad.pb", "bad.pbtxt"])
def test_every_command_says_the_same(words: tuple[str, ...], name: str, sgtool: Tool) -> None:
    Path(name).write_text("just text")
    result = sgtool(*(name if word == "BAD" else word for word in words))
    assert result.code == 4, result.err
    assert f"{name} is neither a GraphDef" in result.out + result.err


@pytest.mark.parametrize("content", [b"just text", b"\x89PNG\r\n\x1a\n" + b"0" * 60])
def test_what_is_of_no_kind_that_is_read_is_the_same_to_every_command(content: bytes, sgtool: Tool) -> None:
    Path("plain").write_bytes(content)
    for words in (
        ["inspect", "plain"],
        ["run", "plain", "--fetch", "a"],
        ["verify", "plain"],
        ["train", "plain"],
    ):
        result = sgtool(*words)
        assert result.code == 6, result.err
        assert "plain is " in result.err
        assert "the formats that are read are" in result.err


def cut_graph(name: str) -> int:
    """Writes half a graph of constants and sums, and says how many of its nodes are whole."""
    graph = protos.GraphDef()
    for i in range(10):
        node = graph.node.add(name=f"c{i}", op="Const")
        node.attr["value"].tensor.CopyFrom(from_array(np.float32(i)))
        node.attr["dtype"].type = 1
        sums = graph.node.add(name=f"y{i}", op="AddV2", input=[f"c{i}", f"c{i}"])
        sums.attr["T"].type = 1
    data = protos.encode(graph)
    Path(name).write_bytes(data[: len(data) // 2 + 3])
    return sum(data.index(f"y{i}".encode()) + 40 < len(data) // 2 for i in range(10))


@pytest.mark.parametrize("output", ["rescued.pb", "rescued.pbtxt", "rescued"])
def test_the_whole_nodes_of_a_cut_graph_are_salvaged_and_run(output: str, sgtool: Tool) -> None:
    count = cut_graph("frozen.pb")
    result = sgtool("verify", "frozen.pb", "--salvage", output, "--json")
    assert result.code == 4
    salvaged = result.json["salvaged"]
    assert salvaged["format"] == "graph_def"
    assert salvaged["dangling"] == salvaged["left_out"] == []
    assert len(salvaged["written"]) >= 2 * count > 4
    path = salvaged["output"]
    assert path == (output if "." in output else "rescued.pb")
    assert sgtool("verify", path).code == 0
    assert sgtool("run", path, "--fetch", "y2", "--json").json["outputs"]["y2"]["value"] == 4
    again = sgtool("verify", "frozen.pb", "--salvage", output)
    assert (again.code, "is there already" in again.err) == (5, True)
    shown = sgtool("verify", "frozen.pb", "--salvage", "more.pbtxt")
    assert f"Wrote {len(salvaged['written'])} nodes to more.pbtxt (graph_def)." in shown.out


def test_a_cut_graph_beside_its_checkpoint(sgtool: Tool, linear: Path) -> None:
    assert sgtool("build", linear, "-o", "m.meta", "--init", "m").code == 0
    data = Path("m.meta").read_bytes()
    Path("m.meta").write_bytes(data[: len(data) * 3 // 4])
    tensors = sgtool("verify", "m", "--salvage", "rescued", "--json").json["salvaged"]
    assert (tensors["format"], sorted(tensors["written"])) == ("bundle", ["b", "w"])
    graph = sgtool("verify", "m", "--salvage", "rescued.meta", "--json").json["salvaged"]
    assert graph["format"] == "meta_graph_def"
    assert {"w", "b", "x"} <= set(graph["written"])
    assert sgtool("inspect", "rescued", "--json").json["parameters"] == 3
    assert sgtool("verify", "m", "--salvage", "x.json").code == 2
    assert sgtool("verify", "rescued.index", "--salvage", "w.npz").code == 0
    cut_graph("frozen.pb")
    refused = sgtool("verify", "frozen.pb", "--salvage", "x.npz")
    assert (refused.code, "use .meta, .pb, .pbtxt" in refused.err) == (5, True)


def test_what_needs_a_lost_node_says_which(sgtool: Tool) -> None:
    graph = protos.GraphDef()
    for i in range(9):
        node = graph.node.add(name=f"n{i}", op="Identity", input=[f"n{i + 1}"])
        node.attr["T"].type = 1
    Path("g.pb").write_bytes(protos.encode(graph)[:-3])
    result = sgtool("verify", "g.pb", "--salvage", "out.pb")
    assert "  its inputs are lost: n7" in result.out
    ran = sgtool("run", "out.pb", "--fetch", "n0")
    assert ran.code in (4, 5)
    assert "n8" in ran.err
