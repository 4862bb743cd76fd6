"""Savers of tables, of objects with a way of their own to be saved, and in shards by device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.saver import BaseSaverBuilder


def tables() -> tuple[Any, Any]:
    """A table of either kind, and the operations that fill both."""
    words = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="words")
    dense = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, [0.0, 0.0], 0, -1, initial_num_buckets=4, name="dense"
    )
    fill = tf.group(
        words.insert(tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)),
        dense.insert(tf.constant([5], tf.int64), tf.constant([[1.5, 2.5]])),
        name="fill",
    )
    found = [words.lookup(tf.constant(["b", "x"])), dense.lookup(tf.constant([5, 6], tf.int64))]
    for name, tensor in zip(("found_words", "found_dense"), found):
        tf.identity(tensor, name=name)
    return fill, found


def check_tables(session: Any) -> None:
    words, dense = session.run(["found_words:0", "found_dense:0"])
    assert words.tolist() == [2, -1]
    np.testing.assert_array_equal(dense, [[1.5, 2.5], [0, 0]])


@pytest.fixture
def filled(tmp_path: Path) -> str:
    """A checkpoint of a graph with a variable and two tables, one entry of which has changed since."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        fill, _ = tables()
        saver = tf.train.Saver()
        session.run([v.initializer, fill])
        return str(saver.save(session, str(tmp_path / "m")))


def test_tables_are_saved_under_two_keys_each(filled: str) -> None:
    assert tf.train.list_variables(filled) == [
        ("dense-keys", [4, 1]),
        ("dense-values", [4, 2]),
        ("v", [2]),
        ("words-keys", [2]),
        ("words-values", [2]),
    ]


