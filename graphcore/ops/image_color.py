"""Colours of images: RGB and HSV, hue, saturation and contrast."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import FLOATING, float16, float32, float64, int8, int16, int32, int64, uint8
from ..kernels import color as kernels
from ..op import op, raw_ops
from ..shapes import Shape, with_rank, with_rank_at_least, with_value
from . import rules

_NONE = "TensorFlow has none"
_HALVES = ((float16, float32), float32)


@op(
    "AdjustContrast",
    "images: T, contrast_factor: float32, min_value: float32, max_value: float32 -> output: float32",
    T=(uint8, int8, int16, int32, int64, float32, float64),
    undefined_grad=_NONE,
)
def adjust_contrast_v1_op(images: Any, contrast_factor: Any, min_value: Any, max_value: Any) -> Any:
    """As AdjustContrastv2, then brought between two values."""
    return np.maximum(np.minimum(kernels.adjust_contrast(images, contrast_factor), max_value), min_value)


@op(
    "AdjustContrastv2",
    "images: T, contrast_factor: float32 -> output: T",
    T=_HALVES,
    undefined_grad=_NONE,
)
def adjust_contrast_op(images: Any, contrast_factor: Any) -> Any:
    """The distance from the mean of each channel times a factor."""
    return kernels.adjust_contrast(images, contrast_factor).astype(images.dtype, copy=False)


adjust_hue_op = op("AdjustHue", "images: T, delta: float32 -> output: T", T=_HALVES, undefined_grad=_NONE)(
    kernels.adjust_hue
)
adjust_saturation_op = op(
    "AdjustSaturation", "images: T, scale: float32 -> output: T", T=_HALVES, undefined_grad=_NONE
)(kernels.adjust_saturation)


@adjust_contrast_op.shape
@adjust_contrast_v1_op.shape
def _(node: Any) -> Shape:
    for index in range(1, node.num_inputs):
        with_rank(node.shape(index), 0)
    return with_rank_at_least(node.shape(0), 3)


@adjust_hue_op.shape
@adjust_saturation_op.shape
def _(node: Any) -> Shape:
    return with_rank_at_least(node.shape(0), 3)


rgb_to_hsv_op = op("RGBToHSV", "images: T -> output: T", T=(FLOATING, float32))(kernels.rgb_to_hsv)
hsv_to_rgb_op = op(
    "HSVToRGB", "images: T -> output: T", T=(FLOATING, float32), no_grad="not differentiable in TensorFlow"
)(kernels.hsv_to_rgb)


@rgb_to_hsv_op.shape
@hsv_to_rgb_op.shape
def _(node: Any) -> Shape:
    x = with_rank_at_least(node.shape(0), 1)
    return x if x is None else rules.replace_dim(x, len(x) - 1, with_value(x[-1], 3))


@rgb_to_hsv_op.grad
def _(node: Any, dy: Any) -> Any:
    """The derivatives within each sector of hues; of equal channels red counts as the larger, then green."""
    x = node.inputs[0]

    def mask(*conditions: Any) -> Any:
        found = conditions[0]
        for condition in conditions[1:]:
            found = raw_ops.LogicalAnd(found, condition)
        return raw_ops.Cast(found, DstT=x.dtype)

    def inverse(value: Any) -> Any:
        return raw_ops.DivNoNan(raw_ops.OnesLike(value), value)

    red, green, blue = (x[..., index] for index in range(3))
    top = (
        mask(red >= blue, red >= green),
        mask(green > red, green >= blue),
        mask(blue > red, blue > green),
    )
    bottom = (
        mask(red < blue, red < green),
        mask(green <= red, green < blue),
        mask(blue <= red, blue <= green),
    )
    colors = (red, green, blue)
    positive = [mask(color > 0) for color in colors]
    # What scales the hue: value times saturation is the distance of the largest channel from the smallest.
    by_span = inverse(raw_ops.Square(node.outputs[0][..., 1])) * inverse(
        raw_ops.Square(node.outputs[0][..., 2])
    )
    parts = []
    for channel in range(3):
        after, before = (channel + 1) % 3, (channel + 2) % 3
        mine, following, preceding = colors[channel], colors[after], colors[before]
        lowest = bottom[after] * following + bottom[before] * preceding
        saturation = positive[channel] * (
            top[channel] * lowest * inverse(raw_ops.Square(mine))
            - bottom[channel] * inverse(top[after] * following + top[before] * preceding)
        )
        hue = positive[channel] * top[channel] * (preceding - following) * by_span
        # Around the largest channel the hue is the difference of the two after it, by the span.
        for largest, other, sign in ((before, after, 1.0), (after, before, -1.0)):
            rest = colors[largest] - colors[other]
            if_smallest = bottom[channel] * rest * inverse(raw_ops.Square(colors[largest] - mine))
            if_middle = bottom[other] * inverse(rest)
            hue = hue + positive[largest] * top[largest] * (if_smallest + if_middle) * sign
        parts.append(dy[..., 2] * top[channel] + dy[..., 1] * saturation + dy[..., 0] * hue / 6.0)
    return raw_ops.Pack(parts, axis=-1)
