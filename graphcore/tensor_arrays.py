"""The arrays of tensors behind TensorArray ops: they live as long as a run.

Source: the rules and error texts are those of tensorflow/core/kernels/tensor_array.h and .cc (r1.15).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnimplementedError
from .shapes import Shape, format_shape, merge

_EMPTY: Any = object()
_CLEARED: Any = object()


class TensorArray:
    """A list of tensors, each written once and, by default, read once.

    Args:
        name: For messages.
        dtype: The element type.
        size: Number of elements.
        element_shape: What is known of the elements' shapes.
        dynamic: Whether writing past the end lets it grow.
        clear_after_read: Whether a read forgets the element.
        identical: Whether all elements have one shape.
        is_gradient: Whether writes to one element add up, and elements never written are zeros.
    """

    def __init__(
        self,
        name: str,
        dtype: np.dtype[Any],
        size: int,
        element_shape: Shape,
        dynamic: bool,
        clear_after_read: bool,
        identical: bool,
        is_gradient: bool = False,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.element_shape = element_shape
        self.dynamic = dynamic
        self.clear_after_read = clear_after_read
        self.identical = identical
        self.is_gradient = is_gradient
        self.elements: list[Any] = [_EMPTY] * size
        self.shapes: list[Shape] = [None] * size
        self.was_read = [False] * size
        self.gradients: dict[str, TensorArray] = {}

    def __len__(self) -> int:
        return len(self.elements)

    def gradient(self, source: str, prepend: Sequence[int] = ()) -> TensorArray:
        """The array of gradients for one call of `tf.gradients`, made at first use; ends the growing."""
        if source not in self.gradients:
            self.dynamic = False
            shape = None if self.element_shape is None else (*prepend, *self.element_shape)
            made = TensorArray(
                f"{self.name}@{source}", self.dtype, len(self), shape, False, True, self.identical, True
            )
            made.shapes = [None if each is None else (*prepend, *each) for each in self.shapes]
            self.gradients[source] = made
        return self.gradients[source]

    def _error(self, text: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"TensorArray {self.name}: {text}", tensor_array=self.name)

    def grow(self, size: int) -> None:
        """Makes room for `size` elements, where it may grow."""
        missing = size - len(self)
        if missing > 0:
            self.elements += [_EMPTY] * missing
            self.shapes += [None] * missing
            self.was_read += [False] * missing

    def write(self, index: int, value: np.ndarray) -> None:
        """Sets (in an array of gradients: adds to) an element.

        Raises:
            InvalidArgumentError: The index lies outside, the element was written or read already, or
                its shape or dtype does not fit.
        """
        if index < 0 or (index >= len(self) and not self.dynamic):
            raise self._error(
                f"Tried to write to index {index} but array is not resizeable and size is: {len(self)}"
            )
        self.grow(index + 1)
        if value.dtype != self.dtype:
            raise self._error(
                f"Could not write to TensorArray index {index} because the value dtype is "
                f"{value.dtype.name} but "
                f"TensorArray dtype is {self.dtype.name}."
            )
        try:
            shape = merge(self.element_shape, value.shape)
        except ValueError:
            raise self._error(
                f"Could not write to TensorArray index {index} because the value shape is "
                f"{format_shape(value.shape)} which is incompatible with the TensorArray's inferred element "
                f"shape: {format_shape(self.element_shape)} (consider setting infer_shape=False)."
            ) from None
        if self.identical and self.element_shape != shape:
            self.element_shape = shape
        current = self.elements[index]
        if self.was_read[index]:
            raise self._error(
                f"Could not write to TensorArray index {index} because it has already been read."
            )
        if current is _EMPTY:
            self.elements[index] = value
        elif not self.is_gradient:
            raise self._error(
                f"Could not write to TensorArray index {index} because it has already been written to."
            )
        elif current.shape != value.shape:
            raise self._error(
                f"Could not aggregate to TensorArray index {index} because the existing shape is "
                f"{format_shape(current.shape)} but the new input shape is {format_shape(value.shape)}."
            )
        else:
            self.elements[index] = current + value
        self.shapes[index] = value.shape

    def read(self, index: int) -> np.ndarray:
        """An element; zeros where none was written and the shape is known.

        Raises:
            InvalidArgumentError: The index lies outside, or the element is cleared or of unknown shape.
        """
        if not 0 <= index < len(self):
            raise self._error(f"Tried to read from index {index} but array size is: {len(self)}")
        value = self.elements[index]
        if value is _CLEARED:
            raise self._error(
                f"Could not read index {index} twice because it was cleared after a previous read "
                "(perhaps try "
                "setting clear_after_read = false?)."
            )
        if value is _EMPTY:
            shape = self.shapes[index] if self.shapes[index] is not None else self.element_shape
            if shape is None or None in shape:
                raise self._error(
                    f"Could not read from TensorArray index {index}.  Furthermore, the element shape is "
                    "not fully "
                    f"defined: {format_shape(shape)}.  It is possible you are working with a resizeable "
                    "TensorArray and stop_gradients is not allowing the gradients to be written.  If "
                    "you set the "
                    "full element_shape property on the forward TensorArray, the proper all-zeros "
                    "tensor will be "
                    "returned instead of incurring this error."
                )
            value = np.zeros([dim for dim in shape if dim is not None], self.dtype)
        if self.clear_after_read:
            self.elements[index] = _CLEARED
        self.was_read[index] = True
        array: np.ndarray = value
        return array

    def gather(self, indices: Sequence[int], element_shape: Shape) -> np.ndarray:
        """The elements of the given indices, stacked.

        Raises:
            InvalidArgumentError: There are none and the shape is unknown, or their shapes differ.
        """
        if not indices:
            shape = merge(self.element_shape, element_shape)
            if shape is None or None in shape:
                raise UnimplementedError(
                    f"TensorArray {self.name} has size zero, but element shape {format_shape(shape)} is "
                    "not fully "
                    "defined. Currently only static shapes are supported when packing zero-size TensorArrays."
                )
            return np.zeros((0, *[dim for dim in shape if dim is not None]), self.dtype)
        values = [self.read(index) for index in indices]
        for position, value in enumerate(values):
            if value.shape != values[0].shape:
                raise self._error(
                    "TensorArray has inconsistent shapes.  Index 0 has shape: "
                    f"{format_shape(values[0].shape)} but "
                    f"index {position} has shape: {format_shape(value.shape)}"
                )
        return np.stack(values)

    def scatter(self, indices: Sequence[int], value: np.ndarray) -> None:
        """Writes the rows of `value` to the given indices.

        Raises:
            InvalidArgumentError: Their number differs, or an index lies outside.
        """
        if value.ndim == 0 or len(indices) != value.shape[0]:
            rows = value.shape[0] if value.ndim else 0
            raise self._error(f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {rows}")
        largest = max(indices, default=-1)
        if largest >= len(self) and not self.dynamic:
            raise self._error(f"Max scatter index must be < array size ({largest} vs. {len(self)})")
        for index, row in zip(indices, value):
            self.write(index, np.asarray(row, self.dtype))

    def close(self) -> None:
        """Forgets all elements."""
        self.elements = [_CLEARED] * len(self)
        self.gradients.clear()
