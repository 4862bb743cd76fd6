"""Barriers and mutexes as ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..barriers import Barrier
from ..dtypes import ANY
from ..errors import InvalidArgumentError
from ..op import op
from ..shapes import Shape, merge_dims, with_rank, with_rank_at_least
from ..waiting import Monitor
from . import rules
from .data_flow import named_resource

_NAMES = ("container: string = ''", "shared_name: string = ''")
_NO_GRAD = "what goes through a barrier is not differentiated"


@op(
    "Barrier",
    "-> handle: Ref(string)",
    "component_types: list(type) >= 1",
    "shapes: list(shape) >= 0 = []",
    "capacity: int = -1",
    *_NAMES,
    stateful=True,
    no_grad="it has no inputs",
)
def barrier(ctx: Any, *, capacity: int, node: Any) -> Any:
    """A store of elements whose components come one by one."""
    dtypes = node.attr("component_types")
    shapes: list[Shape] = [shape.as_tuple() for shape in node.attr("shapes")]
    if shapes and len(shapes) != len(dtypes):
        raise InvalidArgumentError(
            f"All of the component shapes must be specified: {len(dtypes)} types, {len(shapes)} shapes"
        )
    if any(shape is None or None in shape for shape in shapes):
        raise InvalidArgumentError("A Barrier needs fully defined shapes")
    if any(0 in (shape or ()) for shape in shapes):
        raise InvalidArgumentError("Empty tensors are not supported in a Barrier's shapes")
    if capacity >= 0:
        raise InvalidArgumentError(
            "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a "
            f"limited capacity: {capacity}"
        )
    found = named_resource(ctx, "barrier", node, lambda name: Barrier(name, dtypes, shapes))
    if found.dtypes != dtypes:
        raise InvalidArgumentError(f"Shared barrier '{found.name}' has other component types")
    return found


barrier.shape(lambda node: (2,))


def _insert_many(ctx: Any, handle: Any, keys: Any, values: Any, *, component_index: int) -> None:
    """Sets one component of several elements."""
    handle.insert_many(ctx, component_index, keys, values)


def _take_many(
    ctx: Any, handle: Any, num_elements: Any, *, allow_small_batch: bool, timeout_ms: int, node: Any
) -> list[Any]:
    """Takes complete elements, with the order of their keys."""
    if timeout_ms != -1:
        raise InvalidArgumentError("Timeout not supported yet.")
    if np.ndim(num_elements):
        raise InvalidArgumentError("num_elements must be a scalar.")
    if node.attr("component_types") != handle.dtypes:
        raise InvalidArgumentError(f"The barrier '{handle.name}' has other component types")
    taken: list[Any] = handle.take_many(ctx, int(num_elements), allow_small_batch)
    return taken


def _close(ctx: Any, handle: Any, *, cancel_pending_enqueues: bool) -> None:
    """Lets no new key in."""
    handle.close(ctx, cancel_pending_enqueues)


def _ready_size(ctx: Any, handle: Any) -> Any:
    """How many elements are complete."""
    return np.array(handle.ready_size, np.int32)


def _incomplete_size(ctx: Any, handle: Any) -> Any:
    """How many elements lack a component."""
    return np.array(handle.incomplete_size, np.int32)


def _insert_shape(node: Any) -> list[Shape]:
    (count,) = with_rank(node.shape(1), 1)
    values = with_rank_at_least(node.shape(2), 1)
    if values is not None:
        merge_dims(count, values[0])
    return []


_TAKE = (
    "component_types: list(type) >= 1",
    "allow_small_batch: bool = false",
    "wait_for_incomplete: bool = false",
    "timeout_ms: int = -1",
)
_ACTIONS: dict[str, tuple[Any, str, tuple[str, ...], dict[str, Any], Any]] = {
    "BarrierInsertMany": (
        _insert_many,
        ", keys: string, values: T ->",
        ("component_index: int",),
        {"T": ANY},
        _insert_shape,
    ),
    "BarrierTakeMany": (
        _take_many,
        ", num_elements: int32 -> indices: int64, keys: string, values: component_types",
        _TAKE,
        {},
        rules.unknown,
    ),
    "BarrierClose": (_close, "->", ("cancel_pending_enqueues: bool = false",), {}, rules.nothing),
    "BarrierReadySize": (_ready_size, "-> size: int32", (), {}, rules.scalar),
    "BarrierIncompleteSize": (_incomplete_size, "-> size: int32", (), {}, rules.scalar),
}

for _name, (_kernel, _signature, _attrs, _types, _shape) in _ACTIONS.items():
    op(_name, f"handle: Ref(string) {_signature}", *_attrs, ctx=True, no_grad=_NO_GRAD, **_types)(
        _kernel
    ).shape(_shape)


# Mutexes


class Mutex(Monitor):
    """A lock that one holder at a time has, whichever thread it is in."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._is_locked = False

    def acquire(self, ctx: Any) -> MutexHold:
        """The lock, once nobody else has it."""

        def step() -> Any:
            if self._is_locked:
                return None
            self._is_locked = True
            return MutexHold(self)

        hold: MutexHold = self._wait(ctx, "Lock acquisition", step)
        return hold

    def release(self) -> None:
        """Lets the next one have it."""
        with self._changed:
            self._is_locked = False
            self._changed.notify_all()


class MutexHold:
    """A lock that is held until it is released, or this is forgotten."""

    def __init__(self, mutex: Mutex) -> None:
        self._mutex: Mutex | None = mutex

    def release(self) -> None:
        """Lets go of the lock."""
        mutex, self._mutex = self._mutex, None
        if mutex is not None:
            mutex.release()

    def __del__(self) -> None:
        self.release()


@op("MutexV2", "-> resource: resource", *_NAMES, stateful=True, no_grad="it has no inputs")
def mutex_v2(ctx: Any, *, node: Any) -> Any:
    """A lock."""
    return named_resource(ctx, "mutex", node, Mutex)


@op("MutexLock", "mutex: resource -> mutex_lock: variant", stateful=True, no_grad="locks have no derivative")
def mutex_lock(ctx: Any, mutex: Any) -> Any:
    """Waits for a lock; it is held until ConsumeMutexLock, at the latest to the end of the run."""
    return mutex.acquire(ctx)


@op(
    "ConsumeMutexLock", "mutex_lock: variant ->", stateful=True, ctx=False, no_grad="locks have no derivative"
)
def consume_mutex_lock(mutex_lock: Any) -> None:
    """Lets go of a lock."""
    if not isinstance(mutex_lock, MutexHold):
        raise InvalidArgumentError(
            "Expected input to be a SharedLockReleaser object, but it is another variant."
        )
    mutex_lock.release()


mutex_v2.shape(rules.scalar)
mutex_lock.shape(rules.scalar)
consume_mutex_lock.shape(rules.nothing)
