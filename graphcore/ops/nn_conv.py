"""Convolutions of images, their gradients, and `tf.nn`'s functions on top of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import FLOATING
from ..errors import InvalidValueError
from ..kernels import convolution as convolution_kernels, depthwise as depthwise_kernels
from ..kernels.windows import spatial_axes
from ..op import GraphOp, op, raw_ops
from ..operation import Tensor
from ..shapes import Dim, Shape, merge_dims, with_rank, with_value
from .array_shape import tf_shape
from .nn import channel_axis, plain_format
from .nn_dilated import with_space_to_batch

_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1]"
_CONV2D = (
    "strides: list(int)",
    "use_cudnn_on_gpu: bool = true",
    "padding: {'SAME', 'VALID', 'EXPLICIT'}",
    "explicit_paddings: list(int) = []",
    _FORMAT,
    _DILATIONS,
)
_DEPTHWISE = ("strides: list(int)", "padding: {'SAME', 'VALID'}", _FORMAT, _DILATIONS)


def windowed_size(
    size: Dim,
    window: Dim,
    stride: int,
    padding: str,
    dilation: int = 1,
    explicit: Sequence[int] = (0, 0),
) -> Dim:
    """The output size of a sliding window along one axis, with TensorFlow 1.15's texts.

    Raises:
        InvalidValueError: The window is larger than the input, or the stride or dilation not positive.
    """
    if stride <= 0:
        raise InvalidValueError(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise InvalidValueError(f"Dilation rate must be >= 1, but got {dilation}")
    if padding == "SAME":
        return None if size is None else -(-size // stride)
    if size is None or window is None:
        return None
    padded, effective = size + sum(explicit), (window - 1) * dilation + 1
    if effective > padded:
        raise InvalidValueError(
            f"Negative dimension size caused by subtracting {effective} from {padded}",
            size=padded,
            window=effective,
        )
    return (padded - effective) // stride + 1


def check_length(op_type: str, name: str, values: Sequence[int], where: str = "") -> None:
    """Raises InvalidValueError unless an attribute has four values."""
    if len(values) != 4:
        raise InvalidValueError(
            f"{op_type}{where} requires the {name} attribute to contain 4 values, but got: {len(values)}"
        )


def _conv_shape(node: Any, depth: Callable[[Dim, tuple[Dim, ...]], Dim]) -> Shape:
    """The output shape of a convolution; `depth` gives the channels from the input's and the filter."""
    x, w = with_rank(node.shape(0), 4), with_rank(node.shape(1), 4)
    data_format, kind = node.attr("data_format"), node.node.type
    strides, dilations = node.attr("strides"), node.attr("dilations")
    check_length(kind, "dilation", dilations)
    check_length(kind, "stride", strides, f" on data format {data_format}")
    padding = node.attr("padding")
    explicit = node.attr("explicit_paddings") if padding == "EXPLICIT" else [0] * 8
    if len(explicit) != 8:
        raise InvalidValueError(f"explicit_paddings must contain 8 values, but got: {len(explicit)}")
    channels = channel_axis(data_format, 4)
    result: list[Dim] = list(x)
    result[channels] = depth(x[channels], w)
    for axis, window in zip(spatial_axes(data_format), w[:2], strict=True):
        pads = explicit[2 * axis : 2 * axis + 2]
        result[axis] = windowed_size(x[axis], window, strides[axis], padding, dilations[axis], pads)
    return tuple(result)


def _conv_depth(channels: Dim, w: tuple[Dim, ...]) -> Dim:
    if channels is not None and w[2] is not None:
        if w[2] <= 0:
            raise InvalidValueError("Depth of filter must not be 0")
        if channels % w[2]:
            raise InvalidValueError(
                f"Depth of input ({channels}) is not a multiple of input depth of filter ({w[2]})"
            )
        groups = channels // w[2]
        if groups and w[3] is not None and w[3] % groups:
            raise InvalidValueError(
                f"Depth of output ({w[3]}) is not a multiple of the number of groups ({groups})"
            )
    return w[3]


