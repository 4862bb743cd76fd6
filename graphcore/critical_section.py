"""`tf.CriticalSection`: parts of a graph that run one after the other, in all sessions' threads.

    mutex --> MutexLock --control--> what the function makes --control--> ConsumeMutexLock --> results

Source: tensorflow/python/ops/critical_section_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from . import nest
from .default import add_to_collection, get_collection, get_default_graph, name_scope
from .dtypes import resource
from .errors import InvalidValueError, UnimplementedError
from .modes import init_scope
from .op import group, raw_ops
from .operation import Operation, Tensor
from .ops.control_flow import tf_identity, tuple_

SECTIONS = "critical_sections"
EXECUTIONS = "critical_section_executions"


@dataclass(frozen=True)
class _Execution:
    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


class CriticalSection:
    """A lock in the graph.

    Args:
        name: Name scope.
        shared_name: By which sections of several graphs are one; by default the name.
        critical_section_def: Not supported, as in TensorFlow.
        import_scope: Not supported.

    Raises:
        UnimplementedError: A `critical_section_def` is given.
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def is not None:
            raise UnimplementedError("A CriticalSection cannot be read from a proto.")
        with name_scope(name, "CriticalSection", []) as scope, init_scope():
            self._handle: Tensor = raw_ops.MutexV2(
                shared_name=scope if shared_name is None else shared_name,
                name=scope,
            )
        add_to_collection(SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of its operation."""
        return self._handle.op.name

    def execute(
        self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None
    ) -> Any:
        """What `fn()` gives, computed while the lock is held.

        Args:
            fn: Builds operations and gives at least one tensor, or a nested structure of them.
            exclusive_resource_access: Whether no other section may use the variables that `fn` uses.
            name: Name scope.

        Raises:
            ValueError: `fn` asks for this lock itself, or uses what another section has for itself.
        """
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute", []):
            lock = raw_ops.MutexLock(self._handle)
            before = set(graph.get_operations())
            with graph.control_dependencies([lock]):
                result = fn()
            made = [operation for operation in graph.get_operations() if operation not in before]
            self._take_arguments_first(lock.op, made)
            used = [tensor for operation in made for tensor in operation.inputs if tensor.dtype == resource]
            captured = list(dict.fromkeys(used))
            if any(self._is_own(tensor) for tensor in captured):
                raise InvalidValueError(
                    "The function fn attempts to directly access the CriticalSection in which it would be "
                    "running.  This is illegal and would cause deadlocks."
                )
            self._check_access(captured, exclusive_resource_access)
            flat = [_identity(each) for each in nest.flatten(result)]
            with graph.control_dependencies(flat):
                # Inside a function the lock is a value from outside.
                beside = graph.colocate_with(self._handle) if self._handle.graph is graph else nullcontext()
                with beside:
                    freed = raw_ops.ConsumeMutexLock(lock)
                together = tuple_(flat)
            with graph.control_dependencies([freed]):
                outputs = [_identity(each) for each in together]
        add_to_collection(EXECUTIONS, _Execution(lock.op, self._handle, captured, exclusive_resource_access))
        return nest.pack_sequence_as(result, outputs)

    def _take_arguments_first(self, lock: Operation, made: list[Operation]) -> None:
        """What the function takes from outside is computed before the lock is held: no deadlock."""
        inside = {*made, lock, *lock.control_inputs, *[tensor.op for tensor in lock.inputs]}
        sources = [
            source
            for operation in made
            for source in [*[tensor.op for tensor in operation.inputs], *operation.control_inputs]
            if source not in inside
        ]
        if sources:
            lock._add_control_input(group(*dict.fromkeys(sources)))

    def _is_own(self, tensor: Tensor) -> bool:
        return _shared_name(tensor) is not None and _shared_name(tensor) == _shared_name(self._handle)

    def _check_access(self, captured: list[Tensor], exclusive: bool) -> None:
        for other in get_collection(EXECUTIONS):
            if self._is_own(other.handle) or not (exclusive or other.exclusive_resource_access):
                continue
            shared = [tensor for tensor in captured if tensor in set(other.resources)]
            if shared:
                names = ", ".join(tensor.name for tensor in shared)
                raise InvalidValueError(
                    f"This execution would access resources: {names}.  Either this lock (CriticalSection: "
                    f"{self.name}) or lock '{other.op.name}' (CriticalSection: {other.handle.op.name}) "
                    "requested exclusive resource access of this resource.  Did you mean to call execute "
                    "with keyword argument exclusive_resource_access=False?"
                )


def _shared_name(tensor: Tensor) -> str | None:
    return tensor.op.get_attr("shared_name") if tensor.op.type == "MutexV2" else None


def _identity(value: Any) -> Any:
    if isinstance(value, Operation):
        return group(value)
    return value.identity() if hasattr(value, "identity") else tf_identity(value)
