"""Readers as ops, and `tf.TFRecordReader` and its kin."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from .. import readers
from ..errors import InvalidArgumentError, NotFoundError
from ..op import op, raw_ops
from ..readers import OpenWork, Reader
from ..shapes import format_shape, with_rank
from . import rules
from .data_flow import handle_shape, handle_type, named_resource

_NAMES = ("container: string = ''", "shared_name: string = ''")
_NO_GRAD = "files are not differentiable"


def _reader(ctx: Any, node: Any, open_work: OpenWork, one_each: bool = False, files: bool = True) -> Reader:
    who = f"node '{node.name}' (op {node.type})"

    def checked(path: str) -> Iterator[readers.Record]:
        ctx.policy.check_read(path, who)
        return open_work(path)

    reader: Reader = named_resource(
        ctx,
        node.type.removesuffix("V2"),
        node,
        lambda _: Reader(checked if files else open_work, one_each, keeps_state=not files),
    )
    return reader


def _tf_record(ctx: Any, *, compression_type: str, node: Any) -> Reader:
    """Reads the records of TFRecord files."""
    return _reader(ctx, node, partial(readers.records, compression=compression_type))


def _text_line(ctx: Any, *, skip_header_lines: int, node: Any) -> Reader:
    """Reads the lines of text files."""
    return _reader(ctx, node, partial(readers.text_lines, skip=skip_header_lines))


def _whole_file(ctx: Any, *, node: Any) -> Reader:
    """Reads whole files."""
    return _reader(ctx, node, readers.whole_file, one_each=True)


def _identity(ctx: Any, *, node: Any) -> Reader:
    """Gives the work items themselves."""
    return _reader(ctx, node, readers.identity, one_each=True, files=False)


def _fixed_length(
    ctx: Any,
    *,
    header_bytes: int,
    record_bytes: int,
    footer_bytes: int,
    hop_bytes: int,
    encoding: str = "",
    node: Any,
) -> Reader:
    """Reads pieces of a fixed size."""
    pieces = partial(
        readers.fixed_length,
        header=header_bytes,
        size=record_bytes,
        footer=footer_bytes,
        hop=hop_bytes,
        compression=encoding,
    )
    return _reader(ctx, node, pieces)


_FIXED = ("header_bytes: int = 0", "record_bytes: int", "footer_bytes: int = 0", "hop_bytes: int = 0")
_READERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "TFRecordReader": (_tf_record, (*_NAMES, "compression_type: string = ''")),
    "TextLineReader": (_text_line, ("skip_header_lines: int = 0", *_NAMES)),
    "WholeFileReader": (_whole_file, _NAMES),
    "IdentityReader": (_identity, _NAMES),
    "FixedLengthRecordReader": (_fixed_length, (*_FIXED, *_NAMES)),
}

for _version in ("", "V2"):
    for _name, (_kernel, _attrs) in _READERS.items():
        _more = ("encoding: string = ''",) if _version and _name == "FixedLengthRecordReader" else ()
        op(
            f"{_name}{_version}",
            f"-> reader_handle: {handle_type(_version)}",
            *_attrs,
            *_more,
            stateful=True,
            no_grad="it has no inputs",
        )(_kernel).shape(handle_shape(_version))


def _read(ctx: Any, reader_handle: Any, queue_handle: Any) -> tuple[Any, Any]:
    """The next record."""
    key, value = reader_handle.next_record(ctx, queue_handle)
    return np.array(key, object), np.array(value, object)


def _read_up_to(ctx: Any, reader_handle: Any, queue_handle: Any, num_records: Any) -> tuple[Any, Any]:
    """Several records of one work item."""
    found = reader_handle.next_records(ctx, queue_handle, int(num_records))
    keys, values = (np.array(column, object) for column in zip(*found))
    return keys, values


def _reset(ctx: Any, reader_handle: Any) -> None:
    """Forgets the work at hand."""
    reader_handle.reset()


def _serialize_state(ctx: Any, reader_handle: Any) -> Any:
    """How far a reader has come."""
    return np.array(reader_handle.state(), object)


def _restore_state(ctx: Any, reader_handle: Any, state: Any) -> None:
    """Lets a reader go on from what ReaderSerializeState gave."""
    if np.ndim(state):
        raise InvalidArgumentError(
            f"Reader state must be scalar, but had shape: {format_shape(np.shape(state))}"
        )
    reader_handle.restore(np.asarray(state, object).item())


def _produced(ctx: Any, reader_handle: Any) -> Any:
    """How many records were given."""
    return np.array(reader_handle.produced, np.int64)


def _completed(ctx: Any, reader_handle: Any) -> Any:
    """How many work items were finished."""
    return np.array(reader_handle.completed, np.int64)


def _pair(node: Any) -> list[Any]:
    return [(), ()]


def _vectors(node: Any) -> list[Any]:
    return [(None,), (None,)]


def _restore_shape(node: Any) -> list[Any]:
    with_rank(node.shape(1), 0)
    return []


_QUEUE_HANDLE = ", queue_handle: {handle}"
_ACTIONS: dict[str, tuple[Any, str, Any]] = {
    "ReaderRead": (_read, f"{_QUEUE_HANDLE} -> key: string, value: string", _pair),
    "ReaderReadUpTo": (
        _read_up_to,
        f"{_QUEUE_HANDLE}, num_records: int64 -> keys: string, values: string",
        _vectors,
    ),
    "ReaderReset": (_reset, "->", rules.nothing),
    "ReaderSerializeState": (_serialize_state, "-> state: string", rules.scalar),
    "ReaderRestoreState": (_restore_state, ", state: string ->", _restore_shape),
    "ReaderNumRecordsProduced": (_produced, "-> records_produced: int64", rules.scalar),
    "ReaderNumWorkUnitsCompleted": (_completed, "-> units_completed: int64", rules.scalar),
}

for _name, (_kernel, _signature, _shape) in _ACTIONS.items():
    for _version in ("", "V2"):
        _handle = handle_type(_version)
        op(
            f"{_name}{_version}",
            f"reader_handle: {_handle}{_signature.format(handle=_handle)}",
            stateful=bool(_version),
            ctx=True,
            no_grad=_NO_GRAD,
        )(_kernel).shape(_shape)


@op(
    "RecordInput",
    "-> records: string",
    "file_pattern: string",
    "file_random_seed: int = 301",
    "file_shuffle_shift_ratio: float = 0",
    "file_buffer_size: int = 10000",
    "file_parallelism: int = 16",
    "batch_size: int = 32",
    "compression_type: string = ''",
    stateful=True,
    no_grad=_NO_GRAD,
)
def record_input(
    ctx: Any,
    *,
    file_pattern: str,
    file_random_seed: int,
    file_shuffle_shift_ratio: float,
    file_buffer_size: int,
    batch_size: int,
    compression_type: str,
    node: Any,
) -> Any:
    """Records of all files that match one of several patterns, in random order and without end."""

    def find() -> list[str]:
        paths = [path for pattern in file_pattern.split(",") for path in sorted(glob.glob(pattern))]
        if not paths:
            raise NotFoundError(f"Found no files at {file_pattern}", pattern=file_pattern)
        for path in paths:
            ctx.policy.check_read(path, f"node '{node.name}' (op {node.type})")
        return paths

    source = ctx.op_state(
        node,
        "record source",
        lambda: readers.RecordSource(
            find, file_random_seed, file_shuffle_shift_ratio, file_buffer_size, compression_type
        ),
    )
    return np.array(source.take(batch_size), object)


record_input.shape(lambda node: (node.attr("batch_size"),))


# TensorFlow's Python classes


class ReaderBase:
    """A reader in the graph.

    Args:
        reader_ref: The tensor that is its handle.
    """

    def __init__(self, reader_ref: Any) -> None:
        self._reader_ref = reader_ref

    @property
    def reader_ref(self) -> Any:
        """The handle."""
        return self._reader_ref

    def read(self, queue: Any, name: str | None = None) -> Any:
        """`(key, value)` of the next record, scalars of strings.

        Args:
            queue: A queue of file names, or its handle.
            name: Name of the operation.
        """
        return raw_ops.ReaderReadV2(self._reader_ref, _handle_of(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """`(keys, values)` of up to `num_records` records of one file; arguments as `read`."""
        return raw_ops.ReaderReadUpToV2(self._reader_ref, _handle_of(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records were given."""
        return raw_ops.ReaderNumRecordsProducedV2(self._reader_ref, name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many files were finished."""
        return raw_ops.ReaderNumWorkUnitsCompletedV2(self._reader_ref, name=name)

    def serialize_state(self, name: str | None = None) -> Any:
        """A string that says how far the reader has come; only an IdentityReader can tell."""
        return raw_ops.ReaderSerializeStateV2(self._reader_ref, name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Any:
        """An operation that lets the reader go on from a state."""
        return raw_ops.ReaderRestoreStateV2(self._reader_ref, state, name=name)

    @property
    def supports_serialize(self) -> bool:
        """Whether it can tell its state."""
        return isinstance(self, IdentityReader)

    def reset(self, name: str | None = None) -> Any:
        """An operation that forgets the file at hand and the counts."""
        return raw_ops.ReaderResetV2(self._reader_ref, name=name)


def _handle_of(queue: Any) -> Any:
    return getattr(queue, "queue_ref", queue)


class TFRecordReader(ReaderBase):
    """`tf.TFRecordReader`: the records of TFRecord files, keyed `file:offset`.

    Args:
        name: Name of the operation.
        options: `tf.python_io.TFRecordOptions` with the compression.
    """

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression = "" if options is None else options.as_compression_type()
        super().__init__(raw_ops.TFRecordReaderV2(name=name, compression_type=compression))


class TextLineReader(ReaderBase):
    """`tf.TextLineReader`: the lines of text files, keyed `file:number`.

    Args:
        skip_header_lines: How many lines to leave out at the start of each file.
        name: Name of the operation.
    """

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(raw_ops.TextLineReaderV2(skip_header_lines=skip_header_lines or 0, name=name))


class WholeFileReader(ReaderBase):
    """`tf.WholeFileReader`: whole files, keyed by their names."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw_ops.WholeFileReaderV2(name=name))


class IdentityReader(ReaderBase):
    """`tf.IdentityReader`: the elements of the queue themselves, as key and value."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(raw_ops.IdentityReaderV2(name=name))


class FixedLengthRecordReader(ReaderBase):
    """`tf.FixedLengthRecordReader`: pieces of files, keyed `file:index`.

    Args:
        record_bytes: Bytes of a record.
        header_bytes: Bytes left out at the start of each file.
        footer_bytes: Bytes left out at the end.
        hop_bytes: Bytes from one record to the next; by default they lie one behind the other.
        name: Name of the operation.
        encoding: Compression of the files: `"ZLIB"`, `"GZIP"` or none.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(
            raw_ops.FixedLengthRecordReaderV2(
                record_bytes=record_bytes,
                header_bytes=header_bytes or 0,
                footer_bytes=footer_bytes or 0,
                hop_bytes=hop_bytes or 0,
                encoding=encoding or "",
                name=name,
            )
        )
