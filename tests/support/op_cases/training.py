"""Updates of variables by optimizers: the formulas of the papers, for whole variables and row by row."""

from typing import Any

import ml_dtypes
import numpy as np

from . import Var, case, floats

V, A, B, C = (floats(4, 3, seed=seed, low=low) for seed, low in ((0, -2.0), (1, 0.1), (2, 0.1), (5, 0.1)))
G = floats(4, 3, seed=3)
ROWS, ROW_G = np.array([2, 0, 2, 2], np.int32), floats(4, 3, seed=4)
STEP = np.int64(3)


def descent(var, alpha, delta):
    return var - alpha * delta


def momentum(var, accum, lr, grad, factor, use_nesterov=False):
    accum = accum * factor + grad
    return var - (lr * grad + lr * factor * accum if use_nesterov else lr * accum), accum


def keras_momentum(var, accum, lr, grad, factor, use_nesterov=False):
    accum = accum * factor - lr * grad
    return var + (accum * factor - lr * grad if use_nesterov else accum), accum


def adam(var, m, v, power1, power2, lr, beta1, beta2, epsilon, grad, use_nesterov=False):
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    rate = lr * np.sqrt(1 - power2) / (1 - power1)
    step = beta1 * m + (1 - beta1) * grad if use_nesterov else m
    return var - rate * step / (np.sqrt(v) + epsilon), m, v


def amsgrad(var, m, v, vhat, power1, power2, lr, beta1, beta2, epsilon, grad):
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad**2
    vhat = np.maximum(vhat, v)
    return var - lr * np.sqrt(1 - power2) / (1 - power1) * m / (np.sqrt(vhat) + epsilon), m, v, vhat


def ada_max(var, m, v, power1, lr, beta1, beta2, epsilon, grad):
    m = beta1 * m + (1 - beta1) * grad
    v = np.maximum(beta2 * v, abs(grad))
    return var - lr / (1 - power1) * m / (v + epsilon), m, v


def add_sign(var, m, lr, alpha, decay, beta, grad):
    m = beta * m + (1 - beta) * grad
    return var - lr * (alpha + decay * np.sign(m * grad)) * grad, m


def power_sign(var, m, lr, logbase, decay, beta, grad):
    m = beta * m + (1 - beta) * grad
    return var - lr * np.exp(logbase * decay * np.sign(m * grad)) * grad, m


def adagrad(var, accum, lr, grad, update_slots=True):
    accum = accum + grad**2 if update_slots else accum
    return var - lr * grad / np.sqrt(accum), accum


def adagrad_v2(var, accum, lr, epsilon, grad, update_slots=True):
    accum = accum + grad**2 if update_slots else accum
    return var - lr * grad / (np.sqrt(accum) + epsilon), accum


def adagrad_da(var, total, squares, grad, lr, l1, l2, step):
    total, squares = total + grad, squares + grad**2
    shrunk = np.sign(total) * np.maximum(abs(total) - l1 * step, 0)
    return -lr * shrunk / (l2 * step * lr + np.sqrt(squares)), total, squares


def adadelta(var, accum, accum_update, lr, rho, epsilon, grad):
    accum = rho * accum + (1 - rho) * grad**2
    update = np.sqrt((accum_update + epsilon) / (accum + epsilon)) * grad
    return var - lr * update, accum, rho * accum_update + (1 - rho) * update**2


def rms_prop(var, ms, mom, lr, rho, factor, epsilon, grad):
    ms = rho * ms + (1 - rho) * grad**2
    mom = factor * mom + lr * grad / np.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rms_prop(var, mg, ms, mom, lr, rho, factor, epsilon, grad):
    mg = rho * mg + (1 - rho) * grad
    ms = rho * ms + (1 - rho) * grad**2
    mom = factor * mom + lr * grad / np.sqrt(ms - mg**2 + epsilon)
    return var - mom, mg, ms, mom


def ftrl(var, accum, linear, grad, lr, l1, l2, power):
    return ftrl_v2(var, accum, linear, grad, lr, l1, l2, 0, power)


def ftrl_v2(var, accum, linear, grad, lr, l1, l2, shrinkage, power):
    total = accum + grad**2
    linear = linear + grad + 2 * shrinkage * var - (total**-power - accum**-power) / lr * var
    kept = np.sign(linear) * np.maximum(abs(linear) - l1, 0)
    return -kept / (total**-power / lr + 2 * l2), total, linear


def proximal_adagrad(var, accum, lr, l1, l2, grad):
    accum = accum + grad**2
    return proximal(var, lr / np.sqrt(accum), l1, l2, grad), accum


def proximal(var, rate, l1, l2, grad):
    var = var - rate * grad
    return np.sign(var) * np.maximum(abs(var) - rate * l1, 0) / (1 + l2 * rate)


def wide(item):
    return np.asarray(item, np.float64) if np.asarray(item).dtype.kind != "i" else item


