"""First-generation checkpoints as we write them: TensorFlow's bytes, by the ops of a graph too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours
from sgtool.formats import registry, v1_writer
from sgtool.formats.entry import Entry, entry_of
from sgtool.formats.errors import InvalidTypeError, InvalidValueError
from sgtool.formats.parts import Part
from sgtool.formats.v1 import V1Checkpoint, _reader

GOLDEN = Path(__file__).parents[1] / "golden"


def entries_of(path: Path) -> list[Entry]:
    """Every part in a file, as it is stored there."""
    store = registry.open_store(path)
    assert isinstance(store, V1Checkpoint)
    found = []
    for name, tensor in store._entries.items():
        whole = store[name]
        for part, table, key, where in tensor.parts:
            values = _reader(name, part, table, key, where, whole.dtype)()
            is_whole = all(pair == (0, -1) for pair in part.extents)
            found.append(entry_of(name, values, whole.dtype, None if is_whole else part))
    return found


@pytest.mark.parametrize("file", ["v1/dtypes", "slices_v1"])
def test_a_file_of_tensorflow_is_written_again_byte_for_byte(file: str, tmp_path: Path) -> None:
    entries = entries_of(GOLDEN / file)
    assert entries
    v1_writer.write_v1(tmp_path / "again", sorted(entries, key=lambda entry: entry.name, reverse=True))
    assert (tmp_path / "again").read_bytes() == (GOLDEN / file).read_bytes()


def test_what_cannot_be_written(tmp_path: Path) -> None:
    names = {"float": np.ones(2, np.float32), "u": np.ones(2, np.uint32), "v": np.ones(1, np.uint64)}
    with pytest.raises(InvalidTypeError) as caught:
        v1_writer.write_v1(tmp_path / "x", [entry_of(name, value) for name, value in names.items()])
    assert caught.value.fields["names"] == ["u: uint32", "v: uint64"]
    one, other = entry_of("a", np.ones(2)), entry_of("a", np.ones(3), None, Part((4,), ((0, 3),)))
    with pytest.raises(InvalidValueError, match=r"'a' is float64 of \[2\] and float64 of \[4\]"):
        v1_writer.write_v1(tmp_path / "x", [one, other])
    with pytest.raises(InvalidValueError, match="'a' comes twice"):
        v1_writer.write_v1(tmp_path / "x", [one, one])
    assert list(tmp_path.iterdir()) == []


TENSORS: dict[str, Any] = {
    "weights/w": np.arange(12, dtype=np.float32).reshape(3, 4) / 7,
    "b": np.array([-1, 2**40], np.int64),
    "empty": np.zeros((0, 3), np.float32),
    "flags": np.array([True, False]),
    "half": np.array([0.1, -2.5], np.float16),
    "int8": np.array([[-3, 7]], np.int8),
    "scalar": np.float64(1e-300),
    "complex": np.array([1 - 2j], np.complex64),
    "text": np.array([b"", b"abc", b"\xff\x00"], object),
}


def save(tf: Any, path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tf.constant(value) for value in TENSORS.values()]
        session.run(tf.raw_ops.Save(filename=str(path), tensor_names=list(TENSORS), data=tensors))


def save_slices(tf: Any, path: Path) -> None:
    whole = TENSORS["weights/w"]
    with tf.Graph().as_default(), tf.Session() as session:
        names = ["w", "x", "w", "y", "full"]
        specs = ["3 4 0,2:0,4", "", "3 4 2,1:0,4", "5 4 1,3:-", "3 4 0,3:0,4"]
        data = [whole[:2], TENSORS["b"], whole[2:], whole, whole]
        tensors = [tf.constant(value) for value in data]
        arguments = {"tensor_names": names, "shapes_and_slices": specs, "data": tensors}
        session.run(tf.raw_ops.SaveSlices(filename=str(path), **arguments))


def restored(tf: Any, path: Path) -> list[Any]:
    raw = tf.raw_ops
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = []
        for name, value in TENSORS.items():
            dtype = tf.string if np.asarray(value).dtype == object else tf.as_dtype(np.asarray(value).dtype)
            tensors.append(raw.Restore(file_pattern=str(path), tensor_name=name, dt=dtype))
        part = raw.RestoreSlice(
            file_pattern=str(path), tensor_name="weights/w", shape_and_slice="3 4 1,2:0,3", dt=tf.float32
        )
        assert part.get_shape().as_list() == [2, 3]
        return list(session.run([*tensors, part]))


def check(values: list[Any]) -> None:
    *tensors, part = values
    for value, wanted in zip(tensors, TENSORS.values(), strict=True):
        np.testing.assert_array_equal(value, wanted)
    np.testing.assert_array_equal(part, TENSORS["weights/w"][1:, :3])


def test_saved_and_restored(tmp_path: Path) -> None:
    save(ours, tmp_path / "model")
    check(restored(ours, tmp_path / "model"))
    save_slices(ours, tmp_path / "slices")
    with ours.Graph().as_default(), ours.Session() as session:
        read = ours.raw_ops.RestoreSlice(str(tmp_path / "slices"), "w", "3 4 1,2:-", dt=ours.float32)
        np.testing.assert_array_equal(session.run(read), TENSORS["weights/w"][1:])


@pytest.mark.parametrize(
    ("name", "spec", "dtype", "kind", "text"),
    [
        ("none", "", ours.float32, "NotFoundError", 'Tensor name "none" not found in checkpoint files'),
        (
            "b",
            "",
            ours.int32,
            "InvalidArgumentError",
            "Expected to restore a tensor of type int32, got a tensor of type int64 instead: tensor_name = b",
        ),
        (
            "b",
            "3 0,2",
            ours.int64,
            "InvalidArgumentError",
            "does not match the shape in the save file: [3], save file shape: [2]",
        ),
    ],
)
def test_refused(tmp_path: Path, name: str, spec: str, dtype: Any, kind: str, text: str) -> None:
    save(ours, tmp_path / "model")
    with ours.Graph().as_default(), ours.Session() as session:
        read = ours.raw_ops.RestoreSlice(str(tmp_path / "model"), name, spec, dt=dtype)
        with pytest.raises(getattr(ours.errors, kind)) as caught:
            session.run(read)
        assert text in caught.value.message


def test_refused_parts(tmp_path: Path) -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        write = ours.raw_ops.SaveSlices(str(tmp_path / "x"), ["a"], ["4 0,3"], [ours.constant([1.0, 2.0])])
        with pytest.raises(ours.errors.InvalidArgumentError, match="does not match the shape of the tensor"):
            session.run(write)
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 1"):
            ours.raw_ops.Save(str(tmp_path / "x"), ["a", "b"], [ours.constant(1.0)])


@pytest.mark.oracle
@pytest.mark.parametrize("write", [save, save_slices])
def test_tensorflow_writes_and_reads_the_same(write: Any, tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    write(ours, tmp_path / "ours")
    write(tf, tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    if write is save:
        check(restored(tf, tmp_path / "ours"))
        check(restored(ours, tmp_path / "theirs"))


def by_saver(tf: Any, folder: Path) -> Any:
    """Two checkpoints by a Saver that keeps one; gives its SaverDef."""
    with tf.Graph().as_default(), tf.Session() as session:
        first = tf.get_variable("a", initializer=np.array([1, 2], np.float32))
        tf.get_variable("net/b", initializer=np.int64(3), use_resource=True)
        saver = tf.train.Saver(write_version=tf.train.SaverDef.V1, max_to_keep=1)
        session.run(tf.global_variables_initializer())
        saver.save(session, str(folder / "m"), global_step=1)
        session.run(first.assign([5.0, 6.0]))
        assert saver.save(session, str(folder / "m"), global_step=2) == str(folder / "m-2")
        assert sorted(path.name for path in folder.iterdir()) == ["checkpoint", "m-2", "m-2.meta"]
        return saver.as_saver_def().SerializeToString()


def go_on(tf: Any, folder: Path) -> None:
    """Restores it, in a graph that is imported."""
    with tf.Graph().as_default(), tf.Session() as session:
        path = tf.train.latest_checkpoint(str(folder))
        saver = tf.train.import_meta_graph(f"{path}.meta")
        saver.restore(session, path)
        assert session.run(["a:0", "net/b/Read/ReadVariableOp:0"])[0].tolist() == [5, 6]
        saver.save(
            session, str(folder / "on"), write_state=False
        )  # in the version of the saver that was imported
    assert (folder / "on").read_bytes() == (folder / "m-2").read_bytes()
    assert not (folder / "on.index").exists()


def test_a_saver_writes_the_first_version(tmp_path: Path) -> None:
    by_saver(ours, tmp_path)
    go_on(ours, tmp_path)
    with pytest.raises(ours.errors.UnimplementedError, match="write_version is 1 or 2"):
        ours.train.Saver([], write_version=3)


@pytest.mark.oracle
def test_savers_of_the_first_version_agree(tmp_path: Path) -> None:
    tf = pytest.importorskip("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    definitions, files, nodes = [], [], []
    for system, other in ((ours, tf), (tf, ours)):
        folder = tmp_path / system.__name__
        folder.mkdir()
        definitions.append(by_saver(system, folder))
        files.append((folder / "m-2").read_bytes())
        go_on(other, folder)
        with ours.Graph().as_default() as graph:
            ours.train.import_meta_graph(str(folder / "m-2.meta"))
            made = [op for op in graph.get_operations() if op.name.startswith("save/")]
            nodes.append({op.name: op.type for op in made})
    assert definitions[0] == definitions[1]
    assert files[0] == files[1]
    assert {"save/save": "SaveSlices"}.items() <= nodes[0].items() & nodes[1].items()
