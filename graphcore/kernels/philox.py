"""TensorFlow's random numbers: Philox 4x32-10 and how CPU kernels turn its output into samples.

Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) maps a 128-bit counter
and a 64-bit key to 128 random bits. A random op owns one generator: `seed` is the key, `seed2` the
upper half of the counter, and each run reserves a range of the lower half, so that consecutive runs
never overlap. What a run reserves is part of the contract and is repeated here:

    RandomUniform, RandomStandardNormal, ...   256 counters an output element
    RandomShuffle                              one 32-bit number for each row but the last
    RandomGamma, RandomPoisson                 the same, each element in a stretch of its own
    Multinomial                                512 counters for each sample, samples rounded up to 4s

The distributions take 32-bit words in order: one a number for float32, float16 and int32, two for
float64 and int64; normals come in pairs (Box-Muller). A truncated normal takes as many as it needs, so
each group of results (4, or 2 of float64) has a stretch of words of its own.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, UnimplementedError
from .arrays import Array, shape_text

RESERVED = 256
"""Counters that a run reserves for each output element."""

BLOCK = 1 << 16
"""Counters that are computed at a time, so that the ten rounds stay in the cache."""

_MASK = 0xFFFFFFFF
_WIDE = (1 << 64) - 1


@dataclass(slots=True)
class Philox:
    """A generator: a 64-bit key and a 128-bit counter that `reserve` moves on.

    Attributes:
        key: 64 bits.
        counter: 128 bits; the lower 64 count, the upper ones select a stream.
    """

    key: int
    counter: int = 0

    @classmethod
    def from_seeds(cls, seed: int, seed2: int) -> Philox:
        """The generator of a random op with the attributes `seed` and `seed2`."""
        key, stream = initial_key(seed, seed2)
        return cls(key, stream << 64)

    @classmethod
    def from_stateless_seed(cls, seed: Sequence[int] | Array) -> Philox:
        """The generator of a stateless op: both seeds are scrambled by Philox itself.

        Raises:
            InvalidArgumentError: `seed` does not have two elements.
        """
        pair = np.asarray(seed)
        if pair.shape != (2,):
            raise InvalidArgumentError(f"seed must have shape [2], not {shape_text(pair.shape)}")
        low, high = (int(value) & _WIDE for value in pair)
        mixed = cls(0x02461E293EC8F720, high << 64 | low).words(1)
        first, second, third, fourth = (int(word) for word in mixed)
        return cls(second << 32 | first, (fourth << 32 | third) << 64)

    def skip(self, count: int) -> None:
        """Moves on by `count` counters (of four words each)."""
        self.counter = (self.counter + count) % (1 << 128)

    def reserve(self, count: int) -> Philox:
        """A generator at the present position; this one moves on by `count` counters."""
        reserved = Philox(self.key, self.counter)
        self.skip(count)
        return reserved

    def words(self, count: int) -> Array:
        """The next `4 * count` words (uint32) of the stream, from the present position, which stays."""
        out = np.empty((count, 4), np.uint32)
        for start in range(0, count, BLOCK):
            stop = min(count, start + BLOCK)
            _rounds(out[start:stop], self.key, self.counter, np.arange(start, stop))
        return out.reshape(-1)

    def words_at(self, positions: Array, count: int) -> Array:
        """Words of several stretches.

        Args:
            positions: Where each begins, in counters from the present position (int64).
            count: Counters of each.

        Returns:
            uint32 of shape (len(positions), 4 * count).
        """
        out = np.empty((len(positions), count, 4), np.uint32)
        for start in range(0, len(positions), max(1, BLOCK // count)):
            part = slice(start, start + max(1, BLOCK // count))
            offsets = positions[part, None] + np.arange(count)
            _rounds(out[part], self.key, self.counter, offsets)
        return out.reshape(len(positions), 4 * count)


def initial_key(seed: int, seed2: int) -> tuple[int, int]:
    """Key and stream (64 bits each) of an op's seeds; two zeros mean: a different one each time."""
    if seed == 0 and seed2 == 0:
        return secrets.randbits(64), secrets.randbits(64)
    return seed & _WIDE, seed2 & _WIDE


def _rounds(out: Array, key: int, counter: int, offsets: Array) -> None:
    """Writes the four words of each counter `counter + offsets` to `out` (offsets.shape + (4,), uint32)."""
    base = counter & _WIDE
    low = np.uint64(base) + offsets.astype(np.uint64)
    upper = counter >> 64 & _WIDE
    words: list[Any] = [low & np.uint64(_MASK), low >> np.uint64(32)]
    if base + int(offsets.max(initial=0)) > _WIDE:
        high = np.uint64(upper) + (low < np.uint64(base))
        words += [high & np.uint64(_MASK), high >> np.uint64(32)]
    else:
        words += [np.uint64(upper & _MASK), np.uint64(upper >> 32)]
    first, second = key & _MASK, key >> 32
    mask, half = np.uint64(_MASK), np.uint64(32)
    for _ in range(10):
        left = words[0] * np.uint64(0xD2511F53)
        right = words[2] * np.uint64(0xCD9E8D57)
        words = [
            (right >> half) ^ words[1] ^ np.uint64(first),
            right & mask,
            (left >> half) ^ words[3] ^ np.uint64(second),
            left & mask,
        ]
        first, second = (first + 0x9E3779B9) & _MASK, (second + 0xBB67AE85) & _MASK
    for index, word in enumerate(words):
        out[..., index] = word


