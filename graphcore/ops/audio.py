"""Sound: WAV files in strings, spectrograms and mel-frequency cepstral coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import audio as kernels
from ..kernels.arrays import shape_text
from ..op import op
from ..shapes import Shape, with_rank

_NONE = "TensorFlow has none"


@op(
    "DecodeWav",
    "contents: string -> audio: float32, sample_rate: int32",
    "desired_channels: int = -1",
    "desired_samples: int = -1",
    undefined_grad=_NONE,
)
def decode_wav(contents: Any, *, desired_channels: int, desired_samples: int) -> Any:
    """The samples of a file; missing channels repeat the last one, missing samples are 0."""
    if np.ndim(contents):
        raise InvalidArgumentError(f"contents must be scalar, got shape {shape_text(np.shape(contents))}")
    samples, rate = kernels.decode_wav(bytes(np.asarray(contents, object)[()]))
    if desired_channels >= 0:
        samples = samples[:, np.minimum(np.arange(desired_channels), samples.shape[1] - 1)]
    if desired_samples >= 0:
        missing = max(desired_samples - len(samples), 0)
        samples = np.pad(samples[:desired_samples], [(0, missing), (0, 0)])
    return samples, np.array(rate, np.uint32).astype(np.int32)


@decode_wav.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 0)
    dims: list[int | None] = []
    for name in ("samples", "channels"):
        wanted = node.attr(f"desired_{name}")
        if wanted < -1:
            raise InvalidValueError(f"{name} must be non-negative, got {wanted}")
        dims.append(None if wanted == -1 else wanted)
    return [tuple(dims), ()]


def _rate(sample_rate: Any) -> int:
    if sample_rate.ndim:
        raise InvalidArgumentError(
            f"Input sample_rate should be a scalar tensor, got {shape_text(sample_rate.shape)} instead."
        )
    return int(sample_rate)


@op("EncodeWav", "audio: float32, sample_rate: int32 -> contents: string", undefined_grad=_NONE)
def encode_wav(audio: Any, sample_rate: Any) -> Any:
    """The WAV file of samples."""
    if audio.ndim != 2:
        raise InvalidArgumentError(f"audio must be 2-dimensional{shape_text(audio.shape)}")
    return np.array(kernels.encode_wav(audio, _rate(sample_rate)), object)


@encode_wav.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 2)
    with_rank(node.shape(1), 0)
    return ()


@op(
    "AudioSpectrogram",
    "input: float32 -> spectrogram: float32",
    "window_size: int",
    "stride: int",
    "magnitude_squared: bool = false",
    undefined_grad=_NONE,
)
def audio_spectrogram(input: Any, *, window_size: int, stride: int, magnitude_squared: bool) -> Any:
    """The magnitudes of the frequencies in each window."""
    return kernels.spectrogram(input, window_size, stride, magnitude_squared)


@audio_spectrogram.shape
def _(node: Any) -> Shape:
    samples, channels = with_rank(node.shape(0), 2)
    size, stride = node.attr("window_size"), node.attr("stride")
    count = None
    if samples is not None and stride > 0:
        count = 0 if samples < size else 1 + (samples - size) // stride
    return (channels, count, 1 + kernels.fft_length(size) // 2)


@op(
    "Mfcc",
    "spectrogram: float32, sample_rate: int32 -> output: float32",
    "upper_frequency_limit: float = 4000",
    "lower_frequency_limit: float = 20",
    "filterbank_channel_count: int = 40",
    "dct_coefficient_count: int = 13",
    undefined_grad=_NONE,
)
def mfcc(
    spectrogram: Any,
    sample_rate: Any,
    *,
    upper_frequency_limit: float,
    lower_frequency_limit: float,
    filterbank_channel_count: int,
    dct_coefficient_count: int,
) -> Any:
    """Mel-frequency cepstral coefficients of spectrograms."""
    return kernels.mfcc(
        spectrogram,
        _rate(sample_rate),
        upper_frequency_limit,
        lower_frequency_limit,
        filterbank_channel_count,
        dct_coefficient_count,
    )


@mfcc.shape
def _(node: Any) -> Shape:
    channels, windows, _ = with_rank(node.shape(0), 3)
    with_rank(node.shape(1), 0)
    return (channels, windows, node.attr("dct_coefficient_count"))
