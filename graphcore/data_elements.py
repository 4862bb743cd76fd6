"""What tf.data knows of elements: their structure, and functions that are traced over them.

Source: tensorflow/python/data/ops/dataset_ops.py and data/util (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import nest
from .convert import constant, convert_to_tensor
from .default import get_default_graph
from .dtypes import as_dtype, int64, variant
from .function_defs import function_of, trace, unique_function_name
from .op import raw_ops
from .operation import Tensor
from .random_seed import get_seed
from .sparse_tensor import SparseTensor, SparseTensorValue
from .tensor_shape import TensorShape, as_shape


class Element:
    """The structure of a dataset's elements: nested tuples and dicts of dtypes and shapes.

    Lists are tensors here, as in TensorFlow. In the graph a sparse tensor is one variant tensor, which holds
    its parts, and so is a dataset.

    Attributes:
        types: The dtypes; of a dataset variant.
        shapes: The static shapes; of a sparse tensor the dense one.
        kinds: For each leaf in order None for a tensor, `SparseTensor`, or of a dataset its Element.
    """

    def __init__(self, types: Any, shapes: Any, kinds: Sequence[Any] | None = None) -> None:
        self.types = types
        self.shapes = shapes
        self.kinds = [None] * len(nest.flatten(types)) if kinds is None else list(kinds)

    @classmethod
    def of(cls, structure: Any) -> Element:
        """That of tensors, sparse tensors and datasets."""
        leaves = nest.flatten(structure)
        types = [variant if _is_dataset(leaf) else leaf.dtype.base_dtype for leaf in leaves]
        shapes = [TensorShape([]) if _is_dataset(leaf) else leaf.get_shape() for leaf in leaves]
        kinds = [
            leaf._element if _is_dataset(leaf) else SparseTensor if isinstance(leaf, SparseTensor) else None
            for leaf in leaves
        ]
        return cls(nest.pack_sequence_as(structure, types), nest.pack_sequence_as(structure, shapes), kinds)

    @property
    def classes(self) -> Any:
        """The classes of the components, in their structure."""
        return nest.pack_sequence_as(self.types, [_class_of(kind) for kind in self.kinds])

    @property
    def flat_types(self) -> list[Any]:
        """The dtypes of the tensors in the graph, in order."""
        pairs = zip(nest.flatten(self.types), self.kinds)
        return [dtype if kind is None else variant for dtype, kind in pairs]

    @property
    def flat_shapes(self) -> list[TensorShape]:
        """The shapes of the tensors in the graph, in order."""
        pairs = zip(nest.flatten(self.shapes), self.kinds)
        return [TensorShape(None) if kind is SparseTensor else shape for shape, kind in pairs]

    def pack(self, tensors: Sequence[Any]) -> Any:
        """Tensors of the graph as an element."""
        leaves = zip(tensors, self.kinds, nest.flatten(self.types), nest.flatten(self.shapes))
        return nest.pack_sequence_as(self.types, [_unpacked(*leaf) for leaf in leaves])

    def tensors(self, structure: Any) -> list[Any]:
        """An element as tensors of the graph."""
        return [_packed(leaf, raw_ops.SerializeSparse) for leaf in nest.flatten(structure)]

    def batched_tensors(self, structure: Any) -> list[Any]:
        """A batch of elements as tensors of the graph, which can be taken apart along the first axis."""
        return [_packed(leaf, raw_ops.SerializeManySparse) for leaf in nest.flatten(structure)]

    def reshaped(self, change: Callable[[TensorShape], TensorShape]) -> Element:
        """The same structure with other shapes."""
        return Element(self.types, nest.map_structure(change, self.shapes), self.kinds)

    def with_shapes(self, shapes: Sequence[TensorShape]) -> Element:
        """The same structure with those shapes, in order."""
        return Element(self.types, nest.pack_sequence_as(self.types, list(shapes)), self.kinds)

    def apart(self) -> list[Element]:
        """Each component as a structure of its own."""
        leaves = zip(nest.flatten(self.types), nest.flatten(self.shapes), self.kinds)
        return [Element(dtype, shape, [kind]) for dtype, shape, kind in leaves]

    def attrs(self, prefix: str = "output") -> dict[str, Any]:
        """The attributes that say it."""
        return {f"{prefix}_types": self.flat_types, f"{prefix}_shapes": self.flat_shapes}


def _is_dataset(value: Any) -> bool:
    return hasattr(value, "_variant_tensor")


def _class_of(kind: Any) -> type:
    if isinstance(kind, Element):
        from .data_datasets import Dataset

        return Dataset
    return Tensor if kind is None else SparseTensor


def kinds_of(classes: Any) -> list[Any]:
    """The kinds that classes stand for."""
    return [SparseTensor if each is SparseTensor else None for each in nest.flatten(classes)]


def _packed(leaf: Any, serialize: Callable[..., Any]) -> Any:
    if _is_dataset(leaf):
        return leaf._variant_tensor
    if isinstance(leaf, SparseTensor):
        return serialize(leaf.indices, leaf.values, leaf.dense_shape, out_type=variant)
    return leaf


def _unpacked(tensor: Any, kind: Any, dtype: Any, shape: TensorShape) -> Any:
    if kind is None:
        return tensor
    if isinstance(kind, Element):
        from .data_datasets import Dataset

        return Dataset(tensor, kind)
    parts = raw_ops.DeserializeSparse(tensor, dtype=dtype)
    parts.sparse_indices.set_shape([None, shape.ndims])
    parts.sparse_shape.set_shape([shape.ndims])
    return SparseTensor(*parts)


def tensors_of(value: Any, name: str = "component") -> Any:
    """Nested tuples and dicts of tensors out of what converts to tensors; lists are one tensor."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if isinstance(value, SparseTensor) or _is_dataset(value):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[tensors_of(item, name) for item in value])
    if isinstance(value, tuple):
        return tuple(tensors_of(item, name) for item in value)
    if isinstance(value, Mapping):
        return type(value)((key, tensors_of(item, name)) for key, item in value.items())  # type: ignore[call-arg]
    return convert_to_tensor(value, name=name)


