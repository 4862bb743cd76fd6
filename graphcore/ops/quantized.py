"""Quantized dtypes: from and to float, and the ops of 8-bit networks that TensorFlow has on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dtypes import ANY, INDEX, QUANTIZED, float32, int32, qint32, quint8
from ..errors import InvalidArgumentError, UnimplementedError
from ..kernels import convolution, pooling, quantization as kernels
from ..kernels.arrays import shape_text
from ..op import GraphOp, op
from ..shapes import Dim, Shape, broadcast, merge, merge_dims, vector_of, with_rank
from .array_join import concat_shape
from .array_shape import reshape
from .nn import bias_shape
from .nn_conv import windowed_size

_MODE = "mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"
_PADDING = "padding: {'SAME', 'VALID'}"
_NONE = "it is not differentiable in TensorFlow"
_TO_32, _TO_8 = (QUANTIZED, qint32), (QUANTIZED, quint8)
F = np.float32


def _scalar(value: Any, name: str) -> Any:
    """The one float32 number of an array.

    Raises:
        InvalidArgumentError: There is another number of them.
    """
    array = np.asarray(value, F)
    if array.size != 1:
        raise InvalidArgumentError(
            f"{name} must contain a single float element, but it contains {array.size} elements"
        )
    return array.reshape(())[()]


def _result(values: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """The outputs of most of these ops: integers and what they stand for."""
    return values, np.asarray(low, F), np.asarray(high, F)


def _ranged(first: Callable[[Any], Shape], scalars: Sequence[int]) -> Callable[[Any], list[Shape]]:
    """The rule `first` for the first output; the inputs `scalars` and the other two outputs have rank 0."""

    def rule(node: Any) -> list[Shape]:
        shape = first(node)
        for index in scalars:
            with_rank(node.shape(index), 0)
        return [shape, (), ()]

    return rule


def _input(node: Any) -> Shape:
    shape: Shape = node.shape(0)
    return shape


# From and to float


@op(
    "QuantizeV2",
    "input: float32, min_range: float32, max_range: float32 -> "
    "output: T, output_min: float32, output_max: float32",
    _MODE,
    "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'",
    T=QUANTIZED,
    no_grad=_NONE,
)
def quantize_v2(
    input: Any, min_range: Any, max_range: Any, *, T: Any, mode: str, round_mode: str
) -> tuple[Any, ...]:
    """Real numbers as integers."""
    if round_mode == "HALF_TO_EVEN" and mode != "SCALED":
        raise InvalidArgumentError(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'."
        )
    low, high = _scalar(min_range, "min_range"), _scalar(max_range, "max_range")
    if high < low:
        raise InvalidArgumentError(
            f"input_max_range must be larger than input_min_range: {high:g} vs. {low:g}"
        )
    return _result(*kernels.quantize_v2(input, low, high, T, mode, round_mode))


@op(
    "Dequantize",
    "input: T, min_range: float32, max_range: float32 -> output: float32",
    _MODE,
    T=QUANTIZED,
    no_grad=_NONE,
)
def dequantize(input: Any, min_range: Any, max_range: Any, *, mode: str) -> Any:
    """Integers as real numbers."""
    low, high = _scalar(min_range, "min_range"), _scalar(max_range, "max_range")
    return kernels.dequantize_v2(input, low, high, mode)


quantize_v2.shape(_ranged(_input, (1, 2)))


@dequantize.shape
def _(node: Any) -> Shape:
    return _ranged(_input, (1, 2))(node)[0]


# From one range to another

_RANGE = "input_min: float32, input_max: float32"
_OUT = "output: out_type, output_min: float32, output_max: float32"


@op(
    "Requantize",
    f"input: Tinput, {_RANGE}, requested_output_min: float32, requested_output_max: float32 -> {_OUT}",
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
    no_grad=_NONE,
)
def requantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    requested_output_min: Any,
    requested_output_max: Any,
    *,
    out_type: Any,
) -> tuple[Any, ...]:
    """Integers of one range as those of another."""
    low, high = (
        _scalar(requested_output_min, "requested_output_min"),
        _scalar(requested_output_max, "requested_output_max"),
    )
    if low > 0:
        raise InvalidArgumentError(f"requested_output_min must be <= 0, but got {low:g}")
    if high < low:
        raise InvalidArgumentError(
            f"requested_output_max must be >= requested_output_min, but got {high:g} and {low:g}"
        )
    ends = _scalar(input_min, "input_min"), _scalar(input_max, "input_max")
    return _result(kernels.requantize(input, *ends, low, high, out_type), low, high)


requantize.shape(_ranged(_input, (1, 2, 3, 4)))


def _used_range(x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The real numbers of the lowest and highest integer of x; the lower one is not above 0."""
    ends = [x.min(), x.max()] if x.size else kernels.limits(x.dtype)[::-1]
    found = kernels.dequantize_scalar(np.array(ends, x.dtype), low, high)
    return min(F(0), found[0]), found[1]


