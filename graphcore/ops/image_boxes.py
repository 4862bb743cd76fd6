"""Boxes of objects in images: suppressing those that overlap, drawing, glimpses and random crops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dtypes import float16, float32, float64, int8, int16, int32, int64, uint8
from ..errors import FailedPreconditionError, InvalidArgumentError, InvalidValueError
from ..kernels import image_boxes as kernels, non_max_suppression as suppression
from ..kernels.arrays import Array, shape_text
from ..kernels.philox import Philox
from ..op import op
from ..shapes import Dim, Shape, merge_dims, vector_of, with_rank, with_rank_at_least, with_value
from .image_resize import sized_image
from .random import draw

_HALVES = ((float16, float32), float32)
_NO_GRAD = "not differentiable in TensorFlow"
_NONE = "TensorFlow has none"


def _scalar(name: str, value: Any) -> Any:
    if value.ndim:
        raise InvalidArgumentError(f"{name} must be 0-D, got shape {shape_text(value.shape)}")
    return value[()]


def _threshold(value: Any) -> Any:
    threshold = _scalar("iou_threshold", value)
    if not 0 <= threshold <= 1:
        raise InvalidArgumentError(f"iou_threshold must be in [0, 1], but is {threshold:g}")
    return threshold


def _limit(max_output_size: Any) -> int:
    limit = int(_scalar("max_output_size", max_output_size))
    if limit < 0:
        raise InvalidArgumentError(f"output size must be non-negative, but is {limit}")
    return limit


def _suppress(
    boxes: Any, scores: Any, max_output_size: Any, threshold: Any, score_threshold: Any = None
) -> Array:
    limit = _limit(max_output_size)
    threshold = _threshold(threshold)
    least = np.float32(-np.inf) if score_threshold is None else _scalar("score_threshold", score_threshold)
    suppression.check_boxes(boxes, scores)
    return suppression.suppress(scores, suppression.iou(boxes), limit, threshold, least)


def _padded(values: Array, count: int, pad: bool) -> Array:
    return np.pad(values, (0, max(count - len(values), 0))) if pad else values


_BOXES = "boxes: T, scores: T, max_output_size: int32"


@op(
    "NonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size: int32 -> selected_indices: int32",
    "iou_threshold: float = 0.5",
    no_grad=_NO_GRAD,
)
def non_max_suppression_v1_op(boxes: Any, scores: Any, max_output_size: Any, *, iou_threshold: float) -> Any:
    """The boxes that overlap no better one, at most so many."""
    return _suppress(boxes, scores, max_output_size, np.float32(iou_threshold))


@op(
    "NonMaxSuppressionV2",
    f"{_BOXES}, iou_threshold: T_threshold -> selected_indices: int32",
    T=_HALVES,
    T_threshold=_HALVES,
    no_grad=_NO_GRAD,
)
def non_max_suppression_v2_op(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any) -> Any:
    """The boxes that overlap no better one, at most so many."""
    return _suppress(boxes, scores, max_output_size, iou_threshold)


@op(
    "NonMaxSuppressionV3",
    f"{_BOXES}, iou_threshold: T_threshold, score_threshold: T_threshold -> selected_indices: int32",
    T=_HALVES,
    T_threshold=_HALVES,
    undefined_grad=_NONE,
)
def non_max_suppression_v3_op(
    boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any
) -> Any:
    """The boxes of a higher score than a threshold that overlap no better one, at most so many."""
    return _suppress(boxes, scores, max_output_size, iou_threshold, score_threshold)


@op(
    "NonMaxSuppressionV4",
    f"{_BOXES}, iou_threshold: T_threshold, score_threshold: T_threshold -> "
    "selected_indices: int32, valid_outputs: int32",
    "pad_to_max_output_size: bool = false",
    T=_HALVES,
    T_threshold=_HALVES,
    undefined_grad=_NONE,
)
def non_max_suppression_v4_op(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any,
    score_threshold: Any,
    *,
    pad_to_max_output_size: bool,
) -> Any:
    """As V3, and how many they are; padded with zeros if asked for."""
    kept = _suppress(boxes, scores, max_output_size, iou_threshold, score_threshold)
    return _padded(kept, int(max_output_size), pad_to_max_output_size), np.array(len(kept), np.int32)


@op(
    "NonMaxSuppressionV5",
    f"{_BOXES}, iou_threshold: T, score_threshold: T, soft_nms_sigma: T -> "
    "selected_indices: int32, selected_scores: T, valid_outputs: int32",
    "pad_to_max_output_size: bool = false",
    T=_HALVES,
    undefined_grad=_NONE,
)
def non_max_suppression_v5_op(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any,
    score_threshold: Any,
    soft_nms_sigma: Any,
    *,
    pad_to_max_output_size: bool,
) -> Any:
    """As V4, with scores; those of overlapping boxes fall instead if sigma is not 0."""
    sigma = _scalar("soft_nms_sigma", soft_nms_sigma)
    if sigma < 0:
        raise InvalidArgumentError(f"soft_nms_sigma must be non-negative, but is {sigma:g}")
    if sigma == 0:
        kept = _suppress(boxes, scores, max_output_size, iou_threshold, score_threshold)
        marks = scores[kept]
    else:
        limit = _limit(max_output_size)
        _threshold(iou_threshold)
        least = _scalar("score_threshold", score_threshold)
        suppression.check_boxes(boxes, scores)
        kept, marks = suppression.suppress_softly(scores, suppression.iou(boxes), limit, least, sigma)
    count = int(max_output_size)
    pad = pad_to_max_output_size
    return _padded(kept, count, pad), _padded(marks, count, pad), np.array(len(kept), np.int32)


@op(
    "NonMaxSuppressionWithOverlaps",
    "overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, "
    "score_threshold: float32 -> selected_indices: int32",
    no_grad=_NO_GRAD,
)
def non_max_suppression_with_overlaps_op(
    overlaps: Any, scores: Any, max_output_size: Any, overlap_threshold: Any, score_threshold: Any
) -> Any:
    """As V3, by a matrix of overlaps."""
    limit = _limit(max_output_size)
    threshold = _scalar("overlap_threshold", overlap_threshold)
    least = _scalar("score_threshold", score_threshold)
    if overlaps.ndim != 2:
        raise InvalidArgumentError(f"overlaps must be 2-D{shape_text(overlaps.shape)}")
    if overlaps.shape[1] != len(overlaps):
        raise InvalidArgumentError(f"overlaps must be square{shape_text(overlaps.shape)}")
    suppression.check_scores(scores, len(overlaps))
    return suppression.suppress(scores, suppression.overlaps(overlaps), limit, threshold, least)


@non_max_suppression_v1_op.shape
@non_max_suppression_v2_op.shape
@non_max_suppression_v3_op.shape
@non_max_suppression_v4_op.shape
@non_max_suppression_v5_op.shape
@non_max_suppression_with_overlaps_op.shape
def _(node: Any) -> list[Shape]:
    boxes, scores = with_rank(node.shape(0), 2), with_rank(node.shape(1), 1)
    for index in range(2, node.num_inputs):
        with_rank(node.shape(index), 0)
    merge_dims(boxes[0], scores[0])
    if node.node.type.endswith("Overlaps"):
        merge_dims(boxes[0], boxes[1])
    else:
        with_value(boxes[1], 4)
    limit = node.value(2)
    pad = node.node.has_attr("pad_to_max_output_size") and node.attr("pad_to_max_output_size")
    count: Dim = int(limit) if pad and limit is not None else None
    if node.num_outputs == 1:
        return [(None,)]
    return [(count,)] * (node.num_outputs - 1) + [()]


@op(
    "CombinedNonMaxSuppression",
    "boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float32, score_threshold: float32 -> nmsed_boxes: float32, nmsed_scores: float32, "
    "nmsed_classes: float32, valid_detections: int32",
    "pad_per_class: bool = false",
    "clip_boxes: bool = true",
    undefined_grad=_NONE,
)
def combined_non_max_suppression_op(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any,
    score_threshold: Any,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> Any:
    """Each class by itself, then the best of all classes, for each image of a batch."""
    if scores.ndim != 3:
        raise InvalidArgumentError(f"scores must be 3-D{shape_text(scores.shape)}")
    if boxes.ndim != 4:
        raise InvalidArgumentError(f"boxes must be 4-D{shape_text(boxes.shape)}")
    if len(boxes) != len(scores):
        raise InvalidArgumentError(
            f"boxes and scores must have same batch size, but have {len(boxes)} and {len(scores)}"
        )
    per_class = int(_scalar("max_size_per_class", max_output_size_per_class))
    total = int(_scalar("max_total_size", max_total_size))
    if total <= 0:
        raise InvalidArgumentError(f"max_total_size must be > 0, but is {total}")
    if per_class < 0:
        raise InvalidArgumentError(f"max_size_per_class must be positive, but is {per_class}")
    if pad_per_class and per_class <= 0:
        raise InvalidArgumentError(f"max_output_size_per_class must be > 0, but is {per_class}")
    threshold = _threshold(iou_threshold)
    least = _scalar("score_threshold", score_threshold)
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise InvalidArgumentError(
            f"third dimension of boxes must be either 1 or num classes: {boxes.shape[2]}, {scores.shape[2]}"
        )
    if boxes.shape[3] != 4:
        raise InvalidArgumentError(f"boxes must have 4 columns, but are {shape_text(boxes.shape)}")
    if scores.shape[1] != boxes.shape[1]:
        raise InvalidArgumentError(
            f"scores has incompatible shape: {scores.shape[1]} for {boxes.shape[1]} boxes"
        )
    return suppression.combined_non_max_suppression(
        boxes, scores, per_class, total, threshold, least, pad_per_class=pad_per_class, clip_boxes=clip_boxes
    )


@combined_non_max_suppression_op.shape
def _(node: Any) -> list[Shape]:
    boxes, scores = with_rank(node.shape(0), 4), with_rank(node.shape(1), 3)
    for index in range(2, 6):
        with_rank(node.shape(index), 0)
    batch = merge_dims(boxes[0], scores[0])
    merge_dims(boxes[1], scores[1])
    with_value(boxes[3], 4)
    classes = scores[2]
    if boxes[2] is not None and classes is not None and boxes[2] not in (1, classes):
        raise InvalidValueError(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores"
        )
    per_class, total = (None if node.value(i) is None else int(node.value(i)) for i in (2, 3))
    for index, size in ((2, per_class), (3, total)):
        if size is not None and size < 0:
            raise InvalidValueError(
                f"Dimension size, given by scalar input {index}, must be non-negative but is {size}"
            )
    if total is not None and total <= 0:
        raise InvalidValueError("max_total_size should be > 0 ")
    rows = total
    if node.attr("pad_per_class"):
        if per_class is not None and per_class <= 0:
            raise InvalidValueError("max_output_size_per_class must be > 0 if pad_per_class is set to true ")
        known = None not in (per_class, total, classes, batch) and batch
        rows = min(total, per_class * classes) if known else None  # type: ignore[type-var, operator]
    return [(batch, rows, 4), (batch, rows), (batch, rows), (batch,)]


# Drawing and looking


@op(
    "DrawBoundingBoxes",
    "images: T, boxes: float32 -> output: T",
    T=((float32, float16), float32),
    no_grad=_NO_GRAD,
)
def draw_bounding_boxes_op(images: Any, boxes: Any) -> Any:
    """The images with the edges of boxes in ten colours."""
    return kernels.draw_bounding_boxes(images, boxes)


@op(
    "DrawBoundingBoxesV2",
    "images: T, boxes: float32, colors: float32 -> output: T",
    T=((float32, float16), float32),
    undefined_grad=_NONE,
)
def draw_bounding_boxes_v2_op(images: Any, boxes: Any, colors: Any) -> Any:
    """The images with the edges of boxes in colours of one's own."""
    return kernels.draw_bounding_boxes(images, boxes, colors)


