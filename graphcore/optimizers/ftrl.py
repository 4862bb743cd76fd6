"""FTRL-Proximal (McMahan et al., 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..convert import constant
from ..errors import InvalidValueError
from .single_op import SingleOpOptimizer


class FtrlOptimizer(SingleOpOptimizer):
    """Follow the regularized leader, a rate for each coordinate; with L1 strength, sparse models.

    Args:
        learning_rate: A float or tensor.
        learning_rate_power: How rates fall with the sum of squared gradients; at most 0.
        initial_accumulator_value: That sum at first; at least 0.
        l1_regularization_strength: At least 0.
        l2_regularization_strength: At least 0; keeps steps small.
        use_locking: Passed to the update ops.
        name: Name of the update operations and slots.
        accum_name: Suffix of the slot of squared gradients; default `name`.
        linear_name: Suffix of the linear slot; default `name`.
        l2_shrinkage_regularization_strength: At least 0; keeps values small.

    Raises:
        ValueError: A number has the wrong sign.
    """

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        strengths = {
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for key, value in {"initial_accumulator_value": initial_accumulator_value, **strengths}.items():
            if value < 0.0:
                raise InvalidValueError(f"{key} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise InvalidValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        super().__init__(
            use_locking,
            name,
            learning_rate=learning_rate,
            **strengths,
            learning_rate_power=learning_rate_power,
        )
        self._initial_accumulator_value = initial_accumulator_value
        self._shrinks = l2_shrinkage_regularization_strength > 0.0
        self._accum_name = accum_name or name
        self._linear_name = linear_name or name

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            with variable.graph.colocate_with(variable.op):
                first = constant(
                    self._initial_accumulator_value, variable.dtype.base_dtype, variable.get_shape()
                )
                self._get_or_make_slot(variable, first, "accum", self._accum_name)
                self._zeros_slot(variable, "linear", self._linear_name)

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        shrinkage = ("l2_shrinkage_regularization_strength",) if self._shrinks else ()
        strengths = ("l1_regularization_strength", "l2_regularization_strength", *shrinkage)
        inputs = ("grad", "learning_rate", *strengths, "learning_rate_power")
        return "FtrlV2" if self._shrinks else "Ftrl", ("accum", "linear"), inputs
