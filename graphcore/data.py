"""`tf.data`: pipelines of elements, as datasets in the graph and iterators over them.

Functions that are mapped over elements become functions of the graph's library, as in TensorFlow; what
they use from outside is passed to them when the iterator starts.

Source: tensorflow/python/data/ops/dataset_ops.py and iterator_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import nest, not_yet
from .convert import constant, convert_to_tensor
from .default import GraphKeys, get_default_graph, name_scope
from .dtypes import as_dtype, int64, string, variant
from .errors import InvalidTypeError, InvalidValueError, OutOfRangeError, UnimplementedError
from .function_defs import function_of, trace, unique_function_name
from .op import raw_ops
from .operation import Operation, Tensor
from .ops.script import py_func
from .random_seed import get_seed
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape, as_shape


class _Element:
    """The structure of a dataset's elements: nested tuples and dicts of dtypes and shapes.

    Lists are tensors here, as in TensorFlow.
    """

    def __init__(self, types: Any, shapes: Any) -> None:
        self.types = types
        self.shapes = shapes

    @classmethod
    def of(cls, structure: Any) -> _Element:
        """That of tensors."""
        return cls(
            nest.map_structure(lambda leaf: leaf.dtype.base_dtype, structure),
            nest.map_structure(lambda leaf: leaf.get_shape(), structure),
        )

    @property
    def flat_types(self) -> list[Any]:
        """The dtypes in order."""
        return nest.flatten(self.types)

    @property
    def flat_shapes(self) -> list[TensorShape]:
        """The shapes in order."""
        return nest.flatten(self.shapes)

    def pack(self, tensors: Sequence[Any]) -> Any:
        """Tensors in this structure."""
        return nest.pack_sequence_as(self.types, list(tensors))

    def reshaped(self, change: Callable[[TensorShape], TensorShape]) -> _Element:
        """The same structure with other shapes."""
        return _Element(self.types, nest.map_structure(change, self.shapes))

    def attrs(self, prefix: str = "output") -> dict[str, Any]:
        """The attributes that say it."""
        return {f"{prefix}_types": self.flat_types, f"{prefix}_shapes": self.flat_shapes}


def _tensors(value: Any, name: str = "component") -> Any:
    """Nested tuples and dicts of tensors out of what converts to tensors; lists are one tensor."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_tensors(item, name) for item in value])
    if isinstance(value, tuple):
        return tuple(_tensors(item, name) for item in value)
    if isinstance(value, Mapping):
        return type(value)((key, _tensors(item, name)) for key, item in value.items())  # type: ignore[call-arg]
    if isinstance(value, SparseTensor):
        raise UnimplementedError("Sparse tensors as components of elements are not supported by tf.data yet.")
    return convert_to_tensor(value, name=name)


def _scalar(value: Any, dtype: Any, name: str) -> Any:
    return convert_to_tensor(value, dtype, name=name)


def _seeds(seed: Any) -> tuple[Any, Any]:
    """The two seeds of a dataset; never both 0 where one is given."""
    first, second = get_seed(seed)
    if first == 0 and second == 0:
        second = 2**31 - 1
    return (
        constant(first or 0, dtype=int64, name="seed"),
        constant(second or 0, dtype=int64, name="seed2"),
    )


