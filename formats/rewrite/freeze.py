"""A graph without variables: each a constant of its value, and what worked on variables on plain tensors.

    VariableV2, VarHandleOp            Const
    ReadVariableOp                     Identity
    ResourceGather, ResourceGatherNd   GatherV2, GatherNd
    VariableShape                      Shape
    RefSwitch, RefEnter, RefMerge ...  Switch, Enter, Merge ...
    IsVariableInitialized              Const(true)

Functions that are given a variable (If, While, PartitionedCall) get copies that are given a tensor. Source:
what the ops compute; TensorFlow's graph_util and convert_to_constants, behaviour only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import dtypes, protos, tensor_proto
from ..errors import FailedPreconditionError, InvalidValueError, UnimplementedError, bullets
from ..graph_facts import VARIABLE_OPS
from ..saved_variables import saved_parts
from .keep import keep
from .model import Model, check_names, node_of
from .names import called_functions
from .walk import closure, consumers

if TYPE_CHECKING:
    import numpy as np

    Values = Callable[[str, Any], "np.ndarray[Any, Any] | None"]

_RESOURCE = 20
_REF = {
    "RefSwitch": "Switch",
    "RefEnter": "Enter",
    "RefExit": "Exit",
    "RefMerge": "Merge",
    "RefNextIteration": "NextIteration",
    "RefIdentity": "Identity",
}
_PASSING = frozenset(("Identity", "Switch", "Enter", "Exit", "Merge", "NextIteration", "IdentityN"))
_JOINS = frozenset(("Merge", "RefMerge"))
_INITIALIZED = frozenset(("IsVariableInitialized", "VarIsInitializedOp"))
_WRITE = re.compile(
    r"Assign(Add|Sub)?(VariableOp)?|(Resource)?Scatter(Nd)?(Add|Sub|Mul|Div|Min|Max|Update)|CountUpTo|"
    r"ResourceCountUpTo|(Resource)?(Sparse)?Apply[A-Z]\w*|(Resource)?StridedSliceAssign|DestroyResourceOp|"
    r"AssignVariableXlaConcatND"
)
_OUTPUTS = {"ReadVariableOp": "value", **dict.fromkeys(_INITIALIZED, "is_initialized")}
"""Outputs that have another name than those of the ops that stand in for theirs."""
_CALLS = {  # op -> where its functions' arguments begin among its inputs
    "PartitionedCall": 0,
    "StatefulPartitionedCall": 0,
    "If": 1,
    "StatelessIf": 1,
    "Case": 1,
    "StatelessCase": 1,
    "While": 0,
    "StatelessWhile": 0,
}


@dataclass(frozen=True, slots=True)
class Frozen:
    """What `freeze` did.

    Attributes:
        model: A graph without variables that are frozen; a GraphDef (`bare`).
        variables: The variables that became constants, with the bytes of each.
        dropped: Control edges to writes that went, as `(waiting node, node)`: constants do not change.
    """

    model: Model
    variables: dict[str, int] = field(default_factory=dict)
    dropped: list[tuple[str, str]] = field(default_factory=list)


def freeze(
    model: Model,
    outputs: Sequence[str],
    *,
    only: Callable[[str], bool] | None = None,
) -> Frozen:
    """The part of a model that its outputs need, with the checkpoint's values in the graph.

    Args:
        model: A graph with its checkpoint.
        outputs: Names of tensors or nodes.
        only: Which variables (by their operations' names) become constants; by default all.

    Raises:
        MissingNameError: An output that the graph does not have; lists all.
        FailedPreconditionError: A variable without a value in the checkpoint; lists all.
        InvalidValueError: An output needs the value that an assignment gives, or over 2 GB of constants.
        UnimplementedError: A variable is used by an op that has no counterpart for tensors; lists all.
    """
    keys, names = _keys_of(model)
    value = checkpoint_values(model)
    graph, frozen, dropped = freeze_graph(model.meta_graph.graph_def, outputs, value, only)
    meta_graph = protos.MetaGraphDef()
    meta_graph.CopyFrom(model.meta_graph)
    meta_graph.graph_def.CopyFrom(graph)
    keep(meta_graph, {node.name for node in graph.node})
    for key in list(meta_graph.collection_def):
        if "variables" in key or key in ("train_op", "savers", "global_step"):
            del meta_graph.collection_def[key]
    meta_graph.ClearField("saver_def")
    meta_graph.ClearField("object_graph_def")
    still = [node.name for node in graph.node if node.op in VARIABLE_OPS]
    unfrozen = {
        names[name][0] if name in names else keys[name].key if name in keys else name for name in still
    }
    left = {key: model.variables[key] for key in model.variables if key in unfrozen}
    return Frozen(replace(model, meta_graph=meta_graph, variables=left, bare=True), frozen, dropped)


def _keys_of(model: Model) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """Where the values of variables are: by the saver's nodes, and by the collections."""
    parts = saved_parts(model.meta_graph.graph_def, model.meta_graph.saver_def)
    return {part.variable: part for part in parts}, _parts_of(model)


def checkpoint_values(model: Model) -> Values:
    """For `freeze_graph`: gives a variable's value out of the model's checkpoint, or None."""
    keys, names = _keys_of(model)

    def value(name: str, node: Any) -> Any:
        part = keys.get(name)
        key, spec = names.get(name) or ((part.key, part.spec) if part is not None else (name, ""))
        return read_part(model.variables, key, spec) if key in model.variables else None

    return value


def read_part(variables: Mapping[str, Any], key: str, spec: str) -> Any:
    """The values of an entry, or of the part of it that `"4 10 0,4:0,10"` says."""
    from ..parts import Part

    part = Part.parse(spec)
    values = variables[key].read()
    if part is None or part.is_full:
        return values
    return values[tuple(slice(*pair) for pair in part.ranges)]


def _parts_of(model: Model) -> dict[str, tuple[str, str]]:
    """Key and part of each variable that the collections call a part of another."""
    from ..collection_items import variable_defs

    found = {}
    for key in ("variables", "local_variables", "trainable_variables"):
        for one in (
            variable_defs(model.meta_graph.collection_def[key])
            if key in model.meta_graph.collection_def
            else ()
        ):
            info = one.save_slice_info_def
            if info.full_name:
                ranges = ":".join(f"{at},{size}" for at, size in zip(info.var_offset, info.var_shape))
                spec = " ".join([*map(str, info.full_shape), ranges])
                found[node_of(one.variable_name)] = (info.full_name, spec)
    return found


def freeze_graph(
    graph_def: Any,
    outputs: Sequence[str],
    value: Values,
    only: Callable[[str], bool] | None = None,
) -> tuple[Any, dict[str, int], list[tuple[str, str]]]:
    """As `freeze`, of a GraphDef and wherever its variables' values are.

    Args:
        graph_def: The message; it stays as it is.
        outputs: Names of tensors or nodes.
        value: `value(name, node)` gives the array of a variable, or None where it has none.
        only: Which variables become constants; by default all.

    Returns:
        The GraphDef, the bytes of each frozen variable, and the control edges that were dropped.
    """
    nodes = {node.name: node for node in graph_def.node}
    check_names(outputs, nodes, "The graph has no such output")
    starts = [node_of(name) for name in outputs]
    chosen = {
        name for name, node in nodes.items() if node.op in VARIABLE_OPS and (only is None or only(name))
    }
    writing = _writing(nodes, chosen)
    dropped: list[tuple[str, str]] = []

    def follow(consumer: str, text: str) -> bool:
        if text[:1] == "^" and text[1:] in writing:
            dropped.append((consumer, text[1:]))
            return False
        return True

    kept = closure(nodes, starts, follow)
    held = _holders(nodes, chosen)
    written = [name for name in kept if _is_write(nodes[name], held)]
    if written:
        lines = [f"'{name}' ({nodes[name].op} of '{held[_first(nodes[name])]}')" for name in sorted(written)]
        raise InvalidValueError(
            "The outputs need values that are written to variables while they are computed, which constants "
            f"cannot be:{bullets(lines)}\nName outputs before these, or keep the variables.",
            nodes=sorted(written),
        )
    late = _read_late(nodes, kept, dropped, held)
    if late:
        raise InvalidValueError(
            f"The outputs need variables as they are after an update, which no constant is:{bullets(late)}"
            "\nName outputs that do not wait for it, or keep the variables.",
            nodes=late,
        )
    graph = protos.GraphDef()
    graph.versions.CopyFrom(graph_def.versions)
    graph.library.CopyFrom(graph_def.library)
    graph.node.extend(node for node in graph_def.node if node.name in kept)
    gone = set(dropped)
    for node in graph.node:
        if any((node.name, text[1:]) in gone for text in node.input):
            node.input[:] = [
                text for text in node.input if text[:1] != "^" or (node.name, text[1:]) not in gone
            ]
    values = _read_values(graph, chosen & kept, value)
    _Freezer(graph).run(values)
    holder = protos.MetaGraphDef()
    holder.graph_def.CopyFrom(graph)
    keep(holder, {node.name for node in graph.node})
    return holder.graph_def, {name: array.nbytes for name, (array, _) in values.items()}, dropped


def _first(node: Any) -> str:
    return node_of(node.input[0]) if node.input and node.input[0][:1] != "^" else ""


def _holders(nodes: Mapping[str, Any], variables: Collection[str]) -> dict[str, str]:
    """The nodes whose output is a reference to, or the handle of, a variable: which one."""
    found = {name: name for name in variables}
    changed = True
    rest = [
        node
        for node in nodes.values()
        if node.op in _PASSING or node.op in _REF or node.op.startswith("Assign")
    ]
    while changed:
        changed = False
        for node in rest:
            if node.name in found:
                continue
            source = next(
                (node_of(text) for text in node.input if text[:1] != "^" and node_of(text) in found), ""
            )
            reference = node.op in _REF or node.op in ("Assign", "AssignAdd", "AssignSub")
            if source and (reference or _is_handle(node)):
                found[node.name] = found[source]
                changed = True
    return found


def _is_handle(node: Any) -> bool:
    return "T" in node.attr and node.attr["T"].type == _RESOURCE


def _writing(nodes: Mapping[str, Any], variables: Collection[str]) -> set[str]:
    """Nodes that write one of the variables, and those that only wait for such."""
    held = _holders(nodes, variables)
    found = {name for name, node in nodes.items() if _is_write(node, held)}
    order = list(nodes.values())
    changed = True
    while changed:
        changed = False
        for node in order:
            if node.name not in found and node.input and any(node_of(text) in found for text in node.input):
                found.add(node.name)
                changed = True
    return found


def _read_late(
    nodes: Mapping[str, Any],
    kept: Collection[str],
    dropped: Sequence[tuple[str, str]],
    held: Mapping[str, str],
) -> list[str]:
    """Reads of a variable that wait for a write to it, by the control edges that are dropped."""
    if not dropped:
        return []
    taken_by = consumers(nodes[name] for name in kept)
    seen = _aliases(nodes, held)
    found = set()
    for waiting, update in dropped:
        before = closure(nodes, [update])
        written = {held[_first(nodes[name])] for name in before if _is_write(nodes[name], held)}
        after: set[str] = set()
        stack = [waiting]
        while stack:
            name = stack.pop()
            if name not in after:
                after.add(name)
                stack += [node.name for node in taken_by.get(name, ())]
        for name in after:
            if nodes[name].op in _JOINS:
                continue  # what it is given besides is of another branch, in which nothing is written
            for text in nodes[name].input:
                if text[:1] != "^" and seen.get(node_of(text)) in written:
                    found.add(f"'{name}' reads '{seen[node_of(text)]}' after '{update}'")
    return sorted(found)


def _aliases(nodes: Mapping[str, Any], held: Mapping[str, str]) -> dict[str, str]:
    """`held`, and what passes the buffer of a reference on, in which later writes are seen."""
    found = dict(held)
    taken_by = consumers(nodes.values())
    stack = [name for name in held if not nodes[name].op.startswith("VarHandle")]
    while stack:
        name = stack.pop()
        for node in taken_by.get(name, ()):
            passing = node.op in _PASSING and node.op not in _JOINS
            if node.name not in found and passing and not _is_handle(node):
                found[node.name] = found[name]
                stack.append(node.name)
    return found


def _is_write(node: Any, held: Mapping[str, str]) -> bool:
    return _WRITE.fullmatch(node.op) is not None and _first(node) in held


def _read_values(graph: Any, names: Collection[str], value: Values) -> dict[str, tuple[Any, int]]:
    """Array and dtype number of each variable."""
    found = {}
    missing = []
    for node in graph.node:
        if node.name in names:
            array = value(node.name, node)
            number = node.attr["dtype"].type
            if array is None:
                missing.append(node.name)
            else:
                found[node.name] = (
                    array,
                    number - dtypes.REF_OFFSET if number > dtypes.REF_OFFSET else number,
                )
    if missing:
        raise FailedPreconditionError(
            f"These variables have no value, which the outputs need:{bullets(missing)}", names=missing
        )
    total = sum(array.nbytes for array, _ in found.values())
    if total >= 1 << 31:
        raise InvalidValueError(
            f"The variables take {total} bytes, but a graph file holds less than 2 GiB: keep the checkpoint, "
            "or freeze fewer of them.",
            nbytes=total,
        )
    return found


class _Was(NamedTuple):
    """What a tensor was before: a variable of a dtype, by its handle or a reference."""

    dtype: int
    handle: bool


class _Freezer:
    """Rewrites the nodes of a graph, and of the functions that get a variable's handle."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._bodies = {one.signature.name: one for one in graph.library.function}
        self._copies: dict[tuple[str, tuple[tuple[int, int], ...]], str] = {}
        self._refused: list[str] = []

    def run(self, values: Mapping[str, tuple[Any, int]]) -> None:
        """Makes the variables constants."""
        types: dict[str, _Was] = {}
        for node in self._graph.node:
            if node.name in values:
                array, number = values[node.name]
                types[node.name] = _Was(number, node.op == "VarHandleOp")
                _become_constant(node, tensor_proto.from_array(array, dtypes.from_number(number)), number)
        self._rewrite(self._graph.node, types, node_of, "")
        if self._refused:
            raise UnimplementedError(
                f"These use a variable in a way that a constant cannot stand in for:{bullets(self._refused)}",
                nodes=self._refused,
            )

    def _rewrite(self, nodes: Any, types: dict[str, _Was], source: Callable[[str], str], where: str) -> None:
        """Changes all that takes one of `types`: a tensor now, of that dtype, instead of a variable."""
        pending = list(nodes)
        added: list[Any] = []
        changed = True
        while changed:
            changed = False
            rest = []
            for node in pending:
                at = [
                    index
                    for index, text in enumerate(node.input)
                    if text[:1] != "^" and source(text) in types
                ]
                if not at:
                    rest.append(node)
                    continue
                was = types[source(node.input[at[0]])]
                if self._change(node, at, was, types, source, added, where):
                    types[node.name] = was
                changed = True
            pending = rest
        nodes.extend(added)

    def _change(
        self,
        node: Any,
        at: Sequence[int],
        was: _Was,
        types: Mapping[str, _Was],
        source: Callable[[str], str],
        added: list[Any],
        where: str,
    ) -> bool:
        """Changes one node; gives whether its outputs were the variable, too."""
        op, number = node.op, was.dtype
        if "_output_shapes" in node.attr:  # of a handle that was passed on
            del node.attr["_output_shapes"]
        if op in _REF:
            node.op = _REF[op]
            return True
        if op in _INITIALIZED:
            _become_constant(node, protos.TensorProto(dtype=10, bool_val=[True]), 10)
            node.attr["value"].tensor.tensor_shape.SetInParent()
        elif op == "ReadVariableOp":
            _become(node, "Identity", T=number)
        elif op == "VariableShape":
            out = node.attr["out_type"].type or 3
            _become(node, "Shape", T=number, out_type=out)
        elif op == "ResourceGather":
            indices = node.attr["Tindices"].type
            batch = node.attr["batch_dims"].i
            axis = protos.NodeDef(name=f"{node.name}/axis", op="Const", device=node.device)
            _become_constant(axis, protos.TensorProto(dtype=3, int_val=[batch]), 3)
            axis.attr["value"].tensor.tensor_shape.SetInParent()
            added.append(axis)
            controls = [text for text in node.input if text[:1] == "^"]
            data = [text for text in node.input if text[:1] != "^"]
            _become(node, "GatherV2", Tparams=number, Tindices=indices, Taxis=3)
            if batch:
                node.attr["batch_dims"].i = batch
            node.input[:] = [*data, f"{axis.name}:output:0" if where else axis.name, *controls]
        elif op == "ResourceGatherNd":
            _become(node, "GatherNd", Tparams=number, Tindices=node.attr["Tindices"].type)
        elif op in _PASSING and _is_handle(node):
            node.attr["T"].type = number
            return True
        elif op in _CALLS:
            self._call(node, {index: types[source(node.input[index])].dtype for index in at})
        elif was.handle:
            self._refused.append(f"{where}'{node.name}' ({op})")
        return False

    def _call(self, node: Any, given: Mapping[int, int]) -> None:
        begin = _CALLS[node.op]
        passed = {index - begin: number for index, number in given.items() if index >= begin}
        declared = node.attr["Tin" if "Tin" in node.attr else "T"].list.type
        handles = {index: number for index, number in passed.items() if declared[index] == _RESOURCE}
        if not handles:
            return
        for index, number in handles.items():
            declared[index] = number
        for value in node.attr.values():
            for called in called_functions(value):
                called.name = self._specialized(called.name, handles, returns="While" in node.op)

    def _specialized(self, name: str, given: Mapping[int, int], returns: bool) -> str:
        """The name of a copy of a function that gets tensors for some of its arguments."""
        key = (name, tuple(sorted(given.items())))
        if key in self._copies or name not in self._bodies:
            return self._copies.get(key, name)
        body = self._graph.library.function.add()
        body.CopyFrom(self._bodies[name])
        made, count = f"{name}_frozen", 0
        while made in self._bodies:
            count += 1
            made = f"{name}_frozen_{count}"
        body.signature.name = made
        self._copies[key] = made
        self._bodies[made] = body
        types: dict[str, _Was] = {}
        for index, number in given.items():
            argument = body.signature.input_arg[index]
            argument.type = number
            types[argument.name] = _Was(number, True)
        for number_ in list(body.arg_attr):
            if number_ in given:
                del body.arg_attr[number_]
        body.resource_arg_unique_id.clear()
        before = {node.name: node.op for node in body.node_def}
        self._rewrite(body.node_def, types, lambda text: text.partition(":")[0], f"{name}: ")
        _rename_outputs(body, before)
        for output in body.signature.output_arg:
            origin = body.ret[output.name].partition(":")[0]
            if origin in types and output.type == _RESOURCE:
                output.type = types[origin].dtype
        if not returns and any(one.type == _RESOURCE for one in body.signature.output_arg):
            self._refused.append(f"the function '{name}' (it returns a variable)")
        return made


def _rename_outputs(body: Any, before: Mapping[str, str]) -> None:
    """In a function an output goes by its name, which other ops call otherwise."""
    changed = {
        f"{node.name}:{_OUTPUTS[before[node.name]]}:0": f"{node.name}:output:0"
        for node in body.node_def
        if before.get(node.name) in _OUTPUTS and node.op != before[node.name]
    }
    for node in body.node_def:
        for at, text in enumerate(node.input):
            if text in changed:
                node.input[at] = changed[text]
    for output, text in list(body.ret.items()):
        body.ret[output] = changed.get(text, text)


def _become(node: Any, op: str, **types: int) -> None:
    node.op = op
    for key in [key for key in node.attr if key != "_class"]:
        del node.attr[key]
    for key, number in types.items():
        node.attr[key].type = number


def _become_constant(node: Any, tensor: Any, number: int) -> None:
    node.op = "Const"
    del node.input[:]
    node.attr.clear()
    node.attr["dtype"].type = number
    node.attr["value"].tensor.CopyFrom(tensor)
