"""`tf.nn.dynamic_rnn` and its kin: recurrent networks as loops.

Source: tensorflow/python/ops/rnn.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import nest
from .control_contexts import containing_loop
from .convert import constant, convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import int32
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .operation import Tensor
from .ops.array_create import tf_range, zeros
from .ops.array_shape import tf_shape
from .ops.control_flow import tf_assert
from .ops.tensor_array import TensorArray
from .rnn_cells import assert_like_rnncell, concat_shape
from .tensor_shape import TensorShape, as_shape
from .variable_scope import VariableScope, variable_scope
from .while_loops import while_loop


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """A recurrent network as a loop over the time steps.

    Args:
        cell: The cell.
        inputs: A tensor of shape (batch, time, depth), or nested tuples of such.
        sequence_length: int32 of shape (batch,): behind it outputs are zeros and states stay.
        initial_state: The state to begin with; by default the cell's zeros.
        dtype: The dtype of that.
        parallel_iterations: See `while_loop`.
        swap_memory: See `while_loop`.
        time_major: Inputs and outputs are (time, batch, depth).
        scope: The variable scope; "rnn" by default.

    Returns:
        The outputs of all steps, (batch, time, output_size), and the last state.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: Neither `initial_state` nor `dtype` is given, or shapes do not fit or are unknown.
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as entered:
        cache_beside(entered)
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [_swapped(convert_to_tensor(each)) for each in flat]
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
            if sequence_length.dtype != int32:
                sequence_length = raw_ops.Cast(sequence_length, DstT=int32)
            if sequence_length.get_shape().ndims not in (None, 1):
                raise InvalidValueError(
                    "sequence_length must be a vector of length batch_size, but saw shape: "
                    f"{sequence_length.get_shape()}"
                )
            sequence_length = raw_ops.Identity(sequence_length, name="sequence_length")
        batch_size = _batch_size(flat)
        state = initial_state
        if state is None:
            if not dtype:
                raise InvalidValueError("If there is no initial_state, you must give a dtype.")
            state = first_state(cell, batch_size, dtype)
        if sequence_length is not None:
            with get_default_graph().control_dependencies([_has_length(sequence_length, batch_size)]):
                sequence_length = raw_ops.Identity(sequence_length, name="CheckSeqLen")
        packed = nest.pack_sequence_as(inputs, flat)
        iterations = parallel_iterations or 32
        outputs, last = _loop(cell, packed, state, iterations, swap_memory, sequence_length, dtype)
        if not time_major:
            outputs = nest.map_structure(_swapped, outputs)
        return outputs, last


def cache_beside(scope: VariableScope) -> None:
    """Variables that a loop reads are read once, outside of it."""
    around = containing_loop(get_default_graph()._scopes.control_flow_context)
    if around is None and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def first_state(cell: Any, batch_size: Any, dtype: Any) -> Any:
    """The state that a cell begins with: its own, or zeros."""
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def _swapped(tensor: Any) -> Any:
    """The tensor with its first two axes exchanged."""
    static = tensor.get_shape()
    if static.ndims is not None and static.ndims < 2:
        raise InvalidValueError(f"Expected tensor {tensor} to have rank at least 2, but saw shape: {static}")
    rank = raw_ops.Rank(tensor) if static.ndims is None else constant(static.ndims, name="Rank")
    order = raw_ops.ConcatV2([[1, 0], tf_range(2, rank)], 0, name="concat")
    result = raw_ops.Transpose(tensor, order, name="transpose")
    if static.ndims is not None:
        dims = static.as_list()
        result.set_shape([dims[1], dims[0], *dims[2:]])
    return result


def _batch_size(flat: list[Any]) -> Any:
    """The second dimension of time-major inputs: a number where one tells it."""
    for each in flat:
        static = each.static_shape
        if static is None:
            continue
        if len(static) < 2:
            raise InvalidValueError(f"Expected input tensor {each} to have rank at least 2")
        if static[1] is not None:
            return static[1]
    return tf_shape(flat[0])[1]


def _has_length(tensor: Any, size: Any) -> Any:
    shape = tf_shape(tensor)
    wanted = (
        raw_ops.Pack([size], name="stack") if isinstance(size, Tensor) else constant([size], name="stack")
    )
    same = raw_ops.All(raw_ops.Equal(shape, wanted), constant([0]))
    told = [f"Expected shape for Tensor {tensor.name} is ", wanted, " but saw shape: ", shape]
    return tf_assert(same, told)


