"""A checkpoint that lost the file on which all depends is damaged, to every command and by every name."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Tool

GOLDEN = Path(__file__).parents[1] / "golden"
EVERY = (
    ["inspect", "PATH"],
    ["inspect", "PATH", "--values", "w"],
    ["verify", "PATH"],
    ["run", "PATH", "--fetch", "y:0", "--feed", "x:0=[[1, 2]]"],
    ["save", "PATH", "-o", "out"],
    ["restore", "PATH", "PATH", "-o", "out"],
    ["train", "PATH", "--feed", "x:0=[[1, 2]]", "--feed", "t:0=[[1]]", "--steps", "1"],
)


@pytest.fixture
def model(sgtool: Tool, linear: Path) -> None:
    assert sgtool("build", linear, "-o", "m.meta", "--init", "m").code == 0


def expect_damage(sgtool: Tool, form: str, text: str) -> None:
    for words in EVERY:
        result = sgtool(*(form if word == "PATH" else word for word in words))
        assert result.code == 4, (form, words, result.err)
        assert text in result.out + result.err, (form, words, result.err)
    assert not list(Path().glob("out*"))


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("form", ["m", "m.index", "m.meta", "m.data-00000-of-00001", "checkpoint", "."])
def test_an_index(form: str, sgtool: Tool) -> None:
    Path("m.index").unlink()
    expect_damage(
        sgtool, form, "m.index does not exist; without it nothing says what is in m.data-00000-of-00001"
    )


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("form", ["m", "m.index", "m.data-00000-of-00001", "checkpoint", "."])
def test_an_index_and_the_graph(form: str, sgtool: Tool) -> None:
    Path("m.index").unlink()
    Path("m.meta").unlink()
    expect_damage(sgtool, form, "m.index does not exist")


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("form", ["m", "m.index", "m.meta", "m.data-00000-of-00001", "checkpoint", "."])
def test_the_data(form: str, sgtool: Tool) -> None:
    Path("m.data-00000-of-00001").unlink()
    expect_damage(sgtool, form, "m.data-00000-of-00001")


@pytest.mark.usefixtures("model")
def test_what_needs_no_values_still_runs(sgtool: Tool) -> None:
    feed = ["--fetch", "y:0", "--feed", "x:0=[[1, 2]]"]
    for name in ("index", "data-00000-of-00001"):
        shutil.copy(f"m.{name}", f"other.{name}")
    Path("m.index").unlink()
    assert sgtool("run", "m", *feed, "--checkpoint", "other").code == 0
    assert sgtool("restore", "m", "other", "-o", "restored").code == 0
    assert sgtool("ops", "m").code == 0
    assert sgtool("inspect", "m", "--values", "w/Initializer/Const").code == 0
    # A model of which only part is in the store does not get initial values in place of those that are lost.
    assert sgtool("save", "other", "-o", "part.npz", "--only", "w").code == 0
    result = sgtool("restore", "m", "part.npz", "-o", "partial", "--partial")
    assert (result.code, "m.index does not exist" in result.err) == (4, True)


def test_a_graph_that_never_had_a_checkpoint_is_no_damage(sgtool: Tool, linear: Path) -> None:
    assert sgtool("build", linear, "-o", "m.meta").code == 0
    assert sgtool("inspect", "m").code == sgtool("verify", "m.meta").code == 0
    assert sgtool("save", "m", "-o", "out").code == 3
    assert sgtool("run", "m", "--fetch", "y:0", "--feed", "x:0=[[1, 2]]").code == 7


@pytest.mark.parametrize("gone", ["variables", "variables/variables.index"])
@pytest.mark.parametrize("form", ["model", "model/saved_model.pb"])
def test_the_variables_of_a_saved_model(gone: str, form: str, sgtool: Tool) -> None:
    shutil.copytree(GOLDEN / "saved_model", "model")
    path = Path("model", gone)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    expect_damage(sgtool, form, "variables.index does not exist: the values of 5 variables are lost")


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("form", ["sharded-00000-of-00002", "sharded-00001-of-00002", "sharded", "."])
def test_one_file_of_a_first_generation_checkpoint(lost: int, form: str, sgtool: Tool) -> None:
    names = [f"sharded-0000{shard}-of-00002" for shard in range(2)]
    for name in names:
        shutil.copy(GOLDEN / "v1" / name, ".")
    Path(names[lost]).unlink()
    for words in (["inspect"], ["verify"], ["save", "-o", "out"]):
        result = sgtool(words[0], form, *words[1:])
        assert result.code == 4, (words, result.err)
        assert names[lost] in result.out + result.err
    if form == names[1 - lost]:
        assert sgtool("inspect", form, "--json").json["variables"]  # what is there is shown
    assert not list(Path().glob("out*"))


def test_what_a_state_file_calls_a_checkpoint_and_is_a_graph(sgtool: Tool, linear: Path) -> None:
    assert sgtool("build", linear, "-o", "m.pbtxt").code == 0
    Path("m.pbtxt").rename("m")
    Path("checkpoint").write_text('model_checkpoint_path: "m"\n')
    for words in (["inspect"], ["verify"], ["save", "-o", "out"]):
        result = sgtool(words[0], ".", *words[1:])
        assert result.code == 4, (words, result.err)
        assert "m: not an sstable (bad magic number)" in result.out + result.err


def test_a_graph_and_a_checkpoint_that_changed_places(sgtool: Tool) -> None:
    shutil.copy(GOLDEN / "slices_v1", "m.meta")
    shutil.copy(GOLDEN / "model/model.ckpt-2.meta", "m")
    Path("checkpoint").write_text('model_checkpoint_path: "m"\n')
    for words in (["inspect"], ["verify"], ["save", "-o", "out"]):
        assert sgtool(words[0], ".", *words[1:]).code == 4, words
        assert sgtool(words[0], "m.meta", *words[1:]).code == 0, words  # by its name it is a checkpoint


def test_an_index_that_is_something_else_beside_its_data(sgtool: Tool) -> None:
    for shard in range(2):
        shutil.copy(GOLDEN / f"sharded.data-0000{shard}-of-00002", ".")
    Path("sharded.index").write_bytes(b"\7" * 300)
    Path("sharded.data-00000-of-00002").unlink()
    for words in (["inspect"], ["verify"], ["save", "-o", "out"]):
        assert sgtool(words[0], ".", *words[1:]).code == 4, words


@pytest.mark.parametrize("form", ["sharded", "sharded-?????-of-00002", "sharded-00000-of-00002", "."])
def test_what_a_lost_shard_held_is_named_by_the_graph(form: str, sgtool: Tool) -> None:
    for name in ("sharded-00000-of-00002", "sharded.meta"):
        shutil.copy(GOLDEN / "v1" / name, name)
    result = sgtool("verify", form, "--salvage", "rescued", "--json")
    assert result.code == 4
    assert result.json["checked"][0]["intact"] == ["b", "p"]
    assert [damage["name"] for damage in result.json["checked"][0]["damaged"]] == ["", "a"]
    assert result.json["salvaged"]["left_out"] == ["a"]


def test_what_a_changed_index_listed_is_named_by_the_graph(sgtool: Tool) -> None:
    for name in ("index", "meta", "data-00000-of-00001"):
        shutil.copy(GOLDEN / "model" / f"model.ckpt-1.{name}", f"m.{name}")
    index = bytearray(Path("m.index").read_bytes())
    index[20] ^= 1
    Path("m.index").write_bytes(index)
    result = sgtool("verify", "m")
    assert result.code == 4
    assert "m.meta lists" in result.out
    every = sorted(row["name"] for row in sgtool("inspect", GOLDEN / "model", "--json").json["variables"])
    assert every
    for name in every:
        assert name in result.out


def test_a_cut_index_shows_what_it_lists_still(sgtool: Tool) -> None:
    for name in ("index", "data-00000-of-00001"):
        shutil.copy(GOLDEN / f"dtypes.{name}", f"m.{name}")
    Path("m.index").write_bytes(Path("m.index").read_bytes()[:500])
    result = sgtool("inspect", "m")
    assert result.code == 4
    assert "complex64/1" in result.out
    assert "names after 'complex64/1' are lost" in result.err
    shown = sgtool("inspect", "m", "--values", "bfloat16/5")
    assert "[-3.  -1.5  0.   1.5  3. ]" in shown.out
    assert "names after 'complex64/1' are lost" in shown.err
    assert "complex64/1" in sgtool("inspect", "m", "--stats").out
    intact = sgtool("verify", "m", "--json").json["checked"][0]["intact"]
    assert [row["name"] for row in sgtool("inspect", "m", "--json").json["variables"]] == sorted(intact)
