"""`tf.nn`'s pooling and transposed convolution in any number of dimensions, and gradients by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..convert import convert_to_tensor
from ..default import name_scope
from ..errors import InvalidValueError
from ..op import GraphOp, raw_ops
from ..operation import Tensor
from .nn_conv import (
    conv1d_transpose,
    conv2d_transpose,
    conv_padding,
    either,
    spatial_sequence,
    with_height,
)
from .nn_conv3d import avg_pool3d_op, conv3d_transpose, max_pool3d_op
from .nn_pool import avg_pool_op, max_pool_op

# Pooling


def _pool1d(declared: GraphOp, name: str, scope_name: str) -> Callable[..., Any]:
    def function(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = "NWC",
        name: str | None = None,
    ) -> Any:
        data_format = data_format or "NWC"
        last = not data_format.startswith("NC")
        spatial, plain = (1, "NHWC") if last else (2, "NCHW")
        with name_scope(name, scope_name, [input]) as scope:
            flat = raw_ops.ExpandDims(input, spatial)
            result = declared(
                flat,
                ksize=with_height(spatial_sequence(ksize, 1, plain, "ksize"), spatial),
                strides=with_height(spatial_sequence(strides, 1, plain, "strides"), spatial),
                padding=padding,
                data_format=plain,
                name=scope,
            )
            return raw_ops.Squeeze(result, squeeze_dims=[spatial])

    function.__name__ = name
    function.__doc__ = f"""`tf.nn.{name}`: pooling along (batch, width, channels), or NCW.

    Args:
        input: (batch, width, channels), or NCW.
        ksize: Window size: one or three ints.
        strides: One or three ints.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        name: Name of the operation.

    Raises:
        ValueError: An argument is malformed, or the window does not fit.
    """
    return function


max_pool1d = _pool1d(max_pool_op, "max_pool1d", "MaxPool1d")
avg_pool1d = _pool1d(avg_pool_op, "avg_pool1d", "AvgPool1D")


def _pool_v2(name: str, functions: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    def function(
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = None,
        name: str | None = None,
    ) -> Any:
        input = convert_to_tensor(input, name="input")
        rank = input.get_shape().ndims
        if rank is None and data_format is None:
            raise InvalidValueError("The input must have a rank or a data format must be given.")
        count = (len(data_format or "") if rank is None else rank) - 2
        if not 1 <= count <= 3:
            raise InvalidValueError(f"Input tensor must be of rank 3, 4 or 5 but was {count + 2}.")
        known = data_format or ("NWC", "NHWC", "NDHWC")[count - 1]
        return functions[count - 1](
            input,
            ksize=spatial_sequence(ksize, count, known, "ksize"),
            strides=spatial_sequence(strides, count, known, "strides"),
            padding=padding,
            data_format=known,
            name=name,
        )

    function.__name__ = name
    function.__doc__ = f"""`tf.nn.{name}`: pooling in one to three dimensions.

    Args:
        input: (batch, spatial..., channels), or channels second where `data_format` begins with NC.
        ksize: Window size: one int, one a spatial axis, or one an axis.
        strides: The same.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC" or "NCDHW".
        name: Name of the operation.

    Raises:
        ValueError: The rank is unknown or not 3 to 5, or arguments do not fit.
    """
    return function


max_pool_v2 = _pool_v2("max_pool_v2", (max_pool1d, max_pool_op, max_pool3d_op))
avg_pool_v2 = _pool_v2("avg_pool_v2", (avg_pool1d, avg_pool_op, avg_pool3d_op))


# Convolution


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.conv_transpose`: the gradient of a convolution in one to three dimensions, used forwards.

    Args:
        input: (batch, spatial..., channels), or channels second where `data_format` begins with NC.
        filters: (spatial..., output channels, channels).
        output_shape: Of the result: a tensor or as many ints as it has dimensions.
        strides: One int, one a spatial axis, or one an axis.
        padding: "SAME" or "VALID".
        data_format: As in `convolution`.
        dilations: As `strides`.
        name: Name of the operation.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        if isinstance(output_shape, Tensor):
            (size,) = output_shape.get_shape().with_rank(1).as_list()
        elif hasattr(output_shape, "__len__"):
            size = len(output_shape)
        else:
            raise InvalidValueError("output_shape must be a tensor or sized collection.")
        if size not in (3, 4, 5):
            raise InvalidValueError(f"output_shape must be of length 3, 4 or 5 but was {size}.")
        function: Any = (conv1d_transpose, conv2d_transpose, conv3d_transpose)[size - 3]
        return function(
            input,
            filters,
            output_shape,
            strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=scope,
        )


def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """`tf.nn.conv2d_backprop_input`: the op Conv2DBackpropInput; `padding` may be four pairs of ints.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    kind, explicit = conv_padding(padding)
    return raw_ops.Conv2DBackpropInput(
        input_sizes,
        either("filters", filters, "filter", filter),
        out_backprop,
        strides=strides,
        padding=kind,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """`tf.nn.conv2d_backprop_filter`: the op Conv2DBackpropFilter; `padding` may be four pairs of ints.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    kind, explicit = conv_padding(padding)
    return raw_ops.Conv2DBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=kind,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


depthwise_conv2d_native_backprop_input: GraphOp = raw_ops.DepthwiseConv2dNativeBackpropInput
depthwise_conv2d_native_backprop_filter: GraphOp = raw_ops.DepthwiseConv2dNativeBackpropFilter
