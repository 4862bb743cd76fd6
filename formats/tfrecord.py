"""TFRecord files: any bytes, one record after another, with checksums.

    uint64 length | uint32 masked CRC-32C of the length | the record | uint32 masked CRC-32C of it

Numbers are little-endian. A whole file may be compressed with gzip or zlib. Event files have the same
framing. Source: tensorflow/core/lib/io/record_writer.h and record_reader.cc (r1.15).
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import IO, Any

from . import crc, files
from .errors import DataLossError, InvalidValueError

_HEAD = 12
_CHUNK = 1 << 18
# The argument of zlib that chooses the container: its own, or gzip's.
_WINDOW = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}


def frame(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return length + _masked(length) + record + _masked(record)


def _masked(data: bytes) -> bytes:
    return struct.pack("<I", crc.masked_crc32c(data))


def _window(compression: str) -> int | None:
    if not compression:
        return None
    if compression not in _WINDOW:
        raise InvalidValueError(
            f"There is no compression '{compression}' of record files; there are '', 'GZIP' and 'ZLIB'.",
            compression=compression,
        )
    return _WINDOW[compression]


class RecordReader:
    """The records of a file in order, as pairs (offset, record); an iterator that closes its file at the end.

    An offset counts from the start of the uncompressed data. A file that ends inside the head of a record
    ends before that record, as for TensorFlow: it may still be being written.

    Args:
        path: The file.
        compression: `""`, `"GZIP"` or `"ZLIB"`.

    Raises:
        OpError: The file cannot be read.
        DataLossError: While iterating: a checksum is wrong, or the file ends inside a record.
    """

    def __init__(self, path: files.Path, compression: str = "") -> None:
        self.path = os.fspath(path)
        window = _window(compression)
        self._file: IO[bytes] | None = files.open_binary(path)
        self._inflate = None if window is None else zlib.decompressobj(window)
        self._buffer = b""
        self.offset = 0

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        return self

    def __next__(self) -> tuple[int, bytes]:
        start = self.offset
        head = self._take(_HEAD)
        if len(head) < _HEAD:
            self.close()
            raise StopIteration
        (length,) = struct.unpack_from("<Q", head)
        if struct.unpack_from("<I", head, 8)[0] != crc.masked_crc32c(head[:8]):
            raise self._damaged("corrupted", start, f"at {start}", " (Is this even a TFRecord file?)")
        body = self._take(length + 4)
        if len(body) < length + 4:
            raise self._damaged("truncated", start, f"at {start}", "")
        record = body[:length]
        if struct.unpack_from("<I", body, length)[0] != crc.masked_crc32c(record):
            raise self._damaged("corrupted", start, f"at {start + _HEAD}", "")
        self.offset = start + _HEAD + length + 4
        return start, record

    def _take(self, count: int) -> bytes:
        """The next `count` bytes, or all there are."""
        if self._file is None:
            return b""
        with files.os_errors(self.path, "read"):
            if self._inflate is None:
                # A damaged length was caught by its checksum; a large one must not be allocated unseen.
                left = os.fstat(self._file.fileno()).st_size - self._file.tell()
                return self._file.read(min(count, max(left, 0)) if left else 0)
            parts, size = [self._buffer], len(self._buffer)
            while size < count:
                data = self._decompress(self._file.read(_CHUNK))
                if data is None:
                    break
                parts.append(data)
                size += len(data)
        whole = b"".join(parts)
        self._buffer = whole[count:]
        return whole[:count]

    def _decompress(self, data: bytes) -> bytes | None:
        """What the next piece of the file expands to; None at the end."""
        assert self._inflate is not None
        if not data:
            return None
        try:
            return self._inflate.decompress(data)
        except zlib.error as error:
            raise DataLossError(
                f"{self.path} cannot be decompressed: {error}.", path=self.path, offset=self.offset
            ) from error

    def _damaged(self, how: str, start: int, where: str, hint: str) -> DataLossError:
        self.close()
        return DataLossError(f"{how} record {where}{hint} in {self.path}", path=self.path, offset=start)

    def close(self) -> None:
        """Closes the file; iteration ends."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            self.close()


def read_records(path: files.Path, compression: str = "") -> Iterator[bytes]:
    """The records of a file in order; arguments and errors as `RecordReader`."""
    for _, record in RecordReader(path, compression):
        yield record


class RecordWriter:
    """Writes records to a file, which it replaces or, with `append`, goes on with; a context manager.

    A reader may follow the file while it grows, as TensorBoard does; so it is not put in place at the end.

    Args:
        path: The file.
        compression: `""`, `"GZIP"` or `"ZLIB"`.
        level: zlib's compression level; -1 for its default.
        append: Keep what the file holds.

    Raises:
        OpError: The file cannot be written.
    """

    def __init__(
        self, path: files.Path, compression: str = "", level: int = -1, *, append: bool = False
    ) -> None:
        self.path = os.fspath(path)
        window = _window(compression)
        self._deflate: Any = None if window is None else zlib.compressobj(level, zlib.DEFLATED, window)
        with files.os_errors(path, "write"):
            self._file: IO[bytes] = open(path, "ab" if append else "wb")  # noqa: SIM115  closed by `close`

    def write(self, record: bytes) -> None:
        """Adds a record.

        Raises:
            OpError: The file cannot be written.
        """
        data = frame(record)
        if self._deflate is not None:
            data = self._deflate.compress(data)
        with files.os_errors(self.path, "write"):
            self._file.write(data)

    def flush(self) -> None:
        """Writes what is buffered."""
        with files.os_errors(self.path, "write"):
            if self._deflate is not None:
                self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def close(self) -> None:
        """Writes what is buffered and closes the file; calling it again does nothing."""
        if self._file.closed:
            return
        with files.os_errors(self.path, "write"):
            if self._deflate is not None:
                self._file.write(self._deflate.flush())
            self._file.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def decompress(data: bytes, compression: str, path: files.Path) -> bytes:
    """A whole file's content, decompressed; arguments and errors as `RecordReader`."""
    window = _window(compression)
    if window is None:
        return data
    try:
        return zlib.decompress(data, window)
    except zlib.error as error:
        raise DataLossError(f"{path} cannot be decompressed: {error}.", path=os.fspath(path)) from error