@op(
    "RequantizationRange",
    f"input: Tinput, {_RANGE} -> output_min: float32, output_max: float32",
    Tinput=QUANTIZED,
    no_grad=_NONE,
)
def requantization_range(input: Any, input_min: Any, input_max: Any) -> tuple[Any, Any]:
    """The range that the integers in fact use."""
    ends = _scalar(input_min, "input_min"), _scalar(input_max, "input_max")
    low, high = _used_range(input, *ends)
    return np.asarray(low, F), np.asarray(high, F)


@requantization_range.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(1), 0)
    with_rank(node.shape(2), 0)
    return [(), ()]


@op(
    "QuantizeDownAndShrinkRange",
    f"input: Tinput, {_RANGE} -> {_OUT}",
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
    no_grad=_NONE,
)
def quantize_down_and_shrink_range(
    input: Any, input_min: Any, input_max: Any, *, out_type: Any
) -> tuple[Any, ...]:
    """Integers requantized to the range that they in fact use."""
    ends = _scalar(input_min, "input_min"), _scalar(input_max, "input_max")
    low, high = _used_range(input, *ends)
    return _result(kernels.requantize(input, *ends, low, high, out_type), low, high)


quantize_down_and_shrink_range.shape(_ranged(_input, (1, 2)))


def _largest(low: Any, high: Any) -> Any:
    """The largest magnitude of each channel's range."""
    return np.maximum(np.abs(low), np.abs(high)).reshape(-1)


@op(
    "RequantizePerChannel",
    f"input: T, {_RANGE}, requested_output_min: float32, requested_output_max: float32 -> {_OUT}",
    T=_TO_32,
    out_type=_TO_8,
    no_grad=_NONE,
)
def requantize_per_channel(
    input: Any,
    input_min: Any,
    input_max: Any,
    requested_output_min: Any,
    requested_output_max: Any,
    *,
    out_type: Any,
) -> tuple[Any, ...]:
    """Integers of symmetric ranges, one a channel, as those of one range."""
    if input.ndim != 4:
        raise InvalidArgumentError(
            f"Current RequantizePerChannel operator supports 4D tensors only: {shape_text(input.shape)}"
        )
    if np.size(input_min) != np.size(input_max):
        raise InvalidArgumentError(
            f"input_max has incorrect size, expected {np.size(input_min)} was {np.size(input_max)}"
        )
    low, high = (
        _scalar(requested_output_min, "requested_output_min"),
        _scalar(requested_output_max, "requested_output_max"),
    )
    lowest, highest = kernels.limits(out_type)
    scale = F(highest) * (_largest(input_min, input_max) / F(max(abs(low), abs(high))) / F(1 << 31))
    scaled = np.rint(input.astype(F) * scale)
    return _result(np.clip(scaled, lowest, highest).astype(out_type), low, high)


requantize_per_channel.shape(_ranged(_input, (3, 4)))


@op(
    "RequantizationRangePerChannel",
    f"input: T, {_RANGE} -> output_min: float32, output_max: float32",
    "clip_value_max: float",
    T=_TO_32,
    no_grad=_NONE,
)
def requantization_range_per_channel(
    input: Any, input_min: Any, input_max: Any, *, clip_value_max: float
) -> tuple[Any, Any]:
    """One range for integers whose ranges differ from channel to channel."""
    depth = np.size(input_max)
    if input.ndim != 4 or not input.size or input.shape[3] != depth or np.size(input_min) != depth:
        raise InvalidArgumentError(
            "input must be in NHWC format, not empty, and have as many channels as input_min and input_max "
            f"have elements: {shape_text(input.shape)}, {np.size(input_min)}, {depth}"
        )
    wide = np.abs(input.astype(np.int64)).max((0, 1, 2)).astype(F)
    found = _largest(input_min, input_max) * wide / F(1 << 31)
    high = F(min(max(found.max(), np.finfo(F).tiny), clip_value_max))
    return np.asarray(F(0) if input.min() >= 0 else -high), np.asarray(high)


