"""`tf.spectral`: Fourier transforms, by their old name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.signal_functions import dct, idct
from .ops.spectral import (
    fft,
    fft2d,
    fft3d,
    ifft,
    ifft2d,
    ifft3d,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "dct", "fft", "fft2d", "fft3d", "idct", "ifft", "ifft2d", "ifft3d", "irfft", "irfft2d", "irfft3d",
    "rfft", "rfft2d", "rfft3d",
]  # fmt: skip