def _depthwise_depth(channels: Dim, w: tuple[Dim, ...]) -> Dim:
    channels = merge_dims(channels, w[2])
    return None if channels is None or w[3] is None else channels * w[3]


def _given_shape(index: int) -> Callable[[Any], Shape]:
    """The rule "the shape that input `index` holds, of rank 4"."""

    def rule(node: Any) -> Shape:
        for other in range(3):
            if other != index:
                with_rank(node.shape(other), 4)
        with_rank(node.shape(index), 1)
        return with_rank(node.value_as_shape(index), 4)

    return rule


def _attrs(node: Any, names: Sequence[str]) -> dict[str, Any]:
    keys = [text.split(":")[0] for text in names]
    return {key: node.attr(key) for key in keys}


def _declare(name: str, kernels: tuple[Any, Any, Any], attrs: tuple[str, ...], depth: Any) -> GraphOp:
    """Declares a convolution and its two gradients, each of which has the other two as gradients.

    Args:
        name: The op type of the convolution.
        kernels: Those of the convolution, of the input's and of the filter's gradient.
        attrs: What all three are declared with.
        depth: See `_conv_shape`.
    """
    by_input, by_filter = f"{name}BackpropInput", f"{name}BackpropFilter"
    forward = op(name, "input: T, filter: T -> output: T", *attrs, T=FLOATING)(kernels[0])
    forward.shape(lambda node: _conv_shape(node, depth))
    inputs = "input_sizes: int32, filter: T, out_backprop: T -> output: T"
    input_grad = op(by_input, inputs, *attrs, T=FLOATING)(kernels[1])
    input_grad.shape(_given_shape(0))
    inputs = "input: T, filter_sizes: int32, out_backprop: T -> output: T"
    filter_grad = op(by_filter, inputs, *attrs, T=FLOATING)(kernels[2])
    filter_grad.shape(_given_shape(1))

    @forward.grad
    def _(node: Any, dy: Any) -> Any:
        (x, w), options = node.inputs, _attrs(node, attrs)
        x_shape, w_shape = raw_ops.ShapeN([x, w])
        return [input_grad(x_shape, w, dy, **options), filter_grad(x, w_shape, dy, **options)]

    @input_grad.grad
    def _(node: Any, dy: Any) -> Any:
        (_, w, out_grad), options = node.inputs, _attrs(node, attrs)
        return [None, filter_grad(dy, raw_ops.Shape(w), out_grad, **options), forward(dy, w, **options)]

    @filter_grad.grad
    def _(node: Any, dy: Any) -> Any:
        (x, _, out_grad), options = node.inputs, _attrs(node, attrs)
        return [input_grad(raw_ops.Shape(x), dy, out_grad, **options), None, forward(x, dy, **options)]

    return forward


conv2d_op = _declare(
    "Conv2D",
    (
        convolution_kernels.conv2d,
        convolution_kernels.conv2d_backprop_input,
        convolution_kernels.conv2d_backprop_filter,
    ),
    _CONV2D,
    _conv_depth,
)
depthwise_conv2d_native_op = _declare(
    "DepthwiseConv2dNative",
    (
        depthwise_kernels.depthwise_conv2d,
        depthwise_kernels.depthwise_conv2d_backprop_input,
        depthwise_kernels.depthwise_conv2d_backprop_filter,
    ),
    _DEPTHWISE,
    _depthwise_depth,
)


# TensorFlow's Python functions


