"""`tf.cond` and `tf.case`: branches of a graph, of which a run takes one.

The construction is that of TensorFlow 1: each branch is built in a `CondContext`; what comes from
outside passes a Switch, the results meet in a Merge.

Source: tensorflow/python/ops/control_flow_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from . import nest
from .control_contexts import CondContext
from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, get_default_graph, name_scope
from .dtypes import bool_, int32, int64
from .errors import InvalidTypeError, InvalidValueError
from .indexed_slices import IndexedSlices
from .op import no_op, raw_ops
from .operation import Operation, Tensor
from .ops.control_flow import tf_assert, with_dependencies
from .ops.tensor_array import TensorArray


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """`tf.cond`: `true_fn()` if `pred` holds when the graph runs, else `false_fn()`.

    What a branch uses must be made inside its function for the untaken branch not to be computed.

    Args:
        pred: A scalar boolean tensor.
        true_fn: Builds the branch; gives tensors, `TensorArray`s, operations, or nested lists, tuples
            and dicts of them.
        false_fn: The same for the other branch, with the same structure and dtypes.
        strict: Keep lists of one element as lists.
        name: Name scope.
        fn1: Old name of `true_fn`.
        fn2: Old name of `false_fn`.

    Raises:
        TypeError: A branch is missing or not callable, `pred` is a Python bool, or the branches' results
            are of different kinds.
        ValueError: A branch gives nothing, or the branches' results do not match.
    """
    functions = []
    for new, old, names in ((true_fn, fn1, ("true_fn", "fn1")), (false_fn, fn2, ("false_fn", "fn2"))):
        if new is not None and old is not None:
            raise InvalidTypeError(f"cond(): {names[0]} and {names[1]} may not be set simultaneously.")
        function = new if new is not None else old
        if function is None:
            raise InvalidTypeError(f"cond(): {names[0]} argument required")
        if not callable(function):
            raise InvalidTypeError(f"{names[0]} must be callable.")
        functions.append(function)
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise InvalidTypeError("pred must not be a Python bool")
        pred = convert_to_tensor(pred, name="pred")
        false_alive, true_alive = raw_ops.Switch(pred, pred)
        pivots = [
            raw_ops.Identity(true_alive, name="switch_t"),
            raw_ops.Identity(false_alive, name="switch_f"),
        ]
        pred = raw_ops.Identity(pred, name="pred_id")
        for tensor in (true_alive, *pivots, pred):
            tensor.graph.prevent_fetching(tensor.op)
        made = [
            _branch(pred, pivots[0], 1, functions[0], "true_fn"),
            _branch(pred, pivots[1], 0, functions[1], "false_fn"),
        ]
        (on_true, true_results, true_tensors), (on_false, false_results, false_tensors) = made
        if not strict:
            true_results, false_results = _unpacked(true_results), _unpacked(false_results)
        _check_branches(true_results, false_results, true_tensors, false_tensors)
        merged = [_merge(false, true) for false, true in zip(false_tensors, true_tensors)]
        if on_true.outer_context is None:  # what is nested is kept inside the outermost
            add_to_collection(GraphKeys.COND_CONTEXT, on_true)
            add_to_collection(GraphKeys.COND_CONTEXT, on_false)
        leaves = nest.flatten(true_results, expand_composites=True)
        values = [
            leaf._with_flow(value) if isinstance(leaf, TensorArray) else value
            for leaf, value in zip(leaves, merged)
        ]
        result = nest.pack_sequence_as(true_results, values, expand_composites=True)
        return result if strict else _unpacked(result)


def _branch(
    pred: Tensor, pivot: Tensor, branch: int, function: Callable[[], Any], name: str
) -> tuple[CondContext, Any, list[Tensor]]:
    """A branch's context, what its function gives, and the tensors for that inside the branch."""
    with CondContext(pred, pivot, branch) as context:
        result = function()
        if result is None:
            raise InvalidValueError(f"{name} must have a return value.")
        tensors = [_inside(context, leaf) for leaf in nest.flatten(result, expand_composites=True)]
        context.exit_result(tensors)
    return context, result, tensors


