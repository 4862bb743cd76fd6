"""Learning rates that fall with the step: `tf.train.exponential_decay` and its kin.

Source: tensorflow/python/training/learning_rate_decay.py and keras/optimizer_v2/learning_rate_schedule.py
(r1.15), behaviour and nodes only. Cosine decay: Loshchilov and Hutter 2016, "SGDR"; the linear and noisy
ones: Bello et al. 2017, "Neural Optimizer Search with RL".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from .conditional import case, cond
from .convert import constant, convert_to_tensor
from .default import name_scope
from .dtypes import int32, int64
from .errors import InvalidValueError
from .ops.math_binary import equal, minimum, mul, pow_, tf_add, truediv
from .ops.math_unary import ceil, cos, exp, floor, log, neg, sqrt, tf_cast
from .ops.random import random_normal


def _rate(learning_rate: Any) -> Any:
    return convert_to_tensor(learning_rate, name="initial_learning_rate")


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.train.exponential_decay`: learning_rate * decay_rate ^ (global_step / decay_steps).

    Args:
        learning_rate: The rate at first, whose dtype the result has.
        global_step: The step.
        decay_steps: How many steps a factor of `decay_rate` takes.
        decay_rate: The factor.
        staircase: Whether the rate falls only at whole multiples of `decay_steps`.
        name: Name scope.
    """
    with name_scope(name, "ExponentialDecay") as scope:
        rate = _rate(learning_rate)
        dtype = rate.dtype
        steps, factor = tf_cast(decay_steps, dtype), tf_cast(decay_rate, dtype)
        periods = tf_cast(global_step, dtype) / steps
        if staircase:
            periods = floor(periods)
        return mul(rate, pow_(factor, periods), name=scope)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.train.natural_exp_decay`: learning_rate * exp(-decay_rate * global_step / decay_steps).

    Arguments as of `exponential_decay`.
    """
    return exponential_decay(learning_rate, global_step, decay_steps, exp(neg(decay_rate)), staircase, name)


def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.train.inverse_time_decay`: learning_rate / (1 + decay_rate * global_step / decay_steps).

    Arguments as of `exponential_decay`.
    """
    with name_scope(name, "InverseTimeDecay") as scope:
        rate = _rate(learning_rate)
        dtype = rate.dtype
        steps, factor = tf_cast(decay_steps, dtype), tf_cast(decay_rate, dtype)
        periods = tf_cast(global_step, dtype) / steps
        if staircase:
            periods = floor(periods)
        one = tf_cast(constant(1), dtype)
        return truediv(rate, tf_add(one, mul(factor, periods)), name=scope)


def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.train.polynomial_decay`: from `learning_rate` to `end_learning_rate`, by a power of what is left.

    Args:
        learning_rate: The rate at first, whose dtype the result has.
        global_step: The step.
        decay_steps: When the end is reached.
        end_learning_rate: The rate then and afterwards.
        power: 1 for a straight line.
        cycle: Start again at the next multiple of `decay_steps`, over an ever longer time.
        name: Name scope.
    """
    with name_scope(name, "PolynomialDecay") as scope:
        rate = _rate(learning_rate)
        dtype = rate.dtype
        end, exponent = tf_cast(end_learning_rate, dtype), tf_cast(power, dtype)
        step, steps = tf_cast(global_step, dtype), tf_cast(decay_steps, dtype)
        if cycle:
            times = cond(equal(step, 0), lambda: 1.0, lambda: ceil(step / decay_steps))
            steps = mul(steps, times)
        else:
            step = minimum(step, decay_steps)
        part = truediv(step, steps)
        span = rate - end
        return tf_add(mul(span, pow_(1 - part, exponent)), end, name=scope)


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Any:
    """`tf.train.piecewise_constant`: one of `values`, by the interval between `boundaries` that `x` is in.

    Args:
        x: A scalar.
        boundaries: Of its dtype (int32 ones may go with an int64 `x`), ascending; each belongs to the
            interval below.
        values: One more, all of one dtype.
        name: Name scope.

    Raises:
        ValueError: Dtypes or numbers do not agree.
    """
    limits = [convert_to_tensor(item) for item in boundaries]
    results = [convert_to_tensor(item) for item in values]
    dtype = convert_to_tensor(x).dtype.base_dtype
    for index, limit in enumerate(limits):
        own = limit.dtype.base_dtype
        if own == int32 and dtype == int64:
            limits[index] = tf_cast(limit, dtype)
        elif own != dtype:
            raise InvalidValueError(f"Boundaries ({own!r}) must have the same dtype as x ({dtype!r}).")
    for result in results[1:]:
        own, first = result.dtype.base_dtype, results[0].dtype.base_dtype
        if own != first:
            raise InvalidValueError(
                f"Values must have elements all with the same dtype ({first!r} vs {own!r})."
            )
    if len(limits) != len(results) - 1:
        raise InvalidValueError("The length of boundaries should be 1 less than the length of values")
    with name_scope(name, "PiecewiseConstant"):
        place = convert_to_tensor(x)
        pairs = [
            (place <= limits[0], lambda: results[0]),
            (place > limits[-1], lambda: results[-1]),
        ]
        for low, high, result in zip(limits[:-1], limits[1:], results[1:-1], strict=True):
            pairs.append(((place > low) & (place <= high), partial(_same, result)))
        return case(pairs, lambda: results[0], exclusive=True)


