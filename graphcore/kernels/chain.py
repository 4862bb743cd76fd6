"""Element-wise work on the blocks of a result, while they are in the cache.

A chain begins with what makes a block (the rows of a convolution, or a first element-wise kernel) and goes on
with kernels that change it in place: biases, batch normalization, activations, sums. Each is called with
`out=` the block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import parallel
from .arrays import Array
from .correlation import Finish

BLOCK = 1 << 16
"""Elements of a block: a few of them fit into the second-level cache."""

Kernel = Callable[..., Any]


def finisher(links: Sequence[tuple[Kernel, int, Sequence[Array]]], columns: int) -> Finish:
    """What applies element-wise kernels to a part of a matrix, one after another.

    Args:
        links: For each its kernel, which of its arguments is the part, and the others: of the shape of the
            whole result, or of one row of it, or scalars.
        columns: Length of a row.
    """
    steps = [(kernel, at, [_indexed(value, columns) for value in others]) for kernel, at, others in links]

    def finish(block: Array, rows: slice, across: slice) -> None:
        height = max(1, BLOCK // max(1, block.shape[1]))
        for start in range(0, block.shape[0], height):
            part = block[start : start + height]
            here = slice(rows_start(rows) + start, rows_start(rows) + start + part.shape[0])
            for kernel, at, others in steps:
                values = [value(here, across) for value in others]
                values.insert(at, part)
                kernel(*values, out=part)

    return finish


def rows_start(rows: slice) -> int:
    """Where a slice begins."""
    return rows.start or 0


def _indexed(value: Array, columns: int) -> Callable[[slice, slice], Array]:
    """What gives the part of a value that belongs to rows and columns of the matrix."""
    if value.size == 1:
        scalar = value.reshape(())
        return lambda rows, across: scalar
    if value.size == columns and math.prod(value.shape[:-1]) == 1:
        row = value.reshape(-1)
        return lambda rows, across: row[across]
    matrix = value.reshape(-1, columns)
    return lambda rows, across: matrix[rows, across]


def run(
    kernel: Kernel,
    inputs: Sequence[Array],
    links: Sequence[tuple[Kernel, int, Sequence[Array]]],
    out: Array,
) -> Array:
    """An element-wise kernel and those that follow it, block by block on several threads.

    Args:
        kernel: The first: all inputs have the result's shape, or that of its last axis, or are scalars.
        inputs: Its inputs.
        links: As `finisher` takes them.
        out: The result, C-contiguous; may be one of `inputs`.
    """
    columns = out.shape[-1] if out.ndim else 1
    matrix = out.reshape(-1, columns)
    first = [_indexed(value, columns) for value in inputs]
    finish = finisher(links, columns)
    every = slice(None)
    height = max(1, BLOCK // max(1, columns))

    def block(rows: slice) -> None:
        for start in range(rows.start, rows.stop, height):
            part = slice(start, min(rows.stop, start + height))
            target = matrix[part]
            kernel(*[value(part, every) for value in first], out=target)
            finish(target, part, every)

    parallel.for_each(parallel.ranges(matrix.shape[0], 4 * parallel.threads(), 1), block)
    return out


def normalize(x: Array, factor: Array, shift: Array, out: Array) -> Array:
    """Batch normalization by a factor and a shift for each channel."""
    np.multiply(x, factor, out=out)
    return np.add(out, shift, out=out)
