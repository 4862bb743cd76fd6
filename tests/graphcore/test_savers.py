"""Savers: their arguments, the files around checkpoints, graphs of a scope, and what TensorFlow lacks."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore import meta_graph_export as scoped


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def saved(folder: Path, name: str = "m", **options: Any) -> str:
    """A checkpoint of a graph with a variable `v` and what is computed of it in a collection."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        tf.add_to_collection("doubled", v * 2.0)
        session.run(v.initializer)
        return str(tf.train.Saver(**options).save(session, str(folder / name)))


# Arguments


def test_a_deferred_saver_is_built_before_it_saves(session: Any, tmp_path: Path) -> None:
    saver = tf.train.Saver(defer_build=True)
    v = tf.get_variable("v", initializer=1.0)
    session.run(v.initializer)
    with pytest.raises(RuntimeError, match="should be called before save if defer_build==True"):
        saver.save(session, str(tmp_path / "m"))
    saver.build()
    assert saver.save(session, str(tmp_path / "m")) == str(tmp_path / "m")
    with pytest.raises(ValueError, match="If `var_list` is provided then build cannot be deferred"):
        tf.train.Saver([v], defer_build=True)


def test_an_empty_saver_writes_the_graph_alone(session: Any, tmp_path: Path) -> None:
    tf.constant(1.0)
    saver = tf.train.Saver(allow_empty=True)
    assert saver.save(session, str(tmp_path / "m")) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.meta"]
    saver.restore(session, str(tmp_path / "m"))
    assert saver.as_saver_def() is None


@pytest.mark.parametrize("filename", ["of my own", b"of my own"])
def test_the_nodes_have_a_filename_of_ones_own(session: Any, filename: Any) -> None:
    tf.get_variable("v", initializer=1.0)
    definition = tf.train.Saver(filename=filename).as_saver_def()
    assert session.run(definition.filename_tensor_name) == b"of my own"


def test_nodes_of_a_reshaping_saver_reshape(session: Any, tmp_path: Path) -> None:
    path = saved(tmp_path)
    tf.get_variable("v", [2, 1])
    definition = tf.train.Saver(reshape=True).as_saver_def()
    session.run(definition.restore_op_name, {definition.filename_tensor_name: path})
    assert session.run("v:0").tolist() == [[1], [2]]
    tf.train.Saver(saver_def=definition).restore(session, path)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Assign requires shapes of both tensors to match"
    ):
        tf.train.Saver().restore(session, path)


def test_a_builder_of_ones_own_is_refused() -> None:
    class Mine:
        pass

    with pytest.raises(tf.errors.UnimplementedError, match="A builder of savers, Mine, is not supported"):
        tf.train.Saver(builder=Mine())


def test_a_saver_goes_through_its_message(session: Any, tmp_path: Path) -> None:
    with tf.name_scope("part"):
        v = tf.Variable([3.0], name="v")
        saver = tf.train.Saver([v], max_to_keep=2)
    definition = saver.to_proto()
    assert definition.save_tensor_name == "part/save/control_dependency:0"
    assert saver.to_proto("part").restore_op_name == "save/restore_all"
    assert saver.to_proto("other") is None
    session.run(v.initializer)
    path = tf.train.Saver.from_proto(definition).save(session, str(tmp_path / "m"))
    session.run(v.assign([0.0]))
    tf.train.Saver.from_proto(saver.to_proto("part"), import_scope="part").restore(session, path)
    assert session.run(v) == [3]


def test_checkpoints_are_set_as_lists(session: Any) -> None:
    tf.get_variable("v", initializer=1.0)
    saver = tf.train.Saver()
    saver.set_last_checkpoints(["a", "b"])
    assert saver.last_checkpoints == ["a", "b"]
    saver.set_last_checkpoints_with_time([("c", 1.0)])
    assert saver.last_checkpoints == ["c"]
    for wrong in ("ab", ("a",), None):
        with pytest.raises(TypeError, match="given as a list"):
            saver.set_last_checkpoints(wrong)


def test_a_directory_that_is_a_file(session: Any, tmp_path: Path) -> None:
    v = tf.get_variable("v", initializer=1.0)
    session.run(v.initializer)
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "m")
    with pytest.raises(ValueError, match="doesn't exist, can't save") as info:
        tf.train.Saver().save(session, path)
    assert str(info.value) == f"Parent directory of {path} doesn't exist, can't save."


# Around checkpoints


