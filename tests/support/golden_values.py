"""The values in the golden files: `make_golden.py` hands them to TensorFlow, the tests expect them back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sgtool.formats import dtypes

SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (0,), (2, 0, 3), (5,), (2, 3))
STRINGS = (b"ab\0", b"", b"z" * 200, "é".encode(), b"\xff", b"q")
STORABLE = tuple(row for row in dtypes.BY_NUMBER.values() if row.kind != "handle")


def values(info: dtypes.DTypeInfo, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Deterministic values of a dtype: negative ones, fractions and large ones where it has them."""
    count = math.prod(shape)
    steps = np.arange(count)
    flat: np.ndarray[Any, Any]
    if info.kind == "string":
        flat = np.empty(count, object)
        flat[:] = STRINGS[:count]
    elif info.kind == "bool":
        flat = steps % 3 == 0
    elif info.kind == "complex":
        flat = (steps * 1.25 - 2j * steps + 1).astype(info.numpy)
    elif info.name in ("int4", "uint4") or info.name.startswith("float8"):
        flat = (steps % 7).astype(info.numpy)
    elif info.numpy.kind == "u":
        flat = np.full(count, np.iinfo(info.numpy).max, info.numpy) - steps.astype(info.numpy)
    elif info.numpy.kind == "i":
        eighth = np.iinfo(info.numpy).max // 8
        flat = (steps * np.where(steps % 2, -1, 1) * eighth).astype(info.numpy)
    else:
        flat = (steps * 1.5 - 3).astype(info.numpy)
    return flat.reshape(shape)


def named_values() -> dict[str, tuple[dtypes.DTypeInfo, np.ndarray[Any, Any]]]:
    """(dtype, values) of every storable dtype in every shape, by a name that says both."""
    return {
        f"{info.name}/{'x'.join(map(str, shape)) or 'scalar'}": (info, values(info, shape))
        for info in STORABLE
        for shape in SHAPES
    }
