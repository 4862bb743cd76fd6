"""Correlation of images with filters on top of matrix multiplication: the core of convolution.

Theory of operation. A window over the input is laid out as a row of a *patch matrix*; convolution is
then `patches @ filter`, its filter gradient `patches.T @ dy`. The matrix would be kernel-height times
kernel-width as large as the input, so it is made a block of output rows at a time (`BLOCK` elements,
about what the second-level cache holds) in a buffer that all blocks share. Copying is what costs, so:

- a 1x1 kernel, or one that covers the whole input, needs no copy at all: the input is the matrix;
- with few channels the runs that a copy could move at once (kernel width times channels) are short;
  there the input is stored channels-first and the transposed matrix is filled, in runs of one row;
- the input gradient with stride s falls apart into s*s convolutions of dy with stride 1, each with
  the taps of one phase of the filter: no multiplication by a zero. Where dy is much smaller than the
  input (large kernel, VALID padding) or has many more channels, `filter @ dy` is added up window by
  window instead.

Arrays are (batch, height, width, channels), C-contiguous and of a dtype that NumPy multiplies fast.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array
from .windows import Axis

BLOCK = 1 << 20
"""Elements of a patch matrix that are made at a time."""

NARROW = 32
"""Runs (kernel width times channels) shorter than this are copied channels-first."""


class Span(NamedTuple):
    """Where the windows of one axis lie: the first begins at input element `start` (maybe negative)."""

    start: int
    out: int
    kernel: int
    stride: int
    dilation: int

    @property
    def extent(self) -> int:
        """Input elements from the first tap of the first window to the last tap of the last."""
        return (self.out - 1) * self.stride + (self.kernel - 1) * self.dilation + 1


def correlate(x: Array, w: Array, height: Span, width: Span, out: Array) -> None:
    """Writes the correlation of x (NHWC) with w into `out`, which is C-contiguous."""
    filters = w.reshape(math.prod(w.shape[:3]), w.shape[3])
    if 0 in (x.size, filters.size, out.size):
        out[...] = 0
        return
    for region, patches in _patches(x, height, width):
        np.matmul(patches, filters, out=out[region].reshape(-1, out.shape[3]))


def correlate_filter(x: Array, dy: Array, height: Span, width: Span) -> Array:
    """The filter gradient as a (taps * channels, filters) matrix."""
    taps = height.kernel * width.kernel * x.shape[3]
    if dy.size == 0 or taps == 0:
        return np.zeros((taps, dy.shape[3]), x.dtype)
    total: Array | None = None
    for region, patches in _patches(x, height, width):
        part = np.matmul(patches.T, dy[region].reshape(-1, dy.shape[3]))
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None  # there are pixels
    return total


def _patches(x: Array, height: Span, width: Span) -> Iterator[tuple[Any, Array]]:
    """Blocks of the patch matrix of x (NHWC, C-contiguous); there is at least one pixel and one tap.

    Yields:
        `(region, patches)`: an index into (batch, out height) and the (pixels, taps * channels) matrix
        of that region. The matrix is only valid until the next block.
    """
    batch, rows, columns, channels = x.shape
    taps = height.kernel * width.kernel * channels
    pixels = height.out * width.out
    if height[:3] == (0, 1, rows) and width[:3] == (0, 1, columns) and height.dilation == width.dilation == 1:
        yield slice(None), x.reshape(batch, taps)
        return
    if height.kernel == width.kernel == 1 and _inside(height, rows) and _inside(width, columns):
        picked = x[
            :,
            height.start : height.start + height.extent : height.stride,
            width.start : width.start + width.extent : width.stride,
        ]
        yield slice(None), picked.reshape(-1, channels)
        return
    narrow = width.kernel * channels < min(NARROW, width.out)
    source, offset = _framed(x, height, width, narrow)
    if narrow:
        channel_step, image_step, row_step, column_step = source.strides
    else:
        image_step, row_step, column_step, channel_step = source.strides
    pixel_shape, pixel_steps = (
        (batch, height.out, width.out),
        (image_step, row_step * height.stride, column_step * width.stride),
    )
    tap_shape, tap_steps = (
        (height.kernel, width.kernel, channels),
        (row_step * height.dilation, column_step * width.dilation, channel_step),
    )
    if narrow:
        windows: Array = np.ndarray(
            tap_shape + pixel_shape, source.dtype, source.data, offset, tap_steps + pixel_steps
        )
    else:
        windows = np.ndarray(
            pixel_shape + tap_shape, source.dtype, source.data, offset, pixel_steps + tap_steps
        )
    images = min(batch, BLOCK // (pixels * taps))
    if images:
        regions = [(slice(start, start + images), slice(None)) for start in range(0, batch, images)]
        block = images * pixels * taps
    else:
        lines = max(1, BLOCK // (width.out * taps))
        regions = [
            (slice(image, image + 1), slice(start, start + lines))
            for image in range(batch)
            for start in range(0, height.out, lines)
        ]
        block = min(lines, height.out) * width.out * taps
    buffer = np.empty(block, source.dtype)
    for region in regions:
        view = windows[(slice(None), slice(None), slice(None), *region)] if narrow else windows[region]
        matrix = buffer[: view.size].reshape(view.shape)
        np.copyto(matrix, view)
        # A region of one image is contiguous in the output only without its batch axis.
        index = region[0] if images else (region[0].start, region[1])
        yield index, (matrix.reshape(taps, -1).T if narrow else matrix.reshape(-1, taps))


def _inside(span: Span, size: int) -> bool:
    return span.start >= 0 and span.start + span.extent <= size


def _framed(x: Array, height: Span, width: Span, channels_first: bool) -> tuple[Array, int]:
    """The part of x (NHWC) that windows read, zeros where they reach beyond it.

    Returns:
        A C-contiguous array, (channels, batch, height, width) if `channels_first`, and the offset in
        bytes of the first window's first element.
    """
    batch, rows, columns, channels = x.shape
    leading = 1
    if channels_first:
        leading = 2
        x = x.reshape(1, batch, rows, columns) if channels == 1 else x.transpose(3, 0, 1, 2)
    if _inside(height, rows) and _inside(width, columns) and x.flags.c_contiguous:
        return x, height.start * x.strides[leading] + width.start * x.strides[leading + 1]
    frame = np.zeros((*x.shape[:leading], height.extent, width.extent, *x.shape[leading + 2 :]), x.dtype)
    top, bottom = max(0, height.start), min(rows, height.start + height.extent)
    left, right = max(0, width.start), min(columns, width.start + width.extent)
    if top < bottom and left < right:
        every = (slice(None),) * leading
        inner = (
            slice(top - height.start, bottom - height.start),
            slice(left - width.start, right - width.start),
        )
        frame[every + inner] = x[(*every, slice(top, bottom), slice(left, right))]
    return frame, 0


def correlate_input(dy: Array, w: Array, height: Axis, width: Axis, shape: Sequence[int]) -> Array:
    """The input gradient (NHWC), by phases of the filter or window by window."""
    if dy.size == 0 or w.size == 0:
        return np.zeros(shape, dy.dtype)
    sparse = 2 * height.out * height.stride * width.out * width.stride < height.size * width.size
    if sparse or 3 * shape[3] < dy.shape[3]:
        return _scatter_windows(dy, w, height, width, shape)
    across, down = _phases(width), _phases(height)
    single = height.stride == width.stride == 1
    out = np.empty(shape, dy.dtype) if single else np.zeros(shape, dy.dtype)
    for first_row, rows, row_taps in down:
        for first_column, columns, column_taps in across:
            taps = w[row_taps][:, column_taps].transpose(0, 1, 3, 2)
            if single:
                correlate(dy, np.ascontiguousarray(taps), rows, columns, out)
                continue
            part = np.empty((shape[0], rows.out, columns.out, shape[3]), dy.dtype)
            correlate(dy, np.ascontiguousarray(taps), rows, columns, part)
            out[:, first_row :: height.stride, first_column :: width.stride] = part
    return out


def _phases(axis: Axis) -> list[tuple[int, Span, slice]]:
    """Splits the input gradient along an axis into correlations of dy with stride 1.

    Input element h, at p = h + before in the padded input, receives tap k of output j where
    p = j * stride + k * dilation. Elements of equal p modulo the stride meet the same taps.

    Returns:
        For each phase that meets any tap: its first input element (the others follow a stride apart),
        where the windows over dy lie, and the taps in the order of those windows.
    """
    common = math.gcd(axis.stride, axis.dilation)
    step, dilation = axis.stride // common, axis.dilation // common
    phases = []
    for phase in range(axis.stride):
        tap = next(
            (k for k in range(min(step, axis.kernel)) if k * axis.dilation % axis.stride == phase), None
        )
        index = -((phase - axis.before) // axis.stride)
        first = phase + axis.stride * index - axis.before
        if tap is None or first >= axis.size:
            continue
        count = len(range(tap, axis.kernel, step))
        last = tap + (count - 1) * step
        start = index - (tap * axis.dilation - phase) // axis.stride - (count - 1) * dilation
        outputs = len(range(first, axis.size, axis.stride))
        stop = tap - step
        taps = slice(last, stop if stop >= 0 else None, -step)
        phases.append((first, Span(start, outputs, count, 1, dilation), taps))
    return phases


def _scatter_windows(dy: Array, w: Array, height: Axis, width: Axis, shape: Sequence[int]) -> Array:
    """The input gradient by adding each window's `w @ dy` to where the window lies.

    Everything is channels-first here: the runs that are added are output rows.
    """
    batch, channels = shape[0], shape[3]
    filters = w.reshape(-1, w.shape[3])
    if (
        (height.kernel, width.kernel) == tuple(shape[1:3])
        and height.out == width.out == 1
        and height.before == width.before == 0
    ):
        covered: Array = np.matmul(dy.reshape(batch, -1), filters.T)
        return covered.reshape(shape)
    reach = [max(axis.size + axis.before, forward_span(axis).extent) for axis in (height, width)]
    frame = np.zeros((channels, batch, *reach), dy.dtype)
    images = max(1, BLOCK // (filters.shape[0] * height.out * width.out))
    for image in range(0, batch, images):
        part = dy[image : image + images]
        windows = np.matmul(filters, part.reshape(-1, dy.shape[3]).T)
        windows = windows.reshape(height.kernel, width.kernel, channels, part.shape[0], height.out, width.out)
        for row, column in itertools.product(range(height.kernel), range(width.kernel)):
            top, left = row * height.dilation, column * width.dilation
            frame[
                :,
                image : image + images,
                top : top + (height.out - 1) * height.stride + 1 : height.stride,
                left : left + (width.out - 1) * width.stride + 1 : width.stride,
            ] += windows[row, column]
    inner = frame[:, :, height.before : height.before + height.size, width.before : width.before + width.size]
    out: Array = np.ascontiguousarray(inner.transpose(1, 2, 3, 0))
    return out


def forward_span(axis: Axis) -> Span:
    """Where the windows of a convolution lie along `axis` of its input."""
    return Span(-axis.before, axis.out, axis.kernel, axis.stride, axis.dilation)
