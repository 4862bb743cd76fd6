"""Neural network activations, biases, softmax and dropout."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import FLOATING, NUMBER, REAL, float32, qint8
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import losses as kernels, parallel
from ..op import GraphOp, op, raw_ops
from ..shapes import Shape, format_shape, merge_dims, with_rank, with_rank_at_least
from ..tensor_shape import TensorShape
from . import rules

_UNDEFINED = "TensorFlow has none for the gradient of this op"
_BOTH_FORMATS = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"

# Activations and their gradients: a kernel of x, and one of (gradient, x) or (gradient, activation).


def _activation(
    name: str, text: str, kernel: Callable[..., Any], types: Any, grad: Any, *attrs: str
) -> GraphOp:
    declared = op(name, "features: T -> activations: T", *attrs, T=types, elementwise=True, text=text)(kernel)
    declared.shape(rules.unchanged)
    declared.grad(grad)
    return declared


def _activation_grad(
    name: str, text: str, second: str, kernel: Callable[..., Any], types: Any, grad: Any, *attrs: str
) -> GraphOp:
    signature = f"gradients: T, {second}: T -> backprops: T"
    declared = op(
        name,
        signature,
        *attrs,
        T=types,
        elementwise=True,
        undefined_grad=_UNDEFINED if grad is None else None,
        text=text,
    )(kernel)
    declared.shape(rules.merge_inputs)
    if grad is not None:
        declared.grad(grad)
    return declared


def _by_input(name: str) -> Callable[..., Any]:
    """The gradient by the op `name` of (gradient, input)."""
    return lambda node, dy: getattr(raw_ops, name)(dy, node.inputs[0])


def _by_output(name: str) -> Callable[..., Any]:
    """The gradient by the op `name` of (gradient, output)."""
    return lambda node, dy: getattr(raw_ops, name)(dy, node.outputs[0])


def _piecewise_linear(name: str) -> Callable[..., Any]:
    """The gradient of a gradient that does not depend on its second input, but at corners."""

    def grad(node: Any, dy: Any) -> Any:
        features = node.inputs[1]
        return getattr(raw_ops, name)(dy, features), raw_ops.ZerosLike(features)

    return grad


def _exponential(name: str) -> Callable[..., Any]:
    """The gradient of EluGrad and SeluGrad: below 0 they are the gradient times output + constant."""

    def grad(node: Any, dy: Any) -> Any:
        gradients, outputs = node.inputs
        zeros = raw_ops.ZerosLike(outputs)
        by_outputs = raw_ops.Select(raw_ops.Less(outputs, zeros), dy * gradients, zeros)
        return getattr(raw_ops, name)(dy, outputs), by_outputs

    return grad


def _step(mask: Any, high: Any, low: Any) -> Any:
    """`high` where the mask holds, else `low`: as a sum, five times as fast as np.where on mixed masks."""
    return np.asarray(np.multiply(mask, high - low, dtype=high.dtype) + low)


def _relu(features: Any, out: Any = None) -> Any:
    return np.maximum(features, features.dtype.type(0), out=out)


def _relu_grad(gradients: Any, features: Any, out: Any = None) -> Any:
    return np.multiply(gradients, features > 0, out=out, dtype=gradients.dtype)


def _relu6(features: Any, out: Any = None) -> Any:
    kind = features.dtype.type
    return np.minimum(np.maximum(features, kind(0), out=out), kind(6), out=out)


def _relu6_grad(gradients: Any, features: Any, out: Any = None) -> Any:
    return np.multiply(gradients, (features > 0) & (features < 6), out=out, dtype=gradients.dtype)


def _elu(features: Any, out: Any = None) -> Any:
    zero = features.dtype.type(0)
    below = np.expm1(np.minimum(features, zero))
    return np.add(np.maximum(features, zero, out=out), below, out=out)


def _elu_grad(gradients: Any, outputs: Any, out: Any = None) -> Any:
    kind = outputs.dtype.type
    return np.multiply(gradients, np.fmin(outputs, kind(0)) + kind(1), out=out)


# Klambauer et al., "Self-normalizing neural networks", 2017; the constants are TensorFlow's
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123


def _selu(features: Any, out: Any = None) -> Any:
    kind = features.dtype.type
    below = np.expm1(np.minimum(features, kind(0))) * kind(_SELU_SCALE_ALPHA)
    above = np.multiply(np.maximum(features, kind(0), out=out), kind(_SELU_SCALE), out=out)
    return np.add(above, below, out=out)


def _selu_grad(gradients: Any, outputs: Any, out: Any = None) -> Any:
    kind = outputs.dtype.type
    slope = _step(outputs < 0, kind(_SELU_SCALE_ALPHA), kind(_SELU_SCALE))
    return np.multiply(gradients, np.add(slope, np.fmin(outputs, kind(0)), out=slope), out=out)


def _leaky_relu(features: Any, out: Any = None, *, alpha: float) -> Any:
    return np.maximum(features, features * features.dtype.type(alpha), out=out)


def _leaky_relu_grad(gradients: Any, features: Any, out: Any = None, *, alpha: float) -> Any:
    kind = features.dtype.type
    return np.multiply(gradients, _step(features > 0, kind(1), kind(alpha)), out=out)


def _softplus(features: Any, out: Any = None) -> Any:
    # log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), which never overflows
    decay = np.log1p(np.exp(-np.abs(features)))
    return np.add(np.maximum(features, features.dtype.type(0), out=out), decay, out=out)


def _softplus_grad(gradients: Any, features: Any, out: Any = None) -> Any:
    return np.divide(gradients, np.exp(-features) + features.dtype.type(1), out=out)


def _softplus_grad_grad(node: Any, grad: Any) -> Any:
    dy, x = node.inputs
    two = convert_to_tensor(2, x.dtype.base_dtype)
    return raw_ops.SoftplusGrad(grad, x), grad * dy / (raw_ops.Exp(-x) + two + raw_ops.Exp(x))


def _softsign(features: Any, out: Any = None) -> Any:
    return np.divide(features, np.abs(features) + features.dtype.type(1), out=out)


def _softsign_grad(gradients: Any, features: Any, out: Any = None) -> Any:
    return np.divide(gradients, np.square(np.abs(features) + features.dtype.type(1)), out=out)


_ALPHA = "alpha: float = 0.20000000298023224"  # 0.2 in float32
_LEAKY = (FLOATING, float32)

relu = _activation("Relu", "max(x, 0).", _relu, (*REAL, qint8), _by_output("ReluGrad"))
relu6 = _activation("Relu6", "x moved into [0, 6].", _relu6, REAL, _by_output("Relu6Grad"))
elu = _activation("Elu", "x above 0, exp(x) - 1 below.", _elu, FLOATING, _by_output("EluGrad"))
selu = _activation(
    "Selu", "Elu scaled so that activations normalize themselves.", _selu, FLOATING, _by_output("SeluGrad")
)
softplus = _activation("Softplus", "log(1 + exp(x)).", _softplus, FLOATING, _by_input("SoftplusGrad"))
softsign = _activation("Softsign", "x / (1 + |x|).", _softsign, FLOATING, _by_input("SoftsignGrad"))
leaky_relu_op = _activation(
    "LeakyRelu",
    "x above 0, alpha * x below.",
    _leaky_relu,
    _LEAKY,
    lambda node, dy: raw_ops.LeakyReluGrad(dy, node.inputs[0], alpha=node.attr("alpha")),
    _ALPHA,
)

_activation_grad(
    "ReluGrad", "The gradient of Relu.", "features", _relu_grad, REAL, _piecewise_linear("ReluGrad")
)
_activation_grad(
    "Relu6Grad", "The gradient of Relu6.", "features", _relu6_grad, REAL, _piecewise_linear("Relu6Grad")
)
_activation_grad(
    "EluGrad", "The gradient of Elu, by its output.", "outputs", _elu_grad, FLOATING, _exponential("EluGrad")
)
_activation_grad(
    "SeluGrad",
    "The gradient of Selu, by its output.",
    "outputs",
    _selu_grad,
    FLOATING,
    _exponential("SeluGrad"),
)
_activation_grad(
    "SoftplusGrad", "The gradient of Softplus.", "features", _softplus_grad, FLOATING, _softplus_grad_grad
)
_activation_grad("SoftsignGrad", "The gradient of Softsign.", "features", _softsign_grad, FLOATING, None)
_activation_grad(
    "LeakyReluGrad",
    "The gradient of LeakyRelu.",
    "features",
    _leaky_relu_grad,
    _LEAKY,
    lambda node, dy: [
        raw_ops.LeakyReluGrad(dy, node.inputs[1], alpha=node.attr("alpha")),
        raw_ops.ZerosLike(node.inputs[1]),
    ],
    _ALPHA,
)


# Biases


def channel_axis(data_format: str, rank: int) -> int:
    """The axis of the channels in a tensor of `rank`: the last one, or for NC... the second."""
    return 1 if data_format.startswith("NC") else rank - 1


def _shaped_bias(value: Any, bias: Any, data_format: str) -> Any:
    """The bias in a shape that broadcasts along the channels."""
    if value.ndim < 2:
        raise InvalidArgumentError(f"Input tensor must be at least 2D: {format_shape(value.shape)}")
    if np.ndim(bias) != 1:
        raise InvalidArgumentError(f"Biases must be 1D: {format_shape(np.shape(bias))}")
    axis = channel_axis(data_format, value.ndim)
    if bias.shape[0] != value.shape[axis]:
        raise InvalidArgumentError(
            f"Must provide as many biases as the channel dimension of the input tensor: "
            f"{format_shape(bias.shape)} "
            f"vs. {value.shape[axis]} in {format_shape(value.shape)}"
        )
    return bias.reshape(-1, *[1] * (value.ndim - 1 - axis))


def _bias_add(value: Any, bias: Any, out: Any = None, *, data_format: str) -> Any:
    """The value with a bias added along its channels."""
    return np.add(value, _shaped_bias(value, bias, data_format), out=out)


def _bias_add_v1(value: Any, bias: Any, out: Any = None) -> Any:
    """The value with a bias added along its channels."""
    return np.add(value, _shaped_bias(value, bias, "NHWC"), out=out)


def bias_shape(node: Any) -> Shape:
    """The rule of ops that add input 1 along the channels of input 0."""
    data_format = node.attr("data_format") if node.node.type == "BiasAdd" else "NHWC"
    value = with_rank_at_least(node.shape(0), 3 if data_format == "NCHW" else 2)
    (size,) = with_rank(node.shape(1), 1)
    if value is None:
        return None
    axis = channel_axis(data_format, len(value))
    return rules.replace_dim(value, axis, merge_dims(value[axis], size))


bias_add_op = op("BiasAdd", "value: T, bias: T -> output: T", _BOTH_FORMATS, T=NUMBER, elementwise=True)(
    _bias_add
)
bias_add_v1_op = op("BiasAddV1", "value: T, bias: T -> output: T", T=NUMBER, elementwise=True)(_bias_add_v1)


@bias_add_op.specialize
@bias_add_v1_op.specialize
def _(view: Any) -> Any:
    """Channels last and sizes known to fit: a plain addition."""
    value, bias = view.shape(0), view.shape(1)
    is_last = view.node.type == "BiasAddV1" or view.attr("data_format") == "NHWC"
    if value is None or bias is None or len(value) < 2 or len(bias) != 1:
        return None
    return np.add if is_last and bias[0] is not None and bias[0] == value[-1] else None


@op("BiasAddGrad", "out_backprop: T -> output: T", _BOTH_FORMATS, T=NUMBER)
def bias_add_grad(out_backprop: Any, *, data_format: str) -> Any:
    """The sum over all axes but the channels'."""
    if out_backprop.ndim < 2:
        raise InvalidArgumentError(f"Input tensor must be at least 2D: {format_shape(out_backprop.shape)}")
    axis = channel_axis(data_format, out_backprop.ndim)
    wide = out_backprop
    is_half = wide.dtype.itemsize == 2 and wide.dtype.kind not in "iu"
    if is_half:
        wide = wide.astype(np.float32)
    if axis == wide.ndim - 1 and wide.dtype.kind == "f":
        total = parallel.sum_rows(wide.reshape(-1 if wide.size else 0, wide.shape[-1]))
    else:
        total = np.add.reduce(wide, tuple(i for i in range(wide.ndim) if i != axis), dtype=wide.dtype)
    return total.astype(out_backprop.dtype, copy=False)


