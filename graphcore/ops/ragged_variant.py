"""Ragged tensors as variants, which datasets and maps pass on.

Source: tensorflow/core/kernels/ragged_tensor_{to,from}_variant_op.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dtypes import ANY, INDEX
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op
from ..shapes import Shape, format_shape, with_rank, with_rank_at_least


class RaggedVariant:
    """A ragged tensor.

    Attributes:
        splits: Row splits, outermost first; none for a dense tensor.
        values: The values of all rows.
    """

    shape: tuple[int, ...] = ()  # a scalar variant
    ndim = 0

    def __init__(self, splits: Sequence[np.ndarray], values: np.ndarray) -> None:
        self.splits = tuple(splits)
        self.values = values


@op(
    "RaggedTensorToVariant",
    "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues -> encoded_ragged: variant",
    "RAGGED_RANK: int >= 1",
    "batched_input: bool",
    Tvalues=ANY,
    Tsplits=INDEX,
    no_grad="TensorFlow 1.15 declares none",
)
def ragged_tensor_to_variant(rt_nested_splits: Any, rt_dense_values: Any, *, batched_input: bool) -> Any:
    """A ragged tensor as a variant, or each of its rows as one."""
    splits = [np.asarray(each) for each in rt_nested_splits]
    for outer, inner in zip(splits, [*(len(each) - 1 for each in splits[1:]), len(rt_dense_values)]):
        if not len(outer) or outer[0] or outer[-1] != inner or (outer[1:] < outer[:-1]).any():
            raise InvalidArgumentError(
                f"The row splits {outer.tolist()} must rise from 0 to {inner}, the number of rows that "
                "they split"
            )
    if not batched_input:
        return RaggedVariant(splits, rt_dense_values)
    result = np.empty(len(splits[0]) - 1, object)
    for row, (start, end) in enumerate(itertools.pairwise(splits[0])):
        inner_splits = []
        for each in splits[1:]:
            part = each[start : end + 1]
            inner_splits.append(part - part[0])
            start, end = part[0], part[-1]
        result[row] = RaggedVariant(inner_splits, rt_dense_values[start:end])
    return result


@ragged_tensor_to_variant.shape
def _(node: Any) -> Shape:
    *splits, values = node.shapes
    with_rank_at_least(values, 1)
    for each in splits:
        with_rank(each, 1)
    if not node.attr("batched_input"):
        return ()
    rows = None if splits[0] is None else splits[0][0]
    return (None if rows is None else rows - 1,)


@op(
    "RaggedTensorFromVariant",
    "encoded_ragged: variant -> output_nested_splits: output_ragged_rank * Tsplits, "
    "output_dense_values: Tvalues",
    "input_ragged_rank: int >= -1",
    "output_ragged_rank: int >= 1",
    Tvalues=ANY,
    Tsplits=INDEX,
    undefined_grad="TensorFlow 1.15 declares none",
)
def ragged_tensor_from_variant(
    encoded_ragged: Any, *, input_ragged_rank: int, output_ragged_rank: int, Tvalues: Any, Tsplits: Any
) -> list[Any]:
    """Ragged tensors of variants, stacked to one."""
    dims = np.shape(encoded_ragged)
    rank = input_ragged_rank
    if rank == -1:
        rank = output_ragged_rank - len(dims)
        if rank < 0:
            raise InvalidArgumentError(
                "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, "
                f"found output_ragged_rank: {output_ragged_rank}, encoded_variant.dims(): {len(dims)}, "
                f"inferred input_ragged_rank: {rank}"
            )
    if output_ragged_rank != len(dims) + rank:
        raise InvalidArgumentError(
            "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
            f"output_ragged_rank: {output_ragged_rank}, input_ragged_rank: {rank}, "
            f"encoded_variant.dims(): {len(dims)}."
        )
    boxed = encoded_ragged.reshape(-1).tolist() if dims else [_item(encoded_ragged)]
    parts = [
        _checked(each, index, rank, np.dtype(Tvalues), np.dtype(Tsplits)) for index, each in enumerate(boxed)
    ]
    if not dims:
        return [*parts[0].splits, parts[0].values]
    splits = [np.arange(size + 1) * following for size, following in itertools.pairwise(dims)]
    lengths = [len(part.splits[0]) - 1 if part.splits else len(part.values) for part in parts]
    splits.append(np.cumsum([0, *lengths]))
    for level in range(rank):
        each = [np.diff(part.splits[level]) for part in parts if part.splits]
        splits.append(np.cumsum(np.concatenate([[0], *each])))
    return [*[each.astype(np.dtype(Tsplits)) for each in splits], _stacked(parts, np.dtype(Tvalues))]


def _item(value: Any) -> Any:
    return value.item() if isinstance(value, np.ndarray) else value


def _checked(
    found: Any, index: int, rank: int, values: np.dtype[Any], splits: np.dtype[Any]
) -> RaggedVariant:
    if not isinstance(found, RaggedVariant):
        raise InvalidArgumentError(f"Input Variant element at index {index} doesn't hold a Tensor: {found!r}")
    if len(found.splits) not in (rank, 0):
        raise InvalidArgumentError(
            "Encoded input Variant must hold either input_ragged_rank + 1 Tensors or an empty Tensor (zero "
            f"splits Tensors, 1 values Tensor), input_ragged_rank: {rank}, encoded input Variant: "
            f"{len(found.splits)} splits and values of shape {format_shape(found.values.shape)}"
        )
    if not found.splits and rank and len(found.values):
        raise InvalidArgumentError(
            f"Encoded scalar element at index {index} doesn't have a splits Tensor at split_index 0"
        )
    for each in found.splits:
        if each.dtype != splits:
            raise InvalidArgumentError(
                f"Expected splits Tensor dtype: {splits.name}, found: {each.dtype.name}"
            )
    if found.values.dtype != values:
        raise InvalidArgumentError(
            f"Expected values Tensor dtype: {values.name}, found: {found.values.dtype.name}"
        )
    return found


def _stacked(parts: Sequence[RaggedVariant], dtype: np.dtype[Any]) -> np.ndarray:
    """The values of all parts one after another."""
    if not parts:
        return np.empty(0, dtype)
    first = parts[0].values.shape
    for index, part in enumerate(parts):
        shape = part.values.shape
        if len(shape) != len(first):
            raise InvalidArgumentError(
                "Rank of values must match for all components; values shape at index 0: "
                f"{format_shape(first)}, values shape at index {index}: {format_shape(shape)}"
            )
        if shape[1:] != first[1:]:
            raise InvalidArgumentError(
                "All flat_values must have compatible shapes.  Shape at index 0: "
                f"{format_shape(first[1:])}.  Shape at index {index}: {format_shape(shape[1:])}."
            )
    return np.concatenate([part.values for part in parts])


@ragged_tensor_from_variant.shape
def _(node: Any) -> list[Shape]:
    given, rank = node.shape(0), node.attr("input_ragged_rank")
    count = node.attr("output_ragged_rank")
    if given is not None and rank >= 0:
        if count < rank:
            raise InvalidValueError(f"output_ragged_rank ({count}) is less than input_ragged_rank ({rank})")
        with_rank(given, count - rank)
    return [*[(None,)] * count, None]
