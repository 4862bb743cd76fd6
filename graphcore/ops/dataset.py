"""tf.data's transformations: each op takes datasets and gives one; nothing is read before an iterator asks.

Threads, prefetching and tuning do not change what a dataset gives; here elements are made when they are
asked for, in the order that TensorFlow has when it is deterministic.

Source: tensorflow/core/kernels/data/*_dataset_op.cc and data/experimental (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..datasets import (
    INFINITE,
    UNKNOWN,
    Dataset,
    Row,
    Rows,
    Source,
    Steps,
    Words,
    as_dataset,
    drawn_seeds,
    mapped,
)
from ..dtypes import ANY
from ..errors import InvalidArgumentError, UnimplementedError
from ..op import op
from ..shapes import Shape
from . import rules

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
OUT = ("output_types: list(type) >= 1", "output_shapes: list(shape) >= 1")
ARGS = "Targuments: list(type) >= 0"
NO_GRAD = "datasets have no derivative"


def dataset_op(
    name: str, signature: str, *attrs: str, experimental: bool = False, **options: Any
) -> Callable[[Kernel], Kernel]:
    """Declares an op that gives a dataset, under its old experimental name, too, where it has one."""

    def declare(kernel: Kernel) -> Kernel:
        for each in (name, f"Experimental{name}") if experimental else (name,):
            made = op(each, signature, *attrs, ctx=False, no_grad=NO_GRAD, **options)(kernel)
            made.shape(rules.scalar)
        return kernel

    return declare


def _count(value: Any) -> int:
    return int(np.asarray(value))


def repeated_size(count: int, size: int) -> int:
    """The cardinality of `count` times `size` elements, either of which may be INFINITE or UNKNOWN."""
    if size == 0 or count == 0:
        return 0
    if INFINITE in (count, size):
        return INFINITE
    return UNKNOWN if UNKNOWN in (count, size) else count * size


def declared_shapes(node: Any) -> list[Shape]:
    """The shapes that a node's `output_shapes` attribute says."""
    return [shape.as_tuple() for shape in node.node.attr("output_shapes")]


# Sources


@dataset_op(
    "TensorDataset",
    "components: Toutput_types -> handle: variant",
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    stateful=True,
)
def tensor_dataset(components: Any) -> Any:
    """One element: the tensors."""
    row = tuple(components)
    return Dataset(lambda source: iter([row]), 1)


@dataset_op(
    "TensorSliceDataset",
    "components: Toutput_types -> handle: variant",
    "Toutput_types: list(type) >= 1",
    "output_shapes: list(shape) >= 1",
    stateful=True,
)
def tensor_slice_dataset(components: Any) -> Any:
    """The rows of tensors of equal first dimensions."""
    for index, component in enumerate(components):
        if not np.ndim(component):
            raise InvalidArgumentError(
                f"All components must be at least 1-dimensional, but component {index} is a scalar."
            )
        if len(component) != len(components[0]):
            raise InvalidArgumentError(
                "All components must have the same size in the 0th dimension: component 0 has "
                f"{len(components[0])}, component {index} has {len(component)}."
            )
    return Dataset(
        lambda source: zip(*[map(row_of, component) for component in components]), len(components[0])
    )


def row_of(value: Any) -> Any:
    """A row of an array as a tensor: what iterating over a vector gives are scalars."""
    return value if isinstance(value, np.ndarray) else np.array(value, getattr(value, "dtype", object))


@dataset_op(
    "SparseTensorSliceDataset",
    "indices: int64, values: Tvalues, dense_shape: int64 -> handle: variant",
    Tvalues=ANY,
    stateful=True,
)
def sparse_tensor_slice_dataset(indices: Any, values: Any, dense_shape: Any) -> Any:
    """The rows of a sparse tensor, each as indices, values and shape."""
    if len(dense_shape) < 1:
        raise InvalidArgumentError("The input tensor must have rank at least 1.")
    first = indices[:, 0]
    if (np.diff(first) < 0).any():
        raise UnimplementedError("The SparseTensor must be ordered in the batch dimension.")

    def rows(source: Source) -> Rows:
        ends = np.searchsorted(first, np.arange(int(dense_shape[0]) + 1))
        for start, end in itertools.pairwise(ends):
            yield indices[start:end, 1:], values[start:end], dense_shape[1:]

    return Dataset(rows, int(dense_shape[0]))


@dataset_op("RangeDataset", "start: int64, stop: int64, step: int64 -> handle: variant", *OUT, stateful=True)
def range_dataset(start: Any, stop: Any, step: Any, *, node: Any) -> Any:
    """The numbers of a range."""
    if step == 0:
        raise InvalidArgumentError("step must be a non-zero integer.")
    numbers = range(int(start), int(stop), int(step))
    dtype = node.attr("output_types")[0].np
    return Dataset(lambda source: ((np.array(number, dtype),) for number in numbers), len(numbers))


@dataset_op(
    "RandomDataset", "seed: int64, seed2: int64 -> handle: variant", *OUT, experimental=True, stateful=True
)
def random_dataset(seed: Any, seed2: Any) -> Any:
    """Random int64 numbers of 32 bits, for ever."""
    seeds = drawn_seeds(int(seed), int(seed2))

    def rows(source: Source) -> Rows:
        words = Words(*seeds)
        return Steps(lambda: (np.array(words(), np.int64),))

    return Dataset(rows, INFINITE)


# Several datasets


