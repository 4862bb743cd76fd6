"""Entries converted to another dtype, value by value checked; and all that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..formats.errors import DataLossError, InvalidValueError, OpError, bullets, damaged_together

if TYPE_CHECKING:
    from ..formats.dtypes import DTypeInfo
    from ..formats.entry import Entry


class _UnfitError(InvalidValueError):
    """A value that the other dtype does not have."""


def cast_entry(entry: Entry, dtype: DTypeInfo) -> Entry:
    """An entry whose values are those of `entry` in another dtype of numbers.

    Its `read` raises InvalidValueError where a value does not exist in that dtype: a finite number that
    would become infinite, an integer that would become another, or an imaginary part that would be lost.
    Rounding is meant.
    """
    assert dtype.size is not None
    load = partial(_read_as, entry, dtype)
    return replace(entry, dtype=dtype, nbytes=entry.size * dtype.size, load=load, stream=None)


@contextmanager
def all_bad(entries: Iterable[Entry]) -> Iterator[None]:
    """Where an entry is damaged or cannot be converted by `cast_entry` inside: looks at the others, too.

    Raises:
        DataLossError: An entry is damaged; lists all that are.
        InvalidValueError: A value does not exist in the other dtype; lists all variables that have such.
    """
    try:
        yield
    except _UnfitError as first:
        unfit = [error for entry in entries if (error := _unfit(entry))] or [first]
        names = [error.fields["name"] for error in unfit]
        raise InvalidValueError(
            f"These variables cannot be converted:{bullets([error.message for error in unfit])}"
            if len(unfit) > 1
            else unfit[0].message,
            **unfit[0].fields,
            names=names,
        ) from first
    except DataLossError as first:
        damaged = {entry.name: lost for entry in entries if (lost := _damage(entry))}
        if not damaged:  # of something else than these
            raise
        raise damaged_together(damaged) from first


def _damage(entry: Entry) -> DataLossError | None:
    try:
        entry.read()
    except DataLossError as error:
        return error
    except OpError:
        return None
    return None


def _unfit(entry: Entry) -> _UnfitError | None:
    if isinstance(entry.load, partial) and entry.load.func is _read_as:
        try:
            entry.read()
        except _UnfitError as error:
            return error
    return None


def _read_as(entry: Entry, dtype: DTypeInfo) -> Any:
    import numpy as np

    values = entry.read()
    if entry.dtype.kind == "complex" and dtype.kind != "complex":
        imaginary = values.imag != 0
        if imaginary.any():
            raise _UnfitError(
                f"Variable '{entry.name}' holds {values[imaginary].flat[0]}, whose imaginary part "
                f"{dtype.name} cannot hold.",
                name=entry.name,
                dtype=dtype.name,
            )
        values = values.real
    with np.errstate(all="ignore"):
        cast = values.astype(dtype.numpy)
        if dtype.kind in ("int", "uint", "bool"):
            lost = (cast.astype(values.dtype) != values) | ((cast < 0) != (values < 0))
        else:
            wide = np.complex128 if dtype.kind == "complex" else np.float64
            lost = np.isfinite(values.astype(wide)) & ~np.isfinite(cast.astype(wide))
    if lost.any():
        raise _UnfitError(
            f"Variable '{entry.name}' holds {values[lost].flat[0]}, which {dtype.name} cannot hold.",
            name=entry.name,
            dtype=dtype.name,
        )
    return cast
