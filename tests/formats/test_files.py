"""The file layer: replacement is all or nothing, errors are ours, the policy holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sgtool.formats import files
from sgtool.formats.errors import (
    InvalidValueError,
    MissingFileError,
    PermissionDeniedError,
    ResourceExhaustedError,
)


def write_two(folder: Path, content: bytes) -> None:
    with files.atomic_files() as replacement:
        replacement.open(folder / "data").write(content)
        replacement.open(folder / "index").write(content)


@pytest.mark.parametrize("step", ["open", "write", "sync", "replace"])
@pytest.mark.parametrize("name", ["data", "index"])
def test_a_fault_anywhere_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, name: str
) -> None:
    write_two(tmp_path, b"old")

    def fault(happening: str, path: str) -> None:
        if happening == step and Path(path).name == name:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "fault_hook", fault)
    with pytest.raises(ResourceExhaustedError, match="No space left"):
        write_two(tmp_path, b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"data": b"old", "index": b"old"}
    monkeypatch.undo()
    write_two(tmp_path, b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"data": b"new", "index": b"new"}


def test_an_error_of_the_caller_passes_and_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with files.atomic_writer(tmp_path / "x") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    files.write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_devices_and_long_names(tmp_path: Path) -> None:
    files.write_bytes(os.devnull, b"gone")
    assert Path(os.devnull).exists()
    files.write_bytes(tmp_path / ("n" * 255), b"x")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


@pytest.mark.parametrize("reader", [files.read_bytes, files.map_bytes, files.file_size, files.open_binary])
def test_reading_errors(tmp_path: Path, reader: object) -> None:
    assert callable(reader)
    (tmp_path / "model.ckpt").write_bytes(b"x")
    with pytest.raises(MissingFileError, match=r"no such file\. Did you mean 'model.ckpt'"):
        reader(tmp_path / "model.chkp")
    with pytest.raises(FileNotFoundError, match=r"directory .* does not exist"):
        reader(tmp_path / "nowhere" / "x")
    with pytest.raises(InvalidValueError):
        reader(tmp_path / "model.ckpt" / "below")
    with pytest.raises(InvalidValueError):
        reader(tmp_path / ("n" * 300))
    with pytest.raises(InvalidValueError):
        reader("a\0b")


def test_what_is_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to("gone")
    (tmp_path / "model.meta").touch()
    for name, said in (
        ("loop", "loop is a link that leads back to itself"),
        ("loop/x", "loop is a link that leads back to itself"),
        ("dangling", "dangling is a link to gone, which does not exist"),
        ("dangling/x", "dangling is a link to gone, which does not exist"),
        ("model.meta/x/y", "model.meta is a file, not a directory"),
        ("plain", ""),
        ("model.meta", ""),
    ):
        assert files.obstacle(tmp_path / name) == (f"{tmp_path}/{said}" if said else "")
    with pytest.raises(MissingFileError, match="which does not exist"):
        files.read_bytes(tmp_path / "dangling")
    with pytest.raises(InvalidValueError, match="is a file, not a directory"):
        files.read_bytes(tmp_path / "model.meta" / "x")


def test_pipes_and_devices_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "pipe", "a pipe"), (Path(os.devnull), "a device")):
        for reader in (files.map_bytes, files.open_content, lambda path: files.read_head(path, 8)):
            with pytest.raises(InvalidValueError, match=f"it is {kind}, not a file"):
                reader(path)


def test_directories_are_not_files(tmp_path: Path) -> None:
    with pytest.raises(InvalidValueError, match="is a directory"):
        files.read_bytes(tmp_path)
    with pytest.raises(InvalidValueError, match="is a directory"):
        files.write_bytes(tmp_path, b"")
    with pytest.raises(MissingFileError, match=r"directory .* does not exist"):
        files.write_bytes(tmp_path / "no" / "x", b"")


def test_empty_maps(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert files.map_bytes(tmp_path / "empty") == b""
    (tmp_path / "some").write_bytes(b"12345")
    assert files.map_bytes(tmp_path / "some")[1:3] == b"23"
    assert files.read_range(tmp_path / "some", 3, 99) == b"45"


def test_policy(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in" / "x", tmp_path / "other"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "leak").symlink_to(tmp_path)
    policy = files.FilePolicy((str(tmp_path / "in"),), "nothing", "pass --allow-files DIR")
    policy.check_read(inside)
    for path in (
        outside,
        tmp_path / "in" / ".." / "other",
        tmp_path / "in" / "leak" / "other",
        tmp_path / "in2",
    ):
        with pytest.raises(
            PermissionDeniedError, match=r"node 'r' .ReadFile. wants to read .*pass --allow-files DIR"
        ):
            policy.check_read(path, "node 'r' (ReadFile)")
    with pytest.raises(PermissionDeniedError, match="no files at all"):
        policy.check_write(inside)
    files.FilePolicy().check_write(outside)


def test_containment(tmp_path: Path) -> None:
    assert files.contained(tmp_path, "assets/vocab") == str(tmp_path / "assets/vocab")
    for name in ("../x", "/etc/passwd", "a/../../x"):
        with pytest.raises(PermissionDeniedError):
            files.contained(tmp_path, name)
