"""`tf.image`: how alike images are (PSNR, SSIM), and their differences and edges.

Source: tensorflow/python/ops/image_ops_impl.py (r1.15), behaviour only. SSIM: Wang et al., "Image quality
assessment: from error visibility to structural similarity", 2004; MS-SSIM: the same, 2003.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .conditional import cond
from .convert import constant, convert_to_tensor
from .default import control_dependencies, name_scope
from .dtypes import float32, int32
from .errors import InvalidValueError
from .image_adjust import convert_image_dtype
from .op import raw_ops
from .ops.array_create import tf_range, zeros
from .ops.array_join import concat, pad, stack, unstack
from .ops.array_shape import expand_dims, tf_reshape, tf_shape, tf_size
from .ops.control_flow import tf_assert
from .ops.math_unary import tf_cast
from .ops.nn import softmax
from .ops.nn_conv import depthwise_conv2d
from .ops.reduction import reduce_all, reduce_any, reduce_mean, reduce_prod, reduce_sum

_ONES = [1, 1, 1, 1]
_MS_SSIM_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _compared(a: Any, b: Any) -> tuple[Any, Any, list[Any]]:
    """The shapes of two images as tensors, and the assertions that they fit.

    Raises:
        ValueError: They are known not to.
    """
    one, other = (image.get_shape().with_rank_at_least(3) for image in (a, b))
    if one.ndims is not None and other.ndims is not None:
        first, second = one.as_list(), other.as_list()
        alike = all(x is None or y is None or x == y for x, y in zip(first[-3:], second[-3:]))
        outer = zip(reversed(first[:-3]), reversed(second[:-3]))
        if not alike or not all(1 in (x, y) or None in (x, y) or x == y for x, y in outer):
            raise InvalidValueError(f"Two images are not compatible: {one} and {other}")
    shapes = raw_ops.ShapeN([a, b], out_type=int32)
    large = raw_ops.GreaterEqual(tf_size(shapes[0]), 3)
    same = reduce_all(raw_ops.Equal(shapes[0][-3:], shapes[1][-3:]))
    checks = [tf_assert(condition, list(shapes), summarize=10) for condition in (large, same)]
    return shapes[0], shapes[1], checks


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """`tf.image.psnr`: the peak signal-to-noise ratio in decibels.

    Args:
        a: (..., height, width, channels).
        b: Of the same shape.
        max_val: The difference of the largest and the smallest value that a pixel can have.
        name: Name scope of the operations.

    Returns:
        float32 of shape (...).

    Raises:
        ValueError: The shapes do not fit.
    """
    with name_scope(name, "PSNR", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        peak = convert_image_dtype(tf_cast(max_val, a.dtype), float32)
        a, b = convert_image_dtype(a, float32), convert_image_dtype(b, float32)
        error = reduce_mean(raw_ops.SquaredDifference(a, b), [-3, -2, -1])
        ratio = raw_ops.Sub(
            20 * raw_ops.Log(peak) / raw_ops.Log(constant(10.0)),
            np.float32(10 / np.log(10)) * raw_ops.Log(error),
            name="psnr",
        )
        _, _, checks = _compared(a, b)
        with control_dependencies(checks):
            return raw_ops.Identity(ratio)


def _gauss(size: Any, sigma: Any) -> Any:
    """A Gaussian filter of sum 1, (size, size, 1, 1)."""
    places = tf_cast(tf_range(size), sigma.dtype)
    places = places - tf_cast(size - 1, sigma.dtype) / 2.0
    powers = raw_ops.Square(places) * (-0.5 / raw_ops.Square(sigma))
    powers = tf_reshape(powers, [1, -1]) + tf_reshape(powers, [-1, 1])
    return tf_reshape(softmax(tf_reshape(powers, [1, -1])), [size, size, 1, 1])


def _by_channel(
    a: Any, b: Any, max_val: Any, filter_size: int, filter_sigma: float, k1: float, k2: float
) -> tuple[Any, Any]:
    """The index and its part of contrast and structure, of each channel."""
    size = constant(filter_size, int32)
    sigma = constant(filter_sigma, a.dtype)
    shapes = raw_ops.ShapeN([a, b], out_type=int32)
    checks = [
        tf_assert(reduce_all(raw_ops.GreaterEqual(shape[-3:-1], size)), [shape, size], summarize=8)
        for shape in shapes
    ]
    with control_dependencies(checks):
        a = raw_ops.Identity(a)
    kernel = raw_ops.Tile(_gauss(size, sigma), [1, 1, shapes[0][-1], 1])

    def blurred(x: Any) -> Any:
        shape = tf_shape(x)
        flat = tf_reshape(x, concat([[-1], shape[-3:]], 0))
        y = depthwise_conv2d(flat, kernel, strides=_ONES, padding="VALID")
        return tf_reshape(y, concat([shape[:-3], tf_shape(y)[1:]], 0))

    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_a, mean_b = blurred(a), blurred(b)
    product = mean_a * mean_b * 2.0
    squares = raw_ops.Square(mean_a) + raw_ops.Square(mean_b)
    luminance = (product + c1) / (squares + c1)
    both = blurred(a * b) * 2.0
    each = blurred(raw_ops.Square(a) + raw_ops.Square(b))
    c2 = c2 * 1.0  # TensorFlow's compensation for the filter, which is none
    structure = (both - product + c2) / (each - squares + c2)
    axes = constant([-3, -2], int32)
    return reduce_mean(luminance * structure, axes), reduce_mean(structure, axes)


def _prepared(a: Any, b: Any, max_val: Any) -> tuple[Any, Any, Any, Any]:
    """The images as float32 behind their assertions, the largest value, and the shapes."""
    one, other, checks = _compared(a, b)
    with control_dependencies(checks):
        a = raw_ops.Identity(a)
    peak = convert_image_dtype(tf_cast(max_val, a.dtype), float32)
    return convert_image_dtype(a, float32), convert_image_dtype(b, float32), peak, (one, other)


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Any:
    """`tf.image.ssim`: the structural similarity index, 1 for equal images.

    Args:
        img1: (..., height, width, channels).
        img2: Of the same shape.
        max_val: The difference of the largest and the smallest value that a pixel can have.
        filter_size: Side of the Gaussian filter; images must not be smaller.
        filter_sigma: Its deviation.
        k1: Keeps the luminance's quotient stable.
        k2: Keeps the contrast's quotient stable.

    Returns:
        float32 of shape (...).

    Raises:
        ValueError: The shapes do not fit.
    """
    img1, img2, peak, _ = _prepared(convert_to_tensor(img1), convert_to_tensor(img2), max_val)
    index, _ = _by_channel(img1, img2, peak, filter_size, filter_sigma, k1, k2)
    return reduce_mean(index, [-1])


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Sequence[float] = _MS_SSIM_WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Any:
    """`tf.image.ssim_multiscale`: the product of similarities at halved and halved sizes.

    Args:
        img1: (..., height, width, channels).
        img2: Of the same shape.
        max_val: See `ssim`.
        power_factors: The weight of each scale, the finest first.
        filter_size: See `ssim`.
        filter_sigma: See `ssim`.
        k1: See `ssim`.
        k2: See `ssim`.

    Returns:
        float32 of shape (...).

    Raises:
        ValueError: The shapes do not fit.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        img1, img2, peak, shapes = _prepared(img1, img2, max_val)
        images = [img1, img2]
        heads, tails = [shape[:-3] for shape in shapes], [shape[-3:] for shape in shapes]
        halves = [1, 2, 2, 1]
        divisor = constant(halves[1:], int32)
        parts = []
        for scale in range(len(power_factors)):
            with name_scope(None, f"Scale{scale}", images):
                if scale:
                    flat = [tf_reshape(x, concat([[-1], tail], 0)) for x, tail in zip(images, tails)]
                    rest = tails[0] % divisor
                    odd = reduce_any(raw_ops.NotEqual(rest, 0))
                    even = cond(odd, lambda: _padded(flat, rest), lambda: flat)  # noqa: B023, built at once
                    small = [raw_ops.AvgPool(x, ksize=halves, strides=halves, padding="VALID") for x in even]
                    tails = [shape[1:] for shape in raw_ops.ShapeN(small, out_type=int32)]
                    images = [
                        tf_reshape(x, concat([head, tail], 0)) for x, head, tail in zip(small, heads, tails)
                    ]
                index, structure = _by_channel(images[0], images[1], peak, filter_size, filter_sigma, k1, k2)
                parts.append(raw_ops.Relu(structure))
        values = stack([*parts[:-1], raw_ops.Relu(index)], axis=-1)
        product = reduce_prod(raw_ops.Pow(values, list(power_factors)), [-1])
        return reduce_mean(product, [-1])


