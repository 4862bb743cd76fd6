"""`sgtool verify`: exit code, table, JSON, salvage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sgtool.formats import registry
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Tool


@pytest.fixture
def broken(sgtool: Tool) -> str:
    """A checkpoint of w (whole) and z (one bit changed)."""
    write_bundle("m", [entry_of("w", np.ones(4, np.float32)), entry_of("z", np.ones(2, np.float32))])
    path = Path("m.data-00000-of-00001")
    data = bytearray(path.read_bytes())
    data[17] ^= 1
    path.write_bytes(data)
    return "m"


def test_whole(sgtool: Tool) -> None:
    write_bundle("m", [entry_of("w", np.ones(4, np.float32))])
    result = sgtool("verify", "m")
    assert (result.code, result.err) == (0, "")
    assert result.out == "m (checkpoint): whole, 1 of 1 tensors intact, 16 B\n"
    document = sgtool("verify", "m.index", "--json").json
    assert document["whole"] is True
    assert document["checked"][0]["intact"] == ["w"]


def test_damaged(broken: str, sgtool: Tool) -> None:
    result = sgtool("verify", broken)
    assert result.code == 4
    assert result.err == "Error: m is damaged: z.\n"
    assert "m (checkpoint): damaged, 1 of 2 tensors intact, 16 B" in result.out
    assert "z       m.data-00000-of-00001      16      8  checksum" in result.out
    assert "  intact: w\n" in result.out
    result = sgtool("verify", broken, "--json")
    assert result.code == 4
    (damage,) = result.json["checked"][0]["damaged"]
    assert set(damage) == {"name", "kind", "path", "offset", "size", "expected", "found", "why"}
    assert (damage["name"], damage["kind"], damage["offset"], damage["size"]) == ("z", "checksum", 16, 8)
    assert (result.error["code"], result.error["damaged"]) == (4, ["z"])


@pytest.mark.parametrize("output", ["rescued", "rescued.h5", "rescued.npz"])
def test_salvage(output: str, broken: str, sgtool: Tool) -> None:
    result = sgtool("verify", broken, "--salvage", output, "--json")
    assert result.code == 4  # it is damaged still
    salvaged = result.json["salvaged"]
    assert (salvaged["output"], salvaged["written"], salvaged["left_out"]) == (output, ["w"], ["z"])
    assert list(registry.open_store(output)) == ["w"]
    assert sgtool("verify", output).code == 0
    again = sgtool("verify", broken, "--salvage", output)
    assert again.code == 5
    assert "is there already" in again.err
    shown = sgtool("verify", broken, "--salvage", f"more_{output}").out
    assert f"Wrote 1 tensor to more_{output}" in shown
    assert "  left out: z" in shown


def test_a_name_with_several_faults_is_named_once(sgtool: Tool) -> None:
    line = (
        'node {{ name: "{}" op: "Const" attr {{ key: "value" value {{ tensor {{ dtype: DT_FLOAT '
        'tensor_shape {{ dim {{ size: {} }} }} tensor_content: "abc" }} }} }} }}\n'
    )
    Path("g.pbtxt").write_text(line.format("c", 2) + line.format("c", 3) + line.format("d", 3))
    result = sgtool("verify", "g.pbtxt")
    assert result.err == "Error: g.pbtxt is damaged: c, d.\n"
    assert result.out.count("  damaged: ") == 4


def test_nothing_is_counted_where_there_is_nothing(sgtool: Tool) -> None:
    Path("g.pbtxt").write_text('node { name: "a" op: "NoOp" }')
    assert sgtool("verify", "g.pbtxt").out == "g.pbtxt (graph_def): whole\n"


def test_nothing_to_salvage(sgtool: Tool) -> None:
    write_bundle("m", [entry_of("w", np.ones(4, np.float32))])
    Path("m.index").write_bytes(b"")
    result = sgtool("verify", "m", "--salvage", "rescued")
    assert result.code == 4
    assert "m.index" in result.out
    assert "Nothing is intact: rescued is not written." in result.out
    result = sgtool("verify", "m", "--salvage", "rescued", "--json")
    assert (result.code, result.json["salvaged"]) == (4, None)
    assert not list(Path().glob("rescued*"))


def test_wrong_inputs(broken: str, sgtool: Tool) -> None:
    assert sgtool("verify", "nothing").code == 3
    assert "Looked for" in sgtool("verify", "nothing").err
    Path("x.txt").write_text("words")
    result = sgtool("verify", "x.txt", "--json")
    assert result.code == 6
    result = sgtool("verify", broken, "--salvage", broken)
    assert result.code == 5
    assert (result.out, result.err) == (
        "",
        "Error: m.index is there already, and nothing is replaced: name another place.\n",
    )
    assert sgtool("verify", "m", "m").code == 2


def test_the_default_is_the_model_of_the_directory(sgtool: Tool) -> None:
    write_bundle("only", [entry_of("w", np.ones(4, np.float32))])
    result = sgtool("verify")
    assert result.code == 0
    assert "Using only" in result.err


def test_the_verdict_outlives_its_reader(broken: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "sgtool.cli", "verify", broken]
    ended = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (4, b"Error: m is damaged: z.\n")


def test_constants_are_counted_as_inspect_counts_them(sgtool: Tool) -> None:
    path = Path(__file__).parents[1] / "golden" / "model" / "model.ckpt-1.meta"
    (checked,) = sgtool("verify", path, "--json").json["checked"][1:]
    counted = sgtool("inspect", path, "--json").json["constants"]
    assert (len(checked["intact"]), checked["bytes"]) == (counted["nodes"], counted["bytes"])