def spatial_sequence(value: Any, count: int, data_format: str, name: str) -> list[int]:
    """Strides and the like of `count` spatial axes as one value an axis, batch and channels too.

    Args:
        value: One number, one a spatial axis, or one an axis; None for ones.
        count: How many spatial axes there are.
        data_format: Tells where the channels are.
        name: For messages.

    Raises:
        ValueError: It has another length.
    """
    values = [1] if value is None else list(value) if hasattr(value, "__len__") else [value]
    if len(values) == count + 2:
        return [int(item) for item in values]
    if len(values) == 1:
        values *= count
    if len(values) != count:
        raise InvalidValueError(f"{name} should be of length 1, {count} or {count + 2} but was {len(values)}")
    values = [int(item) for item in values]
    return [1, 1, *values] if data_format.startswith("NC") else [1, *values, 1]


def conv_padding(padding: Any) -> tuple[str, list[int]]:
    """The attributes `padding` and `explicit_paddings` of what a caller gave.

    Raises:
        ValueError: A list of paddings is malformed.
    """
    if padding == "EXPLICIT":
        raise InvalidValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the padding '
            "parameter must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return padding, []
    for index, pair in enumerate(padding):
        head = (
            "When padding is a list, each element of padding must be a list/tuple of size 2. Element with "
            f"index {index} of padding"
        )
        if not isinstance(pair, (list, tuple)):
            raise InvalidValueError(f"{head} is not a list/tuple")
        if len(pair) != 2:
            raise InvalidValueError(f"{head} has size {len(pair)}")
    if len(padding) != 4:
        raise InvalidValueError(
            f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}"
        )
    return "EXPLICIT", [int(item) for pair in padding for item in pair]


def either(new: str, value: Any, old: str, old_value: Any) -> Any:
    """One of two names of an argument.

    Raises:
        ValueError: Both are given.
    """
    if value is not None and old_value is not None:
        raise InvalidValueError(f"Cannot specify both '{old}' and '{new}'")
    return old_value if value is None else value


