"""`sgtool save`: from a checkpoint to every store, whole or in part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sgtool.formats import registry
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Tool

VALUES: dict[str, Any] = {
    "dense/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
    "dense/kernel/Adam": np.ones((2, 3), np.float32),
    "dense/bias": np.array([0.1, 0.2, 0.3], np.float32),
    "global_step": np.int64(7),
}


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    prefix = str(tmp_path / "model.ckpt-7")
    write_bundle(prefix, [entry_of(name, value) for name, value in sorted(VALUES.items())])
    return prefix


def read(path: str | Path) -> dict[str, Any]:
    return {name: entry.read() for name, entry in registry.open_store(path).items()}


@pytest.mark.parametrize("output", ["copy", "w.h5", "w.npz"])
def test_every_store_holds_the_same_values(
    output: str, checkpoint: str, sgtool: Tool, tmp_path: Path
) -> None:
    result = sgtool("save", checkpoint, "-o", output)
    assert result.code == 0, result.err
    assert "4 variables" in result.out
    got = read(tmp_path / output)
    assert got.keys() == VALUES.keys()
    for name, value in VALUES.items():
        assert got[name].dtype == value.dtype
        np.testing.assert_array_equal(got[name], value)


@pytest.mark.parametrize(
    "form",
    [
        "model.ckpt-7",
        "model.ckpt-7.index",
        "model.ckpt-7.data-00000-of-00001",
        "model.ckpt-7-00000-of-00001",
        ".",
    ],
)
def test_every_name_of_a_checkpoint_is_the_same_checkpoint(form: str, checkpoint: str, sgtool: Tool) -> None:
    result = sgtool("save", form, "-o", "copy", "--json")
    assert result.code == 0, result.err
    assert Path("copy.index").read_bytes() == Path(f"{checkpoint}.index").read_bytes()
    assert {row["name"] for row in result.json["variables"]} == set(VALUES)


def test_patterns(checkpoint: str, sgtool: Tool) -> None:
    assert sgtool("save", checkpoint, "-o", "a", "--only", "dense/*", "--exclude", "*/Adam").code == 0
    assert set(read("a")) == {"dense/kernel", "dense/bias"}
    wrong = sgtool("save", checkpoint, "-o", "b", "--exclude", "*/Momentum", "--only", "dense/kernal")
    assert wrong.code == 3
    assert "*/Momentum" in wrong.err
    assert "Did you mean 'dense/kernel'" in wrong.err
    assert not Path("b.index").exists()
    assert sgtool("save", checkpoint, "-o", "c", "--exclude", "*").code == 3


def test_dtype_casts_floating_point_only(checkpoint: str, sgtool: Tool) -> None:
    assert sgtool("save", checkpoint, "-o", "half.npz", "--dtype", "float16").code == 0
    got = read("half.npz")
    assert got["dense/bias"].dtype == np.float16
    assert got["global_step"].dtype == np.int64
    assert sgtool("save", checkpoint, "-o", "x", "--dtype", "int32").code == 2
    assert sgtool("save", checkpoint, "-o", "x", "--dtype", "flaot16").code == 2


def test_a_value_that_the_dtype_cannot_hold_is_refused(sgtool: Tool) -> None:
    write_bundle("big", [entry_of("w", np.array([1e30], np.float32))])
    result = sgtool("save", "big", "-o", "half", "--dtype", "float16", "--json")
    assert result.code == 5
    assert result.error["name"] == "w"
    assert not Path("half.index").exists()


def test_all_values_that_the_dtype_cannot_hold_are_named(sgtool: Tool) -> None:
    values = {"v": [1e30], "w": [1.0], "x": [-1e30]}
    write_bundle("big", [entry_of(name, np.array(one, np.float32)) for name, one in values.items()])
    result = sgtool("save", "big", "-o", "half", "--dtype", "float16", "--json")
    assert (result.code, result.error["names"]) == (5, ["v", "x"])


def test_shards(checkpoint: str, sgtool: Tool) -> None:
    assert sgtool("save", checkpoint, "-o", "two", "--shards", "2").code == 0
    assert Path("two.data-00001-of-00002").exists()
    assert read("two").keys() == VALUES.keys()
    assert sgtool("save", checkpoint, "-o", "two.h5", "--shards", "2").code == 2


def test_without_model_the_only_one_is_taken_and_named(checkpoint: str, sgtool: Tool) -> None:
    result = sgtool("save", "-o", "copy")
    assert result.code == 0
    assert "Using model.ckpt-7" in result.err
    result = sgtool("save", "-o", "again")
    assert result.code == 2
    assert "several" in result.err
    assert "model.ckpt-7" in result.err


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: None, 3),
        (lambda: Path("model").mkdir(), 3),
        (lambda: Path("model").write_text("just text"), 6),
        (lambda: Path("model.index").write_bytes(b"\0" * 100), 4),
        (lambda: Path("model").write_bytes(b"\x89PNG\r\n"), 6),
    ],
)
def test_wrong_models(make: Any, code: int, sgtool: Tool) -> None:
    make()
    result = sgtool("save", "model", "-o", "copy", "--json")
    assert result.code == code, result.err
    assert result.error["code"] == code
    assert "model" in result.error["message"]
    assert not list(Path().glob("copy*"))


def test_damaged_data_leaves_the_old_output_alone(checkpoint: str, sgtool: Tool) -> None:
    assert sgtool("save", checkpoint, "-o", "copy").code == 0
    before = Path("copy.index").read_bytes(), Path("copy.data-00000-of-00001").read_bytes()
    data = Path(f"{checkpoint}.data-00000-of-00001")
    damaged = bytearray(data.read_bytes())
    damaged[5] ^= 1
    data.write_bytes(damaged)
    result = sgtool("save", checkpoint, "-o", "copy")
    assert result.code == 4
    assert "dense/bias" in result.err
    assert (Path("copy.index").read_bytes(), Path("copy.data-00000-of-00001").read_bytes()) == before
    data.unlink()
    assert sgtool("save", checkpoint, "-o", "copy").code in (3, 4)


def test_what_is_no_tensor_is_told(sgtool: Tool) -> None:
    np.savez("m.npz", a=np.ones(3), day=np.array(["2020-01-01"], "datetime64[D]"), row=np.zeros(2, "i4,f4"))
    result = sgtool("save", "m.npz", "-o", "out.npz")
    assert result.code == 0
    lines = result.err.splitlines()
    assert lines[0] == "Left out, as they are no tensors:"
    assert [line.split(":")[0] for line in lines[1:]] == ["  day", "  row"]
    found = sgtool("save", "m.npz", "-o", "out.npz", "--json").json
    assert set(found["skipped"]) == {"day", "row"}
    assert "skipped" not in sgtool("save", "out.npz", "-o", "again.npz", "--json").json


@pytest.mark.parametrize("output", ["copy", "w.npz"])
def test_a_damaged_graph_keeps_no_variables_back(output: str, checkpoint: str, sgtool: Tool) -> None:
    Path(f"{checkpoint}.meta").write_bytes(b"\x0a\x05no")
    result = sgtool("save", checkpoint, "-o", output)
    assert result.code == 0
    assert "Warning: the graph is not written along:" in result.err
    assert f"{checkpoint}.meta" in result.err
    assert read(output).keys() == VALUES.keys()
    assert "model.ckpt-7.meta" in sgtool("save", checkpoint, "-o", output, "--json").json["graph"]
    assert sgtool("save", checkpoint, "-o", output, "--only", "dense/*").err == ""
