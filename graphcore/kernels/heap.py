"""The order in which TensorFlow's TopN leaves elements when they need not be sorted.

TopN keeps the largest k in a heap whose top is the smallest of them (tensorflow/core/lib/gtl/top_n.h).
What is left in the heap's array at the end is the result, so that the order depends on how the C++ library
sifts, down to a leaf along the better children, then up again, and on how an element is replaced: the top is
popped and the new one pushed, as TensorFlow 2 does (r1.15's sources do both in one pop).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import Array


def unsorted_largest(row: Array, count: int) -> Array:
    """Where the `count` largest of a vector are, in TopN's order.

    Args:
        row: A vector of a real dtype, longer than `count`; of equal numbers the first count as larger.
        count: At least 1.

    Returns:
        int64, (count,).
    """
    values: list[Any] = row.tolist()

    def is_before(a: int, b: int) -> bool:
        """Whether element a is larger; where neither is (equal, or NaN), the position decides."""
        if values[b] < values[a]:
            return True
        return False if values[b] > values[a] else a < b

    heap = list(range(count + 1))
    for parent in range((count - 1) // 2, -1, -1):
        _sift(heap, parent, count + 1, heap[parent], is_before)
    _pop(heap, is_before)
    heap.pop()
    rest = np.arange(count + 1, len(row))
    if not np.any(row != row):  # most elements are not even larger than the first heap's smallest
        rest = rest[row[count + 1 :] > row[heap[0]]]
    for place in rest.tolist():
        if is_before(place, heap[0]):
            _pop(heap, is_before)
            _rise(heap, count - 1, 0, place, is_before)
    return np.array(heap, np.int64)


def _pop(heap: list[int], is_before: Callable[[int, int], bool]) -> None:
    """The top goes to the end, and the last element into the heap of the others."""
    last = heap[-1]
    heap[-1] = heap[0]
    _sift(heap, 0, len(heap) - 1, last, is_before)


def _sift(heap: list[int], hole: int, size: int, value: int, is_before: Callable[[int, int], bool]) -> None:
    top, child = hole, hole
    while child < (size - 1) // 2:
        child = 2 * child + 2
        if is_before(heap[child], heap[child - 1]):
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    _rise(heap, hole, top, value, is_before)


def _rise(heap: list[int], hole: int, top: int, value: int, is_before: Callable[[int, int], bool]) -> None:
    """`value` into the hole, and up from there to where its parent is no larger, at most to `top`."""
    parent = (hole - 1) // 2
    while hole > top and is_before(heap[parent], value):
        heap[hole] = heap[parent]
        hole, parent = parent, (parent - 1) // 2
    heap[hole] = value
