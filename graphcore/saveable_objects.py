"""What a Saver saves that is no variable: tensors under keys, and the operation that puts values back.

Source: tensorflow/python/training/saving/saveable_object.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .op import raw_ops
from .operation import Tensor


class SaveSpec:
    """One tensor to save.

    Args:
        tensor: The tensor, or a function that makes it.
        slice_spec: Which part of a whole it is (`4 10 0,2:0,10`), or "".
        name: The key in the checkpoint.
        dtype: The tensor's dtype, where `tensor` is a function.
        device: Where the tensor lives, where `tensor` is a function.
    """

    def __init__(
        self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: str | None = None
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        self.dtype = tensor.dtype if dtype is None else dtype
        self.device = tensor.device if device is None and not callable(tensor) else device

    @property
    def tensor(self) -> Any:
        """The tensor; a function makes it anew each time."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """Something with tensors to save, and a way to restore it.

    Args:
        op: What it is of.
        specs: A SaveSpec for each tensor.
        name: Its name; no two in one Saver have the same.
    """

    optional_restore = False

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self) -> str | None:
        """The device of its first tensor."""
        return self.specs[0].device

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Any:
        """The operation that puts values back; subclasses say how.

        Args:
            restored_tensors: A tensor for each spec.
            restored_shapes: Shapes to bring them to, or None.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it is restored")


class TableSaveable(SaveableObject):
    """The keys and values of a mutable table, as `NAME-keys` and `NAME-values`.

    Args:
        table: The table.
        name: Its name.
        restored: From (keys, values) to the operation that fills the table with them.
    """

    def __init__(self, table: Any, name: str, restored: Callable[[Any, Any], Any]) -> None:
        self._restored = restored
        pairs = zip(("keys", "values"), table.export())
        specs = [SaveSpec(tensor, "", f"{name}-{what}") for what, tensor in pairs]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Any:
        """The operation that replaces the table's entries."""
        keys, values = restored_tensors
        return self._restored(keys, values)


class VariableSaveable(SaveableObject):
    """A ref variable, or a tensor of one, under a key.

    Args:
        var: The variable.
        slice_spec: Which part of a whole it is, or "".
        name: The key.
    """

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Any:
        """The operation that assigns the value."""
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = raw_ops.Reshape(value, restored_shapes[0])
        known = restored_shapes is None and self.op.get_shape().is_fully_defined()
        ref = self.op._ref() if hasattr(self.op, "_ref") else self.op
        return raw_ops.Assign(ref, value, validate_shape=known)


class ResourceVariableSaveable(SaveableObject):
    """A resource variable under a key; arguments as `VariableSaveable`."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self.handle_op = var.op.inputs[0] if isinstance(var, Tensor) else var.handle
        read = var if isinstance(var, Tensor) else var.read_value
        spec = SaveSpec(read, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Any:
        """The operation that assigns the value.

        Raises:
            ValueError: Its static shape does not fit the variable's.
        """
        value = restored_tensors[0]
        if restored_shapes is not None:
            value = raw_ops.Reshape(value, restored_shapes[0])
        self.op.get_shape().assert_is_compatible_with(value.get_shape())
        return raw_ops.AssignVariableOp(self.handle_op, raw_ops.Identity(value))
