"""An entry: one tensor in a file. What it is called and its shape are known before its bytes are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from . import dtypes
from .dtypes import DTypeInfo
from .parts import Part

if TYPE_CHECKING:
    import numpy as np


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
        stream: What `read_pieces` calls, where the format can read less than all at a time.
        parts: Of a tensor that is stored in parts: what gives the entries of these, under the whole's name.
    """

    name: str
    dtype: DTypeInfo
    shape: tuple[int, ...]
    nbytes: int
    location: str
    load: Callable[[], np.ndarray[Any, Any]]
    part: Part | None = None
    stream: Callable[[], Iterator[np.ndarray[Any, Any]]] | None = None
    parts: Callable[[], list[Entry]] | None = None

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

    def stored(self) -> list[Entry]:
        """The entries of the parts that it is stored in, under its name; itself where it is whole."""
        if self.parts is None:
            return [self]
        return [replace(one, name=self.name) for one in self.parts()]

    def read_pieces(self) -> Iterator[np.ndarray[Any, Any]]:
        """The values as arrays of any shape one after another, of a tensor that may not fit into memory.

        Together they are all elements, in their order. Checksums are compared at the end of the last piece.

        Raises:
            DataLossError: The file is damaged there.
        """
        if self.stream is None:
            yield self.read()
        else:
            yield from self.stream()


PIECE = 1 << 22
"""Bytes of a tensor that are read at a time."""


def pieces_of(shape: tuple[int, ...], itemsize: int) -> Iterator[tuple[slice | int, ...]]:
    """Indices that cut an array into pieces of at most `PIECE` bytes, in the order of its elements."""
    axis, inner = len(shape), itemsize
    while axis and inner * shape[axis - 1] <= PIECE:
        axis -= 1
        inner *= shape[axis]
    if not axis:
        yield ()
        return
    step = max(1, PIECE // inner)
    for outer in product(*map(range, shape[: axis - 1])):
        for start in range(0, shape[axis - 1], step):
            yield (*outer, slice(start, start + step))


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
    if info.kind == "string":  # as objects: NumPy's own strings lose what ends in zeros
        values = array if isinstance(array, np.ndarray) else np.asarray(array, dtype=object)
    else:
        values = np.asarray(array, dtype=info.numpy)
    nbytes = values.nbytes if info.size is not None else 0
    return Entry(name, info, values.shape, nbytes, "memory", lambda: values, part)
