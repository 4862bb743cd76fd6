"""What a session keeps between runs: variables, random states, queues; and what one run carries.

A ref variable is one buffer that assignments write into, so that every alias of it (an Identity of
the variable) sees them, as in TensorFlow. A resource variable's reads are snapshots: an update
writes in place only while nobody else holds the array, else it puts a new array in place.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..formats.files import FilePolicy
from .errors import CancelledError, DeadlineExceededError, FailedPreconditionError
from .shapes import Shape

if TYPE_CHECKING:
    from .operation import Operation


class _Holder:
    """What both kinds of variables have: a count of their values, and what is derived from the last one.

    Attributes:
        lock: Held by whoever reads and then writes.
        version: How often the value was, or may have been, written.
    """

    __slots__ = ("derived", "lock", "version")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.version = 0
        self.derived: dict[Any, tuple[int, Any]] = {}

    def read(self) -> np.ndarray:
        """The value."""
        raise NotImplementedError

    def derive(self, function: Callable[[np.ndarray], Any]) -> Any:
        """A pure function of the value, computed again only after the variable was written."""
        with self.lock:
            version, result = self.derived.get(function, (-1, None))
            if version != self.version:
                result = function(self.read())
                self.derived[function] = self.version, result
        return result


class Ref(_Holder):
    """A ref variable's buffer (`VariableV2`).

    Attributes:
        name: For messages: the variable's name.
        value: The array, or None before initialization.
    """

    __slots__ = ("name", "value")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.value: np.ndarray | None = None

    def read(self) -> np.ndarray:
        """The buffer itself.

        Raises:
            FailedPreconditionError: It is not initialized.
        """
        value = self.value
        if value is None:
            raise FailedPreconditionError(
                f"Attempting to use uninitialized value {self.name}", variable=self.name
            )
        return value

    def writable(self) -> np.ndarray:
        """The array to update in place; the caller holds the lock until that is done."""
        self.version += 1
        return self.read()

    def assign(self, value: np.ndarray) -> None:
        """Sets the value: into the buffer where it fits, so that aliases see it."""
        with self.lock:
            self.version += 1
            current = self.value
            if current is not None and current.shape == value.shape and current.dtype == value.dtype:
                np.copyto(current, value)
            else:
                self.value = np.array(value)


class ResourceVariable(_Holder):
    """A resource variable (`VarHandleOp`): reads are snapshots.

    Attributes:
        name: The shared name.
        shape: The static shape that the handle declares.
        value: The array, never written while anybody else holds it; None before initialization.
    """

    __slots__ = ("container", "dtype", "name", "shape", "value")

    def __init__(self, name: str, dtype: np.dtype[Any], shape: Shape, container: str = "") -> None:
        super().__init__()
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.container = container or "localhost"
        self.value: np.ndarray | None = None

    def read(self) -> np.ndarray:
        """The current value, to be kept but not written.

        Raises:
            FailedPreconditionError: It is not initialized.
        """
        with self.lock:  # an update in place may be under way in another thread
            value = self.value
        if value is None:
            raise FailedPreconditionError(
                f"Error while reading resource variable {self.name} from Container: {self.container}. "
                "This could "
                f"mean that the variable was uninitialized. Not found: Resource {self.container}/{self.name}/"
                "N10tensorflow3VarE does not exist.",
                variable=self.name,
            )
        return value

    def writable(self) -> np.ndarray:
        """An array to update in place: the value where nobody else holds it, else a copy that replaces it."""
        self.version += 1
        value = self.read()
        if sys.getrefcount(value) > _SOLE_OWNER or value.base is not None or not value.flags.writeable:
            value = self.value = value.copy()
        return value

    def assign(self, value: np.ndarray) -> None:
        """Replaces the value; earlier reads keep theirs."""
        # The array may be a view of a fed or constant array, or be held by a slot: keep our own.
        own = np.array(value)
        with self.lock:
            self.version += 1
            self.value = own


def _measure_sole_owner() -> int:
    """What `sys.getrefcount` says in `writable` for an array that only the variable holds.

    The number differs between Python versions, so it is measured through the same code path.
    """
    probe = ResourceVariable("", np.dtype(np.float32), None)
    probe.value = np.zeros(1, np.float32)

    def same_path(self: ResourceVariable) -> int:
        value = self.read()
        return sys.getrefcount(value)

    return same_path(probe)


_SOLE_OWNER = _measure_sole_owner()


class SessionState:
    """Everything that lives as long as a session.

    Attributes:
        policy: Which files the graph's own ops may touch.
        functions: What runs the functions of a graph's library (`compiler.calls.FunctionPlans`).
        restored: By initializer: a variable that was restored, and the checkpoint.
        harmless: Plans, by identity, that run none of these.
    """

    def __init__(self, policy: FilePolicy | None = None) -> None:
        self.policy = policy or FilePolicy()
        self.lock = threading.RLock()
        self._resources: dict[tuple[str, str, str], Any] = {}
        self.cancelled = False
        self.functions: Any = None
        self.restored: dict[Operation, tuple[Operation, str]] = {}
        self.harmless: set[int] = set()

    def note_restored(self, initializers: dict[Operation, Operation], prefix: str) -> None:
        """Notes that variables, by their initializers, have their values from a checkpoint.

        Args:
            initializers: The variables by the operations that would overwrite them.
            prefix: The checkpoint.
        """
        with self.lock:
            self.restored.update({each: (variable, prefix) for each, variable in initializers.items()})
            self.harmless.clear()

    def take_restored(self, operations: Sequence[Operation]) -> dict[Operation, tuple[Any, str]]:
        """Of restored variables that a run of `operations` initializes: a copy of the value, the checkpoint.

        Each is given once.
        """
        with self.lock:
            found = [self.restored.pop(each) for each in operations if each in self.restored]
        return {variable: (np.array(self.value_of(variable)), prefix) for variable, prefix in found}

    def value_of(self, variable: Operation) -> Any:
        """The value of a variable of either kind, or None."""
        kind = self.resource_variable if variable.type == "VarHandleOp" else self.ref
        return kind(variable).value

    def resource(self, kind: str, container: str, name: str, make: Callable[[], Any]) -> Any:
        """The resource of that kind and name, made at first use."""
        key = (kind, container, name)
        with self.lock:
            if key not in self._resources:
                self._resources[key] = make()
            return self._resources[key]

    def find(self, kind: str, container: str, name: str) -> Any:
        """The resource of that kind and name, or None."""
        return self._resources.get((kind, container, name))

    def discard(self, kind: str, container: str, name: str) -> bool:
        """Forgets a resource; whether there was one."""
        with self.lock:
            return self._resources.pop((kind, container, name), None) is not None

    def ref(self, node: Operation) -> Ref:
        """The buffer of a ref variable's operation."""
        container, name = _names(node)
        ref: Ref = self.resource("ref", container, name, lambda: Ref(node.name))
        return ref

    def resource_variable(self, node: Operation) -> ResourceVariable:
        """The variable of a VarHandleOp."""
        container, name = _names(node)

        def make() -> ResourceVariable:
            shape = node.attr("shape").as_tuple()
            return ResourceVariable(name, node.attr("dtype").np, shape, container)

        variable: ResourceVariable = self.resource("variable", container, name, make)
        return variable

    def cancel(self) -> None:
        """Makes everything that waits give up."""
        with self.lock:
            self.cancelled = True
            for item in self._resources.values():
                if hasattr(item, "cancel"):
                    item.cancel()


