"""What a Saver saves: the keys of a checkpoint and the variables, or other tensors, behind them.

Variables are read and set directly. What else a graph saves (tables, custom saveable objects) is a tensor
to fetch, and an operation behind the graph's restore node to run while the restored values are fed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..formats.entry import Entry, entry_of
from ..formats.errors import bullets
from ..formats.parts import Part
from ..formats.saved_variables import keys_of_function, restored_by_function
from . import device
from .default import GraphKeys
from .errors import InvalidTypeError, InvalidValueError, UnimplementedError
from .graph import Graph
from .operation import Operation, Tensor
from .resources import SessionState
from .saveable_objects import SaveableObject
from .variables import SaveSliceInfo, Variable

_REF_OPS = frozenset({"VariableV2", "Variable"})
_SAVE_OPS = {"SaveV2": 3, "SaveSlices": 3, "Save": 2}
"""Op -> where its tensors begin among its inputs; the keys are its second input."""
_RESTORE_OPS = {"RestoreV2": True, "RestoreSlice": True, "Restore": False}
"""Op -> whether its third input says slices."""
_PASSING = frozenset({"Identity", "Reshape"})


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

    def rows(self) -> list[tuple[str, str, Any]]:
        """What its save nodes get: the key, the slice, and the variable's operation."""
        return [(self.key, self.slice_spec, self.variable)]

    @property
    def shard(self) -> str:
        """The canonical name of its device, by which a sharded Saver groups."""
        return canonical_device(self.variable.device)


@dataclass(frozen=True)
class TensorSaveable:
    """One key of a checkpoint that is no variable's.

    Attributes:
        key: The name in the checkpoint.
        tensor: What is fetched to be saved, or fed once it is restored.
        slice_spec: Which part of a whole it is, or "".
    """

    key: str
    tensor: Tensor
    slice_spec: str = ""

    @property
    def dtype(self) -> Any:
        """The tensor's base dtype."""
        return self.tensor.dtype.base_dtype

    @property
    def static_shape(self) -> Any:
        """None: how much a table holds is not known before."""
        return None

    def entry_of(self, value: Any) -> Entry:
        """Its value, as it was fetched, as an entry."""
        part = Part.parse(self.slice_spec)
        return entry_of(self.key, value, self.dtype._info, None if part is None or part.is_full else part)


@dataclass
class Contents:
    """What the save and restore nodes of a Saver do.

    Attributes:
        shards: What is saved, in the order of the files, for each shard.
        restores: Operations that put back what is no variable.
        fed: The restored values that these need: tensors to be fed.
        reshape: Whether values are brought to the variables' shapes.
        lost: Keys that are saved but put back by nothing.
        unsaved: Keys that are restored by a function but cannot be saved.
    """

    shards: list[list[Saveable | TensorSaveable]]
    restores: list[Operation] = field(default_factory=list)
    fed: list[TensorSaveable] = field(default_factory=list)
    reshape: bool = False
    lost: list[str] = field(default_factory=list)
    unsaved: list[str] = field(default_factory=list)

    @property
    def saved(self) -> list[Saveable | TensorSaveable]:
        """Everything that is saved."""
        return [one for shard in self.shards for one in shard]

    @property
    def variables(self) -> list[Saveable]:
        """The variables among it."""
        return [one for one in self.saved if isinstance(one, Saveable)]

    @property
    def tensors(self) -> list[TensorSaveable]:
        """All else that is saved."""
        return [one for one in self.saved if isinstance(one, TensorSaveable)]

    def check_restorable(self) -> None:
        """Raises UnimplementedError where something that is saved would be lost."""
        if self.lost:
            raise UnimplementedError(
                "The graph saves these, but no node behind its restore operation puts them back:"
                f"{bullets(self.lost)}\nMake a Saver with var_list for the variables alone.",
                keys=self.lost,
            )

    def check_savable(self) -> None:
        """Raises UnimplementedError where something that is restored would not be saved."""
        if self.unsaved:
            raise UnimplementedError(
                "A function of the graph restores these, which are no variables and cannot be saved:"
                f"{bullets(self.unsaved)}\nMake a Saver with var_list for the variables alone.",
                keys=self.unsaved,
            )


def canonical_device(name: str | None) -> str:
    """A device's name in canonical form; "" for none."""
    return device.format_fields(device.parse(name or ""))


def grouped(saveables: Sequence[Any]) -> list[tuple[str, list[Any]]]:
    """(device, what is on it) for each device, by name; each is a shard.

    Raises:
        ValueError: The tensors of one object are on different devices.
    """
    groups: dict[str, list[Any]] = {}
    for one in saveables:
        if isinstance(one, Saveable):
            groups.setdefault(one.shard, []).append(one)
            continue
        places = {canonical_device(spec.device) for spec in one.specs}
        if len(places) != 1:
            raise InvalidValueError(
                f"All tensors of a saveable object must be on the same device: {one.name}"
            )
        groups.setdefault(places.pop(), []).append(one)
    return sorted(groups.items())


