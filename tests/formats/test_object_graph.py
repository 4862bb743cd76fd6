"""Checkpoints and SavedModels of TensorFlow 2: keys that are paths of objects, names that variables have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_files import model_folders

from sgtool.formats import graph_file, protos, registry, summary
from sgtool.formats.bundle_writer import write_bundle
from sgtool.formats.entry import entry_of
from sgtool.formats.errors import DataLossError, MissingNameError
from sgtool.formats.object_graph import (
    OBJECT_GRAPH_KEY,
    is_object_based,
    keys_by_name,
    tracked_variables,
    trainable_keys,
    variable_keys,
)
from sgtool.formats.saved_variables import saved_variables

GOLDEN = Path(__file__).parents[1] / "golden"
CKPT, MODEL = GOLDEN / "tf2" / "ckpt", GOLDEN / "tf2" / "saved_model"
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


def meta_graph(folder: Path) -> Any:
    (found,) = graph_file.read_graph(folder).meta_graphs
    return found


def test_paths_and_names() -> None:
    store = registry.open_store(CKPT)
    assert is_object_based(store)
    assert {(one.object_path, one.full_name, one.key) for one in tracked_variables(store)} == {
        ("model/first", "w", f"model/first{VALUE}"),
        ("model/inner/second", "w", f"model/inner/second{VALUE}"),
        ("model/count", "scope/count", f"model/count{VALUE}"),
    }
    assert variable_keys(store) == {"scope/count": f"model/count{VALUE}"}
    assert set(keys_by_name(store)["w"]) == {f"model/first{VALUE}", f"model/inner/second{VALUE}"}
    assert variable_keys(registry.open_store(GOLDEN / "slices")) == {}


def test_a_variable_is_found_by_its_name(tmp_path: Path) -> None:
    store: Any = registry.open_store(CKPT)
    assert store["scope/count"].read() == store[f"model/count{VALUE}"].read() == 4
    assert store["scope/count"].name == store.key_of("scope/count") == f"model/count{VALUE}"
    assert "scope/count" in store
    assert "scope/count" not in list(store)
    assert store.get("scope/count").read() == 4
    assert store.read_slice("scope/count", []) == 4
    assert [one.name for one in store.parts("scope/count")] == [f"model/count{VALUE}"]
    for name in ("copy", "copy.npz", "copy.h5"):
        registry.write_store(tmp_path / name, store.values())
        assert registry.open_store(tmp_path / name)["scope/count"].read() == 4


def test_a_name_of_two_variables_is_nobodys() -> None:
    store = registry.open_store(CKPT)
    assert "w" not in store
    with pytest.raises(
        MissingNameError, match=r"2 variables have this name.*\n  model/first/.*\n  model/inner"
    ):
        store["w"]
    with pytest.raises(MissingNameError, match="Did you mean 'scope/count'"):
        store["scope/coun"]


def test_a_damaged_object_graph(tmp_path: Path) -> None:
    write_bundle(tmp_path / "a", [entry_of(OBJECT_GRAPH_KEY, b"\xff\xff"), entry_of("w", 1.0)])
    store = registry.open_store(tmp_path / "a")
    assert store["w"].read() == 1
    with pytest.raises(DataLossError, match=r"object graph at .* is not a TrackableObjectGraph"):
        store.get("x")
    write_bundle(tmp_path / "b", [entry_of(OBJECT_GRAPH_KEY, np.ones(2))])
    with pytest.raises(DataLossError, match=r"is a float64 tensor of shape \[2\]"):
        variable_keys(registry.open_store(tmp_path / "b"))


def test_a_graph_names_its_keys_in_the_function_that_restores() -> None:
    graph = meta_graph(MODEL)
    found = saved_variables(graph.graph_def, graph.saver_def)
    assert {key: (one.shape, one.dtype and one.dtype.name) for key, one in found.items()} == {
        f"first{VALUE}": ((2,), "float32"),
        f"inner/second{VALUE}": ((1, 1), "float32"),
        f"count{VALUE}": ((), "int64"),
    }
    nodes = {node.name: node.op for node in graph.graph_def.node}
    assert {nodes[one.variable] for one in found.values()} == {"VarHandleOp"}
    assert len({one.variable for one in found.values()}) == 3
    graph.graph_def.library.Clear()  # then each variable is its own key
    assert set(saved_variables(graph.graph_def, graph.saver_def)) == {"w", "w_1", "scope/count"}


def test_trained_or_not_by_key() -> None:
    assert trainable_keys(meta_graph(MODEL).object_graph_def) == {
        f"first{VALUE}": True,
        f"inner/second{VALUE}": False,
        f"count{VALUE}": True,
    }
    assert trainable_keys(protos.SavedObjectGraph()) == {}


def test_the_summary_joins_graph_and_checkpoint() -> None:
    found = summary.summarise(MODEL)
    rows = {row.get("key"): row for row in found["variables"]}
    assert rows[f"inner/second{VALUE}"] | {"name": ""} == {
        "name": "",
        "dtype": "float32",
        "shape": [1, 1],
        "bytes": 4,
        "key": f"inner/second{VALUE}",
        "trainable": False,
        "saved": True,
    }
    assert {row["name"] for row in found["variables"]} == {"w", "w_1", "scope/count", OBJECT_GRAPH_KEY}
    assert found["parameters"] == 3
    assert found["signatures"]["serving_default"]["inputs"]["x"]["shape"] == [None, 2]
    assert [name for name in found["functions"] if "score" in name]
    bare = {row["name"]: row.get("variable") for row in summary.summarise(CKPT)["variables"]}
    assert bare[f"model/count{VALUE}"] == "scope/count"
    assert bare[OBJECT_GRAPH_KEY] is None


@pytest.mark.parametrize("folder", model_folders("basic_pitch", "tf2x_SimpleWhileLoop", "tfjs_multi_output"))
def test_published_models_say_the_same_in_graph_and_checkpoint(folder: Path) -> None:
    """The function that restores, and the names in the checkpoint, are two witnesses of one fact."""
    graph = meta_graph(folder / "saved_model")
    store = registry.open_store(folder / "saved_model")
    restored = {one.variable: key for key, one in saved_variables(graph.graph_def, graph.saver_def).items()}
    named = variable_keys(store)
    assert {name: restored[name] for name in named} == named
    assert {key for keys in keys_by_name(store).values() for key in keys} == set(restored.values())
    for key, one in saved_variables(graph.graph_def, graph.saver_def).items():
        assert (store[key].dtype, store[key].shape) == (one.dtype, one.shape)


@pytest.mark.parametrize("folder", model_folders("basic_pitch", "tf2x_SimpleWhileLoop", "tfjs_multi_output"))
def test_a_saver_restores_published_models(folder: Path) -> None:
    from sgtool import graphcore as tf

    store = registry.open_store(folder / "saved_model")
    with tf.Graph().as_default() as graph:
        saver = tf.train.import_meta_graph(meta_graph(folder / "saved_model"))
        assert saver is not None
        with tf.Session(graph=graph) as session:
            saver.restore(session, str(folder / "saved_model" / "variables" / "variables"))
            assert len(saver.saveables) == len(store) - 1
            for one in saver.saveables:
                read = session.run(graph.get_tensor_by_name(f"{one.variable.name}/Read/ReadVariableOp:0"))
                np.testing.assert_array_equal(read, store[one.key].read())


def test_a_graph_of_named_variables_restores_a_checkpoint_of_objects() -> None:
    from sgtool import graphcore as tf

    with tf.Graph().as_default(), tf.Session() as session:
        count = tf.get_variable("scope/count", [], tf.int64)
        saver = tf.train.Saver()
        saver.restore(session, str(CKPT))
        assert session.run(count) == 4
