"""The structure of `Session.run`'s fetches: which elements to compute, and how to give them back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import InvalidTypeError, InvalidValueError, MissingNameError
from .graph import Graph
from .operation import Operation, Tensor

Build = Callable[[Sequence[Any]], Any]

_expansions: list[tuple[Any, Any, Any, Any]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Any,
    feed_function: Any = None,
    feed_function_for_partial_run: Any = None,
) -> None:
    """Teaches `Session.run` to fetch and feed objects of `tensor_type`.

    Args:
        tensor_type: The type.
        fetch_function: From an object to (list of elements, function from their values to the result).
        feed_function: From (object, value) to a list of (tensor, value).
        feed_function_for_partial_run: From an object to the list of its tensors.

    Raises:
        ValueError: The type is registered already.
    """
    if any(issubclass(tensor_type, row[0]) for row in _expansions):
        raise InvalidValueError(f"{tensor_type} has already been registered so ignore it.")
    _expansions.insert(0, (tensor_type, fetch_function, feed_function, feed_function_for_partial_run))


def conversion_of(value: Any) -> tuple[Any, Any, Any, Any] | None:
    """The row of `register_session_run_conversion_functions` for a value's type, if there is one."""
    return next((row for row in _expansions if isinstance(value, row[0])), None)


class FetchMapper:
    """The distinct elements of a fetch structure and how to rebuild it from their values.

    Attributes:
        elements: Tensors and operations, each once.
        is_single: Whether the structure is just one element.
    """

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self._graph = graph
        self._index: dict[Tensor | Operation, int] = {}
        self._build = self._visit(fetches)
        self.elements: list[Tensor | Operation] = list(self._index)
        self.is_single = (
            len(self.elements) == 1
            and not isinstance(fetches, (list, tuple, dict))
            and conversion_of(fetches) is None
            and not hasattr(fetches, "_fetch_parts")
            and not hasattr(type(fetches), "__attrs_attrs__")
        )

    def build(self, values: Sequence[Any]) -> Any:
        """The structure with `values` in the places of its elements."""
        return self._build(values)

    def _visit(self, fetch: Any) -> Build:
        if fetch is None:
            raise InvalidTypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if isinstance(fetch, dict):
            parts = {key: self._visit(value) for key, value in fetch.items()}
            kind = type(fetch)
            return lambda values: kind([(key, part(values)) for key, part in parts.items()])
        if isinstance(fetch, tuple) and hasattr(fetch, "_fields") and not hasattr(fetch, "_fetch_parts"):
            fields = [self._visit(item) for item in fetch]
            make = type(fetch)
            return lambda values: make(*[part(values) for part in fields])
        if isinstance(fetch, (list, tuple)):
            items = [self._visit(item) for item in fetch]
            if isinstance(fetch, tuple):
                return lambda values: tuple([part(values) for part in items])
            return lambda values: [part(values) for part in items]
        if hasattr(fetch, "_fetch_parts"):  # SparseTensor, IndexedSlices
            elements, make = fetch._fetch_parts()
            parts_ = [self._visit(item) for item in elements]
            return lambda values: make([part(values) for part in parts_])
        found = conversion_of(fetch)
        if found is not None:
            elements, make = found[1](fetch)
            parts_ = [self._visit(item) for item in elements]
            return lambda values: make([part(values) for part in parts_])
        if hasattr(type(fetch), "__attrs_attrs__"):  # a class of the attrs library
            names = [attribute.name for attribute in type(fetch).__attrs_attrs__]
            own = [self._visit(getattr(fetch, name)) for name in names]
            return lambda values: type(fetch)(*[part(values) for part in own])
        return self._element(fetch)

    def _element(self, fetch: Any) -> Build:
        try:
            element = self._graph.as_graph_element(fetch)
        except TypeError as error:
            raise InvalidTypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. "
                f"({error})"
            ) from error
        except MissingNameError as error:
            raise InvalidValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})", **error.fields
            ) from error
        except ValueError as error:
            raise InvalidValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from error
        if not self._graph.is_fetchable(element):
            raise InvalidValueError(
                f"Operation '{getattr(element, 'op', element).name}' has been marked as not fetchable."
            )
        index = self._index.setdefault(element, len(self._index))
        return lambda values: values[index]
