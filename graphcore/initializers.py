"""Initializers of variables: objects that give a tensor for a shape and dtype.

Source: tensorflow/python/ops/init_ops.py (r1.15), behaviour only; the scaling rules are those of
Glorot and Bengio (2010), He et al. (2015), LeCun et al. (1998) and Saxe et al. (2014).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import not_yet
from .convert import constant as tf_constant
from .dtypes import DType, as_dtype, float32
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops import array_create, random
from .ops.array_shape import matrix_transpose, tf_reshape
from .ops.array_slice import tf_slice
from .variables import (
    global_variables_initializer as global_variables,
    local_variables_initializer as local_variables,
    tables_initializer,
    variables_initializer as variables,
)


class Initializer:
    """Base of all initializers: `initializer(shape, dtype=None, partition_info=None)` gives a tensor."""

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """A tensor of `shape` and `dtype`."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """What it was made with."""
        return {key: getattr(value, "name", value) for key, value in self.__dict__.items() if key[0] != "_"}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """An initializer made with `config`."""
        return cls(**config)


def _float_dtype(dtype: Any) -> DType:
    """The dtype.

    Raises:
        ValueError: It is not floating point.
    """
    found = as_dtype(dtype)
    if not found.is_floating:
        raise InvalidValueError(f"Expected floating point type, got {found}.")
    return found


class Zeros(Initializer):
    """All 0."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Zeros."""
        return array_create.zeros(shape, dtype or self.dtype)


class Ones(Initializer):
    """All 1."""

    def __init__(self, dtype: Any = float32) -> None:
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Ones."""
        return array_create.ones(shape, dtype or self.dtype)


class Constant(Initializer):
    """A constant, or the values of a list or array in order.

    Args:
        value: A scalar, or a list or array; shorter ones are filled up with their last element.
        dtype: The element type where the call names none.
        verify_shape: Refuse values of another shape.
    """

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise InvalidTypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple "
                "of values, or numpy.ndarray)."
            )
        self.value = value
        self.dtype = as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None, verify_shape: bool | None = None
    ) -> Any:
        """The values in `shape`."""
        verify = self._verify_shape if verify_shape is None else verify_shape
        return tf_constant(self.value, dtype or self.dtype, shape, verify_shape=verify)


class RandomUniform(Initializer):
    """Uniform between `minval` and `maxval` (default 1 for integers)."""

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: int | None = None, dtype: Any = float32
    ) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Random values."""
        return random.random_uniform(shape, self.minval, self.maxval, dtype or self.dtype, seed=self.seed)


class RandomNormal(Initializer):
    """Normal with the given mean and standard deviation."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = float32
    ) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Random values."""
        return random.random_normal(shape, self.mean, self.stddev, dtype or self.dtype, seed=self.seed)


class TruncatedNormal(Initializer):
    """Normal, values beyond two standard deviations drawn again."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: Any = float32
    ) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Random values."""
        return random.truncated_normal(shape, self.mean, self.stddev, dtype or self.dtype, seed=self.seed)


# The standard deviation of a normal truncated at two of its own
_TRUNCATED_STDDEV = 0.87962566103423978


def compute_fans(shape: Sequence[int]) -> tuple[float, float]:
    """Inputs and outputs a unit: (fan_in, fan_out) of a weight of this shape."""
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    if len(shape) == 2:
        return shape[0], shape[1]
    receptive = math.prod(shape[:-2])
    return shape[-2] * receptive, shape[-1] * receptive


class VarianceScaling(Initializer):
    """Scaled to the number of inputs and outputs.

    Args:
        scale: Factor of the variance.
        mode: "fan_in", "fan_out" or "fan_avg".
        distribution: "normal" or "truncated_normal", "untruncated_normal", "uniform".
        seed: Op seed.
        dtype: The element type where the call names none.

    Raises:
        ValueError: An argument is not one of those.
    """

    def __init__(
        self,
        scale: float = 1.0,
        mode: str = "fan_in",
        distribution: str = "truncated_normal",
        seed: int | None = None,
        dtype: Any = float32,
    ) -> None:
        if scale <= 0.0:
            raise InvalidValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise InvalidValueError(f"Invalid `mode` argument: {mode}")
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise InvalidValueError(f"Invalid `distribution` argument: {distribution}")
        self.scale, self.mode, self.distribution, self.seed, self.dtype = (
            scale,
            mode,
            distribution,
            seed,
            _float_dtype(dtype),
        )

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Random values."""
        dtype = dtype or self.dtype
        full = shape if partition_info is None else partition_info.full_shape
        fan_in, fan_out = compute_fans([int(dim) for dim in full])
        divisor = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        scale = self.scale / max(1.0, divisor)
        if self.distribution in ("normal", "truncated_normal"):
            return random.truncated_normal(
                shape, 0.0, math.sqrt(scale) / _TRUNCATED_STDDEV, dtype, seed=self.seed
            )
        if self.distribution == "untruncated_normal":
            return random.random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return random.random_uniform(shape, -limit, limit, dtype, seed=self.seed)


class UniformUnitScaling(Initializer):
    """Uniform, keeping the scale of the input (old)."""

    def __init__(self, factor: float = 1.0, seed: int | None = None, dtype: Any = float32) -> None:
        self.factor, self.seed, self.dtype = factor, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Random values."""
        full = shape if partition_info is None else partition_info.full_shape
        size = max(1, math.prod(int(dim) for dim in full[:-1]))
        limit = math.sqrt(3 / size) * self.factor
        return random.random_uniform(shape, -limit, limit, dtype or self.dtype, seed=self.seed)


