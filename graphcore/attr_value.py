"""Attribute values: between `tensorflow.AttrValue` messages and Python values.

Decoded values, by kind: int -> int, float -> float, bool -> bool, string -> bytes, type -> DType,
shape -> TensorShape, tensor -> TensorProto message or ndarray, func -> NameAttrList message, list(x) ->
list of those. Text and bytes are not told apart by the file, so decoded strings are bytes.

Source: tensorflow/core/framework/attr_value.proto.
"""

from __future__ import annotations

import ast
import operator
from typing import Any

import numpy as np

from ..formats import protos, tensor_proto
from .dtypes import DType, as_dtype
from .errors import DataLossError, InvalidArgumentError, InvalidTypeError, ResourceExhaustedError
from .tensor_shape import TensorShape

_LIST_FIELDS = {
    "int": "i",
    "float": "f",
    "bool": "b",
    "string": "s",
    "type": "type",
    "shape": "shape",
    "tensor": "tensor",
    "func": "func",
}


def from_proto(proto: Any) -> Any:
    """The Python value of an AttrValue; an empty list for an empty `list` of whatever kind."""
    which = proto.WhichOneof("value")
    if which == "list":
        items = proto.list
        for name in _LIST_FIELDS.values():
            values = getattr(items, name)
            if len(values):
                return [_decode(name, value) for value in values]
        return []
    if which is None:
        return None
    return _decode(which, getattr(proto, which))


def _decode(which: str, value: Any) -> Any:
    if which == "type":
        return as_dtype(value) if value else None
    if which == "shape":
        return TensorShape(value)
    return value


def to_proto(value: Any, kind: str = "") -> Any:
    """The AttrValue message of a decoded value; `kind` tells what an empty list or a number is."""
    proto = protos.AttrValue()
    fill(proto, value, kind)
    return proto


def fill(proto: Any, value: Any, kind: str = "") -> None:
    """Sets the AttrValue message `proto` to a decoded value."""
    if isinstance(value, list):
        proto.ClearField("list")  # the message may be a copy that has the items already
        proto.list.SetInParent()
        for item in value:
            _append(proto.list, item)
    elif isinstance(value, bool):
        proto.b = value
    elif isinstance(value, int):
        proto.i = value
    elif isinstance(value, float):
        proto.f = value
    elif isinstance(value, bytes):
        proto.s = value
    elif isinstance(value, DType):
        proto.type = value.as_datatype_enum
    elif isinstance(value, TensorShape):
        proto.shape.CopyFrom(value.as_proto())
    elif isinstance(value, (np.ndarray, np.generic)):
        proto.tensor.CopyFrom(tensor_proto.from_array(value))
    elif value is None:
        if kind == "type":
            proto.type = 0
    elif value.DESCRIPTOR.name == "AttrValue":
        proto.CopyFrom(value)
    elif value.DESCRIPTOR.name == "TensorProto":
        proto.tensor.CopyFrom(value)
    else:
        proto.func.CopyFrom(value)


def _append(target: Any, item: Any) -> None:
    if isinstance(item, bool):
        target.b.append(item)
    elif isinstance(item, int):
        target.i.append(item)
    elif isinstance(item, float):
        target.f.append(item)
    elif isinstance(item, bytes):
        target.s.append(item)
    elif isinstance(item, DType):
        target.type.append(item.as_datatype_enum)
    elif isinstance(item, TensorShape):
        target.shape.add().CopyFrom(item.as_proto())
    elif isinstance(item, np.ndarray):
        target.tensor.add().CopyFrom(tensor_proto.from_array(item))
    elif item.DESCRIPTOR.name == "TensorProto":
        target.tensor.add().CopyFrom(item)
    else:
        target.func.add().CopyFrom(item)


def normalize(value: Any, kind: str) -> Any:
    """What a caller passed for an attribute of `kind`, as a decoded value.

    Raises:
        TypeError, ValueError: It is not of that kind.
    """
    if kind.startswith("list("):
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise InvalidTypeError(f"Expected a list, not {value!r}")
        return [normalize(item, kind[5:-1]) for item in value]
    if value is None:
        if kind == "shape":
            return TensorShape(None)
        raise InvalidTypeError(f"None is not of kind {kind}")
    return _NORMALIZE[kind](value)


def _bool(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InvalidTypeError(f"{value!r} is not a bool")


def _int(value: Any) -> int:
    if isinstance(value, float) and value == int(value):
        return int(value)
    return operator.index(value)


def _float(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise InvalidTypeError(f"{value!r} is not a float")
    return float(value)


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise InvalidTypeError(f"{value!r} is neither str nor bytes")


def _same(value: Any) -> Any:
    return value


_NORMALIZE: dict[str, Any] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "string": _bytes,
    "type": lambda value: as_dtype(value).base_dtype,
    "shape": lambda value: value if isinstance(value, TensorShape) else TensorShape(value),
    "tensor": _same,
    "func": _same,
}


def parse(text: str, kind: str) -> Any:
    """The value of a default in an op declaration.

    `true`, `3`, `'NHWC'`, `int32`, `[1, 1]`, `unknown` (a shape), `uint8 [255, 0]` (a tensor).
    """
    if kind.startswith("list("):
        inner = text.strip()[1:-1].strip()
        return [parse(item.strip(), kind[5:-1]) for item in inner.split(",")] if inner else []
    if kind == "bool":
        return {"true": True, "false": False}[text]
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "string":
        return str(ast.literal_eval(text)).encode()
    if kind == "type":
        return as_dtype(text.removeprefix("DT_").lower() if text.startswith("DT_") else text)
    if kind == "shape":
        return TensorShape(None if text == "unknown" else ast.literal_eval(text))
    if kind == "tensor":  # `uint8 [255, 0]`, small integers of one dimension
        name, _, numbers = text.partition(" ")
        values = ast.literal_eval(numbers)
        dims = [protos.TensorShapeProto.Dim(size=len(values))]
        shape = protos.TensorShapeProto(dim=dims)
        return protos.TensorProto(dtype=as_dtype(name).as_datatype_enum, tensor_shape=shape, int_val=values)
    raise InvalidTypeError(f"A default of kind {kind} cannot be written in a declaration")


def constant(operation: Any) -> Any:
    """The array of a Const operation.

    Raises:
        DataLossError: Its value does not fit its shape, or cannot be held; names the node.
    """
    try:
        return for_kernel(operation.attr("value"), f"The constant '{operation.name}'")
    except (InvalidArgumentError, ResourceExhaustedError) as error:
        raise DataLossError(str(error), **error.fields, node=operation.name) from error


def for_kernel(value: Any, what: str = "a tensor") -> Any:
    """A decoded value as kernels take it: str, NumPy dtype, shape tuple, ndarray; `what` is for errors."""
    if isinstance(value, list):
        return [for_kernel(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, DType):
        return value.np
    if isinstance(value, TensorShape):
        return value.as_tuple()
    if hasattr(value, "DESCRIPTOR") and value.DESCRIPTOR.name == "TensorProto":
        return tensor_proto.to_array(value, what)
    return value
