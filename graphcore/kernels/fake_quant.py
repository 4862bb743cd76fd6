"""Numbers as a quantized network would see them, in float arithmetic, as TensorFlow 1.15 rounds them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text, widened

F = np.float32


class Steps(NamedTuple):
    """The range of FakeQuant moved so that 0 is one of its steps; arrays of one shape.

    Attributes:
        low: The lowest number.
        high: The highest number.
        scale: The distance of two steps.
        zero: The step that is 0.
        none: Whether the range is only 0, which gives zeros.
    """

    low: Array
    high: Array
    scale: Array
    zero: Array
    none: Array


def steps(low: Any, high: Any, num_bits: int, narrow_range: bool) -> Steps:
    """The steps of `[low, high]` (float32, any shape) in `num_bits` bits.

    Raises:
        InvalidArgumentError: There are fewer than 2 or more than 16 bits.
    """
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(
            f"num_bits must be between 2 and 16, inclusive, but is {num_bits}", num_bits=num_bits
        )
    low, high = np.asarray(low, F), np.asarray(high, F)
    first, last = F(1 if narrow_range else 0), F((1 << num_bits) - 1)
    none = (low == 0) & (high == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (np.where(none, F(1), high) - low) / (last - first)
        start = first - low / scale
        # np.round rounds halves to even, C's round away from 0; the start is not negative here. The sum is
        # in double precision: in single, 23.499998 + 0.5 is 24.
        zero = np.clip(np.floor(start.astype(np.float64) + 0.5).astype(F), first, last)
        nudged_low, nudged_high = (first - zero) * scale, (last - zero) * scale
        step = np.trunc(-nudged_low / scale + F(0.5))
    return Steps(nudged_low, nudged_high, scale, step, none)


def check_range(low: float, high: float) -> None:
    """Raises InvalidArgumentError unless low < high."""
    if not low < high:
        raise InvalidArgumentError(f"min has to be smaller than max, was: {low:g} >= {high:g}")


def check_channels(shape: tuple[int, ...], low: Array, high: Array) -> None:
    """Raises InvalidArgumentError unless there is a minimum and a maximum for each channel."""
    depth = shape[-1] if shape else 0
    wrong = [
        f"{name} has incorrect size, expected {depth} was {shape_text(array.shape)}"
        for name, array in (("min", low), ("max", high))
        if array.shape != (depth,)
    ]
    if wrong:
        raise InvalidArgumentError("; ".join(wrong))


def fake_quant(inputs: Array, at: Steps) -> Array:
    """`inputs` moved to the nearest step."""
    moved = np.maximum(np.minimum(inputs, at.high), at.low) - at.low
    out: Array = (np.floor(moved / at.scale + F(0.5)) - at.zero) * at.scale
    return np.where(at.none, F(0), out).astype(F, copy=False)


def fake_quant_grad(gradients: Array, inputs: Array, at: Steps) -> tuple[Array, Array, Array]:
    """The gradient, straight through within the range, and what goes to the range's ends.

    Returns:
        `(by inputs, by the minimum, by the maximum)`, the latter two not summed yet.

    Raises:
        InvalidArgumentError: Gradients and inputs differ in shape.
    """
    if gradients.shape != inputs.shape:
        raise InvalidArgumentError(
            f"gradient and input must be the same size: {shape_text(gradients.shape)} vs. "
            f"{shape_text(inputs.shape)}"
        )
    inside = ((inputs >= at.low) & (inputs <= at.high)) | at.none
    below, above = (inputs < at.low) & ~at.none, (inputs > at.high) & ~at.none
    by_ends = (np.where(at.none, F(0), gradients * mask) for mask in (below, above))
    return gradients * inside, *by_ends  # type: ignore[return-value]


def quantize_and_dequantize(
    x: Array,
    low: Any,
    high: Any,
    *,
    signed: bool,
    num_bits: int,
    range_given: bool,
    narrow_range: bool = False,
    round_mode: str = "HALF_TO_EVEN",
) -> Array:
    """TensorFlow's QuantizeAndDequantize.

    Args:
        x: A float dtype; half precision is computed in float32.
        low: The smallest number, if `range_given`.
        high: The largest number, if `range_given`.
        signed: Whether quantized numbers are signed.
        num_bits: Of a quantized number.
        range_given: Whether `low` and `high` count, else those of x.
        narrow_range: Whether the lowest signed number is not used.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".

    Raises:
        InvalidArgumentError: The range or the number of bits cannot be.
    """
    if not 0 < num_bits < (62 if signed else 63):
        raise InvalidArgumentError(
            f"num_bits is out of range: {num_bits} with signed_input_ {int(signed)}", num_bits=num_bits
        )
    wide = widened(x)
    kind = wide.dtype.type
    if range_given:
        low, high = (kind(np.asarray(value).reshape(())) for value in (low, high))
        if not low <= high:
            raise InvalidArgumentError(f"Invalid range: input_min {low:g} > input_max {high:g}")
    elif x.size:
        low, high = wide.min(), wide.max()
    else:
        return x.copy()
    lowest = -(1 << (num_bits - 1)) + int(narrow_range) if signed else 0
    highest = (1 << (num_bits - 1)) - 1 if signed else (1 << num_bits) - 1
    first, last, most = kind(lowest), kind(highest), np.finfo(kind).max
    by_low = first / low if first * low > 0 else most
    by_high = last / high if last * high > 0 else most
    if by_low < by_high:
        scale, inverse = by_low, low / first
        high = last * inverse
    else:
        scale, inverse = by_high, high / last
        low = first * inverse
    if range_given:
        wide = np.maximum(np.minimum(wide, high), low)
    scaled = wide * scale
    rounded = np.rint(scaled) if round_mode == "HALF_TO_EVEN" else np.floor(scaled + kind(0.5))
    out: Array = np.asarray(rounded * inverse).astype(x.dtype, copy=False)
    return out
