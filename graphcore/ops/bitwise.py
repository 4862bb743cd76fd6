"""Shifts, bit counts and bit packing of integers; And, Or and Xor are with the binary operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import INTEGER, bool_, float16, float32, float64, int8, int16, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op
from ..shapes import Shape, format_shape, with_rank, with_rank_at_least
from . import rules
from .math_binary import binary

_NO_GRAD = "integers have no derivative"


def _count(y: Any) -> Any:
    """How far to shift: never less than 0 or more than all bits but one."""
    return np.clip(y, 0, 8 * y.dtype.itemsize - 1)


def _left_shift(x: Any, y: Any, out: Any = None) -> Any:
    return np.left_shift(x, _count(y), out=out)


def _right_shift(x: Any, y: Any, out: Any = None) -> Any:
    return np.right_shift(x, _count(y), out=out)


left_shift = binary(
    "LeftShift",
    "Bits shifted left by y places; y is moved into the range from 0 to the width less 1.",
    _left_shift,
    INTEGER,
    _NO_GRAD,
)
right_shift = binary(
    "RightShift",
    "Bits shifted right by y places, the sign kept; y is moved into the range as of LeftShift.",
    _right_shift,
    INTEGER,
    _NO_GRAD,
)


@op("PopulationCount", "x: T -> y: uint8", T=INTEGER, no_grad=_NO_GRAD)
def population_count(x: Any) -> Any:
    """How many bits are set; of negative numbers in two's complement."""
    return np.bitwise_count(x.view(f"u{x.dtype.itemsize}"))


population_count.shape(rules.unchanged)


@op(
    "CompareAndBitpack",
    "input: T, threshold: T -> output: uint8",
    T=(bool_, float16, float32, float64, int8, int16, int32, int64),
    undefined_grad="TensorFlow has none",
)
def compare_and_bitpack(input: Any, threshold: Any) -> Any:
    """Whether each element exceeds the threshold (of booleans: is true), eight of them in a byte."""
    if np.ndim(threshold):
        raise InvalidArgumentError(
            f"Compare must be a scalar, but saw shape: {format_shape(np.shape(threshold))}"
        )
    if np.ndim(input) == 0:
        raise InvalidArgumentError("Input should be at least a vector, but saw a scalar.")
    if input.shape[-1] % 8:
        raise InvalidArgumentError(
            f"Inner dimension of input should be divisible by 8, but saw shape: {format_shape(input.shape)}"
        )
    return np.packbits(input if input.dtype == np.bool_ else input > threshold, axis=-1)


@compare_and_bitpack.shape
def _(node: Any) -> Shape:
    source = with_rank_at_least(node.shape(0), 1)
    with_rank(node.shape(1), 0)
    if source is None:
        return None
    inner = source[-1]
    if inner is not None and inner % 8:
        raise InvalidValueError(f"Dimension size must be evenly divisible by 8 but is {inner}")
    return (*source[:-1], None if inner is None else inner // 8)
