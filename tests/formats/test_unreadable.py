"""Files that the system does not give: each is told as unreadable, and hides nothing of the others."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from sgtool.formats import checkpoint_state, files, graph_file, protos, registry, summary
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import (
    InvalidValueError,
    OpError,
    UnavailableError,
    is_unreadable,
)
from sgtool.formats.verify import salvage, verify

ERRORS = [
    "EACCES",
    "EPERM",
    "EIO",
    "EISDIR",
    "ENAMETOOLONG",
    "ELOOP",
    "ESTALE",
    "EMFILE",
    "ENODEV",
    "ETIMEDOUT",
]
VALUES = {name: np.full(100, i, np.float32) for i, name in enumerate("abcd")}


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`fail("EIO", path, ...)`: the system refuses to open these files, with this error."""

    def make(name: str, *paths: Path) -> None:
        def fault(step: str, path: str) -> None:
            if step == "read" and path in map(str, paths):
                raise OSError(getattr(errno, name), os.strerror(getattr(errno, name)), path)

        monkeypatch.setattr(files, "fault_hook", fault)

    return make


def write_model(folder: Path) -> None:
    write_bundle(folder / "m", [entry_of(name, value) for name, value in VALUES.items()], 4)
    graph = protos.MetaGraphDef()
    graph.graph_def.node.add(name="a", op="NoOp")
    files.write_bytes(folder / "m.meta", protos.encode(graph))


@pytest.mark.parametrize("error", ERRORS)
def test_each_file_of_a_checkpoint(error: str, tmp_path: Path, fail: Callable[..., None]) -> None:
    write_model(tmp_path)
    data = tmp_path / "m.data-00002-of-00004"
    fail(error, data)
    for path in (tmp_path, tmp_path / "m", tmp_path / "m.meta"):
        checkpoint, graph = verify(path)
        assert (checkpoint.intact, graph.whole) == (["a", "b", "d"], True)
        assert {(one.name, one.kind) for one in checkpoint.damaged} == {
            ("", "unreadable"),
            ("c", "unreadable"),
        }
    _, written, left_out = salvage([checkpoint], tmp_path / "rescued")
    assert (written, left_out) == (["a", "b", "d"], ["c"])
    for lost in ("m.index", "m.meta"):
        fail(error, tmp_path / lost)
        for path in (tmp_path / "m", tmp_path / "m.index", tmp_path / "m.meta"):
            told = {one.path: [damage.kind for damage in one.damaged] for one in verify(path)}
            assert sorted(told.values()) == [[], ["unreadable"]]
            found = summary.summarise(path)
            assert list(found["unreadable"]) == [str(tmp_path / lost)]
            assert "damaged" not in found
            assert found["format"] == ("checkpoint" if lost == "m.meta" else "meta_graph_def")
    fail(error, tmp_path / "m.index", tmp_path / "m.meta")
    with pytest.raises(UnavailableError, match=r"m cannot be read:(.|\n)*m\.index(.|\n)*m\.meta"):
        summary.summarise(tmp_path / "m")


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", ["x.npz", "x.h5", "x.safetensors", "x.pb"])
def test_stores_and_graphs(name: str, error: str, tmp_path: Path, fail: Callable[..., None]) -> None:
    path = tmp_path / name
    if name == "x.pb":
        message = protos.GraphDef()
        message.node.add(name="a", op="NoOp")
        files.write_bytes(path, protos.encode(message))
    else:
        pytest.importorskip("safetensors")
        registry.write_store(path, [entry_of("a", 1.0)])
    fail(error, path)
    for read in (verify, registry.open_store, graph_file.read_graph, summary.summarise):
        with pytest.raises(OpError) as caught:
            read(path)
        assert is_unreadable(caught.value)
        assert caught.value.fields["errno"] == getattr(errno, error)


class _Failing(io.FileIO):
    """A file of which everything from a place on is on a bad part of the disk."""

    start = 0

    def read(self, size: int | None = -1) -> bytes:
        if size is None or size < 0 or self.tell() + size > self.start:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(size)

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


@pytest.mark.parametrize("prefix", ["m", "m.npz"])
def test_a_disk_that_fails_in_the_middle(
    prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {name: np.random.default_rng(i).normal(size=100_000) for i, name in enumerate("abcd")}
    registry.write_store(tmp_path / prefix, [entry_of(name, value) for name, value in values.items()])
    bad = tmp_path / prefix if prefix == "m.npz" else tmp_path / "m.data-00000-of-00001"
    size = bad.stat().st_size

    def opened(name: str) -> IO[bytes]:
        if name != str(bad):
            return Path(name).open("rb")
        file = _Failing(name)
        file.start = size // 2
        return file

    if prefix == "m.npz":
        # The directory at the end can be read, the members in the middle cannot.
        monkeypatch.setattr(_Failing, "read", _around(size), raising=True)
    monkeypatch.setattr(files, "_opened", opened)
    (found,) = verify(tmp_path / prefix)
    assert found.intact
    assert set(found.intact) < set(values)
    assert {one.kind for one in found.damaged} == {"unreadable"}
    assert found.causes == []
    _, written, _ = salvage([found], tmp_path / "rescued.npz")
    assert written == found.intact
    monkeypatch.undo()
    for name, entry in registry.open_store(tmp_path / "rescued.npz").items():
        assert np.array_equal(entry.read(), values[name])


def _around(size: int) -> Callable[..., bytes]:
    def read(self: _Failing, length: int | None = -1) -> bytes:
        if size // 2 < self.tell() < size - 10_000:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return io.FileIO.read(self, -1 if length is None else length)

    return read


def test_one_array_of_a_folder(tmp_path: Path, fail: Callable[..., None]) -> None:
    for name, value in VALUES.items():
        np.save(tmp_path / f"{name}.npy", value)
    fail("EIO", tmp_path / "b.npy")
    (found,) = verify(tmp_path)
    assert found.intact == ["a", "c", "d"]
    assert [(one.name, one.kind) for one in found.damaged] == [("b", "unreadable")]
    assert list(summary.summarise(tmp_path)["unreadable"]) == ["b"]


@pytest.mark.parametrize("name", ["checkpoint", "m.index", "m.meta", "m.data-00001-of-00004"])
def test_a_pipe_that_is_found_is_refused_at_once(name: str, tmp_path: Path) -> None:
    write_model(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    for path in (tmp_path, tmp_path / "m", tmp_path / "m.meta", tmp_path / "checkpoint"):
        for read in (registry.open_store, summary.summarise, verify):
            with suppress(OpError):  # it ends
                read(path)
    if name == "checkpoint":
        with pytest.raises(InvalidValueError, match="checkpoint: it is a pipe, not a file"):
            checkpoint_state.read_state(tmp_path)
        assert verify(tmp_path)[-1].damaged[0].kind == "unreadable"
        with pytest.warns(UserWarning, match="it is a pipe, not a file"):
            assert checkpoint_state.latest_checkpoint(tmp_path) is None
    else:
        told = [one.kind for found in verify(tmp_path / "m") for one in found.damaged]
        assert set(told) == {"unreadable"}