class _Function:
    """A Python function of elements, traced into the graph's library.

    Attributes:
        call: The NameAttrList message.
        captured: The outside tensors that it uses, its last arguments.
        element: The structure of what it gives; None where that is a dataset.
        dataset: The structure of the dataset's elements that it gives.
    """

    def __init__(self, function: Callable[..., Any], element: _Element, name: str) -> None:
        outer = get_default_graph()
        found: dict[str, Any] = {}

        def flat(*arguments: Any) -> Any:
            packed = element.pack(arguments)
            is_plain_tuple = isinstance(packed, tuple) and not hasattr(packed, "_fields")
            result = function(*packed) if is_plain_tuple else function(packed)
            if isinstance(result, Dataset):
                found["dataset"] = result._element
                return [result._variant_tensor]
            structure = _tensors(result)
            found["element"] = _Element.of(structure)
            return nest.flatten(structure)

        graph, arguments, results = trace(flat, element.flat_types, element.flat_shapes, outer)
        results = [graph._from_outside(each, "") if each.graph is not graph else each for each in results]
        self.element: Any = found.get("element")
        self.dataset: Any = found.get("dataset")
        self.captured = list(graph.captured)
        definition = function_of(
            unique_function_name(
                outer._functions, f"{name}_{getattr(function, '__name__', 'fn').strip('<>')}"
            ),
            graph.get_operations(),
            [*arguments, *graph.captured.values()],
            results,
            any(op.kind is not None and op.kind.definition.stateful for op in graph.get_operations()),
        )
        outer._functions[definition.signature.name] = definition
        self.call = _name_attr_list(definition.signature.name)


def _name_attr_list(name: str) -> Any:
    from ..formats import protos

    return protos.NameAttrList(name=name)


