"""`tf.gfile`, and the programs that use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgtool import graphcore as tf
from sgtool.graphcore import file_io


def test_files_are_written_and_read(tmp_path: Path) -> None:
    name = str(tmp_path / "a.txt")
    with tf.gfile.GFile(name, "w") as file:
        file.write("one\ntwo\n")
    with tf.gfile.Open(name) as file:
        assert file.readline() == "one\n"
        assert file.tell() == 4
        assert list(file) == ["two\n"]
        assert file.size() == 8
    with tf.gfile.FastGFile(name, "rb") as file:
        assert file.read(3) == b"one"
        file.seek(0)
        assert file.readlines() == [b"one\n", b"two\n"]
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        tf.gfile.GFile(str(tmp_path / "missing")).read()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not 'r' or 'w' or 'a'"):
        tf.gfile.GFile(name, "x")


def test_directories(tmp_path: Path) -> None:
    deep = str(tmp_path / "b" / "c")
    tf.gfile.MakeDirs(deep)
    tf.gfile.MakeDirs(deep)
    first, second = f"{deep}/1.txt", f"{deep}/2.txt"
    Path(first).write_text("1")
    tf.gfile.Copy(first, second)
    with pytest.raises(tf.errors.AlreadyExistsError, match=r"2\.txt"):
        tf.gfile.Copy(first, second)
    tf.gfile.Rename(first, second, overwrite=True)
    assert sorted(tf.gfile.ListDirectory(deep)) == ["2.txt"]
    assert tf.gfile.Glob(f"{deep}/*.txt") == [second]
    assert [row[2] for row in tf.gfile.Walk(deep)] == [["2.txt"]]
    tf.gfile.Remove(second)
    assert not tf.gfile.Exists(second)
    tf.gfile.DeleteRecursively(str(tmp_path / "b"))
    assert not tf.gfile.IsDirectory(deep)
    for call in (tf.gfile.Remove, tf.gfile.ListDirectory, tf.gfile.DeleteRecursively):
        with pytest.raises(tf.errors.NotFoundError):
            call(deep)


def test_the_usual_way_to_load_a_frozen_graph(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.multiply(tf.placeholder(tf.float32, name="x"), 2.0, name="y")
    (tmp_path / "frozen.pb").write_bytes(graph.as_graph_def().SerializeToString())
    graph_def = tf.GraphDef()
    with tf.gfile.GFile(str(tmp_path / "frozen.pb"), "rb") as file:
        graph_def.ParseFromString(file.read())
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def, name="")
        config = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions(allow_growth=True))
        with tf.Session(config=config) as session:
            assert session.run("y:0", {"x:0": 3.0}) == 6.0


def test_reading_and_writing_by_mode(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    with tf.gfile.GFile(path, "w") as file:
        assert (file.name, file.mode, file.seekable()) == (path, "w", True)
        file.write("one\r\ntwo\n")
        file.write(b"three")
        assert file.tell() == 14
        with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for reading"):
            file.read()
    with tf.gfile.GFile(path) as file:
        assert next(file) == "one\n"
        assert file.next() == "two\n"
        assert list(file) == ["three"]
        file.seek(-5, 2)
        assert file.read(2) == "th"
        file.seek(-1, 1)
        assert file.tell() == 10
        file.seek(position=0)
        assert file.readline() == "one\n"
        for arguments, error, text in (
            ({}, TypeError, "offset argument required"),
            ({"offset": 1, "position": 1}, TypeError, "may not be set simultaneously"),
            ({"offset": 1, "whence": 3}, tf.errors.InvalidArgumentError, "Invalid whence argument: 3"),
            ({"offset": -1}, tf.errors.InvalidArgumentError, "before the start"),
        ):
            with pytest.raises(error, match=text):
                file.seek(**arguments)
        with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for writing"):
            file.write("x")
    with tf.gfile.GFile(path, "a+") as file:
        file.write("!")
        assert file.read().endswith("three!")


def test_names_of_both_modules(tmp_path: Path) -> None:
    folder = str(tmp_path / "d")
    tf.gfile.MkDir(folder)
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.io.gfile.mkdir(folder)
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.gfile.mkdir(f"{folder}/x/y")
    tf.io.gfile.makedirs(f"{folder}/x/y")
    with tf.io.gfile.GFile(f"{folder}/f", "wb") as file:
        file.write(b"abc")
    found = tf.gfile.Stat(f"{folder}/f")
    assert (found.length, found.is_directory) == (3, False)
    assert found.mtime_nsec > 10**18
    assert tf.io.gfile.stat(folder).is_directory
    tf.io.gfile.copy(f"{folder}/f", f"{folder}/x/g")
    with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
        tf.io.gfile.rename(f"{folder}/f", f"{folder}/x/g")
    assert tf.io.gfile.glob([f"{folder}/*", f"{folder}/x/g"]) == [f"{folder}/{n}" for n in ("f", "x", "x/g")]
    whole = [(folder, ["x"], ["f"]), (f"{folder}/x", ["y"], ["g"]), (f"{folder}/x/y", [], [])]
    assert list(tf.io.gfile.walk(folder)) == whole
    assert list(tf.gfile.Walk(folder, in_order=False)) == whole[::-1]
    errors: list[Exception] = []
    assert list(tf.io.gfile.walk(f"{folder}/none", onerror=errors.append)) == []
    assert isinstance(errors[0], tf.errors.NotFoundError)


def test_whole_files(tmp_path: Path) -> None:
    first, second = str(tmp_path / "a"), str(tmp_path / "b")
    file_io.write_string_to_file(first, "text")
    file_io.atomic_write_string_to_file(second, "text")
    assert file_io.read_file_to_string(first, binary_mode=True) == b"text"
    assert file_io.file_crc32(first) == "0x3b8ba7c7"
    assert file_io.filecmp(first, second)
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(second, "other", overwrite=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    file_io.write_string_to_file(second, "tex2")
    assert not file_io.filecmp(first, second)