def state_dtype(dtype: Any, state: Any) -> Any:
    """The dtype given, or that of all parts of a state."""
    if dtype is not None:
        return dtype
    found = {leaf.dtype.base_dtype for leaf in nest.flatten(state)}
    if not found:
        raise InvalidValueError("Unable to infer dtype from empty state.")
    if len(found) > 1:
        raise InvalidValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single representative dtype."
        )
    return found.pop()


def size_shape(size: Any) -> TensorShape:
    """The shape that a cell's size stands for."""
    if isinstance(size, Tensor):
        known = get_default_graph().constant_value(size)
        return TensorShape(None if known is None else known.tolist())
    return as_shape(size if isinstance(size, (list, tuple, TensorShape)) else [size])


def _loop(
    cell: Any,
    inputs: Any,
    state: Any,
    parallel_iterations: int,
    swap_memory: bool,
    sequence_length: Any,
    dtype: Any,
) -> tuple[Any, Any]:
    """The loop over time-major inputs."""
    flat = nest.flatten(inputs)
    sizes = nest.flatten(cell.output_size)
    steps = tf_shape(flat[0])[0]
    batch_size = _batch_size(flat)
    shapes = [each.get_shape().with_rank_at_least(3) for each in flat]
    static_steps, static_batch = shapes[0].as_list()[:2]
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise InvalidValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw value None."
            )
        if shape.as_list()[0] != static_steps:
            raise InvalidValueError(
                "Time steps is not the same for all the elements in the input in a batch."
            )
        if shape.as_list()[1] != static_batch:
            raise InvalidValueError("Batch_size is not the same for all the elements in the input.")
    kind = state_dtype(dtype, state)
    zero = nest.pack_sequence_as(
        cell.output_size, [zeros(concat_shape(batch_size, size), kind) for size in sizes]
    )
    last_step = steps
    if sequence_length is not None:
        last_step = raw_ops.Max(sequence_length, constant([0]))
    time = constant(0, dtype=int32, name="time")
    with name_scope("dynamic_rnn") as base:
        pass
    outputs = tuple(
        TensorArray(
            kind,
            steps,
            element_shape=TensorShape([static_batch]).concatenate(size_shape(size)),
            tensor_array_name=f"{base}output_{index}",
        )
        for index, size in enumerate(sizes)
    )
    arrays = [
        TensorArray(
            each.dtype, steps, element_shape=each.get_shape()[1:], tensor_array_name=f"{base}input_{index}"
        )
        for index, each in enumerate(flat)
    ]
    arrays = [array.unstack(each) for array, each in zip(arrays, flat)]

    def step(time: Any, written: Any, state: Any) -> Any:
        read = [array.read(time) for array in arrays]
        for each, shape in zip(read, shapes):
            each.set_shape(shape[1:])
        given = nest.pack_sequence_as(inputs, read)
        if sequence_length is None:
            output, state = cell(given, state)
        else:
            passed = raw_ops.GreaterEqual(time, sequence_length)
            output, state = keep_after_end(passed, zero, state, *cell(given, state))
        written = tuple(array.write(time, value) for array, value in zip(written, nest.flatten(output)))
        return time + 1, written, state

    bound = raw_ops.Minimum(steps, raw_ops.Maximum(1, last_step))
    _, written, last = while_loop(
        lambda time, *_: time < bound,
        step,
        (time, outputs, state),
        parallel_iterations=parallel_iterations,
        maximum_iterations=steps,
        swap_memory=swap_memory,
    )
    results = [array.stack() for array in written]
    for result, size in zip(results, sizes):
        result.set_shape(TensorShape([static_steps, static_batch]).concatenate(size_shape(size)))
    return nest.pack_sequence_as(cell.output_size, results), last


