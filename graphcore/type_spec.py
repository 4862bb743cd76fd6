"""`tf.TensorSpec` and kin: what is known of a value before there is one: structure, dtypes, shapes.

Source: tensorflow/python/framework/{type_spec,tensor_spec,sparse_tensor,indexed_slices}.py (r1.15),
    behaviour only.
"""

from __future__ import annotations

from typing import Any

from .dtypes import as_dtype, float32, int64
from .errors import InvalidTypeError, InvalidValueError
from .indexed_slices import IndexedSlices
from .operation import Tensor
from .ops.tensor_array import TensorArray
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape


class TypeSpec:
    """Base of the specs: a value's type, dtype and shape; equal to another of the same kind and parts."""

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape, as far as it is known."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """The dtype."""
        return self._dtype

    @property
    def value_type(self) -> type:
        """The class of the values."""
        raise NotImplementedError

    def _parts(self) -> tuple[Any, ...]:
        return type(self), self._shape.as_tuple(), self._dtype

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or all values of another spec, may be described by this one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return (
            type(other) is type(self)
            and self._dtype == other._dtype
            and self._shape.is_compatible_with(other._shape)
        )

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec that describes what this one and another do, with what both know.

        Raises:
            ValueError: There is none.
        """
        if type(other) is not type(self) or self._dtype != other._dtype:
            raise InvalidValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return type(self)(self._shape.most_specific_compatible_shape(other._shape), self._dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeSpec) and self._parts() == other._parts()

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shape!r}, {self._dtype!r})"


class TensorSpec(TypeSpec):
    """Of a tensor.

    Args:
        shape: The shape; None for any.
        dtype: The dtype.
        name: A name, of an argument for instance.
    """

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        super().__init__(shape, dtype)
        self._name = name

    @property
    def name(self) -> str | None:
        """The name."""
        return self._name

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return Tensor

    def _parts(self) -> tuple[Any, ...]:
        return (*super()._parts(), self._name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The spec of anything that has a shape and a dtype."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor, by default with its operation's name.

        Raises:
            TypeError: It is no tensor.
        """
        if not isinstance(tensor, Tensor):
            raise InvalidTypeError("`tensor` should be a tf.Tensor")
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class SparseTensorSpec(TypeSpec):
    """Of a SparseTensor: `shape` is its dense shape."""

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """That of a SparseTensor."""
        return cls(value.get_shape(), value.dtype)

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return SparseTensor


class IndexedSlicesSpec(TypeSpec):
    """Of IndexedSlices.

    Args:
        shape: The shape of the whole.
        dtype: The dtype of the values.
        indices_dtype: The dtype of the indices.
        dense_shape_dtype: That of the dense shape; None without one.
        indices_shape: The shape of the indices.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        indices_dtype: Any = int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        super().__init__(shape, dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return IndexedSlices

    def _parts(self) -> tuple[Any, ...]:
        own = self._indices_dtype, self._dense_shape_dtype, self._indices_shape.as_tuple()
        return (*super()._parts(), *own)


class TensorArraySpec(TypeSpec):
    """Of a TensorArray.

    Args:
        element_shape: The shape of each element.
        dtype: The dtype of the elements.
        dynamic_size: Whether it may grow.
        infer_shape: Whether all elements have one shape.
    """

    def __init__(
        self,
        element_shape: Any = None,
        dtype: Any = float32,
        dynamic_size: bool = False,
        infer_shape: bool = True,
    ) -> None:
        super().__init__(element_shape, dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return TensorArray

    def _parts(self) -> tuple[Any, ...]:
        return (*super()._parts(), self._dynamic_size, self._infer_shape)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether an array, or all arrays of another spec, may be described by this one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        return super().is_compatible_with(other) and self._dynamic_size == getattr(
            other, "_dynamic_size", None
        )

    def most_specific_compatible_type(self, other: Any) -> TensorArraySpec:
        """The spec that describes what this one and another do.

        Raises:
            ValueError: There is none.
        """
        if not self.is_compatible_with(other):
            raise InvalidValueError("Types are not compatible")
        shape = self._shape.most_specific_compatible_shape(other._shape)
        return TensorArraySpec(
            shape, self._dtype, self._dynamic_size, self._infer_shape and other._infer_shape
        )

    @staticmethod
    def from_value(value: Any) -> TensorArraySpec:
        """That of an array.

        Raises:
            TypeError: It is none.
        """
        if not isinstance(value, TensorArray):
            raise InvalidTypeError(f"Expected value to be a TensorArray, but saw: {type(value)}")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)


def type_spec_from_value(value: Any) -> TypeSpec:
    """The spec of a tensor, SparseTensor, IndexedSlices or TensorArray.

    Raises:
        TypeError: It is none of them.
    """
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, TensorArray):
        return TensorArraySpec.from_value(value)
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.get_shape(), value.dtype)
    if isinstance(value, IndexedSlices):
        whole = None if value.dense_shape is None else value.dense_shape.dtype
        shape = value.values.get_shape()
        return IndexedSlicesSpec(
            None if shape.ndims is None else [None, *shape.as_list()[1:]],
            value.dtype,
            value.indices.dtype,
            whole,
            value.indices.get_shape(),
        )
    raise InvalidTypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")
