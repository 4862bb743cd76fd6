"""Optimizers, falling rates and moving averages on their own."""

from __future__ import annotations

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.graphcore.variable import SaveSliceInfo

OPTIMIZERS = {
    "RMSProp": (tf.train.RMSPropOptimizer(0.05), ["momentum", "rms"]),
    "Centered": (tf.train.RMSPropOptimizer(0.05, centered=True, name="Centered"), ["mg", "momentum", "rms"]),
    "Adagrad": (tf.train.AdagradOptimizer(0.5), ["accumulator"]),
    "Adadelta": (tf.train.AdadeltaOptimizer(5.0, epsilon=1e-3), ["accum", "accum_update"]),
    "Ftrl": (tf.train.FtrlOptimizer(0.5), ["accum", "linear"]),
    "ProximalGradientDescent": (tf.train.ProximalGradientDescentOptimizer(0.1), []),
    "ProximalAdagrad": (tf.train.ProximalAdagradOptimizer(0.5), ["accumulator"]),
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_minimizes(name: str, use_resource: bool) -> None:
    optimizer, slots = OPTIMIZERS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=np.float32([1.0, -2.0]), use_resource=use_resource)
        loss = tf.reduce_sum(tf.square(variable - [3.0, 1.0]))
        train = optimizer.minimize(loss)
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(50):
            session.run(train)
        assert session.run(loss) < before / 4
        assert optimizer.get_slot_names() == slots
        names = {slot.op.name for slot in optimizer.variables()}
        assert names == {f"v/{name}" + (f"_{index}" if index else "") for index in range(len(slots))}


def test_l1_strength_makes_zeros() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable([1.0, 0.01])
        optimizer = tf.train.FtrlOptimizer(0.5, l1_regularization_strength=0.5)
        train = optimizer.minimize(tf.reduce_sum(tf.square(variable - [3.0, 0.01])))
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(train)
        large, small = session.run(variable)
        assert small == 0
        assert large > 1


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tf.train.AdagradOptimizer(0.1, 0.0), "initial_accumulator_value must be positive: 0.0"),
        (lambda: tf.train.ProximalAdagradOptimizer(0.1, -1.0), "initial_accumulator_value must be positive"),
        (
            lambda: tf.train.AdagradDAOptimizer(0.1, None, 0.0),
            "initial_gradient_squared_accumulator_value must be positive",
        ),
        (
            lambda: tf.train.FtrlOptimizer(0.1, 0.5),
            "learning_rate_power 0.500000 needs to be negative or zero",
        ),
        (
            lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1.0),
            "l1_regularization_strength -1.000000 needs to be positive or zero",
        ),
    ],
)
def test_refused_numbers(make, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


def test_slots_of_a_variable_of_unknown_shape() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        start = tf.placeholder_with_default(np.float32([1.0, 2.0]), [None])
        variable = tf.Variable(start, validate_shape=False)
        for optimizer in (tf.train.RMSPropOptimizer(0.1, centered=True), tf.train.AdagradOptimizer(0.1)):
            train = optimizer.minimize(tf.reduce_sum(variable))
            session.run(tf.global_variables_initializer())
            session.run(train)
            for slot in optimizer.get_slot_names():
                assert session.run(optimizer.get_slot(variable, slot)).shape == (2,)


def test_slots_of_parts_are_parts() -> None:
    with tf.Graph().as_default():
        variable = tf.Variable(np.zeros((2, 3), np.float32), name="w")
        variable._set_save_slice_info(SaveSliceInfo("whole", [4, 3], [2, 0], [2, 3]))
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(tf.reduce_sum(variable))
        part = optimizer.get_slot(variable, "momentum")._get_save_slice_info()
        assert part.full_name == "whole/Momentum"
        assert part.spec == "4 3 2,2:0,3"


def test_piecewise_constants_must_agree() -> None:
    with tf.Graph().as_default():
        step = tf.placeholder(tf.int32, [])
        with pytest.raises(
            ValueError, match="length of boundaries should be 1 less than the length of values"
        ):
            tf.train.piecewise_constant(step, [1, 2], [0.1, 0.2])
        with pytest.raises(ValueError, match="must have the same dtype as x"):
            tf.train.piecewise_constant(step, [1.0], [0.1, 0.2])
        with pytest.raises(ValueError, match="all with the same dtype"):
            tf.train.piecewise_constant(step, [1], [0.1, 2])


def test_a_saver_of_averages_restores_them_into_the_variables(tmp_path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(1.0, name="v")
        other = tf.Variable(7.0, name="other", trainable=False)
        averages = tf.train.ExponentialMovingAverage(0.5)
        with tf.control_dependencies([tf.assign_add(variable, 1.0)]):
            update = averages.apply()
        session.run(tf.global_variables_initializer())
        session.run(update)
        session.run(update)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        assert averages.average(other) is None
        assert tf.moving_average_variables() == [variable]
    with tf.Graph().as_default(), tf.Session() as session:
        variable, other = tf.Variable(0.0, name="v"), tf.Variable(0.0, name="other", trainable=False)
        keys = tf.train.ExponentialMovingAverage(0.5).variables_to_restore()
        assert keys == {"v/ExponentialMovingAverage": variable, "other": other}
        tf.train.Saver(keys).restore(session, path)
        assert session.run([variable, other]) == [2.25, 7.0]


def test_averages_are_of_floats() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="must be half, float, or double"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1)])


def test_a_loss_may_be_a_function() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.get_variable("v", initializer=3.0)
        train = tf.train.GradientDescentOptimizer(0.5).minimize(lambda: variable * variable)
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(variable) == 0.0


def test_tensors_have_gradients_but_no_updates() -> None:
    with tf.Graph().as_default():
        x = tf.constant(2.0)
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        pairs = optimizer.compute_gradients(x * x, [x])
        with pytest.raises(NotImplementedError, match="Trying to update a Tensor"):
            optimizer.apply_gradients(pairs)


def test_replicas_are_refused_with_the_reason() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="Use AdamOptimizer itself"):
        tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(), 2)
