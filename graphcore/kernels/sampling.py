"""Weighted sums of a few neighbours along one axis of an image: what resizing methods have in common.

`Taps` says for each output pixel which input pixels it is made of and with which weights. The methods
differ only in how they make them; applying them, and spreading gradients back, is done here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array


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
        shape = [1] * images.ndim
        shape[axis] = -1
        picked = np.take(images, self.sources, axis) * self.weights.reshape(shape)
        if len(self.starts) == len(self.sources):
            return np.asarray(picked)
        return np.asarray(np.add.reduceat(picked, self.starts, axis))

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
