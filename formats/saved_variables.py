"""Which checkpoint keys a graph saves and restores, with the dtype and shape that each must have.

The truth is in the graph's own save operations: a partitioned variable `w/part_0` is saved as a slice
of `w`, and a Saver made from a dict uses keys of its own. A graph without a saver is taken by its
variables, each under its operation's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import dtypes
from .dtypes import DTypeInfo
from .graph_facts import VARIABLE_OPS
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


def saved_variables(graph_def: Any, saver_def: Any = None) -> dict[str, SavedVariable]:
    """The keys of a graph's saver, or of its variables where it has none, by key.

    Args:
        graph_def: The GraphDef message.
        saver_def: The SaverDef of its MetaGraphDef, which tells one saver from several.
    """
    nodes = {node.name: node for node in graph_def.node}
    savers = [node for node in graph_def.node if node.op in _SAVE_OPS]
    if saver_def is not None and saver_def.save_tensor_name:
        scope = saver_def.save_tensor_name.partition(":")[0].rpartition("/")[0]
        own = [node for node in savers if node.name.rpartition("/")[0] == scope]
        savers = own or savers
    found: dict[str, SavedVariable] = {}
    for node in savers:
        for variable in _of_saver(node, nodes):
            found.setdefault(variable.key, variable)
    if not found:
        for name, node in nodes.items():
            if node.op in VARIABLE_OPS:
                found[name] = SavedVariable(name, name, _dtype(node.attr["dtype"].type), _shape(node))
    return found


def _of_saver(node: Any, nodes: dict[str, Any]) -> Iterator[SavedVariable]:
    first = _SAVE_OPS[node.op]
    keys = _strings(nodes, node.input[1])
    slices = _strings(nodes, node.input[2]) if first == 3 else []
    types = list(node.attr["dtypes" if node.op == "SaveV2" else "T"].list.type)
    for index, key in enumerate(keys):
        source = _variable(nodes, node.input[first + index]) if first + index < len(node.input) else None
        full = _full_shape(slices[index]) if index < len(slices) else None
        name = source.name if source is not None else key
        shape = full if full is not None else _shape(source) if source is not None else None
        yield SavedVariable(key, name, _dtype(types[index]) if index < len(types) else None, shape)


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