class Dataset:
    """A pipeline of elements; methods give new pipelines.

    Args:
        variant_tensor: The dataset's tensor.
        element: The structure of its elements.
    """

    def __init__(self, variant_tensor: Any, element: _Element) -> None:
        self._variant_tensor = variant_tensor
        self._element = element

    # What it is

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
        return nest.map_structure(lambda _: Tensor, self._element.types)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} shapes: {self.output_shapes}, types: {self.output_types}>"

    # Sources

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element."""
        with name_scope("tensors"):
            structure = _tensors(tensors)
        element = _Element.of(structure)
        made = raw_ops.TensorDataset(nest.flatten(structure), output_shapes=element.flat_shapes)
        return Dataset(made, element)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The rows of tensors of equal first dimensions.

        Raises:
            ValueError: First dimensions differ, or a component is a scalar.
        """
        with name_scope("tensors"):
            structure = _tensors(tensors)
        rows = TensorShape([None])
        for leaf in nest.flatten(structure):
            rows = rows.merge_with(leaf.get_shape().with_rank_at_least(1)[:1])
        element = _Element.of(structure).reshaped(lambda shape: shape[1:])
        made = raw_ops.TensorSliceDataset(nest.flatten(structure), output_shapes=element.flat_shapes)
        return Dataset(made, element)

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
        inputs = [_scalar(value, int64, name) for value, name in named]
        element = _Element(int64, TensorShape([]))
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
        element = _Element(
            nest.map_structure(lambda each: each._element.types, datasets),
            nest.map_structure(lambda each: each._element.shapes, datasets),
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
            shapes = _shapes_like(types, output_shapes)
        element = _Element(types, shapes)
        running: dict[int, Any] = {}

        def start(*values: Any) -> Any:
            key = max(running, default=-1) + 1
            running[key] = iter(generator(*values))
            return np.array(key, np.int64)

        def advance(key: Any) -> Any:
            row = next(running[int(key)])
            return [
                np.asarray(value, dtype.np) if dtype != string else value
                for value, dtype in zip(_leaves(row, types), element.flat_types, strict=True)
            ]

        def finish(key: Any) -> Any:
            running.pop(int(key), None)
            return np.array(0, np.int64)

        given = [convert_to_tensor(each, name="args") for each in args or ()]
        begin = _Function(
            lambda *values: py_func(start, list(values), int64),
            _Element.of(tuple(given)),
            "generator_init",
        )
        state = _Element((int64,), (TensorShape([]),))

        def rows(key: Any) -> Any:
            values = py_func(advance, [key], element.flat_types)
            for value, shape in zip(values, element.flat_shapes):
                value.set_shape(shape)
            return tuple(values)

        following = _Function(rows, state, "generator_next")
        end = _Function(lambda key: py_func(finish, [key], int64), state, "generator_finalize")
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
        pattern = convert_to_tensor(file_pattern, string, name="pattern")
        found = Dataset.from_tensor_slices(raw_ops.MatchingFiles(pattern))
        if shuffle or shuffle is None:
            found = found.shuffle(1 << 20, seed=seed)
        return found

    # Transformations

    def _changed(self, kind: Any, *inputs: Any, **attrs: Any) -> Dataset:
        """A dataset of the same structure."""
        return Dataset(kind(self._variant_tensor, *inputs, **attrs, **self._element.attrs()), self._element)

    def concatenate(self, dataset: Dataset) -> Dataset:
        """This dataset, and then another one.

        Raises:
            TypeError: The dtypes differ.
        """
        if self._element.flat_types != dataset._element.flat_types:
            raise InvalidTypeError(
                "Two datasets to concatenate have different types "
                f"{self.output_types} and {dataset.output_types}"
            )
        pairs = zip(self._element.flat_shapes, dataset._element.flat_shapes)
        shapes = [a if a.as_tuple() == b.as_tuple() else _common(a, b) for a, b in pairs]
        element = _Element(self._element.types, nest.pack_sequence_as(self._element.shapes, shapes))
        made = raw_ops.ConcatenateDataset(self._variant_tensor, dataset._variant_tensor, **element.attrs())
        return Dataset(made, element)

    def repeat(self, count: Any = None) -> Dataset:
        """`count` times; for ever by default."""
        return self._changed(raw_ops.RepeatDataset, _scalar(-1 if count is None else count, int64, "count"))

    def take(self, count: Any) -> Dataset:
        """The first `count` elements; all where it is -1."""
        return self._changed(raw_ops.TakeDataset, _scalar(count, int64, "count"))

    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements."""
        return self._changed(raw_ops.SkipDataset, _scalar(count, int64, "count"))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Each `num_shards`-th element from number `index` on."""
        return self._changed(
            raw_ops.ShardDataset, _scalar(num_shards, int64, "num_shards"), _scalar(index, int64, "index")
        )

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The same elements; TensorFlow makes them ahead."""
        return self._changed(raw_ops.PrefetchDataset, _scalar(buffer_size, int64, "buffer_size"))

    def cache(self, filename: Any = "") -> Dataset:
        """The same elements, computed once."""
        return self._changed(raw_ops.CacheDataset, _scalar(filename, string, "filename"))

    def shuffle(
        self, buffer_size: Any, seed: int | None = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """The elements in random order, out of a buffer of `buffer_size`."""
        return self._changed(
            raw_ops.ShuffleDataset,
            _scalar(buffer_size, int64, "buffer_size"),
            *_seeds(seed),
            reshuffle_each_iteration=reshuffle_each_iteration is None or reshuffle_each_iteration,
        )

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Consecutive elements stacked; the last batch may be smaller unless `drop_remainder`."""
        size = _scalar(batch_size, int64, "batch_size")
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
        size = _scalar(batch_size, int64, "batch_size")
        known = get_default_graph().constant_value(size)
        rows = int(known) if known is not None and drop_remainder is True else None
        shapes = nest.flatten(_shapes_like(self._element.types, padded_shapes))
        if padding_values is None:
            fills = [constant(b"" if t == string else np.zeros((), t.np)) for t in self._element.flat_types]
        else:
            fills = [
                convert_to_tensor(value, dtype)
                for value, dtype in zip(nest.flatten(padding_values), self._element.flat_types, strict=True)
            ]
        result = [TensorShape([rows]).concatenate(shape) for shape in shapes]
        element = _Element(self._element.types, nest.pack_sequence_as(self._element.types, result))
        made = raw_ops.PaddedBatchDatasetV2(
            self._variant_tensor,
            size,
            [
                constant(np.array([-1 if dim is None else dim for dim in shape.as_list()], np.int64))
                for shape in shapes
            ],
            fills,
            convert_to_tensor(drop_remainder),
            output_shapes=element.flat_shapes,
        )
        return Dataset(made, element)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """What a function gives for each element; a tuple's components are its arguments."""
        function = _Function(map_func, self._element, "map")
        if function.element is None:
            raise UnimplementedError("A function that gives a dataset: use flat_map or interleave.")
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
            _scalar(cycle_length, int64, "cycle_length"),
            _scalar(block_length, int64, "block_length"),
        ]
        options = {"f": function.call, **function.dataset.attrs()}
        if num_parallel_calls is None:
            made = raw_ops.InterleaveDataset(*inputs, **options)
        else:
            calls = _scalar(num_parallel_calls, int64, "num_parallel_calls")
            made = raw_ops.ParallelInterleaveDatasetV2(*inputs, calls, **options)
        return Dataset(made, function.dataset)

    def _making_datasets(self, map_func: Callable[..., Any], what: str) -> _Function:
        function = _Function(map_func, self._element, what)
        if function.dataset is None:
            raise InvalidTypeError("`map_func` must return a `Dataset` object.")
        return function

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a function gives true.

        Raises:
            TypeError: The function does not give a scalar boolean.
        """
        function = _Function(predicate, self._element, "filter")
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
        state = _tensors(initial_state, "initial_state")
        before = _Element.of(state)
        both = _Element((before.types, self._element.types), (before.shapes, self._element.shapes))
        function = _Function(reduce_func, both, "reduce")
        if function.element.flat_types != before.flat_types:
            raise InvalidTypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{before.types}; got {function.element.types}."
            )
        made = raw_ops.ReduceDataset(
            self._variant_tensor,
            nest.flatten(state),
            function.captured,
            f=function.call,
            **function.element.attrs(),
        )
        return before.pack(made)

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


def _common(a: TensorShape, b: TensorShape) -> TensorShape:
    """What two shapes have in common."""
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list())])


def _shapes_like(types: Any, shapes: Any) -> Any:
    """Shapes in the structure of `types`; each a TensorShape, a list or tuple of numbers, or a tensor."""
    if nest.is_nested(types):
        if isinstance(types, Mapping):
            return type(types)((key, _shapes_like(types[key], shapes[key])) for key in types)  # type: ignore[call-arg]
        parts = [_shapes_like(one, each) for one, each in zip(types, shapes, strict=True)]
        return type(types)(*parts) if hasattr(types, "_fields") else tuple(parts)
    if isinstance(shapes, Tensor):
        known = get_default_graph().constant_value(shapes)
        shapes = None if known is None else known.tolist()
    if isinstance(shapes, (list, tuple)):
        shapes = [
            None if dim is not None and not isinstance(dim, str) and int(dim) < 0 else dim for dim in shapes
        ]
    return as_shape(shapes)


def _leaves(value: Any, types: Any) -> list[Any]:
    """The leaves of an element as Python gives it, in the structure of `types`."""
    if not nest.is_nested(types):
        return [value]
    if isinstance(types, Mapping):
        return [leaf for key in sorted(types) for leaf in _leaves(value[key], types[key])]
    return [leaf for one, each in zip(value, types, strict=True) for leaf in _leaves(one, each)]


# Datasets of files


class TFRecordDataset(Dataset):
    """The records of TFRecord files.

    Args:
        filenames: A string tensor, or a dataset of scalars.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: Kept for TensorFlow.
        num_parallel_reads: Mix so many files.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        compression = _scalar(compression_type or "", string, "compression_type")
        size = _scalar(buffer_size or 256 * 1024, int64, "buffer_size")
        super().__init__(
            *_of_files(
                filenames, num_parallel_reads, lambda name: raw_ops.TFRecordDataset(name, compression, size)
            )
        )


