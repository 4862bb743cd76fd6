"""Readers: what a graph's reader operations work on. A reader takes file names from a queue.

Source: tensorflow/core/framework/reader_base.cc and kernels/{tf_record,text_line,whole_file,identity,
fixed_length_record}_reader_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from ..formats import files, tfrecord
from .errors import InvalidArgumentError
from .queues import Queue
from .resources import RunContext

Record = tuple[bytes, bytes]
OpenWork = Callable[[str], Iterator[Record]]


class Reader:
    """Records with keys, out of the work items (file names) of a queue; one thread at a time.

    Args:
        open_work: From a work item to its records.
        one_each: Whether each work item is one record, so that it is done as soon as that is read.

    Attributes:
        produced: How many records it has given since it was made or reset.
        completed: How many work items it has finished.
    """

    def __init__(self, open_work: OpenWork, one_each: bool = False) -> None:
        self.produced = 0
        self.completed = 0
        self._open = open_work
        self._one_each = one_each
        self._records: Iterator[Record] | None = None
        self._lock = threading.Lock()

    def next_record(self, ctx: RunContext, queue: Queue) -> Record:
        """The next record as (key, value); waits for work.

        Raises:
            OutOfRangeError: The queue is closed and empty.
            OpError: A file cannot be read.
        """
        return self.next_records(ctx, queue, 1)[0]

    def next_records(self, ctx: RunContext, queue: Queue, count: int) -> list[Record]:
        """At least one and up to `count` records, of one work item; errors as `next_record`."""
        if count <= 0:
            raise InvalidArgumentError("num_records must be > 0")
        found: list[Record] = []
        with self._lock:
            while not found:
                if self._records is None:
                    self._records = self._open(_next_work(ctx, queue))
                for record in self._records:
                    found.append(record)
                    self.produced += 1
                    if len(found) == count and not self._one_each:
                        return found
                self._records = None
                self.completed += 1
        return found

    def reset(self) -> None:
        """Forgets the work at hand and all counts."""
        with self._lock:
            self.produced = self.completed = 0
            self._records = None


def _next_work(ctx: RunContext, queue: Queue) -> str:
    if len(queue.dtypes) != 1:
        raise InvalidArgumentError("Expected single component queue")
    if queue.dtypes[0].name != "string":
        raise InvalidArgumentError("Expected queue with single string component")
    (item,) = queue.dequeue(ctx)
    if item.size != 1:
        raise InvalidArgumentError("Expected to dequeue a one-element string tensor")
    name: str = item.reshape(-1)[0].decode("utf-8", "surrogateescape")
    return name


def _key(name: str, place: int) -> bytes:
    return f"{name}:{place}".encode("utf-8", "surrogateescape")


def whole_file(path: str) -> Iterator[Record]:
    """One record: the file's name and content."""
    yield path.encode("utf-8", "surrogateescape"), files.read_bytes(path)


def identity(item: str) -> Iterator[Record]:
    """One record: the work item as key and value."""
    data = item.encode("utf-8", "surrogateescape")
    yield data, data


def text_lines(path: str, skip: int = 0) -> Iterator[Record]:
    """The lines without their ends, keyed `path:number` from 1 on, after the first `skip`."""
    with files.open_binary(path) as file:
        for number, line in enumerate(file, 1):
            if number > skip:
                yield _key(path, number), line.removesuffix(b"\n").replace(b"\r", b"")


def records(path: str, compression: str) -> Iterator[Record]:
    """The records of a TFRecord file, keyed `path:offset`."""
    for offset, record in tfrecord.RecordReader(path, compression):
        yield _key(path, offset), record


def fixed_length(
    path: str, header: int, size: int, footer: int, hop: int, compression: str = ""
) -> Iterator[Record]:
    """Pieces of `size` bytes, `hop` apart (0: one behind the other), keyed `path:index`.

    Args:
        path: The file.
        header: Bytes left out at the start.
        size: Bytes of a record.
        footer: Bytes left out at the end.
        hop: Bytes from the start of a record to that of the next.
        compression: `""`, `"ZLIB"` or `"GZIP"`.
    """
    data = tfrecord.decompress(files.read_bytes(path), compression, path)
    starts = range(header, len(data) - footer - size + 1, hop or size)
    for index, start in enumerate(starts):
        yield _key(path, index), data[start : start + size]
