"""Checkpoints of the first generation that are damaged: what is intact is told, and salvaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool.formats import checkpoint_state, files, protos, registry, summary
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import DataLossError, OpError, PermissionDeniedError
from sgtool.formats.parts import Part
from sgtool.formats.v1_writer import write_v1
from sgtool.formats.verification import Verification
from sgtool.formats.verify import salvage, verify

RANDOM = np.random.default_rng(0)
WEIGHTS = {f"layer{i}": RANDOM.normal(size=(40, 500)).astype(np.float32) for i in range(8)}
EMBEDDING = RANDOM.normal(size=(800, 200)).astype(np.float32)
PARTS = [Part((800, 200), ((at, 200), (0, 200))) for at in range(0, 800, 200)]


def entries() -> Iterator[Entry]:
    for name, value in WEIGHTS.items():
        yield entry_of(name, value)
    for part in PARTS:
        yield entry_of("embedding", EMBEDDING[slice(*part.ranges[0])], part=part)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_v1(tmp_path / "m", entries())
    return tmp_path / "m"


def check(path: Path) -> Verification:
    (found,) = verify(path)
    return found


def values_of(path: Path) -> dict[str, Any]:
    return {name: entry.read() for name, entry in registry.open_store(path).items()}


def test_whole_blocks_of_a_cut_file_are_intact_and_salvaged(file: Path, tmp_path: Path) -> None:
    assert check(file).whole
    os.truncate(file, file.stat().st_size * 4 // 5)
    found = check(file)
    assert 2 <= len(found.intact) < 9
    assert "embedding" in found.intact
    lost = [one for one in found.damaged if one.name]
    assert {one.name for one in lost} == {"embedding", *WEIGHTS} - set(found.intact)
    assert all("is lost (from byte" in one.why or "nothing vouches for it" in one.why for one in lost)
    _, written, left_out = salvage([found], tmp_path / "rescued")
    assert written == found.intact
    assert left_out == sorted({one.name for one in lost})
    for name, value in values_of(tmp_path / "rescued").items():
        assert np.array_equal(value, EMBEDDING if name == "embedding" else WEIGHTS[name])


def test_every_cut_gives_right_values_or_names_what_is_lost(file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    every = {"embedding", *WEIGHTS}
    counts = []
    for keep in [*range(20, len(data), 40_001), *range(len(data) - 60, len(data), 7)]:
        (tmp_path / "cut").write_bytes(data[:keep])
        found = check(tmp_path / "cut")
        assert not found.whole
        named = {one.name.partition("[")[0] for one in found.damaged if one.name}
        assert not named or named | set(found.intact) == every
        store = found.store
        for name in found.intact:
            assert store is not None
            assert np.array_equal(store[name].read(), EMBEDDING if name == "embedding" else WEIGHTS[name])
        counts.append(len(found.intact))
    assert counts == sorted(counts)
    assert counts[-1] == 9  # only what lists the blocks is lost


def test_the_parts_that_are_intact_of_a_cut_variable(file: Path) -> None:
    data = file.read_bytes()
    for keep in range(0, len(data), 30_000):
        os.truncate(file, 0)
        file.write_bytes(data[:keep])
        if not keep:
            continue
        found = check(file)
        gone = [one.name for one in found.damaged if one.name.startswith("embedding[")]
        if 0 < len(gone) < 4:
            break
    assert "embedding[[600, 800], [0, 200]]" in gone
    (note,) = (one for one in found.notes if one.startswith("Of 'embedding'"))
    assert "intact: embedding[[0, 200], [0, 200]]" in note
    assert "embedding" not in found.intact


def test_one_damaged_block_loses_no_other(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.seek(file.stat().st_size // 2)
        opened.write(b"\xff\xff")
    found = check(file)
    assert 0 < len([one for one in found.damaged if one.name]) < 9
    assert {one.kind for one in found.damaged} == {"checksum"}
    os.truncate(file, file.stat().st_size - 30)  # nor does it once the list of blocks is gone
    again = check(file)
    assert again.intact == found.intact
    assert {one.kind for one in again.damaged if one.name} == {"checksum"}


def test_one_cut_file_of_several(tmp_path: Path) -> None:
    every = list(WEIGHTS)
    for shard, names in enumerate((every[:4], every[4:])):
        write_v1(tmp_path / f"m-{shard:05d}-of-00002", [entry_of(name, WEIGHTS[name]) for name in names])
    cut = tmp_path / "m-00001-of-00002"
    os.truncate(cut, cut.stat().st_size - 30)
    for path in (cut, tmp_path / "m-?????-of-00002", tmp_path / "m", tmp_path, tmp_path / "m.meta"):
        found = check(path)
        assert sorted(found.intact) == every
        assert [(one.name, one.path) for one in found.damaged] == [("", str(cut))]


@pytest.mark.parametrize("form", ["", "m", "m.meta", "m.index", "checkpoint"])
@pytest.mark.parametrize("keep", [700, 400_000, -30])
def test_a_cut_file_is_found_by_every_name(form: str, keep: int, file: Path, tmp_path: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:keep])
    if form == "checkpoint":
        (tmp_path / "checkpoint").write_text('model_checkpoint_path: "/elsewhere/m"\n')
    path = tmp_path / form if form else tmp_path
    found = check(path)
    assert (found.path, found.format, found.whole) == (str(file), "v1 checkpoint", False)
    with pytest.raises(DataLossError, match="bad magic number"):
        registry.open_store(path)
    shown = summary.summarise(path)
    assert "bad magic number" in shown["damaged"][str(file)]
    assert {row["name"] for row in shown["variables"]} >= set(found.intact)


def test_a_whole_checkpoint_is_preferred_to_a_cut_one(file: Path, tmp_path: Path) -> None:
    (tmp_path / "newer").write_bytes(file.read_bytes()[:-30])
    os.utime(tmp_path / "newer", (2e9, 2e9))
    assert checkpoint_state.resolve_prefix(tmp_path).prefix == str(file)
    assert [row["prefix"] for row in summary.summarise(tmp_path)["checkpoints"]] == [str(file)]
    assert [(one.path, one.whole) for one in verify(tmp_path)] == [
        (str(file), True),
        (str(tmp_path / "newer"), False),
    ]


def test_what_a_state_file_names_and_is_overwritten_is_damaged_by_every_name(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(b"\7\xff" * 100)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "m"\n')
    for path in (tmp_path, tmp_path / "checkpoint", tmp_path / "m"):
        assert not verify(path)[0].whole
        with pytest.raises(DataLossError, match=r"bad magic number|is damaged"):
            registry.open_store(path)


def refuse(monkeypatch: pytest.MonkeyPatch, number: int, *paths: Path) -> None:
    """Makes the system fail to open files, with an error of this number."""

    def fault(step: str, path: str) -> None:
        if step == "read" and path in map(str, paths):
            raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(files, "fault_hook", fault)


def test_one_file_of_several_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    every = list(WEIGHTS)
    for shard, names in enumerate((every[:4], every[4:])):
        write_v1(tmp_path / f"m-{shard:05d}-of-00002", [entry_of(name, WEIGHTS[name]) for name in names])
    closed = tmp_path / "m-00000-of-00002"
    refuse(monkeypatch, 13, closed)
    for path in (
        closed,
        tmp_path / "m-00001-of-00002",
        tmp_path / "m-?????-of-00002",
        tmp_path / "m",
        tmp_path,
    ):
        found = check(path)
        assert sorted(found.intact) == every[4:]
        assert [(one.kind, one.path) for one in found.damaged] == [("unreadable", str(closed))]
        with pytest.raises(PermissionDeniedError, match=r"m-00000-of-00002: permission denied"):
            registry.open_store(path)


def test_a_file_that_may_not_be_read_ends_no_look_at_its_directory(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "secret"
    other.write_bytes(bytes(1000))
    refuse(monkeypatch, 13, other)
    found = check(tmp_path)
    assert (found.path, found.whole) == (str(file), True)
    assert f"What is in {other} is not known. Cannot read {other}: permission" in " ".join(found.notes)
    assert checkpoint_state.resolve_prefix(tmp_path).prefix == str(file)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "secret"\n')
    told = {one.path: [damage.kind for damage in one.damaged] for one in verify(tmp_path)}
    assert told == {str(file): [], str(other): ["unreadable"]}
    with pytest.raises(OpError, match="permission denied"):
        registry.open_store(tmp_path)


def test_a_cut_file_does_not_hide_the_graph_beside_it(file: Path, tmp_path: Path) -> None:
    file.write_bytes(file.read_bytes()[:700])
    graph = protos.MetaGraphDef()
    graph.graph_def.node.add(name="n", op="NoOp")
    (tmp_path / "m.meta").write_bytes(protos.encode(graph))
    for path in (file, tmp_path / "m.meta", tmp_path):
        shown = summary.summarise(path)
        assert shown["ops"] == {"NoOp": 1}
        assert "bad magic number" in shown["damaged"][str(file)]
