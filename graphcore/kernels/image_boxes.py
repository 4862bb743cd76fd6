"""Boxes on images: drawing them, cutting glimpses, and sampling them.

Source: tensorflow/core/kernels/draw_bounding_box_op.cc, attention_ops.cc and
sample_distorted_bounding_box_op.cc (r1.15).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text

# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua and fuchsia, with alpha.
_COLORS = (
    (1, 1, 0, 1),
    (0, 0, 1, 1),
    (1, 0, 0, 1),
    (0, 1, 0, 1),
    (0.5, 0, 0.5, 1),
    (0.5, 0.5, 0, 1),
    (0.5, 0, 0, 1),
    (0, 0, 0.5, 1),
    (0, 1, 1, 1),
    (1, 0, 1, 1),
)


def draw_bounding_boxes(images: Array, boxes: Array, colors: Array | None = None) -> Array:
    """TensorFlow's DrawBoundingBoxes and its V2: lines of one pixel along the edges of boxes.

    Args:
        images: (batch, height, width, channels), 1, 3 or 4 channels.
        boxes: float32 (batch, boxes, 4): y1, x1, y2, x2 in fractions of the image less one pixel. A box
            that is inverted or outside is not drawn.
        colors: float32 (colors, channels or more), taken in turn; None or empty: ten colours.

    Returns:
        The images with the boxes.

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
    """
    if images.ndim != 4:
        raise InvalidArgumentError(f"The rank of the images should be 4: {shape_text(images.shape)}")
    if boxes.ndim != 3:
        raise InvalidArgumentError(f"The rank of the boxes tensor should be 3: {shape_text(boxes.shape)}")
    if len(images) != len(boxes):
        raise InvalidArgumentError(f"The batch sizes should be the same: {len(images)} and {len(boxes)}")
    if boxes.shape[2] != 4:
        raise InvalidArgumentError(
            f"The size of the third dimension of the box must be 4. Received: {boxes.shape[2]}"
        )
    height, width, depth = images.shape[1:]
    if depth not in (1, 3, 4):
        raise InvalidArgumentError(
            f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), but is {depth}"
        )
    table = np.array(_COLORS, np.float32)
    if depth == 1:
        table[:, 0] = 1
    if colors is not None:
        if colors.ndim != 2:
            raise InvalidArgumentError(f"colors must be a 2-D matrix{shape_text(colors.shape)}")
        if colors.shape[1] < depth:
            raise InvalidArgumentError(
                f"colors must have equal or more channels than the image provided: {shape_text(colors.shape)}"
            )
        table = colors if colors.size else table
    out = images.copy()
    for canvas, its_boxes in zip(out, boxes):
        for index, box in enumerate(its_boxes):
            scaled = box.astype(np.float32) * np.array([height - 1, width - 1] * 2, np.float32)
            top, left, bottom, right = (_as_int64(number) for number in scaled)
            if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
                continue
            color = table[index % len(table), :depth]
            rows = slice(max(top, 0), min(bottom, height - 1) + 1)
            columns = slice(max(left, 0), min(right, width - 1) + 1)
            for row in (top, bottom):
                if 0 <= row < height:
                    canvas[row, columns] = color
            for column in (left, right):
                if 0 <= column < width:
                    canvas[rows, column] = color
    return out


def _as_int64(number: np.float32) -> int:
    """As x86 converts: what does not fit, and NaN, is the lowest int64."""
    return int(number) if abs(number) < 2.0**63 else -(2**63)


def extract_glimpse(
    images: Array,
    size: Array,
    offsets: Array,
    *,
    centered: bool,
    normalized: bool,
    noise: str,
    generator: np.random.Generator,
) -> Array:
    """TensorFlow's ExtractGlimpse: a window around a point of each image.

    Args:
        images: float32 (batch, height, width, channels).
        size: Height and width of the windows.
        offsets: float32 (batch, 2): y, x of the windows' centres.
        centered: Whether offsets count from the middle of the image, and in halves of it if normalized.
        normalized: Whether offsets are fractions of the image.
        noise: What is outside of the image: "uniform" between the image's extremes, "gaussian" by each
            channel's mean and deviation, or "zero".
        generator: Source of the noise.

    Returns:
        float32 of shape (batch, *size, channels).

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
    """
    if images.ndim != 4:
        raise InvalidArgumentError(
            f"input must be 4-dimensional (batch_size, height, width, depth){shape_text(images.shape)}"
        )
    if size.shape != (2,):
        raise InvalidArgumentError(
            f"input must be a vector of size 2 (height, width){shape_text(size.shape)}"
        )
    if offsets.ndim != 2:
        raise InvalidArgumentError(f"input must be a matrix{shape_text(offsets.shape)}")
    if len(offsets) != len(images):
        raise InvalidArgumentError(f"first dimension should be batch{shape_text(offsets.shape)}")
    if offsets.shape[1] != 2:
        raise InvalidArgumentError(f"second dimension should be of size 2 (y,x){shape_text(offsets.shape)}")
    window = size.tolist()
    if min(window) < 0:
        raise InvalidArgumentError(f"The size of a glimpse must not be negative: {window}")
    out = np.zeros((len(images), *window, images.shape[3]), np.float32)
    if not out.size:
        return out
    for image, offset, glimpse in zip(images, offsets, out):
        targets, sources, whole = [], [], True
        for place, length, wanted in zip(offset, image.shape[:2], window):
            with np.errstate(all="ignore"):
                start = place * np.float32(length) if normalized else place
            if centered:
                start = start / np.float32(2) + np.float32(length / 2)
            begin = _as_int64(start - np.float32(wanted / 2))
            first, last = max(begin, 0), min(begin + wanted, length)
            whole = whole and begin >= 0 and begin + wanted <= length
            targets.append(slice(first - begin, max(last, first) - begin))
            sources.append(slice(first, max(last, first)))
        if not whole:
            glimpse[:] = _noise(image, glimpse.shape, noise, generator)
        glimpse[tuple(targets)] = image[tuple(sources)]
    return out


def _noise(image: Array, shape: tuple[int, ...], noise: str, generator: np.random.Generator) -> Array:
    if noise == "zero" or not image.size:
        return np.zeros(shape, np.float32)
    if noise == "uniform":
        low, high = image.min(), image.max()
        uniform: Array = low + generator.random(shape, np.float32) * (high - low)
        return uniform
    drawn = image.mean((0, 1)) + generator.standard_normal(shape, np.float32) * image.std((0, 1))
    clipped: Array = np.clip(drawn, image.min((0, 1)), image.max((0, 1)))
    return clipped


def uniform(words: Iterator[int], count: int) -> int:
    """An integer in [0, count) of a stream of 32-bit words, without bias.

    Source: tensorflow/core/lib/random/exact_uniform_int.h (r1.15).
    """
    if count & (count - 1) == 0:
        return next(words) & (count - 1) if count else next(words) * 0
    remainder = (0xFFFFFFFF % count) + 1
    word = next(words)
    while word < remainder:
        word = next(words)
    return word % count


def _rounded(value: np.float32) -> int:
    return int(np.rint(value))


def random_crop_box(
    words: Iterator[int], width: int, height: int, area_range: Sequence[float], aspect_ratio: np.float32
) -> tuple[int, int, int, int] | None:
    """A random box within an image: its area in `area_range` (of the image's), its shape as asked for.

    Returns:
        x1, y1, x2, y2, or None where there is no such box.
    """
    smallest, largest = (np.float32(part) for part in area_range)
    if largest <= 0 or aspect_ratio <= 0 or width <= 0 or height <= 0 or smallest > largest:
        return None
    least = smallest * np.float32(width) * np.float32(height)
    most = largest * np.float32(width) * np.float32(height)
    tall = _rounded(np.sqrt(least / aspect_ratio))
    tallest = _rounded(np.sqrt(most / aspect_ratio))
    if _rounded(np.float32(tallest) * aspect_ratio) > width:
        tallest = int((width + 0.5 - float(np.float32(1e-7))) / float(aspect_ratio))
    tallest = min(tallest, height)
    tall = min(tall, tallest)
    if tall < tallest:
        tall += uniform(words, tallest - tall + 1)
    wide = _rounded(np.float32(tall) * aspect_ratio)
    area = np.float32(wide * tall)
    if area < least:  # rounding may have made it a little too small, or too large
        tall += 1
        wide = _rounded(np.float32(tall) * aspect_ratio)
        area = np.float32(wide * tall)
    if area > most:
        tall -= 1
        wide = _rounded(np.float32(tall) * aspect_ratio)
        area = np.float32(wide * tall)
    if area < least or area > most or not 0 < wide <= width or not 0 < tall <= height:
        return None
    top = uniform(words, height - tall) if tall < height else 0
    left = uniform(words, width - wide) if wide < width else 0
    return left, top, left + wide, top + tall


def sample_distorted_bounding_box(
    image_size: Array,
    bounding_boxes: Array,
    min_object_covered: np.float32,
    words: Callable[[int], Iterator[int]],
    *,
    aspect_ratio_range: Sequence[float],
    area_range: Sequence[float],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> tuple[Array, Array, Array]:
    """TensorFlow's SampleDistortedBoundingBox: a random crop that shows enough of an object.

    Args:
        image_size: Height, width and channels, any integer dtype.
        bounding_boxes: float32 (batch, boxes, 4) in [0, 1]: the objects.
        min_object_covered: What part of some object must be in the crop.
        words: From a count of words to a stream of them.
        aspect_ratio_range: Of the crop, width by height.
        area_range: Of the crop, in parts of the image.
        max_attempts: After so many the whole image is the crop.
        use_image_if_no_bounding_boxes: Whether the image is the object where there is none.

    Returns:
        Begin and size for a Slice (image_size's dtype), and the crop as a box, float32 (1, 1, 4).

    Raises:
        InvalidArgumentError: An argument cannot be, with TensorFlow's text.
    """
    if image_size.ndim != 1:
        raise InvalidArgumentError(f"image_size must be 1-dimensional{shape_text(image_size.shape)}")
    if image_size.shape != (3,):
        raise InvalidArgumentError(f"image_size must contain 3 elements{shape_text(image_size.shape)}")
    height, width = (int(size) for size in image_size[:2])
    for name, size in (("height", height), ("width", width)):
        if not 0 <= size < 2**31 - 1:
            raise InvalidArgumentError(f"image {name} cannot be >= int32 max: {size}")
    if bounding_boxes.ndim != 3:
        raise InvalidArgumentError(
            "input boxes must be 3-dimensional [batch, num_boxes, coords]: "
            f"{shape_text(bounding_boxes.shape)}"
        )
    if bounding_boxes.shape[2] != 4:
        raise InvalidArgumentError(
            f"bounding boxes must have shape [4] or [*, 4], got {shape_text(bounding_boxes.shape)}"
        )
    if min_object_covered < 0:
        raise InvalidArgumentError(f"Min object covered must be non-negative: {min_object_covered:g}")
    flat = bounding_boxes.reshape(-1, 4)
    wrong = flat[~((flat >= 0) & (flat <= 1))]
    if wrong.size:
        raise InvalidArgumentError(f"All bounding box coordinates must be in [0.0, 1.0]: {wrong[0]:g}")
    if not flat.size and not use_image_if_no_bounding_boxes:
        raise InvalidArgumentError(
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish "
            "to not provide any bounding boxes."
        )
    sides = np.array([height, width] * 2, np.float32)
    objects = (flat * sides).astype(np.int64) if flat.size else np.array([[0, 0, height, width]])
    areas = np.prod(objects[:, 2:] - objects[:, :2], axis=1)
    objects, areas = objects[areas >= 1], areas[areas >= 1]
    stream = words(4 * max_attempts)
    low, high = (np.float32(ratio) for ratio in aspect_ratio_range)
    crop = (0, 0, width, height)
    for _ in range(max_attempts):
        share = np.uint32(next(stream) & 0x7FFFFF | 0x3F800000).view(np.float32) - np.float32(1)
        found = random_crop_box(stream, width, height, area_range, share * (high - low) + low)
        if found is not None and _shows(found, objects, areas, min_object_covered):
            crop = found
            break
    left, top, right, bottom = crop
    dtype = image_size.dtype
    with np.errstate(all="ignore"):
        box = np.array([top, left, bottom, right], np.float32) / sides
    return (
        np.array([top, left, 0]).astype(dtype),
        np.array([bottom - top, right - left, -1]).astype(dtype),
        box.reshape(1, 1, 4),
    )


def _shows(crop: tuple[int, int, int, int], objects: Array, areas: Array, part: np.float32) -> bool:
    left, top, right, bottom = crop
    if (right - left) * (bottom - top) < 1:
        return False
    first = np.maximum(objects[:, :2], [top, left])
    last = np.minimum(objects[:, 2:], [bottom, right])
    inside = (first <= last).all(1)
    common = np.where(inside, np.prod(last - first, axis=1), 0)
    return bool((common.astype(np.float32) / areas.astype(np.float32) >= part).any())
