"""`tf.layers.Conv1D` to `Conv3D`, their transposes, and separable convolutions.

Source: tensorflow/python/layers/convolutional.py and keras/layers/convolutional.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .base_layer import Layer
from .errors import InvalidValueError
from .input_spec import InputSpec
from .layer_utils import (
    ZEROS,
    activation as activation_named,
    conv_output_length,
    convert_data_format,
    deconv_output_length,
    initializer,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)
from .op import raw_ops
from .ops import nn
from .ops.array_join import stack
from .ops.array_shape import tf_reshape, tf_shape, transpose
from .ops.nn_conv import apply_convolution, conv2d_transpose, separable_conv2d
from .ops.nn_conv3d import conv3d_transpose
from .tensor_shape import TensorShape, dimension_value


class _Conv(Layer):
    """What all convolutions share; `rank` is the number of spatial axes."""

    rank = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
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
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, self.rank, "dilation_rate")
        self.activation = activation_named(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializer(kernel_initializer)
        self.bias_initializer = initializer(bias_initializer)
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.input_spec = InputSpec(ndim=self.rank + 2)
        self.kernel: Any = None
        self.bias: Any = None

    @property
    def _channel_axis(self) -> int:
        return 1 if self.data_format == "channels_first" else -1

    @property
    def _format(self) -> str:
        """TensorFlow's name of the data format."""
        return convert_data_format(self.data_format, self.rank + 2)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels, self.filters)

    def _build_kernels(self, channels: int) -> None:
        self.kernel = self.add_weight(
            "kernel", self._kernel_shape(channels), self.dtype, self.kernel_initializer,
            self.kernel_regularizer, True, self.kernel_constraint,
        )  # fmt: skip

    def build(self, input_shape: Any) -> None:
        """Makes the variables.

        Raises:
            ValueError: The number of input channels is not known.
        """
        shape = TensorShape(input_shape)
        if shape.ndims != self.rank + 2:
            raise InvalidValueError(
                f"Inputs should have rank {self.rank + 2}. Received input shape: {input_shape}"
            )
        channels = dimension_value(shape[self._channel_axis])
        if channels is None:
            raise InvalidValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self._build_kernels(channels)
        if self.use_bias:
            self.bias = self.add_weight(
                "bias", (self.filters,), self.dtype, self.bias_initializer,
                self.bias_regularizer, True, self.bias_constraint,
            )  # fmt: skip
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: channels})
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The convolution."""
        outputs = apply_convolution(
            inputs, self.kernel, self.padding.upper(), self.strides, self.dilation_rate, self._format
        )
        if self.use_bias and self.rank == 1 and self.data_format == "channels_first":
            outputs = outputs + tf_reshape(self.bias, (1, self.filters, 1))
            return outputs if self.activation is None else self.activation(outputs)
        return self._finished(outputs)

    def _finished(self, outputs: Any) -> Any:
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias, convert_data_format(self.data_format, 4))
        return outputs if self.activation is None else self.activation(outputs)

    def _length(self, size: Any, axis: int) -> Any:
        return conv_output_length(
            size, self.kernel_size[axis], self.padding, self.strides[axis], self.dilation_rate[axis]
        )

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the result for inputs of `input_shape`."""
        shape = TensorShape(input_shape).as_list()
        first = self.data_format == "channels_first"
        space = shape[2:] if first else shape[1:-1]
        lengths = [self._length(size, axis) for axis, size in enumerate(space)]
        return TensorShape(
            [shape[0], self.filters, *lengths] if first else [shape[0], *lengths, self.filters]
        )

    _config_keys: tuple[str, ...] = (
        "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
        "use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer", "bias_regularizer",
        "activity_regularizer", "kernel_constraint", "bias_constraint",
    )  # fmt: skip

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), **{key: getattr(self, key) for key in self._config_keys}}


class Conv2D(_Conv):
    """A convolution of (batch, height, width, channels), or channels first.

    Args:
        filters: Output channels.
        kernel_size: Size of the kernel along each spatial axis, or one number for all.
        strides: The same for the steps.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        dilation_rate: As `kernel_size`, for the dilation; 1 where the steps are not.
        activation: Function of the result, its name, or None.
        use_bias: Whether there is a bias.
        kernel_initializer: Initializer of `kernel`, shape (height, width, channels, filters); Glorot
            uniform by default.
        bias_initializer: Initializer of `bias`, shape (filters,).
        kernel_regularizer: Function from the kernel to a loss.
        bias_regularizer: The same for the bias.
        activity_regularizer: The same for the result.
        kernel_constraint: Projection of the kernel after an update.
        bias_constraint: The same for the bias.
        trainable: Whether optimizers train it.
        name: Its variable scope.
        kwargs: `dtype`, and what `Layer` takes besides.

    Raises:
        ValueError: An argument is malformed; at the call, the number of input channels is not known, or the
            rank of the inputs another.
    """

    rank = 2


class Conv1D(_Conv):
    """A convolution of (batch, length, channels), or channels first; see `Conv2D` for the arguments."""

    rank = 1


class Conv3D(_Conv):
    """A convolution of (batch, depth, height, width, channels), or channels first; see `Conv2D`."""

    rank = 3


