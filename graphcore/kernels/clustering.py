"""K-means: where to begin, and which centers are nearest.

Sources: Arthur and Vassilvitskii, "k-means++: the advantages of careful seeding", 2007; Bachem et al.,
"Approximate k-means++ in sublinear time", 2016; tensorflow/core/kernels/clustering_ops.cc (r1.15) for the
order in which numbers are drawn.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import InvalidArgumentError
from .arrays import Array
from .candidates import SimplePhilox
from .philox import Philox

_MASK = (1 << 64) - 1
_BLOCK = 1 << 22
"""Distances that are held at a time."""


def _half_norms(points: Array) -> Array:
    halves: Array = np.float32(0.5) * np.einsum("ij,ij->i", points, points)
    return halves


class _Seeding:
    """The state of k-means++: each point's distance from the nearest of those chosen."""

    def __init__(self, points: Array, seed: int) -> None:
        self._points = points
        self._norms = _half_norms(points)
        self._random = SimplePhilox(Philox(seed & _MASK))
        self._chosen: set[int] = set()
        self._sums: Array | None = None
        self.nearest = np.full(len(points), np.inf, np.float32)

    def draw(self) -> int:
        """A point that was not chosen yet, the likelier the farther it is."""
        count = len(self._points)
        if self._sums is None:
            return self._random.below(count, 64)
        while True:
            place = np.float32(self._random.single()) * self._sums[-1]
            index = int(np.searchsorted(self._sums, place, "right"))
            # Where all that are left are no distance away there is none to find.
            if index not in self._chosen or not np.isfinite(self._sums[-1]):
                return min(index, count - 1)

    def with_point(self, index: int) -> Array:
        """The distances once that point is chosen."""
        to_it = self._norms - self._points @ self._points[index] + self._norms[index]
        nearest: Array = np.minimum(self.nearest, to_it)
        return nearest

    def choose(self, index: int, nearest: Array) -> None:
        """Chooses a point."""
        self._chosen.add(index)
        self.nearest = nearest
        self._sums = np.cumsum(nearest, dtype=np.float32)


def kmeans_plus_plus(points: Array, count: int, seed: int, retries: int) -> Array:
    """Points far from one another to begin with.

    Args:
        points: float32 of shape (points, dimensions).
        count: How many to choose.
        seed: Of the random numbers.
        retries: How many further candidates are tried for each; negative for more of them the larger
            `count` is.

    Returns:
        float32 of shape (count, dimensions).

    Raises:
        InvalidArgumentError: There are no points, or fewer than wanted.
    """
    if not len(points):
        raise InvalidArgumentError("Expected points.rows() > 0.")
    if count <= 0:
        raise InvalidArgumentError("Expected num_to_sample > 0.")
    if count > len(points):
        raise InvalidArgumentError(f"Expected num_to_sample <= points.rows(). {count} vs {len(points)}.")
    tries = 1 + (retries if retries >= 0 else 2 + int(math.log(count)))
    state, order = _Seeding(points, seed), []
    for _ in range(count):
        best, best_nearest, potential = 0, state.nearest, np.float32(np.inf)
        for _ in range(tries):
            index = state.draw()
            nearest = state.with_point(index)
            total = nearest.sum()
            if total < potential or tries == 1:
                best, best_nearest, potential = index, nearest, total
        state.choose(best, best_nearest)
        order.append(best)
    return points[order]


def kmc2_chain(distances: Array, seed: int) -> int:
    """The last state of a Markov chain over points, each the likelier the farther it is.

    Raises:
        InvalidArgumentError: There are no points.
    """
    if not distances.size:
        raise InvalidArgumentError("Expected distances_tensor.size() > 0.")
    random = SimplePhilox(Philox(seed & _MASK))
    chosen, distance = 0, distances[0]
    for index in range(1, len(distances)):
        if distances[index] > np.float32(random.single()) * distance:
            chosen, distance = index, distances[index]
    return chosen


def nearest_centers(points: Array, centers: Array, count: int) -> tuple[Array, Array]:
    """The nearest centers of each point, nearest first, and their squared distances.

    Args:
        points: float32 of shape (points, dimensions).
        centers: float32 of shape (centers, dimensions).
        count: How many of them, at most as many as there are.

    Returns:
        int64 and float32 of shape (points, count).
    """
    indices = np.empty((len(points), count), np.int64)
    distances = np.empty((len(points), count), np.float32)
    if not count:
        return indices, distances
    norms, center_norms = _half_norms(points), _half_norms(centers)
    step = max(1, _BLOCK // len(centers))
    for start in range(0, len(points), step):
        part = slice(start, start + step)
        partial = center_norms - points[part] @ centers.T
        if count == 1:
            found = np.argmin(partial, axis=1)[:, None]
        else:
            found = np.argsort(partial, axis=1, kind="stable")[:, :count]
        indices[part] = found
        distances[part] = 2 * (norms[part, None] + np.take_along_axis(partial, found, 1))
    return indices, distances
