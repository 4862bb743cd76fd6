"""A compiled plan and the loop that runs it.

A step is a tuple (function, arity, get, out, outs, dead): the callable; how many slots it reads; the
slot (arity 1) or an `operator.itemgetter` of slots; the one slot it writes, or -1; the slots that it
writes where it gives several values; the slots nobody reads afterwards. Slot 0 holds the run's context.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dead import DEAD
from ..errors import InvalidArgumentError, at_operation
from ..kernels.parallel import single_threaded_blas
from ..operation import Operation
from ..resources import RunContext

Step = tuple[Any, int, Any, int, tuple[int, ...], tuple[int, ...]]


class Plan:
    """What one set of fetches and feeds runs; immutable, so that several threads may run it.

    Attributes:
        steps: The steps in order.
        operations: The operation of each step; of a step that stands for several the last.
        chains: All operations of the steps that stand for several, by number of the step.
        template: The slots with constants and variables in place.
        feed_slots: Where each feed goes; -1 for one that nothing reads.
        fetch_slots: Where each fetch is found; -1 for an operation.
        fetch_names: Their names, for messages.
        has_products: Whether steps may multiply matrices that BLAS would use threads for.
    """

    __slots__ = (
        "chains",
        "feed_slots",
        "fetch_names",
        "fetch_slots",
        "has_products",
        "operations",
        "steps",
        "template",
    )

    def __init__(
        self,
        steps: list[Step],
        operations: list[Operation],
        template: list[Any],
        feed_slots: list[int],
        fetch_slots: list[int],
        fetch_names: list[str],
        has_products: bool,
        chains: dict[int, list[Operation]],
    ) -> None:
        self.steps = steps
        self.operations = operations
        self.template = template
        self.feed_slots = feed_slots
        self.fetch_slots = fetch_slots
        self.fetch_names = fetch_names
        self.has_products = has_products
        self.chains = chains

    def run(self, context: RunContext, feeds: Sequence[np.ndarray]) -> list[Any]:
        """Runs all steps; gives the fetched values (None for operations), the caller's to keep.

        Raises:
            OpError: A kernel failed; the error names the node.
        """
        slots = self._slots(context, feeds)
        with np.errstate(all="ignore"):
            if self.has_products:
                with single_threaded_blas():
                    self._run_steps(slots)
            else:
                self._run_steps(slots)
        return self._fetch(slots)

    def _run_steps(self, slots: list[Any]) -> None:
        """The loop."""
        steps = iter(self.steps)
        try:
            for function, arity, get, out, outs, dead in steps:
                if out >= 0:
                    # No local keeps the result: who holds an array is counted (see lower._reusing).
                    if arity == 1:
                        slots[out] = function(slots[get])
                    elif arity:
                        slots[out] = function(*get(slots))
                    else:
                        slots[out] = function()
                else:
                    arguments = () if not arity else (slots[get],) if arity == 1 else get(slots)
                    _store(slots, outs, function(*arguments))
                    arguments = ()
                for slot in dead:
                    slots[slot] = None
        except Exception as error:  # the one place where a kernel's error gets its node's name
            self._fail(error, steps, slots)

    def run_inner(self, context: RunContext, feeds: Sequence[Any]) -> list[Any]:
        """As `run`, for a plan within a plan: the values are not copied."""
        slots = self._slots(context, feeds)
        self._run_steps(slots)
        return [slots[slot] for slot in self.fetch_slots]

    def run_traced(self, context: RunContext, feeds: Sequence[np.ndarray]) -> tuple[list[Any], list[Any]]:
        """As `run`, with a row (operations, start, end, output) for each step, in seconds."""
        slots = self._slots(context, feeds)
        rows: list[Any] = []
        steps = iter(self.steps)
        clock = time.perf_counter
        try:
            with np.errstate(all="ignore"), single_threaded_blas():
                for function, arity, get, out, outs, dead in steps:
                    start = clock()
                    if arity == 1:
                        result = function(slots[get])
                    elif arity:
                        result = function(*get(slots))
                    else:
                        result = function()
                    end = clock()
                    operations = self.chains.get(len(rows)) or [self.operations[len(rows)]]
                    rows.append((operations, start, end, _outline(result)))
                    for slot, value in zip(outs or (out,), result if outs else (result,)):
                        slots[slot] = value
                    for slot in dead:
                        slots[slot] = None
        except Exception as error:  # as in run
            self._fail(error, steps, slots)
        return self._fetch(slots), rows

    def _slots(self, context: RunContext, feeds: Sequence[np.ndarray]) -> list[Any]:
        slots = self.template.copy()
        slots[0] = context
        for slot, value in zip(self.feed_slots, feeds):
            if slot >= 0:
                slots[slot] = value
        return slots

    def _fetch(self, slots: list[Any]) -> list[Any]:
        values: list[Any] = []
        for index, (slot, name) in enumerate(zip(self.fetch_slots, self.fetch_names)):
            if slot < 0:
                values.append(None)
                continue
            value = slots[slot]
            if isinstance(value, np.ndarray):
                value = _keepable(value)
            elif value is DEAD:
                raise InvalidArgumentError(
                    f"Retval[{index}] does not have value: the fetch {name} lies on a branch that the run "
                    "did not take.",
                    fetch=name,
                )
            elif hasattr(value, "read"):  # a ref variable fetched itself
                value = value.read().copy()
            if type(value) is np.ndarray and value.ndim == 0:
                value = value[()]
            values.append(value)
        return values

    def _fail(self, error: Exception, steps: Any, slots: list[Any]) -> None:
        index = len(self.steps) - steps.__length_hint__() - 1
        _, arity, get, *_ = self.steps[index]
        inputs = () if not arity else (slots[get],) if arity == 1 else get(slots)
        # Of several the first: the others are joined to it only where nothing about them can be wrong.
        operation = self.chains.get(index, self.operations[index : index + 1])[0]
        raise at_operation(error, operation, inputs) from error


def _store(slots: list[Any], outs: tuple[int, ...], results: Any) -> None:
    """Puts several results into their slots."""
    if outs:
        for slot, value in zip(outs, results):
            slots[slot] = value


def _outline(result: Any) -> Any:
    """Dtype and shape of a step's result, without holding the arrays."""
    if isinstance(result, (tuple, list)):
        return [_outline(item) for item in result]
    return (
        (str(result.dtype), result.shape) if hasattr(result, "shape") and hasattr(result, "dtype") else None
    )


def _keepable(value: np.ndarray) -> np.ndarray:
    """`value` itself where only its slot holds it, else a copy."""
    if value.base is None and value.flags.writeable and sys.getrefcount(value) <= _SOLE_HOLDER:
        return value
    return value.copy()


def _measure_sole_holder() -> int:
    """What `sys.getrefcount` says in `_keepable` when one slot and the caller's local hold an array."""
    slots = [np.zeros(1)]

    def same_path(value: np.ndarray) -> int:
        return sys.getrefcount(value)

    value = slots[0]
    return same_path(value)


_SOLE_HOLDER = _measure_sole_holder()
