"""Plain gradient descent."""

from __future__ import annotations

from typing import Any

from ..convert import convert_to_tensor
from ..indexed_slices import IndexedSlices
from ..op import raw_ops
from .optimizer import Optimizer


class GradientDescentOptimizer(Optimizer):
    """`var -= learning_rate * gradient`.

    Args:
        learning_rate: A float, tensor, or function that gives one.
        use_locking: Passed to the update ops.
        name: Name of the update operations.
    """

    def __init__(self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent") -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._rate: Any = None

    def _prepare(self) -> None:
        self._rate = convert_to_tensor(self._call_if_callable(self._learning_rate), name="learning_rate")

    def _rate_for(self, var: Any) -> Any:
        return _cast(self._rate, var.dtype.base_dtype)

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return raw_ops.ApplyGradientDescent(var, self._rate_for(var), grad, use_locking=self._use_locking)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return raw_ops.ResourceApplyGradientDescent(
            handle.handle, self._rate_for(handle), grad, use_locking=self._use_locking
        )

    def _sparse_update(self, grad: IndexedSlices, variable: Any) -> Any:
        # Linear: repeated rows need not be added up first.
        delta = grad.values * self._rate_for(variable)
        if hasattr(variable, "handle"):
            return raw_ops.ResourceScatterAdd(variable.handle, grad.indices, -delta)
        return raw_ops.ScatterSub(variable._ref(), grad.indices, delta, use_locking=self._use_locking)


def _cast(value: Any, dtype: Any) -> Any:
    return value if value.dtype.base_dtype == dtype else raw_ops.Cast(value, DstT=dtype)
