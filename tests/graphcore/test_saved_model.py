"""Loading SavedModels, signatures, and looking into checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_files import description, model_folders

from sgtool import graphcore as tf

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SAVED_MODEL = GOLDEN / "saved_model"
CHECKPOINT = GOLDEN / "model" / "model.ckpt-2"


def test_a_saved_model_of_tensorflow_loads_and_runs() -> None:
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING], str(SAVED_MODEL))
        signature = meta.signature_def["serving_default"]
        x = tf.saved_model.utils.get_tensor_from_tensor_info(signature.inputs["input"])
        y = tf.saved_model.utils.get_tensor_from_tensor_info(signature.outputs["score"])
        np.testing.assert_allclose(session.run(y, {x: [[1, 1], [2, 0]]}), [3.5, 2.5])
        assert tf.saved_model.signature_def_utils.is_valid_signature(signature)


def test_a_scope_goes_before_every_name() -> None:
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.load(session, ["serve"], SAVED_MODEL, import_scope="old")
        info = meta.signature_def["serving_default"].outputs["score"]
        y = tf.saved_model.get_tensor_from_tensor_info(info, import_scope="old")
        assert y.name == "old/y:0"
        np.testing.assert_allclose(session.run(y, {"old/x:0": [[1, 1]]}), [3.5])


def test_wrong_tags_and_places_say_what_there_is(tmp_path: Path) -> None:
    with tf.Session(graph=tf.Graph()) as session:
        with pytest.raises(RuntimeError, match=r"tags 'train' could not be found(.|\n)*serve"):
            tf.saved_model.load(session, ["train"], SAVED_MODEL)
        with pytest.raises(OSError, match="SavedModel file does not exist at"):
            tf.saved_model.load(session, ["serve"], tmp_path)
    assert tf.saved_model.contains_saved_model(SAVED_MODEL)
    assert not tf.saved_model.contains_saved_model(tmp_path)


def test_signatures_are_built_and_survive_a_meta_graph() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.identity(x * 2.0, name="y")
        graph._signatures["serving_default"] = tf.saved_model.predict_signature_def({"in": x}, {"out": y})
        exported = tf.train.export_meta_graph()
    with tf.Graph().as_default() as again:
        tf.constant(0.0, name="x")  # so that the imported name has to change
        tf.train.import_meta_graph(exported)
        signature = again._signatures["serving_default"]
        assert signature.inputs["in"].name == "x_1:0"
        assert signature.outputs["out"].name == "y:0"
        assert [dim.size for dim in signature.outputs["out"].tensor_shape.dim] == [-1, 2]
    with pytest.raises(ValueError, match="inputs cannot be None or empty"):
        tf.saved_model.predict_signature_def({}, {"out": y})
    with pytest.raises(ValueError, match="must be a string Tensor"):
        tf.saved_model.classification_signature_def(x, None, y)


def test_a_reader_tells_names_shapes_dtypes_and_values() -> None:
    reader = tf.train.load_checkpoint(str(CHECKPOINT))
    shapes = reader.get_variable_to_shape_map()
    assert shapes == {
        "layer/b": [],
        "layer/b/Momentum": [],
        "layer/w": [2, 1],
        "layer/w/Momentum": [2, 1],
        "steps": [],
    }
    assert reader.get_variable_to_dtype_map()["steps"] == tf.int64
    assert reader.has_tensor("layer/w")
    assert not reader.has_tensor("layer/v")
    np.testing.assert_array_equal(reader.get_tensor("layer/w"), [[1.0], [2.0]])
    assert reader.get_tensor("steps") == 0
    assert b"layer/w (DT_FLOAT) [2,1]\n" in reader.debug_string()
    with pytest.raises(
        tf.errors.NotFoundError, match=r"Key layer/ww not found in checkpoint\. Did you mean 'layer/w'"
    ):
        reader.get_tensor("layer/ww")


def test_what_is_in_a_directory() -> None:
    assert tf.train.list_variables(GOLDEN / "model")[0] == ("layer/b", [])
    assert tf.train.load_variable(str(CHECKPOINT), "layer/b:0") == np.float32(0.5)
    assert tf.train.NewCheckpointReader(str(CHECKPOINT)).has_tensor("steps")
    assert tf.train.checkpoint_exists(CHECKPOINT)
    assert not tf.train.checkpoint_exists(GOLDEN / "nothing")


@pytest.mark.parametrize("folder", model_folders("tf115_half_plus_two", "tf115_half_plus_two_main_op"))
def test_published_models_with_assets_and_a_main_op(folder: Path) -> None:
    """Their initialization reads nothing unless the session's policy lets it; they compute x / 2 + 2."""
    about: dict[str, Any] = description(folder)
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.load(session, ["serve"], folder / about["source"])
        assert "regress_x_to_y" in meta.signature_def
        assert [v.op.name for v in tf.global_variables()] == ["a", "b", "c"]
        np.testing.assert_allclose(session.run(["a:0", "b:0", "c:0"]), [0.5, 2.0, 3.0])