def test_tables_are_restored(filled: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", [2])
        tables()
        saver = tf.train.Saver()
        nodes = len(tf.get_default_graph().get_operations())
        for _ in range(3):
            saver.restore(session, filled)
        check_tables(session)
        np.testing.assert_array_equal(session.run("v:0"), [1, 2])
        assert len(tf.get_default_graph().get_operations()) == nodes


def test_the_tables_of_an_imported_graph_are_restored_and_saved(filled: str, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        saver: Any = tf.train.import_meta_graph(f"{filled}.meta", import_scope="old")
        saver.restore(session, filled)
        again = saver.save(session, str(tmp_path / "again"), write_meta_graph=False)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{filled}.meta")
        saver.restore(session, again)
        check_tables(session)


def test_the_nodes_of_a_saver_with_tables_run(filled: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        saver: Any = tf.train.import_meta_graph(f"{filled}.meta")
        definition = saver.as_saver_def()
        session.run(definition.restore_op_name, {definition.filename_tensor_name: filled})
        check_tables(session)


def test_a_table_alone_is_saved(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="t", checkpoint=False)
        session.run(table.insert(tf.constant(["a"]), tf.constant([7], tf.int64)))
        path = tf.train.Saver([table]).save(session, str(tmp_path / "one"))
        named = tf.train.Saver({"n": table}).save(session, str(tmp_path / "two"))
        assert [name for name, _ in tf.train.list_variables(path)] == ["t-keys", "t-values"]
        assert [name for name, _ in tf.train.list_variables(named)] == ["n_table-keys", "n_table-values"]


def test_a_checkpoint_without_the_table_says_what_is_missing(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", [2])
        tables()
        with pytest.raises(tf.errors.NotFoundError) as info:
            tf.train.Saver().restore(session, path)
    for key in ("dense-keys", "dense-values", "words-keys", "words-values"):
        assert key in str(info.value)


class Doubled(BaseSaverBuilder.SaveableObject):
    """A variable that is saved as twice its value."""

    def __init__(self, variable: Any, name: str) -> None:
        self.variable = variable
        spec = BaseSaverBuilder.SaveSpec(lambda: variable * 2.0, "", name, dtype=tf.float32, device="")
        super().__init__(variable.op, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return tf.assign(self.variable, restored_tensors[0] / 2.0)


def test_an_object_says_what_is_saved_and_how_it_is_restored(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        w = tf.get_variable("w", initializer=5.0)
        saver = tf.train.Saver([Doubled(v, "twice"), w])
        session.run([v.initializer, w.initializer])
        path = saver.save(session, str(tmp_path / "m"))
        np.testing.assert_array_equal(tf.train.load_variable(path, "twice"), [2, 4])
        session.run([v.assign([0.0, 0.0]), w.assign(0.0)])
        saver.restore(session, path)
        assert session.run(v).tolist() == [1, 2]
        assert session.run(w) == 5
    with tf.Graph().as_default(), tf.Session() as session:
        imported: Any = tf.train.import_meta_graph(f"{path}.meta")
        imported.restore(session, path)
        assert session.run("v:0").tolist() == [1, 2]


def test_variable_saveables(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        r = tf.get_variable("r", initializer=[3.0], use_resource=True)
        saver = tf.train.Saver(
            [
                BaseSaverBuilder.VariableSaveable(v, "", "one"),
                BaseSaverBuilder.ResourceVariableSaveable(r, "", "two"),
            ]
        )
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        assert tf.train.list_variables(path) == [("one", [2]), ("two", [1])]
        session.run([v.assign([0.0, 0.0]), r.assign([0.0])])
        saver.restore(session, path)
        assert [value.tolist() for value in session.run([v, r])] == [[1, 2], [3]]


def test_what_nothing_would_put_back_is_listed(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.constant([1.0], name="x")
        v = tf.get_variable("v", initializer=2.0)
        path = tf.placeholder_with_default("model", [], name="path")
        keys, slices = ["v", "x", "y"], ["", "", ""]
        save = tf.raw_ops.SaveV2(
            prefix=path, tensor_names=keys, shape_and_slices=slices, tensors=[v._ref(), x, x + x]
        )
        with tf.control_dependencies([save]):
            saved = tf.identity(path, name="saved")
        (restored,) = tf.raw_ops.RestoreV2(
            prefix=path, tensor_names=["v"], shape_and_slices=[""], dtypes=[tf.float32]
        )
        restore = tf.group(tf.assign(v, restored), name="restore")
        definition = tf.train.SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restore.name,
            version=2,
        )
        saver = tf.train.Saver(saver_def=definition)
        session.run(v.initializer)
        prefix = saver.save(session, str(tmp_path / "m"), write_meta_graph=False)
        assert [name for name, _ in tf.train.list_variables(prefix)] == ["v", "x", "y"]
        with pytest.raises(tf.errors.UnimplementedError, match=r"puts them back:\n  x\n  y\n"):
            saver.restore(session, prefix)
        assert graph is v.graph


def test_what_may_not_be_saved_together() -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2])
        parts = tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        with pytest.raises(ValueError, match="restored with two names: b"):
            tf.train.Saver({"a": v, "b": v})
        with pytest.raises(TypeError, match="Name is not a string: 3"):
            tf.train.Saver({3: v})
        with pytest.raises(TypeError, match="passed in a dict or a list"):
            tf.train.Saver(v)
        with pytest.raises(ValueError, match="Slices must all be slices"):
            tf.train.Saver({"a": [v, v]})
        with pytest.raises(ValueError, match="Mixing slices and non-slices with the same name: p"):
            tf.train.Saver([*parts, BaseSaverBuilder.VariableSaveable(v, "", "p")])


# Shards


def on_devices() -> list[Any]:
    with tf.device("/cpu:1"):
        b = tf.get_variable("b", initializer=[2.0, 3.0], use_resource=True)
    with tf.device("/cpu:0"):
        a = tf.get_variable("a", initializer=1.0)
        c = tf.get_variable("c", initializer=[[4.0]])
    return [a, b, c]


@pytest.mark.parametrize("version", [tf.train.SaverDef.V1, tf.train.SaverDef.V2])
def test_a_file_for_each_device(tmp_path: Path, version: int) -> None:
    first = version == tf.train.SaverDef.V1
    with tf.Graph().as_default(), tf.Session() as session:
        on_devices()
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(sharded=True, write_version=version, max_to_keep=1)
        path = saver.save(session, str(tmp_path / "old"))
        path = saver.save(session, str(tmp_path / "m"))
        names = sorted(each.name for each in tmp_path.iterdir())
        if first:
            assert path == str(tmp_path / "m-?????-of-00002")
            assert names == ["checkpoint", "m-00000-of-00002", "m-00001-of-00002", "m.meta"]
        else:
            assert path == str(tmp_path / "m")
            files = ["m.data-00000-of-00002", "m.data-00001-of-00002", "m.index", "m.meta"]
            assert names == ["checkpoint", *files]
            assert (tmp_path / files[0]).stat().st_size == 8
        assert tf.train.latest_checkpoint(tmp_path) == path
        assert tf.train.checkpoint_exists(path)
        assert len(tf.train.get_checkpoint_mtimes([path])) == 1
        session.run([each.assign(tf.zeros_like(each)) for each in tf.global_variables()])
        saver.restore(session, path)
        assert session.run("a:0") == 1
        definition = saver.as_saver_def()
        feed = {definition.filename_tensor_name: str(tmp_path / "n")}
        saved = session.run(definition.save_tensor_name, feed)
        assert saved.decode() == path.replace("/m", "/n")
        assert not list(tmp_path.glob("*_temp_*"))
    with tf.Graph().as_default(), tf.Session() as session:
        again: Any = tf.train.import_meta_graph(str(tmp_path / "m.meta"))
        again.restore(session, saved.decode())
        assert session.run("c:0") == [[4]]
        assert again.as_saver_def().sharded
        written = again.save(session, str(tmp_path / "k"))
        assert written == path.replace("/m", "/k")
    tf.train.remove_checkpoint(path, version)
    assert not [each.name for each in tmp_path.iterdir() if each.name.startswith("m")]


def test_one_device_is_one_shard(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0)
        session.run(v.initializer)
        tf.train.Saver(sharded=True).save(session, str(tmp_path / "m"))
        assert (tmp_path / "m.data-00000-of-00001").is_file()


def test_an_equal_sharded_saver_uses_the_nodes_that_are_there(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        on_devices()
        first = tf.train.Saver(sharded=True).as_saver_def()
        count = len(graph.get_operations())
        assert tf.train.Saver(sharded=True).as_saver_def() == first
        assert len(graph.get_operations()) == count
        assert tf.train.Saver().as_saver_def().save_tensor_name == "save_1/control_dependency:0"


def test_the_tensors_of_an_object_are_on_one_device() -> None:
    class Torn(BaseSaverBuilder.SaveableObject):
        pass

    with tf.Graph().as_default():
        specs = []
        for place in ("/cpu:0", "/cpu:1"):
            with tf.device(place):
                specs.append(BaseSaverBuilder.SaveSpec(tf.constant(1.0), "", place))
        with pytest.raises(ValueError, match="must be on the same device: torn"):
            tf.train.Saver([Torn(specs[0].tensor, specs, "torn")], sharded=True)


def test_a_failed_write_of_shards_leaves_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sgtool.formats import files

    with tf.Graph().as_default(), tf.Session() as session:
        v, *_ = on_devices()
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(sharded=True)
        path = saver.save(session, str(tmp_path / "m"))
        before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
        session.run(v.assign(9.0))

        def fail(step: str, name: str) -> None:
            if step == "replace" and name.endswith("data-00001-of-00002"):
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(files, "fault_hook", fail)
        with pytest.raises(tf.errors.ResourceExhaustedError):
            saver.save(session, path)
        assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
