"""The heaps of an HDF5 file that hold text of variable length, checked before the library reads them.

    "GCOL" | version 1, 3 zero bytes | fixed64 bytes of the heap | objects
    object: fixed16 number | fixed16 uses | 4 bytes | fixed64 size | data, to 8 bytes
    number 0: what is free, whose size counts this header, too

The library never returns from a heap with free space of no size (zeros where a download has a hole).
Source: HDF5 File Format Specification, III.E "Global Heap". Sizes of 8 bytes, as everybody writes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from . import files
from .errors import DataLossError

_MAGIC = b"GCOL\x01\0\0\0"
_OBJECT = struct.Struct("<2H4xQ")
_HEAD = 16
_CHUNK = 1 << 20
_LOOKED_AT = 32 << 20
"""Bytes at either end of a file that are searched: attributes are written before and after the values."""


def check_heaps(path: str) -> None:
    """Refuses a local file that the library would read forever.

    Raises:
        DataLossError: A heap is damaged so.
    """
    size = files.file_size(path)
    for at in _heaps(path, size):
        (length,) = struct.unpack("<Q", files.read_range(path, at + 8, 8).ljust(8, b"\0"))
        if length <= size - at:
            _check(files.read_range(path, at, length), at, path)


def _heaps(path: str, size: int) -> Iterator[int]:
    """Where heaps begin."""
    at = 0
    while at < size:
        if _LOOKED_AT <= at < size - _LOOKED_AT:
            at = size - _LOOKED_AT
        chunk = files.read_range(path, at, _CHUNK + len(_MAGIC) - 1)
        found = chunk.find(_MAGIC)
        while found >= 0:
            yield at + found
            found = chunk.find(_MAGIC, found + 1)
        at += _CHUNK


def _check(heap: bytes, at: int, path: str) -> None:
    place = _HEAD
    while place + _OBJECT.size <= len(heap):
        number, _, size = _OBJECT.unpack_from(heap, place)
        if number == 0 and size == 0:
            raise DataLossError(
                f"{path} is damaged: the text at byte {at + place} is overwritten or was never written.",
                path=path,
                offset=at + place,
            )
        place += size if number == 0 else _OBJECT.size + -(-size // 8) * 8
