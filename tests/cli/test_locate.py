"""MODEL left out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
import pytest

from sgtool.cli import locate
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Tool

GOLDEN = Path(__file__).parents[1] / "golden"


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def test_a_given_model_is_taken(tmp_path: Path) -> None:
    assert locate.model_or_default("given", tmp_path) == "given"


def test_the_variable_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    touch(tmp_path / "a.meta")
    monkeypatch.setenv("SGTOOL_MODEL", "/elsewhere/model")
    with click.Context(click.Command("x")):
        assert locate.model_or_default(None, tmp_path) == "/elsewhere/model"
    assert "$SGTOOL_MODEL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["m.meta", "m.index", "m.data-00000-of-00001", "data.npz", "weights.h5"], "m"),
        (["frozen.pb"], "frozen.pb"),
        (["saved_model.pb", "variables/variables.index"], "."),
        ([".meta", ".index", ".data-00000-of-00001"], "./"),
    ],
)
def test_the_only_model(
    files: list[str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    touch(*(tmp_path / name for name in files))
    monkeypatch.chdir(tmp_path)
    with click.Context(click.Command("x")):
        assert locate.model_or_default(None) == expected
    assert f"Using {expected} " in capsys.readouterr().err


def test_none_and_several_list_what_was_looked_for_and_found(tmp_path: Path) -> None:
    with click.Context(click.Command("x")):
        with pytest.raises(
            click.UsageError, match=r"(?s)no model here.*SGTOOL_MODEL.*\*\.index.*nothing of these"
        ):
            locate.model_or_default(None, tmp_path)
        touch(tmp_path / "a.meta", tmp_path / "b.pb")
        with pytest.raises(click.UsageError, match=r"(?s)several.*a\n.*b\.pb"):
            locate.model_or_default(None, tmp_path)


def test_a_directory_stands_for_its_only_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    touch(tmp_path / "one" / "frozen.pb.txt", tmp_path / "one" / "expected.npz")
    touch(tmp_path / "two" / "a.pb", tmp_path / "two" / "b.pb", tmp_path / "three" / "m.index" / "inside.pb")
    with click.Context(click.Command("x")):
        assert locate.model_or_default(str(tmp_path / "one")) == str(tmp_path / "one" / "frozen.pb.txt")
        assert "the only model in" in capsys.readouterr().err
        for name in ("two", "three"):
            assert locate.model_or_default(str(tmp_path / name)) == str(tmp_path / name)


def test_a_checkpoint_that_was_moved_is_told(sgtool: Tool) -> None:
    write_bundle("m", [entry_of("w", 1.0)])
    Path("checkpoint").write_text('model_checkpoint_path: "/home/somebody/m"')
    result = sgtool("inspect")
    assert (result.code, "Traceback" in result.err, "UserWarning" in result.err) == (0, False, False)
    assert result.err == (
        "Using ./m, of the name in ./checkpoint, but beside it (/home/somebody/m does not exist).\n"
    )


@pytest.mark.parametrize(
    ("folders", "expected", "said"),
    [
        (["saved_model"], "saved_model", "the only SavedModel"),
        (["1"], "1", "the only SavedModel"),
        (["9", "00000123"], "00000123", "the latest of 2 versions"),
    ],
)
def test_a_directory_of_saved_models(folders: list[str], expected: str, said: str, sgtool: Tool) -> None:
    for folder in folders:
        shutil.copytree(GOLDEN / "saved_model", Path("export") / folder)
    Path("export/notes.txt").write_text("about it")
    result = sgtool("inspect", "export")
    assert result.code == 0, result.err
    assert f"Using {Path('export', expected)} ({said} in export)." in result.err
    assert f"export/{expected}/saved_model.pb" in result.out


def test_several_saved_models_that_are_no_versions(sgtool: Tool) -> None:
    for folder in ("a", "2"):
        shutil.copytree(GOLDEN / "saved_model", Path("export") / folder)
    result = sgtool("inspect", "export")
    assert result.code == 2
    assert "export/2\n" in result.err
    assert "export/a" in result.err


def test_what_a_directory_holds_itself_comes_first(sgtool: Tool) -> None:
    shutil.copytree(GOLDEN / "saved_model", Path("m", "1"))
    np.save("m/w.npy", np.ones(2))
    assert sgtool("inspect", "m", "--json").json["format"] == "npy folder"
    write_bundle("m/c", [entry_of("w", np.ones(2))])
    assert sgtool("inspect", "m", "--json").json["format"] == "checkpoint"
