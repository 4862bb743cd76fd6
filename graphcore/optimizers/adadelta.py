"""Adadelta (Zeiler, 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .single_op import SingleOpOptimizer


class AdadeltaOptimizer(SingleOpOptimizer):
    """Steps scaled by the ratio of running averages of squared steps and squared gradients.

    Args:
        learning_rate: A float, tensor, or function that gives one; the paper has 1.
        rho: Decay of the averages.
        epsilon: Added to both.
        use_locking: Passed to the update ops.
        name: Name of the update operations and slots.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name, lr=learning_rate, rho=rho, epsilon=epsilon)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "accum", self._name)
            self._zeros_slot(variable, "accum_update", self._name)

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return "Adadelta", ("accum", "accum_update"), ("lr", "rho", "epsilon", "grad")
