"""The optimizers' update rules: arrays that are changed in place, and how rows of them are.

Every rule takes the variable and its slots, and then hyperparameters and the gradient in the order in
which the op declares them. It works on whole variables and on some rows of them alike (a few are told
which, because TensorFlow's kernels differ there for infinite numbers and in rounding); all is computed in
the variable's dtype.

Source: tensorflow/core/kernels/training_ops.cc (r1.15); papers are named where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from . import parallel
from .arrays import Array

Rule = Callable[..., None]

BLOCK = 1 << 14
"""Elements that are updated together, so that what is between stays in the cache."""


def apply(rule: Rule, arrays: Sequence[Any], place: int, values: Sequence[Any], **options: Any) -> None:
    """Applies an element-wise rule, to large variables block by block on several threads.

    Args:
        rule: One of the rules above.
        arrays: The variable and its slots, which it changes.
        place: Where among `values` the gradient stands.
        values: The gradient and the scalars.
        **options: The rule's attributes.
    """
    grad = values[place]
    every = [*arrays, grad]
    if arrays[0].size < 2 * BLOCK or any(
        each.shape != grad.shape or not each.flags.c_contiguous for each in every
    ):
        rule(*arrays, *values, **options)
        return
    flat = [each.reshape(-1) for each in every]

    def block(part: slice) -> None:
        *slots, gradient = (each[part] for each in flat)
        rule(*slots, *values[:place], gradient, *values[place + 1 :], **options)

    parallel.for_each(parallel.ranges(grad.size, -(-grad.size // BLOCK)), block)


def apply_to_rows(
    rule: Rule,
    arrays: Sequence[Array],
    indices: Array,
    grad: Array,
    at: int,
    values: Sequence[Any],
    **options: Any,
) -> None:
    """Applies a rule to the rows `indices`, repeated ones one after the other.

    Args:
        rule: The update rule.
        arrays: The variable and its slots, all of one shape.
        indices: 1-D, in range.
        grad: A row for each index.
        at: The place of the gradient among `values`.
        values: The further inputs without the gradient, in order.
        **options: Passed to the rule.
    """
    for places in _rounds(indices):
        rows = indices[places]
        parts = [array[rows] for array in arrays]
        rule(*parts, *values[:at], grad[places], *values[at:], **options)
        for array, part in zip(arrays, parts, strict=True):
            array[rows] = part


def _rounds(indices: Array) -> Iterator[Array]:
    """Places in `indices` such that no index repeats within a round: first occurrences, second ones, ..."""
    order = np.argsort(indices, kind="stable")
    ordered = indices[order]
    position = np.arange(len(ordered))
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    occurrence = position - np.maximum.accumulate(np.where(is_first, position, 0))
    by_round = order[np.argsort(occurrence, kind="stable")]
    ends = np.cumsum(np.bincount(occurrence, minlength=0)).tolist()
    start = 0
    for end in ends:
        yield by_round[start:end]
        start = int(end)


def gradient_descent(var: Any, alpha: Any, delta: Any) -> None:
    """Var -= alpha * delta."""
    var -= alpha * delta


def momentum(var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> None:
    """Accum = accum * momentum + grad; var -= lr * accum (Nesterov: lr * grad + lr * momentum * accum)."""
    accum *= momentum
    accum += grad
    if use_nesterov:
        var -= grad * lr + accum * momentum * lr
    else:
        var -= accum * lr


def keras_momentum(var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool) -> None:
    """Accum = accum * momentum - lr * grad; var += accum (Nesterov: accum * momentum - lr * grad)."""
    step = grad * lr
    accum *= momentum
    accum -= step
    var += accum * momentum - step if use_nesterov else accum


def adam(
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
    *,
    use_nesterov: bool,
) -> None:
    """Adam (Kingma and Ba, 2015), with epsilon outside the bias correction as TensorFlow has it."""
    one = var.dtype.type(1)
    alpha = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
    m += (grad - m) * (one - beta1)
    v += (np.square(grad) - v) * (one - beta2)
    step = grad * (one - beta1) + beta1 * m if use_nesterov else m
    var -= (step * alpha) / (np.sqrt(v) + epsilon)


def adam_with_amsgrad(
    var: Any,
    m: Any,
    v: Any,
    vhat: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
) -> None:
    """Adam that divides by the largest average of squares so far (Reddi, Kale, Kumar, 2018)."""
    one = var.dtype.type(1)
    alpha = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
    m += (grad - m) * (one - beta1)
    v += (np.square(grad) - v) * (one - beta2)
    vhat[...] = _larger(vhat, v)
    var -= (m * alpha) / (np.sqrt(vhat) + epsilon)


def ada_max(
    var: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, grad: Any
) -> None:
    """AdaMax (Kingma and Ba, 2015, section 7.1): Adam with the largest gradient in place of the root."""
    one = var.dtype.type(1)
    m += (grad - m) * (one - beta1)
    v[...] = _larger(beta2 * v, np.abs(grad))
    var -= lr / (one - beta1_power) * (m / (v + epsilon))


def _larger(a: Any, b: Any) -> Any:
    """The maximum, as Eigen has it: `a` where one of them is NaN."""
    return np.where(a < b, b, a)


def add_sign(var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Any) -> None:
    """AddSign (Bello et al., 2017): steps are longer where gradient and its average agree in sign."""
    m *= beta
    m += grad * (var.dtype.type(1) - beta)
    var -= lr * (alpha + sign_decay * (np.sign(grad) * np.sign(m))) * grad


def power_sign(var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Any) -> None:
    """PowerSign (Bello et al., 2017): as AddSign, with a power of the sign."""
    m *= beta
    m += grad * (var.dtype.type(1) - beta)
    var -= lr * np.exp(logbase * sign_decay * (np.sign(grad) * np.sign(m))) * grad


def adagrad(var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool, by_rows: bool = False) -> None:
    """Adagrad (Duchi, Hazan, Singer, 2011): accum += grad^2; var -= lr * grad / sqrt(accum)."""
    if update_slots:
        accum += np.square(grad)
    var -= grad * lr * _rsqrt(accum, by_rows)


def _rsqrt(value: Any, by_rows: bool) -> Any:
    """1 / sqrt(value), of 16 bits rounded once for whole variables, and after each step for rows."""
    if value.dtype.itemsize > 2 or by_rows:
        return value.dtype.type(1) / np.sqrt(value)
    return (1 / np.sqrt(value.astype(np.float32))).astype(value.dtype)


def adagrad_v2(var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any, *, update_slots: bool) -> None:
    """As Adagrad, epsilon added to the root."""
    if update_slots:
        accum += np.square(grad)
    var -= grad * lr / (np.sqrt(accum) + epsilon)


def adagrad_da(
    var: Any,
    gradient_accumulator: Any,
    gradient_squared_accumulator: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    global_step: Any,
) -> None:
    """Adagrad's dual averaging (Duchi, Hazan, Singer, 2011)."""
    step = np.asarray(global_step, np.float32).astype(var.dtype)
    gradient_accumulator += grad
    gradient_squared_accumulator += np.square(grad)
    total: Any = gradient_accumulator
    if l1 > 0:
        total = np.sign(total) * np.maximum(np.abs(total) - step * l1, var.dtype.type(0))
    var[...] = -lr * total / (l2 * (step * lr) + np.sqrt(gradient_squared_accumulator))


