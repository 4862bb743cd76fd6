"""`tf.data.experimental`'s transformations: functions for `Dataset.apply`, and datasets of datasets.

Source: tensorflow/python/data/experimental/ops (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import nest
from .convert import constant, convert_to_tensor
from .data_datasets import Dataset
from .data_elements import (
    Element,
    MappedFunction,
    common_shape,
    scalar_of,
    seeds_of,
    tensors_of,
)
from .data_files import TFRecordDataset
from .data_grouping import KEY, Transformation, scan
from .data_iterators import Iterator
from .default import get_default_graph, name_scope
from .dtypes import float32, float64, int64, string
from .errors import InvalidTypeError, InvalidValueError
from .example_parsing import EXAMPLE_FEATURES, Wanted
from .op import raw_ops
from .operation import Operation, Tensor
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def unbatch() -> Transformation:
    """The rows of the elements one by one."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: int = 0) -> Transformation:
    """Each element behind its number."""
    return lambda dataset: dataset.enumerate(start)


def ignore_errors() -> Transformation:
    """The elements, those left out that cannot be computed."""
    return lambda dataset: dataset._changed(raw_ops.IgnoreErrorsDataset)


def unique() -> Transformation:
    """Each element that has not come before."""
    return lambda dataset: dataset._changed(raw_ops.UniqueDataset)


def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The elements as they are: there is no device but the CPU."""
    return lambda dataset: dataset


def prefetch_to_device(device: str, buffer_size: Any = None) -> Transformation:
    """The elements, made ahead of time: `buffer_size` of them, by default as many as seem good."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: int | None = None) -> Transformation:
    """The elements `count` times (for ever by default), in random order out of a buffer."""

    def apply(dataset: Dataset) -> Dataset:
        size = scalar_of(buffer_size, int64, "buffer_size")
        times = scalar_of(-1 if count is None else count, int64, "count")
        return dataset._changed(raw_ops.ShuffleAndRepeatDataset, size, *seeds_of(seed), times)

    return apply


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Consecutive elements of different sizes as one sparse tensor.

    Args:
        batch_size: The number of elements.
        row_shape: The largest shape of an element; an unknown dimension is the longest of the batch.
    """

    def apply(dataset: Dataset) -> Dataset:
        (dtype,) = dataset._element.flat_types
        shape = TensorShape(row_shape)
        element = Element(dtype, TensorShape([None]).concatenate(shape), [SparseTensor])
        sizes = [-1 if dim is None else dim for dim in shape.as_list()]
        parts = raw_ops.DenseToSparseBatchDataset(
            dataset._variant_tensor,
            scalar_of(batch_size, int64, "batch_size"),
            constant(np.array(sizes, np.int64)),
            **element.attrs(),
        )
        return Dataset(parts, element)

    return apply


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """What a function gives for each element, stacked.

    Raises:
        ValueError: Both `num_parallel_batches` and `num_parallel_calls` are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise InvalidValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )

    def apply(dataset: Dataset) -> Dataset:
        function = MappedFunction(map_func, dataset._element, "map_and_batch")
        size = scalar_of(batch_size, int64, "batch_size")
        known = get_default_graph().constant_value(size)
        rows = int(known) if known is not None and drop_remainder is True else None
        element = function.element.reshaped(lambda shape: TensorShape([rows]).concatenate(shape))
        calls = batch_size * num_parallel_batches if num_parallel_batches is not None else num_parallel_calls
        made = raw_ops.MapAndBatchDataset(
            dataset._variant_tensor,
            function.captured,
            size,
            scalar_of(1 if calls is None else calls, int64, "num_parallel_calls"),
            convert_to_tensor(drop_remainder, name="drop_remainder"),
            f=function.call,
            **element.attrs(),
        )
        return Dataset(made, element)

    return apply


# Several datasets


