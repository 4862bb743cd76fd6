r"""A zip archive whose directory is gone (the end of the file was cut off), read by its local headers.

    "PK\3\4" | version, flags, method, time, date | CRC-32 | sizes | lengths of name and extra | both | data
    "PK\7\8" | CRC-32 | sizes, of 8 bytes where the extra says so     behind the data of what was streamed

Source: PKWARE's APPNOTE, 4.3.7 and 4.5.3.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import IO

_LOCAL = struct.Struct("<4s5H3I2H")
_DESCRIPTOR_FOLLOWS = 0x08
_DESCRIPTOR_MAGIC = b"PK\7\x08"
_DESCRIPTOR, _DESCRIPTOR_BIG = struct.Struct("<4s3I"), struct.Struct("<4sI2Q")
_PIECE = 1 << 20
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
        if info.flag_bits & _DESCRIPTOR_FOLLOWS:
            end = _describe(info, stream, at + header, size)
        if end > size:
            cut.append(info.filename)
            break
        archive.filelist.append(info)
        archive.NameToInfo[info.filename] = info
        at = end
    return archive, cut


def _local_header(stream: IO[bytes], at: int) -> tuple[zipfile.ZipInfo | None, int]:
    """A member, and the bytes before its data; None where none begins."""
    magic, version, flags, method, _, _, crc, packed, plain, name_length, extra_length = _LOCAL.unpack(
        stream.read(_LOCAL.size)
    )
    name, extra = stream.read(name_length), stream.read(extra_length)
    if magic != b"PK\3\4" or len(name) < name_length:
        return None, 0
    if (
        len(extra) >= 20
        and struct.unpack_from("<H", extra)[0] == _ZIP64
        and (_BIG in (packed, plain) and not flags & _DESCRIPTOR_FOLLOWS)
    ):
        plain, packed = struct.unpack_from("<QQ", extra, 4)
    info = zipfile.ZipInfo(name.decode("utf-8" if flags & _UTF8 else "cp437", "replace"))
    info.orig_filename = info.filename
    info.header_offset, info.flag_bits, info.compress_type = at, flags, method
    info.extra = extra
    info.CRC, info.compress_size, info.file_size, info.extract_version = crc, packed, plain, version
    return info, _LOCAL.size + name_length + extra_length


def _describe(info: zipfile.ZipInfo, stream: IO[bytes], start: int, size: int) -> int:
    """Sets checksum and sizes of a member whose header has none; where the next begins, beyond `size` if cut.

    Args:
        info: The member.
        stream: The archive.
        start: Where its data begins.
        size: Bytes of the archive.
    """
    is_big = len(info.extra) >= 4 and struct.unpack_from("<H", info.extra)[0] == _ZIP64
    descriptor = _DESCRIPTOR_BIG if is_big else _DESCRIPTOR
    stream.seek(start)
    data = stream.read(size - start)
    at = 0
    if info.compress_type == zipfile.ZIP_DEFLATED:
        unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        rest = data
        try:
            while rest and not unpacker.eof:
                unpacker.decompress(rest, _PIECE)
                rest = unpacker.unconsumed_tail
        except zlib.error:
            return size + 1
        at = len(data) - len(unpacker.unused_data)
    while (at := data.find(_DESCRIPTOR_MAGIC, at)) >= 0:
        if at + descriptor.size > len(data):
            break
        _, crc, packed, plain = descriptor.unpack_from(data, at)
        if packed == at:
            info.CRC, info.compress_size, info.file_size = crc, packed, plain
            return start + at + descriptor.size
        at += 1
    return size + 1
