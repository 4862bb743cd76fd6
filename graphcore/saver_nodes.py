"""The save and restore nodes of a Saver, with TensorFlow's names and structure.

save/filename/input (Const "model") -> save/filename -> save/Const        (PlaceholderWithDefault)
save/SaveV2(save/Const, names, slices, variables...)
save/control_dependency = Identity(save/Const, ^save/SaveV2)
save/RestoreV2 -> save/Assign[_k] -> save/restore_all
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import string
from .graph import Graph
from .op import group, raw_ops
from .operation import Operation
from .saveables import Saveable

Names = tuple[str, str, str]


def add_nodes(graph: Graph, saveables: list[Saveable], name: str | None, filename: str | None) -> Names:
    """Adds the nodes to `graph`; gives the names for a SaverDef: filename tensor, save tensor, restore op."""
    with (
        graph.as_default(),
        graph.control_dependencies(None),
        graph.name_scope(None),
        graph.name_scope(name or "save"),
    ):
        return _build(graph, saveables, filename, {})


def nodes_for_export(
    graph: Graph, saveables: list[Saveable], name: str | None, filename: str | None
) -> tuple[Names, list[Any]]:
    """The nodes as NodeDefs, named so that they fit into `graph`, which stays as it is.

    They are built in a scratch graph beside stand-ins for the variables.
    """
    scratch = Graph()
    scratch._names = dict(graph._names)
    stand_ins: dict[Operation, Operation] = {}
    for saveable in saveables:
        variable = saveable.variable
        if variable not in stand_ins:
            attrs = {key: variable.attr(key) for key in variable.attr_names() if not key.startswith("_")}
            copy = Operation(scratch, variable.name, variable.type, [], [], attrs, variable.device)
            copy._shapes = [saveable.static_shape if not saveable.is_resource else ()]
            stand_ins[variable] = copy
    known = set(scratch._operations)
    with scratch.as_default(), scratch.name_scope(name or "save"):
        names = _build(scratch, saveables, filename, stand_ins)
    nodes = [
        operation.to_proto(shapes=True)
        for operation in scratch.get_operations()
        if operation.name not in known
    ]
    return names, nodes


def _build(
    graph: Graph, saveables: list[Saveable], filename: str | None, stand_ins: dict[Operation, Operation]
) -> Names:
    variables = [stand_ins.get(saveable.variable, saveable.variable) for saveable in saveables]
    default = raw_ops.PlaceholderWithDefault(
        _strings(graph, filename or "model", "filename/input"), shape=[], name="filename"
    )
    path = raw_ops.PlaceholderWithDefault(default, shape=[], name="Const")
    names = np.array([saveable.key.encode() for saveable in saveables], object)
    specs = np.array([saveable.slice_spec.encode() for saveable in saveables], object)
    values = [_value(variable) for variable in variables]
    save = raw_ops.SaveV2(
        path,
        _strings(graph, names, "SaveV2/tensor_names"),
        _strings(graph, specs, "SaveV2/shape_and_slices"),
        values,
        name="SaveV2",
    )
    with graph.control_dependencies([save]), graph.colocate_with(path.op):
        saved = raw_ops.Identity(path, name="control_dependency")
    dtypes = [saveable.dtype for saveable in saveables]
    with graph.device("/cpu:0"):
        restored = raw_ops.RestoreV2(
            path,
            _strings(graph, names, "RestoreV2/tensor_names"),
            _strings(graph, specs, "RestoreV2/shape_and_slices"),
            dtypes=dtypes,
            name="RestoreV2",
        )
    assigns = [_assign(graph, variable, tensor) for variable, tensor in zip(variables, restored)]
    restore = group(*assigns, name="restore_all")
    return path.name, saved.name, restore.name


def _strings(graph: Graph, value: Any, name: str) -> Any:
    array = np.array(value.encode(), object) if isinstance(value, str) else value
    return graph.add_node("Const", [], {"value": array, "dtype": string}, name).output(0)


def _value(variable: Operation) -> Any:
    if variable.type == "VarHandleOp":
        return raw_ops.ReadVariableOp(variable.output(0), dtype=variable.attr("dtype"))
    return variable.output(0)


def _assign(graph: Graph, variable: Operation, tensor: Any) -> Operation:
    if variable.type == "VarHandleOp":
        identity = raw_ops.Identity(tensor)
        operation: Operation = raw_ops.AssignVariableOp(variable.output(0), identity, name="AssignVariableOp")
        return operation
    with graph.colocate_with(variable):
        reference = raw_ops.Assign(variable.output(0), tensor, validate_shape=True, name="Assign")
    return reference.op  # type: ignore[no-any-return]
