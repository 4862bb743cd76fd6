"""Recurrent networks: what the cells compute, variables' names, gradients, errors; and TensorFlow's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rnn_programs import BATCH, DEPTH, PROGRAMS, TIME

from sgtool import graphcore as tf

cells = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def total(module: Any, outputs: list[Any]) -> Any:
    return module.add_n([module.reduce_sum(module.sin(output)) for output in outputs])


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_what_small_steps_say(name: str) -> None:
    outputs, feeds = PROGRAMS[name](tf)
    (x,) = feeds
    loss = total(tf, outputs)
    wanted = [x, *tf.trainable_variables()]
    gradients = tf.gradients(loss, wanted)
    random = np.random.RandomState(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(gradients, feeds)
        for variable, gradient in zip(wanted, found):
            start = feeds[x] if variable is x else session.run(variable)
            direction = random.uniform(-1.0, 1.0, start.shape)
            sides = []
            for step in (1e-6, -1e-6):
                moved = start + step * direction
                if variable is x:
                    sides.append(session.run(loss, {x: moved}))
                else:
                    variable.load(moved, session)
                    sides.append(session.run(loss, feeds))
                    variable.load(start, session)
            slope = (sides[0] - sides[1]) / 2e-6
            assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-8)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:.*tf.nn.rnn_cell")
@pytest.mark.parametrize("name", PROGRAMS)
def test_tensorflow_computes_the_same(name: str) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    pytest.importorskip("tf_keras")  # TensorFlow's cells are in there today
    theirs.disable_eager_execution()
    theirs.disable_control_flow_v2()
    theirs.disable_resource_variables()
    found = []
    for module in (tf, theirs):
        with module.Graph().as_default():
            outputs, feeds = PROGRAMS[name](module)
            variables = module.trainable_variables()
            gradients = module.gradients(total(module, outputs), [*feeds, *variables])
            with module.Session() as session:
                session.run(module.global_variables_initializer())
                values = session.run([*outputs, *gradients], feeds)
            found.append(([variable.name for variable in variables], values))
    (names, ours), (their_names, expected) = found
    assert names == their_names
    for mine, wanted in zip(ours, expected, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-9, atol=1e-12)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def weights(*shape: int, seed: int) -> np.ndarray:
    return np.random.RandomState(seed).uniform(-1.0, 1.0, shape)


def run_cell(cell: Any, state: Any, size: int) -> tuple[Any, list[np.ndarray], np.ndarray]:
    """One step's results, the cell's weights (set to random numbers) and the inputs."""
    inputs = weights(BATCH, DEPTH, seed=1)
    output, new = cell(tf.constant(inputs), state)
    values = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for index, variable in enumerate(cell.weights):
            values.append(weights(*variable.shape.as_list(), seed=index))
            variable.load(values[-1], session)
        return session.run([output, new]), values, inputs


def test_lstm_by_its_equations() -> None:
    c, h = weights(BATCH, 4, seed=5), weights(BATCH, 4, seed=6)
    cell = cells.BasicLSTMCell(4, forget_bias=0.25, dtype=tf.float64)
    (output, new), (kernel, bias), x = run_cell(cell, cells.LSTMStateTuple(tf.constant(c), tf.constant(h)), 4)
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ kernel + bias, 4, axis=1)
    wanted_c = sigmoid(f + 0.25) * c + sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(new.c, wanted_c)
    np.testing.assert_allclose(output, np.tanh(wanted_c) * sigmoid(o))
    np.testing.assert_array_equal(output, new.h)


def test_gru_by_its_equations() -> None:
    h = weights(BATCH, 4, seed=6)
    (output, new), values, x = run_cell(cells.GRUCell(4, dtype=tf.float64), tf.constant(h), 4)
    gates, gate_bias, candidate, candidate_bias = values
    r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ gates + gate_bias), 2, axis=1)
    c = np.tanh(np.concatenate([x, r * h], 1) @ candidate + candidate_bias)
    np.testing.assert_allclose(output, u * h + (1 - u) * c)
    np.testing.assert_array_equal(output, new)


def test_variables_have_the_names_that_checkpoints_have() -> None:
    x = tf.placeholder(tf.float32, [BATCH, TIME, DEPTH])
    cell = cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.GRUCell(3)])
    tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    with tf.variable_scope("other"):
        tf.nn.dynamic_rnn(cells.LSTMCell(2, use_peepholes=True, num_proj=1, name="mine"), x, dtype=tf.float32)
    names = {variable.op.name: variable.shape.as_list() for variable in tf.trainable_variables()}
    base = "rnn/multi_rnn_cell/cell_"
    assert names == {
        f"{base}0/basic_lstm_cell/kernel": [7, 16],
        f"{base}0/basic_lstm_cell/bias": [16],
        f"{base}1/gru_cell/gates/kernel": [7, 6],
        f"{base}1/gru_cell/gates/bias": [6],
        f"{base}1/gru_cell/candidate/kernel": [7, 3],
        f"{base}1/gru_cell/candidate/bias": [3],
        "other/rnn/mine/kernel": [4, 8],
        "other/rnn/mine/bias": [8],
        "other/rnn/mine/w_f_diag": [2],
        "other/rnn/mine/w_i_diag": [2],
        "other/rnn/mine/w_o_diag": [2],
        "other/rnn/mine/projection/kernel": [2, 1],
    }
    assert len(cell.trainable_weights) == 6


def test_one_cell_used_twice_has_its_variables_once() -> None:
    x = tf.placeholder(tf.float32, [BATCH, DEPTH])
    cell = cells.GRUCell(DEPTH)
    output, state = cell(x, cell.zero_state(BATCH, tf.float32))
    cell(output, state)
    assert len(tf.global_variables()) == 4


def test_unknown_batch_and_time() -> None:
    x = tf.placeholder(tf.float32, [None, None, DEPTH])
    lengths = tf.placeholder(tf.int32, [None])
    outputs, state = tf.nn.dynamic_rnn(cells.GRUCell(2), x, sequence_length=lengths, dtype=tf.float32)
    assert outputs.get_shape().as_list() == [None, None, 2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, last = session.run([outputs, state], {x: np.ones([3, 5, DEPTH]), lengths: [5, 2, 0]})
        assert values.shape == (3, 5, 2)
        np.testing.assert_array_equal(values[1, 2:], 0.0)
        np.testing.assert_array_equal(last[1], values[1, 1])
        np.testing.assert_array_equal(last[2], 0.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="shape for Tensor rnn/sequence_length"):
            session.run(outputs, {x: np.ones([3, 5, DEPTH]), lengths: [5, 2]})


@pytest.mark.parametrize("variational", [False, True])
def test_dropout_drops_and_scales(variational: bool) -> None:
    x = tf.ones([50, TIME, 40], tf.float32)
    inner = cells.BasicRNNCell(30, activation=lambda value: value * 0.0 + 1.0)
    cell = cells.DropoutWrapper(
        inner, output_keep_prob=0.25, variational_recurrent=variational, dtype=tf.float32, seed=3
    )
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, last = session.run([outputs, state])
    assert set(np.unique(values)) == {0.0, 4.0}
    assert values.mean() == pytest.approx(1.0, abs=0.15)
    np.testing.assert_array_equal(last, 1.0)  # only outputs are dropped
    same_in_all_steps = bool((values == values[:, :1]).all())
    assert same_in_all_steps == variational


def test_dropout_leaves_the_cell_of_an_lstm_alone() -> None:
    cell = cells.DropoutWrapper(cells.BasicLSTMCell(50), state_keep_prob=0.5, seed=3)
    state = cell.zero_state(4, tf.float32)
    _, new = cell(tf.ones([4, 10]), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        c, h = session.run(list(new))
    assert (c != 0.0).all()
    assert 0.3 < (h == 0.0).mean() < 0.7


def placeholder(*shape: int | None) -> Any:
    return tf.placeholder(tf.float32, list(shape))


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda: tf.nn.dynamic_rnn(cells.GRUCell(2), placeholder(2, 3, 4)),
            ValueError,
            "If there is no initial_state, you must give a dtype.",
        ),
        (
            lambda: tf.nn.dynamic_rnn(cells.GRUCell(2), placeholder(2, 3, None), dtype=tf.float32),
            ValueError,
            "Input size .* must be accessible via shape inference",
        ),
        (
            lambda: tf.nn.dynamic_rnn("cell", placeholder(2, 3, 4), dtype=tf.float32),
            TypeError,
            "is not an RNNCell: it lacks",
        ),
        (
            lambda: tf.nn.dynamic_rnn(
                cells.GRUCell(2), placeholder(2, 3, 4), sequence_length=[[1]], dtype=tf.float32
            ),
            ValueError,
            "sequence_length must be a vector of length batch_size, but saw shape",
        ),
        (lambda: tf.nn.static_rnn(cells.GRUCell(2), []), ValueError, "inputs must not be empty"),
        (lambda: cells.MultiRNNCell([]), ValueError, "Must specify at least one cell"),
        (lambda: cells.MultiRNNCell(cells.GRUCell(2)), TypeError, "cells must be a list or tuple"),
        (
            lambda: cells.MultiRNNCell([cells.BasicLSTMCell(2)], state_is_tuple=False),
            ValueError,
            "Some cells return tuples of states",
        ),
        (
            lambda: cells.DropoutWrapper(cells.GRUCell(2), input_keep_prob=1.5),
            ValueError,
            "Parameter input_keep_prob must be between 0 and 1: 1.5",
        ),
        (
            lambda: cells.GRUCell(2, dtype=tf.int32),
            ValueError,
            "RNN cell only supports floating point inputs",
        ),
        (lambda: cells.GRUCell(2, activation="nope"), ValueError, "Unknown activation function:nope"),
        (lambda: cells.GRUCell(2, wrong=1), TypeError, "Keyword argument not understood: wrong"),
    ],
)
def test_what_cannot_be_built_says_why(build: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()
