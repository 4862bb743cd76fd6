"""Resizing of images (NHWC): nearest neighbour, bilinear, bicubic, by area, and their gradients.

Where output pixel i lies in the input, per axis, in float32 as TensorFlow computes it:

    default             i * (size / out)
    align_corners       i * ((size - 1) / (out - 1))
    half_pixel_centers  (i + 0.5) * (size / out) - 0.5
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text, widened
from .sampling import Taps, interpolate, pick

# Bicubic weights are looked up in a table of this many steps a pixel.
_TABLE_SIZE = 1 << 10


def resize_bilinear(
    images: Array,
    size: Sequence[int] | Array,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """TensorFlow's ResizeBilinear.

    Args:
        images: (batch, height, width, channels), any real dtype.
        size: New height and width.
        align_corners: See the module.
        half_pixel_centers: See the module; not together with align_corners.

    Returns:
        float32 of shape (batch, *size, channels).

    Raises:
        InvalidArgumentError: images is not 4-D or empty, or size is not two positive numbers.
    """
    height, width = checked_size(images, size, align_corners, half_pixel_centers)
    rows = neighbours(images.shape[1], height, align_corners, half_pixel_centers)
    columns = neighbours(images.shape[2], width, align_corners, half_pixel_centers)
    out = np.empty((len(images), height, width, images.shape[3]), np.float32)
    for image, result in zip(images, out):
        interpolate(image, rows, columns, result)
    return out


def resize_bilinear_grad(
    grads: Array,
    original_image: Array,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """TensorFlow's ResizeBilinearGrad.

    Args:
        grads: float32, gradient with respect to the resized images.
        original_image: What was resized; shape and dtype count.
        align_corners: As in `resize_bilinear`.
        half_pixel_centers: As in `resize_bilinear`.

    Returns:
        The gradient with respect to the images, in the dtype of `original_image`.

    Raises:
        InvalidArgumentError: Arrays that are not 4-D, or empty images.
    """
    checked_gradient(grads, original_image, align_corners, half_pixel_centers)
    taps = []
    for axis in (1, 2):
        lower, upper, share = neighbours(
            original_image.shape[axis], grads.shape[axis], align_corners, half_pixel_centers
        )
        taps.append(Taps.of_columns(np.stack([lower, upper], 1), np.stack([1 - share, share], 1)))
    return _spread(grads, original_image, *taps)


def resize_bicubic(
    images: Array,
    size: Sequence[int] | Array,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """TensorFlow's ResizeBicubic: four pixels a side, weights from a table.

    Args:
        images: (batch, height, width, channels), any real dtype.
        size: New height and width.
        align_corners: See the module.
        half_pixel_centers: See the module; then also Keys' parameter is -0.5, else -0.75, and
            pixels outside do not count instead of repeating those at the edge.

    Returns:
        float32 of shape (batch, *size, channels).

    Raises:
        InvalidArgumentError: See `resize_bilinear`.
    """
    height, width = checked_size(images, size, align_corners, half_pixel_centers)
    rows = _cubic_taps(images.shape[1], height, align_corners, half_pixel_centers)
    columns = _cubic_taps(images.shape[2], width, align_corners, half_pixel_centers)
    return columns.gather(rows.gather(images.astype(np.float32, copy=False), 1), 2)


def resize_bicubic_grad(
    grads: Array,
    original_image: Array,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """TensorFlow's ResizeBicubicGrad.

    Args:
        grads: float32, gradient with respect to the resized images.
        original_image: What was resized; shape and dtype count.
        align_corners: As in `resize_bicubic`.
        half_pixel_centers: As in `resize_bicubic`.

    Returns:
        The gradient with respect to the images, in the dtype of `original_image`.

    Raises:
        InvalidArgumentError: Arrays that are not 4-D.
    """
    checked_gradient(grads, original_image, align_corners, half_pixel_centers)
    taps = [
        _cubic_taps(original_image.shape[axis], grads.shape[axis], align_corners, half_pixel_centers)
        for axis in (1, 2)
    ]
    return _spread(grads, original_image, *taps)


def _cubic_taps(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    place = _places(size, out, align_corners, half_pixel_centers)
    floor = np.floor(place).astype(np.int64)
    offset = np.rint((place - floor.astype(np.float32)) * np.float32(_TABLE_SIZE)).astype(np.int64)
    near, far = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    weights = np.stack(
        [far[offset], near[offset], near[_TABLE_SIZE - offset], far[_TABLE_SIZE - offset]], axis=1
    )
    wanted = floor[:, None] + np.arange(-1, 3)
    sources = np.clip(wanted, 0, size - 1)
    if half_pixel_centers:
        weights = np.where(sources == wanted, weights, np.float32(0))
        total = weights.sum(1, keepdims=True, dtype=np.float32)
        large = np.abs(total) >= np.float32(1000) * np.finfo(np.float32).tiny
        weights = np.where(large, weights * (np.float32(1) / np.where(large, total, 1)), weights)
    return Taps.of_columns(sources, weights.astype(np.float32, copy=False))


def _cubic_table(a: float) -> tuple[Array, Array]:
    """Keys' cubic of parameter `a` at the distances 0 to 1, and 1 to 2 (float32)."""
    x = (np.arange(_TABLE_SIZE + 1) / _TABLE_SIZE).astype(np.float32).astype(np.float64)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return near.astype(np.float32), far.astype(np.float32)


