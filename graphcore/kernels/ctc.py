"""Connectionist temporal classification: the loss with its gradient, and the greedy decoder.

The blank is the last class. The loss follows Graves, "Supervised Sequence Labelling with Recurrent Neural
Networks" (2012), section 7.3: forward and backward variables over the labels with blanks between them, in
logarithms. All sequences of a batch go through the recurrences together, one time step after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...formats.errors import FailedPreconditionError, InvalidArgumentError
from .arrays import Array, shape_text


def ctc_loss(
    inputs: Array,
    labels: Sequence[Sequence[int]],
    lengths: Array,
    *,
    collapse: bool,
    merge: bool,
    ignore_longer: bool,
) -> tuple[Array, Array]:
    """TensorFlow's CTCLoss.

    Args:
        inputs: Logits, (time, batch, classes).
        labels: The labels of each sequence.
        lengths: How many time steps of each sequence count, (batch,).
        collapse: Whether repeated labels are made one first.
        merge: Whether a class repeated without a blank between is one label.
        ignore_longer: Whether sequences shorter than their labels give 0 rather than an error.

    Returns:
        `(loss, gradient)`: the negative log probability of each sequence's labels, and the gradient with
        respect to the logits, zeros beyond a sequence's end. Where no path gives the labels, the loss is
        infinite and the gradient the softmax, as in TensorFlow.

    Raises:
        InvalidArgumentError: Labels or lengths that cannot be, with TensorFlow's texts.
    """
    times, batch, classes = inputs.shape
    blank = classes - 1
    if not classes:
        raise InvalidArgumentError("inputs must not be empty: there are no classes, not even the blank one")
    for index, length in enumerate(lengths.tolist()):
        if length < 0:
            raise InvalidArgumentError(f"seq_len({index}) < 0", sequence=index, length=length)
    rows = _checked_labels(labels, lengths, classes, collapse, ignore_longer)
    counted = np.array(
        [length > 0 and not (ignore_longer and len(row) > length) for row, length in zip(labels, lengths)]
    )
    ends = np.where(counted, lengths, 0)
    shifted = np.exp(inputs - inputs.max(-1, keepdims=True))
    softmax = shifted / shifted.sum(-1, keepdims=True)

    width = 2 * max(len(row) for row in rows) + 1
    symbols = np.full((batch, width), blank)
    sizes = np.array([2 * len(row) + 1 for row in rows])
    for target, row in zip(symbols, rows, strict=True):
        target[1 : 2 * len(row) : 2] = row
    positions = np.arange(width)
    # log p(symbol) at each time: (time, batch, width); -inf beyond a sequence's own symbols.
    with np.errstate(divide="ignore"):
        emit = np.log(np.take_along_axis(softmax, symbols[None], 2)).astype(np.float64)
    emit[:, positions >= sizes[:, None]] = -np.inf
    is_blank = symbols == blank
    stays = is_blank | merge
    skips = np.zeros_like(is_blank)
    skips[:, 2:] = ~is_blank[:, 2:]
    if merge:
        skips[:, 2:] &= symbols[:, 2:] != symbols[:, :-2]

    alpha = np.full((times, batch, width), -np.inf)
    alpha[0, :, :2] = emit[0, :, :2]
    for time in range(1, times):
        alpha[time] = emit[time] + _reached(alpha[time - 1], stays, skips, 1)
    last = (positions < sizes[:, None]) & (positions >= sizes[:, None] - 2)
    beta = np.full((times, batch, width), -np.inf)
    for time in range(times - 1, -1, -1):
        if time + 1 < times:
            beta[time] = _reached(beta[time + 1] + emit[time + 1], stays, skips, -1)
        beta[time][np.equal(ends - 1, time)[:, None] & last] = 0

    both = alpha + beta
    log_p = np.logaddexp.reduce(both[0], -1)
    loss = np.where(counted, -log_p, 0).astype(inputs.dtype)
    gradient = np.zeros_like(inputs)
    for index in np.flatnonzero(counted).tolist():
        end = ends[index]
        gradient[:end, index] = softmax[:end, index]
        if log_p[index] == -np.inf:
            continue
        posterior = np.exp(both[:end, index] - log_p[index])
        known, where = np.unique(symbols[index], return_inverse=True)
        gradient[:end, index, known] -= (posterior @ np.eye(len(known))[where]).astype(inputs.dtype)
    return loss, gradient


def _reached(before: Array, stays: Array, skips: Array, step: int) -> Array:
    """Logarithm of the sum of the states before that lead to each one; `step` is -1 for the way back."""
    out = np.where(stays, before, -np.inf)
    one, two = (slice(step, None), slice(2 * step, None)) if step > 0 else (slice(step), slice(2 * step))
    from_one, from_two = (slice(-1), slice(-2)) if step > 0 else (slice(1, None), slice(2, None))
    out[:, one] = np.logaddexp(out[:, one], before[:, from_one])
    # Whether u may be skipped to is a property of the later of the two states.
    allowed = skips[:, 2:]
    skipped = np.where(allowed, before[:, from_two], -np.inf)
    out[:, two] = np.logaddexp(out[:, two], skipped)
    return out


def _checked_labels(
    labels: Sequence[Sequence[int]], lengths: Array, classes: int, collapse: bool, ignore_longer: bool
) -> list[list[int]]:
    """The labels without blanks (and repetitions, if `collapse`), or TensorFlow's error."""
    rows = []
    for batch, label in enumerate(labels):
        if not label:
            raise InvalidArgumentError(f"Labels length is zero in batch {batch}", sequence=batch)
        text = ",".join(map(str, label))
        row: list[int] = []
        finished = False
        for index, item in enumerate(label):
            if collapse and index and item == label[index - 1]:
                continue
            if item >= classes - 1:
                finished = True
            elif finished:
                raise InvalidArgumentError(
                    "Saw a non-null label (index >= num_classes - 1) following a null label, batch: "
                    f"{batch} num_classes: {classes} labels: {text} labels seen so far: "
                    + ",".join(map(str, row)),
                    sequence=batch,
                )
            else:
                row.append(item)
        if row and min(row) < 0:
            raise InvalidArgumentError(
                f"All labels must be nonnegative integers, batch: {batch} labels: " + ",".join(map(str, row)),
                sequence=batch,
            )
        if not ignore_longer and len(label) > lengths[batch]:
            raise InvalidArgumentError(
                f"Not enough time for target transition sequence (required: {len(label)}, available: "
                f"{lengths[batch]}){batch}You can turn this error into a warning by using the flag "
                "ignore_longer_outputs_than_inputs",
                sequence=batch,
            )
        rows.append(row)
    return rows


