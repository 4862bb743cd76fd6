"""`tf.summary.FileWriter`: summaries, graphs and run metadata into an event file.

Source: tensorflow/python/summary/writer/writer.py (r1.15), behaviour only.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from typing import Any

from ..formats import event_file, files, protos
from . import importer, logging, meta_graph_export, plugin_asset
from .default import get_default_graph
from .errors import InvalidTypeError, InvalidValueError
from .graph import Graph
from .ops.summary_writer import session_writer

_PLUGINS_DIR = "plugins"


class FileWriter:
    """Writes an event file that TensorBoard shows; a context manager.

    Args:
        logdir: The directory, made where it is missing.
        graph: A graph to write at once, with its MetaGraphDef.
        max_queue: After so many events what is buffered is written.
        flush_secs: After so many seconds what is buffered is written, at the next event.
        graph_def: Old form of `graph`.
        filename_suffix: What the file's name ends in.
        session: A session, in which writers of one directory share a file.
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        graph: Any = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: Any = None,
        filename_suffix: str | None = None,
        session: Any = None,
    ) -> None:
        self._logdir = os.fspath(logdir)
        self._suffix = filename_suffix or ""
        self._limits = max_queue, flush_secs
        self._session = session
        self._closed = False
        self._lock = threading.Lock()
        self._tags: set[str] = set()
        self._run_tags: set[str] = set()
        self._open()
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)
            definition = graph_def if graph_def is not None else graph
            if isinstance(definition, Graph):
                definition = definition.as_graph_def(add_shapes=True)
            self.add_meta_graph(meta_graph_export.export_meta_graph(graph_def=definition, collection_list=[]))

    def _open(self) -> None:
        if self._session is not None:
            self._writer: Any = session_writer(self._session, self._logdir, self._suffix, *self._limits)
        else:
            self._writer = event_file.EventWriter(self._logdir, self._suffix)
        self._waiting, self._flushed = 0, time.monotonic()

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def _warn_if_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter "
                "is explicitly reopened.",
                stacklevel=4,
            )

    def _add(self, event: Any, global_step: Any) -> None:
        event.wall_time = time.time()
        if global_step is not None:
            event.step = int(global_step)
        self._write(event)

    def _write(self, event: Any) -> None:
        self._warn_if_closed()
        with self._lock:
            if self._closed:
                return
            self._writer.write(event)
            self._waiting += 1
            queue, seconds = self._limits
            if self._waiting > queue or time.monotonic() - self._flushed > seconds:
                self._flush()

    def _flush(self) -> None:
        self._writer.flush()
        self._waiting, self._flushed = 0, time.monotonic()

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Adds a Summary: a message, or the bytes that a run of a summary operation gives.

        A tag's metadata is written once.
        """
        message = importer.as_message(summary, protos.Summary, "summary")
        event = protos.Event(summary=message)
        for value in event.summary.value:
            if value.HasField("metadata"):
                if value.tag in self._tags:
                    value.ClearField("metadata")
                self._tags.add(value.tag)
        self._add(event, global_step)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Adds a graph, and the assets of its plugins.

        Args:
            graph: The Graph, or a GraphDef.
            global_step: The step.
            graph_def: A GraphDef in place of `graph`.

        Raises:
            ValueError: Both are given.
            TypeError: It is neither a Graph nor a GraphDef.
        """
        if graph is not None and graph_def is not None:
            raise InvalidValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph if graph is not None else graph_def
        if isinstance(given, Graph):
            definition = given.as_graph_def(add_shapes=True)
            self._write_plugin_assets(given)
        elif _is_message(given, "GraphDef"):
            logging.warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object instead, "
                "such as `sess.graph`."
            )
            definition = given
        else:
            raise InvalidTypeError(
                "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
            )
        self._add(protos.Event(graph_def=protos.encode(definition)), global_step)

    def _write_plugin_assets(self, graph: Graph) -> None:
        for container in plugin_asset.get_all_plugin_assets(graph):
            folder = os.path.join(self._logdir, _PLUGINS_DIR, container.plugin_name)
            files.make_directory(folder, parents=True)
            for name, content in container.assets().items():
                data = content if isinstance(content, bytes) else content.encode()
                files.write_bytes(os.path.join(folder, name), data)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Adds a MetaGraphDef.

        Raises:
            TypeError: It is none.
        """
        if not _is_message(meta_graph_def, "MetaGraphDef"):
            raise InvalidTypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        self._add(protos.Event(meta_graph_def=protos.encode(meta_graph_def)), global_step)

    def add_event(self, event: Any) -> None:
        """Adds an Event message as it is."""
        self._write(importer.as_message(event, protos.Event, "event"))

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Adds a SessionLog message."""
        event = protos.Event()
        event.session_log.MergeFromString(session_log.SerializeToString())
        self._add(event, global_step)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Adds the RunMetadata of a traced run under a tag.

        Raises:
            ValueError: The tag was used before.
        """
        if tag in self._run_tags:
            raise InvalidValueError("The provided tag was already used for this event type")
        self._run_tags.add(tag)
        event = protos.Event()
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = run_metadata.SerializeToString()
        self._add(event, global_step)

    def flush(self) -> None:
        """Writes what is buffered."""
        self._warn_if_closed()
        with self._lock:
            if not self._closed:
                self._flush()

    def close(self) -> None:
        """Writes what is buffered and closes the file."""
        with self._lock:
            if not self._closed:
                self._flush()
                self._writer.close()
                self._closed = True

    def reopen(self) -> None:
        """Goes on after `close`, in a new file."""
        with self._lock:
            if self._closed:
                self._open()
                self._closed = False

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _is_message(value: Any, name: str) -> bool:
    """Whether it is a message of that name, ours or that of an installed TensorFlow."""
    return getattr(getattr(value, "DESCRIPTOR", None), "name", None) == name


class FileWriterCache:
    """`tf.summary.FileWriterCache`: one FileWriter for each directory."""

    _cache: dict[str, FileWriter] = {}  # noqa: RUF012  # a cache of the process, as TensorFlow's
    _lock = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes them all and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}

    @staticmethod
    def get(logdir: str) -> FileWriter:
        """The FileWriter of a directory; a new one writes the default graph."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
            return FileWriterCache._cache[logdir]