@requantization_range_per_channel.shape
def _(node: Any) -> list[Shape]:
    merge(with_rank(node.shape(1), 1), node.shape(2))
    return [(), ()]


# Products


def _ends(low: Any, high: Any, name: str) -> tuple[Any, Any]:
    """The range of one operand.

    Raises:
        InvalidArgumentError: It is empty.
    """
    low, high = _scalar(low, f"min_{name}"), _scalar(high, f"max_{name}")
    if not high > low:
        raise InvalidArgumentError(f"max_{name} must be larger than min_{name}.")
    return low, high


def _centred(x: Any, low: Any, high: Any) -> Any:
    """The integers with 0 for the real number 0, in double precision, which sums them exactly."""
    zero = int(kernels.unclamped(np.zeros((), F), low, high, x.dtype))
    return x.astype(np.float64) - np.int64(zero).astype(np.int32)


def _wrapped(x: Any, dtype: Any) -> Any:
    """Whole numbers as integers that wrap around."""
    return x.astype(np.int64).astype(dtype)


@op(
    "QuantizedMatMul",
    "a: T1, b: T2, min_a: float32, max_a: float32, min_b: float32, max_b: float32 -> "
    "out: Toutput, min_out: float32, max_out: float32",
    "transpose_a: bool = false",
    "transpose_b: bool = false",
    T1=QUANTIZED,
    T2=QUANTIZED,
    Toutput=_TO_32,
    Tactivation=_TO_8,
    no_grad=_NONE,
)
def quantized_mat_mul(
    a: Any,
    b: Any,
    min_a: Any,
    max_a: Any,
    min_b: Any,
    max_b: Any,
    *,
    transpose_a: bool,
    transpose_b: bool,
    Toutput: Any,
) -> tuple[Any, ...]:
    """A product of matrices, in 32-bit integers."""
    ends_a, ends_b = _ends(min_a, max_a, "a"), _ends(min_b, max_b, "b")
    for index, matrix in enumerate((a, b)):
        if matrix.ndim != 2:
            raise InvalidArgumentError(f"In[{index}] is not a matrix: {shape_text(matrix.shape)}")
    left, right = _centred(a, *ends_a), _centred(b, *ends_b)
    left, right = left.T if transpose_a else left, right.T if transpose_b else right
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {shape_text(a.shape)}, In[1]: {shape_text(b.shape)}"
        )
    ends = kernels.product_range(*ends_a, *ends_b, (a.dtype, b.dtype, Toutput))
    return _result(_wrapped(left @ right, Toutput), *ends)


def _matmul_shape(node: Any) -> Shape:
    a, b = with_rank(node.shape(0), 2), with_rank(node.shape(1), 2)
    a = a[::-1] if node.attr("transpose_a") else a
    b = b[::-1] if node.attr("transpose_b") else b
    merge_dims(a[1], b[0])
    return a[0], b[1]


quantized_mat_mul.shape(_ranged(_matmul_shape, (2, 3, 4, 5)))


@op(
    "QuantizedConv2D",
    "input: Tinput, filter: Tfilter, min_input: float32, max_input: float32, min_filter: float32, "
    "max_filter: float32 -> output: out_type, min_output: float32, max_output: float32",
    "strides: list(int)",
    _PADDING,
    "dilations: list(int) = [1, 1, 1, 1]",
    Tinput=QUANTIZED,
    Tfilter=QUANTIZED,
    out_type=_TO_32,
    no_grad=_NONE,
)
def quantized_conv2d(
    input: Any,
    filter: Any,
    min_input: Any,
    max_input: Any,
    min_filter: Any,
    max_filter: Any,
    *,
    strides: Any,
    padding: str,
    dilations: Any,
    out_type: Any,
) -> tuple[Any, ...]:
    """A convolution of images, in 32-bit integers; what lies outside is the real number 0."""
    if len(strides) == 4 and strides[1] != strides[2]:
        raise UnimplementedError(
            "Current implementation only supports equal length strides in the row and column dimensions."
        )
    ends_x = _scalar(min_input, "min_input"), _scalar(max_input, "max_input")
    ends_w = _scalar(min_filter, "min_filter"), _scalar(max_filter, "max_filter")
    found = convolution.conv2d(
        _centred(input, *ends_x),
        _centred(filter, *ends_w),
        strides=strides,
        padding=padding,
        dilations=dilations,
    )
    ends = kernels.product_range(*ends_x, *ends_w, (input.dtype, filter.dtype, out_type))
    return _result(_wrapped(np.rint(found), out_type), *ends)


