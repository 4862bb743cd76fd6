"""Reductions, arg-maxima, cumulative sums, the k largest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .table import Call, translates

REDUCTIONS = {
    "Sum": "ReduceSum", "Mean": "ReduceMean", "Max": "ReduceMax", "Min": "ReduceMin", "Prod": "ReduceProd",
    "EuclideanNorm": "ReduceL2",
}  # fmt: skip


def _axes(call: Call) -> tuple[str, bool]:
    """The axes as int64, and whether they are none."""
    value = call.value(1)
    if value is None:
        return call.make.reshape(call.ints(1), -1), False
    axes = np.asarray(value, np.int64).reshape(-1)
    rank = len(call.shape(0) or ()) or None
    if rank:
        axes = axes % rank
    return call.const(axes), not axes.size


def _reduction(name: str) -> Callable[[Call], str]:
    def translate(call: Call) -> str:
        axes, none = _axes(call)
        if none:
            return call.emit("Abs", call[0]) if name == "ReduceL2" else call[0]
        return call.emit(name, call[0], axes, keepdims=int(call.attr("keep_dims")), noop_with_empty_axes=1)

    return translate


for _op, _name in REDUCTIONS.items():
    translates(_op)(_reduction(_name))


@translates("All", "Any")
def _logical(call: Call) -> str:
    axes, none = _axes(call)
    if none:
        return call[0]
    name = "ReduceMin" if call.op.type == "All" else "ReduceMax"
    numbers = call.make.cast(call[0], np.int32)
    reduced = call.emit(name, numbers, axes, keepdims=int(call.attr("keep_dims")), noop_with_empty_axes=1)
    return call.emit("Greater", reduced, call.const(np.int32(0)))  # of none: the largest, the smallest number


@translates("ArgMax", "ArgMin")
def _arg(call: Call) -> str:
    axis = call.known(1, "axis")
    index = call.emit(call.op.type, call[0], axis=int(axis.reshape(())), keepdims=0)
    return call.make.sizes_as(index, call.out_dtype())


@translates("Cumsum")
def _cumsum(call: Call) -> str:
    return call.emit(
        "CumSum",
        call[0],
        call.ints(1),
        exclusive=int(call.attr("exclusive")),
        reverse=int(call.attr("reverse")),
    )


@translates("TopK", "TopKV2")
def _top_k(call: Call) -> list[str]:
    old = call.op.type == "TopK"
    count = call.make.ints(call.attr("k")) if old else call.make.reshape(call.ints(1), 1)
    values, places = call.make.emit_many(
        "TopK", [call[0], count], 2, axis=-1, largest=1, sorted=int(call.attr("sorted"))
    )
    return [values, call.make.sizes_as(places, np.int32)]


@translates("InTopK", "InTopKV2")
def _in_top_k(call: Call) -> str:
    predictions, targets = call[0], call.ints(1)
    count = call.const(np.int64(call.attr("k"))) if call.op.type == "InTopK" else call.ints(2)
    classes = call.size_of(0, 1)
    zero = call.make.ints(0)
    valid = call.emit("And", call.emit("Less", targets, classes), call.emit("GreaterOrEqual", targets, zero))
    at = call.make.unsqueeze(call.emit("Where", valid, targets, zero), 1)
    own = call.emit("GatherElements", predictions, at, axis=1)
    larger = call.make.cast(call.emit("Greater", predictions, own), np.int64)
    before = call.emit("ReduceSum", larger, call.make.ints(1), keepdims=0)
    strange = call.emit("Or", call.emit("IsInf", predictions), call.emit("IsNaN", predictions))
    number = call.make.cast(strange, np.int32)
    strange = call.emit("ReduceMax", number, call.make.ints(1), keepdims=0)
    finite = call.emit("Equal", strange, call.const(np.int32(0)))
    return call.emit("And", call.emit("And", valid, finite), call.emit("Less", before, count))
