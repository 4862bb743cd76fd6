"""Barriers: tuples of tensors by key, whose components come one by one; complete ones are taken.

Source: tensorflow/core/kernels/barrier_ops.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from .dtypes import DType, int64, string
from .errors import CancelledError, InvalidArgumentError, OutOfRangeError
from .queues import PriorityQueue
from .resources import RunContext
from .shapes import Shape


class Barrier:
    """Elements by key, given out in the order in which their first components came.

    Args:
        name: For messages.
        dtypes: The dtype of each component.
        shapes: The shape of each component.
    """

    def __init__(self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape]) -> None:
        self.name = name
        self.dtypes = list(dtypes)
        self._ready = PriorityQueue(
            f"{name}_queue", [int64, string, *dtypes], [(), (), *shapes] if shapes else [], -1
        )
        self._incomplete: dict[bytes, list[Any]] = {}
        self._next = int(np.iinfo(np.int64).min)
        self._is_closed = False
        self._cancels = False
        self._lock = threading.RLock()

    @property
    def ready_size(self) -> int:
        """How many elements are complete."""
        return len(self._ready)

    @property
    def incomplete_size(self) -> int:
        """How many elements lack a component."""
        return len(self._incomplete)

    def cancel(self) -> None:
        """Makes everybody who waits give up: the session is closed."""
        self._ready.cancel()

    def insert_many(self, ctx: RunContext, component: int, keys: Any, values: Any) -> None:
        """Sets one component of several elements.

        Args:
            ctx: The run's context.
            component: Which one.
            keys: 1-D, bytes.
            values: A row for each key.

        Raises:
            CancelledError: The barrier is closed, and a key is new or nothing is awaited any more.
            InvalidArgumentError: A component came already, or the values do not fit.
        """
        if not 0 <= component < len(self.dtypes):
            raise InvalidArgumentError(
                f"The component ID is out of range {component} > num_components (= {len(self.dtypes)})"
            )
        if values.dtype != self.dtypes[component].np:
            raise InvalidArgumentError(
                f"Type mismatch in barrier component {component}. Expected {self.dtypes[component].name}, "
                f"got {values.dtype}"
            )
        if keys.ndim != 1 or not values.ndim or len(values) != len(keys):
            raise InvalidArgumentError(
                f"{list(keys.shape)} keys and values of shape {list(values.shape)} do not fit"
            )
        if keys.size and not values.size:
            raise InvalidArgumentError(
                f"Tensors with no elements are not supported {self.name}: received shape {list(values.shape)}"
            )
        complete: list[Any] = []
        with self._lock:
            if self._is_closed and (self._cancels or (keys.size and not self._incomplete)):
                raise CancelledError(
                    f"Barrier {self.name} is closed.  Pending enqueues cancelled: {int(self._cancels)}.  "
                    f"Number of new insertions: {keys.size}.  "
                    f"Number of incomplete keys: {len(self._incomplete)}.",
                    barrier=self.name,
                )
            is_new = False
            for place, key in enumerate(keys.tolist()):
                is_new |= key not in self._incomplete
                self._insert(component, place, key, values[place], complete)
            self._next += is_new
        for element in complete:
            self._ready.enqueue(ctx, element)
        with self._lock:
            if self._is_closed and not self._incomplete and not self._ready.is_closed:
                self._ready.close(ctx, False)

    def _insert(self, component: int, place: int, key: bytes, value: Any, complete: list[Any]) -> None:
        if key not in self._incomplete:
            if self._is_closed:
                raise CancelledError(
                    f"Barrier {self.name} is closed, but attempted to insert a brand new key: "
                    f"{key.decode()}.  Pending enqueues cancelled: {int(self._cancels)}.  "
                    f"Insertion index: {place}.  Number of incomplete keys: {len(self._incomplete)}.",
                    barrier=self.name,
                )
            self._incomplete[key] = [np.int64(self._next), *[None] * len(self.dtypes)]
        element = self._incomplete[key]
        if element[1 + component] is not None:
            raise InvalidArgumentError(
                f"Key {key.decode()} already has a value for component {component} in barrier {self.name}"
            )
        dtype = self.dtypes[component].np
        element[1 + component] = np.array(value, dtype)
        if all(item is not None for item in element):
            del self._incomplete[key]
            complete.append([element[0], np.array(key, object), *element[1:]])

    def take_many(self, ctx: RunContext, count: int, allow_small_batch: bool) -> list[Any]:
        """Indices, keys and components of `count` complete elements, each stacked; waits for them.

        Raises:
            OutOfRangeError: The barrier is closed and cannot give as many.
        """
        with self._lock:
            if self._is_closed:
                available = self.ready_size
                if allow_small_batch:
                    count = min(count, available)
                else:
                    available += len(self._incomplete)
                if available < max(count, 1):
                    raise OutOfRangeError(
                        f"Barrier '{self.name}' is closed and has insufficient elements (requested {count}, "
                        f"total size {available})",
                        barrier=self.name,
                    )
        taken: list[Any] = self._ready.dequeue_many(ctx, count, fewer=allow_small_batch)
        return taken

    def close(self, ctx: RunContext, cancel_pending_enqueues: bool) -> None:
        """Lets no new key in; with `cancel_pending_enqueues`, nothing at all.

        Raises:
            CancelledError: It is closed already.
        """
        with self._lock:
            if self._is_closed and (self._cancels or not cancel_pending_enqueues):
                raise CancelledError(f"Barrier '{self.name}' is already closed.", barrier=self.name)
            self._cancels = cancel_pending_enqueues
            self._is_closed = True
            if cancel_pending_enqueues or not self._incomplete:
                self._incomplete.clear()
                if not self._ready.is_closed:
                    self._ready.close(ctx, cancel_pending_enqueues)
