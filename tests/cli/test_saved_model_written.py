"""A SavedModel that the library wrote, in the tool's hands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sgtool import graphcore as tf


def test_it_is_inspected_verified_and_run(sgtool: Any, tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes(b"one\nten\n")
    with tf.Graph().as_default(), tf.Session() as session:
        text = tf.placeholder(tf.string, [None], name="text")
        index = tf.lookup.TextFileIndex
        words = tf.lookup.TextFileInitializer(
            str(tmp_path / "words"), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        )
        values = tf.get_variable("values", initializer=[1.0, 10.0, 0.0])
        found = tf.gather(values, tf.lookup.StaticHashTable(words, 2).lookup(text), name="found")
        session.run(values.initializer)
        tf.saved_model.simple_save(
            session, tmp_path / "model", {"word": text}, {"value": found}, tf.tables_initializer()
        )
    (tmp_path / "words").unlink()
    shown = sgtool("inspect", "model")
    assert shown.code == 0, shown.err
    assert "serving_default" in shown.out
    assert sgtool("verify", "model").code == 0
    ran = sgtool(
        "run", "model", "--signature", "serving_default", "--feed", 'word=["ten", "one", "two"]', "--json"
    )
    assert ran.code == 0, ran.err
    assert ran.json["outputs"]["found:0"]["value"] == [10, 1, 0]
