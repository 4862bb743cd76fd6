"""Three-dimensional convolution and its gradients, on top of two-dimensional correlation.

The planes that the taps along the depth meet are laid side by side as channels of one image: a window of
kd x kh x kw over C channels is one of kh x kw over kd * C. So `correlation` does the work, and only kd
copies of the input are made where its patch matrix would be kd * kh * kw, a block of output planes at a
time. float16 and bfloat16 are computed in float32 and rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, UnimplementedError
from .arrays import Array, shape_text, widened
from .convolution import check_gradient
from .correlation import correlate, correlate_filter, correlate_input, forward_span
from .pooling import met
from .windows import Axis, resolve_volume, volume_axes

BLOCK = 1 << 22
"""Elements of the folded input that are made at a time."""


def conv3d(
    x: Array,
    w: Array,
    *,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Array:
    """TensorFlow's Conv3D: cross-correlation of volumes with a bank of filters.

    Args:
        x: (batch, depth, height, width, channels), or NCDHW.
        w: (depth, height, width, channels, filters).
        strides: Five ints in `data_format`; those of batch and channels must be 1.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: Five ints in `data_format`.

    Returns:
        (batch, out depth, out height, out width, filters) in `data_format` and x's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
        UnimplementedError: Groups of channels, as on TensorFlow's CPU.
    """
    depth, height, width = _geometry(x.shape, w.shape, strides, padding, data_format, dilations, True)
    volumes, filters = _channels_last(x, data_format), _folded_filter(widened(w))
    out = np.empty((volumes.shape[0], depth.out, height.out, width.out, w.shape[4]), volumes.dtype)
    for images, planes, part in _blocks(volumes.shape, depth):
        folded = _fold(volumes[images], part)
        target = out[images, planes].reshape(folded.shape[0], *out.shape[2:])
        correlate(folded, filters, forward_span(height), forward_span(width), target)
    return _restored(out, data_format, x.dtype)


def conv3d_backprop_filter(
    x: Array,
    filter_sizes: Sequence[int],
    dy: Array,
    *,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Array:
    """TensorFlow's Conv3DBackpropFilterV2: the gradient of `conv3d` with respect to its filter.

    Args:
        x: The input of the convolution.
        filter_sizes: Shape of the filter, five ints.
        dy: Gradient with respect to the convolution's output.
        strides: As in `conv3d`, and so are the rest.
        padding: See there.
        data_format: See there.
        dilations: See there.

    Returns:
        An array of shape `filter_sizes` and x's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
        UnimplementedError: Groups of channels.
    """
    shape = tuple(int(size) for size in filter_sizes)
    depth, height, width = axes = _geometry(x.shape, shape, strides, padding, data_format, dilations)
    volumes, gradient = _channels_last(x, data_format), _channels_last(dy, data_format)
    check_gradient("Conv3DBackpropFilterOp", axes, volumes.shape, shape, gradient.shape)
    total = np.zeros((height.kernel * width.kernel * depth.kernel * shape[3], shape[4]), volumes.dtype)
    for images, planes, part in _blocks(volumes.shape, depth):
        folded = _fold(volumes[images], part)
        slope = gradient[images, planes].reshape(folded.shape[0], *gradient.shape[2:])
        total += correlate_filter(folded, slope, forward_span(height), forward_span(width))
    out = total.reshape(height.kernel, width.kernel, depth.kernel, *shape[3:]).transpose(2, 0, 1, 3, 4)
    return np.ascontiguousarray(out).astype(x.dtype, copy=False)


def conv3d_backprop_input(
    input_sizes: Sequence[int],
    w: Array,
    dy: Array,
    *,
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
) -> Array:
    """TensorFlow's Conv3DBackpropInputV2 (`conv3d_transpose`): the gradient with respect to the input.

    Args:
        input_sizes: Shape of the convolution's input in `data_format`.
        w: The filter.
        dy: Gradient with respect to the convolution's output.
        strides: As in `conv3d`, and so are the rest.
        padding: See there.
        data_format: See there.
        dilations: See there.

    Returns:
        An array of shape `input_sizes` and dy's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit, with TensorFlow's texts.
        UnimplementedError: Groups of channels.
    """
    sizes = [int(size) for size in input_sizes]
    depth, height, width = axes = _geometry(sizes, w.shape, strides, padding, data_format, dilations)
    gradient, filters = _channels_last(dy, data_format), _folded_filter(widened(w))
    shape = (sizes[0], depth.size, height.size, width.size, w.shape[3])
    check_gradient("Conv3DBackpropInputOp", axes, shape, w.shape, gradient.shape)
    out = np.zeros(shape, gradient.dtype)
    if 0 in (out.size, gradient.size, filters.size):
        return _restored(out, data_format, dy.dtype)
    for images, planes, part in _blocks(shape, depth):
        slope = gradient[images, planes]
        flat = slope.reshape(-1 if slope.size else 0, *gradient.shape[2:])
        folded = correlate_input(
            flat, filters, height, width, (len(flat), height.size, width.size, filters.shape[2])
        )
        split = folded.reshape(*slope.shape[:2], height.size, width.size, depth.kernel, w.shape[3])
        for tap in range(depth.kernel if slope.size else 0):
            inside, source = met(part, tap * depth.dilation)
            out[images, source] += split[:, inside, :, :, tap]
    return _restored(out, data_format, dy.dtype)


def _blocks(shape: Sequence[int], depth: Axis) -> Iterator[tuple[slice, slice, Axis]]:
    """The output a few planes at a time, `BLOCK` elements of folded input each.

    Yields:
        `(images, planes, axis)`: what part of the output, and the depth axis of those planes alone.
    """
    plane = max(1, shape[2] * shape[3] * shape[4] * depth.kernel)
    lines = max(1, BLOCK // plane)
    images = max(1, lines // max(1, depth.out))
    for image in range(0, shape[0], images):
        for start in range(0, depth.out, lines):
            stop = min(start + lines, depth.out)
            part = depth._replace(out=stop - start, before=depth.before - start * depth.stride)
            yield slice(image, min(image + images, shape[0])), slice(start, stop), part


def _fold(volumes: Array, depth: Axis) -> Array:
    """(batch, depth, height, width, channels) as images of (out planes, height, width, taps * channels)."""
    batch, _, rows, columns, channels = volumes.shape
    if depth.kernel == depth.stride == 1 and depth.before <= 0:
        first = -depth.before
        planes = volumes[:, first : first + depth.out]
    else:
        planes = np.zeros((batch, depth.out, rows, columns, depth.kernel, channels), volumes.dtype)
        for tap in range(depth.kernel):
            inside, source = met(depth, tap * depth.dilation)
            planes[:, inside, :, :, tap] = volumes[:, source]
    return np.ascontiguousarray(planes).reshape(batch * depth.out, rows, columns, depth.kernel * channels)


def _folded_filter(w: Array) -> Array:
    """(depth, height, width, channels, filters) as (height, width, depth * channels, filters)."""
    taps, rows, columns, channels, filters = w.shape
    return np.ascontiguousarray(w.transpose(1, 2, 0, 3, 4)).reshape(rows, columns, taps * channels, filters)


def _channels_last(a: Array, data_format: str) -> Array:
    return np.ascontiguousarray(widened(a if data_format == "NDHWC" else a.transpose(0, 2, 3, 4, 1)))


def _restored(a: Array, data_format: str, dtype: np.dtype[Any]) -> Array:
    if data_format == "NCDHW":
        return a.transpose(0, 4, 1, 2, 3).astype(dtype, order="C")
    return a.astype(dtype, copy=False)


def _geometry(
    shape: Sequence[int],
    filter_shape: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    forward: bool = False,
) -> tuple[Axis, ...]:
    """Depth, height and width of a convolution over an input of `shape`, after checking what must fit."""
    for what, sizes in (("input", shape), ("filter", filter_shape)):
        if len(sizes) != 5:
            raise InvalidArgumentError(
                f"{what} must be 5-dimensional: {shape_text(sizes)}", shape=list(sizes)
            )
        if min(sizes) < 0:
            raise InvalidArgumentError(f"Dimension {min(sizes)} must be >= 0", shape=list(sizes))
    channel = 4 if data_format == "NDHWC" else 1
    for what, values in (("strides", strides), ("dilation rates", dilations)):
        if len(values) != 5:
            raise InvalidArgumentError(f"{what} must specify 5 dimensions, but are {list(values)}")
        if values[0] != 1 or values[channel] != 1:
            raise InvalidArgumentError(
                f"Current implementation does not yet support {what} in the batch and depth dimensions."
            )
        if min(values[axis] for axis in volume_axes(data_format)) <= 0:
            raise InvalidArgumentError(f"Spatial {what} should be larger than 0, but are {list(values)}")
    depth, channels = shape[channel], filter_shape[3]
    if channels <= 0 or depth % channels:
        raise InvalidArgumentError(
            f"Input depth must be evenly divisible by filter depth: {depth} vs {channels}",
            input_depth=depth,
            filter_depth=channels,
        )
    if depth != channels and depth:
        raise UnimplementedError(
            f"Conv3D in groups of channels is not supported: input depth {depth}, filter depth {channels}",
            input_depth=depth,
            filter_depth=channels,
        )
    return resolve_volume(shape, filter_shape[:3], strides, padding, data_format, dilations, forward)