def test_the_state_message_has_paths_and_times() -> None:
    make = tf.train.generate_checkpoint_state_proto
    state = make("train", "train/m-2", ["train/m-1", "train/m-2"], [1.0, 2.5], 0.5)
    assert state.model_checkpoint_path == "m-2"
    assert list(state.all_model_checkpoint_paths) == ["m-1", "m-2"]
    assert list(state.all_model_checkpoint_timestamps) == [1, 2.5]
    assert state.last_preserved_timestamp == 0.5
    assert list(make("/abs", "/abs/m-2", ["/abs/m-1"]).all_model_checkpoint_paths) == ["/abs/m-1", "/abs/m-2"]
    with pytest.raises(ValueError, match="Checkpoint timestamps, if provided, must match checkpoint paths"):
        make("train", "train/m-2", ["train/m-2"], [1.0, 2.0])


def test_the_state_file_keeps_times(tmp_path: Path) -> None:
    path = str(tmp_path / "m-1")
    tf.train.update_checkpoint_state(
        tmp_path, path, [path], all_model_checkpoint_timestamps=[3.5], last_preserved_timestamp=2.0
    )
    state = tf.train.get_checkpoint_state(tmp_path)
    assert list(state.all_model_checkpoint_timestamps) == [3.5]
    assert state.last_preserved_timestamp == 2
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        tf.train.update_checkpoint_state(tmp_path, str(tmp_path / "checkpoint"))
    (tmp_path / "checkpoint").write_text('all_model_checkpoint_paths: "x"')
    with pytest.raises(ValueError, match="Invalid checkpoint state loaded from"):
        tf.train.get_checkpoint_state(tmp_path)


@pytest.mark.parametrize("version", [tf.train.SaverDef.V1, tf.train.SaverDef.V2])
def test_a_checkpoint_exists_has_a_time_and_goes(tmp_path: Path, version: int) -> None:
    path = saved(tmp_path, write_version=version)
    near = saved(tmp_path, "m-10", write_version=version)
    assert tf.train.checkpoint_exists(path)
    assert tf.train.get_checkpoint_mtimes([path, str(tmp_path / "none"), near])[1:] != []
    tf.train.remove_checkpoint(path, version)
    assert not tf.train.checkpoint_exists(path)
    assert tf.train.checkpoint_exists(near)
    assert tf.train.latest_checkpoint(tmp_path) == near


def test_a_pattern_without_the_count_means_the_only_one(session: Any, tmp_path: Path) -> None:
    saved(tmp_path, sharded=True, write_version=tf.train.SaverDef.V1)
    tf.get_variable("v", [2])
    tf.train.Saver().restore(session, str(tmp_path / "m-?????-of-?????"))
    assert session.run("v:0").tolist() == [1, 2]


# What TensorFlow does less well


def test_names_that_are_taken_give_working_variables_and_collections(session: Any, tmp_path: Path) -> None:
    path = saved(tmp_path)
    tf.constant(0.0, name="v")
    saver: Any = tf.train.import_meta_graph(f"{path}.meta")
    saver.restore(session, path)
    (v,) = tf.global_variables()
    assert v.op.name == "v_1"
    assert session.run(v).tolist() == [1, 2]
    assert session.run(tf.get_collection("doubled")[0]).tolist() == [2, 4]
    session.run(v.assign([5.0, 6.0]))
    assert tf.train.list_variables(saver.save(session, str(tmp_path / "again"))) == [("v", [2])]


