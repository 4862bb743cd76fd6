"""Static shapes as plain tuples: what shape rules compute with.

A *shape* is a tuple of dimensions (`int`, or None where unknown), or None where even the rank is
unknown. `tensor_shape.TensorShape` is TensorFlow's object around one. The helpers here raise
TensorFlow's sentences as ValueError (`InvalidValueError`), as at graph construction.
"""

from __future__ import annotations

from collections.abc import Sequence

from .errors import InvalidValueError

Dim = int | None
Shape = tuple[int | None, ...] | None


def is_fully_defined(shape: Shape) -> bool:
    """Whether rank and all dimensions are known."""
    return shape is not None and None not in shape


def format_shape(shape: Sequence[Dim] | None) -> str:
    """As TensorFlow prints a partial shape in errors: `[?,2]`, `<unknown>`."""
    if shape is None:
        return "<unknown>"
    return "[" + ",".join("?" if dim is None else str(dim) for dim in shape) + "]"


def num_elements(shape: Shape) -> int | None:
    """The product of the dimensions, or None where one is unknown."""
    if shape is None:
        return None
    total = 1
    for dim in shape:
        if dim is None:
            return None
        total *= dim
    return total


def merge_dims(a: Dim, b: Dim) -> Dim:
    """The dimension that both `a` and `b` allow.

    Raises:
        InvalidValueError: They are known and differ.
    """
    if a is None:
        return b
    if b is None or a == b:
        return a
    raise InvalidValueError(f"Dimensions must be equal, but are {a} and {b}")


def with_value(dim: Dim, value: int) -> int:
    """`value`, which `dim` must be where it is known.

    Raises:
        InvalidValueError: It is another.
    """
    if dim is not None and dim != value:
        raise InvalidValueError(f"Dimension must be {value} but is {dim}")
    return value


def vector_of(shape: Shape, size: int) -> tuple[int]:
    """The shape of a vector of `size` elements, which `shape` must be as far as it is known.

    Raises:
        InvalidValueError: It is another.
    """
    (dim,) = with_rank(shape, 1)
    return (with_value(dim, size),)


def merge_prefix(shape: Shape, prefix: Shape) -> tuple[Shape, Shape]:
    """`shape` and its first dimensions, `prefix`, each with what is known of the other.

    Raises:
        InvalidValueError: They do not fit.
    """
    if shape is None or prefix is None:
        return shape, prefix
    with_rank_at_least(shape, len(prefix))
    first = tuple(merge_dims(a, b) for a, b in zip(shape, prefix))
    return (*first, *shape[len(prefix) :]), first


def merge(a: Shape, b: Shape) -> Shape:
    """The shape that both `a` and `b` allow.

    Raises:
        InvalidValueError: Their ranks or known dimensions differ.
    """
    if a is None:
        return b
    if b is None:
        return a
    if len(a) != len(b):
        raise InvalidValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for axis, (x, y) in enumerate(zip(a, b)):
        if x is not None and y is not None and x != y:
            raise InvalidValueError(
                f"Dimension {axis} in both shapes must be equal, but are {x} and {y}. "
                f"Shapes are {format_shape(a)} and {format_shape(b)}."
            )
    return tuple(x if y is None else y for x, y in zip(a, b))


def with_rank(shape: Shape, rank: int) -> tuple[Dim, ...]:
    """`shape`, known to have `rank` dimensions.

    Raises:
        InvalidValueError: It has another rank.
    """
    if shape is None:
        return (None,) * rank
    if len(shape) != rank:
        raise InvalidValueError(f"Shape must be rank {rank} but is rank {len(shape)}")
    return shape


def with_rank_at_least(shape: Shape, rank: int) -> Shape:
    """`shape`, checked to have at least `rank` dimensions where its rank is known.

    Raises:
        InvalidValueError: It has fewer.
    """
    if shape is not None and len(shape) < rank:
        raise InvalidValueError(f"Shape must be at least rank {rank} but is rank {len(shape)}")
    return shape


def with_rank_at_most(shape: Shape, rank: int) -> Shape:
    """`shape`, checked to have at most `rank` dimensions where its rank is known.

    Raises:
        InvalidValueError: It has more.
    """
    if shape is not None and len(shape) > rank:
        raise InvalidValueError(f"Shape must be at most rank {rank} but is rank {len(shape)}")
    return shape


def broadcast(a: Shape, b: Shape) -> Shape:
    """The NumPy broadcast of two partial shapes.

    Raises:
        InvalidValueError: Two known dimensions are neither equal nor 1.
    """
    if a is None or b is None:
        return None
    if a == b:
        return a
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    lead = len(longer) - len(shorter)
    dims: list[Dim] = list(longer[:lead])
    for x, y in zip(longer[lead:], shorter):
        if x == y:
            dims.append(x)
        elif x == 1:
            dims.append(y)
        elif y == 1:
            dims.append(x)
        elif x is None:
            dims.append(y if y is not None and y > 1 else None)
        elif y is None:
            dims.append(x if x > 1 else None)
        else:
            raise InvalidValueError(
                f"Dimensions must be equal, but are {x if longer is a else y} and {y if longer is a else x}"
            )
    return tuple(dims)


def reduce(shape: Shape, axes: Sequence[int] | None, keep_dims: bool) -> Shape:
    """The shape after reducing `axes` (None: which ones is unknown).

    Raises:
        InvalidValueError: An axis lies outside the rank.
    """
    if shape is None:
        return None
    rank = len(shape)
    if axes is None:
        return (None,) * rank if keep_dims else None
    chosen = set()
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidValueError(f"Invalid reduction dimension {axis} for input with {rank} dimensions.")
        chosen.add(axis % rank)
    if keep_dims:
        return tuple(1 if i in chosen else dim for i, dim in enumerate(shape))
    return tuple(dim for i, dim in enumerate(shape) if i not in chosen)


def common_shape(a: Shape, b: Shape) -> Shape:
    """What two shapes agree on: a dimension that differs is unknown, and so is a rank that differs."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(one if one == other else None for one, other in zip(a, b))