@draw_bounding_boxes_op.shape
def _(node: Any) -> Shape:
    x, boxes = with_rank(node.shape(0), 4), with_rank(node.shape(1), 3)
    if x[3] not in (None, 1, 3, 4):
        raise InvalidValueError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    with_value(boxes[2], 4)
    return x


draw_bounding_boxes_v2_op.shape(lambda node: with_rank_at_least(node.shape(0), 3))


@op(
    "ExtractGlimpse",
    "input: float32, size: int32, offsets: float32 -> glimpse: float32",
    "centered: bool = true",
    "normalized: bool = true",
    "uniform_noise: bool = true",
    "noise: string = 'uniform'",
    effects=True,
    no_grad=_NO_GRAD,
)
def extract_glimpse_op(
    input: Any, size: Any, offsets: Any, *, centered: bool, normalized: bool, uniform_noise: bool, noise: str
) -> Any:
    """A window around a point of each image, noise where it is outside."""
    if uniform_noise and noise not in ("", "uniform"):
        raise InvalidArgumentError("The uniform_noise and noise could not be specified at the same time")
    noise = noise or ("uniform" if uniform_noise else "gaussian")
    if noise not in ("uniform", "gaussian", "zero"):
        raise InvalidArgumentError(f"The noise could only be uniform, gaussian, or zero, got{noise}")
    return kernels.extract_glimpse(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        noise=noise,
        generator=np.random.default_rng(),
    )


