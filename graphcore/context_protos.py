"""Contexts of control flow read from the messages of a MetaGraphDef's collections.

Source: tensorflow/core/protobuf/control_flow.proto (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .control_contexts import ENTER, CondContext, ControlFlowContext, WhileContext
from .default import get_default_graph
from .operation import Tensor


class _Names:
    """The names that those in a file have in the graph."""

    def __init__(self, scope: str | None, rename: Callable[[str], str] | None) -> None:
        self._prefix = f"{scope}/" if scope else ""
        self.rename = rename or (lambda name: self._prefix + name)
        self.graph = get_default_graph()

    def context(self, name: str) -> str:
        """The name of a context, which is no node."""
        return self._prefix + name

    def tensor(self, name: str) -> Tensor:
        """The tensor that a file calls `name`.

        Raises:
            KeyError: The graph has no such tensor.
        """
        return self.graph.get_tensor_by_name(self.rename(name))


def _read_context(definition: Any, names: _Names) -> Any:
    """The context of a CondContextDef or WhileContextDef, with those nested in it.

    Raises:
        KeyError: The graph lacks a tensor or operation that the message names.
    """
    name = names.context(definition.context_name)
    context: Any
    if definition.DESCRIPTOR.name == "CondContextDef":
        context = object.__new__(CondContext)
        ControlFlowContext.__init__(context, name)
        context.branch = definition.branch
        fields: tuple[str, ...] = ("pred", "pivot")
    else:
        context = object.__new__(WhileContext)
        ControlFlowContext.__init__(context, name)
        context.maximum_iterations = None
        if definition.maximum_iterations_name:
            context.maximum_iterations = names.tensor(definition.maximum_iterations_name)
        context.parallel_iterations = definition.parallel_iterations
        context.allows_gradients = definition.back_prop
        context.swap_memory = definition.swap_memory
        context.loop_grad_state = None
        context.loop_enters = [names.tensor(each) for each in definition.loop_enter_names]
        context.loop_exits = [names.tensor(each) for each in definition.loop_exit_names]
        fields = ("pivot", "pivot_for_pred", "pivot_for_body")
    for field in fields:
        setattr(context, field, names.tensor(getattr(definition, f"{field}_name")))
    _read_values(context, definition, names)
    if context.is_loop:
        _name_frame(context)
    return context


def _read_values(context: Any, definition: Any, names: _Names) -> None:
    """The values of a context, and the contexts in it."""
    rename = names.rename
    outside = {rename(key): value for key, value in definition.values_def.external_values.items()}
    context.values = {rename(name) for name in definition.values_def.values}
    context.external_values = {key: names.tensor(value) for key, value in outside.items()}
    for name in {value.partition(":")[0] for value in context.values - set(outside)}:
        context.graph.get_operation_by_name(name)._control_flow_context = context
    with context:
        for nested in definition.nested_contexts:
            _read_context(getattr(nested, nested.WhichOneof("ctxt")), names)


def _name_frame(context: WhileContext) -> None:
    """Gives the Enters of a loop its name as their frame's: importing under a scope renames loops."""
    frame = context.name.encode()
    for value in context.values:
        operation = context.graph._operations.get(value.partition(":")[0])
        if operation is None or operation._type not in ENTER:
            continue
        if operation._control_flow_context is context and operation.attr("frame_name") != frame:
            operation._set_attr("frame_name", frame)


def context_from_proto(
    definition: Any, import_scope: str | None = None, rename: Callable[[str], str] | None = None
) -> Any:
    """The context that a message of a collection describes.

    Where the graph has not all that the message names (a part of a graph was imported), the message
    itself is kept, so that writing the graph again loses nothing.

    Args:
        definition: A CondContextDef or WhileContextDef.
        import_scope: The scope that the graph was imported under.
        rename: From names of nodes and tensors in the file to those in the graph; by default the scope
            is put before them.
    """
    names = _Names(import_scope, rename)
    try:
        with names.graph._control_flow(None):
            return _read_context(definition, names)
    except KeyError:
        return definition
