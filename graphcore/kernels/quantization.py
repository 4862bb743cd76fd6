"""The arithmetic of TensorFlow's quantized dtypes: integers that stand for a range of real numbers.

The lowest integer of a dtype stands for the minimum, the highest for the maximum. TensorFlow converts in
two ways that differ in the last step: scalars in double precision, arrays in single precision. Both are
here, as are the fixed-point short cuts of some pairs of dtypes, so that integers agree one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array
from .resize import checked_size, neighbours

F = np.float32


def limits(dtype: Any) -> tuple[int, int]:
    """The lowest and the highest integer of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def rounded(x: Any) -> Any:
    """The nearest integer, halves away from 0, as a float."""
    return np.trunc(x + np.copysign(np.asarray(x).dtype.type(0.5), x))


def _levels(dtype: Any) -> int:
    lowest, highest = limits(dtype)
    return highest - lowest + 1


def unclamped(x: Any, low: Any, high: Any, dtype: Any) -> Any:
    """Real numbers as integers of any size, in double precision; int64.

    Args:
        x: float32 numbers.
        low: The minimum of the range, float32.
        high: Its maximum.
        dtype: The integers' dtype.
    """
    lowest, _ = limits(dtype)
    low, high = F(low), F(high)
    if low == high:
        return np.full(np.shape(x), lowest, np.int64)
    count = _levels(dtype)
    scale = count / (float(high - low) * (count / (count - 1.0)))
    wide = np.asarray(x, np.float64)
    return (rounded(wide * scale) - rounded(float(low) * scale)).astype(np.int64) + lowest


def quantize_scalar(x: Any, low: Any, high: Any, dtype: Any) -> Any:
    """Real numbers as integers of `dtype`, in double precision."""
    return np.clip(unclamped(x, low, high, dtype), *limits(dtype)).astype(dtype)


def dequantize_scalar(x: Any, low: Any, high: Any) -> Any:
    """Integers as real numbers, in double precision; float32."""
    low, high, x = F(low), F(high), np.asarray(x)
    if low == high:
        return np.full(x.shape, low)
    count = _levels(x.dtype)
    scale = float(high - low) * (count / (count - 1.0)) / count
    start = float(rounded(F(low / F(scale)))) * float(F(scale))
    return (start + (x.astype(np.float64) - limits(x.dtype)[0]) * scale).astype(F)


def quantize(x: Array, low: Any, high: Any, dtype: Any) -> Array:
    """Real numbers as integers of `dtype`, in single precision."""
    low, high = F(low), F(high)
    lowest, highest = limits(dtype)
    scale = F(0) if low == high else F((_levels(dtype) - 1.0) / float(high - low))
    offset = rounded(F(low * scale)) - F(lowest)
    # The limits of int32 are no float32 numbers that could be cast back.
    bounds = max(F(lowest), F(-2147483648)), min(F(highest), F(2147483520))
    clipped: Array = np.clip(rounded(x * scale) - offset, *bounds)
    return clipped.astype(np.int32).astype(dtype)


def dequantize(x: Array, low: Any, high: Any) -> Array:
    """Integers as real numbers, in single precision."""
    low, high = F(low), F(high)
    scale = F(float(high - low) / (_levels(x.dtype) - 1.0))
    start = low if low == high else rounded(F(low / scale)) * scale
    out: Array = (start - F(limits(x.dtype)[0]) * scale) + x.astype(F) * scale
    return out


def requantize(x: Array, low: Any, high: Any, new_low: Any, new_high: Any, dtype: Any) -> Array:
    """Integers of one range as those of `dtype` for another one."""
    if x.dtype == np.int32 and dtype == np.uint8:
        return _down(x, F(low), F(high), F(new_low), F(new_high))
    return quantize(dequantize(x, low, high), new_low, new_high, dtype)


