"""Special functions: of error, gamma, beta, zeta and Bessel."""

import math

import ml_dtypes
import numpy as np

from . import case, floats

erf, erfc, lgamma = (np.vectorize(f, otypes=[float]) for f in (math.erf, math.erfc, math.lgamma))


def bessel(order):
    """By the integral over [0, pi] of exp(x (cos t - 1)) cos(order t) / pi, which the trapezoidal rule
    gives exactly."""
    angles = (np.arange(400) + 0.5) * np.pi / 400

    def function(x):
        x = np.asarray(x, np.float64)
        values = np.exp(np.multiply.outer(x, np.cos(angles)) - np.abs(x)[..., None]) * np.cos(order * angles)
        return values.mean(-1)

    return function


def polygamma(order):
    """By its series, with the rest as an integral and two corrections."""

    def function(x):
        x = np.asarray(x, np.float64)
        count = 200
        k = np.arange(count)
        at = x + count
        if order == 0:
            terms = np.sum(1 / (x[..., None] + k), -1)
            return np.log(at) - 0.5 / at - 1 / (12 * at**2) + 1 / (120 * at**4) - terms
        s = order + 1
        total = np.sum((x[..., None] + k) ** -s, -1) + at ** (1 - s) / (s - 1) + at**-s / 2
        total += s * at ** (-s - 1) / 12 - s * (s + 1) * (s + 2) * at ** (-s - 3) / 720
        return (-1) ** (order + 1) * math.factorial(order) * total

    return function


def digamma(x):
    x = np.asarray(x, np.float64)
    positive = polygamma(0)(np.where(x < 0, 1 - x, x))
    return np.where(x < 0, positive - np.pi / np.tan(np.pi * x), positive)


def zeta(x, q):
    x, q = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(q, np.float64))
    values = [
        polygamma(int(a) - 1)(b) * (-1) ** int(a) / math.factorial(int(a) - 1)
        for a, b in zip(x.ravel(), q.ravel())
    ]
    return np.reshape(values, x.shape)


def igamma(a, x):
    """By its series, summed to the end."""
    a, x = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(x, np.float64))
    n = np.arange(400)
    terms = np.cumprod(
        np.concatenate([np.ones((*a.shape, 1)), x[..., None] / (a[..., None] + 1 + n)], -1), -1
    )
    return terms.sum(-1) * np.exp(a * np.log(x) - x - lgamma(a + 1))


def igamma_grad_a(a, x, step=1e-4):
    a = np.asarray(a, np.float64)
    four = [igamma(a + k * step, x) for k in (-2, -1, 1, 2)]
    return (four[0] - 8 * four[1] + 8 * four[2] - four[3]) / (12 * step)


def random_gamma_grad(alpha, sample):
    alpha, sample = np.asarray(alpha, np.float64), np.asarray(sample, np.float64)
    density = np.exp((alpha - 1) * np.log(sample) - sample - lgamma(alpha))
    return -igamma_grad_a(alpha, sample) / density


def betainc(a, b, x):
    """By the series in x."""
    a, b, x = np.broadcast_arrays(*(np.asarray(item, np.float64) for item in (a, b, x)))
    n = np.arange(3000)
    factor = x[..., None] * (n + 1 - b[..., None]) / (n + 1)
    terms = np.cumprod(np.concatenate([np.ones((*a.shape, 1)), factor], -1), -1)
    total = np.sum(terms / (a[..., None] + np.arange(3001)), -1)
    return x**a * total * np.exp(lgamma(a + b) - lgamma(a) - lgamma(b))


# op: (function, interval, tolerance in double precision)
UNARY = {
    "Erf": (erf, (-3.0, 3.0), 1e-14),
    "Erfc": (erfc, (-3.0, 6.0), 1e-13),
    "Lgamma": (lgamma, (0.1, 12.0), 1e-13),
    "Digamma": (digamma, (0.1, 12.0), 1e-12),
    "BesselI0e": (bessel(0), (-20.0, 20.0), 1e-13),
    "BesselI1e": (bessel(1), (-20.0, 20.0), 1e-12),
}