def _conv_shape(node: Any) -> Shape:
    x, w = with_rank(node.shape(0), 4), with_rank(node.shape(1), 4)
    merge_dims(x[3], w[2])
    strides, padding = node.attr("strides"), node.attr("padding")
    spatial = [windowed_size(x[axis], w[axis - 1], strides[axis], padding) for axis in (1, 2)]
    return (x[0], *spatial, w[3])


quantized_conv2d.shape(_ranged(_conv_shape, (2, 3, 4, 5)))


def _binary(name: str, kernel: Callable[..., Any]) -> GraphOp:
    declared = op(
        name,
        "x: T1, y: T2, min_x: float32, max_x: float32, min_y: float32, max_y: float32 -> "
        "z: Toutput, min_z: float32, max_z: float32",
        T1=QUANTIZED,
        T2=QUANTIZED,
        Toutput=_TO_32,
        no_grad=_NONE,
    )(kernel)
    declared.shape(_ranged(lambda node: broadcast(node.shape(0), node.shape(1)), (2, 3, 4, 5)))
    return declared


def _fit(x: Any, y: Any) -> None:
    """Raises InvalidArgumentError unless two arrays broadcast."""
    if any(a != b and 1 not in (a, b) for a, b in zip(x.shape[::-1], y.shape[::-1])):
        raise InvalidArgumentError(f"Incompatible shapes: {shape_text(x.shape)} vs. {shape_text(y.shape)}")


def _add(x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, Toutput: Any) -> tuple[Any, ...]:
    """A sum, in integers of a range with 14 bits to spare."""
    _fit(x, y)
    ends_x, ends_y = _ends(min_x, max_x, "x"), _ends(min_y, max_y, "y")
    high = F(max(abs(min(ends_x[0], ends_y[0])), abs(max(ends_x[1], ends_y[1]))) * F(1 << 14))
    total = kernels.up_to_32(x, *ends_x, -high, high) + kernels.up_to_32(y, *ends_y, -high, high)
    return _result(total.astype(Toutput, copy=False), -high, high)


def _mul(x: Any, y: Any, min_x: Any, max_x: Any, min_y: Any, max_y: Any, *, Toutput: Any) -> tuple[Any, ...]:
    """A product, in integers of the factors' step sizes multiplied."""
    _fit(x, y)
    ends_x, ends_y = _ends(min_x, max_x, "x"), _ends(min_y, max_y, "y")
    ends = kernels.product_range(*ends_x, *ends_y, (x.dtype, y.dtype, Toutput))
    return _result(_wrapped(_centred(x, *ends_x) * _centred(y, *ends_y), Toutput), *ends)


quantized_add = _binary("QuantizedAdd", _add)
quantized_mul = _binary("QuantizedMul", _mul)


@op(
    "QuantizedBiasAdd",
    "input: T1, bias: T2, min_input: float32, max_input: float32, min_bias: float32, max_bias: float32 -> "
    "output: out_type, min_out: float32, max_out: float32",
    T1=QUANTIZED,
    T2=QUANTIZED,
    out_type=QUANTIZED,
    no_grad=_NONE,
)
def quantized_bias_add(
    input: Any, bias: Any, min_input: Any, max_input: Any, min_bias: Any, max_bias: Any, *, out_type: Any
) -> tuple[Any, ...]:
    """A vector added along the last dimension, in integers of a range with 15 bits for the numbers."""
    if input.ndim < 2:
        raise InvalidArgumentError(f"Input tensor must be at least 2D: {shape_text(input.shape)}")
    if bias.ndim != 1:
        raise InvalidArgumentError(f"Biases must be 1D: {shape_text(bias.shape)}")
    if len(bias) != input.shape[-1]:
        raise InvalidArgumentError(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{shape_text(bias.shape)} vs. {shape_text(input.shape)}"
        )
    ends_x = _scalar(min_input, "min_input"), _scalar(max_input, "max_input")
    ends_b = _scalar(min_bias, "min_bias"), _scalar(max_bias, "max_bias")
    ends = kernels.sum_range(*ends_x, *ends_b)
    zero = kernels.quantize_scalar(np.zeros((), F), *ends, out_type)
    parts = [
        kernels.quantize(kernels.dequantize(array, *given), *ends, out_type)
        for array, given in ((input, ends_x), (bias, ends_b))
    ]
    return _result(parts[0] + (parts[1] + zero), *ends)


