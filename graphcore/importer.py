"""`tf.import_graph_def`: operations out of a GraphDef, none of what it says lost.

Nodes may come in any order; ops that are not implemented here are kept as they are. Attributes and
shapes are decoded when asked for, so that a large graph is imported quickly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..formats import protos
from ..formats.errors import bullets, did_you_mean
from . import attr_value, device as devices, op_def, registry
from .convert import convert_to_tensor
from .default import get_default_graph, name_scope
from .errors import InvalidTypeError, InvalidValueError
from .graph import PRODUCER_VERSION, Graph
from .operation import Operation, Tensor


def as_message(value: Any, kind: Any, what: str) -> Any:
    """`value` as a message of our own pool.

    Args:
        value: A message of ours, of TensorFlow's own protos (carried over as bytes), or bytes.
        kind: Our message class.
        what: For the error.

    Raises:
        InvalidTypeError: It is none of those.
    """
    if isinstance(value, kind):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return protos.parse(kind, bytes(value), what)
    if hasattr(value, "SerializeToString") and value.DESCRIPTOR.full_name == kind.DESCRIPTOR.full_name:
        return protos.parse(kind, value.SerializeToString(), what)
    raise InvalidTypeError(f"{what} must be a {kind.DESCRIPTOR.name} proto.")


def import_graph_def(
    graph_def: Any,
    input_map: dict[Any, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of `graph_def` to the default graph.

    Args:
        graph_def: A GraphDef message.
        input_map: Tensors of the graph to take in place of inputs of the nodes, by their names there.
        return_elements: Names in `graph_def` of operations and tensors to give back.
        name: Prefix of all names (default "import"); "" for none. Names that are taken get `_1`, ...
        op_dict: Old argument without effect.
        producer_op_list: An OpList that describes ops which are not known here.

    Returns:
        The `return_elements`, or None where none were asked for.

    Raises:
        TypeError: An argument is not of the right kind.
        ValueError: The GraphDef is inconsistent (everything wrong is listed), or `input_map` or
            `return_elements` name what is not there.
    """
    graph_def = as_message(graph_def, protos.GraphDef, "graph_def")
    if return_elements is not None and not all(isinstance(item, str) for item in return_elements):
        raise InvalidTypeError("return_elements must be a list of strings.")
    definitions = {item.name: item for item in producer_op_list.op} if producer_op_list is not None else {}
    mapped = {_key(key): value for key, value in (input_map or {}).items()}
    with name_scope(name, "import", list(mapped.values())) as scope:
        importer = Importer(get_default_graph(), scope, definitions, mapped)
        importer.add(graph_def)
    if return_elements is None:
        return None
    return importer.elements(return_elements)


def _key(key: Any) -> str:
    text = key.name if hasattr(key, "name") else key
    if not isinstance(text, str):
        raise InvalidTypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return text[:-2] if text.endswith(":0") else text


