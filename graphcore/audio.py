"""`tf.audio`: WAV files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.audio import decode_wav, encode_wav

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "decode_wav", "encode_wav",
]  # fmt: skip
