"""Numbers that some proposals are rejected for, TensorFlow's number for number.

Of gamma and Poisson numbers each sample has a stretch of Philox of its own: it begins 256 counters behind
the one before and takes as many numbers as its rejections need. Uniform numbers come in pairs, of which
the second is taken first, and so do normal ones.
Sources: Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; Hormann, "The
transformed rejection method for generating Poisson random variables", 1993;
tensorflow/core/kernels/random_op.cc and random_poisson_op.cc (r1.15) for the order in which numbers are
drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text
from .philox import RESERVED, Philox, normals, sizes_of, uniforms
from .special import lgamma

_DOUBLE = np.dtype(np.float64)


def random_gamma(generator: Philox, shape: Sequence[int] | Array, alpha: Array) -> Array:
    """RandomGamma: for each alpha, numbers with density x^(alpha - 1) exp(-x) / gamma(alpha).

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the samples for each alpha.
        alpha: Any shape, a floating dtype, positive.

    Returns:
        shape + alpha.shape, of alpha's dtype.

    Raises:
        InvalidArgumentError: A negative dimension, or no alpha.
    """
    sizes, count = sizes_of(shape)
    if count and not alpha.size:
        raise InvalidArgumentError(f"Input alpha should have non-zero element count, got: {alpha.size}")
    source = generator.reserve(count * alpha.size * RESERVED)
    wide = np.repeat(alpha.reshape(-1).astype(np.float64), count)
    with np.errstate(all="ignore"):
        samples = _gammas(source, wide)
    return samples.reshape(alpha.size, count).T.reshape((*sizes, *alpha.shape)).astype(alpha.dtype)


class _Draws:
    """The numbers of many stretches, each at its own place."""

    def __init__(self, source: Philox, count: int) -> None:
        self.source = source
        self.at = np.arange(count, dtype=np.int64) * RESERVED
        self.kept = {
            kind: (np.zeros((count, 2)), np.zeros(count, np.int64)) for kind in ("normal", "uniform")
        }

    def take(self, kind: str, which: Array) -> Array:
        """The next number of that kind of the stretches `which`."""
        pairs, left = self.kept[kind]
        empty = which[left[which] == 0]
        if empty.size:
            words = self.source.words_at(self.at[empty], 1).reshape(-1)
            make = normals if kind == "normal" else uniforms
            pairs[empty] = make(words, _DOUBLE).reshape(-1, 2)
            self.at[empty] += 1
            left[empty] = 2
        left[which] -= 1
        taken: Array = pairs[which, left[which]]
        return taken


def _gammas(source: Philox, alpha: Array) -> Array:
    draws = _Draws(source, len(alpha))
    result = np.empty(len(alpha))
    plain = np.flatnonzero(alpha == 1)
    result[plain] = -np.log(1 - draws.take("uniform", plain))
    small = alpha < 1
    d = alpha + np.where(small, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    pending = np.flatnonzero(alpha != 1)
    for _ in range(RESERVED):  # a stretch has no more numbers
        if not pending.size:
            break
        x = draws.take("normal", pending)
        v = 1 + c[pending] * x
        positive = v > 0
        tried, x, v = pending[positive], x[positive], v[positive] ** 3
        u = draws.take("uniform", tried)
        accepted = (u < 1 - 0.0331 * (x * x) * (x * x)) | (
            np.log(u) < 0.5 * x * x + d[tried] * (1 - v + np.log(v))
        )
        done = tried[accepted]
        values = d[done] * v[accepted]
        below = small[done]
        if np.any(below):
            values[below] *= draws.take("uniform", done[below]) ** (1 / alpha[done[below]])
        result[done] = values
        pending = np.setdiff1d(pending, done, assume_unique=True)
    result[pending] = np.nan  # alpha is NaN or negative
    return result


def random_poisson(generator: Philox, shape: Sequence[int] | Array, rate: Array, dtype: Any) -> Array:
    """RandomPoisson and RandomPoissonV2: for each rate, how often a rare event happens.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the samples for each rate.
        rate: Any shape, a real dtype, not negative.
        dtype: Of the result.

    Returns:
        shape + rate.shape.

    Raises:
        InvalidArgumentError: A negative dimension.
    """
    sizes, count = sizes_of(shape)
    source = generator.reserve(count * rate.size * RESERVED)
    wide = np.repeat(rate.reshape(-1).astype(np.float64), count)
    kind = np.dtype(dtype)
    limit = float(np.iinfo(kind).max if kind.kind in "iu" else np.finfo(kind).max)
    samples = np.zeros(len(wide))
    with np.errstate(all="ignore"):
        for function, chosen in ((_few, wide < 10), (_many, ~(wide < 10) & np.isfinite(wide))):
            where = np.flatnonzero(chosen)
            counters = 8
            while where.size and counters <= RESERVED:
                pairs = _pairs(source, where, counters)
                found, value = function(pairs, wide[where], limit)
                samples[where[found]] = value[found]
                where, counters = where[~found], counters * 4
    return samples.reshape(rate.size, count).T.reshape((*sizes, *rate.shape)).astype(kind)


def _pairs(source: Philox, where: Array, counters: int) -> Array:
    """The first uniform numbers of stretches, (stretches, counters, 2), in the order of their use."""
    words = source.words_at(where.astype(np.int64) * RESERVED, counters)
    return uniforms(words.reshape(-1), _DOUBLE).reshape(len(where), counters, 2)[..., ::-1]


def _few(pairs: Array, rate: Array, limit: float) -> tuple[Array, Array]:
    """How many numbers are multiplied before the product is below exp(-rate) (Knuth)."""
    below = np.cumprod(pairs.reshape(len(rate), -1), axis=1) <= np.exp(-rate)[:, None]
    return np.asarray(below.any(axis=1)), np.argmax(below, axis=1).astype(np.float64)


def _many(pairs: Array, rate: Array, limit: float) -> tuple[Array, Array]:
    """By transformed rejection, a pair of numbers for each trial."""
    rate = rate[:, None]
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    u, v = pairs[..., 0] - 0.5, pairs[..., 1]
    shifted = 0.5 - np.abs(u)
    k = np.floor((2 * a / shifted + b) * u + rate + 0.43)
    at_once = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
    never = (k < 0) | ((shifted < 0.013) & (v > shifted))
    s = np.log(v * inverse_alpha / (a / (shifted * shifted) + b))
    t = -rate + k * np.log(rate) - lgamma(k + 1)
    accepted = (k <= limit) & (at_once | (~never & (s <= t)))
    first = np.argmax(accepted, axis=1)
    return accepted.any(axis=1), k[np.arange(len(k)), first]


# Truncated normal numbers of given bounds

_DESIRED_BATCH = 100
_TRIES = 1000
_INSIDE = 1.3
"""How many deviations within the bounds make plain normal numbers the best proposal."""


def parameterized_truncated_normal(
    generator: Philox,
    shape: Sequence[int] | Array,
    means: Array,
    stdevs: Array,
    minvals: Array,
    maxvals: Array,
) -> Array:
    """ParameterizedTruncatedNormal: normal numbers within bounds, each batch with parameters of its own.

    TensorFlow's numbers where it computes them in one piece; of many batches it gives each thread some,
    and there the second and later pieces differ. Half precision is computed in single, which differs, too.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the result; the first axis is that of batches.
        means: A scalar, or one for each batch; so are the others.
        stdevs: Positive.
        minvals: Lowest numbers.
        maxvals: Highest numbers; one of both bounds is finite.

    Returns:
        An array of the parameters' dtype.

    Raises:
        InvalidArgumentError: Shapes or parameters that are not possible.
    """
    sizes, count = sizes_of(shape)
    if not sizes:
        raise InvalidArgumentError("Shape must not be a scalar")
    dtype = means.dtype
    parameters = {"means": means, "stdevs": stdevs, "minvals": minvals, "maxvals": maxvals}
    for name, value in parameters.items():
        if value.ndim > 1:
            raise InvalidArgumentError(
                f"Input {name} should be a scalar or vector, got shape: {shape_text(value.shape)}"
            )
        if value.ndim and value.size not in (1, sizes[0]):
            raise InvalidArgumentError(
                f"Input {name} should have length 1 or shape[0], got shape: {shape_text(value.shape)}"
            )
    if not count:
        return np.zeros(sizes, dtype)
    batches, each = sizes[0], count // sizes[0]
    if means.size == stdevs.size == 1 and minvals.ndim == maxvals.ndim == 0:
        # one distribution: cut into pieces of a size that TensorFlow likes
        batches, each = -(-count // _DESIRED_BATCH), _DESIRED_BATCH
    source = generator.reserve(batches * 2 * _TRIES * (each + 3) // 4)
    columns = [np.broadcast_to(value.reshape(-1), batches) for value in parameters.values()]
    pieces = []
    for batch in range(batches):
        values = [dtype.type(column[batch]) for column in columns]
        pieces.append(_within(source, min(each, count - batch * each), *values))
    return np.concatenate(pieces).astype(dtype).reshape(sizes)


def _within(source: Philox, count: int, mean: Any, stdev: Any, low: Any, high: Any) -> Array:
    """`count` numbers of one distribution; the generator moves on by what they take."""
    if not (stdev > 0 and low < high and (np.isfinite(low) or np.isfinite(high))):
        raise InvalidArgumentError("Invalid parameters")
    kind = np.dtype(np.float64) if mean.dtype == np.float64 else np.dtype(np.float32)
    if (np.isinf(low) and low < 0) or high < mean:
        low, high, stdev = high, low, -stdev
    a, b = kind.type((low - mean) / stdev), kind.type((high - mean) / stdev)
    group = 2 if kind.itemsize == 8 else 4
    with np.errstate(all="ignore"):
        root = np.sqrt(a * a + kind.type(4))
        cutoff = kind.type(2) * np.exp(kind.type(0.5) + a * (a - root) / kind.type(4)) / (a + root)
        if (a < -_INSIDE and b >= 0) or (b > _INSIDE and a <= 0):
            propose, counters = _normal_proposals, 1
        elif b - a < cutoff:
            propose, counters = _flat_proposals, 2
        else:
            propose, counters = _tail_proposals, 1
        found: list[Array] = []
        total, rounds = 0, max(1, -(-count // group))
        while total < count:
            # whole rounds, as many as may be needed; the generator moves on by those that were
            words = source.words(rounds * counters).reshape(rounds, -1)
            numbers, accepted = propose(words, kind, a, b)
            sums = np.cumsum(accepted.sum(axis=1))
            used = int(np.searchsorted(sums, count - total)) + 1 if sums[-1] >= count - total else rounds
            source.skip(used * counters)
            found.append(numbers[:used][accepted[:used]])
            total += len(found[-1])
            rounds *= 2
            if rounds > _TRIES * count + _TRIES:
                raise InvalidArgumentError("No number within the bounds was found")
    values = np.concatenate(found)[:count]
    return np.asarray(values * kind.type(stdev) + kind.type(mean))


def _normal_proposals(words: Array, kind: np.dtype[Any], a: Any, b: Any) -> tuple[Array, Array]:
    """Normal numbers, those within the bounds kept."""
    numbers = normals(words.reshape(-1), kind).reshape(len(words), -1)
    return numbers, (numbers >= a) & (numbers <= b)


def _flat_proposals(words: Array, kind: np.dtype[Any], a: Any, b: Any) -> tuple[Array, Array]:
    """Uniform numbers within the bounds, kept by the density at them."""
    first, second = np.split(uniforms(words.reshape(-1), kind).reshape(len(words), -1), 2, axis=1)
    z = first * (b - a) + a
    plus = kind.type(0) if a < 0 else a * a
    return z, second <= np.exp((plus - z * z) / kind.type(2))


def _tail_proposals(words: Array, kind: np.dtype[Any], a: Any, b: Any) -> tuple[Array, Array]:
    """Exponential numbers from the lower bound on, kept by the density at them."""
    pairs = uniforms(words.reshape(-1), kind).reshape(len(words), -1, 2)
    alpha = (a + np.sqrt(a * a + kind.type(4))) / kind.type(2)
    z = -np.log(pairs[..., 0]) / alpha + a
    x = alpha - z if a < alpha else np.broadcast_to(a - alpha, z.shape)
    return z, (pairs[..., 1] <= np.exp(-x * x / kind.type(2))) & (z < b)