class TextLineDataset(Dataset):
    """The lines of text files, without their ends.

    Args:
        filenames: A string tensor, or a dataset of scalars.
        compression_type: "", "ZLIB" or "GZIP".
        buffer_size: Kept for TensorFlow.
        num_parallel_reads: Mix so many files.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        compression = _scalar(compression_type or "", string, "compression_type")
        size = _scalar(buffer_size or 256 * 1024, int64, "buffer_size")
        super().__init__(
            *_of_files(
                filenames, num_parallel_reads, lambda name: raw_ops.TextLineDataset(name, compression, size)
            )
        )


class FixedLengthRecordDataset(Dataset):
    """Pieces of files of a fixed size.

    Args:
        filenames: A string tensor, or a dataset of scalars.
        record_bytes: Bytes of a record.
        header_bytes: Bytes left out at the start of each file.
        footer_bytes: Bytes left out at its end.
        buffer_size: Kept for TensorFlow.
        compression_type: "", "ZLIB" or "GZIP".
        num_parallel_reads: Mix so many files.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        numbers = [
            _scalar(value or 0, int64, name)
            for value, name in (
                (header_bytes, "header_bytes"),
                (record_bytes, "record_bytes"),
                (footer_bytes, "footer_bytes"),
                (buffer_size or 256 * 1024, "buffer_size"),
            )
        ]
        compression = _scalar(compression_type or "", string, "compression_type")
        super().__init__(
            *_of_files(
                filenames,
                num_parallel_reads,
                lambda name: raw_ops.FixedLengthRecordDatasetV2(name, *numbers, compression),
            )
        )


