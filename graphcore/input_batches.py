"""Batches from queues that threads fill: the second half of TensorFlow 1's input pipelines.

Each adds a queue, a QueueRunner in the collection `QUEUE_RUNNERS` and a summary of how full the queue is.
A sparse tensor goes through the queue as the number under which a map keeps it (`input_sparse`).

Source: tensorflow/python/training/input.py (r1.15), behaviour and names of nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import input_sparse, summary
from .conditional import smart_cond
from .convert import convert_to_tensor, convert_to_tensor_or_indexed_slices
from .default import name_scope
from .dtypes import float32, int32
from .errors import InvalidTypeError, InvalidValueError
from .op import no_op, raw_ops
from .ops.data_flow import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from .ops.math_unary import tf_cast as cast
from .queue_runner import QueueRunner, add_queue_runner
from .sparse_tensor import SparseTensor
from .tensor_shape import as_shape


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.batch`: batches of tensors, through a queue.

    Args:
        tensors: Tensors, sparse tensors or a dict of them: one example, or with `enqueue_many` several.
        batch_size: How many examples a batch has, a number or scalar int32 tensor.
        num_threads: How many threads fill the queue.
        capacity: Of the queue.
        enqueue_many: Axis 0 of `tensors` goes over examples.
        shapes: The shapes of an example's tensors; by default those that are known.
        dynamic_pad: Pad with zeros to the largest of a batch where dimensions are unknown.
        allow_smaller_final_batch: Give what is left at the end, too.
        shared_name: Queues with the same shared name in a session are one.
        name: Name scope.

    Returns:
        As `tensors`, each with a new axis 0 of `batch_size`; a single tensor for a list of one.

    Raises:
        ValueError: There are no tensors, a rank is not known, or shapes are unknown without `dynamic_pad`.
        OutOfRangeError: In a run: the input has ended.
    """
    return _one(
        _fifo(capacity, dynamic_pad, shared_name), "batch", tensors, True, batch_size, num_threads,
        enqueue_many, shapes, allow_smaller_final_batch, name, _fraction(capacity),
    )  # fmt: skip


