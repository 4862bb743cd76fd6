"""`tf.compat`: `tf.compat.v1` is this API itself; text helpers."""

from __future__ import annotations

import sys
from typing import Any

from . import not_yet


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes."""
    return bytes_or_text.encode(encoding) if isinstance(bytes_or_text, str) else bytes(bytes_or_text)


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text."""
    return bytes_or_text if isinstance(bytes_or_text, str) else bytes(bytes_or_text).decode(encoding)


as_str = as_text


def __getattr__(name: str) -> Any:
    if name == "v1":
        return sys.modules[__name__.rpartition(".")[0]]
    raise not_yet.missing(__name__, name)
