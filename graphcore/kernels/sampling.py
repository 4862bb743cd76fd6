"""Weighted sums of a few neighbours along one axis of an image: what resizing methods have in common.

`Taps` says for each output pixel which input pixels it is made of and with which weights. The methods
differ only in how they make them; applying them, and spreading gradients back, is done here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .arrays import Array

# Elements that are worked on at once: a few such arrays stay in a core's cache.
_BLOCK = 1 << 16
# Lines of less are taken element by element, which NumPy does faster than many short lines.
_NARROW = 16


@dataclass(frozen=True, slots=True)
class Taps:
    """The taps of all output pixels, one after another.

    Attributes:
        sources: Input pixel of each tap (int64).
        weights: Weight of each tap (float32).
        starts: Where the taps of each output pixel begin; each has at least one.
    """

    sources: Array
    weights: Array
    starts: Array

    @classmethod
    def of_columns(cls, sources: Array, weights: Array) -> Taps:
        """The taps of arrays (output pixels, taps each)."""
        count = sources.shape[1]
        return cls(sources.reshape(-1), weights.reshape(-1), np.arange(len(sources)) * count)

    @classmethod
    def of_spans(cls, first: Array, end: Array) -> tuple[Taps, Array, Array]:
        """Taps at all input pixels from `first` up to `end`, with weights still to be filled in.

        Returns:
            The taps, and of each tap its input pixel and its output pixel.
        """
        lengths = end - first
        starts = np.cumsum(lengths) - lengths
        owners = np.repeat(np.arange(len(first)), lengths)
        sources = np.arange(lengths.sum()) - starts[owners] + first[owners]
        return cls(sources, np.zeros(len(sources), np.float32), starts), sources, owners

    def gather(self, images: Array, axis: int) -> Array:
        """The weighted sums along `axis`, in float32 or the wider dtype of `images`."""
        outer = int(np.prod(images.shape[:axis], dtype=np.int64))
        inner = int(np.prod(images.shape[axis + 1 :], dtype=np.int64))
        count = len(self.starts)
        out = np.empty((outer, count, inner), np.result_type(images, self.weights))
        shape = (*images.shape[:axis], count, *images.shape[axis + 1 :])
        if not out.size:
            return out.reshape(shape)
        lines = np.ascontiguousarray(images).reshape(outer, images.shape[axis], inner)
        along = max(1, _BLOCK // inner)
        together = max(1, _BLOCK // (min(along, count) * inner))
        for begin in range(0, count, along):
            layers = list(self._layers(begin, min(begin + along, count), inner))
            for start in range(0, outer, together):
                part = slice(start, start + together)
                _weigh(lines[part], out[part, begin : begin + along], layers)
        return out.reshape(shape)

    def _layers(self, begin: int, end: int, inner: int) -> Iterator[tuple[Array | None, Lines, Array]]:
        """The first taps of the output pixels from `begin` to `end`, the second ones, and so on.

        Yields:
            Which of the output pixels have so many taps (None: all), where these taps are, and their weights.
        """
        lengths = np.diff(np.append(self.starts, len(self.sources)))[begin:end]
        for number in range(int(lengths.max())):
            having = np.flatnonzero(lengths > number)
            taps = self.starts[begin + having] + number
            weights = self.weights[taps]
            weights = np.repeat(weights, inner) if inner < _NARROW else weights[:, None]
            yield (
                None if len(having) == len(lengths) else having,
                Lines(self.sources[taps], inner),
                weights,
            )

    def spread(self, grads: Array, axis: int, size: int, *, skip_zeros: bool = False) -> Array:
        """The transpose of `gather`: what each of `size` input pixels gets of the outputs' gradients.

        Args:
            grads: Of the output pixels.
            axis: Along which they lie.
            size: How many input pixels there are.
            skip_zeros: Whether a tap of weight 0 counts for nothing even where the gradient is infinite.
        """
        lengths = np.diff(np.append(self.starts, len(self.sources)))
        owners = np.repeat(np.arange(len(self.starts)), lengths)
        order = np.argsort(self.sources, kind="stable")
        if skip_zeros:
            order = order[self.weights[order] != 0]
        shape = [1] * grads.ndim
        shape[axis] = -1
        parts = np.take(grads, owners[order], axis) * self.weights[order].reshape(shape)
        places, starts = np.unique(self.sources[order], return_index=True)
        result = np.zeros((*grads.shape[:axis], size, *grads.shape[axis + 1 :]), parts.dtype)
        if len(places):
            np.moveaxis(result, axis, 0)[places] = np.moveaxis(np.add.reduceat(parts, starts, axis), axis, 0)
        return result


class Lines:
    """Numbers of lines along the second axis of (outer, lines, inner) arrays, to be copied."""

    def __init__(self, numbers: Array, inner: int) -> None:
        self.narrow = inner < _NARROW
        self.numbers = (numbers[:, None] * inner + np.arange(inner)).reshape(-1) if self.narrow else numbers

    def of(self, lines: Array, out: Array) -> Array:
        """Copies the lines of a contiguous array into `out`, which is returned, elements flat if narrow."""
        if self.narrow:
            lines, out = lines.reshape(len(lines), -1), out.reshape(len(out), -1)
        # Without "clip", NumPy copies once more, to leave `out` as it is where a number is too large.
        np.take(lines, self.numbers, 1, out=out, mode="clip")
        return out


def _weigh(lines: Array, out: Array, layers: list[tuple[Array | None, Lines, Array]]) -> None:
    total = np.empty(out.shape, lines.dtype)
    scratch = np.empty(out.shape, lines.dtype)
    for number, (having, places, weights) in enumerate(layers):
        if having is not None:
            part = places.of(lines, np.empty((len(out), len(having), out.shape[2]), lines.dtype))
            total[:, having] += (part * weights).reshape(len(out), len(having), -1)
        elif number:
            part = places.of(lines, scratch)
            np.multiply(part, weights, out=part)
            total += scratch
        else:
            part = places.of(lines, total)
            np.multiply(part, weights, out=part)
    out[...] = total


def interpolate(
    image: Array, rows: tuple[Array, Array, Array], columns: tuple[Array, Array, Array], out: Array
) -> None:
    """One image resized bilinearly, rows and columns of output pixels at given places of the input.

    Args:
        image: (height, width, channels), any real dtype.
        rows: Of each output row the rows before and after its place, and the share of the latter (float32).
        columns: The same for columns.
        out: float32 (rows, columns, channels), which is filled.
    """
    channels = image.shape[2]
    left, right = (Lines(numbers, channels) for numbers in columns[:2])
    share = np.repeat(columns[2], channels) if left.narrow else columns[2][:, None]
    step = max(1, _BLOCK // (out.shape[1] * channels))
    for begin in range(0, len(out), step):
        part = out[begin : begin + step]
        above, below, down = (array[begin : begin + step] for array in rows)
        used, places = np.unique(np.concatenate([above, below]), return_inverse=True)
        lines = _rows(image, used)
        across = np.empty((len(used), *out.shape[1:]), np.float32)
        other = left.of(lines, across), right.of(lines, np.empty_like(across))
        _lerp(*other, share)
        flat = across.reshape(len(used), -1)
        top = part.reshape(len(part), -1)
        np.take(flat, places[: len(part)], 0, out=top, mode="clip")
        bottom = np.take(flat, places[len(part) :], 0, out=np.empty_like(top), mode="clip")
        _lerp(top, bottom, down[:, None])


def _rows(image: Array, numbers: Array) -> Array:
    """The rows of rising numbers, float32 and contiguous."""
    first, last = int(numbers[0]), int(numbers[-1])
    rows = image[first : last + 1] if last - first == len(numbers) - 1 else image[numbers]
    return np.ascontiguousarray(rows, np.float32)


def _lerp(a: Array, b: Array, share: Array) -> None:
    """Leaves `a + (b - a) * share` in `a`, in this order as TensorFlow computes it; `b` is lost."""
    np.subtract(b, a, out=b)
    np.multiply(b, share, out=b)
    np.add(a, b, out=a)


def pick(images: Array, rows: Array, columns: Array) -> Array:
    """The pixels of some rows and columns of each image.

    Args:
        images: (batch, height, width, channels), any dtype.
        rows: Numbers of rows.
        columns: Numbers of columns.

    Returns:
        Of shape (batch, rows, columns, channels).
    """
    channels = images.shape[3]
    out = np.empty((len(images), len(rows), len(columns), channels), images.dtype)
    taken = Lines(columns, channels)
    used, places = np.unique(rows, return_inverse=True)
    across = np.empty((len(used), len(columns), channels), images.dtype)
    for image, result in zip(images, out):
        taken.of(np.ascontiguousarray(image[used]), across)
        np.take(across, places, 0, out=result, mode="clip")
    return out
