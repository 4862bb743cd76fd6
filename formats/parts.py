"""Partitioned variables: which part of the whole an entry is, and the whole out of its parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .dtypes import DTypeInfo
from .errors import DataLossError, InvalidValueError

if TYPE_CHECKING:
    import numpy as np

Ranges = tuple[tuple[int, int], ...]
"""Per dimension (start, stop)."""


@dataclass(frozen=True, slots=True)
class Part:
    """Which part of a partitioned variable an entry is.

    Attributes:
        full_shape: The shape of the whole variable.
        extents: Per dimension (start, length); a length of -1 is "all of it", which checkpoints
            spell differently from the same range in numbers.
    """

    full_shape: tuple[int, ...]
    extents: tuple[tuple[int, int], ...]

    @property
    def ranges(self) -> Ranges:
        """Per dimension (start, stop) in numbers."""
        return tuple(
            (0, size) if length < 0 else (start, start + length)
            for (start, length), size in zip(self.extents, self.full_shape, strict=True)
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part."""
        return tuple(stop - start for start, stop in self.ranges)

    @property
    def is_full(self) -> bool:
        """Whether it is the whole variable."""
        return all(pair == (0, size) for pair, size in zip(self.ranges, self.full_shape, strict=True))

    @property
    def is_inside(self) -> bool:
        """Whether the ranges lie within the whole, one for each dimension."""
        return len(self.extents) == len(self.full_shape) and all(
            0 <= start <= stop <= size
            for (start, stop), size in zip(self.ranges, self.full_shape, strict=True)
        )

    @classmethod
    def parse(cls, spec: str) -> Part | None:
        """The part that a `shape_and_slices` string of SaveV2 and RestoreV2 says (`"10 3 0,4:-"`).

        Returns:
            None for the empty string, which means the whole.

        Raises:
            InvalidValueError: Not such a string, or a range outside the shape.
        """
        if not spec:
            return None
        try:
            *sizes, ranges = spec.split(" ")
            pairs = [("0", "-1") if one == "-" else one.split(",") for one in ranges.split(":")]
            part = cls(tuple(map(int, sizes)), tuple((int(start), int(length)) for start, length in pairs))
            if part.is_inside:
                return part
        except ValueError:
            pass
        raise InvalidValueError(
            f"'{spec}' is not a shape and slice, which reads like '10 3 0,4:-': the sizes of the whole, then "
            "per dimension START,LENGTH or - for all.",
            spec=spec,
        )


def part_name(name: str, part: Part) -> str:
    """How a part is called in messages: `name[0:4, 0:3]`."""
    return f"{name}[{', '.join(f'{start}:{stop}' for start, stop in part.ranges)}]"


def assemble(
    pieces: Sequence[tuple[Part, Callable[[], np.ndarray[Any, Any]]]],
    ranges: Ranges,
    info: DTypeInfo,
    what: str,
) -> np.ndarray[Any, Any]:
    """The `ranges` of a partitioned tensor, out of parts that do not overlap.

    Args:
        pieces: Each part and what reads it; only those that are needed are read.
        ranges: What is wanted of the whole.
        info: The dtype.
        what: The tensor and where it is, for errors.

    Raises:
        DataLossError: The parts overlap or do not cover what is wanted.
    """
    import numpy as np

    overlaps = []
    for part, read in pieces:
        common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(part.ranges, ranges, strict=True))
        if all(start < stop for start, stop in common):
            overlaps.append((common, part, read))
    _check_cover([common for common, _, _ in overlaps], ranges, what)
    # Every part is read (so its bytes are there) before the whole is allocated.
    values = [read() for _, _, read in overlaps]
    result = np.empty(tuple(stop - start for start, stop in ranges), info.numpy)
    for (common, part, _), array in zip(overlaps, values, strict=True):
        result[_relative(common, ranges)] = array[_relative(common, part.ranges)]
    return result


def _relative(common: Ranges, origin: Ranges) -> tuple[slice, ...]:
    return tuple(slice(a - start, b - start) for (a, b), (start, _) in zip(common, origin, strict=True))


def _check_cover(parts: list[Ranges], wanted: Ranges, what: str) -> None:
    """Every element wanted must be in exactly one part."""
    covered = sum(math.prod(stop - start for start, stop in part) for part in parts)
    count = math.prod(stop - start for start, stop in wanted)
    ordered = sorted(parts)
    overlapping = any(
        all(a < d and c < b for (a, b), (c, d) in zip(one, other, strict=True))
        for at, one in enumerate(ordered)
        for other in _starting_before(ordered, at)
    )
    if covered != count or overlapping:
        problem = "overlap" if overlapping else f"hold {covered} of the {count} elements wanted"
        raise DataLossError(f"{what} is damaged: its parts {problem}.")


def _starting_before(ordered: list[Ranges], at: int) -> Iterator[Ranges]:
    """Those after `at` in the sorted list whose first range begins before that of `at` ends."""
    one = ordered[at]
    for other_at in range(at + 1, len(ordered)):
        other = ordered[other_at]
        if one and other[0][0] >= one[0][1]:
            return
        yield other
