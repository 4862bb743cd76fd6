"""`tf.data.experimental`'s transformations that gather elements: by key, by length, along a state.

Source: tensorflow/python/data/experimental/ops/grouping.py and scan_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import nest
from .convert import constant, convert_to_tensor
from .data_datasets import Dataset
from .data_elements import Element, MappedFunction, common_shape, leaves_of, tensors_of
from .default import get_default_graph, name_scope
from .dtypes import int64, variant
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops.control_flow import tf_assert
from .tensor_shape import TensorShape

Transformation = Callable[[Dataset], Dataset]
KEY = Element(int64, TensorShape([]))


def _one_int64(function: MappedFunction, name: str) -> None:
    types, shapes = function.element.flat_types, function.element.flat_shapes
    if types != [int64] or shapes[0].ndims not in (None, 0):
        raise InvalidValueError(f"`{name}` must return a single tf.int64 scalar tensor.")


def _pair(first: Element, second: Element) -> Element:
    """The structure of two together."""
    return Element((first.types, second.types), (first.shapes, second.shapes), [*first.kinds, *second.kinds])


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """Elements with equal keys together, each time that there are enough of them.

    Args:
        key_func: From an element to an int64.
        reduce_func: From a key and the dataset of a group to the dataset that stands for it.
        window_size: How many elements make a group.
        window_size_func: From a key to that number.

    Raises:
        ValueError: Not just one of `window_size` and `window_size_func` is given, or a function gives no
            scalar int64.
        TypeError: `reduce_func` gives no dataset.
    """
    if (window_size is None) == (window_size_func is None):
        raise InvalidValueError("Must pass either window_size or window_size_func.")

    def size_of(key: Any) -> Any:
        return convert_to_tensor(window_size if window_size_func is None else window_size_func(key), int64)

    def apply(dataset: Dataset) -> Dataset:
        group = Element(variant, TensorShape([]), [dataset._element])
        key = MappedFunction(
            lambda *parts: convert_to_tensor(key_func(*parts), int64), dataset._element, "key"
        )
        reduce = MappedFunction(reduce_func, _pair(KEY, group), "reduce")
        size = MappedFunction(size_of, KEY, "window_size")
        _one_int64(key, "key_func")
        _one_int64(size, "window_size_func")
        if reduce.dataset is None:
            raise InvalidTypeError("`reduce_func` must return a `Dataset` object.")
        made = raw_ops.GroupByWindowDataset(
            dataset._variant_tensor,
            key.captured,
            reduce.captured,
            size.captured,
            key_func=key.call,
            reduce_func=reduce.call,
            window_size_func=size.call,
            **reduce.dataset.attrs(),
        )
        return Dataset(made, reduce.dataset)

    return apply


class Reducer:
    """How a group of elements becomes one.

    Args:
        init_func: From a key to a state.
        reduce_func: From a state and an element to the next state.
        finalize_func: From a state to what stands for the group.
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """All elements with equal keys, reduced to one.

    Raises:
        ValueError: `key_func` gives no scalar int64.
        TypeError: The reducer changes the dtypes of its state.
    """

    def apply(dataset: Dataset) -> Dataset:
        key = MappedFunction(key_func, dataset._element, "key")
        _one_int64(key, "key_func")
        start = MappedFunction(reducer.init_func, KEY, "init")
        step = _stepping(reducer.reduce_func, start.element, dataset._element, "reduce")
        end = MappedFunction(reducer.finalize_func, step.element, "finalize")
        made = raw_ops.GroupByReducerDataset(
            dataset._variant_tensor,
            key.captured,
            start.captured,
            step.captured,
            end.captured,
            key_func=key.call,
            init_func=start.call,
            reduce_func=step.call,
            finalize_func=end.call,
            **end.element.attrs(),
        )
        return Dataset(made, end.element)

    return apply


def _check_state(before: Element, after: Element) -> None:
    if before.flat_types != after.flat_types:
        raise InvalidTypeError(
            "The element types for the new state must match the initial state. Expected "
            f"{before.types}; got {after.types}."
        )


