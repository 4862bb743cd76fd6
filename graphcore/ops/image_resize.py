"""Resizing of images, scaling and shifting them, cutting boxes out of them, and the gradients of these."""

from __future__ import annotations

from typing import Any

from ..dtypes import (
    FLOATING,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
)
from ..kernels import crop_resize, resize, scale_translate
from ..op import op, raw_ops
from ..shapes import Dim, Shape, merge_dims, vector_of, with_rank, with_value
from . import rules

_ALIGN = "align_corners: bool = false"
_HALF = "half_pixel_centers: bool = false"
_IMAGE_TYPES = (int8, uint8, int16, uint16, int32, int64, float16, float32, float64)
_WIDE_TYPES = (*_IMAGE_TYPES, bfloat16)
_SAMPLING = ("kernel_type: string = 'lanczos3'", "antialias: bool = true")
_NONE = "TensorFlow has none for the gradient of this op"
_KEYS = ("align_corners", "half_pixel_centers")


def _attrs(node: Any, keys: tuple[str, ...] = _KEYS) -> dict[str, Any]:
    return {key: node.attr(key) for key in keys}


def sized_image(node: Any, batch: Dim, size_index: int, channels: Dim) -> Shape:
    """An image of the size in input `size_index`, as far as that is known."""
    vector_of(node.shape(size_index), 2)
    height, width = node.value_as_shape(size_index) or (None, None)
    return (batch, height, width, channels)


def _resized(node: Any) -> Shape:
    x = with_rank(node.shape(0), 4)
    return sized_image(node, x[0], 1, x[3])


resize_nearest_neighbor_op = op(
    "ResizeNearestNeighbor",
    "images: T, size: int32 -> resized_images: T",
    _ALIGN,
    _HALF,
    T=_IMAGE_TYPES,
)(resize.resize_nearest_neighbor)
resize_bilinear_op = op(
    "ResizeBilinear", "images: T, size: int32 -> resized_images: float32", _ALIGN, _HALF, T=_WIDE_TYPES
)(resize.resize_bilinear)
resize_bicubic_op = op(
    "ResizeBicubic", "images: T, size: int32 -> resized_images: float32", _ALIGN, _HALF, T=_IMAGE_TYPES
)(resize.resize_bicubic)
resize_area_op = op(
    "ResizeArea",
    "images: T, size: int32 -> resized_images: float32",
    _ALIGN,
    T=_IMAGE_TYPES,
    undefined_grad="TensorFlow has none",
)(resize.resize_area)
resize_nearest_neighbor_grad = op(
    "ResizeNearestNeighborGrad",
    "grads: T, size: int32 -> output: T",
    _ALIGN,
    _HALF,
    T=(uint8, int8, int32, float16, float32, float64),
    undefined_grad=_NONE,
)(resize.resize_nearest_neighbor_grad)
resize_bilinear_grad = op(
    "ResizeBilinearGrad",
    "grads: float32, original_image: T -> output: T",
    _ALIGN,
    _HALF,
    T=FLOATING,
    no_grad="not differentiable in TensorFlow",
)(resize.resize_bilinear_grad)
resize_bicubic_grad = op(
    "ResizeBicubicGrad",
    "grads: float32, original_image: T -> output: T",
    _ALIGN,
    _HALF,
    T=(float32, float64),
    undefined_grad=_NONE,
)(resize.resize_bicubic_grad)
scale_and_translate_op = op(
    "ScaleAndTranslate",
    "images: T, size: int32, scale: float32, translation: float32 -> resized_images: float32",
    *_SAMPLING,
    T=_WIDE_TYPES,
)(scale_translate.scale_and_translate)
scale_and_translate_grad = op(
    "ScaleAndTranslateGrad",
    "grads: T, original_image: T, scale: float32, translation: float32 -> output: T",
    *_SAMPLING,
    T=(float32,),
    undefined_grad=_NONE,
)(scale_translate.scale_and_translate_grad)

for _forward in (
    resize_nearest_neighbor_op,
    resize_bilinear_op,
    resize_bicubic_op,
    resize_area_op,
    scale_and_translate_op,
):
    _forward.shape(_resized)
