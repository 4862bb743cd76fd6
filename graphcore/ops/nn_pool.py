"""Max and average pooling of images, and `tf.nn`'s functions on top of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import (
    FLOATING,
    INDEX,
    REAL,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    qint8,
    uint8,
    uint16,
)
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import pooling, pooling_argmax
from ..kernels.segment import unsorted_segment_sum
from ..kernels.windows import spatial_axes
from ..op import GraphOp, op, raw_ops
from ..shapes import Dim, Shape, format_shape, merge, with_rank
from .nn import channel_axis, plain_format
from .nn_conv import check_length, per_axis, spatial_sequence, windowed_size
from .nn_dilated import with_space_to_batch

_WINDOW = ("ksize: list(int) >= 4", "strides: list(int) >= 4")
_PADDING = "padding: {'SAME', 'VALID'}"
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_MAX_FORMAT = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"
_MAX_TYPES = (
    (float16, bfloat16, float32, float64, int32, int64, uint8, int16, int8, uint16, qint8),
    float32,
)
_KEYS = ("ksize", "strides", "padding", "data_format")


def _attrs(node: Any, keys: tuple[str, ...] = _KEYS) -> dict[str, Any]:
    return {key: node.attr(key) for key in keys}


def _pooled(node: Any, ksize: Any, strides: Any, data_format: str) -> Shape:
    """The output shape of pooling; `ksize` and `strides` None where they are not known."""
    x = with_rank(node.shape(0), 4)
    kind = node.node.type
    if ksize is None or strides is None:
        return (None,) * 4
    check_length(kind, "stride", strides)
    check_length(kind, "ksize", ksize)
    result: list[Dim] = list(x)
    pooled = list(spatial_axes(data_format))
    if kind != "AvgPool":
        pooled.append(channel_axis(data_format, 4))
    for axis in pooled:
        result[axis] = windowed_size(x[axis], ksize[axis], strides[axis], node.attr("padding"))
    return tuple(result)


def _pool_shape(node: Any) -> Shape:
    return _pooled(node, node.attr("ksize"), node.attr("strides"), node.attr("data_format"))


max_pool_op = op("MaxPool", "input: T -> output: T", *_WINDOW, _PADDING, _MAX_FORMAT, T=_MAX_TYPES)(
    pooling.max_pool
)
avg_pool_op = op("AvgPool", "value: T -> output: T", *_WINDOW, _PADDING, _FORMAT, T=FLOATING)(
    pooling.avg_pool
)
for _pool in (max_pool_op, avg_pool_op):
    _pool.shape(_pool_shape)


@op("MaxPoolV2", "input: T, ksize: int32, strides: int32 -> output: T", _PADDING, _MAX_FORMAT, T=_MAX_TYPES)
def max_pool_v2_op(input: Any, ksize: Any, strides: Any, *, padding: str, data_format: str) -> Any:
    """As MaxPool, window and strides as inputs."""
    return pooling.max_pool(
        input, ksize=ksize.tolist(), strides=strides.tolist(), padding=padding, data_format=data_format
    )


@max_pool_v2_op.shape
def _(node: Any) -> Shape:
    ksize, strides = (None if node.value(index) is None else node.value(index).tolist() for index in (1, 2))
    return _pooled(node, ksize, strides, node.attr("data_format"))


@max_pool_op.grad
def _(node: Any, dy: Any) -> Any:
    return raw_ops.MaxPoolGrad(node.inputs[0], node.outputs[0], dy, **_attrs(node))


@max_pool_v2_op.grad
def _(node: Any, dy: Any) -> Any:
    x, ksize, strides = node.inputs
    options = _attrs(node, ("padding", "data_format"))
    return [raw_ops.MaxPoolGradV2(x, node.outputs[0], dy, ksize, strides, **options), None, None]


@avg_pool_op.grad
def _(node: Any, dy: Any) -> Any:
    return raw_ops.AvgPoolGrad(raw_ops.Shape(node.inputs[0]), dy, **_attrs(node))


# Gradients of max pooling, and of those

_THREE = "orig_input: T, orig_output: T, grad: T"


def _max_pool_grad(name: str, kernel: Callable[..., Any], types: Any, inverse: str) -> None:
    """Declares `name` and its V2, in which window and strides are inputs.

    Args:
        name: The op type.
        kernel: The kernel.
        types: The dtypes it takes.
        inverse: The op type that is its gradient with respect to `grad`.
    """
    plain = op(name, f"{_THREE} -> output: T", *_WINDOW, _PADDING, _FORMAT, T=types)(kernel)
    dynamic = f"{_THREE}, ksize: int32, strides: int32 -> output: T"

    def run(
        orig_input: Any,
        orig_output: Any,
        grad: Any,
        ksize: Any,
        strides: Any,
        *,
        padding: str,
        data_format: str,
    ) -> Any:
        options = {"padding": padding, "data_format": data_format}
        return kernel(
            orig_input, orig_output, grad, ksize=ksize.tolist(), strides=strides.tolist(), **options
        )

    run.__doc__ = kernel.__doc__
    second = op(f"{name}V2", dynamic, _PADDING, _FORMAT, T=types)(run)
    # The first gradient is shaped like the input of the pooling, the second like its output.
    like = 0 if name == "MaxPoolGrad" else 1
    for declared in (plain, second):
        declared.shape(lambda node: _like_input(node, like))

    @plain.grad
    def _(node: Any, dy: Any) -> Any:
        x, y, _ = node.inputs
        return [
            raw_ops.ZerosLike(x),
            raw_ops.ZerosLike(y),
            getattr(raw_ops, inverse)(x, y, dy, **_attrs(node)),
        ]

    @second.grad
    def _(node: Any, dy: Any) -> Any:
        x, y, _, ksize, strides = node.inputs
        options = _attrs(node, ("padding", "data_format"))
        through = getattr(raw_ops, f"{inverse}V2")(x, y, dy, ksize, strides, **options)
        return [raw_ops.ZerosLike(x), raw_ops.ZerosLike(y), through, None, None]


def _like_input(node: Any, index: int) -> Shape:
    x, y, grad = (with_rank(node.shape(number), 4) for number in range(3))
    if index == 0:
        merge(y, grad)
        return x
    merge(x, grad)
    dynamic = node.num_inputs == 5
    ksize, strides = (node.value(3), node.value(4)) if dynamic else (node.attr("ksize"), node.attr("strides"))
    return merge(y, _pooled(node, ksize, strides, node.attr("data_format")))


_max_pool_grad("MaxPoolGrad", pooling_argmax.max_pool_grad, (REAL, float32), "MaxPoolGradGrad")
_max_pool_grad("MaxPoolGradGrad", pooling_argmax.max_pool_grad_grad, REAL, "MaxPoolGrad")


@op("AvgPoolGrad", "orig_input_shape: int32, grad: T -> output: T", *_WINDOW, _PADDING, _FORMAT, T=FLOATING)
def avg_pool_grad(
    orig_input_shape: Any, grad: Any, *, ksize: list[int], strides: list[int], padding: str, data_format: str
) -> Any:
    """The gradient of AvgPool."""
    return pooling.avg_pool_grad(
        orig_input_shape, grad, ksize=ksize, strides=strides, padding=padding, data_format=data_format
    )


avg_pool_grad.shape(lambda node: with_rank(node.value_as_shape(0), 4))
avg_pool_grad.grad(lambda node, dy: [None, raw_ops.AvgPool(dy, **_attrs(node))])


# Max pooling with the places of the maxima

_ARGMAX_KEYS = ("ksize", "strides", "padding", "include_batch_in_index")


@op(
    "MaxPoolWithArgmax",
    "input: T -> output: T, argmax: Targmax",
    *_WINDOW,
    _PADDING,
    "include_batch_in_index: bool = false",
    Targmax=(INDEX, int64),
    T=REAL,
)
def max_pool_with_argmax_op(
    input: Any, *, ksize: Any, strides: Any, padding: str, include_batch_in_index: bool, Targmax: Any
) -> tuple[Any, Any]:
    """Maxima, and where in the flattened images they are."""
    return pooling_argmax.max_pool_with_argmax(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        dtype=Targmax,
        include_batch_in_index=include_batch_in_index,
    )


@max_pool_with_argmax_op.shape
def _(node: Any) -> list[Shape]:
    return [_pooled(node, node.attr("ksize"), node.attr("strides"), "NHWC")] * 2


@max_pool_with_argmax_op.grad
def _(node: Any, dy: Any, _: Any) -> Any:
    return raw_ops.MaxPoolGradWithArgmax(node.inputs[0], dy, node.outputs[1], **_attrs(node, _ARGMAX_KEYS))


@op(
    "MaxPoolGradWithArgmax",
    "input: T, grad: T, argmax: Targmax -> output: T",
    *_WINDOW,
    _PADDING,
    "include_batch_in_index: bool = false",
    Targmax=INDEX,
    T=REAL,
    undefined_grad="TensorFlow has none for the gradient of this op",
)
def max_pool_grad_with_argmax(input: Any, grad: Any, argmax: Any, *, include_batch_in_index: bool) -> Any:
    """The gradient put where the maxima were."""
    if grad.shape != argmax.shape:
        raise InvalidArgumentError(
            f"grad and argmax differ in shape: {format_shape(grad.shape)} vs. {format_shape(argmax.shape)}"
        )
    places = argmax.astype(np.int64)
    if not include_batch_in_index and input.shape[0]:
        places = places + (np.arange(input.shape[0]) * (input.size // input.shape[0]))[:, None, None, None]
    if places.size and (places.min() < 0 or places.max() >= input.size):
        raise InvalidArgumentError(f"argmax holds an index outside of [0, {input.size})")
    return unsorted_segment_sum(grad.reshape(-1), places.reshape(-1), input.size).reshape(input.shape)


max_pool_grad_with_argmax.shape(lambda node: with_rank(node.shape(0), 4))


# TensorFlow's Python functions


def _pool_function(declared: GraphOp, name: str, default: str) -> Callable[..., Any]:
    def function(
        value: Any = None,
        ksize: Any = None,
        strides: Any = None,
        padding: str | None = None,
        data_format: str | None = "NHWC",
        name: str | None = None,
        input: Any = None,
    ) -> Any:
        value = input if value is None else value
        data_format = data_format or "NHWC"
        with name_scope(name, default, [value]) as scope:
            return declared(
                convert_to_tensor(value, name="input" if default == "MaxPool" else "value"),
                ksize=spatial_sequence(ksize, 2, data_format, "ksize"),
                strides=spatial_sequence(strides, 2, data_format, "strides"),
                padding=padding,
                data_format=data_format,
                name=scope,
            )

    function.__name__ = name
    function.__doc__ = f"""`tf.nn.{name}`: the op `{declared.name}`.

    Args:
        value: (batch, height, width, channels), or NCHW.
        ksize: Window size: one, two or four ints.
        strides: One, two or four ints.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: Name of the operation.
        input: Later name of `value`.

    Raises:
        ValueError: An argument is malformed, or the window does not fit.
    """
    return function


max_pool = _pool_function(max_pool_op, "max_pool", "MaxPool")
max_pool2d = _pool_function(max_pool_op, "max_pool2d", "MaxPool2d")
avg_pool = _pool_function(avg_pool_op, "avg_pool", "AvgPool")
avg_pool2d = _pool_function(avg_pool_op, "avg_pool2d", "AvgPool2D")


def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    Targmax: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
    include_batch_in_index: bool = False,
) -> Any:
    """`tf.nn.max_pool_with_argmax`: `(output, argmax)`.

    Raises:
        ValueError: The format is not NHWC.
    """
    if data_format != "NHWC":
        raise InvalidValueError("Data formats other than 'NHWC' are not yet supported")
    return max_pool_with_argmax_op(
        input,
        ksize=spatial_sequence(ksize, 2, data_format, "ksize"),
        strides=spatial_sequence(strides, 2, data_format, "strides"),
        padding=padding,
        Targmax=output_dtype or Targmax or int64,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    padding: str,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.pool` in one to three dimensions.

    Args:
        input: (batch, spatial..., channels), or channels second where `data_format` begins with NC.
        window_shape: One int a spatial axis.
        pooling_type: "MAX" or "AVG".
        padding: "SAME" or "VALID".
        dilation_rate: One int a spatial axis; only one of it and `strides` may differ from 1.
        strides: One int a spatial axis.
        name: Name scope of the operations.
        data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC" or "NCDHW".
        dilations: Later name of `dilation_rate`.

    Raises:
        ValueError: The rank is not 3 to 5, or arguments do not fit.
    """
    if pooling_type not in ("MAX", "AVG"):
        raise InvalidValueError(f"pooling_type must be MAX or AVG, but is {pooling_type!r}")
    declared = max_pool_op if pooling_type == "MAX" else avg_pool_op
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        ndims = input.get_shape().ndims
        if ndims not in (3, 4, 5):
            raise InvalidValueError(
                f"Pooling of 1 to 3 spatial dimensions expected, the input has rank {ndims}"
            )
        count = ndims - 2
        plain = plain_format(data_format)
        window = per_axis(window_shape, count, "window_shape")
        steps = per_axis(strides, count, "strides")
        rates = per_axis(dilation_rate if dilations is None else dilations, count, "dilation_rate")
        if max(steps) > 1 and max(rates) > 1:
            raise InvalidValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        if max(rates) > 1 and padding == "SAME" and pooling_type == "MAX":
            raise InvalidValueError("pooling with 'SAME' padding is not implemented for dilation_rate > 1")

        def apply(x: Any, _: int, pad: str) -> Any:
            if count == 3:
                volume = "NCDHW" if plain == "NCHW" else "NDHWC"
                return getattr(raw_ops, f"{declared.name}3D")(
                    x,
                    ksize=spatial_sequence(window, 3, volume, "window_shape"),
                    strides=spatial_sequence(steps, 3, volume, "strides"),
                    padding=pad,
                    data_format=volume,
                    name=scope,
                )
            first = spatial_axes(plain)[0]
            flat = raw_ops.ExpandDims(x, first) if count == 1 else x
            lead = [1] * (2 - count)
            result = declared(
                flat,
                ksize=spatial_sequence([*lead, *window], 2, plain, "window_shape"),
                strides=spatial_sequence([*lead, *steps], 2, plain, "strides"),
                padding=pad,
                data_format=plain,
                name=scope,
            )
            return raw_ops.Squeeze(result, squeeze_dims=[first]) if count == 1 else result

        return with_space_to_batch(input, rates, padding, apply, list(window), data_format=plain)
