"""`tf.lookup.experimental`: tables that take entries at any time."""

from __future__ import annotations

from .mutable_tables import DenseHashTable

__all__ = ["DenseHashTable"]
