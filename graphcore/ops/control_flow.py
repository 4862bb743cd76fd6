"""Operations that order, choose and check."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import convert_n_to_tensor, convert_to_tensor
from ..dead import DEAD
from ..default import get_default_graph, name_scope
from ..dtypes import ANY, FLOATING
from ..errors import InvalidArgumentError, InvalidValueError
from ..indexed_slices import IndexedSlices
from ..op import group, op, raw_ops
from ..operation import Operation, Tensor
from ..shapes import Shape
from . import rules


def _nothing() -> None:
    """Runs so that others can wait for it."""


for _name in ("NoOp", "ControlTrigger"):
    op(_name, "->", no_grad="it has no inputs")(_nothing).shape(rules.nothing)


# Conditionals of v1: Switch passes its data on one side, the other is dead; Merge takes what is alive.


def _switch(data: Any, pred: Any) -> tuple[Any, Any]:
    return (DEAD, data) if pred else (data, DEAD)


def _merge(inputs: list[Any]) -> tuple[Any, Any]:
    for index, value in enumerate(inputs):
        if value is not DEAD:
            return value, np.array(index, np.int32)
    return DEAD, DEAD


switch_op = op("Switch", "data: T, pred: bool -> output_false: T, output_true: T", T=ANY, effects=False)(
    _switch
)
ref_switch = op(
    "RefSwitch",
    "data: Ref(T), pred: bool -> output_false: Ref(T), output_true: Ref(T)",
    T=ANY,
    allows_uninitialized_input=True,
)(_switch)
merge_op = op("Merge", "inputs: N * T -> output: T, value_index: int32", T=ANY, effects=False)(_merge)
ref_merge = op("RefMerge", "inputs: N * Ref(T) -> output: Ref(T), value_index: int32", T=ANY)(_merge)

for _switching in (switch_op, ref_switch):
    _switching.shape(lambda node: [node.shape(0), node.shape(0)])


def _merge_shape(node: Any) -> list[Shape]:
    """What all inputs agree on; a dimension that differs is unknown."""
    result = node.shape(0)
    for shape in node.shapes[1:]:
        if result is None or shape is None or len(shape) != len(result):
            return [None, ()]
        result = tuple(a if a == b else None for a, b in zip(result, shape))
    return [result, ()]


for _merging in (merge_op, ref_merge):
    _merging.shape(_merge_shape)


@ref_switch.grad
@switch_op.grad
def _(node: Any, false_grad: Any, true_grad: Any) -> Any:
    """Outside of loops: a Merge of both sides' gradients, the untaken one's zeros."""
    data, pred = node.inputs
    if isinstance(false_grad, IndexedSlices) or isinstance(true_grad, IndexedSlices):
        false_grad, true_grad = convert_to_tensor(false_grad), convert_to_tensor(true_grad)
    if false_grad is None and true_grad is None:
        return [None, None]
    sides = []
    zeros = raw_ops.Switch(raw_ops.ZerosLike(data), pred)
    for side, grad in enumerate((false_grad, true_grad)):
        sides.append(zeros[side] if grad is None else grad)
    return [raw_ops.Merge(sides).output, None]


@ref_merge.grad
@merge_op.grad
def _(node: Any, dy: Any, _: Any) -> Any:
    """Each side's gradient where that side was taken."""
    pred = _predicate_of(node)
    return list(raw_ops.Switch(dy, pred))


def _predicate_of(merge: Any) -> Any:
    """The predicate of the conditional that ends in `merge`."""
    depth_of: dict[Operation, int] = {}
    stack = [(tensor.op, 0) for tensor in merge.inputs]
    while stack:
        operation, depth = stack.pop()
        if depth_of.get(operation, 1 << 30) <= depth:
            continue
        depth_of[operation] = depth
        if operation.type in ("Switch", "RefSwitch"):
            if depth == 0:
                return operation.inputs[1]
            depth -= 1
        elif operation.type in ("Merge", "RefMerge"):
            depth += 1
        stack.extend((tensor.op, depth) for tensor in operation.inputs)
        stack.extend((source, depth) for source in operation.control_inputs)
    raise LookupError(f"No Switch was found for the Merge '{merge.name}'")


# While loops of v1: a plan runs each loop as one step (compiler/loops.py); inside, these pass values on.


def _pass(data: Any) -> Any:
    return data


_FRAME = ("frame_name: string", "is_constant: bool = false", "parallel_iterations: int = 10")
_LOOP_GRAD = "gradients of while loops are not implemented"
for _name, _kind, _attrs in (
    ("Enter", "T", _FRAME),
    ("RefEnter", "Ref(T)", _FRAME),
    ("Exit", "T", ()),
    ("RefExit", "Ref(T)", ()),
    ("NextIteration", "T", ()),
    ("RefNextIteration", "Ref(T)", ()),
):
    op(
        _name,
        f"data: {_kind} -> output: {_kind}",
        *_attrs,
        T=ANY,
        effects=False,
        undefined_grad=_LOOP_GRAD,
    )(_pass).shape(rules.unchanged)
