"""`tf.python_io`: TFRecord files from Python."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..formats import tfrecord
from . import not_yet
from .errors import FailedPreconditionError, InvalidValueError

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class TFRecordCompressionType:
    """How a TFRecord file may be compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {
    TFRecordCompressionType.NONE: "",
    TFRecordCompressionType.ZLIB: "ZLIB",
    TFRecordCompressionType.GZIP: "GZIP",
}


class TFRecordOptions:
    """How TFRecord files are written and read.

    Args:
        compression_type: A `TFRecordCompressionType`, its name, or None.
        flush_mode: Kept, as all that follow: they tune buffers in TensorFlow and are without effect here.
        input_buffer_size: See `flush_mode`.
        output_buffer_size: See `flush_mode`.
        window_bits: See `flush_mode`.
        compression_level: zlib's level, 0 to 9.
        compression_method: See `flush_mode`.
        mem_level: See `flush_mode`.
        compression_strategy: See `flush_mode`.

    Raises:
        ValueError: There is no such compression.
    """

    compression_type_map = _NAMES

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        if isinstance(compression_type, TFRecordOptions):
            compression_type = compression_type.compression_type
        self.compression_type: Any = compression_type
        self.compression_level = compression_level
        self.flush_mode = flush_mode
        self.input_buffer_size, self.output_buffer_size = input_buffer_size, output_buffer_size
        self.window_bits, self.mem_level = window_bits, mem_level
        self.compression_method, self.compression_strategy = compression_method, compression_strategy
        self.as_compression_type()

    def as_compression_type(self) -> str:
        """`""`, `"ZLIB"` or `"GZIP"`."""
        return self.get_compression_type_string(self.compression_type)

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The compression that options, a compression type or its name say."""
        if isinstance(options, TFRecordOptions):
            return options.as_compression_type()
        name = "" if options is None else _NAMES.get(options, options)
        if name not in _NAMES.values():
            raise InvalidValueError(f"Not a valid compression_type: {options!r}")
        return str(name)


class TFRecordWriter(tfrecord.RecordWriter):
    """Writes a TFRecord file; a context manager.

    Args:
        path: The file, which is replaced.
        options: A `TFRecordOptions`, a compression type, or None.
    """

    def __init__(self, path: str | os.PathLike[str], options: Any = None) -> None:
        level = getattr(options, "compression_level", None)
        kind = TFRecordOptions.get_compression_type_string(options)
        super().__init__(path, kind, -1 if level is None else level)

    def _check_open(self) -> None:
        if self._file.closed:
            raise FailedPreconditionError("Writer not initialized or previously closed", path=self.path)

    def write(self, record: bytes) -> None:
        """Adds a record.

        Raises:
            FailedPreconditionError: The file is closed.
        """
        self._check_open()
        super().write(record)

    def flush(self) -> None:
        """Writes what is buffered.

        Raises:
            FailedPreconditionError: The file is closed.
        """
        self._check_open()
        super().flush()


def tf_record_iterator(path: str | os.PathLike[str], options: Any = None) -> Iterator[bytes]:
    """The records of a TFRecord file in order.

    Args:
        path: The file.
        options: A `TFRecordOptions`, a compression type, or None.

    Raises:
        DataLossError: The file is damaged.
    """
    return tfrecord.read_records(path, TFRecordOptions.get_compression_type_string(options))
