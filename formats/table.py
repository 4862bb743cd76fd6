r"""Sorted-string tables, the container of .index files and first-generation checkpoints.

    file    data block*, metaindex block (empty), index block, footer
    block   entry*, fixed32 restart offset*, fixed32 number of restarts; then the trailer:
            1 byte compression (0 none, 1 Snappy), fixed32 masked crc32c of block and that byte
    entry   varint shared, varint rest, varint value size, key[shared:], value
            (`shared` bytes of the key are those of the key before; 0 at a restart)
    index   an entry per data block: a key at or after its last and before the next block's first,
            and as value the block's handle (varint offset, varint size without trailer)
    footer  metaindex handle, index handle, zeros up to 40 bytes, magic number in 8 bytes

Source: LevelDB's table format; the constants are those of TensorFlow's writer, whose files come out
byte for byte. Blocks compressed with Snappy are read (TensorFlow 1.0 to 2.14 wrote some), never written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from struct import Struct, unpack_from
from typing import IO

from .crc import crc32c, mask, masked_crc32c
from .errors import DataLossError, InternalError
from .files import Content
from .sniff import TABLE_MAGIC, text_mode_damage
from .table_scan import Scan, scan_blocks

BLOCK_SIZE = 262_144
_RESTART_INTERVAL = 16
_FOOTER = 48
_TRAILER = 5
_LOOKED_AT = 1 << 20
_FIXED32 = Struct("<I")


class Table:
    """A table whose blocks are read when one of their keys is asked for.

    Args:
        content: The file.
        what: Its name, for errors.
        scan: The blocks, where the end of the file that lists them is lost.

    Attributes:
        lost: Why a key may be lost that was there, as a clause; "" for a whole table.
        torn: What is there of the block that is cut off; nothing vouches for it.

    Raises:
        DataLossError: Not a table, cut short, or the footer or the index block is damaged.
    """

    def __init__(self, content: Content, what: str, scan: Scan | None = None) -> None:
        self._content = content
        self._what = what
        self._last_keys, self._places = (
            (scan.last_keys, scan.places) if scan is not None else _index(content, what)
        )
        self.lost = ""
        self.torn = scan.torn if scan is not None else {}
        if scan is not None and not scan.complete:
            self.lost = f"from byte {scan.end} on no block of {what} is whole"
        self._block: tuple[int, dict[bytes, bytes]] = (-1, {})  # the block read last

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None.

        Raises:
            DataLossError: Its block is damaged.
        """
        at = bisect_left(self._last_keys, key)
        if at == len(self._places):
            return None
        if self._block[0] != at:
            block = _block(self._content, *self._places[at], self._what)
            self._block = at, dict(_entries(block, self._what))
        return self._block[1].get(key)


def read_table(data: bytes, what: str) -> Iterator[tuple[bytes, bytes]]:
    """All (key, value) of a table, in the order of their keys.

    Args:
        data: The whole file.
        what: Its name, for errors.

    Raises:
        DataLossError: Not a table, cut short, or damaged (checksum, structure or order).
    """
    last = None
    content = Content(len(data), lambda offset, length: data[offset : offset + length])
    for offset, size in _index(content, what)[1]:
        for key, value in _entries(_block(content, offset, size, what), what):
            if last is not None and key <= last:
                raise DataLossError(f"{what} is damaged: its keys are not in order ({last!r}, then {key!r}).")
            last = key
            yield key, value


def read_intact_blocks(
    data: bytes, what: str
) -> tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes, DataLossError]], dict[bytes, bytes]]:
    """What a damaged table still holds, block by block.

    Args:
        data: The whole file.
        what: Its name, for errors.

    Returns:
        All (key, value) of whole blocks, sorted; and of each other block the bounds of its keys (from, to)
        and what is wrong with it. Where the end of the file is lost, which lists the blocks, they are found
        from its beginning; the bound "" is that of all which follows. Last what there is of a block that is
        cut off, for which no checksum vouches.

    Raises:
        DataLossError: Not a table: nothing can be found.
    """
    content = Content(len(data), lambda offset, length: data[offset : offset + length])
    pairs: dict[bytes, bytes] = {}
    lost = []
    torn: dict[bytes, bytes] = {}
    try:
        last_keys, places = _index(content, what)
    except DataLossError as error:
        scan = scan_table(content, what)
        if not scan.places and not scan.torn:
            raise
        last_keys, places, torn = scan.last_keys, scan.places, scan.torn
        if not scan.complete:
            lost.append((max([*last_keys, *torn]), b"", error))
    for at, (offset, size) in enumerate(places):
        try:
            pairs.update(list(_entries(_block(content, offset, size, what), what)))
        except DataLossError as error:
            lost.append((last_keys[at - 1] if at else b"", last_keys[at], error))
    return sorted(pairs.items()), lost, torn


