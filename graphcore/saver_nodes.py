"""The save and restore nodes of a Saver, with TensorFlow's names and structure.

save/filename/input (Const "model") -> save/filename -> save/Const        (PlaceholderWithDefault)
save/SaveV2(save/Const, names, slices, variables...)
save/control_dependency = Identity(save/Const, ^save/SaveV2)
save/RestoreV2 -> save/Assign[_k] -> save/restore_all

For checkpoints of the first version, save/save (SaveSlices) stands in the place of save/SaveV2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import string
from .graph import Graph
from .op import group, raw_ops
from .operation import Operation
from .saveables import Saveable, variable_behind

Names = tuple[str, str, str]
_SAVE_OPS = {1: "SaveSlices", 2: "SaveV2"}


def find_nodes(graph: Graph, saveables: list[Saveable], version: int = 2) -> Names | None:
    """The nodes that save (in that version) and restore exactly `saveables`, where the graph has them."""
    wanted = [(saveable.key, saveable.slice_spec, saveable.variable) for saveable in saveables]
    consumers: dict[Operation, list[Operation]] = {}
    candidates = []
    for operation in graph.get_operations():
        for source in {tensor.op for tensor in operation.inputs} | set(operation.control_inputs):
            consumers.setdefault(source, []).append(operation)
        if operation.type == _SAVE_OPS[version] and _saved_by(graph, operation) == wanted:
            candidates.append(operation)
    for save in candidates:
        path = save.inputs[0]
        saved = [op for op in consumers.get(save, ()) if op.type == "Identity" and op.inputs[0] is path]
        reads = [op for op in consumers.get(path.op, ()) if op.type == "RestoreV2" and op.inputs[0] is path]
        for read in reads:
            restore = _restoring(read, wanted, consumers)
            if saved and restore is not None:
                return path.name, saved[0].outputs[0].name, restore.name
    return None


def _saved_by(graph: Graph, save: Operation) -> list[tuple[str, str, Operation | None]] | None:
    names, specs = (graph.constant_value(tensor) for tensor in save.inputs[1:3])
    if names is None or specs is None:
        return None
    variables = [variable_behind(tensor.op) for tensor in save.inputs[3:]]
    return [
        (name.decode(), spec.decode(), variable)
        for name, spec, variable in zip(names.reshape(-1).tolist(), specs.reshape(-1).tolist(), variables)
    ]


def _restoring(
    read: Operation, wanted: list[tuple[str, str, Operation]], consumers: dict[Operation, list[Operation]]
) -> Operation | None:
    """The operation that waits for the assignments of all that `read` gives, or None."""
    stack, assigned, last = list(consumers.get(read, ())), set(), None
    while stack:
        operation = stack.pop()
        if operation.type in ("Assign", "AssignVariableOp"):
            assigned.add(variable_behind(operation.inputs[0].op))
        if operation.type == "NoOp":
            last = operation
        if operation.type in ("Assign", "AssignVariableOp", "Identity", "NoOp"):
            stack.extend(consumers.get(operation, ()))
    return last if assigned == {variable for _, _, variable in wanted} else None


def _free_scope(graph: Graph, name: str | None) -> str:
    """A name scope that no node is in yet: `save`, `save_1`, ..."""
    base = name or "save"
    taken = {operation.name.split("/")[0] for operation in graph.get_operations()}
    scope, index = base, 0
    while scope in taken:
        index += 1
        scope = f"{base}_{index}"
    return scope


def add_nodes(
    graph: Graph, saveables: list[Saveable], name: str | None, filename: str | None, version: int = 2
) -> Names:
    """The names for a SaverDef (filename tensor, save tensor, restore op); adds missing nodes."""
    found = find_nodes(graph, saveables, version)
    if found is not None:
        return found
    scope = _free_scope(graph, name)
    with (
        graph.as_default(),
        graph.control_dependencies(None),
        graph.name_scope(None),
        graph.name_scope(scope),
    ):
        return _build(graph, saveables, filename, {}, version)


def nodes_for_export(
    graph: Graph, saveables: list[Saveable], name: str | None, filename: str | None, version: int = 2
) -> tuple[Names, list[Any]]:
    """The nodes as NodeDefs, named so that they fit into `graph`, which stays as it is.

    They are built in a scratch graph beside stand-ins for the variables; none where `graph` has them.
    """
    found = find_nodes(graph, saveables, version)
    if found is not None:
        return found, []
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
    with scratch.as_default(), scratch.name_scope(_free_scope(graph, name)):
        names = _build(scratch, saveables, filename, stand_ins, version)
    nodes = [
        operation.to_proto(shapes=True)
        for operation in scratch.get_operations()
        if operation.name not in known
    ]
    return names, nodes


def _build(
    graph: Graph,
    saveables: list[Saveable],
    filename: str | None,
    stand_ins: dict[Operation, Operation],
    version: int,
) -> Names:
    variables = [stand_ins.get(saveable.variable, saveable.variable) for saveable in saveables]
    default = raw_ops.PlaceholderWithDefault(
        _strings(graph, filename or "model", "filename/input"), shape=[], name="filename"
    )
    path = raw_ops.PlaceholderWithDefault(default, shape=[], name="Const")
    names = np.array([saveable.key.encode() for saveable in saveables], object)
    specs = np.array([saveable.slice_spec.encode() for saveable in saveables], object)
    values = [_value(variable) for variable in variables]
    label, slices = ("save", "shapes_and_slices") if version == 1 else ("SaveV2", "shape_and_slices")
    save = getattr(raw_ops, _SAVE_OPS[version])(
        path,
        _strings(graph, names, f"{label}/tensor_names"),
        _strings(graph, specs, f"{label}/{slices}"),
        values,
        name=label,
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
