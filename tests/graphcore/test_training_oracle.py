"""Sparse gradients, falling rates and moving averages: TensorFlow is asked, in the same process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, tensorflow

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def theirs() -> Any:
    return tensorflow()


SPARSE = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda tf: tf.train.AdamOptimizer(0.01),
    "rms_prop": lambda tf: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "rms_prop_centered": lambda tf: tf.train.RMSPropOptimizer(0.01, 0.8, centered=True),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.05),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(
        0.05, tf.train.get_or_create_global_step(), 0.1, 0.001, 0.01
    ),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-4),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.05, -0.4, 0.1, 0.01, 0.02),
    "ftrl_shrinkage": lambda tf: tf.train.FtrlOptimizer(0.05, l2_shrinkage_regularization_strength=0.01),
    "proximal_descent": lambda tf: tf.train.ProximalGradientDescentOptimizer(0.05, 0.01, 0.02),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(0.05, 0.1, 0.01, 0.02),
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("optimizer", SPARSE)
def test_sparse_gradients(theirs: Any, optimizer: str, use_resource: bool) -> None:
    """Rows that are read several times, and some that never are."""
    start = np.random.RandomState(0).randn(6, 3).astype(np.float32)

    def build(tf: Any) -> Any:
        table = tf.get_variable("table", initializer=start, use_resource=use_resource)
        rows = tf.gather(table, [1, 4, 1, 0, 1])
        loss = tf.reduce_sum(rows * rows * tf.constant([[0.3], [0.5], [1.0], [-0.2], [0.1]]))
        step = tf.train.get_or_create_global_step()
        algorithm = SPARSE[optimizer](tf)
        train = algorithm.minimize(loss, global_step=step)
        slots = [algorithm.get_slot(table, name) for name in algorithm.get_slot_names()]
        return train, [table, *slots], {}

    compare(theirs, build, 6, names=False)


STEPS = [0, 1, 7, 10, 11, 25, 30, 100, 1000]
DECAYS = {
    "exponential": lambda tf, step: tf.train.exponential_decay(0.1, step, 10, 0.9),
    "exponential_staircase": lambda tf, step: tf.train.exponential_decay(0.1, step, 10, 0.9, True, "rate"),
    "natural_exp": lambda tf, step: tf.train.natural_exp_decay(0.1, step, 10, 0.5, staircase=True),
    "inverse_time": lambda tf, step: tf.train.inverse_time_decay(0.1, step, 10, 0.5),
    "inverse_time_staircase": lambda tf, step: tf.train.inverse_time_decay(0.1, step, 10, 0.5, True),
    "polynomial": lambda tf, step: tf.train.polynomial_decay(0.1, step, 30, 0.01, 2.0),
    "polynomial_cycle": lambda tf, step: tf.train.polynomial_decay(0.1, step, 30, 0.01, 0.5, cycle=True),
    "piecewise_constant": lambda tf, step: tf.train.piecewise_constant(
        step, [5, 10, 30], [1.0, 0.5, 0.2, 0.1]
    ),
    "cosine": lambda tf, step: tf.train.cosine_decay(0.1, step, 30, 0.05),
    "cosine_restarts": lambda tf, step: tf.train.cosine_decay_restarts(0.1, step, 10, 2.0, 0.9, 0.01),
    "cosine_restarts_of_one_length": lambda tf, step: tf.train.cosine_decay_restarts(0.1, step, 10, 1.0),
    "linear_cosine": lambda tf, step: tf.train.linear_cosine_decay(0.1, step, 30),
    "float64": lambda tf, step: tf.train.exponential_decay(np.float64(0.1), step, 10, 0.9),
}


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("decay", DECAYS)
def test_learning_rates(theirs: Any, decay: str, use_resource: bool) -> None:
    def build(tf: Any) -> Any:
        step = tf.get_variable("step", initializer=np.int64(0), trainable=False, use_resource=use_resource)
        now = tf.placeholder(tf.int64, [])
        rate = DECAYS[decay](tf, step)
        return tf.assign(step, now), [rate], {now: lambda index: STEPS[index]}

    # Later versions choose and check without conditionals.
    compare(theirs, build, len(STEPS), names=not decay.startswith(("polynomial", "piecewise")))


def test_noisy_learning_rates(theirs: Any) -> None:
    """Without noise: TensorFlow 1.15 and later versions number an op's own seed differently."""

    def build(tf: Any) -> Any:
        step = tf.placeholder(tf.int32, [])
        rate = tf.train.noisy_linear_cosine_decay(0.1, step, 30, 0.0)
        return [], [rate], {step: lambda index: STEPS[index]}

    compare(theirs, build, len(STEPS))


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("options", [{}, {"counted": True}, {"zero_debias": True}], ids=str)
def test_moving_averages(theirs: Any, options: dict[str, Any], use_resource: bool) -> None:
    def build(tf: Any) -> Any:
        with tf.variable_scope("net"):
            value = tf.get_variable("v", initializer=np.float32([1, 2]), use_resource=use_resource)
        step = tf.get_variable("step", initializer=np.int32(0), trainable=False, use_resource=use_resource)
        number = tf.placeholder(tf.float32, [])
        tensor = tf.multiply(number, 2.0, name="doubled")
        keywords = {"num_updates": step} if options.get("counted") else dict(options)
        averages = tf.train.ExponentialMovingAverage(0.9, **keywords)
        with tf.control_dependencies([tf.assign_add(value, [0.5, number]), tf.assign_add(step, 1)]):
            update = averages.apply([value, tensor])
        assert averages.average_name(value) == "net/v/ExponentialMovingAverage"
        assert averages.average(value).op.name == averages.average_name(value)
        found = {key: item.op.name for key, item in averages.variables_to_restore().items()}
        expected = {"net/v/ExponentialMovingAverage": "net/v", "step": "step"}
        assert found.items() >= expected.items()
        fetches = [averages.average(value), averages.average(tensor), value]
        return update, fetches, {number: lambda index: 0.25 * index}

    # TensorFlow guards a ref variable's first value twice against variables that have none.
    compare(theirs, build, 5, names=use_resource)