def scalar_of(value: Any, dtype: Any, name: str) -> Any:
    """A number as a tensor."""
    return convert_to_tensor(value, dtype, name=name)


def seeds_of(seed: Any) -> tuple[Any, Any]:
    """The two seeds of a dataset; never both 0 where one is given."""
    first, second = get_seed(seed)
    if first == 0 and second == 0:
        second = 2**31 - 1
    return (
        constant(first or 0, dtype=int64, name="seed"),
        constant(second or 0, dtype=int64, name="seed2"),
    )


class MappedFunction:
    """A Python function of elements, traced into the graph's library.

    Attributes:
        call: The NameAttrList message.
        captured: The outside tensors that it uses, its last arguments.
        element: The structure of what it gives.
        dataset: Where that is a dataset, the structure of its elements; else None.
    """

    def __init__(self, function: Callable[..., Any], element: Element, name: str) -> None:
        outer = get_default_graph()
        found: dict[str, Any] = {}

        def flat(*arguments: Any) -> Any:
            packed = element.pack(arguments)
            is_plain_tuple = isinstance(packed, tuple) and not hasattr(packed, "_fields")
            result = function(*packed) if is_plain_tuple else function(packed)
            structure = tensors_of(result)
            made = found["element"] = Element.of(structure)
            if _is_dataset(structure):
                found["dataset"] = structure._element
            return made.tensors(structure)

        graph, arguments, results = trace(flat, element.flat_types, element.flat_shapes, outer)
        results = [graph._from_outside(each, "") if each.graph is not graph else each for each in results]
        self.element: Element = found["element"]
        self.dataset: Any = found.get("dataset")
        self.captured = list(graph.captured)
        definition = function_of(
            unique_function_name(
                outer._functions, f"{name}_{getattr(function, '__name__', 'fn').strip('<>')}"
            ),
            graph.get_operations(),
            [*arguments, *graph.captured.values()],
            results,
            any(op.kind is not None and op.kind.definition.stateful for op in graph.get_operations()),
        )
        outer._functions[definition.signature.name] = definition
        self.call = name_attr_list(definition.signature.name)


def name_attr_list(name: str) -> Any:
    """The message that names a function of the library."""
    from ..formats import protos

    return protos.NameAttrList(name=name)


def common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    """What two shapes have in common."""
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list())])


def shapes_like(types: Any, shapes: Any) -> Any:
    """Shapes in the structure of `types`; each a TensorShape, a list or tuple of numbers, or a tensor."""
    if nest.is_nested(types):
        if isinstance(types, Mapping):
            return type(types)((key, shapes_like(types[key], shapes[key])) for key in types)  # type: ignore[call-arg]
        parts = [shapes_like(one, each) for one, each in zip(types, shapes, strict=True)]
        return type(types)(*parts) if hasattr(types, "_fields") else tuple(parts)
    if isinstance(shapes, Tensor):
        known = get_default_graph().constant_value(shapes)
        shapes = None if known is None else known.tolist()
    if isinstance(shapes, (list, tuple)):
        shapes = [
            None if dim is not None and not isinstance(dim, str) and int(dim) < 0 else dim for dim in shapes
        ]
    return as_shape(shapes)


def leaves_of(value: Any, types: Any) -> list[Any]:
    """The leaves of an element as Python gives it, in the structure of `types`."""
    if not nest.is_nested(types):
        return [value]
    if isinstance(types, Mapping):
        return [leaf for key in sorted(types) for leaf in leaves_of(value[key], types[key])]
    return [leaf for one, each in zip(value, types, strict=True) for leaf in leaves_of(one, each)]


def structure_of(output_types: Any, output_shapes: Any, output_classes: Any = None) -> Element:
    """The structure that dtypes, shapes and classes stand for; without shapes they are unknown."""
    types = nest.map_structure(as_dtype, output_types)
    kinds = None if output_classes is None else kinds_of(output_classes)
    if output_shapes is None:
        return Element(types, nest.map_structure(lambda _: TensorShape(None), types), kinds)
    return Element(types, shapes_like(types, output_shapes), kinds)
