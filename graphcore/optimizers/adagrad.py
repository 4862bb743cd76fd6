"""Adagrad (Duchi, Hazan, Singer, 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InvalidValueError
from ..initializers import Constant
from ..op import raw_ops
from ..ops.math_unary import tf_cast
from .single_op import SingleOpOptimizer


class AdagradOptimizer(SingleOpOptimizer):
    """Steps divided by the root of the sum of all squared gradients.

    Args:
        learning_rate: A float, tensor, or function that gives one.
        initial_accumulator_value: The sum at first, positive.
        use_locking: Passed to the update ops.
        name: Name of the update operations and slots.

    Raises:
        ValueError: The initial sum is not positive.
    """

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        check_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name, learning_rate=learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = self._initial_accumulator_value
        for variable in var_list:
            shape, dtype = variable.get_shape(), variable.dtype.base_dtype
            if shape.is_fully_defined():
                initializer = Constant(first, dtype=dtype)
                self._get_or_make_slot_with_initializer(
                    variable, initializer, shape, dtype, "accumulator", self._name
                )
            else:
                filled = tf_cast(raw_ops.Fill(raw_ops.Shape(variable.initialized_value()), first), dtype)
                self._get_or_make_slot(variable, filled, "accumulator", self._name)

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return "Adagrad", ("accumulator",), ("learning_rate", "grad")


def check_positive(name: str, value: float) -> None:
    """Raises InvalidValueError unless an initial sum is positive."""
    if value <= 0.0:
        raise InvalidValueError(f"{name} must be positive: {value}")
