"""Datasets: the values of `variant` tensors that tf.data's ops pass on, and iterators over them.

A dataset says how to make an iterator; nothing is read before somebody asks an iterator for an element.
Iterators are stepped from within a run, whose context functions and files need; an error leaves an
iterator behind the element that failed, so that the next one can still be asked for.

Source: tensorflow/core/kernels/data/*.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import FailedPreconditionError, InvalidArgumentError
from .kernels.philox import Philox
from .resources import SessionState
from .shapes import Shape, format_shape

Row = tuple[Any, ...]
Rows = Iterator[Row]

INFINITE, UNKNOWN = -1, -2  # as DatasetCardinality says it


class Source:
    """What the iterators of one pipeline share: the context of the run that steps them now.

    Attributes:
        ctx: The run's context.
    """

    def __init__(self) -> None:
        self.ctx: Any = None
        self._shared: dict[object, Any] = {}
        self._op_states: Any = None

    def call(self, function: Any, arguments: Sequence[Any]) -> Row:
        """What a function of the graph's library returns.

        Its random states begin anew with each start of an iterator.
        """
        if self._op_states is None:
            self._op_states = SessionState(self.ctx.policy)
        return tuple(self.ctx.call(function, list(arguments), "", self._op_states))

    def keep(self, owner: object, make: Callable[[], Any]) -> Any:
        """What a dataset keeps across the iterators of this pipeline (a cache, a seed generator)."""
        if owner not in self._shared:
            self._shared[owner] = make()
        return self._shared[owner]


@dataclass(eq=False)
class Dataset:
    """A dataset.

    Attributes:
        rows: From the shared source to a new iterator.
        cardinality: The number of elements, `INFINITE` or `UNKNOWN`.
    """

    rows: Callable[[Source], Rows]
    cardinality: int = UNKNOWN

    shape: tuple[int, ...] = ()  # a scalar variant
    ndim = 0


def as_dataset(value: Any) -> Dataset:
    """A variant that must be a dataset.

    Raises:
        InvalidArgumentError: It is something else.
    """
    found = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(found, Dataset):
        raise InvalidArgumentError(f"Tensor must be a Dataset object, not {found!r}")
    return found


class Steps:
    """An iterator out of a function that gives the next row or raises StopIteration.

    Unlike a generator it survives an error.
    """

    def __init__(self, step: Callable[[], Row]) -> None:
        self._step = step

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Row:
        return self._step()


def mapped(function: Callable[[Any], Row], rows: Iterator[Any]) -> Rows:
    """What a function gives for each row; goes on after an error."""
    return Steps(lambda: function(next(rows)))


class DatasetIterator:
    """The resource of an iterator op: where a pipeline stands.

    Args:
        name: For messages and string handles.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._dataset: Dataset | None = None
        self._rows: Rows | None = None
        self._source = Source()
        self._taken = self._behind = 0  # how many elements were asked for, and are to be left out
        self._lock = threading.Lock()

    def start(self, dataset: Dataset, taken: int = 0) -> None:
        """Makes it iterate over `dataset` from the beginning, or from behind `taken` elements."""
        with self._lock:
            self._source = Source()
            self._rows = None
            self._dataset = dataset
            self._taken, self._behind = 0, taken

    def position(self) -> tuple[Dataset, int]:
        """The dataset, and how many elements it has given.

        Raises:
            FailedPreconditionError: It was not initialized.
        """
        with self._lock:
            if self._dataset is None:
                raise FailedPreconditionError(f"The iterator {self.name} has not been initialized.")
            return self._dataset, self._taken + self._behind

    @property
    def is_started(self) -> bool:
        """Whether it has a dataset."""
        return self._dataset is not None

    def next(self, ctx: Any) -> Row | None:
        """The next element, or None after the last.

        Raises:
            FailedPreconditionError: It was not initialized.
            OpError: A function, file or kernel failed; the next call gives the next element.
        """
        with self._lock:
            if self._dataset is None:
                raise FailedPreconditionError(
                    "GetNext() failed because the iterator has not been initialized. Ensure that you have "
                    "run the initializer operation for this iterator before getting the next element."
                )
            self._source.ctx = ctx
            try:
                if self._rows is None:
                    self._rows = self._dataset.rows(self._source)
                while self._behind:
                    self._behind -= 1
                    self._taken += 1
                    next(self._rows, None)
                self._taken += 1
                return next(self._rows, None)
            finally:
                self._source.ctx = None


def all_rows(dataset: Dataset, ctx: Any) -> Iterator[Row]:
    """The elements of a dataset, within one run."""
    source = Source()
    source.ctx = ctx
    return dataset.rows(source)


# Batches


