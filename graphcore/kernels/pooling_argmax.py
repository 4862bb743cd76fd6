"""What needs the position of each maximum of max pooling: its gradients, and MaxPoolWithArgmax.

The first maximum of a window counts, first in row-major order. All taps are looked at, a few images at
a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from . import parallel
from .arrays import Array, extreme, widened
from .pooling import check_shape, geometry, met, output_shape, reduce_windows
from .windows import Axis, spatial_axes

BLOCK = 1 << 15
"""Output elements that are looked at together, so that they stay in the cache."""


def max_pool_grad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
) -> Array:
    """TensorFlow's MaxPoolGrad: each output's gradient goes to the first maximum of its window.

    First means in row-major order. TensorFlow's CPU kernel recomputes the maxima; `orig_output` is
    only compared in shape.

    Args:
        orig_input: The input of `max_pool`.
        orig_output: Its output.
        grad: Gradient with respect to the output.
        ksize: As in `max_pool`, and so are the rest.
        strides: See there.
        padding: See there.
        explicit_paddings: See there.
        data_format: See there.

    Returns:
        The gradient with respect to `orig_input`.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Pooling over depth or batch.
    """
    axes = geometry(orig_input.shape, ksize, strides, padding, explicit_paddings, data_format)
    expected = output_shape(orig_input.shape, axes, data_format)
    check_shape("orig_output", orig_output.shape, expected)
    check_shape("grad", grad.shape, expected)
    out = np.empty_like(orig_input, order="C")
    # As integers: a gradient is given away by a mask, whatever number it is.
    bits = np.dtype(f"i{grad.dtype.itemsize}")
    apart = all(axis.stride >= axis.kernel for axis in axes)

    def share(images: slice) -> None:
        target = out[images]
        target[...] = 0
        rest = np.array(grad[images], order="C").view(bits)
        for region, inside, source, chosen in _chosen(orig_input[images], axes, data_format, False):
            left = rest[region][inside]
            given = np.negative(chosen.view(np.int8), dtype=bits)
            given &= left
            left ^= given
            part, numbers = target[region][source], given.view(grad.dtype)
            if apart:
                part[...] = numbers
            else:
                part += numbers

    parallel.by_images(out, share)
    return out


def max_pool_grad_grad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
) -> Array:
    """TensorFlow's MaxPoolGradGrad: picks `grad` (of the input's shape) where each maximum was.

    Args:
        orig_input: The input of `max_pool`.
        orig_output: Its output.
        grad: Gradient with respect to the result of `max_pool_grad`.
        ksize: As in `max_pool`, and so are the rest.
        strides: See there.
        padding: See there.
        data_format: See there.

    Returns:
        An array of the shape of `orig_output`.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Pooling over depth or batch.
    """
    axes = geometry(orig_input.shape, ksize, strides, padding, (), data_format)
    expected = output_shape(orig_input.shape, axes, data_format)
    check_shape("orig_output", orig_output.shape, expected)
    check_shape("grad", grad.shape, orig_input.shape)
    out = np.zeros(expected, grad.dtype)
    for region, inside, source, chosen in _chosen(orig_input, axes, data_format):
        np.copyto(out[region][inside], grad[region][source], where=chosen)
    return out


def max_pool_with_argmax(
    x: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    dtype: Any = np.int64,
    include_batch_in_index: bool = False,
) -> tuple[Array, Array]:
    """TensorFlow's MaxPoolWithArgmax (NHWC).

    Args:
        x: (batch, height, width, channels).
        ksize: Window size, four ints.
        strides: Four ints.
        padding: "SAME" or "VALID".
        dtype: Of the indices: int32 or int64.
        include_batch_in_index: Whether indices count from the first image of the batch.

    Returns:
        `(maxima, indices)`; an index is (row * width + column) * channels + channel of the first
        maximum, plus the image's offset if `include_batch_in_index`.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Pooling over depth or batch.
    """
    height, width = axes = geometry(x.shape, ksize, strides, padding, (), "NHWC")
    shape = output_shape(x.shape, axes, "NHWC")
    out, where = np.empty(shape, x.dtype), np.empty(shape, np.int64)
    rows = np.arange(height.out)[:, None, None] * height.stride - height.before
    columns = np.arange(width.out)[:, None] * width.stride - width.before
    for region, _, best, position in _searched(x, axes, "NHWC"):
        row, column = np.divmod(position, width.kernel)
        out[region] = best
        where[region] = ((row + rows) * x.shape[2] + column + columns) * x.shape[3] + np.arange(x.shape[3])
    if include_batch_in_index:
        where += (np.arange(x.shape[0]) * int(np.prod(x.shape[1:])))[:, None, None, None]
    return out, where.astype(dtype)


def _regions(
    shape: Sequence[int], axes: tuple[Axis, Axis], data_format: str
) -> tuple[list[slice], list[tuple[int, Any, Any]]]:
    """How the gradient of a maximum goes through its input of `shape`.

    Returns:
        Slices of a few images; and for each tap that meets the input its number, the index of the
        outputs that have it and that of the input elements it meets there.
    """
    height, width = axes
    row_axis, _ = spatial_axes(data_format)
    leading = (slice(None),) * row_axis
    rows = [met(height, tap) for tap in range(height.kernel)]
    columns = [met(width, tap) for tap in range(width.kernel)]
    empty = slice(0, 0)
    taps = [
        (r * width.kernel + c, (*leading, rows[r][0], columns[c][0]), (*leading, rows[r][1], columns[c][1]))
        for r in range(height.kernel)
        for c in range(width.kernel)
        if rows[r][0] != empty and columns[c][0] != empty
    ]
    pixels = math.prod(output_shape(shape, axes, data_format)[1:])
    images = max(1, BLOCK // max(1, pixels))
    return [slice(start, min(shape[0], start + images)) for start in range(0, shape[0], images)], taps


def _chosen(
    x: Array, axes: tuple[Axis, Axis], data_format: str, only_first: bool = True
) -> Iterator[tuple[slice, Any, Any, Array]]:
    """Where the first maximum of each window is; without `only_first`, of numbers, all in their order.

    Yields:
        `(images, inside, source, chosen)` for each tap: the outputs x[images][source] are the
        maxima of, among those at `inside` of the same images, wherever `chosen`.
    """
    finite = x.dtype.kind in "iu" or bool(np.isfinite(np.sum(widened(x))))
    if not finite:
        for region, taps, _, position in _searched(x, axes, data_format):
            for tap, inside, source in taps:
                yield region, inside, source, position[inside] == tap
        return
    regions, taps = _regions(x.shape, axes, data_format)
    for region in regions:
        best = x[region]
        for number, axis in zip(spatial_axes(data_format), axes, strict=True):
            best = reduce_windows(best, number, axis, np.maximum, extreme(x.dtype, -1))
        free = np.ones(best.shape if only_first else (), np.bool_)
        for _, inside, source in taps:
            chosen = x[region][source] == best[inside]
            if only_first:
                chosen &= free[inside]
                free[inside] ^= chosen
            yield region, inside, source, chosen


def _searched(
    x: Array, axes: tuple[Axis, Axis], data_format: str
) -> Iterator[tuple[slice, list[tuple[int, Any, Any]], Array, Array]]:
    """As TensorFlow searches, element by element: a number replaces a smaller one, nothing a NaN.

    Yields:
        `(images, taps, best, position)`: see `_regions`; the maxima, and the tap where each is.
    """
    regions, taps = _regions(x.shape, axes, data_format)
    shape = output_shape(x.shape, axes, data_format)
    for region in regions:
        part = x[region]
        best = np.empty((len(part), *shape[1:]), x.dtype)
        position = np.full(best.shape, -1, np.int32)
        for tap, inside, source in taps:
            values, known, places = part[source], best[inside], position[inside]
            better = (known < values) | (places < 0)
            np.copyto(known, values, where=better)
            np.copyto(places, tap, where=better)
        yield region, taps, best, position