op("LoopCond", "input: bool -> output: bool", effects=False, no_grad="booleans have no derivative")(
    _pass
).shape(rules.scalar)


# Checks


def format_value(value: Any, count: int) -> str:
    """The first `count` elements as TensorFlow's Assert prints them."""
    array = np.asarray(value)
    flat = array.reshape(-1)
    shown = flat if count < 0 or flat.size <= count else flat[:count]
    texts = [item.decode(errors="replace") if isinstance(item, bytes) else _number(item) for item in shown]
    more = "..." if len(shown) < flat.size else ""
    return (" ".join(texts) + more) if array.ndim == 0 else f"[{' '.join(texts)}{more}]"


def _number(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (np.floating, float)):
        return f"{float(value):.6g}"
    return str(value)


@op(
    "Assert",
    "condition: bool, data: T ->",
    "T: list(type) >= 1",
    "summarize: int = 3",
    stateful=True,
    ctx=False,
    no_grad="it has no outputs",
)
def assert_op(condition: Any, data: list[Any], *, summarize: int) -> None:
    """Fails with the data unless the condition holds."""
    if np.ndim(condition):
        raise InvalidArgumentError(f"condition must be a scalar, got shape {list(np.shape(condition))}")
    if not condition:
        shown = " ".join(
            f"[{format_value(item, summarize)}]" if np.ndim(item) == 0 else format_value(item, summarize)
            for item in data
        )
        raise InvalidArgumentError(f"assertion failed: {shown}")


assert_op.shape(rules.nothing)


@op("CheckNumerics", "tensor: T -> output: T", "message: string", T=FLOATING, stateful=True, ctx=False)
def check_numerics(tensor: Any, *, message: str) -> Any:
    """The input, once it is known to be free of NaN and infinity."""
    if not np.all(np.isfinite(tensor)):
        found = [word for word, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(tensor))]
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


check_numerics.shape(rules.unchanged)
check_numerics.grad(
    lambda node, dy: raw_ops.CheckNumerics(
        dy,
        message="Not a number (NaN) or infinity (Inf) values detected in gradient. "
        + node.attr("message").decode(),
    )
)


# TensorFlow's Python functions


def tf_identity(input: Any, name: str | None = None) -> Any:
    """`tf.identity`: a tensor with the same contents."""
    if isinstance(input, IndexedSlices):
        return input._rebuilt(raw_ops.Identity(input.values, name=name))
    return raw_ops.Identity(input, name=name)


def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """The tensor, computed after all `dependencies` have run."""
    with (
        name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope,
        get_default_graph().control_dependencies(dependencies),
    ):
        return tf_identity(convert_to_tensor(output_tensor), scope)


def tuple_(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """`tf.tuple`: the tensors behind a barrier: none is used before all are computed.

    Raises:
        ValueError: There is no tensor among them.
    """
    with name_scope(name, "tuple", tensors) as scope:
        operations = [tensor.op for tensor in tensors if tensor is not None]
        operations += [item if isinstance(item, Operation) else item.op for item in control_inputs or ()]
        if not operations:
            raise InvalidValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*operations)
        return [
            None if tensor is None else with_dependencies([gate], tensor, name=scope + "control_dependency")
            for tensor in tensors
        ]


def tf_assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """`tf.Assert`: an operation that fails with `data` unless `condition` holds.

    Raises:
        InvalidArgumentError: The condition is known now and does not hold.
    """
    with name_scope(name, "Assert", data) as scope:
        condition = convert_to_tensor(condition)
        return assert_op(
            condition, convert_n_to_tensor(data), summarize=3 if summarize is None else summarize, name=scope
        )


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """`(false side, true side)` of a Switch: only the side that `pred` chooses carries `data`."""
    tensor = convert_to_tensor(data, dtype, name="data", as_ref=True)
    if isinstance(tensor, Tensor) and tensor.dtype._is_ref_dtype:
        return tuple(raw_ops.RefSwitch(tensor, pred, name=name))
    return tuple(raw_ops.Switch(tensor, pred, name=name))


def merge(inputs: Any, name: str | None = None) -> Any:
    """`(output, value_index)` of a Merge: whichever of the inputs is alive."""
    tensors = convert_n_to_tensor(inputs, as_ref=True)
    if all(tensor.dtype._is_ref_dtype for tensor in tensors):
        return raw_ops.RefMerge(tensors, name=name)
    return raw_ops.Merge(tensors, name=name)