def test_a_resource_variable_of_another_shape_is_an_error(session: Any, tmp_path: Path) -> None:
    path = saved(tmp_path)
    tf.get_variable("v", [3], use_resource=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[3\] rhs shape= \[2\]"):
        tf.train.Saver().restore(session, path)


def test_a_moved_directory_is_found(session: Any, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    saved(tmp_path / "old")
    (tmp_path / "old").rename(tmp_path / "new")
    with pytest.warns(UserWarning, match="Using .*new/m"):
        assert tf.train.latest_checkpoint(tmp_path / "new") == str(tmp_path / "new" / "m")


def test_an_initializer_that_overwrites_what_was_restored_warns_once(session: Any, tmp_path: Path) -> None:
    path = saved(tmp_path)
    v = tf.get_variable("v", initializer=[0.0, 0.0])
    other = tf.get_variable("other", initializer=1.0)
    both = tf.global_variables_initializer()
    saver = tf.train.Saver([v])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.run(both)
        saver.restore(session, path)
        session.run(other.initializer)
        session.run(v.assign([3.0, 4.0]))
    with pytest.warns(UserWarning, match=r"restored from .*m, and have been initialized again(.|\n)*\n  v"):
        session.run(both)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.run(both)


# Graphs of a scope


def two_scopes() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        for name in ("one", "two"):
            with tf.name_scope(name):
                w = tf.Variable([[1.0], [2.0]], name="w")
                y = tf.matmul(x, w, name="y")
                tf.add_to_collection("outputs", y)
                tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
                with tf.colocate_with(x):
                    tf.identity(y, name="beside_x")
                with tf.colocate_with(w):
                    tf.identity(y, name="beside_w")
                tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver([w]))
    return graph


def test_a_scope_is_exported_without_what_is_outside() -> None:
    graph = two_scopes()
    meta, variables = scoped.export_scoped_meta_graph(graph=graph, export_scope="one")
    assert list(variables) == ["w:0"]
    names = {node.name: node for node in meta.graph_def.node}
    assert "y" in names
    assert not any(name.startswith(("one", "two")) for name in names)
    assert list(names["y"].input) == ["$unbound_inputs_x", "w/read"]
    assert "_class" not in names["beside_x"].attr
    assert list(names["beside_w"].attr["_class"].list.s) == [b"loc:@w"]
    assert names["while/Enter"].attr["frame_name"].s == b"while/while_context"
    assert list(meta.collection_def["outputs"].node_list.value) == ["y:0"]
    assert len(meta.collection_def["savers"].bytes_list.value) == 1
    assert list(meta.collection_def["unbound_inputs"].bytes_list.value) == [b"$unbound_inputs_x"]


def test_a_scope_is_imported_with_the_inputs_that_it_lacks(tmp_path: Path) -> None:
    graph = two_scopes()
    with tf.Session(graph=graph) as session:
        session.run(graph.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)[0].initializer)
        path = graph.get_collection(tf.GraphKeys.SAVERS)[0].save(session, str(tmp_path / "m"))
    meta, _ = scoped.export_scoped_meta_graph(graph=graph, export_scope="one")
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match=r"unbound inputs: \$unbound_inputs_x\. Must provide"):
            tf.train.import_meta_graph(meta)
        x = tf.constant([[3.0, 4.0]])
        variables = scoped.import_scoped_meta_graph(
            meta, import_scope="new", input_map={"$unbound_inputs_x": x}
        )
        assert variables["w:0"].op.name == "new/w"
        (saver,) = tf.get_collection(tf.GraphKeys.SAVERS)
        saver.restore(session, path)
        assert session.run("new/y:0") == [[11]]


def test_a_scope_is_copied() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.name_scope("a"):
            tf.multiply(tf.Variable(2.0, name="v"), 3.0, name="y")
        variables = scoped.copy_scoped_meta_graph("a", "b")
        assert list(variables) == ["v:0"]
        session.run(tf.global_variables_initializer())
        assert session.run("b/y:0") == 6
        with pytest.raises(ValueError, match="need to be different"):
            scoped.copy_scoped_meta_graph("a", "a")


def test_other_savers_are_left_out() -> None:
    with tf.Graph().as_default():
        v, w = tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=1.0)
        kept, other = tf.train.Saver([v], name="kept"), tf.train.Saver([w], name="other")
        for saver in (kept, other):
            saver.as_saver_def()
            tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        meta = kept.export_meta_graph(clear_extraneous_savers=True)
        scopes = {node.name.partition("/")[0] for node in meta.graph_def.node}
        assert "kept" in scopes
        assert "other" not in scopes
        assert len(meta.collection_def["savers"].bytes_list.value) == 1
        assert meta.saver_def.save_tensor_name == "kept/control_dependency:0"


def test_defaults_are_stripped_from_nodes_and_functions() -> None:
    with tf.Graph().as_default():
        tf.complex(tf.constant(1.0), tf.constant(2.0), name="narrow")
        tf.complex(tf.constant(1.0, tf.float64), tf.constant(2.0, tf.float64), name="wide")
        given = tf.get_default_graph().as_graph_def()
        for meta in (
            tf.train.export_meta_graph(strip_default_attrs=True),
            tf.train.export_meta_graph(strip_default_attrs=True, graph_def=given),
        ):
            nodes = {node.name: node for node in meta.graph_def.node}
            assert set(nodes["narrow"].attr) <= {"_output_shapes"}
            assert nodes["wide"].attr["Tout"].type == tf.complex128.as_datatype_enum
            assert meta.meta_info_def.stripped_default_attrs


def test_an_import_follows_the_name_scope() -> None:
    with tf.Graph().as_default():
        tf.add_to_collection("outputs", tf.identity(tf.Variable(1.0, name="v"), name="y"))
        meta = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        with tf.name_scope("outer"):
            tf.train.import_meta_graph(meta)
        with tf.name_scope("outer/"):
            tf.train.import_meta_graph(meta, import_scope="inner")
        names = [each.name for each in tf.get_collection("outputs")]
        assert names == ["outer/y:0", "outer/inner/y:0"]
        other = tf.Graph()
        tf.train.import_meta_graph(meta, graph=other)
        assert [each.op.name for each in other.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)] == ["v"]
        assert graph is tf.get_default_graph()