def _names(node: Operation) -> tuple[str, str]:
    container = node.attr("container").decode()
    shared = node.attr("shared_name").decode()
    return container, shared or node.name


class RunContext:
    """What one `Session.run` gives its stateful kernels.

    Attributes:
        state: The session's state.
        scratch: Per-run resources (tensor arrays, stacks), by operation name or handle.
        deadline: `time.monotonic()` value after which to give up, or None.
        site: Which call of a function this is, by the calls that led to it; "" outside of functions.
        op_states: What the ops of this run keep, if not in the session.
    """

    __slots__ = ("deadline", "graph", "op_states", "scratch", "site", "state")

    def __init__(self, state: SessionState, graph: Any, deadline: float | None = None) -> None:
        self.state = state
        self.graph = graph
        self.scratch: dict[Any, Any] = {}
        self.deadline = deadline
        self.site = ""
        self.op_states: SessionState | None = None

    @property
    def policy(self) -> FilePolicy:
        """Which files ops may touch."""
        return self.state.policy

    def call(
        self, function: Any, arguments: Sequence[Any], caller: str, op_states: SessionState | None = None
    ) -> list[Any]:
        """What a function of the graph's library (a NameAttrList message) returns.

        Args:
            function: Its name and attributes.
            arguments: Their values.
            caller: The name of the calling node: each caller's function has random states of its own.
            op_states: Where these are kept, if not in the session.
        """
        inner = self._inside(f"{caller}:{function.name}", op_states)
        results: list[Any] = self.state.functions.call(inner, function, arguments)
        return results

    def call_gradient(self, function: Any, arguments: Sequence[Any], caller: str) -> list[Any]:
        """The gradients of a function's arguments, from these and the gradients of its results."""
        inner = self._inside(f"{caller}:{function.name}:gradient", None)
        results: list[Any] = self.state.functions.call(inner, function, arguments, gradient=True)
        return results

    def _inside(self, call: str, op_states: SessionState | None) -> RunContext:
        """This run's context inside a function."""
        inner = RunContext(self.state, self.graph, self.deadline)
        inner.scratch = self.scratch
        inner.site = f"{self.site}{call}/"
        inner.op_states = op_states or self.op_states
        return inner

    def check_cancelled(self) -> None:
        """Raises CancelledError once the session is closed, DeadlineExceededError once the time is over."""
        if self.state.cancelled:
            raise CancelledError("Session has been closed.")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise DeadlineExceededError(
                "Timed out waiting for notification: the run took longer than allowed."
            )

    def op_state(self, node: Operation, kind: str, make: Callable[[], Any]) -> Any:
        """State of one stateful operation that lives as long as the session (random generators)."""
        return (self.op_states or self.state).resource(kind, self.site, node.name, make)
