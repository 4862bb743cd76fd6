"""`tf.layers`: layers as functions, with their variables.

Variables and operations have TensorFlow's names: `dense/kernel`, `dense/bias`, `dense/MatMul`, ...

Source: tensorflow/python/layers (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import not_yet
from .base_layer import Layer
from .conditional import smart_cond
from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection
from .errors import InvalidValueError
from .initializers import Ones, Zeros
from .op import raw_ops
from .ops import nn, nn_conv, nn_norm, nn_pool
from .ops.array_shape import tf_reshape, tf_shape
from .variable_scope import get_variable, variable_scope


def _pair(value: Any, name: str) -> tuple[int, int]:
    if isinstance(value, int):
        return value, value
    items = tuple(int(item) for item in value)
    if len(items) != 2:
        raise InvalidValueError(f"The `{name}` argument must be a tuple of 2 integers. Received: {value}")
    return items[0], items[1]


def _last_dim(inputs: Any, axis: int = -1) -> int:
    shape = inputs.static_shape
    if shape is None or len(shape) <= abs(axis) - 1 or shape[axis] is None:
        raise InvalidValueError("The last dimension of the inputs should be defined. Found `None`.")
    return int(shape[axis])


def dense(
    inputs: Any,
    units: int,
    activation: Callable[[Any], Any] | None = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = None,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """A fully connected layer: `activation(inputs @ kernel + bias)`.

    Args:
        inputs: A tensor of shape (..., channels), channels known.
        units: Output channels.
        activation: Function of the result, or None.
        use_bias: Whether there is a bias.
        kernel_initializer: Initializer of `kernel`, shape (channels, units); Glorot uniform by default.
        bias_initializer: Initializer of `bias`, shape (units,); zeros by default.
        kernel_regularizer: Function from the kernel to a loss.
        bias_regularizer: The same for the bias.
        activity_regularizer: The same for the result.
        kernel_constraint: Projection of the kernel after an update.
        bias_constraint: The same for the bias.
        trainable: Whether optimizers train it.
        name: Its variable scope.
        reuse: Share the variables of an earlier layer of that name.

    Returns:
        A tensor of shape (..., units).

    Raises:
        ValueError: The number of input channels is not known.
    """
    inputs = convert_to_tensor(inputs)
    channels = _last_dim(inputs)
    with variable_scope(name, "dense", [inputs], reuse=reuse):
        kernel = get_variable(
            "kernel",
            [channels, units],
            inputs.dtype.base_dtype,
            kernel_initializer,
            kernel_regularizer,
            trainable,
            constraint=kernel_constraint,
        )
        bias = _bias(units, inputs, bias_initializer, bias_regularizer, bias_constraint, trainable, use_bias)
        rank = inputs.get_shape().ndims or 2
        if rank > 2:
            # As TensorFlow's tensordot: flatten, multiply, restore.
            flat = raw_ops.MatMul(tf_reshape(inputs, [-1, channels]), kernel.value())
            static = inputs.static_shape
            lead = raw_ops.StridedSlice(tf_shape(inputs), [0], [-1], [1], begin_mask=1)
            outputs = tf_reshape(flat, raw_ops.ConcatV2([lead, [units]], 0))
            outputs.set_shape([*static[:-1], units])
        else:
            outputs = raw_ops.MatMul(inputs, kernel.value())
        if bias is not None:
            outputs = raw_ops.BiasAdd(outputs, bias.value())
        return _finished(outputs, activation, activity_regularizer)


def _bias(
    size: int, inputs: Any, initializer: Any, regularizer: Any, constraint: Any, trainable: bool, wanted: bool
) -> Any:
    if not wanted:
        return None
    return get_variable(
        "bias",
        [size],
        inputs.dtype.base_dtype,
        initializer or Zeros(),
        regularizer,
        trainable,
        constraint=constraint,
    )


def _finished(outputs: Any, activation: Any, activity_regularizer: Any) -> Any:
    if activation is not None:
        outputs = activation(outputs)
    if activity_regularizer is not None:
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, activity_regularizer(outputs))
    return outputs


def _formats(data_format: str) -> tuple[str, int]:
    """TensorFlow's data format and the channel axis of a layer's."""
    try:
        return {"channels_last": ("NHWC", -1), "channels_first": ("NCHW", -3)}[data_format]
    except KeyError:
        raise InvalidValueError(
            "The `data_format` argument must be one of channels_last, channels_first. Received: "
            f"{data_format}"
        ) from None


def _spatial(pair: tuple[int, int], data_format: str) -> list[int]:
    return [1, *pair, 1] if data_format == "NHWC" else [1, 1, *pair]


def conv2d(
    inputs: Any,
    filters: int,
    kernel_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str = "channels_last",
    dilation_rate: Any = (1, 1),
    activation: Callable[[Any], Any] | None = None,
    use_bias: bool = True,
    kernel_initializer: Any = None,
    bias_initializer: Any = None,
    kernel_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    bias_constraint: Any = None,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """A 2-D convolution layer.

    Args:
        inputs: A tensor of shape (batch, height, width, channels), or channels first.
        filters: Output channels.
        kernel_size: Height and width of the kernel, or one number for both.
        strides: The same for the steps.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        dilation_rate: Height and width of the dilation.
        activation: Function of the result, or None.
        use_bias: Whether there is a bias.
        kernel_initializer: Initializer of `kernel`, shape (height, width, channels, filters).
        bias_initializer: Initializer of `bias`, shape (filters,).
        kernel_regularizer: Function from the kernel to a loss.
        bias_regularizer: The same for the bias.
        activity_regularizer: The same for the result.
        kernel_constraint: Projection of the kernel after an update.
        bias_constraint: The same for the bias.
        trainable: Whether optimizers train it.
        name: Its variable scope.
        reuse: Share the variables of an earlier layer of that name.

    Raises:
        ValueError: An argument is malformed, or the number of input channels not known.
    """
    inputs = convert_to_tensor(inputs)
    layout, axis = _formats(data_format)
    channels = _last_dim(inputs, axis)
    size, step = _pair(kernel_size, "kernel_size"), _pair(strides, "strides")
    dilation = _pair(dilation_rate, "dilation_rate")
    with variable_scope(name, "conv2d", [inputs], reuse=reuse):
        kernel = get_variable(
            "kernel",
            [*size, channels, filters],
            inputs.dtype.base_dtype,
            kernel_initializer,
            kernel_regularizer,
            trainable,
            constraint=kernel_constraint,
        )
        bias = _bias(
            filters, inputs, bias_initializer, bias_regularizer, bias_constraint, trainable, use_bias
        )
        outputs = nn_conv.conv2d(
            inputs,
            kernel.value(),
            strides=_spatial(step, layout),
            padding=padding.upper(),
            data_format=layout,
            dilations=_spatial(dilation, layout),
            name="Conv2D",
        )
        if bias is not None:
            outputs = raw_ops.BiasAdd(outputs, bias.value(), data_format=layout)
        return _finished(outputs, activation, activity_regularizer)


def _pooling(function: Any, default: str) -> Callable[..., Any]:
    def pool(
        inputs: Any,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
    ) -> Any:
        layout, _ = _formats(data_format)
        with variable_scope(name, default, [inputs]):
            return function(
                inputs,
                _spatial(_pair(pool_size, "pool_size"), layout),
                _spatial(_pair(strides, "strides"), layout),
                padding.upper(),
                data_format=layout,
            )

    pool.__doc__ = f"""`tf.layers.{default}d` over windows of images, channels last or first.

    Args:
        inputs: The images.
        pool_size: Height and width of the window, or one number.
        strides: The same for the steps.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        name: Name scope.
    """
    return pool


max_pooling2d = _pooling(nn_pool.max_pool, "max_pooling2d")
average_pooling2d = _pooling(nn_pool.avg_pool, "average_pooling2d")


def _either(training: Any, batch: Any, moving: Any) -> Any:
    """The batch's statistics while training, else the moving averages."""
    return smart_cond(training, lambda: raw_ops.Identity(batch), moving.value)


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """All but the first axis in one: shape (batch, n)."""
    inputs = convert_to_tensor(inputs)
    with variable_scope(name, "flatten", [inputs]):
        shape = inputs.static_shape
        if shape is not None and None not in shape[1:]:
            size = int(np.prod(shape[1:], dtype=np.int64))
            outputs = tf_reshape(inputs, [-1, size])
            outputs.set_shape([shape[0], size])
            return outputs
        return tf_reshape(
            inputs,
            raw_ops.Pack([raw_ops.StridedSlice(tf_shape(inputs), [0], [1], [1], shrink_axis_mask=1), -1]),
        )


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """Drops values with probability `rate` while training, and scales the others up.

    Args:
        inputs: The values.
        rate: The probability.
        noise_shape: Shape of the choices, broadcast to that of `inputs`.
        seed: Op seed.
        training: A Python bool, or a boolean tensor that decides when the graph runs.
        name: Name scope.
    """
    inputs = convert_to_tensor(inputs)
    with variable_scope(name, "dropout", [inputs]):
        return smart_cond(
            training,
            lambda: nn.dropout(inputs, noise_shape=noise_shape, seed=seed, rate=rate),
            lambda: raw_ops.Identity(inputs),
        )


