"""Grey-scale dilation of images (the maximum of a sliding sum) and its gradients, and patches of windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from .arrays import Array, extreme, shape_text
from .pooling import met
from .windows import Axis, centred, output_size


def dilation2d(x: Array, w: Array, *, strides: Sequence[int], rates: Sequence[int], padding: str) -> Array:
    """TensorFlow's Dilation2D: the maximum over a window of input plus filter.

    Args:
        x: (batch, height, width, channels), a real dtype.
        w: (height, width, channels).
        strides: Four ints, those of batch and channels 1.
        rates: Four ints: input elements between two taps.
        padding: "SAME" or "VALID".

    Returns:
        The maxima, in x's dtype; NaN never wins.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Strides or rates across batch or channels.
    """
    axes = _geometry(x.shape, w.shape, strides, rates, padding)
    out = np.full((x.shape[0], axes[0].out, axes[1].out, x.shape[3]), extreme(x.dtype, -1))
    for tap, inside, source in _taps(axes):
        part = out[inside]
        value = x[source] + w[tap]
        np.copyto(part, value, where=value > part)
    return out


def dilation2d_backprop(
    x: Array,
    w: Array,
    dy: Array,
    *,
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
    by_filter: bool,
) -> Array:
    """TensorFlow's Dilation2DBackpropInput and -Filter: gradients go to where each maximum was.

    Args:
        x: As given to `dilation2d`, and so are w, strides, rates and padding.
        w: See there.
        dy: Gradient with respect to its output.
        strides: See there.
        rates: See there.
        padding: See there.
        by_filter: Whether the gradient is that of the filter.

    Returns:
        An array shaped like w, if `by_filter`, else like x.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Strides or rates across batch or channels.
    """
    axes = _geometry(x.shape, w.shape, strides, rates, padding)
    shape = (x.shape[0], axes[0].out, axes[1].out, x.shape[3])
    if dy.shape != shape:
        raise InvalidArgumentError(
            f"out_backprop has incompatible size: {shape_text(dy.shape)}, expected {shape_text(shape)}"
        )
    best = np.full(shape, extreme(x.dtype, -1))
    position = np.full(shape, -1)
    for number, (tap, inside, source) in enumerate(_taps(axes)):
        value = x[source] + w[tap]
        better = value > best[inside]
        np.copyto(best[inside], value, where=better)
        np.copyto(position[inside], number, where=better)
    out = np.zeros_like(w if by_filter else x, order="C")
    zero = np.zeros((), dy.dtype)
    for number, (tap, inside, source) in enumerate(_taps(axes)):
        chosen = np.where(position[inside] == number, dy[inside], zero)
        if by_filter:
            out[tap] += chosen.sum((0, 1, 2), dtype=out.dtype)
        else:
            out[source] += chosen
    # A window in which nothing is greater than the lowest number counts as that of its first element.
    none = np.argwhere(position < 0)
    if none.size and out.size:
        batch, row, column, channel = none.T
        lost = dy[batch, row, column, channel]
        if by_filter:
            np.add.at(out[0, 0], channel, lost)
        else:
            rows, columns = (
                np.maximum(place * axis.stride - axis.before, 0)
                for place, axis in zip((row, column), axes, strict=True)
            )
            np.add.at(out, (batch, rows, columns, channel), lost)
    return out


def _geometry(
    shape: Sequence[int],
    filter_shape: Sequence[int],
    strides: Sequence[int],
    rates: Sequence[int],
    padding: str,
) -> tuple[Axis, Axis]:
    if len(shape) != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional: {shape_text(shape)}")
    if len(filter_shape) != 3:
        raise InvalidArgumentError(f"filter must be 3-dimensional: {shape_text(filter_shape)}")
    if shape[3] != filter_shape[2]:
        raise InvalidArgumentError(
            f"input and filter must have the same depth: {shape[3]} vs {filter_shape[2]}"
        )
    for name, values in (("Stride", strides), ("Rate", rates)):
        if len(values) != 4:
            raise InvalidArgumentError(f"{name} field must specify 4 dimensions: {list(values)}")
        if values[0] != 1 or values[3] != 1:
            raise UnimplementedError(f"{name} is only supported across spatial dimensions: {list(values)}")
    height, width = window_axes(shape[1:3], filter_shape[:2], strides[1:3], rates[1:3], padding)
    return height, width


def window_axes(
    sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> list[Axis]:
    """The spatial axes of a window, one for each entry.

    Raises:
        InvalidArgumentError: See `windows.output_size`.
    """
    axes = []
    for size, taps, stride, rate in zip(sizes, kernel, strides, rates, strict=True):
        out, before, after = output_size(size, taps, stride, rate, padding)
        assert out is not None and before is not None and after is not None  # noqa: PT018 - sizes are known
        axes.append(Axis(size, taps, stride, rate, out, before, after))
    return axes


def _taps(axes: Sequence[Axis]) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """For each tap, in row-major order: the outputs that have it, and the elements that it meets there."""
    for tap in itertools.product(*(range(axis.kernel) for axis in axes)):
        meets = [met(axis, place * axis.dilation) for axis, place in zip(axes, tap, strict=True)]
        yield tap, (slice(None), *(i for i, _ in meets)), (slice(None), *(s for _, s in meets))


def extract_patches(
    x: Array, *, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> Array:
    """TensorFlow's ExtractImagePatches and ExtractVolumePatches: each window's elements as channels.

    Args:
        x: (batch, spatial axes..., channels).
        ksizes: Window size, an int an axis; those of batch and channels 1, as in what follows.
        strides: Elements between two windows.
        rates: Elements between two taps.
        padding: "SAME" or "VALID"; zeros are padded.

    Returns:
        (batch, spatial axes..., taps * channels).

    Raises:
        InvalidArgumentError: x has another rank, or the window does not fit.
        OutOfRangeError: A size, stride or rate is not positive.
        UnimplementedError: Windows across batch or channels.
    """
    rank = len(ksizes)
    if x.ndim != rank:
        raise InvalidArgumentError(f"input must be {rank}-dimensional: {shape_text(x.shape)}")
    for name, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if values[0] != 1 or values[-1] != 1:
            raise UnimplementedError(f"Only support {name} across space: {list(values)}")
        if min(values) < 1:
            raise OutOfRangeError(f"{name} is out of range: {list(values)}")
    axes = window_axes(x.shape[1:-1], ksizes[1:-1], strides[1:-1], rates[1:-1], padding)
    if rank == 5 and padding == "SAME":
        axes = [centred(axis) for axis in axes]
    outs, kernel = [axis.out for axis in axes], [axis.kernel for axis in axes]
    patches = np.zeros((x.shape[0], *outs, *kernel, x.shape[-1]), x.dtype)
    for tap, inside, source in _taps(axes):
        patches[(*inside, *tap)] = x[source]
    return patches.reshape(x.shape[0], *outs, math.prod(kernel) * x.shape[-1])