def test_variables_in_a_collection_of_ones_own_are_kept_by_name() -> None:
    with tf.Graph().as_default():
        tf.add_to_collection("mine", tf.Variable(4.0, name="v"))
        meta = tf.train.export_meta_graph()
    assert list(meta.collection_def["mine"].node_list.value) == ["v:0"]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(meta)
        session.run(tf.global_variables_initializer())
        assert session.run(tf.get_collection("mine")) == [4]


def test_an_old_graph_says_by_its_collections_what_is_trained() -> None:
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        tf.Variable(1.0, name="w", trainable=False)
        meta = tf.train.export_meta_graph()
    meta.meta_info_def.tensorflow_version = "1.4.0-rc1"
    for definition in meta.collection_def.values():
        for index, value in enumerate(definition.bytes_list.value):  # as they were then
            definition.bytes_list.value[index] = value.replace(b"\x38\x01", b"")
    with tf.Graph().as_default():
        tf.train.import_meta_graph(meta)
        assert [each.op.name for each in tf.trainable_variables()] == ["v"]
        assert [each.trainable for each in tf.global_variables()] == [True, False]


# With TensorFlow


@pytest.mark.oracle
@pytest.mark.parametrize("version", [tf.train.SaverDef.V1, tf.train.SaverDef.V2])
@pytest.mark.parametrize("by_us", [True, False])
def test_shards_and_tables_go_both_ways(tmp_path: Path, version: int, by_us: bool) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_eager_execution()

    def build(tf: Any) -> Any:
        with tf.device("/cpu:0"):
            a = tf.get_variable("a", initializer=[1.0, 2.0], use_resource=False)
        with tf.device("/cpu:1"):
            b = tf.get_variable("b", initializer=3, use_resource=True)
            handle = tf.raw_ops.MutableHashTableV2(
                key_dtype=tf.string, value_dtype=tf.int64, shared_name="t", name="t"
            )
            pair = tf.raw_ops.LookupTableExportV2(table_handle=handle, Tkeys=tf.string, Tvalues=tf.int64)

        if tf is theirs:
            from tensorflow.python.training.saver import BaseSaverBuilder
        else:
            from sgtool.graphcore.saver import BaseSaverBuilder

        class Table(BaseSaverBuilder.SaveableObject):  # type: ignore[misc]
            def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
                keys, values = restored_tensors
                return tf.raw_ops.LookupTableImportV2(table_handle=handle, keys=keys, values=values)

        specs = [
            BaseSaverBuilder.SaveSpec(tensor, "", f"t-{what}")
            for what, tensor in zip(("keys", "values"), pair)
        ]
        fill = tf.raw_ops.LookupTableInsertV2(
            table_handle=handle, keys=tf.constant(["k"]), values=tf.constant([9], tf.int64)
        )
        found = tf.raw_ops.LookupTableFindV2(
            table_handle=handle,
            keys=tf.constant(["k"]),
            default_value=tf.constant(-1, tf.int64),
            name="found",
        )
        config = {"config": tf.ConfigProto(device_count={"CPU": 2})}
        return [a, b, Table(handle, specs, "t")], fill, found, config

    first, second = (tf, theirs) if by_us else (theirs, tf)
    paths: list[str] = []
    for module in (first, second):
        with module.Graph().as_default():
            contents, fill, found, config = build(module)
            saver = module.train.Saver(contents, sharded=True, write_version=version)
            with module.Session(**config) as session:
                if module is first:
                    session.run([contents[0].initializer, contents[1].initializer, fill])
                else:
                    saver.restore(session, paths[0])
                    assert session.run(contents[0]).tolist() == [1, 2]
                    assert session.run(contents[1]) == 3
                    assert session.run(found).tolist() == [9]
                folder = tmp_path / ("first" if module is first else "second")
                folder.mkdir()
                paths.append(saver.save(session, str(folder / "m")))
    names = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("first", "second")]
    assert names[0] == names[1]
    for path in paths:
        assert tf.train.list_variables(path) == [("a", [2]), ("b", []), ("t-keys", [1]), ("t-values", [1])]
    with second.Graph().as_default(), second.Session(**config) as session:
        folder = tmp_path / "first"
        second.train.import_meta_graph(str(folder / "m.meta")).restore(session, paths[0])
        np.testing.assert_array_equal(session.run(["a:0", "found:0"])[1], [9])
