"""TensorBundle checkpoints (V2), written: the same bytes that TensorFlow writes for the same tensors.

The layout is drawn in `bundle.py`. Data files hold the tensors densely, in the order in which they
come; the index is sorted by key. A part of a partitioned variable is stored under its slice key, and
listed by the entry of the whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from . import files, protos
from .entry import Entry
from .errors import InvalidTypeError, InvalidValueError, bullets
from .ordered_code import encode_slice_key
from .table import TableWriter
from .tensor_bytes import check_writable, encode_tensor, values_of


def refusal(entry: Entry) -> str:
    """Why a checkpoint cannot hold an entry; "" where it can."""
    if check_writable(entry.dtype, entry.name, variants=True):
        return f"a checkpoint has no values of dtype {entry.dtype.name}"
    return "a checkpoint has no such key" if not entry.name or entry.name.startswith("\0") else ""


def write_bundle(
    prefix: files.Path,
    entries: Iterable[Entry],
    shards: int = 1,
    shard_of: Callable[[Entry], int] | None = None,
) -> None:
    """Writes the checkpoint `prefix`: all files under temporary names first, the index renamed last.

    Args:
        prefix: `PREFIX` of `PREFIX.index` and `PREFIX.data-00000-of-00001`; its directory exists.
        entries: The tensors, in the order of the data file (TensorFlow's Saver sorts by name); each is
            read once, when its turn comes. Entries with a `part` are parts of one variable.
        shards: Number of data files; consecutive entries of about equal total size share one.
        shard_of: Which data file an entry goes to, instead of by size.

    Raises:
        InvalidTypeError: Entries of dtypes that a checkpoint cannot hold; lists all of them.
        InvalidValueError: Two entries of one name, or a name that cannot be a key.
        OpError: The files cannot be written, or an entry not read; the old checkpoint stays.
    """
    with files.atomic_files() as replacement:
        add_bundle(replacement, prefix, entries, shards, shard_of)


def add_bundle(
    replacement: files.Replacement,
    prefix: files.Path,
    entries: Iterable[Entry],
    shards: int = 1,
    shard_of: Callable[[Entry], int] | None = None,
) -> None:
    """As `write_bundle`, into files that take their places together with others."""
    name = os.fspath(prefix)
    pending = list(entries)
    _check_entries(pending, shards)
    place = shard_of or _by_size(pending, shards)
    index: dict[bytes, Any] = {}
    data = [replacement.open(f"{name}.data-{shard:05d}-of-{shards:05d}") for shard in range(shards)]
    offsets = [0] * shards
    for at, entry in enumerate(pending):
        pending[at] = None  # type: ignore[call-overload]  # its values may be dropped once written
        shard = place(entry)
        content, crc = encode_tensor(values_of(entry), entry.dtype)
        data[shard].write(content)
        proto = protos.BundleEntryProto(
            dtype=entry.dtype.number, shard_id=shard, offset=offsets[shard], size=len(content), crc32c=crc
        )
        _set_shape(proto, entry.shape)
        index[_key(entry, index)] = proto
        offsets[shard] += len(content)
    table = TableWriter(replacement.open(f"{name}.index"))
    header = protos.BundleHeaderProto(num_shards=shards)
    header.version.producer = 1
    table.add(b"", protos.encode(header))
    for key in sorted(index):
        table.add(key, protos.encode(index[key]))
    table.finish()


def _key(entry: Entry, index: dict[bytes, Any]) -> bytes:
    """The key of an entry; a part is also added to the whole's list."""
    name = entry.name.encode("utf-8", "surrogateescape")
    part = entry.part
    if part is None or part.is_full:
        return name
    if name not in index:
        whole = protos.BundleEntryProto(dtype=entry.dtype.number)
        _set_shape(whole, part.full_shape)
        index[name] = whole
    listed = index[name].slices.add()
    for start, length in part.extents:
        extent = listed.extent.add()
        if length >= 0:
            extent.start, extent.length = start, length
    return encode_slice_key(name, part.extents)


def _set_shape(proto: Any, shape: tuple[int, ...]) -> None:
    proto.shape.SetInParent()  # TensorFlow writes a scalar's shape, too
    for size in shape:
        proto.shape.dim.add(size=size)


def _check_entries(entries: list[Entry], shards: int) -> None:
    """Everything that can be known to be wrong before a byte is written."""
    if shards < 1:
        raise InvalidValueError(f"A checkpoint has at least one data file, not {shards}.", shards=shards)
    unwritable = [why for entry in entries if (why := check_writable(entry.dtype, entry.name, variants=True))]
    if unwritable:
        raise InvalidTypeError(
            f"A checkpoint cannot hold these tensors, whose values are objects:{bullets(unwritable)}",
            names=unwritable,
        )
    seen: dict[str, Entry] = {}
    problems = []
    for entry in entries:
        first = seen.setdefault(entry.name, entry)
        if not entry.name or entry.name.startswith("\0"):
            problems.append(f"{entry.name!r} cannot be a key")
        elif first is not entry and not (_is_part(first) and _is_part(entry)):
            problems.append(f"{entry.name} comes twice")
        elif _is_part(entry) and (_whole(entry), entry.dtype) != (_whole(first), first.dtype):
            problems.append(f"the parts of {entry.name} are of different variables (shape or dtype differ)")
    if problems:
        raise InvalidValueError(f"These entries cannot be written:{bullets(problems)}", problems=problems)


def _is_part(entry: Entry) -> bool:
    return entry.part is not None and not entry.part.is_full


def _whole(entry: Entry) -> tuple[int, ...]:
    return entry.part.full_shape if entry.part is not None else entry.shape


def _by_size(entries: list[Entry], shards: int) -> Callable[[Entry], int]:
    """Assigns runs of consecutive entries to shards so that each holds about the same number of bytes."""
    total = sum(entry.nbytes for entry in entries) or 1
    passed = 0

    def place(entry: Entry) -> int:
        nonlocal passed
        shard = min(shards - 1, passed * shards // total)
        passed += entry.nbytes
        return shard

    return place