def keep_after_end(passed: Any, zero: Any, state: Any, output: Any, new_state: Any) -> tuple[Any, Any]:
    """What a step gives for sequences that have not ended; zeros and the old state for the others."""
    nest.assert_same_structure(zero, output)
    nest.assert_same_structure(state, new_state)

    def choose(old: Any, new: Any) -> Any:
        if isinstance(old, TensorArray) or old.get_shape().ndims == 0:
            return new
        with get_default_graph().colocate_with(new):
            chosen = raw_ops.Select(passed, old, new)
        chosen.set_shape(old.get_shape())
        return chosen

    outputs = [choose(a, b) for a, b in zip(nest.flatten(zero), nest.flatten(output))]
    states = [choose(a, b) for a, b in zip(nest.flatten(state), nest.flatten(new_state))]
    return nest.pack_sequence_as(zero, outputs), nest.pack_sequence_as(state, states)


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Two recurrent networks, one over the reversed sequences.

    Args:
        cell_fw: The cell of the forward direction.
        cell_bw: The cell of the other direction.
        inputs: A tensor of shape (batch, time, depth), or nested tuples of such.
        sequence_length: int32 of shape (batch,).
        initial_state_fw: The first state of the forward direction.
        initial_state_bw: The first state of the other direction.
        dtype: The dtype of states that are not given.
        parallel_iterations: See `while_loop`.
        swap_memory: See `while_loop`.
        time_major: Inputs and outputs are (time, batch, depth).
        scope: The variable scope; "bidirectional_rnn" by default.

    Returns:
        (outputs forward, outputs backward) and (last state forward, last state backward); outputs are
        in the order of the inputs.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reverse(tensor: Any) -> Any:
        if sequence_length is None:
            return raw_ops.ReverseV2(tensor, [time_axis])
        return raw_ops.ReverseSequence(tensor, sequence_length, seq_dim=time_axis, batch_dim=batch_axis)

    options = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            outputs_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=forward, **options
            )
        with variable_scope("bw") as backward:
            turned = nest.map_structure(reverse, inputs)
            outputs_bw, state_bw = dynamic_rnn(
                cell_bw, turned, initial_state=initial_state_bw, scope=backward, **options
            )
    outputs_bw = nest.map_structure(reverse, outputs_bw)
    return (outputs_fw, outputs_bw), (state_fw, state_bw)


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """A recurrent network whose next input and end a function decides.

    Args:
        cell: The cell.
        loop_fn: From (time, cell output, cell state, loop state) to (elements finished, next input, next
            cell state, what to emit, next loop state); called with None but for the time at first, when
            it gives the first state and, in place of what to emit, its structure or None.
        parallel_iterations: See `while_loop`.
        swap_memory: See `while_loop`.
        scope: The variable scope; "rnn" by default.

    Returns:
        `TensorArray`s of what was emitted, the last cell state and the last loop state.

    Raises:
        TypeError: `cell` is no cell, or `loop_fn` is not callable.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise InvalidTypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as entered:
        cache_beside(entered)
        time = constant(0, dtype=int32)
        finished, next_input, state, emitted, loop_state = loop_fn(time, None, None, None)
        keeps_state = loop_state is not None
        if not keeps_state:
            loop_state = constant(0, dtype=int32)
        flat = nest.flatten(next_input)
        batch = TensorShape([None])
        for each in flat:
            batch = batch.merge_with(each.get_shape()[:1])
        (static_batch,) = batch.as_list()
        batch_size = static_batch if static_batch is not None else tf_shape(flat[0])[0]
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert_to_tensor, state)
        if emitted is not None:
            leaves = nest.flatten(emitted)
            sizes = [
                leaf.get_shape() if leaf.get_shape().is_fully_defined() else tf_shape(leaf) for leaf in leaves
            ]
            kinds = [leaf.dtype for leaf in leaves]
        else:
            emitted = cell.output_size
            sizes = nest.flatten(emitted)
            kinds = [nest.flatten(state)[0].dtype] * len(sizes)
        arrays = nest.pack_sequence_as(
            emitted,
            [
                TensorArray(
                    kind,
                    0,
                    dynamic_size=True,
                    element_shape=TensorShape([static_batch]).concatenate(size_shape(size)),
                    name=f"rnn_output_{index}",
                )
                for index, (kind, size) in enumerate(zip(kinds, sizes))
            ],
        )
        zero = nest.pack_sequence_as(
            emitted, [zeros(concat_shape(batch_size, size), kind) for kind, size in zip(kinds, sizes)]
        )

        def body(time: Any, finished: Any, given: Any, arrays: Any, state: Any, loop_state: Any) -> Any:
            output, cell_state = cell(given, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output)
            following = time + 1
            now_finished, given, next_state, emit, next_loop_state = loop_fn(
                following, output, cell_state, loop_state
            )
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(arrays, emit)
            emit, next_state = keep_after_end(finished, zero, state, emit, next_state)
            arrays = nest.map_structure(lambda array, value: array.write(time, value), arrays, emit)
            return (
                following,
                raw_ops.LogicalOr(finished, now_finished),
                given,
                arrays,
                next_state,
                loop_state if next_loop_state is None else next_loop_state,
            )

        def condition(_: Any, finished: Any, *rest: Any) -> Any:
            return raw_ops.LogicalNot(raw_ops.All(finished, constant([0])))

        *_, arrays, state, loop_state = while_loop(
            condition,
            body,
            [time, finished, next_input, arrays, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        return arrays, state, loop_state if keeps_state else None
