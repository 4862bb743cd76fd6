"""Sparse tensors as ops: another shape, and a value in each row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import ANY
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, merge_dims, with_rank


@op(
    "SparseReshape",
    "input_indices: int64, input_shape: int64, new_shape: int64 -> "
    "output_indices: int64, output_shape: int64",
    no_grad="its results are indices",
)
def sparse_reshape(input_indices: Any, input_shape: Any, new_shape: Any) -> Any:
    """The indices of the same values in another shape, in which one dimension may be -1."""
    for what, value, rank in (
        ("indices", input_indices, 2),
        ("shape", input_shape, 1),
        ("target shape", new_shape, 1),
    ):
        if np.ndim(value) != rank:
            raise InvalidArgumentError(
                f"The {what} of SparseReshape must have rank {rank}, but its shape is "
                f"{format_shape(np.shape(value))}"
            )
    if input_indices.shape[1] != len(input_shape):
        raise InvalidArgumentError("Input tensor rank must match input shape length.")
    old: list[int] = input_shape.tolist()
    new = _target_shape(old, new_shape.tolist())
    shape = np.array(new, np.int64)
    if new == old:
        return input_indices, shape
    indices = np.empty((len(input_indices), len(new)), np.int64)
    if indices.size:
        place = input_indices @ _strides(old)
        for axis, stride in enumerate(_strides(new).tolist()):
            indices[:, axis], place = np.divmod(place, max(stride, 1))
    return indices, shape


def _target_shape(old: list[int], wanted: list[int]) -> list[int]:
    """`wanted` with the dimension that is -1 filled in."""
    total, unknown = math.prod(old), [axis for axis, size in enumerate(wanted) if size == -1]
    if len(unknown) > 1:
        raise InvalidArgumentError(
            f"only one output dimension may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    for axis, size in enumerate(wanted):
        if size < -1:
            raise InvalidArgumentError(f"size {axis} must be non-negative, not {size}")
    known = math.prod(size for size in wanted if size != -1)
    new = list(wanted)
    if unknown:
        if known == 0:
            raise InvalidArgumentError(
                "reshape cannot infer the missing input size for an empty tensor unless all specified "
                "input sizes are non-zero"
            )
        new[unknown[0]] = total // known
    if math.prod(new) != total:
        shapes = f"input_shape={format_shape(tuple(old))} output_shape={format_shape(tuple(new))}"
        if unknown:
            raise InvalidArgumentError(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape "
                f"requires a multiple of {known}. {shapes}"
            )
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{math.prod(new)}. {shapes}"
        )
    return new


def _strides(shape: list[int]) -> Any:
    return np.array([math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64)


@sparse_reshape.shape
def _(node: Any) -> list[Shape]:
    indices, new = with_rank(node.shape(0), 2), with_rank(node.shape(2), 1)
    with_rank(node.shape(1), 1)
    rows, rank = None if indices is None else indices[0], None if new is None else new[0]
    return [(rows, rank), (rank,)]


@op(
    "SparseFillEmptyRows",
    "indices: int64, values: T, dense_shape: int64, default_value: T -> "
    "output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    T=ANY,
)
def sparse_fill_empty_rows(indices: Any, values: Any, dense_shape: Any, default_value: Any) -> Any:
    """A sparse tensor by rows, with a default in the first column of each row that has nothing."""
    for what, value, rank in (
        ("dense_shape", dense_shape, 1),
        ("indices", indices, 2),
        ("values", values, 1),
        ("default_value", default_value, 0),
    ):
        if np.ndim(value) != rank:
            raise InvalidArgumentError(f"{what} must have rank {rank}, saw: {format_shape(np.shape(value))}")
    if not dense_shape.size:
        raise InvalidArgumentError("Dense shape cannot be empty.")
    if len(indices) != len(values) or indices.shape[1] != len(dense_shape):
        raise InvalidArgumentError(
            f"indices {format_shape(indices.shape)} do not fit values {format_shape(values.shape)} of a "
            f"tensor of rank {len(dense_shape)}"
        )
    count, rows = int(dense_shape[0]), indices[:, 0]
    if not count and len(rows):
        raise InvalidArgumentError(
            f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(rows)}"
        )
    wrong = np.flatnonzero((rows < 0) | (rows >= count))
    if len(wrong):
        raise InvalidArgumentError(f"indices({wrong[0]}, 0) is invalid: {rows[wrong[0]]} >= {count}")
    empty = np.bincount(rows, minlength=count) == 0
    added = np.zeros((int(empty.sum()), indices.shape[1]), np.int64)
    added[:, 0] = np.flatnonzero(empty)
    # The entries of a row stay in their order.
    order = np.argsort(np.concatenate([rows, added[:, 0]]), kind="stable")
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    filler = np.empty(len(added), values.dtype)
    filler[...] = default_value
    return (
        np.concatenate([indices, added])[order],
        np.concatenate([values, filler])[order],
        empty,
        back[: len(rows)],
    )


@sparse_fill_empty_rows.shape
def _(node: Any) -> list[Shape]:
    indices, values = with_rank(node.shape(0), 2), with_rank(node.shape(1), 1)
    shape = with_rank(node.shape(2), 1)
    with_rank(node.shape(3), 0)
    rows, rank = merge_dims(indices[0], values[0]), merge_dims(indices[1], shape[0])
    if rank == 0:
        raise InvalidValueError("dense_shape must not be empty")
    dense = node.value_as_shape(2)
    return [(None, rank), (None,), (dense[0] if dense else None,), (rows,)]


@sparse_fill_empty_rows.grad
def _(node: Any, *grads: Any) -> Any:
    by_values, by_default = raw_ops.SparseFillEmptyRowsGrad(node.outputs[3], grads[1])
    return [None, by_values, None, by_default]


@op(
    "SparseFillEmptyRowsGrad",
    "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    T=ANY,
    undefined_grad="TensorFlow has none for it",
)
def sparse_fill_empty_rows_grad(reverse_index_map: Any, grad_values: Any) -> Any:
    """The gradients of the values, and of the default: the sum of those of the rows that it fills."""
    for what, value in (("reverse_index_map", reverse_index_map), ("grad_values", grad_values)):
        if np.ndim(value) != 1:
            raise InvalidArgumentError(f"{what} must be a vector, saw: {format_shape(np.shape(value))}")
    count = len(grad_values)
    for place in reverse_index_map[(reverse_index_map < 0) | (reverse_index_map >= count)]:
        raise InvalidArgumentError(f"Elements in reverse index must be in [0, {count}) but got {place}")
    default = np.ones(count, bool)
    default[reverse_index_map] = False
    return grad_values[reverse_index_map], np.asarray(
        grad_values[default].sum(dtype=grad_values.dtype), grad_values.dtype
    )


@sparse_fill_empty_rows_grad.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(1), 1)
    return [with_rank(node.shape(0), 1), ()]
