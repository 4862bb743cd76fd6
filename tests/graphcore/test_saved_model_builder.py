"""Writing SavedModels: by us for TensorFlow, by TensorFlow for us, and each for itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sgtool import graphcore as ours
from sgtool.formats.graph_file import read_graph
from sgtool.graphcore.saved_model_signatures import RESERVED

tf = ours


def model(tf: Any, words: str) -> tuple[Any, Any]:
    """Words to sums of their vectors: a variable, a table of a file, a local variable, a mutable table."""
    text = tf.placeholder(tf.string, [None], name="text")
    initializer = tf.lookup.TextFileInitializer(
        words, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
    )
    ids = tf.lookup.StaticHashTable(initializer, 2).lookup(text)
    vectors = tf.get_variable("vectors", initializer=[[1.0, 2.0], [10.0, 20.0], [0.0, 0.0]])
    scale = tf.get_variable("scale", initializer=3.0, use_resource=True)
    summed = tf.multiply(tf.reduce_sum(tf.gather(vectors, ids), 0), scale, name="summed")
    return text, summed


def write(tf: Any, folder: Path, as_text: bool = False, sharded: bool = False) -> str:
    (folder / "words.txt").write_bytes(b"one\nten\n")
    target = str(folder / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.device("/cpu:0" if sharded else ""):
            text, summed = model(tf, str(folder / "words.txt"))
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(tf.assign(tf.global_variables()[1], 2.0))
        builder = tf.saved_model.builder.SavedModelBuilder(target)
        builder.add_meta_graph_and_variables(
            session,
            [tf.saved_model.tag_constants.SERVING],
            {"serving_default": tf.saved_model.predict_signature_def({"text": text}, {"sum": summed})},
            tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(name="fill"),
        )
        with tf.Graph().as_default():
            tf.get_variable("scale", initializer=0.0, use_resource=False)
            builder.add_meta_graph([tf.saved_model.tag_constants.TRAINING])
        builder.save(as_text=as_text)
    (folder / "words.txt").unlink()  # the copy counts
    return target


def read(tf: Any, target: str, scope: str | None = None) -> list[float]:
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, ["serve"], target, import_scope=scope)
        signature = meta.signature_def["serving_default"]
        text = tf.saved_model.get_tensor_from_tensor_info(signature.inputs["text"], session.graph, scope)
        summed = tf.saved_model.get_tensor_from_tensor_info(signature.outputs["sum"], session.graph, scope)
        found: list[float] = session.run(summed, {text: ["one", "ten", "other"]}).tolist()
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["train"], target)
        assert session.run("scale:0") == 2
    return found


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("scope", [None, "old"])
def test_what_is_written_is_loaded(tmp_path: Path, as_text: bool, scope: str | None) -> None:
    target = write(ours, tmp_path, as_text)
    assert read(ours, target, scope) == [22, 44]
    assert sorted(str(path.relative_to(target)) for path in Path(target).rglob("*.*")) == [
        "assets/words.txt",
        "saved_model.pbtxt" if as_text else "saved_model.pb",
        "variables/variables.data-00000-of-00001",
        "variables/variables.index",
    ]


@pytest.mark.oracle
@pytest.mark.parametrize("by_us", [True, False])
def test_tensorflow_reads_ours_and_we_read_its(tmp_path: Path, by_us: bool) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_eager_execution()
    target = write(ours if by_us else theirs, tmp_path)
    assert read(ours, target) == [22, 44]
    assert read(theirs, target) == [22, 44]
    if by_us:
        import tensorflow

        with theirs.Graph().as_default(), theirs.Session() as session:
            loaded = tensorflow.saved_model.load(target, tags=["serve"])
            result = loaded.signatures["serving_default"](theirs.constant(["one", "ten"]))
            session.run([*theirs.get_collection("table_initializer"), theirs.global_variables_initializer()])
            assert set(result) == {"sum"}


def in_a_session(test: Callable[[Any, Any], None]) -> Callable[[Path], None]:
    """A test that gets a builder, and a session with one variable that has its value."""

    def run(tmp_path: Path) -> None:
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.get_variable("v", initializer=1.0)
            session.run(v.initializer)
            test(tf.saved_model.Builder(tmp_path / "model"), session)

    return run


def test_a_directory_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(AssertionError, match="Export directory already exists, and isn't empty"):
        tf.saved_model.Builder(str(tmp_path))


@in_a_session
def test_variables_come_first_and_once(builder: Any, session: Any) -> None:
    with pytest.raises(AssertionError, match="has not been saved yet"):
        builder.add_meta_graph(["a"])
    with pytest.raises(AssertionError, match="has no graph"):
        builder.save()
    builder.add_meta_graph_and_variables(session, ["a"])
    with pytest.raises(AssertionError, match="has already been saved"):
        builder.add_meta_graph_and_variables(session, ["b"])


@in_a_session
def test_signatures_are_checked_all_at_once(builder: Any, session: Any) -> None:
    empty = tf.TensorInfo()
    named = tf.TensorInfo(name="v:0")
    wrong = tf.saved_model.build_signature_def(
        {"x": empty}, {"y": named, "z": tf.TensorInfo(name="v:0", dtype=1)}
    )
    with pytest.raises(AssertionError) as info:
        builder.add_meta_graph_and_variables(session, ["a"], {"s": wrong})
    assert "s, input 'x': it must have one of the 'encoding' fields" in str(info.value)
    assert "s, output 'y': it must have the dtype field set" in str(info.value)
    assert "'z'" not in str(info.value)
    for key in RESERVED:
        with pytest.raises(KeyError, match=f'"{key}" is reserved for'):
            builder.add_meta_graph_and_variables(session, ["a"], {key: wrong})


@in_a_session
def test_main_ops_are_operations_and_the_only_ones(builder: Any, session: Any) -> None:
    with pytest.raises(TypeError, match="main_op needs to be an Operation"):
        builder.add_meta_graph_and_variables(session, ["a"], main_op=tf.constant(1))
    tf.add_to_collection(tf.saved_model.constants.LEGACY_INIT_OP_KEY, tf.no_op())
    with pytest.raises(ValueError, match="Graph already contains one or more main ops"):
        builder.add_meta_graph_and_variables(session, ["a"], legacy_init_op=tf.no_op())


@in_a_session
def test_assets_are_constant_names_of_files(builder: Any, session: Any) -> None:
    for asset, text in (
        ("a", "must be a Tensor"),
        (tf.identity("a"), "must be of type constant"),
        (tf.constant(1), "must be of dtype string"),
        (tf.constant(["a", "b"]), "must be a scalar"),
    ):
        with pytest.raises(TypeError, match=text):
            builder.add_meta_graph_and_variables(session, ["a"], assets_collection=[asset])
    with pytest.raises(ValueError, match="Invalid asset filepath tensor"):
        builder.add_meta_graph_and_variables(session, ["a"], assets_collection=[tf.constant("")])
    with pytest.raises(FileNotFoundError, match=r"do not exist:\n  no\n  neither"):
        builder.add_meta_graph_and_variables(
            session, ["a"], assets_collection=[tf.constant("no"), tf.constant("neither")]
        )


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0)
        builder = tf.saved_model.Builder(tmp_path)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            builder.add_meta_graph_and_variables(session, ["a"])
        with pytest.raises(TypeError):
            builder.add_meta_graph_and_variables(session, ["a"], main_op=1)
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]
        session.run(v.initializer)
        builder.add_meta_graph_and_variables(session, ["a"])
        builder.save()
    assert tf.saved_model.contains_saved_model(tmp_path)


def test_the_graph_stays_as_it_is(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0)
        session.run(v.initializer)
        graph.finalize()
        builder = tf.saved_model.Builder(tmp_path)
        builder.add_meta_graph_and_variables(session, ["a"], strip_default_attrs=True)
        assert builder.save() == str(tmp_path / "saved_model.pb").encode()
    (meta,) = read_graph(tmp_path).meta_graphs
    assert meta.meta_info_def.stripped_default_attrs
    assert list(meta.meta_info_def.tags) == ["a"]
    assert meta.saver_def.sharded


def test_a_graph_without_variables(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.constant(5.0, name="c")
        builder = tf.saved_model.Builder(tmp_path / "model")
        builder.add_meta_graph_and_variables(session, ["a"])
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["a"], tmp_path / "model")
        assert session.run("c:0") == 5


def test_a_saver_of_ones_own_chooses_and_renames(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v, w = tf.get_variable("v", initializer=1.0), tf.get_variable("w", initializer=2.0)
        session.run([v.initializer, w.initializer])
        builder = tf.saved_model.Builder(tmp_path / "model")
        builder.add_meta_graph_and_variables(session, ["a"], saver=tf.train.Saver({"key": v}, name="mine"))
        builder.save()
    assert tf.train.list_variables(str(tmp_path / "model")) == [("key", [])]
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.load(session, ["a"], tmp_path / "model")
        assert meta.saver_def.restore_op_name == "mine/restore_all"
        assert session.run("v:0") == 1
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run("w:0")


def test_mutable_tables_are_in_the_variables(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="t")
        tf.identity(table.lookup(tf.constant(["k"])), name="found")
        session.run(table.insert(tf.constant(["k"]), tf.constant([4], tf.int64)))
        tf.saved_model.simple_save(
            session, tmp_path / "model", {"k": table.resource_handle}, {"v": tf.constant(1)}
        )
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], tmp_path / "model")
        assert session.run("found:0") == [4]


def test_simple_save(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("content")
    with tf.Graph().as_default(), tf.Session() as session, tf.device("/cpu:0"):
        x = tf.placeholder(tf.float32, [None], name="x")
        v = tf.get_variable("v", initializer=2.0)
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, tf.constant(str(tmp_path / "f")))
        session.run(v.initializer)
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"in": x}, {"out": x * v})
    (meta,) = read_graph(tmp_path / "model").meta_graphs
    assert list(meta.meta_info_def.tags) == ["serve"]
    assert tf.saved_model.is_valid_signature(meta.signature_def["serving_default"])
    assert not any(node.device for node in meta.graph_def.node if not node.name.startswith("save"))
    assert (tmp_path / "model" / "assets" / "f").read_text() == "content"
    with pytest.raises(ValueError, match="Prediction inputs cannot be None or empty"):
        tf.saved_model.simple_save(session, str(tmp_path / "other"), {}, {"out": x})
    assert not (tmp_path / "other").exists()


def test_main_op_with_restore_initializes_then_runs_another() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=2.0)
        local = tf.get_variable("l", initializer=5.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        after = tf.assign(v, 7.0).op
        session.run(tf.saved_model.main_op.main_op())
        assert session.run([v, local]) == [2, 5]
        session.run(tf.saved_model.main_op_with_restore(after.name))
        assert session.run(v) == 7


def test_two_initializations_are_one_too_many(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        for _ in range(2):
            tf.add_to_collection("saved_model_main_op", tf.no_op())
        builder = tf.saved_model.Builder(tmp_path)
        builder.add_meta_graph_and_variables(session, ["a"])
        builder.save()
    with (
        tf.Session(graph=tf.Graph()) as session,
        pytest.raises(RuntimeError, match="exactly one SavedModel init op"),
    ):
        tf.saved_model.load(session, ["a"], tmp_path)


def test_a_file_that_is_no_graph_is_told(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"invalid content")
    with tf.Session() as session, pytest.raises(OSError, match=r"Cannot parse file(.|\n)*saved_model.pb"):
        tf.saved_model.load(session, ["a"], tmp_path)


# Signatures


def test_the_info_of_sparse_tensors() -> None:
    with tf.Graph().as_default():
        sparse = tf.sparse_placeholder(tf.float32, [3, 4], name="s")
        info = tf.saved_model.build_tensor_info(sparse)
        assert info.coo_sparse.values_tensor_name == sparse.values.name
        assert info.coo_sparse.indices_tensor_name == sparse.indices.name
        assert info.coo_sparse.dense_shape_tensor_name == sparse.dense_shape.name
        assert info.dtype == tf.float32.as_datatype_enum
        again = tf.saved_model.get_tensor_from_tensor_info(info)
        assert again.values is sparse.values
        with pytest.raises(ValueError, match=r"Invalid TensorInfo\.encoding: None"):
            tf.saved_model.get_tensor_from_tensor_info(tf.TensorInfo())
        with pytest.raises(KeyError):
            tf.saved_model.get_tensor_from_tensor_info(info, import_scope="nothing")
        with pytest.raises(TypeError, match="A Tensor or SparseTensor is needed"):
            tf.saved_model.build_tensor_info([1, 2])


def test_what_signatures_refuse() -> None:
    text, number = tf.constant("a"), tf.constant(1.0)
    for make, arguments, message in (
        (tf.saved_model.regression_signature_def, (None, number), "examples cannot be None"),
        (tf.saved_model.regression_signature_def, (number, number), "examples must be a string Tensor"),
        (tf.saved_model.regression_signature_def, (text, None), "predictions cannot be None"),
        (tf.saved_model.regression_signature_def, (text, text), "output must be a float Tensor"),
        (tf.saved_model.classification_signature_def, (None, text, number), "examples cannot be None"),
        (tf.saved_model.classification_signature_def, (1, text, number), "examples must be a string Tensor"),
        (tf.saved_model.classification_signature_def, (text, None, None), "cannot both be None"),
        (tf.saved_model.classification_signature_def, (text, number, None), "classes must be a string"),
        (tf.saved_model.classification_signature_def, (text, text, text), "scores must be a float"),
    ):
        with pytest.raises(ValueError, match=message):
            make(*arguments)


def test_which_signatures_can_be_served() -> None:
    text, number = (tf.saved_model.build_tensor_info(tf.constant(value)) for value in ("a", 1.0))
    names = tf.saved_model.signature_constants
    make = tf.saved_model.build_signature_def
    valid = tf.saved_model.is_valid_signature
    assert valid(make({"any": number}, {"any": text}, names.PREDICT_METHOD_NAME))
    assert valid(make({"inputs": text}, {"outputs": number}, names.REGRESS_METHOD_NAME))
    assert valid(make({"inputs": text}, {"classes": text}, names.CLASSIFY_METHOD_NAME))
    assert valid(make({"inputs": text}, {"classes": text, "scores": number}, names.CLASSIFY_METHOD_NAME))
    for wrong in (
        None,
        make({}, {"any": text}, names.PREDICT_METHOD_NAME),
        make({"any": number}, {"any": text}, "other"),
        make({"inputs": number}, {"outputs": number}, names.REGRESS_METHOD_NAME),
        make({"inputs": text, "more": text}, {"outputs": number}, names.REGRESS_METHOD_NAME),
        make({"inputs": text}, {"outputs": text}, names.REGRESS_METHOD_NAME),
        make({"inputs": text}, {"classes": number}, names.CLASSIFY_METHOD_NAME),
        make({"inputs": text}, {"other": text}, names.CLASSIFY_METHOD_NAME),
    ):
        assert not valid(wrong)