quantized_bias_add.shape(_ranged(bias_shape, (2, 3, 4, 5)))


# Activations


def _activation(
    name: str, kernel: Callable[..., Any], more: str = "", scalars: Sequence[int] = (1, 2)
) -> GraphOp:
    declared = op(
        name,
        f"features: Tinput, {more}min_features: float32, max_features: float32 -> "
        "activations: out_type, min_activations: float32, max_activations: float32",
        Tinput=QUANTIZED,
        out_type=_TO_8,
        no_grad=_NONE,
    )(kernel)
    declared.shape(_ranged(_input, scalars))
    return declared


def _clamped(
    x: Any, top: float | None, min_features: Any, max_features: Any, out_type: Any
) -> tuple[Any, ...]:
    ends = _scalar(min_features, "min_features"), _scalar(max_features, "max_features")
    out = np.maximum(x, kernels.quantize_scalar(np.zeros((), F), *ends, x.dtype))
    if top is not None:
        out = np.minimum(out, kernels.quantize_scalar(F(top), *ends, x.dtype))
    return _result(out.astype(out_type, copy=False), *ends)


def _relu(features: Any, min_features: Any, max_features: Any, *, out_type: Any) -> tuple[Any, ...]:
    """Integers not below that of 0."""
    return _clamped(features, None, min_features, max_features, out_type)


def _relu6(features: Any, min_features: Any, max_features: Any, *, out_type: Any) -> tuple[Any, ...]:
    """Integers between those of 0 and 6."""
    return _clamped(features, 6.0, min_features, max_features, out_type)


def _relu_x(
    features: Any, max_value: Any, min_features: Any, max_features: Any, *, out_type: Any
) -> tuple[Any, ...]:
    """Integers between those of 0 and a number."""
    top = float(_scalar(max_value, "max_value"))
    return _clamped(features, top, min_features, max_features, out_type)


quantized_relu = _activation("QuantizedRelu", _relu)
quantized_relu6 = _activation("QuantizedRelu6", _relu6)
quantized_relu_x = _activation("QuantizedReluX", _relu_x, "max_value: float32, ", (1, 2, 3))


# Shapes


@op(
    "QuantizedReshape",
    f"tensor: T, shape: Tshape, {_RANGE} -> output: T, output_min: float32, output_max: float32",
    T=ANY,
    Tshape=(INDEX, int32),
    no_grad=_NONE,
)
def quantized_reshape(tensor: Any, shape: Any, input_min: Any, input_max: Any) -> tuple[Any, ...]:
    """Reshape, the range as it is."""
    ends = _scalar(input_min, "input_min"), _scalar(input_max, "input_max")
    return _result(reshape.kernel(tensor, shape), *ends)


def _reshape_shape(node: Any) -> Shape:
    assert reshape.shape_fn is not None
    shape: Shape = reshape.shape_fn(node)
    return shape


quantized_reshape.shape(_ranged(_reshape_shape, (2, 3)))


@op(
    "QuantizedConcat",
    "concat_dim: int32, values: N * T, input_mins: N * float32, input_maxes: N * float32 -> "
    "output: T, output_min: float32, output_max: float32",
    "N: int >= 2",
    T=ANY,
    no_grad=_NONE,
)
def quantized_concat(concat_dim: Any, values: Any, input_mins: Any, input_maxes: Any) -> tuple[Any, ...]:
    """Arrays joined, in a range that holds all of theirs."""
    axis, first = int(concat_dim), values[0]
    if not 0 <= axis < first.ndim:
        raise InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [0, {first.ndim}), but got {axis}"
        )
    for index, array in enumerate(values):
        if array.ndim != first.ndim:
            what = "Ranks of all input tensors"
        elif any(i != axis and size != first.shape[i] for i, size in enumerate(array.shape)):
            what = "Dimensions of inputs"
        else:
            continue
        raise InvalidArgumentError(
            f"ConcatOp : {what} should match: shape[0] = {shape_text(first.shape)} vs. shape[{index}] = "
            f"{shape_text(array.shape)}"
        )
    lows = [_scalar(item, "input_mins") for item in input_mins]
    highs = [_scalar(item, "input_maxes") for item in input_maxes]
    low, high = min(F(0), *lows), max(highs)
    if first.dtype.kind == "i":
        high = max(abs(low), abs(high))
        low = -high
    parts = [
        array
        if (a, b) == (low, high)
        else kernels.quantize(kernels.dequantize(array, a, b), low, high, first.dtype)
        for array, a, b in zip(values, lows, highs, strict=True)
    ]
    return _result(np.concatenate(parts, axis), low, high)


