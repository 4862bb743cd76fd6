"""CTC loss and decoders, and the edit distance of what they decode from the truth."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..dtypes import ANY, float32, float64
from ..errors import InternalError, InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..kernels import ctc as kernels
from ..kernels.arrays import shape_text
from ..kernels.ctc_beam import beam_decode
from ..op import op, raw_ops
from ..shapes import Dim, Shape, merge_dims, with_rank
from ..sparse_tensor import SparseTensor, SparseTensorValue
from .nn_conv import either

_TYPES = ((float32, float64), float32)
_INDICES = "its results are labels"


@op(
    "CTCLoss",
    "inputs: T, labels_indices: int64, labels_values: int32, sequence_length: int32 -> loss: T, gradient: T",
    "preprocess_collapse_repeated: bool = false",
    "ctc_merge_repeated: bool = true",
    "ignore_longer_outputs_than_inputs: bool = false",
    T=_TYPES,
)
def ctc_loss_op(
    inputs: Any,
    labels_indices: Any,
    labels_values: Any,
    sequence_length: Any,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[Any, Any]:
    """The negative log probability of each sequence's labels, and its gradient."""
    _check_loss_inputs(inputs, labels_indices, labels_values, sequence_length)
    labels: list[list[int]] = [[] for _ in range(inputs.shape[1])]
    for row, value in zip(labels_indices[:, 0].tolist(), labels_values.tolist()):
        labels[row].append(value)
    return kernels.ctc_loss(
        inputs,
        labels,
        sequence_length,
        collapse=preprocess_collapse_repeated,
        merge=ctc_merge_repeated,
        ignore_longer=ignore_longer_outputs_than_inputs,
    )


def _check_loss_inputs(inputs: Any, indices: Any, values: Any, lengths: Any) -> None:
    for name, array, rank, what in (
        ("inputs", inputs, 3, "3-Tensor"),
        ("sequence_length", lengths, 1, "vector"),
        ("labels_indices", indices, 2, "matrix"),
        ("labels_values", values, 1, "vector"),
    ):
        if array.ndim != rank:
            raise InvalidArgumentError(f"{name} is not a {what}, but has shape {shape_text(array.shape)}")
    times, batch, _ = inputs.shape
    if indices.shape[1] < 2:
        raise InvalidArgumentError(
            f"labels_indices second dimension must be >= 1. Received {indices.shape[1]}"
        )
    if not times:
        raise InvalidArgumentError("Max time or first dimension of input cannot be 0.")
    if len(lengths) != batch:
        raise InvalidArgumentError(
            f"len(sequence_length) != batch_size.  len(sequence_length):  {len(lengths)} batch_size: {batch}"
        )
    if len(indices) != len(values):
        raise InvalidArgumentError(
            "labels_indices and labels_values must contain the same number of rows, but saw shapes: "
            f"{shape_text(indices.shape)} vs. {shape_text(values.shape)}"
        )
    if not batch:
        raise InvalidArgumentError("batch_size must not be 0")
    bounds = [batch, int(indices[:, 1].max()) + 1 if len(indices) else 0]
    _check_order("label SparseTensor is not valid: ", indices[:, :2], bounds)
    longer = np.flatnonzero(lengths > times)
    if longer.size:
        raise InvalidArgumentError(f"sequence_length({longer[0]}) <= {times}")


def _check_order(head: str, indices: Any, bounds: Any) -> None:
    """Raises InvalidArgumentError unless the rows of `indices` are in order and within `bounds`."""
    before: list[int] | None = None
    for number, place in enumerate(indices.tolist()):
        at = f"{head}indices[{number}] = {shape_text(place)} is "
        if any(not 0 <= item < size for item, size in zip(place, bounds)):
            raise InvalidArgumentError(f"{at}out of bounds: need 0 <= index < {shape_text(bounds)}")
        if before is not None and place < before:
            raise InvalidArgumentError(f"{at}out of order. Many sparse ops require sorted indices.")
        if place == before:
            raise InvalidArgumentError(f"{at}repeated")
        before = place


@ctc_loss_op.shape
def _(node: Any) -> list[Shape]:
    time, batch, classes = with_rank(node.shape(0), 3)
    indices, values, lengths = (with_rank(node.shape(i), rank) for i, rank in ((1, 2), (2, 1), (3, 1)))
    merge_dims(indices[0], values[0])
    batch = merge_dims(batch, lengths[0])
    return [(batch,), (time, batch, classes)]


@ctc_loss_op.grad
def _(node: Any, loss_grad: Any, _: Any) -> Any:
    gradient = raw_ops.PreventGradient(
        node.outputs[1],
        message="Currently there is no way to take the second  derivative of ctc_loss due to the fused "
        "implementation's interaction  with tf.gradients()",
    )
    return [raw_ops.ExpandDims(loss_grad, -1) * gradient, None, None, None]


def _decoder_batch(node: Any) -> Dim:
    _, batch, _ = with_rank(node.shape(0), 3)
    return merge_dims(batch, with_rank(node.shape(1), 1)[0])


