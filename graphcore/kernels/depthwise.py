"""Depthwise convolution and its gradients: every channel has filters of its own.

There is no matrix product in it (each output depends on one channel), so the kernels multiply and add
whole rows, one tap at a time, over blocks small enough that the running sum stays in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError
from . import parallel
from .arrays import Array, shape_text, widened
from .convolution import channels_last, restore
from .correlation import Finish
from .windows import Axis, resolve

BLOCK = 1 << 17
"""Output elements that are summed up at a time: of smaller ones threads would wait for the interpreter."""


def depthwise_conv2d(
    x: Array,
    w: Array,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    finish: Finish | None = None,
) -> Array:
    """TensorFlow's DepthwiseConv2dNative.

    Args:
        x: (batch, height, width, channels), or NCHW.
        w: (height, width, channels, multiplier).
        strides: Four ints in `data_format`.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: Eight ints in `data_format`, for "EXPLICIT".
        data_format: "NHWC" or "NCHW".
        dilations: Four ints in `data_format`.
        finish: As in `correlation.correlate`; NHWC and in a dtype of the arithmetic.

    Returns:
        (batch, out height, out width, channels * multiplier) in `data_format` and x's dtype; output
        channel c * multiplier + q is filter q of input channel c.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
    """
    height, width = _geometry(x.shape, w.shape, strides, padding, explicit_paddings, data_format, dilations)
    if 0 in x.shape or 0 in w.shape:
        images = channels_last(x, data_format)
        shape = (images.shape[0], height.out, width.out, images.shape[3] * w.shape[3])
        return restore(np.zeros(shape, widened(x[:0]).dtype), data_format, x.dtype)
    images, filters = _repeated(channels_last(x, data_format), w.shape[3]), _tiled(widened(w), width)
    out = np.empty((images.shape[0], height.out, filters.shape[2]), images.dtype)
    frame = _phased(images, height, width)

    def block(region: tuple[slice, slice]) -> None:
        total = out[region]
        product = parallel.scratch(total.size, total.dtype).reshape(total.shape)
        first = True
        for row, column, source in _taps(height, width, images.shape[3], region):
            np.multiply(frame[source], filters[row, column], out=total if first else product)
            if not first:
                total += product
            first = False
        if finish is not None:
            start = (region[0].start * height.out + region[1].start) * width.out
            pixels = total.size // max(1, images.shape[3])
            finish(total.reshape(pixels, -1), slice(start, start + pixels), slice(None))

    parallel.for_each(_blocks(out.shape), block)
    shape = (images.shape[0], height.out, width.out, images.shape[3])
    return restore(out.reshape(shape), data_format, x.dtype)


def depthwise_conv2d_backprop_filter(
    x: Array,
    filter_sizes: Sequence[int],
    dy: Array,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """TensorFlow's DepthwiseConv2dNativeBackpropFilter.

    Args:
        x: The input of the convolution.
        filter_sizes: Shape of the filter, four ints.
        dy: Gradient with respect to the convolution's output.
        strides: As in `depthwise_conv2d`, and so are the rest.
        padding: See there.
        explicit_paddings: See there.
        data_format: See there.
        dilations: See there.

    Returns:
        An array of shape `filter_sizes` and x's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    shape = tuple(int(size) for size in filter_sizes)
    height, width = _geometry(x.shape, shape, strides, padding, explicit_paddings, data_format, dilations)
    images, gradient = channels_last(x, data_format), channels_last(dy, data_format)
    _check_gradient(
        "DepthwiseConv2dNativeBackpropFilter", images.shape, shape, gradient.shape, (height, width)
    )
    if 0 in (*shape, images.size, gradient.size):
        return np.zeros(shape, x.dtype)
    channels = shape[2] * shape[3]
    out = np.zeros((*shape[:2], channels), images.dtype)
    frame = _phased(_repeated(images, shape[3]), height, width)
    gradient = gradient.reshape(gradient.shape[0], height.out, width.out * channels)
    for region in _blocks(gradient.shape):
        part = gradient[region]
        for row, column, source in _taps(height, width, channels, region):
            # The sum over pixels as a product with ones: BLAS adds columns faster than np.sum.
            product = np.multiply(frame[source], part).reshape(-1, channels)
            out[row, column] += np.ones(product.shape[0], product.dtype) @ product
    return out.reshape(shape).astype(x.dtype, copy=False)


