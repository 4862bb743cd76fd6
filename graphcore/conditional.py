"""`tf.cond`: two branches of a graph, of which a run takes one.

The construction is that of TensorFlow 1: each branch is built in a `CondContext`; what comes from
outside passes a Switch, the results meet in a Merge.

Source: tensorflow/python/ops/control_flow_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..formats import protos
from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, get_default_graph, name_scope
from .errors import InvalidTypeError, InvalidValueError
from .indexed_slices import IndexedSlices
from .op import raw_ops
from .operation import Operation, Tensor


class CondContext:
    """One branch of a conditional while it is built, and afterwards its record.

    Attributes:
        name: The context's name, with scopes.
        pred: The boolean tensor.
        pivot: The tensor that is alive when this branch is taken.
        branch: 1 for the true branch, 0 for the false one.
    """

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int, name: str = "cond_text") -> None:
        graph = get_default_graph()
        self.name = graph.unique_name(name)
        self.pred = pred
        self.pivot = pivot
        self.branch = branch
        self.outer: Any = graph._scopes.control_flow_context
        self.values: set[str] = {pred.name, pivot.name}
        self.external: dict[str, Tensor] = {pred.name: pred}

    @property
    def outer_context(self) -> Any:
        """The context around this one, or None."""
        return self.outer

    def __enter__(self) -> CondContext:
        scopes = get_default_graph()._scopes
        self._saved = scopes.control_flow_context
        scopes.control_flow_context = self
        return self

    def __exit__(self, *exc: Any) -> None:
        get_default_graph()._scopes.control_flow_context = self._saved

    def AddValue(self, tensor: Tensor) -> Tensor:
        """What stands for an outside `tensor` in this branch: its Switch output."""
        if tensor.name in self.values:
            return self.external.get(tensor.name, tensor)
        source = tensor
        if self.outer is not None:
            source = self.outer.AddValue(tensor)
            self.values.add(source.name)
        self.values.add(tensor.name)
        graph = tensor.graph
        with graph.control_dependencies(None):
            scopes = graph._scopes
            saved, scopes.control_flow_context = scopes.control_flow_context, self.outer
            try:
                result: Tensor = _switch(source, self.pred)[self.branch]
            finally:
                scopes.control_flow_context = saved
        result.op._control_flow_context = self
        self.values.add(result.name)
        self.external[tensor.name] = result
        return result

    def AddOp(self, operation: Operation) -> None:
        """Takes in an operation that was made in this branch."""
        if not operation._inputs:
            outside = [op for op in operation._control_inputs if op._control_flow_context is not self]
            if outside:
                operation._control_inputs[:] = [op for op in operation._control_inputs if op not in outside]
            operation._add_control_input(self.pivot.op)
        else:
            for index, tensor in enumerate(operation._inputs):
                inside = self.AddValue(tensor)
                if inside is not tensor:
                    operation._update_input(index, inside)
        context: Any = self
        names = [tensor.name for tensor in operation.outputs]
        while context is not None:
            context.values.update(names)
            context = context.outer

    def build(self, function: Callable[[], Any]) -> tuple[Any, list[Tensor]]:
        """Calls the branch function; gives its result and that result's tensors inside the branch."""
        result = function()
        if result is None:
            return None, [raw_ops.Identity(self.pivot)]
        return result, [self._inside(item) for item in _flatten(result)]

    def _inside(self, value: Any) -> Tensor:
        if isinstance(value, Operation):
            with value.graph.control_dependencies([value]):
                pivot: Tensor = raw_ops.Identity(self.pivot)
                return pivot
        tensor = (
            convert_to_tensor(value, as_ref=True)
            if not isinstance(value, IndexedSlices)
            else convert_to_tensor(value)
        )
        return self.AddValue(tensor)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The CondContextDef, or None where it lies outside `export_scope`."""
        prefix = f"{export_scope}/" if export_scope else ""
        if not self.name.startswith(prefix):
            return None

        def strip(name: str) -> str:
            return name.removeprefix(prefix)

        definition = protos.CondContextDef(
            context_name=strip(self.name),
            pred_name=strip(self.pred.name),
            pivot_name=strip(self.pivot.name),
            branch=self.branch,
        )
        definition.values_def.values.extend(sorted(strip(name) for name in self.values))
        for name, tensor in self.external.items():
            definition.values_def.external_values[strip(name)] = strip(tensor.name)
        return definition


def _switch(data: Tensor, pred: Tensor) -> Any:
    kind = raw_ops.RefSwitch if data.dtype._is_ref_dtype else raw_ops.Switch
    with data.graph.colocate_with(data, ignore_existing=True):
        return kind(data, pred)


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _flatten(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flatten(item)]
    return [value]


def _rebuild(structure: Any, values: list[Any]) -> Any:
    """`structure` with its leaves replaced, in the order of `_flatten`, from the front of `values`."""
    if isinstance(structure, dict):
        parts = {key: _rebuild(structure[key], values) for key in sorted(structure)}
        return type(structure)((key, parts[key]) for key in structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*[_rebuild(item, values) for item in structure])
    if isinstance(structure, (list, tuple)):
        return type(structure)(_rebuild(item, values) for item in structure)
    return values.pop(0)


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

    Args:
        pred: A scalar boolean tensor.
        true_fn: Builds the branch; gives tensors, or nested lists and tuples of them.
        false_fn: The same for the other branch, with the same structure and dtypes.
        strict: Keep lists of one element as lists.
        name: Name scope.
        fn1: Old name of `true_fn`.
        fn2: Old name of `false_fn`.

    Raises:
        TypeError: A branch is not callable, or `pred` is a Python bool.
        ValueError: The branches' results do not match.
    """
    true_fn, false_fn = true_fn or fn1, false_fn or fn2
    if not callable(true_fn) or not callable(false_fn):
        raise InvalidTypeError("true_fn and false_fn must be callable.")
    if isinstance(pred, bool):
        raise InvalidTypeError("pred must not be a Python bool")
    with name_scope(name, "cond", [pred]):
        pred = convert_to_tensor(pred, name="pred")
        false_pivot, true_pivot = raw_ops.Switch(pred, pred)
        pivots = {
            1: raw_ops.Identity(true_pivot, name="switch_t"),
            0: raw_ops.Identity(false_pivot, name="switch_f"),
        }
        pred = raw_ops.Identity(pred, name="pred_id")
        results: dict[int, Any] = {}
        tensors: dict[int, list[Tensor]] = {}
        contexts = []
        for branch, function in ((1, true_fn), (0, false_fn)):
            with CondContext(pred, pivots[branch], branch) as context:
                results[branch], tensors[branch] = context.build(function)
            contexts.append(context)
        _check_branches(results, tensors)
        merged = [_merge(a, b) for a, b in zip(tensors[0], tensors[1])]
        for context in contexts:
            add_to_collection(GraphKeys.COND_CONTEXT, context)
        if results[1] is None:
            return merged[0].op
        outputs = [
            value.op if isinstance(leaf, Operation) else value
            for value, leaf in zip(merged, _flatten(results[1]))
        ]
        structured = _rebuild(results[1], outputs)
        if (
            not strict
            and isinstance(structured, (list, tuple))
            and len(structured) == 1
            and not hasattr(structured, "_fields")
        ):
            return structured[0]
        return structured


def _merge(false: Tensor, true: Tensor) -> Any:
    if false.dtype._is_ref_dtype and true.dtype._is_ref_dtype:
        return raw_ops.RefMerge([false, true]).output
    return raw_ops.Merge([false, true]).output


def _check_branches(results: dict[int, Any], tensors: dict[int, list[Tensor]]) -> None:
    if (results[1] is None) != (results[0] is None) or len(tensors[1]) != len(tensors[0]):
        raise InvalidValueError(
            f"true_fn and false_fn must return the same number of outputs, not {len(tensors[1])} and "
            f"{len(tensors[0])}"
            if results[1] is not None and results[0] is not None
            else "true_fn and false_fn must both return outputs, or both None"
        )
    for true, false in zip(tensors[1], tensors[0]):
        if true.dtype.base_dtype != false.dtype.base_dtype:
            raise InvalidValueError(
                f"Outputs of true_fn and false_fn must have the same type: {true.dtype.name}, "
                f"{false.dtype.name}"
            )


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
