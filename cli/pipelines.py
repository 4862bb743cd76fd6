"""Input pipelines: a run that takes from queues needs somebody who fills them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..formats.errors import InvalidValueError, OpError, bullets

_TAKING = "Dequeue"
_PUTTING = "Enqueue"


@contextmanager
def running(graph: Any, session: Any, fetches: Sequence[Any], fed: Collection[str]) -> Iterator[None]:
    """Runs the graph's own queue runners while something is fetched that takes from a queue.

    Args:
        graph: A `graphcore.Graph`.
        session: A session on it.
        fetches: Tensors and operations.
        fed: Names of the tensors that are fed.

    Raises:
        InvalidValueError: A queue has no runner: the run would wait for ever. Names what to feed.
        OpError: A runner failed (it may not read its files, for one).
    """
    from .. import graphcore as tf

    needed = _needed(fetches, fed)
    takers = [operation for operation in needed if _TAKING in operation.type]
    if not takers:
        yield
        return
    runners = graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
    filled = {_queue(operation) for runner in runners for operation in _needed(runner.enqueue_ops, ())}
    filled |= {_queue(operation) for operation in needed if _PUTTING in operation.type}
    starved = [operation for operation in takers if _queue(operation) not in filled]
    if starved:
        names = {operation: ", ".join(tensor.name for tensor in operation.outputs) for operation in starved}
        lines = [f"{names[operation]} (from the queue '{_queue(operation).name}')" for operation in starved]
        raise InvalidValueError(
            "What is fetched waits for queues that nothing in the graph fills. Feed instead:"
            + bullets(lines),
            feeds=[tensor.name for operation in starved for tensor in operation.outputs],
        )
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    try:
        yield
    except OpError:
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)  # raises what a runner failed with, the cause
        raise
    coordinator.request_stop()
    coordinator.join(threads, ignore_live_threads=True)


def _needed(fetches: Sequence[Any], fed: Collection[str]) -> list[Any]:
    """The operations that fetches need, stopping at fed tensors."""
    found: dict[Any, None] = {}
    stack = [item if hasattr(item, "node_def") else item.op for item in fetches if item.name not in fed]
    while stack:
        operation = stack.pop()
        if operation not in found:
            found[operation] = None
            stack += [tensor.op for tensor in operation.inputs if tensor.name not in fed]
            stack += operation.control_inputs
    return list(found)


def _queue(operation: Any) -> Any:
    """The operation that makes the queue of an enqueue or dequeue; None for another operation."""
    if _TAKING not in operation.type and _PUTTING not in operation.type:
        return None
    queue = operation.inputs[0].op
    while queue.inputs and queue.type in ("Identity", "Enter", "Switch"):
        queue = queue.inputs[0].op
    return queue