def resize_area(images: Array, size: Sequence[int] | Array, *, align_corners: bool = False) -> Array:
    """TensorFlow's ResizeArea: the mean of what an output pixel covers, pixels at its edges in part.

    Args:
        images: (batch, height, width, channels), any real dtype.
        size: New height and width.
        align_corners: See the module.

    Returns:
        float32 of shape (batch, *size, channels).

    Raises:
        InvalidArgumentError: See `resize_bilinear`.
    """
    height, width = checked_size(images, size, align_corners, False)
    rows, row_scale = _area_taps(images.shape[1], height, align_corners)
    columns, column_scale = _area_taps(images.shape[2], width, align_corners)
    sums = rows.gather(columns.gather(images.astype(np.float32, copy=False), 2), 1)
    return np.asarray(sums * (np.float32(1) / (row_scale * column_scale)))


def _area_taps(size: int, out: int, align_corners: bool) -> tuple[Taps, np.float32]:
    scale = _scale(size, out, align_corners)
    if scale == 0:  # corners are aligned of one pixel, which then is all there is (1.15 gives NaN)
        return Taps.of_columns(np.zeros((out, 1), np.int64), np.ones((out, 1), np.float32)), np.float32(1)
    edges = np.arange(out + 1, dtype=np.float32) * scale
    first = np.floor(edges[:-1]).astype(np.int64)
    taps, pixels, owners = Taps.of_spans(first, np.maximum(np.ceil(edges[1:]).astype(np.int64), first + 1))
    left, right = edges[owners], edges[owners + 1]
    begins, ends = pixels.astype(np.float32), (pixels + 1).astype(np.float32)
    taps.weights[:] = np.where(
        begins < left,
        np.where(ends > right, scale, ends - left),
        np.where(ends > right, right - begins, np.float32(1)),
    )
    return Taps(np.clip(pixels, 0, size - 1), taps.weights, taps.starts), scale


