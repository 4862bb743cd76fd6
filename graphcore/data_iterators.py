"""Iterators over datasets, as `tf.data` has them.

Source: tensorflow/python/data/ops/iterator_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .data_elements import Element, kinds_of, name_attr_list, structure_of
from .default import get_default_graph
from .dtypes import string
from .errors import InvalidTypeError, InvalidValueError
from .function_defs import function_of, unique_function_name
from .op import raw_ops
from .operation import Operation


class Iterator:
    """Where a session stands in a dataset.

    Args:
        iterator_resource: The resource.
        initializer: The operation that starts it, or None.
        output_types: The elements' dtypes.
        output_shapes: Their static shapes.
        output_classes: Their classes: `SparseTensor` for sparse ones; tensors by default.
    """

    def __init__(
        self,
        iterator_resource: Any,
        initializer: Any,
        output_types: Any,
        output_shapes: Any,
        output_classes: Any = None,
    ) -> None:
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        kinds = None if output_classes is None else kinds_of(output_classes)
        self._element = Element(output_types, output_shapes, kinds)
        self._string_handle: Any = None

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator that `make_initializer` starts on any dataset of that structure."""
        element = structure_of(output_types, output_shapes, output_classes)
        resource = raw_ops.IteratorV2(
            container=b"", shared_name=(shared_name or "").encode(), **element.attrs()
        )
        return _iterator(resource, None, element)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """The iterator that a string stands for, which a run feeds."""
        element = structure_of(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, string)
        resource = raw_ops.IteratorFromStringHandleV2(handle, **element.attrs())
        return _iterator(resource, None, element)

    @property
    def initializer(self) -> Operation:
        """The operation that starts the iterator.

        Raises:
            ValueError: It has none.
        """
        if self._initializer is None:
            raise InvalidValueError("Iterator does not have an initializer.")
        return self._initializer  # type: ignore[no-any-return]

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that starts the iterator on `dataset`.

        Raises:
            TypeError: The dataset has another structure.
        """
        for wanted, found, what in (
            (self._element.flat_types, dataset._element.flat_types, "types"),
            (self._element.flat_shapes, dataset._element.flat_shapes, "shapes"),
        ):
            fits = len(wanted) == len(found) and all(
                a == b if what == "types" else a.is_compatible_with(b) for a, b in zip(wanted, found)
            )
            if not fits:
                compatible = " compatible with" if what == "shapes" else ""
                own, given = (getattr(each, f"output_{what}") for each in (self, dataset))
                raise InvalidTypeError(
                    f"Expected output {what}{compatible} {own!r} but got dataset with output {what} "
                    f"{given!r}."
                )
        made: Operation = raw_ops.MakeIterator(dataset._variant_tensor, self._iterator_resource, name=name)
        return made

    def get_next(self, name: str | None = None) -> Any:
        """The next element; running it past the last one is an OutOfRangeError."""
        tensors = raw_ops.IteratorGetNext(self._iterator_resource, name=name, **self._element.attrs())
        return self._element.pack(tensors)

    def string_handle(self, name: str | None = None) -> Any:
        """A string tensor that stands for this iterator in its session."""
        if name is not None or self._string_handle is None:
            made = raw_ops.IteratorToStringHandle(self._iterator_resource, name=name)
            if name is not None:
                return made
            self._string_handle = made
        return self._string_handle

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components."""
        from .data_structures import spec_of

        return spec_of(self._element)

    @property
    def output_types(self) -> Any:
        """The dtypes of an element's components."""
        return self._element.types

    @property
    def output_shapes(self) -> Any:
        """The static shapes of an element's components."""
        return self._element.shapes

    @property
    def output_classes(self) -> Any:
        """The classes of an element's components."""
        return self._element.classes


def _iterator(resource: Any, initializer: Any, element: Element) -> Iterator:
    """An iterator over elements of a structure."""
    made = Iterator(resource, initializer, element.types, element.shapes)
    made._element = element
    return made


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    """An iterator that starts anew whenever its `initializer` runs."""
    element = dataset._element
    resource = raw_ops.IteratorV2(container=b"", shared_name=(shared_name or "").encode(), **element.attrs())
    start = raw_ops.MakeIterator(dataset._variant_tensor, resource)
    return _iterator(resource, start, element)


def make_one_shot_iterator(dataset: Any) -> Iterator:
    """An iterator that goes through the dataset once and needs no initialization.

    Raises:
        ValueError: The dataset depends on a placeholder or a variable.
    """
    graph = get_default_graph()
    needed = _ancestors(dataset._variant_tensor.op)
    for operation in needed:
        kind = operation.kind
        if operation.type.startswith("Placeholder"):
            problem = f"Cannot capture a placeholder (name:{operation.name}, type:{operation.type}) by value."
        elif kind is None or (kind.definition.stateful and "Dataset" not in operation.type):
            problem = (
                f"Cannot capture a stateful node (name:{operation.name}, type:{operation.type}) by value."
            )
        else:
            continue
        raise InvalidValueError(
            f"Failed to create a one-shot iterator for a dataset. `{problem}` Use "
            "`Dataset.make_initializable_iterator()` for what depends on state that changes."
        )
    name = unique_function_name(graph._functions, "_make_dataset")
    graph._functions[name] = function_of(name, needed, [], [dataset._variant_tensor], True)
    element = dataset._element
    resource = raw_ops.OneShotIterator(dataset_factory=name_attr_list(name), **element.attrs())
    return _iterator(resource, None, element)


def _ancestors(operation: Operation) -> list[Operation]:
    """All that an operation needs, in the order in which it was made."""
    found: set[Operation] = set()
    stack = [operation]
    while stack:
        current = stack.pop()
        if current not in found:
            found.add(current)
            stack.extend(tensor.op for tensor in current._inputs)
            stack.extend(current._control_inputs)
    return sorted(found, key=lambda each: each._id)