CASES = []
for name, (function, (low, high), rtol) in UNARY.items():
    x = floats(2, 7, low=low, high=high)
    CASES += [
        case(name, floats(2, 3, low=low, high=high), expect=function, atol=1e-6, rtol=1e-5),
        case(
            name,
            floats(40, low=low, high=high, dtype=np.float64),
            expect=function,
            rtol=rtol,
            grad="as float32",
        ),
        case(name, np.zeros((0, 3), np.float32), expect=np.zeros((0, 3)), grad="empty", note="empty"),
        case(
            name,
            np.float32(high / 2 + 0.2),
            expect=lambda x, f=function: f(np.reshape(x, 1))[0],
            rtol=1e-6,
            grad="as float32",
            note="scalar",
        ),
    ]
    for dtype in (np.float16, ml_dtypes.bfloat16):
        half = x.astype(dtype)
        CASES.append(
            case(
                name,
                half,
                expect=function(half.astype(np.float64)).astype(dtype),
                grad="as float32",
                note=np.dtype(dtype).name,
                oracle=name in ("Erf", "Erfc") or dtype == np.float16 or "no such kernel on a CPU",
            )
        )
INF, NAN = np.inf, np.nan
ROWS = [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, -2.0, -3.5, -0.25]
CASES += [
    case(
        "Erf",
        np.array(ROWS, np.float32),
        expect=[np.where(np.isnan(ROWS), NAN, erf(ROWS))],
        grad="at corners",
        note="specials",
    ),
    case(
        "Erfc",
        np.array(ROWS, np.float32),
        expect=[np.where(np.isnan(ROWS), NAN, erfc(ROWS))],
        grad="at corners",
        note="specials",
    ),
    case(
        "Lgamma",
        np.array(ROWS, np.float32),
        expect=[np.array([INF, INF, 0, INF, INF, INF, NAN, INF, lgamma(-3.5), lgamma(-0.25)])],
        grad="at corners",
        note="specials",
    ),
    case(
        "Digamma",
        np.array(ROWS, np.float32),
        expect=[np.array([NAN, NAN, -0.5772156649, NAN, INF, NAN, NAN, NAN, 1.388870926, 2.914139168])],
        grad="at corners",
        note="specials",
        rtol=2e-6,
    ),
    case("Lgamma", np.array([-3.4, -0.7, -1.5], np.float32), expect=lgamma, note="negative", rtol=1e-5),
    case("Digamma", np.array([-3.4, -0.7, -1.5], np.float32), expect=digamma, note="negative", rtol=1e-5),
    case(
        "BesselI0e",
        np.array([0.0, 1e4, -1e4, INF, NAN], np.float32),
        expect=[[1, 0.0039894727, 0.0039894727, 0, NAN]],
        grad="at corners",
        note="specials",
    ),
    case(
        "BesselI1e",
        np.array([0.0, 1e4, -1e4, INF, NAN], np.float32),
        expect=[[0, 0.003989273, -0.003989273, 0, NAN]],
        grad="at corners",
        note="specials",
    ),
]

A, X = floats(2, 4, low=0.3, high=6.0), floats(2, 4, low=0.2, high=9.0, seed=1)
ONCE = "IgammaGradA has no gradient"
EDGES_A = np.array([1.0, 1.0, 0.5, -1.0, 2.0, 2.0, NAN, 0.5], np.float64)
EDGES_X = np.array([0.0, INF, 1e-8, 1.0, -1.0, NAN, 1.0, 40.0], np.float64)
for name, function, edges in (
    ("Igamma", igamma, [0, 1, math.erf(1e-4), NAN, NAN, NAN, NAN, 1.0]),
    (
        "Igammac",
        lambda a, x: 1 - igamma(a, x),
        [1, 0, math.erfc(1e-4), NAN, NAN, NAN, NAN, math.erfc(math.sqrt(40))],
    ),
):
    CASES += [
        case(name, A, X, expect=function, rtol=1e-5, grad=[1], note="by_x"),
        case(name, A, X, expect=function, rtol=1e-5, second=ONCE),
        case(
            name,
            A.astype(np.float64),
            X.astype(np.float64),
            expect=function,
            rtol=1e-10,
            grad="as float32",
            note="float64",
        ),
        case(name, A[:1], X[:, :1], expect=function, rtol=1e-5, second=ONCE, note="broadcast"),
        case(name, A, np.float32(1.5), expect=function, rtol=1e-5, second=ONCE, note="scalar"),
        case(name, A[:0], X[:0], expect=np.zeros((0, 4)), grad="empty", note="empty"),
        case(
            name, EDGES_A, EDGES_X, expect=[np.array(edges)], grad="at corners", note="specials", rtol=1e-10
        ),
        case(
            name,
            np.array([50.0, 300.0, 1000.0]),
            np.array([60.0, 290.0, 1010.0]),
            expect=function,
            rtol=2e-5,
            atol=1e-6,
            grad="as the others",
            note="large",
        ),
    ]
