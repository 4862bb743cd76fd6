r"""A zip archive whose directory is gone (the end of the file was cut off), read by its local headers.

    "PK\3\4" | version, flags, method, time, date | CRC-32 | sizes | lengths of name and extra | both | data

Source: PKWARE's APPNOTE, 4.3.7 and 4.5.3.
"""

from __future__ import annotations

import io
import struct
import zipfile
from typing import IO

_LOCAL = struct.Struct("<4s5H3I2H")
_DESCRIPTOR_FOLLOWS = 0x08
_UTF8 = 0x800
_ZIP64 = 1
_BIG = 0xFFFFFFFF


def open_without_directory(stream: IO[bytes], size: int) -> tuple[zipfile.ZipFile, list[str]]:
    """The members whose data is all there, and the names of those that are cut off.

    Args:
        stream: The archive; the ZipFile reads from it.
        size: Its bytes.
    """
    nothing = io.BytesIO()
    zipfile.ZipFile(nothing, "w").close()
    archive = zipfile.ZipFile(nothing)
    archive.fp = stream
    cut = []
    at = 0
    while at + _LOCAL.size <= size:
        stream.seek(at)
        info, header = _local_header(stream, at)
        if info is None:
            break
        end = at + header + info.compress_size
        if end > size:
            cut.append(info.filename)
            break
        archive.filelist.append(info)
        archive.NameToInfo[info.filename] = info
        at = end
    return archive, cut


def _local_header(stream: IO[bytes], at: int) -> tuple[zipfile.ZipInfo | None, int]:
    """A member, and the bytes before its data; None where none begins or its length is not said there."""
    magic, version, flags, method, _, _, crc, packed, plain, name_length, extra_length = _LOCAL.unpack(
        stream.read(_LOCAL.size)
    )
    name, extra = stream.read(name_length), stream.read(extra_length)
    if magic != b"PK\3\4" or flags & _DESCRIPTOR_FOLLOWS or len(name) < name_length:
        return None, 0
    if len(extra) >= 20 and struct.unpack_from("<H", extra)[0] == _ZIP64 and _BIG in (packed, plain):
        plain, packed = struct.unpack_from("<QQ", extra, 4)
    info = zipfile.ZipInfo(name.decode("utf-8" if flags & _UTF8 else "cp437", "replace"))
    info.orig_filename = info.filename
    info.header_offset, info.flag_bits, info.compress_type = at, flags, method
    info.CRC, info.compress_size, info.file_size, info.extract_version = crc, packed, plain, version
    return info, _LOCAL.size + name_length + extra_length
