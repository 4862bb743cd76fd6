"""tf.data's batches and windows.

Source: tensorflow/core/kernels/data/*_dataset_op.cc and data/experimental (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..datasets import (
    Dataset,
    Row,
    Rows,
    Source,
    Steps,
    as_dataset,
    batch,
    padded_batch,
)
from ..errors import InvalidArgumentError
from ..shapes import format_shape
from .dataset import ARGS, OUT, dataset_op, row_of
from .dataset_map import map_rows


def _batches(source: Source, dataset: Dataset, size: int, drop_remainder: bool, join: Any) -> Rows:
    inputs = dataset.rows(source)

    def step() -> Row:
        rows = list(itertools.islice(inputs, size))
        if not rows or (drop_remainder and len(rows) < size):
            raise StopIteration
        row: Row = join(rows)
        return row

    return Steps(step)


def _batched_size(size: int, batch_size: int, drop_remainder: bool) -> int:
    if size < 0:
        return size
    return size // batch_size if drop_remainder else -(-size // batch_size)


def _batch(input_dataset: Any, batch_size: Any, drop_remainder: Any = False) -> Any:
    """Consecutive elements stacked."""
    if batch_size <= 0:
        raise InvalidArgumentError("Batch size must be greater than zero.")
    dataset, size, drops = as_dataset(input_dataset), int(batch_size), bool(drop_remainder)
    return Dataset(
        lambda source: _batches(source, dataset, size, drops, batch),
        _batched_size(dataset.cardinality, size, drops),
    )


dataset_op("BatchDataset", "input_dataset: variant, batch_size: int64 -> handle: variant", *OUT)(_batch)
dataset_op(
    "BatchDatasetV2",
    "input_dataset: variant, batch_size: int64, drop_remainder: bool -> handle: variant",
    "parallel_copy: bool = false",
    *OUT,
)(_batch)


dataset_op(
    "ParallelBatchDataset",
    "input_dataset: variant, batch_size: int64, num_parallel_calls: int64, drop_remainder: bool -> "
    "handle: variant",
    "parallel_copy: bool = false",
    *OUT,
    "deterministic: string = 'default'",
    text="Consecutive elements joined to one, in parallel.",
)(
    lambda input_dataset, batch_size, num_parallel_calls, drop_remainder: _batch(
        input_dataset, batch_size, drop_remainder
    )
)


def _map_and_batch(
    input_dataset: Any,
    other_arguments: Any,
    batch_size: Any,
    num_parallel_calls: Any,
    drop_remainder: Any,
    *,
    f: Any,
) -> Any:
    """What a function gives for each element, stacked."""
    return _batch(map_rows(input_dataset, other_arguments, f=f), batch_size, drop_remainder)


dataset_op(
    "MapAndBatchDataset",
    "input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, "
    "drop_remainder: bool -> handle: variant",
    "f: func",
    ARGS,
    *OUT,
    "preserve_cardinality: bool = false",
    experimental=True,
)(_map_and_batch)


def _padded_batch(
    input_dataset: Any,
    batch_size: Any,
    padded_shapes: Any,
    padding_values: Any,
    drop_remainder: Any = False,
) -> Any:
    """Consecutive elements filled up to one shape and stacked."""
    if batch_size <= 0:
        raise InvalidArgumentError("Batch size must be greater than zero.")
    dataset, size, drops = as_dataset(input_dataset), int(batch_size), bool(drop_remainder)
    shapes = [tuple(None if dim < 0 else int(dim) for dim in shape.tolist()) for shape in padded_shapes]
    fills = [np.asarray(value).item() for value in padding_values]
    for fill in padding_values:
        if np.ndim(fill):
            raise InvalidArgumentError("All padding values must be scalars")
    return Dataset(
        lambda source: _batches(source, dataset, size, drops, lambda rows: padded_batch(rows, shapes, fills)),
        _batched_size(dataset.cardinality, size, drops),
    )


_PADDED = "input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: Toutput_types"
_PADDED_OUT = ("Toutput_types: list(type) >= 1", "output_shapes: list(shape) >= 1")
dataset_op("PaddedBatchDataset", f"{_PADDED} -> handle: variant", *_PADDED_OUT)(_padded_batch)
dataset_op(
    "PaddedBatchDatasetV2",
    f"{_PADDED}, drop_remainder: bool -> handle: variant",
    "parallel_copy: bool = false",
    *_PADDED_OUT,
)(_padded_batch)


@dataset_op(
    "DenseToSparseBatchDataset",
    "input_dataset: variant, batch_size: int64, row_shape: int64 -> handle: variant",
    *OUT,
    experimental=True,
)
def dense_to_sparse_batch_dataset(input_dataset: Any, batch_size: Any, row_shape: Any) -> Any:
    """Consecutive elements of different sizes as one sparse tensor."""
    if batch_size <= 0:
        raise InvalidArgumentError("Batch size must be greater than zero.")
    dataset, size = as_dataset(input_dataset), int(batch_size)
    limits = [int(dim) for dim in row_shape.tolist()]

    def join(rows: Sequence[Row]) -> Row:
        values = [row[0] for row in rows]
        for value in values:
            if value.ndim != len(limits):
                raise InvalidArgumentError(
                    "Input element had shape "
                    f"({', '.join(map(str, value.shape))}) that is incompatible with the row shape {limits}"
                )
            for dim, limit in zip(value.shape, limits):
                if limit >= 0 and dim > limit:
                    raise InvalidArgumentError(
                        f"Input element had shape {format_shape(value.shape)} that is larger than "
                        "the row shape "
                        f"{limits}"
                    )
        dims = [
            max(value.shape[axis] for value in values) if limit < 0 else limit
            for axis, limit in enumerate(limits)
        ]
        indices = [
            np.concatenate(
                [
                    np.full((value.size, 1), position),
                    np.indices(value.shape).reshape(value.ndim, -1).T,
                ],
                axis=1,
            )
            for position, value in enumerate(values)
        ]
        parts = np.empty(3, object)  # as DeserializeSparse takes it
        parts[0] = np.concatenate(indices).astype(np.int64)
        parts[1] = np.concatenate([value.reshape(-1) for value in values])
        parts[2] = np.array([len(values), *dims], np.int64)
        return (parts,)

    return Dataset(lambda source: _batches(source, dataset, size, False, join))


@dataset_op("UnbatchDataset", "input_dataset: variant -> handle: variant", *OUT, experimental=True)
def unbatch_dataset(input_dataset: Any) -> Any:
    """The rows of the elements."""
    dataset = as_dataset(input_dataset)

    def split(row: Row) -> Rows:
        sizes = {len(component) for component in row}
        if len(sizes) > 1:
            raise InvalidArgumentError("Input element must have the same batch size in each component.")
        return zip(*[map(row_of, component) for component in row])

    return Dataset(lambda source: itertools.chain.from_iterable(map(split, dataset.rows(source))))


@dataset_op(
    "WindowDataset",
    "input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool -> "
    "handle: variant",
    *OUT,
)
def window_dataset(input_dataset: Any, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> Any:
    """Windows over the elements, each component as a dataset."""
    for value, name in ((size, "size"), (shift, "shift"), (stride, "stride")):
        if value <= 0:
            raise InvalidArgumentError(f"Window {name} must be greater than zero.")
    dataset, wanted, drops = as_dataset(input_dataset), int(size), bool(drop_remainder)

    def pack(rows: Sequence[Row]) -> Row:
        return tuple(
            Dataset(lambda source, column=column: iter([(value,) for value in column]), len(column))  # type: ignore[misc]
            for column in zip(*rows)
        )

    return Dataset(lambda source: _windows(source, dataset, wanted, int(shift), int(stride), drops, pack))


def _windows(
    source: Source, dataset: Dataset, size: int, shift: int, stride: int, drops: bool, pack: Any
) -> Rows:
    """Each `shift` elements a window of `size` elements that lie `stride` apart."""
    inputs = dataset.rows(source)
    reach = (size - 1) * stride + 1
    buffer: deque[Row] = deque()
    state = {"ended": False, "skip": 0}

    def step() -> Row:
        while not state["ended"] and len(buffer) < reach:
            row = next(inputs, None)
            if row is None:
                state["ended"] = True
            elif state["skip"]:
                state["skip"] -= 1
            else:
                buffer.append(row)
        if not buffer or (drops and len(buffer) < reach):
            raise StopIteration
        window = list(itertools.islice(buffer, 0, reach, stride))
        state["skip"] += max(0, shift - len(buffer))
        for _ in range(min(shift, len(buffer))):
            buffer.popleft()
        packed: Row = pack(window)
        return packed

    return Steps(step)


@dataset_op(
    "SlidingWindowDataset",
    "input_dataset: variant, window_size: int64, window_shift: int64, window_stride: int64 -> "
    "handle: variant",
    *OUT,
    experimental=True,
)
def sliding_window_dataset(
    input_dataset: Any, window_size: Any, window_shift: Any, window_stride: Any
) -> Any:
    """Full windows over the elements, each stacked."""
    for value, name in (
        (window_size, "Window size"),
        (window_shift, "Window shift"),
        (window_stride, "window_stride"),
    ):
        if value <= 0:
            raise InvalidArgumentError(f"{name} must be greater than zero.")
    dataset = as_dataset(input_dataset)
    sizes = (int(window_size), int(window_shift), int(window_stride))
    return Dataset(lambda source: _windows(source, dataset, *sizes, True, batch))
