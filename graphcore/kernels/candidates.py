"""Candidate samplers: TensorFlow's class numbers, and how often each is to be expected in a sample.

Source: tensorflow/core/kernels/range_sampler.cc and core/lib/random (r1.15), behaviour only; the alias
method of the fixed distribution is that of Walker, "An efficient method for generating discrete random
variables with general distributions", 1977.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array
from .philox import Philox

_MASK = 0xFFFFFFFF


class SimplePhilox:
    """Single numbers from a generator, word by word."""

    def __init__(self, generator: Philox) -> None:
        self._generator = generator
        self._words: list[int] = []

    def word(self) -> int:
        """32 random bits."""
        if not self._words:
            self._words = self._generator.reserve(256).words(256).tolist()[::-1]
        return self._words.pop()

    def below(self, n: int, bits: int = 32) -> int:
        """A number in [0, n), each equally likely; 32 or 64 bits are drawn at a time."""
        rest = (1 << bits) % n
        while True:
            number = self.word() if bits == 32 else self.word() | self.word() << 32
            if not n & (n - 1):
                return number & (n - 1)
            if number >= rest:
                return number % n

    def single(self) -> float:
        """A float32 in [0, 1)."""
        return (self.word() & 0x7FFFFF) / (1 << 23)

    def double(self) -> float:
        """A float64 in [0, 1)."""
        first, second = self.word(), self.word()
        return ((first & 0xFFFFF) << 32 | second) / (1 << 52)


class Sampler:
    """A distribution over the classes [0, size).

    Attributes:
        size: How many classes there are.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def draw(self, random: SimplePhilox) -> int:
        """One class."""
        return random.below(self.size, 64)

    def probability(self, classes: Array) -> Array:
        """Of each class, float32."""
        return np.full(classes.shape, 1 / self.size, np.float32)

    def update(self, classes: Array) -> None:
        """Learns from classes that occurred."""


class LogUniform(Sampler):
    """Zipf's law: class k with a probability like log((k + 2) / (k + 1))."""

    def draw(self, random: SimplePhilox) -> int:
        """One class."""
        return (int(math.exp(random.double() * math.log1p(self.size))) - 1) % self.size

    def probability(self, classes: Array) -> Array:
        """Of each class, float32."""
        with np.errstate(all="ignore"):
            logarithm = np.log((classes + 2.0) / (classes + 1.0))
        return (logarithm / math.log1p(self.size)).astype(np.float32)


class LearnedUnigram(Sampler):
    """Classes as often as they occurred, each counted once before the first."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.counts = np.ones(size, np.int64)

    def draw(self, random: SimplePhilox) -> int:
        """One class."""
        total = np.cumsum(self.counts)
        return int(np.searchsorted(total, random.below(int(total[-1])), side="right"))

    def probability(self, classes: Array) -> Array:
        """Of each class, float32."""
        inside = (classes >= 0) & (classes < self.size)
        counts = np.where(inside, self.counts[np.where(inside, classes, 0)], 0)
        return counts.astype(np.float32) / np.float32(self.counts.sum())

    def update(self, classes: Array) -> None:
        """Counts them."""
        np.add.at(self.counts, classes.reshape(-1), 1)


class FixedUnigram(Sampler):
    """Classes by given weights, float32.

    Raises:
        InvalidArgumentError: There are none, or not as many as classes.
    """

    def __init__(self, size: int, weights: Sequence[float] | Array) -> None:
        super().__init__(size)
        self.weights = np.asarray(weights, np.float32)
        if not len(self.weights) or len(self.weights) != size:
            raise InvalidArgumentError(
                f"range_max is {size}, but there are {len(self.weights)} weights of classes", range_max=size
            )
        self.total = np.float32(np.add.accumulate(self.weights, dtype=np.float32)[-1])
        self._chances, self._others = self._aliases()

    def _aliases(self) -> tuple[Array, Array]:
        count = self.size
        chances = self.weights.astype(np.float64) * count / math.fsum(self.weights.tolist())
        others = np.full(count, -1)
        low = np.flatnonzero(chances < 1).tolist()
        high = np.flatnonzero(chances >= 1).tolist()
        while high and low:
            small, large = low.pop(), high.pop()
            others[small] = large
            chances[large] -= 1 - chances[small]
            (low if chances[large] < 1 else high).append(large)
        single = chances.astype(np.float32)
        for rest in (*high, *low):
            single[rest], others[rest] = 1, rest
        return single, others

    def draw(self, random: SimplePhilox) -> int:
        """One class."""
        chance = random.single()
        at = random.below(self.size)
        return at if chance < self._chances[at] else int(self._others[at])

    def probability(self, classes: Array) -> Array:
        """Of each class, float32; 0 for one out of range."""
        inside = (classes >= 0) & (classes < self.size)
        weights = np.where(inside, self.weights[np.where(inside, classes, 0)], np.float32(0))
        return np.asarray(weights / self.total, np.float32)


def sample(
    sampler: Sampler, random: SimplePhilox, true_classes: Array, count: int, unique: bool
) -> tuple[Array, Array, Array]:
    """A batch of sampled classes.

    Args:
        sampler: The distribution.
        random: The random numbers.
        true_classes: int64, (batch, num_true).
        count: How many to sample.
        unique: Whether no class occurs twice.

    Returns:
        `(sampled, true_expected, sampled_expected)`: int64 (count,), and how often each true and each
        sampled class is to be expected in the sample, float32.

    Raises:
        InvalidArgumentError: More different classes than there are.
    """
    if unique and count > sampler.size:
        raise InvalidArgumentError("Sampler's range is too small.")
    tries, found = 0, dict[int, None]()
    sampled: list[int] = []
    while len(sampled) < count:
        value = sampler.draw(random)
        tries += 1
        if unique and value in found:
            continue
        found[value] = None
        sampled.append(value)
    classes = np.array(sampled, np.int64)
    expected = [_expected(sampler.probability(part), count, tries) for part in (true_classes, classes)]
    return classes, expected[0], expected[1]


def _expected(probability: Array, count: int, tries: int) -> Array:
    if tries == count:
        return probability * np.float32(count)
    with np.errstate(all="ignore"):
        return np.asarray(-np.expm1(np.float32(tries) * np.log1p(-probability)), np.float32)
