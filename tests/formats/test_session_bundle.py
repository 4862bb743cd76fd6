"""Session bundles: the signatures of the exports before SavedModel, in SavedModel's form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from corpus_files import model_folders

from sgtool.formats import protos, registry, summary
from sgtool.formats.graph_file import read_graph, write_graph
from sgtool.formats.session_bundle import assets, signature_defs

GRAPH = """
  meta_info_def { tensorflow_version: "0.9.0" }
  graph_def {
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "Identity" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "c" op: "Identity" input: "x" attr { key: "T" value { type: DT_STRING } } }
  }
"""


def bundle(signatures: str) -> Any:
    meta_graph = protos.parse_text(protos.MetaGraphDef, GRAPH, "test")
    item = meta_graph.collection_def["serving_signatures"].any_list.value.add()
    item.type_url = "type.googleapis.com/tensorflow.serving.Signatures"
    item.value = protos.encode(protos.parse_text(protos.Signatures, signatures, "test"))
    return meta_graph


def described(meta_graph: Any) -> dict[str, Any]:
    return {
        key: (
            one.method_name.removeprefix("tensorflow/serving/"),
            {name: (info.name, info.dtype) for name, info in one.inputs.items()},
            {name: (info.name, info.dtype) for name, info in one.outputs.items()},
        )
        for key, one in signature_defs(meta_graph).items()
    }


def test_each_kind_of_signature(tmp_path: Path) -> None:
    meta_graph = bundle(
        """
        default_signature {
          classification_signature { input { tensor_name: "x:0" } classes { tensor_name: "c:0" } }
        }
        named_signatures {
          key: "inputs"
          value { generic_signature { map { key: "a" value { tensor_name: "x:0" } } } }
        }
        named_signatures {
          key: "outputs"
          value { generic_signature { map { key: "b" value { tensor_name: "y:0" } } } }
        }
        named_signatures {
          key: "other"
          value { generic_signature { map { key: "b" value { tensor_name: "z:0" } } } }
        }
        named_signatures {
          key: "more"
          value { regression_signature { input { tensor_name: "x:0" } output { tensor_name: "y:0" } } }
        }
        """
    )
    assert described(meta_graph) == {
        "serving_default": ("classify", {"inputs": ("x:0", 1)}, {"classes": ("c:0", 7)}),
        "predict": ("predict", {"a": ("x:0", 1)}, {"b": ("y:0", 1)}),
        "other": ("generic", {"b": ("z:0", 0)}, {}),
        "more": ("regress", {"inputs": ("x:0", 1)}, {"outputs": ("y:0", 1)}),
    }
    write_graph(tmp_path / "export.meta", meta_graph)
    found = summary.summarise(tmp_path / "export.meta")
    assert found["signatures"]["predict"]["inputs"] == {
        "a": {"name": "x:0", "dtype": "float32", "shape": None}
    }
    assert found["collections"]["serving_signatures"] == ["signatures default, inputs, more, other, outputs"]


def test_own_signatures_come_first_and_damaged_ones_are_passed_over() -> None:
    meta_graph = bundle('default_signature { regression_signature { input { tensor_name: "x:0" } } }')
    meta_graph.signature_def["mine"].method_name = "m"
    assert list(signature_defs(meta_graph)) == ["mine"]
    damaged = bundle("")
    damaged.collection_def["serving_signatures"].any_list.value[0].value = b"\xff"
    assert signature_defs(damaged) == {}
    assert signature_defs(protos.MetaGraphDef()) == {}
    assert assets(protos.MetaGraphDef()) == {}


@pytest.mark.parametrize("folder", model_folders("session_bundle_v1_tf115", "session_bundle_v2"))
def test_published_bundles(folder: Path) -> None:
    (meta_graph,) = read_graph(folder / "export.meta").meta_graphs
    assert described(meta_graph) == {
        "serving_default": ("regress", {"inputs": ("tf_example:0", 7)}, {"outputs": ("Identity:0", 1)}),
        "predict": ("predict", {"x": ("x:0", 1)}, {"y": ("y:0", 1)}),
    }
    assert assets(meta_graph) == {"Const_1:0": "hello1.txt", "Const_2:0": "hello2.txt"}
    values = {name: entry.read() for name, entry in registry.open_store(folder / "export.meta").items()}
    assert (values["a"].item(), values["b"].item()) == (0.5, 2)
    found = summary.summarise(folder / "export.meta")["assets"]
    assert [(row["file"], row["present"]) for row in found] == [
        (name, (folder / "assets" / name).exists()) for name in ("hello1.txt", "hello2.txt")
    ]


@pytest.mark.parametrize("folder", model_folders("tf115_half_plus_two", "tf115_half_plus_two_pbtxt"))
def test_assets_of_saved_models(folder: Path) -> None:
    [(graph, found)] = [(one, summary.summarise(one.parent)) for one in folder.rglob("saved_model.pb*")]
    assert [row["file"] for row in found["assets"]] == ["foo.txt"]
    assert found["assets"][0]["present"] is (graph.parent / "assets" / "foo.txt").exists()