def resize_nearest_neighbor(
    images: Array,
    size: Sequence[int] | Array,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """TensorFlow's ResizeNearestNeighbor.

    Args:
        images: (batch, height, width, channels), any dtype.
        size: New height and width.
        align_corners: See the module; the position is rounded, otherwise its fraction is cut off.
        half_pixel_centers: See the module, but without the last 0.5.

    Returns:
        Of shape (batch, *size, channels) and images' dtype.

    Raises:
        InvalidArgumentError: See `resize_bilinear`.
    """
    height, width = checked_size(images, size, align_corners, half_pixel_centers)
    rows = _nearest(images.shape[1], height, align_corners, half_pixel_centers)
    columns = _nearest(images.shape[2], width, align_corners, half_pixel_centers)
    return pick(images, rows, columns)


def resize_nearest_neighbor_grad(
    grads: Array,
    size: Sequence[int] | Array,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
) -> Array:
    """TensorFlow's ResizeNearestNeighborGrad.

    Args:
        grads: Gradient with respect to the resized images.
        size: Height and width of the images.
        align_corners: As in `resize_nearest_neighbor`.
        half_pixel_centers: As in `resize_nearest_neighbor`.

    Returns:
        The gradient with respect to the images, in grads' dtype.

    Raises:
        InvalidArgumentError: grads is not 4-D, or size is not two positive numbers.
    """
    height, width = checked_target(grads, size)
    result = grads
    for axis, original in ((1, height), (2, width)):
        places = _nearest(original, grads.shape[axis], align_corners, half_pixel_centers)
        ones = np.ones(len(places), widened(grads[:0]).dtype)
        result = Taps(places, ones, np.arange(len(places))).spread(widened(result), axis, original)
    return result.astype(grads.dtype, copy=False)


def _spread(grads: Array, original_image: Array, rows: Taps, columns: Taps) -> Array:
    """Gradients of the resized images brought back along both axes."""
    wide = grads.astype(np.float64 if original_image.dtype == np.float64 else np.float32, copy=False)
    down = rows.spread(wide, 1, original_image.shape[1])
    across = columns.spread(down, 2, original_image.shape[2])
    return across.astype(original_image.dtype, copy=False)


def _scale(size: int, out: int, align_corners: bool) -> np.float32:
    if align_corners and out > 1:
        return np.float32(size - 1) / np.float32(out - 1)
    return np.float32(size) / np.float32(out)


def _places(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    place = np.arange(out, dtype=np.float32)
    scale = _scale(size, out, align_corners)
    if half_pixel_centers:
        return np.asarray((place + np.float32(0.5)) * scale - np.float32(0.5))
    return np.asarray(place * scale)


def neighbours(
    size: int, out: int, align_corners: bool, half_pixel_centers: bool
) -> tuple[Array, Array, Array]:
    """For each output pixel the input pixels before and after it, and the share of the latter."""
    place = _places(size, out, align_corners, half_pixel_centers)
    floor = np.floor(place)
    lower = np.maximum(floor.astype(np.int64), 0)
    upper = np.minimum(np.ceil(place).astype(np.int64), size - 1)
    return np.minimum(lower, size - 1), upper, place - floor


def _nearest(size: int, out: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    place = np.arange(out, dtype=np.float32)
    scale = _scale(size, out, align_corners)
    place = (place + np.float32(0.5)) * scale if half_pixel_centers else place * scale
    if align_corners:
        place = place + np.float32(0.5)  # halves are rounded up, as C's roundf does
    return np.clip(np.floor(place).astype(np.int64), 0, size - 1)


def checked_size(
    images: Array, size: Sequence[int] | Array, align_corners: bool, half_pixel_centers: bool
) -> tuple[int, int]:
    """The new height and width as ints.

    Raises:
        InvalidArgumentError: The images or the size cannot be, with TensorFlow's texts.
    """
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
    sizes = _checked_pair(images, size)
    if (sizes <= 0).any():
        raise InvalidArgumentError(
            f"output dimensions must be positive, but are {sizes.tolist()}", size=sizes.tolist()
        )
    check_images(images)
    return int(sizes[0]), int(sizes[1])


def check_images(images: Array) -> None:
    """Checks that images have pixels.

    Raises:
        InvalidArgumentError: A side or the channels are none, with TensorFlow's text.
    """
    shape = shape_text(images.shape)
    if images.shape[3] == 0:
        raise InvalidArgumentError(f"image must have at least one channel, but has shape {shape}")
    if images.shape[1] == 0 or images.shape[2] == 0:
        raise InvalidArgumentError(f"input image must be of non-zero size, but has shape {shape}")


def checked_target(grads: Array, size: Sequence[int] | Array) -> tuple[int, int]:
    """Height and width of the images that a gradient is for.

    Raises:
        InvalidArgumentError: The gradients or the size cannot be, with TensorFlow's texts.
    """
    sizes = _checked_pair(grads, size)
    if (sizes <= 0).any():
        raise InvalidArgumentError(
            f"shape_t's elements must be positive, but are {sizes.tolist()}", size=sizes.tolist()
        )
    return int(sizes[0]), int(sizes[1])


def _checked_pair(images: Array, size: Sequence[int] | Array) -> Array:
    if images.ndim != 4:
        raise InvalidArgumentError(
            f"input must be 4-dimensional{shape_text(images.shape)}", shape=list(images.shape)
        )
    sizes = np.asarray(size)
    if sizes.ndim != 1:
        raise InvalidArgumentError(
            f"shape_t must be 1-dimensional{shape_text(sizes.shape)}", shape=list(sizes.shape)
        )
    if sizes.shape != (2,):
        raise InvalidArgumentError(
            f"shape_t must have two elements{shape_text(sizes.shape)}", shape=list(sizes.shape)
        )
    return sizes


def checked_gradient(
    grads: Array, original_image: Array, align_corners: bool, half_pixel_centers: bool
) -> None:
    """Checks the inputs of a resizing's gradient.

    Raises:
        InvalidArgumentError: They cannot be, with TensorFlow's texts.
    """
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
    for name, array in (("input_grad", grads), ("original_image", original_image)):
        if array.ndim != 4:
            raise InvalidArgumentError(
                f"{name} must be 4-dimensional{shape_text(array.shape)}", shape=list(array.shape)
            )
    if grads.size:
        check_images(original_image)
