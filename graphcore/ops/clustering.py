"""K-means: where to begin, and which centers are nearest.

Source: tensorflow/core/kernels/clustering_ops.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..kernels import clustering
from ..op import op
from . import rules

_UNDEFINED = "TensorFlow declares none"


def _check_ranks(**given: tuple[Any, int]) -> None:
    for name, (value, rank) in given.items():
        if np.ndim(value) != rank:
            what = ("scalar", "vector", "matrix")[rank]
            raise InvalidArgumentError(f"Input {name} should be a {what}.")


@op(
    "KmeansPlusPlusInitialization",
    "points: float32, num_to_sample: int64, seed: int64, num_retries_per_sample: int64 -> samples: float32",
    undefined_grad=_UNDEFINED,
)
def kmeans_plus_plus_initialization(
    points: Any, num_to_sample: Any, seed: Any, num_retries_per_sample: Any
) -> Any:
    """Points far from one another, to begin k-means with."""
    _check_ranks(
        points=(points, 2),
        num_to_sample=(num_to_sample, 0),
        seed=(seed, 0),
        num_retries_per_sample=(num_retries_per_sample, 0),
    )
    return clustering.kmeans_plus_plus(points, int(num_to_sample), int(seed), int(num_retries_per_sample))


@op(
    "KMC2ChainInitialization",
    "distances: float32, seed: int64 -> index: int64",
    undefined_grad=_UNDEFINED,
)
def kmc2_chain_initialization(distances: Any, seed: Any) -> Any:
    """A point that a Markov chain ends at, the likelier the farther it is."""
    _check_ranks(distances=(distances, 1), seed=(seed, 0))
    return np.array(clustering.kmc2_chain(distances, int(seed)), np.int64)


@op(
    "NearestNeighbors",
    "points: float32, centers: float32, k: int64 -> nearest_center_indices: int64, "
    "nearest_center_distances: float32",
    undefined_grad=_UNDEFINED,
)
def nearest_neighbors(points: Any, centers: Any, k: Any) -> tuple[Any, Any]:
    """The nearest centers of each point, and their squared distances."""
    _check_ranks(points=(points, 2), centers=(centers, 2), k=(k, 0))
    if not len(points):
        raise InvalidArgumentError("Expected points.rows() > 0.")
    if points.shape[1] != centers.shape[1]:
        raise InvalidArgumentError(
            f"Expected point_dimensions == center_dimensions: {points.shape[1]} vs {centers.shape[1]}."
        )
    if k < 0:
        raise InvalidArgumentError(f"Dimension {int(k)} must be >= 0")
    return clustering.nearest_centers(points, centers, min(int(k), len(centers)))


kmeans_plus_plus_initialization.shape(rules.unknown)
kmc2_chain_initialization.shape(rules.scalar)
nearest_neighbors.shape(rules.unknown)
