"""Resizing of images (NHWC): nearest neighbour and bilinear, and their gradients.

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
    wide = images.astype(np.float32, copy=False)
    left = wide[:, :, columns[0]]
    across = left + (wide[:, :, columns[1]] - left) * columns[2][:, None]
    top = across[:, rows[0]]
    return np.asarray(top + (across[:, rows[1]] - top) * rows[2][:, None, None])


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
    if grads.ndim != 4:
        raise InvalidArgumentError("input_grad must be 4-dimensional", shape=list(grads.shape))
    checked_size(original_image, grads.shape[1:3], align_corners, half_pixel_centers)
    weights = []
    for axis in (1, 2):
        size, out = original_image.shape[axis], grads.shape[axis]
        lower, upper, share = neighbours(size, out, align_corners, half_pixel_centers)
        matrix = np.zeros((size, out), np.float64 if original_image.dtype == np.float64 else np.float32)
        np.add.at(matrix, (lower, np.arange(out)), 1 - share)
        np.add.at(matrix, (upper, np.arange(out)), share)
        weights.append(matrix)
    return _spread(grads, *weights).astype(original_image.dtype, copy=False)


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
    return np.ascontiguousarray(images[:, rows][:, :, columns])


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
    height, width = checked_size(grads, size, align_corners, half_pixel_centers)
    weights = []
    for axis, original in ((1, height), (2, width)):
        places = _nearest(original, grads.shape[axis], align_corners, half_pixel_centers)
        matrix = np.zeros((original, grads.shape[axis]), grads.dtype)
        matrix[places, np.arange(grads.shape[axis])] = 1
        weights.append(matrix)
    return _spread(grads, *weights).astype(grads.dtype, copy=False)


def _spread(grads: Array, rows: Array, columns: Array) -> Array:
    """Gradients of the resized images times the (size, out) weights of either axis."""
    rows, columns, wide = widened(rows), widened(columns), widened(grads)
    batch, height, width, channels = grads.shape
    down = np.matmul(rows, wide.reshape(batch, height, width * channels))
    return np.asarray(np.matmul(columns, down.reshape(batch, rows.shape[0], width, channels)))


def _scale(size: int, out: int, align_corners: bool) -> np.float32:
    if align_corners and out > 1:
        return np.float32(size - 1) / np.float32(out - 1)
    return np.float32(size) / np.float32(out)


def neighbours(
    size: int, out: int, align_corners: bool, half_pixel_centers: bool
) -> tuple[Array, Array, Array]:
    """For each output pixel the input pixels before and after it, and the share of the latter."""
    place = np.arange(out, dtype=np.float32)
    scale = _scale(size, out, align_corners)
    place = (place + np.float32(0.5)) * scale - np.float32(0.5) if half_pixel_centers else place * scale
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
    shape = shape_text(images.shape)
    if images.ndim != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional{shape}", shape=list(images.shape))
    sizes = np.asarray(size)
    if sizes.shape != (2,):
        raise InvalidArgumentError(
            f"shape_t must have two elements{shape_text(sizes.shape)}", shape=list(sizes.shape)
        )
    if (sizes <= 0).any():
        raise InvalidArgumentError(
            f"output dimensions must be positive, but are {sizes.tolist()}", size=sizes.tolist()
        )
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
    if images.shape[1] == 0 or images.shape[2] == 0:
        raise InvalidArgumentError(f"input image must be of non-zero size, but has shape {shape}")
    return int(sizes[0]), int(sizes[1])
