"""TensorBoard's event files: a log of `tensorflow.Event` messages, framed as in `tfrecord`.

The first event says the file's version. TensorBoard finds the file by `tfevents` in its name.
Source: tensorflow/core/util/event.proto and events_writer.cc (r1.15).
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from . import files, protos, tfrecord

_VERSION = "brain.Event:2"


class EventWriter:
    """Appends events to a new file in a directory, which is made if it is missing; a context manager.

    Args:
        directory: Where the file goes.
        suffix: What its name ends in.

    Attributes:
        path: The file.

    Raises:
        OpError: The file cannot be made.
    """

    def __init__(self, directory: files.Path, suffix: str = "") -> None:
        folder = os.fspath(directory)
        files.make_directory(folder, parents=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}{suffix}"
        self.path = os.path.join(folder, name)
        self._file = tfrecord.RecordWriter(self.path, append=True)
        self._write(protos.Event(wall_time=time.time(), file_version=_VERSION))

    def scalars(self, step: int, values: dict[str, float]) -> None:
        """Adds one event with a scalar for each tag.

        Raises:
            OpError: The file cannot be written.
        """
        summary = protos.Summary(
            value=[protos.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]
        )
        self._write(protos.Event(wall_time=time.time(), step=step, summary=summary))

    def write(self, event: Any) -> None:
        """Adds an Event message; one without a wall time gets the present one.

        Raises:
            OpError: The file cannot be written.
        """
        if not event.wall_time:
            event.wall_time = time.time()
        self._write(event)

    def flush(self) -> None:
        """Writes what is buffered."""
        self._file.flush()

    def close(self) -> None:
        """Writes what is buffered and closes the file."""
        self._file.close()

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, event: Any) -> None:
        self._file.write(protos.encode(event))


def read_events(path: files.Path) -> Iterator[Any]:
    """The Event messages of a file in order.

    Raises:
        OpError: The file cannot be read.
        DataLossError: It is damaged.
    """
    for offset, record in tfrecord.RecordReader(path):
        yield protos.parse(protos.Event, record, f"the event at {offset} of {os.fspath(path)}")
