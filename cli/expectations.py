"""`run --expect`: fetched arrays against those of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..formats.errors import MissingNameError, bullets, did_you_mean

RTOL, ATOL = 1e-4, 1e-5
"""For float32; what TensorFlow's own kernels differ by between processors is well within."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One fetched array against the expected one.

    Attributes:
        name: The fetch.
        agrees: Whether shape and values do.
        why: The difference in words; "" where it agrees.
        largest: The largest absolute difference, or None where there is none to be had.
    """

    name: str
    agrees: bool
    why: str
    largest: float | None


def compare(arrays: Mapping[str, Any], path: str, rtol: float, atol: float) -> list[Comparison]:
    """Compares arrays by name with those in a file: `.npz`, `.h5`, or an `.npy` for the only one.

    Raises:
        MissingNameError: The file lacks some of the names.
        OpError: The file cannot be read.
    """
    expected = _expected(arrays, path)
    return [_compare(name, array, expected[name], rtol, atol) for name, array in arrays.items()]


def _expected(arrays: Mapping[str, Any], path: str) -> dict[str, Any]:
    from ..formats import files, registry

    if path.endswith(".npy") and len(arrays) == 1:
        from .feeds import read_npy

        return {next(iter(arrays)): read_npy(files.read_bytes(path), path)}
    store = registry.open_store(path)
    keys = {name: next((k for k in (name, name.removesuffix(":0")) if k in store), None) for name in arrays}
    missing = [name for name, key in keys.items() if key is None]
    if missing:
        lines = [f"{name}{did_you_mean(name, store)}" for name in missing]
        raise MissingNameError(f"--expect {path} does not have:{bullets(lines)}", names=missing, path=path)
    return {name: store[key].read() for name, key in keys.items() if key is not None}


def _compare(name: str, array: Any, expected: Any, rtol: float, atol: float) -> Comparison:
    import numpy as np

    if array.shape != expected.shape:
        return Comparison(name, False, f"shape {list(array.shape)}, expected {list(expected.shape)}", None)
    if array.dtype.kind in "OSU" or expected.dtype.kind in "OSU":
        same = np.array_equal(array, expected)
        return Comparison(name, same, "" if same else "other strings", None)
    wide = np.complex128 if "c" in (array.dtype.kind, expected.dtype.kind) else np.float64
    given, wanted = array.astype(wide), expected.astype(wide)
    close = np.isclose(given, wanted, rtol=rtol, atol=atol, equal_nan=True)
    with np.errstate(all="ignore"):
        difference = np.abs(given - wanted)
    largest = float(np.nanmax(difference)) if np.isfinite(difference).any() else 0.0
    if close.all():
        return Comparison(name, True, "", largest)
    worst = np.unravel_index(
        np.argmax(np.where(close, -1, np.nan_to_num(difference, nan=np.inf))), close.shape
    )
    where = f"[{', '.join(map(str, worst))}]"
    differing = f"{int((~close).sum())} of {close.size} differ"
    why = f"{differing}; at {where} {given[worst]:.7g}, expected {wanted[worst]:.7g}"
    return Comparison(name, False, why, largest)
