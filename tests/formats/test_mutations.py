"""Damaged files: a flipped bit or a cut gives the right value or one of our errors, and nothing else."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import graph_file, registry, summary
from sgtool.formats.checkpoint_state import resolve_prefix
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import OpError

GOLDEN = Path(__file__).parents[1] / "golden"
ENTRIES = [
    entry_of("w", np.arange(6, dtype=np.float32).reshape(2, 3)),
    entry_of("s", np.array([b"ab", b"c"], object)),
    entry_of("nul", np.array([b"a\0b", b"c"], object)),
    entry_of("b", np.ones(3, np.float32), "bfloat16"),
    entry_of("odd//name", np.int64(3)),
]
VALUES = {entry.name: entry.read().tolist() for entry in ENTRIES}


def damaged(data: bytes, count: int) -> Iterator[bytes]:
    """`data` with a bit flipped, a byte overwritten, or cut short, at up to `count` places; repeatable."""
    choose = random.Random(len(data))
    places = range(len(data)) if len(data) <= count else sorted(choose.sample(range(len(data)), count))
    for at in places:
        yield data[:at] + bytes((data[at] ^ 1 << choose.randrange(8),)) + data[at + 1 :]
        yield data[:at] + bytes((choose.randrange(256),)) + data[at + 1 :]
        yield data[:at]


def outcomes(path: Path, count: int, read: Callable[[], Any]) -> list[Any]:
    """What `read` gives for each damaged `path`: a value, or the class of one of our errors."""
    whole = path.read_bytes()
    found = []
    for data in damaged(whole, count):
        path.unlink()  # HDF5 takes a file that was overwritten in place for the one it still has open
        path.write_bytes(data)
        try:
            found.append(read())
        except OpError as error:
            found.append(type(error) if str(error) else error)
    path.unlink()
    path.write_bytes(whole)
    return found


@pytest.mark.parametrize(
    ("name", "part", "count"),
    [
        ("m", "m.index", 500),
        ("m", "m.data-00000-of-00001", 500),
        ("m.npz", "m.npz", 500),
        ("m.h5", "m.h5", 400),
    ],
)
def test_stores_give_right_values_or_our_error(tmp_path: Path, name: str, part: str, count: int) -> None:
    registry.write_store(tmp_path / name, ENTRIES, b"a graph")

    def read() -> dict[str, Any]:
        return {name: entry.read().tolist() for name, entry in registry.open_store(tmp_path / name).items()}

    found = outcomes(tmp_path / part, count, read)
    wrong = [one for one in found if isinstance(one, dict) and one != VALUES]
    assert wrong == []
    assert any(isinstance(one, type) for one in found)
    assert read() == VALUES


def test_first_generation_gives_right_values_or_our_error(tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "slices_v1", tmp_path / "v1")

    def read() -> dict[str, Any]:
        return {name: entry.read().tolist() for name, entry in registry.open_store(tmp_path / "v1").items()}

    expected = read()
    found = outcomes(tmp_path / "v1", 200, read)
    assert [one for one in found if isinstance(one, dict) and one != expected] == []


@pytest.mark.parametrize("name", ["model.ckpt-1.meta", "graph.pb", "graph.pbtxt"])
def test_graphs_give_a_graph_or_our_error(tmp_path: Path, name: str) -> None:
    """Graph files have no checksums: a flipped bit may give another graph, which must be one still."""
    path = Path(shutil.copy(GOLDEN / "model" / name, tmp_path / name))
    messages = set(graph_file.MESSAGES)
    count = 15 if name.endswith("txt") else 150
    found = outcomes(path, count, lambda: (graph_file.read_graph(path).kind, summary.summarise(path)))
    assert all(isinstance(one, type) or one[0] in messages for one in found)
    assert any(isinstance(one, type) for one in found)


def test_state_files_give_a_checkpoint_or_our_error(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(GOLDEN / "model", tmp_path / "model"))
    found = outcomes(folder / "checkpoint", 200, lambda: resolve_prefix(folder).prefix)
    prefixes = {str(folder / f"model.ckpt-{step}") for step in (1, 2)}
    assert {one for one in found if isinstance(one, str)} <= prefixes


def test_saved_model_gives_a_graph_or_our_error(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(GOLDEN / "saved_model", tmp_path / "sm"))
    found = outcomes(folder / "saved_model.pb", 60, lambda: summary.summarise(folder)["format"])
    assert all(isinstance(one, type) or one in graph_file.MESSAGES for one in found)
