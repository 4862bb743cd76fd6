"""What describes a dataset's elements: specs, and the older names of them in `tf.data.experimental`.

Source: tensorflow/python/data/util/structure.py and data/ops (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from . import nest
from .data_datasets import Dataset
from .data_elements import Element
from .data_iterators import Iterator
from .data_transformations import Optional
from .dtypes import variant
from .errors import InvalidTypeError, InvalidValueError
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape
from .type_spec import SparseTensorSpec, TensorArraySpec, TensorSpec, TypeSpec


class _Nested(TypeSpec):
    """A spec of something that holds values of a structure of specs."""

    _inner: Any

    def _parts(self) -> tuple[Any, ...]:
        return type(self), self._shape.as_tuple(), repr(self._inner)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a value, or all values of another spec, may be described by this one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else type(self).from_value(spec_or_value)
        if type(other) is not type(self) or not self._shape.is_compatible_with(other._shape):
            return False
        try:
            nest.assert_same_structure(self._inner, other._inner)
        except (InvalidTypeError, InvalidValueError):
            return False
        pairs = zip(nest.flatten(self._inner), nest.flatten(other._inner))
        return all(one.is_compatible_with(another) for one, another in pairs)

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The spec that describes what this one and another do.

        Raises:
            ValueError: There is none.
        """
        if not self.is_compatible_with(other):
            raise InvalidValueError(f"No TypeSpec is compatible with both {self} and {other}")
        pairs = zip(nest.flatten(self._inner), nest.flatten(other._inner))
        both = [one.most_specific_compatible_type(another) for one, another in pairs]
        return type(self)(nest.pack_sequence_as(self._inner, both))

    @staticmethod
    def from_value(value: Any) -> Any:
        """The spec of a value."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inner!r}, {self._shape})"


class DatasetSpec(_Nested):
    """Of a dataset.

    Args:
        element_spec: The specs of an element's components, in their structure.
        dataset_shape: The shape of a tensor of datasets.
    """

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(dataset_shape, variant)
        self._inner = element_spec

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return Dataset

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """That of a dataset."""
        return DatasetSpec(value.element_spec)


class OptionalSpec(_Nested):
    """Of a `tf.data.experimental.Optional`.

    Args:
        value_structure: The specs of its value, in their structure.
    """

    def __init__(self, value_structure: Any) -> None:
        super().__init__((), variant)
        self._inner = value_structure

    @property
    def value_type(self) -> type:
        """The class of the values."""
        return Optional

    @staticmethod
    def from_value(value: Any) -> OptionalSpec:
        """That of an Optional."""
        return OptionalSpec(spec_of(value._structure))


def spec_of(element: Element) -> Any:
    """The structure of elements as specs."""
    leaves = zip(element.kinds, nest.flatten(element.types), nest.flatten(element.shapes))
    specs: list[TypeSpec] = []
    for kind, dtype, shape in leaves:
        if isinstance(kind, Element):
            specs.append(DatasetSpec(spec_of(kind)))
        else:
            specs.append((SparseTensorSpec if kind is SparseTensor else TensorSpec)(shape, dtype))
    return nest.pack_sequence_as(element.types, specs)


def element_of(spec: Any) -> Element:
    """Specs as the structure of elements.

    Raises:
        TypeError: A component is none that elements may have.
    """
    types, shapes, kinds = [], [], []
    for leaf in nest.flatten(spec):
        if not isinstance(leaf, (TensorSpec, SparseTensorSpec, DatasetSpec)):
            raise InvalidTypeError(
                f"An element's components are described by TensorSpec, SparseTensorSpec and DatasetSpec; "
                f"got {leaf!r}"
            )
        is_dataset = isinstance(leaf, DatasetSpec)
        types.append(leaf.dtype)
        shapes.append(TensorShape([]) if is_dataset else leaf.shape)
        kinds.append(
            element_of(leaf._inner)
            if isinstance(leaf, DatasetSpec)
            else SparseTensor
            if isinstance(leaf, SparseTensorSpec)
            else None
        )
    return Element(nest.pack_sequence_as(spec, types), nest.pack_sequence_as(spec, shapes), kinds)


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of an element's components, in their structure.

    Raises:
        TypeError: It is neither a dataset nor an iterator.
    """
    if not isinstance(dataset_or_iterator, (Dataset, Iterator)):
        raise InvalidTypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(dataset_or_iterator)}."
        )
    return spec_of(dataset_or_iterator._element)


def from_variant(variant: Any, structure: Any) -> Dataset:
    """The dataset that a variant tensor (of `to_variant`) holds, its elements of that structure."""
    return Dataset(variant, element_of(structure))


def TensorStructure(dtype: Any, shape: Any) -> TensorSpec:
    """Older name of `tf.TensorSpec`."""
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype: Any, shape: Any) -> SparseTensorSpec:
    """Older name of `tf.SparseTensorSpec`."""
    return SparseTensorSpec(shape, dtype)


def TensorArrayStructure(
    dtype: Any, element_shape: Any, dynamic_size: bool, infer_shape: bool
) -> TensorArraySpec:
    """Older name of `tf.TensorArraySpec`."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