def sizes_of(shape: Sequence[int] | Array) -> tuple[tuple[int, ...], int]:
    """The output shape as ints, and its number of elements."""
    sizes = tuple(int(size) for size in np.asarray(shape).reshape(-1))
    if any(size < 0 for size in sizes):
        raise InvalidArgumentError(f"Dimensions of a random shape must be >= 0, but are {list(sizes)}")
    return sizes, math.prod(sizes)


def random_uniform(generator: Philox, shape: Sequence[int] | Array, dtype: Any = np.float32) -> Array:
    """RandomUniform and StatelessRandomUniform: numbers in [0, 1), TensorFlow's bit for bit.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the result.
        dtype: float16, bfloat16, float32 or float64.

    Raises:
        InvalidArgumentError: A negative dimension.
        UnimplementedError: Another dtype.
    """
    sizes, count = sizes_of(shape)
    kind = _float_dtype(dtype)
    words = generator.reserve(count * RESERVED).words(_counters(count, kind))
    return uniforms(words, kind)[:count].reshape(sizes)


def random_uniform_int(
    generator: Philox, shape: Sequence[int] | Array, minval: int, maxval: int, dtype: Any = np.int32
) -> Array:
    """RandomUniformInt and StatelessRandomUniformInt: integers in [minval, maxval).

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the result.
        minval: Lowest value.
        maxval: One more than the highest.
        dtype: int32 or int64.

    Raises:
        InvalidArgumentError: minval >= maxval, or a negative dimension.
    """
    sizes, count = sizes_of(shape)
    low, high = int(minval), int(maxval)
    if low >= high:
        raise InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}", minval=low, maxval=high)
    bits = _bits(generator, count, dtype)
    values = bits % bits.dtype.type(high - low) + bits.dtype.type(
        low & (_MASK if bits.itemsize == 4 else _WIDE)
    )
    return np.asarray(values.view(dtype).reshape(sizes))


def random_full_int(generator: Philox, shape: Sequence[int] | Array, dtype: Any = np.uint64) -> Array:
    """StatefulUniformFullInt: integers of all values.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the result.
        dtype: int32, uint32, int64 or uint64.

    Raises:
        InvalidArgumentError: A negative dimension.
    """
    sizes, count = sizes_of(shape)
    return np.asarray(_bits(generator, count, dtype).view(dtype).reshape(sizes))


def _bits(generator: Philox, count: int, dtype: Any) -> Array:
    """`count` unsigned integers of the size of a dtype."""
    words = generator.reserve(count * RESERVED).words(_counters(count, dtype))
    if np.dtype(dtype).itemsize == 4:
        return words[:count]
    pairs = words.reshape(-1, 2).astype(np.uint64)
    return np.asarray((pairs[:, 0] | pairs[:, 1] << np.uint64(32))[:count])


def random_standard_normal(generator: Philox, shape: Sequence[int] | Array, dtype: Any = np.float32) -> Array:
    """RandomStandardNormal and StatelessRandomNormal: mean 0, deviation 1, by Box-Muller.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the result.
        dtype: float16, bfloat16, float32 or float64.

    Raises:
        InvalidArgumentError: A negative dimension.
        UnimplementedError: Another dtype.
    """
    sizes, count = sizes_of(shape)
    kind = _float_dtype(dtype)
    words = generator.reserve(count * RESERVED).words(_counters(count, kind))
    return normals(words, kind)[:count].reshape(sizes)


