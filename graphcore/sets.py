"""`tf.sets`: sets along the last axis of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.sets import (
    set_difference,
    set_difference as difference,
    set_intersection,
    set_intersection as intersection,
    set_size,
    set_size as size,
    set_union,
    set_union as union,
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size",
    "union",
]  # fmt: skip
