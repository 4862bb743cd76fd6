"""`tf.image`: boxes of objects, and image files of any format.

Source: tensorflow/python/ops/image_ops_impl.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .conditional import cond
from .convert import convert_to_tensor
from .default import control_dependencies, name_scope
from .dtypes import as_dtype, float32, uint8, uint16
from .errors import InvalidValueError
from .image_adjust import convert_image_dtype
from .op import raw_ops
from .ops.array_select import gather
from .ops.control_flow import tf_assert
from .ops.image_boxes import (
    combined_non_max_suppression_op,
    draw_bounding_boxes_op,
    draw_bounding_boxes_v2_op,
    extract_glimpse_op,
    non_max_suppression_v3_op,
    non_max_suppression_v4_op,
    non_max_suppression_v5_op,
    non_max_suppression_with_overlaps_op,
    sample_distorted_bounding_box_op,
)
from .ops.image_codec import decode_bmp, decode_gif, decode_jpeg, decode_png
from .ops.image_resize import crop_and_resize_op
from .ops.nn_conv import either
from .ops.string import substr

_NONE = float("-inf")


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _NONE,
    name: str | None = None,
) -> Any:
    """`tf.image.non_max_suppression`: the boxes that no better one overlaps.

    Args:
        boxes: (boxes, 4), two opposite corners each.
        scores: (boxes,).
        max_output_size: At most so many.
        iou_threshold: Of the intersection over union; above it, the worse box goes.
        score_threshold: Boxes must have a higher score.
        name: Name scope of the operations.

    Returns:
        Numbers of boxes, int32, by falling score.
    """
    with name_scope(name, "non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return non_max_suppression_v3_op(boxes, scores, max_output_size, iou_threshold, score_threshold)


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _NONE,
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Any, Any]:
    """`tf.image.non_max_suppression_with_scores`: `(numbers, scores)`; with a sigma, scores fall softly."""
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        found = non_max_suppression_v5_op(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            soft_nms_sigma,
            pad_to_max_output_size=False,
        )
        return found[0], found[1]


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _NONE,
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.image.non_max_suppression_padded`: `(numbers, how many are valid)`."""
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return non_max_suppression_v4_op(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size=pad_to_max_output_size,
        )


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = _NONE,
    name: str | None = None,
) -> Any:
    """`tf.image.non_max_suppression_overlaps`: by a matrix of overlaps (boxes, boxes)."""
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return non_max_suppression_with_overlaps_op(
            overlaps, scores, max_output_size, overlap_threshold, score_threshold
        )


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = _NONE,
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """`tf.image.combined_non_max_suppression`: of each class by itself, then the best of all.

    Args:
        boxes: float32 (batch, boxes, 1 or classes, 4).
        scores: float32 (batch, boxes, classes).
        max_output_size_per_class: At most so many of a class.
        max_total_size: At most so many of an image.
        iou_threshold: See `non_max_suppression`.
        score_threshold: See `non_max_suppression`.
        pad_per_class: Whether there are no more rows than all classes can fill.
        clip_boxes: Whether coordinates are brought into [0, 1].
        name: Name scope of the operations.

    Returns:
        Boxes, scores, classes and the number of valid rows of each image.
    """
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, float32, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, float32, name="score_threshold")
        return combined_non_max_suppression_op(
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            iou_threshold,
            score_threshold,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: Any = None,
) -> Any:
    """`tf.image.crop_and_resize`: boxes cut out of images and resized to `crop_size`.

    Args:
        image: (batch, height, width, channels).
        boxes: float32 (boxes, 4): y1, x1, y2, x2 in parts of the image.
        box_ind: int32 (boxes,): the image of each box.
        crop_size: Height and width, int32.
        method: "bilinear" or "nearest".
        extrapolation_value: What is outside of the image.
        name: Name of the operation.
        box_indices: Later name of `box_ind`.
    """
    return crop_and_resize_op(
        image,
        boxes,
        either("box_indices", box_indices, "box_ind", box_ind),
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


def draw_bounding_boxes(images: Any, boxes: Any, name: str | None = None, colors: Any = None) -> Any:
    """`tf.image.draw_bounding_boxes`: the edges of boxes in images.

    Args:
        images: (batch, height, width, 1, 3 or 4).
        boxes: float32 (batch, boxes, 4): y1, x1, y2, x2 in parts of the image.
        name: Name of the operation.
        colors: float32 (colors, channels), taken in turn; by default ten colours.
    """
    if colors is None:
        return draw_bounding_boxes_op(images, boxes, name=name)
    return draw_bounding_boxes_v2_op(images, boxes, colors, name=name)


def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    uniform_noise: bool = True,
    name: str | None = None,
) -> Any:
    """`tf.image.extract_glimpse`: a window around a point of each image.

    Args:
        input: float32 (batch, height, width, channels).
        size: Height and width of the windows, int32.
        offsets: float32 (batch, 2): y and x of their centres.
        centered: Whether offsets count from the middle of the image.
        normalized: Whether offsets are parts of the image.
        uniform_noise: Of the op; its attribute `noise` stays "uniform", as in TensorFlow.
        name: Name of the operation.
    """
    return extract_glimpse_op(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
        name=name,
    )


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """`tf.image.sample_distorted_bounding_box`: a random crop that shows enough of an object.

    Args:
        image_size: Height, width and channels, integers.
        bounding_boxes: float32 (batch, boxes, 4) in [0, 1].
        seed: First seed of the op.
        seed2: Second seed.
        min_object_covered: What part of some object must be in the crop.
        aspect_ratio_range: Of the crop, width by height; 0.75 to 1.33 by default.
        area_range: Of the crop in parts of the image; 0.05 to 1 by default.
        max_attempts: After so many (100) the whole image is the crop.
        use_image_if_no_bounding_boxes: Whether the image is the object where there is none.
        name: Name scope of the operation.

    Returns:
        Begin and size for `tf.slice`, and the crop as a box (1, 1, 4).
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return sample_distorted_bounding_box_op(
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )


# Files


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """`tf.image.is_jpeg`: whether a string begins as a JPEG file does."""
    with name_scope(name, "is_jpeg"):
        return raw_ops.Equal(substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def _is_png(contents: Any) -> Any:
    with name_scope(None, "is_png"):
        return raw_ops.Equal(substr(contents, 0, 3), b"\x89PN")


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Any:
    """`tf.image.decode_image`: the pixels of a JPEG, PNG, GIF or BMP file.

    Args:
        contents: The file, a scalar string.
        channels: 0, 1, 3 or 4; None or 0: as many as the file has.
        dtype: What the pixels are converted to.
        name: Name scope of the operations.
        expand_animations: Whether a GIF gives (frames, height, width, 3), else its first frame.

    Raises:
        ValueError: The number of channels is another.
    """
    with name_scope(name, "decode_image"):
        if channels not in (None, 0, 1, 3, 4):
            raise InvalidValueError("channels must be in (None, 0, 1, 3, 4)")
        dtype, wanted = as_dtype(dtype), channels or 0
        contents = convert_to_tensor(contents)
        start = substr(contents, 0, 3)

        def not_wanted(*counts: int, name: str, text: str) -> Any:
            good = None
            for count in counts:
                other = raw_ops.NotEqual(wanted, count, name=name)
                good = other if good is None else raw_ops.LogicalAnd(good, other)
            return tf_assert(good, [f"Channels must be in {text} images"])

        def bmp() -> Any:
            is_bmp = raw_ops.Equal(substr(contents, 0, 2), "BM", name="is_bmp")
            known = tf_assert(is_bmp, ["Unable to decode bytes as JPEG, PNG, GIF, or BMP"])
            good = not_wanted(1, name="check_channels", text="(None, 0, 3) when decoding BMP")
            with control_dependencies([known, good]):
                return convert_image_dtype(decode_bmp(contents), dtype)

        def gif() -> Any:
            good = not_wanted(1, 4, name="check_gif_channels", text="(None, 0, 3) when decoding GIF")
            with control_dependencies([good]):
                frames = convert_image_dtype(decode_gif(contents), dtype)
                return frames if expand_animations else gather(frames, 0)

        def gif_or_bmp() -> Any:
            is_gif = raw_ops.Equal(start, b"GIF", name="is_gif")
            return cond(is_gif, gif, bmp, name="cond_gif")

        def png() -> Any:
            depth = uint8 if dtype == uint8 else uint16
            return convert_image_dtype(decode_png(contents, channels, dtype=depth), dtype)

        def not_jpeg() -> Any:
            return cond(_is_png(contents), png, gif_or_bmp, name="cond_png")

        def jpeg() -> Any:
            good = not_wanted(4, name="check_jpeg_channels", text="(None, 0, 1, 3) when decoding JPEG")
            with control_dependencies([good]):
                return convert_image_dtype(decode_jpeg(contents, channels), dtype)

        return cond(is_jpeg(contents), jpeg, not_jpeg, name="cond_jpeg")