def dense(rule, slots, **options):
    def expect(*args):
        result = rule(*map(wide, args), **options)
        return list(result) if isinstance(result, tuple) else [result]

    return expect


def by_rows(rule, slots, place, **options):
    """One row after the other, so that a repeated one is updated repeatedly."""

    def expect(*args):
        arrays = [wide(array).copy() for array in args[: slots + 1]]
        values = list(args[slots + 1 :])
        indices = values.pop(place + 1)
        for number, index in enumerate(indices):
            one = [value[number] if at == place else value for at, value in enumerate(values)]
            result = rule(*[array[index] for array in arrays], *map(wide, one), **options)
            for array, row in zip(arrays, result if isinstance(result, tuple) else (result,), strict=True):
                array[index] = row
        return arrays

    return expect


def by_ref(function):
    """The output reference is the first variable."""

    def expect(*args):
        result = function(*args)
        return [result[0], *result]

    return expect


ADAM = (0.81, 0.998, 0.01, 0.9, 0.999, 1e-8, G)
NESTEROV, SLOTS = "use_nesterov", "update_slots"
DENSE, BOTH, RESOURCES = (
    ("", "Resource"),
    ("", "Resource", "Sparse", "ResourceSparse"),
    ("Resource", "ResourceSparse"),
)
# What follows Apply: rule, slots, further inputs in several variants, boolean attribute, forms.
RULES: dict[str, tuple[Any, ...]] = {
    "GradientDescent": (descent, (), [(0.1, G)], None, DENSE),
    "Momentum": (momentum, (A,), [(0.1, G, 0.9)], NESTEROV, BOTH),
    "KerasMomentum": (keras_momentum, (A,), [(0.1, G, 0.9)], NESTEROV, RESOURCES),
    "Adam": (adam, (A, B), [ADAM], NESTEROV, DENSE),
    "AdamWithAmsgrad": (amsgrad, (A, B, C), [ADAM], None, ("Resource",)),
    "AdaMax": (ada_max, (A, B), [(0.81, 0.01, 0.9, 0.99, 1e-8, G)], None, DENSE),
    "AddSign": (add_sign, (A,), [(0.1, 1.5, 0.9, 0.8, G)], None, DENSE),
    "PowerSign": (power_sign, (A,), [(0.1, 0.7, 0.9, 0.8, G)], None, DENSE),
    "Adagrad": (adagrad, (A,), [(0.1, G)], SLOTS, BOTH),
    "AdagradV2": (adagrad_v2, (A,), [(0.1, 0.01, G)], SLOTS, BOTH),
    "AdagradDA": (
        adagrad_da,
        (A, B),
        [(G, 0.1, 0.0, 0.2, STEP), (G, 0.1, 0.3, 0.0, STEP)],
        None,
        BOTH,
    ),
    "Adadelta": (adadelta, (A, B), [(0.5, 0.9, 1e-3, G)], None, BOTH),
    "RMSProp": (rms_prop, (A, B), [(0.1, 0.9, 0.8, 1e-3, G)], None, BOTH),
    # The mean square is at least the square of the mean.
    "CenteredRMSProp": (centered_rms_prop, (A, A**2 + B, C), [(0.1, 0.9, 0.8, 1e-3, G)], None, BOTH),
    "Ftrl": (
        ftrl,
        (A, B),
        [
            (G, 0.1, 0.0, 0.0, -0.5),
            (G, 0.1, 0.7, 0.2, -0.5),
            (G, 0.1, 0.7, 0.2, -0.3),
            (G, 0.1, 0.1, 0.2, 0.0),
        ],
        None,
        BOTH,
    ),
    "FtrlV2": (
        ftrl_v2,
        (A, B),
        [(G, 0.1, 0.7, 0.2, 0.1, -0.5), (G, 0.1, 0.0, 0.2, 0.3, -0.7)],
        None,
        BOTH,
    ),
    "ProximalAdagrad": (proximal_adagrad, (A,), [(0.1, 0.0, 0.2, G), (0.1, 0.9, 0.0, G)], None, BOTH),
    "ProximalGradientDescent": (proximal, (), [(0.1, 0.0, 0.2, G), (0.1, 0.9, 0.4, G)], None, BOTH),
}
PRECISIONS = (
    (np.float32, 2e-5, 1e-6),
    (np.float64, 2e-5, 1e-6),
    (np.float16, 3e-2, 6e-3),
    (ml_dtypes.bfloat16, 4e-2, 9e-2),
)
# Where TensorFlow has no kernel.
_RARE = tuple(f"{form}{name}" for form in BOTH for name in ("Proximal", "AdagradDA"))
_SINGLE = tuple(f"{form}AdaMax" for form in DENSE)
_NO_ROWS = tuple(f"{form}{name}" for form in BOTH[2:] for name in ("RMSProp", "CenteredRMSProp"))
LACKS = {np.float16: _RARE, ml_dtypes.bfloat16: (*_RARE, *_SINGLE, *_NO_ROWS)}


