"""Against a real TensorFlow: it reads what we write, and writes the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from big_endian import write_big_endian
from corpus_files import corpus_params, description, model_folders
from golden_values import named_values

from sgtool.formats import checkpoint_state, graph_file, protos, registry, tensor_proto
from sgtool.formats.bundle import open_bundle
from sgtool.formats.bundle_writer import write_bundle
from sgtool.formats.checkpoint_state_writer import write_state
from sgtool.formats.entry import entry_of
from sgtool.formats.parts import Part

GOLDEN = Path(__file__).parents[1] / "golden"

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("default"),  # TensorFlow's own
]


@pytest.fixture(scope="module")
def tf() -> Any:
    tensorflow = pytest.importorskip("tensorflow.compat.v1")
    tensorflow.disable_eager_execution()
    return tensorflow


def save(tf: Any, prefix: Path, named: dict[str, Any], slices: dict[str, str] | None = None) -> None:
    """Saves arrays with TensorFlow's SaveV2, in the order given."""
    names = list(named)
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(
            tf.raw_ops.SaveV2(
                prefix=str(prefix),
                tensor_names=[name.partition("#")[0] for name in names],
                shape_and_slices=[(slices or {}).get(name, "") for name in names],
                tensors=[tf.constant(array) for array in named.values()],
            )
        )


def same(one: Path, other: Path) -> None:
    for suffix in (".index", ".data-00000-of-00001"):
        assert Path(f"{one}{suffix}").read_bytes() == Path(f"{other}{suffix}").read_bytes(), suffix


def test_tensorflow_reads_every_dtype(tf: Any, tmp_path: Path) -> None:
    expected = named_values()
    write_bundle(
        tmp_path / "m", [entry_of(name, array, info) for name, (info, array) in sorted(expected.items())]
    )
    write_state(tmp_path, str(tmp_path / "m"))
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "m")
    reader = tf.train.NewCheckpointReader(str(tmp_path / "m"))
    assert set(reader.get_variable_to_shape_map()) == set(expected)
    for name, (info, array) in expected.items():
        assert reader.get_variable_to_dtype_map()[name].as_datatype_enum == info.number
        if info.kind == "string":  # NumPy's fixed-width strings end before their last NULs
            np.testing.assert_array_equal(np.array(reader.get_tensor(name), object), array)
        elif info.kind != "quantized" and info.name not in ("int4", "uint4"):
            np.testing.assert_array_equal(reader.get_tensor(name), array)


def test_long_indexes_of_several_blocks_are_byte_identical(tf: Any, tmp_path: Path) -> None:
    names = [f"{i:05d}/{'layer' * 80}/weights" for i in range(1600)]
    named = {name: np.array([i, -i], np.float32) for i, name in enumerate(sorted(names))}
    save(tf, tmp_path / "theirs", named)
    write_bundle(tmp_path / "ours", [entry_of(name, array) for name, array in named.items()])
    assert (tmp_path / "theirs.index").stat().st_size > 2 * 262_144
    same(tmp_path / "ours", tmp_path / "theirs")


def test_an_entry_larger_than_two_blocks_is_byte_identical(tf: Any, tmp_path: Path) -> None:
    """A variable of very many parts: its own entry lists them all, over 512 KB."""
    count, ones = 4_500, 30
    value = np.zeros((1,) * (1 + ones), np.float32)
    specs = {f"v#{i}": f"{count}{' 1' * ones} {i},1{':0,1' * ones}" for i in range(count)}
    everything = {"a": np.int32(1), **dict.fromkeys(specs, value[:1]), "w": np.int32(2)}
    save(tf, tmp_path / "theirs", everything, specs)
    parts = [entry_of("v", value, part=Part.parse(spec)) for spec in specs.values()]
    write_bundle(tmp_path / "ours", [entry_of("a", np.int32(1)), *parts, entry_of("w", np.int32(2))])
    assert (tmp_path / "theirs.index").stat().st_size > 2 * 262_144
    same(tmp_path / "ours", tmp_path / "theirs")


def test_tensorflow_assembles_our_parts(tf: Any, tmp_path: Path) -> None:
    value = np.arange(12, dtype=np.float64).reshape(4, 3)
    parts = [
        entry_of("v", value[:, :2], part=Part.parse("4 3 -:0,2")),
        entry_of("v", value[:, 2:], part=Part.parse("4 3 0,4:2,1")),
    ]
    write_bundle(tmp_path / "m", parts)
    with tf.Graph().as_default(), tf.Session() as session:
        whole, middle = session.run(
            [
                tf.raw_ops.RestoreV2(
                    prefix=str(tmp_path / "m"),
                    tensor_names=["v"],
                    shape_and_slices=[spec],
                    dtypes=[tf.float64],
                )
                for spec in ("", "4 3 1,2:1,2")
            ]
        )
    np.testing.assert_array_equal(whole[0], value)
    np.testing.assert_array_equal(middle[0], value[1:3, 1:3])


