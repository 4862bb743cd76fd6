"""tf.data's transformations that call functions: map, filter, interleave, scan, reduce, group by key.

Source: tensorflow/core/kernels/data/*_dataset_op.cc and data/experimental (r1.15), behaviour and texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..datasets import (
    Dataset,
    Row,
    Rows,
    Source,
    Steps,
    all_rows,
    as_dataset,
    mapped,
    stacked,
)
from ..errors import InvalidArgumentError, InvalidValueError, OutOfRangeError
from ..op import op
from ..shapes import Shape, format_shape, merge_dims
from .dataset import ARGS, NO_GRAD, OUT, dataset_op, declared_shapes, row_of


def _mapped(source: Source, dataset: Dataset, f: Any, others: Sequence[Any]) -> Rows:
    return mapped(lambda row: source.call(f, [*row, *others]), dataset.rows(source))


def map_rows(input_dataset: Any, other_arguments: Any, *_: Any, f: Any) -> Any:
    """What a function gives for each element."""
    dataset = as_dataset(input_dataset)
    return Dataset(lambda source: _mapped(source, dataset, f, other_arguments), dataset.cardinality)


dataset_op(
    "MapDataset",
    "input_dataset: variant, other_arguments: Targuments -> handle: variant",
    "f: func",
    ARGS,
    *OUT,
    "use_inter_op_parallelism: bool = true",
    "preserve_cardinality: bool = false",
)(map_rows)
dataset_op(
    "ExperimentalMapDataset",
    "input_dataset: variant, other_arguments: Targuments -> handle: variant",
    "f: func",
    ARGS,
    *OUT,
    "use_inter_op_parallelism: bool = true",
    "preserve_cardinality: bool = false",
)(map_rows)
dataset_op(
    "ParallelMapDatasetV2",
    "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64 -> handle: variant",
    "f: func",
    ARGS,
    *OUT,
    "use_inter_op_parallelism: bool = true",
    "deterministic: string = 'default'",
    "preserve_cardinality: bool = false",
)(map_rows)
dataset_op(
    "ParallelMapDataset",
    "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int32 -> handle: variant",
    "f: func",
    ARGS,
    *OUT,
    "use_inter_op_parallelism: bool = true",
    "sloppy: bool = false",
    "preserve_cardinality: bool = false",
)(map_rows)


@dataset_op(
    "FlatMapDataset",
    "input_dataset: variant, other_arguments: Targuments -> handle: variant",
    "f: func",
    ARGS,
    *OUT,
)
def flat_map_dataset(input_dataset: Any, other_arguments: Any, *, f: Any) -> Any:
    """The datasets that a function gives for the elements, one after the other."""
    dataset = as_dataset(input_dataset)
    return Dataset(lambda source: _interleaved(source, dataset, f, other_arguments, 1, 1))


def _interleaved(
    source: Source, dataset: Dataset, f: Any, others: Sequence[Any], cycle: int, block: int
) -> Rows:
    """Elements of the datasets that a function gives, `block` of each of `cycle` open ones in turn."""
    inputs = dataset.rows(source)
    open_rows: list[Rows | None] = [None] * cycle
    state = {"at": 0, "taken": 0, "ended": False, "open": 0}

    def advance() -> None:
        state["at"] = (state["at"] + 1) % cycle
        state["taken"] = 0

    def step() -> Row:
        while not state["ended"] or state["open"]:
            current = open_rows[state["at"]]
            if current is not None:
                row = next(current, None)
                if row is not None:
                    state["taken"] += 1
                    if state["taken"] == block:
                        advance()
                    return row
                open_rows[state["at"]] = None
                state["open"] -= 1
                advance()
            elif not state["ended"]:
                given = next(inputs, None)
                if given is None:
                    state["ended"] = True
                    continue
                (made,) = source.call(f, [*given, *others])
                open_rows[state["at"]] = as_dataset(made).rows(source)
                state["open"] += 1
            else:
                advance()
        raise StopIteration

    return Steps(step)


def _interleave(
    input_dataset: Any, other_arguments: Any, cycle_length: Any, block_length: Any, *_: Any, f: Any
) -> Any:
    """The datasets that a function gives for the elements, mixed block by block."""
    for value, name in ((cycle_length, "cycle_length"), (block_length, "block_length")):
        if value <= 0:
            raise InvalidArgumentError(f"{name} must be greater than zero.")
    dataset, sizes = as_dataset(input_dataset), (int(cycle_length), int(block_length))
    return Dataset(lambda source: _interleaved(source, dataset, f, other_arguments, *sizes))


for _name, _more, _options in (
    ("InterleaveDataset", "", ()),
    (
        "ParallelInterleaveDataset",
        ", sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64",
        (),
    ),
    ("ParallelInterleaveDatasetV2", ", num_parallel_calls: int64", ("sloppy: bool = false",)),
    ("ParallelInterleaveDatasetV3", ", num_parallel_calls: int64", ("deterministic: string = 'default'",)),
    (
        "ParallelInterleaveDatasetV4",
        ", buffer_output_elements: int64, prefetch_input_elements: int64, num_parallel_calls: int64",
        ("deterministic: string = 'default'",),
    ),
    (
        "LegacyParallelInterleaveDatasetV2",
        ", buffer_output_elements: int64, prefetch_input_elements: int64",
        ("deterministic: string = 'default'",),
    ),
):
    dataset_op(
        _name,
        "input_dataset: variant, other_arguments: Targuments, cycle_length: int64, block_length: int64"
        f"{_more} -> handle: variant",
        "f: func",
        ARGS,
        *OUT,
        *_options,
        experimental=_name == "ParallelInterleaveDataset",
    )(_interleave)


def _holds(source: Source, predicate: Any, row: Row, others: Sequence[Any]) -> bool:
    result = source.call(predicate, [*row, *others])
    if len(result) != 1 or np.ndim(result[0]) or np.asarray(result[0]).dtype != bool:
        raise InvalidArgumentError("Filter predicate `f` must return a scalar bool.")
    return bool(result[0])


def _filter(input_dataset: Any, other_arguments: Any, *_: Any, predicate: Any) -> Any:
    """The elements for which a function holds."""
    dataset = as_dataset(input_dataset)
    return Dataset(
        lambda source: filter(
            lambda row: _holds(source, predicate, row, other_arguments), dataset.rows(source)
        )
    )


dataset_op(
    "FilterDataset",
    "input_dataset: variant, other_arguments: Targuments -> handle: variant",
    "predicate: func",
    ARGS,
    *OUT,
)(_filter)
dataset_op(
    "ParallelFilterDataset",
    "input_dataset: variant, other_arguments: Targuments, num_parallel_calls: int64 -> handle: variant",
    "predicate: func",
    "deterministic: string = 'default'",
    ARGS,
    *OUT,
)(_filter)


@dataset_op("FilterByLastComponentDataset", "input_dataset: variant -> output: variant", *OUT)
def filter_by_last_component_dataset(input_dataset: Any) -> Any:
    """The elements whose last component is true, without it."""
    dataset = as_dataset(input_dataset)
    return Dataset(
        lambda source: mapped(lambda row: row[:-1], filter(lambda row: bool(row[-1]), dataset.rows(source)))
    )


@dataset_op(
    "TakeWhileDataset",
    "input_dataset: variant, other_arguments: Targuments -> handle: variant",
    "predicate: func",
    ARGS,
    *OUT,
    experimental=True,
)
def take_while_dataset(input_dataset: Any, other_arguments: Any, *, predicate: Any) -> Any:
    """The elements before the first for which a function does not hold."""
    dataset = as_dataset(input_dataset)
    return Dataset(
        lambda source: itertools.takewhile(
            lambda row: _holds(source, predicate, row, other_arguments), dataset.rows(source)
        )
    )


@dataset_op(
    "ScanDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> handle: variant",
    "f: func",
    "Tstate: list(type) >= 1",
    ARGS,
    *OUT,
    "preserve_cardinality: bool = false",
    experimental=True,
)
def scan_dataset(input_dataset: Any, initial_state: Any, other_arguments: Any, *, f: Any) -> Any:
    """What a function gives for each element and a state that it passes on."""
    dataset = as_dataset(input_dataset)
    size = len(initial_state)

    def rows(source: Source) -> Rows:
        inputs = dataset.rows(source)
        state = {"now": tuple(initial_state)}

        def step() -> Row:
            results = source.call(f, [*state["now"], *next(inputs), *other_arguments])
            state["now"] = results[:size]
            return results[size:]

        return Steps(step)

    return Dataset(rows, dataset.cardinality)


@op(
    "ReduceDataset",
    "input_dataset: variant, initial_state: Tstate, other_arguments: Targuments -> components: output_types",
    "f: func",
    "Tstate: list(type) >= 1",
    ARGS,
    *OUT,
    "use_inter_op_parallelism: bool = true",
    stateful=True,
    no_grad=NO_GRAD,
)
def reduce_dataset(
    ctx: Any, input_dataset: Any, initial_state: Any, other_arguments: Any, *, f: Any, node: Any
) -> Any:
    """A state after a function has taken each element into it."""
    state = list(initial_state)
    for row in all_rows(as_dataset(input_dataset), ctx):
        state = ctx.call(f, [*state, *row, *other_arguments], node.name)
        if len(state) != len(initial_state):
            raise InvalidArgumentError(
                "The number of components of the initial state and the reduce function output does not match."
                f" (initial_state={len(initial_state)}, output={len(state)})."
            )
        ctx.check_cancelled()
    return state


reduce_dataset.shape(declared_shapes)


# Groups of elements of one key

_KEYED = (
    "key_func: func",
    "reduce_func: func",
    "window_size_func: func",
    "Tkey_func_other_arguments: list(type) >= 0",
    "Treduce_func_other_arguments: list(type) >= 0",
    "Twindow_size_func_other_arguments: list(type) >= 0",
)


def _key(source: Source, key_func: Any, row: Row, others: Sequence[Any]) -> int:
    result = source.call(key_func, [*row, *others])
    if len(result) != 1 or np.ndim(result[0]) or np.asarray(result[0]).dtype != np.int64:
        raise InvalidArgumentError("`key_func` must return a scalar int64.")
    return int(result[0])


@dataset_op(
    "GroupByWindowDataset",
    "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "
    "reduce_func_other_arguments: Treduce_func_other_arguments, "
    "window_size_func_other_arguments: Twindow_size_func_other_arguments -> handle: variant",
    *_KEYED,
    *OUT,
    experimental=True,
)
def group_by_window_dataset(
    input_dataset: Any,
    key_others: Any,
    reduce_others: Any,
    size_others: Any,
    *,
    key_func: Any,
    reduce_func: Any,
    window_size_func: Any,
) -> Any:
    """What a function makes of groups of elements of one key, each of a size that the key has."""
    dataset = as_dataset(input_dataset)

    def rows(source: Source) -> Rows:
        groups: dict[int, list[Row]] = {}
        sizes: dict[int, int] = {}
        inputs = dataset.rows(source)
        state: dict[str, Any] = {"now": None, "ended": False}

        def flush(key: int) -> None:
            members = groups.pop(key)
            group = Dataset(lambda _: iter(members), len(members))
            (made,) = source.call(reduce_func, [np.array(key, np.int64), group, *reduce_others])
            state["now"] = as_dataset(made).rows(source)

        def step() -> Row:
            while True:
                if state["now"] is not None:
                    row = next(state["now"], None)
                    if row is not None:
                        return row  # type: ignore[no-any-return]
                    state["now"] = None
                while not state["ended"] and state["now"] is None:
                    row = next(inputs, None)
                    if row is None:
                        state["ended"] = True
                        break
                    key = _key(source, key_func, row, key_others)
                    if key not in sizes:
                        (size,) = source.call(window_size_func, [np.array(key, np.int64), *size_others])
                        if size <= 0:
                            raise InvalidArgumentError(
                                f"Window size must be greater than zero, but got {int(size)}."
                            )
                        sizes[key] = int(size)
                    group = groups.setdefault(key, [])
                    group.append(row)
                    if len(group) == sizes[key]:
                        flush(key)
                if state["now"] is None:
                    if not groups:
                        raise StopIteration
                    flush(min(groups))

        return Steps(step)

    return Dataset(rows)


@dataset_op(
    "GroupByReducerDataset",
    "input_dataset: variant, key_func_other_arguments: Tkey_func_other_arguments, "
    "init_func_other_arguments: Tinit_func_other_arguments, "
    "reduce_func_other_arguments: Treduce_func_other_arguments, "
    "finalize_func_other_arguments: Tfinalize_func_other_arguments -> handle: variant",
    "key_func: func",
    "init_func: func",
    "reduce_func: func",
    "finalize_func: func",
    "Tkey_func_other_arguments: list(type) >= 0",
    "Tinit_func_other_arguments: list(type) >= 0",
    "Treduce_func_other_arguments: list(type) >= 0",
    "Tfinalize_func_other_arguments: list(type) >= 0",
    *OUT,
    experimental=True,
    stateful=True,
)
def group_by_reducer_dataset(
    input_dataset: Any,
    key_others: Any,
    init_others: Any,
    reduce_others: Any,
    finalize_others: Any,
    *,
    key_func: Any,
    init_func: Any,
    reduce_func: Any,
    finalize_func: Any,
) -> Any:
    """One element for each key: the elements of that key, reduced."""
    dataset = as_dataset(input_dataset)

    def rows(source: Source) -> Rows:
        states: dict[int, Row] = {}
        for row in dataset.rows(source):
            key = _key(source, key_func, row, key_others)
            if key not in states:
                states[key] = source.call(init_func, [np.array(key, np.int64), *init_others])
            states[key] = source.call(reduce_func, [*states[key], *row, *reduce_others])
        for key in sorted(states):
            yield source.call(finalize_func, [*states[key], *finalize_others])

    return Dataset(rows)


@dataset_op(
    "GeneratorDataset",
    "init_func_other_args: Tinit_func_args, next_func_other_args: Tnext_func_args, "
    "finalize_func_other_args: Tfinalize_func_args -> handle: variant",
    "init_func: func",
    "next_func: func",
    "finalize_func: func",
    "Tinit_func_args: list(type) >= 0",
    "Tnext_func_args: list(type) >= 0",
    "Tfinalize_func_args: list(type) >= 0",
    *OUT,
    stateful=True,
)
def generator_dataset(
    init_others: Any,
    next_others: Any,
    finalize_others: Any,
    *,
    init_func: Any,
    next_func: Any,
    finalize_func: Any,
) -> Any:
    """What a function gives again and again for a state that another one made, until it is out of range."""

    def rows(source: Source) -> Rows:
        state: dict[str, Any] = {"made": None, "ended": False}

        def step() -> Row:
            if state["ended"]:
                raise StopIteration
            if state["made"] is None:
                state["made"] = source.call(init_func, init_others)
            try:
                return source.call(next_func, [*state["made"], *next_others])
            except OutOfRangeError:
                state["ended"] = True
                source.call(finalize_func, [*state["made"], *finalize_others])
                raise StopIteration from None

        return Steps(step)

    return Dataset(rows)


@op(
    "MapDefun",
    "arguments: Targuments, captured_inputs: Tcaptured -> output: output_types",
    "Targuments: list(type) >= 1",
    "Tcaptured: list(type) >= 0 = []",
    *OUT,
    "f: func",
    "max_intra_op_parallelism: int = 1",
    ctx=True,
    no_grad=NO_GRAD,
)
def map_defun(ctx: Any, arguments: Any, captured_inputs: Any, *, f: Any, node: Any) -> Any:
    """What a function gives for the rows of tensors, stacked."""
    for index, value in enumerate(arguments):
        if not np.ndim(value):
            raise InvalidArgumentError(
                f"All inputs must have rank at least 1. Input {index} has a rank of 0."
            )
        if len(value) != len(arguments[0]):
            raise InvalidArgumentError("All inputs must have the same dimension 0.")
    rows = [ctx.call(f, [*map(row_of, row), *captured_inputs], node.name) for row in zip(*arguments)]
    if not rows:
        shapes = [shape.as_tuple() for shape in node.attr("output_shapes")]
        if any(shape is None or None in shape for shape in shapes):
            raise InvalidArgumentError(
                "If there are no rows the output shapes must be fully defined, but they are "
                f"{[format_shape(shape) for shape in shapes]}"
            )
        dtypes = node.attr("output_types")
        return [np.empty((0, *shape), dtype.np) for shape, dtype in zip(shapes, dtypes)]
    return [stacked(column, index) for index, column in enumerate(zip(*rows))]


@map_defun.shape
def _(node: Any) -> list[Shape]:
    size: int | None = None
    for index in range(len(node.attr("Targuments"))):
        given = node.shape(index)
        if given == ():
            raise InvalidValueError(f"Arguments must have rank at least 1. Input {index} has a rank of 0.")
        if given is not None:
            size = merge_dims(size, given[0])
    return [None if shape is None else (size, *shape) for shape in declared_shapes(node)]
