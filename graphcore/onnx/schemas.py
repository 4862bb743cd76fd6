"""Which dtypes ONNX's operators take and give, as the onnx package declares them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from .dtypes import DTYPES, Inexpressible

OPSET = 18
_NAMES = {"float32": "float", "float64": "double", "object": "string"}
_TYPES = {name: f"tensor({_NAMES.get(name, name)})" for name in DTYPES}
_DTYPES = {text: name for name, text in _TYPES.items()}
_HALVES = frozenset(("float16", "bfloat16"))


@functools.cache
def _schema(op: str) -> Any:
    import onnx.defs

    return onnx.defs.get_schema(op, OPSET, "")


def widened(op: str, dtypes: Sequence[str | None]) -> bool:
    """Whether an operator takes its half-precision inputs as float32 only.

    Raises:
        Inexpressible: It takes a dtype not at all.
    """
    found = False
    for index, dtype in enumerate(dtypes):
        if dtype is None:
            continue
        allowed = _formal(_schema(op).inputs, index).types
        if _TYPES[dtype] in allowed:
            continue
        if dtype not in _HALVES or _TYPES["float32"] not in allowed:
            shown = "string" if dtype == "object" else dtype
            raise Inexpressible(f"ONNX's {op} does not take {shown}")
        found = True
    return found


def results(op: str, dtypes: Sequence[str | None], attrs: Mapping[str, Any], count: int) -> list[str | None]:
    """The dtypes of an operator's outputs; None where they do not follow from its inputs'."""
    schema = _schema(op)
    if op == "Cast":
        return [name for name, number in DTYPES.items() if number == attrs["to"]]
    bound = {}
    for index, dtype in enumerate(dtypes):
        if dtype is not None:
            bound[_formal(schema.inputs, index).type_str] = dtype
    found = []
    for index in range(count):
        formal = _formal(schema.outputs, index)
        only = next(iter(formal.types)) if len(formal.types) == 1 else ""
        found.append(bound.get(formal.type_str) or _DTYPES.get(only))
    return found


def _formal(formals: Any, index: int) -> Any:
    return formals[min(index, len(formals) - 1)]
