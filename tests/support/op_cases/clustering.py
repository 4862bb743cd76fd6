"""K-means: where to begin, and which centers are nearest."""

import numpy as np

from . import case, floats

POINTS = floats(40, 3, seed=1)
CENTERS = floats(7, 3, seed=2)
# Far from one another, so that rounding decides nothing.
CORNERS = np.array([[0, 0], [10, 0], [0, 30], [70, 0], [0, 150], [310, 0]], np.float32)


def nearest(points, centers, k):
    distances = ((points[:, None] - centers) ** 2).sum(2)
    order = np.argsort(distances, axis=1, kind="stable")[:, : int(k)]
    return order.astype(np.int64), np.take_along_axis(distances, order, 1)


def drawn(op, *inputs):
    """What we draw: the comparison is with TensorFlow."""
    from op_runs import run

    from sgtool import graphcore

    return run(graphcore, case(op, *inputs, expect=None))[1]


def seeded(op, *inputs, **options):
    return case(op, *inputs, expect=lambda *given: drawn(op, *given), **options)


CASES = [
    *[
        case("NearestNeighbors", POINTS, CENTERS, np.int64(k), expect=nearest, rtol=1e-4, atol=1e-5)
        for k in (1, 3, 7, 99)
    ],
    case(
        "NearestNeighbors",
        POINTS,
        CENTERS[:0],
        np.int64(2),
        expect=(np.zeros((40, 0), np.int64), np.zeros((40, 0), np.float32)),
        note="no_centers",
    ),
    case(
        "NearestNeighbors",
        np.float32([[0, 0], [1, 1]]),
        np.float32([[1, 0], [0, 1], [1, 0]]),
        np.int64(3),
        expect=(np.array([[0, 1, 2], [0, 1, 2]]), np.ones((2, 3), np.float32)),
        note="ties",
    ),
    case(
        "NearestNeighbors",
        np.float32([[5]]),
        np.arange(3000, dtype=np.float32)[:, None],
        np.int64(2),
        expect=(np.array([[5, 4]]), np.float32([[0, 1]])),
        note="many_centers",
    ),
    *[
        seeded("KmeansPlusPlusInitialization", points, *(np.int64(value) for value in numbers))
        for points in (POINTS, CORNERS)
        for numbers in ((1, 0, 0), (4, 7, 0), (6, 123, 3), (5, -9, -1))
    ],
    case(
        "KmeansPlusPlusInitialization",
        CORNERS[:1],
        *[np.int64(value) for value in (1, 5, 2)],
        expect=CORNERS[:1],
        note="one",
    ),
    *[seeded("KMC2ChainInitialization", floats(n, seed=3, low=0), np.int64(n)) for n in (1, 2, 30, 500)],
    case("KMC2ChainInitialization", np.float32([0, 0, 1, 0]), np.int64(4), expect=np.int64(2), note="sure"),
]
