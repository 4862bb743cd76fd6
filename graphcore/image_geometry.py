"""`tf.image`: flipping, turning, cropping, padding and resizing.

Source: tensorflow/python/ops/image_ops_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .conditional import case, cond
from .convert import convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import float32, float64, int32
from .errors import InvalidValueError
from .image_checks import (
    as_batch,
    check_image,
    checked_image,
    dimensions,
    from_batch,
    is_tensor,
    rank_of,
    require,
    static,
)
from .op import raw_ops
from .ops.array_join import pad, reverse, stack
from .ops.array_shape import expand_dims, tf_reshape, tf_shape, transpose
from .ops.array_slice import tf_slice
from .ops.control_flow import with_dependencies
from .ops.image_resize import (
    resize_area_op,
    resize_bicubic_op,
    resize_bilinear_op,
    resize_nearest_neighbor_op,
)
from .ops.math_unary import tf_cast, tf_round
from .ops.random import random_uniform
from .tensor_shape import TensorShape

# Flipping and turning


def _with_shape_of(image: Any, result: Any) -> Any:
    shape = image.get_shape()
    result.set_shape([None] * 3 if shape.ndims is None else shape)
    return result


def _flip(image: Any, axis: int, scope: str) -> Any:
    with name_scope(None, scope, [image]):
        image = checked_image(image)
        if rank_of(image) == 4:
            return reverse(image, [axis + 1])
        return _with_shape_of(image, reverse(image, [axis]))


def flip_left_right(image: Any) -> Any:
    """`tf.image.flip_left_right`: images (3-D, or 4-D with a batch), their columns reversed."""
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image: Any) -> Any:
    """`tf.image.flip_up_down`: images (3-D, or 4-D with a batch), their rows reversed."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: Any, axis: int, seed: int | None, scope_name: str) -> Any:
    with name_scope(None, scope_name, [image]) as scope:
        image = checked_image(image)
        if rank_of(image) == 3:
            drawn = raw_ops.Less(random_uniform([], 0, 1.0, seed=seed), 0.5)
            flipped = cond(drawn, lambda: reverse(image, [axis]), lambda: image, name=scope)
            return _with_shape_of(image, flipped)
        batch = tf_shape(image)[0]
        numbers = random_uniform([batch], 0, 1.0, seed=seed)
        flips = tf_cast(tf_round(tf_reshape(numbers, [batch, 1, 1, 1])), image.dtype)
        return flips * reverse(image, [axis + 1]) + (1 - flips) * image


