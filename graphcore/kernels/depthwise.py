"""Depthwise convolution and its gradients: every channel has filters of its own.

There is no matrix product in it (each output depends on one channel), so the kernels multiply and add
one tap at a time, over blocks of rows small enough that the running sum stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError
from .convolution import channels_last, computed, restore
from .windows import Axis, resolve

Array = np.ndarray[Any, Any]

BLOCK = 1 << 17
"""Output elements that are summed up at a time."""


def depthwise_conv2d(
    x: Array,
    w: Array,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
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

    Returns:
        (batch, out height, out width, channels * multiplier) in `data_format` and x's dtype; output
        channel c * multiplier + q is filter q of input channel c.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
    """
    height, width = _geometry(x.shape, w.shape, strides, padding, explicit_paddings, data_format, dilations)
    images, filters = channels_last(x, data_format), computed(w)
    batch, channels, multiplier = images.shape[0], filters.shape[2], filters.shape[3]
    out = np.zeros((batch, height.out, width.out, channels * multiplier), images.dtype)
    frame = _padded(images, height, width)
    for region, rows in _blocks(out.shape, height):
        total = out[region]
        product = np.empty_like(total)
        split = (*total.shape[:3], channels, multiplier)
        for row, column, taps in _taps(height, width, rows):
            source = frame[(region[0], *taps)]
            if multiplier == 1:
                np.multiply(source, filters[row, column, :, 0], out=product)
            else:
                np.multiply(source[..., None], filters[row, column], out=product.reshape(split))
            total += product
    return restore(out, data_format, x.dtype)


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
    channels, multiplier = shape[2], shape[3]
    out = np.zeros(shape, images.dtype)
    frame = _padded(images, height, width)
    for region, rows in _blocks(gradient.shape, height):
        part = gradient[region]
        split = part.reshape(*part.shape[:3], channels, multiplier)
        for row, column, taps in _taps(height, width, rows):
            source = frame[(region[0], *taps)]
            for index in range(multiplier):
                # The sum over pixels as a product with ones: BLAS adds columns faster than np.sum.
                product = np.multiply(source, split[..., index]).reshape(-1, channels)
                out[row, column, :, index] += np.ones(product.shape[0], product.dtype) @ product
    return out.astype(x.dtype, copy=False)


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
    gradient, filters = channels_last(dy, data_format), computed(w)
    channels, multiplier = w.shape[2], w.shape[3]
    shape = (sizes[0], height.size, width.size, channels)
    _check_gradient("DepthwiseConv2dNativeBackpropInput", shape, w.shape, gradient.shape, (height, width))
    frame = np.zeros((sizes[0], _reach(height), _reach(width), channels), gradient.dtype)
    for region, rows in _blocks(gradient.shape, height):
        part = gradient[region]
        split = part.reshape(*part.shape[:3], channels, multiplier)
        for row, column, taps in _taps(height, width, rows):
            target = frame[(region[0], *taps)]
            for index in range(multiplier):
                target += split[..., index] * filters[row, column, :, index]
    out = frame[:, height.before : height.before + height.size, width.before : width.before + width.size]
    return restore(np.ascontiguousarray(out), data_format, dy.dtype)


def _blocks(shape: Sequence[int], height: Axis) -> Iterator[tuple[tuple[slice, slice], slice]]:
    """Regions (images, output rows) of about BLOCK elements of an output of `shape`, and their rows."""
    line = max(1, shape[2] * shape[3])
    lines = max(1, BLOCK // line)
    images = max(1, lines // max(1, height.out))
    for image in range(0, shape[0], images):
        for row in range(0, height.out, lines):
            rows = slice(row, min(height.out, row + lines))
            yield (slice(image, image + images), rows), rows


def _taps(height: Axis, width: Axis, rows: slice) -> Iterator[tuple[int, int, tuple[slice, slice]]]:
    """Each tap and the elements of the padded input that it meets for output `rows`."""
    count = rows.stop - rows.start
    for row in range(height.kernel if width.out and count else 0):
        top = rows.start * height.stride + row * height.dilation
        down = slice(top, top + (count - 1) * height.stride + 1, height.stride)
        for column in range(width.kernel):
            left = column * width.dilation
            yield row, column, (down, slice(left, left + (width.out - 1) * width.stride + 1, width.stride))


def _reach(axis: Axis) -> int:
    """Elements of the padded input along an axis that windows may touch."""
    return max(axis.before + axis.size, (axis.out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1)


def _padded(x: Array, height: Axis, width: Axis) -> Array:
    """x (NHWC) with zeros where windows reach beyond it."""
    if height.before <= 0 and width.before <= 0 and height.after <= 0 and width.after <= 0:
        return x
    frame = np.zeros((x.shape[0], _reach(height), _reach(width), x.shape[3]), x.dtype)
    frame[:, height.before : height.before + height.size, width.before : width.before + width.size] = x
    return frame


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
            raise InvalidArgumentError(
                f"{what} must be 4-dimensional[{','.join(map(str, sizes))}]", shape=list(sizes)
            )
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
            f"{op}: out_backprop has shape {list(gradient)} where {expected} (batch, height, width, channels) "
            "is computed from the input and the filter.",
            actual=list(gradient),
            computed=expected,
        )
