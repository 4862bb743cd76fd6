"""`tf.version`: whose API and graph format this is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .graph import PRODUCER_VERSION as GRAPH_DEF_VERSION

VERSION = "1.15.0"
"""The TensorFlow release whose API this is; sgtool's own is in its package's metadata."""

GIT_VERSION = COMPILER_VERSION = "unknown"
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "COMPILER_VERSION", "GIT_VERSION", "GRAPH_DEF_VERSION", "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER", "VERSION",
]  # fmt: skip
