"""`tf.train.Optimizer`: gradients and their application, with slots for per-variable state.

An optimizer only adds nodes: TensorFlow's Apply* ops and slot variables of TensorFlow's names, so that
a checkpoint of a training run continues in either system.

Source: tensorflow/python/training/optimizer.py and slot_creator.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..convert import convert_to_tensor
from ..default import GraphKeys, get_default_graph, name_scope
from ..errors import InvalidTypeError, InvalidValueError, NotSupportedError
from ..gradients import AggregationMethod, gradients
from ..indexed_slices import IndexedSlices
from ..op import group, no_op, raw_ops
from ..operation import Operation, Tensor
from ..ops.control_flow import tuple_
from ..variables import RefVariable, ResourceVariable, Variable, assign_add, trainable_variables
from .slots import create_slot, create_slot_with_initializer, create_zeros_slot


class Optimizer:
    """Base of the optimizers; a subclass gives `_prepare`, `_create_slots` and the apply methods.

    Args:
        use_locking: Passed to the update ops.
        name: Prefix of the slots' names.

    Raises:
        ValueError: `name` is empty.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise InvalidValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slots: dict[tuple[str, Any], Any] = {}

    def get_name(self) -> str:
        """The optimizer's name."""
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        """An operation that changes `var_list` so that `loss` falls.

        Args:
            loss: The tensor to minimize, or a function that gives it.
            global_step: A variable to add 1 to.
            var_list: The variables; by default the trainable ones.
            gate_gradients: GATE_NONE, GATE_OP or GATE_GRAPH.
            aggregation_method: See `AggregationMethod`.
            colocate_gradients_with_ops: See `gradients`.
            name: Name of the operation.
            grad_loss: The gradient that reaches `loss`.

        Raises:
            ValueError: No variable has a gradient.
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if all(grad is None for grad, _ in pairs):
            raise InvalidValueError(
                "No gradients provided for any variable, check your graph for ops that do not support "
                "gradients, "
                f"between variables {[str(variable.name) for _, variable in pairs]} and loss {loss}."
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs (gradient, variable); the gradient is None where the loss does not depend on it.

        `minimize` has the arguments.

        Raises:
            ValueError: There are no variables, or `gate_gradients` is unknown.
            TypeError: Something in `var_list` is no variable.
        """
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise InvalidValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        loss = self._call_if_callable(loss)
        if var_list is None:
            variables = [
                *trainable_variables(),
                *get_default_graph().get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES),
            ]
        else:
            variables = _flat(var_list)
        if not variables:
            raise InvalidValueError("No variables to optimize.")
        if grad_loss is not None:
            grad_loss = convert_to_tensor(grad_loss, name="grad_loss")
        targets = [_target(variable) for variable in variables]
        grads = gradients(
            loss,
            targets,
            None if grad_loss is None else [grad_loss],
            gate_gradients=gate_gradients == Optimizer.GATE_OP,
            aggregation_method=aggregation_method or AggregationMethod.DEFAULT,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = _gated(grads)
        for grad, variable in zip(grads, variables):
            dtype = variable.dtype.base_dtype
            if grad is not None and not (dtype.is_floating or dtype.is_complex):
                raise InvalidValueError(
                    f"Invalid type {dtype!r} for {variable.name}, expected a floating type."
                )
        return list(zip(grads, variables))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        """An operation that applies gradients to variables.

        Args:
            grads_and_vars: Pairs as `compute_gradients` gives them.
            global_step: A variable to add 1 to afterwards.
            name: Name of the operation.

        Raises:
            TypeError: A gradient is neither tensor nor IndexedSlices.
            ValueError: No variable has a gradient.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise InvalidValueError("No variables provided.")
        converted = []
        for grad, variable in pairs:
            if grad is not None and not isinstance(grad, IndexedSlices):
                try:
                    grad = convert_to_tensor(grad)
                except TypeError as error:
                    raise InvalidTypeError(
                        f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}"
                    ) from error
            converted.append((grad, variable))
        variables = [variable for grad, variable in converted if grad is not None]
        if not variables:
            raise InvalidValueError(
                f"No gradients provided for any variable: {[str(variable) for _, variable in converted]}."
            )
        for variable in variables:
            if isinstance(variable, Tensor):
                raise NotSupportedError(f"Trying to update a Tensor {variable}")
        graph = get_default_graph()
        with graph.control_dependencies(None):
            self._create_slots(variables)
        with name_scope(name, self._name) as scope:
            self._prepare()
            updates = []
            for grad, variable in converted:
                if grad is None:
                    continue
                with name_scope(f"update_{variable.op.name}"), graph.colocate_with(variable.op):
                    updates.append(self._update(grad, variable))
            if global_step is None:
                return self._finish(updates, scope)
            with (
                graph.control_dependencies([self._finish(updates, "update")]),
                graph.colocate_with(global_step),
            ):
                if isinstance(global_step, ResourceVariable):
                    step = raw_ops.AssignAddVariableOp(
                        global_step.handle, convert_to_tensor(1, global_step.dtype), name=scope
                    )
                else:
                    step = assign_add(global_step, 1, name=scope)
            train_op: Operation = step if isinstance(step, Operation) else step.op
            if train_op not in graph.get_collection_ref(GraphKeys.TRAIN_OP):
                graph.add_to_collection(GraphKeys.TRAIN_OP, train_op)
            return train_op

    def _update(self, grad: Any, variable: Any) -> Operation:
        if isinstance(grad, IndexedSlices):
            update = self._sparse_update(grad, variable)
        elif isinstance(variable, ResourceVariable):
            update = self._resource_apply_dense(grad, variable)
        else:
            update = self._apply_dense(grad, variable)
        constraint = getattr(variable, "constraint", None)
        if constraint is not None:
            if isinstance(grad, IndexedSlices):
                raise RuntimeError("Cannot use a constraint function on a sparse variable.")
            with get_default_graph().control_dependencies([update]):
                result = variable.assign(constraint(variable))
                update = getattr(result, "op", result)
        operation: Operation = update if isinstance(update, Operation) else update.op
        return operation

    def _sparse_update(self, grad: IndexedSlices, variable: Any) -> Any:
        """Rows that occur several times are added up first, as most update rules are not linear."""
        unique, positions = raw_ops.Unique(grad.indices)
        count = raw_ops.StridedSlice(raw_ops.Shape(unique), [0], [1], [1], shrink_axis_mask=1)
        values = raw_ops.UnsortedSegmentSum(grad.values, positions, count)
        if isinstance(variable, ResourceVariable):
            return self._resource_apply_sparse(values, variable, unique)
        return self._apply_sparse(IndexedSlices(values, unique, grad.dense_shape), variable)

    # Slots

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot variable `name` of `var`, or None."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        """The names of the slots, sorted."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The optimizer's own variables, sorted by name."""
        graph = get_default_graph()
        found = [variable for variable in self._non_slots.values() if variable.graph is graph]
        for slots in self._slots.values():
            found.extend(variable for variable in slots.values() if variable.graph is graph)
        return sorted(found, key=lambda variable: variable.name)

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        """A slot of the variable's shape, 0 at first."""
        return self._slot(var, slot_name, lambda: create_zeros_slot(var, op_name))

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """A slot with the tensor `val` at first."""
        return self._slot(var, slot_name, lambda: create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        """A slot of that shape and dtype with what an initializer gives at first."""
        return self._slot(
            var, slot_name, lambda: create_slot_with_initializer(var, initializer, shape, dtype, op_name)
        )

    def _slot(self, var: Any, slot_name: str, make: Callable[[], Any]) -> Any:
        named = self._slots.setdefault(slot_name, {})
        if var not in named:
            named[var] = make()
        return named[var]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer itself, one a graph."""
        graph = colocate_with.graph
        key = (name, graph)
        if key not in self._non_slots:
            with graph.colocate_with(colocate_with.op):
                self._non_slots[key] = Variable(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=isinstance(colocate_with, ResourceVariable),
                )
        return self._non_slots[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slots.get((name, graph))

    # For subclasses

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots."""

    def _prepare(self) -> None:
        """Makes the tensors of the hyperparameters."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError

    def _finish(self, update_ops: list[Operation], name_scope: str) -> Operation:
        return group(*update_ops, name=name_scope) if update_ops else no_op(name=name_scope)

    def _call_if_callable(self, value: Any) -> Any:
        return value() if callable(value) else value


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _flat(item)]
    return [value]


def _target(variable: Any) -> Any:
    """What to differentiate by: a resource variable's handle, a ref variable's reference."""
    if isinstance(variable, ResourceVariable):
        return variable
    if isinstance(variable, RefVariable):
        return variable._ref()
    if isinstance(variable, Tensor):
        return variable
    raise InvalidTypeError(f"Argument is not a tf.Variable: {variable}")


def _gated(grads: list[Any]) -> list[Any]:
    return tuple_(grads)