for name, function in (("IgammaGradA", igamma_grad_a), ("RandomGammaGrad", random_gamma_grad)):
    CASES += [
        case(name, A, X, expect=function, rtol=1e-4),
        case(name, A.astype(np.float64), X.astype(np.float64), expect=function, rtol=1e-8),
        case(name, A[:1], X[:, :1], expect=function, rtol=1e-4, note="broadcast"),
        case(name, A[:0], X[:0], expect=np.zeros((0, 4)), note="empty"),
    ]
Q = floats(2, 4, low=0.4, high=5.0, seed=2)
ORDER = np.array([[1, 2, 3, 1], [0, 4, 2, 3]], np.float32)
CASES += [
    case("Zeta", ORDER + 2, Q, expect=zeta, rtol=1e-5, grad=[1]),
    case(
        "Zeta",
        np.float64([2, 3, 5]),
        np.float64([0.5, 1.0, 40.0]),
        expect=zeta,
        rtol=1e-11,
        grad="as float32",
    ),
    case("Zeta", ORDER[:1] + 1, Q[:, :1], expect=zeta, rtol=1e-5, grad=[1], note="broadcast"),
    case("Zeta", Q[:0], Q[:0], expect=np.zeros((0, 4)), grad="empty"),
    case(
        "Zeta",
        np.float64([1.0, 0.5, 2.0, 2.5, 30.0, NAN]),
        np.float64([2.0, 2.0, -0.5, -0.5, 1.0, 1.0]),
        expect=[np.array([INF, NAN, np.pi**2 / 2 + 4, NAN, 1 + 2.0**-30, NAN])],
        grad="at corners",
        note="specials",
        rtol=1e-9,
    ),
    case(
        "Polygamma",
        ORDER,
        Q,
        expect=np.vectorize(lambda n, x: polygamma(int(n))(x), otypes=[float]),
        rtol=1e-5,
        grad=[1],
    ),
    case(
        "Polygamma",
        np.float64(2),
        Q[0].astype(np.float64),
        expect=lambda n, x: polygamma(2)(x),
        rtol=1e-10,
        grad="as float32",
    ),
    case("Polygamma", Q[:0], Q[:0], expect=np.zeros((0, 4)), grad="empty"),
    case(
        "Polygamma",
        np.float32([0.5, -1.0, 1.0]),
        np.float32([1.0, 1.0, NAN]),
        expect=[[NAN, NAN, NAN]],
        grad="at corners",
        note="specials",
    ),
    case(
        "Betainc",
        A,
        X,
        floats(2, 4, low=0.05, high=0.95, seed=3),
        expect=betainc,
        rtol=1e-5,
        atol=1e-6,
        grad=[2],
    ),
    case(
        "Betainc",
        *(np.float64(v) for v in ([2.0, 0.5, 12.0], [3.0, 0.5, 7.0], [0.3, 0.8, 0.6])),
        expect=betainc,
        rtol=1e-10,
        grad="as float32",
    ),
    case(
        "Betainc",
        np.float32(2.5),
        np.float32(1.5),
        np.float32([0.1, 0.6, 0.9]),
        expect=betainc,
        rtol=1e-5,
        grad=[2],
        note="scalars",
    ),
    case("Betainc", A, X, np.float32(0.4), expect=betainc, rtol=1e-5, atol=1e-6, grad=[2], note="one_x"),
    case("Betainc", A[:0], X[:0], X[:0], expect=np.zeros((0, 4)), grad="empty"),
    case(
        "Betainc",
        np.float64([1, 1, -1, 1, 2]),
        np.float64([1, 1, 1, 0.5, 2]),
        np.float64([0, 1, 0.5, NAN, 1.5]),
        expect=[[0, 1, NAN, NAN, NAN]],
        grad="at corners",
        note="specials",
    ),
]
