"""Entries converted to another dtype, value by value checked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..formats.errors import InvalidValueError

if TYPE_CHECKING:
    from ..formats.dtypes import DTypeInfo
    from ..formats.entry import Entry


def cast_entry(entry: Entry, dtype: DTypeInfo) -> Entry:
    """An entry whose values are those of `entry` in another dtype of numbers.

    Its `read` raises InvalidValueError where a value does not exist in that dtype: a finite number that
    would become infinite, or an integer that would become another. Rounding is meant.
    """
    assert dtype.size is not None
    return replace(entry, dtype=dtype, nbytes=entry.size * dtype.size, load=partial(_read_as, entry, dtype))


def _read_as(entry: Entry, dtype: DTypeInfo) -> Any:
    import numpy as np

    values = entry.read()
    with np.errstate(all="ignore"):
        cast = values.astype(dtype.numpy)
        if dtype.kind in ("int", "uint", "bool"):
            lost = (cast.astype(values.dtype) != values) | ((cast < 0) != (values < 0))
        else:
            wide = np.complex128 if "complex" in (dtype.kind, entry.dtype.kind) else np.float64
            lost = np.isfinite(values.astype(wide)) & ~np.isfinite(cast.astype(wide))
            if dtype.kind != "complex" and entry.dtype.kind == "complex":
                lost |= values.imag != 0
    if lost.any():
        raise InvalidValueError(
            f"Variable '{entry.name}' holds {values[lost].flat[0]}, which {dtype.name} cannot hold.",
            name=entry.name,
            dtype=dtype.name,
        )
    return cast
