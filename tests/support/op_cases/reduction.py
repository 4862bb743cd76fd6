"""Reductions, cumulative sums, arg-reductions."""

import ml_dtypes
import numpy as np

from . import case, floats, ints

FUNCTIONS = {"Sum": np.sum, "Mean": np.mean, "Prod": np.prod, "Max": np.max, "Min": np.min}
X = floats(2, 3, 4)


def over(function, keep=False):
    return lambda x, axes: function(x, axis=tuple(np.ravel(axes).tolist()), keepdims=keep)


CASES = []
for name, function in FUNCTIONS.items():
    smooth = name not in ("Max", "Min")
    CASES += [
        case(name, X, [0, 2], expect=over(function), rtol=1e-5),
        case(name, X, [-1], keep_dims=True, expect=over(function, True), rtol=1e-5),
        case(name, X, 1, expect=over(function), rtol=1e-5, note="scalar_axis"),
        case(
            name,
            X,
            np.array([0, 1, 2], np.int64),
            expect=over(function),
            rtol=1e-5,
            note="all",
            oracle_grad="TensorFlow's fails for int64 axes",
        ),
        case(name, X, np.zeros(0, np.int32), expect=lambda x, _: x, note="no_axes"),
        case(
            name,
            ints(3, 4),
            [0],
            expect=over(function) if name != "Mean" else (lambda x, _: np.trunc(x.mean(0))),
            note="int32",
        ),
        case(
            name,
            np.array([[np.nan, 1.0, np.inf], [2.0, -np.inf, np.inf]]),
            [1],
            expect=over(function),
            grad="not finite",
            note="specials",
        ),
        case(name, np.float32(3), np.zeros(0, np.int32), expect=lambda x, _: x, note="scalar"),
        case(
            name,
            X.astype(ml_dtypes.bfloat16),
            [1],
            expect=lambda x, _, f=function: f(x.astype(np.float32), axis=1).astype(ml_dtypes.bfloat16),
            grad="as float32",
            note="bfloat16",
        ),
    ]
    empty = {"Sum": 0, "Prod": 1, "Mean": np.nan, "Max": -np.inf, "Min": np.inf}[name]
    CASES.append(
        case(name, np.zeros((0, 3), np.float32), [0], expect=np.full(3, empty), grad="empty", note="empty")
    )
    CASES.append(
        case(
            name,
            np.zeros((3, 0, 2), np.float32),
            [0],
            expect=np.zeros((0, 2)),
            grad="empty",
            note="empty_rest",
        )
    )
    if smooth:
        z = floats(2, 3) + 1j * floats(2, 3, seed=3)
        CASES.append(
            case(name, z, [1], expect=over(function), note="complex", rtol=1e-5, second=name != "Prod")
        )
CASES += [
    case(
        "Prod",
        np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0]]),
        [1],
        expect=[[0, 0]],
        note="zeros",
        second="as in TensorFlow, Cumprod's gradient divides by 0",
    ),
    case("Mean", np.array([-7, 2], np.int32), [0], expect=np.int32(-2), note="truncates"),
    case("Max", np.array([2.0, 2.0, 1.0]), [0], expect=np.float32(2), grad="at a corner", note="ties"),
    case("Max", np.zeros((0, 2), np.int32), [0], expect=np.full(2, np.iinfo(np.int32).min), note="int_empty"),
    case("All", np.array([[True, False], [True, True]]), [1], expect=[[False, True]]),
    case("All", np.zeros((0, 2), np.bool_), [0], expect=[[True, True]]),
    case("Any", np.array([[True, False], [False, False]]), [1], keep_dims=True, expect=[[[True], [False]]]),
    case("Any", np.zeros((0, 2), np.bool_), [0], expect=[[False, False]]),
]
for name, function in {"ArgMax": np.argmax, "ArgMin": np.argmin}.items():
    CASES += [
        case(name, X, 1, expect=lambda x, _, f=function: f(x, axis=1)),
        case(name, X, -1, output_type=np.int32, expect=lambda x, _, f=function: f(x, axis=-1)),
        case(name, np.array([3, 1, 3, 1], np.int32), 0, expect=lambda x, _, f=function: f(x), note="ties"),
        case(
            name, np.array([[1.0, np.nan, 3.0, -2.0]]), 1, expect=[[2 if name == "ArgMax" else 3]], note="nan"
        ),
        case(name, np.zeros((0, 3), np.float32), 1, expect=np.zeros(0, np.int64), note="empty"),
    ]


