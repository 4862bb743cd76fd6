"""Sound: WAV files, spectrograms, and mel-frequency cepstral coefficients.

Source: tensorflow/core/lib/wav/wav_io.cc, kernels/spectrogram.cc, mfcc.cc, mfcc_dct.cc and
mfcc_mel_filterbank.cc (r1.15).
"""

from __future__ import annotations

import struct

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text

_FLOOR = 1e-12  # of what a mel filter gives, before its logarithm


def decode_wav(data: bytes) -> tuple[Array, int]:
    """The samples of a WAV file of 16-bit PCM.

        'RIFF' size 'WAVE'
        'fmt ' 16 or 18 | 1 | channels (2) | rate (4) | bytes a second (4) | bytes a frame (2) | 16
        chunks: name, size, bytes; one is called 'data'

    Args:
        data: The file.

    Returns:
        float32 (samples, channels) in [-1, 1), and the sample rate in Hz.

    Raises:
        InvalidArgumentError: The file is damaged or of another kind, with TensorFlow's text.
    """

    def expect(text: bytes, at: int) -> None:
        found = data[at : at + len(text)]
        if len(found) < len(text):
            raise InvalidArgumentError("Data too short when trying to read string", size=len(data))
        if found != text:
            raise InvalidArgumentError(
                f"Header mismatch: Expected {text.decode()} but found {found.decode('latin-1')}"
            )

    def number(kind: str, at: int) -> int:
        if at + struct.calcsize(kind) > len(data):
            raise InvalidArgumentError("Data too short when trying to read value", size=len(data))
        found: int = struct.unpack_from(f"<{kind}", data, at)[0]
        return found

    expect(b"RIFF", 0)
    number("I", 4)
    expect(b"WAVE", 8)
    expect(b"fmt ", 12)
    size, coding, channels = number("I", 16), number("H", 20), number("H", 22)
    rate, per_second, per_frame, bits = number("I", 24), number("I", 28), number("H", 32), number("H", 34)
    for wrong, text in (
        (size not in (16, 18), f"Bad file size for WAV: Expected 16 or 18, but got{size}"),
        (coding != 1, f"Bad audio format for WAV: Expected 1 (PCM), but got{coding}"),
        (channels < 1, f"Bad number of channels for WAV: Expected at least 1, but got {channels}"),
        (bits != 16, f"Can only read 16-bit WAV files, but received {bits}"),
        (
            per_frame != 2 * channels,
            f"Bad bytes per sample in WAV header: Expected {2 * channels} but got {per_frame}",
        ),
        (
            per_second != per_frame * rate % 2**32,
            f"Bad bytes per second in WAV header: Expected {per_frame * rate} but got {per_second} "
            f"(sample_rate={rate}, bytes_per_sample={per_frame})",
        ),
    ):
        if wrong:
            raise InvalidArgumentError(text)
    position = 20 + size
    samples = None
    while position < len(data):
        if position + 4 > len(data):
            raise InvalidArgumentError("Data too short when trying to read string", size=len(data))
        name, length = data[position : position + 4], number("I", position + 4)
        position += 8
        if length > 2**31 - 1:
            raise InvalidArgumentError(
                f"WAV data chunk '{name.decode('latin-1')}' is too large: {length} bytes, but the limit is "
                f"{2**31 - 1}"
            )
        if name == b"data":
            if samples is not None:
                raise InvalidArgumentError("More than one data chunk found in WAV")
            length -= length % per_frame
            if position + length > len(data):
                raise InvalidArgumentError("Data too short when trying to read string", size=len(data))
            values = np.frombuffer(data, "<i2", length // 2, position)
            samples = (values * np.float32(1 / 2**15)).reshape(-1, channels)
        position += length
    if samples is None:
        raise InvalidArgumentError("No data chunk found in WAV")
    return samples, rate


def encode_wav(audio: Array, sample_rate: int) -> bytes:
    """A WAV file of 16-bit PCM.

    Args:
        audio: float32 (samples, channels); what is outside of [-1, 1) is cut off, NaN is 0.
        sample_rate: In Hz.

    Returns:
        The file; see `decode_wav`.

    Raises:
        InvalidArgumentError: There are no samples, or too many, with TensorFlow's text.
    """
    frames, channels = audio.shape
    if not 0 < sample_rate < 2**32:
        raise InvalidArgumentError(f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    if not 0 < channels < 2**16:
        raise InvalidArgumentError(f"num_channels must be in (0, 2^16), got: {channels}")
    if frames == 0:
        raise InvalidArgumentError("num_frames must be positive.")
    with np.errstate(all="ignore"):
        scaled = audio.astype(np.float32, copy=False) * np.float32(2**15)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))  # halves away from zero, as C's roundf
    clipped = np.where(np.isnan(rounded), 0, np.clip(rounded, -(2**15), 2**15 - 1))
    samples = clipped.astype("<i2").tobytes()
    if len(samples) + 44 >= 2**32:
        raise InvalidArgumentError("Provided channels and frames cannot be encoded as a WAV.")
    form = struct.pack(
        "<4sIHHIIHH",
        b"fmt ",
        16,
        1,
        channels,
        sample_rate,
        2 * channels * sample_rate % 2**32,
        2 * channels,
        16,
    )
    header = struct.pack("<4sI4s", b"RIFF", 36 + len(samples), b"WAVE")
    return header + form + struct.pack("<4sI", b"data", len(samples)) + samples


