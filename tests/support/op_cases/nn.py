"""Activations, biases, softmax."""

import ml_dtypes
import numpy as np

from . import case, floats, ints, specials

ALPHA, SCALE = 1.7580993408473768599402175208123, 1.0507009873554804934193349852946

X, DY = floats(2, 3, low=-3, high=7), floats(2, 3, seed=1)


def log_softmax(x):
    x = x - np.max(x, axis=-1, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=-1, keepdims=True))


def softmax(x):
    return np.exp(log_softmax(x))


ACTIVATIONS = {
    "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.clip(x, 0, 6),
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "Selu": lambda x: np.where(x < 0, ALPHA * np.expm1(x), SCALE * x),
    "LeakyRelu": lambda x: np.where(x < 0, np.float32(0.2) * x, x),
    "Softplus": lambda x: np.logaddexp(x, 0),
    "Softsign": lambda x: x / (1 + np.abs(x)),
}
GRADS = {
    "ReluGrad": lambda dy, x: dy * (x > 0),
    "Relu6Grad": lambda dy, x: dy * ((x > 0) & (x < 6)),
    "EluGrad": lambda dy, y: np.where(y < 0, dy * (y + 1), dy),
    "SeluGrad": lambda dy, y: np.where(y < 0, dy * (y + ALPHA), dy * SCALE),
    "LeakyReluGrad": lambda dy, x: np.where(x > 0, dy, np.float32(0.2) * dy),
    "SoftplusGrad": lambda dy, x: dy / (np.exp(-x) + 1),
    "SoftsignGrad": lambda dy, x: dy / (1 + np.abs(x)) ** 2,
}

CASES = []
for name, function in ACTIVATIONS.items():
    CASES += [
        case(name, X, expect=function, second=name != "Softsign"),
        case(name, X.astype(np.float64), expect=function, grad="as float32", rtol=1e-7),
        case(name, np.zeros((0, 3), np.float32), expect=function, grad="empty", note="empty"),
        case(name, np.float32(-1.5), expect=function, grad="as float32", note="scalar"),
        case(
            name,
            specials(),
            expect=function,
            grad="at corners",
            note="specials",
        ),
        case(
            name,
            X.astype(np.float16),
            expect=lambda x, f=function: f(x.astype(np.float32)),
            grad="as float32",
        ),
        case(
            name,
            X.astype(ml_dtypes.bfloat16),
            expect=lambda x, f=function: f(x.astype(np.float32)),
            grad="as float32",
            note="bfloat16",
        ),
    ]
for name, function in GRADS.items():
    options = {"second": False} if name == "SoftplusGrad" else {}
    CASES += [
        case(name, DY, X, expect=function, **options),
        case(name, np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), expect=function, grad="empty"),
        case(name, np.ones(9, np.float32), specials(), expect=function, grad="at corners", note="specials"),
    ]
BIAS, IMAGE = floats(3, seed=2), floats(2, 4, 5, 3)
FIRST = np.moveaxis(IMAGE, -1, 1).copy()
NO_NCHW = "TensorFlow's CPU has NCHW for some ranks only"
CASES += [
    case("Relu", ints(5), expect=lambda x: np.maximum(x, 0), note="int32"),
    case("Relu", np.array([0, 200], np.uint8), expect=lambda x: x, note="uint8"),
    case("ReluGrad", ints(5, seed=1), ints(5), expect=GRADS["ReluGrad"], note="int32"),
    case("Relu6", ints(5, high=12), expect=lambda x: np.clip(x, 0, 6), note="int32"),
    case("LeakyRelu", X, alpha=0.5, expect=lambda x: np.where(x < 0, 0.5 * x, x), note="alpha"),
    case("LeakyReluGrad", DY, X, alpha=0.5, expect=lambda dy, x: np.where(x > 0, dy, 0.5 * dy), note="alpha"),
    case(
        "Softplus", np.array([100, -100, 20, -20], np.float32), expect=ACTIVATIONS["Softplus"], note="large"
    ),
    case("BiasAdd", IMAGE, BIAS, expect=np.add),
    case("BiasAdd", IMAGE[0, 0], BIAS, expect=np.add, note="matrix"),
    case("BiasAdd", FIRST, BIAS, data_format="NCHW", expect=lambda x, b: x + b[:, None, None]),
    case(
        "BiasAdd",
        floats(2, 3, 4),
        BIAS,
        data_format="NCHW",
        expect=lambda x, b: x + b[:, None],
        note="rank_3",
    ),
    case("BiasAdd", ints(2, 3), ints(3, seed=1), expect=np.add, note="int32"),
    case("BiasAdd", np.zeros((0, 3), np.float32), BIAS, expect=np.zeros((0, 3)), grad="empty", note="empty"),
    case("BiasAddV1", IMAGE, BIAS, expect=np.add),
    case("BiasAddGrad", IMAGE, expect=lambda dy: dy.sum((0, 1, 2)), rtol=1e-5, atol=1e-5),
    case("BiasAddGrad", FIRST, data_format="NCHW", expect=lambda dy: dy.sum((0, 2, 3)), rtol=1e-5, atol=1e-5),
    case(
        "BiasAddGrad",
        floats(4, 3, dtype=np.float16),
        expect=lambda dy: dy.astype(np.float32).sum(0),
        grad="half",
        atol=2e-3,
    ),
    case("BiasAddGrad", ints(4, 3), expect=lambda dy: dy.sum(0), note="int32"),
    case("BiasAddGrad", np.zeros((0, 3), np.float32), expect=np.zeros(3), grad="empty", note="empty"),
]
for name, function in {"Softmax": softmax, "LogSoftmax": log_softmax}.items():
    CASES += [
        case(name, X, expect=function),
        case(name, floats(2, 2, 3), expect=function, note="rank_3"),
        case(name, floats(4), expect=function, note="vector"),
        case(name, np.zeros((0, 3), np.float32), expect=function, grad="empty", note="empty"),
        case(
            name,
            np.array([[1e4, 0, -1e4], [1, 1, 1]], np.float32),
            expect=function,
            grad="flat",
            note="large",
        ),
        case(
            name,
            np.array([[np.inf, 0], [-np.inf, 0], [np.nan, 0]], np.float32),
            expect=function,
            grad="nan",
            note="specials",
        ),
        case(name, X.astype(np.float16), expect=lambda x, f=function: f(x.astype(np.float32)), grad="half"),
    ]