def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str | None = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """`tf.nn.conv2d`.

    Args:
        input: (batch, height, width, channels), or NCHW.
        filter: (height, width, channels, filters).
        strides: One, two or four ints.
        padding: "SAME", "VALID", or four pairs of ints.
        use_cudnn_on_gpu: Kept in the graph for TensorFlow.
        data_format: "NHWC" or "NCHW".
        dilations: One, two or four ints.
        name: Name of the operation.
        filters: Later name of `filter`.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    data_format = data_format or "NHWC"
    padding, explicit = conv_padding(padding)
    return conv2d_op(
        input,
        either("filters", filters, "filter", filter),
        strides=spatial_sequence(strides, 2, data_format, "strides"),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=spatial_sequence(dilations, 2, data_format, "dilations"),
        name=name,
    )


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.conv2d_transpose`: the gradient of a convolution, used forwards.

    Args:
        value: (batch, height, width, channels), or NCHW.
        filter: (height, width, output channels, channels).
        output_shape: Of the result, four ints or a tensor.
        strides: One, two or four ints.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: Name of the operation.
        input: Later name of `value`.
        filters: Later name of `filter`.
        dilations: One, two or four ints.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    data_format = data_format or "NHWC"
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    with name_scope(name, "conv2d_transpose", [value, filter, output_shape]) as scope:
        return raw_ops.Conv2DBackpropInput(
            output_shape,
            filter,
            value,
            strides=spatial_sequence(strides, 2, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=spatial_sequence(dilations, 2, data_format, "dilations"),
            name=scope,
        )


def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: str | None = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.conv1d`: a convolution over (batch, width, channels), or NCW, by Conv2D with height 1.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    value = either("input", input, "value", value)
    with name_scope(name, "conv1d", [value, filters]) as scope:
        return _conv1d(
            value, filters, stride, padding, data_format, dilations, scope, use_cudnn_on_gpu is not False
        )


def _conv1d(
    value: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    scope: str,
    use_cudnn_on_gpu: bool = True,
) -> Any:
    if data_format not in (None, "NHWC", "NWC", "NCHW", "NCW"):
        raise InvalidValueError('data_format must be "NWC" or "NCW".')
    plain = plain_format(data_format)
    spatial = spatial_axes(plain)[0]
    result = conv2d_op(
        raw_ops.ExpandDims(value, spatial),
        raw_ops.ExpandDims(filters, 0),
        strides=with_height(spatial_sequence(stride, 1, plain, "stride"), spatial),
        padding=padding,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=plain,
        dilations=with_height(spatial_sequence(dilations, 1, plain, "dilations"), spatial),
        name=scope,
    )
    return raw_ops.Squeeze(result, squeeze_dims=[spatial])


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.conv1d_transpose`: the gradient of `conv1d`, used forwards.

    Args:
        input: (batch, width, channels), or NCW.
        filters: (width, output channels, channels).
        output_shape: Of the result, three ints or a tensor.
        strides: One or three ints.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        dilations: One or three ints.
        name: Name of the operations.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    with name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        if data_format not in (None, "NWC", "NCW"):
            raise InvalidValueError('data_format must be "NWC" or "NCW".')
        plain = plain_format(data_format)
        spatial = spatial_axes(plain)[0]
        input = raw_ops.ExpandDims(input, spatial)
        filters = raw_ops.ExpandDims(filters, 0)
        shape = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        result = raw_ops.Conv2DBackpropInput(
            raw_ops.ConcatV2([shape[:spatial], [1], shape[spatial:]], 0, name="concat"),
            filters,
            input,
            strides=with_height(spatial_sequence(strides, 1, plain, "stride"), spatial),
            padding=padding,
            data_format=plain,
            dilations=with_height(spatial_sequence(dilations, 1, plain, "dilations"), spatial),
            name=scope,
        )
        return raw_ops.Squeeze(result, squeeze_dims=[spatial])


def with_height(values: list[int], spatial: int) -> list[int]:
    """One value an axis of a series as those of an image of height 1, whose height is axis `spatial`."""
    return [*values[:spatial], 1, *values[spatial:]]


def convolution(
    input: Any,
    filter: Any = None,
    padding: Any = None,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.convolution` in one to three dimensions; dilation by SpaceToBatchND, as in TensorFlow 1.

    Args:
        input: (batch, spatial..., channels), or channels second where `data_format` begins with NC.
        filter: (spatial..., channels, filters).
        padding: "SAME" or "VALID".
        strides: One int a spatial axis.
        dilation_rate: One int a spatial axis; only one of it and `strides` may differ from 1.
        name: Name scope of the operations.
        data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC" or "NCDHW".
        filters: Later name of `filter`.
        dilations: Later name of `dilation_rate`.

    Raises:
        ValueError: The rank is unknown or not three to five, or arguments do not fit.
    """
    filter = either("filters", filters, "filter", filter)
    rate = either("dilations", dilations, "dilation_rate", dilation_rate)
    with name_scope(name, "convolution", [input, filter]) as scope:
        input = convert_to_tensor(input, name="input")
        filter = convert_to_tensor(filter, name="filter")
        return apply_convolution(input, filter, padding, strides, rate, data_format, scope)


def apply_convolution(
    input: Any,
    filter: Any,
    padding: str,
    strides: Any,
    dilation_rate: Any,
    data_format: str | None,
    name: str | None = None,
) -> Any:
    """What `convolution` gives, without its name scope; by default with the op's own name.

    Raises:
        ValueError: The rank is unknown or not three to five, or arguments do not fit.
    """
    ndims = input.get_shape().ndims or filter.get_shape().ndims
    if ndims not in (3, 4, 5):
        raise InvalidValueError(
            f"Convolution of 1 to 3 spatial dimensions expected, the input has rank {ndims}"
        )
    count = ndims - 2
    plain = plain_format(data_format)
    steps, rates = per_axis(strides, count, "strides"), per_axis(dilation_rate, count, "dilation_rate")
    if max(steps) > 1 and max(rates) > 1:
        raise InvalidValueError("strides > 1 not supported in conjunction with dilation_rate > 1")

    def apply(x: Any, _: int, pad: str) -> Any:
        if count == 1:
            if name is None:
                return conv1d(x, filter, steps, pad, data_format=plain)
            return _conv1d(x, filter, steps, pad, plain, None, name)
        if count == 2:
            return conv2d(x, filter, steps, pad, data_format=plain, name=name)
        volume = "NCDHW" if plain == "NCHW" else "NDHWC"
        sequence = spatial_sequence(steps, 3, volume, "strides")
        return raw_ops.Conv3D(x, filter, strides=sequence, padding=pad, data_format=volume, name=name)

    shape = filter.get_shape()
    taps = shape if shape[:count].is_fully_defined() else raw_ops.Shape(filter)
    result = with_space_to_batch(input, rates, padding, apply, taps, data_format=plain)
    if plain == "NCHW" and result.get_shape().ndims is not None:
        result.set_shape([None, shape[-1], *[None] * count])
    return result


