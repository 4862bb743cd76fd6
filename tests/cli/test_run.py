"""`sgtool run`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sgtool.formats import registry
from sgtool.formats.entry import entry_of

if TYPE_CHECKING:
    from .conftest import Result, Tool

X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
W = np.array([[2.0], [1.0]], np.float32)
B = np.array([0.5], np.float32)
Y = X @ W + B


@pytest.fixture
def model(linear: Path, sgtool: Tool) -> str:
    """A checkpoint with w, b; x.npy beside it."""
    assert sgtool("build", linear, "-o", "graph.pbtxt").code == 0
    registry.write_store("values.npz", [entry_of("w", W), entry_of("b", B)])
    assert sgtool("restore", "graph.pbtxt", "values.npz", "-o", "model.ckpt-5").code == 0
    Path("graph.pbtxt").unlink()
    linear.unlink()
    np.save("data.npy", X)
    return "model.ckpt-5"


def value(result: Result, name: str = "y:0") -> Any:
    assert result.code == 0, result.err
    return np.array(result.json["outputs"][name]["value"], np.float32)


LINE = ("run", "--fetch", "y:0", "--feed", "x:0=data.npy")


def test_the_line_works_in_a_directory_with_a_checkpoint(model: str, sgtool: Tool) -> None:
    result = sgtool(*LINE)
    assert result.code == 0, result.err
    assert result.out.startswith("y:0  float32 [3, 1]\n")
    assert "model.ckpt-5" in result.err
    np.testing.assert_allclose(value(sgtool(*LINE, "--json")), Y)


def test_the_line_works_with_the_variable(
    model: str, sgtool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "data.npy").rename(elsewhere / "data.npy")
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("SGTOOL_MODEL", str(tmp_path / model))
    result = sgtool(*LINE)
    assert result.code == 0, result.err
    assert "SGTOOL_MODEL" in result.err


def test_the_line_says_what_it_looked_for_in_an_empty_directory(sgtool: Tool) -> None:
    np.save("data.npy", X)
    result = sgtool(*LINE)
    assert result.code == 2
    assert "$SGTOOL_MODEL" in result.err
    assert "checkpoint" in result.err


@pytest.mark.parametrize(
    "form", ["model.ckpt-5", "model.ckpt-5.meta", "model.ckpt-5.index", "model.ckpt-5-00000-of-00001", "."]
)
def test_every_name_of_the_model(form: str, model: str, sgtool: Tool) -> None:
    np.testing.assert_allclose(
        value(sgtool("run", form, "--fetch", "y", "--feed", "x=data.npy", "--json"), "y"), Y
    )


def test_other_weights(model: str, sgtool: Tool) -> None:
    registry.write_store("zero.h5", [entry_of("w", 0 * W), entry_of("b", B)])
    result = sgtool("run", model, "--checkpoint", "zero.h5", "--fetch", "y", "--feed", "x=data.npy", "--json")
    np.testing.assert_allclose(value(result, "y"), np.full((3, 1), 0.5))
    registry.write_store("less.h5", [entry_of("w", 0 * W)])
    result = sgtool("run", model, "--checkpoint", "less.h5", "--fetch", "y", "--feed", "x=data.npy")
    assert result.code == 3
    assert "b" in result.err


def test_feeds_of_every_kind_and_interior_tensors(model: str, sgtool: Tool) -> None:
    np.testing.assert_allclose(
        value(sgtool("run", model, "--fetch", "y:0", "--feed", "x=[[1,2]]", "--json")), Y[:1]
    )
    np.testing.assert_allclose(
        value(sgtool("run", model, "--fetch", "y:0", "--feed", "MatMul=[[7]]", "--json")), [[7.5]]
    )
    buffer = io.BytesIO()
    np.save(buffer, X)
    result = sgtool("run", model, "--fetch", "y:0", "--feed", "x=-", "--json", stdin=buffer.getvalue())
    np.testing.assert_allclose(value(result), Y)


@pytest.mark.parametrize("output", ["out.npz", "out.npy", "out.h5", "out.json"])
def test_outputs(output: str, model: str, sgtool: Tool) -> None:
    result = sgtool("run", model, "--fetch", "y:0", "--feed", "x=data.npy", "-o", output)
    assert result.code == 0, result.err
    assert result.out == ""
    if output == "out.npy":
        got = np.load(output)
    elif output == "out.json":
        got = np.array(json.loads(Path(output).read_text())["outputs"]["y:0"]["value"], np.float32)
    else:
        store = registry.open_store(output)
        assert list(store) == ["y:0" if output == "out.npz" else "y"]
        got = next(iter(store.values())).read()
    np.testing.assert_allclose(got, Y)


def test_npy_on_stdout(model: str, sgtool: Tool) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sgtool.cli",
            "run",
            model,
            "--fetch",
            "y:0",
            "--feed",
            "x=data.npy",
            "-o",
            "-",
        ],
        capture_output=True,
        check=True,
    )
    np.testing.assert_allclose(np.load(io.BytesIO(done.stdout)), Y)


def test_batches_are_joined(model: str, sgtool: Tool) -> None:
    for size in ("1", "2", "3", "100"):
        result = sgtool("run", model, "--fetch", "y:0", "--feed", "x=data.npy", "--batch", size, "--json")
        np.testing.assert_allclose(value(result), Y)
    result = sgtool(
        "run", model, "--fetch", "loss", "--feed", "x=data.npy", "--feed", "t=[[1],[2],[3]]", "--batch", "2"
    )
    assert result.code == 5
    assert "loss" in result.err
    result = sgtool("run", model, "--fetch", "y", "--feed", "x=data.npy", "--feed", "t=[[1]]", "--batch", "2")
    assert result.code == 5
    assert "3 rows" in result.err


def test_repeat_profile_and_trace(model: str, sgtool: Tool) -> None:
    arguments = ("run", model, "--fetch", "y:0", "--feed", "x=data.npy")
    timings = sgtool(*arguments, "--repeat", "3", "--json").json["timings"]
    assert set(timings) == {"first_ms", "min_ms", "median_ms"}
    result = sgtool(*arguments, "--profile", "--trace", "trace.json")
    assert "MatMul" in result.err
    assert "Slowest nodes" in result.err
    events = json.loads(Path("trace.json").read_text())["traceEvents"]
    (product,) = (event for event in events if event["name"] == "MatMul")
    assert product["args"]["shape"] == [3, 1]
    assert product["args"]["operations"] == 2 * 2 * 3
    assert product["args"]["bytes"] == 12


def test_expect(model: str, sgtool: Tool) -> None:
    arguments = ("run", model, "--fetch", "y:0", "--feed", "x=data.npy")
    assert sgtool(*arguments, "-o", "right.npz").code == 0
    same = sgtool(*arguments, "--expect", "right.npz")
    assert (same.code, same.out.startswith("y:0: as expected")) == (0, True)
    wrong = Y.copy()
    wrong[1] += 1
    np.save("wrong.npy", wrong)
    different = sgtool(*arguments, "--expect", "wrong.npy", "--json")
    assert different.code == 1
    (row,) = different.json["expect"]
    assert row["why"].startswith("1 of 3 differ; at [1, 0]")
    assert sgtool(*arguments, "--expect", "wrong.npy", "--atol", "2").code == 0
    assert sgtool(*arguments, "--expect", "missing.npz").code == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--fetch", "yy", "--feed", "x=[[1,2]]"], 3, "Did you mean 'y'"),
        (["--fetch", "y:1", "--feed", "x=[[1,2]]"], 3, "1 output."),
        (["--fetch", "y", "--feed", "xx=[[1,2]]"], 3, "xx"),
        (["--fetch", "y", "--feed", "x=[[1,2,3]]"], 5, "[?, 2]"),
        (["--fetch", "y", "--feed", 'x=[["a","b"]]'], 5, "float32"),
        (["--fetch", "y", "--feed", "x=missing.npy"], 3, "missing.npy"),
        (["--fetch", "y", "--feed", "x"], 2, "NAME=VALUE"),
        (["--feed", "x=[[1,2]]"], 2, "--fetch"),
        (["--fetch", "y", "--signature", "serving"], 3, "serving"),
        (["--fetch", "y", "--feed", "x=[[1,2]]", "-o", "out.txt"], 6, ".npz"),
        (["--fetch", "y", "--fetch", "loss", "-o", "out.npy", "--feed", "x=[[1,2]]"], 2, ".npz"),
    ],
)
def test_what_is_wrong_has_its_exit_code(
    arguments: list[str], code: int, said: str, model: str, sgtool: Tool
) -> None:
    result = sgtool("run", model, *arguments, "--json")
    assert result.code == code, result.err
    assert said in result.error["message"]
    assert result.out == ""


def test_every_missing_feed_is_named_in_one_error(model: str, sgtool: Tool) -> None:
    result = sgtool("run", model, "--fetch", "loss", "--json")
    assert result.code == 5, result.err
    for word in ("'x'", "'t'", "float"):
        assert word in result.error["message"]


def test_damaged_data(model: str, sgtool: Tool) -> None:
    data = Path(f"{model}.data-00000-of-00001")
    content = bytearray(data.read_bytes())
    content[5] ^= 4
    data.write_bytes(content)
    assert sgtool("run", model, "--fetch", "y", "--feed", "x=data.npy").code == 4
    data.unlink()
    assert sgtool("run", model, "--fetch", "y", "--feed", "x=data.npy").code in (3, 4)


def test_a_graph_without_values_says_how_to_give_them(model: str, sgtool: Tool) -> None:
    Path(f"{model}.index").unlink()
    Path(f"{model}.data-00000-of-00001").unlink()
    result = sgtool("run", f"{model}.meta", "--fetch", "y", "--feed", "x=data.npy")
    assert result.code == 7
    assert "uninitialized" in result.err
    assert "--checkpoint" in result.err


def test_a_loaded_graph_may_not_touch_files(sgtool: Tool) -> None:
    Path("secret.txt").write_text("secret")
    Path("g.pbtxt").write_text(
        """node { name: "name" op: "Placeholder" attr { key: "dtype" value { type: DT_STRING } } }
        node { name: "content" op: "ReadFile" input: "name" }"""
    )
    result = sgtool("run", "g.pbtxt", "--fetch", "content", "--feed", 'name="secret.txt"')
    assert result.code == 7, result.err
    assert "--allow-files" in result.err
    allowed = sgtool(
        "run", "g.pbtxt", "--fetch", "content", "--feed", 'name="secret.txt"', "--allow-files", ".", "--json"
    )
    assert allowed.json["outputs"]["content"]["value"] == "secret"


def test_an_op_that_nobody_implements(sgtool: Tool) -> None:
    Path("g.pbtxt").write_text(
        """node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } } }
           node { name: "z" op: "NobodyKnows" input: "c" }"""
    )
    assert sgtool("run", "g.pbtxt", "--fetch", "c", "--json").json["outputs"]["c"]["value"] == 2
    for name in ("z", "z:0"):
        result = sgtool("run", "g.pbtxt", "--fetch", name)
        assert result.code == 6
        assert "NobodyKnows" in result.err


def test_only_wrong_names_are_in_the_error(linear: Path, sgtool: Tool) -> None:
    result = sgtool("run", linear, "--json", "--fetch", "y", "--fetch", "nope", "--fetch", "loss:3")
    assert result.code == 3
    assert result.error["names"] == ["nope", "loss:3"]
    assert "has 1 output." in result.error["message"]


def test_a_wrong_feed_lists_the_placeholders(linear: Path, sgtool: Tool) -> None:
    result = sgtool("run", linear, "--fetch", "y", "--feed", "nope=1")
    assert result.code == 3
    assert "The placeholders are: x, t." in result.err


def test_overrides_are_for_specs(linear: Path, sgtool: Tool) -> None:
    assert sgtool("build", linear, "--init", "model").code == 0
    for name in ("model", "model.meta"):
        result = sgtool("run", name, "--fetch", "w", "--set", "units=1")
        assert result.code == 2
        assert "--set" in result.err
    assert sgtool("run", linear, "--fetch", "w", "--set", "units=1").code == 0


def test_string_inputs_are_called_so(sgtool: Tool) -> None:
    Path("s.py").write_text(
        "def build(tf):\n    tf.string_to_number(tf.placeholder(tf.string, name='s'), name='n')\n"
    )
    result = sgtool("run", "s.py", "--fetch", "n", "--feed", 's=["a"]')
    assert result.code == 7
    assert "inputs: string[1]" in result.err


@pytest.mark.parametrize("command", ["run", "train", "build"])
def test_what_a_model_prints_goes_to_stderr(command: str, sgtool: Tool) -> None:
    Path("loud.py").write_text(
        "import sys\n"
        "def build(tf):\n"
        "    print('building')\n"
        "    x = tf.placeholder(tf.float32, [None], name='x')\n"
        "    w = tf.get_variable('w', [], initializer=tf.zeros_initializer())\n"
        "    with tf.control_dependencies([tf.print('computing', output_stream=sys.stdout)]):\n"
        "        y = tf.identity(x * w, name='y')\n"
        "    tf.reduce_mean(y, name='loss')\n"
    )
    more = {
        "run": ["--fetch", "y:0", "--feed", "x:0=[1]"],
        "train": ["--loss", "loss:0", "--feed", "x:0=[1]", "--steps", "1"],
        "build": ["-o", "loud.meta", "--init", "loud"],
    }[command]
    result = sgtool(command, "loud.py", *more, "--json")
    assert result.code == 0, result.err
    assert result.json
    assert "building\n" in result.err
    assert ("computing\n" in result.err) == (command != "build")
    assert "computing" not in sgtool(command, "loud.py", *more).out
