"""`sgtool restore`: strict by default, everything that does not fit in one report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from corpus_files import corpus_params

from sgtool.formats import protos, registry
from sgtool.formats.bundle import write_bundle
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Tool

VALUES: dict[str, Any] = {
    "net/b": np.array([0.5, 1.5, 2.5], np.float32),
    "net/w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "step": np.int64(3),
}


def variable(name: str, dtype: str, *dims: int) -> str:
    shape = " ".join(f"dim {{ size: {dim} }}" for dim in dims)
    return f"""node {{ name: "{name}" op: "VariableV2" attr {{ key: "dtype" value {{ type: {dtype} }} }}
        attr {{ key: "shape" value {{ shape {{ {shape} }} }} }} }}"""


def write_model(path: Path) -> None:
    nodes = [
        variable("net/b", "DT_FLOAT", 3),
        variable("net/w", "DT_FLOAT", 2, 3),
        variable("step", "DT_INT64"),
    ]
    text = f"graph_def {{ {' '.join(nodes)} versions {{ producer: 134 }} }}"
    message = protos.parse_text(protos.MetaGraphDef, text, "test")
    path.write_bytes(protos.encode(message))


@pytest.fixture
def model(tmp_path: Path) -> str:
    write_model(tmp_path / "model.meta")
    return str(tmp_path / "model.meta")


def store(name: str, values: dict[str, Any]) -> str:
    registry.write_store(name, [entry_of(key, value) for key, value in sorted(values.items())])
    return name


def read(path: str) -> dict[str, Any]:
    return {name: entry.read() for name, entry in registry.open_store(path).items()}


@pytest.mark.parametrize("form", ["weights.h5", "weights.npz", "weights"])
def test_a_store_that_fits_becomes_a_checkpoint(form: str, model: str, sgtool: Tool) -> None:
    result = sgtool("restore", model, store(form, VALUES), "-o", "restored", "--json")
    assert result.code == 0, result.err
    assert set(result.json["restored"]) == set(VALUES)
    got = read("restored")
    for name, value in VALUES.items():
        np.testing.assert_array_equal(got[name], value)
        assert got[name].dtype == value.dtype
    assert Path("restored.meta").read_bytes() == Path(model).read_bytes()


def test_all_that_does_not_fit_is_in_one_report(model: str, sgtool: Tool) -> None:
    wrong = {
        "net/bias": VALUES["net/b"],
        "net/w": np.zeros((3, 2), np.float32),
        "step": np.int32(3),
        "other": 1.0,
    }
    result = sgtool("restore", model, store("w.npz", wrong), "-o", "restored", "--json")
    assert result.code == 5
    error = result.error
    assert error["missing"] == ["net/b"]
    assert error["unused"] == ["net/bias", "other"]
    assert [row["name"] for row in error["mismatched"]] == ["net/w", "step"]
    for text in (
        "net/b",
        "Did you mean 'net/bias'",
        "[2, 3]",
        "[3, 2]",
        "int32",
        "int64",
        "--partial",
        "--cast",
    ):
        assert text in error["message"]
    assert not list(Path().glob("restored*"))


def test_partial_keeps_the_models_own_values(model: str, sgtool: Tool) -> None:
    write_bundle("model", [entry_of(name, value) for name, value in sorted(VALUES.items())])
    other = {"net/w": np.full((2, 3), 7, np.float32), "unused": np.zeros(2, np.float32)}
    assert sgtool("restore", model, store("w.h5", other), "-o", "r").code == 5
    result = sgtool("restore", model, "w.h5", "-o", "r", "--partial", "--json")
    assert result.code == 0, result.err
    assert (result.json["missing"], result.json["unused"]) == (["net/b", "step"], ["unused"])
    got = read("r")
    np.testing.assert_array_equal(got["net/w"], other["net/w"])
    np.testing.assert_array_equal(got["net/b"], VALUES["net/b"])
    assert set(got) == set(VALUES)


def test_partial_never_hides_a_mismatch(model: str, sgtool: Tool) -> None:
    store("w.h5", VALUES | {"net/w": np.zeros((2, 4), np.float32)})
    assert sgtool("restore", model, "w.h5", "-o", "r", "--partial").code == 5


def test_map_renames_prefixes(model: str, sgtool: Tool) -> None:
    store("w.h5", {"old/b": VALUES["net/b"], "old/w": VALUES["net/w"], "global_step": VALUES["step"]})
    result = sgtool("restore", model, "w.h5", "-o", "r", "--map", "old/=net/", "--map", "global_step=step")
    assert result.code == 0, result.err
    np.testing.assert_array_equal(read("r")["net/w"], VALUES["net/w"])
    wrong = sgtool("restore", model, "w.h5", "-o", "r", "--map", "odl/=net/")
    assert wrong.code == 3
    assert sgtool("restore", model, "w.h5", "-o", "r", "--map", "old/").code == 2


def test_cast_converts_and_refuses_what_would_change(model: str, sgtool: Tool) -> None:
    wide = {name: np.asarray(value, np.float64) for name, value in VALUES.items()}
    store("w.h5", wide)
    assert sgtool("restore", model, "w.h5", "-o", "r").code == 5
    assert sgtool("restore", model, "w.h5", "-o", "r", "--cast").code == 0
    assert {name: value.dtype for name, value in read("r").items()} == {n: v.dtype for n, v in VALUES.items()}
    store("w.h5", wide | {"step": np.float64(3.5)})
    result = sgtool("restore", model, "w.h5", "-o", "half", "--cast")
    assert result.code == 5
    assert "step" in result.err
    assert "3.5" in result.err


def test_cast_lists_all_that_it_cannot_convert(model: str, sgtool: Tool, recwarn: Any) -> None:
    bad = {"net/b": VALUES["net/b"] + 1j, "net/w": np.full((2, 3), 1e300), "step": np.float64(3.5)}
    result = sgtool("restore", model, store("w.npz", bad), "-o", "r", "--cast", "--json")
    assert (result.code, sorted(result.error["names"])) == (5, ["net/b", "net/w", "step"])
    for text in (
        "+1j), whose imaginary part float32 cannot hold",
        "1e+300, which float32 cannot hold",
        "3.5, ",
    ):
        assert text in result.error["message"]
    assert not list(Path().glob("r.*"))
    real = VALUES | {"net/b": VALUES["net/b"].astype(np.complex128), "step": np.complex64(3)}
    result = sgtool("restore", model, store("w.npz", real), "-o", "r", "--cast")
    assert (result.code, result.err) == (0, "")
    np.testing.assert_array_equal(read("r")["net/b"], VALUES["net/b"])
    assert read("r")["step"] == 3
    assert not [one for one in recwarn if "complex" in str(one.message).lower()]


def test_dry_run_writes_nothing(model: str, sgtool: Tool) -> None:
    store("w.h5", VALUES)
    before = sorted(Path().iterdir())
    result = sgtool("restore", model, "w.h5", "-o", "r", "--dry-run")
    assert (result.code, "Wrote" in result.out) == (0, False)
    assert sgtool("restore", model, "w.h5", "-o", "r", "--dry-run", "--json").json["output"] is None
    misfit = sgtool("restore", model, "w.h5", "--dry-run", "--map", "net/w=net/v")
    assert misfit.code == 5
    assert (
        "  missing: net/w float32 [2, 3] Did you mean 'net/v'?\n  unused: net/v float32 [2, 3]" in misfit.out
    )
    assert misfit.err.splitlines() == [  # the report is told once
        "Error: w.h5 does not fit the model.",
        "--partial restores what fits; --map 'OLD=NEW' renames.",
    ]
    assert sorted(Path().iterdir()) == before
    assert sgtool("restore", model, "w.h5").code == 2


def test_what_is_no_model_or_store(model: str, sgtool: Tool) -> None:
    store("w.h5", VALUES)
    assert sgtool("restore", "missing.meta", "w.h5", "-o", "r").code == 3
    assert sgtool("restore", model, "missing.h5", "-o", "r").code == 3
    result = sgtool("restore", "w.h5", "w.h5", "-o", "r")
    assert result.code == 3
    assert "without a graph" in result.err
    assert sgtool("restore", model, model, "-o", "r").code == 3
    for words in (("-", "-"), ("-", "w.h5"), (model, "-")):
        assert sgtool("restore", *words, "-o", "r").code == 2


@pytest.mark.parametrize("path", corpus_params("models/*/*.meta"))
def test_corpus_checkpoints_come_through_hdf5_unchanged(path: Path, sgtool: Tool) -> None:
    original = registry.open_store(path)
    assert sgtool("save", path, "-o", "weights.h5").code == 0
    result = sgtool("restore", path, "weights.h5", "-o", "again", "--partial", "--json")
    assert result.code == 0, result.err
    assert not result.json["missing"]
    assert set(result.json["restored"]) | set(result.json["unused"]) == set(original)
    for name, entry in registry.open_store("again").items():
        np.testing.assert_array_equal(entry.read(), original[name].read())
    index = path.with_suffix(".index")
    if index.exists() and not result.json["unused"]:
        assert Path("again.index").read_bytes() == index.read_bytes()


def test_map_by_expression_and_at_component_boundaries(model: str, sgtool: Tool) -> None:
    store("w.h5", {"block1/b": VALUES["net/b"], "block1/w": VALUES["net/w"], "step": VALUES["step"]})
    result = sgtool("restore", model, "w.h5", "-o", "r", "--map", r"re:^block\d/=net/")
    assert result.code == 0, result.err
    np.testing.assert_array_equal(read("r")["net/w"], VALUES["net/w"])
    idle = sgtool("restore", model, "w.h5", "-o", "r", "--map", "block=net", "--json")
    assert idle.code == 3
    assert "These match no name in the store:\n  'block=net' Did you mean 'block1/'" in idle.error["message"]
    wrong = sgtool("restore", model, "w.h5", "-o", "r", "--map", "re:(=x")
    assert wrong.code == 2
    assert "not a regular expression" in wrong.err


def test_missing_names_are_given_the_unused_of_their_shape(model: str, sgtool: Tool) -> None:
    store("w.h5", {"layer/c": VALUES["net/b"], "layer/v": VALUES["net/w"], "net/bb": np.zeros(9, np.float32)})
    error = sgtool("restore", model, "w.h5", "-o", "r", "--json").error
    assert error["near"]["net/b"] == ["layer/c"]
    assert "net/w float32 [2, 3]" in error["message"]
    assert error["described"]["net/w"] == "float32 [2, 3]"
    assert "Not in the model (3):" in error["message"]


def test_ema_takes_the_averages_where_there_are_any(model: str, sgtool: Tool) -> None:
    averages = {"net/w/ExponentialMovingAverage": np.full((2, 3), 9, np.float32)}
    store("w.h5", VALUES | averages)
    result = sgtool("restore", model, "w.h5", "-o", "r", "--ema", "--json")
    assert result.code == 0, result.err
    assert (result.json["averaged"], result.json["unused"]) == (["net/w"], [])
    got = read("r")
    assert set(got) == set(VALUES)
    np.testing.assert_array_equal(got["net/w"], averages["net/w/ExponentialMovingAverage"])
    np.testing.assert_array_equal(got["net/b"], VALUES["net/b"])
    assert sgtool("restore", model, "w.h5", "-o", "r2").code == 5  # without it the averages are unused
    plain = sgtool("restore", model, store("plain.h5", VALUES), "-o", "r3", "--ema")
    assert (plain.code, plain.err) == (
        0,
        "plain.h5 has no moving averages (x/ExponentialMovingAverage) of these variables.\n",
    )


def test_a_resource_variable_of_another_shape_is_an_error(tmp_path: Path, sgtool: Tool) -> None:
    node = variable("w", "DT_FLOAT", 2, 3).replace("VariableV2", "VarHandleOp")
    graph = protos.parse_text(
        protos.MetaGraphDef, f"graph_def {{ {node} versions {{ producer: 134 }} }}", "t"
    )
    (tmp_path / "res.meta").write_bytes(protos.encode(graph))
    store("w.h5", {"w": np.zeros((3, 2), np.float32)})
    result = sgtool("restore", "res.meta", "w.h5", "-o", "r")
    assert result.code == 5
    assert "w: the model has float32 [2, 3], the store float32 [3, 2]" in result.err


def test_all_damaged_variables_are_listed(sgtool: Tool) -> None:
    arrays = {name: np.ones(4, np.float32) for name in "abc"}
    write_bundle("m", [entry_of(name, value) for name, value in arrays.items()])
    data = Path("m.data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:20])
    Path("s.py").write_text("def build(tf):\n    for n in 'abc':\n        tf.get_variable(n, [4])\n")
    assert sgtool("build", "s.py", "-o", "g.meta").code == 0
    result = sgtool("restore", "g.meta", "m", "-o", "out", "--json")
    assert (result.code, result.error["damaged"]) == (4, ["b", "c"])
    assert "`sgtool verify` says what is intact" in result.error["message"]
    assert not list(Path().glob("out*"))
    Path("m.meta").write_bytes(Path("g.meta").read_bytes())
    result = sgtool("run", "m", "--fetch", "a", "--json")
    assert (result.code, result.error["damaged"]) == (4, ["b", "c"])