def _padded(images: list[Any], amounts: Any) -> list[Any]:
    """Images with their last rows and columns mirrored as often as `amounts` says."""
    paddings = pad(expand_dims(amounts, -1), [[1, 0], [1, 0]])
    return [pad(image, paddings, mode="SYMMETRIC") for image in images]


# Differences


def total_variation(images: Any, name: str | None = None) -> Any:
    """`tf.image.total_variation`: the sum of the differences between neighbours.

    Args:
        images: (height, width, channels), or with a batch before these.
        name: Name scope of the operations.

    Returns:
        A scalar, or one number an image.

    Raises:
        ValueError: The images have another rank.
    """
    with name_scope(name, "total_variation"):
        images = convert_to_tensor(images)
        rank = images.get_shape().ndims
        if rank == 3:
            down, across = images[1:, :, :] - images[:-1, :, :], images[:, 1:, :] - images[:, :-1, :]
        elif rank == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            across = images[:, :, 1:, :] - images[:, :, :-1, :]
        else:
            raise InvalidValueError("'images' must be either 3 or 4-dimensional.")
        axes = None if rank == 3 else [1, 2, 3]
        return reduce_sum(raw_ops.Abs(down), axis=axes) + reduce_sum(raw_ops.Abs(across), axis=axes)