@dataset_op("ZipDataset", "input_datasets: N * variant -> handle: variant", *OUT)
def zip_dataset(input_datasets: Any) -> Any:
    """Elements of datasets side by side, until one ends."""
    parts = [as_dataset(each) for each in input_datasets]

    def rows(source: Source) -> Rows:
        joined = zip(*[part.rows(source) for part in parts])
        return mapped(lambda row: tuple(itertools.chain(*row)), joined)

    sizes = [part.cardinality for part in parts]
    known = [size for size in sizes if size != INFINITE]
    return Dataset(rows, UNKNOWN if UNKNOWN in sizes else min(known, default=INFINITE))


@dataset_op("ConcatenateDataset", "input_dataset: variant, another_dataset: variant -> handle: variant", *OUT)
def concatenate_dataset(input_dataset: Any, another_dataset: Any) -> Any:
    """One dataset after the other."""
    parts = [as_dataset(input_dataset), as_dataset(another_dataset)]
    sizes = [part.cardinality for part in parts]
    total = INFINITE if INFINITE in sizes else UNKNOWN if UNKNOWN in sizes else sum(sizes)
    return Dataset(lambda source: itertools.chain.from_iterable(part.rows(source) for part in parts), total)


@dataset_op(
    "DirectedInterleaveDataset",
    "selector_input_dataset: variant, data_input_datasets: N * variant -> handle: variant",
    *OUT,
    experimental=True,
)
def directed_interleave_dataset(selector_input_dataset: Any, data_input_datasets: Any) -> Any:
    """Elements of datasets in the order in which a dataset of numbers names them."""
    selector = as_dataset(selector_input_dataset)
    parts = [as_dataset(each) for each in data_input_datasets]

    def rows(source: Source) -> Rows:
        iterators = [part.rows(source) for part in parts]
        numbers = selector.rows(source)
        for (number,) in numbers:
            if not 0 <= number < len(iterators):
                raise InvalidArgumentError(f"Selector index out of range: {int(number)} >= {len(iterators)}")
            row = next(iterators[int(number)], None)
            if row is not None:
                yield row

    return Dataset(rows)


# Fewer and more


@dataset_op("RepeatDataset", "input_dataset: variant, count: int64 -> handle: variant", *OUT)
def repeat_dataset(input_dataset: Any, count: Any) -> Any:
    """The dataset `count` times, for ever where that is negative."""
    dataset, times = as_dataset(input_dataset), int(count)

    def rows(source: Source) -> Rows:
        if times >= 0:
            return itertools.chain.from_iterable(dataset.rows(source) for _ in range(times))
        state: dict[str, Any] = {"rows": None, "first": True}

        def step() -> Row:
            while True:
                if state["rows"] is None:
                    state["rows"], state["first"] = dataset.rows(source), True
                row: Row | None = next(state["rows"], None)
                if row is not None:
                    state["first"] = False
                    return row
                if state["first"]:
                    raise StopIteration  # an empty dataset stays empty
                state["rows"] = None

        return Steps(step)

    return Dataset(rows, repeated_size(times if times >= 0 else INFINITE, dataset.cardinality))


@dataset_op("TakeDataset", "input_dataset: variant, count: int64 -> handle: variant", *OUT)
def take_dataset(input_dataset: Any, count: Any) -> Any:
    """The first elements; all where the count is negative."""
    dataset, limit = as_dataset(input_dataset), int(count)
    if limit < 0:
        return dataset
    size = dataset.cardinality
    known = limit if size == INFINITE else size if size == UNKNOWN else min(limit, size)
    return Dataset(lambda source: itertools.islice(dataset.rows(source), limit), known)


@dataset_op("SkipDataset", "input_dataset: variant, count: int64 -> handle: variant", *OUT)
def skip_dataset(input_dataset: Any, count: Any) -> Any:
    """All but the first elements; none where the count is negative."""
    dataset, skipped = as_dataset(input_dataset), int(count)
    if skipped < 0:
        return Dataset(lambda source: iter(()), 0)
    size = dataset.cardinality
    known = max(0, size - skipped) if size >= 0 else size
    return Dataset(lambda source: itertools.islice(dataset.rows(source), skipped, None), known)


@dataset_op(
    "ShardDataset",
    "input_dataset: variant, num_shards: int64, index: int64 -> handle: variant",
    "require_non_empty: bool = false",
    *OUT,
)
def shard_dataset(input_dataset: Any, num_shards: Any, index: Any, *, require_non_empty: bool) -> Any:
    """Every so-manieth element."""
    if num_shards <= 0:
        raise InvalidArgumentError(
            f"Number of shards must be greater than zero (currently num_shards = {int(num_shards)})."
        )
    if not 0 <= index < num_shards:
        raise InvalidArgumentError(
            f"Index must be between 0 and {int(num_shards) - 1} (currently index = {int(index)})."
        )
    dataset, start, step = as_dataset(input_dataset), int(index), int(num_shards)

    def rows(source: Source) -> Rows:
        found = itertools.islice(dataset.rows(source), start, None, step)
        if not require_non_empty:
            return found
        first = next(found, None)
        if first is None:
            raise InvalidArgumentError(
                "There aren't enough elements in this dataset for each shard to have at least one element "
                f"(# elems < {step}, # shards = {step}). If you are using datasets with distribution "
                "strategy, consider setting the auto sharding policy to `DATA` using the "
                "`experimental_distribute.auto_shard_policy` option of `tf.data.Options`."
            )
        return itertools.chain([first], found)

    size = dataset.cardinality
    return Dataset(rows, size if size < 0 else max(0, -(-(size - start) // step)))
