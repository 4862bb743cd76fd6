"""TensorBoard's event files: a log of `tensorflow.Event` messages.

    uint64 length | uint32 masked CRC-32C of the length | the message | uint32 masked CRC-32C of it

repeated (the TFRecord framing). The first event says the file's version. TensorBoard finds the file
by `tfevents` in its name. Source: tensorflow/core/lib/io/record_writer.h, util/event.proto (r1.15).
"""

from __future__ import annotations

import os
import socket
import struct
import time
from types import TracebackType
from typing import IO, Any

from . import crc, files, protos

_VERSION = "brain.Event:2"


class EventWriter:
    """Appends events to a new file in a directory, which is made if it is missing; a context manager.

    Args:
        directory: Where the file goes.

    Attributes:
        path: The file.

    Raises:
        OpError: The file cannot be made.
    """

    def __init__(self, directory: files.Path) -> None:
        folder = os.fspath(directory)
        files.make_directory(folder, parents=True)
        name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        self.path = os.path.join(folder, name)
        with files.os_errors(self.path, "write"):
            self._file: IO[bytes] = open(self.path, "ab")  # noqa: SIM115  closed by `close`
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
        with files.os_errors(self.path, "write"):
            self._file.flush()

    def close(self) -> None:
        """Writes what is buffered and closes the file."""
        with files.os_errors(self.path, "write"):
            self._file.close()

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, event: Any) -> None:
        data = protos.encode(event)
        length = struct.pack("<Q", len(data))
        with files.os_errors(self.path, "write"):
            self._file.write(length + _masked(length) + data + _masked(data))


def _masked(data: bytes) -> bytes:
    return struct.pack("<I", crc.masked_crc32c(data))
