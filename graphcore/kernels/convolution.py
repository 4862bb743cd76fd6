"""Two-dimensional convolution and its gradients, for TensorFlow's attributes.

float16 and bfloat16 are computed in float32 and rounded once, at the end. The arithmetic, and how it
is made fast, is in `correlation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError
from . import winograd
from .arrays import Array, shape_text, widened
from .correlation import Finish, correlate, correlate_filter, correlate_input, forward_span
from .windows import Axis, resolve


def conv2d(
    x: Array,
    w: Array,
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
    finish: Finish | None = None,
    transformed: Callable[[], Array] | None = None,
) -> Array:
    """TensorFlow's Conv2D: cross-correlation of images with a bank of filters.

    Args:
        x: (batch, height, width, channels), or NCHW.
        w: (height, width, channels / groups, filters). More than one group where x has more channels.
        strides: Four ints in `data_format`; those of batch and channels must be 1.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: Eight ints in `data_format`, for "EXPLICIT".
        data_format: "NHWC" or "NCHW".
        dilations: Four ints in `data_format`.
        finish: As in `correlation.correlate`; NHWC, of one group and in a dtype of the arithmetic.
        transformed: What gives `winograd.transform_filters(w)`; it is called where that is the faster way.

    Returns:
        (batch, out height, out width, filters) in `data_format` and x's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
    """
    height, width = _geometry(x.shape, w.shape, strides, padding, explicit_paddings, data_format, dilations)
    images, filters = channels_last(x, data_format), widened(w)
    batch, channels, groups = images.shape[0], filters.shape[2], images.shape[3] // filters.shape[2]
    spans = forward_span(height), forward_span(width)
    out = np.empty((batch, height.out, width.out, filters.shape[3]), images.dtype)
    if transformed is not None and winograd.suits(images.shape, filters.shape, height, width):
        winograd.correlate(images, transformed(), *spans, out, finish)
    elif groups == 1:
        correlate(images, filters, *spans, out, finish)
    else:
        per_group = filters.shape[3] // groups
        for group in range(groups):
            inputs = np.ascontiguousarray(images[..., group * channels : (group + 1) * channels])
            outputs = slice(group * per_group, (group + 1) * per_group)
            part = np.empty((*out.shape[:3], per_group), out.dtype)
            correlate(inputs, np.ascontiguousarray(filters[..., outputs]), *spans, part)
            out[..., outputs] = part
    return restore(out, data_format, x.dtype)


def conv2d_backprop_filter(
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
    """TensorFlow's Conv2DBackpropFilter: the gradient of `conv2d` with respect to its filter.

    Args:
        x: The input of the convolution.
        filter_sizes: Shape of the filter, four ints.
        dy: Gradient with respect to the convolution's output.
        strides: As in `conv2d`, and so are the rest.
        padding: See there.
        explicit_paddings: See there.
        data_format: See there.
        dilations: See there.

    Returns:
        An array of shape `filter_sizes` and x's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
    """
    shape = tuple(int(size) for size in filter_sizes)
    height, width = _geometry(x.shape, shape, strides, padding, explicit_paddings, data_format, dilations)
    images, gradient = channels_last(x, data_format), channels_last(dy, data_format)
    check_gradient("Conv2DBackpropFilter", (height, width), images.shape, shape, gradient.shape)
    if 0 in (images.size, gradient.size, *shape):
        return np.zeros(shape, x.dtype)
    channels, groups = shape[2], images.shape[3] // shape[2]
    spans = forward_span(height), forward_span(width)
    if groups == 1:
        out = correlate_filter(images, gradient, *spans)
    else:
        per_group = shape[3] // groups
        out = np.empty((height.kernel * width.kernel * channels, shape[3]), images.dtype)
        for group in range(groups):
            inputs = np.ascontiguousarray(images[..., group * channels : (group + 1) * channels])
            outputs = slice(group * per_group, (group + 1) * per_group)
            out[:, outputs] = correlate_filter(inputs, np.ascontiguousarray(gradient[..., outputs]), *spans)
    return out.reshape(shape).astype(x.dtype, copy=False)


def conv2d_backprop_input(
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
    """TensorFlow's Conv2DBackpropInput (also `conv2d_transpose`): the gradient with respect to the input.

    Args:
        input_sizes: Shape of the convolution's input in `data_format`; or height and width alone.
        w: The filter.
        dy: Gradient with respect to the convolution's output.
        strides: As in `conv2d`, and so are the rest.
        padding: See there.
        explicit_paddings: See there.
        data_format: See there.
        dilations: See there.

    Returns:
        An array of shape `input_sizes` and dy's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
    """
    sizes = [int(size) for size in input_sizes]
    if len(sizes) == 2:
        sizes = (
            [dy.shape[0], *sizes, w.shape[2]] if data_format == "NHWC" else [dy.shape[0], w.shape[2], *sizes]
        )
    height, width = _geometry(sizes, w.shape, strides, padding, explicit_paddings, data_format, dilations)
    gradient, filters = channels_last(dy, data_format), widened(w)
    depth = sizes[3] if data_format == "NHWC" else sizes[1]
    shape = (sizes[0], height.size, width.size, depth)
    check_gradient("Conv2DBackpropInput", (height, width), shape, w.shape, gradient.shape)
    channels, groups = w.shape[2], depth // w.shape[2]
    if groups == 1:
        out = correlate_input(gradient, filters, height, width, shape)
    else:
        per_group = w.shape[3] // groups
        out = np.empty(shape, gradient.dtype)
        for group in range(groups):
            outputs = slice(group * per_group, (group + 1) * per_group)
            part = np.ascontiguousarray(gradient[..., outputs]), np.ascontiguousarray(filters[..., outputs])
            inputs = slice(group * channels, (group + 1) * channels)
            out[..., inputs] = correlate_input(*part, height, width, (*shape[:3], channels))
    return restore(out, data_format, dy.dtype)


def channels_last(a: Array, data_format: str) -> Array:
    """The array as (batch, height, width, channels), contiguous, in the dtype of the arithmetic."""
    return np.ascontiguousarray(widened(a if data_format == "NHWC" else a.transpose(0, 2, 3, 1)))


def restore(a: Array, data_format: str, dtype: np.dtype[Any]) -> Array:
    """The array (NHWC) in the data format and dtype of the caller."""
    if data_format == "NCHW":
        return a.transpose(0, 3, 1, 2).astype(dtype, order="C")
    return a.astype(dtype, copy=False)


def _geometry(
    shape: Sequence[int],
    filter_shape: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
    dilations: Sequence[int],
) -> tuple[Axis, Axis]:
    """Height and width of a convolution over an input of `shape`, after checking what must fit."""
    for what, sizes in (("input", shape), ("filter", filter_shape)):
        if len(sizes) != 4:
            raise InvalidArgumentError(
                f"convolution {what} must be 4-dimensional: {shape_text(sizes)}", shape=list(sizes)
            )
        if min(sizes) < 0:
            raise InvalidArgumentError(f"Dimension {min(sizes)} must be >= 0", shape=list(sizes))
    axes = resolve(
        shape,
        filter_shape[:2],
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
        dilations=dilations,
    )
    depth_axis = 3 if data_format == "NHWC" else 1
    if strides[0] != 1 or strides[depth_axis] != 1:
        raise InvalidArgumentError(
            "Current implementation does not yet support strides in the batch and depth dimensions, "
            f"but strides are {list(strides)}.",
            strides=list(strides),
        )
    depth, channels, filters = shape[depth_axis], filter_shape[2], filter_shape[3]
    if channels <= 0:
        raise InvalidArgumentError(f"filter depth must be strictly positive, got {channels}", depth=channels)
    if depth % channels or (depth and filters % (depth // channels)):
        fact = f"input depth must be evenly divisible by filter depth: {depth} vs {channels}"
        if depth % channels == 0:
            fact = f"output depth must be evenly divisible by the {depth // channels} groups: {filters}"
        raise InvalidArgumentError(fact, input_depth=depth, filter_depth=channels, filters=filters)
    return axes


def check_gradient(
    op: str,
    axes: Sequence[Axis],
    shape: Sequence[int],
    filter_shape: Sequence[int],
    gradient: Sequence[int],
) -> None:
    """Raises InvalidArgumentError unless dy's shape (channels last) is that of the convolution's output."""
    if len(gradient) != len(axes) + 2 or gradient[0] != shape[0]:
        raise InvalidArgumentError(
            f"{op}: input and out_backprop must have the same batch size. Input batch: {shape[0]}, "
            f"outbackprop shape: {list(gradient)}",
            input_shape=list(shape),
            out_backprop_shape=list(gradient),
        )
    if gradient[-1] != filter_shape[-1]:
        raise InvalidArgumentError(
            f"{op}: filter and out_backprop must have the same out_depth, but have {filter_shape[-1]} and "
            f"{gradient[-1]}",
            filter_shape=list(filter_shape),
            out_backprop_shape=list(gradient),
        )
    for number, axis in enumerate(axes, 1):
        if gradient[number] != axis.out:
            raise InvalidArgumentError(
                f"{op}: Size of out_backprop doesn't match computed: actual = {gradient[number]}, computed = "
                f"{axis.out} spatial_dim: {number} input: {axis.size} filter: {axis.kernel} "
                f"output: {gradient[number]} stride: {axis.stride} dilation: {axis.dilation}",
                actual=gradient[number],
                computed=axis.out,
            )