def cumulative(function, identity):
    def expect(exclusive, reverse):
        def run(x, axis):
            axis = int(axis)
            x = np.flip(x, axis) if reverse else x
            y = function(x, axis=axis)
            if exclusive:
                y = np.concatenate([np.full_like(np.take(y, [0], axis), identity), y], axis).take(
                    range(x.shape[axis]), axis
                )
            return np.flip(y, axis) if reverse else y

        return run

    return expect


for name, function, identity in (("Cumsum", np.cumsum, 0), ("Cumprod", np.cumprod, 1)):
    expect = cumulative(function, identity)
    for exclusive in (False, True):
        for reverse in (False, True):
            options = {"exclusive": exclusive, "reverse": reverse}
            CASES.append(case(name, X, 1, expect=expect(exclusive, reverse), rtol=1e-5, **options))
    CASES += [
        case(name, ints(5), 0, expect=expect(False, False), note="int32"),
        case(name, np.zeros((0, 2), np.float32), 0, expect=np.zeros((0, 2)), grad="empty", note="empty"),
        case(name, np.array([1.0, np.nan, 2.0]), -1, expect=expect(False, False), grad="nan", note="nan"),
    ]
CASES += [
    case("L2Loss", X, expect=lambda t: np.sum(t * t) / 2, rtol=1e-5),
    case("L2Loss", np.zeros((0, 2), np.float32), expect=np.float32(0), grad="empty"),
]
NTH = floats(3, 2, 7)
for reverse in (False, True):
    options = {"reverse": reverse, "note": str(reverse)}
    CASES += [
        case(
            "NthElement",
            x,
            np.int32(2),
            expect=lambda x, n, reverse=reverse: np.sort(x)[..., -1 - n if reverse else n],
            **options,
        )
        for x in (NTH, ints(4, 9))
    ]
CASES.append(
    case(
        "NthElement",
        np.zeros((0, 3), np.float32),
        np.int32(1),
        expect=np.zeros(0),
        grad="empty",
        note="empty",
    )
)


def norm(x, axes):
    return np.sqrt(np.sum(np.abs(x) ** 2, tuple(np.ravel(axes))))


CASES += [
    case("EuclideanNorm", floats(2, 3, 4), np.int32([0, 2]), expect=norm),
    case(
        "EuclideanNorm",
        floats(2, 3, 4),
        np.int64(-1),
        keep_dims=True,
        expect=lambda x, a: norm(x, a)[..., None],
    ),
    case("EuclideanNorm", floats(2, 3).astype(np.float64), np.int32([0, 1]), expect=norm, note="float64"),
    case("EuclideanNorm", np.int32([3, 4, 2]), np.int32([0]), expect=[5], note="int32"),
    case(
        "EuclideanNorm",
        floats(4, dtype=np.float16),
        np.int32([0]),
        expect=norm,
        grad="as float32",
        note="float16",
    ),
    case(
        "EuclideanNorm",
        np.zeros((0, 3), np.float32),
        np.int32([0]),
        expect=np.zeros(3),
        grad="empty",
        note="empty",
    ),
    case(
        "EuclideanNorm",
        np.array([3 + 4j, 1j], np.complex64),
        np.int32([0]),
        expect=[np.complex64(26**0.5)],
        grad="of real numbers",
        note="complex",
    ),
]


def running(x, axis, exclusive=False, reverse=False):
    x = np.moveaxis(np.asarray(x, np.float64), axis, 0)
    x = x[::-1] if reverse else x
    sums = np.log(np.cumsum(np.exp(x), 0))
    if exclusive:
        sums = np.concatenate([np.full_like(sums[:1], np.finfo(np.float32).min), sums[:-1]])
    return np.moveaxis(sums[::-1] if reverse else sums, 0, axis)


for exclusive in (False, True):
    for reverse in (False, True):
        flags = {"exclusive": exclusive, "reverse": reverse}
        CASES += [
            case(
                "CumulativeLogsumexp",
                floats(3, 4, seed=int(reverse)),
                np.int32(axis),
                **flags,
                expect=lambda x, a, flags=flags, axis=axis: running(x, axis, **flags),
                rtol=1e-5,
                atol=1e-5,
                grad="the lowest number has none" if exclusive else [0],
                oracle=not exclusive or "TensorFlow 2 begins with -inf, not with the lowest number",
                second="in logarithms of the gradient",
            )
            for axis in (0, -1)
        ]
CASES += [
    case(
        "CumulativeLogsumexp",
        np.float64([800.0, -900.0, 801.0]),
        np.int64(0),
        expect=[[800.0, 800.0, 800 + np.log(1 + np.e)]],
        grad="as float32",
        note="large",
    ),
    case(
        "CumulativeLogsumexp",
        floats(0, 3),
        np.int32(1),
        expect=floats(0, 3),
        grad="empty",
        note="empty",
    ),
]
