"""`sgtool ops`: the table of ops, one op, and what of a model is not run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sgtool.graphcore import registry

if TYPE_CHECKING:
    from .conftest import Tool

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

ODD = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "f" op: "FancyOp" input: "x" }
node { name: "z" op: "double" input: "f" }
node { name: "r" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
node { name: "s" op: "Relu" input: "r" attr { key: "T" value { type: DT_FLOAT } } }
library { function { signature { name: "double" } node_def { name: "n" op: "InnerOp" } } }
"""


def test_the_whole_table(sgtool: Tool) -> None:
    found = sgtool("ops", "--json").json["ops"]
    assert [row["name"] for row in found] == [op.name for op in registry.all_ops()]
    shown = sgtool("ops").out
    assert f"\n{len(found)} ops\n" in shown
    (row,) = [line.split("  ") for line in shown.splitlines() if line.split()[:1] == ["AddN"]]
    assert [cell.strip() for cell in row if cell.strip()] == [
        "AddN",
        "yes",
        "The sum of any number of tensors of one shape.",
        "T: number or variant",
    ]


def test_one_op(sgtool: Tool) -> None:
    (row,) = sgtool("ops", "--named", "MatMul", "--json").json["ops"]
    assert row["inputs"] == [{"name": "a", "type": "T"}, {"name": "b", "type": "T"}]
    assert row["outputs"] == [{"name": "product", "type": "T"}]
    assert row["gradient"] is True
    assert row["why_none"] is None
    assert "float32" in row["dtypes"]["T"]
    assert {"name": "transpose_a", "type": "bool", "inferred": False, "default": False} in row["attributes"]
    shown = sgtool("ops", "--named", "ArgMax").out
    assert "gradient           no: " in shown
    assert "output_type" in shown


def test_ops_by_a_part_of_their_name(sgtool: Tool) -> None:
    names = [row["name"] for row in sgtool("ops", "--named", "conv2dback", "--json").json["ops"]]
    assert names == ["Conv2DBackpropFilter", "Conv2DBackpropInput"]
    result = sgtool("ops", "--named", "MatMull")
    assert result.code == 2
    assert "No op has 'MatMull' in its name. Did you mean 'MatMul'" in result.err


def test_the_ops_of_a_model(sgtool: Tool) -> None:
    Path("odd.pbtxt").write_text(ODD)
    found = sgtool("ops", "odd.pbtxt", "--json").json
    assert found["missing"] == ["FancyOp", "InnerOp"]
    rows = {row["name"]: row for row in found["ops"]}
    assert list(rows) == ["FancyOp", "InnerOp", "Relu", "Placeholder", "double"]
    assert rows["Relu"] == {"name": "Relu", "count": 2, "runs": True, "gradient": "yes"}
    assert rows["double"]["runs"] is True
    shown = sgtool("ops", "odd.pbtxt").out
    assert shown.endswith("\nNot run here: FancyOp, InnerOp.\n")
    assert sgtool("ops", str(GOLDEN / "model")).out.endswith("\nAll of them can be run here.\n")


def test_a_checkpoint_without_a_graph_has_no_ops(sgtool: Tool) -> None:
    result = sgtool("ops", str(GOLDEN / "sharded"))
    assert result.code != 0
    assert "has no graph, so no ops" in result.err


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_op_in_the_place_of_a_model_is_told_how_to_be_asked_for(sgtool: Tool) -> None:
    result = sgtool("ops", "Conv2D")
    assert result.code == 2
    assert "Of the op say: sgtool ops --named Conv2D" in result.err
    assert sgtool("ops", "Conv2X").code == 3
