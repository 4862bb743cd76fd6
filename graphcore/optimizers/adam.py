"""Adam (Kingma and Ba, 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..convert import convert_to_tensor
from ..default import get_default_graph
from ..indexed_slices import IndexedSlices
from ..op import group, raw_ops
from ..operation import Operation
from .gradient_descent import _cast
from .optimizer import Optimizer


class AdamOptimizer(Optimizer):
    """Steps scaled by running averages of the gradient and its square.

    Args:
        learning_rate: A float, tensor, or function that gives one.
        beta1: Decay of the average of the gradient.
        beta2: Decay of the average of its square.
        epsilon: Added to the root of that average.
        use_locking: Passed to the update ops.
        name: Name of the update operations and slots.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._hyper = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
        self._tensors: dict[str, Any] = {}

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        graph = get_default_graph()
        return self._get_non_slot_variable("beta1_power", graph), self._get_non_slot_variable(
            "beta2_power", graph
        )

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        first = min(var_list, key=lambda variable: variable.name)
        for beta in ("beta1", "beta2"):
            self._create_non_slot_variable(self._call_if_callable(self._hyper[beta]), f"{beta}_power", first)
        for variable in var_list:
            self._zeros_slot(variable, "m", self._name)
            self._zeros_slot(variable, "v", self._name)

    def _prepare(self) -> None:
        for name, value in self._hyper.items():
            self._tensors[name] = convert_to_tensor(self._call_if_callable(value), name=name)

    def _arguments(self, dtype: Any) -> list[Any]:
        """beta1_power, beta2_power, lr, beta1, beta2, epsilon of the variable's dtype."""
        powers = self._get_beta_accumulators()
        rest = [self._tensors[name] for name in ("learning_rate", "beta1", "beta2", "epsilon")]
        return [_cast(item, dtype) for item in (*powers, *rest)]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        slots = self.get_slot(var, "m"), self.get_slot(var, "v")
        arguments = self._arguments(var.dtype.base_dtype)
        return raw_ops.ApplyAdam(var, *slots, *arguments, grad, use_locking=self._use_locking)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        slots = self.get_slot(handle, "m").handle, self.get_slot(handle, "v").handle
        arguments = self._arguments(handle.dtype.base_dtype)
        return raw_ops.ResourceApplyAdam(
            handle.handle, *slots, *arguments, grad, use_locking=self._use_locking
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._sparse(grad, handle, indices)

    def _sparse(self, grad: Any, var: Any, indices: Any) -> Any:
        """The averages of all rows decay, the gradient goes to its rows: as TensorFlow composes it."""
        power1, power2, rate, beta1, beta2, epsilon = self._arguments(var.dtype.base_dtype)
        rate = rate * raw_ops.Sqrt(1 - power2) / (1 - power1)
        graph = get_default_graph()
        averages = []
        for slot, beta, rows in (("m", beta1, grad * (1 - beta1)), ("v", beta2, (grad * grad) * (1 - beta2))):
            variable = self.get_slot(var, slot)
            decayed = variable.assign(variable * beta, use_locking=self._use_locking)
            with graph.control_dependencies([decayed]):
                averages.append(variable.scatter_add(IndexedSlices(rows, indices)))
        step = rate * averages[0] / (raw_ops.Sqrt(averages[1]) + epsilon)
        updated = var.assign_sub(step, use_locking=self._use_locking)
        return group(updated, *averages)

    def _finish(self, update_ops: list[Operation], name_scope_: str) -> Operation:
        graph = get_default_graph()
        with graph.control_dependencies(update_ops):
            power1, power2 = self._get_beta_accumulators()
            with graph.colocate_with(power1.op):
                steps = [
                    power.assign(power.value() * self._tensors[beta], use_locking=self._use_locking)
                    for power, beta in ((power1, "beta1"), (power2, "beta2"))
                ]
        return group(*update_ops, *steps, name=name_scope_)
