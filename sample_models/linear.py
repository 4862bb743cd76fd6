"""Data for linear regression: y = x . w + b with a little noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Arrays, main

TRAIN_ROWS, TEST_ROWS = 512, 128
WEIGHTS = np.array([[2.0], [-3.0]], np.float32)
BIAS = 0.5


def make(random: np.random.Generator, rows: int) -> Arrays:
    """`x` of shape (rows, 2) and `y` of shape (rows, 1), float32."""
    x = random.normal(size=(rows, 2)).astype(np.float32)
    noise: Any = random.normal(scale=0.01, size=(rows, 1))
    return {"x": x, "y": (x @ WEIGHTS + BIAS + noise).astype(np.float32)}


if __name__ == "__main__":
    main(make, TRAIN_ROWS, TEST_ROWS)
