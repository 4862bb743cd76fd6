"""`tf.sets`: sets along the last axis of tensors."""

from __future__ import annotations

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

__all__ = [
    "difference", "intersection", "set_difference", "set_intersection", "set_size", "set_union", "size",
    "union",
]  # fmt: skip