def per_axis(value: Any, count: int, name: str) -> list[int]:
    """One int a spatial axis of what may be None or a single int.

    Raises:
        ValueError: It has another length.
    """
    values = [1] * count if value is None else [int(item) for item in np.ravel(value)]
    values = values * count if len(values) == 1 else values
    if len(values) != count:
        raise InvalidValueError(f"{name} should be of length {count} but was {len(values)}")
    return values


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: str, name: str | None = None) -> Any:
    """`tf.nn.atrous_conv2d`: a convolution whose filter has `rate - 1` holes between its taps.

    Raises:
        ValueError: See `convolution`.
    """
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.depthwise_conv2d`: each channel with filters of its own.

    Args:
        input: (batch, height, width, channels), or NCHW.
        filter: (height, width, channels, multiplier).
        strides: Four ints.
        padding: "SAME" or "VALID".
        rate: Dilation along height and width; strides must be 1 where it is not.
        name: Name of the operation.
        data_format: "NHWC" or "NCHW".
        dilations: Later name of `rate`.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    rate = either("dilations", dilations, "rate", rate)
    with name_scope(name, "depthwise", [input, filter]) as scope:
        return _depthwise(input, filter, strides, padding, rate, data_format, scope)


def _depthwise(
    input: Any, filter: Any, strides: Any, padding: str, rate: Any, data_format: str | None, scope: str
) -> Any:
    input = convert_to_tensor(input, name="tensor_in")
    filter = convert_to_tensor(filter, name="filter_in")
    plain = data_format or "NHWC"

    def apply(x: Any, _: int, pad: str) -> Any:
        return depthwise_conv2d_native_op(
            x, filter, strides=strides, padding=pad, data_format=plain, name=scope
        )

    rates = per_axis(rate, 2, "rate")
    return with_space_to_batch(input, rates, padding, apply, tf_shape(filter), data_format=plain)


def depthwise_conv2d_native(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.depthwise_conv2d_native`: the op DepthwiseConv2dNative itself."""
    return depthwise_conv2d_native_op(
        input,
        filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: str,
    rate: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.separable_conv2d`: a depthwise convolution, then one with a 1 by 1 filter.

    Args:
        input: (batch, height, width, channels), or NCHW.
        depthwise_filter: (height, width, channels, multiplier).
        pointwise_filter: (1, 1, channels * multiplier, filters).
        strides: Four ints, of the depthwise convolution.
        padding: "SAME" or "VALID".
        rate: Dilation along height and width.
        name: Name of the operation.
        data_format: "NHWC" or "NCHW".
        dilations: Later name of `rate`.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    rate = either("dilations", dilations, "rate", rate)
    with name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        pointwise = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        shape = with_rank(pointwise.static_shape, 4)
        with_value(shape[0], 1)
        with_value(shape[1], 1)
        plain = data_format or "NHWC"
        middle = _depthwise(input, depthwise_filter, strides, padding, rate, plain, "depthwise")
        return conv2d_op(
            middle, pointwise, strides=[1, 1, 1, 1], padding="VALID", data_format=plain, name=scope
        )
