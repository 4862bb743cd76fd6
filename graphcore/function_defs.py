"""Writing functions of a graph's library, node by node.

Source: tensorflow/core/framework/function.proto (r1.15).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..formats import protos, tensor_proto
from . import attr_value, op_def, registry
from .dtypes import DType
from .errors import InternalError


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
