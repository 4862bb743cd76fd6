"""Gradient descent and Adagrad with FOBOS regularization (Duchi and Singer, 2009)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..convert import constant
from .adagrad import check_positive
from .single_op import SingleOpOptimizer

_STRENGTHS = ("l1_regularization_strength", "l2_regularization_strength")


class ProximalGradientDescentOptimizer(SingleOpOptimizer):
    """Gradient descent, each step followed by a pull towards 0.

    Args:
        learning_rate: A float or tensor.
        l1_regularization_strength: At least 0; above it, values become 0.
        l2_regularization_strength: At least 0.
        use_locking: Passed to the update ops.
        name: Name of the update operations.
    """

    def __init__(
        self,
        learning_rate: Any,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return "ProximalGradientDescent", (), ("learning_rate", *_STRENGTHS, "grad")


class ProximalAdagradOptimizer(SingleOpOptimizer):
    """Adagrad, each step followed by a pull towards 0.

    Args:
        learning_rate: A float or tensor.
        initial_accumulator_value: The sum of squared gradients at first, positive.
        l1_regularization_strength: At least 0; above it, values become 0.
        l2_regularization_strength: At least 0.
        use_locking: Passed to the update ops.
        name: Name of the update operations and slots.

    Raises:
        ValueError: The initial sum is not positive.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: Any = 0.0,
        l2_regularization_strength: Any = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            with variable.graph.colocate_with(variable.op):
                first = constant(
                    self._initial_accumulator_value, variable.dtype.base_dtype, variable.get_shape()
                )
            self._get_or_make_slot(variable, first, "accumulator", self._name)

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return "ProximalAdagrad", ("accumulator",), ("learning_rate", *_STRENGTHS, "grad")
