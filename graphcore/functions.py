"""Functions of a graph's library, each as a graph of its own.

Source: tensorflow/core/framework/function.proto (r1.15): a body names the results of its nodes
`node:output_argument:index`, those of its arguments by their names; `ret` and `control_ret` say what
leaves.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Any

from ..formats import protos
from ..formats.errors import did_you_mean
from .errors import NotFoundError, UnimplementedError
from .graph import Graph
from .importer import Importer
from .operation import Operation, Tensor


@dataclass(frozen=True)
class FunctionGraph:
    """A function's body.

    Attributes:
        graph: The graph.
        inputs: Its placeholders, one for each argument.
        outputs: What it returns.
        effects: Operations that run for what they do.
    """

    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]
    effects: list[Operation]


def build(library: MutableMapping[str, Any], call: Any) -> FunctionGraph:
    """The body of the function that a NameAttrList message names, with that call's attributes.

    Args:
        library: FunctionDef messages by name; the body's graph gets this very mapping.
        call: The NameAttrList message.

    Raises:
        NotFoundError: The library has no such function.
        UnimplementedError: An argument stands for several tensors.
        ValueError: The body is inconsistent.
    """
    function = library.get(call.name)
    if function is None:
        raise NotFoundError(
            f"Function {call.name} is not defined.{did_you_mean(call.name, library)}", function=call.name
        )
    graph_def = protos.GraphDef()
    for arg in function.signature.input_arg:
        graph_def.node.append(_placeholder(arg, call))
    for node in function.node_def:
        copy = graph_def.node.add()
        copy.CopyFrom(node)
        for name, value in node.attr.items():
            if value.WhichOneof("value") == "placeholder":
                copy.attr[name].CopyFrom(call.attr[value.placeholder])
    graph = Graph()
    graph._functions = library
    importer = _BodyImporter(graph, "", {}, {})
    importer.add(graph_def)
    returned = [importer.tensor(function.ret[arg.name]) for arg in function.signature.output_arg]
    effects = [importer.operations[name] for name in function.control_ret.values()]
    effects += [
        operation
        for operation in importer.operations.values()
        if operation.kind is not None and operation.kind.definition.stateful and _acts(operation)
    ]
    return FunctionGraph(
        graph,
        [importer.operations[arg.name].output(0) for arg in function.signature.input_arg],
        returned,
        list(dict.fromkeys(effects)),
    )


def _acts(operation: Operation) -> bool:
    """Whether a stateful op does something besides giving its outputs."""
    return operation.type not in ("Placeholder", "VarHandleOp", "ReadVariableOp", "ResourceGather")


def _placeholder(arg: Any, call: Any) -> Any:
    if arg.number_attr or arg.type_list_attr:
        raise UnimplementedError(
            f"The argument '{arg.name}' of function {call.name} stands for several tensors.",
            function=call.name,
        )
    node = protos.NodeDef(name=arg.name, op="Placeholder")
    node.attr["dtype"].type = call.attr[arg.type_attr].type if arg.type_attr else arg.type
    node.attr["shape"].shape.unknown_rank = True
    return node


class _BodyImporter(Importer):
    """Reads the names that function bodies use."""

    def _connect(self, operation: Operation, node: Any) -> None:
        flat = protos.NodeDef(name=node.name)
        flat.input.extend([self._flat(text) for text in node.input])
        super()._connect(operation, flat)

    def _flat(self, text: str) -> str:
        """`node:argument:index` as `node:position`."""
        name, _, rest = text.partition(":")
        argument, colon, index = rest.partition(":")
        source = self.operations.get(name)
        if not colon or source is None:
            return text
        definition = source.definition
        position = int(index)
        for arg in definition.outputs if definition is not None else ():
            if arg.name == argument:
                break
            position += len(definition.arg_dtypes(arg, source.attr)) if definition is not None else 0
        return f"{name}:{position}"

    def tensor(self, text: str) -> Tensor:
        """The tensor that a name in `ret` means."""
        name, _, position = self._flat(text).partition(":")
        return self.operations[name].output(int(position or 0))
