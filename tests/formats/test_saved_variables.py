"""Which keys a graph saves: from its save operations, else from its variables."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus_files import corpus_params

from sgtool.formats import protos, registry
from sgtool.formats.graph_file import read_graph
from sgtool.formats.saved_variables import saved_variables

PARTITIONED = """
  node { name: "w/part_0" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
         attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
  node { name: "w/part_0/read" op: "Identity" input: "w/part_0" }
  node { name: "v" op: "VarHandleOp" attr { key: "dtype" value { type: DT_INT64 } }
         attr { key: "shape" value { shape { } } } }
  node { name: "v/Read" op: "ReadVariableOp" input: "v" }
  node { name: "save/Const" op: "Const" }
  node { name: "save/names" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
         tensor_shape { dim { size: 2 } } string_val: "w" string_val: "renamed" } } } }
  node { name: "save/slices" op: "Const" attr { key: "value" value { tensor { dtype: DT_STRING
         tensor_shape { dim { size: 2 } } string_val: "4 3 0,2:0,3" string_val: "" } } } }
  node { name: "save/SaveV2" op: "SaveV2" input: "save/Const" input: "save/names" input: "save/slices"
         input: "w/part_0/read" input: "v/Read"
         attr { key: "dtypes" value { list { type: DT_FLOAT type: DT_INT64 } } } }
"""


def test_partitions_and_renamed_variables() -> None:
    graph = protos.parse_text(protos.GraphDef, PARTITIONED, "test")
    found = saved_variables(graph)
    assert {key: (v.variable, v.shape) for key, v in found.items()} == {
        "w": ("w/part_0", (4, 3)),
        "renamed": ("v", ()),
    }
    assert found["renamed"].dtype is not None
    assert found["renamed"].dtype.name == "int64"


def test_a_graph_without_a_saver_is_taken_by_its_variables() -> None:
    graph = protos.parse_text(protos.GraphDef, PARTITIONED, "test")
    del graph.node[-1]
    assert {key: v.shape for key, v in saved_variables(graph).items()} == {"w/part_0": (2, 3), "v": ()}


def test_of_several_savers_the_one_of_the_saver_def_counts() -> None:
    other = PARTITIONED.replace("save/", "other/").replace("renamed", "another")
    other = "\n".join(other.splitlines()[6:])
    graph = protos.parse_text(protos.GraphDef, PARTITIONED + other, "test")
    saver = protos.SaverDef(save_tensor_name="other/control_dependency:0")
    assert set(saved_variables(graph, saver)) == {"w", "another"}


@pytest.mark.parametrize("path", corpus_params("models/*/*.meta"))
def test_published_graphs_name_what_their_checkpoints_hold(path: Path) -> None:
    (meta_graph,) = read_graph(str(path)).meta_graphs
    found = saved_variables(meta_graph.graph_def, meta_graph.saver_def)
    store = registry.open_store(str(path))
    assert found
    for key, variable in found.items():
        entry = store[key]
        assert variable.dtype == entry.dtype
        assert variable.shape is None or len(variable.shape) == len(entry.shape)
        for expected, size in zip(variable.shape or (), entry.shape, strict=bool(variable.shape)):
            assert expected in (None, size)
