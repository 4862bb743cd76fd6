"""Functions of numbers that are programs over ops: counts, variances, saturating casts.

Source: tensorflow/python/ops/math_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import as_dtype, complex64, complex128, float32, float64, int64
from ..errors import InvalidTypeError, InvalidValueError
from ..indexed_slices import IndexedSlices
from ..op import raw_ops
from .array_create import zeros
from .array_functions import either
from .math_unary import tf_cast
from .reduction import reduce_mean, reduce_sum


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """`value` converted to `dtype`, what does not fit brought to its limits."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        dtype = as_dtype(dtype).base_dtype
        kind = value.dtype.base_dtype
        if kind.min < dtype.min:
            value = raw_ops.Maximum(value, convert_to_tensor(dtype.min, kind, name="min"))
        if kind.max > dtype.max:
            value = raw_ops.Minimum(value, convert_to_tensor(dtype.max, kind, name="max"))
        return tf_cast(value, dtype, name=scope)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor or IndexedSlices.

    Raises:
        ValueError: `scalar` is not a scalar.
    """
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.get_shape().ndims != 0:
        raise InvalidValueError(f"Only scalar multiply works, got shape {scalar.get_shape()}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(raw_ops.Mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return raw_ops.Mul(scalar, x, name=name)


def complex_of(real: Any, imag: Any, name: str | None = None) -> Any:
    """`tf.complex`: complex64 of two float32 tensors, complex128 of two of float64.

    Raises:
        TypeError: They are not both of one of these.
    """
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    wide = {float32: complex64, float64: complex128}
    with name_scope(name, "Complex", [real, imag]) as scope:
        kind = real.dtype.base_dtype
        if kind not in wide or imag.dtype.base_dtype != kind:
            raise InvalidTypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return raw_ops.Complex(real, imag, Tout=wide[kind], name=scope)


def count_nonzero(
    input_tensor: Any = None,
    axis: Any = None,
    keepdims: bool | None = None,
    dtype: Any = int64,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: bool | None = None,
    input: Any = None,
) -> Any:
    """How many elements are not zero (strings: not empty) along axes.

    Args:
        input_tensor: Numeric, bool or string tensor.
        axis: The axes; all by default.
        keepdims: Whether the reduced axes stay, with size 1.
        dtype: The dtype of the result.
        name: Name scope.
        reduction_indices: Older name of `axis`.
        keep_dims: Older name of `keepdims`.
        input: Newer name of `input_tensor`.
    """
    keepdims = bool(either(keepdims, keep_dims, "keepdims", "keep_dims"))
    value = either(input, input_tensor, "input", "input_tensor")
    axis = either(axis, reduction_indices, "axis", "reduction_indices")
    with name_scope(name, "count_nonzero", [value]):
        value = convert_to_tensor(value, name="input")
        differs = raw_ops.NotEqual(value, zeros([], dtype=value.dtype))
        return tf_cast(reduce_sum(tf_cast(differs, int64), axis=axis, keepdims=keepdims), dtype)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean squared distance from the mean, along axes (all by default)."""
    with name_scope(name or "reduce_variance"):
        input_tensor = convert_to_tensor(input_tensor)
        means = reduce_mean(input_tensor, axis=axis, keepdims=True)
        return reduce_mean(raw_ops.Square(input_tensor - means), axis=axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The square root of `reduce_variance`."""
    with name_scope(name or "reduce_std"):
        return raw_ops.Sqrt(reduce_variance(input_tensor, axis=axis, keepdims=keepdims))


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """The quotient x / y, and 0 where y is 0.

    Raises:
        TypeError: The dtypes differ.
    """
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if x.dtype.base_dtype != y.dtype.base_dtype:
            raise InvalidTypeError(
                f"x and y must have the same dtype, got {x.dtype.base_dtype!r} != {y.dtype.base_dtype!r}"
            )
        return raw_ops.DivNoNan(x, y, name=scope)


def reciprocal_no_nan(x: Any, name: str | None = None) -> Any:
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = constant(1, dtype=x.dtype.base_dtype, name="one")
        return raw_ops.DivNoNan(one, x, name=scope)


def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """log(1 / (1 + exp(-x))), computed as -softplus(-x)."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return raw_ops.Neg(raw_ops.Softplus(-x), name=scope)