def adadelta(
    var: Any,
    accum: Any,
    accum_update: Any,
    lr: Any,
    rho: Any,
    epsilon: Any,
    grad: Any,
    *,
    by_rows: bool = False,
) -> None:
    """Adadelta (Zeiler, 2012)."""
    rest = var.dtype.type(1) - rho
    accum *= rho
    accum += np.square(grad) * rest
    update = np.sqrt(accum_update + epsilon) * _rsqrt(accum + epsilon, by_rows) * grad
    var -= update * lr
    accum_update *= rho
    accum_update += np.square(update) * rest


def rms_prop(
    var: Any,
    ms: Any,
    mom: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    grad: Any,
    *,
    by_rows: bool = False,
) -> None:
    """RMSProp (Tieleman and Hinton, 2012), with momentum."""
    _average(ms, np.square(grad), rho, by_rows)
    mom *= momentum
    if by_rows:
        mom += _rsqrt(ms + epsilon, by_rows) * lr * grad
    else:
        mom += (grad * lr) / np.sqrt(ms + epsilon)
    var -= mom


def centered_rms_prop(
    var: Any,
    mg: Any,
    ms: Any,
    mom: Any,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    grad: Any,
    *,
    by_rows: bool = False,
) -> None:
    """RMSProp that divides by an estimate of the variance (Graves, 2013)."""
    _average(ms, np.square(grad), rho, by_rows)
    _average(mg, grad, rho, by_rows)
    square = np.square(mg)
    mom *= momentum
    if by_rows:
        mom += _rsqrt(ms + epsilon - square, by_rows) * lr * grad
    else:
        mom += (grad * lr) / np.sqrt((ms - square) + epsilon)
    var -= mom