def rows_of(one: Saveable | SaveableObject) -> list[tuple[str, str, Any]]:
    """(key, slice, variable's operation or tensor) for each input of a save node."""
    if isinstance(one, Saveable):
        return one.rows()
    return [(spec.name, spec.slice_spec, spec.tensor) for spec in one.specs]


def of_variables(var_list: Any, graph: Graph) -> list[Saveable]:
    """The saveables of variables, sorted by key as TensorFlow writes them; see `collect`."""
    return [one for one in collect(var_list, graph) if isinstance(one, Saveable)]


def collect(var_list: Any, graph: Graph) -> list[Saveable | SaveableObject]:
    """What a Saver is asked to save, sorted by name as TensorFlow writes it.

    Args:
        var_list: A list of variables and saveable objects, a dict from keys to them (or to lists of the
            parts of a partitioned one), or None for all of `graph`.
        graph: The graph.

    Raises:
        TypeError: Something is neither; a key is no string.
        ValueError: Two have one key, or one has two keys.
    """
    if var_list is None:
        var_list = [
            *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
            *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS),
        ]
    if isinstance(var_list, dict):
        named: list[tuple[Any, Any]] = list(var_list.items())
        wrong = [name for name, _ in named if not isinstance(name, str)]
        if wrong:
            raise InvalidTypeError(
                "names_to_saveables must be a dict mapping string names to trackable operations. "
                f"Name is not a string: {wrong[0]}"
            )
    elif isinstance(var_list, (list, tuple, set, frozenset)) or hasattr(var_list, "_get_variable_list"):
        named = [(None, item) for item in _flat(var_list)]
        _check_wholes(var_list)
    else:
        raise InvalidTypeError(f"Variables to save should be passed in a dict or a list: {var_list}")
    found: list[tuple[str, Saveable | SaveableObject]] = []
    for name, item in named:
        if isinstance(item, (list, tuple)):
            _check_parts(item)
        for given in _flat(item):
            one = given._saveable(name) if hasattr(given, "_saveable") else given
            if isinstance(one, SaveableObject):
                found.append((one.name if one is not given else name or one.name, one))
            else:
                saveable = _of_variable(name, one)
                found.append((saveable.key, saveable))
    _check_names(found)
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def _check_wholes(var_list: Any) -> None:
    """Raises ValueError where two partitioned variables have one name."""
    names = [one.name for one in var_list if hasattr(one, "_get_variable_list")]
    for name in names:
        if names.count(name) > 1:
            raise InvalidValueError(f"At least two variables have the same name: {name}")


def _check_parts(parts: Sequence[Any]) -> None:
    """Raises ValueError unless a list is of the parts of one variable."""
    whole = None
    for part in parts:
        info = part._get_save_slice_info() if isinstance(part, Variable) else None
        if not isinstance(part, Variable):
            raise InvalidValueError(f"Slices must all be Variables: {part}")
        if info is None:
            raise InvalidValueError(f"Slices must all be slices: {part}")
        if whole is not None and whole != info.full_name:
            raise InvalidValueError(f"Slices must all be from the same tensor: {whole} != {info.full_name}")
        whole = info.full_name


def _check_names(found: list[tuple[str, Saveable | SaveableObject]]) -> None:
    owners: dict[Any, str] = {}
    for name, one in found:
        owner = one.variable if isinstance(one, Saveable) else one.op
        first = owners.setdefault(id(owner), name)
        if first != name:
            raise InvalidValueError(f"The same saveable will be restored with two names: {name}")
    seen: set[tuple[str, str]] = set()
    whole = {key for _, one in found for key, spec in rows_of_names(one) if not spec}
    for _, one in found:
        for key, spec in rows_of_names(one):
            if (key, spec) in seen:
                raise InvalidValueError(f"At least two variables have the same name: {key}")
            if spec and key in whole:
                raise InvalidValueError(f"Mixing slices and non-slices with the same name: {key}")
            seen.add((key, spec))


def rows_of_names(one: Saveable | SaveableObject) -> list[tuple[str, str]]:
    """The keys and slices of something to save."""
    if isinstance(one, Saveable):
        return [(one.key, one.slice_spec)]
    return [(spec.name, spec.slice_spec) for spec in one.specs]


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


