"""Data for the function approximator: samples of a curve, sin(3x) + x / 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data import Arrays, main

TRAIN_ROWS, TEST_ROWS = 1024, 256


def function(x: Any) -> Any:
    """The curve; put any function of one number here."""
    return np.sin(3 * x) + x / 2


def make(random: np.random.Generator, rows: int) -> Arrays:
    """`x` and `y` of shape (rows, 1), float32; x between -2 and 2."""
    x = random.uniform(-2, 2, size=(rows, 1)).astype(np.float32)
    return {"x": x, "y": function(x).astype(np.float32)}


if __name__ == "__main__":
    main(make, TRAIN_ROWS, TEST_ROWS)