class _ConvTranspose(_Conv):
    """What transposed convolutions share: the gradient of a convolution, used forwards."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
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
        super().__init__(
            filters, kernel_size, strides, padding, data_format, 1, activation, use_bias, kernel_initializer,
            bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
            bias_constraint, trainable, name, **kwargs,
        )  # fmt: skip

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _length(self, size: Any, axis: int) -> Any:
        return deconv_output_length(size, self.kernel_size[axis], self.padding, self.strides[axis])

    def _output_shape(self, inputs: Any) -> Any:
        """The shape of the result as a tensor."""
        sizes = tf_shape(inputs)
        batch = sizes[0]
        first = 2 if self.data_format == "channels_first" else 1
        space = [sizes[first + axis] for axis in range(self.rank)]
        lengths = [self._length(size, axis) for axis, size in enumerate(space)]
        if self.data_format == "channels_first":
            return stack([batch, self.filters, *lengths])
        return stack([batch, *lengths, self.filters])

    _config_keys = tuple(key for key in _Conv._config_keys if key != "dilation_rate")


class Conv2DTranspose(_ConvTranspose):
    """A transposed convolution of (batch, height, width, channels), or channels first.

    See `Conv2D` for the arguments; the kernel is (height, width, filters, channels).
    """

    rank = 2

    def call(self, inputs: Any) -> Any:
        """The transposed convolution."""
        wanted = self._output_shape(inputs)
        first = self.data_format == "channels_first"
        # Channels last in between, which TensorFlow can compute everywhere.
        if first:
            inputs = transpose(inputs, (0, 2, 3, 1))
            wanted = stack([wanted[0], wanted[2], wanted[3], wanted[1]])
        outputs = conv2d_transpose(
            inputs, self.kernel, wanted, (1, *self.strides, 1), self.padding.upper(), "NHWC"
        )
        if first:
            outputs = transpose(outputs, (0, 3, 1, 2))
            inputs = transpose(inputs, (0, 3, 1, 2))
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return self._finished(outputs)


class Conv3DTranspose(_ConvTranspose):
    """A transposed convolution of (batch, depth, height, width, channels), or channels first.

    See `Conv2D` for the arguments; the kernel is (depth, height, width, filters, channels).
    """

    rank = 3

    def call(self, inputs: Any) -> Any:
        """The transposed convolution."""
        steps = (1, 1, *self.strides) if self.data_format == "channels_first" else (1, *self.strides, 1)
        outputs = conv3d_transpose(
            inputs, self.kernel, self._output_shape(inputs), steps, self.padding.upper(), self._format
        )
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return self._finished(outputs)


class _SeparableConv(_Conv):
    """What separable convolutions share: one for each channel, then one with a kernel of size 1."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = ZEROS,
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, None,
            bias_initializer, None, bias_regularizer, activity_regularizer, None, bias_constraint, trainable,
            name, **kwargs,
        )  # fmt: skip
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializer(depthwise_initializer)
        self.pointwise_initializer = initializer(pointwise_initializer)
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint
        self.depthwise_kernel: Any = None
        self.pointwise_kernel: Any = None

    def _build_kernels(self, channels: int) -> None:
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", (*self.kernel_size, channels, self.depth_multiplier), self.dtype,
            self.depthwise_initializer, self.depthwise_regularizer, True, self.depthwise_constraint,
        )  # fmt: skip
        shape = (*[1] * self.rank, self.depth_multiplier * channels, self.filters)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", shape, self.dtype,
            self.pointwise_initializer, self.pointwise_regularizer, True, self.pointwise_constraint,
        )  # fmt: skip

    _config_keys = (
        *[key for key in _Conv._config_keys if not key.startswith("kernel_") or key == "kernel_size"],
        "depth_multiplier", "depthwise_initializer", "pointwise_initializer", "depthwise_regularizer",
        "pointwise_regularizer", "depthwise_constraint", "pointwise_constraint",
    )  # fmt: skip


class SeparableConv1D(_SeparableConv):
    """A separable convolution of (batch, length, channels), or channels first.

    See `Conv2D` and `SeparableConv2D` for the arguments.
    """

    rank = 1

    def call(self, inputs: Any) -> Any:
        """The convolutions, as of images of height 1."""
        first = self.data_format == "channels_first"
        axis = 2 if first else 1
        outputs = separable_conv2d(
            raw_ops.ExpandDims(inputs, axis),
            raw_ops.ExpandDims(self.depthwise_kernel, 0),
            raw_ops.ExpandDims(self.pointwise_kernel, 0),
            (1, 1, *self.strides * 2) if first else (1, *self.strides * 2, 1),
            self.padding.upper(),
            (1, *self.dilation_rate),
            data_format=convert_data_format(self.data_format, 4),
        )
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias, convert_data_format(self.data_format, 4))
        outputs = raw_ops.Squeeze(outputs, squeeze_dims=[axis])
        return outputs if self.activation is None else self.activation(outputs)


class SeparableConv2D(_SeparableConv):
    """A separable convolution of (batch, height, width, channels), or channels first.

    See `Conv2D` for the arguments that are not here.

    Args:
        depth_multiplier: How many results each channel has in between.
        depthwise_initializer: Initializer of `depthwise_kernel`, (height, width, channels, multiplier).
        pointwise_initializer: Initializer of `pointwise_kernel`, (1, 1, channels * multiplier, filters).
        depthwise_regularizer: Function from the one to a loss.
        pointwise_regularizer: Function from the other to a loss.
        depthwise_constraint: Projection of the one after an update.
        pointwise_constraint: Projection of the other after an update.
    """

    rank = 2

    def call(self, inputs: Any) -> Any:
        """The convolutions."""
        steps = (1, 1, *self.strides) if self.data_format == "channels_first" else (1, *self.strides, 1)
        outputs = separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, steps, self.padding.upper(),
            self.dilation_rate, data_format=self._format,
        )  # fmt: skip
        return self._finished(outputs)
