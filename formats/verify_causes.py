"""What seems to have happened to a damaged file: cut off, changed as text, something else in its place.

A transfer as text adds a carriage return before each line feed, or removes it. Either shows in the size
of a file that is known, and in the pairs of the two bytes that all line feeds, or none, are part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, pairwise

from . import files, sniff
from .crc import masked_crc32c
from .declared_size import declared_size
from .errors import OpError, is_unreadable

_CHUNK = 1 << 20
_MANY = 2000
"""So many line feeds do not all lack a carriage return by chance: one in 256 has it in random bytes."""
_RARE = 1024
"""One in so many line feeds, or fewer, follows a carriage return once they were removed."""
_FEW = 4
_FAR = 4096
"""Bytes before its place up to which a tensor is looked for."""
_TRIED = 1 << 26
"""Bytes whose checksums are calculated in search of a proof."""


@dataclass(frozen=True, slots=True)
class Place:
    """A tensor or part, its place in a data file, its masked checksum, and whether it is intact."""

    name: str
    path: str
    offset: int
    size: int
    crc: int
    intact: bool


def causes_of(path: str, expected: int | None = None, lost_inside: bool = False) -> list[str]:
    """What seems to have happened to a damaged file, as sentences; often nothing.

    Args:
        path: The file.
        expected: How long it should be, where that is known; else what the file itself says is taken.
        lost_inside: Whether the bytes that it lacks are known to be missing from its middle.
    """
    try:
        return _causes_of(path, expected, lost_inside)
    except OpError as error:
        if not is_unreadable(error):
            raise
        return []  # which is said of the tensors in it


def _causes_of(path: str, expected: int | None, lost_inside: bool) -> list[str]:
    size = files.file_size(path)
    if expected is not None and (kind := stand_in(path)):
        return [f"{path} is {kind}."]
    if expected is None:
        declared = declared_size(path)
        if declared is not None:
            expected, lost_inside = declared.size, declared.at_the_end
    if expected is not None and size < expected:
        return [
            _returns_removed(path, size, expected, lost_inside) or _shorter(path, size, expected, lost_inside)
        ]
    text = _as_text(path, size, expected)
    if text:
        return [f"{path}:{text}"]
    if expected is not None and size > expected:
        return [
            f"{path} has {size - expected} bytes more than the {expected} it should have: what lies behind "
            "them is not where it should be, unless they are at the end."
        ]
    if expected is None and size and size % 4096 == 0:
        return [
            f"{path} has {size} bytes, a multiple of {_round(size)}: it may be cut off (an interrupted "
            "download, or a full disk)."
        ]
    return []


def stand_in(path: str) -> str:
    """What lies in the place of a data file, which has no signature of its own; "" if that is not known."""
    head = files.read_head(path, sniff.HEAD)
    zeros = head and not head.strip(b"\0")  # the first tensor may well be zeros
    return "" if zeros else sniff.describe(head) or ""


def _shorter(path: str, size: int, expected: int, lost_inside: bool) -> str:
    if lost_inside:
        return f"{path} lacks {expected - size} of {expected} bytes, not at its end but before."
    text = f"{path} is cut off: it has {size} of {expected} bytes."
    if size and size % 4096 == 0:
        text += f" {size} is a multiple of {_round(size)}: an interrupted download or copy, or a full disk."
    return text


def lost_before(path: str, lacking: int, damaged: Iterable[Place]) -> bool:
    """Whether bytes are missing from the middle of a data file: then it is whole at earlier places.

    Proof is a damaged tensor that matches its checksum some bytes before its place, or where it lies once
    carriage returns are put back. A file so large that it must have pairs of carriage return and line feed
    is taken to have lost them if it has none.

    Args:
        path: The file.
        lacking: How many bytes it lacks.
        damaged: The tensors in it that do not match.
    """
    size = files.file_size(path)
    damaged = sorted(damaged, key=lambda place: place.size)
    if any(0 < place.size <= size - place.offset for place in damaged):  # not only what was cut off
        pairs, feeds = _pairs_and_feeds(path)
        if feeds >= _MANY and _are_rare(pairs, feeds):
            return True
    left = _TRIED
    for place in damaged:
        if not place.size:
            continue
        if place.size > left:
            break
        start = max(0, place.offset - min(lacking, _FAR))
        data = files.read_range(path, start, place.offset + place.size - start)
        candidates = chain(
            (data[at : at + place.size] for at in range(place.offset - start)),
            _with_returns(data[place.offset - start :][: max(0, place.size - lacking)], lacking),
        )
        for one in candidates:
            left -= place.size
            if left < 0:
                return False
            if len(one) == place.size and masked_crc32c(one) == place.crc:
                return True
    return False


def _with_returns(data: bytes, count: int) -> Iterator[bytes]:
    """`data` with `count` carriage returns put before line feeds, in all ways."""
    feeds = [at for at, byte in enumerate(data) if byte == 0x0A]
    for chosen in combinations(feeds, count) if count < _FEW else ():
        ends = (0, *chosen, len(data))
        yield b"\r".join(data[start:end] for start, end in pairwise(ends))


def _round(size: int) -> str:
    return "1 MiB" if size % (1 << 20) == 0 else "4096"


def _returns_removed(path: str, size: int, expected: int, lost_inside: bool) -> str:
    """Whether each pair of carriage return and line feed has become a line feed."""
    pairs, feeds = _pairs_and_feeds(path)
    if not lost_inside or not _are_rare(pairs, feeds):
        return ""
    if feeds < expected - size and _count(path, size, b"\r"):
        return ""  # more bytes are gone than line feeds are there
    return (
        f"{path}: It looks as if it was transferred as text ({pairs or 'none'} of its {feeds} line feeds "
        f"follow a carriage return, and {expected - size} bytes are missing from its middle): "
        f"{sniff.TEXT_MODE}."
    )


def _as_text(path: str, size: int, expected: int | None) -> str:
    """Whether a transfer as text changed the file: by the growth of its size, else by its first bytes."""
    told = sniff.text_mode_damage(files.read_head(path, _CHUNK))
    if not told or expected is None:
        return told
    if "carriage return" in told and not 0 < size - expected <= _count(path, size, b"\n"):
        return ""  # a file of few line feeds that happen to follow carriage returns
    return f"{told} The file is {size - expected} bytes longer than it was."


def _pairs_and_feeds(path: str) -> tuple[int, int]:
    """How many line feeds in a file follow a carriage return, and how many there are."""
    pairs = feeds = 0
    for at in range(0, files.file_size(path), _CHUNK):
        chunk = files.read_range(path, at, _CHUNK + 1)
        pairs += chunk.count(b"\r\n")
        feeds += chunk[:_CHUNK].count(b"\n")
    return pairs, feeds


def _are_rare(pairs: int, feeds: int) -> bool:
    """Whether so few pairs are left as where each became a line feed: of two returns before one, one is."""
    return pairs * _RARE <= feeds


def _count(path: str, size: int, byte: bytes) -> int:
    return sum(files.read_range(path, at, _CHUNK).count(byte) for at in range(0, size, _CHUNK))