def depthwise_conv2d_backprop_input(
    input_sizes: Sequence[int],
    w: Array,
    dy: Array,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> Array:
    """TensorFlow's DepthwiseConv2dNativeBackpropInput.

    Args:
        input_sizes: Shape of the convolution's input, four ints in `data_format`.
        w: The filter.
        dy: Gradient with respect to the convolution's output.
        strides: As in `depthwise_conv2d`, and so are the rest.
        padding: See there.
        explicit_paddings: See there.
        data_format: See there.
        dilations: See there.

    Returns:
        An array of shape `input_sizes` and dy's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
    """
    sizes = [int(size) for size in input_sizes]
    height, width = _geometry(sizes, w.shape, strides, padding, explicit_paddings, data_format, dilations)
    gradient = channels_last(dy, data_format)
    channels, multiplier = w.shape[2], w.shape[3]
    shape = (sizes[0], height.size, width.size, channels)
    _check_gradient("DepthwiseConv2dNativeBackpropInput", shape, w.shape, gradient.shape, (height, width))
    if 0 in (*shape, *w.shape, gradient.size):
        return restore(np.zeros(shape, dy.dtype), data_format, dy.dtype)
    filters = _tiled(widened(w), width)
    frame = np.zeros(_phased_shape(sizes[0], height, width, channels * multiplier), gradient.dtype)
    gradient = gradient.reshape(sizes[0], height.out, filters.shape[2])
    for region in _blocks(gradient.shape):
        part = gradient[region]
        product = np.empty_like(part)
        for row, column, target in _taps(height, width, channels * multiplier, region):
            frame[target] += np.multiply(part, filters[row, column], out=product)
    # Back from column phases to columns, without the padding, and over the filters of each channel.
    channels_in = channels * multiplier
    phases = frame.reshape(*frame.shape[:3], frame.shape[3] // max(1, channels_in), channels_in)
    columns = phases.swapaxes(2, 3)
    columns = columns.reshape(*frame.shape[:2], columns.shape[2] * columns.shape[3], columns.shape[4])
    out = columns[:, height.before : height.before + height.size, width.before : width.before + width.size]
    if multiplier > 1:
        out = out.reshape(*out.shape[:3], channels, multiplier).sum(axis=4)
    return restore(np.ascontiguousarray(out), data_format, dy.dtype)


def _repeated(x: Array, multiplier: int) -> Array:
    """Repeats each channel (of NHWC) for each of its filters; the rest then has one filter a channel."""
    return x if multiplier == 1 else np.repeat(x, multiplier, axis=3)


def _tiled(w: Array, width: Axis) -> Array:
    """The filter as (height, width, out width * filters): each tap repeated along an output row.

    NumPy multiplies a row by it in one run; a broadcast would start anew at every pixel.
    """
    return np.tile(w.reshape(w.shape[0], w.shape[1], -1), (1, 1, width.out))


def _blocks(shape: Sequence[int]) -> Iterator[tuple[slice, slice]]:
    """Regions (images, output rows) of about BLOCK elements of a (batch, rows, row length) array."""
    share = -(-math.prod(shape) // parallel.threads())
    lines = max(1, min(BLOCK, share) // max(1, shape[2]))
    images = max(1, lines // max(1, shape[1]))
    for image in range(0, shape[0], images):
        for row in range(0, shape[1] if shape[2] else 0, lines):
            yield slice(image, image + images), slice(row, min(shape[1], row + lines))


def _taps(
    height: Axis, width: Axis, channels: int, region: tuple[slice, slice]
) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
    """Each tap, and the index of the elements of the phased input that it meets in `region`."""
    images, rows = region
    for row in range(height.kernel):
        top = rows.start * height.stride + row * height.dilation
        down = slice(top, top + (rows.stop - rows.start - 1) * height.stride + 1, height.stride)
        for column in range(width.kernel):
            start, phase = divmod(column * width.dilation, width.stride)
            yield row, column, (images, down, phase, slice(start * channels, (start + width.out) * channels))


def _phased_shape(batch: int, height: Axis, width: Axis, channels: int) -> tuple[int, int, int, int]:
    rows, columns = (
        max(axis.before + axis.size, (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1)
        for axis in (height, width)
    )
    return batch, rows, width.stride, -(-columns // width.stride) * channels


def _phased(x: Array, height: Axis, width: Axis) -> Array:
    """The padded input as (batch, height, phase, columns * channels).

    Column j * stride + phase of the padded input stands at j of its phase, so that the columns which a
    tap meets follow one another.
    """
    batch, channels, stride = x.shape[0], x.shape[3], width.stride
    shape = _phased_shape(batch, height, width, channels)
    wide = (batch, shape[1], shape[3] // channels * stride if channels else 0, channels)
    if wide == x.shape and not height.before and not width.before:
        frame = x
    else:
        frame = np.zeros(wide, x.dtype)
        frame[:, height.before : height.before + height.size, width.before : width.before + width.size] = x
    if stride > 1:
        frame = np.ascontiguousarray(
            frame.reshape(*wide[:2], wide[2] // stride, stride, channels).swapaxes(2, 3)
        )
    return frame.reshape(shape)


def _geometry(
    shape: Sequence[int],
    filter_shape: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
) -> tuple[Axis, Axis]:
    for what, sizes in (("input", shape), ("filter", filter_shape)):
        if len(sizes) != 4:
            raise InvalidArgumentError(f"{what} must be 4-dimensional{shape_text(sizes)}", shape=list(sizes))
        if min(sizes) < 0:
            raise InvalidArgumentError(f"Dimension {min(sizes)} must be >= 0", shape=list(sizes))
    depth = shape[3] if data_format == "NHWC" else shape[1]
    if depth != filter_shape[2]:
        raise InvalidArgumentError(
            f"input and filter must have the same depth: {depth} vs {filter_shape[2]}",
            input_depth=depth,
            filter_depth=filter_shape[2],
        )
    return resolve(
        shape,
        filter_shape[:2],
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
    )


def _check_gradient(
    op: str,
    shape: Sequence[int],
    filter_shape: Sequence[int],
    gradient: Sequence[int],
    axes: tuple[Axis, Axis],
) -> None:
    expected = [shape[0], axes[0].out, axes[1].out, filter_shape[2] * filter_shape[3]]
    if list(gradient) != expected:
        raise InvalidArgumentError(
            f"{op}: out_backprop has shape {list(gradient)} where {expected} is what input and filter give.",
            actual=list(gradient),
            computed=expected,
        )