def _same(value: Any) -> Any:
    return value


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0, name: str | None = None
) -> Any:
    """`tf.train.cosine_decay`: half a cosine from `learning_rate` to its `alpha`-th part.

    Args:
        learning_rate: The rate at first, whose dtype the result has.
        global_step: The step.
        decay_steps: When the end is reached.
        alpha: The part of `learning_rate` that is left.
        name: Name scope.
    """
    with name_scope(name, "CosineDecay"):
        rate = _rate(learning_rate)
        steps = tf_cast(decay_steps, rate.dtype)
        step = minimum(tf_cast(global_step, rate.dtype), steps)
        fraction = step / steps
        wave = 0.5 * (1.0 + cos(constant(math.pi) * fraction))
        return mul(rate, (1 - alpha) * wave + alpha)


def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Any:
    """`tf.train.cosine_decay_restarts`: half cosines one after the other.

    Args:
        learning_rate: The rate at first, whose dtype the result has.
        global_step: The step.
        first_decay_steps: Length of the first.
        t_mul: How much longer each is than the one before.
        m_mul: How much higher each starts.
        alpha: The part of `learning_rate` at which they end.
        name: Name scope.
    """
    with name_scope(name, "SGDRDecay") as scope:
        rate = _rate(learning_rate)
        dtype = rate.dtype
        steps = tf_cast(first_decay_steps, dtype)
        least, longer, higher = tf_cast(alpha, dtype), tf_cast(t_mul, dtype), tf_cast(m_mul, dtype)
        fraction = tf_cast(global_step, dtype) / steps

        def equal_periods() -> Any:
            restarts = floor(fraction)
            return restarts, fraction - restarts

        def growing_periods() -> Any:
            restarts = floor(log(1.0 - fraction * (1.0 - longer)) / log(longer))
            before = (1.0 - longer**restarts) / (1.0 - longer)
            return restarts, (fraction - before) / longer**restarts

        restarts, part = cond(equal(longer, 1.0), equal_periods, growing_periods)
        wave = 0.5 * higher**restarts * (1.0 + cos(constant(math.pi) * part))
        return mul(rate, (1 - least) * wave + least, name=scope)


def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Any:
    """`tf.train.linear_cosine_decay`: a straight line times a cosine.

    Args:
        learning_rate: The rate at first, whose dtype the result has.
        global_step: The step.
        decay_steps: When the end is reached.
        num_periods: Of the cosine, until then.
        alpha: Added to the line.
        beta: Added to the product.
        name: Name scope.
    """
    with name_scope(name, "LinearCosineDecay") as scope:
        rate = _rate(learning_rate)
        dtype = rate.dtype
        steps, periods = tf_cast(decay_steps, dtype), tf_cast(num_periods, dtype)
        raised, least = tf_cast(alpha, dtype), tf_cast(beta, dtype)
        step = minimum(tf_cast(global_step, dtype), steps)
        line = (steps - step) / steps
        wave = _wave(step / steps, periods)
        return mul(rate, (raised + line) * wave + least, name=scope)


def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: Any = 1.0,
    variance_decay: Any = 0.55,
    num_periods: Any = 0.5,
    alpha: Any = 0.0,
    beta: Any = 0.001,
    name: str | None = None,
) -> Any:
    """`tf.train.noisy_linear_cosine_decay`: as `linear_cosine_decay`, with noise on the line.

    Args:
        learning_rate: The rate at first, whose dtype the result has.
        global_step: The step.
        decay_steps: When the end is reached.
        initial_variance: Of the noise.
        variance_decay: The power of the step by which its variance falls.
        num_periods: Of the cosine, until the end.
        alpha: Added to the line.
        beta: Added to the product.
        name: Name scope.
    """
    with name_scope(name, "NoisyLinearCosineDecay") as scope:
        rate = _rate(learning_rate)
        dtype = rate.dtype
        steps = tf_cast(decay_steps, dtype)
        first, power = tf_cast(initial_variance, dtype), tf_cast(variance_decay, dtype)
        periods = tf_cast(num_periods, dtype)
        raised, least = tf_cast(alpha, dtype), tf_cast(beta, dtype)
        step = minimum(tf_cast(global_step, dtype), steps)
        line = (steps - step) / steps
        deviation = sqrt(first / pow_(1.0 + step, power))
        line = line + random_normal(line.get_shape(), stddev=deviation)
        wave = _wave(step / steps, periods)
        return mul(rate, (raised + line) * wave + least, name=scope)


def _wave(fraction: Any, periods: Any) -> Any:
    angle = 2.0 * periods * fraction
    return 0.5 * (1.0 + cos(constant(math.pi) * angle))
