"""First-generation checkpoints (V1), written: the same bytes that TensorFlow writes for the same tensors.

The layout is drawn in `v1.py`. All values are spelled out in the field of their type.

Source: tensorflow/core/util/tensor_slice_writer.h and .cc (r1.15).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import files, protos
from .entry import Entry
from .errors import InvalidTypeError, InvalidValueError, bullets
from .ordered_code import encode_slice_key
from .table import TableWriter
from .tensor_bytes import values_of
from .tensor_proto import add_typed_values

_LIMIT = 1 << 31
"""Bytes of a message: protobuf cannot read more."""

_VALUE_BYTES = {  # the most that a value of a field takes, as TensorFlow reckons
    "float_val": 4,
    "double_val": 8,
    "int_val": 10,
    "int64_val": 10,
    "bool_val": 1,
    "half_val": 3,
    "scomplex_val": 8,
    "dcomplex_val": 16,
}


def refusal(entry: Entry) -> str:
    """Why a first-generation checkpoint cannot hold an entry; "" where it can."""
    dtype = entry.dtype
    known = (
        dtype.field in (*_VALUE_BYTES, "string_val") and dtype.kind != "handle" and dtype.name != "bfloat16"
    )
    if not known:
        return f"a first-generation checkpoint has no dtype {dtype.name}"
    if entry.size * _VALUE_BYTES.get(dtype.field, 0) >= _LIMIT:
        return "a first-generation checkpoint holds less than 2 GiB of a tensor"
    return "" if _is_text(entry.name) else "a first-generation checkpoint has names of text alone"


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_v1(path: files.Path, entries: Iterable[Entry]) -> None:
    """Writes a first-generation checkpoint into one file.

    Args:
        path: The file; its directory exists.
        entries: The tensors, in any order. Entries with a `part` are parts of one variable.

    Raises:
        InvalidTypeError: Entries of dtypes that such a file cannot hold; lists all of them.
        InvalidValueError: Two entries are the same part, parts contradict each other, or one is 2 GiB.
        OpError: The file cannot be written, or an entry not read; the old file stays.
    """
    with files.atomic_files() as replacement:
        add_v1(replacement, path, entries)


def add_v1(replacement: files.Replacement, path: files.Path, entries: Iterable[Entry]) -> None:
    """As `write_v1`, into a file that takes its place together with others."""
    name = os.fspath(path)
    pending = sorted(entries, key=lambda entry: entry.name.encode("utf-8", "surrogateescape"))
    _check(pending)
    head = protos.SavedTensorSlices()
    head.meta.versions.producer = 1
    described: dict[str, Any] = {}
    keys: dict[bytes, Entry] = {}
    for entry in pending:
        if entry.name not in described:
            described[entry.name] = head.meta.tensor.add(name=entry.name, type=entry.dtype.number)
            described[entry.name].shape.SetInParent()
            for size in _full_shape(entry):
                described[entry.name].shape.dim.add(size=size)
        _set_slice(described[entry.name].slice.add(), entry)
        keys[_key(entry)] = entry
    table = TableWriter(replacement.open(name))
    table.add(b"", protos.encode(head))
    for key in sorted(keys):
        entry = keys[key]
        record = protos.SavedTensorSlices()
        record.data.name = entry.name
        _set_slice(record.data.slice, entry)
        record.data.data.SetInParent()
        add_typed_values(record.data.data, values_of(entry), entry.dtype)
        table.add(key, protos.encode(record))
    table.finish()


def _full_shape(entry: Entry) -> tuple[int, ...]:
    return entry.shape if entry.part is None else entry.part.full_shape


def _extents(entry: Entry) -> tuple[tuple[int, int], ...]:
    """Per dimension (start, length), length -1 for all."""
    return tuple((0, -1) for _ in entry.shape) if entry.part is None else entry.part.extents


def _key(entry: Entry) -> bytes:
    return encode_slice_key(entry.name.encode("utf-8", "surrogateescape"), _extents(entry))


def _set_slice(proto: Any, entry: Entry) -> None:
    proto.SetInParent()
    for start, length in _extents(entry):
        extent = proto.extent.add()
        if length >= 0:
            extent.start, extent.length = start, length


def _check(entries: list[Entry]) -> None:
    """Everything that can be known to be wrong before a byte is written."""
    unwritable = [f"{entry.name}: {entry.dtype.name}" for entry in entries if "dtype" in refusal(entry)]
    if unwritable:
        raise InvalidTypeError(
            f"A first-generation checkpoint cannot hold tensors of these dtypes:{bullets(unwritable)}",
            names=unwritable,
        )
    problems = [f"{entry.name!r} is no text" for entry in entries if not _is_text(entry.name)]
    first: dict[str, Entry] = {}
    seen: set[bytes] = set()
    for entry in entries:
        known = first.setdefault(entry.name, entry)
        if (_full_shape(known), known.dtype) != (_full_shape(entry), entry.dtype):
            problems.append(
                f"'{entry.name}' is {known.dtype.name} of {list(_full_shape(known))} and "
                f"{entry.dtype.name} of {list(_full_shape(entry))}"
            )
        key = _key(entry)
        if key in seen:
            problems.append(f"'{entry.name}' comes twice")
        seen.add(key)
        most = entry.size * _VALUE_BYTES.get(entry.dtype.field, 0)
        if most >= _LIMIT:
            problems.append(f"'{entry.name}' is too large to serialize (conservative estimate: {most} bytes)")
    if problems:
        raise InvalidValueError(
            f"These tensors cannot be written together:{bullets(problems)}", problems=problems
        )
