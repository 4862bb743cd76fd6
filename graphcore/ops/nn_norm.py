"""Batch normalization, local response normalization, moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import NUMBER, bfloat16, float16, float32
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import normalization as kernels
from ..op import GraphOp, op, raw_ops
from ..shapes import Dim, Shape, merge, merge_dims, with_rank
from . import rules
from .array_shape import squeeze
from .nn import channel_axis
from .reduction import reduce_mean, reduce_sum

_ATTRS = (
    "epsilon: float = 9.999999747378752e-05",  # 1e-4 in float32
    "data_format: {'NHWC', 'NCHW'} = 'NHWC'",
    "is_training: bool = true",
)
_TYPES: dict[str, dict[str, Any]] = {
    "": {"T": (float32,)},
    "V2": {"T": (float16, bfloat16, float32), "U": (float32,)},
    "V3": {"T": (float16, bfloat16, float32), "U": (float32,)},
}


def _batch_norm(version: str) -> GraphOp:
    """Declares FusedBatchNorm, V2 or V3."""
    kind = "U" if version else "T"
    count = 3 if version == "V3" else 2
    inputs = ", ".join(["x: T", *(f"{name}: {kind}" for name in ("scale", "offset", "mean", "variance"))])
    reserves = [f"reserve_space_{number + 1}: {kind}" for number in range(count)]
    outputs = ", ".join(["y: T", f"batch_mean: {kind}", f"batch_variance: {kind}", *reserves])

    def kernel(
        x: Any,
        scale: Any,
        offset: Any,
        mean: Any,
        variance: Any,
        *,
        epsilon: float,
        data_format: str,
        is_training: bool,
        node: Any,
    ) -> tuple[Any, ...]:
        # An attribute of later versions: the weight of the batch in running statistics.
        has_factor = node.has_attr("exponential_avg_factor")
        result = kernels.fused_batch_norm(
            x,
            scale,
            offset,
            mean,
            variance,
            epsilon=epsilon,
            data_format=data_format,
            is_training=is_training,
            exponential_avg_factor=node.attr("exponential_avg_factor") if has_factor else 1.0,
        )
        return (*result, np.zeros((), np.float32)) if version == "V3" else result

    declared = op(
        f"FusedBatchNorm{version}",
        f"{inputs} -> {outputs}",
        *_ATTRS,
        **_TYPES[version],
        text="Each channel normalized, scaled and shifted, by the statistics of the batch or given ones.",
    )(kernel)
    declared.shape(_batch_norm_shape)
    declared.grad(lambda node, *grads: _batch_norm_grad(node, f"FusedBatchNormGrad{version}", grads[0]))
    return declared


def _batch_norm_shape(node: Any) -> list[Shape]:
    x, axis, size = _channels(node, 0)
    inputs = (1, 2) if node.attr("is_training") else (1, 2, 3, 4)
    for index in inputs:
        size = merge_dims(size, with_rank(node.shape(index), 1)[0])
    y = None if x is None else rules.replace_dim(x, axis, size)
    return [y, *[(size,)] * 4, *[None] * (node.num_outputs - 5)]


def _channels(node: Any, index: int) -> tuple[Shape, int, int | None]:
    """The shape of input `index` (of the format's rank), its channel axis, the number of channels."""
    data_format = node.attr("data_format")
    x: Shape = node.shape(index)
    if x is None and len(data_format) == 4:
        x = (None,) * 4
    if x is None:
        return None, 0, None
    with_rank(x, len(data_format))
    axis = channel_axis(data_format, len(x))
    return x, axis, x[axis]


def _batch_norm_grad(node: Any, grad_op: str, dy: Any) -> Any:
    x, scale = node.inputs[:2]
    is_training, data_format = node.attr("is_training"), node.attr("data_format").decode()
    reserves = list(node.outputs[3:]) if is_training else [*node.inputs[3:5], *node.outputs[5:]]
    turned = not is_training and data_format == "NCHW"
    if turned:  # TensorFlow's op takes the population's statistics in NHWC only
        x, dy = raw_ops.Transpose(x, [0, 2, 3, 1]), raw_ops.Transpose(dy, [0, 2, 3, 1])
    result = getattr(raw_ops, grad_op)(
        dy,
        x,
        scale,
        *reserves,
        epsilon=node.attr("epsilon"),
        data_format="NHWC" if turned else data_format,
        is_training=is_training,
    )
    dx = raw_ops.Transpose(result.x_backprop, [0, 3, 1, 2]) if turned else result.x_backprop
    return dx, result.scale_backprop, result.offset_backprop, None, None


def _batch_norm_grad_op(version: str) -> GraphOp:
    """Declares FusedBatchNormGrad, V2 or V3."""
    kind, scale = ("U", "float32") if version else ("T", "T")
    count = 3 if version == "V3" else 2
    reserves = [f"reserve_space_{number + 1}: {kind}" for number in range(count)]
    rest = [f"reserve_space_{count + number + 1}: {kind}" for number in range(2)]
    inputs = ", ".join(["y_backprop: T", "x: T", f"scale: {scale}", *reserves])
    outputs = ", ".join(["x_backprop: T", f"scale_backprop: {kind}", f"offset_backprop: {kind}", *rest])

    def kernel(
        y_backprop: Any,
        x: Any,
        scale: Any,
        reserve_space_1: Any,
        reserve_space_2: Any,
        *_: Any,
        epsilon: float,
        data_format: str,
        is_training: bool,
    ) -> tuple[Any, ...]:
        result = kernels.fused_batch_norm_grad(
            y_backprop,
            x,
            scale,
            reserve_space_1,
            reserve_space_2,
            epsilon=epsilon,
            data_format=data_format,
            is_training=is_training,
        )
        empty = np.zeros(0, np.float32)
        return (*result, empty, empty)

    declared = op(
        f"FusedBatchNormGrad{version}",
        f"{inputs} -> {outputs}",
        *_ATTRS,
        **_TYPES[version],
        text="The gradient of FusedBatchNorm by its input, scale and offset.",
    )(kernel)
    declared.shape(_batch_norm_grad_shape)
    declared.grad(_batch_norm_grad_grad)
    return declared


def _batch_norm_grad_shape(node: Any) -> list[Shape]:
    y, axis, size = _channels(node, 0)
    x, _, _ = _channels(node, 1)
    shape = merge(x, y)
    if shape is not None:
        size = shape[axis]
    for index in (2, 3, 4):
        size = merge_dims(size, with_rank(node.shape(index), 1)[0])
    dx = None if shape is None else rules.replace_dim(shape, axis, size)
    return [dx, (size,), (size,), (0,), (0,)]


def _composed_grad(dy: Any, x: Any, scale: Any, mean: Any, variance: Any, node: Any) -> tuple[Any, Any, Any]:
    """The gradients of batch normalization out of plain operations, so that they have gradients."""
    epsilon = node.attr("epsilon")
    if node.attr("data_format") == b"NCHW":
        axes = [0, 2, 3]
        shape = raw_ops.Pack([1, raw_ops.Size(scale), 1, 1])
    else:
        axes = [0, 1, 2]
        shape = raw_ops.Pack([1, 1, 1, raw_ops.Size(scale)])
    x, dy = (raw_ops.Cast(item, DstT=float32) for item in (x, dy))
    scale_ = raw_ops.Reshape(scale, shape)
    if node.attr("is_training"):
        mean_ = raw_ops.Mean(x, axes, keep_dims=True)
        variance_ = raw_ops.Mean(raw_ops.SquaredDifference(x, mean_), axes, keep_dims=True)
    else:
        mean_, variance_ = raw_ops.Reshape(mean, shape), raw_ops.Reshape(variance, shape)
    inverse = raw_ops.Rsqrt(variance_ + epsilon)
    normalized = (x - mean_) * inverse
    if node.attr("is_training"):
        centered = dy - raw_ops.Mean(dy, axes, keep_dims=True)
        dx = scale_ * inverse * (centered - normalized * raw_ops.Mean(dy * normalized, axes, keep_dims=True))
    else:
        dx = dy * scale_ * inverse
    return dx, raw_ops.Sum(dy * normalized, axes), raw_ops.Sum(dy, axes)


def _batch_norm_grad_grad(node: Any, *grads: Any) -> Any:
    from ..gradients import gradients

    dy, x, scale, mean, variance = node.inputs[:5]
    dx, dscale, doffset = _composed_grad(dy, x, scale, mean, variance, node)
    seeds = [raw_ops.Cast(grads[0], DstT=float32), grads[1], grads[2]]
    found = gradients([dx, dscale, doffset], [dy, x, scale], seeds)
    return [*found, *[None] * (len(node.inputs) - 3)]


fused_batch_norm_v1, fused_batch_norm_v2, fused_batch_norm_v3 = (_batch_norm(version) for version in _TYPES)
for _version in _TYPES:
    _batch_norm_grad_op(_version)


# Local response normalization

_LRN_ATTRS = ("depth_radius: int = 5", "bias: float = 1.0", "alpha: float = 1.0", "beta: float = 0.5")
_LRN_TYPES = ((float16, bfloat16, float32), float32)


@op("LRN", "input: T -> output: T", *_LRN_ATTRS, T=_LRN_TYPES)
def lrn(input: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    """X / (bias + alpha * sum of squares of near-by channels) ** beta."""
    _check_radius(depth_radius)
    return kernels.lrn(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta)


def _check_radius(depth_radius: int) -> None:
    if depth_radius < 0:
        raise InvalidArgumentError(f"depth_radius = {depth_radius} larger than int max, or negative")


@op(
    "LRNGrad",
    "input_grads: T, input_image: T, output_image: T -> output: T",
    *_LRN_ATTRS,
    T=_LRN_TYPES,
    undefined_grad="TensorFlow has none for the gradient of this op",
)
def lrn_grad(
    input_grads: Any,
    input_image: Any,
    output_image: Any,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Any:
    """The gradient of LRN."""
    _check_radius(depth_radius)
    return kernels.lrn_grad(
        input_grads, input_image, output_image, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta
    )


@lrn.shape
@lrn_grad.shape
def _(node: Any) -> Shape:
    return with_rank(rules.merge_inputs(node), 4)


@lrn.grad
def _(node: Any, dy: Any) -> Any:
    options = {name: node.attr(name) for name in ("depth_radius", "bias", "alpha", "beta")}
    return raw_ops.LRNGrad(dy, node.inputs[0], node.outputs[0], **options)


# Batch normalization with given statistics, of old graphs

_GLOBAL = ("variance_epsilon: float", "scale_after_normalization: bool")


@op(
    "BatchNormWithGlobalNormalization",
    "t: T, m: T, v: T, beta: T, gamma: T -> result: T",
    *_GLOBAL,
    T=NUMBER,
)
def batch_norm_with_global_normalization_op(
    t: Any, m: Any, v: Any, beta: Any, gamma: Any, *, variance_epsilon: float, scale_after_normalization: bool
) -> Any:
    """(t - m) / sqrt(v + epsilon) * gamma + beta, gamma only if it is asked for."""
    kernels.check_global_inputs(t, mean=m, var=v, beta=beta, gamma=gamma)
    return kernels.batch_norm_with_global_normalization(
        t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon
    )


@op(
    "BatchNormWithGlobalNormalizationGrad",
    "t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T",
    *_GLOBAL,
    T=NUMBER,
    undefined_grad="TensorFlow has none for the gradient of this op",
)
def batch_norm_with_global_normalization_grad(
    t: Any,
    m: Any,
    v: Any,
    gamma: Any,
    backprop: Any,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[Any, ...]:
    """The gradient of BatchNormWithGlobalNormalization; none for a gamma that is not used."""
    kernels.check_global_inputs(t, mean=m, var=v, gamma=gamma)
    kernels.check_same_shape(t, backprop)
    return kernels.batch_norm_with_global_normalization_grad(
        t, m, v, gamma if scale_after_normalization else None, backprop, variance_epsilon
    )


def _global_shape(node: Any, vectors: tuple[int, ...]) -> tuple[tuple[Dim, ...], Dim]:
    shape = with_rank(node.shape(0), 4)
    size = shape[3]
    for index in vectors:
        size = merge_dims(size, with_rank(node.shape(index), 1)[0])
    return (*shape[:3], size), size


batch_norm_with_global_normalization_op.shape(lambda node: _global_shape(node, (1, 2, 3, 4))[0])


@batch_norm_with_global_normalization_grad.shape
def _(node: Any) -> list[Shape]:
    shape, size = _global_shape(node, (1, 2, 3))
    return [merge(shape, node.shape(4)), *[(size,)] * 4]


@batch_norm_with_global_normalization_op.grad
def _(node: Any, dy: Any) -> Any:
    t, m, v, _, gamma = node.inputs
    options = {key: node.attr(key) for key in ("variance_epsilon", "scale_after_normalization")}
    return list(batch_norm_with_global_normalization_grad(t, m, v, gamma, dy, **options))


# TensorFlow's Python functions

local_response_normalization: Callable[..., Any] = lrn


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Any:
    """`tf.nn.l2_normalize`: x / sqrt(max(sum(x ** 2), epsilon)) along `axis` (default: all)."""
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        total = reduce_sum(raw_ops.Square(x), dim if axis is None else axis, keepdims=True)
        inverse = raw_ops.Rsqrt(raw_ops.Maximum(total, convert_to_tensor(epsilon, x.dtype.base_dtype)))
        return raw_ops.Mul(x, inverse, name=scope)


def moments(
    x: Any,
    axes: Any,
    shift: Any = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Any, Any]:
    """`tf.nn.moments`: `(mean, variance)` over `axes`, without Bessel's correction.

    Args:
        x: A tensor; float16 is computed in float32.
        axes: The axes.
        shift: Not used, as in TensorFlow.
        name: Name scope of the operations.
        keep_dims: Old name of `keepdims`.
        keepdims: Keep the reduced dimensions with length 1.
    """
    keep = keep_dims if keepdims is None else keepdims
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x, name="x")
        is_half = x.dtype.base_dtype == float16
        y = raw_ops.Cast(x, DstT=float32) if is_half else x
        mean = reduce_mean(y, axes, keepdims=True, name="mean")
        deviation = raw_ops.SquaredDifference(y, raw_ops.StopGradient(mean))
        variance = reduce_mean(deviation, axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if is_half:
            return raw_ops.Cast(mean, DstT=float16), raw_ops.Cast(variance, DstT=float16)
        return mean, variance


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Any:
    """`tf.nn.batch_normalization`: (x - mean) / sqrt(variance + epsilon) * scale + offset."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x, mean, variance = convert_to_tensor(x), convert_to_tensor(mean), convert_to_tensor(variance)
        inverse = raw_ops.Rsqrt(variance + variance_epsilon)
        if scale is not None:
            inverse *= scale
        shift = offset - mean * inverse if offset is not None else -mean * inverse
        return x * _like(inverse, x) + _like(shift, x)


def _like(tensor: Any, other: Any) -> Any:
    dtype = other.dtype.base_dtype
    return tensor if tensor.dtype.base_dtype == dtype else raw_ops.Cast(tensor, DstT=dtype)


_MIN_EPSILON = 1.001e-5  # cuDNN's limit, which TensorFlow applies everywhere


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """`tf.nn.fused_batch_norm`: `(y, mean, variance)`, by the op FusedBatchNormV3.

    Args:
        x: A 4-D tensor.
        scale: (channels,).
        offset: (channels,).
        mean: The population's, when not training.
        variance: The population's, when not training.
        epsilon: Added to the variance; at least 1.001e-5.
        data_format: "NHWC" or "NCHW".
        is_training: Whether to use the statistics of the batch.
        name: Name of the operation.

    Raises:
        ValueError: `mean` or `variance` is given when training.
    """
    if is_training and (mean is not None or variance is not None):
        raise InvalidValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = constant([], float32) if mean is None else mean
    variance = constant([], float32) if variance is None else variance
    result = fused_batch_norm_v3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, _MIN_EPSILON),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return result.y, result.batch_mean, result.batch_variance


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: float | None = None,
    scale_after_normalization: bool | None = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Any:
    """`tf.nn.batch_norm_with_global_normalization`: as `batch_normalization`, of (N, H, W, channels).

    Args:
        t: (batch, height, width, channels).
        m: Means, (channels,).
        v: Variances, (channels,).
        beta: Added, (channels,).
        gamma: Multiplied with, if `scale_after_normalization`, (channels,).
        variance_epsilon: Added to the variances.
        scale_after_normalization: Whether gamma counts.
        name: Name scope of the operations.
        input: Later name of `t`.
        mean: Later name of `m`.
        variance: Later name of `v`.

    Raises:
        ValueError: An argument is given by both its names.
    """
    pairs = (("input", input, "t", t), ("mean", mean, "m", m), ("variance", variance, "v", v))
    for new, value, old, old_value in pairs:
        if value is not None and old_value is not None:
            raise InvalidValueError(f"Cannot specify both '{old}' and '{new}'")
    t, m, v = (value if old_value is None else old_value for _, value, _, old_value in pairs)
    scale = gamma if scale_after_normalization else None
    return batch_normalization(t, m, v, beta, scale, variance_epsilon, name)