def to(dtype, item):
    return item if isinstance(item, np.int64) else np.asarray(item, dtype)


def rows(name, rule, slots, inputs, attribute, form):
    place = next(index for index, item in enumerate(inputs) if item is G)
    wrap = (lambda function: function) if "Resource" in form else by_ref
    for value in (False, True) if attribute else (None,):
        options = {} if value is None else {attribute: value}
        for dtype, rtol, atol in PRECISIONS:
            if dtype in LACKS and f"{form}{name}".startswith(LACKS[dtype]):
                continue
            variables = [Var(to(dtype, array)) for array in (V, *slots)]
            given = [to(dtype, item) for item in inputs]
            if "Sparse" in form:
                given[place : place + 1] = [
                    to(dtype, ROW_G),
                    ROWS if dtype is np.float32 else ROWS.astype(np.int64),
                ]
                expect = by_rows(rule, len(slots), place, **options)
            else:
                expect = dense(rule, slots, **options)
            yield case(
                f"{form}Apply{name}",
                *variables,
                *given,
                expect=wrap(expect),
                note=np.dtype(dtype).name,
                rtol=rtol,
                atol=atol,
                **options,
            )


CASES = []
for name, (rule, slots, variants, attribute, forms) in RULES.items():
    for form in forms:
        for inputs in variants:
            CASES += rows(name, rule, slots, inputs, attribute, form)

for form in ("", "Resource"):
    wrap = by_ref if not form else (lambda function: function)
    empty, no_rows = np.zeros((0, 3), np.float32), np.zeros(0, np.int32)
    CASES += [
        case(
            f"{form}ApplyAdagrad",
            Var(empty),
            Var(empty),
            0.1,
            empty,
            expect=wrap(dense(adagrad, 1)),
            note="empty",
        ),
        case(
            f"{form}ApplyAdagrad",
            Var(1.5),
            Var(0.5),
            0.1,
            0.25,
            expect=wrap(dense(adagrad, 1)),
            rtol=1e-6,
            note="scalar",
        ),
        case(
            f"{form}SparseApplyAdagrad",
            *(Var(V), Var(A), 0.1, empty, no_rows),
            expect=wrap(lambda var, accum, *_: [var, accum]),
            note="no_rows",
        ),
        case(
            f"{form}SparseApplyFtrl",
            *(Var(V[:, 0]), Var(A[:, 0]), Var(B[:, 0]), ROW_G[:, 0], ROWS, 0.1, 0.1, 0.2, -0.5),
            expect=wrap(by_rows(ftrl, 2, 0)),
            rtol=1e-5,
            atol=1e-6,
            note="vector",
        ),
        case(
            f"{form}ApplyMomentum",
            *(Var(V), Var(A), 0.1, np.where(G > 1, np.nan, G).astype(np.float32), 0.9),
            expect=wrap(dense(momentum, 1)),
            rtol=1e-5,
            note="nan",
        ),
    ]

# What TensorFlow makes of NaN, infinity and 0 / 0: it differs between kernels.
ONE, NAN, INF = np.ones(1, np.float32), np.float32([np.nan]), np.float32([np.inf])
ROW = np.zeros(1, np.int32)
CASES += [
    case(
        "ResourceApplyAdaMax",
        *(Var(ONE), Var(ONE), Var(ONE), 0.81, 0.01, 0.9, 0.5, 1e-8, NAN),
        expect=[NAN, NAN, ONE / 2],
        note="nan",
    ),
    case(
        "ResourceApplyAdamWithAmsgrad",
        *(Var(ONE), Var(ONE), Var(ONE), Var(ONE), 0.81, 0.998, 0.01, 0.9, 0.999, 1e-8, NAN),
        expect=[NAN, NAN, NAN, ONE],
        note="nan",
    ),
    case(
        "ResourceApplyRMSProp",
        *(Var(ONE), Var(INF), Var(ONE), 0.1, 0.5, 0.5, 1e-3, ONE),
        expect=[NAN, NAN, NAN],
        note="infinite",
    ),
    case(
        "ResourceSparseApplyRMSProp",
        *(Var(ONE), Var(INF), Var(ONE), 0.1, 0.5, 0.5, 1e-3, ONE, ROW),
        expect=[ONE / 2, INF, ONE / 2],
        note="infinite",
    ),
    case(
        "ResourceApplyFtrl",
        *(Var(ONE), Var(ONE * 0), Var(ONE), ONE * 0, 0.1, 0.0, 0.0, -0.5),
        expect=[-INF, ONE * 0, ONE],
        note="zero",
    ),
    case(
        "ResourceSparseApplyFtrl",
        *(Var(ONE), Var(ONE * 0), Var(ONE * 0), ONE * 0, ROW, 0.1, 0.0, 0.0, -0.5),
        expect=[NAN, ONE * 0, ONE * 0],
        note="zero",
    ),
]
