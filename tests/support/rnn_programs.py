"""Recurrent networks, written against TensorFlow 1's API.

Each program takes the `tf` module (ours or TensorFlow's) and gives `(outputs, inputs)` as those in
`control_flow_programs` do. Weights are random numbers of a seed, which both systems draw alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

PROGRAMS: dict[str, Any] = {}
BATCH, TIME, DEPTH = 2, 4, 3


def _program(function: Any) -> Any:
    def wrapped(tf: Any) -> Any:
        values = np.random.RandomState(1).uniform(-1.0, 1.0, (BATCH, TIME, DEPTH))
        x = tf.placeholder(tf.float64, [BATCH, TIME, DEPTH], name="x")
        initializer = tf.random_uniform_initializer(-0.8, 0.8, seed=11, dtype=tf.float64)
        with tf.variable_scope("net", initializer=initializer, dtype=tf.float64):
            outputs = function(tf, x)
        return outputs, {x: values}

    PROGRAMS[function.__name__] = wrapped
    return function


def _cells(tf: Any) -> Any:
    return tf.nn.rnn_cell


@_program
def basic_rnn(tf: Any, x: Any) -> Any:
    outputs, state = tf.nn.dynamic_rnn(_cells(tf).BasicRNNCell(5), x, dtype=tf.float64)
    return [outputs, state]


@_program
def gru(tf: Any, x: Any) -> Any:
    cell = _cells(tf).GRUCell(4, activation=tf.nn.relu)
    outputs, state = tf.nn.dynamic_rnn(cell, x, sequence_length=[2, 4], dtype=tf.float64)
    return [outputs, state]


@_program
def lstm(tf: Any, x: Any) -> Any:
    cell = _cells(tf).BasicLSTMCell(4, forget_bias=0.5)
    outputs, state = tf.nn.dynamic_rnn(cell, x, sequence_length=[3, 1], dtype=tf.float64)
    return [outputs, state.c, state.h]


@_program
def lstm_side_by_side(tf: Any, x: Any) -> Any:
    cell = _cells(tf).BasicLSTMCell(4, state_is_tuple=False)
    outputs, state = tf.nn.dynamic_rnn(cell, tf.transpose(x, [1, 0, 2]), dtype=tf.float64, time_major=True)
    return [outputs, state]


@_program
def lstm_with_everything(tf: Any, x: Any) -> Any:
    cell = _cells(tf).LSTMCell(5, use_peepholes=True, num_proj=2, cell_clip=0.7, proj_clip=0.6)
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float64)
    return [outputs, *state]


@_program
def stacked(tf: Any, x: Any) -> Any:
    r = _cells(tf)
    cell = r.MultiRNNCell(
        [r.GRUCell(3), r.ResidualWrapper(r.LSTMCell(3)), r.DeviceWrapper(r.BasicRNNCell(2), "/cpu:0")]
    )
    outputs, state = tf.nn.dynamic_rnn(cell, x, sequence_length=[4, 2], dtype=tf.float64)
    return [outputs, state[0], *state[1], state[2]]


@_program
def both_directions(tf: Any, x: Any) -> Any:
    r = _cells(tf)
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        r.GRUCell(3), r.BasicLSTMCell(2), x, sequence_length=[3, 4], dtype=tf.float64
    )
    return [*outputs, states[0], *states[1]]


@_program
def unrolled(tf: Any, x: Any) -> Any:
    steps = tf.unstack(x, axis=1)
    outputs, state = tf.nn.static_rnn(
        _cells(tf).BasicLSTMCell(4), steps, dtype=tf.float64, sequence_length=[2, 3]
    )
    return [*outputs, *state]


@_program
def unrolled_in_both_directions(tf: Any, x: Any) -> Any:
    r = _cells(tf)
    outputs, forward, backward = tf.nn.static_bidirectional_rnn(
        r.GRUCell(3), r.GRUCell(2), tf.unstack(x, axis=1), dtype=tf.float64, sequence_length=[2, 4]
    )
    return [*outputs, forward, backward]


@_program
def with_a_first_state(tf: Any, x: Any) -> Any:
    cell = _cells(tf).BasicLSTMCell(3)
    state = _cells(tf).LSTMStateTuple(x[:, 0], x[:, 1] * 2.0)
    outputs, last = tf.nn.dynamic_rnn(cell, x, initial_state=state)
    return [outputs, *last]


@_program
def raw(tf: Any, x: Any) -> Any:
    """Feeds each output back in, and emits something else."""
    cell = _cells(tf).GRUCell(DEPTH)

    def loop_fn(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
        finished = tf.greater_equal(time, [2, 3])
        if output is None:
            return (
                finished,
                x[:, 0],
                cell.zero_state(BATCH, tf.float64),
                tf.zeros([2], tf.float64),
                x[0, 0, 0],
            )
        return finished, tf.sin(output), state, output[:, :2] * 3.0, loop_state * 2.0

    emitted, state, loop_state = tf.nn.raw_rnn(cell, loop_fn)
    return [emitted.stack(), state, loop_state]


@_program
def dropped(tf: Any, x: Any) -> Any:
    """Dropout that drops nothing."""
    r = _cells(tf)
    cell = r.DropoutWrapper(
        r.BasicLSTMCell(3), input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0
    )
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float64)
    return [outputs, *state]
