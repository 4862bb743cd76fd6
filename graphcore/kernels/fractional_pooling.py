"""Fractional pooling: windows of unequal sizes, cut at random (Graham, "Fractional max-pooling", 2014)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, UnimplementedError
from .arrays import Array, extreme, shape_text
from .philox import Philox, random_shuffle, random_uniform


def output_sizes(shape: Sequence[int], ratios: Sequence[float]) -> list[int]:
    """The sizes after pooling.

    Raises:
        InvalidArgumentError: The ratios do not fit.
        UnimplementedError: Pooling over batch and channels.
    """
    if len(ratios) != 4:
        raise InvalidArgumentError(f"pooling_ratio field must specify 4 dimensions: {list(ratios)}")
    if min(ratios) < 1:
        raise InvalidArgumentError(f"pooling_ratio cannot be smaller than 1, got: {min(ratios):g}")
    if ratios[0] != 1 or ratios[3] != 1:
        raise UnimplementedError(
            "Fractional pooling is not yet supported on the batch nor channel dimension."
        )
    if len(shape) != 4:
        raise InvalidArgumentError(f"tensor_in must be 4-dimensional: {shape_text(shape)}")
    for axis, (size, ratio) in enumerate(zip(shape, ratios, strict=True)):
        if size < ratio:
            raise InvalidArgumentError(
                f"Pooling ratio is higher than input dimension size for dimension {axis}. Input dim size: "
                f"{size} pooling ratio: {ratio:g}"
            )
    return [int(np.floor(np.float32(size) / np.float32(ratio))) for size, ratio in zip(shape, ratios)]


def cuts(generator: Philox, size: int, out: int, pseudo_random: bool) -> Array:
    """Where the windows begin along an axis, and where the last one ends: TensorFlow's numbers.

    Args:
        generator: Moves on as TensorFlow's does.
        size: Input elements.
        out: Windows.
        pseudo_random: Whether the windows are those of a line through a random point, else each is
            longer or shorter at random.
    """
    short, more = divmod(size, out)
    if not pseudo_random:
        lengths = np.full(out, short, np.int64)
        lengths[:more] += 1
        lengths = random_shuffle(generator.reserve(-(-out // 4)), lengths)
        return np.concatenate([[0], np.cumsum(lengths)])
    alpha = size / out
    largest = min((short + 2) / alpha - 1, (size + 1 - short) / alpha - (out - 1))
    point = float(random_uniform(generator.reserve(1), (), np.float64)) * largest
    inner = np.ceil(alpha * (np.arange(1, out) + point)).astype(np.int64)
    return np.concatenate([[0], inner - 1, [size]])


def max_pool(x: Array, rows: Array, columns: Array, overlapping: bool) -> Array:
    """The maxima of the windows that `rows` and `columns` (see `cuts`) cut out of x (NHWC)."""
    shape = (x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3])
    out = np.full(shape, extreme(x.dtype, -1))
    for index, part in _taps(x, rows, columns, overlapping):
        out[index] = np.maximum(out[index], part)
    return out


def avg_pool(x: Array, rows: Array, columns: Array, overlapping: bool) -> Array:
    """The means of the windows; of integers, towards 0."""
    shape = (x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3])
    out, count = np.zeros(shape, x.dtype), np.zeros((*shape[1:3], 1), x.dtype)
    for index, part in _taps(x, rows, columns, overlapping):
        out[index] += part
        count[index[1:3]] += 1
    if x.dtype.kind == "f":
        return out / count
    whole: Array = out // count
    whole += (out < 0) & (out % count != 0)  # towards 0; the smallest number has no absolute value
    return whole


def max_pool_grad(x: Array, y: Array, dy: Array, rows: Array, columns: Array, overlapping: bool) -> Array:
    """The gradient of `max_pool`: each output's goes to the first maximum of its window.

    Raises:
        InvalidArgumentError: Shapes or cuts that do not fit.
    """
    shape = (x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[-1])
    if x.ndim != 4 or y.shape != shape or dy.shape != shape:
        raise InvalidArgumentError(
            f"orig_output and out_backprop must have shape {shape_text(shape)}, but have "
            f"{shape_text(y.shape)} and {shape_text(dy.shape)}"
        )
    _check_cuts(rows, columns, x.shape)
    best = np.full(shape, extreme(x.dtype, -1))
    place = np.full(shape, -1)
    numbers = np.arange(x.size).reshape(x.shape)
    taps = zip(_taps(x, rows, columns, overlapping), _taps(numbers, rows, columns, overlapping), strict=True)
    for (index, part), (_, number) in taps:
        better = (best[index] < part) | (place[index] < 0)
        best[index] = np.where(better, part, best[index])
        place[index] = np.where(better, number, place[index])
    out = np.zeros(x.size, x.dtype)
    np.add.at(out, place.reshape(-1), dy.reshape(-1))
    return out.reshape(x.shape)


def avg_pool_grad(shape: Sequence[int], dy: Array, rows: Array, columns: Array, overlapping: bool) -> Array:
    """The gradient of `avg_pool`, whose input had `shape`: shared out evenly in each window.

    Raises:
        InvalidArgumentError: Shapes or cuts that do not fit.
    """
    if len(shape) != 4:
        raise InvalidArgumentError(
            f"original input tensor shape must be 1-dimensional and 4 elements: {shape_text(shape)}"
        )
    for size, name in zip(shape, ("Batch", "Rows", "Columns", "Depth"), strict=True):
        if size == 0:
            raise InvalidArgumentError(f"{name} dimension of input must not be 0")
    expected = (shape[0], len(rows) - 1, len(columns) - 1, shape[3])
    if dy.shape != expected:
        raise InvalidArgumentError(
            f"out_backprop must have shape {shape_text(expected)}, but has {shape_text(dy.shape)}"
        )
    _check_cuts(rows, columns, shape)
    count = np.zeros((len(rows) - 1, len(columns) - 1, 1))
    taps = list(_windows(rows, columns, shape[1], shape[2], overlapping))
    for outputs, _ in taps:
        count[outputs] += 1
    out = np.zeros(tuple(shape))
    share = dy.astype(np.float64) / count
    for outputs, inputs in taps:
        # Windows may overlap, but not in one tap of two windows of a row: still added one by one.
        np.add.at(out, (slice(None), *inputs), share[(slice(None), *outputs)])
    return out.astype(dy.dtype)


def _check_cuts(rows: Array, columns: Array, shape: Sequence[int]) -> None:
    for name, sequence in (("Row", rows), ("Column", columns)):
        if sequence.ndim != 1 or sequence.min(initial=0) < 0:
            raise InvalidArgumentError(
                f"{name} sequence tensor values must not be negative, got {sequence.tolist()}"
            )
    for sequence, size in ((rows, shape[1]), (columns, shape[2])):
        if len(sequence) < 2 or sequence[-2] >= size or (np.diff(sequence) <= 0).any():
            raise InvalidArgumentError(
                f"A pooling sequence must rise and begin its last window before {size}: {sequence.tolist()}"
            )


def _windows(
    rows: Array, columns: Array, height: int, width: int, overlapping: bool
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """For each tap: the outputs (row, column) whose window has it, and the input elements that it meets."""
    spans = []
    for sequence, size in ((rows, height), (columns, width)):
        ends = np.minimum(sequence[1:] if overlapping else sequence[1:] - 1, size - 1)
        longest = int((ends - sequence[:-1]).max()) + 1
        spans.append(
            [
                (has, sequence[:-1][has] + tap)
                for tap in range(longest)
                for has in [np.flatnonzero(sequence[:-1] + tap <= ends)]
            ]
        )
    for row_outputs, row_inputs in spans[0]:
        for column_outputs, column_inputs in spans[1]:
            yield np.ix_(row_outputs, column_outputs), np.ix_(row_inputs, column_inputs)


def _taps(x: Array, rows: Array, columns: Array, overlapping: bool) -> Iterator[tuple[Any, Array]]:
    """For each tap the index of the outputs that have it, and what they meet in x."""
    for outputs, inputs in _windows(rows, columns, x.shape[1], x.shape[2], overlapping):
        yield (slice(None), *outputs), x[(slice(None), *inputs)]