def batch_normalization(
    inputs: Any,
    axis: int = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = None,
    gamma_initializer: Any = None,
    moving_mean_initializer: Any = None,
    moving_variance_initializer: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
) -> Any:
    """Normalizes over all axes but the channels' (Ioffe and Szegedy, 2015).

    While training, updates of the moving averages are kept in `UPDATE_OPS`: run them with the step.

    Args:
        inputs: The values; channels along `axis`.
        axis: The channels' axis.
        momentum: Of the moving averages.
        epsilon: Added to the variance.
        center: Whether there is an offset `beta`.
        scale: Whether there is a factor `gamma`.
        beta_initializer: Zeros by default.
        gamma_initializer: Ones by default.
        moving_mean_initializer: Zeros by default.
        moving_variance_initializer: Ones by default.
        training: A Python bool, or a boolean tensor that decides when the graph runs.
        trainable: Whether optimizers train `beta` and `gamma`.
        name: Its variable scope.
        reuse: Share the variables of an earlier layer of that name.
    """
    inputs = convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    if rank is None:
        raise InvalidValueError("Input has undefined rank.")
    size = _last_dim(inputs, axis % rank - rank)
    dtype = inputs.dtype.base_dtype
    axes = [index for index in range(rank) if index != axis % rank]
    broadcast = [size if index == axis % rank else 1 for index in range(rank)]

    def variable(word: str, wanted: bool, initializer: Any, is_trainable: bool) -> Any:
        return get_variable(word, [size], dtype, initializer, trainable=is_trainable) if wanted else None

    with variable_scope(name, "batch_normalization", [inputs], reuse=reuse):
        gamma = variable("gamma", scale, gamma_initializer or Ones(), trainable)
        beta = variable("beta", center, beta_initializer or Zeros(), trainable)
        moving_mean = variable("moving_mean", True, moving_mean_initializer or Zeros(), False)
        moving_variance = variable("moving_variance", True, moving_variance_initializer or Ones(), False)
        mean, variance = nn_norm.moments(inputs, axes)
        used = [
            _either(training, new, old) for new, old in ((mean, moving_mean), (variance, moving_variance))
        ]
        if training is not False:
            for old, new in ((moving_mean, used[0]), (moving_variance, used[1])):
                rate = smart_cond(
                    training,
                    lambda: convert_to_tensor(1.0 - momentum, dtype),
                    lambda: convert_to_tensor(0.0, dtype),
                )
                add_to_collection(GraphKeys.UPDATE_OPS, old.assign_sub((old.value() - new) * rate))

        def shaped(value: Any) -> Any:
            return value if axis % rank == rank - 1 or value is None else tf_reshape(value, broadcast)

        return nn_norm.batch_normalization(
            inputs,
            shaped(used[0]),
            shaped(used[1]),
            shaped(beta.value() if beta is not None else None),
            shaped(gamma.value() if gamma is not None else None),
            epsilon,
        )


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "Layer", "average_pooling2d", "batch_normalization", "conv2d", "dense", "dropout", "flatten",
    "max_pooling2d",
]  # fmt: skip
