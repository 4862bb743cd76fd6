"""Files that a SavedModel brings along: its look-up tables are filled from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sgtool import graphcore as tf
from sgtool.formats import protos

if TYPE_CHECKING:
    from .conftest import Tool


def saved_model(folder: str, asset: str) -> None:
    """A SavedModel whose table has the lines of an asset."""
    with tf.Graph().as_default() as graph:
        name = tf.constant("where it was when the model was saved", name="file")
        table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
        fill = tf.raw_ops.InitializeTableFromTextFileV2(
            table_handle=table, filename=name, key_index=-2, value_index=-1, name="fill"
        )
        words = tf.placeholder(tf.string, [None], name="words")
        tf.raw_ops.LookupTableFindV2(
            table_handle=table, keys=words, default_value=tf.constant(-1, tf.int64), name="ids"
        )
        tf.add_to_collection(tf.saved_model.MAIN_OP_KEY, fill)
        meta = tf.train.export_meta_graph(graph=graph)
    meta.meta_info_def.tags.append("serve")
    meta.asset_file_def.add(filename=asset).tensor_info.name = "file:0"
    message = protos.SavedModel(saved_model_schema_version=1, meta_graphs=[meta])
    Path(folder).mkdir()
    Path(folder, "saved_model.pb").write_bytes(message.SerializeToString())


@pytest.fixture
def _vocabulary(sgtool: Tool) -> None:  # in the directory that `sgtool` goes to
    saved_model("model", "vocabulary.txt")
    Path("model/assets").mkdir()
    Path("model/assets/vocabulary.txt").write_text("the\ncat\nsat\n")


@pytest.mark.usefixtures("_vocabulary")
def test_a_table_is_filled_from_an_asset(sgtool: Tool) -> None:
    result = sgtool("run", "model", "--fetch", "ids", "--feed", 'words=["sat", "dog", "the"]', "--json")
    assert result.code == 0, result.err
    assert result.json["outputs"]["ids"]["value"] == [2, -1, 0]


@pytest.mark.usefixtures("_vocabulary")
def test_an_asset_that_is_gone(sgtool: Tool) -> None:
    Path("model/assets/vocabulary.txt").unlink()
    result = sgtool("run", "model", "--fetch", "ids", "--feed", 'words=["sat"]')
    assert result.code != 0
    assert "vocabulary.txt" in result.err


def test_an_asset_may_not_lead_out_of_its_folder(sgtool: Tool) -> None:
    saved_model("model", "../../secret.txt")
    Path("secret.txt").write_text("a\n")
    result = sgtool("run", "model", "--fetch", "ids", "--feed", 'words=["a"]')
    assert result.code == 7
    assert "leads out of" in result.err