@bias_add_grad.shape
def _(node: Any) -> Shape:
    data_format = node.attr("data_format")
    source = with_rank_at_least(node.shape(0), 3 if data_format == "NCHW" else 2)
    return (None,) if source is None else (source[channel_axis(data_format, len(source))],)


for _bias in (bias_add_op, bias_add_v1_op):
    _bias.shape(bias_shape)


@bias_add_op.grad
def _(node: Any, dy: Any) -> Any:
    return dy, raw_ops.BiasAddGrad(dy, data_format=node.attr("data_format"))


@bias_add_v1_op.grad
def _(node: Any, dy: Any) -> Any:
    return dy, raw_ops.Sum(dy, raw_ops.Range(0, raw_ops.Rank(dy) - 1, 1))


@bias_add_grad.grad
def _(node: Any, dy: Any) -> Any:
    """The bias' gradient repeated along all other axes."""
    shape, size = raw_ops.Shape(node.inputs[0]), raw_ops.Shape(dy)
    if node.attr("data_format") == b"NCHW":
        head, tail = shape[:1], shape[2:]
        expanded = raw_ops.ConcatV2([raw_ops.OnesLike(head), size, raw_ops.OnesLike(tail)], 0)
        times = raw_ops.ConcatV2([head, [1], tail], 0)
    else:
        head = shape[:-1]
        expanded = raw_ops.ConcatV2([raw_ops.OnesLike(head), size], 0)
        times = raw_ops.ConcatV2([head, [1]], 0)
    return raw_ops.Tile(raw_ops.Reshape(dy, expanded), times)