def maybe_batch(
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.maybe_batch`: as `batch`, of only some examples.

    Args:
        tensors: See `batch`, as all others.
        keep_input: A bool tensor: a scalar, or with `enqueue_many` one for each example.
        batch_size: How many examples a batch has.
        num_threads: How many threads fill the queue.
        capacity: Of the queue.
        enqueue_many: Axis 0 of `tensors` goes over examples.
        shapes: The shapes of an example's tensors.
        dynamic_pad: Pad with zeros.
        allow_smaller_final_batch: Give what is left at the end, too.
        shared_name: Queues with the same shared name in a session are one.
        name: Name scope.

    Raises:
        ValueError: As `batch`; or `keep_input` has a wrong rank.
    """
    return _one(
        _fifo(capacity, dynamic_pad, shared_name), "batch", tensors, keep_input, batch_size, num_threads,
        enqueue_many, shapes, allow_smaller_final_batch, name, _fraction(capacity),
    )  # fmt: skip


def batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.batch_join`: as `batch`, of several sources, each with a thread of its own.

    Args:
        tensors_list: What `batch` takes as `tensors`, for each source.
        batch_size: See `batch`, as all others.
        capacity: Of the queue.
        enqueue_many: Axis 0 goes over examples.
        shapes: The shapes of an example's tensors.
        dynamic_pad: Pad with zeros.
        allow_smaller_final_batch: Give what is left at the end, too.
        shared_name: Queues with the same shared name in a session are one.
        name: Name scope.

    Raises:
        ValueError: As `batch`; or the sources differ.
        TypeError: Their dtypes differ.
    """
    return _join(
        _fifo(capacity, dynamic_pad, shared_name), "batch_join", tensors_list, True, batch_size,
        enqueue_many, shapes, allow_smaller_final_batch, name, _fraction(capacity),
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.maybe_batch_join`: as `batch_join`, of only some examples; see `maybe_batch`."""
    return _join(
        _fifo(capacity, dynamic_pad, shared_name), "batch_join", tensors_list, keep_input, batch_size,
        enqueue_many, shapes, allow_smaller_final_batch, name, _fraction(capacity),
    )  # fmt: skip


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.shuffle_batch`: batches of examples in random order.

    Args:
        tensors: See `batch`, as all others.
        batch_size: How many examples a batch has.
        capacity: Of the queue.
        min_after_dequeue: How many examples stay in the queue, for a good mixture; less than `capacity`.
        num_threads: How many threads fill the queue.
        seed: Seed of the order.
        enqueue_many: Axis 0 of `tensors` goes over examples.
        shapes: The shapes of an example's tensors.
        allow_smaller_final_batch: Give what is left at the end, too.
        shared_name: Queues with the same shared name in a session are one.
        name: Name scope.

    Raises:
        ValueError: As `batch`; or `capacity` is too small.
    """
    return _one(
        _shuffled(capacity, min_after_dequeue, seed, shared_name), "shuffle_batch", tensors, True,
        batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name,
        _fraction(capacity, min_after_dequeue),
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.maybe_shuffle_batch`: as `shuffle_batch`, of only some examples; see `maybe_batch`."""
    return _one(
        _shuffled(capacity, min_after_dequeue, seed, shared_name), "shuffle_batch", tensors, keep_input,
        batch_size, num_threads, enqueue_many, shapes, allow_smaller_final_batch, name,
        _fraction(capacity, min_after_dequeue),
    )  # fmt: skip


def shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.shuffle_batch_join`: as `shuffle_batch`, of several sources; see `batch_join`."""
    return _join(
        _shuffled(capacity, min_after_dequeue, seed, shared_name), "shuffle_batch_join", tensors_list, True,
        batch_size, enqueue_many, shapes, allow_smaller_final_batch, name,
        _fraction(capacity, min_after_dequeue),
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    keep_input: Any,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`tf.train.maybe_shuffle_batch_join`: as `shuffle_batch_join`, of only some; see `maybe_batch`."""
    return _join(
        _shuffled(capacity, min_after_dequeue, seed, shared_name), "shuffle_batch_join", tensors_list,
        keep_input, batch_size, enqueue_many, shapes, allow_smaller_final_batch, name,
        _fraction(capacity, min_after_dequeue),
    )  # fmt: skip


# The queues


_MakeQueue = Callable[[list[Any], list[Any]], QueueBase]


def _fifo(capacity: int, dynamic_pad: bool, shared_name: str | None) -> _MakeQueue:
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return lambda dtypes, shapes: kind(
        capacity=capacity, dtypes=dtypes, shapes=shapes, shared_name=shared_name
    )


def _shuffled(capacity: int, least: int, seed: int | None, shared_name: str | None) -> _MakeQueue:
    if capacity <= least:
        raise InvalidValueError(f"capacity {capacity} must be bigger than min_after_dequeue {least}.")
    return lambda dtypes, shapes: RandomShuffleQueue(
        capacity=capacity,
        min_after_dequeue=least,
        seed=seed,
        dtypes=dtypes,
        shapes=shapes,
        shared_name=shared_name,
    )


def _fraction(capacity: int, least: int | None = None) -> Callable[[QueueBase], None]:
    """What adds the summary of how full a queue is: over `least` where that is given."""

    def add(queue: QueueBase) -> None:
        if least is None:
            summary.scalar(f"fraction_of_{capacity}_full", cast(queue.size(), float32) * (1.0 / capacity))
            return
        room = capacity - least
        over = cast(raw_ops.Maximum(0, queue.size() - least), float32) * (1.0 / room)
        summary.scalar(f"fraction_over_{least}_of_{room}_full", over)

    return add


# What all do


def _one(
    make_queue: _MakeQueue,
    what: str,
    tensors: Any,
    keep_input: Any,
    batch_size: Any,
    num_threads: int,
    enqueue_many: bool,
    shapes: Any,
    smaller: bool,
    name: str | None,
    add_summary: Callable[[QueueBase], None],
) -> Any:
    """Batches of one source."""
    listed = list(_values(tensors))
    with name_scope(name, what, [*listed, keep_input]) as scope:
        listed = _converted(listed)
        if not listed:
            raise InvalidValueError("Expected at least one tensor in batch().")
        keep = _checked_keep_input(keep_input, enqueue_many)
        stored, infos = input_sparse.store(listed, enqueue_many, keep)
        queue = make_queue(_dtypes([stored]), _shapes([stored], shapes, enqueue_many))
        operation = _enqueue(queue, stored, enqueue_many, keep)
        add_queue_runner(QueueRunner(queue, [operation] * num_threads))
        return _dequeue(queue, add_summary, batch_size, smaller, scope, infos, tensors)


def _join(
    make_queue: _MakeQueue,
    what: str,
    tensors_list: Any,
    keep_input: Any,
    batch_size: Any,
    enqueue_many: bool,
    shapes: Any,
    smaller: bool,
    name: str | None,
    add_summary: Callable[[QueueBase], None],
) -> Any:
    """Batches of several sources."""
    if not tensors_list:
        raise InvalidValueError("Expected at least one set of tensors")
    first = tensors_list[0]
    if isinstance(first, dict) and any(set(first) != set(tensors) for tensors in tensors_list[1:]):
        raise InvalidValueError("All dictionaries in tensors_list must have the same keys")
    sources = [list(_values(tensors)) for tensors in tensors_list]
    flat = [tensor for source in sources for tensor in source]
    with name_scope(name, what, [*flat, keep_input]) as scope:
        sources = [_converted(source) for source in sources]
        keep = _checked_keep_input(keep_input, enqueue_many)
        stored, infos = input_sparse.store_join(sources, enqueue_many, keep)
        queue = make_queue(_dtypes(stored), _shapes(stored, shapes, enqueue_many))
        operations = [_enqueue(queue, source, enqueue_many, keep) for source in stored]
        add_queue_runner(QueueRunner(queue, operations))
        return _dequeue(queue, add_summary, batch_size, smaller, scope, infos, first)


def _values(tensors: Any) -> Any:
    return [tensors[key] for key in sorted(tensors, key=str)] if isinstance(tensors, dict) else tensors


def _converted(tensors: list[Any]) -> list[Any]:
    return [
        item if isinstance(item, SparseTensor) else convert_to_tensor_or_indexed_slices(item)
        for item in tensors
    ]


def _checked_keep_input(keep_input: Any, enqueue_many: bool) -> Any:
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise InvalidValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise InvalidValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise InvalidValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _dtypes(sources: list[list[Any]]) -> list[Any]:
    first, *others = [[tensor.dtype for tensor in source] for source in sources]
    for other in others:
        if other != first:
            mine, theirs = (", ".join(dtype.name for dtype in dtypes) for dtypes in (first, other))
            raise InvalidTypeError(f"Expected types to be consistent: {mine} vs. {theirs}.")
    return first


def _shapes(sources: list[list[Any]], shapes: Any, enqueue_many: bool) -> list[Any]:
    """The shapes of an example's tensors: those of the first source, which the others must fit."""
    if shapes is not None:
        return list(shapes)
    for tensor in (tensor for source in sources for tensor in source):
        if tensor.shape.ndims is None:
            raise InvalidValueError(f"Cannot infer Tensor's rank: {tensor}")
    result = []
    for column in zip(*sources):
        known = [as_shape(tensor.shape) for tensor in column]
        if enqueue_many:
            known = [shape.with_rank_at_least(1)[1:] for shape in known]
        for other in known[1:]:
            known[0].merge_with(other)
        result.append(known[0].as_list())
    return result


def _enqueue(queue: QueueBase, tensors: list[Any], enqueue_many: bool, keep: Any) -> Any:
    add = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep.shape.ndims == 1:
        which = cast(keep, int32)
        return add([raw_ops.DynamicPartition(tensor, which, num_partitions=2)[1] for tensor in tensors])
    return smart_cond(keep, lambda: add(tensors), no_op)


def _dequeue(
    queue: QueueBase,
    add_summary: Callable[[QueueBase], None],
    batch_size: Any,
    smaller: bool,
    scope: str,
    infos: list[Any],
    original: Any,
) -> Any:
    add_summary(queue)
    take = queue.dequeue_up_to if smaller else queue.dequeue_many
    found = input_sparse.restore(take(batch_size, name=scope), infos)
    if not isinstance(original, dict):
        return found
    values = found if isinstance(found, (list, tuple)) else [found]
    return dict(zip(sorted(original, key=str), values))
