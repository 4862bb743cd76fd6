"""Convolution with 3x3 windows and stride 1 by Winograd's minimal filtering, F(4x4, 3x3).

A tile of 6x6 input elements gives 4x4 outputs. In a transformed space each of its 36 numbers is multiplied by
one of the filter's alone, so that 36 multiplications stand for 144; over all channels and filters that is 36
matrix products. Going there and back are products with constant matrices (the Kronecker squares of the one-
dimensional transforms), one matrix product for all tiles and channels.

Results differ from those of `correlate` by up to some 1e-5 of the largest.

Sources: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015; Barabasz, Anderson,
Soodhalter and Gregg, Error Analysis and Improving the Accuracy of Winograd Convolution for Deep Neural
Networks, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from . import parallel
from .arrays import Array
from .correlation import Finish, Span
from .windows import Axis

TILE = 4
_SPAN = TILE + 2
_TAPS = _SPAN * _SPAN

_POINTS = (0.0, 1.5, -1.5, 2 / 3, -2 / 3)
"""Where the polynomials of Toom and Cook are evaluated, besides infinity.

Of all sets of small fractions these round least: a third of the error of the usual 0, 1, -1, 2, -2.
"""


def _transforms() -> tuple[Array, Array, Array]:
    """The one-dimensional transforms of input (6 x 6), filter (6 x 3) and output (4 x 6)."""
    powers = np.vander(_POINTS, _SPAN, increasing=True)
    others = [[q for q in _POINTS if q != p] for p in _POINTS]
    scale = np.array([np.prod([p - q for q in rest]) for p, rest in zip(_POINTS, others)])
    at_infinity = np.eye(1, 3, 2), np.eye(1, TILE, TILE - 1)
    filters = np.vstack([powers[:, :3] / scale[:, None], at_infinity[0]])
    output = np.vstack([powers[:, :TILE], at_infinity[1]]).T
    # The coefficients of the polynomials that vanish at all points but one, and at all.
    rows = [np.poly(roots)[::-1] for roots in (*others, _POINTS)]
    return np.array([np.pad(row, (0, _SPAN - len(row))) for row in rows]), filters, output


@lru_cache(1)
def _squares() -> tuple[Array, Array, Array]:
    """The two-dimensional transforms, as matrices over flattened tiles; the filters' in float64."""
    to, of_filters, back = (np.kron(each, each) for each in _transforms())
    return to.astype(np.float32), of_filters, back.astype(np.float32)


_STRIP = 1 << 18
"""Numbers of transformed tiles that a thread works on at a time, where the filters stay in the cache."""
_WHOLE = 1 << 24
"""The same where each filter is read once for all tiles."""
_RESIDENT = 1 << 21
"""Bytes of transformed filters that stay in the cache."""
_LEAST_TILES = 36
"""Tiles below which reading the transformed filters takes longer than multiplying by the plain ones."""


def suits(shape: Sequence[int], filters: Sequence[int], height: Axis, width: Axis) -> bool:
    """Whether this is faster than `correlate`, by measurement, for an input (NHWC) and filters (HWIO)."""
    batch, channels, count = shape[0], filters[2], filters[3]
    tiles = batch * -(-height.out // TILE) * -(-width.out // TILE)
    axes = all(axis.kernel == 3 and axis.stride == axis.dilation == 1 for axis in (height, width))
    return axes and shape[3] == channels and min(channels, count) >= 32 and tiles >= _LEAST_TILES


def transform_filters(w: Array) -> Array:
    """The filters (3, 3, channels, filters) in the transformed space: (36, channels, filters), float32."""
    flat = _squares()[1] @ w.reshape(9, -1).astype(np.float64)
    return flat.astype(np.float32).reshape(_TAPS, *w.shape[2:])


def correlate(
    x: Array, transformed: Array, height: Span, width: Span, out: Array, finish: Finish | None = None
) -> None:
    """As `correlation.correlate`, by the filters that `transform_filters` gave; float32.

    Args:
        x: (batch, height, width, channels), C-contiguous.
        transformed: (36, channels, filters).
        height: Where the windows lie.
        width: Alike.
        out: (batch, out height, out width, filters), C-contiguous.
        finish: As there.
    """
    batch, rows, columns, filters = out.shape
    channels = x.shape[3]
    down, across = -(-rows // TILE), -(-columns // TILE)
    frame = _framed(x, height, width, down * TILE + 2, across * TILE + 2)
    image, line, pixel, channel = frame.strides
    windows: Array = np.ndarray(
        (_SPAN, _SPAN, batch, down, across, channels),
        frame.dtype,
        frame.data,
        0,
        (line, pixel, image, TILE * line, TILE * pixel, channel),
    )
    resident = transformed.nbytes <= _RESIDENT
    numbers = _TAPS * across * max(channels, filters)
    to, _, back = _squares()
    pixels = out.reshape(-1, filters)

    def strip(images: slice, lines: slice) -> None:
        multiply = np.matmul if resident else parallel.matmul
        tiles = windows[:, :, images, lines]
        count = tiles.shape[2] * tiles.shape[3] * across
        gathered = np.ascontiguousarray(tiles).reshape(_TAPS, count * channels)
        moved = multiply(to, gathered).reshape(_TAPS, count, channels)
        size = _TAPS * count * filters  # of the products; what was gathered is not needed any more
        room = gathered.reshape(-1)[:size] if filters <= channels else np.empty(size, x.dtype)
        products = room.reshape(_TAPS, count, filters)
        if resident:
            np.matmul(moved, transformed, out=products)
        else:
            parallel.for_each(range(_TAPS), lambda tap: _multiply(moved, transformed, products, tap))
        result = multiply(back, products.reshape(_TAPS, count * filters))
        result = result.reshape(TILE, TILE, tiles.shape[2], tiles.shape[3], across, filters)
        first, last = lines.start * TILE, min(rows, lines.stop * TILE)
        whole = result.transpose(2, 3, 0, 4, 1, 5).reshape(tiles.shape[2], -1, across * TILE, filters)
        out[images, first:last] = whole[:, : last - first, :columns]
        if finish is not None:
            for number in range(images.start, images.stop):
                part = slice((number * rows + first) * columns, (number * rows + last) * columns)
                finish(pixels[part], part, slice(None))

    if resident:
        step = max(1, _STRIP // numbers)
        parallel.for_each(
            [
                (slice(number, number + 1), slice(start, min(down, start + step)))
                for number in range(batch)
                for start in range(0, down, step)
            ],
            lambda where: strip(*where),
        )
        return
    images = max(1, _WHOLE // (numbers * down))
    lines = down if images > 1 else max(1, min(down, _WHOLE // numbers))
    for number in range(0, batch, images):
        for start in range(0, down, lines):
            strip(slice(number, min(batch, number + images)), slice(start, min(down, start + lines)))


def _multiply(moved: Array, transformed: Array, products: Array, tap: int) -> None:
    np.matmul(moved[tap], transformed[tap], out=products[tap])


def _framed(x: Array, height: Span, width: Span, rows: int, columns: int) -> Array:
    """What the windows read, zeros where they reach beyond the input."""
    if (height.start, width.start) == (0, 0) and x.shape[1:3] == (rows, columns) and x.flags.c_contiguous:
        return x
    frame = np.zeros((x.shape[0], rows, columns, x.shape[3]), x.dtype)
    top, left = -height.start, -width.start
    below, beyond = min(x.shape[1], rows - top), min(x.shape[2], columns - left)
    frame[:, max(0, top) : top + below, max(0, left) : left + beyond] = x[
        :, max(0, -top) : below, max(0, -left) : beyond
    ]
    return frame
