"""Updates of variables by optimizers."""

import functools

import numpy as np

from . import Var, case, floats

V, A, B = floats(4, 3), floats(4, 3, seed=1, low=0.1), floats(4, 3, seed=2, low=0.1)
G = floats(4, 3, seed=3)
ROWS, ROW_G = np.array([2, 0, 2], np.int32), floats(3, 3, seed=4)


def descent(var, alpha, delta):
    return var - alpha * delta


def momentum(var, accum, lr, grad, factor, nesterov):
    accum = accum * factor + grad
    return var - (lr * grad + lr * factor * accum if nesterov else lr * accum), accum


def sparse_momentum(nesterov):
    def expect(var, accum, lr, grad, indices, factor):
        var, accum = var.copy(), accum.copy()
        for row, index in enumerate(indices):
            var[index], accum[index] = momentum(var[index], accum[index], lr, grad[row], factor, nesterov)
        return var, accum

    return expect


def adam(nesterov):
    def expect(var, m, v, power1, power2, lr, beta1, beta2, epsilon, grad):
        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * grad**2
        rate = lr * np.sqrt(1 - power2) / (1 - power1)
        step = beta1 * m + (1 - beta1) * grad if nesterov else m
        return var - rate * step / (np.sqrt(v) + epsilon), m, v

    return expect


def by_ref(function):
    """The output reference is the first variable."""

    def expect(*args):
        result = function(*args)
        result = result if isinstance(result, tuple) else (result,)
        return [result[0], *result]

    return expect


CASES = []
for prefix, wrap in (("", by_ref), ("Resource", lambda function: function)):
    CASES.append(case(f"{prefix}ApplyGradientDescent", Var(V), 0.1, G, expect=wrap(descent)))
    for nesterov in (False, True):
        flag = {"use_nesterov": nesterov, "rtol": 1e-5}
        CASES += [
            case(
                f"{prefix}ApplyMomentum",
                Var(V),
                Var(A),
                0.1,
                G,
                0.9,
                expect=wrap(functools.partial(momentum, nesterov=nesterov)),
                **flag,
            ),
            case(
                f"{prefix}SparseApplyMomentum",
                Var(V),
                Var(A),
                0.1,
                ROW_G,
                ROWS,
                0.9,
                expect=wrap(sparse_momentum(nesterov)),
                **flag,
            ),
            case(
                f"{prefix}ApplyAdam",
                Var(V),
                Var(A),
                Var(B),
                0.81,
                0.998,
                0.01,
                0.9,
                0.999,
                1e-8,
                G,
                expect=wrap(adam(nesterov)),
                **flag,
            ),
        ]
