"""Calls of functions in the graph's library: conditionals, loops and calls of TensorFlow 2's making."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import ANY
from ..op import op
from ..shapes import Shape

_CALL = ("Tin: list(type) >= 0", "Tout: list(type) >= 0", "f: func")
_CALL_OPTIONS = ("config: string = ''", "config_proto: string = ''", "executor_type: string = ''")
_IF = (
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "then_branch: func",
    "else_branch: func",
    "output_shapes: list(shape) = []",
)
_WHILE = (
    "T: list(type) >= 0",
    "cond: func",
    "body: func",
    "output_shapes: list(shape) = []",
    "parallel_iterations: int = 10",
)


def _partitioned_call(ctx: Any, args: Any, *, f: Any) -> Any:
    return ctx.call(f, args)


def _if(ctx: Any, cond: Any, input: Any, *, then_branch: Any, else_branch: Any) -> Any:
    return ctx.call(then_branch if _is_true(cond) else else_branch, input)


def _while(ctx: Any, input: Any, *, cond: Any, body: Any) -> Any:
    values = list(input)
    while _is_true(ctx.call(cond, values)[0]):
        values = ctx.call(body, values)
        ctx.check_cancelled()
    return values


def _is_true(value: Any) -> bool:
    """What If and While take for true: a scalar other than zero, a string or tensor that is not empty."""
    array = np.asarray(value)
    if array.ndim:
        return array.size > 0
    return bool(array.item())


def _declared(node: Any) -> list[Shape]:
    """The shapes that the node's makers wrote down."""
    operation = node.node
    count = len(operation.outputs)
    for name in ("output_shapes", "_output_shapes"):
        shapes = operation._source.attr[name].list.shape if name in operation._source.attr else ()
        if len(shapes) == count:
            return [
                None if s.unknown_rank else tuple(d.size if d.size >= 0 else None for d in s.dim)
                for s in shapes
            ]
    return [None] * count


for _stateful, _prefix in ((True, "Stateful"), (False, "")):
    op(
        f"{_prefix}PartitionedCall",
        "args: Tin -> output: Tout",
        *_CALL,
        *_CALL_OPTIONS,
        stateful=_stateful,
        ctx=True,
    )(_partitioned_call).shape(_declared)
for _stateful, _prefix in ((True, ""), (False, "Stateless")):
    op(
        f"{_prefix}If",
        "cond: Tcond, input: Tin -> output: Tout",
        *_IF,
        Tcond=ANY,
        stateful=_stateful,
        ctx=True,
    )(_if).shape(_declared)
    op(f"{_prefix}While", "input: T -> output: T", *_WHILE, stateful=_stateful, ctx=True)(_while).shape(
        _declared
    )