def test_tensorflow_reads_our_shards(tf: Any, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", [entry_of(f"v{i}", np.full(5, i, np.int64)) for i in range(7)], shards=3)
    reader = tf.train.NewCheckpointReader(str(tmp_path / "m"))
    assert [reader.get_tensor(f"v{i}").tolist() for i in range(7)] == [[i] * 5 for i in range(7)]


def test_a_saver_restores_our_checkpoint_and_its_own_is_the_same(tf: Any, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("b", initializer=np.zeros((2, 2), np.float32))
        tf.get_variable("a/x", initializer=np.int64(0), use_resource=True)
        saver = tf.train.Saver()
        values = {"a/x": np.int64(5), "b": np.arange(4, dtype=np.float32).reshape(2, 2)}
        write_bundle(tmp_path / "ours", [entry_of(name, array) for name, array in values.items()])
        saver.restore(session, str(tmp_path / "ours"))
        saver.save(session, str(tmp_path / "theirs"), write_state=False)
    same(tmp_path / "ours", tmp_path / "theirs")
    read = open_bundle(tmp_path / "theirs")
    assert {name: entry.read().tolist() for name, entry in read.items()} == {
        n: a.tolist() for n, a in values.items()
    }


def test_graphs_go_both_ways(tf: Any, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3], "x")
        tf.identity(tf.matmul(x, tf.get_variable("w", [3, 2])), "y")
        tf.train.Saver()
        theirs = tf.train.export_meta_graph(str(tmp_path / "t.meta"))
    read = graph_file.read_graph(tmp_path / "t.meta")
    assert protos.encode(read.message) == theirs.SerializeToString(deterministic=True)
    for name in ("o.meta", "o.pbtxt"):
        graph_file.write_graph(tmp_path / name, read.message)
        with tf.Graph().as_default() as graph:
            tf.train.import_meta_graph(str(tmp_path / name))
            assert graph.get_tensor_by_name("y:0").shape.as_list() == [None, 2]
    tf.train.export_meta_graph(
        str(tmp_path / "t.pbtxt"),
        meta_info_def=theirs.meta_info_def,
        graph_def=theirs.graph_def,
        as_text=True,
    )
    assert graph_file.read_graph(tmp_path / "t.pbtxt").message.graph_def == read.message.graph_def


def test_tensors_go_both_ways_and_coexist_in_one_process(tf: Any) -> None:
    from tensorflow.core.framework import tensor_pb2
    from tensorflow.python.framework import tensor_util

    for name, (info, array) in named_values().items():
        ours = protos.encode(tensor_proto.from_array(array, info))
        theirs = tensor_util.make_tensor_proto(array, dtype=info.number if info.kind == "quantized" else None)
        assert theirs.SerializeToString(deterministic=True) == ours, name
        back = tensor_util.MakeNdarray(tensor_pb2.TensorProto.FromString(ours))
        np.testing.assert_array_equal(back.astype(array.dtype), array)
        read = tensor_proto.to_array(protos.parse(protos.TensorProto, theirs.SerializeToString(), name))
        np.testing.assert_array_equal(read, array)


def same_values(tf: Any, prefix: str) -> int:
    """Compares all that TensorFlow reads of a checkpoint with what we read; gives how many tensors it has."""
    store, reader = registry.open_store(prefix), tf.train.NewCheckpointReader(prefix)
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert set(store) == set(shapes)
    for name, entry in store.items():
        assert (list(entry.shape), entry.dtype.number) == (shapes[name], types[name].as_datatype_enum), name
    readable = [entry for entry in store.values() if entry.dtype.kind != "handle"]
    with tf.Graph().as_default(), tf.Session() as session:
        theirs = session.run(
            tf.raw_ops.RestoreV2(
                prefix=prefix,
                tensor_names=[entry.name for entry in readable],
                shape_and_slices=[""] * len(readable),
                dtypes=[types[entry.name] for entry in readable],
            )
        )
    for entry, value in zip(readable, theirs, strict=True):
        if entry.dtype.kind == "string":
            np.testing.assert_array_equal(np.array(value, object), entry.read())
        else:
            assert np.asarray(value).tobytes() == entry.read().tobytes(), entry.name
    return len(store)


CHECKPOINTS = [*corpus_params("models/**/*.index"), *corpus_params("models/*/export-*-of-*")]
WRITTEN = (
    "slices",
    "sharded",
    "partitioned",
    "repartitioned",
    "variants",
    "big_endian",
    "slices_v1",
    "v1/sharded-?????-of-00002",
    "tf2/ckpt",
    "model/model.ckpt-2",
)


@pytest.mark.parametrize("path", CHECKPOINTS)
def test_published_checkpoints_have_tensorflows_values(tf: Any, path: Path) -> None:
    assert same_values(tf, str(path).removesuffix(".index"))


@pytest.mark.parametrize("folder", model_folders("siamese_v1", "tdgammon"))
def test_published_checkpoints_of_the_first_generation(tf: Any, folder: Path) -> None:
    prefix = folder / description(folder)["ckpt"]
    assert checkpoint_state.resolve_prefix(prefix).version == 1
    assert same_values(tf, str(prefix))


@pytest.mark.parametrize("name", WRITTEN)
def test_golden_files_have_tensorflows_values(tf: Any, name: str) -> None:
    assert same_values(tf, str(GOLDEN / name))


def test_tensorflow_reads_our_variants(tf: Any, tmp_path: Path) -> None:
    write_bundle(tmp_path / "m", open_bundle(GOLDEN / "variants").values())
    with tf.Graph().as_default(), tf.Session() as session:
        [handle] = tf.raw_ops.RestoreV2(
            prefix=str(tmp_path / "m"), tensor_names=["list"], shape_and_slices=[""], dtypes=[tf.variant]
        )
        stacked = tf.raw_ops.TensorListStack(
            input_handle=handle, element_shape=tf.constant([2]), element_dtype=tf.float32
        )
        assert session.run(stacked).tolist() == [[1, 2], [3, 4]]


def test_tensorflow_reads_a_big_endian_checkpoint_like_us(tf: Any, tmp_path: Path) -> None:
    wanted = ("float16", "float32", "float64", "string")
    named = {name: pair for name, pair in sorted(named_values().items()) if pair[0].name in wanted}
    write_big_endian(tmp_path / "m", named)
    assert same_values(tf, str(tmp_path / "m")) == len(named) > 20