def _of_files(filenames: Any, mixed: Any, make: Callable[[Any], Any]) -> tuple[Any, _Element]:
    element = _Element(string, TensorShape([]))
    if not isinstance(filenames, Dataset) and mixed is None:
        return make(convert_to_tensor(filenames, string, name="filenames")), element
    if not isinstance(filenames, Dataset):
        names = convert_to_tensor(filenames, string, name="filenames")
        filenames = Dataset.from_tensor_slices(raw_ops.Reshape(names, [-1]))

    def open_file(name: Any) -> Dataset:
        return Dataset(make(name), element)

    found = filenames.flat_map(open_file) if mixed is None else filenames.interleave(open_file, mixed)
    return found._variant_tensor, element


# Iterators


class Iterator:
    """Where a session stands in a dataset.

    Args:
        iterator_resource: The resource.
        initializer: The operation that starts it, or None.
        output_types: The elements' dtypes.
        output_shapes: Their static shapes.
        output_classes: Kept for TensorFlow.
    """

    def __init__(
        self,
        iterator_resource: Any,
        initializer: Any,
        output_types: Any,
        output_shapes: Any,
        output_classes: Any = None,
    ) -> None:
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._element = _Element(output_types, output_shapes)
        self._string_handle: Any = None

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator that `make_initializer` starts on any dataset of that structure."""
        element = _structure(output_types, output_shapes)
        resource = raw_ops.IteratorV2(
            container=b"", shared_name=(shared_name or "").encode(), **element.attrs()
        )
        return Iterator(resource, None, element.types, element.shapes)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """The iterator that a string stands for, which a run feeds."""
        element = _structure(output_types, output_shapes)
        handle = convert_to_tensor(string_handle, string)
        resource = raw_ops.IteratorFromStringHandleV2(handle, **element.attrs())
        return Iterator(resource, None, element.types, element.shapes)

    @property
    def initializer(self) -> Operation:
        """The operation that starts the iterator.

        Raises:
            ValueError: It has none.
        """
        if self._initializer is None:
            raise InvalidValueError("Iterator does not have an initializer.")
        return self._initializer  # type: ignore[no-any-return]

    def make_initializer(self, dataset: Dataset, name: str | None = None) -> Operation:
        """An operation that starts the iterator on `dataset`.

        Raises:
            TypeError: The dataset has another structure.
        """
        for wanted, found, what in (
            (self._element.flat_types, dataset._element.flat_types, "types"),
            (self._element.flat_shapes, dataset._element.flat_shapes, "shapes"),
        ):
            fits = len(wanted) == len(found) and all(
                a == b if what == "types" else a.is_compatible_with(b) for a, b in zip(wanted, found)
            )
            if not fits:
                compatible = " compatible with" if what == "shapes" else ""
                own, given = (getattr(each, f"output_{what}") for each in (self, dataset))
                raise InvalidTypeError(
                    f"Expected output {what}{compatible} {own!r} but got dataset with output {what} "
                    f"{given!r}."
                )
        made: Operation = raw_ops.MakeIterator(dataset._variant_tensor, self._iterator_resource, name=name)
        return made

    def get_next(self, name: str | None = None) -> Any:
        """The next element; running it past the last one is an OutOfRangeError."""
        tensors = raw_ops.IteratorGetNext(self._iterator_resource, name=name, **self._element.attrs())
        return self._element.pack(tensors)

    def string_handle(self, name: str | None = None) -> Any:
        """A string tensor that stands for this iterator in its session."""
        if name is not None or self._string_handle is None:
            made = raw_ops.IteratorToStringHandle(self._iterator_resource, name=name)
            if name is not None:
                return made
            self._string_handle = made
        return self._string_handle

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
        return nest.map_structure(lambda _: Tensor, self._element.types)


def _structure(output_types: Any, output_shapes: Any) -> _Element:
    types = nest.map_structure(as_dtype, output_types)
    if output_shapes is None:
        return _Element(types, nest.map_structure(lambda _: TensorShape(None), types))
    return _Element(types, _shapes_like(types, output_shapes))


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """An iterator that starts anew whenever its `initializer` runs."""
    element = dataset._element
    resource = raw_ops.IteratorV2(container=b"", shared_name=(shared_name or "").encode(), **element.attrs())
    start = raw_ops.MakeIterator(dataset._variant_tensor, resource)
    return Iterator(resource, start, element.types, element.shapes)


def make_one_shot_iterator(dataset: Dataset) -> Iterator:
    """An iterator that goes through the dataset once and needs no initialization.

    Raises:
        ValueError: The dataset depends on a placeholder or a variable.
    """
    graph = get_default_graph()
    needed = _ancestors(dataset._variant_tensor.op)
    for operation in needed:
        kind = operation.kind
        if operation.type.startswith("Placeholder"):
            problem = f"Cannot capture a placeholder (name:{operation.name}, type:{operation.type}) by value."
        elif kind is None or (kind.definition.stateful and "Dataset" not in operation.type):
            problem = (
                f"Cannot capture a stateful node (name:{operation.name}, type:{operation.type}) by value."
            )
        else:
            continue
        raise InvalidValueError(
            f"Failed to create a one-shot iterator for a dataset. `{problem}` Use "
            "`Dataset.make_initializable_iterator()` for what depends on state that changes."
        )
    name = unique_function_name(graph._functions, "_make_dataset")
    graph._functions[name] = function_of(name, needed, [], [dataset._variant_tensor], True)
    element = dataset._element
    resource = raw_ops.OneShotIterator(dataset_factory=_name_attr_list(name), **element.attrs())
    return Iterator(resource, None, element.types, element.shapes)


def _ancestors(operation: Operation) -> list[Operation]:
    """All that an operation needs, in the order in which it was made."""
    found: set[Operation] = set()
    stack = [operation]
    while stack:
        current = stack.pop()
        if current not in found:
            found.add(current)
            stack.extend(tensor.op for tensor in current._inputs)
            stack.extend(current._control_inputs)
    return sorted(found, key=lambda each: each._id)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of an element's components."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The static shapes of an element's components."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of an element's components."""
    return dataset_or_iterator.output_classes


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "Dataset", "FixedLengthRecordDataset", "GraphKeys", "InvalidTypeError", "InvalidValueError",
    "Iterator", "Operation", "OutOfRangeError", "SparseTensor", "TFRecordDataset", "Tensor",
    "TensorShape", "TextLineDataset", "UnimplementedError", "as_dtype", "as_shape", "constant",
    "convert_to_tensor", "function_of", "get_default_graph", "get_output_classes", "get_output_shapes",
    "get_output_types", "get_seed", "int64", "make_initializable_iterator", "make_one_shot_iterator",
    "name_scope", "nest", "py_func", "raw_ops", "string", "trace", "unique_function_name", "variant",
]  # fmt: skip
