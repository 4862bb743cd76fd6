"""Readers: what a graph's reader operations work on. A reader takes file names from a queue.

Source: tensorflow/core/framework/reader_base.cc and kernels/{tf_record,text_line,whole_file,identity,
fixed_length_record}_reader_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterator

from ..formats import files, tfrecord
from .errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from .queues import Queue
from .resources import RunContext

Record = tuple[bytes, bytes]
OpenWork = Callable[[str], Iterator[Record]]


class Reader:
    """Records with keys, out of the work items (file names) of a queue; one thread at a time.

    Args:
        open_work: From a work item to its records.
        one_each: Whether each work item is one record, so that it is done as soon as that is read.
        keeps_state: Whether `state` tells all there is to tell; TensorFlow's identity reader alone.

    Attributes:
        produced: How many records it has given since it was made or reset.
        completed: How many work items it has finished.
    """

    def __init__(self, open_work: OpenWork, one_each: bool = False, keeps_state: bool = False) -> None:
        self.produced = 0
        self.completed = 0
        self._open = open_work
        self._one_each = one_each
        self._keeps_state = keeps_state
        self._work = ""
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
                    self._work = _next_work(ctx, queue)
                    self._records = self._open(self._work)
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
            self._records, self._work = None, ""

    def state(self) -> bytes:
        """A serialized ReaderBaseState.

        Raises:
            UnimplementedError: The kind of reader does not tell its state.
        """
        self._check_keeps_state("Reader SerializeState")
        from ..formats import protos

        with self._lock:
            message = protos.ReaderBaseState(
                work_started=self.completed,
                work_finished=self.completed,
                num_records_produced=self.produced,
                current_work=self._work.encode("utf-8", "surrogateescape"),
            )
            serialized: bytes = message.SerializeToString()
            return serialized

    def restore(self, state: bytes) -> None:
        """Goes on from a state that `state` gave.

        Raises:
            UnimplementedError: The kind of reader does not tell its state.
            InvalidArgumentError: It is no such state.
        """
        self._check_keeps_state("Reader RestoreState")
        from ..formats import protos

        try:
            message = protos.parse(protos.ReaderBaseState, state, "the state of a reader")
        except DataLossError as error:
            self.reset()
            raise InvalidArgumentError(f"Could not parse state for IdentityReader: {state!r}") from error
        counts = (message.work_started, message.work_finished, message.num_records_produced)
        if min(counts) < 0 or message.work_started > message.work_finished:
            self.reset()
            what = (
                "Unexpected negative value" if min(counts) < 0 else "Inconsistent work started vs. finished"
            )
            raise InvalidArgumentError(f"{what} when restoring in IdentityReader: {message}")
        with self._lock:
            self.completed, self.produced = message.work_finished, message.num_records_produced
            self._records, self._work = None, message.current_work.decode("utf-8", "surrogateescape")

    def _check_keeps_state(self, what: str) -> None:
        if not self._keeps_state:
            raise UnimplementedError(what)


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


class RecordSource:
    """The records of several TFRecord files in random order, epoch after epoch.

    A buffer is filled and records are taken from it by chance; TensorFlow's own order depends on how its
    threads run, so that it is not the same there from run to run either.

    Args:
        find: Gives the files, asked at the start of each epoch.
        seed: Of the order.
        shift: Which part of the files goes to the end, after they were shuffled.
        buffer_size: How many records the buffer holds.
        compression: `""`, `"ZLIB"` or `"GZIP"`.
    """

    def __init__(
        self, find: Callable[[], list[str]], seed: int, shift: float, buffer_size: int, compression: str
    ) -> None:
        self._find = find
        self._random = random.Random(seed)
        self._shift = shift
        self._buffer_size = max(1, buffer_size)
        self._compression = compression
        self._buffer: list[bytes] = []
        self._records: Iterator[bytes] = iter(())
        self._lock = threading.Lock()

    def take(self, count: int) -> list[bytes]:
        """The next `count` records.

        Raises:
            NotFoundError: There is no file, or none has a record.
        """
        with self._lock:
            return [self._take() for _ in range(count)]

    def _take(self) -> bytes:
        self._fill()
        if not self._buffer:
            self._records = self._epoch()
            self._fill()
        if not self._buffer:
            raise NotFoundError("The files have no records")
        return self._buffer.pop()

    def _fill(self) -> None:
        for record in itertools.islice(self._records, self._buffer_size - len(self._buffer)):
            self._buffer.append(record)
            place = self._random.randrange(len(self._buffer))
            self._buffer[place], self._buffer[-1] = self._buffer[-1], self._buffer[place]

    def _epoch(self) -> Iterator[bytes]:
        paths = self._find()
        self._random.shuffle(paths)
        if 0 <= self._shift < 1:
            first = int(self._shift * len(paths))
            paths = paths[first:] + paths[:first]
        for path in paths:
            for _, record in tfrecord.RecordReader(path, self._compression):
                yield record