@quantized_concat.shape
def _(node: Any) -> list[Shape]:
    count = (node.num_inputs - 1) // 3
    for index in range(count + 1, node.num_inputs):
        with_rank(node.shape(index), 0)
    return [concat_shape(node.shapes[1 : count + 1], node.value(0)), (), ()]


# Pooling


def _pool(name: str, kernel: Callable[..., Any]) -> GraphOp:
    declared = op(
        name,
        "input: T, min_input: float32, max_input: float32 -> "
        "output: T, min_output: float32, max_output: float32",
        "ksize: list(int)",
        "strides: list(int)",
        _PADDING,
        T=QUANTIZED,
        no_grad=_NONE,
    )(kernel)
    declared.shape(_ranged(_pool_shape, (1, 2)))
    return declared


def _pool_shape(node: Any) -> Shape:
    x = with_rank(node.shape(0), 4)
    ksize, strides = node.attr("ksize"), node.attr("strides")
    result: list[Dim] = list(x)
    for axis in (1, 2):
        result[axis] = windowed_size(x[axis], ksize[axis], strides[axis], node.attr("padding"))
    return tuple(result)


def _max_pool(
    input: Any, min_input: Any, max_input: Any, *, ksize: Any, strides: Any, padding: str
) -> tuple[Any, ...]:
    """The highest integer of each window."""
    ends = _scalar(min_input, "min_input"), _scalar(max_input, "max_input")
    return _result(pooling.max_pool(input, ksize=ksize, strides=strides, padding=padding), *ends)


def _avg_pool(
    input: Any, min_input: Any, max_input: Any, *, ksize: Any, strides: Any, padding: str
) -> tuple[Any, ...]:
    """The mean of the integers of each window, towards 0."""
    ends = _scalar(min_input, "min_input"), _scalar(max_input, "max_input")
    means = pooling.avg_pool(input.astype(np.float64), ksize=ksize, strides=strides, padding=padding)
    return _result(np.trunc(means).astype(input.dtype), *ends)


quantized_max_pool = _pool("QuantizedMaxPool", _max_pool)
quantized_avg_pool = _pool("QuantizedAvgPool", _avg_pool)


# Resizing


@op(
    "QuantizedResizeBilinear",
    "images: T, size: int32, min: float32, max: float32 -> "
    "resized_images: T, out_min: float32, out_max: float32",
    "align_corners: bool = false",
    "half_pixel_centers: bool = false",
    T=(quint8, qint32, float32),
    no_grad=_NONE,
)
def quantized_resize_bilinear(
    images: Any, size: Any, min: Any, max: Any, *, align_corners: bool, half_pixel_centers: bool
) -> tuple[Any, ...]:
    """Bilinear resizing, the range as it is."""
    ends = _scalar(min, "min"), _scalar(max, "max")
    resized = kernels.resize_bilinear(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers
    )
    return _result(resized, *ends)


def _resize_shape(node: Any) -> Shape:
    x, size = with_rank(node.shape(0), 4), node.value(1)
    vector_of(node.shape(1), 2)
    height, width = (None, None) if size is None else size.tolist()
    return (x[0], height, width, x[3])


quantized_resize_bilinear.shape(_ranged(_resize_shape, (2, 3)))


# Normalization