for _backward in (resize_bilinear_grad, resize_bicubic_grad, scale_and_translate_grad):
    _backward.shape(rules.same_as(1))
resize_nearest_neighbor_grad.shape(_resized)


@resize_nearest_neighbor_op.grad
def _(node: Any, dy: Any) -> Any:
    x = node.inputs[0]
    shape = x.static_shape
    known = shape is not None and None not in shape[1:3]
    size = list(shape[1:3]) if known else raw_ops.Shape(x)[1:3]
    return [resize_nearest_neighbor_grad(dy, size, **_attrs(node)), None]


@resize_bilinear_op.grad
def _(node: Any, dy: Any) -> Any:
    return [resize_bilinear_grad(dy, node.inputs[0], **_attrs(node)), None]


@resize_bicubic_op.grad
def _(node: Any, dy: Any) -> Any:
    x = node.inputs[0]
    if x.dtype not in (float32, float64):
        return [None, None]
    return [resize_bicubic_grad(dy, x, **_attrs(node)), None]


@scale_and_translate_op.grad
def _(node: Any, dy: Any) -> Any:
    x, _, scale, translation = node.inputs
    if x.dtype not in FLOATING:
        return [None] * 4
    # The gradient op has float32 only; of the images just the shape counts.
    shaped = x if x.dtype == float32 else raw_ops.Cast(x, DstT=float32)
    options = _attrs(node, ("kernel_type", "antialias"))
    found = scale_and_translate_grad(dy, shaped, scale, translation, **options)
    return [found if shaped is x else raw_ops.Cast(found, DstT=x.dtype), None, None, None]


# Boxes cut out and resized

_METHOD = "method: {'bilinear', 'nearest'} = 'bilinear'"

crop_and_resize_op = op(
    "CropAndResize",
    "image: T, boxes: float32, box_ind: int32, crop_size: int32 -> crops: float32",
    _METHOD,
    "extrapolation_value: float = 0",
    T=_IMAGE_TYPES,
)(crop_resize.crop_and_resize)


@crop_and_resize_op.shape
def _(node: Any) -> Shape:
    x, boxes, places = (with_rank(node.shape(i), rank) for i, rank in ((0, 4), (1, 2), (2, 1)))
    count = merge_dims(boxes[0], places[0])
    with_value(boxes[1], 4)
    return sized_image(node, count, 3, x[3])


@op(
    "CropAndResizeGradImage",
    "grads: float32, boxes: float32, box_ind: int32, image_size: int32 -> output: T",
    _METHOD,
    T=(float16, float32, float64),
    undefined_grad=_NONE,
)
def crop_and_resize_grad_image(
    grads: Any, boxes: Any, box_ind: Any, image_size: Any, *, T: Any, method: str
) -> Any:
    """The gradient of CropAndResize with respect to the images."""
    return crop_resize.crop_and_resize_grad_image(grads, boxes, box_ind, image_size, dtype=T, method=method)


@op(
    "CropAndResizeGradBoxes",
    "grads: float32, image: T, boxes: float32, box_ind: int32 -> output: float32",
    "method: {'bilinear'} = 'bilinear'",
    T=_IMAGE_TYPES,
    undefined_grad=_NONE,
)
def crop_and_resize_grad_boxes(grads: Any, image: Any, boxes: Any, box_ind: Any) -> Any:
    """The gradient of CropAndResize with respect to the boxes."""
    return crop_resize.crop_and_resize_grad_boxes(grads, image, boxes, box_ind)


crop_and_resize_grad_image.shape(lambda node: with_rank(node.value_as_shape(3), 4))
crop_and_resize_grad_boxes.shape(rules.same_as(2))


@crop_and_resize_op.grad
def _(node: Any, dy: Any) -> Any:
    image, boxes, box_ind, _ = node.inputs
    by_image = None
    if image.dtype in (float16, float32, float64):
        shape = image.static_shape
        size = raw_ops.Shape(image) if shape is None or None in shape else list(shape)
        by_image = crop_and_resize_grad_image(
            dy, boxes, box_ind, size, T=image.dtype, method=node.attr("method")
        )
    return [by_image, crop_and_resize_grad_boxes(dy, image, boxes, box_ind), None, None]
