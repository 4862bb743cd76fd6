"""Data for the classifier: three spirals in the plane, one a class."""

from __future__ import annotations

import numpy as np

from .data import Arrays, main

TRAIN_ROWS, TEST_ROWS = 1500, 300
CLASSES = 3


def make(random: np.random.Generator, rows: int) -> Arrays:
    """`x` of shape (rows, 2), float32, and `label` of shape (rows,), int64."""
    label = random.integers(0, CLASSES, rows)
    radius = random.uniform(0.1, 1.0, rows)
    angle = label * (2 * np.pi / CLASSES) + radius * 4 + random.normal(scale=0.1, size=rows)
    x = np.stack([radius * np.sin(angle), radius * np.cos(angle)], axis=1).astype(np.float32)
    return {"x": x, "label": label.astype(np.int64)}


if __name__ == "__main__":
    main(make, TRAIN_ROWS, TEST_ROWS)
