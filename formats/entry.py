"""An entry: one tensor in a file. What it is called and its shape are known before its bytes are read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import dtypes
from .dtypes import DTypeInfo
from .errors import InvalidValueError

if TYPE_CHECKING:
    import numpy as np


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
    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Per dimension (start, stop) in numbers."""
        return tuple(
            (0, size) if length < 0 else (start, start + length)
            for (start, length), size in zip(self.extents, self.full_shape, strict=True)
        )

    @property
    def is_full(self) -> bool:
        """Whether it is the whole variable."""
        return all(pair == (0, size) for pair, size in zip(self.ranges, self.full_shape, strict=True))

    @classmethod
    def parse(cls, spec: str) -> Part | None:
        """The part that a `shape_and_slices` string (`"10 3 0,4:-"`) of SaveV2 and RestoreV2 says; None if it is empty.

        Raises:
            InvalidValueError: Not such a string, or a range outside the shape.
        """
        if not spec:
            return None
        try:
            *sizes, ranges = spec.split(" ")
            shape = tuple(map(int, sizes))
            extents = tuple((0, -1) if r == "-" else tuple(map(int, r.split(","))) for r in ranges.split(":"))
            part = cls(shape, tuple((start, length) for start, length in extents))
            valid = all(0 <= a <= b <= size for (a, b), size in zip(part.ranges, shape, strict=True))
        except ValueError:
            valid = False
        if not valid:
            raise InvalidValueError(
                f"'{spec}' is not a shape and slice; it is written like '10 3 0,4:-' (shape, then per dimension "
                "START,LENGTH or -).",
                spec=spec,
            )
        return part


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor in a store.

    Attributes:
        name: Its key: a variable's name, without `:0`.
        dtype: Its element type.
        shape: Its shape, fully known.
        nbytes: Bytes that it takes in the file (strings: with their lengths).
        location: Where it is, for messages ("model.data-00000-of-00001, bytes 16 to 32").
        load: What `read` calls.
        part: For a part of a partitioned variable: which. `name` and `full_shape` are the whole's,
            `shape` and the values are the part's.
    """

    name: str
    dtype: DTypeInfo
    shape: tuple[int, ...]
    nbytes: int
    location: str
    load: Callable[[], np.ndarray[Any, Any]]
    part: Part | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def read(self) -> np.ndarray[Any, Any]:
        """The values, checked against the file's checksums where it has them.

        Returns:
            An array of `dtype.numpy` and `shape`; it may be read-only (a view of the mapped file).
            Strings are an object array of `bytes`.

        Raises:
            DataLossError: The file is damaged there.
        """
        return self.load()


def entry_of(name: str, array: Any, dtype: Any = None, part: Part | None = None) -> Entry:
    """An entry that holds an array in memory, for a writer.

    Args:
        name: The key.
        array: Anything `numpy.asarray` takes.
        dtype: A `DTypeInfo` or dtype name where NumPy's does not say it (the quantized types).
        part: Which part of a partitioned variable `array` is.

    Raises:
        InvalidTypeError: TensorFlow has no such element type.
    """
    import numpy as np

    if dtype is None:
        info = dtypes.from_numpy(np.asarray(array).dtype)
    else:
        info = dtype if isinstance(dtype, DTypeInfo) else dtypes.from_name(str(dtype))
    values = np.asarray(array) if info.kind == "string" else np.asarray(array, dtype=info.numpy)
    nbytes = values.nbytes if info.size is not None else 0
    return Entry(name, info, values.shape, nbytes, "memory", lambda: values, part)
