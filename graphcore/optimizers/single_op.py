"""Base of the optimizers whose update is one op."""

from __future__ import annotations

from typing import Any

from ..convert import convert_to_tensor
from ..indexed_slices import IndexedSlices
from ..op import raw_ops
from ..variables import ResourceVariable
from .gradient_descent import _cast
from .optimizer import Optimizer


class SingleOpOptimizer(Optimizer):
    """An optimizer whose update is one op in four forms, for both kinds of variables and gradients.

    Args:
        use_locking: Passed to the update op.
        name: Name of the update operations and slots.
        **hyper: Hyperparameters: floats, tensors or functions that give one, by the names of their nodes.
    """

    def __init__(self, use_locking: bool, name: str, **hyper: Any) -> None:
        super().__init__(use_locking, name)
        self._hyper = hyper
        self._tensors: dict[str, Any] = {}

    def _update_op(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """What follows `Apply` in the op's name, its slots, and its further inputs, `grad` among them."""
        raise NotImplementedError

    def _attrs(self) -> dict[str, Any]:
        """The op's attributes."""
        return {"use_locking": self._use_locking}

    def _prepare(self) -> None:
        for name, value in self._hyper.items():
            self._tensors[name] = convert_to_tensor(self._call_if_callable(value), name=name)

    def _input(self, name: str, dtype: Any) -> Any:
        """The tensor of a hyperparameter, of the variable's dtype."""
        return _cast(self._tensors[name], dtype)

    def _apply(self, var: Any, *grad: Any) -> Any:
        """The update by a gradient, or by the rows of one and their indices."""
        name, slots, inputs = self._update_op()
        variables = [var, *[self.get_slot(var, slot) for slot in slots]]
        form = "Sparse" if len(grad) > 1 else ""
        if isinstance(var, ResourceVariable):
            form = f"Resource{form}"
            variables = [variable.handle for variable in variables]
        arguments: list[Any] = []
        for item in inputs:
            arguments += grad if item == "grad" else [self._input(item, var.dtype.base_dtype)]
        return getattr(raw_ops, f"{form}Apply{name}")(*variables, *arguments, **self._attrs())

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._apply(var, grad)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        return self._apply(handle, grad)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._apply(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        return self._apply(handle, grad, indices)