# Softmax


@op("Softmax", "logits: T -> softmax: T", T=FLOATING)
def softmax_op(logits: Any) -> Any:
    """exp(x) / sum(exp(x)) along the last axis."""
    return kernels.softmax(logits)


@op("LogSoftmax", "logits: T -> logsoftmax: T", T=FLOATING)
def log_softmax_op(logits: Any) -> Any:
    """The logarithm of the softmax along the last axis."""
    return kernels.log_softmax(logits)


for _soft in (softmax_op, log_softmax_op):
    _soft.shape(lambda node: with_rank_at_least(node.shape(0), 1))


@softmax_op.grad
def _(node: Any, dy: Any) -> Any:
    softmax = node.outputs[0]
    return (dy - raw_ops.Sum(dy * softmax, -1, keep_dims=True)) * softmax


@log_softmax_op.grad
def _(node: Any, dy: Any) -> Any:
    softmax = raw_ops.Exp(node.outputs[0])
    return dy - raw_ops.Sum(dy, -1, keep_dims=True) * softmax


# TensorFlow's Python functions


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """`tf.nn.leaky_relu`: max(x, alpha * x); integers become float32."""
    with name_scope(name, "LeakyRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = raw_ops.Cast(features, DstT=float32)
        return leaky_relu_op(features, alpha=float(alpha), name=scope)


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Any:
    """`tf.nn.crelu`: relu of x and of -x, joined along `axis`."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return relu(raw_ops.ConcatV2([features, -features], axis, name=scope))


def swish(features: Any) -> Any:
    """`tf.nn.swish`: x * sigmoid(x)."""
    features = convert_to_tensor(features, name="features")
    return features * raw_ops.Sigmoid(features)


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """`tf.nn.bias_add`: a vector added along the channels.

    Raises:
        ValueError: `data_format` is neither `N...C` nor `NC...`.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, value.dtype.base_dtype, name="bias")
        return bias_add_op(value, bias, data_format=plain_format(data_format), name=scope)