def _inside(context: CondContext, value: Any) -> Tensor:
    if isinstance(value, Operation):
        alive: Tensor = with_dependencies([value], context.pivot)
        return alive
    return context.result(convert_to_tensor(value.flow if isinstance(value, TensorArray) else value))


def _unpacked(result: Any) -> Any:
    """The only element of a list or tuple of one."""
    if isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def _merge(false: Tensor, true: Tensor) -> Any:
    if false.dtype._is_ref_dtype and true.dtype._is_ref_dtype:
        return raw_ops.RefMerge([false, true]).output
    return raw_ops.Merge([false, true]).output


def _check_branches(true: Any, false: Any, on_true: list[Tensor], on_false: list[Tensor]) -> None:
    for a, b in zip(nest.flatten(true), nest.flatten(false)):
        if isinstance(a, IndexedSlices) and isinstance(b, IndexedSlices):
            _same_indices(on_true, on_false)
            break
    try:
        nest.assert_same_structure(true, false, expand_composites=True)
    except TypeError as error:
        raise InvalidTypeError(f"Incompatible return types of true_fn and false_fn: {error}") from error
    except ValueError as error:
        raise InvalidValueError(f"Incompatible return values of true_fn and false_fn: {error}") from error
    if not on_true:
        raise InvalidValueError("true_fn and false_fn must return at least one result.")
    for a, b in zip(on_true, on_false):
        if a.dtype.base_dtype != b.dtype.base_dtype:
            raise InvalidValueError(
                f"Outputs of true_fn and false_fn must have the same type: {a.dtype.name}, {b.dtype.name}"
            )


def _same_indices(on_true: list[Tensor], on_false: list[Tensor]) -> None:
    """Where one branch has int32 row numbers and the other int64, makes both int64."""
    for index, (a, b) in enumerate(zip(on_true, on_false)):
        if {a.dtype.base_dtype, b.dtype.base_dtype} == {int32, int64}:
            for side in (on_true, on_false):
                if side[index].dtype.base_dtype == int32:
                    with get_default_graph()._control_flow(side[index].op._control_flow_context):
                        side[index] = raw_ops.Cast(side[index], DstT=int64)


# Several branches


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """`tf.case`: what the function of the first predicate that holds gives.

    Args:
        pred_fn_pairs: A list of (scalar boolean tensor, function) pairs, or a dict.
        default: The function where none holds; without one, that is an error when the graph runs.
        exclusive: Fail when the graph runs if more than one predicate holds.
        strict: Keep lists of one element as lists.
        name: Name scope.

    Raises:
        TypeError: The pairs are not of that form.
    """
    predicates, actions = _checked_pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise InvalidTypeError("default must be callable.")
    with name_scope(name, "case", predicates):
        if default is None:
            *predicates, last = predicates
            *actions, action = actions
            default = _checked_default(predicates, last, action)
        function = default
        for predicate, action in reversed(list(zip(predicates, actions))):
            function = partial(cond, predicate, true_fn=action, false_fn=function, strict=strict)
        if not exclusive:
            return function()
        check = _at_most(predicates, 1, "Input error: exclusive=True")
        with get_default_graph().control_dependencies([check]):
            return function()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str = "switch_case"
) -> Any:
    """`tf.switch_case`: what the function of that number gives.

    Args:
        branch_index: An int32 scalar.
        branch_fns: A list of functions, or of (number, function) pairs, or a dict, with the numbers from 0.
        default: The function for any other number; by default the last one.
        name: Name scope.

    Raises:
        TypeError: The functions or the index are not of that form.
        ValueError: The numbers are not 0, 1, ...
    """
    functions = _checked_branches(branch_index, branch_fns, default)
    with name_scope(name, "case", [branch_index]):
        function = functions[-1]
        for number in reversed(range(len(functions) - 1)):
            predicate = raw_ops.Equal(branch_index, convert_to_tensor(number, branch_index.dtype))
            function = partial(cond, predicate, true_fn=functions[number], false_fn=function, strict=True)
        return function()


