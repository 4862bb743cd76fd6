"""Convolution and pooling of volumes, their gradients, and `tf.nn`'s functions on top of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..default import name_scope
from ..dtypes import FLOATING, INDEX, REAL, bfloat16, float16, float32, float64, int32
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import convolution3d as convolution_kernels, pooling3d as pooling_kernels
from ..kernels.windows import volume_axes
from ..op import GraphOp, op, raw_ops
from ..shapes import Dim, Shape, format_shape, merge, with_rank
from .nn import channel_axis
from .nn_conv import either, spatial_sequence, windowed_size

_STRIDES = "strides: list(int) >= 5"
_PADDING = "padding: {'SAME', 'VALID'}"
_FORMAT = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1, 1]"
_CONV = (_STRIDES, _PADDING, _FORMAT, _DILATIONS)
_CONV_V1 = (_STRIDES, _PADDING, _DILATIONS)
_POOL = ("ksize: list(int) >= 5", _STRIDES, _PADDING, _FORMAT)
_NO_DOUBLE = (bfloat16, float16, float32)
_DEPRECATED = "TensorFlow has none for the first version of this op"


def _attrs(node: Any, names: Sequence[str]) -> dict[str, Any]:
    return {text.split(":")[0]: node.attr(text.split(":")[0]) for text in names}


def _check_length(op_type: str, name: str, values: Sequence[int]) -> None:
    if len(values) != 5:
        raise InvalidValueError(f"{op_type} the {name} attribute to contain 5 values, but got: {len(values)}")


# Convolution


conv3d_op = op("Conv3D", "input: T, filter: T -> output: T", *_CONV, T=FLOATING)(convolution_kernels.conv3d)


@conv3d_op.shape
def _(node: Any) -> Shape:
    x, w = with_rank(node.shape(0), 5), with_rank(node.shape(1), 5)
    data_format, strides, dilations = node.attr("data_format"), node.attr("strides"), node.attr("dilations")
    _check_length("Conv3D requires", "dilation", dilations)
    _check_length("Conv3D requires", "stride", strides)
    channels = channel_axis(data_format, 5)
    depth = x[channels]
    if depth is not None and w[3] is not None:
        if w[3] == 0:
            raise InvalidValueError("Depth of filter must not be 0")
        if depth % w[3]:
            raise InvalidValueError(
                f"Depth of input ({depth}) is not a multiple of input depth of filter ({w[3]})"
            )
        groups = depth // w[3]
        if groups and w[4] is not None and w[4] % groups:
            raise InvalidValueError(
                f"Depth of output ({w[4]}) is not a multiple of the number of groups ({groups})"
            )
    result: list[Dim] = list(x)
    result[channels] = w[4]
    for axis, window in zip(volume_axes(data_format), w[:3], strict=True):
        result[axis] = windowed_size(x[axis], window, strides[axis], node.attr("padding"), dilations[axis])
    return tuple(result)


conv3d_backprop_input_v2 = op(
    "Conv3DBackpropInputV2",
    "input_sizes: Tshape, filter: T, out_backprop: T -> output: T",
    *_CONV,
    T=FLOATING,
    Tshape=(INDEX, int32),
)(convolution_kernels.conv3d_backprop_input)
conv3d_backprop_input_v2.shape(lambda node: with_rank(node.value_as_shape(0), 5))

conv3d_backprop_filter_v2 = op(
    "Conv3DBackpropFilterV2",
    "input: T, filter_sizes: int32, out_backprop: T -> output: T",
    *_CONV,
    T=FLOATING,
)(convolution_kernels.conv3d_backprop_filter)
conv3d_backprop_filter_v2.shape(lambda node: with_rank(node.value_as_shape(1), 5))


@conv3d_op.grad
def _(node: Any, dy: Any) -> Any:
    (x, w), options = node.inputs, _attrs(node, _CONV)
    return [
        conv3d_backprop_input_v2(raw_ops.Shape(x), w, dy, **options),
        conv3d_backprop_filter_v2(x, raw_ops.Shape(w), dy, **options),
    ]


@conv3d_backprop_input_v2.grad
def _(node: Any, dy: Any) -> Any:
    (_, w, out_grad), options = node.inputs, _attrs(node, _CONV)
    by_filter = conv3d_backprop_filter_v2(dy, raw_ops.Shape(w), out_grad, **options)
    return [None, by_filter, conv3d_op(dy, w, **options)]


@conv3d_backprop_filter_v2.grad
def _(node: Any, dy: Any) -> Any:
    (x, _, out_grad), options = node.inputs, _attrs(node, _CONV)
    by_input = conv3d_backprop_input_v2(raw_ops.Shape(x), dy, out_grad, **options)
    return [by_input, None, conv3d_op(x, dy, **options)]


@op(
    "Conv3DBackpropInput",
    "input: T, filter: T, out_backprop: T -> output: T",
    *_CONV_V1,
    T=(float16, float32, float64),
    undefined_grad=_DEPRECATED,
)
def conv3d_backprop_input(
    input: Any, filter: Any, out_backprop: Any, *, strides: Any, padding: str, dilations: Any
) -> Any:
    """As Conv3DBackpropInputV2, the shape given by a tensor that has it."""
    return convolution_kernels.conv3d_backprop_input(
        input.shape, filter, out_backprop, strides=strides, padding=padding, dilations=dilations
    )


@op(
    "Conv3DBackpropFilter",
    "input: T, filter: T, out_backprop: T -> output: T",
    *_CONV_V1,
    T=(float16, float32, float64),
    undefined_grad=_DEPRECATED,
)
def conv3d_backprop_filter(
    input: Any, filter: Any, out_backprop: Any, *, strides: Any, padding: str, dilations: Any
) -> Any:
    """As Conv3DBackpropFilterV2, the shape given by a tensor that has it."""
    return convolution_kernels.conv3d_backprop_filter(
        input, filter.shape, out_backprop, strides=strides, padding=padding, dilations=dilations
    )


conv3d_backprop_input.shape(lambda node: with_rank(node.shape(0), 5))
conv3d_backprop_filter.shape(lambda node: with_rank(node.shape(1), 5))


# Pooling


def _pool_shape(node: Any) -> Shape:
    x = with_rank(node.shape(0), 5)
    data_format, ksize, strides = node.attr("data_format"), node.attr("ksize"), node.attr("strides")
    _check_length("Pool3D ops require", "stride", strides)
    _check_length("Pool3D requires", "ksize", ksize)
    result: list[Dim] = list(x)
    for axis in volume_axes(data_format):
        result[axis] = windowed_size(x[axis], ksize[axis], strides[axis], node.attr("padding"))
    return tuple(result)


max_pool3d_op = op("MaxPool3D", "input: T -> output: T", *_POOL, T=_NO_DOUBLE)(pooling_kernels.max_pool3d)
avg_pool3d_op = op("AvgPool3D", "input: T -> output: T", *_POOL, T=FLOATING)(pooling_kernels.avg_pool3d)
max_pool3d_op.shape(_pool_shape)
avg_pool3d_op.shape(_pool_shape)

max_pool3d_grad = op(
    "MaxPool3DGrad",
    "orig_input: TInput, orig_output: TInput, grad: T -> output: T",
    *_POOL,
    T=(_NO_DOUBLE, float32),
    TInput=(_NO_DOUBLE, float32),
)(pooling_kernels.max_pool3d_grad)
max_pool3d_grad.shape(lambda node: with_rank(node.shape(0), 5))
max_pool3d_grad_grad = op(
    "MaxPool3DGradGrad", "orig_input: T, orig_output: T, grad: T -> output: T", *_POOL, T=REAL
)(pooling_kernels.max_pool3d_grad_grad)


@max_pool3d_grad_grad.shape
def _(node: Any) -> Shape:
    merge(node.shape(0), node.shape(2))
    pooled = _pool_shape(node)
    merge(node.shape(1), pooled)
    return pooled


avg_pool3d_grad = op("AvgPool3DGrad", "orig_input_shape: int32, grad: T -> output: T", *_POOL, T=FLOATING)(
    pooling_kernels.avg_pool3d_grad
)
avg_pool3d_grad.shape(lambda node: with_rank(node.value_as_shape(0), 5))


@max_pool3d_op.grad
def _(node: Any, dy: Any) -> Any:
    return max_pool3d_grad(node.inputs[0], node.outputs[0], dy, **_attrs(node, _POOL))


def _through_maximum(inverse: GraphOp) -> Callable[..., Any]:
    def grad(node: Any, dy: Any) -> Any:
        x, y, _ = node.inputs
        return [raw_ops.ZerosLike(x), raw_ops.ZerosLike(y), inverse(x, y, dy, **_attrs(node, _POOL))]

    return grad


max_pool3d_grad.grad(_through_maximum(max_pool3d_grad_grad))
max_pool3d_grad_grad.grad(_through_maximum(max_pool3d_grad))


@avg_pool3d_op.grad
def _(node: Any, dy: Any) -> Any:
    return avg_pool3d_grad(raw_ops.Shape(node.inputs[0]), dy, **_attrs(node, _POOL))


@avg_pool3d_grad.grad
def _(node: Any, dy: Any) -> Any:
    return [None, avg_pool3d_op(dy, **_attrs(node, _POOL))]


@op(
    "MaxPoolGradGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    "ksize: list(int) >= 4",
    "strides: list(int) >= 4",
    _PADDING,
    "include_batch_in_index: bool = false",
    Targmax=INDEX,
    T=REAL,
    undefined_grad="TensorFlow has none for the gradient of this op",
)
def max_pool_grad_grad_with_argmax(
    input: Any, grad: Any, argmax: Any, *, include_batch_in_index: bool
) -> Any:
    """`grad`, of the input's shape, where the maxima were."""
    if grad.shape != input.shape:
        raise InvalidArgumentError(
            f"Expected grad shape to be {format_shape(input.shape)}, but got {format_shape(grad.shape)}"
        )
    places = argmax.astype(np.int64)
    if not include_batch_in_index and input.shape[0]:
        places = places + (np.arange(input.shape[0]) * (input.size // input.shape[0]))[:, None, None, None]
    if places.size and (places.min() < 0 or places.max() >= input.size):
        raise InvalidArgumentError(f"argmax holds an index outside of [0, {input.size})")
    return grad.reshape(-1)[places]


@max_pool_grad_grad_with_argmax.shape
def _(node: Any) -> Shape:
    x = with_rank(node.shape(0), 4)
    merge(x, node.shape(1))
    ksize, strides = node.attr("ksize"), node.attr("strides")
    result: list[Dim] = list(x)
    for axis in (1, 2):
        result[axis] = windowed_size(x[axis], ksize[axis], strides[axis], node.attr("padding"))
    return merge(tuple(result), node.shape(2))


# TensorFlow's Python functions


def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: str | None = None,
    data_format: str = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """`tf.nn.conv3d`.

    Args:
        input: (batch, depth, height, width, channels), or NCDHW.
        filter: (depth, height, width, channels, filters).
        strides: Five ints.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: Five ints.
        name: Name of the operation.
        filters: Later name of `filter`.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    return conv3d_op(
        input,
        either("filters", filters, "filter", filter),
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


def conv3d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.conv3d_transpose`: the gradient of a convolution, used forwards.

    Args:
        value: (batch, depth, height, width, channels), or NCDHW.
        filter: (depth, height, width, output channels, channels).
        output_shape: Of the result, five ints or a tensor.
        strides: One, three or five ints.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: Name of the operation.
        input: Later name of `value`.
        filters: Later name of `filter`.
        dilations: One, three or five ints.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    data_format = data_format or "NDHWC"
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    with name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        return conv3d_backprop_input_v2(
            output_shape,
            filter,
            value,
            strides=spatial_sequence(strides, 3, data_format, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=spatial_sequence(dilations, 3, data_format, "dilations"),
            name=scope,
        )


def _pool_function(declared: GraphOp, name: str) -> Callable[..., Any]:
    def function(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = "NDHWC",
        name: str | None = None,
    ) -> Any:
        data_format = data_format or "NDHWC"
        with name_scope(name, declared.name, [input]) as scope:
            return declared(
                input,
                ksize=spatial_sequence(ksize, 3, data_format, "ksize"),
                strides=spatial_sequence(strides, 3, data_format, "strides"),
                padding=padding,
                data_format=data_format,
                name=scope,
            )

    function.__name__ = name
    function.__doc__ = f"""`tf.nn.{name}`: the op `{declared.name}`.

    Args:
        input: (batch, depth, height, width, channels), or NCDHW.
        ksize: Window size: one, three or five ints.
        strides: One, three or five ints.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: Name of the operation.

    Raises:
        ValueError: An argument is malformed, or the window does not fit.
    """
    return function


max_pool3d = _pool_function(max_pool3d_op, "max_pool3d")
avg_pool3d = _pool_function(avg_pool3d_op, "avg_pool3d")
