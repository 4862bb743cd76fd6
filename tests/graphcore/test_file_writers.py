"""`tf.summary.FileWriter`, its cache, assets of plugins, and `tf.python_io`'s options."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sgtool import graphcore as tf
from sgtool.formats.event_file import read_events
from sgtool.graphcore import plugin_asset


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made
    tf.summary.FileWriterCache.clear()


def events(folder: Path) -> list[Any]:
    return [event for path in sorted(folder.glob("events*")) for event in read_events(path)][1:]


class TestFileWriter:
    def test_a_graph_is_written_with_its_meta_graph(self, tmp_path: Path, graph: Any) -> None:
        tf.constant(1, name="c")
        for number, options in enumerate(
            ({"graph": graph}, {"graph_def": graph.as_graph_def(add_shapes=True)})
        ):
            folder = tmp_path / str(number)
            with tf.summary.FileWriter(str(folder), **options) as writer:
                assert writer.get_logdir() == str(folder)
            first, second = events(folder)
            graph_def = tf.GraphDef.FromString(first.graph_def)
            assert [node.name for node in graph_def.node] == ["c"]
            assert tf.MetaGraphDef.FromString(second.meta_graph_def).graph_def == graph_def

    def test_refuses_what_is_no_graph(self, tmp_path: Path, graph: Any) -> None:
        with tf.summary.FileWriter(str(tmp_path)) as writer:
            with pytest.raises(TypeError, match="The passed graph must be an instance of `Graph`"):
                writer.add_graph("graph")
            with pytest.raises(ValueError, match="Please pass only graph, or graph_def"):
                writer.add_graph(graph, graph_def=graph.as_graph_def())
            with pytest.raises(TypeError, match="meta_graph_def must be type MetaGraphDef"):
                writer.add_meta_graph(graph.as_graph_def())

    def test_metadata_of_a_tag_is_written_once(self, tmp_path: Path) -> None:
        summary = tf.Summary()
        summary.value.add(tag="t", simple_value=1.0).metadata.display_name = "T"
        with tf.summary.FileWriter(str(tmp_path), filename_suffix=".mine") as writer:
            for step in (1, 2):
                writer.add_summary(summary.SerializeToString(), step)
        found = events(tmp_path)
        assert [event.step for event in found] == [1, 2]
        assert [event.summary.value[0].HasField("metadata") for event in found] == [True, False]
        assert next(tmp_path.iterdir()).name.endswith(".mine")

    def test_a_tag_of_run_metadata_is_used_once(self, tmp_path: Path) -> None:
        with tf.summary.FileWriter(str(tmp_path)) as writer:
            writer.add_run_metadata(tf.RunMetadata(), "step1")
            with pytest.raises(ValueError, match="The provided tag was already used for this event type"):
                writer.add_run_metadata(tf.RunMetadata(), "step1")

    def test_a_closed_one_warns_until_it_is_reopened(self, tmp_path: Path) -> None:
        writer = tf.summary.FileWriter(str(tmp_path))
        writer.close()
        for act in (lambda: writer.add_summary(tf.Summary()), writer.flush):
            with pytest.warns(UserWarning, match="Attempting to use a closed FileWriter"):
                act()
        writer.reopen()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            writer.add_session_log(tf.SessionLog(status=1), 3)
            writer.close()
        assert [event.step for event in events(tmp_path) if event.HasField("session_log")] == [3]

    def test_events_are_written_in_time(self, tmp_path: Path) -> None:
        writer = tf.summary.FileWriter(str(tmp_path), max_queue=1)
        for step in range(2):
            writer.add_summary(tf.Summary(), step)
        assert len(events(tmp_path)) == 2
        writer.close()

    def test_in_a_session_a_directory_has_one_file(self, tmp_path: Path) -> None:
        tf.constant(1)
        with tf.Session() as session:
            writers = [tf.summary.FileWriter(str(tmp_path), session=session) for _ in range(2)]
            for step, writer in enumerate(writers):
                writer.add_summary(tf.Summary(), step)
                writer.flush()
            assert [event.step for event in events(tmp_path)] == [0, 1]
            writers[0].close()
        assert len(list(tmp_path.iterdir())) == 1

    def test_the_cache_has_one_for_each_directory(self, tmp_path: Path) -> None:
        first = tf.summary.FileWriterCache.get(str(tmp_path / "a"))
        assert tf.summary.FileWriterCache.get(str(tmp_path / "a")) is first
        assert tf.summary.FileWriterCache.get(str(tmp_path / "b")) is not first
        tf.summary.FileWriterCache.clear()
        assert tf.summary.FileWriterCache.get(str(tmp_path / "a")) is not first


class TestPluginAssets:
    def test_are_written_with_the_graph(self, tmp_path: Path, graph: Any) -> None:
        class Asset(plugin_asset.PluginAsset):
            plugin_name = "mine"

            def assets(self) -> dict[str, Any]:
                return {"a.txt": "text", "b.bin": b"\x00"}

        made = plugin_asset.get_plugin_asset(Asset)
        assert plugin_asset.get_plugin_asset(Asset) is made
        assert plugin_asset.get_all_plugin_assets() == [made]
        with tf.summary.FileWriter(str(tmp_path), graph):
            pass
        assert (tmp_path / "plugins/mine/a.txt").read_text() == "text"
        assert (tmp_path / "plugins/mine/b.bin").read_bytes() == b"\x00"

    def test_names(self) -> None:
        class Unnamed(plugin_asset.PluginAsset):
            def assets(self) -> dict[str, Any]:
                return {}

        class First(Unnamed):
            plugin_name = "x"

        class Second(Unnamed):
            plugin_name = "x"

        with pytest.raises(ValueError, match="has no plugin_name"):
            plugin_asset.get_plugin_asset(Unnamed)
        plugin_asset.get_plugin_asset(First)
        with pytest.raises(ValueError, match="Plugin name collision: x"):
            plugin_asset.get_plugin_asset(Second)


def test_descriptions_of_summaries() -> None:
    node = tf.NodeDef(op="TensorSummary", name="s")
    node.attr["description"].s = b'{"type_hint": "hint"}'
    assert tf.summary.get_summary_description(node).type_hint == "hint"
    node.attr["description"].s = b"{"
    with pytest.raises(ValueError, match="not the JSON of a SummaryDescription"):
        tf.summary.get_summary_description(node)
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(tf.NodeDef(op="Const"))
    assert tf.summary.all_v2_summary_ops() == []
    with pytest.raises(RuntimeError, match=r"No default tf\.contrib\.summary\.SummaryWriter found"):
        tf.summary.initialize()


def test_records(tmp_path: Path) -> None:
    options = tf.python_io.TFRecordOptions("GZIP", compression_level=9, mem_level=8)
    assert options.compression_type_map[tf.python_io.TFRecordCompressionType.ZLIB] == "ZLIB"
    assert (options.mem_level, options.flush_mode) == (8, None)
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "r"), options)
    writer.write(b"one")
    writer.close()
    for act in (lambda: writer.write(b"two"), writer.flush):
        with pytest.raises(
            tf.errors.FailedPreconditionError, match="Writer not initialized or previously closed"
        ):
            act()
    assert list(tf.python_io.tf_record_iterator(str(tmp_path / "r"), options)) == [b"one"]
