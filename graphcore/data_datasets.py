"""`tf.data.Dataset`: pipelines of elements, as datasets in the graph.

Functions that are mapped over elements become functions of the graph's library, as in TensorFlow; what
they use from outside is passed to them when the iterator starts.

Source: tensorflow/python/data/ops/dataset_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import nest
from .convert import constant, convert_to_tensor
from .data_elements import (
    Element,
    MappedFunction,
    common_shape,
    leaves_of,
    scalar_of,
    seeds_of,
    shapes_like,
    tensors_of,
)
from .data_iterators import Iterator, make_initializable_iterator, make_one_shot_iterator
from .data_options import Options
from .default import get_default_graph, name_scope
from .dtypes import as_dtype, int64, string, variant
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .operation import Tensor
from .ops.control_flow import tf_assert
from .ops.script import py_func
from .ops.string import reduce_join
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape


class Dataset:
    """A pipeline of elements; methods give new pipelines.

    Args:
        variant_tensor: The dataset's tensor.
        element: The structure of its elements.
    """

    def __init__(self, variant_tensor: Any, element: Element) -> None:
        self._variant_tensor = variant_tensor
        self._element = element
        self._options: Options | None = None

    # What it is

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components."""
        from .data_structures import spec_of

        return spec_of(self._element)

    @property
    def output_types(self) -> Any:
        """The dtypes of an element's components."""
        return self._element.types

    @property
    def output_shapes(self) -> Any:
        """The static shapes of an element's components."""
        return self._element.shapes

    @property
    def output_classes(self) -> Any:
        """The classes of an element's components."""
        return self._element.classes

    def __repr__(self) -> str:
        return f"<{type(self).__name__} shapes: {self.output_shapes}, types: {self.output_types}>"

    # Sources

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element."""
        with name_scope("tensors"):
            structure = tensors_of(tensors)
        element = Element.of(structure)
        made = raw_ops.TensorDataset(element.tensors(structure), output_shapes=element.flat_shapes)
        return Dataset(made, element)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The rows of tensors of equal first dimensions.

        Raises:
            ValueError: First dimensions differ, or a component is a scalar.
        """
        with name_scope("tensors"):
            structure = tensors_of(tensors)
        rows = TensorShape([None])
        for leaf in nest.flatten(structure):
            rows = rows.merge_with(leaf.get_shape().with_rank_at_least(1)[:1])
        whole = Element.of(structure)
        element = whole.reshaped(lambda shape: shape[1:])
        made = raw_ops.TensorSliceDataset(whole.batched_tensors(structure), output_shapes=element.flat_shapes)
        return Dataset(made, element)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """The rows of a sparse tensor, each as its indices, values and shape.

        Raises:
            TypeError: It is no SparseTensor.
        """
        if not isinstance(sparse_tensor, SparseTensor):
            raise InvalidTypeError(
                f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}."
            )
        parts = sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape
        columns, axes = parts[0].get_shape()[1].value, parts[2].get_shape()[0].value
        known = axes if columns is None else columns
        rank = None if known is None else known - 1
        element = Element(
            (int64, sparse_tensor.dtype, int64),
            (TensorShape([None, rank]), TensorShape([None]), TensorShape([rank])),
        )
        return Dataset(raw_ops.SparseTensorSliceDataset(*parts), element)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """int64 numbers: `range(stop)`, `range(start, stop)`, `range(start, stop, step)`.

        Raises:
            ValueError: There are no or more than three arguments.
        """
        if not 1 <= len(args) <= 3:
            raise InvalidValueError(f"Invalid arguments to RangeDataset: {args}")
        numbers = {1: (0, args[0], 1), 2: (*args, 1), 3: args}[len(args)]
        named = zip(numbers, ("start", "stop", "step"))
        inputs = [scalar_of(value, int64, name) for value, name in named]
        element = Element(int64, TensorShape([]))
        return Dataset(raw_ops.RangeDataset(*inputs, **element.attrs()), element)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements of nested tuples and dicts of datasets, until one ends.

        Raises:
            TypeError: An argument is no dataset, or lists are given.
        """
        flat = nest.flatten(datasets)
        for each in flat:
            if not isinstance(each, Dataset):
                if isinstance(datasets, list):
                    raise InvalidTypeError(
                        "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
                        " Nested structures do not support Python lists; please use a tuple instead."
                    )
                raise InvalidTypeError(
                    "The argument to `Dataset.zip()` must be a nested structure of datasets."
                )
        element = Element(
            nest.map_structure(lambda each: each._element.types, datasets),
            nest.map_structure(lambda each: each._element.shapes, datasets),
            [kind for each in flat for kind in each._element.kinds],
        )
        return Dataset(
            raw_ops.ZipDataset([each._variant_tensor for each in flat], **element.attrs()), element
        )

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any, output_shapes: Any = None, args: Any = None
    ) -> Dataset:
        """What a Python generator function gives.

        Args:
            generator: Called for each iterator, gives an iterable of elements.
            output_types: The elements' dtypes, in their structure.
            output_shapes: Their static shapes; unknown by default.
            args: Tensors whose values the generator is called with.

        Raises:
            TypeError: `generator` is not callable.
        """
        if not callable(generator):
            raise InvalidTypeError("`generator` must be callable.")
        types = nest.map_structure(as_dtype, output_types)
        if output_shapes is None:
            shapes = nest.map_structure(lambda _: TensorShape(None), types)
        else:
            shapes = shapes_like(types, output_shapes)
        element = Element(types, shapes)
        running: dict[int, Any] = {}

        def start(*values: Any) -> Any:
            key = max(running, default=-1) + 1
            running[key] = iter(generator(*values))
            return np.array(key, np.int64)

        def advance(key: Any) -> Any:
            row = next(running[int(key)])
            return [
                np.asarray(value, dtype.np) if dtype != string else value
                for value, dtype in zip(leaves_of(row, types), element.flat_types, strict=True)
            ]

        def finish(key: Any) -> Any:
            running.pop(int(key), None)
            return np.array(0, np.int64)

        given = [convert_to_tensor(each, name="args") for each in args or ()]
        begin = MappedFunction(
            lambda *values: py_func(start, list(values), int64),
            Element.of(tuple(given)),
            "generator_init",
        )
        state = Element((int64,), (TensorShape([]),))

        def rows(key: Any) -> Any:
            values = py_func(advance, [key], element.flat_types)
            for value, shape in zip(values, element.flat_shapes):
                value.set_shape(shape)
            return tuple(values)

        following = MappedFunction(rows, state, "generator_next")
        end = MappedFunction(lambda key: py_func(finish, [key], int64), state, "generator_finalize")
        made = raw_ops.GeneratorDataset(
            [*given, *begin.captured],
            following.captured,
            end.captured,
            init_func=begin.call,
            next_func=following.call,
            finalize_func=end.call,
            **element.attrs(),
        )
        return Dataset(made, element)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: int | None = None) -> Dataset:
        """The names of files that match patterns, shuffled by default."""
        with name_scope("list_files"):
            pattern = convert_to_tensor(file_pattern, string, name="file_pattern")
            found = raw_ops.MatchingFiles(pattern)
            count = raw_ops.Shape(found, out_type=int64)[0]
            message = "No files matched pattern: " + reduce_join(pattern, separator=", ")
            some = tf_assert(raw_ops.Greater(count, 0), [message], summarize=1, name="assert_not_empty")
            with get_default_graph().control_dependencies([some]):
                found = raw_ops.Identity(found)
            dataset = Dataset.from_tensor_slices(found)
            if shuffle or shuffle is None:
                dataset = dataset.shuffle(raw_ops.Maximum(count, 1), seed=seed)
            return dataset

    # Transformations

    def _changed(self, kind: Any, *inputs: Any, **attrs: Any) -> Dataset:
        """A dataset of the same structure."""
        return Dataset(kind(self._variant_tensor, *inputs, **attrs, **self._element.attrs()), self._element)

    def concatenate(self, dataset: Dataset) -> Dataset:
        """This dataset, and then another one.

        Raises:
            TypeError: The dtypes differ.
        """
        if nest.flatten(self._element.types) != nest.flatten(dataset._element.types):
            raise InvalidTypeError(
                "Two datasets to concatenate have different types "
                f"{self.output_types} and {dataset.output_types}"
            )
        if nest.flatten(self.output_classes) != nest.flatten(dataset.output_classes):
            raise InvalidTypeError(
                "Two datasets to concatenate have different classes "
                f"{self.output_classes} and {dataset.output_classes}"
            )
        pairs = zip(nest.flatten(self._element.shapes), nest.flatten(dataset._element.shapes))
        shapes = [a if a.as_tuple() == b.as_tuple() else common_shape(a, b) for a, b in pairs]
        element = self._element.with_shapes(shapes)
        made = raw_ops.ConcatenateDataset(self._variant_tensor, dataset._variant_tensor, **element.attrs())
        return Dataset(made, element)

    def repeat(self, count: Any = None) -> Dataset:
        """`count` times; for ever by default."""
        return self._changed(raw_ops.RepeatDataset, scalar_of(-1 if count is None else count, int64, "count"))

    def take(self, count: Any) -> Dataset:
        """The first `count` elements; all where it is -1."""
        return self._changed(raw_ops.TakeDataset, scalar_of(count, int64, "count"))

    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements."""
        return self._changed(raw_ops.SkipDataset, scalar_of(count, int64, "count"))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Each `num_shards`-th element from number `index` on."""
        return self._changed(
            raw_ops.ShardDataset, scalar_of(num_shards, int64, "num_shards"), scalar_of(index, int64, "index")
        )

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The same elements; TensorFlow makes them ahead."""
        return self._changed(raw_ops.PrefetchDataset, scalar_of(buffer_size, int64, "buffer_size"))

    def cache(self, filename: Any = "") -> Dataset:
        """The same elements, computed once."""
        return self._changed(raw_ops.CacheDataset, scalar_of(filename, string, "filename"))

    def shuffle(
        self, buffer_size: Any, seed: int | None = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """The elements in random order, out of a buffer of `buffer_size`."""
        return self._changed(
            raw_ops.ShuffleDataset,
            scalar_of(buffer_size, int64, "buffer_size"),
            *seeds_of(seed),
            reshuffle_each_iteration=reshuffle_each_iteration is None or reshuffle_each_iteration,
        )

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Consecutive elements stacked; the last batch may be smaller unless `drop_remainder`."""
        size = scalar_of(batch_size, int64, "batch_size")
        known = get_default_graph().constant_value(size)
        rows = int(known) if known is not None and drop_remainder is True else None
        element = self._element.reshaped(lambda shape: TensorShape([rows]).concatenate(shape))
        made = raw_ops.BatchDatasetV2(
            self._variant_tensor, size, convert_to_tensor(drop_remainder), **element.attrs()
        )
        return Dataset(made, element)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any,
        padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:
        """Consecutive elements filled up to `padded_shapes` and stacked.

        Args:
            batch_size: The number of elements.
            padded_shapes: A shape for each component; an unknown dimension is the longest of the batch.
            padding_values: What to fill up with, for each component; zeros and empty strings by default.
            drop_remainder: Leave out a last batch that is smaller.
        """
        if any(self._element.kinds):
            raise InvalidTypeError("Batching of padded sparse tensors is not currently supported.")
        size = scalar_of(batch_size, int64, "batch_size")
        known = get_default_graph().constant_value(size)
        rows = int(known) if known is not None and drop_remainder is True else None
        shapes = nest.flatten(shapes_like(self._element.types, padded_shapes))
        sizes = []
        for index, given in enumerate(leaves_of(padded_shapes, self._element.types)):
            if isinstance(given, Tensor) and shapes[index].ndims is None:  # only the run knows it
                shapes[index] = TensorShape([None] * (given.get_shape()[0].value or 0))
                sizes.append(raw_ops.Cast(given, DstT=int64))
            else:
                dims = [-1 if dim is None else dim for dim in shapes[index].as_list()]
                sizes.append(constant(np.array(dims, np.int64)))
        if padding_values is None:
            fills = [constant(b"" if t == string else np.zeros((), t.np)) for t in self._element.flat_types]
        else:
            fills = [
                convert_to_tensor(value, dtype)
                for value, dtype in zip(nest.flatten(padding_values), self._element.flat_types, strict=True)
            ]
        result = [TensorShape([rows]).concatenate(shape) for shape in shapes]
        element = Element(self._element.types, nest.pack_sequence_as(self._element.types, result))
        made = raw_ops.PaddedBatchDatasetV2(
            self._variant_tensor,
            size,
            sizes,
            fills,
            convert_to_tensor(drop_remainder),
            output_shapes=element.flat_shapes,
        )
        return Dataset(made, element)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """What a function gives for each element; a tuple's components are its arguments."""
        function = MappedFunction(map_func, self._element, "map")
        if num_parallel_calls is None:
            made = raw_ops.MapDataset(
                self._variant_tensor, function.captured, f=function.call, **function.element.attrs()
            )
        else:
            made = raw_ops.ParallelMapDataset(
                self._variant_tensor,
                function.captured,
                convert_to_tensor(num_parallel_calls, name="num_parallel_calls"),
                f=function.call,
                **function.element.attrs(),
            )
        return Dataset(made, function.element)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The datasets that a function gives for the elements, one after the other.

        Raises:
            TypeError: The function gives no dataset.
        """
        function = self._making_datasets(map_func, "flat_map")
        made = raw_ops.FlatMapDataset(
            self._variant_tensor, function.captured, f=function.call, **function.dataset.attrs()
        )
        return Dataset(made, function.dataset)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = 1,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:
        """The datasets that a function gives, `cycle_length` open ones mixed by `block_length` elements.

        Raises:
            TypeError: The function gives no dataset.
        """
        function = self._making_datasets(map_func, "interleave")
        inputs = [
            self._variant_tensor,
            function.captured,
            scalar_of(cycle_length, int64, "cycle_length"),
            scalar_of(block_length, int64, "block_length"),
        ]
        options = {"f": function.call, **function.dataset.attrs()}
        if num_parallel_calls is None:
            made = raw_ops.InterleaveDataset(*inputs, **options)
        else:
            calls = scalar_of(num_parallel_calls, int64, "num_parallel_calls")
            made = raw_ops.ParallelInterleaveDatasetV2(*inputs, calls, **options)
        return Dataset(made, function.dataset)

    def _making_datasets(self, map_func: Callable[..., Any], what: str) -> MappedFunction:
        function = MappedFunction(map_func, self._element, what)
        if function.dataset is None:
            raise InvalidTypeError("`map_func` must return a `Dataset` object.")
        return function

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a function gives true.

        Raises:
            TypeError: The function does not give a scalar boolean.
        """
        function = MappedFunction(predicate, self._element, "filter")
        types, shapes = function.element.flat_types, function.element.flat_shapes
        if len(types) != 1 or types[0].name != "bool" or shapes[0].ndims not in (None, 0):
            raise InvalidTypeError("`predicate` must return a scalar boolean tensor.")
        return self._changed(raw_ops.FilterDataset, function.captured, predicate=function.call)

    def enumerate(self, start: int = 0) -> Dataset:
        """Each element behind its number."""
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """A state after a function (state, element) -> state has taken each element into it.

        Raises:
            TypeError: The function gives another dtype than the state has.
        """
        state = tensors_of(initial_state, "initial_state")
        before = Element.of(state)
        both = Element(
            (before.types, self._element.types),
            (before.shapes, self._element.shapes),
            [*before.kinds, *self._element.kinds],
        )
        function = MappedFunction(reduce_func, both, "reduce")
        if function.element.flat_types != before.flat_types:
            raise InvalidTypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{before.types}; got {function.element.types}."
            )
        made = raw_ops.ReduceDataset(
            self._variant_tensor,
            before.tensors(state),
            function.captured,
            f=function.call,
            **function.element.attrs(),
        )
        return before.pack(made)

    def map_with_legacy_function(
        self, map_func: Callable[..., Any], num_parallel_calls: Any = None
    ) -> Dataset:
        """As `map`."""
        return self.map(map_func, num_parallel_calls)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """As `filter`."""
        return self.filter(predicate)

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False) -> Dataset:
        """Windows over the elements: of each component a dataset of `size` of its values.

        Args:
            size: The number of elements in a window.
            shift: How many elements lie between the starts of two; by default `size`.
            stride: How many elements lie between two of one window.
            drop_remainder: Leave out windows that are smaller.
        """
        inner = self._element
        element = Element(
            nest.map_structure(lambda _: variant, inner.types),
            nest.map_structure(lambda _: TensorShape([]), inner.types),
            inner.apart(),
        )
        made = raw_ops.WindowDataset(
            self._variant_tensor,
            scalar_of(size, int64, "size"),
            scalar_of(size if shift is None else shift, int64, "shift"),
            scalar_of(stride, int64, "stride"),
            convert_to_tensor(drop_remainder, name="drop_remainder"),
            **element.attrs(),
        )
        return Dataset(made, element)

    def unbatch(self) -> Dataset:
        """The rows of the elements one by one."""
        whole = self._element
        source = self
        if any(whole.kinds):
            source = self.map(
                lambda *parts: tuple(whole.batched_tensors(parts if len(parts) > 1 else parts[0]))
            )
        element = whole.reshaped(lambda shape: shape[1:])
        return Dataset(raw_ops.UnbatchDataset(source._variant_tensor, **element.attrs()), element)

    def with_options(self, options: Options) -> Dataset:
        """The same elements, and options for how they are made; those set before stay.

        Raises:
            ValueError: One is set differently already.
        """
        made = Dataset(self._variant_tensor, self._element)
        made._options = self.options().merge(options)
        return made

    def options(self) -> Options:
        """The options that were given here and to what this is made of, as far as `with_options` follows."""
        return self._options or Options()

    def apply(self, transformation_func: Callable[[Dataset], Any]) -> Any:
        """What a function makes of the dataset."""
        return transformation_func(self)

    # Iterators

    def make_one_shot_iterator(self) -> Iterator:
        """An iterator that goes through the dataset once and needs no initialization."""
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """An iterator that starts anew whenever its `initializer` runs."""
        return make_initializable_iterator(self, shared_name)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of an element's components."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The static shapes of an element's components."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of an element's components."""
    return dataset_or_iterator.output_classes
