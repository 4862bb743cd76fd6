"""What `inspect` says of ops: those that cannot be run here, and those that nobody knows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import op_lists
import pytest

from sgtool.cli import implemented
from sgtool.formats import known_ops, protos

if TYPE_CHECKING:
    from .conftest import Tool

ODD = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "f" op: "FancyOp" input: "x" }
node { name: "b" op: "BoostedTreesPredict" input: "f" }
node { name: "y" op: "Relu" input: "b" attr { key: "T" value { type: DT_FLOAT } }
       attr { key: "speed" value { i: 9 } } attr { key: "_mine" value { i: 1 } } }
node { name: "z" op: "double" input: "y" }
library { function { signature { name: "double" } node_def { name: "n" op: "InnerOp" } } }
"""


def test_the_list_is_that_of_the_registry() -> None:
    assert sorted(implemented.names()) == op_lists.implemented(), "run `make op-lists`"


def test_a_plain_graph_says_what_is_odd_about_it(sgtool: Tool) -> None:
    Path("odd.pbtxt").write_text(ODD)
    found = sgtool("inspect", "odd.pbtxt", "--json").json
    assert found["unimplemented_ops"] == ["BoostedTreesPredict", "FancyOp", "InnerOp"]
    assert found["unknown_ops"] == ["FancyOp"]
    assert found["unknown_attributes"] == ["Relu.speed"]
    assert found["function_ops"] == {"InnerOp": 1}
    shown = sgtool("inspect", "odd.pbtxt").out
    assert "not run here        BoostedTreesPredict, FancyOp, InnerOp\n" in shown
    assert "not TensorFlow's    FancyOp\n" in shown
    assert "unknown attributes  Relu.speed\n" in shown


def test_telling_it_loads_no_op() -> None:
    code = (
        "import sys; from sgtool.cli.main import run; run(['inspect', 'odd.pbtxt', '--ops']);"
        "print(sorted({'numpy', 'sgtool.graphcore'} & set(sys.modules)))"
    )
    Path("odd.pbtxt").write_text(ODD)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_known_ops_of_several_versions() -> None:
    assert known_ops.attributes("MatMul") == frozenset(
        {"T", "transpose_a", "transpose_b", "grad_a", "grad_b"}
    )
    assert known_ops.attributes("Nonsense") is None
    node = protos.NodeDef(name="n", op="Own")
    assert known_ops.foreign([node], functions=["Own"]) == {}


def test_every_implemented_op_is_known_with_its_attributes() -> None:
    from sgtool.graphcore import ops, registry  # noqa: F401

    for op in registry.all_ops():
        known = known_ops.attributes(op.name)
        assert known is not None, op.name
        assert set(op.definition.attrs) <= known, op.name


@pytest.mark.oracle
def test_every_op_of_tensorflow_is_known() -> None:
    pytest.importorskip("tensorflow")
    op_defs: list[Any] = op_lists.tensorflow_ops()
    lines = Path(known_ops.__file__).with_suffix(".txt").read_text().splitlines()
    assert op_lists.merged(lines, op_defs) == lines, "run `make op-lists`"
