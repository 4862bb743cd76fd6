"""The save and restore nodes of a Saver, with TensorFlow's names and structure.

save/filename/input (Const "model") -> save/filename -> save/Const        (PlaceholderWithDefault)
save/SaveV2(save/Const, names, slices, variables...)
save/control_dependency = Identity(save/Const, ^save/SaveV2)
save/RestoreV2 -> save/Assign[_k] -> save/restore_all

For checkpoints of the first version, save/save (SaveSlices) stands in the place of save/SaveV2. A sharded
Saver has a save node for each device, whose files are joined:

save/StringJoin(save/Const, "_temp_.../part") -> save/ShardedFilename[_k] -> save/SaveV2[_k]
save/MergeV2Checkpoints -> save/Identity(save/Const)      (first version: save/ShardedFilespec)
save/RestoreV2[_k] -> save/restore_shard[_k] -> save/restore_all

Source: tensorflow/python/training/saver.py (r1.15), names and structure only.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import device
from .dtypes import int32, string
from .graph import Graph
from .op import group, raw_ops
from .operation import Operation, Tensor
from .saveable_objects import SaveableObject
from .saveables import Saveable, grouped, rows_of, variable_behind

Names = tuple[str, str, str]
_SAVE_OPS = {1: "SaveSlices", 2: "SaveV2"}


@dataclass(frozen=True)
class Nodes:
    """Which nodes a Saver needs.

    Attributes:
        saveables: What it saves, sorted by name.
        name: Name scope of the nodes; by default `save`.
        filename: The filename that they have by default.
        version: Of the checkpoint, 1 or 2.
        sharded: One file for each device.
        reshape: Bring restored values to the shapes of the variables.
    """

    saveables: list[Saveable | SaveableObject]
    name: str | None = None
    filename: str | None = None
    version: int = 2
    sharded: bool = False
    reshape: bool = False

    def add(self, graph: Graph) -> Names:
        """The names for a SaverDef (filename tensor, save tensor, restore op); adds missing nodes."""
        found = self.find(graph)
        if found is not None:
            return found
        scope = _free_scope(graph, self.name)
        with (
            graph.as_default(),
            graph.control_dependencies(None),
            graph.name_scope(None),
            graph.name_scope(scope),
        ):
            return _Builder(graph, self, {}).build()

    def for_export(self, graph: Graph) -> tuple[Names, list[Any]]:
        """The nodes as NodeDefs, named so that they fit into `graph`, which stays as it is.

        They are built in a scratch graph beside stand-ins for the variables; none where `graph` has them.
        """
        found = self.find(graph)
        if found is not None:
            return found, []
        scratch = Graph()
        scratch._names = dict(graph._names)
        stand_ins: dict[Operation, Operation] = {}
        for saveable in self.saveables:
            assert isinstance(saveable, Saveable)  # for others the nodes are in the graph already
            variable = saveable.variable
            if variable not in stand_ins:
                attrs = {key: variable.attr(key) for key in variable.attr_names() if not key.startswith("_")}
                copy = Operation(scratch, variable.name, variable.type, [], [], attrs, variable.device)
                copy._shapes = [saveable.static_shape if not saveable.is_resource else ()]
                stand_ins[variable] = copy
        known = set(scratch._operations)
        with scratch.as_default(), scratch.name_scope(_free_scope(graph, self.name)):
            names = _Builder(scratch, self, stand_ins).build()
        nodes = [
            operation.to_proto(shapes=True)
            for operation in scratch.get_operations()
            if operation.name not in known
        ]
        return names, nodes

    def find(self, graph: Graph) -> Names | None:
        """The nodes that save and restore exactly this, where the graph has them; never of objects."""
        if self.reshape or not all(isinstance(one, Saveable) for one in self.saveables):
            return None
        groups = [items for _, items in grouped(self.saveables)] if self.sharded else [self.saveables]
        if self.sharded and self.version == 1:
            return None
        wanted = [[row for one in items for row in rows_of(one)] for items in groups]
        everything = [row for rows in wanted for row in rows]
        consumers: dict[Operation, list[Operation]] = {}
        candidates = []
        for operation in graph.get_operations():
            for source in {tensor.op for tensor in operation.inputs} | set(operation.control_inputs):
                consumers.setdefault(source, []).append(operation)
            if operation.type == _SAVE_OPS[self.version] and _saved_by(graph, operation) == wanted[0]:
                candidates.append(operation)
        for save in candidates:
            path = _joined(save.inputs[0]) if self.sharded else save.inputs[0]
            if path is None:
                continue
            identities = [
                op for op in consumers.get(path.op, ()) if op.type == "Identity" and op.inputs[0] is path
            ]
            saved = [op for op in identities if _saves(graph, op, wanted, self.sharded)]
            reads = [
                op for op in consumers.get(path.op, ()) if op.type == "RestoreV2" and op.inputs[0] is path
            ]
            restore = _restoring(reads, everything, consumers) if saved else None
            if restore is not None:
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


def _joined(filename: Tensor) -> Tensor | None:
    """The prefix behind the name of a shard, or None."""
    if filename.op.type != "ShardedFilename" or filename.op.inputs[0].op.type != "StringJoin":
        return None
    return filename.op.inputs[0].op.inputs[0]


def _saves(graph: Graph, saved: Operation, wanted: list[Any], sharded: bool) -> bool:
    """Whether an Identity of the prefix waits for save nodes of exactly what is wanted."""
    if not sharded:
        return any(_saved_by(graph, op) == wanted[0] for op in saved.control_inputs if op.type in _KINDS)
    merges = [op for op in saved.control_inputs if op.type == "MergeV2Checkpoints"]
    if len(merges) != 1:
        return False
    waiting = (merges[0].inputs[0].op, merges[0])  # the edges may be at the list of its inputs
    parts = [op for one in waiting for op in one.control_inputs if op.type == "Identity"]
    saves = [op for part in parts for op in part.control_inputs if op.type in _KINDS]
    return [_saved_by(graph, op) for op in saves] == wanted


_KINDS = frozenset(_SAVE_OPS.values())


def _restoring(
    reads: list[Operation], wanted: list[Any], consumers: dict[Operation, list[Operation]]
) -> Operation | None:
    """The operation that waits for the assignments of all that `reads` give, or None."""
    stack = [one for read in reads for one in consumers.get(read, ())]
    assigned, groups = set(), []
    while stack:
        operation = stack.pop()
        if operation.type in ("Assign", "AssignVariableOp"):
            assigned.add(variable_behind(operation.inputs[0].op))
        if operation.type == "NoOp" and operation not in groups:
            groups.append(operation)
        if operation.type in ("Assign", "AssignVariableOp", "Identity", "NoOp"):
            stack.extend(consumers.get(operation, ()))
    last = [one for one in groups if not any(other in groups for other in consumers.get(one, ()))]
    complete = len(last) == 1 and assigned == {variable for _, _, variable in wanted}
    return last[0] if complete else None


def _free_scope(graph: Graph, name: str | None) -> str:
    """A name scope that no node is in yet: `save`, `save_1`, ..."""
    base = name or "save"
    if base.endswith("/"):  # that very scope, as of a name scope
        return base
    depth = base.count("/") + 1
    taken = {"/".join(op.name.split("/")[:depth]) for op in graph.get_operations()}
    scope, index = base, 0
    while scope in taken:
        index += 1
        scope = f"{base}_{index}"
    return scope


class _Builder:
    """Builds the nodes in the current scope; variables are found by way of `stand_ins`."""

    def __init__(self, graph: Graph, nodes: Nodes, stand_ins: dict[Operation, Operation]) -> None:
        self.graph = graph
        self.nodes = nodes
        self.stand_ins = stand_ins

    def build(self) -> Names:
        graph, nodes = self.graph, self.nodes
        default = raw_ops.PlaceholderWithDefault(
            self._strings(nodes.filename or "model", "filename/input"), shape=[], name="filename"
        )
        path = raw_ops.PlaceholderWithDefault(default, shape=[], name="Const")
        if not nodes.sharded:
            saved = self._save(path, nodes.saveables)
            return path.name, saved.name, self._restore(path, nodes.saveables, "restore_all").name
        groups = grouped(nodes.saveables)
        saved = self._save_shards(path, groups)
        restores = []
        for place, items in groups:
            with graph.device(place):
                restores.append(self._restore(path, items, "restore_shard"))
        return path.name, saved.name, group(*restores, name="restore_all").name

    def _save_shards(self, path: Any, groups: list[tuple[str, list[Any]]]) -> Any:
        graph, second = self.graph, self.nodes.version == 2
        stem = path
        if second:
            stem = raw_ops.StringJoin(
                [path, self._strings(f"_temp_{uuid.uuid4().hex}/part", "StringJoin/inputs_1")],
                name="StringJoin",
            )
        count = self._int(len(groups), "num_shards")
        names, saves = [], []
        for shard, (place, items) in enumerate(groups):
            with graph.device(_on_cpu(place) if second else place):
                number = self._int(shard, "ShardedFilename/shard")
                names.append(raw_ops.ShardedFilename(stem, number, count, name="ShardedFilename"))
                saves.append(self._save(names[-1], items))
        with graph.control_dependencies([one.op for one in saves]):
            if not second:
                return raw_ops.ShardedFilespec(path, count, name="ShardedFilespec")
            with graph.device(_on_cpu(groups[-1][0])):
                parts = raw_ops.Pack(names, name="MergeV2Checkpoints/checkpoint_prefixes")
                merge = raw_ops.MergeV2Checkpoints(
                    parts, path, delete_old_dirs=True, name="MergeV2Checkpoints"
                )
                with graph.control_dependencies([merge]):
                    return raw_ops.Identity(path, name="Identity")

    def _save(self, path: Any, items: list[Any]) -> Any:
        label, slices = (
            ("save", "shapes_and_slices") if self.nodes.version == 1 else ("SaveV2", "shape_and_slices")
        )
        keys, specs, _ = self._columns(items)
        values = [self._value(row[2]) for one in items for row in rows_of(one)]
        save = getattr(raw_ops, _SAVE_OPS[self.nodes.version])(
            path,
            self._strings(keys, f"{label}/tensor_names"),
            self._strings(specs, f"{label}/{slices}"),
            values,
            name=label,
        )
        with self.graph.control_dependencies([save]), self.graph.colocate_with(path.op):
            return raw_ops.Identity(path, name="control_dependency")

    def _restore(self, path: Any, items: list[Any], name: str) -> Operation:
        keys, specs, dtypes = self._columns(items)
        with self.graph.device("/cpu:0"):
            restored = raw_ops.RestoreV2(
                path,
                self._strings(keys, "RestoreV2/tensor_names"),
                self._strings(specs, "RestoreV2/shape_and_slices"),
                dtypes=dtypes,
                name="RestoreV2",
            )
        values = iter(restored)
        operations = []
        for one in items:
            if isinstance(one, Saveable):
                operations.append(self._assign(self._stand_in(one.variable), next(values)))
            else:
                shapes = [self._shape(spec.tensor) for spec in one.specs] if self.nodes.reshape else None
                operations.append(one.restore([next(values) for _ in one.specs], shapes))
        return group(*operations, name=name)

    def _columns(self, items: list[Any]) -> tuple[Any, Any, list[Any]]:
        """The keys, slices and dtypes of what is saved."""
        keys, specs, dtypes = [], [], []
        for one in items:
            if isinstance(one, Saveable):
                rows = [(one.key, one.slice_spec, one.dtype)]
            else:
                rows = [(spec.name, spec.slice_spec, spec.dtype.base_dtype) for spec in one.specs]
            for key, slice_spec, dtype in rows:
                keys.append(key.encode())
                specs.append(slice_spec.encode())
                dtypes.append(dtype)
        return np.array(keys, object), np.array(specs, object), dtypes

    def _strings(self, value: Any, name: str) -> Any:
        array = np.array(value.encode(), object) if isinstance(value, str) else value
        return self.graph.add_node("Const", [], {"value": array, "dtype": string}, name).output(0)

    def _int(self, value: int, name: str) -> Any:
        return self.graph.add_node("Const", [], {"value": np.int32(value), "dtype": int32}, name).output(0)

    def _stand_in(self, variable: Operation) -> Operation:
        return self.stand_ins.get(variable, variable)

    def _value(self, source: Any) -> Any:
        if not isinstance(source, Operation):
            return source
        variable = self._stand_in(source)
        if variable.type == "VarHandleOp":
            return raw_ops.ReadVariableOp(variable.output(0), dtype=variable.attr("dtype"))
        return variable.output(0)

    def _shape(self, tensor: Any) -> Any:
        shape = tensor.get_shape()
        return shape.as_list() if shape.is_fully_defined() else raw_ops.Shape(tensor)

    def _assign(self, variable: Operation, tensor: Any) -> Operation:
        if variable.type == "VarHandleOp":
            if self.nodes.reshape:
                tensor = raw_ops.Reshape(tensor, self._shape(self._value(variable)))
            tensor = raw_ops.Identity(tensor)
            operation: Operation = raw_ops.AssignVariableOp(
                variable.output(0), tensor, name="AssignVariableOp"
            )
            return operation
        with self.graph.colocate_with(variable):
            known = variable.output(0).get_shape().is_fully_defined()
            if self.nodes.reshape:
                tensor = raw_ops.Reshape(tensor, self._shape(variable.output(0)))
            reference = raw_ops.Assign(
                variable.output(0), tensor, validate_shape=known and not self.nodes.reshape, name="Assign"
            )
        return reference.op  # type: ignore[no-any-return]


def _on_cpu(place: str) -> str:
    """The first CPU of the machine that a device is of."""
    return device.format_fields({**device.parse(place), "device": "CPU:0"})