def truncated_normal(generator: Philox, shape: Sequence[int] | Array, dtype: Any = np.float32) -> Array:
    """TruncatedNormal and StatelessTruncatedNormal: normals, those beyond 2 deviations drawn again.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        shape: Of the result.
        dtype: float16, bfloat16, float32 or float64.

    Raises:
        InvalidArgumentError: A negative dimension.
        UnimplementedError: Another dtype.
    """
    sizes, count = sizes_of(shape)
    kind = _float_dtype(dtype)
    source = generator.reserve(count * RESERVED)
    group = 2 if kind.itemsize == 8 else 4
    groups = -(-count // group)
    stretch = group * RESERVED // 4
    out = np.empty((groups, group), kind)
    # One counter fills five groups of six; the others start again with four times as many.
    pending, draws = np.arange(groups), 1
    while pending.size:
        words = source.words_at(pending * stretch, draws)
        # Rejection looks at the number before it is rounded to half precision.
        numbers = normals(words.reshape(-1), np.dtype(np.float32) if kind.itemsize == 2 else kind)
        numbers = numbers.reshape(pending.size, -1)
        kept = np.abs(numbers) < 2
        enough = np.count_nonzero(kept, axis=1) >= group
        rank = np.cumsum(kept, axis=1)
        taken = kept[enough] & (rank[enough] <= group)
        out[pending[enough]] = numbers[enough][taken].reshape(-1, group).astype(kind)
        pending, draws = pending[~enough], draws * 4
    return out.reshape(-1)[:count].reshape(sizes)


def random_shuffle(generator: Philox, value: Array) -> Array:
    """RandomShuffle: the rows of `value` in random order (Fisher-Yates, from the front).

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        value: Any array; a scalar or an empty one is returned as it is.
    """
    if value.size <= 1 or value.shape[0] <= 1:
        return value
    rows = value.shape[0]
    counters = -(-(rows - 1) // 4)
    words = generator.reserve(counters).words(counters)[: rows - 1]
    swaps = (words % np.arange(rows, 1, -1, dtype=np.uint32)).tolist()
    order = list(range(rows))
    for place, swap in enumerate(swaps):
        order[place], order[place + swap] = order[place + swap], order[place]
    return value[order]


def multinomial(generator: Philox, logits: Array, num_samples: int, dtype: Any = np.int64) -> Array:
    """Multinomial and StatelessMultinomial: class numbers drawn from unnormalized log-probabilities.

    TensorFlow's numbers where it computes the batch in one piece; large batches it splits among
    threads, and there the second and later pieces differ.

    Args:
        generator: Its present position is used and it moves on as TensorFlow's does.
        logits: (batch, classes); what is not finite has probability 0.
        num_samples: Samples a row.
        dtype: int32 or int64.

    Returns:
        (batch, num_samples).

    Raises:
        InvalidArgumentError: logits is no matrix or has no classes, or num_samples is negative.
    """
    if logits.ndim != 2:
        raise InvalidArgumentError(f"logits should be a matrix, got shape {shape_text(logits.shape)}")
    samples = int(num_samples)
    if samples < 0:
        raise InvalidArgumentError(f"num_samples should be non-negative, got {samples}")
    batch, classes = logits.shape
    if classes <= 0:
        raise InvalidArgumentError(f"num_classes should be positive, got {classes}")
    out = np.empty((batch, samples), dtype)
    if out.size == 0:
        return out
    source = generator.reserve(batch * (-(-samples // 4) * 8) * RESERVED)
    draws = uniforms(source.words(-(-batch * samples // 2)), np.dtype(np.float64))
    finite = np.isfinite(logits)
    wide = logits.astype(np.float64)
    top = np.max(wide, axis=1, where=finite, initial=np.finfo(np.float64).min, keepdims=True)
    totals = np.cumsum(np.exp(wide - top, where=finite, out=np.zeros_like(wide)), axis=1)
    sought = draws[: batch * samples].reshape(batch, samples) * totals[:, -1:]
    for row in range(batch):
        out[row] = np.searchsorted(totals[row], sought[row], side="right")
    return out


def _counters(count: int, dtype: Any) -> int:
    """Counters whose words make `count` numbers of a dtype."""
    return -(-count * (2 if np.dtype(dtype).itemsize == 8 else 1) // 4)


def uniforms(words: Array, dtype: np.dtype[Any]) -> Array:
    """Numbers in [0, 1): random bits as the mantissa of a number in [1, 2), less 1."""
    if dtype == np.float32:
        return (words & np.uint32(0x7FFFFF) | np.uint32(0x3F800000)).view(np.float32) - np.float32(1)
    if dtype == np.float64:
        pairs = words.reshape(-1, 2).astype(np.uint64)
        bits = (pairs[:, 0] & np.uint64(0xFFFFF)) << np.uint64(32) | pairs[:, 1]
        return (bits | np.uint64(0x3FF << 52)).view(np.float64) - 1.0
    mantissa, one = (0x3FF, 15 << 10) if dtype == np.float16 else (0x7F, 127 << 7)
    halves = (words.astype(np.uint16) & np.uint16(mantissa) | np.uint16(one)).view(dtype)
    return np.asarray(halves - dtype.type(1))


def _float_dtype(dtype: Any) -> np.dtype[Any]:
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind.name not in ("float16", "bfloat16", "float32", "float64"):
        raise UnimplementedError(
            f"Random numbers of dtype {kind.name} are not defined (float16, bfloat16, float32, float64 are).",
            dtype=kind.name,
        )
    return kind


def normals(words: Array, dtype: np.dtype[Any]) -> Array:
    """Box-Muller: each pair of uniform numbers makes a pair of normal ones.

    In single precision each function is computed in double and rounded: the C library, which
    TensorFlow calls, gives nearly always that.
    """
    single = dtype.itemsize < 8
    uniform = uniforms(words, np.dtype(np.float32 if single else np.float64)).reshape(-1, 2)
    wide = uniform.astype(np.float64)
    squared = -2 * np.log(np.maximum(wide[:, 0], np.float32(1e-7) if single else 1e-7))
    angle = 2 * np.pi * wide[:, 1]
    if single:
        squared, angle = squared.astype(np.float32), angle.astype(np.float32).astype(np.float64)
    radius = np.sqrt(squared)
    out = np.empty_like(uniform)
    out[:, 0], out[:, 1] = np.sin(angle), np.cos(angle)
    out *= radius[:, None]
    return out.reshape(-1).astype(dtype, copy=False)
