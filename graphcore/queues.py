"""Queues: what a graph's queue operations work on, blocking and safe for threads.

Enqueuers and dequeuers each stand in line: only the first of a line may act, so that a large request
is not starved by small ones. A close without cancelling stands in the enqueuers' line too: what was
waiting before it still goes in. A request that gives up puts back what it had taken.

Source: tensorflow/core/kernels/{queue_base,fifo_queue,random_shuffle_queue,padding_fifo_queue,
priority_queue}.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .dtypes import DType
from .errors import CancelledError, DeadlineExceededError, InvalidArgumentError, OutOfRangeError
from .kernels.philox import Philox
from .resources import RunContext
from .shapes import Shape, format_shape

Element = tuple[np.ndarray, ...]


class _Ticket:
    """A place in a line."""

    __slots__ = ("cancelled",)

    def __init__(self) -> None:
        self.cancelled = False


class Queue:
    """A first-in, first-out queue of tuples of tensors; the base of the others.

    Attributes:
        kind: The name of its op without version, as messages say it.
        padded: Whether dimensions may be unknown.
        name: The queue's name in messages.
        dtypes: The dtype of each component.
        shapes: The shape of each component, or empty where any shape may go in.
        capacity: The most elements that it holds.
    """

    kind = "FIFOQueue"
    padded = False

    def __init__(self, name: str, dtypes: Sequence[DType], shapes: Sequence[Shape], capacity: int) -> None:
        self.name = name
        self.dtypes = list(dtypes)
        self.shapes = list(shapes)
        self.capacity = 2**31 - 1 if capacity < 0 else capacity
        self._requested_capacity = capacity
        self._changed = threading.Condition()
        self._enqueuers: deque[_Ticket] = deque()
        self._dequeuers: deque[_Ticket] = deque()
        self._closed = False
        self._cancelled = False
        self._clear()

    # What the kinds of queues differ in; called with the lock held.

    def _clear(self) -> None:
        self._elements: Any = deque()

    def _put(self, element: Element) -> None:
        self._elements.append(element)

    def _take(self) -> Element:
        element: Element = self._elements.popleft()
        return element

    def _put_back(self, elements: list[Element]) -> None:
        self._elements.extendleft(reversed(elements))

    def _available(self) -> int:
        """How many elements may be taken now."""
        return len(self._elements)

    # Queries

    @property
    def is_closed(self) -> bool:
        """Whether nothing more may go in."""
        return self._closed

    def __len__(self) -> int:
        return len(self._elements)

    def check_same(self, kind: str, dtypes: Sequence[DType], shapes: Sequence[Shape], capacity: int) -> None:
        """Raises InvalidArgumentError unless a node declares this queue as it is."""
        if kind != self.kind:
            raise InvalidArgumentError(f"Shared queue '{self.name}' is a {self.kind}, not a {kind}")
        if capacity != self._requested_capacity:
            raise InvalidArgumentError(
                f"Shared queue '{self.name}' has capacity {self._requested_capacity} but "
                "requested capacity was "
                f"{capacity}"
            )
        if list(dtypes) != self.dtypes:
            mine, theirs = (", ".join(dtype.name for dtype in types) for types in (self.dtypes, dtypes))
            raise InvalidArgumentError(
                f"Shared queue '{self.name}' has component types {mine} but requested "
                f"component types were {theirs}"
            )
        if list(shapes) != self.shapes:
            mine, theirs = (", ".join(map(format_shape, items)) for items in (self.shapes, shapes))
            raise InvalidArgumentError(
                f"Shared queue '{self.name}' has component shapes [{mine}] but requested "
                "component shapes were "
                f"[{theirs}]"
            )

    # Operations

    def enqueue(self, ctx: RunContext, components: Sequence[Any]) -> None:
        """Adds one element, waiting for room.

        Raises:
            CancelledError: The queue is closed, or is closed with cancelling meanwhile.
            InvalidArgumentError: The components do not fit.
            DeadlineExceededError: The run's time is over.
        """
        element = self._checked(components)
        for index, (array, shape) in enumerate(zip(element, self.shapes)):
            _check_shape(index, shape, array.shape)
        self._enqueue_all(ctx, [element])

    def enqueue_many(self, ctx: RunContext, components: Sequence[Any]) -> None:
        """Adds one element for each row of the components; errors as `enqueue`."""
        arrays = self._checked(components)
        if any(not array.ndim for array in arrays):
            raise InvalidArgumentError("The components of an EnqueueMany must have at least one dimension")
        count = len(arrays[0])
        for index, array in enumerate(arrays):
            if self.shapes:
                inner = self.shapes[index]
                _check_shape(index, None if inner is None else (count, *inner), array.shape)
            elif len(array) != count:
                raise InvalidArgumentError(
                    f"All input tensors must have the same size in the 0th dimension. Component {index} has "
                    f"{len(array)}, and should have {count}"
                )
        rows = [
            tuple(np.asarray(array[row], dtype.np) for array, dtype in zip(arrays, self.dtypes))
            for row in range(count)
        ]
        if rows:
            self._enqueue_all(ctx, rows)

    def _checked(self, components: Sequence[Any]) -> Element:
        """The components as arrays of the queue's own: the caller may go on writing into theirs."""
        if len(components) != len(self.dtypes):
            raise InvalidArgumentError(
                f"Wrong number of components in tuple. Expected {len(self.dtypes)}, got {len(components)}"
            )
        arrays = []
        for index, (value, dtype) in enumerate(zip(components, self.dtypes)):
            array = np.array(value, dtype=None if hasattr(value, "dtype") else dtype.np)
            if array.dtype != dtype.np:
                raise InvalidArgumentError(
                    f"Type mismatch in tuple component {index}. Expected {dtype.name}, got {array.dtype}"
                )
            arrays.append(array)
        return tuple(arrays)

    def _enqueue_all(self, ctx: RunContext, elements: list[Element]) -> None:
        waiting = deque(elements)

        def step() -> Any:
            if self._closed:
                raise CancelledError(f"{self.kind} '{self.name}' is closed.", queue=self.name)
            before = len(waiting)
            while waiting and len(self._elements) < self.capacity:
                self._put(waiting.popleft())
            if len(waiting) < before:
                self._changed.notify_all()
            return not waiting or None

        self._stand_in_line(ctx, self._enqueuers, step, "Enqueue")

    def dequeue(self, ctx: RunContext) -> list[np.ndarray]:
        """Takes one element, waiting for it.

        Raises:
            OutOfRangeError: The queue is closed and empty.
            CancelledError: The session was closed meanwhile.
            DeadlineExceededError: The run's time is over.
        """
        (element,) = self._dequeue(ctx, 1, False)
        return list(element)

    def dequeue_many(self, ctx: RunContext, count: int, fewer: bool = False) -> list[np.ndarray]:
        """Takes `count` elements, stacked along a new axis 0; with `fewer`, the rest of a closed queue.

        Raises:
            InvalidArgumentError: `count` is negative, or the queue has no shapes.
        """
        what = "DequeueUpToOp" if fewer else "DequeueManyOp"
        if count < 0:
            raise InvalidArgumentError(f"{what} requested {count} < 0 elements")
        if not self.shapes:
            raise InvalidArgumentError(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have specified shapes."
            )
        elements = self._dequeue(ctx, count, fewer) if count else []
        return [
            self._stack([element[index] for element in elements], dtype, shape)
            for index, (dtype, shape) in enumerate(zip(self.dtypes, self.shapes))
        ]

    def _stack(self, arrays: list[np.ndarray], dtype: DType, shape: Shape) -> np.ndarray:
        if not arrays:
            return np.zeros((0, *(dim or 0 for dim in shape or ())), dtype.np)
        return np.stack(arrays)

    def _dequeue(self, ctx: RunContext, count: int, fewer: bool) -> list[Element]:
        taken: list[Element] = []

        def step() -> Any:
            nonlocal count
            missing, size = count - len(taken), len(self._elements)
            if self._closed and size < missing:
                self._put_back(taken)
                taken.clear()
                count = len(self._elements) if fewer else count
                if not fewer or not count:
                    raise OutOfRangeError(
                        f"{self.kind} '{self.name}' is closed and has insufficient elements "
                        f"(requested {missing}, "
                        f"current size {size})",
                        queue=self.name,
                        requested=missing,
                        size=size,
                    )
            able = min(self._available(), count - len(taken))
            taken.extend(self._take() for _ in range(able))
            if able > 0:
                self._changed.notify_all()
            return taken if len(taken) == count else None

        try:
            self._stand_in_line(ctx, self._dequeuers, step, "Dequeue")
        except BaseException:
            if taken:
                with self._changed:
                    self._put_back(taken)
                    self._changed.notify_all()
            raise
        return taken

    def close(self, ctx: RunContext, cancel_pending_enqueues: bool) -> None:
        """Lets nothing more in; with `cancel_pending_enqueues` those who wait fail, else they go first.

        Raises:
            CancelledError: The queue is closed already, and nothing is to be cancelled.
        """
        if cancel_pending_enqueues:
            with self._changed:
                self._closed = True
                for ticket in self._enqueuers:
                    ticket.cancelled = True
                self._changed.notify_all()
            return

        def step() -> Any:
            if self._closed:
                raise CancelledError(f"Queue '{self.name}' is already closed.", queue=self.name)
            self._closed = True
            self._changed.notify_all()
            return True

        self._stand_in_line(ctx, self._enqueuers, step, "Close")

    def cancel(self) -> None:
        """Makes everybody who waits give up, now and later: the session is closed."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def _stand_in_line(
        self, ctx: RunContext, line: deque[_Ticket], step: Callable[[], Any], what: str
    ) -> None:
        """Calls `step` whenever something changed and this thread is the first, until it gives a result."""
        ticket = _Ticket()
        with self._changed:
            line.append(ticket)
            try:
                while True:
                    if ticket.cancelled or self._cancelled or ctx.state.cancelled:
                        raise CancelledError(f"{what} operation was cancelled", queue=self.name)
                    if line[0] is ticket and step() is not None:
                        return
                    left = None if ctx.deadline is None else ctx.deadline - time.monotonic()
                    if left is not None and left <= 0:
                        raise DeadlineExceededError(
                            f"Timed out waiting for notification: {what.lower()} on "
                            f"{self.kind} '{self.name}', "
                            f"which holds {len(self._elements)} elements",
                            queue=self.name,
                        )
                    self._changed.wait(left)
            finally:
                line.remove(ticket)
                self._changed.notify_all()


class PaddingQueue(Queue):
    """A queue whose components may have unknown dimensions; `dequeue_many` pads them with zeros."""

    kind = "PaddingFIFOQueue"
    padded = True

    def _stack(self, arrays: list[np.ndarray], dtype: DType, shape: Shape) -> np.ndarray:
        if not arrays:
            return super()._stack(arrays, dtype, shape)
        largest = (
            np.max([array.shape for array in arrays], axis=0).astype(int).tolist() if arrays[0].ndim else []
        )
        result = np.full((len(arrays), *largest), b"" if dtype.name == "string" else 0, dtype.np)
        for row, array in enumerate(arrays):
            corner: tuple[Any, ...] = (row, *(slice(size) for size in array.shape))
            result[corner] = array
        return result


class ShuffleQueue(Queue):
    """A queue that gives a random one of its elements.

    Args:
        min_after_dequeue: How many elements stay until the queue is closed, so that there is a choice.
        seeds: The op's two seeds; with either, the order is TensorFlow's.
    """

    kind = "RandomShuffleQueue"

    def __init__(
        self,
        name: str,
        dtypes: Sequence[DType],
        shapes: Sequence[Shape],
        capacity: int,
        min_after_dequeue: int = 0,
        seeds: tuple[int, int] = (0, 0),
    ) -> None:
        if min_after_dequeue < 0:
            raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be >= 0")
        if 0 <= capacity <= min_after_dequeue:
            raise InvalidArgumentError(f"min_after_dequeue {min_after_dequeue} must be < capacity {capacity}")
        super().__init__(name, dtypes, shapes, capacity)
        self._keep = min_after_dequeue
        self._random = Philox.from_seeds(*seeds)
        self._numbers: list[int] = []

    def _clear(self) -> None:
        self._elements = []

    def _take(self) -> Element:
        if not self._numbers:
            self._numbers = self._random.words(64).tolist()[::-1]
            self._random.skip(64)
        place = self._numbers.pop() % len(self._elements)
        element: Element = self._elements[place]
        self._elements[place] = self._elements[-1]
        self._elements.pop()
        return element

    def _put_back(self, elements: list[Element]) -> None:
        self._elements.extend(elements)

    def _available(self) -> int:
        return len(self._elements) if self._closed else max(0, len(self._elements) - self._keep)


class PriorityQueue(Queue):
    """A queue that gives the element with the smallest first component (an int64 scalar), oldest first."""

    kind = "PriorityQueue"

    def _clear(self) -> None:
        self._elements = []
        self._count = 0

    def _put(self, element: Element) -> None:
        heapq.heappush(self._elements, (int(element[0]), self._count, element))
        self._count += 1

    def _take(self) -> Element:
        element: Element = heapq.heappop(self._elements)[2]
        return element

    def _put_back(self, elements: list[Element]) -> None:
        for index, element in enumerate(elements):  # before those of the same priority, in their order
            heapq.heappush(self._elements, (int(element[0]), index - self._count - len(elements), element))


def _check_shape(index: int, wanted: Shape, found: tuple[int, ...]) -> None:
    if wanted is None:
        return
    if len(wanted) != len(found) or any(want not in (None, have) for want, have in zip(wanted, found)):
        raise InvalidArgumentError(
            f"Shape mismatch in tuple component {index}. Expected {format_shape(wanted)}, got "
            f"{format_shape(found)}"
        )
