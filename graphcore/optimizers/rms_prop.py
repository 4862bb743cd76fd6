"""RMSProp (Tieleman and Hinton, 2012), plain and centered (Graves, 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..initializers import Ones
from ..ops.array_create import ones_like
from .single_op import SingleOpOptimizer


class RMSPropOptimizer(SingleOpOptimizer):
    """Steps divided by the root of a running average of squared gradients.

    Args:
        learning_rate: A float, tensor, or function that gives one.
        decay: Of the running averages.
        momentum: Of the steps.
        epsilon: Added to the average of squares.
        use_locking: Passed to the update ops.
        centered: Divide by an estimate of the variance, the square of the mean gradient taken off.
        name: Name of the update operations and slots.
    """

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(
            use_locking, name, learning_rate=learning_rate, decay=decay, momentum=momentum, epsilon=epsilon
        )
        self._centered = centered

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            shape, dtype = variable.get_shape(), variable.dtype.base_dtype
            if shape.is_fully_defined():
                initializer = Ones(dtype)
                self._get_or_make_slot_with_initializer(
                    variable, initializer, shape, dtype, "rms", self._name
                )
            else:
                self._get_or_make_slot(variable, ones_like(variable), "rms", self._name)
            if self._centered:
                self._zeros_slot(variable, "mg", self._name)
            self._zeros_slot(variable, "momentum", self._name)

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        inputs = ("learning_rate", "decay", "momentum", "epsilon", "grad")
        if self._centered:
            return "CenteredRMSProp", ("mg", "rms", "momentum"), inputs
        return "RMSProp", ("rms", "momentum"), inputs