def random_flip_left_right(image: Any, seed: int | None = None) -> Any:
    """`tf.image.random_flip_left_right`: each image flipped or not, one time in two."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image: Any, seed: int | None = None) -> Any:
    """`tf.image.random_flip_up_down`: each image flipped or not, one time in two."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def rot90(image: Any, k: Any = 1, name: str | None = None) -> Any:
    """`tf.image.rot90`: turned counter-clockwise.

    Args:
        image: (height, width, channels), or with a batch before these.
        k: How many quarters of a turn, an int32 scalar.
        name: Name of the operations.

    Raises:
        ValueError: The image has another rank.
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked_image(image)
        k = convert_to_tensor(k, int32, name="k")
        k.get_shape().assert_has_rank(0)
        k = raw_ops.FloorMod(k, 4)
        lead = rank_of(image) - 3
        swapped = [*range(lead), lead + 1, lead, lead + 2]
        turns: list[tuple[Any, Callable[[], Any]]] = [
            (raw_ops.Equal(k, 1), lambda: transpose(reverse(image, [lead + 1]), swapped)),
            (raw_ops.Equal(k, 2), lambda: reverse(image, [lead, lead + 1])),
            (raw_ops.Equal(k, 3), lambda: reverse(transpose(image, swapped), [lead + 1])),
        ]
        result = case(turns, default=lambda: image, exclusive=True, name=scope)
        shape = image.get_shape()
        dims = [None] * (lead + 3) if shape.ndims is None else shape.as_list()
        result.set_shape([*dims[:lead], None, None, dims[-1]])
        return result


def transpose_image(image: Any, name: str | None = None) -> Any:
    """`tf.image.transpose`: rows become columns.

    Args:
        image: (height, width, channels), or with a batch before these.
        name: Name of the operations.

    Raises:
        ValueError: The image has another rank.
    """
    with name_scope(name, "transpose", [image]):
        image = checked_image(image)
        return transpose(image, [1, 0, 2] if rank_of(image) == 3 else [0, 2, 1, 3], name=name or "transpose")


# Cropping and padding


def central_crop(image: Any, central_fraction: float) -> Any:
    """`tf.image.central_crop`: the middle part of each side.

    Args:
        image: (height, width, channels), or with a batch before these; of known rank.
        central_fraction: What part of each side is kept, in (0, 1].

    Raises:
        ValueError: The fraction or the rank is another.
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise InvalidValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        with_dependencies(check_image(image), image)
        rank = image.get_shape().ndims
        if rank not in (3, 4):
            raise InvalidValueError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
            )
        lead = rank - 3
        dims = image.get_shape().as_list()
        begins, sizes = [], []
        for axis in (lead, lead + 1):
            length = dims[axis]
            if length is None:
                length = tf_shape(image)[axis]
                wide = tf_cast(length, float64)
                begin = tf_cast((wide - wide * central_fraction) / 2, int32)
            else:
                begin = int((float(length) - float(length) * central_fraction) / 2)
            begins.append(begin)
            sizes.append(length - begin * 2)
        cropped = tf_slice(image, stack([0] * lead + [*begins, 0]), stack([-1] * lead + [*sizes, -1]))
        cropped.set_shape([*dims[:lead], *static(sizes), dims[-1]])
        return cropped


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """`tf.image.pad_to_bounding_box`: zeros around an image.

    Args:
        image: (height, width, channels), or with a batch before these.
        offset_height: Rows of zeros above; an int or a tensor, as all of these.
        offset_width: Columns of zeros on the left.
        target_height: Height of the result.
        target_width: Width of the result.

    Raises:
        ValueError: The image has another rank, or does not fit.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, had_batch = as_batch(image)
        checks = check_image(image, 4)
        batch, height, width, depth = dimensions(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += require(offset_height >= 0, "offset_height must be >= 0")
        checks += require(offset_width >= 0, "offset_width must be >= 0")
        checks += require(right >= 0, "width must be <= target - offset")
        checks += require(below >= 0, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        amounts = stack([0, 0, offset_height, below, offset_width, right, 0, 0])
        padded = pad(image, tf_reshape(amounts, [4, 2]))
        padded.set_shape(static([batch, target_height, target_width, depth]))
        return from_batch(padded, had_batch)


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """`tf.image.crop_to_bounding_box`: a part of an image.

    Args:
        image: (height, width, channels), or with a batch before these.
        offset_height: First row of the part; an int or a tensor, as all of these.
        offset_width: First column.
        target_height: Height of the result.
        target_width: Width of the result.

    Raises:
        ValueError: The image has another rank, or the part lies outside.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, had_batch = as_batch(image)
        checks = check_image(image, 4)
        batch, height, width, depth = dimensions(image, 4)
        checks += require(offset_width >= 0, "offset_width must be >= 0.")
        checks += require(offset_height >= 0, "offset_height must be >= 0.")
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        checks += require(width >= target_width + offset_width, "width must be >= target + offset.")
        checks += require(height >= target_height + offset_height, "height must be >= target + offset.")
        image = with_dependencies(checks, image)
        begin = stack([0, offset_height, offset_width, 0])
        cropped = tf_slice(image, begin, stack([-1, target_height, target_width, -1]))
        cropped.set_shape(static([batch, target_height, target_width, depth]))
        return from_batch(cropped, had_batch)


def _of_both(op: Callable[[Any, Any], Any], function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`op` where one of two operands is a tensor, else Python's `function`."""
    return lambda x, y: op(x, y) if is_tensor(x) or is_tensor(y) else function(x, y)


_max = _of_both(lambda x, y: raw_ops.Maximum(x, y), max)
_min = _of_both(lambda x, y: raw_ops.Minimum(x, y), min)
_equal = _of_both(lambda x, y: raw_ops.Equal(x, y), lambda x, y: x == y)


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """`tf.image.resize_image_with_crop_or_pad`: each side cropped or padded evenly.

    Args:
        image: (height, width, channels), or with a batch before these.
        target_height: Height of the result, an int or a tensor.
        target_width: Width of the result.

    Raises:
        ValueError: The image has another rank, or a size is not positive.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, had_batch = as_batch(image)
        checks = check_image(image, 4)
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        if is_tensor(target_height):
            target_height = with_dependencies(checks, target_height)
        if is_tensor(target_width):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = dimensions(image, 4)
        wider, higher = target_width - width, target_height - height
        crop_left, pad_left = _max(-wider // 2, 0), _max(wider // 2, 0)
        crop_top, pad_top = _max(-higher // 2, 0), _max(higher // 2, 0)
        cropped = crop_to_bounding_box(
            image, crop_top, crop_left, _min(target_height, height), _min(target_width, width)
        )
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        _, height, width, _ = dimensions(resized, 4)
        checks = require(_equal(height, target_height), "resized height is not correct.")
        checks += require(_equal(width, target_width), "resized width is not correct.")
        return from_batch(with_dependencies(checks, resized), had_batch)


# Resizing


class ResizeMethod:
    """`tf.image.ResizeMethod`: how pixels are interpolated."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_RESIZERS: dict[Any, Any] = {
    ResizeMethod.BILINEAR: resize_bilinear_op,
    ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor_op,
    ResizeMethod.BICUBIC: resize_bicubic_op,
    ResizeMethod.AREA: resize_area_op,
    "bilinear": resize_bilinear_op,
    "nearest": resize_nearest_neighbor_op,
    "bicubic": resize_bicubic_op,
    "area": resize_area_op,
}


