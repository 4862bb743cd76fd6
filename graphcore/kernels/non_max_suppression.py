"""Non-maximum suppression: of boxes that overlap too much, those with the highest scores stay.

Boxes are (y1, x1, y2, x2), corners in either order. Equal scores are taken in the order of the boxes.
What overlaps exactly as much as the threshold stays, and with a sigma no box is dropped for its overlap
alone: so do all versions of TensorFlow but 1.15 to 2.1.

Source: tensorflow/core/kernels/non_max_suppression_op.cc. Soft suppression: Bodla et al., "Soft-NMS",
2017, https://arxiv.org/abs/1704.04503.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text

_BLOCK = 256  # boxes that are looked at at once

# How alike boxes are with boxes that stay: arrays of numbers, which are broadcast.
Similarity = Callable[[Any, Any], Array]


def _lower(a: Array, b: Array) -> Array:
    """As C++'s `std::min`: the first where one is NaN."""
    return np.where(b < a, b, a)


def _higher(a: Array, b: Array) -> Array:
    """As C++'s `std::max`: the first where one is NaN."""
    return np.where(a < b, b, a)


def iou(boxes: Array) -> Similarity:
    """The function that gives intersections over unions, in the boxes' dtype."""
    # NumPy's own functions are faster, and the same but for NaN.
    plain = bool(np.isfinite(boxes).all())
    lower, higher = (np.minimum, np.maximum) if plain else (_lower, _higher)
    low = np.ascontiguousarray(lower(boxes[:, :2], boxes[:, 2:]).T)
    high = np.ascontiguousarray(higher(boxes[:, :2], boxes[:, 2:]).T)
    zero = boxes.dtype.type(0)
    with np.errstate(all="ignore"):
        areas = (high[0] - low[0]) * (high[1] - low[1])

    def similarity(boxes: Any, kept: Any) -> Array:
        with np.errstate(all="ignore"):
            sides = [
                higher(lower(h[boxes], h[kept]) - higher(lo[boxes], lo[kept]), zero)
                for h, lo in zip(high, low)
            ]
            common = sides[0] * sides[1]
            mine, theirs = areas[boxes], areas[kept]
            found = common / (mine + theirs - common)
        result: Array = np.where((mine <= zero) | (theirs <= zero), zero, found)
        return result

    return similarity


def overlaps(matrix: Array) -> Similarity:
    """The function that looks similarities up in a square matrix."""
    return lambda boxes, kept: np.asarray(matrix[boxes, kept])


def suppress(
    scores: Array,
    similarity: Similarity,
    max_output_size: int,
    threshold: np.generic,
    score_threshold: np.generic,
    undefined_counts: bool = True,
) -> Array:
    """The boxes that stay, by falling score.

    Args:
        scores: (boxes,), float16 or float32.
        similarity: See `iou` and `overlaps`.
        max_output_size: At most so many.
        threshold: Boxes that are more similar than this to one that stays go.
        score_threshold: Boxes must have a higher score than this.
        undefined_counts: Whether a similarity that is NaN makes a score 0; else it counts for nothing.

    Returns:
        Their numbers, int32.
    """
    order = np.argsort(-scores, kind="stable")
    waiting = order[scores[order] > score_threshold]
    selected = np.empty(max(min(max_output_size, len(waiting)), 0), np.int64)
    count = 0
    # Boxes are looked at in blocks, first against those that stay already, then against each other:
    # often few of many have to be looked at.
    for begin in range(0, len(waiting), _BLOCK):
        if count == len(selected):
            break
        block = waiting[begin : begin + _BLOCK]
        before = similarity(block[:, None], selected[:count])
        block = block[~(before > threshold).any(1)]
        among = similarity(block[:, None], block)
        if undefined_counts and any(np.isnan(part).any() for part in (before, among, threshold)):
            # Then 0 may still be above the threshold.
            return suppress_softly(
                scores, similarity, max_output_size, score_threshold, scores.dtype.type(0), threshold
            )[0]
        far, stays = ~(among > threshold), np.ones(len(block), bool)
        for place, box in enumerate(block.tolist()):
            if stays[place] and count < len(selected):
                selected[count] = box
                count += 1
                stays &= far[:, place]
    return selected[:count].astype(np.int32)


