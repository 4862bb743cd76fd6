"""Binomial numbers, TensorFlow's number for number where it computes them in one piece.

Each number begins at a counter of Philox; uniform numbers come in pairs, of which the second is taken
first. Sources: Hormann, "The generation of binomial random variates", 1993; Kachitvichyanukul and
Schmeiser, "Binomial random variate generation", 1988; tensorflow/core/kernels/random_binomial_op.cc (r1.15)
for the order in which numbers are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from .arrays import Array, shape_text
from .philox import Philox, sizes_of, uniforms

_DOUBLE = np.dtype(np.float64)
_DESIRED_BATCH = 100
_TAILS = np.array(
    [
        *(0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509),
        *(0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720),
        *(0.00925546218271273, 0.00833056343336287),
    ]
)


def random_binomial(
    generator: Philox, shape: Sequence[int] | Array, counts: Array, probs: Array, dtype: Any
) -> Array:
    """How many of `counts` trials succeed, each with probability `probs`.

    TensorFlow cuts many batches into pieces, one a thread, where the second and later ones differ.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the result; the first axis is that of batches.
        counts: A scalar, or one for each batch; so is `probs`.
        probs: Of `counts`' dtype.
        dtype: Of the result.

    Raises:
        InvalidArgumentError: Shapes that are not possible.
    """
    sizes, total = sizes_of(shape)
    batches = sizes[0] if sizes else 1
    for name, value in (("counts", counts), ("probs", probs)):
        if value.ndim > 1:
            raise InvalidArgumentError(
                f"Input {name} should be a scalar or vector, got shape: {shape_text(value.shape)}"
            )
    each = total // batches if batches else 0
    if counts.size == probs.size == 1:
        batches, each = -(-total // _DESIRED_BATCH), _DESIRED_BATCH
    else:
        for name, value in (("counts", counts), ("probs", probs)):
            if value.ndim and value.size not in (1, batches):
                raise InvalidArgumentError(
                    f"Input {name} should have length 1 or shape[0], got shape: {shape_text(value.shape)}"
                )
    source = generator.reserve(batches * 2 * 100 * (each + 3) // 4)
    pairs = [np.broadcast_to(value.reshape(-1), batches) for value in (counts, probs)]
    pieces = [
        _batch(source, min(each, total - batch * each), pairs[0][batch], pairs[1][batch])
        for batch in range(batches)
    ]
    with np.errstate(invalid="ignore"):
        return np.concatenate([np.empty(0), *pieces]).astype(dtype).reshape(sizes)


def _batch(source: Philox, size: int, count: Any, prob: Any) -> Array:
    """Numbers of one distribution; the generator moves on by what they take."""
    whole = float(count)
    if whole <= 0 or prob <= 0:
        return np.zeros(size)
    if prob >= 1:
        return np.full(size, whole)
    if np.isnan(prob):
        return np.full(size, np.nan)
    mirrored = not prob <= type(prob)(0.5)
    chance = type(prob)(1) - prob if mirrored else prob
    function = _rejected if count * chance >= type(count)(10) else _inverted
    values = function(source, size, whole, float(chance))
    return whole - values if mirrored else values


def _uniform_pairs(source: Philox, counters: int) -> Array:
    """Pairs of uniform numbers, in the order of their use, from the present position, which stays."""
    return uniforms(source.words(counters), _DOUBLE).reshape(-1, 2)[:, ::-1]


def _inverted(source: Philox, size: int, count: float, prob: float) -> Array:
    """How many geometric numbers fit into the count."""
    result = np.empty(size)
    scale = math.log1p(-prob)
    stream = Philox(source.key, source.counter)
    made, at, block = np.empty(0), 0, max(64, size)
    for place in range(size):
        total, geometric = 0.0, 0
        at += at % 2  # a number begins with a pair of its own
        while True:
            if at >= len(made):
                with np.errstate(divide="ignore"):
                    more = np.ceil(np.log(_uniform_pairs(stream, block).reshape(-1)) / scale)
                stream.skip(block)
                made, block = np.concatenate([made, more]), 2 * block
            total += made[at]
            at += 1
            if total > count:
                break
            geometric += 1
        result[place] = geometric
    source.skip(-(-at // 2))
    return result


def _tail(k: Any) -> Any:
    """What Stirling's formula lacks of log(k!)."""
    squared = (k + 1) ** 2
    formula = (1 / 12 - (1 / 360 + 1 / 1260 / squared) / squared) / (k + 1)
    return np.where(k <= 9, _TAILS[np.clip(k, 0, 9).astype(np.int64)], formula)


def _rejected(source: Philox, size: int, count: float, prob: float) -> Array:
    """By transformed rejection, a pair of uniform numbers for each trial."""
    deviation = math.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    center, limit, ratio = count * prob + 0.5, 0.92 - 4.2 / b, prob / (1 - prob)
    alpha, m = (2.83 + 5.1 / b) * deviation, math.floor((count + 1) * prob)
    found: list[Array] = []
    total = 0
    while total < size:
        trials = 2 * (size - total) + 8
        pairs = _uniform_pairs(source, trials)
        u, v = pairs[:, 0] - 0.5, pairs[:, 1]
        shifted = 0.5 - np.abs(u)
        with np.errstate(all="ignore"):
            k = np.floor((2 * a / shifted + b) * u + center)
            ratio_log = np.log(v * alpha / (a / (shifted * shifted) + b))
            bound = (
                (m + 0.5) * np.log((m + 1) / (ratio * (count - m + 1)))
                + (count + 1) * np.log((count - m + 1) / (count - k + 1))
                + (k + 0.5) * np.log(ratio * (count - k + 1) / (k + 1))
                + _tail(np.float64(m))
                + _tail(np.float64(count - m))
                - _tail(k)
                - _tail(count - k)
            )
        possible = (k >= 0) & (k <= count)
        accepted = ((shifted >= 0.07) & (v <= limit)) | (possible & (ratio_log <= bound))
        where = np.flatnonzero(accepted)[: size - total]
        source.skip(int(where[-1]) + 1 if total + len(where) == size else trials)
        found.append(k[where])
        total += len(where)
    return np.concatenate([np.empty(0), *found])