@op(
    "QuantizedBatchNormWithGlobalNormalization",
    "t: Tinput, t_min: float32, t_max: float32, m: Tinput, m_min: float32, m_max: float32, v: Tinput, "
    "v_min: float32, v_max: float32, beta: Tinput, beta_min: float32, beta_max: float32, gamma: Tinput, "
    "gamma_min: float32, gamma_max: float32 -> result: out_type, result_min: float32, result_max: float32",
    "variance_epsilon: float",
    "scale_after_normalization: bool",
    Tinput=QUANTIZED,
    out_type=QUANTIZED,
    no_grad=_NONE,
)
def quantized_batch_norm(
    *inputs: Any, variance_epsilon: float, scale_after_normalization: bool, out_type: Any
) -> tuple[Any, ...]:
    """A batch norm in fixed-point numbers between -2**20 and 2**20."""
    arrays = inputs[::3]
    for name, array, rank in zip(("input", "mean", "var", "beta", "gamma"), arrays, (4, 1, 1, 1, 1)):
        if array.ndim != rank:
            raise InvalidArgumentError(f"{name} must be {rank}-dimensional: {shape_text(array.shape)}")
    if any(array.shape != arrays[0].shape[3:] for array in arrays[1:]):
        shapes = ", ".join(shape_text(array.shape) for array in arrays)
        raise InvalidArgumentError(f"Must provide one value of each kind for each channel: {shapes}")
    low, high = F(-(1 << 20)), F(1 << 20)
    ends = [(_scalar(a, "minimum"), _scalar(b, "maximum")) for a, b in zip(inputs[1::3], inputs[2::3])]
    mean, variance, beta, gamma = (
        kernels.dequantize_scalar(array, *given) for array, given in zip(arrays[1:], ends[1:])
    )
    scale = F(1) / np.sqrt(variance + F(variance_epsilon))
    if scale_after_normalization:
        scale = scale * gamma
    offset = -mean * scale + beta
    fixed_scale, fixed_offset, one = (
        kernels.quantize_scalar(value, low, high, out_type) for value in (scale, offset, np.ones((), F))
    )
    values = kernels.quantize_scalar(kernels.dequantize_scalar(arrays[0], *ends[0]), low, high, out_type)
    # The product wraps around, as TensorFlow's does.
    product = (values * fixed_scale).astype(np.int64)
    quotient = np.sign(product) * (np.abs(product) // int(one))
    return _result((quotient + fixed_offset).astype(out_type), low, high)


def _batch_norm_shape(node: Any) -> Shape:
    shape = with_rank(node.shape(0), 4)
    channels = shape[3]
    for index in (3, 6, 9, 12):
        channels = merge_dims(channels, with_rank(node.shape(index), 1)[0])
    return (*shape[:3], channels)


quantized_batch_norm.shape(_ranged(_batch_norm_shape, [i for i in range(15) if i % 3]))


@op(
    "QuantizedInstanceNorm",
    "x: T, x_min: float32, x_max: float32 -> y: T, y_min: float32, y_max: float32",
    "output_range_given: bool = false",
    "given_y_min: float = 0.0",
    "given_y_max: float = 0.0",
    "variance_epsilon: float = 9.999999747378752e-06",
    "min_separation: float = 0.0010000000474974513",
    T=QUANTIZED,
    no_grad=_NONE,
)
def quantized_instance_norm(
    x: Any,
    x_min: Any,
    x_max: Any,
    *,
    output_range_given: bool,
    given_y_min: float,
    given_y_max: float,
    variance_epsilon: float,
    min_separation: float,
) -> tuple[Any, ...]:
    """Each channel of each image less its mean, over its standard deviation."""
    if output_range_given and not given_y_min < given_y_max:
        raise InvalidArgumentError(
            f"given_y_min must be less than given_y_max : {given_y_min:g} >= {given_y_max:g}"
        )
    low, high = _scalar(x_min, "x_min"), _scalar(x_max, "x_max")
    if not low < high:
        raise InvalidArgumentError(f"input_min must be less than input_max : {low:g} >= {high:g}")
    if x.ndim != 4:
        raise InvalidArgumentError(f"x must be 4-dimensional: {shape_text(x.shape)}")
    lowest, highest = kernels.limits(x.dtype)
    scale = F(high - low) / F(highest - lowest)
    wide = x.astype(F)
    centred = wide - wide.mean((1, 2), keepdims=True)
    variance = np.square(scale * centred).mean((1, 2), keepdims=True)
    normed = scale * centred * (F(1) / np.sqrt(variance + F(variance_epsilon)))
    if output_range_given or not x.size:
        bottom, top = F(given_y_min), F(given_y_max)
    else:
        bottom, top = normed.min(), normed.max()
    if top - bottom < F(min_separation):
        top = bottom + F(min_separation)
    return _result(kernels.quantize(normed, bottom, top, x.dtype), bottom, top)


quantized_instance_norm.shape(_ranged(lambda node: with_rank(node.shape(0), 4), (1, 2)))
