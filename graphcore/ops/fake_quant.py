"""Quantization that is only simulated: FakeQuant, QuantizeAndDequantize, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import FLOATING
from ..errors import InvalidValueError
from ..kernels import fake_quant as kernels
from ..op import op
from ..shapes import Shape, merge, merge_dims, with_rank, with_rank_at_least
from . import rules

_BITS = ("num_bits: int = 8", "narrow_range: bool = false")
_RANGE = ("min: float = -6.0", "max: float = 6.0")
_NONE = "TensorFlow stops at the gradient of this op"
_KEYS = ("num_bits", "narrow_range")


def _attrs(node: Any, keys: tuple[str, ...] = _KEYS) -> dict[str, Any]:
    return {key: node.attr(key) for key in keys}


# One range for all, as attributes


@op("FakeQuantWithMinMaxArgs", "inputs: float32 -> outputs: float32", *_RANGE, *_BITS)
def fake_quant_with_min_max_args(
    inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    """The nearest of 2**num_bits steps between min and max."""
    kernels.check_range(min, max)
    return kernels.fake_quant(inputs, kernels.steps(min, max, num_bits, narrow_range))


@op(
    "FakeQuantWithMinMaxArgsGradient",
    "gradients: float32, inputs: float32 -> backprops: float32",
    *_RANGE,
    *_BITS,
    no_grad=_NONE,
)
def fake_quant_with_min_max_args_gradient(
    gradients: Any, inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    """The gradient where the inputs are within the range, else 0."""
    kernels.check_range(min, max)
    at = kernels.steps(min, max, num_bits, narrow_range)
    return kernels.fake_quant_grad(gradients, inputs, at)[0]


fake_quant_with_min_max_args.shape(rules.unchanged)
fake_quant_with_min_max_args_gradient.shape(rules.merge_inputs)


@fake_quant_with_min_max_args.grad
def _(node: Any, dy: Any) -> Any:
    return fake_quant_with_min_max_args_gradient(
        dy, node.inputs[0], **_attrs(node, ("min", "max", "num_bits", "narrow_range"))
    )


# One range for all, as inputs


@op("FakeQuantWithMinMaxVars", "inputs: float32, min: float32, max: float32 -> outputs: float32", *_BITS)
def fake_quant_with_min_max_vars(
    inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    """The nearest of 2**num_bits steps between min and max; zeros where both are 0."""
    return kernels.fake_quant(inputs, kernels.steps(min, max, num_bits, narrow_range))


@fake_quant_with_min_max_vars.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(1), 0)
    with_rank(node.shape(2), 0)
    shape: Shape = node.shape(0)
    return shape


@op(
    "FakeQuantWithMinMaxVarsGradient",
    "gradients: float32, inputs: float32, min: float32, max: float32 -> "
    "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
    *_BITS,
    no_grad=_NONE,
)
def fake_quant_with_min_max_vars_gradient(
    gradients: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> tuple[Any, Any, Any]:
    """The gradient within the range, and the sums of what lies below and above it."""
    at = kernels.steps(min, max, num_bits, narrow_range)
    inside, below, above = kernels.fake_quant_grad(gradients, inputs, at)
    return inside, np.asarray(below.sum(dtype=np.float32)), np.asarray(above.sum(dtype=np.float32))


@fake_quant_with_min_max_vars_gradient.shape
def _(node: Any) -> list[Shape]:
    scalar = merge(with_rank(node.shape(2), 0), node.shape(3))
    return [merge(node.shape(0), node.shape(1)), scalar, scalar]


@fake_quant_with_min_max_vars.grad
def _(node: Any, dy: Any) -> Any:
    return list(fake_quant_with_min_max_vars_gradient(dy, *node.inputs, **_attrs(node)))


# A range for each channel


@op(
    "FakeQuantWithMinMaxVarsPerChannel",
    "inputs: float32, min: float32, max: float32 -> outputs: float32",
    *_BITS,
)
def fake_quant_with_min_max_vars_per_channel(
    inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> Any:
    """As FakeQuantWithMinMaxVars, with a range for each place in the last dimension."""
    kernels.check_channels(inputs.shape, min, max)
    return kernels.fake_quant(inputs, kernels.steps(min, max, num_bits, narrow_range))


@fake_quant_with_min_max_vars_per_channel.shape
def _(node: Any) -> Shape:
    shape = with_rank_at_least(node.shape(0), 1)
    for index in (1, 2):
        (size,) = with_rank(node.shape(index), 1)
        if shape is not None:
            merge_dims(shape[-1], size)
    return shape


@op(
    "FakeQuantWithMinMaxVarsPerChannelGradient",
    "gradients: float32, inputs: float32, min: float32, max: float32 -> "
    "backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32",
    *_BITS,
    no_grad=_NONE,
)
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Any, inputs: Any, min: Any, max: Any, *, num_bits: int, narrow_range: bool
) -> tuple[Any, Any, Any]:
    """As FakeQuantWithMinMaxVarsGradient, with sums for each place in the last dimension."""
    kernels.check_channels(inputs.shape, min, max)
    at = kernels.steps(min, max, num_bits, narrow_range)
    inside, below, above = kernels.fake_quant_grad(gradients, inputs, at)
    axes = tuple(range(inputs.ndim - 1))
    return inside, below.sum(axes, dtype=np.float32), above.sum(axes, dtype=np.float32)


@fake_quant_with_min_max_vars_per_channel_gradient.shape
def _(node: Any) -> list[Shape]:
    shape = with_rank_at_least(node.shape(0), 1)
    if shape is not None and len(shape) > 4:
        raise InvalidValueError(f"Shape must be at most rank 4 but is rank {len(shape)}")
    shape = merge(shape, node.shape(1))
    size = merge(with_rank(node.shape(2), 1), None if shape is None else (shape[-1],))
    size = merge(node.shape(3), size)
    return [shape, size, size]


@fake_quant_with_min_max_vars_per_channel.grad
def _(node: Any, dy: Any) -> Any:
    return list(fake_quant_with_min_max_vars_per_channel_gradient(dy, *node.inputs, **_attrs(node)))


# Quantize and dequantize: the gradient goes straight through

_SIGNED = "signed_input: bool = true"


@op(
    "QuantizeAndDequantize",
    "input: T -> output: T",
    _SIGNED,
    "num_bits: int = 8",
    "range_given: bool = false",
    "input_min: float = 0.0",
    "input_max: float = 0.0",
    T=FLOATING,
)
def quantize_and_dequantize_op(
    input: Any, *, signed_input: bool, num_bits: int, range_given: bool, input_min: float, input_max: float
) -> Any:
    """Rounded to the nearest of 2**num_bits steps."""
    return kernels.quantize_and_dequantize(
        input, input_min, input_max, signed=signed_input, num_bits=num_bits, range_given=range_given
    )


@op(
    "QuantizeAndDequantizeV2",
    "input: T, input_min: T, input_max: T -> output: T",
    _SIGNED,
    "num_bits: int = 8",
    "range_given: bool = false",
    "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'",
    "narrow_range: bool = false",
    T=FLOATING,
)
def quantize_and_dequantize_v2_op(
    input: Any,
    input_min: Any,
    input_max: Any,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: str,
    narrow_range: bool,
) -> Any:
    """As QuantizeAndDequantize, the range as inputs."""
    return kernels.quantize_and_dequantize(
        input,
        input_min,
        input_max,
        signed=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        narrow_range=narrow_range,
        round_mode=round_mode,
    )


@op(
    "QuantizeAndDequantizeV3",
    "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T",
    _SIGNED,
    "range_given: bool = true",
    "narrow_range: bool = false",
    T=FLOATING,
)
def quantize_and_dequantize_v3_op(
    input: Any,
    input_min: Any,
    input_max: Any,
    num_bits: Any,
    *,
    signed_input: bool,
    range_given: bool,
    narrow_range: bool,
) -> Any:
    """As QuantizeAndDequantizeV2, the number of bits as an input."""
    return kernels.quantize_and_dequantize(
        input,
        input_min,
        input_max,
        signed=signed_input,
        num_bits=int(num_bits),
        range_given=range_given,
        narrow_range=narrow_range,
    )


@quantize_and_dequantize_op.shape
@quantize_and_dequantize_v2_op.shape
@quantize_and_dequantize_v3_op.shape
def _(node: Any) -> Shape:
    for index in range(1, node.num_inputs):
        with_rank(node.shape(index), 0)
    shape: Shape = node.shape(0)
    return shape


@quantize_and_dequantize_op.grad
@quantize_and_dequantize_v2_op.grad
@quantize_and_dequantize_v3_op.grad
def _(node: Any, dy: Any) -> Any:
    return [dy, *[None] * (len(node.inputs) - 1)]


# TensorFlow's Python functions


def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Any:
    """`tf.quantization.quantize_and_dequantize`: the op QuantizeAndDequantizeV2.

    Args:
        input: The tensor.
        input_min: The smallest number, if `range_given`.
        input_max: The largest number, if `range_given`.
        signed_input: Whether quantized numbers are signed.
        num_bits: Of a quantized number.
        range_given: Whether the range counts, else that of the tensor.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".
        name: Name of the operation.
        narrow_range: Whether the lowest signed number is not used.

    Raises:
        ValueError: The range is no pair of scalars.
    """
    return quantize_and_dequantize_v2_op(
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
