"""`tf.contrib`: the handful of names that old scripts cannot do without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import contrib_framework as framework, contrib_layers as layers, contrib_lookup as lookup, not_yet

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = ["framework", "layers", "lookup"]
