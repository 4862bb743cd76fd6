"""The save and restore nodes of a graph: found, cut down to fewer variables, made anew.

save/filename/input -> save/filename -> save/Const          the checkpoint's prefix
save/SaveV2(save/Const, names, slices, variables...)  ->  save/control_dependency
save/RestoreV2(save/Const, names, slices)  ->  save/Assign[_k]  ->  save/restore_all
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Sequence
from typing import Any

from .. import protos
from ..errors import UnimplementedError, bullets
from ..graph_facts import VARIABLE_OPS
from ..saved_variables import SavedPart, restored_by_function, saved_parts
from .keep import keep
from .model import node_of
from .names import SAVE_AND_RESTORE
from .walk import consumers, only_for

_SAVER_OPS = SAVE_AND_RESTORE | {"ShardedFilename", "ShardedFilespec", "MergeV2Checkpoints"}
_HELPERS = frozenset(
    (
        "Const",
        "Placeholder",
        "PlaceholderWithDefault",
        "Identity",
        "NoOp",
        "Pack",
        "StringJoin",
        "Assign",
        "AssignVariableOp",
        "ReadVariableOp",
        "Reshape",
        "Cast",
        "LookupTableImport",
        "LookupTableImportV2",
        "LookupTableExport",
        "LookupTableExportV2",
        "StaticRegexFullMatch",
        "RegexFullMatch",
        "Select",
        "SelectV2",
    )
)
"""What else there is in the scope of a saver; a scope with other ops is more than a saver's."""
_KEPT = ("max_to_keep", "keep_checkpoint_every_n_hours")


def saver_nodes(graph_def: Any) -> set[str]:
    """The nodes that are there only to save and restore."""
    nodes = {node.name: node for node in graph_def.node}
    own = {node.name for node in graph_def.node if node.op in _SAVER_OPS}
    scopes = {name.rpartition("/")[0] for name in own} - {""}
    ops_in: dict[str, set[str]] = {scope: set() for scope in scopes}
    inside: dict[str, list[str]] = {scope: [] for scope in scopes}
    for node in graph_def.node:
        for at, sign in enumerate(node.name):
            if sign == "/" and (scope := node.name[:at]) in ops_in:
                ops_in[scope].add(node.op)
                inside[scope].append(node.name)
    for scope, ops in ops_in.items():
        if ops <= _SAVER_OPS | _HELPERS:
            own.update(inside[scope])
    taken_by = consumers(graph_def.node)
    stack = list(own)
    while stack:  # what is done with file names and restored values, where that has other names
        for node in taken_by.get(stack.pop(), ()):
            if node.name not in own and node.op in _HELPERS and node.op != "NoOp":
                own.add(node.name)
                stack.append(node.name)
    own |= {
        node.name
        for node in graph_def.node
        if node.op == "NoOp" and node.input and all(node_of(text) in own for text in node.input)
    }
    return only_for(nodes, own, lambda node: node.op in ("Const", "PlaceholderWithDefault", "Identity"))


def remove_savers(meta_graph: Any) -> set[str]:
    """Takes the savers out of a graph, in place; gives the names of their nodes."""
    gone = saver_nodes(meta_graph.graph_def)
    meta_graph.ClearField("saver_def")
    meta_graph.collection_def.pop("savers", None)
    keep(meta_graph, {node.name for node in meta_graph.graph_def.node} - gone)
    return gone


