"""What a Saver saves: the keys of a checkpoint and the variables behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..formats.entry import Entry, entry_of
from ..formats.parts import Part
from ..formats.saved_variables import restored_by_function
from .default import GraphKeys
from .errors import InvalidTypeError, InvalidValueError
from .graph import Graph
from .operation import Operation, Tensor
from .resources import SessionState
from .variables import SaveSliceInfo, Variable

_REF_OPS = frozenset({"VariableV2", "Variable"})


@dataclass(frozen=True)
class Saveable:
    """One key of a checkpoint, or one part of it.

    Attributes:
        key: The name in the checkpoint.
        variable: The variable's operation (VariableV2, Variable or VarHandleOp).
        slice_spec: Which part of the whole it is (`4 10 0,2:0,10`), or "".
    """

    key: str
    variable: Operation
    slice_spec: str = ""

    @property
    def dtype(self) -> Any:
        """The variable's base dtype."""
        dtype = self.variable.attr("dtype")
        return dtype.base_dtype

    @property
    def is_resource(self) -> bool:
        """Whether it is a resource variable."""
        return self.variable.type == "VarHandleOp"

    @property
    def static_shape(self) -> Any:
        """The shape that the graph declares, as a tuple with None, or None."""
        if self.is_resource:
            return self.variable.attr("shape").as_tuple()
        return self.variable.output(0).static_shape

    def holder(self, state: SessionState) -> Any:
        """What holds its value in a session."""
        return state.resource_variable(self.variable) if self.is_resource else state.ref(self.variable)

    def entry(self, state: SessionState) -> Entry | None:
        """Its value in a session as an entry, or None where it has none."""
        value = self.holder(state).value
        if value is None:
            return None
        part = Part.parse(self.slice_spec)
        return entry_of(self.key, value, self.dtype._info, None if part is None or part.is_full else part)


def of_variables(var_list: Any, graph: Graph) -> list[Saveable]:
    """The saveables of variables, sorted by key as TensorFlow writes them.

    Args:
        var_list: A list of variables, a dict from keys to variables (or lists of the parts of a
            partitioned one), or None for all variables of `graph`.
        graph: The graph.

    Raises:
        TypeError: Something is no variable.
        ValueError: Two have one key.
    """
    if var_list is None:
        var_list = [
            *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
            *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS),
        ]
    named = (
        list(var_list.items()) if isinstance(var_list, dict) else [(None, item) for item in _flat(var_list)]
    )
    saveables: list[Saveable] = []
    seen: dict[Any, str] = {}
    for name, item in named:
        for variable in _flat(item):
            saveable = _of_variable(name, variable)
            identity = (saveable.key, saveable.slice_spec)
            if identity in seen:
                raise InvalidValueError(f"At least two variables have the same name: {saveable.key}")
            seen[identity] = saveable.key
            saveables.append(saveable)
    whole = {saveable.key for saveable in saveables if not saveable.slice_spec}
    clash = [saveable.key for saveable in saveables if saveable.slice_spec and saveable.key in whole]
    if clash:
        raise InvalidValueError(f"At least two variables have the same name: {clash[0]}")
    return sorted(saveables, key=lambda saveable: saveable.key)


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple, set, frozenset)):
        return [leaf for item in value for leaf in _flat(item)]
    if hasattr(value, "_get_variable_list"):
        return list(value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(value)
    return [value]


def _of_variable(name: str | None, variable: Any) -> Saveable:
    if isinstance(variable, Variable):
        operation = variable.op
        info: SaveSliceInfo | None = variable._get_save_slice_info()
        if info is not None and name is None:
            return Saveable(info.full_name or operation.name, operation, info.spec)
        return Saveable(name or operation.name, operation, "" if info is None else info.spec)
    if isinstance(variable, (Tensor, Operation)):
        found = variable_behind(variable if isinstance(variable, Operation) else variable.op)
        if found is not None:
            return Saveable(name or found.name, found)
    raise InvalidTypeError(f"Variable to save is not a Variable: {variable}")


def variable_behind(operation: Operation) -> Operation | None:
    """The variable's operation behind a chain of reads and identities, or None."""
    seen = 0
    while operation.type not in _REF_OPS and operation.type != "VarHandleOp":
        if operation.type not in ("Identity", "ReadVariableOp", "RefIdentity") or seen > 100:
            return None
        operation = operation.inputs[0].op
        seen += 1
    return operation


def of_graph(graph: Graph, saver_def: Any) -> list[Saveable]:
    """The saveables of a SaverDef whose nodes are in the graph, by its save (or restore) nodes.

    The keys of a checkpoint come from those nodes, not from the variables' names: partitions,
    renamings and import scopes make them differ. Where saving is a function of the library (SavedModels
    of TensorFlow 2) they come from the function that restores.

    Raises:
        ValueError: The nodes do not exist, or no save node is behind them.
    """
    found: dict[tuple[str, str], Saveable] = {}
    for operation in _before(graph, saver_def):
        first = {"SaveV2": 3, "SaveSlices": 3, "Save": 2}.get(operation.type)
        if first is None:
            continue
        inputs = operation.inputs
        names = _strings(graph, inputs[1])
        specs = _strings(graph, inputs[2]) if first == 3 else [""] * len(names)
        for key, spec, tensor in zip(names, specs, inputs[first:]):
            variable = variable_behind(tensor.op)
            if variable is not None:
                found[(key, spec)] = Saveable(key, variable, spec)
    if not found and any(one.type.endswith("PartitionedCall") for one in _before(graph, saver_def)):
        restored = restored_by_function(graph.as_graph_def(), saver_def)
        return [
            Saveable(key, graph.get_operation_by_name(saved.variable))
            for key, saved in sorted(restored.items())
        ]
    if not found:
        raise InvalidValueError(
            f"The graph has no save node behind '{saver_def.save_tensor_name}' that names variables; "
            "make a Saver with var_list instead."
        )
    return sorted(found.values(), key=lambda saveable: saveable.key)


def _before(graph: Graph, saver_def: Any) -> list[Operation]:
    """The operations that the save tensor needs."""
    name = saver_def.save_tensor_name
    try:
        start = graph.as_graph_element(name)
    except (KeyError, ValueError) as error:
        raise InvalidValueError(f"The saver's nodes are not in the graph: {error}") from error
    stack = [start.op if isinstance(start, Tensor) else start]
    seen: dict[Operation, None] = {}
    while stack:
        operation = stack.pop()
        if operation in seen or operation.type in _REF_OPS:
            continue
        seen[operation] = None
        stack.extend(tensor.op for tensor in operation.inputs)
        stack.extend(operation.control_inputs)
    return list(seen)


def _strings(graph: Graph, tensor: Tensor) -> list[str]:
    value = graph.constant_value(tensor)
    if value is None:
        raise InvalidValueError(f"The names of node '{tensor.op.name}' are not constant")
    return [item.decode() for item in value.reshape(-1).tolist()]