def _average(average: Any, value: Any, rho: Any, by_rows: bool) -> None:
    """Moves a running average; the two ways differ where numbers are infinite."""
    rest = average.dtype.type(1) - rho
    if by_rows:
        average *= rho
        average += value * rest
    else:
        average += (value - average) * rest


def ftrl(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    *,
    by_rows: bool = False,
) -> None:
    """FTRL-Proximal (McMahan et al., 2013)."""
    _follow_leader(var, accum, linear, grad, grad, lr, l1, l2, lr_power, by_rows)


def ftrl_v2(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    l2_shrinkage: Any,
    lr_power: Any,
    *,
    by_rows: bool = False,
) -> None:
    """As Ftrl, with a further pull to 0 that grows with the variable."""
    shrunk = grad + var.dtype.type(2) * l2_shrinkage * var
    _follow_leader(var, accum, linear, grad, shrunk, lr, l1, l2, lr_power, by_rows)


def _follow_leader(
    var: Any,
    accum: Any,
    linear: Any,
    grad: Any,
    shrunk: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    by_rows: bool,
) -> None:
    def power(value: Any) -> Any:
        return np.sqrt(value) if lr_power == -0.5 else np.power(value, -lr_power)

    total = accum + np.square(grad)
    scale = power(total)
    linear += shrunk - (scale - power(accum)) / lr * var
    divisor = scale / lr + var.dtype.type(2) * l2
    if by_rows:  # no exception where |linear| <= l1: 0 / 0 stays NaN
        var[...] = (np.clip(linear, -l1, l1) - linear) / divisor
    else:
        step = (l1 * np.sign(linear) - linear) / divisor
        var[...] = np.where(np.abs(linear) > l1, step, var.dtype.type(0))
    accum[...] = total


def proximal_adagrad(var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any) -> None:
    """Adagrad with FOBOS (Duchi and Singer, 2009): a step, then the nearest point that is regular."""
    accum += np.square(grad)
    _proximal(var, lr / np.sqrt(accum), l1, l2, grad)


def proximal_gradient_descent(var: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> None:
    """Gradient descent with FOBOS (Duchi and Singer, 2009)."""
    _proximal(var, alpha, l1, l2, delta)


def _proximal(var: Any, rate: Any, l1: Any, l2: Any, grad: Any) -> None:
    var -= grad * rate
    if l1 > 0:
        var[...] = np.sign(var) * np.maximum(np.abs(var) - rate * l1, var.dtype.type(0))
    var /= var.dtype.type(1) + l2 * rate
