"""Adagrad with dual averaging (Duchi, Hazan, Singer, 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..convert import constant
from ..default import get_default_graph
from ..op import raw_ops
from ..ops.math_unary import tf_cast
from .adagrad import check_positive
from .single_op import SingleOpOptimizer


class AdagradDAOptimizer(SingleOpOptimizer):
    """Each variable is computed anew from the sums of its gradients and of their squares.

    Args:
        learning_rate: A float or tensor.
        global_step: int64 variable that counts the steps.
        initial_gradient_squared_accumulator_value: The sum of squares at first, positive.
        l1_regularization_strength: Pull to 0; at least 0.
        l2_regularization_strength: Pull to 0 that grows with the value; at least 0.
        use_locking: Passed to the update ops.
        name: Name of the update operations and slots.

    Raises:
        ValueError: The initial sum is not positive.
    """

    def __init__(
        self,
        learning_rate: Any,
        global_step: Any,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        check_positive(
            "initial_gradient_squared_accumulator_value", initial_gradient_squared_accumulator_value
        )
        super().__init__(use_locking, name, learning_rate=learning_rate)
        self._initial_square = initial_gradient_squared_accumulator_value
        self._strengths = {"l1": l1_regularization_strength, "l2": l2_regularization_strength}
        self._global_step = global_step

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            shape, dtype = variable.get_shape(), variable.dtype.base_dtype
            with variable.graph.colocate_with(variable.op):
                total = constant(0.0, dtype, shape)
                squares = constant(self._initial_square, dtype, shape)
            self._get_or_make_slot(variable, total, "gradient_accumulator", self._name)
            self._get_or_make_slot(variable, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        super()._prepare()
        with get_default_graph().colocate_with(self._tensors["learning_rate"]):
            # The step that this update is, counted from 1.
            self._tensors["global_step"] = raw_ops.Identity(self._global_step) + 1

    def _input(self, name: str, dtype: Any) -> Any:
        if name in self._strengths:
            return tf_cast(self._strengths[name], dtype)
        return self._tensors[name] if name == "global_step" else super()._input(name, dtype)

    def _apply(self, var: Any, *grad: Any) -> Any:
        outer = self._tensors["global_step"]
        with get_default_graph().device(var.device):
            self._tensors["global_step"] = raw_ops.Identity(outer)
        try:
            return super()._apply(var, *grad)
        finally:
            self._tensors["global_step"] = outer

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        slots = ("gradient_accumulator", "gradient_squared_accumulator")
        return "AdagradDA", slots, ("grad", "learning_rate", "l1", "l2", "global_step")
