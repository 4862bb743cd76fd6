"""Values as TensorFlow's Print, Assert and string_format write them.

Source: Tensor::SummarizeValue, tensorflow/core/framework/tensor.cc (r1.15), behaviour only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def escaped(data: bytes) -> str:
    """Bytes as a C string literal, octal where they are no printable ASCII (Abseil's CEscape)."""
    return "".join(
        _ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data
    )


def number(value: Any) -> str:
    """A number: with 6 (float64: 15) digits where they suffice to tell it, else with 9 (17).

    Complex numbers and what else TensorFlow cannot print are `?`.
    """
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        kind, digits, more = (np.float64, 15, 17) if isinstance(value, float) else (np.float32, 6, 9)
        text = f"{float(value):.{digits}g}"
        return text if math.isnan(value) or kind(text) == kind(value) else f"{float(value):.{more}g}"
    if isinstance(value, (int, np.integer)):
        return str(value)
    try:
        return number(np.float32(value))  # float16 and bfloat16
    except TypeError:
        return "?"


def summarize_value(value: Any, max_entries: int, v2: bool = False) -> str:
    """The first elements of an array in order; with `v2` the first and last of each dimension.

    Args:
        value: An array or scalar, numbers or bytes.
        max_entries: How many elements; negative for all.
        v2: Whether to write brackets, newlines and quotes as NumPy does.
    """
    array = np.asarray(value)
    flat = array.reshape(-1)
    limit = flat.size if max_entries < 0 else min(max_entries, flat.size)

    def element(item: Any) -> str:
        if isinstance(item, str):
            item = item.encode()
        if isinstance(item, bytes):
            return f'"{escaped(item)}"' if v2 else escaped(item)
        return "?" if array.dtype.kind in "cV" and array.dtype.name != "bfloat16" else number(item)

    rest = "..." if flat.size > limit else ""
    if array.dtype.kind in "cV" and array.dtype.name != "bfloat16":
        shown = " ".join(["?"] * limit) + ("..." if 0 <= max_entries < flat.size else "")
        return f"[{shown}]" if v2 else shown
    if not array.ndim:
        return (element(flat[0]) if limit else "") + rest
    if v2:
        return _nested(array, limit, element)
    return _flat(array, limit, element) + rest


def _flat(array: Any, limit: int, element: Any) -> str:
    """Elements up to a limit, rows in brackets, without any around the whole."""
    done = 0

    def dimension(part: Any, axis: int) -> str:
        nonlocal done
        if done >= limit:
            return ""
        if part.ndim == 1:
            shown = part[: limit - done]
            done += len(shown)
            cut = "..." if len(shown) < len(part) and axis else ""
            return " ".join(map(element, shown)) + cut
        return "".join(f"[{dimension(row, axis + 1)}]" for row in part if done < limit)

    return dimension(array, 0)


def _nested(array: Any, ends: int, element: Any) -> str:
    """The first and last few of each dimension, as NumPy writes them."""
    rank = array.ndim

    def dimension(part: Any, axis: int) -> str:
        if axis == rank:
            return str(element(part[()] if isinstance(part, np.ndarray) else part))
        between = " " if axis == rank - 1 else "\n" * (rank - axis - 1) + " " * (axis + 1)
        count = len(part)
        shown = [dimension(part[index], axis + 1) for index in range(min(ends, count))]
        if count > 2 * ends:
            shown.append("...")
        shown += [dimension(part[index], axis + 1) for index in range(max(ends, count - ends), count)]
        text = between.join(shown)
        return f"[{between if not ends and count else ''}{text}]"

    return dimension(array, 0)
