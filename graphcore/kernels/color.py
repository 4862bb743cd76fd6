"""Colours of images: RGB and HSV, and the adjustments of hue, saturation and contrast.

Source: tensorflow/core/kernels/colorspace_op.h, adjust_hue_op.cc, adjust_saturation_op.cc and
adjust_contrast_op.cc (r1.15).
"""

from __future__ import annotations

import numpy as np

from ...formats.errors import FailedPreconditionError, InvalidArgumentError
from .arrays import Array, shape_text, widened


def rgb_to_hsv(images: Array) -> Array:
    """Hue, saturation and value, each in [0, 1] for colours in [0, 1].

    Args:
        images: (..., 3), floating.

    Returns:
        The same shape and dtype.

    Raises:
        FailedPreconditionError: The last dimension is not 3.
    """
    _check_three(images)
    wide = widened(images)
    red, green, blue = np.moveaxis(wide, -1, 0)
    number = wide.dtype.type
    with np.errstate(all="ignore"):
        value = np.fmax.reduce(wide, -1)
        span = value - np.fmin.reduce(wide, -1)
        saturation = np.where(value > 0, span / value, 0)
        norm = (1 / span) * number(1 / 6)
        hue = np.where(
            red == value,
            norm * (green - blue),
            np.where(
                green == value,
                norm * (blue - red) + number(2) / number(6),
                norm * (red - green) + number(4) / number(6),
            ),
        )
        hue = np.where(span > 0, hue, 0)
        hue = np.where(hue < 0, hue + 1, hue)
    return np.stack([hue, saturation, value], -1).astype(images.dtype, copy=False)


def hsv_to_rgb(images: Array) -> Array:
    """Red, green and blue of hue, saturation and value.

    Args:
        images: (..., 3), floating.

    Returns:
        The same shape and dtype.

    Raises:
        FailedPreconditionError: The last dimension is not 3.
    """
    _check_three(images)
    hue, saturation, value = np.moveaxis(widened(images), -1, 0)
    sixth = hue * 6
    parts = [np.abs(sixth - 3) - 1, 2 - np.abs(sixth - 2), 2 - np.abs(sixth - 4)]
    colors = [(1 - saturation + saturation * np.clip(part, 0, 1)) * value for part in parts]
    return np.stack(colors, -1).astype(images.dtype, copy=False)


def _check_three(images: Array) -> None:
    if images.ndim < 1:
        raise InvalidArgumentError(f"input must be at least 1D{shape_text(images.shape)}")
    if images.shape[-1] != 3:
        raise FailedPreconditionError(
            f"input must have 3 channels but input only has {images.shape[-1]} channels."
        )


