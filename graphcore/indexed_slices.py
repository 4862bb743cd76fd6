"""`tf.IndexedSlices`: a tensor that is zero outside some rows, as gradients of look-ups are."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from .convert import register_tensor_conversion_function
from .errors import InvalidValueError
from .op import raw_ops

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class IndexedSlices:
    """Rows of a larger tensor: `dense[indices[i]] += values[i]`.

    Args:
        values: A tensor of shape (n, d1, d2, ...).
        indices: An integer tensor of shape (n,).
        dense_shape: The shape of the whole tensor, or None.
    """

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """Which rows they are."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole tensor, or None."""
        return self._dense_shape

    @property
    def dtype(self) -> Any:
        """The dtype of the rows."""
        return self._values.dtype

    @property
    def op(self) -> Any:
        """The operation that makes the rows."""
        return self._values.op

    @property
    def name(self) -> str:
        """The name of the rows' tensor."""
        return str(self._values.name)

    @property
    def device(self) -> str:
        """The device of the rows' operation."""
        return str(self._values.device)

    @property
    def graph(self) -> Any:
        """The graph of the rows."""
        return self._values.graph

    def consumers(self) -> list[Any]:
        """The operations that take one of the tensors as an input."""
        return list(dict.fromkeys(op for part in self._parts() for op in part.consumers()))

    def _rebuilt(self, values: Any) -> IndexedSlices:
        """The same rows with other values."""
        return IndexedSlices(values, self._indices, self._dense_shape)

    def _parts(self) -> list[Any]:
        return [part for part in (self._values, self._indices, self._dense_shape) if part is not None]

    _components = _parts

    def _with_components(self, parts: list[Any]) -> IndexedSlices:
        return IndexedSlices(*parts)

    def _component_shapes(self, shape: tuple[int | None, ...] | None) -> list[Any]:
        """The shapes of the components for a shape of the values."""
        rest: list[Any] = [None, (None,)] if shape is None else [(len(shape),), shape[:1]]
        return [shape, rest[1], *([] if self._dense_shape is None else rest[:1])]

    def _fetch_parts(self) -> tuple[list[Any], Any]:
        def build(values: list[Any]) -> IndexedSlicesValue:
            return IndexedSlicesValue(*values, *([None] * (3 - len(values))))

        return self._parts(), build

    def _feed_tensors(self) -> list[Any]:
        return self._parts()

    def __neg__(self) -> IndexedSlices:
        return self._rebuilt(-self._values)

    def __str__(self) -> str:
        shape = f", dense_shape={self._dense_shape}" if self._dense_shape is not None else ""
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    __repr__ = __str__


def _to_tensor(value: IndexedSlices, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise InvalidValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {value.dtype.name}"
        )
    if value.dense_shape is None:
        raise InvalidValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    rows = raw_ops.StridedSlice(value.dense_shape, [0], [1], [1], shrink_axis_mask=1)
    return raw_ops.UnsortedSegmentSum(value.values, value.indices, rows, name=name)


register_tensor_conversion_function(IndexedSlices, _to_tensor)
