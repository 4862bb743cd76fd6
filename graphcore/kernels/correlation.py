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
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from . import parallel
from .arrays import Array
from .windows import Axis

BLOCK = 1 << 20
"""Elements of a patch matrix that are made at a time."""

MIN_ROWS = 64
"""Rows of a part of a matrix that needs no copy."""

Finish = Callable[[Array, slice, slice], None]
"""What is done to a part of a result, given as a matrix (pixels, filters), its rows and columns."""

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


def correlate(
    x: Array, w: Array, height: Span, width: Span, out: Array, finish: Finish | None = None
) -> None:
    """Writes the correlation of x (NHWC) with w into `out`, which is C-contiguous.

    Args:
        x: (batch, height, width, channels).
        w: (height, width, channels, filters).
        height: Where the windows lie.
        width: Alike.
        out: (batch, out height, out width, filters).
        finish: What is done to each part of the result while it is in the cache.
    """
    filters = w.reshape(math.prod(w.shape[:3]), w.shape[3])
    rows = out.reshape(math.prod(out.shape[:3]), out.shape[3])
    every = slice(None)
    if 0 in (x.size, filters.size, out.size):
        out[...] = 0
        if finish is not None:
            finish(rows, every, every)
        return
    work = rows.size * filters.shape[0]
    patches = _Patches(x, height, width, parallel.parts(work))
    regions = patches.regions()

    def multiply(part: tuple[slice, slice], matrix: Array) -> None:
        target = rows[part]
        np.matmul(matrix, filters[:, part[1]], out=target)
        if finish is not None:
            finish(target, *part)

    if work < parallel.ALONE:
        for region in regions:
            multiply((region, every), patches.matrix(region))
        return
    if len(regions) >= patches.parts:
        parallel.for_each(regions, lambda region: multiply((region, every), patches.matrix(region)))
        return
    for region in regions:  # few pixels, many filters
        matrix = patches.matrix(region)
        columns = parallel.ranges(filters.shape[1], patches.parts)
        parallel.for_each([(region, part) for part in columns], partial(multiply, matrix=matrix))


def correlate_filter(x: Array, dy: Array, height: Span, width: Span) -> Array:
    """The filter gradient as a (taps * channels, filters) matrix."""
    taps = height.kernel * width.kernel * x.shape[3]
    if dy.size == 0 or taps == 0:
        return np.zeros((taps, dy.shape[3]), x.dtype)
    rows = dy.reshape(math.prod(dy.shape[:3]), dy.shape[3])
    patches = _Patches(x, height, width, parallel.parts(rows.size * taps))
    regions = patches.regions()
    if len(regions) < patches.parts or patches.parts == 1:
        matrices = ((patches.matrix(region), rows[region]) for region in regions)
        return _sum([parallel.matmul(matrix.T, part) for matrix, part in matrices])
    # Each thread adds up a part of its own, so that sums do not depend on who is fast.
    shares = parallel.ranges(len(regions), patches.parts, 1)
    parts: list[Array | None] = [None] * len(shares)

    def add_up(index: int) -> None:
        products = (patches.matrix(region).T @ rows[region] for region in regions[shares[index]])
        parts[index] = _sum(products)

    parallel.for_each(range(len(shares)), add_up)
    return _sum(part for part in parts if part is not None)


def _sum(parts: Iterable[Array]) -> Array:
    total: Array | None = None
    for part in parts:
        total = part if total is None else np.add(total, part, out=total)
    assert total is not None
    return total


class _Patches:
    """The patch matrix of x (NHWC, C-contiguous), by regions; there is at least one pixel and one tap."""

    def __init__(self, x: Array, height: Span, width: Span, parts: int) -> None:
        """Takes at least so many `parts`, if there are pixels for them."""
        self.parts = parts
        batch, rows, columns, channels = x.shape
        self.taps = height.kernel * width.kernel * channels
        self.shape = batch, height.out, width.out
        self.pixels = math.prod(self.shape)
        self.whole: Array | None = None
        if (
            height[:3] == (0, 1, rows)
            and width[:3] == (0, 1, columns)
            and height.dilation == width.dilation == 1
        ):
            self.whole = x.reshape(batch, self.taps)
            return
        if height.kernel == width.kernel == 1 and _inside(height, rows) and _inside(width, columns):
            picked = x[
                :,
                height.start : height.start + height.extent : height.stride,
                width.start : width.start + width.extent : width.stride,
            ]
            self.whole = picked.reshape(-1, channels)
            return
        self.narrow = width.kernel * channels < min(NARROW, width.out)
        source, offset = _framed(x, height, width, self.narrow)
        if self.narrow:
            channel_step, image_step, row_step, column_step = source.strides
        else:
            image_step, row_step, column_step, channel_step = source.strides
        pixel_steps = (image_step, row_step * height.stride, column_step * width.stride)
        taps = (height.kernel, width.kernel, channels)
        tap_steps = (row_step * height.dilation, column_step * width.dilation, channel_step)
        shape, steps = (
            (taps + self.shape, tap_steps + pixel_steps)
            if self.narrow
            else (self.shape + taps, pixel_steps + tap_steps)
        )
        self.windows: Array = np.ndarray(shape, source.dtype, source.data, offset, steps)

    def regions(self) -> list[slice]:
        """Slices of the rows of the matrix: whole images, or rows of one image."""
        share = -(-self.pixels // self.parts)
        if self.whole is not None:
            blocks = -(-self.pixels * self.taps // BLOCK)
            return parallel.ranges(self.pixels, max(self.parts, blocks), MIN_ROWS)
        _, height, width = self.shape
        wanted = max(1, min(BLOCK // self.taps, share))
        images = wanted // (height * width)
        if images:
            step = images * height * width
            return [slice(at, min(self.pixels, at + step)) for at in range(0, self.pixels, step)]
        step = max(1, min(height, wanted // width)) * width
        image = height * width
        return [
            slice(start, min(start + step, first + image))
            for first in range(0, self.pixels, image)
            for start in range(first, first + image, step)
        ]

    def matrix(self, region: slice) -> Array:
        """The rows of one of `regions`; a buffer of the thread, valid until its next call."""
        if self.whole is not None:
            return self.whole[region]
        _, height, width = self.shape
        image, row = divmod(region.start // width, height)
        lines = (region.stop - region.start) // width
        images = max(1, lines // height)
        where = slice(image, image + images), slice(row, row + min(lines, height))
        view = (
            self.windows[(slice(None), slice(None), slice(None), *where)]
            if self.narrow
            else self.windows[where]
        )
        matrix = parallel.scratch(view.size, view.dtype).reshape(view.shape)
        np.copyto(matrix, view)
        return matrix.reshape(self.taps, -1).T if self.narrow else matrix.reshape(-1, self.taps)


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
        covered: Array = parallel.matmul(dy.reshape(batch, -1), filters.T)
        return covered.reshape(shape)
    reach = [max(axis.size + axis.before, forward_span(axis).extent) for axis in (height, width)]
    frame = np.zeros((channels, batch, *reach), dy.dtype)
    images = max(1, BLOCK // (filters.shape[0] * height.out * width.out))
    for image in range(0, batch, images):
        part = dy[image : image + images]
        windows = parallel.matmul(filters, part.reshape(-1, dy.shape[3]).T)
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
