"""`tf.layers`: layers as classes and as functions, with their variables.

Variables and operations have TensorFlow's names: `dense/kernel`, `dense/bias`, `dense/MatMul`, ...

Source: tensorflow/python/layers (r1.15), behaviour only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import layers_experimental as experimental, not_yet
from .base_layer import Layer
from .input_spec import InputSpec
from .layer_conv import (
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    SeparableConv1D,
    SeparableConv2D,
)
from .layer_dense import Dense, Dropout, Flatten
from .layer_norm import BatchNormalization
from .layer_pool import (
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
)
from .layer_utils import ONES, ZEROS


def _function(layer: type[Layer], name: str) -> Callable[..., Any]:
    """A layer as a function of `inputs`, the arguments of the class, and `reuse` where it has variables."""
    kinds = inspect.Parameter
    own = [
        item
        for item in inspect.signature(layer.__init__).parameters.values()
        if item.name != "self" and item.kind is not kinds.VAR_KEYWORD
    ]
    has_variables = any(item.name == "trainable" for item in own)
    parameters = [kinds("inputs", kinds.POSITIONAL_OR_KEYWORD), *own]
    if has_variables:
        parameters.append(kinds("reuse", kinds.POSITIONAL_OR_KEYWORD, default=None))
    signature = inspect.Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = dict(bound.arguments)
        inputs = given.pop("inputs")
        if has_variables:
            given.update(_reuse=given.pop("reuse", None), _scope=given.get("name"))
        return layer(**given).apply(inputs)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = f"""`tf.layers.{layer.__name__}` applied to `inputs`; see there for the arguments.

    Args:
        inputs: The inputs.
        {"reuse: Share the variables of an earlier layer of that `name`." if has_variables else ""}
    """.rstrip()
    return function


dense = _function(Dense, "dense")
conv1d, conv2d, conv3d = _function(Conv1D, "conv1d"), _function(Conv2D, "conv2d"), _function(Conv3D, "conv3d")
conv2d_transpose = _function(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = _function(Conv3DTranspose, "conv3d_transpose")
separable_conv1d = _function(SeparableConv1D, "separable_conv1d")
separable_conv2d = _function(SeparableConv2D, "separable_conv2d")
max_pooling1d = _function(MaxPooling1D, "max_pooling1d")
max_pooling2d = _function(MaxPooling2D, "max_pooling2d")
max_pooling3d = _function(MaxPooling3D, "max_pooling3d")
average_pooling1d = _function(AveragePooling1D, "average_pooling1d")
average_pooling2d = _function(AveragePooling2D, "average_pooling2d")
average_pooling3d = _function(AveragePooling3D, "average_pooling3d")


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """All but the first axis in one: shape (batch, n); see `Flatten`."""
    return Flatten(name=name, data_format=data_format).apply(inputs)


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
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = ZEROS,
    gamma_initializer: Any = ONES,
    moving_mean_initializer: Any = ZEROS,
    moving_variance_initializer: Any = ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Callable[[Any], tuple[Any, Any]] | None = None,
) -> Any:
    """Normalizes over all axes but the channels'; see `BatchNormalization` for its arguments.

    `training` is a Python bool, or a boolean tensor that decides when the graph runs. While training,
    updates of the moving averages are kept in `UPDATE_OPS`: run them with the step. `reuse` shares the
    variables of an earlier layer of that name.
    """
    layer = BatchNormalization(
        axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer, moving_mean_initializer,
        moving_variance_initializer, beta_regularizer, gamma_regularizer, beta_constraint, gamma_constraint,
        renorm, renorm_clipping, renorm_momentum, fused, trainable, virtual_batch_size, adjustment, name,
        _reuse=reuse, _scope=name,
    )  # fmt: skip
    return layer.apply(inputs, training=training)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "BatchNormalization", "Conv1D", "Conv2D",
    "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dense", "Dropout", "Flatten", "InputSpec", "Layer",
    "MaxPooling1D", "MaxPooling2D", "MaxPooling3D", "SeparableConv1D", "SeparableConv2D",
    "average_pooling1d", "average_pooling2d", "average_pooling3d", "batch_normalization", "conv1d",
    "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "dense", "dropout", "experimental",
    "flatten", "max_pooling1d", "max_pooling2d", "max_pooling3d", "separable_conv1d", "separable_conv2d",
]  # fmt: skip
