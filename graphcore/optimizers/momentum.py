"""Gradient descent with momentum (Polyak, 1964), or Nesterov's (Sutskever et al., 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .single_op import SingleOpOptimizer


class MomentumOptimizer(SingleOpOptimizer):
    """`accum = momentum * accum + gradient; var -= learning_rate * accum`.

    Args:
        learning_rate: A float, tensor, or function that gives one.
        momentum: The same.
        use_locking: Passed to the update ops.
        name: Name of the update operations and slots.
        use_nesterov: Look ahead along the momentum.
    """

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name, learning_rate=learning_rate, momentum=momentum)
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return "Momentum", ("momentum",), ("learning_rate", "grad", "momentum")

    def _attrs(self) -> dict[str, Any]:
        return {"use_locking": self._use_locking, "use_nesterov": self._use_nesterov}
