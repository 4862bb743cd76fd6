"""Every checkpoint and graph of the corpus, opened, inspected (table and JSON) and verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from corpus_files import corpus_params

from sgtool.cli.commands import inspect

if TYPE_CHECKING:
    from .conftest import Tool

HELP = f"{inspect.command.help} {inspect.command.epilog}"
FILES = [
    param
    for pattern in (
        "models/**/*.meta",
        "models/**/*.index",
        "models/**/*.pb",
        "models/**/*.pbtxt",
        "models/**/checkpoint",
    )
    for param in corpus_params(pattern)
]


@pytest.mark.parametrize("path", FILES)
def test_inspect_and_verify(path: Path, sgtool: Tool) -> None:
    shown = sgtool("inspect", path)
    assert shown.code == 0, shown.err
    assert shown.out.startswith("format")
    document = sgtool("inspect", path, "--json")
    assert document.code == 0, document.err
    found = document.json
    assert "missing" not in found
    rows = [*found["variables"], *found.get("inputs", []), *found.get("outputs", [])]
    undocumented = {key for row in (found, *rows, found["producer"]) for key in row if f'"{key}"' not in HELP}
    assert not undocumented
    assert sum(found.get("ops", {}).values()) == found.get("nodes", 0)
    outputs = found.get("outputs", [])
    inputs = {row["name"] for row in found.get("inputs", [])}
    assert all(set(row["needs"]) <= inputs for row in outputs)
    names = [row["name"] for row in found["variables"]]
    assert len(names) == len(set(names))
    bases = {row.get("slot_of") for row in found["variables"]} - {None}
    assert bases <= set(names)
    checked = sgtool("verify", path, "--json")
    assert checked.code == 0, checked.out
    assert checked.json["whole"] is True
    if found["variables"] and "prefix" in found:
        intact = {name for one in checked.json["checked"] for name in one["intact"]}
        keys = {row.get("key", row["name"]) for row in found["variables"] if row.get("saved", True)}
        assert keys <= intact


@pytest.mark.parametrize("folder", corpus_params("models/*"))
def test_folders(folder: Path, sgtool: Tool) -> None:
    about = json.loads((folder / "model.json").read_text())
    result = sgtool("verify", folder / about["source"])
    assert result.code == 0, result.out + result.err
    assert ": whole" in result.out


def test_op_graphs(sgtool: Tool) -> None:
    (first, *_) = params = corpus_params("ops/*/graph.pb")
    if first.id == "absent":
        pytest.skip(first.marks[1].kwargs["reason"])
    for param in params:
        path = param.values[0]
        result = sgtool("verify", path)
        assert result.code == 0, result.out


@pytest.mark.parametrize("folder", corpus_params("models/*"))
def test_what_the_models_are_fed_is_among_the_inputs(folder: Path, sgtool: Tool) -> None:
    about = json.loads((folder / "model.json").read_text())
    found = sgtool("inspect", folder / about["source"], "--graph", "--json").json
    placeholders = {f"{node['name']}:0" for node in found["graph"] if node["op"].startswith("Placeholder")}
    fed = {feed["tensor"] for feed in about["feeds"]}
    inputs = {row["name"] for row in found["inputs"]}
    assert fed & placeholders <= inputs
    outside = fed - placeholders  # in the middle of the graph: a signature says so, if anything does
    declared = {
        info["name"] for one in found.get("signatures", {}).values() for info in one["inputs"].values()
    }
    assert outside <= declared | {"IteratorGetNext:0"}