def stacked(values: Sequence[Any], component: int) -> np.ndarray:
    """The values of one component along a new first axis.

    Raises:
        InvalidArgumentError: Their shapes differ.
    """
    first = values[0]
    if not isinstance(first, (np.ndarray, np.generic)):  # variants
        result = np.empty(len(values), object)
        for index, value in enumerate(values):
            result[index] = value
        return result
    for index, value in enumerate(values):
        if value.shape != first.shape:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {component}. First element had "
                f"shape {format_shape(first.shape)} and element {index} had shape "
                f"{format_shape(value.shape)}."
            )
    result = np.empty((len(values), *first.shape), first.dtype)
    for index, value in enumerate(values):
        result[index, ...] = value  # without the dots the array of a string would be the element
    return result


def batch(rows: Sequence[Row]) -> Row:
    """Rows as one row of their stacked components."""
    return tuple(stacked(column, index) for index, column in enumerate(zip(*rows)))


def padded_batch(rows: Sequence[Row], shapes: Sequence[Shape], fills: Sequence[Any]) -> Row:
    """Rows of different shapes as one row, filled up at the ends of their axes.

    Args:
        rows: The rows.
        shapes: For each component the shape to fill up to; None for the longest of the batch.
        fills: For each component a scalar.

    Raises:
        InvalidArgumentError: An element has another rank, or is larger than its shape.
    """
    result = []
    for index, (column, shape, fill) in enumerate(zip(zip(*rows), shapes, fills)):
        rank = column[0].ndim
        wanted = [None] * rank if shape is None else list(shape)
        for value in column:
            if value.ndim != len(wanted):
                raise InvalidArgumentError(
                    "All elements in a batch must have the same rank as the padded shape for component"
                    f"{index}: expected rank {len(wanted)} but got element with rank {value.ndim}"
                )
            for axis, (size, limit) in enumerate(zip(value.shape, wanted)):
                if limit is not None and size > limit:
                    raise InvalidArgumentError(
                        f"Attempted to pad to a smaller size than the input element (component {index}, "
                        f"axis {axis}: {size} to {limit})."
                    )
        sizes = [
            max(value.shape[axis] for value in column) if limit is None else limit
            for axis, limit in enumerate(wanted)
        ]
        made = np.full((len(column), *sizes), fill, column[0].dtype)
        for position, value in enumerate(column):
            part: Any = (position, *[slice(size) for size in value.shape], ...)
            made[part] = value
        result.append(made)
    return tuple(result)


# Shuffling


class Words:
    """32-bit random words one after the other, as TensorFlow's SingleSampleAdapter gives them."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._philox = Philox(seed & (1 << 64) - 1, (seed2 & (1 << 64) - 1) << 64)
        self._words: deque[int] = deque()

    def __call__(self) -> int:
        """The next word."""
        if not self._words:
            self._words.extend(int(word) for word in self._philox.words(64))
            self._philox.skip(64)
        return self._words.popleft()


def drawn_seeds(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds themselves, or random ones where both are 0."""
    return (seed, seed2) if seed or seed2 else (secrets.randbits(64), secrets.randbits(64))


MAX_EPOCHS_IN_BUFFER = 3


def shuffled(source: Source, dataset: Dataset, buffer_size: int, seeds: tuple[int, int], count: int) -> Rows:
    """The elements in random order, out of a buffer that is kept full; `count` times, -1 for ever.

    An element of one repetition never comes before all of the repetition before it have come.
    """
    random = Words(*seeds)
    places: dict[int, Row] = {}
    slices: deque[list[int]] = deque([[0, 0]])
    state: dict[str, Any] = {"rows": dataset.rows(source), "epoch": 0, "size": 0, "first": True}

    def fill() -> None:
        while state["rows"] is not None and state["size"] < buffer_size:
            row: Row | None = None
            while count == -1 or state["epoch"] < count:
                row = next(state["rows"], None)
                if row is not None:
                    state["first"] = False
                    break
                if state["first"] and count == -1:
                    raise StopIteration  # empty: to repeat it for ever would never give anything
                state["epoch"] += 1
                end = slices[-1][1]
                slices.append([end, end])
                state["rows"] = dataset.rows(source)
            if row is None:
                state["rows"] = None
            else:
                places[slices[-1][1] % buffer_size] = row
                slices[-1][1] += 1
                state["size"] += 1
            if len(slices) > MAX_EPOCHS_IN_BUFFER:
                break

    def step() -> Row:
        fill()
        if not state["size"]:
            raise StopIteration
        while slices[0][0] == slices[0][1]:
            slices.popleft()
        start, end = slices[0]
        index = (start + random() % (end - start)) % buffer_size
        row = places[index]
        places[index] = places[start % buffer_size]
        slices[0][0] += 1
        state["size"] -= 1
        return row

    return Steps(step)
