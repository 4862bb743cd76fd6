"""Which checkpoint keys a graph saves and restores, with the dtype and shape that each must have.

The truth is in the graph's own save operations: a partitioned variable `w/part_0` is saved as a slice
of `w`, and a Saver made from a dict uses keys of its own. In a SavedModel of TensorFlow 2 saver and
restorer are functions of the library that the SaverDef's nodes call. A graph without a saver is taken
by its variables, each under its operation's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import dtypes
from .dtypes import DTypeInfo
from .graph_facts import VARIABLE_OPS
from .object_graph import OBJECT_GRAPH_KEY
from .tensor_proto import shape_from_proto

_SAVE_OPS = {"SaveV2": 3, "SaveSlices": 3, "Save": 2}
"""Op -> where its tensors begin among its inputs; the names are its second input."""

_PASSING = frozenset(("Identity", "ReadVariableOp", "Enter", "Switch"))


@dataclass(frozen=True, slots=True)
class SavedVariable:
    """One key.

    Attributes:
        key: The key in the checkpoint.
        variable: The variable's operation; of a partitioned one, its first part.
        dtype: Its dtype, or None where the graph does not say.
        shape: Its full shape, None for an unknown dimension or rank.
    """

    key: str
    variable: str
    dtype: DTypeInfo | None
    shape: tuple[int | None, ...] | None


@dataclass(frozen=True, slots=True)
class SavedPart:
    """What one input of a save operation is.

    Attributes:
        key: The key in the checkpoint.
        spec: Which part of the tensor of that key (`"4 10 0,4:0,10"`), "" for all of it.
        variable: The variable's operation; "" where the value is of no variable (a table's).
        dtype: Its dtype, or None where the graph does not say.
    """

    key: str
    spec: str
    variable: str
    dtype: DTypeInfo | None


def saved_parts(graph_def: Any, saver_def: Any = None) -> list[SavedPart]:
    """All that a graph's saver saves, in its order; of a graph without one its variables.

    Args:
        graph_def: The GraphDef message.
        saver_def: The SaverDef of its MetaGraphDef, which tells one saver from several.
    """
    nodes = {node.name: node for node in graph_def.node}
    found = [part for node in _save_nodes(graph_def, saver_def) for part in _parts_of_saver(node, nodes)]
    return found or [
        SavedPart(one.key, "", one.variable, one.dtype)
        for one in saved_variables(graph_def, saver_def).values()
    ]


def _save_nodes(graph_def: Any, saver_def: Any) -> list[Any]:
    """The save operations of a graph, of its main saver if that is told."""
    savers = [node for node in graph_def.node if node.op in _SAVE_OPS]
    if saver_def is not None and saver_def.save_tensor_name:
        scope = saver_def.save_tensor_name.partition(":")[0].rpartition("/")[0]
        return [node for node in savers if node.name.rpartition("/")[0] == scope] or savers
    return savers


def saved_variables(graph_def: Any, saver_def: Any = None) -> dict[str, SavedVariable]:
    """The keys of a graph's saver, or of its variables where it has none, by key.

    Args:
        graph_def: The GraphDef message.
        saver_def: The SaverDef of its MetaGraphDef, which tells one saver from several.
    """
    nodes = {node.name: node for node in graph_def.node}
    found: dict[str, SavedVariable] = {}
    for node in _save_nodes(graph_def, saver_def):
        for variable in _of_saver(node, nodes):
            found.setdefault(variable.key, variable)
    found = found or restored_by_function(graph_def, saver_def)
    if not found:
        for name, node in nodes.items():
            if node.op in VARIABLE_OPS:
                found[name] = SavedVariable(name, name, _dtype(node.attr["dtype"].type), _shape(node))
    return found


def restored_by_function(graph_def: Any, saver_def: Any) -> dict[str, SavedVariable]:
    """The keys that the function behind a SaverDef's restore operation assigns, by key; often none.

    Args:
        graph_def: The GraphDef message, with its library.
        saver_def: The SaverDef, or None.
    """
    call, body = _restorer(graph_def, saver_def)
    if body is None:
        return {}
    outside = {node.name: node for node in graph_def.node}
    given = {
        argument.name: outside.get(source.partition(":")[0])
        for argument, source in zip(body.signature.input_arg, call.input, strict=False)
    }
    inside = {node.name: node for node in body.node_def}
    found: dict[str, SavedVariable] = {}
    for node in body.node_def:
        if node.op == "AssignVariableOp" and len(node.input) >= 2:
            variable, key = given.get(node.input[0]), _restored_key(inside, node.input[1])
            if variable is not None and variable.op in VARIABLE_OPS and key:
                dtype = _dtype(variable.attr["dtype"].type)
                found[key] = SavedVariable(key, variable.name, dtype, _shape(variable))
    return found


def keys_of_function(graph_def: Any, saver_def: Any) -> list[str]:
    """All keys that the function behind a SaverDef's restore operation reads, of variables or not."""
    _, body = _restorer(graph_def, saver_def)
    if body is None:
        return []
    inside = {node.name: node for node in body.node_def}
    keys = [
        key for node in body.node_def if node.op == "RestoreV2" for key in _strings(inside, node.input[1])
    ]
    return [key for key in keys if key != OBJECT_GRAPH_KEY]


