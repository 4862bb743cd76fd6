"""Beam search over the labellings that CTC gives to a sequence.

A *prefix* is a labelling of the time steps so far, a node of a tree: its parent is the prefix without its
last label. Of each prefix in the beam are kept the log probabilities of all paths that give it, of those
that end in a blank and of those that end in its last label. A step updates the prefixes in the beam, grows
those that are not in it, and keeps the best; sums are in the dtype of the logits, as in TensorFlow.

Source: Graves, "Sequence Transduction with Recurrent Neural Networks" (2012), and TensorFlow's outputs.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array
from .ctc import check_decoder_inputs


def beam_decode(
    inputs: Array, lengths: Array, *, beam_width: int, top_paths: int, merge: bool
) -> tuple[list[list[list[int]]], Array]:
    """TensorFlow's CTCBeamSearchDecoder.

    Args:
        inputs: Logits, (time, batch, classes); the last class is the blank.
        lengths: How many time steps of each sequence count, (batch,).
        beam_width: How many prefixes are kept after each step.
        top_paths: How many labellings to give for each sequence.
        merge: Whether equal labels next to each other are made one in the result.

    Returns:
        `(labels, log probabilities)`: for each path the labels of each sequence; and (batch, top_paths).

    Raises:
        InvalidArgumentError: More paths are asked for than there are, or see `ctc.check_decoder_inputs`.
        FailedPreconditionError: See there.
    """
    check_decoder_inputs(inputs, lengths)
    batch = inputs.shape[1]
    if batch and top_paths > beam_width:
        raise InvalidArgumentError("requested more paths than the beam width.")
    largest = inputs.max(-1, keepdims=True)
    normalized = inputs - (largest + np.log(np.exp(inputs - largest).sum(-1, keepdims=True)))
    paths: list[list[list[int]]] = [[] for _ in range(top_paths)]
    scores = np.zeros((batch, top_paths), inputs.dtype)
    for index in range(batch):
        beam = _Beam(inputs.dtype)
        with np.errstate(invalid="ignore"):
            for time in range(int(lengths[index])):
                beam.step(normalized[time, index], beam_width)
        if top_paths > len(beam.total):
            raise InvalidArgumentError("Less leaves in the beam search than requested.")
        for number in range(top_paths):
            paths[number].append(beam.labels(number, merge))
        scores[index] = beam.total[:top_paths]
    return paths, scores


class _Beam:
    """The prefixes in the beam, best first, and the tree of all that ever were in it.

    Attributes:
        nodes: Which node of the tree each prefix is.
        total: log p of all paths of each prefix.
        blank: Of those that end in a blank.
        label: Of those that end in the prefix' last label.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.parents, self.last = [-1], [-1]  # of each node
        self.children: dict[tuple[int, int], int] = {}
        self.nodes = np.zeros(1, np.int64)
        self.total, self.blank = np.zeros(1, dtype), np.zeros(1, dtype)
        self.label = np.full(1, -np.inf, dtype)

    def step(self, log_p: Array, width: int) -> None:
        """One time step, with the log probabilities of the classes."""
        nodes = self.nodes.tolist()
        count, labels = len(nodes), len(log_p) - 1
        place = {node: index for index, node in enumerate(nodes)}
        parent = np.array([place.get(self.parents[node], -1) for node in nodes])
        last = np.array([self.last[node] for node in nodes])
        # What each prefix passes to one that is a label longer: if that is its own last label again, only
        # what ends in a blank, else all.
        grown = np.repeat(self.total[:, None], labels, 1)
        rows = np.flatnonzero(last >= 0)
        grown[rows, last[rows]] = self.blank[rows]

        label = self.label.copy()
        within = np.flatnonzero(parent >= 0)
        label[within] = np.logaddexp(label[within], grown[parent[within], last[within]])
        label = label + np.where(last >= 0, log_p[last], 0).astype(label.dtype)
        blank = self.total + log_p[-1]
        total = np.logaddexp(blank, label)

        fresh = log_p[:-1] + grown
        inside: dict[int, dict[int, int]] = {}
        for index in within.tolist():
            inside.setdefault(int(parent[index]), {})[int(last[index])] = index
        kept, sources, symbols = _grow(self.total, total, fresh, inside, width)

        order = np.array(kept, np.int64)
        old = order < count
        new = order[~old] - count
        self.nodes = np.array(
            [
                nodes[index]
                if index < count
                else self._child(nodes[sources[index - count]], symbols[index - count])
                for index in kept
            ],
            np.int64,
        )
        self.blank = np.full(len(kept), -np.inf, total.dtype)
        self.total, self.label = np.empty_like(self.blank), np.empty_like(self.blank)
        for target, values in ((self.blank, blank), (self.total, total), (self.label, label)):
            target[old] = values[order[old]]
        added = fresh[np.array(sources, np.int64)[new], np.array(symbols, np.int64)[new]]
        self.total[~old] = self.label[~old] = added

    def _child(self, node: int, label: int) -> int:
        """The node that `node` grows into with `label`."""
        found = self.children.setdefault((node, label), len(self.parents))
        if found == len(self.parents):
            self.parents.append(node)
            self.last.append(label)
        return found

    def labels(self, index: int, merge: bool) -> list[int]:
        """The labels of one prefix of the beam."""
        found: list[int] = []
        node, previous = int(self.nodes[index]), -1
        while node > 0:
            if not merge or self.last[node] != previous:
                found.append(self.last[node])
            previous = self.last[node]
            node = self.parents[node]
        return found[::-1]


def _grow(
    before: Array, total: Array, fresh: Array, inside: dict[int, dict[int, int]], width: int
) -> tuple[list[int], list[int], list[int]]:
    """Chooses between the prefixes of the beam and those that grow from them, in TensorFlow's order.

    The order matters. A prefix that a better one has driven out of the beam by the time when its parent
    grows it again does not grow itself any more.

    Args:
        before: log p of the prefixes in the beam before the step, falling.
        total: The same after the step.
        fresh: log p of each prefix grown by each label.
        inside: For a prefix (by its index) its children in the beam: label to index.
        width: How many prefixes to keep.

    Returns:
        `(kept, sources, labels)`: the indices of the prefixes kept, best first; those from len(before) on
        are new, grown from `sources` with `labels`.
    """
    count = len(before)
    heap = [(value, -index) for index, value in enumerate(total.tolist())]
    heapq.heapify(heap)
    active = [value > -math.inf for value in total.tolist()]
    grows = [True] * count
    sources: list[int] = []
    labels: list[int] = []
    best = fresh.max(1, initial=-np.inf).tolist()
    for index, value in enumerate(before.tolist()):
        if not grows[index] or value == -math.inf or (len(heap) == width and value <= heap[0][0]):
            continue
        known = inside.get(index, {})
        # The bar only rises: what does not clear it before the row never will.
        bar = heap[0][0] if len(heap) == width else -math.inf
        visited = np.flatnonzero(fresh[index] > bar).tolist() if best[index] > bar else []
        for label in sorted({*visited, *known}) if known else visited:
            child = known.get(label)
            if child is not None and active[child]:
                continue
            item = (float(fresh[index, label]), -(count + len(sources)))
            if item[0] > -math.inf and (len(heap) < width or item[0] > heap[0][0]):
                sources.append(index)
                labels.append(label)
                if len(heap) < width:
                    heapq.heappush(heap, item)
                else:
                    _, dropped = heapq.heapreplace(heap, item)
                    if -dropped < count:
                        active[-dropped] = False
            elif child is not None:
                grows[child] = False
    return [-negative for _, negative in sorted(heap, reverse=True)], sources, labels
