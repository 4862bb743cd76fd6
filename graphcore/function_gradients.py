"""What SymbolicGradient computes: the gradients of a function of a graph's library."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

import numpy as np

from ..formats import protos
from . import functions
from .convert import constant, convert_to_tensor
from .dtypes import float32
from .functions import FunctionGraph
from .gradients import gradients, is_trainable
from .op import raw_ops
from .operation import Tensor


def gradient_of(library: MutableMapping[str, Any], gradient_defs: Sequence[Any], call: Any) -> FunctionGraph:
    """The function (arguments, gradients of the results) -> gradients of the arguments.

    What does not depend on an argument has zeros as its gradient.

    Args:
        library: FunctionDef messages by name; gradients of what the function calls may add to it.
        gradient_defs: GradientDef messages: functions that are the gradients of others.
        call: The NameAttrList message of the function.

    Raises:
        NotFoundError: The library has no such function.
        LookupError: An op in it has no gradient.
    """
    for own in gradient_defs:
        if own.function_name == call.name:
            named = protos.NameAttrList(name=own.gradient_func)
            named.attr.MergeFrom(call.attr)
            return functions.build(library, named)
    body = functions.build(library, call)
    with body.graph.as_default():
        arriving = [_placeholder(output) for output in body.outputs]
        pairs = [
            (output, grad)
            for output, grad in zip(body.outputs, arriving)
            if is_trainable(output) and output.dtype.base_dtype.name != "resource"
        ]
        found: list[Any] = [None] * len(body.inputs)
        if pairs and body.inputs:
            outputs, grads = zip(*pairs)
            found = gradients(list(outputs), body.inputs, grad_ys=list(grads))
        results = [
            _zeros(tensor) if grad is None else convert_to_tensor(grad)
            for tensor, grad in zip(body.inputs, found)
        ]
    return FunctionGraph(body.graph, [*body.inputs, *arriving], results, [])


def _placeholder(output: Tensor) -> Tensor:
    dtype = output.dtype.base_dtype
    made: Tensor = raw_ops.Placeholder(dtype=float32 if dtype.name == "resource" else dtype, name="dy")
    return made


def _zeros(tensor: Tensor) -> Any:
    if tensor.dtype.base_dtype.name == "resource":
        return raw_ops.Fill(raw_ops.VariableShape(tensor), constant(np.float32(0)))
    return raw_ops.ZerosLike(tensor)
