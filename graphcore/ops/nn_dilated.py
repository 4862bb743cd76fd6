"""Dilated window operations by undilated ones on interleaved parts of the input.

Source: tensorflow/python/ops/nn_ops.py and array_ops.py (r1.15), behaviour only; Chen et al.,
arXiv:1412.7062.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import int32
from ..errors import InvalidValueError
from ..op import raw_ops
from ..operation import Tensor
from .array_create import constant_value
from .array_functions import required_space_to_batch_paddings
from .array_join import concat, stack
from .array_shape import tf_shape
from .array_space import batch_to_space, space_to_batch


def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[[Any, int, str], Any],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Any:
    """`tf.nn.with_space_to_batch`: `op` on parts of the input that lie `dilation_rate` apart.

    Args:
        input: A tensor of rank N > the last of `spatial_dims`.
        dilation_rate: int32, one positive number a spatial axis; all 1 is the plain operation.
        padding: "SAME" or "VALID".
        op: Function of (tensor, number of spatial axes, padding).
        filter_shape: The window's sizes along the spatial axes; needed for "SAME".
        spatial_dims: The spatial axes; by default those from 1 (or 2 where `data_format` begins with NC).
        data_format: "N...C" or "NC...".

    Raises:
        ValueError: An argument is malformed, or the rank too low.
    """
    input = convert_to_tensor(input, name="input")
    rate = convert_to_tensor(dilation_rate, int32, name="dilation_rate")
    if rate.get_shape().ndims not in (None, 1):
        raise InvalidValueError("rate must be rank 1")
    if not rate.get_shape().is_fully_defined():
        raise InvalidValueError("rate must have known shape")
    count = rate.get_shape().as_list()[0]
    first = 2 if (data_format or "").startswith("NC") else 1
    axes = list(range(first, count + first)) if spatial_dims is None else [int(axis) for axis in spatial_dims]
    if axes != sorted(set(axes)) or any(axis < 1 for axis in axes):
        raise InvalidValueError(
            "spatial_dims must be a montonically increasing sequence of positive integers"
        )
    lowest = axes[-1] + 2 - first
    if input.get_shape().ndims is not None and input.get_shape().ndims < lowest:
        raise InvalidValueError(f"input tensor must have rank {lowest} at least")
    known = constant_value(rate)
    if known is not None:
        if np.any(known < 1):
            raise InvalidValueError("dilation_rate must be positive")
        if np.all(known == 1):
            return op(input, count, padding)
    if padding == "SAME":
        if filter_shape is None:
            raise InvalidValueError("filter_shape must be specified for SAME padding")
        base = _base_paddings(filter_shape, count, rate if known is None else known)
    elif padding == "VALID":
        base = np.zeros((count, 2), np.int32)
    else:
        raise InvalidValueError(f"Invalid padding method {padding!r}")
    static = input.static_shape
    sizes: Any = None if static is None else [static[axis] for axis in axes]
    if sizes is None or None in sizes:
        shape = tf_shape(input)
        sizes = stack([shape[axis] for axis in axes])
    paddings, crops = required_space_to_batch_paddings(sizes, rate, base)
    blocks, paddings, crops = (
        _spread(value, fill, axes) for value, fill in ((rate, 1), (paddings, 0), (crops, 0))
    )
    apart = raw_ops.SpaceToBatchND(input, blocks, paddings)
    return raw_ops.BatchToSpaceND(op(apart, count, "VALID"), blocks, crops)


def _base_paddings(filter_shape: Any, count: int, rate: Any) -> Any:
    """What "SAME" pads for a dilated window."""
    filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
    known = constant_value(filter_shape)
    taps = (filter_shape if known is None else known)[:count]
    extra = taps + (taps - 1) * (rate - 1) - 1
    start = extra // 2
    if not isinstance(extra, Tensor):
        return np.stack([start, extra - start], 1).astype(np.int32)
    end = extra - start
    return stack([[start[axis], end[axis]] for axis in range(count)])


def _spread(value: Any, fill: int, axes: list[int]) -> Any:
    """Rows for all axes from 1 to the last, of those in `axes`; `fill` for the others."""
    known = constant_value(value)
    row = value.get_shape().as_list()[1:]
    if known is not None:
        spread = np.full([axes[-1], *row], fill, np.int32)
        spread[[axis - 1 for axis in axes]] = known
        return spread
    if axes == list(range(1, len(axes) + 1)):
        return value
    filler = np.full([1, *row], fill, np.int32)
    rows = [
        value[axes.index(axis) : axes.index(axis) + 1] if axis in axes else filler
        for axis in range(1, axes[-1] + 1)
    ]
    return concat(rows, 0)


def atrous_conv2d_transpose(
    value: Any, filters: Any, output_shape: Any, rate: int, padding: str, name: str | None = None
) -> Any:
    """`tf.nn.atrous_conv2d_transpose`: the gradient of a dilated convolution, used forwards.

    Args:
        value: (batch, height, width, in channels).
        filters: (height, width, out channels, in channels).
        output_shape: Of the result, four ints.
        rate: The dilation of both axes.
        padding: "SAME" or "VALID".
        name: Name scope.

    Raises:
        ValueError: An argument is malformed, or the shapes do not fit.
    """
    with name_scope(name, "atrous_conv2d_transpose", [value, filters, output_shape]) as scope:
        value, filters = convert_to_tensor(value, name="value"), convert_to_tensor(filters, name="filters")
        channels = value.get_shape()[3], filters.get_shape()[3]
        if not channels[0].is_compatible_with(channels[1]):
            raise InvalidValueError(
                f"value's input channels does not match filters' input channels, {channels[0]} != "
                f"{channels[1]}"
            )
        if rate < 1:
            raise InvalidValueError(f"rate {rate} cannot be less than one")
        if rate == 1:
            return raw_ops.Conv2DBackpropInput(
                output_shape, filters, value, strides=[1, 1, 1, 1], padding=padding, name=scope
            )
        wanted = convert_to_tensor(output_shape, name="output_shape")
        if not wanted.get_shape().is_compatible_with([4]):
            raise InvalidValueError(f"output_shape must have shape (4,), got {wanted.get_shape()}")
        if not isinstance(output_shape, Tensor) and not filters.get_shape()[2].is_compatible_with(
            output_shape[3]
        ):
            raise InvalidValueError(
                f"output_shape does not match filter's output channels, {output_shape[3]} != "
                f"{filters.get_shape()[2]}"
            )
        if padding not in ("SAME", "VALID"):
            raise InvalidValueError(f"padding must be either VALID or SAME: {padding}")
        taps: Any = (
            filters.get_shape().as_list() if filters.get_shape().is_fully_defined() else tf_shape(filters)
        )
        pads = []
        for axis in (0, 1):
            whole = (taps[axis] + (taps[axis] - 1) * (rate - 1) - 1) if padding == "SAME" else 0
            pads.append((whole // 2, whole - whole // 2))
        inner = [output_shape[axis + 1] + pads[axis][0] + pads[axis][1] for axis in (0, 1)]
        rest = [(rate - size % rate) % rate for size in inner]
        value = space_to_batch(value, [[0, rest[0]], [0, rest[1]]], rate)
        sizes = [
            rate * rate * output_shape[0], (inner[0] + rest[0]) // rate,
            (inner[1] + rest[1]) // rate, output_shape[3],
        ]  # fmt: skip
        value = raw_ops.Conv2DBackpropInput(sizes, filters, value, strides=[1, 1, 1, 1], padding="VALID")
        crops = [[start, end + more] for (start, end), more in zip(pads, rest)]
        return batch_to_space(value, crops, rate)
