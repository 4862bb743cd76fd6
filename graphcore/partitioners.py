"""Partitioners: how many slices of a variable lie along each axis; `tf.create_partitioned_variables`.

Source: tensorflow/python/ops/partitioned_variables.py (r1.15), behaviour only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .dtypes import DType, float32, string
from .errors import InvalidValueError
from .tensor_shape import TensorShape
from .variable_scope import get_partitioned_variable, variable_scope


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Callable[..., list[int]]:
    """A partitioner that asks for `num_shards` slices along `axis`, or one a row where there are fewer."""

    def partitioner(shape: TensorShape, **_: Any) -> list[int]:
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, _size(shape, axis))
        return partitions

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Callable[..., list[int]]:
    """A partitioner that keeps slices below a size.

    Args:
        max_shard_bytes: The size, in bytes.
        axis: The axis to cut along.
        bytes_per_string_element: What to reckon for a string.
        max_shards: At most so many slices.

    Raises:
        ValueError: A number is not positive.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise InvalidValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise InvalidValueError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise InvalidValueError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise InvalidValueError(f"shape is not fully defined: {shape}")
        if not isinstance(dtype, DType):
            raise InvalidValueError(f"dtype is not a DType: {dtype}")
        size = _size(shape, axis)
        row = (shape.num_elements() or 0) / size * _element_size(dtype, bytes_per_string_element)
        rows = max(1, math.floor(max_shard_bytes / row))
        shards = math.ceil(size / rows)
        partitions = [1] * len(shape)
        partitions[axis] = min(max_shards, shards) if max_shards else shards
        return partitions

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = 256 << 10,
    bytes_per_string_element: int = 16,
) -> Callable[..., list[int]]:
    """A partitioner that keeps slices above a size.

    Args:
        max_partitions: At most so many slices.
        axis: The axis to cut along.
        min_slice_size: The size, in bytes.
        bytes_per_string_element: What to reckon for a string.
    """

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        if axis >= len(shape):
            raise InvalidValueError(
                f"Can not partition variable along axis {axis} when shape is only {shape}"
            )
        total = (shape.num_elements() or 0) * _element_size(dtype, bytes_per_string_element)
        partitions = [1] * len(shape)
        partitions[axis] = max(1, min(_size(shape, axis), max_partitions, math.ceil(total / min_slice_size)))
        return partitions

    return partitioner


def _size(shape: TensorShape, axis: int) -> int:
    return int(shape.as_list()[axis] or 0)


def _element_size(dtype: DType, string_size: int) -> int:
    return string_size if dtype.base_dtype == string else dtype.size


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Any,
    dtype: Any = float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """Variables that are the slices of one of `shape`.

    Args:
        shape: The shape of the whole.
        slicing: The number of slices along each axis; more than 1 along one axis at most.
        initializer: A tensor of `shape`, or an initializer that is called for each slice.
        dtype: The element type where the initializer is no tensor.
        trainable: Whether optimizers train them.
        collections: Collections to add them to; by default `GLOBAL_VARIABLES`.
        name: Name of the whole; by default PartitionedVariable, made unique.
        reuse: Whether to share existing ones; by default as the scope says.

    Raises:
        ValueError: `shape` and `slicing` do not fit.
    """
    if len(shape) != len(slicing):
        raise InvalidValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise InvalidValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        return list(
            get_partitioned_variable(
                None, shape, dtype, initializer, trainable, collections, lambda **_: slicing
            )
        )
