"""Queues of filenames, numbers and slices: the first half of TensorFlow 1's input pipelines.

Each has a QueueRunner in the collection `QUEUE_RUNNERS`, which `start_queue_runners` starts.

Source: tensorflow/python/training/input.py (r1.15), behaviour and names of nodes.
"""

from __future__ import annotations

from typing import Any

from . import summary
from .convert import constant, convert_to_tensor, convert_to_tensor_or_indexed_slices
from .default import GraphKeys, control_dependencies, name_scope
from .dtypes import float32, int64, string
from .errors import InvalidValueError
from .op import raw_ops
from .operation import Tensor
from .ops.array_create import tf_range
from .ops.array_select import gather
from .ops.array_shape import tf_shape, tf_size
from .ops.control_flow import tf_assert
from .ops.data_flow import FIFOQueue
from .ops.files_matching import matching_files
from .ops.math_unary import tf_cast
from .ops.random import random_shuffle
from .queue_runner import QueueRunner, add_queue_runner
from .variable import Variable


def match_filenames_once(pattern: Any, name: str | None = None) -> Any:
    """`tf.train.match_filenames_once`: the files that match a pattern, looked for once.

    Args:
        pattern: A pattern, or several.
        name: Name of the variable.

    Returns:
        A local variable, a vector of strings; `local_variables_initializer` looks.
    """
    with name_scope(name, "matching_filenames", [pattern]) as scope:
        return Variable(
            matching_files(pattern), trainable=False, validate_shape=False, name=scope,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )  # fmt: skip


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Any:
    """`tf.train.limit_epochs`: a tensor that can be asked for a number of times, then ends the input.

    Args:
        tensor: Any tensor.
        num_epochs: How often; None for ever. It is counted in a local variable `epochs`.
        name: Name scope.

    Raises:
        ValueError: `num_epochs` is not positive.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise InvalidValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = Variable(
            constant(0, int64), trainable=False, name="epochs", collections=[GraphKeys.LOCAL_VARIABLES]
        )
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return raw_ops.Identity(tensor, name=scope)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """`tf.train.input_producer`: the rows of a tensor, again and again, in a queue.

    Args:
        input_tensor: A tensor of rank at least 1.
        element_shape: The shape of a row, where it is not known statically.
        num_epochs: How often all rows go in; None for ever.
        shuffle: Shuffle the rows each time.
        seed: Seed of the order.
        capacity: Of the queue.
        shared_name: Queues with the same shared name in a session are one.
        summary_name: Adds a scalar summary of this name: how full the queue is, 0 to 1.
        name: Name scope.
        cancel_op: The QueueRunner's cancel operation.

    Returns:
        The queue.

    Raises:
        ValueError: The shape of a row is not known, or does not fit.
    """
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise InvalidValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be specified"
            )
        if shuffle:
            input_tensor = random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(
            capacity, [input_tensor.dtype.base_dtype], [element_shape], shared_name=shared_name,
            name=name,
        )  # fmt: skip
        enqueue = queue.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            summary.scalar(summary_name, tf_cast(queue.size(), float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Any = None,
) -> FIFOQueue:
    """`tf.train.string_input_producer`: strings, mostly filenames, in a queue.

    Args:
        string_tensor: A vector of strings.
        num_epochs: See `input_producer`, as all others.
        shuffle: Shuffle them each time.
        seed: Seed of the order.
        capacity: Of the queue.
        shared_name: Queues with the same shared name in a session are one.
        name: Name scope.
        cancel_op: The QueueRunner's cancel operation.

    Raises:
        ValueError: A Python list is empty. An empty tensor is an InvalidArgumentError in the run.
    """
    empty = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not hasattr(string_tensor, "op") and not len(string_tensor):
        raise InvalidValueError(empty)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        string_tensor = convert_to_tensor(string_tensor, string)
        with control_dependencies([tf_assert(raw_ops.Greater(tf_size(string_tensor), 0), [empty])]):
            string_tensor = raw_ops.Identity(string_tensor)
        return input_producer(
            string_tensor, [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope, cancel_op,
        )  # fmt: skip


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """`tf.train.range_input_producer`: the numbers 0 to `limit` - 1 in a queue; see `input_producer`."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            tf_range(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
            f"fraction_of_{capacity}_full", scope,
        )  # fmt: skip


def slice_input_producer(
    tensor_list: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Any]:
    """`tf.train.slice_input_producer`: one row of each of several tensors, the same row of all.

    Args:
        tensor_list: Tensors with as many rows.
        num_epochs: See `input_producer`, as all others.
        shuffle: Shuffle the rows each time.
        seed: Seed of the order.
        capacity: Of the queue, which holds row numbers.
        shared_name: Queues with the same shared name in a session are one.
        name: Name scope.

    Returns:
        A tensor for each of `tensor_list`, a row.

    Raises:
        ValueError: There is no tensor.
    """
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor_or_indexed_slices(item) for item in tensor_list]
        if not tensors:
            raise InvalidValueError("Expected at least one tensor in slice_input_producer().")
        queue = range_input_producer(
            tf_shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name
        )
        index = queue.dequeue()
        return [gather(tensor, index) for tensor in tensors]
