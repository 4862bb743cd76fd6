"""Sums, products and extrema over segments of rows.

All are one pattern: rows of equal id become one row. The ids are sorted where they are not, and a
ufunc's `reduceat` does the rest. float16 and bfloat16 are accumulated in float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, extreme, place_text, shape_text, widened


def unsorted_segment_sum(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """TensorFlow's UnsortedSegmentSum; see `unsorted_segment`. An empty segment is 0."""
    return unsorted_segment(np.add, 0, data, segment_ids, num_segments)


def unsorted_segment_prod(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """TensorFlow's UnsortedSegmentProd; see `unsorted_segment`. An empty segment is 1."""
    return unsorted_segment(np.multiply, 1, data, segment_ids, num_segments)


def unsorted_segment_max(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """TensorFlow's UnsortedSegmentMax; an empty segment is the lowest finite number of the dtype."""
    return unsorted_segment(np.maximum, extreme(data.dtype, -1), data, segment_ids, num_segments)


def unsorted_segment_min(data: Array, segment_ids: Array, num_segments: int) -> Array:
    """TensorFlow's UnsortedSegmentMin; an empty segment is the highest finite number of the dtype."""
    return unsorted_segment(np.minimum, extreme(data.dtype, 1), data, segment_ids, num_segments)


def unsorted_segment(combine: Any, empty: Any, data: Array, segment_ids: Array, num_segments: int) -> Array:
    """Combines the rows of `data` that have the same id.

    Args:
        combine: A ufunc with `reduceat`.
        empty: The value of a segment without rows.
        data: Its shape begins with that of `segment_ids`.
        segment_ids: Integers of any shape; rows with a negative id are dropped.
        num_segments: Rows of the result.

    Returns:
        An array of shape (num_segments, *rest of data's shape) and data's dtype.

    Raises:
        InvalidArgumentError: An id of num_segments or more, or shapes that do not fit.
    """
    count, ids = int(num_segments), segment_ids
    if data.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(
            f"data.shape = {shape_text(data.shape)} does not start with "
            f"segment_ids.shape = {shape_text(ids.shape)}",
            data_shape=list(data.shape),
            segment_ids_shape=list(ids.shape),
        )
    if count < 0:
        raise InvalidArgumentError(f"Input num_segments == {count} must not be negative.", num_segments=count)
    rest = data.shape[ids.ndim :]
    flat, rows = ids.reshape(-1), data.reshape(ids.size, math.prod(rest))
    if flat.size:
        if flat.max() >= count:
            place = np.unravel_index(int(np.argmax(flat >= count)), ids.shape)
            raise InvalidArgumentError(
                f"segment_ids{place_text(place)} = {ids[place]} is out of range [0, {count})",
                segment_id=int(ids[place]),
                num_segments=count,
            )
        if flat.min() < 0:
            kept = flat >= 0
            flat, rows = flat[kept], rows[kept]
    return _combine(combine, empty, rows, flat, count).reshape(count, *rest)


def segment_sum(data: Array, segment_ids: Array) -> Array:
    """TensorFlow's SegmentSum; see `segment`."""
    return segment(np.add, 0, data, segment_ids)


def segment_prod(data: Array, segment_ids: Array) -> Array:
    """TensorFlow's SegmentProd; see `segment`. A segment without rows is 1."""
    return segment(np.multiply, 1, data, segment_ids)


def segment_max(data: Array, segment_ids: Array) -> Array:
    """TensorFlow's SegmentMax; see `segment`. A segment without rows is 0."""
    return segment(np.maximum, 0, data, segment_ids)


def segment_min(data: Array, segment_ids: Array) -> Array:
    """TensorFlow's SegmentMin; see `segment`. A segment without rows is 0."""
    return segment(np.minimum, 0, data, segment_ids)


def segment_mean(data: Array, segment_ids: Array) -> Array:
    """TensorFlow's SegmentMean; see `segment`. A segment without rows is 0; integers are truncated."""
    return _averaged(segment_sum(widened(data), segment_ids), segment_ids, "mean").astype(
        data.dtype, copy=False
    )


def segment(combine: Any, empty: Any, data: Array, segment_ids: Array) -> Array:
    """Combines runs of rows of `data` with equal ids.

    Args:
        combine: A ufunc with `reduceat`.
        empty: The value of a segment without rows.
        data: At least 1-D.
        segment_ids: One id a row, not decreasing, the first not negative.

    Returns:
        An array with as many rows as the last id plus one.

    Raises:
        InvalidArgumentError: Ids that are not sorted or negative, or shapes that do not fit.
    """
    if data.ndim == 0:
        raise InvalidArgumentError("input must be at least rank 1")
    if segment_ids.ndim != 1:
        raise InvalidArgumentError("segment_ids should be a vector.", shape=list(segment_ids.shape))
    if len(segment_ids) != len(data):
        raise InvalidArgumentError(
            "segment_ids should be the same size as dimension 0 of input.",
            segment_ids=len(segment_ids),
            rows=len(data),
        )
    count = _sorted_segments(segment_ids)
    rows = data.reshape(len(data), math.prod(data.shape[1:]))
    return _combine(combine, empty, rows, segment_ids, count).reshape(count, *data.shape[1:])


def sparse_segment(
    kind: str, data: Array, indices: Array, segment_ids: Array, num_segments: int | None = None
) -> Array:
    """TensorFlow's SparseSegmentSum, -Mean and -SqrtN (and those WithNumSegments).

    Args:
        kind: "sum", "mean" or "sqrt_n" (the sum divided by the root of the number of rows).
        data: Rows to choose from.
        indices: Which row stands at each place, 1-D.
        segment_ids: The segment of each place, not decreasing.
        num_segments: Rows of the result, if not the last id plus one.

    Returns:
        An array of data's dtype; a segment without rows is 0.

    Raises:
        InvalidArgumentError: Ids or indices out of range or unsorted, or sizes that do not fit.
    """
    if indices.shape != segment_ids.shape or indices.ndim != 1:
        raise InvalidArgumentError(
            "segment_ids and indices should have same size.",
            indices_shape=list(indices.shape),
            segment_ids_shape=list(segment_ids.shape),
        )
    count = _sorted_segments(segment_ids)
    if num_segments is not None:
        if num_segments < 0:
            raise InvalidArgumentError("segment ids must be >= 0", num_segments=int(num_segments))
        if count > num_segments:
            raise InvalidArgumentError(
                f"segment ids must be < num_segments, but {count - 1} is not below {num_segments}",
                num_segments=int(num_segments),
            )
        count = int(num_segments)
    outside = (indices < 0) | (indices >= len(data))
    if outside.any():
        place = int(np.argmax(outside))
        raise InvalidArgumentError(
            f"Bad: indices[{place}] == {indices[place]} out of range [0, {len(data)})",
            index=int(indices[place]),
            rows=len(data),
        )
    rows = widened(data.reshape(len(data), math.prod(data.shape[1:])))[indices]
    total = _combine(np.add, 0, rows, segment_ids, count)
    if kind != "sum":
        total = _averaged(total, segment_ids, kind)
    return total.reshape(count, *data.shape[1:]).astype(data.dtype, copy=False)


def sparse_segment_grad(
    kind: str, grad: Array, indices: Array, segment_ids: Array, output_dim0: int
) -> Array:
    """TensorFlow's SparseSegmentSumGrad, -MeanGrad and -SqrtNGrad.

    Args:
        kind: As in `sparse_segment`.
        grad: Gradient with respect to its result.
        indices: As there.
        segment_ids: As there.
        output_dim0: Rows of `data` there.

    Returns:
        The gradient with respect to `data`.

    Raises:
        InvalidArgumentError: Ids or indices out of range.
    """
    if indices.shape != segment_ids.shape:
        raise InvalidArgumentError("segment_ids and indices should have same size.")
    if output_dim0 < 0:
        raise InvalidArgumentError(f"Expected a non-negative size, got {int(output_dim0)}")
    if not output_dim0 or not len(segment_ids):
        return np.zeros((int(output_dim0), *grad.shape[1:]), grad.dtype)
    if segment_ids[-1] >= len(grad):
        raise InvalidArgumentError("Invalid number of segments", limit=len(grad))
    for name, values, limit in (("Segment id", segment_ids, len(grad)), ("Index", indices, int(output_dim0))):
        outside = (values < 0) | (values >= limit)
        if outside.any():
            raise InvalidArgumentError(f"{name} {values[outside][0]} out of range [0, {limit}).", limit=limit)
    rows = widened(grad.reshape(len(grad), math.prod(grad.shape[1:])))
    if kind != "sum":
        rows = _averaged(rows, segment_ids, kind)
    out = _combine(np.add, 0, rows[segment_ids], indices, int(output_dim0))
    return out.reshape(int(output_dim0), *grad.shape[1:]).astype(grad.dtype, copy=False)


def _combine(combine: Any, empty: Any, rows: Array, ids: Array, count: int) -> Array:
    """The (count, columns) array of combined rows (2-D); ids are within range, in any order."""
    dtype = rows.dtype
    if combine is np.add and dtype == np.bool_:
        combine = np.logical_or
    out = np.full((count, rows.shape[1]), empty, dtype)
    if ids.size == 0 or rows.shape[1] == 0:
        return out
    steps = np.diff(ids)
    if steps.size and steps.min() < 0:
        order = np.argsort(ids, kind="stable")
        ids, rows = ids[order], rows[order]
        steps = np.diff(ids)
    starts = np.concatenate(([0], np.flatnonzero(steps) + 1))
    wide = widened(rows)
    # Integers keep their dtype: NumPy would widen the small ones.
    out[ids[starts]] = combine.reduceat(wide, starts, axis=0, dtype=wide.dtype)
    return out


def _averaged(rows: Array, ids: Array, kind: str) -> Array:
    """Rows divided by the number of ids of each, or its root."""
    counts = np.maximum(np.bincount(ids, minlength=len(rows)), 1)
    divisor = (np.sqrt(counts) if kind == "sqrt_n" else counts).reshape(-1, *[1] * (rows.ndim - 1))
    if rows.dtype.kind in "iu":
        return np.asarray(np.trunc(rows / divisor)).astype(rows.dtype)
    return np.asarray(rows / divisor.astype(rows.real.dtype))


def _sorted_segments(ids: Array) -> int:
    """The number of segments of sorted ids, after checking that they are sorted."""
    if ids.size == 0:
        return 0
    count = int(ids[-1]) + 1
    if count <= 0:
        raise InvalidArgumentError("segment ids must be >= 0", segment_id=count - 1)
    if (np.diff(ids) < 0).any():
        place = int(np.argmax(np.diff(ids) < 0)) + 1
        raise InvalidArgumentError(
            f"segment ids are not increasing: {ids[place - 1]} is followed by {ids[place]} at {place}.",
            position=place,
        )
    if ids[0] < 0:
        raise InvalidArgumentError(
            f"Segment id {ids[0]} out of range [0, {count}), possibly because 'segment_ids' input is not "
            "sorted.",
            segment_id=int(ids[0]),
        )
    return count
