"""`tf.bitwise`: integers as bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.bitwise import left_shift, right_shift
from .ops.math_binary import bitwise_and, bitwise_or, bitwise_xor
from .ops.math_unary import invert

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
]  # fmt: skip
