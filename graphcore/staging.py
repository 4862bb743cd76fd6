"""Staging areas: where one part of a graph puts tuples of tensors and another takes them.

Source: tensorflow/core/kernels/stage_op.cc and map_stage_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InvalidArgumentError, ResourceExhaustedError
from .resources import RunContext
from .waiting import Monitor

_STRING_BYTES = 32  # what a string takes besides its characters


def _own(values: Sequence[Any]) -> list[Any]:
    """The values as arrays of the area's own: the run may go on writing into its buffers."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def _size(values: Sequence[Any]) -> int:
    total = 0
    for value in values:
        if getattr(getattr(value, "dtype", None), "kind", "") == "O":
            total += sum(_STRING_BYTES + len(item) for item in value.reshape(-1))
        else:
            total += getattr(value, "nbytes", 0)
    return total


class _Bounded(Monitor):
    """What both kinds of areas share: bounds on what they hold, 0 for none.

    Args:
        name: For messages.
        capacity: The most tuples.
        memory_limit: The most bytes.
    """

    def __init__(self, name: str, capacity: int, memory_limit: int) -> None:
        super().__init__(name)
        self._capacity = capacity
        self._memory_limit = memory_limit

    def _held(self) -> list[list[Any]]:
        raise NotImplementedError

    def _check_size(self, values: Sequence[Any]) -> None:
        size = _size(values)
        if 0 < self._memory_limit < size:
            raise ResourceExhaustedError(
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging Area with a "
                f"memory limit of '{self._memory_limit}'.",
                size=size,
                memory_limit=self._memory_limit,
            )

    def _fits(self, values: Sequence[Any]) -> bool:
        return not self._memory_limit or (sum(map(_size, self._held())) + _size(values) <= self._memory_limit)


class StagingArea(_Bounded):
    """Tuples of tensors, first in, first out."""

    def __init__(self, name: str, capacity: int, memory_limit: int) -> None:
        super().__init__(name, capacity, memory_limit)
        self._tuples: deque[list[Any]] = deque()

    def __len__(self) -> int:
        return len(self._tuples)

    def _held(self) -> list[list[Any]]:
        return list(self._tuples)

    def put(self, ctx: RunContext, values: Sequence[Any]) -> None:
        """Adds a tuple, waiting for room.

        Raises:
            ResourceExhaustedError: It is larger than the memory limit.
        """
        own = _own(values)
        self._check_size(own)

        def step() -> Any:
            if (self._capacity and len(self) >= self._capacity) or not self._fits(own):
                return None
            self._tuples.append(own)
            return True

        self._wait(ctx, "Stage", step)

    def get(self, ctx: RunContext) -> list[Any]:
        """Takes the oldest tuple, waiting for one."""
        return self._wait(ctx, "Unstage", lambda: self._tuples.popleft() if self._tuples else None)

    def peek(self, ctx: RunContext, index: int) -> list[Any]:
        """The tuple at a place, 0 the oldest, which stays; waits for it."""
        return self._wait(ctx, "StagePeek", lambda: self._tuples[index] if 0 <= index < len(self) else None)

    def clear(self) -> None:
        """Forgets all."""
        with self._changed:
            self._tuples.clear()
            self._changed.notify_all()


class StagingMap(_Bounded):
    """Tuples of tensors by key; parts of a tuple may come and go on their own.

    Args:
        name: For messages.
        width: How many tensors a tuple has.
        capacity: The most tuples, 0 for any number.
        memory_limit: The most bytes, 0 for any number.
        ordered: Whether `get_any` takes the smallest key, else the oldest.
    """

    def __init__(self, name: str, width: int, capacity: int, memory_limit: int, ordered: bool) -> None:
        super().__init__(name, capacity, memory_limit)
        self._width = width
        self._ordered = ordered
        self._complete: dict[int, list[Any]] = {}
        self._incomplete: dict[int, list[Any]] = {}

    def __len__(self) -> int:
        return len(self._complete)

    @property
    def incomplete_size(self) -> int:
        """How many tuples lack a part."""
        return len(self._incomplete)

    def _held(self) -> list[list[Any]]:
        return [*self._complete.values(), *self._incomplete.values()]

    def put(self, ctx: RunContext, key: int, indices: Sequence[int], values: Sequence[Any]) -> None:
        """Adds a tuple, or the parts `indices` of one, waiting for room.

        A whole tuple whose key is there already is dropped, as in TensorFlow.

        Raises:
            InvalidArgumentError: Indices are out of order or out of bounds, or the part is there already.
            ResourceExhaustedError: It is larger than the memory limit.
        """
        self._check_indices(key, indices)
        if len(indices) != len(values):
            raise InvalidArgumentError(f"{len(values)} values were staged at {len(indices)} indices")
        own = _own(values)
        self._check_size(own)
        whole = len(indices) == self._width

        def step() -> Any:
            if (whole and self._capacity and len(self) >= self._capacity) or not self._fits(own):
                return None
            if whole:
                self._complete.setdefault(key, own)
                return True
            parts = self._incomplete.setdefault(key, [None] * self._width)
            for index in indices:
                if parts[index] is not None:
                    raise InvalidArgumentError(
                        f"The tensor for index '{index}' for key '{key}' was already initialized "
                        f"'{self._width}'."
                    )
            for index, value in zip(indices, own):
                parts[index] = value
            if all(part is not None for part in parts):
                self._complete.setdefault(key, self._incomplete.pop(key))
            return True

        self._wait(ctx, "MapStage", step)

    def get(self, ctx: RunContext, key: int, indices: Sequence[int], keep: bool = False) -> list[Any]:
        """The parts `indices` of a tuple, waiting for its key; they go unless `keep`.

        Raises:
            InvalidArgumentError: Indices are out of order or out of bounds, or a part has gone already.
        """
        self._check_indices(key, indices)
        return self._wait(ctx, "MapUnstage", lambda: self._parts(key, indices, keep))

    def get_any(self, ctx: RunContext, indices: Sequence[int]) -> tuple[int, list[Any]]:
        """`(key, parts)` of some tuple, waiting for one; errors as `get`."""

        def step() -> tuple[int, list[Any]] | None:
            if not self._complete:
                return None
            key = min(self._complete) if self._ordered else next(iter(self._complete))
            self._check_indices(key, indices)
            parts = self._parts(key, indices, False)
            return None if parts is None else (key, parts)

        return self._wait(ctx, "MapUnstageNoKey", step)

    def clear(self) -> None:
        """Forgets all."""
        with self._changed:
            self._complete.clear()
            self._incomplete.clear()
            self._changed.notify_all()

    def _parts(self, key: int, indices: Sequence[int], keep: bool) -> list[Any] | None:
        parts = self._complete.get(key)
        if parts is None:
            return None
        for index in indices:
            if parts[index] is None:
                raise InvalidArgumentError(
                    f"Tensor at index '{index}' for key '{key}' has already been removed."
                )
        found = [parts[index] for index in indices]
        if not keep:
            for index in indices:
                parts[index] = None
            if all(part is None for part in parts):
                del self._complete[key]
        return found

    def _check_indices(self, key: int, indices: Sequence[int]) -> None:
        if any(a >= b for a, b in itertools.pairwise(indices)):
            raise InvalidArgumentError("Indices are not strictly ordered")
        if not indices:
            raise InvalidArgumentError("There are no indices")
        for index in indices:
            if not 0 <= index < self._width:
                raise InvalidArgumentError(
                    f"Index '{index}' for key '{key}' was out of bounds '{self._width}'."
                )