def image_gradients(image: Any) -> tuple[Any, Any]:
    """`tf.image.image_gradients`: `(dy, dx)`, each pixel's difference to the next, 0 for the last.

    Args:
        image: (batch, height, width, channels).

    Raises:
        ValueError: The image has another rank.
    """
    shape = image.get_shape()
    if shape.ndims != 4:
        raise InvalidValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {shape}.")
    sizes = tf_shape(image)
    batch, height, width, depth = unstack(sizes)
    steps = image[:, 1:, :, :] - image[:, :-1, :, :], image[:, :, 1:, :] - image[:, :, :-1, :]
    results = []
    for axis, (step, last) in enumerate(zip(steps, ([batch, 1, width, depth], [batch, height, 1, depth])), 1):
        blank = zeros(stack(last), image.dtype)
        results.append(tf_reshape(concat([step, blank], axis), sizes))
    return results[0], results[1]


def sobel_edges(image: Any) -> Any:
    """`tf.image.sobel_edges`: Sobel's differences along the rows and the columns.

    Args:
        image: (batch, height, width, channels), floating.

    Returns:
        (batch, height, width, channels, 2): down, and across.
    """
    image = convert_to_tensor(image)
    shape, sizes = image.get_shape(), tf_shape(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    kernels = constant(np.stack([down, down.T], -1)[:, :, None, :], image.dtype)
    kernels = raw_ops.Tile(kernels, [1, 1, sizes[-1], 1], name="sobel_filters")
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, kernels, _ONES, "VALID")
    edges = tf_reshape(edges, concat([sizes, [2]], 0))
    if shape.ndims is not None:
        edges.set_shape([*shape.as_list(), 2])
    return edges