def _restorer(graph_def: Any, saver_def: Any) -> tuple[Any, Any]:
    """The node that calls the function that restores, and the function; None where there is none."""
    name = saver_def.restore_op_name if saver_def is not None else ""
    call = next((node for node in graph_def.node if node.name == name), None)
    if call is None or "f" not in call.attr:
        return None, None
    wanted = call.attr["f"].func.name
    body = next((one for one in graph_def.library.function if one.signature.name == wanted), None)
    return call, body


def _restored_key(inside: dict[str, Any], name: str) -> str:
    """The key behind a value in a function: of RestoreV2's output `restore:tensors:3` the fourth name."""
    for _ in range(8):
        stem, _, output = name.partition(":")
        node = inside.get(stem)
        if node is None or not node.input:
            return ""
        if node.op == "RestoreV2":
            keys = _strings(inside, node.input[1])
            index = int(output.rpartition(":")[2] or 0)
            return keys[index] if index < len(keys) else ""
        name = node.input[0]
    return ""


def _of_saver(node: Any, nodes: dict[str, Any]) -> Iterator[SavedVariable]:
    for part in _parts_of_saver(node, nodes):
        full = _full_shape(part.spec)
        source = nodes.get(part.variable)
        shape = full if full is not None else _shape(source) if source is not None else None
        yield SavedVariable(part.key, part.variable or part.key, part.dtype, shape)


def _parts_of_saver(node: Any, nodes: dict[str, Any]) -> Iterator[SavedPart]:
    first = _SAVE_OPS[node.op]
    keys = _strings(nodes, node.input[1])
    slices = _strings(nodes, node.input[2]) if first == 3 else []
    types = list(node.attr["dtypes" if node.op == "SaveV2" else "T"].list.type)
    for index, key in enumerate(keys):
        source = _variable(nodes, node.input[first + index]) if first + index < len(node.input) else None
        yield SavedPart(
            key,
            slices[index] if index < len(slices) else "",
            source.name if source is not None else "",
            _dtype(types[index]) if index < len(types) else None,
        )


def _strings(nodes: dict[str, Any], name: str) -> list[str]:
    """The texts of a string constant; a single one stands for as many as the shape says."""
    node = nodes.get(name.partition(":")[0])
    if node is None or "value" not in node.attr:
        return []
    tensor = node.attr["value"].tensor
    values = [value.decode("utf-8", "surrogateescape") for value in tensor.string_val]
    missing = (tensor.tensor_shape.dim[0].size if tensor.tensor_shape.dim else 1) - len(values)
    return values + values[-1:] * missing


def _variable(nodes: dict[str, Any], name: str) -> Any:
    """The variable that an input of a save operation comes from, or None."""
    node = nodes.get(name.partition(":")[0])
    for _ in range(8):
        if node is None or node.op in VARIABLE_OPS or node.op not in _PASSING or not node.input:
            break
        node = nodes.get(node.input[0].partition(":")[0])
    return node if node is not None and node.op in VARIABLE_OPS else None


def _full_shape(spec: str) -> tuple[int | None, ...] | None:
    """`"4 10 0,4:0,10"` -> (4, 10): what comes before the slice itself."""
    words = spec.split()[:-1]
    return tuple(map(int, words)) if words and all(word.isdigit() for word in words) else None


def _shape(node: Any) -> tuple[int | None, ...] | None:
    return shape_from_proto(node.attr["shape"].shape) if "shape" in node.attr else None


def _dtype(number: int) -> DTypeInfo | None:
    return dtypes.BY_NUMBER.get(number - dtypes.REF_OFFSET if number > dtypes.REF_OFFSET else number)
