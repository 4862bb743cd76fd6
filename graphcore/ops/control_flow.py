"""Operations that order, choose and check."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ..control_contexts import CondContext, WhileContext, output_context
from ..control_nodes import close_back_edge, next_iteration_of, switch_of
from ..convert import convert_n_to_tensor, convert_to_tensor
from ..dead import DEAD
from ..default import get_default_graph, name_scope
from ..dtypes import ANY, FLOATING
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..indexed_slices import IndexedSlices
from ..op import group, no_op, op, raw_ops
from ..operation import Operation, Tensor
from ..printing import summarize_value
from ..shapes import Shape, common_shape, format_shape
from . import rules


def _nothing() -> None:
    """Runs so that others can wait for it."""


for _name in ("NoOp", "ControlTrigger"):
    op(_name, "->", no_grad="it has no inputs")(_nothing).shape(rules.nothing)


# Conditionals of v1: Switch passes its data on one side, the other is dead; Merge takes what is alive.


def _switch(data: Any, pred: Any) -> tuple[Any, Any]:
    """The data to one of two outputs; what follows the other one is not run."""
    return (DEAD, data) if pred else (data, DEAD)


def _merge(inputs: list[Any]) -> tuple[Any, Any]:
    """The input that was computed, and which one it is."""
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
    return [reduce(common_shape, node.shapes), ()]


for _merging in (merge_op, ref_merge):
    _merging.shape(_merge_shape)


@ref_switch.grad
@switch_op.grad
def _(node: Any, false_grad: Any, true_grad: Any) -> Any:
    """A Merge of both sides' gradients.

    The Switch of a loop variable comes twice: first with the gradient of the loop's result, which starts
    the variable's gradient; then with that of the body's use, which becomes its back edge.
    """
    context = node._control_flow_context
    if isinstance(context, WhileContext):
        merges = _gradient_context().grad_state.merges
        if node in merges:
            if true_grad is not None:
                back = next_iteration_of(convert_to_tensor(true_grad))
                close_back_edge(merges[node], back)
        elif false_grad is not None:
            merges[node] = merge([false_grad, false_grad], name="b_switch")[0]
            return [merges[node], None]
        return [None, None]
    if isinstance(context, CondContext):
        sides = [false_grad, true_grad]
        if sides[1 - context.branch] is None:
            if node.inputs[0].dtype.base_dtype.name != "resource":
                return [None, None]
            return [merge([sides[context.branch]] * 2, name="cond_resource_grad")[0], None]
        return [merge(sides, name="cond_grad")[0], None]
    pred = node.inputs[1]
    off, on = switch_of(false_grad, pred)[0], switch_of(true_grad, pred)[1]
    return [merge([off, on])[0], None]


@ref_merge.grad
@merge_op.grad
def _(node: Any, dy: Any, _: Any) -> Any:
    """Each input's gradient where that input was taken."""
    context = output_context(node.inputs[0].op)
    if isinstance(context, WhileContext):
        return list(switch_of(dy, _gradient_context().pivot))
    if isinstance(context, CondContext):
        pred, around = context.pred, _gradient_context()
        if around is not None and around.grad_state is not None:
            pred = around.grad_state.real_pred(pred)
        return list(switch_of(dy, pred, name="cond_grad"))
    taken = [raw_ops.Equal(node.outputs[1], index) for index in range(len(node.inputs))]
    return [switch_of(dy, each)[1] for each in taken]


def _gradient_context() -> Any:
    """The context that gradients are being built in."""
    return get_default_graph()._scopes.control_flow_context


# While loops of v1: a plan runs each loop as one step (compiler/loops.py); inside, these pass values on.


def _pass(data: Any) -> Any:
    return data


_FRAME = ("frame_name: string", "is_constant: bool = false", "parallel_iterations: int = 10")
_frames = {}
for _name, _kind, _attrs, _text in (
    ("Enter", "T", _FRAME, "Brings a value into a loop."),
    ("RefEnter", "Ref(T)", _FRAME, "Brings a variable's reference into a loop."),
    ("Exit", "T", (), "A loop variable's last value, outside of the loop."),
    ("RefExit", "Ref(T)", (), "A loop variable's last reference, outside of the loop."),
    ("NextIteration", "T", (), "A loop variable's value in the next turn."),
    ("RefNextIteration", "Ref(T)", (), "A loop variable's reference in the next turn."),
):
    _frames[_name] = op(
        _name, f"data: {_kind} -> output: {_kind}", *_attrs, T=ANY, effects=False, text=_text
    )(_pass)
    _frames[_name].shape(rules.unchanged)


@_frames["RefExit"].grad
@_frames["Exit"].grad
def _(node: Any, dy: Any) -> Any:
    """The gradient enters the loop of gradients."""
    context = _gradient_context()
    state = context.grad_state if context is not None else None
    if state is None:
        raise InvalidTypeError(
            f"The gradient of '{node.name}' needs to know its loop; the graph was imported without the "
            "control flow contexts that a MetaGraphDef keeps (import_meta_graph)."
        )
    loop = state.grad_context
    if not loop.allows_gradients:
        return None
    if node._control_flow_context.grad_state is not None:
        raise InvalidTypeError("Second-order gradient for while loops not supported.")
    parts = [dy] if isinstance(dy, Tensor) else dy._components()
    loop.values.update(part.name for part in parts)
    with loop:
        entered = [loop.enter(part, name="b_exit") for part in parts]
    loop.loop_enters.extend(entered)
    return entered[0] if isinstance(dy, Tensor) else dy._with_components(entered)


