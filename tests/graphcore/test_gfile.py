"""`tf.gfile`, and the programs that use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sgtool import graphcore as tf


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
