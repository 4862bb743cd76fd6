"""Sets: the values along the last axis of a tensor, dense or sparse.

Source: tensorflow/core/kernels/set_kernels.cc and python/ops/sets_impl.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..dtypes import int8, int16, int32, int64, string, uint8, uint16
from ..errors import InvalidArgumentError, InvalidTypeError
from ..op import op
from ..shapes import Shape, format_shape, merge, merge_dims, with_rank, with_rank_at_least
from ..sparse_tensor import SparseTensor
from .sparse_math import check_bounds, check_sparse, flat_places, sparse_shapes

_TYPES = (int8, int16, int32, int64, uint8, uint16, string)
_SET1 = "set1_indices: int64, set1_values: T, set1_shape: int64"
_SET2 = "set2_indices: int64, set2_values: T, set2_shape: int64"
_RESULT = "result_indices: int64, result_values: T, result_shape: int64"
_ATTRS = ("set_operation: string", "validate_indices: bool = true")
_OPERATIONS: dict[str, Callable[[set[Any], set[Any]], set[Any]]] = {
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
}
_NO_GRAD = "TensorFlow declares none"


class _Sets:
    """The non-empty sets of a tensor by their place among the groups, which have the shape `groups`."""

    def __init__(self, shape: list[int]) -> None:
        if len(shape) < 2:
            raise InvalidArgumentError(f"Shape {shape} has rank {len(shape)} < 2")
        self.groups = shape[:-1]
        self.sets: dict[int, set[Any]] = {}


def _of_dense(array: Any) -> _Sets:
    found = _Sets(list(array.shape))
    if array.shape[-1]:
        found.sets = dict(enumerate(map(set, array.reshape(-1, array.shape[-1]).tolist())))
    return found


def _of_sparse(indices: Any, values: Any, shape: Any, validate: bool) -> _Sets:
    check_sparse(indices, values, shape)
    if len(shape) < 2:
        raise InvalidArgumentError(f"Invalid rank {len(shape)}.")
    found = _Sets(shape.tolist())
    check_bounds(indices, shape)
    if validate and len(indices) > 1:
        places = flat_places(indices, shape.tolist())
        back = np.flatnonzero(places[1:] < places[:-1])
        if len(back):
            at = int(back[0]) + 1
            raise InvalidArgumentError(
                f"indices[{at}] = {format_shape(indices[at].tolist())} is out of order. Many sparse "
                "ops require sorted "
                "indices."
            )
    for place, value in zip(flat_places(indices[:, :-1], found.groups).tolist(), values.tolist()):
        found.sets.setdefault(place, set()).add(value)
    return found


def _combined(first: _Sets, second: _Sets, set_operation: str, dtype: Any) -> tuple[Any, Any, Any]:
    function = _OPERATIONS.get(set_operation.lower())
    if function is None:
        raise InvalidArgumentError(
            f"Invalid set_operation {set_operation}. Known are {', '.join(_OPERATIONS)}."
        )
    if first.groups != second.groups:
        raise InvalidArgumentError(
            f"Mismatched shapes {format_shape(first.groups)} vs {format_shape(second.groups)}"
        )
    indices: list[list[int]] = []
    values: list[Any] = []
    largest = 0
    nothing: set[Any] = set()
    for place in sorted(first.sets.keys() | second.sets.keys()):
        result = sorted(function(first.sets.get(place, nothing), second.sets.get(place, nothing)))
        group = [int(index) for index in np.unravel_index(place, first.groups)]
        indices += [[*group, number] for number in range(len(result))]
        values += result
        largest = max(largest, len(result))
    shape = [*first.groups, largest]
    flat = np.empty(len(values), dtype)
    flat[:] = values
    return np.array(indices, np.int64).reshape(-1, len(shape)), flat, np.array(shape, np.int64)


def _result_shapes(rank: int | None) -> list[Shape]:
    return [(None, rank), (None,), (rank,)]


@op(
    "SetSize",
    "set_indices: int64, set_values: T, set_shape: int64 -> size: int32",
    "validate_indices: bool = true",
    T=_TYPES,
    no_grad=_NO_GRAD,
)
def set_size_op(set_indices: Any, set_values: Any, set_shape: Any, *, validate_indices: bool) -> Any:
    """The number of different values in each set."""
    found = _of_sparse(set_indices, set_values, set_shape, validate_indices)
    sizes = np.zeros(found.groups, np.int32)
    for place, values in found.sets.items():
        sizes.reshape(-1)[place] = len(values)
    return sizes


set_size_op.shape(lambda node: None)


@op("DenseToDenseSetOperation", f"set1: T, set2: T -> {_RESULT}", *_ATTRS, T=_TYPES, no_grad=_NO_GRAD)
def dense_to_dense_set_operation(set1: Any, set2: Any, *, set_operation: str, validate_indices: bool) -> Any:
    """Difference, intersection or union of sets, a sparse tensor of sorted values."""
    return _combined(_of_dense(set1), _of_dense(set2), set_operation, set1.dtype)


@dense_to_dense_set_operation.shape
def _(node: Any) -> list[Shape]:
    first, second = (with_rank_at_least(shape, 2) for shape in node.shapes)
    if first is not None and second is not None:
        with_rank(second, len(first))
        merge(first[:-1], second[:-1])
    known = first if first is not None else second
    return _result_shapes(None if known is None else len(known))


@op("DenseToSparseSetOperation", f"set1: T, {_SET2} -> {_RESULT}", *_ATTRS, T=_TYPES, no_grad=_NO_GRAD)
def dense_to_sparse_set_operation(
    set1: Any,
    set2_indices: Any,
    set2_values: Any,
    set2_shape: Any,
    *,
    set_operation: str,
    validate_indices: bool,
) -> Any:
    """Difference, intersection or union of sets, a sparse tensor of sorted values."""
    second = _of_sparse(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(_of_dense(set1), second, set_operation, set1.dtype)


@dense_to_sparse_set_operation.shape
def _(node: Any) -> list[Shape]:
    first, rank = with_rank_at_least(node.shape(0), 2), sparse_shapes(*node.shapes[1:])
    return _result_shapes(merge_dims(None if first is None else len(first), rank))


@op("SparseToSparseSetOperation", f"{_SET1}, {_SET2} -> {_RESULT}", *_ATTRS, T=_TYPES, no_grad=_NO_GRAD)
def sparse_to_sparse_set_operation(
    set1_indices: Any,
    set1_values: Any,
    set1_shape: Any,
    set2_indices: Any,
    set2_values: Any,
    set2_shape: Any,
    *,
    set_operation: str,
    validate_indices: bool,
) -> Any:
    """Difference, intersection or union of sets, a sparse tensor of sorted values."""
    first = _of_sparse(set1_indices, set1_values, set1_shape, validate_indices)
    second = _of_sparse(set2_indices, set2_values, set2_shape, validate_indices)
    return _combined(first, second, set_operation, set1_values.dtype)


@sparse_to_sparse_set_operation.shape
def _(node: Any) -> list[Shape]:
    return _result_shapes(merge_dims(sparse_shapes(*node.shapes[:3]), sparse_shapes(*node.shapes[3:])))


# TensorFlow's Python functions


def set_size(a: Any, validate_indices: bool = True) -> Any:
    """`tf.sets.set_size`: the number of different values in each set of a sparse tensor."""
    if not isinstance(a, SparseTensor):
        raise InvalidTypeError(f"Expected `SparseTensor`, got {a}.")
    return set_size_op(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def _operation(a: Any, b: Any, set_operation: str, validate_indices: bool = True) -> SparseTensor:
    a, b = (x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in (a, b))
    if a.dtype.base_dtype != b.dtype.base_dtype:
        raise InvalidTypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    options = {"set_operation": set_operation, "validate_indices": validate_indices}
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        parts = sparse_to_sparse_set_operation(
            a.indices, a.values, a.dense_shape, b.indices, b.values, b.dense_shape, **options
        )
    elif isinstance(a, SparseTensor):
        # The op wants the dense one first.
        options["set_operation"] = {"a-b": "b-a", "b-a": "a-b"}.get(set_operation, set_operation)
        parts = dense_to_sparse_set_operation(b, a.indices, a.values, a.dense_shape, **options)
    elif isinstance(b, SparseTensor):
        parts = dense_to_sparse_set_operation(a, b.indices, b.values, b.dense_shape, **options)
    else:
        parts = dense_to_dense_set_operation(a, b, **options)
    return SparseTensor(*parts)


def set_intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """`tf.sets.set_intersection`: what is in both sets of each pair, sorted."""
    return _operation(a, b, "intersection", validate_indices)


def set_difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """`tf.sets.set_difference`: what is in one set of each pair and not in the other, sorted."""
    return _operation(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """`tf.sets.set_union`: what is in either set of each pair, sorted."""
    return _operation(a, b, "union", validate_indices)
