"""Signals cut into overlapping frames, and short-time Fourier transforms of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import complex64, int32
from ..errors import InvalidValueError
from ..op import raw_ops
from .spectral import hann_window, irfft, rfft


def _size(x: Any, axis: int) -> Any:
    """The length of an axis: a number where it is known, else a scalar tensor."""
    static = x.static_shape
    if static is not None and static[axis] is not None:
        return static[axis]
    return raw_ops.Shape(x)[axis]


def _length(value: Any, name: str) -> Any:
    """A number, or a scalar tensor of int32."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    tensor = convert_to_tensor(value, int32, name=name)
    known = tensor.graph.constant_value(tensor)
    return tensor if known is None else int(known)


def _at_least_0(value: Any) -> Any:
    return max(0, value) if isinstance(value, int) else raw_ops.Maximum(value, 0)


def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Any:
    """`tf.signal.frame`: overlapping parts of a signal, in a new axis.

    Args:
        signal: A tensor of known rank.
        frame_length: Samples of a frame.
        frame_step: Samples from one frame to the next.
        pad_end: Whether the end is padded, so that every sample is in a frame.
        pad_value: With what.
        axis: The axis of time, which becomes those of frames and of samples.
        name: Name of the operation.

    Raises:
        ValueError: The rank is unknown, or 0.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        length, step = _length(frame_length, "frame_length"), _length(frame_step, "frame_step")
        static = signal.static_shape
        if not static:
            raise InvalidValueError("The signal must have a known rank of at least 1")
        axis %= len(static)
        samples = _size(signal, axis)
        if pad_end:
            count = (samples + step - 1) // step
            missing = _at_least_0(length + step * (count - 1) - samples)
            paddings = [[0, 0] if index != axis else [0, missing] for index in range(len(static))]
            rows = [raw_ops.Pack([convert_to_tensor(part, int32) for part in row]) for row in paddings]
            padding = convert_to_tensor(pad_value, signal.dtype.base_dtype)
            signal = raw_ops.PadV2(signal, raw_ops.Pack(rows), padding)
        else:
            count = _at_least_0(1 + (samples - length) // step)
        starts = raw_ops.ExpandDims(raw_ops.Range(0, count, 1) * step, 1)
        within = raw_ops.ExpandDims(raw_ops.Range(0, length, 1), 0)
        return raw_ops.GatherV2(signal, starts + within, axis)


def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Any:
    """`tf.signal.overlap_and_add`: the sum of overlapping frames.

    Args:
        signal: (..., frames, frame_length), of known rank.
        frame_step: Samples from one frame to the next.
        name: Name of the operation.

    Returns:
        (..., (frames - 1) * frame_step + frame_length).

    Raises:
        ValueError: The rank is less than 2.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.get_shape().with_rank_at_least(2)
        step = _length(frame_step, "frame_step")
        rank = signal.get_shape().ndims
        frames, length = _size(signal, -2), _size(signal, -1)
        starts = raw_ops.ExpandDims(raw_ops.Range(0, frames, 1) * step, 1)
        places = starts + raw_ops.ExpandDims(raw_ops.Range(0, length, 1), 0)
        front = raw_ops.Transpose(signal, [rank - 2, rank - 1, *range(rank - 2)])
        total = raw_ops.UnsortedSegmentSum(front, places, (frames - 1) * step + length)
        return raw_ops.Transpose(total, [*range(1, rank - 1), 0])


def _enclosing_power_of_two(value: Any) -> Any:
    if isinstance(value, int):
        return 1 << max(value - 1, 0).bit_length()
    logarithm = raw_ops.Log(raw_ops.Cast(value, DstT="float64")) / np.log(2.0)
    return raw_ops.Cast(raw_ops.Pow(2.0 + raw_ops.ZerosLike(logarithm), raw_ops.Ceil(logarithm)), DstT=int32)


def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.signal.stft`: spectra of overlapping parts of signals.

    Args:
        signals: float32, (..., samples), of known rank.
        frame_length: Samples of a frame.
        frame_step: Samples from one frame to the next.
        fft_length: Samples of a transform; by default the power of 2 that holds a frame.
        window_fn: From a length and `dtype` to the window that frames are multiplied by; None: no window.
        pad_end: Whether the end is padded with zeros.
        name: Name of the operation.

    Returns:
        complex64, (..., frames, fft_length // 2 + 1).
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        length = _length(frame_length, "frame_length")
        size = _enclosing_power_of_two(length) if fft_length is None else _length(fft_length, "fft_length")
        frames = frame(signals, length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return rfft(frames, [size])


def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Any:
    """`tf.signal.inverse_stft`: signals from spectra of overlapping parts; arguments as of `stft`."""
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, complex64, name="stfts")
        length = _length(frame_length, "frame_length")
        size = _enclosing_power_of_two(length) if fft_length is None else _length(fft_length, "fft_length")
        frames = irfft(stfts, [size])
        if not isinstance(length, int) or not isinstance(size, int):
            raise InvalidValueError("frame_length and fft_length must be known")
        rank = frames.get_shape().ndims
        if length > size:
            frames = raw_ops.Pad(frames, [[0, 0]] * (rank - 1) + [[0, length - size]])
        elif length < size:
            frames = frames[..., :length]
        if window_fn is not None:
            frames = frames * window_fn(length, dtype=frames.dtype)
        return overlap_and_add(frames, frame_step)