def of_graph(graph: Graph, saver_def: Any) -> Contents:
    """What the nodes of a SaverDef save and restore.

    The keys of a checkpoint come from those nodes, not from the variables' names: partitions,
    renamings and import scopes make them differ. Where saving is a function of the library (SavedModels
    of TensorFlow 2) they come from the function that restores.

    Raises:
        ValueError: The nodes do not exist, or no save node is behind them.
    """
    shards = []
    before = _before(graph, saver_def.save_tensor_name)
    for operation in before:
        first = _SAVE_OPS.get(operation.type)
        if first is None:
            continue
        names = _strings(graph, operation.inputs[1])
        specs = _strings(graph, operation.inputs[2]) if first == 3 else [""] * len(names)
        shards.append([_saved(*row) for row in zip(names, specs, operation.inputs[first:])])
    if not shards and any(one.type.endswith("PartitionedCall") for one in before):
        return _of_function(graph, saver_def)
    if not shards:
        raise InvalidValueError(
            f"The graph has no save node behind '{saver_def.save_tensor_name}' that names variables; "
            "make a Saver with var_list instead."
        )
    contents = Contents(shards[::-1])  # the nodes were found from the last to the first
    if graph._operations.get(saver_def.restore_op_name) is not None:
        _find_restores(graph, saver_def.restore_op_name, contents)
    put_back = {(one.key, one.slice_spec) for one in contents.fed}
    contents.lost = [one.key for one in contents.tensors if (one.key, one.slice_spec) not in put_back]
    return contents


def _saved(key: str, spec: str, tensor: Tensor) -> Saveable | TensorSaveable:
    variable = variable_behind(tensor.op)
    return TensorSaveable(key, tensor, spec) if variable is None else Saveable(key, variable, spec)


def _of_function(graph: Graph, saver_def: Any) -> Contents:
    graph_def = graph.as_graph_def()
    restored = restored_by_function(graph_def, saver_def)
    contents = Contents(
        [
            [
                Saveable(key, graph.get_operation_by_name(saved.variable))
                for key, saved in sorted(restored.items())
            ]
        ]
    )
    contents.unsaved = [key for key in keys_of_function(graph_def, saver_def) if key not in restored]
    if contents.unsaved:  # the function itself puts them back, and the variables once more
        path = graph.get_tensor_by_name(saver_def.filename_tensor_name)
        contents.restores = [graph.get_operation_by_name(saver_def.restore_op_name)]
        contents.fed = [TensorSaveable("", path)]
    return contents


def _find_restores(graph: Graph, name: str, contents: Contents) -> None:
    """Fills in what is behind a restore operation besides plain assignments to the saved variables."""
    plain = {(one.key, one.slice_spec, one.variable) for one in contents.variables}
    fed: dict[Tensor, TensorSaveable] = {}
    stack, seen = [graph.get_operation_by_name(name)], set()
    while stack:
        operation = stack.pop()
        if operation in seen:
            continue
        seen.add(operation)
        if operation.type == "NoOp":
            stack.extend(operation.control_inputs)
            continue
        found = _restored_inputs(graph, operation)
        if operation.type in ("Assign", "AssignVariableOp") and len(found) == 1:
            source, reshaped = _passed(operation.inputs[1])
            one = found.get(source)
            target = variable_behind(operation.inputs[0].op)
            if one is not None and (one.key, one.slice_spec, target) in plain:
                contents.reshape |= reshaped
                continue
        contents.restores.append(operation)
        fed.update(found)
    contents.restores.reverse()
    contents.fed = list(fed.values())


def _passed(tensor: Tensor) -> tuple[Tensor, bool]:
    """What a tensor is behind identities and reshapes, and whether there are any of the latter."""
    reshaped = False
    while tensor.op.type in _PASSING:
        reshaped |= tensor.op.type == "Reshape"
        tensor = tensor.op.inputs[0]
    return tensor, reshaped


def _restored_inputs(graph: Graph, operation: Operation) -> dict[Tensor, TensorSaveable]:
    """The outputs of restore nodes that an operation needs."""
    found: dict[Tensor, TensorSaveable] = {}
    stack, seen = [operation], set()
    while stack:
        needed = stack.pop()
        if needed in seen:
            continue
        seen.add(needed)
        for tensor in needed.inputs:
            if tensor.op.type not in _RESTORE_OPS:
                stack.append(tensor.op)
                continue
            index = tensor.value_index
            key = _strings(graph, tensor.op.inputs[1])[index]
            spec = _strings(graph, tensor.op.inputs[2])[index] if _RESTORE_OPS[tensor.op.type] else ""
            found[tensor] = TensorSaveable(key, tensor, spec)
        stack.extend(one for one in needed.control_inputs if one.type not in _RESTORE_OPS)
    return found


def _before(graph: Graph, name: str) -> list[Operation]:
    """The operations that the save tensor needs."""
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
