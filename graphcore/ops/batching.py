"""Joining what several runs ask for: Batch, Unbatch and BatchFunction, as servers put them into graphs.

Each run is a batch of its own here: what it gives does not depend on what else runs at the time.
Source: tensorflow/core/kernels/batch_kernels.cc and python/ops/batch_ops.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import ANY
from ..errors import InvalidArgumentError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape
from . import rules

_NAMES = ("container: string = ''", "shared_name: string = ''")
_QUEUE = "batching_queue: string = ''"


def _size_of(tensors: Sequence[Any], max_batch_size: int) -> int:
    """How many rows all tensors have."""
    for value in tensors:
        if not np.ndim(value):
            raise InvalidArgumentError("Batching input tensors must have at least one dimension")
        if len(value) != len(tensors[0]):
            raise InvalidArgumentError(
                "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size"
            )
    size = len(tensors[0]) if tensors else 0
    if size > max_batch_size:
        raise InvalidArgumentError(f"Task size {size} is larger than maximum batch size {max_batch_size}")
    return size


def _padded(tensors: Sequence[Any], size: int, allowed: Sequence[int]) -> list[Any]:
    """The tensors filled up with their first rows to the next size that is allowed."""
    if list(allowed) != sorted(set(allowed)):
        raise InvalidArgumentError("allowed_batch_sizes entries must be monotonically increasing")
    wanted = next((each for each in allowed if each >= size), size)
    if wanted == size or not size:
        return list(tensors)
    return [np.concatenate([value, np.repeat(value[:1], wanted - size, axis=0)]) for value in tensors]


@op(
    "Batch",
    "in_tensors: T -> batched_tensors: T, batch_index: int64, id: int64",
    "num_batch_threads: int",
    "max_batch_size: int",
    "max_enqueued_batches: int = 10",
    "batch_timeout_micros: int",
    "allowed_batch_sizes: list(int) = []",
    "grad_timeout_micros: int",
    *_NAMES,
    _QUEUE,
    "T: list(type) >= 1",
    ctx=True,
)
def batch(
    ctx: Any, in_tensors: list[Any], *, max_batch_size: int, allowed_batch_sizes: list[int]
) -> list[Any]:
    """The tensors of a run as a batch, which rows of it are the run's, and its number."""
    size = _size_of(in_tensors, max_batch_size)
    number = next(ctx.state.resource("batch number", "", "", itertools.count))
    index = np.array([[number, 0, size]], np.int64)
    return [*_padded(in_tensors, size, allowed_batch_sizes), index, np.array(number, np.int64)]


@batch.shape
def _(node: Any) -> list[Shape]:
    shapes = [None if shape is None else (None, *shape[1:]) for shape in node.shapes]
    return [*shapes, (None, 3), ()]


@batch.grad
def _(node: Any, *grads: Any) -> list[Any]:
    *_, index, number = node.outputs
    return [
        None
        if grad is None
        else raw_ops.Unbatch(
            grad,
            index,
            number,
            timeout_micros=node.get_attr("grad_timeout_micros"),
            shared_name=f"batch_gradient_{node.name}_{place}",
        )
        for place, grad in enumerate(grads[:-2])
    ]


def _rows_of(batch_index: Any, number: Any) -> tuple[int, int]:
    """Which rows of a batch are those of a run."""
    if np.ndim(batch_index) != 2 or batch_index.shape[1] != 3:
        raise InvalidArgumentError(
            f"batch_index must be a matrix of 3 columns, not of shape {format_shape(np.shape(batch_index))}"
        )
    for found, start, end in batch_index.tolist():
        if found == int(number):
            return start, end
    raise InvalidArgumentError(f"There is no batch {int(number)} in batch_index {batch_index.tolist()}")


@op(
    "Unbatch",
    "batched_tensor: T, batch_index: int64, id: int64 -> unbatched_tensor: T",
    "timeout_micros: int",
    *_NAMES,
    T=ANY,
)
def unbatch(batched_tensor: Any, batch_index: Any, id: Any) -> Any:
    """The rows of a batch that belong to a run."""
    if not np.ndim(batched_tensor):
        raise InvalidArgumentError("Input to unbatch must have at least one dimension")
    start, end = _rows_of(batch_index, id)
    if end > len(batched_tensor):
        raise InvalidArgumentError(
            f"Wrong shape for input tensor: it has {len(batched_tensor)} rows, the batch index says {end}"
        )
    return batched_tensor[start:end]


@unbatch.shape
def _(node: Any) -> Shape:
    given: Shape = node.shape(0)
    return None if given is None else (None, *given[1:])


@unbatch.grad
def _(node: Any, dy: Any) -> list[Any]:
    batched, index, number = node.inputs
    return [
        raw_ops.UnbatchGrad(batched, index, dy, number, shared_name=f"unbatch_gradient_{node.name}"),
        None,
        None,
    ]


@op(
    "UnbatchGrad",
    "original_input: T, batch_index: int64, grad: T, id: int64 -> batched_grad: T",
    *_NAMES,
    T=ANY,
    undefined_grad="TensorFlow declares none",
)
def unbatch_grad(original_input: Any, batch_index: Any, grad: Any, id: Any) -> Any:
    """The gradients of the runs of a batch, put together."""
    start, end = _rows_of(batch_index, id)
    if end - start != len(grad):
        raise InvalidArgumentError(
            f"The gradient has {len(grad)} rows, the run has {end - start} of the batch"
        )
    return grad


@unbatch_grad.shape
def _(node: Any) -> Shape:
    given: Shape = node.shape(2)
    return None if given is None else (None,) * len(given)


@op(
    "BatchFunction",
    "in_tensors: Tin, captured_tensors: Tcaptured -> out_tensors: Tout",
    "f: func",
    "num_batch_threads: int",
    "max_batch_size: int",
    "batch_timeout_micros: int",
    "max_enqueued_batches: int = 10",
    "allowed_batch_sizes: list(int) = []",
    *_NAMES,
    _QUEUE,
    "Tin: list(type) >= 1",
    "Tcaptured: list(type) >= 0",
    "Tout: list(type) >= 1",
    ctx=True,
    undefined_grad="TensorFlow declares none",
)
def batch_function(
    ctx: Any,
    in_tensors: list[Any],
    captured_tensors: list[Any],
    *,
    f: Any,
    max_batch_size: int,
    allowed_batch_sizes: list[int],
    node: Any,
) -> list[Any]:
    """What a function gives for the tensors of a run, as a batch."""
    size = _size_of(in_tensors, max_batch_size)
    inputs = _padded(in_tensors, size, allowed_batch_sizes)
    outputs = ctx.call(f, [*inputs, *captured_tensors], node.name)
    for value in outputs:
        if not np.ndim(value):
            raise InvalidArgumentError("Batched output tensor has 0 dimensions")
        if len(value) != len(inputs[0]):
            raise InvalidArgumentError(
                "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of "
                f"the input tensors: {len(value)}, not {len(inputs[0])}"
            )
    return [value[:size] for value in outputs]


batch_function.shape(rules.unknown)