@op(
    "CTCGreedyDecoder",
    "inputs: T, sequence_length: int32 -> "
    "decoded_indices: int64, decoded_values: int64, decoded_shape: int64, log_probability: T",
    "merge_repeated: bool = false",
    T=_TYPES,
    no_grad=_INDICES,
)
def ctc_greedy_decoder_op(inputs: Any, sequence_length: Any, *, merge_repeated: bool) -> tuple[Any, ...]:
    """The most probable class of each time step, without blanks."""
    labels, scores = kernels.greedy_decode(inputs, sequence_length, merge_repeated)
    return (*kernels.to_sparse(labels), scores)


@ctc_greedy_decoder_op.shape
def _(node: Any) -> list[Shape]:
    return [(None, 2), (None,), (2,), (_decoder_batch(node), 1)]


@op(
    "CTCBeamSearchDecoder",
    "inputs: T, sequence_length: int32 -> decoded_indices: top_paths * int64, "
    "decoded_values: top_paths * int64, decoded_shape: top_paths * int64, log_probability: T",
    "beam_width: int >= 1",
    "merge_repeated: bool = true",
    T=_TYPES,
    no_grad=_INDICES,
)
def ctc_beam_search_decoder_op(
    inputs: Any, sequence_length: Any, *, beam_width: int, top_paths: int, merge_repeated: bool
) -> tuple[Any, ...]:
    """The most probable labellings of each sequence, as far as a beam finds them."""
    paths, scores = beam_decode(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge=merge_repeated
    )
    parts = zip(*(kernels.to_sparse(labels) for labels in paths), strict=True)
    return (*itertools.chain.from_iterable(parts), scores)


@ctc_beam_search_decoder_op.shape
def _(node: Any) -> list[Shape]:
    paths: int = node.attr("top_paths")
    head: list[Shape] = [*[(None, 2)] * paths, *[(None,)] * paths, *[(2,)] * paths]
    return [*head, (_decoder_batch(node), paths)]


# Edit distance


@op(
    "EditDistance",
    "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
    "truth_indices: int64, truth_values: T, truth_shape: int64 -> output: float32",
    "normalize: bool = true",
    T=ANY,
    no_grad="a distance of sequences is a count",
)
def edit_distance_op(
    hypothesis_indices: Any,
    hypothesis_values: Any,
    hypothesis_shape: Any,
    truth_indices: Any,
    truth_values: Any,
    truth_shape: Any,
    *,
    normalize: bool,
) -> Any:
    """The Levenshtein distance of each row's sequence from the truth, over the truth's length."""
    _check_pair(
        (hypothesis_indices, hypothesis_values, hypothesis_shape), (truth_indices, truth_values, truth_shape)
    )
    shape = np.maximum(hypothesis_shape[:-1], truth_shape[:-1]).tolist()
    out = np.zeros(shape, np.float32)
    if not out.size:
        raise InvalidArgumentError(f"Got output shape {shape_text(shape)} which has 0 elements")
    guesses = _rows(hypothesis_indices, hypothesis_values, shape)
    truths = _rows(truth_indices, truth_values, shape)
    for place in {**guesses, **truths}:
        guess, truth = guesses.get(place, ()), truths.get(place, ())
        if not len(truth):
            out[place] = np.inf if normalize else len(guess)
        elif not len(guess):
            out[place] = 1.0 if normalize else len(truth)
        else:
            distance = np.float32(kernels.edit_distance(truth, guess))
            out[place] = distance / np.float32(len(truth)) if normalize else distance
    return out


def _rows(indices: Any, values: Any, shape: list[int]) -> dict[tuple[int, ...], Any]:
    """The values of each row, by its place."""
    found: dict[tuple[int, ...], list[int]] = {}
    for number, place in enumerate(indices[:, :-1].tolist()):
        found.setdefault(tuple(place), []).append(number)
    for place in found:
        if any(not 0 <= item < size for item, size in zip(place, shape)):
            at = sum(item * math.prod(shape[axis + 1 :]) for axis, item in enumerate(place))
            raise InternalError(
                f"Got an inner product {at} which would require writing to outside of the buffer for the "
                f"output tensor (max elements {math.prod(shape)}): the place {shape_text(place)} in "
                f"{shape_text(shape)}"
            )
    return {place: values[numbers] for place, numbers in found.items()}