def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.image.resize_images` and `tf.image.resize`.

    Args:
        images: (height, width, channels), or with a batch before these; of known rank.
        size: New height and width, an int32 vector.
        method: A `ResizeMethod`, or "bilinear", "nearest", "bicubic" or "area".
        align_corners: Whether the middles of the corner pixels stay where they are.
        preserve_aspect_ratio: Whether the image only fits into `size`, its sides in proportion.
        name: Name scope of the operations.

    Returns:
        float32; of the images' dtype where the method is the nearest neighbour or the size is that
        of the images already, which are then given back.

    Raises:
        ValueError: The rank, the size or the method is another.
    """
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        rank = images.get_shape().ndims
        if rank is None:
            raise InvalidValueError("'images' contains no shape.")
        if rank not in (3, 4):
            raise InvalidValueError("'images' must have either 3 or 4 dimensions.")
        if rank == 3:
            images = expand_dims(images, 0)
        try:
            size = convert_to_tensor(size, int32, name="size")
        except (TypeError, ValueError) as error:
            raise InvalidValueError("'size' must be a 1-D int32 Tensor") from error
        if not size.get_shape().is_compatible_with(TensorShape([2])):
            raise InvalidValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        wanted = _constants(size)
        if preserve_aspect_ratio:
            size = _fitting(images, wanted)
            wanted = _constants(size)
        if None not in wanted and images.get_shape().as_list()[1:3] == wanted:
            return from_batch(images, rank == 4)
        resizer = _RESIZERS.get(method)
        if resizer is None:
            raise InvalidValueError(f"Resize method is not implemented: {method!r}.")
        images = resizer(images, size, align_corners=align_corners)
        images.set_shape([None, *wanted, None])
        return from_batch(images, rank == 4)


def _constants(size: Any) -> list[int | None]:
    """Height and width where they are known now."""
    known = get_default_graph().constant_value(size)
    return [None, None] if known is None else list(known.tolist())


def _fitting(images: Any, wanted: list[int | None]) -> Any:
    """The largest size within `wanted` in proportion to the images'."""
    if None in wanted:
        raise InvalidValueError("preserve_aspect_ratio needs a 'size' that is known when the graph is built")
    _, height, width, _ = dimensions(images, 4)
    high, wide = tf_cast(height, float32), tf_cast(width, float32)
    by_height = tf_cast(wanted[0], float32) / high
    by_width = tf_cast(wanted[1], float32) / wide
    factor = raw_ops.Minimum(by_height, by_width)
    sides = [tf_cast(tf_round(factor * tf_cast(side, float32)), int32) for side in (height, width)]
    return convert_to_tensor(sides, int32, name="size")


def resize_image_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Any:
    """`tf.image.resize_image_with_pad`: resized in proportion, and zeros around to fill up.

    Args:
        image: (height, width, channels), or with a batch before these.
        target_height: Height of the result, an int or a tensor.
        target_width: Width of the result.
        method: See `resize_images`.
        align_corners: See `resize_images`.

    Raises:
        ValueError: The image has another rank, or a size is not positive.
    """
    with name_scope(None, "resize_image_with_pad", [image]):
        image, had_batch = as_batch(image)
        checks = check_image(image, 4)
        checks += require(target_width > 0, "target_width must be > 0.")
        checks += require(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        _, *sides, _ = dimensions(image, 4)
        old = [tf_cast(side, float64) for side in sides]
        new = [tf_cast(side, float64) for side in (target_height, target_width)]
        ratio = raw_ops.Maximum(old[1] / new[1], old[0] / new[0])
        exact = [side / ratio for side in old]
        size = [tf_cast(raw_ops.Floor(side), int32) for side in exact]
        gaps = [raw_ops.Floor((outer - inner) / 2) for outer, inner in zip(new, exact)]
        top, left = (raw_ops.Maximum(0, tf_cast(gap, int32)) for gap in gaps)
        resized = resize_images(image, size, method, align_corners=align_corners)
        padded = pad_to_bounding_box(resized, top, left, target_height, target_width)
        return from_batch(padded, had_batch)


def resize_bilinear(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:
    """`tf.image.resize_bilinear`: the op; `size` is (height, width), the result float32."""
    return resize_bilinear_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:
    """`tf.image.resize_nearest_neighbor`: the op; `size` is (height, width)."""
    return resize_nearest_neighbor_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_bicubic(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:
    """`tf.image.resize_bicubic`: the op; `size` is (height, width), the result float32."""
    return resize_bicubic_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Any:
    """`tf.image.resize_area`: the op; `size` is (height, width), the result float32."""
    return resize_area_op(images, size, align_corners=align_corners, name=name)
