"""How long a file says that it is: what tells a file that was cut off, or changed as text, from others.

format        where it says so
table         the footer has the place of the last block, which the footer follows
zip           the record at the end has the place and size of the directory, which it follows
HDF5          the superblock has the address of the end of the file
safetensors   the header has the place of each tensor, after the header
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass

from . import files, sniff
from .errors import DataLossError
from .table import end_of_table

_ZIP_END = b"PK\x05\x06"
_ZIP_TAIL = (1 << 16) + 22
_HDF5 = b"\x89HDF\r\n\x1a\n"
_MOST_HEADER = 100_000_000


@dataclass(frozen=True, slots=True)
class Declared:
    """What a file says of its length.

    Attributes:
        size: In bytes.
        at_the_end: Whether its end says so: then what it lacks is missing from before it.
    """

    size: int
    at_the_end: bool


def declared_size(path: files.Path) -> Declared | None:
    """The size that the content of a file declares, or None where it says none or is damaged there."""
    content = files.open_content(path)
    head = content.bytes(0, 64)
    if content.bytes(max(0, content.size - 8), 8) == sniff.TABLE_MAGIC:
        try:
            return Declared(end_of_table(content, ""), True)
        except DataLossError:
            return None
    if head.startswith(_HDF5):
        return _hdf5(head)
    if head.startswith(b"PK\x03\x04"):
        return _zip(content)
    if os.fspath(path).endswith(".safetensors"):
        return _safetensors(content)
    return None


def _hdf5(head: bytes) -> Declared | None:
    """Version 0 and 1 of the superblock have four more numbers before the addresses than 2 and 3."""
    version, size_at = head[8], 9 if head[8] >= 2 else 13
    if head[size_at] != 8 or version > 3:
        return None
    at = {0: 40, 1: 44}.get(version, 28)
    return Declared(struct.unpack_from("<Q", head, at)[0], False)


def _zip(content: files.Content) -> Declared | None:
    start = max(0, content.size - _ZIP_TAIL)
    tail = content.bytes(start, _ZIP_TAIL)
    at = tail.rfind(_ZIP_END)
    if at < 0 or at + 22 > len(tail):
        return None
    size, offset, comment = struct.unpack_from("<IIH", tail, at + 12)
    if offset == 0xFFFFFFFF:  # a zip64 record has it
        return None
    return Declared(offset + size + 22 + comment, True)


def _safetensors(content: files.Content) -> Declared | None:
    if content.size < 8:
        return None
    (length,) = struct.unpack("<Q", content.bytes(0, 8))
    if length > min(_MOST_HEADER, content.size - 8):
        return None
    try:
        header = json.loads(content.bytes(8, length))
        ends = [int(one["data_offsets"][1]) for key, one in header.items() if key != "__metadata__"]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return None
    return Declared(8 + length + max(ends, default=0), False)