def _directed(selector: Dataset, datasets: Sequence[Dataset]) -> Dataset:
    first = datasets[0]._element
    for each in datasets[1:]:
        if each._element.flat_types != first.flat_types or each.output_types != datasets[0].output_types:
            raise InvalidTypeError("All datasets must have the same type and class.")
    columns = zip(*[nest.flatten(each._element.shapes) for each in datasets])
    shapes = []
    for column in columns:
        shape = column[0]
        for each in column[1:]:
            shape = shape if shape.as_tuple() == each.as_tuple() else common_shape(shape, each)
        shapes.append(shape)
    element = first.with_shapes(shapes)
    made = raw_ops.DirectedInterleaveDataset(
        selector._variant_tensor, [each._variant_tensor for each in datasets], **element.attrs()
    )
    return Dataset(made, element)


def choose_from_datasets(datasets: Sequence[Dataset], choice_dataset: Dataset) -> Dataset:
    """Elements of datasets in the order in which a dataset of int64 numbers names them.

    Raises:
        TypeError: `choice_dataset` has other elements, or the datasets differ in their types.
    """
    element = choice_dataset._element
    if element.flat_types != [int64] or element.flat_shapes[0].ndims not in (None, 0):
        raise InvalidTypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, datasets)


def sample_from_datasets(
    datasets: Sequence[Dataset], weights: Any = None, seed: int | None = None
) -> Dataset:
    """Elements of datasets, each drawn at random from one of them.

    Args:
        datasets: The datasets.
        weights: How likely each is, a vector or a dataset of such; all alike by default.
        seed: Of the random numbers.

    Raises:
        TypeError: The weights are not floating, or the datasets differ in their types.
        ValueError: There are not so many weights.
    """

    def drawn(logits: Any, numbers: Any) -> Any:
        found = raw_ops.StatelessMultinomial(logits, 1, numbers, output_dtype=int64)
        return raw_ops.Squeeze(found, squeeze_dims=[0, 1])

    seeds = RandomDataset(seed).batch(2)
    if isinstance(weights, Dataset):
        logits = weights.map(lambda *parts: raw_ops.ExpandDims(raw_ops.Log(parts[0]), 0))
        return _directed(Dataset.zip((logits, seeds)).map(drawn), datasets)
    if weights is None:
        fixed = convert_to_tensor([[1.0] * len(datasets)])
    else:
        given = convert_to_tensor(weights, name="weights")
        if given.dtype not in (float32, float64):
            raise InvalidTypeError(
                "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements."
            )
        if not given.get_shape().is_compatible_with(TensorShape([len(datasets)])):
            raise InvalidValueError("`weights` must be a vector of length `len(datasets)`.")
        fixed = raw_ops.ExpandDims(raw_ops.Log(given, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]
    return _directed(seeds.map(lambda numbers: drawn(fixed, numbers)), datasets)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """The datasets that a function gives, `cycle_length` open ones mixed by `block_length` elements.

    Raises:
        TypeError: The function gives no dataset.
    """

    def apply(dataset: Dataset) -> Dataset:
        function = dataset._making_datasets(map_func, "parallel_interleave")
        ahead = 2 * block_length if buffer_output_elements is None else buffer_output_elements
        inputs = 2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements
        made = raw_ops.ExperimentalParallelInterleaveDataset(
            dataset._variant_tensor,
            function.captured,
            scalar_of(cycle_length, int64, "cycle_length"),
            scalar_of(block_length, int64, "block_length"),
            convert_to_tensor(sloppy, name="sloppy"),
            scalar_of(ahead, int64, "buffer_output_elements"),
            scalar_of(inputs, int64, "prefetch_input_elements"),
            f=function.call,
            **function.dataset.attrs(),
        )
        return Dataset(made, function.dataset)

    return apply


# Sources


class RandomDataset(Dataset):
    """Random int64 numbers of 32 bits, for ever."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(raw_ops.RandomDataset(*seeds_of(seed), **KEY.attrs()), KEY)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """Numbers from `start` on, `step` apart, for ever."""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype, name="start")
        distance = convert_to_tensor(step, dtype, name="step")
        endless = Dataset.from_tensors(0).repeat(None)
        made: Dataset = endless.apply(scan(first, lambda state, _: (state + distance, state)))
        return made


# Statistics, which are not gathered here


def latency_stats(tag: str) -> Transformation:
    """The same elements; TensorFlow would note how long each takes."""
    return lambda dataset: dataset._changed(raw_ops.LatencyStatsDataset, scalar_of(tag, string, "tag"))


def bytes_produced_stats(tag: str) -> Transformation:
    """The same elements; TensorFlow would note how large each is."""
    return lambda dataset: dataset._changed(raw_ops.BytesProducedStatsDataset, scalar_of(tag, string, "tag"))


# Examples


def parse_example_dataset(features: dict[str, Any], num_parallel_calls: Any = 1) -> Transformation:
    """The features of vectors of serialized Examples, batched, as dicts.

    Args:
        features: A FixedLenFeature, FixedLenSequenceFeature, VarLenFeature or SparseFeature by key.
        num_parallel_calls: Kept for TensorFlow.

    Raises:
        ValueError: `features` is missing, or a feature is none of those or has no shape.
        TypeError: The dataset's elements are no vectors of strings.
    """
    if features is None:
        raise InvalidValueError(f"Missing: features was {features}.")

    def apply(dataset: Dataset) -> Dataset:
        given = dataset._element
        fits = given.flat_types == [string] and not nest.is_nested(given.types)
        if not fits or given.flat_shapes[0].ndims not in (None, 1):
            raise InvalidTypeError("Input dataset should be a dataset of vectors of strings")
        wanted = Wanted.of(features, EXAMPLE_FEATURES, rows=True)
        lead = given.flat_shapes[0]
        types = {key: dtype for key, (dtype, _, _) in wanted.dense.items()} | wanted.sparse
        shapes = {key: lead.concatenate(shape) for key, (_, shape, _) in wanted.dense.items()}
        shapes |= {key: lead.concatenate(TensorShape([None])) for key in wanted.sparse}
        kinds = [SparseTensor if key in wanted.sparse else None for key in sorted(types)]
        element = Element(types, shapes, kinds)
        made = raw_ops.ParseExampleDataset(
            dataset._variant_tensor,
            scalar_of(num_parallel_calls, int64, "num_parallel_calls"),
            wanted.defaults(),
            sparse_keys=list(wanted.sparse),
            dense_keys=list(wanted.dense),
            **wanted.attributes(),
            **element.attrs(),
        )
        parsed = Dataset(made, element)
        if not wanted.merged:
            return parsed
        return parsed.map(lambda found: wanted.merge(dict(found), features))

    return apply


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Any = TFRecordDataset,
    label_key: str | None = None,
    reader_args: Sequence[Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of parsed Examples out of the files that match a pattern.

    Args:
        file_pattern: One pattern or several.
        batch_size: Examples in a batch.
        features: As for `parse_example_dataset`.
        reader: From a file's name to a dataset of its records (or of pairs of keys and records).
        label_key: The feature that is given apart, as the second of a pair.
        reader_args: Further arguments of `reader`.
        num_epochs: How often to go through; for ever by default.
        shuffle: Whether to.
        shuffle_buffer_size: Out of how many.
        shuffle_seed: Of the random order.
        prefetch_buffer_size: Kept for TensorFlow.
        reader_num_threads: How many files to mix.
        parser_num_threads: Kept for TensorFlow.
        sloppy_ordering: Kept for TensorFlow.
        drop_final_batch: Leave out a last batch that is smaller.

    Raises:
        ValueError: `label_key` is no feature.
    """
    if label_key and label_key not in features:
        raise InvalidValueError(
            f"The `label_key` provided ({label_key!r}) must be one of the `features` keys."
        )
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    threads = 1 if reader_num_threads is None else reader_num_threads
    dataset: Dataset = names.apply(
        parallel_interleave(
            lambda name: reader(name, *(reader_args or ())),
            cycle_length=max(threads, 1),
            sloppy=sloppy_ordering,
        )
    )
    if dataset._element.flat_types == [string, string]:
        dataset = dataset.map(lambda _, record: record)
    if num_epochs != 1 and shuffle:
        dataset = dataset.apply(shuffle_and_repeat(shuffle_buffer_size, num_epochs, shuffle_seed))
    elif shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    elif num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(
        parse_example_dataset(features, 2 if parser_num_threads is None else parser_num_threads)
    )
    if label_key:

        def with_label(found: dict[str, Any]) -> Any:
            rest = dict(found)
            label = rest.pop(label_key)
            return rest, label

        dataset = dataset.map(with_label)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


# Out of datasets


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements there are; INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
    made: Tensor = raw_ops.DatasetCardinality(dataset._variant_tensor)
    return made


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset; running it is an error where there is not just one.

    Raises:
        TypeError: It is no dataset.
    """
    if not isinstance(dataset, Dataset):
        raise InvalidTypeError("`dataset` must be a `tf.data.Dataset` object.")
    element = dataset._element
    return element.pack(list(raw_ops.DatasetToSingleElement(dataset._variant_tensor, **element.attrs())))


def to_variant(dataset: Dataset) -> Tensor:
    """The tensor of a dataset."""
    made: Tensor = dataset._variant_tensor
    return made


class TFRecordWriter:
    """Writes datasets of strings into a TFRecord file.

    Args:
        filename: The file.
        compression_type: "", "ZLIB" or "GZIP".
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = convert_to_tensor(filename, string, name="filename")
        self._compression = scalar_of(compression_type or "", string, "compression_type")

    def write(self, dataset: Dataset) -> Operation:
        """An operation that writes the elements.

        Raises:
            TypeError: It is no dataset, or one of other elements than scalar strings.
        """
        if not isinstance(dataset, Dataset):
            raise InvalidTypeError("`dataset` must be a `tf.data.Dataset` object.")
        if dataset._element.flat_types != [string] or nest.is_nested(dataset._element.types):
            raise InvalidTypeError(
                f"`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                f"{dataset.output_shapes} and types {dataset.output_types}"
            )
        made: Operation = raw_ops.DatasetToTFRecord(
            dataset._variant_tensor, self._filename, self._compression
        )
        return made


class Optional:
    """A value that may be absent.

    Args:
        variant_tensor: The tensor that holds it.
        element: Its structure.
    """

    def __init__(self, variant_tensor: Any, element: Element) -> None:
        self._optional, self._structure = variant_tensor, element

    @staticmethod
    def from_value(value: Any) -> Optional:
        """One that is there."""
        structure = tensors_of(value)
        element = Element.of(structure)
        return Optional(raw_ops.OptionalFromValue(element.tensors(structure)), element)

    @staticmethod
    def none_from_structure(value_structure: Any) -> Optional:
        """One that is absent, and would be of that structure of specs."""
        from .data_structures import element_of

        return Optional(raw_ops.OptionalNone(), element_of(value_structure))

    @property
    def value_structure(self) -> Any:
        """The specs of the value, in their structure."""
        from .data_structures import spec_of

        return spec_of(self._structure)

    def has_value(self, name: str | None = None) -> Tensor:
        """Whether it is there, a bool tensor."""
        made: Tensor = raw_ops.OptionalHasValue(self._optional, name=name)
        return made

    def get_value(self, name: str | None = None) -> Any:
        """The value; running it where there is none is an error."""
        tensors = raw_ops.OptionalGetValue(self._optional, name=name, **self._structure.attrs())
        return self._structure.pack(list(tensors))


def get_next_as_optional(iterator: Iterator) -> Optional:
    """The next element of an iterator, absent after the last."""
    element = iterator._element
    made = raw_ops.IteratorGetNextAsOptional(iterator._iterator_resource, **element.attrs())
    return Optional(made, element)
