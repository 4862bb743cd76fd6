"""`tf.TensorShape` and `tf.Dimension`: TensorFlow 1's objects around a partial shape."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..formats import protos
from .errors import InvalidTypeError, InvalidValueError
from .shapes import Shape, broadcast


class Dimension:
    """One dimension of a TensorShape; `value` is an int, or None where unknown.

    Arithmetic with an unknown dimension gives an unknown one; comparisons with it give None.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        if value is None:
            self.value: int | None = None
            return
        if isinstance(value, Dimension):
            self.value = value.value
            return
        try:
            self.value = operator.index(value)
        except TypeError as error:
            if not (isinstance(value, (str, bytes, float)) and float(value) == int(value)):
                raise InvalidTypeError(
                    f"Dimension value must be an integer or None, not {value!r}"
                ) from error
            self.value = int(value)
        if self.value < 0:
            raise InvalidValueError(f"Dimension {self.value} must be >= 0")

    def __repr__(self) -> str:
        return f"Dimension({self.value!r})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)

    def __int__(self) -> int:
        return self.value  # type: ignore[return-value]

    __index__ = __int__

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both could be the same number."""
        other = as_dimension(other)
        return self.value is None or other.value is None or self.value == other.value

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises InvalidValueError (a ValueError) unless compatible."""
        if not self.is_compatible_with(other):
            raise InvalidValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The dimension known from either; ValueError where they differ."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other.value if self.value is None else self.value)

    def _combine(self, other: Any, function: Callable[[int, int], int]) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.value is None or other.value is None:
            return Dimension(None)
        return Dimension(function(self.value, other.value))

    def _compare(self, other: Any, function: Callable[[int, int], bool]) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.value is None or other.value is None:
            return None
        return function(self.value, other.value)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __add__(self, other: Any) -> Any:
        return self._combine(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return as_dimension(other)._combine(self, operator.sub)

    def __mul__(self, other: Any) -> Any:
        return self._combine(other, operator.mul)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._combine(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return as_dimension(other)._combine(self, operator.floordiv)

    __div__ = __floordiv__

    def __truediv__(self, other: Any) -> Any:
        raise InvalidTypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // "
            "instead"
        )

    def __rtruediv__(self, other: Any) -> Any:
        raise InvalidTypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // "
            "instead"
        )

    def __mod__(self, other: Any) -> Any:
        return self._combine(other, operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return as_dimension(other)._combine(self, operator.mod)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self.value,)


def as_dimension(value: Any) -> Dimension:
    """`value` as a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: Any) -> Any:
    """The int of a Dimension; anything else unchanged."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Dimension `index` of a shape; an unknown one where the rank is unknown."""
    if shape.ndims is None:
        return Dimension(None)
    found: Dimension = shape.dims[index]  # type: ignore[index]
    return found


