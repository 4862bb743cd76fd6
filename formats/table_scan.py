"""The blocks of a table whose end is lost, found one after another from its beginning.

A table's footer says where its index is, and that where each block is; a file that was cut off has neither.
But a block tells its own end: its entries say their lengths, and no entry looks like the list of restarts
that follows the last (which begins with four zeros, as only an entry without a key could). A block that
Snappy compressed begins with its length. Whether a block is whole is proved by its checksum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from struct import unpack

from .errors import DataLossError
from .files import Content

_WINDOW = 1 << 16
_TRAILER = 5


@dataclass(slots=True)
class Scan:
    """What a table without its end holds.

    Attributes:
        places: (offset, size) of each block, those with a wrong checksum, too.
        first_keys: The first key of each block.
        last_keys: A key at or after each block's last, and before the next one's first.
        torn: The small entries before the break of the block that is not whole: no checksum vouches for them.
        end: Where that block begins.
        complete: Whether all blocks with entries are there: only what lists them is lost.
    """

    places: list[tuple[int, int]] = field(default_factory=list)
    first_keys: list[bytes] = field(default_factory=list)
    last_keys: list[bytes] = field(default_factory=list)
    torn: dict[bytes, bytes] = field(default_factory=dict)
    end: int = 0
    complete: bool = False


class _Window:
    """Small reads of a file, out of larger ones."""

    def __init__(self, content: Content) -> None:
        self._content, self._at, self._data = content, 0, b""
        self.size = content.size

    def bytes(self, at: int, length: int) -> bytes:
        if length > _WINDOW:
            return self._content.bytes(at, length)
        if not self._at <= at <= at + length <= self._at + len(self._data):
            self._at, self._data = at, self._content.bytes(at, _WINDOW)
        return self._data[at - self._at : at - self._at + length]


def scan_blocks(content: Content, entries: Callable[[int, int], Iterable[tuple[bytes, bytes]]]) -> Scan:
    """Finds the blocks of a table from its beginning on, up to the first whose end is not there.

    Args:
        content: The file.
        entries: Gives the (key, value) of the block at an offset of a size; DataLossError if it is damaged.
    """
    window = _Window(content)
    found = Scan()
    while found.end < content.size:
        at = found.end
        if window.bytes(at, 1) == b"\0":
            keys, size = _plain_block(window, at, found)
        else:
            size = _snappy_block(window, at)
            keys = []
            if size is not None:
                try:
                    keys = [key for key, _ in entries(at, size)]
                except DataLossError:
                    break  # its keys are not known
        if size is None:
            break
        found.complete = not keys  # the block about the others, which is empty, follows the last
        if found.complete or (found.last_keys and keys[0] <= found.last_keys[-1]):
            break
        found.places.append((at, size))
        found.first_keys.append(keys[0])
        found.last_keys.append(keys[-1])
        found.end = at + size + _TRAILER
    return found


def _plain_block(window: _Window, at: int, found: Scan) -> tuple[list[bytes], int | None]:
    """First and last key of the block at `at`, and its size; None where its end is not there.

    Then `found.torn` is what is there. Entries whose keys are not in order (a damaged length) end nowhere.
    """
    start, key = at, b""
    keys: list[bytes] = []
    torn: dict[bytes, bytes] = {}
    count = 0
    while True:
        if window.bytes(at, 4) == b"\0\0\0\0":
            size = _end_of_restarts(window, at, count)
            if size is not None and (count or size == 8):
                return keys, at + size - start
            break  # no entry: one without a key comes first, and has a value
        header = window.bytes(at, 30)
        shared, place = _varint(header, 0)
        rest, place = _varint(header, place)
        length, place = _varint(header, place)
        begin = at + place + rest
        if place > len(header) or shared > len(key) or begin + length > window.size or rest > window.size:
            break
        new = key[:shared] + window.bytes(at + place, rest)
        if count and new <= key:
            break
        key = new
        keys = [keys[0] if keys else key, key]
        if length < _WINDOW:
            torn[key] = window.bytes(begin, length)
        at = begin + length
        count += 1
    found.torn = torn
    return [], None


def _end_of_restarts(window: _Window, at: int, count: int) -> int | None:
    """Bytes of the list of restarts at `at` with the number of them; None where it is none, or cut off.

    There is at most one for each of `count` entries, and one where there are none.
    """
    last = -1
    for number in range(max(count, 1) + 1):
        one = window.bytes(at + 4 * number, 4)
        if len(one) < 4:
            return None
        (value,) = unpack("<I", one)
        if number and value == number:
            whole = at + 4 * number + 4 + _TRAILER <= window.size
            return 4 * number + 4 if whole else None
        if value <= last:
            return None
        last = value
    return None


def _snappy_block(window: _Window, at: int) -> int | None:
    """The size of the compressed block at `at`; None where it is none, or its end is not there."""
    header = window.bytes(at, 10)
    wanted, place = _varint(header, 0)
    start, at = at, at + place
    made = 0
    while made < wanted:
        head = window.bytes(at, 5)
        if not head:
            return None
        kind, rest = head[0] & 3, head[0] >> 2
        if kind == 0:
            more = max(0, rest - 59)
            length = int.from_bytes(head[1 : 1 + more], "little") + 1 if more else rest + 1
            at += 1 + more + length
        else:
            length = 4 + (rest & 7) if kind == 1 else 1 + rest
            at += (2, 3, 5)[kind - 1]
        made += length
    whole = made == wanted and at + _TRAILER <= window.size and window.bytes(at, 1) == b"\1"
    return at - start if whole else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A varint and where the next byte is; beyond the end of `data` if it is cut short."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return value, len(data) + 1
