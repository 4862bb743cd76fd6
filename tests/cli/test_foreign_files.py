"""Files that are something else: every command says the same of them, and ends with the same exit code."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sgtool.cli.exit_codes import DAMAGED, NOT_FOUND, UNIMPLEMENTED

if TYPE_CHECKING:
    from .conftest import Tool

GOLDEN = Path(__file__).parents[1] / "golden"
MODEL = GOLDEN / "model" / "model.ckpt-2"


def archive(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name in names:
            file.writestr(name, b"x" * 9000)
    return data.getvalue()


# What it is -> its bytes, the exit code, what is said.
FOREIGN: dict[str, tuple[bytes, int, str]] = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 1\n", DAMAGED, "Git LFS"),
    "html": (b"\n<!DOCTYPE html><html></html>", DAMAGED, "HTML or XML page"),
    "empty": (b"", DAMAGED, "is empty"),
    "zeros": (bytes(5000), DAMAGED, "nothing but zero bytes"),
    "hdf5 as text": (b"\x89HDF\r\r\n\x1a\r\n" + bytes(80), DAMAGED, "line ends were changed"),
    "pickle": (pickle.dumps({"w": 1.0}), UNIMPLEMENTED, "Python pickle"),
    "old pickle": (pickle.dumps({"w": 1.0}, 0), UNIMPLEMENTED, "Python pickle"),
    "torch": (archive("archive/data.pkl", "archive/data/0"), UNIMPLEMENTED, "PyTorch file"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(50), UNIMPLEMENTED, "PNG image"),
    "json": (b'{"a": 1}', UNIMPLEMENTED, "JSON document"),
    "gzip": (b"\x1f\x8b" + bytes(50), UNIMPLEMENTED, "gzip-compressed"),
    "other text": (b"layers { top: 1 }", UNIMPLEMENTED, ""),
}
SUFFIXES = ("", ".pb", ".pbtxt", ".meta", ".index", ".h5", ".npz", ".safetensors")


def answers(sgtool: Tool, name: str) -> dict[str, tuple[int, str]]:
    """The exit code and all that is said, of each command that opens a file."""
    commands = {
        "inspect": ("inspect", name),
        "verify": ("verify", name),
        "restore MODEL": ("restore", name, MODEL, "-o", "out/x"),
        "restore STORE": ("restore", MODEL, name, "-o", "out/x"),
        "run": ("run", name, "--fetch", "y:0"),
        "run --checkpoint": ("run", MODEL, "--checkpoint", name, "--fetch", "y:0"),
        "save": ("save", name, "-o", "out.npz"),
        "train": ("train", name, "--feed", "x:0=[1]", "--steps", "1"),
    }
    results = {command: sgtool(*words) for command, words in commands.items()}
    return {command: (result.code, result.out + result.err) for command, result in results.items()}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_of_another_kind(kind: str, suffix: str, sgtool: Tool) -> None:
    content, code, text = FOREIGN[kind]
    if kind == "other text" and suffix not in ("", ".pb", ".pbtxt", ".meta"):
        code = DAMAGED  # its suffix says that it should be something else than text
    name = f"thing{suffix}"
    Path(name).write_bytes(content)
    for command, (got, said) in answers(sgtool, name).items():
        assert got == code, (command, said)
        assert name in said, command
        assert text in said, (command, said)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_noise_is_damage_where_the_suffix_says_what_it_should_be(suffix: str, sgtool: Tool) -> None:
    noise = np.random.default_rng(0).integers(0, 256, 3000, dtype=np.uint8).tobytes()
    Path(f"thing{suffix}").write_bytes(noise)
    codes = {command: code for command, (code, _) in answers(sgtool, f"thing{suffix}").items()}
    assert set(codes.values()) == {DAMAGED if suffix else UNIMPLEMENTED}, codes


def test_a_text_graph_with_an_error_is_damaged(sgtool: Tool) -> None:
    Path("g.pbtxt").write_text('node { name: "a"\n  op: "B" input')
    for command, (code, said) in answers(sgtool, "g.pbtxt").items():
        assert code == DAMAGED, (command, said)
        assert "g.pbtxt, line 2" in said, (command, said)


def test_a_state_file_that_names_nothing_there(sgtool: Tool) -> None:
    Path("checkpoint").write_text('model_checkpoint_path: "gone-3"')
    for command, (code, said) in answers(sgtool, "checkpoint").items():
        assert code == NOT_FOUND, (command, said)
        assert "gone-3" in said, (command, said)


def test_content_decides_whatever_the_suffix(sgtool: Tool) -> None:
    assert sgtool("save", MODEL, "-o", "w.h5").code == 0
    Path("w.h5").rename("w.pb")
    assert sgtool("inspect", "w.pb", "--json").json["format"] == "hdf5"
    assert sgtool("verify", "w.pb").code == 0
    assert sgtool("restore", MODEL, "w.pb", "-o", "again").code == 0
