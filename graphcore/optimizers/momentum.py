"""Gradient descent with momentum (Polyak, 1964), or Nesterov's (Sutskever et al., 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..convert import convert_to_tensor
from ..indexed_slices import IndexedSlices
from ..op import raw_ops
from .gradient_descent import _cast
from .optimizer import Optimizer


class MomentumOptimizer(Optimizer):
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
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            self._zeros_slot(variable, "momentum", self._name)

    def _prepare(self) -> None:
        self._rate = convert_to_tensor(self._call_if_callable(self._learning_rate), name="learning_rate")
        self._decay = convert_to_tensor(self._call_if_callable(self._momentum), name="momentum")

    def _options(self) -> dict[str, Any]:
        return {"use_locking": self._use_locking, "use_nesterov": self._use_nesterov}

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        slot = self.get_slot(var, "momentum")
        return raw_ops.ApplyMomentum(
            var, slot, _cast(self._rate, dtype), grad, _cast(self._decay, dtype), **self._options()
        )

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        dtype = handle.dtype.base_dtype
        slot = self.get_slot(handle, "momentum")
        return raw_ops.ResourceApplyMomentum(
            handle.handle,
            slot.handle,
            _cast(self._rate, dtype),
            grad,
            _cast(self._decay, dtype),
            **self._options(),
        )

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        dtype = var.dtype.base_dtype
        return raw_ops.SparseApplyMomentum(
            var,
            self.get_slot(var, "momentum"),
            _cast(self._rate, dtype),
            grad.values,
            grad.indices,
            _cast(self._decay, dtype),
            **self._options(),
        )

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        dtype = handle.dtype.base_dtype
        return raw_ops.ResourceSparseApplyMomentum(
            handle.handle,
            self.get_slot(handle, "momentum").handle,
            _cast(self._rate, dtype),
            grad,
            indices,
            _cast(self._decay, dtype),
            **self._options(),
        )