def _down(x: Array, low: Any, high: Any, new_low: Any, new_high: Any) -> Array:
    """From 32 bits to 8, in fixed-point numbers with 16 bits after the point."""
    span, new_span = high - low, new_high - new_low
    one = 1 << 16
    if new_span == 0:
        scale = offset = new_offset = 0
    else:
        scale = int(255.0 * one * float(span) / float(new_span))
        middle, reciprocal = F(float(low + high) / 2.0), F(255.0 / float(new_span))
        offset = int(middle * reciprocal * F(one))
        new_offset = int(one * (float(new_low) * 255.0) / float(new_span))
    fixed = ((x.astype(np.int64) * scale) >> 32) + (offset - new_offset + one // 2)
    clipped: Array = np.clip(fixed >> 16, 0, 255)
    return clipped.astype(np.uint8)


def up_to_32(x: Array, low: Any, high: Any, new_low: Any, new_high: Any) -> Array:
    """Integers as those of 32 bits; arrays of uint8 by multiples of the step from 0 to 1."""
    if x.dtype != np.uint8 or x.size == 1:
        exact: Array = quantize_scalar(dequantize_scalar(x, low, high), new_low, new_high, np.int32)
        return exact
    ends = dequantize_scalar(np.array([0, 1], np.uint8), low, high)
    start, one = unclamped(ends, new_low, new_high, np.int32).tolist()
    clipped: Array = np.clip(start + x.astype(np.int64) * (one - start), *limits(np.int32))
    return clipped.astype(np.int32)


def product_range(
    low_a: Any, high_a: Any, low_b: Any, high_b: Any, dtypes: tuple[Any, Any, Any]
) -> tuple[Any, Any]:
    """What the integers of products stand for.

    Args:
        low_a: Minimum of the first factor.
        high_a: Its maximum.
        low_b: Minimum of the second factor.
        high_b: Its maximum.
        dtypes: Of the factors and of the products.
    """
    steps = []
    for low, high, dtype in ((low_a, high_a, dtypes[0]), (low_b, high_b, dtypes[1])):
        lowest, highest = limits(dtype)
        steps.append(F(F(high) - F(low)) / F(highest - lowest))
    step = F(steps[0] * steps[1])
    lowest, highest = limits(dtypes[2])
    return step * F(lowest), step * F(highest)


def sum_range(*ends: Any) -> tuple[Any, Any]:
    """What the 32-bit integers of sums stand for: symmetric, with 15 bits for the numbers themselves."""
    low_a, high_a, low_b, high_b = (F(end) for end in ends)
    largest = F(max(high_a, -low_a, high_b, -low_b) * F(1 << 17))
    return -largest, largest


def quantize_v2(
    x: Array, low: Any, high: Any, dtype: Any, mode: str, round_mode: str
) -> tuple[Any, Any, Any]:
    """TensorFlow's QuantizeV2.

    Args:
        x: float32.
        low: Smallest number of the range.
        high: Largest number; moved away from `low` where they are close.
        dtype: The integers' dtype.
        mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED".
        round_mode: "HALF_AWAY_FROM_ZERO" or, for "SCALED", "HALF_TO_EVEN".

    Returns:
        `(integers, minimum, maximum)` of the range in fact used.
    """
    low, high = F(low), F(high)
    lowest, highest = limits(dtype)
    near = F(max(F(1), abs(low), abs(high)) / F(100))
    low = min(F(0), low)
    high = max(F(0), max(high, F(low + near)))
    if mode == "MIN_FIRST":
        return quantize(x, low, high, dtype), low, high
    if mode == "MIN_COMBINED":
        with np.errstate(all="ignore"):
            scale = F(np.float64(highest - lowest) / np.float64(F(high - low)))
        moved = (np.clip(x, low, high) - low) * scale
        # An unsigned number is rounded by the cast, a signed one before it.
        out = rounded(moved - F((highest - lowest + 1) / 2)) if lowest else moved + F(0.5)
        return out.astype(dtype), low, high
    scale = min(
        F(lowest) / low if F(lowest) * low > 0 else np.finfo(F).max,
        F(highest) / high if F(highest) * high > 0 else np.finfo(F).max,
    )
    low, high = F(lowest) / scale, F(highest) / scale
    scaled = np.clip(x, low, high) * scale
    return (np.rint(scaled) if round_mode == "HALF_TO_EVEN" else rounded(scaled)).astype(dtype), low, high


def dequantize_v2(x: Array, low: Any, high: Any, mode: str) -> Array:
    """TensorFlow's Dequantize: integers as float32, by the mode they were quantized with."""
    low, high = F(low), F(high)
    lowest, highest = limits(x.dtype)
    if mode == "MIN_FIRST":
        return dequantize(x, low, high)
    if mode == "MIN_COMBINED":
        half = F(0) if lowest == 0 else F(float(highest - lowest + 1) / 2.0)
        scale = F(high - low) / F(F(highest) - F(lowest))
        combined: Array = (x.astype(F) + half) * scale + low
        return combined
    scale = high / F(highest) if lowest == 0 else max(low / F(lowest), high / F(highest))
    scaled: Array = x.astype(F) * scale
    return scaled


def resize_bilinear(x: Array, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Array:
    """TensorFlow's QuantizedResizeBilinear: bilinear on the integers, in fixed-point numbers.

    Args:
        x: (batch, height, width, channels); uint8 with 7 bits after the point; int32 with 30, rounded to
            single precision first; or float32.
        size: New height and width.
        align_corners: See `resize`.
        half_pixel_centers: See there.

    Returns:
        An array of shape (batch, *size, channels) and x's dtype.

    Raises:
        InvalidArgumentError: x is not 4-D or empty, or size is not two positive numbers.
    """
    height, width = checked_size(x, size, align_corners, half_pixel_centers)
    if (height, width) == x.shape[1:3]:
        return x.copy()
    rows = neighbours(x.shape[1], height, align_corners, half_pixel_centers)
    columns = neighbours(x.shape[2], width, align_corners, half_pixel_centers)
    if x.dtype.kind == "f":
        left, right = x[:, :, columns[0]], x[:, :, columns[1]]
        across = left + (right - left) * columns[2][:, None]
        top = across[:, rows[0]]
        return np.asarray(top + (across[:, rows[1]] - top) * rows[2][:, None, None])
    one = 1 << (7 if x.dtype == np.uint8 else 30)
    share_x, share_y = ((share * F(one)).astype(np.int64) for share in (columns[2], rows[2]))
    wide = x.astype(F).astype(np.int64)
    left = wide[:, :, columns[0]]
    across = left * one + (wide[:, :, columns[1]] - left) * share_x[:, None]
    top = across[:, rows[0]]
    out = top + _truncated(across[:, rows[1]] - top, one) * share_y[:, None, None]
    return _truncated(out + one // 2, one).astype(x.dtype)


def _truncated(x: Array, divisor: int) -> Array:
    """The quotient, towards 0 as in C."""
    quotient: Array = np.sign(x) * (np.abs(x) // divisor)
    return quotient
