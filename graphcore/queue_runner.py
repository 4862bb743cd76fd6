"""`tf.train.QueueRunner`: threads that fill queues while the main thread trains.

Source: tensorflow/python/training/queue_runner_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ..formats import protos
from . import meta_graph
from .default import GraphKeys, add_to_collection, get_collection, get_default_graph, get_default_session
from .errors import (
    EXCEPTION_BY_CODE,
    CancelledError,
    InvalidTypeError,
    InvalidValueError,
    OpError,
    OutOfRangeError,
)
from .importer import as_message
from .ops.data_flow import QueueBase
from .session import BaseSession


class QueueRunner:
    """Enqueue operations of one queue, each run again and again in a thread of its own.

    When the last of them has met the end of its input, the queue is closed; when the coordinator stops,
    it is closed and who waits for room gives up.

    Args:
        queue: The queue.
        enqueue_ops: Operations, one for each thread; the same may be there several times.
        close_op: Closes the queue; by default made of `queue`.
        cancel_op: Closes the queue and cancels; by default made of `queue`.
        queue_closed_exception_types: Errors that mean that the queue's input has ended.
        queue_runner_def: A QueueRunnerDef to make it of, instead of the others.
        import_scope: The name scope into which the graph of `queue_runner_def` was imported.

    Raises:
        ValueError: Neither a queue with enqueue operations nor a QueueRunnerDef is given, or both are.
        KeyError: Operations of the QueueRunnerDef are not in the default graph.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: Sequence[type[OpError]] | None = None,
        queue_runner_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if queue_runner_def is not None:
            if queue is not None or enqueue_ops:
                raise InvalidValueError("queue_runner_def and queue are mutually exclusive.")
            self._from_message(
                as_message(queue_runner_def, protos.QueueRunnerDef, "queue_runner_def"), import_scope
            )
        else:
            self._from_queue(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        self._running: dict[Any, int] = {}
        self._exceptions: list[BaseException] = []

    def _from_queue(
        self, queue: Any, enqueue_ops: Any, close_op: Any, cancel_op: Any, end: Sequence[type[OpError]] | None
    ) -> None:
        if queue is None or not enqueue_ops:
            raise InvalidValueError("Must provide queue and enqueue_ops.")
        if end is not None and not (
            isinstance(end, (tuple, list))
            and end
            and all(isinstance(kind, type) and issubclass(kind, OpError) for kind in end)
        ):
            raise InvalidTypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but saw: "
                f"{end}"
            )
        self._queue: Any = queue
        self._name: str = queue.name
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._end: tuple[type[OpError], ...] = (OutOfRangeError,) if end is None else tuple(end)

    def _from_message(self, message: Any, scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(f"{scope}/{name}" if scope else name)

        handle = element(message.queue_name if ":" in message.queue_name else f"{message.queue_name}:0")
        source = handle.op
        types = source.attr("component_types") if source.has_attr("component_types") else []
        shapes = source.attr("shapes") if source.has_attr("shapes") else []
        if source.type.startswith("PriorityQueue"):
            types, shapes = ["int64", *types], [[], *shapes] if shapes else []
        self._queue = QueueBase(types, shapes or None, None, handle)
        self._name = source.name
        self._enqueue_ops = [element(name) for name in message.enqueue_op_name]
        self._close_op = element(message.close_op_name)
        self._cancel_op = element(message.cancel_op_name)
        codes = tuple(EXCEPTION_BY_CODE[code] for code in message.queue_closed_exception_types)
        self._end = codes or (OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """The queue."""
        return self._queue

    @property
    def enqueue_ops(self) -> list[Any]:
        """The operations that fill it."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """The operation that closes it."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """The operation that closes it and cancels."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type[OpError], ...]:
        """Errors that mean that its input has ended."""
        return self._end

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """Errors of the threads, but for those that a coordinator was told."""
        return self._exceptions

    @property
    def name(self) -> str:
        """The queue's name."""
        return self._name

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[Any]:
        """Makes the threads, unless those of this session still run.

        Args:
            sess: The session.
            coord: A coordinator, which stops them and is told their errors.
            daemon: Make daemon threads.
            start: Start them too.

        Returns:
            One thread for each enqueue operation, and with a coordinator one that closes the queue.
        """
        with self._lock:
            if self._running.get(sess):
                return []
            self._running[sess] = len(self._enqueue_ops)
            self._exceptions = []
        label = f"QueueRunnerThread-{self._name}-"
        threads = [
            threading.Thread(target=self._run, args=(sess, operation, coord), name=f"{label}{operation.name}")
            for operation in self._enqueue_ops
        ]
        if coord is not None:
            threads.append(
                threading.Thread(target=self._close_on_stop, args=(sess, coord), name=f"{label}close_on_stop")
            )
        for thread in threads:
            thread.daemon = daemon
            if coord is not None:
                coord.register_thread(thread)
        for thread in threads if start else ():
            thread.start()
        return threads

    def _run(self, sess: Any, enqueue_op: Any, coord: Any) -> None:
        counted = True
        try:
            while coord is None or not coord.should_stop():
                try:
                    sess.run(enqueue_op)
                except self._end:
                    with self._lock:
                        self._running[sess] -= 1
                        counted = False
                        last = not self._running[sess]
                    if last:
                        self._close(sess)
                    return
        except Exception as error:  # a thread's error must reach somebody
            if coord is not None:
                coord.request_stop(error)
                return
            with self._lock:
                self._exceptions.append(error)
            if not (isinstance(error, CancelledError) or sess._closed):
                raise  # shown by threading.excepthook; a session that was closed is the normal end
        finally:
            if counted:
                with self._lock:
                    self._running[sess] -= 1

    def _close(self, sess: Any) -> None:
        """Closes the queue; that it is closed, or the session, is no error."""
        with suppress(CancelledError, RuntimeError):
            sess.run(self._close_op)

    def _close_on_stop(self, sess: Any, coord: Any) -> None:
        coord.wait_for_stop()
        with suppress(CancelledError, RuntimeError):  # the session is closed, and with it the queue
            sess.run(self._cancel_op)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The QueueRunnerDef; None where the queue lies outside of `export_scope`."""
        prefix = f"{export_scope}/" if export_scope else ""
        if not self._name.startswith(prefix):
            return None
        message = protos.QueueRunnerDef(
            queue_name=self._name.removeprefix(prefix),
            enqueue_op_name=[operation.name.removeprefix(prefix) for operation in self._enqueue_ops],
            close_op_name=self._close_op.name.removeprefix(prefix),
            cancel_op_name=self._cancel_op.name.removeprefix(prefix),
        )
        message.queue_closed_exception_types.extend(kind.error_code for kind in self._end)
        return message

    @staticmethod
    def from_proto(queue_runner_def: Any, import_scope: str | None = None) -> QueueRunner:
        """The QueueRunner that a QueueRunnerDef describes, in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """`tf.train.add_queue_runner`: keeps a QueueRunner for `start_queue_runners` and the MetaGraphDef."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Any = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[Any]:
    """`tf.train.start_queue_runners`: starts all QueueRunners of a collection.

    Args:
        sess: The session; by default the default one.
        coord: A coordinator, which stops the threads and is told their errors.
        daemon: Make daemon threads.
        start: Start them; else only make them.
        collection: The collection.

    Returns:
        The threads.

    Raises:
        ValueError: No session is given and there is no default one.
    """
    if sess is None:
        sess = get_default_session()
        if sess is None:
            raise InvalidValueError(
                "Cannot start queue runners: No default session is registered. Use `with "
                "sess.as_default()` or pass "
                "an explicit session to tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, BaseSession):
        # A MonitoredSession starts the runners by itself.
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []
        raise InvalidTypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    with sess.graph.as_default():
        runners = get_collection(collection)
    return [thread for runner in runners for thread in runner.create_threads(sess, coord, daemon, start)]


meta_graph.register_proto_function(
    GraphKeys.QUEUE_RUNNERS, "QueueRunnerDef", QueueRunner.to_proto, QueueRunner.from_proto
)
