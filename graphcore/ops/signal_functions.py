"""Cosine transforms, mel scales and windows for inverse transforms: programs over ops.

Source: tensorflow/python/ops/signal/{dct_ops,mel_ops,mfcc_ops,spectral_ops}.py (r1.15), behaviour only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import as_dtype, float32
from ..errors import InvalidValueError
from ..op import raw_ops
from ..operation import Tensor
from .array_create import constant_value, linspace
from .array_join import concat, pad, split, tf_tile
from .array_shape import expand_dims, tf_reshape, tf_shape
from .math_unary import tf_cast, tf_real
from .reduction import reduce_sum
from .signal_frames import frame
from .spectral import hann_window, irfft, rfft

# The mel scale of HTK: O'Shaughnessy, "Speech Communication: Human and Machine" (1987).
_MEL_BREAK_HERTZ = 700.0
_MEL_Q = 1127.0


def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The discrete cosine transform of type I, II or III along the last axis, as `scipy.fft.dct`.

    Args:
        input: Float32 tensor [..., samples].
        type: 1, 2 or 3.
        n: The samples are cut or filled up with zeros to this length.
        axis: -1; nothing else is there.
        norm: None or "ortho" (not with type 1).
        name: Name scope.

    Raises:
        NotImplementedError: Another axis.
        ValueError: Another type or norm, or a length that the type does not take.
    """
    _check_dct(input, type, n, axis, norm)
    with name_scope(name, "dct", [input]):
        x = convert_to_tensor(input, dtype=float32)
        if n is not None:
            size = x.get_shape().as_list()[-1]
            if size is None:
                raise InvalidValueError("n needs a last dimension of known size")
            x = x[..., :n] if n <= size else pad(x, [[0, 0]] * (x.get_shape().ndims - 1) + [[0, n - size]])
        size = x.get_shape().as_list()[-1]
        count = tf_shape(x)[-1] if size is None else convert_to_tensor(size)
        length = tf_cast(count, float32)
        if type == 1:
            mirrored = concat([x, x[..., -2:0:-1]], axis=-1)
            return tf_real(rfft(mirrored))
        angle = raw_ops.Range(0.0, length, 1.0) * (math.pi * 0.5) / length
        sign = -1.0 if type == 2 else 1.0
        turn = 2.0 * raw_ops.Exp(raw_ops.Complex(raw_ops.ZerosLike(angle), sign * angle))
        if type == 2:
            result = tf_real(rfft(x, fft_length=[2 * count])[..., :count] * turn)
            return result * _ortho(0.5 * raw_ops.Rsqrt(length), math.sqrt(2.0), count) if norm else result
        x = x * (_ortho(raw_ops.Sqrt(length), math.sqrt(0.5), count) if norm else length)
        whole = irfft(turn * raw_ops.Complex(x, raw_ops.ZerosLike(x)), fft_length=[2 * count])
        return tf_real(whole)[..., :count]


def _ortho(first: Any, ratio: float, count: Any) -> Any:
    """The factors that make the transform orthonormal: another one for the constant part."""
    return concat([expand_dims(first, 0), raw_ops.Fill(expand_dims(count - 1, 0), first * ratio)], axis=0)


