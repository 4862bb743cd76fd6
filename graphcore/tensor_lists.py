"""The lists of tensors behind TensorList ops: values, which every op leaves as they are.

Source: the rules and error texts are those of tensorflow/core/kernels/list_kernels.h and .cc (r1.15).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InvalidArgumentError, UnimplementedError
from .shapes import Shape, format_shape, merge


class TensorList:
    """A list of tensors of one dtype; elements may be missing, which stand for zeros.

    Args:
        element_dtype: The element type; object for strings and variants.
        element_shape: What is known of the elements' shapes.
        elements: The elements; None for a missing one.
        max_num_elements: How many there may be, -1 for any number.
    """

    __slots__ = ("element_dtype", "element_shape", "elements", "max_num_elements")

    shape: tuple[int, ...] = ()  # a scalar variant
    ndim = 0

    def __init__(
        self,
        element_dtype: np.dtype[Any],
        element_shape: Shape,
        elements: Sequence[np.ndarray | None] = (),
        max_num_elements: int = -1,
    ) -> None:
        self.element_dtype = element_dtype
        self.element_shape = element_shape
        self.elements = list(elements)
        self.max_num_elements = max_num_elements

    def __len__(self) -> int:
        return len(self.elements)

    def __repr__(self) -> str:
        return (
            f"TensorList({self.element_dtype.name}, {format_shape(self.element_shape)}, {len(self)} elements)"
        )

    def replaced(self, elements: Sequence[np.ndarray | None]) -> TensorList:
        """The same list with other elements."""
        return TensorList(self.element_dtype, self.element_shape, elements, self.max_num_elements)

    def check_dtype(self, dtype: Any) -> None:
        """Raises InvalidArgumentError unless the elements are of `dtype`."""
        if np.dtype(dtype) != self.element_dtype:
            raise InvalidArgumentError(
                f"Invalid data types; op elements {np.dtype(dtype).name} but list elements "
                f"{self.element_dtype.name}"
            )

    def check_element(self, value: np.ndarray, doing: str) -> None:
        """Raises InvalidArgumentError where `value` cannot be an element."""
        dtype = value.dtype if isinstance(value, np.ndarray | np.generic) else np.dtype(object)
        if dtype != self.element_dtype:
            raise InvalidArgumentError(
                f"Invalid data types; list elements {self.element_dtype.name} but tried to {doing} "
                f"{dtype.name}"
            )
        shape = getattr(value, "shape", ())  # other variants are scalars
        if not is_compatible(self.element_shape, shape):
            raise InvalidArgumentError(
                f"Tried to {doing} a tensor with incompatible shape to a list. Op element shape: "
                f"{format_shape(shape)} list shape: {format_shape(self.element_shape)}"
            )

    def shape_of_missing(self, given: Shape, what: str) -> tuple[int, ...]:
        """The shape of elements, of which none may be there: what the op, the list and the others say.

        Args:
            given: The op's `element_shape` input.
            what: The error's first words.

        Raises:
            InvalidArgumentError: They contradict each other, or do not tell the whole shape.
        """
        shape = _merged(given, self.element_shape)
        if shape is None or None in shape:
            for element in self.elements:
                if element is not None:
                    shape = _merged(shape, element.shape)
        if shape is None or None in shape:
            raise InvalidArgumentError(f"{what}: {format_shape(shape)}")
        return tuple(dim for dim in shape if dim is not None)

    def stacked(self, elements: Sequence[np.ndarray | None], shape: tuple[int, ...]) -> np.ndarray:
        """Elements along a new first axis, zeros for the missing ones.

        Raises:
            InvalidArgumentError: An element has another shape.
        """
        result = zeros((len(elements), *shape), self.element_dtype)
        for index, element in enumerate(elements):
            if element is None:
                continue
            if element.shape != shape:
                _merged(shape, element.shape)
            result[index] = element
        return result

    def __add__(self, other: TensorList) -> TensorList:
        """The sums of the elements, for gradients."""
        if self.element_dtype != other.element_dtype:
            raise InvalidArgumentError(
                "Trying to add two lists of tensors of different dtypes. One is "
                f"{self.element_dtype.name} and the other is {other.element_dtype.name}"
            )
        if len(self) != len(other):
            raise InvalidArgumentError(
                "Trying to add two lists of tensors with different lengths. One is "
                f"{len(self)} and the other is {len(other)}"
            )
        pairs = zip(self.elements, other.elements)
        return self.replaced([b if a is None else a if b is None else a + b for a, b in pairs])

    def zeros_like(self) -> TensorList:
        """A list of zeros of the same shapes."""
        return self.replaced(
            [None if each is None else zeros(each.shape, self.element_dtype) for each in self.elements]
        )


def as_list(value: Any) -> TensorList:
    """A variant that must be a list.

    Raises:
        InvalidArgumentError: It is something else.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if not isinstance(value, TensorList):
        if np.ndim(value):
            raise InvalidArgumentError(f"Input list must be a scalar saw: {list(np.shape(value))}")
        raise InvalidArgumentError(f"Input handle is not a list. Saw: '{value!r}'")
    return value


def zeros(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """Zeros; empty strings where the dtype is string."""
    return np.full(shape, b"", object) if dtype.hasobject else np.zeros(shape, dtype)


def is_compatible(a: Shape, b: Shape) -> bool:
    """Whether two partial shapes may be of one tensor."""
    try:
        merge(a, b)
    except ValueError:
        return False
    return True


def _merged(a: Shape, b: Shape) -> Shape:
    try:
        return merge(a, b)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes during merge: {format_shape(a)} vs. {format_shape(b)}"
        ) from None


def merge_element_shapes(a: Shape, b: Shape) -> Shape:
    """What both shapes say.

    Raises:
        InvalidArgumentError: They contradict each other.
    """
    return _merged(a, b)


def no_missing(index: int, leading_dims: np.ndarray | None) -> int:
    """How many rows a missing element of a list that is joined has.

    Raises:
        InvalidArgumentError: Nothing says so.
    """
    if leading_dims is None:
        raise UnimplementedError(
            "Concating lists with uninitialized tensors is not supported in this version of "
            "TensorListConcat. Consider updating your GraphDef to run the newer version."
        )
    if index >= len(leading_dims):
        raise InvalidArgumentError(
            f"List contains uninitialized tensor at index {index} but leading_dims has only "
            f"{len(leading_dims)} elements."
        )
    return int(leading_dims[index])
