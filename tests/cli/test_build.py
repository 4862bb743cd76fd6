"""`sgtool build` from Python files and graph files, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sgtool.formats import registry
from sgtool.formats.graph_file import read_graph

if TYPE_CHECKING:
    from .conftest import Tool


def test_a_python_file_becomes_a_meta_graph(linear: Path, sgtool: Tool) -> None:
    result = sgtool("build", linear, "-o", "model.meta", "--json")
    assert result.code == 0, result.err
    assert {row["name"] for row in result.json["variables"]} == {"w", "b"}
    assert {row["name"] for row in result.json["inputs"]} == {"x:0", "t:0"}
    assert result.json["output"] == "model.meta"
    (meta_graph,) = read_graph("model.meta").meta_graphs
    assert meta_graph.saver_def.restore_op_name
    assert sum(node.op == "SaveV2" for node in meta_graph.graph_def.node) == 1


def test_overrides_are_arguments(linear: Path, sgtool: Tool) -> None:
    assert sgtool("build", linear, "-o", "m.meta", "--set", "units=3").code == 0
    shapes = {row["name"]: row["shape"] for row in sgtool("inspect", "m.meta", "--json").json["variables"]}
    assert shapes == {"w": [2, 3], "b": [3]}
    assert sgtool("build", linear, "-o", "m.meta", "--set", "units").code == 2
    wrong = sgtool("build", linear, "-o", "m.meta", "--set", "unit=3")
    assert wrong.code == 5
    assert "unit" in wrong.err


def test_init_writes_initial_values(linear: Path, sgtool: Tool) -> None:
    result = sgtool("build", linear, "--init", "start/model")
    assert result.code == 0, result.err
    store = registry.open_store("start/model")
    np.testing.assert_array_equal(store["w"].read(), np.full((2, 1), 0.5, np.float32))
    assert Path("start/checkpoint").exists()
    assert Path("start/model.meta").exists()


def test_text_and_back(linear: Path, sgtool: Tool) -> None:
    assert sgtool("build", linear, "-o", "m.pbtxt").code == 0
    assert "meta_info_def" in Path("m.pbtxt").read_text()
    result = sgtool("build", "m.pbtxt", "-o", "again.meta")
    assert result.code == 0, result.err
    (first,), (second,) = read_graph("m.pbtxt").meta_graphs, read_graph("again.meta").meta_graphs
    assert [node.name for node in second.graph_def.node] == [node.name for node in first.graph_def.node]
    assert sum(node.op == "SaveV2" for node in second.graph_def.node) == 1


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("def build(tf):\n    tf.matmul(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)\n", 5, "line 2"),
        ("def build(tf):\n    raise RuntimeError('mine')\n", 5, "RuntimeError: mine"),
        ("def make(tf):\n    pass\n", 5, "no function `build`"),
        ("def build(tf:\n", 5, "SyntaxError"),
        (
            "def build(tf):\n    a = tf.zeros([2, 3])\n    tf.matmul(a, a)\n",
            5,
            "Dimensions must be equal",
        ),
    ],
)
def test_wrong_files(source: str, code: int, said: str, sgtool: Tool) -> None:
    Path("m.py").write_text(source)
    result = sgtool("build", "m.py", "-o", "m.meta", "--json")
    assert result.code == code, result.err
    assert said in result.error["message"]
    assert not Path("m.meta").exists()


def test_standard_output(linear: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sgtool.cli"]
    built = subprocess.run([*words, "build", str(linear), "-o", "-"], capture_output=True, check=True)
    shown = subprocess.run(
        [*words, "inspect", "-", "--json"], input=built.stdout, capture_output=True, check=True
    )
    assert json.loads(shown.stdout)["parameters"] == 3


def test_usage(linear: Path, sgtool: Tool) -> None:
    assert sgtool("build", linear).code == 2
    assert sgtool("build", "missing.yaml", "-o", "m.meta").code == 3
    assert sgtool("build", "missing.py", "-o", "m.meta").code == 3


def test_a_wrong_dtype_gets_the_nearest(sgtool: Tool) -> None:
    Path("m.yaml").write_text("inputs:\n  x: {dtype: float33, shape: [2]}\n")
    result = sgtool("build", "m.yaml", "-o", "m.meta")
    assert result.code == 5
    assert "line 2" in result.err
    assert "Did you mean 'float32'" in result.err


def test_a_python_file_that_ends_the_program(sgtool: Tool) -> None:
    for text in ("import sys\nsys.exit(0)\n", "def build(tf):\n    raise SystemExit('no')\n"):
        Path("quits.py").write_text(text)
        result = sgtool("build", "quits.py", "-o", "m.meta")
        assert result.code == 5
        assert "quits.py, line 2: SystemExit" in result.err
    assert not Path("m.meta").exists()
