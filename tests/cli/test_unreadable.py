"""What the system does not give: every command says the same of it, and shows the rest."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sgtool.formats import files
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Tool

FORMS = ("m", "m.index", "m.meta", "m.data-00000-of-00001", "checkpoint", ".")
EVERY = (
    ["inspect", "PATH"],
    ["verify", "PATH"],
    ["run", "PATH", "--fetch", "y:0", "--feed", "x:0=[[1, 2]]"],
    ["save", "PATH", "-o", "out"],
    ["restore", "PATH", "PATH", "-o", "out"],
    ["train", "PATH", "--feed", "x:0=[[1, 2]]", "--feed", "t:0=[[1]]", "--steps", "1"],
)


@pytest.fixture
def model(sgtool: Tool, linear: Path) -> None:
    assert sgtool("build", linear, "-o", "m.meta", "--init", "m").code == 0


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """`fail("EIO", "m.index")`: the system refuses to open that file."""

    def make(name: str, path: str) -> None:
        def fault(step: str, opened: str) -> None:
            if step == "read" and Path(opened).name == path:
                raise OSError(getattr(errno, name), os.strerror(getattr(errno, name)), opened)

        monkeypatch.setattr(files, "fault_hook", fault)

    return make


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("error", ["EACCES", "EIO", "ESTALE"])
@pytest.mark.parametrize("lost", ["m.index", "m.data-00000-of-00001"])
def test_every_command_by_every_name(
    error: str, lost: str, sgtool: Tool, fail: Callable[[str, str], None]
) -> None:
    fail(error, lost)
    for words in EVERY:
        for form in FORMS:
            if words[0] == "inspect" and lost != "m.index":
                continue  # which reads no data
            result = sgtool(*(form if word == "PATH" else word for word in words))
            assert result.code == 7, (words, form, result.err)
            assert lost in result.err, (words, form)
    assert not list(Path().glob("out*"))


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("form", FORMS)
def test_inspect_shows_the_rest(form: str, sgtool: Tool, fail: Callable[[str, str], None]) -> None:
    fail("EACCES", "m.index")
    result = sgtool("inspect", form, "--json")
    assert result.code == 7
    assert [row["name"] for row in result.json["variables"]] == ["w", "b"]
    assert list(map(os.path.basename, result.json["unreadable"])) == ["m.index"]
    assert "m.index: permission denied" in result.error["message"]
    fail("EIO", "m.meta")
    result = sgtool("inspect", form, "--json")
    assert result.code == 7
    assert result.json["format"] == "checkpoint"
    assert list(map(os.path.basename, result.json["unreadable"])) == ["m.meta"]
    fail("EIO", "nothing")
    Path("m.index").write_bytes(b"")  # that is damage
    assert sgtool("inspect", form).code == 4


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("name", ["checkpoint", "m.index", "m.meta", "m.data-00000-of-00001"])
def test_no_command_waits_for_a_pipe_that_it_finds(name: str) -> None:
    Path(name).unlink(missing_ok=True)
    os.mkfifo(name)
    code = (
        "import sys\nfrom sgtool.cli.main import run\n"
        "for line in sys.stdin:\n    print(run(line.split()), flush=True)\n"
    )
    lines = [" ".join(words).replace("PATH", form) for words in EVERY for form in ("m", "m.meta", ".")]
    lines += ["inspect", "verify"]
    lines = [line.replace(", ", ",") for line in lines]
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "Traceback" not in ended.stderr
    assert "is a pipe, not a file" in ended.stderr
    assert "70" not in ended.stdout.split()


@pytest.mark.usefixtures("model")
def test_a_pipe_that_the_user_names_is_read(tmp_path: Path, linear: Path) -> None:
    np.save("x.npy", np.ones((1, 2), np.float32))
    os.mkfifo("x.fifo.npy")
    with subprocess.Popen(["cp", "x.npy", "x.fifo.npy"]):
        words = [sys.executable, "-m", "sgtool.cli", "run", "m", "--fetch", "y:0", "--feed", "x:0=x.fifo.npy"]
        ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert "1" in ended.stdout


def test_only_what_may_not_be_read_is_no_damage(sgtool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bundle("m", [entry_of(name, np.ones(4, np.float32)) for name in "abc"], 3)
    refused = ["m.data-00000-of-00003", "m.data-00001-of-00003"]

    def fault(step: str, path: str) -> None:
        if step == "read" and path in refused:
            raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(files, "fault_hook", fault)
    result = sgtool("verify", "m", "--json")
    assert (result.code, result.json["whole"], result.json["checked"][0]["intact"]) == (7, False, ["c"])
    assert result.error["unreadable"] == refused
    assert all(f"Cannot read {path}: permission denied" in result.error["message"] for path in refused)
    Path("m.data-00002-of-00003").write_bytes(b"")
    assert sgtool("verify", "m").code == 4
