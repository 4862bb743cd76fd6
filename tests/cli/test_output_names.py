"""`-o` and its kin: what cannot be written there is a usage error, before anything is done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Tool

COMMANDS = {
    "save": ("save", "model", "-o"),
    "restore": ("restore", "model", "model", "-o"),
    "salvage": ("verify", "model", "--salvage"),
    "train": ("train", "model", "--steps", "1", "-o"),
    "init": ("build", "linear.py", "--init"),
}


@pytest.fixture
def here(sgtool: Tool, linear: Path) -> set[Path]:
    """A model, a directory, and all files that there are."""
    assert sgtool("build", linear, "--init", "model").code == 0
    Path("empty").mkdir()
    return set(Path().rglob("*"))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("output", ["-", "empty/", ".", "", "w.onnx", "w.pt", "w.json", "w.meta", "w.CSV"])
def test_what_is_no_store(name: str, output: str, here: set[Path], sgtool: Tool) -> None:
    if (name, output) == ("salvage", "w.meta"):
        output = "w.txt"  # a graph is salvaged to a .meta
    result = sgtool(*COMMANDS[name], output)
    assert result.code == 2, result.err
    assert COMMANDS[name][-1] in result.err
    assert set(Path().rglob("*")) == here


@pytest.mark.parametrize("name", ["train", "init"])
@pytest.mark.parametrize("suffix", [".h5", ".npz", ".safetensors"])
def test_checkpoints_only(name: str, suffix: str, here: set[Path], sgtool: Tool) -> None:
    result = sgtool(*COMMANDS[name], f"w{suffix}")
    assert result.code == 2
    assert "sgtool save" in result.err
    assert set(Path().rglob("*")) == here


@pytest.mark.parametrize("output", ["model.ckpt-100", "v1.5", "empty/model", "half.fp16", "empty"])
def test_any_other_name_is_a_prefix(output: str, sgtool: Tool) -> None:
    Path("empty").mkdir()
    write_bundle("given", [entry_of("w", np.float32(1))])
    assert sgtool("save", "given", "-o", output).code == 0
    assert Path(f"{output}.index").exists()


@pytest.mark.parametrize(
    "words", [("run", "model", "--fetch", "loss", "--trace"), ("train", "model", "--logdir")]
)
def test_other_files_are_not_stdout(words: tuple[str, ...], here: set[Path], sgtool: Tool) -> None:
    assert sgtool(*words, "-").code == 2
    assert set(Path().rglob("*")) == here
