"""What the kernels share: how shapes and places are written, and the limits and widths of dtypes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def shape_text(shape: Iterable[Any]) -> str:
    """A shape as TensorFlow's errors write it: `[2,3]`."""
    return f"[{','.join('?' if size is None else str(int(size)) for size in shape)}]"


def place_text(index: Iterable[Any]) -> str:
    """Where an element is, to follow an array's name: `[1,0]`, or nothing for a scalar."""
    text = shape_text(index)
    return text if text != "[]" else ""


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether it is float16 or bfloat16 (of kind V); both are computed in float32 and rounded once."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def widened(a: Array) -> Array:
    """The array in the dtype of the arithmetic: float32 for half precision, else as it is."""
    return a.astype(np.float32) if is_half(a.dtype) else a


def extreme(dtype: np.dtype[Any], sign: int) -> Any:
    """The highest (sign 1) or lowest (-1) finite number of a real dtype, as a scalar of it."""
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min)
    if dtype.kind == "V":  # bfloat16: float32's largest number, its low half cut off
        return np.array(0x7F7F if sign > 0 else 0xFF7F, np.uint16).view(dtype)[()]
    return dtype.type(sign) * np.finfo(dtype).max
