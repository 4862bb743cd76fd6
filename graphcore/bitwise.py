"""`tf.bitwise`: integers as bits."""

from __future__ import annotations

from .ops.bitwise import left_shift, right_shift
from .ops.math_binary import bitwise_and, bitwise_or, bitwise_xor
from .ops.math_unary import invert

__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
]  # fmt: skip
