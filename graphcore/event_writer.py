"""`tf.summary.FileWriter`: summaries, graphs and run metadata into an event file."""

from __future__ import annotations

import os
from typing import Any

from ..formats import event_file, protos
from . import importer
from .graph import Graph


class FileWriter:
    """Writes an event file that TensorBoard shows; a context manager.

    Args:
        logdir: The directory, made where it is missing.
        graph: A graph to write at once.
        **_: Further arguments of TensorFlow's, without effect here.
    """

    def __init__(self, logdir: str | os.PathLike[str], graph: Graph | None = None, **_: Any) -> None:
        self._logdir = os.fspath(logdir)
        self._writer: event_file.EventWriter | None = event_file.EventWriter(logdir)
        if graph is not None:
            self.add_graph(graph)

    def get_logdir(self) -> str:
        """The directory."""
        return self._logdir

    def _write(self, event: Any) -> None:
        if self._writer is None:
            self.reopen()
        assert self._writer is not None
        self._writer.write(event)

    def add_summary(self, summary: Any, global_step: int | None = None) -> None:
        """Adds a Summary: a message, or the bytes that a run of a summary operation gives."""
        message = importer.as_message(summary, protos.Summary, "summary")
        self._write(protos.Event(step=int(global_step or 0), summary=message))

    def add_graph(self, graph: Graph, global_step: int | None = None) -> None:
        """Adds a graph."""
        data = protos.encode(graph.as_graph_def(add_shapes=True))
        self._write(protos.Event(step=int(global_step or 0), graph_def=data))

    def add_event(self, event: Any) -> None:
        """Adds an Event message."""
        self._write(importer.as_message(event, protos.Event, "event"))

    def add_session_log(self, session_log: Any, global_step: int | None = None) -> None:
        """Adds a SessionLog message."""
        event = protos.Event(step=int(global_step or 0))
        event.session_log.MergeFromString(session_log.SerializeToString())
        self._write(event)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: int | None = None) -> None:
        """Adds the RunMetadata of a traced run under a tag."""
        event = protos.Event(step=int(global_step or 0))
        event.tagged_run_metadata.tag = tag
        event.tagged_run_metadata.run_metadata = run_metadata.SerializeToString()
        self._write(event)

    def flush(self) -> None:
        """Writes what is buffered."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Writes what is buffered and closes the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def reopen(self) -> None:
        """Goes on in a new file after `close`."""
        if self._writer is None:
            self._writer = event_file.EventWriter(self._logdir)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
