"""What a Saver saves that is no variable: tensors under keys, and the operation that puts values back.

Source: tensorflow/python/training/saving/saveable_object.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


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
