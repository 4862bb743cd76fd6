"""Boxes cut out of images and resized to one size, and the gradients by image and boxes.

A box is (y1, x1, y2, x2) in fractions of the image less one pixel; corners may be swapped, which flips
the crop, and lie outside, where pixels are extrapolated.

Source: tensorflow/core/kernels/crop_and_resize_op.cc (r1.15).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...formats.errors import InvalidArgumentError, OutOfRangeError
from .arrays import Array, shape_text
from .sampling import interpolate, pick
from .segment import unsorted_segment_sum

_CHUNK = 1 << 17  # elements of the crops that are made at once
_LARGE = 1 << 12  # crops of more elements are made one by one, rows and columns one after the other


class _Axis(NamedTuple):
    """Where the pixels of all crops lie along one axis, each array (boxes, crop size)."""

    low: Array
    high: Array
    share: Array
    nearest: Array
    inside: Array


def _axis(first: Array, last: Array, size: int, crop: int, ratio_first: bool = False) -> _Axis:
    span = np.float32(size - 1)
    if crop > 1:
        if ratio_first:
            scale = (last - first) * (span / np.float32(crop - 1))
        else:
            scale = (last - first) * span / np.float32(crop - 1)
        place = (first * span)[:, None] + np.arange(crop, dtype=np.float32) * scale[:, None]
    else:
        middle = 0.5 * (first + last).astype(np.float64) * (size - 1)
        place = np.repeat(middle.astype(np.float32)[:, None], crop, axis=1)
    inside = (place >= 0) & (place <= span)
    safe = np.where(inside, place, np.float32(0))
    floor = np.floor(safe)
    low, high = floor.astype(np.int64), np.ceil(safe).astype(np.int64)
    return _Axis(low, high, safe - floor, np.where(safe - floor >= 0.5, high, low), inside)


def crop_and_resize(
    image: Array, boxes: Array, box_index: Array, crop_size: Array, *, method: str, extrapolation_value: float
) -> Array:
    """TensorFlow's CropAndResize.

    Args:
        image: (batch, height, width, channels), any real dtype.
        boxes: float32 (boxes, 4).
        box_index: int32 (boxes,): which image of the batch.
        crop_size: Height and width of the crops.
        method: "bilinear" or "nearest".
        extrapolation_value: What is outside of the image.

    Returns:
        float32 of shape (boxes, *crop_size, channels).

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
        OutOfRangeError: A box is of no image.
    """
    _check_image(image)
    count = _check_boxes(boxes, box_index)
    if crop_size.ndim != 1:
        raise InvalidArgumentError(f"crop_size must be 1-D{shape_text(crop_size.shape)}")
    if crop_size.shape != (2,):
        raise InvalidArgumentError(f"crop_size must have two elements{shape_text(crop_size.shape)}")
    height, width = crop_size.tolist()
    if height <= 0 or width <= 0:
        raise InvalidArgumentError(f"crop dimensions must be positive, but are {crop_size.tolist()}")
    if not count:
        return np.zeros((0, height, width, image.shape[3]), np.float32)
    which = _check_index(box_index, len(image), boxes)
    rows = _axis(boxes[:, 0], boxes[:, 2], image.shape[1], height)
    columns = _axis(boxes[:, 1], boxes[:, 3], image.shape[2], width)
    out = np.empty((count, height, width, image.shape[3]), np.float32)
    if out[:1].size >= _LARGE:
        for box, crop in enumerate(out):
            number = slice(box, box + 1)
            axes = _part(rows, number), _part(columns, number)
            _cut_one(image[which[box, 0, 0]], *axes, method, extrapolation_value, crop)
        return out
    # A few boxes at a time: what is gathered for them stays in the cache.
    step = max(1, _CHUNK // max(out[:1].size, 1))
    for start in range(0, count, step):
        part = slice(start, start + step)
        out[part] = _cut(
            image, which[part], _part(rows, part), _part(columns, part), method, extrapolation_value
        )
    return out


def _part(axis: _Axis, part: slice) -> _Axis:
    return _Axis(*(array[part] for array in axis))


def _cut_one(
    image: Array, rows: _Axis, columns: _Axis, method: str, extrapolation_value: float, out: Array
) -> None:
    """A single crop, into `out`."""
    if method == "nearest":
        out[...] = pick(image[None], rows.nearest[0], columns.nearest[0])[0]
    else:
        sides = [(axis.low[0], axis.high[0], axis.share[0]) for axis in (rows, columns)]
        interpolate(image, sides[0], sides[1], out)
    if not rows.inside.all():
        out[~rows.inside[0]] = extrapolation_value
    if not columns.inside.all():
        out[:, ~columns.inside[0]] = extrapolation_value


def _cut(
    image: Array, which: Array, rows: _Axis, columns: _Axis, method: str, extrapolation_value: float
) -> Array:
    inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
    if method == "nearest":
        crops = image[which, rows.nearest[:, :, None], columns.nearest[:, None, :]].astype(np.float32)
    else:
        corners = _corners(image, which, rows, columns)
        across, down = columns.share[:, None, :, None], rows.share[:, :, None, None]
        top = corners[0] + (corners[1] - corners[0]) * across
        bottom = corners[2] + (corners[3] - corners[2]) * across
        crops = top + (bottom - top) * down
    return crops if inside.all() else np.where(inside, crops, np.float32(extrapolation_value))


def _corners(image: Array, which: Array, rows: _Axis, columns: _Axis) -> list[Array]:
    """The pixels top left, top right, bottom left and bottom right of each place, float32."""
    return [
        image[which, row[:, :, None], column[:, None, :]].astype(np.float32, copy=False)
        for row in (rows.low, rows.high)
        for column in (columns.low, columns.high)
    ]


def crop_and_resize_grad_image(
    grads: Array,
    boxes: Array,
    box_index: Array,
    image_size: Array,
    *,
    dtype: np.dtype[np.generic],
    method: str,
) -> Array:
    """TensorFlow's CropAndResizeGradImage.

    Args:
        grads: float32, gradient with respect to the crops.
        boxes: As in `crop_and_resize`.
        box_index: As in `crop_and_resize`.
        image_size: Shape of the images, four ints.
        dtype: Of the result.
        method: As in `crop_and_resize`.

    Returns:
        The gradient with respect to the images.

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
        OutOfRangeError: A box is of no image.
    """
    count = _check_grads(grads, boxes, box_index)
    if image_size.ndim != 1:
        raise InvalidArgumentError(f"image_size must be 1-D{shape_text(image_size.shape)}")
    if image_size.shape != (4,):
        raise InvalidArgumentError(f"image_size must have 4 elements{shape_text(image_size.shape)}")
    batch, height, width, depth = image_size.tolist()
    if height <= 0 or width <= 0:
        raise InvalidArgumentError(f"image dimensions must be positive, but are {image_size.tolist()}")
    if grads.shape[3] != depth:
        raise InvalidArgumentError(
            f"image_size and grads are incompatible: {depth} channels and {grads.shape[3]}"
        )
    if not count:
        return np.zeros((batch, height, width, depth), dtype)
    which = _check_index(box_index, batch, boxes)
    rows = _axis(boxes[:, 0], boxes[:, 2], height, grads.shape[1])
    columns = _axis(boxes[:, 1], boxes[:, 3], width, grads.shape[2])
    across, down = columns.share[:, None, :], rows.share[:, :, None]
    pieces: list[tuple[Array, Array, Array | None]]
    if method == "nearest":
        pieces = [(rows.nearest, columns.nearest, None)]
    else:
        pieces = [
            (rows.low, columns.low, (1 - down) * (1 - across)),
            (rows.low, columns.high, (1 - down) * across),
            (rows.high, columns.low, down * (1 - across)),
            (rows.high, columns.high, down * across),
        ]
    inside = rows.inside[:, :, None] & columns.inside[:, None, :]
    values, places = [], []
    for row, column, weight in pieces:
        at = (which * height + row[:, :, None]) * width + column[:, None, :]
        values.append((grads if weight is None else grads * weight[..., None])[inside])
        places.append(at[inside])
    total = unsorted_segment_sum(
        np.concatenate(values).astype(np.float64 if dtype == np.float64 else np.float32, copy=False),
        np.concatenate(places),
        batch * height * width,
    )
    return total.reshape(batch, height, width, depth).astype(dtype, copy=False)


def crop_and_resize_grad_boxes(grads: Array, image: Array, boxes: Array, box_index: Array) -> Array:
    """TensorFlow's CropAndResizeGradBoxes, which is that of bilinear resizing for both methods.

    Args:
        grads: float32, gradient with respect to the crops.
        image: As in `crop_and_resize`.
        boxes: As in `crop_and_resize`.
        box_index: As in `crop_and_resize`.

    Returns:
        The gradient with respect to the boxes, float32 (boxes, 4).

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
        OutOfRangeError: A box is of no image.
    """
    _check_image(image)
    if grads.ndim == 4 and image.shape[3] != grads.shape[3]:
        raise InvalidArgumentError(f"image, grads depth differ: {image.shape[3]} and {grads.shape[3]}")
    count = _check_grads(grads, boxes, box_index)
    if not count:
        return np.zeros((0, 4), np.float32)
    which = _check_index(box_index, len(image), boxes)
    sizes = [
        (image.shape[axis], grads.shape[axis], boxes[:, axis - 1], boxes[:, axis + 1]) for axis in (1, 2)
    ]
    rows, columns = (_axis(first, last, size, crop, True) for size, crop, first, last in sizes)
    top_left, top_right, bottom_left, bottom_right = _corners(image, which, rows, columns)
    across, down = columns.share[:, None, :, None], rows.share[:, :, None, None]
    slopes = (
        (1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right),
        (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left),
    )
    inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
    out = np.zeros((count, 4), np.float32)
    for axis, slope in enumerate(slopes):
        size, crop, *_ = sizes[axis]
        # How much the far corner moves each pixel of the crop; the near one moves it the rest.
        far = np.arange(crop, dtype=np.float32) * (np.float32(size - 1) / np.float32(max(crop - 1, 1)))
        if crop == 1:
            far = np.full(1, 0.5 * (size - 1), np.float32)
        along = np.where(inside, slope * grads, 0).sum(axis=(2 - axis, 3), dtype=np.float64)
        out[:, axis] = (along * (np.float32(size - 1) - far)).sum(1)
        out[:, axis + 2] = (along * far).sum(1)
    return out


def _check_image(image: Array) -> None:
    if image.ndim != 4:
        raise InvalidArgumentError(f"input image must be 4-D{shape_text(image.shape)}")
    if image.shape[1] <= 0 or image.shape[2] <= 0:
        raise InvalidArgumentError(f"image dimensions must be positive, but are {shape_text(image.shape)}")


def _check_grads(grads: Array, boxes: Array, box_index: Array) -> int:
    if grads.ndim != 4:
        raise InvalidArgumentError(f"grads image must be 4-D{shape_text(grads.shape)}")
    if grads.shape[1] <= 0 or grads.shape[2] <= 0:
        raise InvalidArgumentError(f"grads dimensions must be positive, but are {shape_text(grads.shape)}")
    count = _check_boxes(boxes, box_index)
    if len(grads) != count:
        raise InvalidArgumentError(f"boxes and grads have incompatible shape: {count} and {len(grads)}")
    return count


def _check_boxes(boxes: Array, box_index: Array) -> int:
    """The number of boxes."""
    if not boxes.size and not box_index.size:
        return 0
    if boxes.ndim != 2:
        raise InvalidArgumentError(f"boxes must be 2-D{shape_text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise InvalidArgumentError(f"boxes must have 4 columns, but are {shape_text(boxes.shape)}")
    if box_index.ndim != 1:
        raise InvalidArgumentError(f"box_index must be 1-D{shape_text(box_index.shape)}")
    if len(box_index) != len(boxes):
        raise InvalidArgumentError(f"box_index has incompatible shape: {len(box_index)}, boxes {len(boxes)}")
    return len(boxes)


def _check_index(box_index: Array, batch: int, boxes: Array) -> Array:
    """The images of the boxes, to be indexed with rows and columns."""
    if ((box_index < 0) | (box_index >= batch)).any():
        raise OutOfRangeError(
            f"box_index has values outside [0, batch_size): {box_index.tolist()}, batch_size {batch}"
        )
    if not np.isfinite(boxes).all():
        raise InvalidArgumentError("Boxes contains at least one element that is not finite")
    return box_index.astype(np.int64)[:, None, None]
