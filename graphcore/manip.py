"""`tf.manip`: older names of functions on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.array_join import reverse, roll, tf_tile as tile
from .ops.array_select import gather_nd, scatter_nd
from .ops.array_shape import tf_reshape as reshape
from .ops.array_space import batch_to_space_nd, space_to_batch_nd

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "batch_to_space_nd", "gather_nd", "reshape", "reverse", "roll", "scatter_nd", "space_to_batch_nd",
    "tile",
]  # fmt: skip
