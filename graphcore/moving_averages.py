"""`tf.train.ExponentialMovingAverage`: averages of variables, for evaluation.

Source: tensorflow/python/training/moving_averages.py (r1.15), behaviour and nodes only. Taking the bias of
the zero start away: Kingma and Ba 2015, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, get_default_graph, name_scope
from .dtypes import FLOATING, float32
from .errors import InvalidTypeError
from .initializers import Zeros
from .op import group
from .operation import Operation
from .ops.math_binary import minimum, pow_
from .ops.math_unary import tf_cast
from .optimizers.slots import create_slot, create_zeros_slot
from .variable import Variable
from .variable_scope import get_variable, get_variable_scope, variable_scope
from .variables import (
    assign,
    assign_sub,
    global_variables,
    moving_average_variables,
    trainable_variables,
)

_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp")


class ExponentialMovingAverage:
    """Keeps averages of variables: `average -= (1 - decay) * (average - variable)`.

    Args:
        decay: Close to 1, 0.999 say.
        num_updates: A count of updates; early ones then decay faster, by (1 + n) / (10 + n).
        zero_debias: Take away the bias of averages of tensors (not of variables), which start at 0.
        name: Scope of the operations, and the suffix of the averages' names.
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict[Any, Any] = {}

    @property
    def name(self) -> str:
        """The suffix of the averages' names."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation:
        """An operation that updates the averages, which are made at the first call.

        Args:
            var_list: Variables or tensors; by default the trainable variables.

        Raises:
            TypeError: One is not of a floating dtype.
        """
        chosen = trainable_variables() if var_list is None else list(var_list)
        graph = get_default_graph()
        debiased = set()
        for var in chosen:
            if var.dtype.base_dtype not in FLOATING:
                raise InvalidTypeError(f"The variables must be half, float, or double: {var.name}")
            if var in self._averages:
                continue
            with graph.control_dependencies(None):
                if isinstance(var, Variable):
                    average = create_slot(var, var.initialized_value(), self._name)
                    add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
                else:
                    beside = var.op.type in _VARIABLE_OPS
                    average = create_zeros_slot(var, self._name, colocate_with_primary=beside)
                    if self._zero_debias:
                        debiased.add(average)
            self._averages[var] = average
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                count = tf_cast(self._num_updates, float32, name="num_updates")
                decay = minimum(decay, (1.0 + count) / (10.0 + count))
            updates = []
            for var in chosen:
                average = self._averages[var]
                updates.append(assign_moving_average(average, var, decay, average in debiased))
            return group(*updates, name=scope)

    def average(self, var: Any) -> Any:
        """The variable that holds the average of `var`, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """The name of that variable, also before there is one: the key in a checkpoint."""
        if var in self._averages:
            return str(self._averages[var].op.name)
        return get_default_graph().unique_name(f"{var.op.name}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """What to give a Saver so that variables get their averages' values.

        Args:
            moving_avg_variables: The variables that have averages; by default the trainable ones and
                those in `MOVING_AVERAGE_VARIABLES`.

        Returns:
            Variables by checkpoint key: averaged ones by their average's, all others by their own.
        """
        if moving_avg_variables is None:
            moving_avg_variables = [*trainable_variables(), *moving_average_variables()]
        averaged = list(dict.fromkeys(moving_avg_variables))
        found = {self.average_name(variable): variable for variable in averaged}
        names = {variable.name for variable in averaged}
        for variable in dict.fromkeys(global_variables()):
            if variable.name not in names and variable.op.name not in found:
                found[variable.op.name] = variable
        return found


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Moves `variable` towards `value`; gives it afterwards.

    Args:
        variable: The average.
        value: A tensor of its shape.
        decay: How much of the average stays.
        zero_debias: Divide by what an average that started at 0 has seen, in variables of its own.
        name: Name of the update.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rest = convert_to_tensor(1.0 - decay, name="decay")
        rest = tf_cast(rest, variable.dtype.base_dtype)
        if zero_debias:
            return _debiased(variable, value, rest)
        with get_default_graph().colocate_with(variable.op):
            return assign_sub(variable, (variable - value) * rest, name=scope)


def _debiased(variable: Any, value: Any, rest: Any) -> Any:
    graph = get_default_graph()
    dtype = variable.dtype.base_dtype
    with variable_scope(variable.name[: -len(":0")]), graph.colocate_with(variable.op):
        biased = get_variable(
            _unique("biased"),
            initializer=Zeros(),
            shape=variable.get_shape(),
            dtype=dtype,
            trainable=False,
        )
        step = get_variable(
            _unique("local_step"), shape=[], dtype=dtype, initializer=Zeros(), trainable=False
        )
    with graph.colocate_with(variable.op):
        updated = assign_sub(biased, (biased - value) * rest)
        count = step.assign_add(1)
        seen = 1 - pow_(1.0 - rest, count)
        return assign(variable, updated / seen, name=f"{graph.get_name_scope()}/")


def _unique(name: str) -> str:
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {variable.op.name for variable in scope.global_variables()}
    found, number = name, 0
    while f"{scope.name}/{found}" in taken:
        number += 1
        found = f"{name}_{number}"
    return found