def fft_length(window_size: int) -> int:
    """The next power of two."""
    return 1 << max(window_size - 1, 0).bit_length()


def spectrogram(audio: Array, window_size: int, stride: int, magnitude_squared: bool) -> Array:
    """TensorFlow's AudioSpectrogram: Hann windows and their Fourier transforms' magnitudes.

    Each channel is taken by itself. (TensorFlow's kernel lets the rest of one run into the next, and
    mostly fails then.)

    Args:
        audio: float32 (samples, channels).
        window_size: Samples a window; padded with zeros to a power of two.
        stride: Samples from window to window.
        magnitude_squared: Whether magnitudes are squared.

    Returns:
        float32 (channels, windows, 1 + length of the transform / 2).

    Raises:
        InvalidArgumentError: A shape or size cannot be, with TensorFlow's text.
    """
    if audio.ndim != 2:
        raise InvalidArgumentError(f"input must be 2-dimensional{shape_text(audio.shape)}")
    if window_size < 2 or stride < 1:
        raise InvalidArgumentError(
            f"Spectrogram initialization failed for window size {window_size} and stride {stride}"
        )
    length = fft_length(window_size)
    samples, channels = audio.shape
    count = 0 if samples < window_size else 1 + (samples - window_size) // stride
    if not count or not channels:
        return np.zeros((channels, count, 1 + length // 2), np.float32)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window_size) / window_size)
    windows = np.lib.stride_tricks.sliding_window_view(audio.T, window_size, axis=1)[:, ::stride]
    spectrum = np.fft.rfft(windows.astype(np.float64) * hann, length)
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    return power if magnitude_squared else np.sqrt(power)


def _mel(frequency: Array | float) -> Array:
    return np.asarray(1127.0 * np.log1p(np.asarray(frequency, np.float64) / 700.0))


def mfcc(
    spectrograms: Array, sample_rate: int, upper: float, lower: float, filters: int, coefficients: int
) -> Array:
    """TensorFlow's Mfcc: mel-frequency cepstral coefficients.

    Args:
        spectrograms: float32 (channels, windows, bins), magnitudes squared.
        sample_rate: Of the sound, in Hz.
        upper: Highest frequency that counts, in Hz.
        lower: Lowest frequency that counts.
        filters: How many triangular filters lie between them, evenly in mels.
        coefficients: How many coefficients of their logarithms' cosine transform are kept.

    Returns:
        float32 (channels, windows, coefficients).

    Raises:
        InvalidArgumentError: A shape or number cannot be, with TensorFlow's text; or the spectrogram does
            not reach up to `upper` (then TensorFlow gives zeros).
    """
    if spectrograms.ndim != 3:
        raise InvalidArgumentError(f"spectrogram must be 3-dimensional{shape_text(spectrograms.shape)}")
    bins = spectrograms.shape[2]
    valid = filters >= 1 and sample_rate > 0 and bins >= 2 and 0 <= lower < upper
    if not valid or not 1 <= coefficients <= filters:
        raise InvalidArgumentError(
            f"Mfcc initialization failed for channel count {bins} and sample rate {sample_rate}"
        )
    if not spectrograms.size:
        return np.zeros((*spectrograms.shape[:2], coefficients), np.float32)
    per_bin = 0.5 * sample_rate / (bins - 1)
    first, last = int(1.5 + lower / per_bin), int(upper / per_bin)
    if last >= bins:
        raise InvalidArgumentError(
            f"Mfcc: the upper frequency limit {upper:g} is above what the spectrogram has, "
            f"{per_bin * (bins - 1):g} Hz"
        )
    low, high = _mel(lower), _mel(upper)
    centers = low + (high - low) / (filters + 1) * np.arange(filters + 2)  # the lower limit in front
    used = np.arange(first, last + 1)
    mels = _mel(used * per_bin)
    # A bin is on the falling side of the filter before it and on the rising side of the one after it.
    after = np.minimum(np.searchsorted(centers[1:], mels, side="left"), filters)
    falling = (centers[after + 1] - mels) / (centers[after + 1] - centers[after])
    magnitudes = np.sqrt(spectrograms[..., used].astype(np.float64))
    sums = np.zeros((*spectrograms.shape[:2], filters + 2))
    if used.size:
        falls = magnitudes * falling
        met, starts = np.unique(after, return_index=True)
        sums[..., met] += np.add.reduceat(falls, starts, axis=-1)
        sums[..., met + 1] += np.add.reduceat(magnitudes - falls, starts, axis=-1)
    logs = np.log(np.maximum(sums[..., 1:-1], _FLOOR))
    angles = np.arange(coefficients) * (np.pi / filters) * (np.arange(filters)[:, None] + 0.5)
    return np.asarray((logs @ (np.sqrt(2.0 / filters) * np.cos(angles))).astype(np.float32))
