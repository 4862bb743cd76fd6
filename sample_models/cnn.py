"""Data for the image classifier: digits of a 5x7 dot font, moved, scaled in strength, with noise."""

from __future__ import annotations

import numpy as np

from .data import Arrays, main

TRAIN_ROWS, TEST_ROWS = 4000, 1000
SIZE = 16
# Each digit is seven rows of five dots.
_FONT = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00010 00100 01000 11111",
    "11111 00010 00100 00010 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)
GLYPHS = np.array([[[int(dot) for dot in row] for row in digit.split()] for digit in _FONT], np.float32)


def make(random: np.random.Generator, rows: int) -> Arrays:
    """`image` of shape (rows, 16, 16, 1), float32, and `label` of shape (rows,), int64."""
    label = random.integers(0, len(GLYPHS), rows)
    image = np.zeros((rows, SIZE, SIZE, 1), np.float32)
    # A digit is 7 x 5 dots or, stretched, 14 x 10.
    for row, digit in enumerate(label):
        factor = int(random.integers(1, 3))
        glyph = np.kron(GLYPHS[digit], np.ones((factor, factor), np.float32))
        top = int(random.integers(0, SIZE - glyph.shape[0] + 1))
        left = int(random.integers(0, SIZE - glyph.shape[1] + 1))
        image[row, top : top + glyph.shape[0], left : left + glyph.shape[1], 0] = glyph * random.uniform(
            0.6, 1.0
        )
    image += random.normal(scale=0.15, size=image.shape).astype(np.float32)
    return {"image": image, "label": label.astype(np.int64)}


if __name__ == "__main__":
    main(make, TRAIN_ROWS, TEST_ROWS)
