"""Strings put together from several: n-grams, and those of segments.

Source: tensorflow/core/kernels/string_ngrams_op.cc and unsorted_segment_join_op.cc (r1.15), behaviour and
texts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import INDEX, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError, OutOfRangeError
from ..op import op
from ..shapes import Shape, merge_prefix, with_rank
from .string import bytes_of

_NO_GRAD = "strings have no derivative"


@op(
    "StringNGrams",
    "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    "separator: string",
    "ngram_widths: list(int) >= 0",
    "left_pad: string",
    "right_pad: string",
    "pad_width: int",
    "preserve_short_sequences: bool",
    Tsplits=(INDEX, int64),
    undefined_grad=_NO_GRAD,
)
def string_ngrams(
    data: Any,
    data_splits: Any,
    *,
    separator: str,
    ngram_widths: Sequence[int],
    left_pad: str,
    right_pad: str,
    pad_width: int,
    preserve_short_sequences: bool,
) -> tuple[Any, Any]:
    """The n-grams of each row of a ragged tensor, padded at both ends: all of the first width, then more."""
    tokens, splits = np.reshape(data, -1).tolist(), data_splits.reshape(-1).tolist()
    if any(width <= 0 for width in ngram_widths):
        raise InvalidArgumentError("ngram_widths must contain positive values")
    for before, split in zip([0, *splits], splits):
        if not 0 <= split <= len(tokens):
            raise InvalidArgumentError(f"Invalid split value {split}, must be in [0,{len(tokens)}]")
        if split < before:
            raise InvalidArgumentError(f"Invalid split value {split}, must be in [{before}, {len(tokens)}]")
    if not tokens or not splits:
        return data, np.zeros_like(data_splits)
    left, right = bytes_of(left_pad), bytes_of(right_pad)

    def padded(row: list[bytes], width: int) -> list[bytes]:
        """The row with as much padding as there may be: never more than a token fewer than the width."""
        count = width - 1 if pad_width < 0 else min(pad_width, width - 1)
        return [left] * count + row + [right] * count

    between = bytes_of(separator)
    found: list[bytes] = []
    ends = [0]
    for start, end in itertools.pairwise(splits):
        row = tokens[start:end]
        grams = []
        for width in ngram_widths:
            whole = padded(row, width)
            grams += [whole[at : at + width] for at in range(len(whole) - width + 1)]
        if preserve_short_sequences and row and not grams:
            if pad_width < 0:
                raise InvalidArgumentError(
                    "Pad width should be >= 0 when preserve_short_sequences is True and ngram_widths are "
                    f"not provided, got {pad_width}"
                )
            grams = [[left] * pad_width + row + [right] * pad_width]
        found += [between.join(gram) for gram in grams]
        ends.append(len(found))
    flat = np.empty(len(found), object)
    flat[:] = found
    return flat, np.array(ends, data_splits.dtype).reshape(data_splits.shape)


@string_ngrams.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 1)
    return [(None,), with_rank(node.shape(1), 1)]


@op(
    "UnsortedSegmentJoin",
    "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string",
    "separator: string = ''",
    Tindices=INDEX,
    Tnumsegments=(INDEX, int32),
    undefined_grad=_NO_GRAD,
)
def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, *, separator: str) -> Any:
    """The strings of each segment put together."""
    count = int(np.reshape(num_segments, -1)[0])
    if not segment_ids.ndim:
        raise InvalidArgumentError("Segment_id cannot have rank 0")
    if segment_ids.ndim > inputs.ndim:
        raise OutOfRangeError(
            f"Invalid segment_id rank {segment_ids.ndim} for input with {inputs.ndim} dimension(s)"
        )
    for axis, size in enumerate(segment_ids.shape):
        if size != inputs.shape[axis]:
            raise InvalidArgumentError(
                f"Segment dimension is {size} while input dimension is {inputs.shape[axis]} in rank {axis}"
            )
    if segment_ids.size and (segment_ids.min() < 0 or segment_ids.max() >= count):
        raise InvalidArgumentError(
            "segment_ids are not allowed to exceed num_segments or to have negative values."
        )
    rest = inputs.shape[segment_ids.ndim :]
    rows = inputs.reshape(segment_ids.size, math.prod(rest)).tolist()
    parts: list[list[list[bytes]]] = [[[] for _ in range(math.prod(rest))] for _ in range(count)]
    for segment, row in zip(segment_ids.reshape(-1).tolist(), rows):
        for column, item in enumerate(row):
            parts[segment][column].append(item)
    result = np.empty((count, math.prod(rest)), object)
    for segment, columns in enumerate(parts):
        for column, items in enumerate(columns):
            result[segment, column] = bytes_of(separator).join(items)
    return result.reshape(count, *rest)


@unsorted_segment_join.shape
def _(node: Any) -> Shape:
    data, ids, count = node.shape(0), node.shape(1), node.value(2)
    if count is not None and count < 0:
        raise InvalidValueError(
            f"Dimension size, given by scalar input 2, must be non-negative but is {count}"
        )
    data, ids = merge_prefix(data, ids)
    if data is None or ids is None:
        return None
    return (None if count is None else int(count), *data[len(ids) :])