def restrict(meta_graph: Any, variables: Collection[str]) -> set[str]:
    """Takes variables out of the savers of a graph, in place; the nodes that restored them stay.

    Args:
        meta_graph: The MetaGraphDef.
        variables: The names of the operations of variables that will be taken away.

    Returns:
        The nodes that are of no use any more: what was done with the restored values, savers of nothing.
    """
    graph = meta_graph.graph_def
    nodes = {node.name: node for node in graph.node}
    taken_by = consumers(graph.node)
    going = set(variables)
    gone: set[str] = set()
    edited: dict[tuple[str, ...], None] = {}
    for node in graph.node:
        if node.op not in SAVE_AND_RESTORE or len(node.input) < 2:
            continue
        if node.op in ("SaveV2", "SaveSlices", "Save"):
            first = 2 if node.op == "Save" else 3
            drop = {
                at for at, text in enumerate(node.input[first:]) if _variable_behind(nodes, text) in going
            }
            kept = [text for at, text in enumerate(node.input[first:]) if at not in drop]
            kept_inputs = [*node.input[:first], *kept]
            types = node.attr["dtypes" if node.op == "SaveV2" else "T"].list.type
        elif node.op == "RestoreV2":
            first = 3
            by_output = _restored(taken_by.get(node.name, ()), node.name, taken_by)
            drop = {at for at, (_, names) in by_output.items() if names & going}
            for at in drop:
                gone |= by_output[at][0]
            _renumber(node.name, taken_by.get(node.name, ()), drop)
            kept_inputs = list(node.input)
            types = node.attr["dtypes"].list.type
        else:  # one tensor for each operation
            users = _restored(taken_by.get(node.name, ()), node.name, taken_by)
            if any(names & going for _, names in users.values()):
                gone |= {node.name} | {name for found, _ in users.values() for name in found}
            continue
        if not drop:
            continue
        if len(drop) == len(types):
            gone.add(node.name)
            continue
        types[:] = [one for at, one in enumerate(types) if at not in drop]
        node.input[:] = kept_inputs
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]
        for text in node.input[1:first]:
            edited.setdefault((node_of(text), *map(str, sorted(drop))))
    for name, *places in edited:
        _drop_strings(nodes[name], set(map(int, places)))
    return gone


def _variable_behind(nodes: dict[str, Any], text: str) -> str:
    name = node_of(text)
    for _ in range(8):
        node = nodes.get(name)
        if node is None or node.op in VARIABLE_OPS or not node.input:
            break
        name = node_of(node.input[0])
    return name


def _restored(
    users: Sequence[Any], name: str, taken_by: dict[str, list[Any]]
) -> dict[int, tuple[set[str], set[str]]]:
    """For each output of a restore operation the nodes that take it, and the variables that are assigned."""
    found: dict[int, tuple[set[str], set[str]]] = {}
    for user in users:
        for text in user.input:
            if text[:1] == "^" or node_of(text) != name:
                continue
            passed, assigned = found.setdefault(int(text.partition(":")[2] or 0), (set(), set()))
            stack = [user]
            while stack:
                one = stack.pop()
                if one.name in passed:
                    continue
                passed.add(one.name)
                if one.op.startswith("Assign"):
                    assigned.add(node_of(one.input[0]))
                elif one.op in ("Identity", "Reshape", "Cast"):
                    stack += taken_by.get(one.name, ())
    return found


def _renumber(name: str, users: Sequence[Any], drop: set[int]) -> None:
    ordered = sorted(drop)
    for user in users:
        for at, text in enumerate(user.input):
            if text[:1] != "^" and node_of(text) == name:
                index = int(text.partition(":")[2] or 0)
                if index not in drop:
                    new = index - bisect(ordered, index)
                    user.input[at] = f"{name}:{new}" if new else name


def _drop_strings(node: Any, drop: set[int]) -> None:
    tensor = node.attr["value"].tensor
    count = tensor.tensor_shape.dim[0].size if tensor.tensor_shape.dim else 1
    values = list(tensor.string_val)
    values += values[-1:] * (count - len(values))
    tensor.string_val[:] = [one for at, one in enumerate(values) if at not in drop]
    del tensor.tensor_shape.dim[:]
    tensor.tensor_shape.dim.add(size=len(tensor.string_val))
    if "_output_shapes" in node.attr:
        del node.attr["_output_shapes"]


def is_function(meta_graph: Any) -> bool:
    """Whether the saver of a graph is a function, as TensorFlow 2 makes it."""
    return bool(restored_by_function(meta_graph.graph_def, meta_graph.saver_def))


def replace_saver(meta_graph: Any) -> None:
    """Gives a graph one saver for checkpoints of the second generation, of what its saver saves; in place.

    Raises:
        UnimplementedError: The saver saves what is no variable; lists all.
    """
    parts = saved_parts(meta_graph.graph_def, meta_graph.saver_def)
    options = {field: getattr(meta_graph.saver_def, field) for field in _KEPT}
    remove_savers(meta_graph)
    add_saver(meta_graph, parts, options)


