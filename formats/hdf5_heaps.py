"""The heaps of an HDF5 file that hold text of variable length, checked before the library reads them.

    "GCOL" | version 1, 3 zero bytes | fixed64 bytes of the heap | objects
    object: fixed16 number | fixed16 uses | 4 bytes | fixed64 size | data, to 8 bytes
    number 0: what is free, whose size counts this header, too

The library never returns from a heap with free space of no size (zeros where a download has a hole).
They are looked for in the whole file but for the values of large datasets, which are not read for it.
Source: HDF5 File Format Specification, III.E "Global Heap". Sizes of 8 bytes, as everybody writes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

from . import files
from .errors import DataLossError

_MAGIC = b"GCOL\x01\0\0\0"
_OBJECT = struct.Struct("<2H4xQ")
_HEAD = 16
_LARGE = 1 << 20
"""Bytes from which a dataset's values are left out of the search."""


def check_heaps(path: str, values: Iterable[tuple[int, int]] = ()) -> None:
    """Refuses a local file that the library would read forever.

    Args:
        path: The file.
        values: (begin, end) of what is not searched.

    Raises:
        DataLossError: A heap is damaged so.
    """
    data = files.map_bytes(path)
    for at in _heaps(data, values):
        (length,) = struct.unpack("<Q", data[at + 8 : at + 16].ljust(8, b"\0"))
        if length <= len(data) - at:
            _check(data[at : at + length], at, path)


def places_of_values(datasets: Iterable[Any]) -> list[tuple[int, int]]:
    """Where the values of large datasets lie, as far as each lies in one piece.

    Args:
        datasets: `h5py.Dataset`s.
    """
    found = []
    for dataset in datasets:
        try:
            begin, size = dataset.id.get_offset(), dataset.id.get_storage_size()
        except (OSError, RuntimeError, ValueError):  # a damaged one, found when it is read
            continue
        if begin is not None and size >= _LARGE:
            found.append((begin, begin + size))
    return found


def _heaps(data: Any, values: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Where heaps begin."""
    at = 0
    for begin, end in [*sorted(values), (len(data), len(data))]:
        while at < begin and (found := data.find(_MAGIC, at, begin)) >= 0:
            yield found
            at = found + 1
        at = max(at, end)


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