class Importer:
    """Adds one GraphDef to a graph.

    Attributes:
        operations: The new operations by their names in the GraphDef.
    """

    def __init__(
        self, graph: Graph, scope: str, op_protos: dict[str, Any], input_map: dict[str, Any]
    ) -> None:
        self.graph = graph
        self.scope = scope
        self.op_protos = op_protos
        self.input_map = input_map
        self.operations: dict[str, Operation] = {}
        self.used: set[str] = set()
        self.problems: list[str] = []
        self._definitions: dict[str, op_def.OpDef | None] = {}
        self._functions: dict[str, registry.FunctionOp] = {}

    def add(self, graph_def: Any) -> None:
        """Adds all nodes; on any problem the graph stays as it was."""
        self._check_versions(graph_def.versions)
        nodes = graph_def.node
        self.graph._check_not_finalized()
        for function in graph_def.library.function:
            self._functions[function.signature.name] = registry.FunctionOp(function.signature)
        try:
            for node in nodes:
                self._make(node)
            for node in nodes:
                operation = self.operations.get(node.name)
                if operation is not None and len(node.input):
                    self._connect(operation, node)
            self._settle(graph_def)
        except ValueError:
            self._undo()
            raise

    def _check_versions(self, versions: Any) -> None:
        # A higher min_consumer is let pass: what an op means is told by the op and its attributes.
        if PRODUCER_VERSION in versions.bad_consumers:
            raise InvalidValueError(f"GraphDef disallows consumer version {PRODUCER_VERSION}.")

    def _make(self, node: Any) -> None:
        name = node.name
        if name in self.operations:
            self.problems.append(f"Node '{name}' is not unique")
            return
        if not name:
            self.problems.append(f"A node of op '{node.op}' has no name")
            return
        graph = self.graph
        full = self.scope + name
        key = full.lower()
        if key in graph._names and (full in graph._operations or not self.scope):
            full = self._unique(full)
            key = full.lower()
        graph._names.setdefault(key, 1)
        operation = Operation(graph, full, node.op, [], [], {}, node.device, node, self._definition(node.op))
        if operation.kind is None:
            operation.kind = self._function(node.op)
        if graph._scopes.device:
            operation._device = devices.merge(graph._scopes.device, node.device)
        self.operations[name] = operation

    def _function(self, name: str) -> registry.FunctionOp | None:
        """The function of that name, of the file's library or of the graph's."""
        if name not in self._functions and name in self.graph._functions:
            self._functions[name] = registry.FunctionOp(self.graph._functions[name].signature)
        return self._functions.get(name)

    def _unique(self, full: str) -> str:
        if full not in self.graph._operations:
            return full
        old, self.graph._scopes.name = self.graph._scopes.name, ""
        try:
            return self.graph.unique_name(full)
        finally:
            self.graph._scopes.name = old

    def _definition(self, kind: str) -> op_def.OpDef | None:
        """What the file, or the graph's function library, says of an op that we do not implement."""
        if kind not in self._definitions:
            proto = self.op_protos.get(kind)
            known = registry.find(kind) is not None or proto is None
            self._definitions[kind] = None if known else op_def.from_proto(proto)
        return self._definitions[kind]

    def _connect(self, operation: Operation, node: Any) -> None:
        inputs, controls = operation._inputs, operation._control_inputs
        for text in node.input:
            if text[0] == "^":
                source = self.operations.get(text[1:])
                if text in self.input_map:
                    self.used.add(text)
                    source = self.input_map[text]
                if source is None:
                    self._unknown(node, text[1:])
                else:
                    controls.append(source)
                continue
            name, colon, index = text.rpartition(":")
            if not colon:
                name, position = text, 0
            else:
                position = int(index) if index.isdigit() else 0
            if self.input_map:
                key = text[:-2] if text.endswith(":0") else text
                if key in self.input_map:
                    self.used.add(key)
                    inputs.append(self._mapped(self.input_map[key]))
                    continue
            source = self.operations.get(name)
            if source is None:
                self._unknown(node, name)
                continue
            try:
                inputs.append(source.output(position))
            except IndexError:
                self.problems.append(
                    f"Node '{node.name}': Connecting to invalid output {position} of source node {name} "
                    "which has "
                    f"{source.num_outputs} outputs."
                )

    def _mapped(self, value: Any) -> Tensor:
        tensor: Tensor = value if isinstance(value, Tensor) else convert_to_tensor(value)
        return tensor

    def _unknown(self, node: Any, name: str) -> None:
        self.problems.append(
            f"Node '{node.name}': Unknown input node '{name}'{did_you_mean(name, self.operations)}"
        )

    def _settle(self, graph_def: Any) -> None:
        """Checks arities, moves colocation groups to the new names, takes the function library over."""
        for name, operation in self.operations.items():
            definition = operation.definition
            if definition is not None:
                self._check_arity(name, operation, definition)
            if "_class" in operation._source.attr:
                self._move_colocation(operation)
        unused = [key for key in self.input_map if key not in self.used]
        if unused:
            self.problems.append(
                "Attempted to map inputs that were not found in graph_def: "
                f"[{', '.join(key + ':0' if ':' not in key and key[0] != '^' else key for key in unused)}]"
            )
        if self.problems:
            head = f"{len(self.problems)} problems in the GraphDef:" if len(self.problems) > 1 else ""
            raise InvalidValueError(
                head + (bullets(self.problems) if head else self.problems[0]), problems=self.problems
            )
        versions = graph_def.versions
        if versions.producer or self.graph._operations.keys() <= {op.name for op in self.operations.values()}:
            self.graph.versions.producer = min(self.graph.versions.producer, versions.producer)
        self.graph.versions.min_consumer = max(self.graph.versions.min_consumer, versions.min_consumer)
        for function in graph_def.library.function:
            self.graph._functions[function.signature.name] = function
        self.graph._gradient_defs.extend(graph_def.library.gradient)
        self.graph._forget_consumers()

    def _check_arity(self, name: str, operation: Operation, definition: op_def.OpDef) -> None:
        try:
            expected = (
                sum(definition.input_sizes(operation.attr))
                if definition.has_list_inputs
                else len(definition.inputs)
            )
        except Exception as error:
            self.problems.append(f"Node '{name}': {error}")
            return
        given = len(operation._inputs)
        if given != expected and not any(problem.startswith(f"Node '{name}'") for problem in self.problems):
            self.problems.append(
                f"Node '{name}' (op: {operation.type}) has {given} inputs, its op takes {expected}"
            )

    def _move_colocation(self, operation: Operation) -> None:
        groups = attr_value.from_proto(operation._source.attr["_class"])
        moved = []
        for group in groups:
            name = group[5:].decode() if group.startswith(b"loc:@") else None
            target = self.operations.get(name) if name is not None else None
            moved.append(b"loc:@" + target.name.encode() if target is not None else group)
        if moved != groups:
            operation._attrs["_class"] = moved

    def _undo(self) -> None:
        for operation in self.operations.values():
            self.graph._operations.pop(operation.name, None)
            self.graph._names.pop(operation.name.lower(), None)
        self.graph._forget_consumers()

    def elements(self, names: Iterable[str]) -> list[Any]:
        """The new operations and tensors of the given names in the GraphDef.

        Raises:
            ValueError: Some do not exist; all of them are listed.
        """
        found: list[Any] = []
        missing = []
        for text in names:
            name, colon, index = text.rpartition(":")
            operation = self.operations.get(name if colon else text)
            if operation is None:
                missing.append(
                    f"Requested return_element '{text}' not found in "
                    f"graph_def.{did_you_mean(name if colon else text, self.operations)}"
                )
            elif colon:
                try:
                    found.append(operation.output(int(index)))
                except (IndexError, ValueError):
                    missing.append(
                        f"Requested return_element '{text}': the node has {operation.num_outputs} outputs"
                    )
            else:
                found.append(operation)
        if missing:
            raise InvalidValueError(
                missing[0] if len(missing) == 1 else bullets(missing).lstrip("\n "), missing=missing
            )
        return found