def suppress_softly(
    scores: Array,
    similarity: Similarity,
    max_output_size: int,
    score_threshold: np.generic,
    sigma: np.generic,
    threshold: np.generic | None = None,
) -> tuple[Array, Array]:
    """As `suppress`, but scores fall with the similarity instead of boxes going.

    Args:
        scores: (boxes,), float16 or float32.
        similarity: See `iou`.
        max_output_size: At most so many.
        score_threshold: Boxes go once their score has fallen to this.
        sigma: Scores fall by exp(-similarity ** 2 / (2 * sigma)); 0: they do not.
        threshold: Boxes that are more similar than this to one that stays go; None: none does.

    Returns:
        The boxes' numbers, int32, and the scores to which they have fallen.
    """
    dtype = scores.dtype.type
    scale = dtype(dtype(-0.5) / sigma) if float(sigma) > 0 else dtype(0)
    heap = [
        (-float(score), index, 0) for index, score in enumerate(scores.tolist()) if score > score_threshold
    ]
    heapq.heapify(heap)
    selected: list[int] = []
    kept: list[float] = []
    while len(selected) < max_output_size and heap:
        negative, index, begin = heapq.heappop(heap)
        score = original = dtype(-negative)
        # Those selected since this box was last looked at.
        alike = similarity(index, np.array(selected[begin:][::-1], np.int64))
        with np.errstate(all="ignore"):
            weights = np.exp((scale * alike * alike).astype(np.float32)).astype(scores.dtype)
        if threshold is not None:
            weights = np.where(alike <= threshold, weights, dtype(0))
        dropped = False
        for weight, likeness in zip(weights, alike):
            with np.errstate(all="ignore"):
                score = dtype(score * weight)
            dropped = threshold is not None and bool(likeness > threshold)
            if dropped or score <= score_threshold:
                break
        if dropped:
            continue
        if score == original:
            selected.append(index)
            kept.append(float(score))
        if score != original and score > score_threshold:
            heapq.heappush(heap, (-float(score), index, len(selected)))
    return np.array(selected, np.int32), np.array(kept, scores.dtype)


def combined_non_max_suppression(
    boxes: Array,
    scores: Array,
    max_per_class: int,
    max_total: int,
    threshold: np.generic,
    score_threshold: np.generic,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[Array, Array, Array, Array]:
    """TensorFlow's CombinedNonMaxSuppression: each class by itself, then the best of all classes.

    Args:
        boxes: float32 (batch, boxes, 1 or classes, 4).
        scores: float32 (batch, boxes, classes).
        max_per_class: At most so many boxes of a class.
        max_total: At most so many of an image.
        threshold: Of the intersection over union.
        score_threshold: Boxes must have a higher score than this.
        pad_per_class: Whether the result has no more rows than all classes can fill.
        clip_boxes: Whether coordinates are brought into [0, 1].

    Returns:
        Boxes (batch, rows, 4), scores and classes (batch, rows), all float32, padded with zeros, and
        the number of valid rows of each image (int32).
    """
    batch, count, classes = scores.shape
    rows = min(max_total, max_per_class * classes) if pad_per_class and batch else max_total
    out_boxes = np.zeros((batch, rows, 4), np.float32)
    out_scores = np.zeros((batch, rows), np.float32)
    out_classes = np.zeros((batch, rows), np.float32)
    valid = np.zeros(batch, np.int32)
    for image in range(batch):
        found: list[tuple[Array, Array, Array]] = []
        for number in range(classes):
            mine = boxes[image, :, number if boxes.shape[2] > 1 else 0]
            marks = scores[image, :, number]
            limit = min(max_per_class, count)
            kept = suppress(marks, iou(mine), limit, threshold, score_threshold, undefined_counts=False)
            found.append((mine[kept], marks[kept], np.full(len(kept), number, np.float32)))
        if not found:
            continue
        coordinates, marks, numbers = (np.concatenate(parts) for parts in zip(*found))
        best = np.argsort(-marks, kind="stable")[:rows]
        valid[image] = len(best)
        chosen = coordinates[best]
        out_boxes[image, : len(best)] = np.clip(chosen, 0, 1) if clip_boxes else chosen
        out_scores[image, : len(best)] = marks[best]
        out_classes[image, : len(best)] = numbers[best]
    return out_boxes, out_scores, out_classes, valid


def check_boxes(boxes: Array, scores: Array) -> None:
    """Checks that there is a score for each box.

    Raises:
        InvalidArgumentError: The shapes do not fit, with TensorFlow's text.
    """
    if boxes.ndim != 2:
        raise InvalidArgumentError(f"boxes must be 2-D{shape_text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise InvalidArgumentError(f"boxes must have 4 columns, but are {shape_text(boxes.shape)}")
    check_scores(scores, len(boxes))


def check_scores(scores: Array, count: int) -> None:
    """Checks that there are `count` scores.

    Raises:
        InvalidArgumentError: There are not, with TensorFlow's text.
    """
    if scores.ndim != 1:
        raise InvalidArgumentError(f"scores must be 1-D{shape_text(scores.shape)}")
    if len(scores) != count:
        raise InvalidArgumentError(f"scores has incompatible shape: {len(scores)} for {count} boxes")
