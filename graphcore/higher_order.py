"""`tf.map_fn`, `tf.foldl`, `tf.foldr` and `tf.scan`: functions over the rows of tensors, as loops.

Source: tensorflow/python/ops/map_fn.py and functional_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import nest
from .convert import constant, convert_to_tensor
from .default import name_scope
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops.tensor_array import TensorArray
from .sparse_tensor import SparseTensor
from .tensor_shape import TensorShape
from .variable_scope import get_variable_scope
from .while_loops import while_loop


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
) -> Any:
    """What `fn` gives for each row of `elems`, stacked.

    Args:
        fn: From a row (in the structure of `elems`) to tensors in the structure of `dtype`.
        elems: A tensor, or nested lists and tuples of tensors with equal first dimensions.
        dtype: The dtypes of what `fn` gives, where they or its structure differ from those of `elems`.
        parallel_iterations: See `while_loop`.
        back_prop: See `while_loop`.
        swap_memory: See `while_loop`.
        infer_shape: Whether all results have one shape.
        name: Name scope.

    Raises:
        TypeError: `fn` is not callable, `elems` is sparse, or structures differ.
        ValueError: `elems` are scalars.
    """
    if not callable(fn):
        raise InvalidTypeError("fn must be callable.")
    if isinstance(elems, SparseTensor):
        raise InvalidTypeError(
            "To perform a map on the values of a sparse tensor use either "
            "SparseTensor(input.indices, fn(input.values), input.dense_shape) or "
            "SparseTensor(input.indices, map_fn(fn, input.values), input.dense_shape)"
        )
    flat = nest.flatten(elems)
    with name_scope(name, "map", flat), _caching_beside():
        flat = _rows_of(flat)
        kinds = nest.pack_sequence_as(elems, [elem.dtype for elem in flat]) if dtype is None else dtype
        size = _number_of_rows(flat[0])
        inputs = [TensorArray(elem.dtype, size, infer_shape=True).unstack(elem) for elem in flat]
        start = constant(0)
        results = [TensorArray(kind, size, infer_shape=infer_shape) for kind in nest.flatten(kinds)]

        def compute(i: Any, arrays: list[Any]) -> Any:
            row = nest.pack_sequence_as(elems, [array.read(i) for array in inputs])
            made = fn(row)
            nest.assert_same_structure(kinds, made)
            return i + 1, [array.write(i, value) for array, value in zip(arrays, nest.flatten(made))]

        _, arrays = while_loop(
            lambda i, _: i < size,
            compute,
            (start, results),
            parallel_iterations=parallel_iterations or 10,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=size,
        )
        stacked = [array.stack() for array in arrays]
        _set_rows(stacked, flat)
        return nest.pack_sequence_as(kinds, stacked)


def _rows_of(flat: list[Any]) -> list[Any]:
    tensors = [convert_to_tensor(elem, name="elem") for elem in flat]
    if tensors[0].get_shape().ndims == 0:
        if len(tensors) == 1:
            raise InvalidValueError("elems must be a 1+ dimensional Tensor, not a scalar")
        raise InvalidValueError("elements in elems must be 1+ dimensional Tensors, not scalars")
    return tensors


def _number_of_rows(tensor: Any) -> Any:
    """The first dimension as a number where it is known, else as a tensor."""
    static = tensor.static_shape
    return (static[0] if static else None) or raw_ops.Shape(tensor)[0]


def _set_rows(results: list[Any], elems: list[Any]) -> None:
    """Tells the results how many rows they have."""
    rows = TensorShape([None])
    for elem in elems:
        rows = rows.merge_with(elem.get_shape().with_rank_at_least(1)[:1])
    for result in results:
        if result.get_shape().ndims is not None:
            result.set_shape(rows.concatenate(result.get_shape()[1:]))


@contextmanager
def _caching_beside() -> Iterator[None]:
    """Has variables that are read in the loop cached on the device that reads them, as TensorFlow does."""
    scope = get_variable_scope()
    changed = scope.caching_device is None
    if changed:
        scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        if changed:
            scope.set_caching_device(None)


def foldl(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """`fn(...fn(fn(initializer, first row), second row)..., last row)`.

    Args:
        fn: From (accumulated, row) to the next accumulated value.
        elems: A tensor, or nested lists and tuples of tensors with equal first dimensions.
        initializer: The first accumulated value; by default the first row.
        parallel_iterations: See `while_loop`.
        back_prop: See `while_loop`.
        swap_memory: See `while_loop`.
        name: Name scope.

    Raises:
        TypeError: `fn` is not callable.
    """
    return _fold(fn, elems, initializer, False, name, parallel_iterations, back_prop, swap_memory)


def foldr(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """As `foldl`, from the last row to the first."""
    return _fold(fn, elems, initializer, True, name, parallel_iterations, back_prop, swap_memory)


def _fold(
    fn: Any,
    elems: Any,
    initializer: Any,
    backwards: bool,
    name: str | None,
    parallel_iterations: int,
    back_prop: bool,
    swap_memory: bool,
) -> Any:
    if not callable(fn):
        raise InvalidTypeError("fn must be callable.")
    with name_scope(name, "foldr" if backwards else "foldl", nest.flatten(elems)), _caching_beside():
        flat = [convert_to_tensor(elem, name="elem") for elem in nest.flatten(elems)]
        size = _number_of_rows(flat[0])
        arrays = [TensorArray(elem.dtype, size, infer_shape=True).unstack(elem) for elem in flat]

        def row(i: Any) -> Any:
            return nest.pack_sequence_as(elems, [array.read(i) for array in arrays])

        if backwards:
            start = size if initializer is not None else size - 1
            value = initializer if initializer is not None else row(start)

            def compute(i: Any, value: Any) -> list[Any]:
                i = i - 1
                return [i, fn(value, row(i))]
        else:
            start = constant(1 if initializer is None else 0)
            value = row(0) if initializer is None else initializer

            def compute(i: Any, value: Any) -> list[Any]:
                made = fn(value, row(i))
                return [i + 1, made]

        _, result = while_loop(
            (lambda i, _: i > 0) if backwards else (lambda i, _: i < size),
            compute,
            [start, value],
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=size,
        )
        return result


def scan(
    fn: Callable[[Any, Any], Any],
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """All accumulated values of `foldl`, stacked.

    Args:
        fn: From (accumulated, row) to the next accumulated value, in the structure of `initializer`.
        elems: A tensor, or nested lists and tuples of tensors with equal first dimensions.
        initializer: The first accumulated value, which is no part of the result; by default the first
            row, which then is.
        parallel_iterations: See `while_loop`.
        back_prop: See `while_loop`.
        swap_memory: See `while_loop`.
        infer_shape: Whether all values have one shape.
        reverse: Go from the last row to the first.
        name: Name scope.

    Raises:
        TypeError: `fn` is not callable, or structures differ.
    """
    if not callable(fn):
        raise InvalidTypeError("fn must be callable.")
    structure = elems if initializer is None else initializer
    flat = nest.flatten(elems)
    with name_scope(name, "scan", flat), _caching_beside():
        flat = [convert_to_tensor(elem, name="elem") for elem in flat]
        static = flat[0].static_shape
        size = static[0] if static and static[0] is not None else raw_ops.Shape(flat[0])[0]
        inputs = [
            TensorArray(elem.dtype, size, element_shape=elem.get_shape()[1:], infer_shape=True).unstack(elem)
            for elem in flat
        ]
        first = size - 1 if reverse else 0
        if initializer is None:
            values = [array.read(first) for array in inputs]
        else:
            values = [convert_to_tensor(value) for value in nest.flatten(initializer)]
        results = [
            TensorArray(
                value.dtype,
                size,
                element_shape=value.get_shape() if infer_shape else None,
                infer_shape=infer_shape,
            )
            for value in values
        ]
        start: Any = 0
        if initializer is None:
            results = [array.write(first, value) for array, value in zip(results, values)]
            start = 1
        if reverse:
            start = size - 1 - start
            condition: Any = lambda i, *_: i >= 0  # noqa: E731
        else:
            condition = lambda i, *_: i < size  # noqa: E731

        def compute(i: Any, values: list[Any], arrays: list[Any]) -> Any:
            row = nest.pack_sequence_as(elems, [array.read(i) for array in inputs])
            made = fn(nest.pack_sequence_as(structure, values), row)
            nest.assert_same_structure(structure, made)
            leaves = nest.flatten(made)
            arrays = [array.write(i, value) for array, value in zip(arrays, leaves)]
            return (i - 1 if reverse else i + 1, leaves, arrays)

        _, _, arrays = while_loop(
            condition,
            compute,
            (start, values, results),
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
            maximum_iterations=size,
        )
        stacked = [array.stack() for array in arrays]
        _set_rows(stacked, flat)
        return nest.pack_sequence_as(structure, stacked)