@extract_glimpse_op.shape
def _(node: Any) -> Shape:
    x, offsets = with_rank(node.shape(0), 4), with_rank(node.shape(2), 2)
    batch = merge_dims(x[0], offsets[0])
    with_value(offsets[1], 2)
    if node.attr("uniform_noise") and node.attr("noise") not in ("", "uniform"):
        raise InvalidValueError("The uniform_noise and noise should not be specified at the same time")
    return sized_image(node, batch, 1, x[3])


# Random crops

_SEEDS = ("seed: int = 0", "seed2: int = 0")
_RANGES = (
    "aspect_ratio_range: list(float) = [0.75, 1.33]",
    "area_range: list(float) = [0.05, 1.0]",
    "max_attempts: int = 100",
    "use_image_if_no_bounding_boxes: bool = false",
)
_SIZES = (uint8, int8, int16, int32, int64)
_SAMPLE = "begin: T, size: T, bboxes: float32"


def _words(philox: Philox, count: int) -> Iterator[int]:
    """A stream of words, as long as needed, of the generator, which moves on by `count` of them."""
    reserved = philox.reserve(-(-count // 4))

    def stream() -> Iterator[int]:
        while True:
            yield from (int(word) for word in reserved.reserve(16).words(16))

    return stream()


def _sample(ctx: Any, node: Any, image_size: Any, bounding_boxes: Any, min_object_covered: Any) -> Any:
    keys = ("aspect_ratio_range", "area_range", "max_attempts", "use_image_if_no_bounding_boxes")
    options = {key: node.attr(key) for key in keys}
    ratios, areas = options["aspect_ratio_range"], options["area_range"]
    for name, pair in (("Aspect ratio range", ratios), ("Area range", areas)):
        if len(pair) != 2:
            raise InvalidArgumentError(f"{name} field must specify 2 dimensions")
        if min(pair) <= 0:
            raise InvalidArgumentError(f"{name} must be non-negative: [{pair[0]:g}, {pair[1]:g}]")
    if max(areas) > 1:
        raise InvalidArgumentError(
            f"Area range must be less then or equal to 1.0: [{areas[0]:g}, {areas[1]:g}]"
        )
    if options["max_attempts"] <= 0:
        raise InvalidArgumentError(f"Max attempts must be non-negative: {options['max_attempts']}")

    def run(philox: Philox) -> Any:
        return kernels.sample_distorted_bounding_box(
            image_size, bounding_boxes, min_object_covered, lambda count: _words(philox, count), **options
        )

    return draw(ctx, node, run)


@op(
    "SampleDistortedBoundingBox",
    f"image_size: T, bounding_boxes: float32 -> {_SAMPLE}",
    *_SEEDS,
    "min_object_covered: float = 0.1",
    *_RANGES,
    T=_SIZES,
    stateful=True,
    no_grad=_NO_GRAD,
)
def sample_distorted_bounding_box_v1_op(
    ctx: Any, image_size: Any, bounding_boxes: Any, *, min_object_covered: float, node: Any
) -> Any:
    """A random crop that shows enough of an object."""
    return _sample(ctx, node, image_size, bounding_boxes, np.float32(min_object_covered))


@op(
    "SampleDistortedBoundingBoxV2",
    f"image_size: T, bounding_boxes: float32, min_object_covered: float32 -> {_SAMPLE}",
    *_SEEDS,
    *_RANGES,
    T=_SIZES,
    stateful=True,
    no_grad=_NO_GRAD,
)
def sample_distorted_bounding_box_op(
    ctx: Any, image_size: Any, bounding_boxes: Any, min_object_covered: Any, *, node: Any
) -> Any:
    """A random crop that shows enough of an object."""
    covered = _scalar("min_object_covered", min_object_covered)
    return _sample(ctx, node, image_size, bounding_boxes, covered)


@sample_distorted_bounding_box_v1_op.shape
@sample_distorted_bounding_box_op.shape
def _(node: Any) -> list[Shape]:
    vector_of(node.shape(0), 3)
    with_value(with_rank(node.shape(1), 3)[2], 4)
    if node.num_inputs == 3:
        with_rank(node.shape(2), 0)
    return [(3,), (3,), (1, 1, 4)]


@op(
    "RandomCrop",
    "image: T, size: int64 -> output: T",
    *_SEEDS,
    T=(uint8, int8, int16, int32, int64, float32, float64),
    stateful=True,
    no_grad=_NO_GRAD,
)
def random_crop_op(ctx: Any, image: Any, size: Any, *, node: Any) -> Any:
    """A random window of an image."""
    if image.ndim != 3:
        raise InvalidArgumentError(f"input must be 3-dimensional{shape_text(image.shape)}")
    if size.ndim != 1:
        raise InvalidArgumentError(f"shape_t must be 1-dimensional{shape_text(size.shape)}")
    if size.shape != (2,):
        raise InvalidArgumentError(f"shape_t must have two elements{shape_text(size.shape)}")
    wanted = size.tolist()
    for name, length, target in reversed(list(zip(("height", "width"), image.shape, wanted))):
        if length < target or target < 0:
            raise FailedPreconditionError(
                f"{name} must be >= target_{name}: {name} = {length}, target_{name} = {target}"
            )
    words = draw(ctx, node, lambda philox: _words(philox, 2))
    # The width's word is drawn first; none is where there is no choice.
    left, top = (
        next(words) % (length - target + 1) if length > target else 0
        for length, target in ((image.shape[1], wanted[1]), (image.shape[0], wanted[0]))
    )
    return image[top : top + wanted[0], left : left + wanted[1]].copy()


@random_crop_op.shape
def _(node: Any) -> Shape:
    x = with_rank(node.shape(0), 3)
    vector_of(node.shape(1), 2)
    size = node.value(1)
    height, width = (None, None) if size is None else size.tolist()
    return (height, width, x[2])
