"""Word2vec's own ops, which TensorFlow deprecated: examples of a text, and training with negative samples.

Source: tensorflow/core/kernels/word2vec_kernels.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import numpy as np

from ...formats import files
from ..errors import InvalidArgumentError
from ..kernels.candidates import SimplePhilox
from ..kernels.philox import Philox
from ..op import op
from . import rules
from .string import text_of

_UNDEFINED = "TensorFlow declares none"
_SENTENCE = 1000
_AT_ONCE = 3000
"""Examples that are made ahead; the counts that the op gives are those after them."""


class _Text:
    """The words of a file, and where the next examples come from.

    Args:
        path: The file.
        window: How far from a word its labels may be, at most.
        min_count: Rarer words are unknown ones.
        subsample: How strongly frequent words are left out; 0 for not at all.

    Attributes:
        words: The vocabulary, unknown words first, then the most frequent.
        counts: How often each occurs.
        size: How many words the text has.
        epoch: How often the text was begun anew.
        processed: How many words have been examples.
    """

    def __init__(self, path: str, window: int, min_count: int, subsample: float) -> None:
        found = files.read_bytes(path).split()
        self.size = len(found)
        if self.size < window * 10:
            raise InvalidArgumentError(
                f"The text file {path} contains too little data: {self.size} words", path=path
            )
        ordered = [pair for pair in Counter(found).most_common() if pair[1] >= min_count]
        numbers = {word: place for place, (word, _) in enumerate(ordered, 1)}
        self.words = np.array([b"UNK", *(word for word, _ in ordered)], object)
        known = [count for _, count in ordered]
        self.counts = np.array([self.size - sum(known), *known], np.int32)
        self._corpus = [numbers.get(word, 0) for word in found]
        self._kept = self._chances(np.float32(subsample))
        self._window = window
        self._random = SimplePhilox(Philox(0))
        self._sentence = [0] * _SENTENCE
        self._at = self._label = self._limit = self.size
        self._word = _SENTENCE
        self.epoch, self.processed = -1, 0
        self._lock = threading.Lock()
        self._ahead = [self._example() for _ in range(_AT_ONCE)][::-1]

    def _chances(self, subsample: np.float32) -> list[Any] | None:
        """How likely each word is kept (Mikolov et al., equation 5)."""
        if not subsample > 0:
            return None
        scaled = subsample * np.float32(self.size)
        counts = self.counts.astype(np.float32)
        with np.errstate(all="ignore"):
            chances: list[Any] = ((np.sqrt(counts / scaled) + np.float32(1)) * scaled / counts).tolist()
        return chances

    def _next_sentence(self) -> None:
        place = 0
        while place < _SENTENCE:
            if self._at >= self.size:
                self.epoch += 1
                self._at = 0
            word = self._corpus[self._at]
            self._at += 1
            if self._kept is None or not self._random.single() > self._kept[word]:
                self._sentence[place] = word
                place += 1

    def _example(self) -> tuple[int, int]:
        while True:
            if self._label >= self._limit:
                self.processed += 1
                self._word += 1
                if self._word >= _SENTENCE:
                    self._word = 0
                    self._next_sentence()
                skip = 1 + self._random.below(self._window)
                self._label = max(0, self._word - skip)
                self._limit = min(_SENTENCE, self._word + skip + 1)
            if self._word != self._label:
                break
            self._label += 1
        self._label += 1
        return self._sentence[self._word], self._sentence[self._label - 1]

    def take(self, count: int) -> tuple[list[tuple[int, int]], int, int]:
        """The next examples, the epoch, and how many words have been examples."""
        with self._lock:
            taken = []
            for _ in range(count):
                taken.append(self._ahead.pop())
                if not self._ahead:
                    self._ahead = [self._example() for _ in range(_AT_ONCE)][::-1]
            return taken, self.epoch, self.processed


@op(
    "Skipgram",
    "-> vocab_word: string, vocab_freq: int32, words_per_epoch: int64, current_epoch: int32, "
    "total_words_processed: int64, examples: int32, labels: int32",
    "filename: string",
    "batch_size: int",
    "window_size: int = 5",
    "min_count: int = 5",
    "subsample: float = 0.0010000000474974513",
    stateful=True,
    undefined_grad=_UNDEFINED,
)
def skipgram(
    ctx: Any, *, batch_size: int, window_size: int, min_count: int, subsample: float, node: Any
) -> tuple[Any, ...]:
    """The vocabulary of a text, and words with words near them."""
    path = text_of(node.attr("filename"))
    ctx.policy.check_read(path, f"node '{node.name}' (op {node.type})")
    if window_size < 1:
        raise InvalidArgumentError(f"window_size must be positive, not {window_size}")
    text = ctx.state.resource(
        "skipgram", "", node.name, lambda: _Text(path, window_size, min_count, subsample)
    )
    pairs, epoch, processed = text.take(batch_size)
    examples = np.array(pairs, np.int32).reshape(-1, 2)
    return (
        text.words,
        text.counts,
        np.array(text.size, np.int64),
        np.array(epoch, np.int32),
        np.array(processed, np.int64),
        examples[:, 0].copy(),
        examples[:, 1].copy(),
    )


skipgram.shape(rules.unknown)


class _Weighted:
    """Draws from weights in constant time (Walker's alias method, as TensorFlow fills its tables)."""

    def __init__(self, weights: np.ndarray) -> None:
        count = len(weights)
        shares = (weights.astype(np.float64) * count / weights.astype(np.float64).sum()).tolist()
        self._other = list(range(count))
        low = [place for place in range(count) if shares[place] < 1]
        high = [place for place in range(count) if not shares[place] < 1]
        while high and low:
            below, above = low.pop(), high.pop()
            self._other[below] = above
            shares[above] -= 1 - shares[below]
            (low if shares[above] < 1 else high).append(above)
        for place in (*high, *low):
            shares[place], self._other[place] = 1.0, place
        self._shares = np.array(shares, np.float32).tolist()

    def draw(self, random: SimplePhilox) -> int:
        """A place."""
        number, place = random.single(), random.below(len(self._shares))
        return place if number < self._shares[place] else self._other[place]


@op(
    "NegTrain",
    "w_in: Ref(float32), w_out: Ref(float32), examples: int32, labels: int32, lr: float32 ->",
    "vocab_count: list(int)",
    "num_negative_samples: int",
    stateful=True,
    undefined_grad=_UNDEFINED,
)
def neg_train(
    ctx: Any,
    w_in: Any,
    w_out: Any,
    examples: Any,
    labels: Any,
    lr: Any,
    *,
    vocab_count: list[int],
    num_negative_samples: int,
    node: Any,
) -> None:
    """Trains word vectors in place with words near them and words drawn at random."""
    inputs, outputs = w_in.writable(), w_out.writable()
    if inputs.ndim != 2:
        raise InvalidArgumentError("Must be a matrix")
    for wrong, sentence in (
        (inputs.shape != outputs.shape, "w_in.shape == w_out.shape"),
        (np.ndim(examples) != 1, "Must be a vector"),
        (np.shape(examples) != np.shape(labels), "examples.shape == labels.shape"),
        (np.ndim(lr) != 0, "Must be a scalar"),
    ):
        if wrong:
            raise InvalidArgumentError(sentence)
    if len(inputs) != len(vocab_count):
        raise InvalidArgumentError(f"vocab_size mismatches: {len(inputs)} vs. {len(vocab_count)}")
    for name, given in (("examples", examples), ("labels", labels)):
        if given.size and not (given.min() >= 0 and given.max() < len(inputs)):
            raise InvalidArgumentError(f"{name} must lie in [0, {len(inputs)})")
    weights = np.array(vocab_count, np.float32) ** np.float32(0.75)
    sampler, random = ctx.state.resource(
        "negative samples", "", node.name, lambda: (_Weighted(weights), SimplePhilox(Philox.from_seeds(0, 0)))
    )
    with w_in.lock:
        for example, label in zip(examples.tolist(), labels.tolist()):
            vector = inputs[example]
            slope = np.float32(1) / (np.exp(vector @ outputs[label]) + np.float32(1)) * lr
            change = outputs[label] * slope
            outputs[label] += vector * slope
            for _ in range(num_negative_samples):
                sample = sampler.draw(random)
                if sample == label:
                    continue
                slope = -np.float32(1) / (np.exp(-(vector @ outputs[sample])) + np.float32(1)) * lr
                change = change + outputs[sample] * slope
                outputs[sample] += vector * slope
            vector += change


neg_train.shape(rules.nothing)