def _check_dct(input: Any, type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise InvalidValueError("n should be a positive integer or None")
    if type not in (1, 2, 3):
        raise InvalidValueError("Only Types I, II and III (I)DCT are supported.")
    if type == 1:
        if norm == "ortho":
            raise InvalidValueError("Normalization is not supported for the Type-I DCT.")
        shape = getattr(input, "shape", None)
        size = shape[-1] if shape is not None else len(input)
        size = getattr(size, "value", size)
        if size is not None and size < 2:
            raise InvalidValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise InvalidValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The inverse of `dct`, whose arguments it takes, up to scale where `norm` is None."""
    _check_dct(input, type, n, axis, norm)
    return dct(input, {1: 1, 2: 3, 3: 2}[type], n, axis, norm, name)


def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Any]:
    """A window function for `inverse_stft` that undoes a forward window of overlapping frames exactly.

    Args:
        frame_step: Scalar: samples between the starts of frames.
        forward_window_fn: The window of `stft`: from (frame length, dtype) to a vector.
        name: Name scope.

    Returns:
        A function from (frame length, dtype) to a vector.
    """
    with name_scope(name, "inverse_stft_window_fn", [frame_step]):
        step = convert_to_tensor(frame_step, name="frame_step")
        step.get_shape().assert_has_rank(0)

    def window(frame_length: Any, dtype: Any) -> Any:
        with name_scope(name, "inverse_stft_window_fn", [frame_length]):
            length = convert_to_tensor(frame_length, name="frame_length")
            length.get_shape().assert_has_rank(0)
            forward = forward_window_fn(length, dtype=dtype)
            overlaps = -(-length // step)
            squares = pad(raw_ops.Square(forward), [(0, overlaps * step - length)])
            sums = reduce_sum(tf_reshape(squares, [overlaps, step]), 0, keepdims=True)
            repeated = tf_reshape(tf_tile(sums, [overlaps, 1]), [overlaps * step])
            return forward / repeated[:length]

    return window


def _hertz_to_mel(frequencies: Any) -> Any:
    return _MEL_Q * raw_ops.Log(1.0 + frequencies / _MEL_BREAK_HERTZ)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """A matrix that turns spectrograms into mel spectrograms: triangles on the mel scale of HTK.

    Args:
        num_mel_bins: How many bands.
        num_spectrogram_bins: How many frequencies the spectrogram has: fft_length // 2 + 1.
        sample_rate: Samples per second, a number or a constant tensor.
        lower_edge_hertz: Where the first band begins.
        upper_edge_hertz: Where the last band ends, at most half of the sample rate.
        dtype: A floating point dtype.
        name: Name of the operation that gives the result.

    Returns:
        [num_spectrogram_bins, num_mel_bins], for `tf.matmul(spectrograms, matrix)`.

    Raises:
        ValueError: A number lies outside of what makes sense.
    """
    dtype = as_dtype(dtype)
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            sample_rate = constant_value(sample_rate)
            if sample_rate is None:
                raise InvalidValueError(
                    "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant Tensor."
                )
        _check_mel(num_mel_bins, float(sample_rate), lower_edge_hertz, upper_edge_hertz, dtype)
        zero = convert_to_tensor(0.0, dtype)
        nyquist = convert_to_tensor(float(sample_rate) / 2.0, dtype)
        frequencies = linspace(zero, nyquist, num_spectrogram_bins)[1:]  # the constant part has no weight
        bins = expand_dims(_hertz_to_mel(frequencies), 1)
        first = _hertz_to_mel(convert_to_tensor(lower_edge_hertz, dtype))
        last = _hertz_to_mel(convert_to_tensor(upper_edge_hertz, dtype))
        bands = frame(linspace(first, last, num_mel_bins + 2), frame_length=3, frame_step=1)
        lower, center, upper = (tf_reshape(each, [1, num_mel_bins]) for each in split(bands, 3, axis=1))
        rising = (bins - lower) / (center - lower)
        falling = (upper - bins) / (upper - center)
        weights = raw_ops.Maximum(zero, raw_ops.Minimum(rising, falling))
        return pad(weights, [[1, 0], [0, 0]], name=scope)


def _check_mel(bins: int, rate: float, lower: float, upper: float, dtype: Any) -> None:
    if bins <= 0:
        raise InvalidValueError(f"num_mel_bins must be positive. Got: {bins}")
    if rate <= 0.0:
        raise InvalidValueError(f"sample_rate must be positive. Got: {rate}")
    if lower < 0.0:
        raise InvalidValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise InvalidValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if upper > rate / 2:
        raise InvalidValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got: {upper} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise InvalidValueError(f"dtype must be a floating point type. Got: {dtype}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Any:
    """Mel-frequency cepstral coefficients: `dct` of type 2, scaled as HTK does.

    Args:
        log_mel_spectrograms: Float32 [..., num_mel_bins].
        name: Name scope.

    Raises:
        ValueError: There are no bins.
    """
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        x = convert_to_tensor(log_mel_spectrograms, dtype=float32)
        shape = x.get_shape()
        size = shape.as_list()[-1] if shape.ndims else None
        if size == 0:
            raise InvalidValueError(f"num_mel_bins must be positive. Got: {log_mel_spectrograms}")
        bins = tf_cast(tf_shape(x)[-1] if size is None else size, float32)
        return dct(x, type=2) * raw_ops.Rsqrt(bins * 2.0)
