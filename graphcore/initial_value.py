"""Initial values that depend on other variables: they read those variables' initial values."""

from __future__ import annotations

from typing import Any

from .default import GraphKeys
from .operation import Operation, Tensor
from .variable import Variable


def guarded(initial_value: Tensor) -> Tensor:
    """The initial value, reading other variables' initial values in place of their contents.

    A variable that is initialized from another one needs no order of initialization then.
    """
    return _Guard(initial_value.graph).rebuilt(initial_value)


class _Guard:
    """Rewrites an expression so that variables in it are read through `initialized_value`."""

    def __init__(self, graph: Any) -> None:
        self.by_operation = {
            variable.op: variable
            for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
            for variable in graph.get_collection(key)
            if isinstance(variable, Variable)
        }
        self.done: dict[Operation, Operation] = {}

    def rebuilt(self, tensor: Tensor) -> Tensor:
        if not self.by_operation or not self._reads_variable(tensor.op):
            return tensor
        return self._tensor(tensor)

    def _reads_variable(self, operation: Operation) -> bool:
        stack, seen = [operation], set()
        while stack:
            current = stack.pop()
            if current in self.by_operation:
                return True
            if current not in seen:
                seen.add(current)
                stack.extend(source.op for source in current.inputs)
        return False

    def _tensor(self, tensor: Tensor) -> Tensor:
        operation = tensor.op
        if (
            operation.type in ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "Identity")
            or operation in self.by_operation
        ):
            source = (
                operation
                if operation in self.by_operation
                else operation.inputs[0].op
                if operation.inputs
                else None
            )
            variable = self.by_operation.get(source) if source is not None else None
            if variable is not None and operation.type not in ("IsVariableInitialized", "VarIsInitializedOp"):
                result: Tensor = variable.initialized_value()
                return result
            if operation.type in ("IsVariableInitialized", "VarIsInitializedOp"):
                return tensor
        if not self._reads_variable(operation) or operation.type in ("Merge", "Switch"):
            return tensor
        if operation not in self.done:
            inputs = [self._tensor(source) for source in operation.inputs]
            if all(a is b for a, b in zip(inputs, operation.inputs)):
                return tensor
            attrs = {name: operation.attr(name) for name in operation.attr_names()}
            self.done[operation] = operation.graph.add_node(
                operation.type, inputs, attrs, operation.name.rpartition("/")[2]
            )
        return self.done[operation].output(tensor.value_index)