def _check_image(images: Array, name: str, number: Array) -> None:
    if images.ndim < 3:
        raise InvalidArgumentError(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    if number.ndim:
        raise InvalidArgumentError(f"{name} must be scalar: {shape_text(number.shape)}")


def _check_color_image(images: Array, name: str, number: Array) -> None:
    _check_image(images, name, number)
    if images.shape[-1] != 3:
        raise InvalidArgumentError(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


# Which of red, green and blue is the largest, the middle and the smallest, by the sixth of the hue.
_SIXTHS = np.array([[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1], [0, 2, 1]])


def adjust_hue(images: Array, delta: Array) -> Array:
    """TensorFlow's AdjustHue: the hue turned by `delta`.

    Args:
        images: RGB, (..., height, width, 3), float16 or float32.
        delta: float32 scalar; 1 is a full turn.

    Returns:
        The same shape and dtype.

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
    """
    _check_color_image(images, "delta", delta)
    wide = images.astype(np.float32, copy=False)
    red, green, blue = np.moveaxis(wide, -1, 0)
    sixth = np.where(
        red < green,
        np.where(blue < red, 1, np.where(blue > green, 3, 2)),
        np.where(blue < green, 0, np.where(blue > red, 4, 5)),
    )
    high, middle, low = np.moveaxis(np.take_along_axis(wide, _SIXTHS[sixth], -1), -1, 0)
    gray = high == low
    with np.errstate(all="ignore"):
        ratio = (middle - low) / np.where(gray, 1, high - low)
    hue: Array = np.where(gray, 0, sixth + np.where(sixth % 2 == 0, ratio, 1 - ratio)).astype(np.float32)
    six = np.float32(6)
    hue = hue + delta * six
    hue = np.where((hue < 0) | (hue >= six), hue - six * np.floor(hue / six), hue)
    hue = np.where(hue >= six, np.float32(0), hue)  # a tiny negative number rounds to a full turn
    sixth = np.where(np.isfinite(hue), hue, 5).astype(np.int64)
    ratio = hue - sixth
    ratio = np.where(sixth % 2 == 0, ratio, 1 - ratio)
    colors = np.stack([high, low + ratio * (high - low), low], -1).astype(np.float32, copy=False)
    # places[sixth][channel]: where among (largest, middle, smallest) the channel's number stands.
    places = np.argsort(_SIXTHS, axis=1)[sixth]
    return np.take_along_axis(colors, places, -1).astype(images.dtype, copy=False)


def adjust_saturation(images: Array, scale: Array) -> Array:
    """TensorFlow's AdjustSaturation: the saturation times `scale`, at most 1.

    Args:
        images: RGB, (..., height, width, 3), float16 or float32.
        scale: float32 scalar.

    Returns:
        The same shape and dtype.

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
    """
    _check_color_image(images, "scale", scale)
    red, green, blue = np.moveaxis(images.astype(np.float32, copy=False), -1, 0)
    # Comparisons instead of np.maximum and the like: NaN fares as in C++.
    value = np.where(green < blue, blue, green)
    value = np.where(red < value, value, red)
    low = np.where(blue < green, blue, green)
    low = np.where(low < red, low, red)
    one, six = np.float32(1), np.float32(6)
    with np.errstate(all="ignore"):
        span = value - low
        saturation = np.where(value > 0, span / value, np.float32(0)) * scale
        norm = one / (six * span)
        hue = np.where(
            red == value,
            norm * (green - blue),
            np.where(
                green == value,
                norm * (blue - red) + np.float32(2 / 6),
                norm * (red - green) + np.float32(4 / 6),
            ),
        )
        hue = np.where(span <= 0, np.float32(0), hue)
        hue = np.where(hue < 0, hue + one, hue)
        saturation = np.where(saturation > 0, saturation, np.float32(0))
        saturation = np.where(saturation < 1, saturation, one)
        chroma = saturation * value
        rest = value - chroma
        sixths = hue * six
        valid = (sixths > -1) & (sixths < six)
        sixth = np.where(valid, sixths, 0).astype(np.int64)
        between = chroma * (one - np.abs(np.fmod(sixths, np.float32(2)) - one))
        colors = np.stack([chroma, between, np.zeros_like(chroma)], -1)
        colors = np.take_along_axis(colors, np.argsort(_SIXTHS, axis=1)[sixth], -1)
        result: Array = np.where(valid[..., None], colors, np.float32(0)) + rest[..., None]
    return result.astype(images.dtype, copy=False)


def adjust_contrast(images: Array, factor: Array) -> Array:
    """TensorFlow's AdjustContrastv2: the distance from the mean of each channel times `factor`.

    Args:
        images: (..., height, width, channels), any real dtype.
        factor: float32 scalar.

    Returns:
        float32 of the same shape.

    Raises:
        InvalidArgumentError: Shapes do not fit, with TensorFlow's text.
    """
    _check_image(images, "contrast_factor", factor)
    wide = images.astype(np.float32, copy=False)
    if not wide.size:
        return wide.copy()
    mean = wide.mean((-3, -2), keepdims=True, dtype=np.float64).astype(np.float32)
    return np.asarray((wide - mean) * factor + mean)
