"""`tf.import_graph_def`: operations out of a GraphDef, none of what it says lost.

Nodes may come in any order; ops that are not implemented here are kept as they are. Attributes and
shapes are decoded when asked for, so that a large graph is imported quickly.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from ..formats import protos
from ..formats.errors import bullets, did_you_mean
from . import attr_value, op_def, registry
from .compat import as_text
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
    if input_map is not None and not hasattr(input_map, "items"):
        raise InvalidTypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    if return_elements is not None:
        is_listed = isinstance(return_elements, (list, tuple))
        if not is_listed or not all(isinstance(item, (str, bytes)) for item in return_elements):
            raise InvalidTypeError("return_elements must be a list of strings.")
        return_elements = [as_text(item) for item in return_elements]
    definitions = {item.name: item for item in producer_op_list.op} if producer_op_list is not None else {}
    mapped = {_key(key): value for key, value in (input_map or {}).items()}
    if name == "" and not all(isinstance(value, (Tensor, Operation)) for value in mapped.values()):
        raise InvalidValueError(
            "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. "
            "Try calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
        )
    with name_scope(name, "import", list(mapped.values())) as scope:
        importer = Importer(get_default_graph(), scope, definitions, mapped)
        importer.add(graph_def)
    if return_elements is None:
        return None
    return importer.elements(return_elements)


def _key(key: Any) -> str:
    text = key.name if hasattr(key, "name") else key
    if isinstance(text, bytes):
        text = as_text(text)
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
        self._colocated: list[tuple[Operation, list[Operation]]] = []
        self._prefixes: set[str] = set()

    def add(self, graph_def: Any) -> None:
        """Adds all nodes; on any problem the graph stays as it was."""
        with self.graph._lock:
            # Name scopes of what the graph holds already: a new node does not get the name of one.
            self._prefixes = {
                prefix
                for name in self.graph._operations
                for prefix in itertools.accumulate(name.lower().split("/")[:-1], "{}/{}".format)
            }
            self._add(graph_def)

    def _add(self, graph_def: Any) -> None:
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
        if versions.producer < 0:
            raise InvalidValueError(
                f"GraphDef producer version {versions.producer} below min producer 0 supported by TensorFlow "
                "1.15.  Please regenerate your graph."
            )
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
        if key in graph._names and (full in graph._operations or key in self._prefixes):
            full = self._unique(full)
            key = full.lower()
        graph._names.setdefault(key, 1)
        operation = Operation(graph, full, node.op, [], [], {}, node.device, node, self._definition(node.op))
        if operation.kind is None:
            operation.kind = self._function(node.op)
        self.operations[name] = operation

    def _function(self, name: str) -> registry.FunctionOp | None:
        """The function of that name, of the file's library or of the graph's."""
        if name not in self._functions and name in self.graph._functions:
            self._functions[name] = registry.FunctionOp(self.graph._functions[name].signature)
        return self._functions.get(name)

    def _unique(self, full: str) -> str:
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
                    self._unknown(node, text, text[1:])
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
                self._unknown(node, text, name)
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

    def _unknown(self, node: Any, text: str, name: str) -> None:
        self.problems.append(
            f"Node '{node.name}': Unknown input node '{text}'{did_you_mean(name, self.operations)}"
        )

    def _settle(self, graph_def: Any) -> None:
        """Checks arities, moves colocation groups to the new names, takes the function library over."""
        for name, operation in self.operations.items():
            definition = operation.definition
            if definition is not None:
                self._check_arity(name, operation, definition)
            if "_class" in operation._source.attr:
                self._move_colocation(operation)
        if not self.problems:
            for name, operation in self.operations.items():
                self._check_types(name, operation)
        scopes = self.graph._scopes
        if scopes.device or scopes.has_device_function:
            for operation in self.operations.values():
                self.graph._apply_device(operation, operation._source.device)
            # Whatever its own device, an operation goes where the first of its group that has one is.
            for operation, targets in self._colocated:
                operation._device = next((each.device for each in targets if each.device), "")
        unused = [key for key in self.input_map if key not in self.used and not self._has(key)]
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

    def _has(self, key: str) -> bool:
        """Whether the nodes have the tensor or operation of an input map's key, used or not."""
        name, _, index = key.partition(":")
        operation = self.operations.get(name.removeprefix("^"))
        return operation is not None and int(index or 0) < operation.num_outputs

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
                f"Node '{name}' (op: {operation.type}) has {given} inputs, its op takes {expected}: NodeDef "
                f"expected inputs '{_input_types(operation, definition)}' do not match {given} inputs "
                "specified"
            )

    def _check_types(self, node_name: str, operation: Operation) -> None:
        """The inputs have the dtypes that the op takes."""
        definition = operation.definition
        if definition is None:
            return
        if any(key not in definition.attrs and key[:1] != "_" for key in operation._source.attr):
            return  # of a later TensorFlow, whose op takes more dtypes by an attribute that 1.15 has not
        expected = [
            dtype for arg in definition.inputs for dtype in definition.arg_dtypes(arg, operation.attr)
        ]
        for index, (tensor, dtype) in enumerate(zip(operation._inputs, expected)):
            actual = tensor.dtype
            if actual.base_dtype != dtype.base_dtype or (dtype._is_ref_dtype and not actual._is_ref_dtype):
                self.problems.append(
                    f"Input {index} of node {self.scope}{node_name} was passed {_cc_name(actual)} from "
                    f"{tensor.name} incompatible with expected {_cc_name(dtype)}."
                )

    def _move_colocation(self, operation: Operation) -> None:
        groups = attr_value.from_proto(operation._source.attr["_class"])
        moved = []
        targets = []
        for group in groups:
            name = group[5:].decode() if group.startswith(b"loc:@") else None
            target = self.operations.get(name) if name is not None else None
            if target is not None:
                targets.append(target)
            moved.append(b"loc:@" + target.name.encode() if target is not None else group)
        if targets and targets != [operation]:
            self._colocated.append((operation, targets))
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
            if ":" in name or (colon and not index.isdigit()):
                missing.append(
                    f"Requested return_element: Cannot convert '{text}' to a tensor name. Names are of the "
                    "form '<op_name>' or '<op_name>:<output_index>'."
                )
            elif operation is None:
                kind = "tensor" if colon else "node"
                missing.append(
                    f"Requested return {kind} '{text}' not found in graph def."
                    f"{did_you_mean(name if colon else text, self.operations)}"
                )
            elif colon:
                try:
                    found.append(operation.output(int(index)))
                except IndexError:
                    missing.append(
                        f"Invalid return output {index} of node '{name}', which has "
                        f"{operation.num_outputs} output(s)"
                    )
            else:
                found.append(operation)
        if missing:
            raise InvalidValueError(
                missing[0] if len(missing) == 1 else bullets(missing).lstrip("\n "), missing=missing
            )
        return found


_CC_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def _cc_name(dtype: Any) -> str:
    """A dtype as TensorFlow's core names it."""
    name = _CC_NAMES.get(dtype.base_dtype.name, dtype.base_dtype.name)
    return f"{name}_ref" if dtype._is_ref_dtype else name


def _input_types(operation: Operation, definition: op_def.OpDef) -> str:
    return ", ".join(
        _cc_name(dtype) for arg in definition.inputs for dtype in definition.arg_dtypes(arg, operation.attr)
    )
