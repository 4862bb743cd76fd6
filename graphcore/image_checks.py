"""What the functions of `tf.image` check of their images, now or, where shapes are unknown, at the run."""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .default import name_scope
from .errors import InvalidValueError
from .op import raw_ops
from .operation import Tensor
from .ops.array_join import unstack
from .ops.array_shape import expand_dims, squeeze, tf_rank, tf_shape
from .ops.control_flow import tf_assert, with_dependencies
from .ops.reduction import reduce_all


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor or a variable, not a number known now."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def require(condition: Any, message: str) -> list[Any]:
    """The assertion that `condition` holds; none where that is known now.

    Raises:
        ValueError: It is known not to hold.
    """
    if is_tensor(condition):
        return [tf_assert(condition, [message])]
    if not condition:
        raise InvalidValueError(message)
    return []


def check_image(image: Any, unknown_rank: int = 3) -> list[Any]:
    """The assertions that an image has three dimensions or more, none of them empty.

    Args:
        image: A tensor.
        unknown_rank: The rank it is taken for where it has none.

    Raises:
        ValueError: It is known not to be so.
    """
    shape = image.get_shape()
    if shape.ndims is not None and shape.ndims < 3:
        raise InvalidValueError("'image' must be at least three-dimensional.")
    dims = shape.as_list() if shape.ndims is not None else [None] * unknown_rank
    if 0 in dims:
        raise InvalidValueError(f"all dims of 'image.shape' must be > 0: {shape}")
    if shape.is_fully_defined():
        return []
    with name_scope(None, "assert_positive", [image]):
        positive = reduce_all(raw_ops.Less(0, tf_shape(image)))
        first = tf_assert(positive, ["all dims of 'image.shape' must be > 0."])
    with name_scope(None, "assert_greater_equal", [image]):
        enough = raw_ops.GreaterEqual(tf_rank(image), 3)
        return [first, tf_assert(enough, ["'image' must be at least three-dimensional."])]


def checked_image(image: Any) -> Any:
    """The image as a tensor, behind its assertions.

    Raises:
        ValueError: It has fewer than three dimensions, or an empty one.
    """
    image = convert_to_tensor(image, name="image")
    return with_dependencies(check_image(image), image)


def rank_of(image: Any) -> int:
    """3 or 4; 3 where the rank is unknown.

    Raises:
        ValueError: It is another.
    """
    rank = image.get_shape().ndims
    if rank not in (None, 3, 4):
        raise InvalidValueError("'image' must have either 3 or 4 dimensions.")
    return 3 if rank is None else int(rank)


def as_batch(image: Any) -> tuple[Any, bool]:
    """The image with a dimension for the batch, and whether it had one.

    Raises:
        ValueError: It has neither three nor four dimensions.
    """
    image = convert_to_tensor(image, name="image")
    if rank_of(image) == 4:
        return image, True
    known = image.get_shape().ndims is not None
    image = expand_dims(image, 0)
    if not known:
        image.set_shape([None] * 4)
    return image, False


def from_batch(image: Any, had_batch: bool) -> Any:
    """What `as_batch` did, undone."""
    return image if had_batch else squeeze(image, axis=[0])


def dimensions(image: Any, rank: int) -> list[Any]:
    """Each dimension as an int, or where it is unknown as a tensor."""
    shape = image.get_shape()
    if shape.is_fully_defined():
        return list(shape.as_list())
    static = shape.with_rank(rank).as_list()
    dynamic = unstack(tf_shape(image), rank)
    return [known if known is not None else tensor for known, tensor in zip(static, dynamic)]


def static(values: list[Any]) -> list[int | None]:
    """The values that are known now."""
    return [None if is_tensor(value) else value for value in values]
