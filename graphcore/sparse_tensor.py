"""`tf.SparseTensor`: the non-zero elements of a tensor, and where they are."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import DType, as_dtype, int64
from .errors import InvalidStateError, InvalidTypeError, InvalidValueError
from .shape_inference import Environment, value_as_shape
from .tensor_shape import TensorShape

SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor:
    """Three tensors that together say what a mostly empty tensor holds; can be fetched and fed as one.

    Args:
        indices: int64 of shape (n, rank): where each value is, in row-major order.
        values: The values, of shape (n,).
        dense_shape: int64 of shape (rank,): the shape of the whole.
    """

    # With a dense tensor; installed by ops.sparse_math.
    __mul__: Callable[[SparseTensor, Any], SparseTensor]
    __div__: Callable[[SparseTensor, Any], SparseTensor]
    __truediv__: Callable[[SparseTensor, Any], SparseTensor]

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self._indices = convert_to_tensor(indices, int64, name="indices")
            self._values = convert_to_tensor(values, name="values", as_ref=True)
            self._dense_shape = convert_to_tensor(dense_shape, int64, name="dense_shape")
        rows = self._indices.get_shape().with_rank(2)
        self._values.get_shape().with_rank(1)[0].assert_is_compatible_with(rows[0])
        self._dense_shape.get_shape().with_rank(1)[0].assert_is_compatible_with(rows[1])

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """A SparseTensor of a SparseTensorValue; a SparseTensor as it is.

        Raises:
            TypeError: It is neither.
        """
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, SparseTensorValue):
            raise InvalidTypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(*sparse_tensor_value)

    def _rebuilt(self, values: Any) -> SparseTensor:
        """The same places with other values."""
        return SparseTensor(self._indices, values, self._dense_shape)

    @property
    def indices(self) -> Any:
        """Where the values are."""
        return self._indices

    @property
    def values(self) -> Any:
        """The values."""
        return self._values

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole, as a tensor."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype  # type: ignore[no-any-return]

    @property
    def op(self) -> Any:
        """The operation that makes the values."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph of the three tensors."""
        return self._indices.graph

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole, as far as it is known."""
        return self.get_shape()

    def get_shape(self) -> TensorShape:
        """The shape of the whole, as far as it is known."""
        return TensorShape(value_as_shape(self._dense_shape, Environment()))

    def consumers(self) -> list[Any]:
        """The operations that take one of the three tensors."""
        return list(dict.fromkeys(op for tensor in self._feed_tensors() for op in tensor.consumers()))

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """The SparseTensorValue in the given or default session."""
        values = [tensor.eval(feed_dict, session) for tensor in self._feed_tensors()]
        return SparseTensorValue(*values)

    def _components(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def _with_components(self, parts: list[Any]) -> SparseTensor:
        return SparseTensor(*parts)

    def _component_shapes(self, shape: tuple[int | None, ...] | None) -> list[Any]:
        """The shapes of the components for a shape of the `dense_shape` vector, (rank,)."""
        if shape is not None and len(shape) != 1:
            raise InvalidValueError(
                "The shape invariant of a SparseTensor is the shape of its dense_shape, a vector; "
                f"got {TensorShape(shape)}"
            )
        rank = shape[0] if shape is not None else None
        return [(None, rank), (None,), (rank,)]

    def _fetch_parts(self) -> tuple[list[Any], Any]:
        return self._feed_tensors(), lambda values: SparseTensorValue(*values)

    def _feed_tensors(self) -> list[Any]:
        return [self._indices, self._values, self._dense_shape]

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices}, values={self._values}, dense_shape={self._dense_shape})"
        )

    __repr__ = __str__


def convert_to_tensor_or_sparse_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A SparseTensor as it is, a SparseTensorValue as a SparseTensor, and anything else as a tensor.

    Raises:
        RuntimeError: The SparseTensor has another dtype than `dtype`.
    """
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype, name=name)
    if dtype is not None and not as_dtype(dtype).is_compatible_with(value.dtype):
        raise InvalidStateError(
            f"Sparse dtype: requested = {as_dtype(dtype).name}, actual = {value.dtype.name}"
        )
    return value