def _stepping(function: Callable[..., Any], state: Element, element: Element, name: str) -> MappedFunction:
    """A function from a state and an element to a state, traced for a shape that all states have."""
    while True:
        traced = MappedFunction(function, _pair(state, element), name)
        _check_state(state, traced.element)
        before, after = nest.flatten(state.shapes), nest.flatten(traced.element.shapes)
        weaker = [common_shape(a, b) for a, b in zip(before, after)]
        if all(a.as_tuple() == b.as_tuple() for a, b in zip(before, weaker)):
            return traced
        state = state.with_shapes(weaker)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """What a function (state, element) -> (state, result) gives along the elements.

    Raises:
        TypeError: It does not give a pair, or changes the dtypes of the state.
    """

    def apply(dataset: Dataset) -> Dataset:
        start = tensors_of(initial_state, "initial_state")
        state = Element.of(start)
        found: dict[str, Element] = {}

        def both(*arguments: Any) -> Any:
            result = scan_func(*arguments)
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                raise InvalidTypeError(
                    "The scan function must return a pair comprising the new state and the output value."
                )
            after, output = tensors_of(result[0]), tensors_of(result[1])
            found["state"], found["output"] = Element.of(after), Element.of(output)
            return after, output

        while True:
            function = MappedFunction(both, _pair(state, dataset._element), "scan")
            _check_state(state, found["state"])
            before, after = nest.flatten(state.shapes), nest.flatten(found["state"].shapes)
            weaker = [common_shape(a, b) for a, b in zip(before, after)]
            if all(a.as_tuple() == b.as_tuple() for a, b in zip(before, weaker)):
                break
            state = state.with_shapes(weaker)
        element = found["output"]
        made = raw_ops.ScanDataset(
            dataset._variant_tensor,
            state.tensors(start),
            function.captured,
            f=function.call,
            **element.attrs(),
        )
        return Dataset(made, element)

    return apply


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements up to the first for which a function gives false.

    Raises:
        TypeError: The function does not give a scalar boolean.
    """

    def apply(dataset: Dataset) -> Dataset:
        function = MappedFunction(predicate, dataset._element, "take_while")
        types, shapes = function.element.flat_types, function.element.flat_shapes
        if len(types) != 1 or types[0].name != "bool" or shapes[0].ndims not in (None, 0):
            raise InvalidTypeError("`predicate` must return a scalar boolean tensor.")
        return dataset._changed(raw_ops.TakeWhileDataset, function.captured, predicate=function.call)

    return apply


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of similar lengths, padded.

    Args:
        element_length_func: From an element to its length, int32.
        bucket_boundaries: Lengths at which the next bucket begins.
        bucket_batch_sizes: The size of a batch in each bucket, one more than boundaries.
        padded_shapes: As for `Dataset.padded_batch`; by default the elements' own.
        padding_values: As there.
        pad_to_bucket_boundary: Whether unknown dimensions are filled up to the bucket's end.
        no_padding: Whether elements are batched as they are.
        drop_remainder: Leave out batches that are smaller.

    Raises:
        ValueError: There are not so many sizes.
    """
    with name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise InvalidValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        sizes = constant(np.array(bucket_batch_sizes, np.int64))
    limits = np.iinfo(np.int32)
    lows = np.array([limits.min, *bucket_boundaries], np.int32)
    highs = np.array([*bucket_boundaries, limits.max], np.int32)

    def bucket_of(*parts: Any) -> Any:
        length = element_length_func(*parts)
        inside = raw_ops.LogicalAnd(raw_ops.LessEqual(lows, length), raw_ops.Less(length, highs))
        return raw_ops.Min(raw_ops.Where(inside), np.array([0, 1], np.int32))

    def size_of(bucket: Any) -> Any:
        return sizes[bucket]

    def batched(bucket: Any, group: Dataset) -> Dataset:
        if no_padding:
            return group.batch(size_of(bucket), drop_remainder=drop_remainder)
        filler = None
        if pad_to_bucket_boundary:
            check = tf_assert(
                raw_ops.Less(bucket, np.int64(len(bucket_boundaries))),
                ["When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."],
            )
            with get_default_graph().control_dependencies([check]):
                filler = constant(np.array(bucket_boundaries, np.int64))[bucket] - 1
        given = group._element.shapes if padded_shapes is None else padded_shapes
        shapes = [
            [filler if dim is None else dim for dim in TensorShape(shape).as_list()]
            for shape in leaves_of(given, group._element.types)
        ]
        if filler is not None:
            shapes = [
                raw_ops.Pack([convert_to_tensor(dim, int64) for dim in shape]) if shape else []
                for shape in shapes
            ]
        packed = nest.pack_sequence_as(group._element.types, shapes)
        return group.padded_batch(size_of(bucket), packed, padding_values, drop_remainder=drop_remainder)

    return lambda dataset: dataset.apply(group_by_window(bucket_of, batched, window_size_func=size_of))
