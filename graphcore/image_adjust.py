"""`tf.image`: dtypes, brightness, contrast, gamma, hue, saturation, and other colour spaces.

Source: tensorflow/python/ops/image_ops_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .convert import convert_to_tensor
from .default import name_scope
from .dtypes import as_dtype, float16, float32, int32, uint8
from .errors import InvalidValueError
from .image_checks import checked_image, is_tensor, require
from .op import raw_ops
from .ops.array_create import ones
from .ops.array_join import concat
from .ops.array_shape import expand_dims, tf_rank, tf_reshape, tf_shape, transpose
from .ops.control_flow import tf_assert, with_dependencies
from .ops.image_codec import decode_jpeg, encode_jpeg_variable_quality
from .ops.image_color import adjust_contrast_op, adjust_hue_op, adjust_saturation_op
from .ops.math_binary import mul, real_div, tf_add, tf_div
from .ops.math_functions import reduce_std, saturate_cast
from .ops.math_unary import tf_cast
from .ops.random import random_uniform
from .ops.reduction import reduce_mean, reduce_prod

# Dtypes


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Any:
    """`tf.image.convert_image_dtype`: integers stand for [0, their largest], floats for [0, 1].

    Args:
        image: A tensor.
        dtype: What it becomes.
        saturate: Whether what does not fit is brought to the limits of `dtype`.
        name: Name of the operation that gives the result.

    Raises:
        AttributeError: A dtype that is neither floating nor an integer.
    """
    image = convert_to_tensor(image, name="image")
    dtype = as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    old = image.dtype.base_dtype
    if dtype == old:
        return raw_ops.Identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        convert: Callable[..., Any] = saturate_cast if saturate else tf_cast
        if old.is_floating and dtype.is_floating:
            return tf_cast(image, dtype, name=scope)
        if old.is_floating:
            return convert(mul(image, dtype.max + 0.5), dtype, name=scope)
        if dtype.is_floating:
            return mul(tf_cast(image, dtype), 1.0 / float(old.max), name=scope)
        if old.max > dtype.max:
            return convert(tf_div(image, (int(old.max) + 1) // (int(dtype.max) + 1)), dtype, name=scope)
        return mul(convert(image, dtype), (int(dtype.max) + 1) // (int(old.max) + 1), name=scope)


def _floating(image: Any) -> Any:
    """The image in a dtype that adjustments are computed in."""
    return image if image.dtype in (float16, float32) else convert_image_dtype(image, float32)


# Adjustments


def adjust_brightness(image: Any, delta: Any) -> Any:
    """`tf.image.adjust_brightness`: `delta` added to an image that is taken for [0, 1]."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        wide = _floating(image)
        adjusted = tf_add(wide, tf_cast(delta, wide.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """`tf.image.adjust_contrast`: the distance from each channel's mean times `contrast_factor`."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        adjusted = adjust_contrast_op(_floating(images), contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """`tf.image.adjust_gamma`: `gain * image ** gamma` of an image that is taken for [0, 1].

    Raises:
        ValueError: `gamma` is negative.
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        wide = _floating(image)
        checks = require(gamma >= 0, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * wide**gamma, image.dtype, saturate=True)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """`tf.image.adjust_hue`: the hue of an RGB image turned by `delta` turns."""
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(adjust_hue_op(_floating(image), delta), image.dtype)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """`tf.image.adjust_saturation`: the saturation of an RGB image times `saturation_factor`."""
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = adjust_saturation_op(_floating(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, name: str | None = None) -> Any:
    """`tf.image.adjust_jpeg_quality`: an image as it looks after JPEG of that quality (0 to 100)."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        pixels = convert_image_dtype(image, uint8)
        if not is_tensor(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, int32)
        pixels = decode_jpeg(encode_jpeg_variable_quality(pixels, jpeg_quality))
        return convert_image_dtype(pixels, image.dtype)


def _check_range(lower: float, upper: float) -> None:
    if upper <= lower:
        raise InvalidValueError("upper must be > lower.")
    if lower < 0:
        raise InvalidValueError("lower must be non-negative.")


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """`tf.image.random_brightness`: `adjust_brightness` by a number in [-max_delta, max_delta).

    Raises:
        ValueError: `max_delta` is negative.
    """
    if max_delta < 0:
        raise InvalidValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """`tf.image.random_contrast`: `adjust_contrast` by a number in [lower, upper).

    Raises:
        ValueError: The interval is empty or begins below 0.
    """
    _check_range(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Any:
    """`tf.image.random_hue`: `adjust_hue` by a number in [-max_delta, max_delta).

    Raises:
        ValueError: `max_delta` is not in [0, 0.5].
    """
    if max_delta > 0.5:
        raise InvalidValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise InvalidValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Any:
    """`tf.image.random_saturation`: `adjust_saturation` by a number in [lower, upper).

    Raises:
        ValueError: The interval is empty or begins below 0.
    """
    _check_range(lower, upper)
    return adjust_saturation(image, random_uniform([], lower, upper, seed=seed))


def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Any:
    """`tf.image.random_jpeg_quality`: `adjust_jpeg_quality` by an integer in [minimum, maximum).

    Raises:
        ValueError: The limits are not in [0, 100], or in the wrong order.
    """
    if min(min_jpeg_quality, max_jpeg_quality) < 0 or max(min_jpeg_quality, max_jpeg_quality) > 100:
        raise InvalidValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise InvalidValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_uniform([], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=int32)
    return adjust_jpeg_quality(image, quality)


def per_image_standardization(image: Any) -> Any:
    """`tf.image.per_image_standardization`: mean 0 and deviation 1 in each image.

    Args:
        image: (height, width, channels), or with batches before these. A deviation below one by the
            root of the number of pixels is raised to that.
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked_image(image)
        wide = _floating(image)
        axes = [-1, -2, -3]
        count = reduce_prod(tf_shape(wide)[-3:])
        mean = reduce_mean(wide, axis=axes, keepdims=True)
        deviation = reduce_std(wide, axis=axes, keepdims=True)
        least = raw_ops.Rsqrt(tf_cast(count, wide.dtype))
        result = real_div(wide - mean, raw_ops.Maximum(deviation, least), name=scope)
        return convert_image_dtype(result, image.dtype, saturate=True)


# Colour spaces


def _last_axis_dot(images: Any, kernel: Any) -> Any:
    """Each colour times a matrix, or a vector (which takes the channels away)."""
    with name_scope(None, "Tensordot", [images, kernel]) as scope:
        kernel = convert_to_tensor(kernel, images.dtype.base_dtype, name="b")
        rank = images.get_shape().ndims
        if rank is None:
            raise InvalidValueError("'images' contains no shape.")
        count = kernel.get_shape().as_list()
        flat = tf_reshape(transpose(images, list(range(rank)), name="transpose"), [-1, count[0]])
        # TensorFlow transposes both, also where that changes nothing.
        kernel = transpose(kernel, list(range(len(count))), name="transpose")
        product = raw_ops.MatMul(flat, tf_reshape(kernel, [count[0], -1]))
        dims = images.get_shape().as_list()[:-1]
        if None in dims:
            lead = tf_shape(images)[:-1]
            return tf_reshape(product, concat([lead, np.array(count[1:], np.int32)], 0), name=scope)
        return tf_reshape(product, [*dims, *count[1:]], name=scope)


_GRAY = [0.2989, 0.587, 0.114]
_SPACES = {
    "rgb_to_yiq": [
        [0.299, 0.59590059, 0.2115],
        [0.587, -0.27455667, -0.52273617],
        [0.114, -0.32134392, 0.31119955],
    ],
    "yiq_to_rgb": [
        [1, 1, 1],
        [0.95598634, -0.27201283, -1.10674021],
        [0.6208248, -0.64720424, 1.70423049],
    ],
    "rgb_to_yuv": [
        [0.299, -0.14714119, 0.61497538],
        [0.587, -0.28886916, -0.51496512],
        [0.114, 0.43601035, -0.10001026],
    ],
    "yuv_to_rgb": [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]],
}


def _converter(name: str) -> Callable[[Any], Any]:
    def convert(images: Any) -> Any:
        images = convert_to_tensor(images, name="images")
        kernel = convert_to_tensor(_SPACES[name], images.dtype, name="kernel")
        return _last_axis_dot(images, kernel)

    convert.__name__ = name
    source, target = name.upper().split("_TO_")
    convert.__doc__ = f"""`tf.image.{name}`: {target} of {source} colours, floating, (..., 3)."""
    return convert


rgb_to_yiq, yiq_to_rgb = _converter("rgb_to_yiq"), _converter("yiq_to_rgb")
rgb_to_yuv, yuv_to_rgb = _converter("rgb_to_yuv"), _converter("yuv_to_rgb")


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """`tf.image.rgb_to_grayscale`: the luminance of RGB colours, (..., 3) to (..., 1)."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        gray = _last_axis_dot(convert_image_dtype(images, float32), _GRAY)
        return convert_image_dtype(expand_dims(gray, -1), images.dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Any:
    """`tf.image.grayscale_to_rgb`: the channel three times, (..., 1) to (..., 3).

    Raises:
        ValueError: There is more than one channel.
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        shape = images.get_shape()
        if shape.ndims is not None and shape.ndims < 2:
            raise InvalidValueError("A grayscale image must be at least two-dimensional.")
        checks = []
        if shape.is_fully_defined():
            if shape.as_list()[-1] != 1:
                raise InvalidValueError("Last dimension of a grayscale image should be size 1.")
        else:
            with name_scope(None, "assert_equal", [images]):
                single = raw_ops.Equal(tf_shape(images)[-1], 1)
                text = "Last dimension of a grayscale image should be size 1."
                checks = [tf_assert(single, [text])]
        images = with_dependencies(checks, images)
        single = ones(expand_dims(tf_rank(images) - 1, 0), int32)
        rgb = raw_ops.Tile(images, concat([single, expand_dims(3, 0)], 0), name=scope)
        if shape.ndims is not None:
            rgb.set_shape([*shape.as_list()[:-1], 3])
        return rgb