def add_saver(meta_graph: Any, parts: Sequence[SavedPart], options: dict[str, Any] | None = None) -> None:
    """Adds save and restore nodes for variables, and the SaverDef that names them, in place.

    Args:
        meta_graph: The MetaGraphDef.
        parts: What is saved: variables that are operations of the graph.
        options: Other fields of the SaverDef.

    Raises:
        UnimplementedError: There is something that is no variable; lists all.
    """
    graph = meta_graph.graph_def
    nodes = {node.name: node for node in graph.node}
    others = [part.key for part in parts if part.variable not in nodes or part.dtype is None]
    if others:
        raise UnimplementedError(
            "These keys are not of variables (but of tables, say), which a new saver cannot save:"
            f"{bullets(others)}",
            keys=others,
        )
    if not parts:
        return
    scopes = {name.partition("/")[0] for name in nodes}
    scope, number = "save", 0
    while scope in scopes:
        number += 1
        scope = f"save_{number}"
    add = _Adder(graph, scope)
    types = [part.dtype.number for part in parts if part.dtype is not None]
    default = add("Const", "filename/input", dtype=7, value=_strings([b"model"], scalar=True))
    filename = add("PlaceholderWithDefault", "filename", [default], dtype=7, shape=())
    path = add("PlaceholderWithDefault", "Const", [filename], dtype=7, shape=())
    values = [
        add(
            "ReadVariableOp",
            "ReadVariableOp",
            [part.variable],
            dtype=number,
            device=nodes[part.variable].device,
        )
        if nodes[part.variable].op == "VarHandleOp"
        else part.variable
        for part, number in zip(parts, types)
    ]
    keys = [part.key.encode("utf-8", "surrogateescape") for part in parts]
    specs = [part.spec.encode() for part in parts]

    def described(op: str) -> list[str]:
        return [
            add("Const", f"{op}/tensor_names", dtype=7, value=_strings(keys)),
            add("Const", f"{op}/shape_and_slices", dtype=7, value=_strings(specs)),
        ]

    save = add("SaveV2", "SaveV2", [path, *described("SaveV2"), *values], dtypes=types)
    saved = add("Identity", "control_dependency", [path, f"^{save}"], T=7, near=path)
    read = add("RestoreV2", "RestoreV2", [path, *described("RestoreV2")], dtypes=types)
    assigned = []
    for at, (part, number) in enumerate(zip(parts, types)):
        value = f"{read}:{at}" if at else read
        device = nodes[part.variable].device
        if nodes[part.variable].op == "VarHandleOp":
            value = add("Identity", "Identity", [value], T=number)
            done = add(
                "AssignVariableOp", "AssignVariableOp", [part.variable, value], dtype=number, device=device
            )
        else:
            done = add(
                "Assign",
                "Assign",
                [part.variable, value],
                T=number,
                use_locking=True,
                validate_shape=True,
                near=part.variable,
                device=device,
            )
        assigned.append(f"^{done}")
    restore = add("NoOp", "restore_all", assigned)
    meta_graph.saver_def.CopyFrom(
        protos.SaverDef(
            filename_tensor_name=f"{path}:0",
            save_tensor_name=f"{saved}:0",
            restore_op_name=restore,
            max_to_keep=5,
            keep_checkpoint_every_n_hours=10000.0,
            version=protos.SaverDef.V2,
        )
    )
    for field, value in (options or {}).items():
        if value:
            setattr(meta_graph.saver_def, field, value)


class _Adder:
    """Adds nodes to a scope, under names that TensorFlow would give them."""

    def __init__(self, graph: Any, scope: str) -> None:
        self._graph, self._scope = graph, scope
        self._count: dict[str, int] = {}

    def __call__(
        self,
        op: str,
        name: str,
        inputs: Sequence[str] = (),
        near: str = "",
        device: str = "",
        **attributes: Any,
    ) -> str:
        count = self._count.get(name, 0)
        self._count[name] = count + 1
        node = self._graph.node.add(op=op, name=f"{self._scope}/{name}" + (f"_{count}" if count else ""))
        node.input.extend(inputs)
        node.device = device
        if near:
            node.attr["_class"].list.s.append(f"loc:@{near}".encode())
        for key, value in attributes.items():
            target = node.attr[key]
            if isinstance(value, bool):
                target.b = value
            elif isinstance(value, int):
                target.type = value
            elif isinstance(value, list):
                target.list.type.extend(value)
            elif value == ():
                target.shape.SetInParent()
            else:
                target.tensor.CopyFrom(value)
        made: str = node.name
        return made


def _strings(values: Sequence[bytes], scalar: bool = False) -> Any:
    proto = protos.TensorProto(dtype=7, string_val=values)
    proto.tensor_shape.SetInParent()
    if not scalar:
        proto.tensor_shape.dim.add(size=len(values))
    return proto
