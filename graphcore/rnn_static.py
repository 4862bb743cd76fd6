"""`tf.nn.static_rnn` and its kin: recurrent networks whose steps stand one after the other in the graph.

Source: tensorflow/python/ops/rnn.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

from . import nest
from .conditional import cond
from .convert import constant, convert_to_tensor
from .default import get_default_graph
from .dtypes import int32
from .errors import InvalidTypeError, InvalidValueError
from .op import raw_ops
from .ops.array_create import zeros
from .ops.array_shape import tf_shape
from .rnn import cache_beside, first_state, keep_after_end, size_shape, state_dtype
from .rnn_cells import assert_like_rnncell, concat_shape
from .tensor_shape import TensorShape
from .variable_scope import variable_scope


def static_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """A recurrent network, its steps one after the other in the graph.

    Args:
        cell: The cell.
        inputs: A list of tensors of shape (batch, depth), one a step, or of nested tuples of such.
        initial_state: The state to begin with; by default the cell's zeros.
        dtype: The dtype of that.
        sequence_length: Integers of shape (batch,): behind it outputs are zeros and states stay.
        scope: The variable scope; "rnn" by default.

    Returns:
        The outputs, one a step, and the last state.

    Raises:
        TypeError: `cell` is no cell, or `inputs` is no list.
        ValueError: There are no inputs, neither `initial_state` nor `dtype` is given, or a depth is not
            known.
    """
    assert_like_rnncell("cell", cell)
    if not nest.is_nested(inputs):
        raise InvalidTypeError("inputs must be a sequence")
    if not inputs:
        raise InvalidValueError("inputs must not be empty")
    outputs = []
    with variable_scope(scope or "rnn") as entered:
        cache_beside(entered)
        flat = nest.flatten(inputs)
        batch = TensorShape([None])
        for each in flat:
            shape = each.get_shape().with_rank_at_least(2 if flat[0].get_shape().ndims != 1 else 1)
            batch = batch.merge_with(shape[:1])
            unknown = [index for index, size in enumerate(shape.as_list()[1:]) if size is None]
            if unknown:
                raise InvalidValueError(
                    f"Input size (dimension {unknown[0]} of inputs) must be accessible via shape inference, "
                    "but saw value None."
                )
        (static_batch,) = batch.as_list()
        batch_size = static_batch if static_batch is not None else tf_shape(flat[0])[0]
        state = initial_state
        if state is None:
            if not dtype:
                raise InvalidValueError("If no initial_state is provided, dtype must be specified")
            state = first_state(cell, batch_size, dtype)
        ends: Any = None
        if sequence_length is not None:
            lengths = convert_to_tensor(sequence_length, name="sequence_length")
            if lengths.get_shape().ndims not in (None, 1):
                raise InvalidValueError("sequence_length must be a vector of length batch_size")
            kind = state_dtype(dtype, state)

            def zero_of(size: Any) -> Any:
                made = zeros(concat_shape(batch_size, size), kind)
                made.set_shape(TensorShape([static_batch]).concatenate(size_shape(size)))
                return made

            zero = nest.map_structure(zero_of, cell.output_size)
            lengths = lengths if lengths.dtype == int32 else raw_ops.Cast(lengths, DstT=int32)
            first = raw_ops.Min(lengths, constant([0]))
            ends = (lengths, first, raw_ops.Max(lengths, constant([0])))
        for time, given in enumerate(inputs):
            if time > 0:
                entered.reuse_variables()
            if ends is None:
                output, state = cell(given, state)
            else:
                output, state = _step_until(time, ends, zero, cell, given, state)
            outputs.append(output)
    return outputs, state


def _step_until(time: int, ends: Any, zero: Any, cell: Any, given: Any, state: Any) -> tuple[Any, Any]:
    """A step that is not computed once all sequences have ended."""
    lengths, first, last = ends
    structure = (zero, state)

    def compute() -> Any:
        output, new_state = cell(given, state)
        nest.assert_same_structure(zero, output)
        nest.assert_same_structure(state, new_state)
        fresh = [*nest.flatten(output), *nest.flatten(new_state)]

        def choose() -> Any:
            kept = keep_after_end(raw_ops.GreaterEqual(time, lengths), zero, state, output, new_state)
            return nest.flatten(kept)

        return cond(raw_ops.Less(time, first), lambda: fresh, choose, strict=True)

    flat = cond(raw_ops.GreaterEqual(time, last), lambda: nest.flatten(structure), compute, strict=True)
    for result, like in zip(flat, nest.flatten(structure)):
        result.set_shape(like.get_shape())
    output, new_state = nest.pack_sequence_as(structure, flat)
    return output, new_state


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """Two unrolled recurrent networks, one over the reversed sequences; see `static_rnn`.

    Returns:
        The outputs of both directions side by side, one a step, and both last states.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise InvalidTypeError("inputs must be a sequence")
    if not inputs:
        raise InvalidValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as forward:
            outputs_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=forward
            )
        with variable_scope("bw") as backward:
            turned = _reversed(inputs, sequence_length)
            outputs_bw, state_bw = static_rnn(
                cell_bw, turned, initial_state_bw, dtype, sequence_length, scope=backward
            )
    outputs_bw = _reversed(outputs_bw, sequence_length)
    pairs = zip(nest.flatten(outputs_fw), nest.flatten(outputs_bw))
    joined = [raw_ops.ConcatV2([a, b], 1, name="concat") for a, b in pairs]
    return nest.pack_sequence_as(outputs_fw, joined), state_fw, state_bw


def _reversed(steps: Any, lengths: Any) -> list[Any]:
    """The steps backwards, each sequence within its length."""
    if lengths is None:
        return list(reversed(steps))
    turned = []
    for column in zip(*[nest.flatten(step) for step in steps]):
        shape = column[0].get_shape()
        for each in column[1:]:
            shape = shape.merge_with(each.get_shape())
        joined = raw_ops.ReverseSequence(raw_ops.Pack(list(column)), lengths, seq_dim=0, batch_dim=1)
        parts = raw_ops.Unpack(joined, num=len(column))
        for part in parts:
            part.set_shape(shape)
        turned.append(parts)
    return [nest.pack_sequence_as(step, list(flat)) for step, flat in zip(steps, zip(*turned))]


def static_state_saving_rnn(
    cell: Any, inputs: Any, state_saver: Any, state_name: Any, sequence_length: Any = None, scope: Any = None
) -> tuple[list[Any], Any]:
    """A `static_rnn` whose state a saver keeps from one batch to the next.

    Args:
        cell: The cell.
        inputs: A list of tensors of shape (batch, depth), one a step.
        state_saver: Has `state(name)` and `save_state(name, value)`.
        state_name: Under which name, in the structure of the cell's state.
        sequence_length: See `static_rnn`.
        scope: The variable scope; "rnn" by default.

    Raises:
        ValueError: `state_name` has another structure than the state.
    """
    if nest.is_nested(cell.state_size) != nest.is_nested(state_name):
        raise InvalidValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{state_name}, cell.state_size: {cell.state_size}"
        )
    names, sizes = nest.flatten(state_name), nest.flatten(cell.state_size)
    if len(names) != len(sizes):
        raise InvalidValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(sizes)}")
    start = nest.pack_sequence_as(cell.state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, start, sequence_length=sequence_length, scope=scope)
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    with get_default_graph().control_dependencies(saved):
        outputs[-1] = nest.map_structure(raw_ops.Identity, outputs[-1])
        state = nest.map_structure(raw_ops.Identity, state)
    return outputs, state