def plain_format(data_format: str | None) -> str:
    """`NHWC` or `NCHW` for any format with its channels last or second.

    Raises:
        ValueError: It is neither.
    """
    if data_format is None:
        return "NHWC"
    if data_format.startswith("NC"):
        return "NCHW"
    if data_format.startswith("N") and data_format.endswith("C"):
        return "NHWC"
    raise InvalidValueError("data_format must be of the form `N...C` or `NC...`")


def to_last_axis(x: Any, axis: int, name: str | None = None) -> Any:
    """`x` with `axis` and the last axis swapped; its rank must be known.

    Raises:
        ValueError: The rank is unknown.
        InvalidArgumentError: The axis lies outside the rank.
    """
    ndims = x.get_shape().ndims
    if ndims is None:
        raise InvalidValueError("The rank must be known for an axis that is not the last one.")
    if not -ndims <= axis < ndims:
        raise InvalidArgumentError(
            f"Dimension ({axis}) must be in the range [{-ndims}, {ndims}) where {ndims} is the number of "
            "dimensions in the input."
        )
    perm = np.arange(ndims, dtype=np.int32)
    perm[[axis, -1]] = perm[[-1, axis]]
    return raw_ops.Transpose(x, constant(perm), name=name)


def _along(declared: GraphOp, logits: Any, axis: int | None, name: str | None) -> Any:
    logits = convert_to_tensor(logits)
    ndims = logits.get_shape().ndims
    if axis in (None, -1) or (ndims is not None and axis == ndims - 1):
        return declared(logits, name=name)
    assert axis is not None
    swapped = declared(to_last_axis(logits, axis))
    result = to_last_axis(swapped, axis, name)
    result.set_shape(logits.get_shape())
    return result


def softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Any:
    """`tf.nn.softmax` along `axis` (default: the last).

    Raises:
        InvalidArgumentError: The axis lies outside the rank.
    """
    return _along(softmax_op, logits, dim if axis is None else axis, name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Any:
    """`tf.nn.log_softmax` along `axis` (default: the last).

    Raises:
        InvalidArgumentError: The axis lies outside the rank.
    """
    return _along(log_softmax_op, logits, dim if axis is None else axis, name)


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """`tf.nn.dropout`: each element is 0 with probability `rate`, else scaled by 1 / (1 - rate).

    Args:
        x: A floating point tensor.
        keep_prob: 1 - rate, TensorFlow 1's older argument.
        noise_shape: Shape of the random decisions, broadcast to x; by default that of x.
        seed: The op's random seed.
        name: Name scope of the operations.
        rate: Probability of 0, a number or a scalar tensor.

    Raises:
        ValueError: x is not floating point, or not exactly one of `rate` and `keep_prob` is given.
    """
    if rate is not None and keep_prob is not None:
        raise InvalidValueError("Cannot specify both 'rate' and 'keep_prob'")
    if keep_prob is not None:
        try:
            rate = 1.0 - keep_prob
        except TypeError:
            raise InvalidValueError(
                f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
            ) from None
    if rate is None:
        raise InvalidValueError("You must provide a rate to dropout.")
    from .random import random_uniform

    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise InvalidValueError(
                "x has to be a floating point tensor since it's going to be scaled. Got a "
                f"{x.dtype} tensor instead."
            )
        if isinstance(rate, numbers.Real) and not 0 <= float(rate) < 1:
            raise InvalidValueError(
                f"rate must be a scalar tensor or a float in the range [0, 1), got {float(rate):g}"
            )
        if isinstance(rate, numbers.Real) and rate == 0:
            return x
        rate = convert_to_tensor(rate, x.dtype.base_dtype, name="rate")
        rate.get_shape().assert_is_compatible_with(TensorShape([]))
        noise = random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype.base_dtype)
        scale = 1 / (1 - rate)
        result = x * scale * raw_ops.Cast(noise >= rate, DstT=x.dtype.base_dtype)
        result.set_shape(x.get_shape())
        return result


def _noise_shape(x: Any, noise_shape: Any) -> Any:
    from .array_shape import tf_shape

    if noise_shape is None:
        return tf_shape(x)
    try:
        wanted = TensorShape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    static = x.get_shape()
    if static.ndims is not None and wanted.ndims == static.ndims:
        merged = [
            have if want is None else want
            for want, have in zip(wanted.as_list(), static.as_list(), strict=True)
        ]
        wanted = TensorShape(merged)
    return wanted.as_list() if wanted.is_fully_defined() else noise_shape


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """`tf.nn.xw_plus_b`: x @ weights + biases."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return bias_add(raw_ops.MatMul(x, weights), biases, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """`tf.nn.relu_layer`: relu(x @ weights + biases)."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return relu(bias_add(raw_ops.MatMul(x, weights), biases), name=scope)