def _checked_branches(index: Any, functions: Any, default: Any) -> list[Callable[[], Any]]:
    """The branches in order, the default last."""
    if not isinstance(index, Tensor):
        raise InvalidTypeError(f"branch_index must a Tensor, got {type(index)}")
    if not index.dtype.is_integer:
        raise InvalidTypeError(f"branch_index must an integer Tensor, got {index.dtype}")
    if not functions:
        raise InvalidValueError("Must provide at least one item in branch_fns")
    if not isinstance(functions, (list, tuple, Mapping)):
        raise InvalidTypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(functions.items()) if isinstance(functions, Mapping) else list(functions)
    if all(callable(each) for each in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidTypeError("Each entry in branch_fns must be a 2-tuple")
        if not isinstance(pair[0], int):
            raise InvalidTypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise InvalidTypeError(f"fn for key {pair[0]} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise InvalidValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    ordered = [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
    return ordered if default is None else [*ordered, default]


def _checked_pairs(pairs: Any) -> tuple[list[Any], list[Any]]:
    if not isinstance(pairs, (list, tuple, Mapping)):
        raise InvalidTypeError("fns must be a list, tuple, or dict")
    if isinstance(pairs, Mapping):
        ordered = isinstance(pairs, OrderedDict)
        pairs = list(pairs.items()) if ordered else sorted(pairs.items(), key=lambda item: str(item[0].name))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidTypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        if not isinstance(pred, Tensor):
            raise InvalidTypeError(f"pred must be a Tensor, got: {pred}")
        if pred.dtype.base_dtype != bool_:
            raise InvalidTypeError(f"pred must be Tensor of type bool: {pred.name}")
        if not callable(function):
            raise InvalidTypeError(f"fn for pred {pred.name} must be callable.")
    if not pairs:
        raise InvalidValueError("pred_fn_pairs must have at least one pair")
    return [pred for pred, _ in pairs], [function for _, function in pairs]


def _checked_default(others: Sequence[Any], predicate: Any, action: Callable[[], Any]) -> Callable[[], Any]:
    """The last action as the default: it fails unless its own predicate holds."""

    def default() -> Any:
        message = "Input error: None of conditions evaluated as True:"
        told = [message, raw_ops.Pack([*others, predicate], name="preds_c")]
        number = len(others)
        unexpected = (
            f"Implementation error: selected default action #{number} was called, but some of other "
            "predicates are True: "
        )
        checks = [_at_most(others, 0, unexpected)] if others else []
        with get_default_graph().control_dependencies([*checks, tf_assert(predicate, told)]):
            return action()

    return default


def _at_most(predicates: Sequence[Any], count: int, message: str) -> Any:
    """An Assert that no more than `count` predicates hold."""
    if not predicates:
        return no_op()
    packed = raw_ops.Pack(list(predicates), name="preds_c")
    number = raw_ops.Sum(raw_ops.Cast(packed, DstT=int32), [0], name="num_true_conds")
    condition = raw_ops.LessEqual(number, convert_to_tensor(count, name="n_true_conds"))
    names = ", ".join(predicate.name for predicate in predicates)
    told = [f"{message}: more than {count} conditions ({names}) evaluated as True:", packed]
    return tf_assert(condition, told, summarize=len(predicates))


def smart_cond(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = None
) -> Any:
    """As `cond`, but builds one branch only where `pred` is known now.

    Args:
        pred: A boolean tensor, Python bool, or 0 or 1.
        true_fn: Builds the branch for true.
        false_fn: Builds the branch for false.
        name: Name scope.
    """
    if isinstance(pred, Tensor):
        known = get_default_graph().constant_value(pred)
        if known is None:
            return cond(pred, true_fn, false_fn, name=name)
        pred = bool(known)
    if hasattr(pred, "_as_graph_element"):
        return cond(convert_to_tensor(pred), true_fn, false_fn, name=name)
    return true_fn() if pred else false_fn()