def check_decoder_inputs(inputs: Array, lengths: Array) -> None:
    """Raises TensorFlow's errors for inputs of a decoder that do not fit."""
    if inputs.ndim != 3:
        raise InvalidArgumentError(f"inputs is not a 3-Tensor, but has shape {shape_text(inputs.shape)}")
    if inputs.shape[0] == 0:
        raise InvalidArgumentError("max_time is 0")
    if inputs.shape[2] == 0:
        raise InvalidArgumentError("inputs must not be empty: there are no classes, not even the blank one")
    if lengths.ndim != 1:
        raise InvalidArgumentError(
            f"sequence_length is not a vector, but has shape {shape_text(lengths.shape)}"
        )
    if len(lengths) != inputs.shape[1]:
        raise FailedPreconditionError(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(lengths)} batch_size: "
            f"{inputs.shape[1]}"
        )
    longer = np.flatnonzero(lengths > inputs.shape[0])
    if longer.size:
        raise FailedPreconditionError(f"sequence_length({longer[0]}) <= {inputs.shape[0]}")


def greedy_decode(inputs: Array, lengths: Array, merge: bool) -> tuple[list[list[int]], Array]:
    """TensorFlow's CTCGreedyDecoder: the most probable class of each time step.

    Args:
        inputs: Logits, (time, batch, classes).
        lengths: How many time steps of each sequence count, (batch,).
        merge: Whether a class repeated without a blank between is one label.

    Returns:
        `(labels of each sequence, the negative sum of their logits)`, the latter (batch, 1).

    Raises:
        InvalidArgumentError: See `check_decoder_inputs`.
        FailedPreconditionError: See there.
    """
    check_decoder_inputs(inputs, lengths)
    times, batch, classes = inputs.shape
    # A NaN is larger than nothing, but stays where it comes first.
    known = np.where(np.isnan(inputs), -np.inf, inputs)
    best = np.where(np.isnan(inputs[..., 0]), 0, known.argmax(-1))
    inside = np.arange(times)[:, None] < lengths
    score = np.take_along_axis(inputs, best[..., None], 2)[..., 0]
    log_p = -np.where(inside, score, 0).sum(0, dtype=inputs.dtype, keepdims=True).T
    emitted = inside & (best != classes - 1)
    if merge:
        emitted[1:] &= best[1:] != best[:-1]
    return [best[emitted[:, index], index].tolist() for index in range(batch)], log_p


def to_sparse(sequences: Sequence[Sequence[int]]) -> tuple[Array, Array, Array]:
    """`(indices, values, dense shape)` of sequences as the rows of a sparse matrix, all int64."""
    places = [(row, column) for row, items in enumerate(sequences) for column in range(len(items))]
    values = [item for items in sequences for item in items]
    longest = max((len(items) for items in sequences), default=0)
    return (
        np.array(places, np.int64).reshape(-1, 2),
        np.array(values, np.int64),
        np.array([len(sequences), longest], np.int64),
    )


def edit_distance(a: Any, b: Any) -> int:
    """The Levenshtein distance of two vectors: insertions, deletions and substitutions count 1 each."""
    row = np.arange(len(b) + 1)
    steps = np.arange(len(b) + 1)
    for count, item in enumerate(a, 1):
        best = np.empty_like(row)
        best[0] = count
        np.minimum(row[1:] + 1, row[:-1] + (b != item), out=best[1:])
        # An insertion costs 1 more than the element to the left: a running minimum of (cost - place).
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])