@_frames["RefNextIteration"].grad
@_frames["NextIteration"].grad
def _(node: Any, dy: Any) -> Any:
    return dy


@_frames["RefEnter"].grad
@_frames["Enter"].grad
def _(node: Any, dy: Any) -> Any:
    """A loop variable's gradient leaves the loop of gradients; an invariant's is added up in it."""
    loop = _gradient_context()
    if loop is None or not loop.back_prop or loop.grad_state is None:
        return dy
    if node.attr("is_constant"):
        return loop.grad_state.accumulate(node, dy)
    parts = [dy] if isinstance(dy, Tensor) else dy._components()
    left = [loop.loop.exit(part) for part in parts]
    loop.exit_result(left)
    return left[0] if isinstance(dy, Tensor) else dy._with_components(left)


op(
    "LoopCond",
    "input: bool -> output: bool",
    effects=False,
    no_grad="booleans have no derivative",
    text="Whether a loop goes on.",
)(_pass).shape(rules.scalar)


# Checks


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
        raise InvalidArgumentError(
            f"condition must be a scalar, got shape {format_shape(np.shape(condition))}"
        )
    if not condition:
        shown = " ".join(f"[{summarize_value(item, summarize)}]" for item in data)
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
    """The tensor (or IndexedSlices, SparseTensor), computed after all `dependencies` have run."""
    graph = get_default_graph()
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope:
        if hasattr(output_tensor, "_components"):
            with graph.colocate_with(output_tensor), graph.control_dependencies(dependencies):
                parts = [tf_identity(convert_to_tensor(part)) for part in output_tensor._components()]
            return output_tensor._with_components(parts)
        with graph.control_dependencies(dependencies):
            tensor = convert_to_tensor(output_tensor)
            with graph.colocate_with(tensor):
                return tf_identity(tensor, scope)


def tuple_(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """`tf.tuple`: the tensors and operations behind a barrier: none is used before all are computed.

    Raises:
        ValueError: There is no tensor among them.
    """
    with name_scope(name, "tuple", tensors) as scope:
        operations = [_operation_of(item) for item in tensors if item is not None]
        operations += [_operation_of(item) for item in control_inputs or ()]
        if not operations:
            raise InvalidValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*operations)
        return [_behind(gate, item, scope) for item in tensors]


def _operation_of(item: Any) -> Operation:
    operation: Operation = item if isinstance(item, Operation) else item.op
    return operation


def _behind(gate: Operation, item: Any, scope: str) -> Any:
    if item is None:
        return None
    if isinstance(item, Operation):
        with item.graph.control_dependencies([gate]):
            return group(item)
    return with_dependencies([gate], item, name=f"{scope}control_dependency")


def tf_assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """`tf.Assert`: an operation that fails with `data` unless `condition` holds.

    Raises:
        InvalidArgumentError: The condition is known now and does not hold.
    """
    from ..conditional import cond

    count = 3 if summarize is None else summarize
    with name_scope(name, "Assert", data):
        tensors = [convert_to_tensor(item) for item in data]
        condition = convert_to_tensor(condition, name="Condition")
        if all(tensor.dtype.base_dtype.name in ("string", "int32") for tensor in tensors):
            return assert_op(condition, tensors, summarize=count)
        # Other data may be on a device, from which TensorFlow brings it only where the condition is false.
        guarded = cond(
            condition, no_op, lambda: assert_op(condition, data, summarize=count), name="AssertGuard"
        )
        return guarded.op


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """`(false side, true side)` of a Switch: only the side that `pred` chooses carries `data`."""
    if hasattr(data, "_components"):  # SparseTensor, IndexedSlices
        with name_scope(name, "Switch", [data, pred]):
            sides = [switch(part, pred) for part in data._components()]
            return tuple(data._with_components(list(parts)) for parts in zip(*sides))
    tensor = convert_to_tensor(data, dtype, name="data", as_ref=True)
    if isinstance(tensor, Tensor) and tensor.dtype._is_ref_dtype:
        return tuple(raw_ops.RefSwitch(tensor, pred, name=name))
    return tuple(raw_ops.Switch(tensor, pred, name=name))


def merge(inputs: Any, name: str | None = None) -> Any:
    """`(output, value_index)` of a Merge: whichever of the inputs is alive.

    Raises:
        ValueError: An input is None, or not all IndexedSlices have a dense shape.
    """
    if any(each is None for each in inputs):
        raise InvalidValueError(f"At least one of the merge inputs is None: {inputs}")
    with name_scope(name, "Merge", inputs) as scope:
        if any(hasattr(each, "_components") for each in inputs):
            slices = [each if hasattr(each, "_components") else _as_slices(each) for each in inputs]
            merged = [raw_ops.Merge(list(parts)) for parts in zip(*[each._components() for each in slices])]
            return slices[0]._with_components([each.output for each in merged]), merged[0].value_index
        tensors = convert_n_to_tensor(inputs, as_ref=True)
        if all(tensor.dtype._is_ref_dtype for tensor in tensors):
            return raw_ops.RefMerge(tensors, name=scope)
        return raw_ops.Merge(tensors, name=scope)


def _as_slices(tensor: Any) -> IndexedSlices:
    """A tensor as the rows of itself."""
    shape = raw_ops.Shape(tensor)
    return IndexedSlices(tensor, raw_ops.Range(0, shape[0], 1), shape)