def _check_pair(hypothesis: tuple[Any, ...], truth: tuple[Any, ...]) -> None:
    wrong = []
    for name, (indices, values, shape) in (("hypothesis", hypothesis), ("truth", truth)):
        for part, array, rank, what in (
            ("indices", indices, 2, "matrix"),
            ("values", values, 1, "vector"),
            ("shape", shape, 1, "vector"),
        ):
            if array.ndim != rank:
                wrong.append(f"{name}_{part} should be a {what}, but got shape: {shape_text(array.shape)}")
        if wrong:
            continue
        if len(values) != len(indices):
            wrong.append(
                f"Expected {name}_values.NumElements == #rows({name}_indices), their shapes are: "
                f"{shape_text(values.shape)} and {shape_text(indices.shape)}"
            )
        if len(shape) != indices.shape[1]:
            wrong.append(
                f"Expected {name}_shape.NumElements == #cols({name}_indices), their shapes are: "
                f"{shape_text(shape.shape)} and {shape_text(indices.shape)}"
            )
    if not wrong and len(truth[2]) < 2:
        wrong.append(
            f"Input SparseTensors must have rank at least 2, but truth_shape rank is: {len(truth[2])}"
        )
    if not wrong and len(truth[2]) != len(hypothesis[2]):
        wrong.append(
            "Expected truth and hypothesis to have matching ranks, but their shapes are: "
            f"{shape_text(truth[2].shape)} and {shape_text(hypothesis[2].shape)}"
        )
    if wrong:
        raise InvalidArgumentError("; ".join(wrong))


@edit_distance_op.shape
def _(node: Any) -> Shape:
    for first in (0, 3):
        rows, columns = with_rank(node.shape(first), 2)
        merge_dims(rows, with_rank(node.shape(first + 1), 1)[0])
        merge_dims(columns, with_rank(node.shape(first + 2), 1)[0])
    hypothesis, truth = node.value(2), node.value(5)
    if hypothesis is None or truth is None:
        return None
    if len(hypothesis) != len(truth):
        raise InvalidValueError(
            f"Num elements of hypothesis_shape does not match truth_shape: {len(hypothesis)} vs. {len(truth)}"
        )
    return tuple(np.maximum(hypothesis, truth)[:-1].tolist())


# TensorFlow's Python functions


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Any:
    """`tf.nn.ctc_loss` of TensorFlow 1: the negative log probability of the labels, (batch,).

    Args:
        labels: A SparseTensor of int32, a row a sequence.
        inputs: Logits, (time, batch, classes); the last class is the blank.
        sequence_length: int32, (batch,).
        preprocess_collapse_repeated: Whether repeated labels are made one first.
        ctc_merge_repeated: Whether a class repeated without a blank between is one label.
        ignore_longer_outputs_than_inputs: Whether sequences shorter than their labels give 0.
        time_major: False for inputs of (batch, time, classes).
        logits: Later name of `inputs`.

    Raises:
        TypeError: `labels` is no SparseTensor.
        ValueError: The shapes do not fit.
    """
    if not isinstance(labels, SparseTensor):
        raise InvalidTypeError("Expected labels (first argument) to be a SparseTensor")
    inputs = either("logits", logits, "inputs", inputs)
    if not time_major:
        inputs = raw_ops.Transpose(inputs, [1, 0, 2], name="transpose")
    return ctc_loss_op(
        inputs,
        labels.indices,
        labels.values,
        sequence_length,
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )[0]


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> tuple[Any, Any]:
    """`tf.nn.ctc_greedy_decoder`: `([SparseTensor of the labels], negative sums of logits)`.

    Args:
        inputs: Logits, (time, batch, classes); the last class is the blank.
        sequence_length: int32, (batch,).
        merge_repeated: Whether a class repeated without a blank between is one label.

    Raises:
        ValueError: The shapes do not fit.
    """
    *parts, scores = ctc_greedy_decoder_op(inputs, sequence_length, merge_repeated=merge_repeated)
    return [SparseTensor(*parts)], scores


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[Any, Any]:
    """`tf.nn.ctc_beam_search_decoder` of TensorFlow 1: `(SparseTensors of labels, log probabilities)`.

    Args:
        inputs: Logits, (time, batch, classes); the last class is the blank.
        sequence_length: int32, (batch,).
        beam_width: How many prefixes are kept after each time step.
        top_paths: How many labellings to give for each sequence.
        merge_repeated: Whether equal labels next to each other are made one in the result.

    Raises:
        ValueError: The shapes do not fit.
    """
    *parts, scores = ctc_beam_search_decoder_op(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=merge_repeated
    )
    return [SparseTensor(*triple) for triple in zip(*parts, strict=True)], scores


def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[Any, Any]:
    """`tf.nn.ctc_beam_search_decoder_v2`: as `ctc_beam_search_decoder`, nothing merged in the result."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, merge_repeated=False)


def edit_distance(hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance") -> Any:
    """`tf.edit_distance`: the Levenshtein distance of the sequences in the last dimension.

    Args:
        hypothesis: A SparseTensor of rank 2 or more.
        truth: A SparseTensor of the same rank.
        normalize: Whether to divide by the length of the true sequence.
        name: Name of the operation.

    Raises:
        TypeError: One of them is no SparseTensor.
        ValueError: The shapes do not fit.
    """
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise InvalidTypeError(f"{what} must be a SparseTensor.")
    parts = [
        part for sparse in (hypothesis, truth) for part in (sparse.indices, sparse.values, sparse.dense_shape)
    ]
    return edit_distance_op(*parts, normalize=normalize, name=name)
