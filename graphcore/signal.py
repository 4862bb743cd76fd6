"""`tf.signal`: Fourier transforms and windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.signal_frames import frame, inverse_stft, overlap_and_add, stft
from .ops.signal_functions import (
    dct,
    idct,
    inverse_stft_window_fn,
    linear_to_mel_weight_matrix,
    mfccs_from_log_mel_spectrograms,
)
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
    "dct", "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "idct", "ifft",
    "ifft2d", "ifft3d", "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft", "irfft2d",
    "irfft3d", "linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms", "overlap_and_add",
    "rfft", "rfft2d", "rfft3d", "stft",
]  # fmt: skip
