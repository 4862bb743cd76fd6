"""Writing functions of a graph's library, node by node.

Source: tensorflow/core/framework/function.proto (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..formats import protos, tensor_proto
from . import attr_value, op_def, registry
from .dtypes import DType
from .errors import InternalError
from .graph import Graph
from .operation import Operation, Tensor
from .tensor_shape import as_shape


class FunctionWriter:
    """A FunctionDef in the making.

    Attributes:
        definition: The FunctionDef message.
    """

    def __init__(self, name: str, is_stateful: bool = False) -> None:
        self.definition = protos.FunctionDef()
        self.definition.signature.name = name
        self.definition.signature.is_stateful = is_stateful

    def arg(self, dtype: DType) -> str:
        """A new argument; gives its name."""
        name = f"arg{len(self.definition.signature.input_arg)}"
        self.definition.signature.input_arg.add(name=name, type=dtype.as_datatype_enum)
        return name

    def args(self, dtypes: Sequence[DType]) -> list[str]:
        """Several new arguments."""
        return [self.arg(dtype) for dtype in dtypes]

    def node(self, op_type: str, inputs: Sequence[str], **attrs: Any) -> list[str]:
        """A new node; gives the names of its outputs.

        Args:
            op_type: The op type.
            inputs: Names of arguments and outputs.
            attrs: Attributes, decoded; all that have no default.
        """
        op = registry.find(op_type)
        if op is None:
            raise InternalError(f"There is no op {op_type}")
        definition = op.definition
        node = self.definition.node_def.add(name=f"{op_type}_{len(self.definition.node_def)}", op=op_type)
        node.input.extend(inputs)
        values = {name: definition.normalize_attr(name, value) for name, value in attrs.items()}
        for name, attr in definition.attrs.items():
            if name not in values and attr.default is not op_def.MISSING:
                values[name] = attr.default
        for name, value in values.items():
            attr_value.fill(node.attr[name], value, definition.attrs[name].kind)
        outputs = []
        for arg in definition.outputs:
            count = len(definition.arg_dtypes(arg, values.__getitem__))
            outputs += [f"{node.name}:{arg.name}:{index}" for index in range(count)]
        return outputs

    def constant(self, value: Any, dtype: DType) -> str:
        """A Const node; gives its output."""
        node = self.definition.node_def.add(name=f"Const_{len(self.definition.node_def)}", op="Const")
        node.attr["dtype"].type = dtype.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tensor_proto.from_array(np.array(value, dtype.np)))
        return f"{node.name}:output:0"

    def finish(
        self, results: Sequence[str], dtypes: Sequence[DType], library: Mapping[str, Any] | None = None
    ) -> Any:
        """Says what the function returns; gives a NameAttrList that calls it.

        Args:
            results: Names of arguments and outputs.
            dtypes: Their dtypes.
            library: Where to put the function.
        """
        signature = self.definition.signature
        for index, (result, dtype) in enumerate(zip(results, dtypes)):
            signature.output_arg.add(name=f"ret{index}", type=dtype.as_datatype_enum)
            self.definition.ret[f"ret{index}"] = result
        if library is not None:
            library[signature.name] = self.definition  # type: ignore[index]
        return protos.NameAttrList(name=signature.name)


def unique_function_name(library: Mapping[str, Any], name: str) -> str:
    """`name_1`, `name_2`, ...: the first that the library does not have."""
    number = 1
    while f"{name}_{number}" in library:
        number += 1
    return f"{name}_{number}"


# Functions out of graphs


def function_of(
    name: str,
    operations: Sequence[Operation],
    arguments: Sequence[Tensor],
    results: Sequence[Tensor],
    is_stateful: bool = False,
) -> Any:
    """A FunctionDef out of operations of a graph.

    Args:
        name: The function's name.
        operations: The body, in any order; the operations of `arguments` are left out.
        arguments: Tensors that are the function's arguments.
        results: What it returns.
        is_stateful: Whether it does something besides.
    """
    definition = protos.FunctionDef()
    signature = definition.signature
    signature.name, signature.is_stateful = name, is_stateful
    names: dict[Tensor, str] = {}
    for index, tensor in enumerate(arguments):
        names[tensor] = f"arg{index}"
        signature.input_arg.add(name=names[tensor], type=tensor.dtype.base_dtype.as_datatype_enum)
    outside = {tensor.op for tensor in arguments}
    body = [operation for operation in operations if operation not in outside]
    for operation in body:
        names.update(zip(operation.outputs, _output_names(operation)))
    for operation in body:
        node = operation.to_proto()
        del node.input[:]
        node.input.extend(names[tensor] for tensor in operation._inputs)
        node.input.extend(f"^{source.name}" for source in operation._control_inputs if source not in outside)
        node.attr.pop("_class", None)  # groups of the graph that it was made in
        definition.node_def.append(node)
    for index, tensor in enumerate(results):
        signature.output_arg.add(name=f"ret{index}", type=tensor.dtype.base_dtype.as_datatype_enum)
        definition.ret[f"ret{index}"] = names[tensor]
    return definition


def _output_names(operation: Operation) -> list[str]:
    """`node:output_argument:index` for each output."""
    definition = operation.definition
    if definition is None:
        raise InternalError(f"The op {operation.type} of '{operation.name}' is not known.")
    found = []
    for arg in definition.outputs:
        count = len(definition.arg_dtypes(arg, operation.attr))
        found += [f"{operation.name}:{arg.name}:{index}" for index in range(count)]
    return found


class TracedGraph(Graph):
    """The graph of a function that is being traced: what it uses from outside becomes arguments.

    Attributes:
        outer: The graph around it.
        captured: For tensors of `outer` that are used, the placeholders that stand for them.
    """

    _takes_outside_tensors = True

    @property
    def building_function(self) -> bool:
        """Whether this is the graph of a function that is being traced."""
        return True

    def __init__(self, outer: Graph) -> None:
        super().__init__()
        self.outer = outer
        self.captured: dict[Tensor, Tensor] = {}
        self.seed = outer.seed
        self._functions = outer._functions
        # Variables of the graph around are found by name, as TensorFlow has it in functions.
        self._collections = outer._collections

    def _from_outside(self, tensor: Tensor, operation: str) -> Tensor:
        if tensor.graph is not self.outer:
            tensor = self.outer._from_outside(tensor, operation)
        if tensor not in self.captured:
            dtype = tensor.dtype.base_dtype
            attrs = {"dtype": dtype, "shape": tensor.get_shape()}
            with self.control_dependencies(None), self.name_scope(None):
                made = self.add_node("Placeholder", [], attrs, f"captured_{len(self.captured)}")
            self.captured[tensor] = made.output(0)
        return self.captured[tensor]


def trace(
    function: Callable[..., Any], dtypes: Sequence[DType], shapes: Sequence[Any], outer: Graph
) -> tuple[TracedGraph, list[Tensor], Any]:
    """Calls a function with placeholders in a graph of its own.

    Args:
        function: Takes as many tensors as there are `dtypes`.
        dtypes: The arguments' dtypes.
        shapes: Their static shapes.
        outer: The graph whose tensors it may use.

    Returns:
        The graph, the arguments' placeholders and what the function gave.
    """
    graph = TracedGraph(outer)
    with graph.as_default():
        arguments = []
        for index, (dtype, shape) in enumerate(zip(dtypes, shapes)):
            attrs = {"dtype": dtype, "shape": as_shape(shape)}
            arguments.append(graph.add_node("Placeholder", [], attrs, f"arg{index}").output(0))
        return graph, arguments, function(*arguments)