def scan_table(content: Content, what: str) -> Scan:
    """The blocks of a table whose end is lost, for `Table`."""
    return scan_blocks(content, lambda offset, size: _entries(_block(content, offset, size, what), what))


def check_unread(content: Content, what: str) -> None:
    """Checks what no reader of checkpoints needs: the block that describes others, the footer's padding.

    Raises:
        DataLossError: It is damaged.
    """
    footer = content.bytes(content.size - _FOOTER, _FOOTER)
    offset, size, at = _handle(footer, 0, what)
    _block(content, offset, size, what)
    at = _handle(footer, at, what)[2]
    padding = footer[at:40]
    if padding.strip(b"\0"):
        raise DataLossError(
            f"{what} is damaged: the {40 - at} bytes at {content.size - _FOOTER + at} should be zeros, but "
            f"are {padding.hex(' ')}.",
            offset=content.size - _FOOTER + at,
            size=40 - at,
        )


def end_of_table(content: Content, what: str) -> int:
    """Where a table ends by its footer, which follows the last block: the size that it was written with.

    Raises:
        DataLossError: Not a table, or too short for one.
    """
    if content.size < _FOOTER:
        raise DataLossError(f"{what}: file is too short to be an sstable ({content.size} bytes).")
    footer = content.bytes(content.size - _FOOTER, _FOOTER)
    offset, size, _ = _handle(footer, _handle(footer, 0, what)[2], what)
    return offset + size + _TRAILER + _FOOTER


def _index(content: Content, what: str) -> tuple[list[bytes], list[tuple[int, int]]]:
    """Of each data block a key at or after its last, and (offset, size); from footer and index block."""
    if content.size < _FOOTER:
        raise DataLossError(
            f"{what}: file is too short to be an sstable ({content.size} bytes).", size=content.size
        )
    footer = content.bytes(content.size - _FOOTER, _FOOTER)
    if footer[40:] != TABLE_MAGIC:
        raise DataLossError(
            f"{what}: not an sstable (bad magic number). It is cut short, overwritten or of another kind."
            f"{_text_mode(content)}",
            magic=footer[40:].hex(),
        )
    _, _, at = _handle(footer, 0, what)
    offset, size, _ = _handle(footer, at, what)
    pairs = list(_entries(_block(content, offset, size, what), what))
    return [key for key, _ in pairs], [_handle(value, 0, what)[:2] for _, value in pairs]


def _block(content: Content, offset: int, size: int, what: str) -> bytes:
    """The block at `offset`, verified and decompressed."""
    if offset + size + _TRAILER > content.size:
        raise DataLossError(
            f"{what} is damaged: a block of {size} bytes at {offset} reaches beyond its {content.size} bytes."
            f"{_text_mode(content)}",
            offset=offset,
            size=size,
        )
    data = content.bytes(offset, size + _TRAILER)
    (stored,) = _FIXED32.unpack_from(data, size + 1)
    computed = masked_crc32c(data[: size + 1])
    if stored != computed:
        raise DataLossError(
            f"{what} is damaged: block checksum mismatch in the {size} bytes at {offset} "
            f"(stored {stored:#010x}, computed {computed:#010x}).{_text_mode(content)}",
            offset=offset,
            size=size,
            stored=stored,
            computed=computed,
        )
    kind = data[size]
    if kind == 0:
        return data[:size]
    if kind == 1:
        return _unsnap(data[:size], what, offset)
    raise DataLossError(
        f"{what} is damaged: the block at {offset} has the unknown compression {kind}.", offset=offset
    )


def _text_mode(content: Content) -> str:
    """What to add to an error of a table that went through a transfer as text."""
    return text_mode_damage(content.bytes(0, _LOOKED_AT))


def _unsnap(block: bytes, what: str, offset: int) -> bytes:
    import cramjam

    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except (cramjam.DecompressionError, ValueError, OverflowError) as error:
        raise DataLossError(f"{what} is damaged: the block at {offset} is not Snappy: {error}.") from error


def _entries(block: bytes, what: str) -> Iterator[tuple[bytes, bytes]]:
    end = _end_of_entries(block, what)
    at, key = 0, b""
    while at < end:
        shared, rest, length = block[at], block[at + 1], block[at + 2]
        if shared | rest | length < 128:  # one byte each: nearly always
            at += 3
        else:
            shared, at = _varint(block, at, what)
            rest, at = _varint(block, at, what)
            length, at = _varint(block, at, what)
        start = at + rest
        if shared > len(key) or start + length > end:
            raise DataLossError(f"{what} is damaged: an entry of a block does not fit ({len(block)} bytes).")
        key = key[:shared] + block[at:start]
        at = start + length
        yield key, block[start:at]


