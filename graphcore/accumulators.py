"""Conditional accumulators: gradients add up until enough of them have come; those of old steps are dropped.

Source: tensorflow/core/kernels/conditional_accumulator_base.cc, conditional_accumulator.h and
sparse_conditional_accumulator.h (r1.15), behaviour and texts.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from .dtypes import DType
from .errors import InvalidArgumentError
from .resources import RunContext
from .shapes import Shape, format_shape
from .waiting import Monitor

_LOG = logging.getLogger(__name__)


class Accumulator(Monitor):
    """A sum of gradients; the base of both kinds.

    Args:
        name: For messages.
        dtype: The gradients' element type.
        shape: What their shape must be, as far as it is known.
        is_mean: Whether what is taken is their mean, else their sum.

    Attributes:
        count: How many gradients have come since the last ones were taken.
    """

    def __init__(self, name: str, dtype: DType, shape: Shape, is_mean: bool) -> None:
        super().__init__(name)
        self.dtype = dtype
        self.shape = shape
        self.count = 0
        self._is_mean = is_mean
        self._step = 0
        self._takers: deque[object] = deque()

    def set_global_step(self, step: int) -> None:
        """Sets the step before which gradients are dropped."""
        with self._changed:
            if step < self._step:
                _LOG.warning(
                    "Attempt to set current_global_step_ to smaller value: current_global_step_ = %d >= %d = "
                    "new_global_step.",
                    self._step,
                    step,
                )
            self._step = step

    def apply(self, local_step: int, *gradient: Any) -> None:
        """Adds a gradient, unless its step is older than the accumulator's.

        Raises:
            InvalidArgumentError: Its shape does not fit.
        """
        with self._changed:
            if local_step >= self._step:
                self._add(*gradient)
                self.count += 1
                self._changed.notify_all()

    def take(self, ctx: RunContext, required: int) -> Any:
        """The mean or sum, waiting until `required` gradients have come; then it starts again.

        Raises:
            InvalidArgumentError: `required` is not positive.
        """
        if required <= 0:
            raise InvalidArgumentError(f"Argument num_required must be positive, but was {required}")

        def step() -> Any:
            if self.count < required:
                return None
            self._step += 1
            result = self._result()
            self.count = 0
            return result

        return self._wait(ctx, "TakeGrad", step, self._takers)

    def _add(self, *gradient: Any) -> None:
        raise NotImplementedError

    def _result(self) -> Any:
        raise NotImplementedError


class DenseAccumulator(Accumulator):
    """A sum of dense gradients."""

    _total: Any = None

    def _add(self, gradient: Any) -> None:
        if self.count and self._total.shape != gradient.shape:
            raise _mismatch(self._total.shape, gradient.shape)
        if not _is_compatible(self.shape, gradient.shape):
            raise _mismatch(self.shape, gradient.shape)
        if self.count:
            self._total += gradient
        else:
            self._total = gradient.copy()

    def _result(self) -> Any:
        total, self._total = self._total, None
        return _divided(total, np.asarray(self.count, total.dtype)) if self._is_mean else total


class SparseAccumulator(Accumulator):
    """A sum of rows; the mean of a row is over the gradients that had it."""

    _indices: Any = None
    _values: Any = None
    _counts: Any = None

    def _add(self, indices: Any, values: Any, shape: Any = None) -> None:
        self._check(indices, values, shape)
        if not self.count:
            self._indices, self._values = indices.copy(), values.copy()
            self._counts = np.ones(len(indices), np.int64)
            return
        mine, theirs = _merged(self._indices.tolist(), indices.tolist())
        rows = np.zeros((len(mine), *values.shape[1:]), values.dtype)
        counts = np.zeros(len(mine), np.int64)
        merged = np.zeros(len(mine), np.int64)
        for places, source, source_indices, add in (
            (mine, self._values, self._indices, self._counts),
            (theirs, values, indices, np.ones(len(indices), np.int64)),
        ):
            here = np.flatnonzero(places >= 0)
            rows[here] += source[places[here]]
            counts[here] += add[places[here]]
            merged[here] = source_indices[places[here]]
        self._indices, self._values, self._counts = merged, rows, counts

    def _result(self) -> Any:
        values = self._values
        if self._is_mean:
            counts = self._counts.reshape(-1, *[1] * (values.ndim - 1)).astype(values.dtype)
            values = _divided(values, counts)
        first = -1 if not self.shape or self.shape[0] is None else self.shape[0]
        return self._indices, values, np.array([first, *values.shape[1:]], np.int64)

    def _check(self, indices: Any, values: Any, shape: Any) -> None:
        if indices.ndim != 1:
            raise InvalidArgumentError(
                f"Input indices should be vector but received shape: {format_shape(indices.shape)}"
            )
        if not values.ndim:
            raise InvalidArgumentError("Values cannot be 0-dimensional.")
        if len(values) != len(indices):
            raise InvalidArgumentError(f"Expected {len(indices)} non-empty input values, got {len(values)}")
        known = self.shape or ()
        if shape is not None:
            if len(known) > len(shape):
                raise InvalidArgumentError(
                    f"Shape mismatch: expected shape rank at least {len(known)}, got {len(shape)}"
                )
            _check_dims("shape", known, shape, 0)
        if known and known[0] is not None:
            beyond = np.flatnonzero(indices >= known[0])
            if beyond.size:
                raise InvalidArgumentError(
                    f"Shape mismatch: index of slice {beyond[0]} exceeded limits of shape; index is "
                    f"{indices[beyond[0]]} exceeded {known[0]}"
                )
        if self.count:
            if self._values.ndim != values.ndim:
                raise InvalidArgumentError(
                    f"Shape mismatch: expected values rank {self._values.ndim}, got {values.ndim}"
                )
            _check_dims("values", self._values.shape, values.shape, 1)
        else:
            if len(known) > values.ndim:
                raise InvalidArgumentError(
                    f"Shape mismatch: expected values rank at least {len(known)}, got {values.ndim}"
                )
            _check_dims("values", known, values.shape, 1)


def _merged(left: list[int], right: list[int]) -> tuple[Any, Any]:
    """For each row of two sorted lists laid together, its place in either, or -1."""
    mine, theirs = [], []
    i = j = 0
    while i < len(left) or j < len(right):
        from_left = j == len(right) or (i < len(left) and left[i] <= right[j])
        from_right = i == len(left) or (j < len(right) and right[j] <= left[i])
        mine.append(i if from_left else -1)
        theirs.append(j if from_right else -1)
        i += from_left
        j += from_right
    return np.array(mine, np.int64), np.array(theirs, np.int64)


def _divided(total: Any, count: Any) -> Any:
    return np.trunc(total / count).astype(total.dtype) if total.dtype.kind in "iu" else total / count


def _is_compatible(shape: Shape, found: Sequence[int]) -> bool:
    return shape is None or (
        len(shape) == len(found) and all(want in (None, have) for want, have in zip(shape, found))
    )


def _check_dims(what: str, wanted: Sequence[Any], found: Any, start: int) -> None:
    for axis in range(start, len(wanted)):
        if wanted[axis] not in (None, int(found[axis])):
            raise InvalidArgumentError(
                f"Shape mismatch: expected {what} dim {axis} to be {wanted[axis]}, got {int(found[axis])}"
            )


def _mismatch(wanted: Shape, found: Shape) -> InvalidArgumentError:
    return InvalidArgumentError(f"Shape mismatch: expected {format_shape(wanted)}, got {format_shape(found)}")