class TensorShape:
    """The static shape of a tensor: unknown, of known rank with unknown dimensions, or complete.

    Args:
        dims: None for unknown rank, an iterable of dimensions, a TensorShapeProto, or an int for a
            vector of that length.
    """

    __slots__ = ("_shape",)

    def __init__(self, dims: Any) -> None:
        self._shape: Shape
        if dims is None:
            self._shape = None
        elif isinstance(dims, TensorShape):
            self._shape = dims._shape
        elif hasattr(dims, "unknown_rank"):
            self._shape = (
                None if dims.unknown_rank else tuple(d.size if d.size >= 0 else None for d in dims.dim)
            )
        elif isinstance(dims, (str, bytes)):
            raise InvalidTypeError(f"A shape cannot be made of the text {dims!r}")
        else:
            try:
                iterator = iter(dims)
            except TypeError:
                iterator = iter((dims,))
            self._shape = tuple(as_dimension(dim).value for dim in iterator)

    @property
    def dims(self) -> list[Dimension] | None:
        """The dimensions as a list of Dimension, or None where the rank is unknown."""
        return None if self._shape is None else [Dimension(dim) for dim in self._shape]

    @property
    def ndims(self) -> int | None:
        """The rank, or None."""
        return None if self._shape is None else len(self._shape)

    rank = ndims

    def as_list(self) -> list[int | None]:
        """The dimensions as ints and Nones.

        Raises:
            ValueError: The rank is unknown.
        """
        if self._shape is None:
            raise InvalidValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._shape)

    def as_tuple(self) -> Shape:
        """The plain form that shape rules use: a tuple, or None for unknown rank."""
        return self._shape

    def as_proto(self) -> Any:
        """The shape as a TensorShapeProto."""
        proto = protos.TensorShapeProto()
        if self._shape is None:
            proto.unknown_rank = True
        else:
            for dim in self._shape:
                proto.dim.add().size = -1 if dim is None else dim
        return proto

    def num_elements(self) -> int | None:
        """The number of elements, or None where it is not known."""
        if not self.is_fully_defined():
            return None
        total = 1
        for dim in self._shape or ():
            total *= dim or 0
        return total

    def is_fully_defined(self) -> bool:
        """Whether rank and all dimensions are known."""
        return self._shape is not None and None not in self._shape

    def assert_is_fully_defined(self) -> None:
        """Raises InvalidValueError (a ValueError) unless fully defined."""
        if not self.is_fully_defined():
            raise InvalidValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one concrete shape could be both."""
        mine, theirs = self._shape, as_shape(other)._shape
        if mine is None or theirs is None:
            return True
        return len(mine) == len(theirs) and all(
            x is None or y is None or x == y for x, y in zip(mine, theirs)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises InvalidValueError (a ValueError) unless compatible."""
        if not self.is_compatible_with(other):
            raise InvalidValueError(f"Shapes {self} and {as_shape(other)} are incompatible")

    def assert_same_rank(self, other: Any) -> None:
        """Raises InvalidValueError (a ValueError) where both ranks are known and differ."""
        other = as_shape(other)
        if self.ndims is not None and other.ndims is not None and self.ndims != other.ndims:
            raise InvalidValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        """Raises InvalidValueError (a ValueError) where the rank is known and another."""
        if self.ndims not in (None, rank):
            raise InvalidValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        """This shape with a known rank; ValueError where it has another."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError as error:
            raise InvalidValueError(f"Shape {self} must have rank {rank}") from error

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError where its rank is known to be lower."""
        if self.ndims is not None and self.ndims < rank:
            raise InvalidValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError where its rank is known to be higher."""
        if self.ndims is not None and self.ndims > rank:
            raise InvalidValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def merge_with(self, other: Any) -> TensorShape:
        """What is known from either shape.

        Raises:
            ValueError: They contradict each other.
        """
        other = as_shape(other)
        assert isinstance(other, TensorShape)
        if self._shape is None:
            return other
        if other._shape is None:
            return self
        if not self.is_compatible_with(other):
            raise InvalidValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape([y if x is None else x for x, y in zip(self._shape, other._shape)])

    def concatenate(self, other: Any) -> TensorShape:
        """The dimensions of both, one after the other."""
        other = as_shape(other)
        if self._shape is None or other._shape is None:
            return TensorShape(None)
        return TensorShape(self._shape + other._shape)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most specific shape that both are instances of."""
        other = as_shape(other)
        if self._shape is None or other._shape is None or len(self._shape) != len(other._shape):
            return TensorShape(None)
        return TensorShape([x if x == y else None for x, y in zip(self._shape, other._shape)])

    def __len__(self) -> int:
        if self._shape is None:
            raise InvalidValueError("Cannot take the length of shape with unknown rank.")
        return len(self._shape)

    def __bool__(self) -> bool:
        return self._shape is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self._shape is None:
            raise InvalidValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(dim) for dim in self._shape])

    def __getitem__(self, key: Any) -> Any:
        if self._shape is not None:
            part = self._shape[key]
            return TensorShape(part) if isinstance(key, slice) else Dimension(part)
        if not isinstance(key, slice):
            return Dimension(None)
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise InvalidValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return unknown_shape(max(0, stop - start))

    def __eq__(self, other: object) -> bool:
        try:
            shape = as_shape(other)._shape
        except (TypeError, ValueError):
            return NotImplemented
        # As in TensorFlow: a dimension that is not known is not known to be equal to another.
        return self is other or (self._shape == shape and (shape is None or None not in shape))

    def __ne__(self, other: object) -> bool:
        try:
            shape = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._shape is None or shape._shape is None:
            raise InvalidValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == shape

    def __hash__(self) -> int:
        return hash(self._shape)

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __repr__(self) -> str:
        return "TensorShape(None)" if self._shape is None else f"TensorShape({self.dims!r})"

    def __str__(self) -> str:
        if self._shape is None:
            return "<unknown>"
        texts = ["?" if dim is None else str(dim) for dim in self._shape]
        return f"({texts[0]},)" if len(texts) == 1 else f"({', '.join(texts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.dims,)


def as_shape(shape: Any) -> TensorShape:
    """`shape` as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """A shape of unknown dimensions, of unknown rank unless `rank` is given."""
    return TensorShape(None if rank is None else (None,) * rank)


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """`tf.broadcast_static_shape`: the broadcast of two static shapes.

    Raises:
        ValueError: They cannot be broadcast.
    """
    x, y = as_shape(shape_x), as_shape(shape_y)
    try:
        return TensorShape(broadcast(x.as_tuple(), y.as_tuple()))
    except ValueError as error:
        raise InvalidValueError(f"Incompatible shapes for broadcasting: {x} and {y}") from error