def _end_of_entries(block: bytes, what: str) -> int:
    if len(block) >= 4:
        (restarts,) = unpack_from("<I", block, len(block) - 4)
        end = len(block) - 4 - 4 * restarts
        if end >= 0:
            return int(end)
    raise DataLossError(f"{what} is damaged: a block has no valid list of restarts ({len(block)} bytes).")


def _handle(data: bytes, at: int, what: str) -> tuple[int, int, int]:
    offset, at = _varint(data, at, what)
    size, at = _varint(data, at, what)
    return offset, size, at


def _varint(data: bytes, at: int, what: str) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise DataLossError(f"{what} is damaged: a number in a block runs past its end.")


def encode_varint(value: int) -> bytes:
    """A non-negative number in 7-bit groups, lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_varint(data: bytes) -> int:
    """The number that all of `data` encodes."""
    value = 0
    for byte in reversed(data):
        value = value << 7 | byte & 0x7F
    return value


class TableWriter:
    """Writes a table; `add` in the order of the keys, then `finish`."""

    def __init__(self, file: IO[bytes], block_size: int = BLOCK_SIZE) -> None:
        self._file = file
        self._block_size = block_size
        self._offset = 0
        self._data = _BlockBuilder(_RESTART_INTERVAL)
        self._index = _BlockBuilder(1)
        self._last = b""
        self._count = 0
        self._pending: bytes | None = None  # handle of a block whose index key awaits the next key

    def add(self, key: bytes, value: bytes) -> None:
        """Appends an entry; `key` must be greater than the one before."""
        if self._count and key <= self._last:
            raise InternalError(f"Keys of a table must increase: {self._last!r}, then {key!r}.")
        if len(key) + len(value) >= 2 * self._block_size:
            self._flush()
        if self._pending is not None:
            self._index.add(_separator(self._last, key), self._pending)
            self._pending = None
        self._data.add(key, value)
        self._last = key
        self._count += 1
        if self._data.size >= self._block_size:
            self._flush()

    def finish(self) -> int:
        """Writes what is left, index and footer; gives the size of the file."""
        self._flush()
        metaindex = self._write(_BlockBuilder(_RESTART_INTERVAL).finish())
        if self._pending is not None:
            self._index.add(_successor(self._last), self._pending)
        index = self._write(self._index.finish())
        self._file.write((metaindex + index).ljust(40, b"\0") + TABLE_MAGIC)
        return self._offset + _FOOTER

    def _flush(self) -> None:
        if self._data.empty:
            return
        self._pending = self._write(self._data.finish())
        self._data = _BlockBuilder(_RESTART_INTERVAL)

    def _write(self, block: bytes) -> bytes:
        """Writes a block with its trailer and gives its handle."""
        self._file.write(block)
        self._file.write(b"\0" + _FIXED32.pack(mask(crc32c(b"\0", crc32c(block)))))
        handle = encode_varint(self._offset) + encode_varint(len(block))
        self._offset += len(block) + _TRAILER
        return handle


class _BlockBuilder:
    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._buffer = bytearray()
        self._restarts = [0]
        self._since_restart = 0
        self._last = b""

    @property
    def empty(self) -> bool:
        return not self._buffer

    @property
    def size(self) -> int:
        return len(self._buffer) + 4 * len(self._restarts) + 4

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since_restart == self._interval:
            self._restarts.append(len(self._buffer))
            self._since_restart = 0
        else:
            shared = _common_prefix(self._last, key)
        rest = len(key) - shared
        if shared | rest | len(value) < 128:
            self._buffer += bytes((shared, rest, len(value)))
        else:
            self._buffer += encode_varint(shared) + encode_varint(rest) + encode_varint(len(value))
        self._buffer += key[shared:]
        self._buffer += value
        self._last = key
        self._since_restart += 1

    def finish(self) -> bytes:
        tail = b"".join(map(_FIXED32.pack, [*self._restarts, len(self._restarts)]))
        return bytes(self._buffer) + tail


def _common_prefix(a: bytes, b: bytes) -> int:
    limit = min(len(a), len(b))
    if a[:limit] == b[:limit]:
        return limit
    low, high = 0, limit  # a[:low] == b[:low] and a[:high] != b[:high]
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _separator(last: bytes, following: bytes) -> bytes:
    """A short key at or after `last` and before `following`."""
    at = _common_prefix(last, following)
    if at < min(len(last), len(following)) and last[at] < 0xFF and last[at] + 1 < following[at]:
        return last[:at] + bytes((last[at] + 1,))
    return last


def _successor(last: bytes) -> bytes:
    """A short key at or after `last`."""
    for at, byte in enumerate(last):
        if byte != 0xFF:
            return last[:at] + bytes((byte + 1,))
    return last
