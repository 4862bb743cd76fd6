"""`tf.layers.Dense`, `Dropout` and `Flatten`.

Source: tensorflow/python/layers/core.py and keras/layers/core.py (r1.15), behaviour only.
"""

from __future__ import annotations

import math
from typing import Any

from .base_layer import Layer
from .conditional import smart_cond
from .convert import convert_to_tensor
from .dtypes import as_dtype
from .errors import InvalidTypeError, InvalidValueError
from .input_spec import InputSpec
from .layer_utils import ZEROS, activation as activation_named, initializer, normalize_data_format
from .op import raw_ops
from .ops import nn
from .ops.array_shape import tf_reshape, tf_shape, transpose
from .ops.linalg_functions import tensordot
from .ops.math_unary import tf_cast
from .sparse import sparse_dense_matmul
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape, dimension_value


class Dense(Layer):
    """A fully connected layer: `activation(inputs @ kernel + bias)`.

    Args:
        units: Output channels.
        activation: Function of the result, its name, or None.
        use_bias: Whether there is a bias.
        kernel_initializer: Initializer of `kernel`, shape (channels, units); Glorot uniform by default.
        bias_initializer: Initializer of `bias`, shape (units,).
        kernel_regularizer: Function from the kernel to a loss.
        bias_regularizer: The same for the bias.
        activity_regularizer: The same for the result.
        kernel_constraint: Projection of the kernel after an update.
        bias_constraint: The same for the bias.
        trainable: Whether optimizers train it.
        name: Its variable scope.
        kwargs: `dtype`, and what `Layer` takes besides.
    """

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = int(units)
        self.activation = activation_named(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer(kernel_initializer)
        self.bias_initializer = initializer(bias_initializer)
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.input_spec = InputSpec(min_ndim=2)
        self.kernel: Any = None
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        """Makes `kernel` and `bias`.

        Raises:
            TypeError: The dtype is not floating point.
            ValueError: The number of input channels is not known.
        """
        dtype = as_dtype(self.dtype or "float32")
        if not (dtype.is_floating or dtype.is_complex):
            raise InvalidTypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype!r}")
        channels = dimension_value(TensorShape(input_shape)[-1])
        if channels is None:
            raise InvalidValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: channels})
        self.kernel = self.add_weight(
            "kernel", [channels, self.units], dtype, self.kernel_initializer,
            self.kernel_regularizer, True, self.kernel_constraint,
        )  # fmt: skip
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", [self.units], dtype, self.bias_initializer,
                self.bias_regularizer, True, self.bias_constraint,
            )  # fmt: skip
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The product."""
        rank = inputs.get_shape().ndims
        if rank > 2:
            outputs = tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.get_shape().as_list()[:-1], self.units])
        elif isinstance(inputs, SparseTensor):
            outputs = sparse_dense_matmul(inputs, self.kernel)
        else:
            outputs = raw_ops.MatMul(tf_cast(inputs, self.dtype), self.kernel)
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(..., units) for (..., channels).

        Raises:
            ValueError: The number of channels is not known, or the rank below 2.
        """
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if dimension_value(shape[-1]) is None:
            raise InvalidValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {input_shape}"
            )
        result: TensorShape = shape[:-1].concatenate(self.units)
        return result

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        keys = (
            "units", "activation", "use_bias", "kernel_initializer", "bias_initializer",
            "kernel_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
            "bias_constraint",
        )  # fmt: skip
        return {**super().get_config(), **{key: getattr(self, key) for key in keys}}


class Dropout(Layer):
    """Drops values with probability `rate` while training, and scales the others up.

    Args:
        rate: The probability.
        noise_shape: Shape of the choices, broadcast to that of the inputs; None in it is as there.
        seed: Op seed.
        name: Name scope.
        kwargs: What `Layer` takes besides.
    """

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def _get_noise_shape(self, inputs: Any) -> Any:
        if not isinstance(self.noise_shape, (list, tuple)):
            return self.noise_shape
        sizes = tf_shape(inputs)
        return convert_to_tensor(
            [sizes[axis] if size is None else size for axis, size in enumerate(self.noise_shape)]
        )

    def call(self, inputs: Any, training: Any = False) -> Any:
        """The values; `training` is a Python bool, or a boolean tensor that decides when the graph runs."""

        def dropped() -> Any:
            noise_shape = self._get_noise_shape(inputs)
            return nn.dropout(inputs, noise_shape=noise_shape, seed=self.seed, rate=self.rate)

        return smart_cond(training, dropped, lambda: raw_ops.Identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the inputs."""
        return input_shape

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        own = {"rate": self.rate, "noise_shape": self.noise_shape, "seed": self.seed}
        return {**super().get_config(), **own}


class Flatten(Layer):
    """All but the first axis in one: shape (batch, n).

    Args:
        data_format: "channels_last"; where it is "channels_first" channels are moved to the end before.
        kwargs: What `Layer` takes.
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format or "channels_last")
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Any:
        """The values in two axes."""
        rank = inputs.get_shape().ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = transpose(inputs, [0, *range(2, rank), 1])
        static = inputs.get_shape()
        if static[1:].is_fully_defined():
            outputs = tf_reshape(inputs, [-1, math.prod(static.as_list()[1:])])
        else:
            outputs = tf_reshape(inputs, [dimension_value(static[0]) or tf_shape(inputs)[0], -1])
        outputs.set_shape(self.compute_output_shape(static))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """(batch, n), n the product of the other sizes where they are known."""
        shape = TensorShape(input_shape).as_list()
        rest = shape[1:]
        return TensorShape([shape[0], None if None in rest else math.prod(rest)])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "data_format": self.data_format}
