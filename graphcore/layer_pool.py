"""`tf.layers.MaxPooling1D` to `AveragePooling3D`.

Source: tensorflow/python/layers/pooling.py and keras/layers/pooling.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from .base_layer import Layer
from .errors import InvalidValueError
from .input_spec import InputSpec
from .layer_utils import (
    conv_output_length,
    convert_data_format,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)
from .op import raw_ops
from .ops.array_shape import transpose
from .ops.nn_conv3d import avg_pool3d, max_pool3d
from .ops.nn_pool import avg_pool, max_pool
from .tensor_shape import TensorShape


class _Pooling(Layer):
    """Windows along `rank` spatial axes, each as one number.

    Args:
        pool_size: Size of the window along each spatial axis, or one number for all.
        strides: The same for the steps.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        name: Name scope.
        kwargs: What `Layer` takes besides.

    Raises:
        ValueError: An argument is malformed.
    """

    rank = 2
    pool_function: Any = None

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        if strides is None:
            raise InvalidValueError("Argument `strides` must not be None.")
        self.pool_size = normalize_tuple(pool_size, self.rank, "pool_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _pool(self, inputs: Any, window: tuple[int, ...], steps: tuple[int, ...]) -> Any:
        """Pooling of images, channels last."""
        return type(self).pool_function(inputs, (1, *window, 1), (1, *steps, 1), self.padding.upper())

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the result for inputs of `input_shape`."""
        shape = TensorShape(input_shape).as_list()
        first = self.data_format == "channels_first"
        space = shape[2:] if first else shape[1:-1]
        lengths = [
            conv_output_length(size, window, self.padding, step)
            for size, window, step in zip(space, self.pool_size, self.strides)
        ]
        return TensorShape([*shape[:2], *lengths] if first else [shape[0], *lengths, shape[-1]])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        keys = ("pool_size", "strides", "padding", "data_format")
        return {**super().get_config(), **{key: getattr(self, key) for key in keys}}


class _Pooling1D(_Pooling):
    rank = 1

    def call(self, inputs: Any) -> Any:
        """The pooled sequences, as images of width 1."""
        axis = 2 if self.data_format == "channels_last" else 3
        images = raw_ops.ExpandDims(inputs, axis)
        if self.data_format == "channels_first":
            images = transpose(images, (0, 2, 3, 1))
        outputs = self._pool(images, (*self.pool_size, 1), (*self.strides, 1))
        if self.data_format == "channels_first":
            outputs = transpose(outputs, (0, 3, 1, 2))
        return raw_ops.Squeeze(outputs, squeeze_dims=[axis])


class _Pooling2D(_Pooling):
    rank = 2

    def call(self, inputs: Any) -> Any:
        """The pooled images."""
        if self.data_format == "channels_last":
            return self._pool(inputs, self.pool_size, self.strides)
        return type(self).pool_function(
            inputs, (1, 1, *self.pool_size), (1, 1, *self.strides), self.padding.upper(),
            data_format=convert_data_format(self.data_format, 4),
        )  # fmt: skip


class _Pooling3D(_Pooling):
    rank = 3

    def call(self, inputs: Any) -> Any:
        """The pooled volumes."""
        if self.data_format == "channels_last":
            return self._pool(inputs, self.pool_size, self.strides)
        outputs = self._pool(transpose(inputs, (0, 2, 3, 4, 1)), self.pool_size, self.strides)
        return transpose(outputs, (0, 4, 1, 2, 3))


class MaxPooling1D(_Pooling1D):
    """Maxima of (batch, length, channels), or channels first."""

    pool_function = staticmethod(max_pool)


class AveragePooling1D(_Pooling1D):
    """Means of (batch, length, channels), or channels first."""

    pool_function = staticmethod(avg_pool)


class MaxPooling2D(_Pooling2D):
    """Maxima of (batch, height, width, channels), or channels first."""

    pool_function = staticmethod(max_pool)


class AveragePooling2D(_Pooling2D):
    """Means of (batch, height, width, channels), or channels first."""

    pool_function = staticmethod(avg_pool)


class MaxPooling3D(_Pooling3D):
    """Maxima of (batch, depth, height, width, channels), or channels first."""

    pool_function = staticmethod(max_pool3d)


class AveragePooling3D(_Pooling3D):
    """Means of (batch, depth, height, width, channels), or channels first."""

    pool_function = staticmethod(avg_pool3d)
