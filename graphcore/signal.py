"""`tf.signal`: Fourier transforms and windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.signal_frames import frame, inverse_stft, overlap_and_add, stft
from .ops.spectral import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    hamming_window,
    hann_window,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
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
    "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "ifft", "ifft2d",
    "ifft3d", "ifftshift", "inverse_stft", "irfft", "irfft2d", "irfft3d", "overlap_and_add", "rfft",
    "rfft2d", "rfft3d", "stft",
]  # fmt: skip