class Orthogonal(Initializer):
    """A matrix of orthonormal rows or columns, by the QR decomposition of a normal one; times `gain`.

    A shape of more dimensions is that of a matrix whose rows are all axes but the last.
    """

    def __init__(self, gain: float = 1.0, seed: int | None = None, dtype: Any = float32) -> None:
        self.gain, self.seed, self.dtype = gain, seed, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """Random values.

        Raises:
            ValueError: The shape has fewer than two dimensions.
        """
        if len(shape) < 2:
            raise InvalidValueError("The tensor to initialize must be at least two-dimensional")
        rows, columns = math.prod(int(dim) for dim in shape[:-1]), int(shape[-1])
        tall = (max(rows, columns), min(rows, columns))
        q, r = raw_ops.Qr(
            random.random_normal(tall, dtype=dtype or self.dtype, seed=self.seed), full_matrices=False
        )
        # Uniform over all such matrices once the diagonal of r is positive (Mezzadri, 2007).
        q = q * raw_ops.Sign(raw_ops.DiagPart(r))
        if rows < columns:
            q = matrix_transpose(q)
        return self.gain * tf_reshape(q, shape)


class Identity(Initializer):
    """The identity matrix times `gain`."""

    def __init__(self, gain: float = 1.0, dtype: Any = float32) -> None:
        self.gain, self.dtype = gain, _float_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        """The matrix.

        Raises:
            ValueError: The shape is not that of a matrix.
        """
        full = shape if partition_info is None else partition_info.full_shape
        if len(full) != 2:
            raise InvalidValueError("Identity matrix initializer can only be used for 2D matrices.")
        matrix = array_create.eye(int(full[0]), int(full[1]), dtype=dtype or self.dtype)
        if partition_info is not None:
            matrix = tf_slice(matrix, partition_info.var_offset, shape)
        return self.gain * matrix


class GlorotUniform(VarianceScaling):
    """Uniform with variance 2 / (fan_in + fan_out); Xavier."""

    def __init__(self, seed: int | None = None, dtype: Any = float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """What it was made with."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class GlorotNormal(VarianceScaling):
    """Truncated normal with variance 2 / (fan_in + fan_out)."""

    def __init__(self, seed: int | None = None, dtype: Any = float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """What it was made with."""
        return {"seed": self.seed, "dtype": self.dtype.name}


def he_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal with variance 2 / fan_in."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform with variance 2 / fan_in."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> VarianceScaling:
    """Truncated normal with variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> VarianceScaling:
    """Uniform with variance 1 / fan_in."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


# TensorFlow's names: tf.initializers.* and tf.*_initializer
zeros = zeros_initializer = Zeros
ones = ones_initializer = Ones
constant = constant_initializer = Constant
random_uniform = random_uniform_initializer = RandomUniform
random_normal = random_normal_initializer = RandomNormal
truncated_normal = truncated_normal_initializer = TruncatedNormal
variance_scaling = variance_scaling_initializer = VarianceScaling
uniform_unit_scaling = uniform_unit_scaling_initializer = UniformUnitScaling
identity = Identity
orthogonal = orthogonal_initializer = Orthogonal
glorot_uniform = glorot_uniform_initializer = GlorotUniform
glorot_normal = glorot_normal_initializer = GlorotNormal


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "constant", "constant_initializer", "global_variables", "glorot_normal", "glorot_normal_initializer",
    "glorot_uniform", "glorot_uniform_initializer", "he_normal", "he_uniform", "identity", "lecun_normal",
    "lecun_uniform", "local_variables", "ones", "ones_initializer", "orthogonal",
    "orthogonal_initializer", "random_normal", "random_normal_initializer", "random_uniform",
    "random_uniform_initializer", "tables_initializer", "truncated_normal",
    "truncated_normal_initializer", "uniform_unit_scaling", "uniform_unit_scaling_initializer",
    "variables", "variance_scaling", "variance_scaling_initializer", "zeros", "zeros_initializer",
]  # fmt: skip
