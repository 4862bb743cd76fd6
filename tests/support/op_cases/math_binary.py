"""Element-wise functions of two arguments."""

import ml_dtypes
import numpy as np

from . import case, floats, text


def truncate_div(x, y):
    return np.trunc(x / y)


def masked(function, zero_where):
    return lambda x, y: np.where(zero_where(x, y), 0, function(x, y))


ARITHMETIC = {
    "Add": np.add,
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "RealDiv": np.divide,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "SquaredDifference": lambda x, y: (x - y) ** 2,
    "FloorDiv": np.floor_divide,
    "TruncateDiv": truncate_div,
    "FloorMod": np.mod,
    "Mod": np.fmod,
    "TruncateMod": np.fmod,
    "Pow": np.power,
    "Atan2": np.arctan2,
    "MulNoNan": masked(np.multiply, lambda x, y: y == 0),
    "DivNoNan": masked(np.divide, lambda x, y: y == 0),
    "Xlogy": masked(lambda x, y: x * np.log(y), lambda x, y: x == 0),
    "Xdivy": masked(np.divide, lambda x, y: x == 0),
}
NO_FLOAT = {"TruncateDiv": "TensorFlow's CPU has no kernel for floats"}
SIGNS = np.array([7, -7, 7, -7, 6, -6, 0], np.int32), np.array([3, 3, -3, -3, 2, -2, 5], np.int32)
POSITIVE = {"Pow", "Xlogy", "Xdivy"}
# What is 0 or has jumps: nothing to differentiate twice, or a difference across a jump.
FLAT = {"FloorDiv", "TruncateDiv", "Mod", "TruncateMod"}
VALUES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], np.float32)

CASES = []
for name, function in ARITHMETIC.items():
    low = 0.2 if name in POSITIVE else -2.0
    x = floats(2, 3, low=low)
    y = floats(2, 3, seed=1, low=0.5, high=2.0)
    second = name not in FLAT
    CASES += [
        case(name, x, y, expect=function, second=second, oracle=NO_FLOAT.get(name, True), atol=1e-6),
        case(
            name,
            x[:, :1],
            y[0],
            expect=function,
            second=second,
            oracle=NO_FLOAT.get(name, True),
            atol=1e-6,
            note="broadcast",
        ),
        case(
            name,
            x,
            y[0, 0],
            expect=function,
            second=second,
            oracle=NO_FLOAT.get(name, True),
            atol=1e-6,
            note="scalar",
        ),
        case(
            name,
            x.astype(np.float64),
            y.astype(np.float64),
            expect=function,
            grad="as float32",
            oracle=NO_FLOAT.get(name, True),
        ),
        case(
            name,
            np.zeros((0, 3), np.float32),
            y[:1],
            expect=function,
            grad="empty",
            oracle=NO_FLOAT.get(name, True),
            note="empty",
        ),
        case(
            name,
            VALUES[:, None],
            VALUES,
            expect=(lambda x, y: np.floor(x / y)) if name == "FloorDiv" else function,
            grad="at corners",
            oracle=NO_FLOAT.get(name, True),
            note="specials",
        ),
    ]
    if name not in (
        "Atan2",
        "MulNoNan",
        "DivNoNan",
        "Xlogy",
        "Xdivy",
        "Pow",
        "RealDiv",
        "Div",
        "TruncateDiv",
        "FloorDiv",
    ):
        CASES += [
            case(name, *(item.astype(kind) for item in SIGNS), expect=function, note=kind.__name__)
            for kind in (np.int32, np.int64)
        ]
    if name in (
        "Add",
        "AddV2",
        "Sub",
        "Mul",
        "Div",
        "RealDiv",
        "SquaredDifference",
        "MulNoNan",
        "DivNoNan",
        "Pow",
    ):
        z, w = x + 1j * y, y - 0.5j * x
        if name == "SquaredDifference":
            expect = np.conj(z - w) * (z - w)
            CASES.append(
                case(
                    name,
                    z,
                    w,
                    expect=expect,
                    note="complex",
                    second=False,
                    rtol=1e-5,
                    grad="not as TensorFlow",
                )
            )
        else:
            CASES.append(
                case(
                    name,
                    z,
                    w,
                    expect=function,
                    note="complex",
                    rtol=1e-5,
                    second=name != "Pow",
                    numeric=name != "MulNoNan" or "TensorFlow leaves out the conjugation",
                )
            )
    if name in ("Add", "Sub", "Mul", "Maximum"):
        half, other = x.astype(ml_dtypes.bfloat16), y.astype(ml_dtypes.bfloat16)
        CASES.append(case(name, half, other, expect=function, grad="as float32", note="bfloat16"))

for name in ("Div", "TruncateDiv", "FloorDiv"):
    function = np.floor_divide if name == "FloorDiv" else truncate_div
    for kind in (np.int32, np.int64, np.int16, np.int8):
        CASES.append(case(name, *(item.astype(kind) for item in SIGNS), expect=function, note=kind.__name__))
CASES += [
    case("FloorDiv", np.array([7, 200], np.uint8), np.array([3, 7], np.uint8), expect=[[2, 28]]),
    case(
        "Pow",
        np.array([2, -3, 0, 5], np.int32),
        np.array([10, 3, 0, 1], np.int32),
        expect=[[1024, -27, 1, 5]],
    ),
    case(
        "Pow", np.array([0.0, -2.0, 3.0]), np.array([2.0, 2.0, 0.0]), expect=np.power, grad=[], note="corners"
    ),
    case("Add", text(["a", "b"]), text(["x", ""]), expect=[text(["ax", "b"])]),
    case("ApproximateEqual", [1.0, 2.0], [1.0, 2.1], tolerance=0.05, expect=[[True, False]]),
    case("Complex", floats(2, 3), floats(3, seed=1), Tout=np.complex64, expect=lambda x, y: x + 1j * y),
    case(
        "Complex",
        np.float32([-0.0, 1, np.nan]),
        np.float32([np.inf, np.nan, -np.inf]),
        Tout=np.complex64,
        expect=np.array([complex(-0.0, np.inf), complex(1, np.nan), complex(np.nan, -np.inf)], np.complex64),
        grad="not finite",
        note="not_finite",
    ),
    case(
        "AddN",
        [floats(2, 3), floats(2, 3, seed=1), floats(2, 3, seed=2)],
        expect=lambda xs: sum(xs),
        second=False,
    ),
    case("AddN", [floats(2, 3)], expect=lambda xs: xs[0], second=False),
    case("BroadcastGradientArgs", [2, 3], [3], expect=([], [0])),
    case("BroadcastGradientArgs", [2, 1, 3], [5, 1], expect=([1], [0, 2])),
    case(
        "BroadcastGradientArgs", [1, 1], [1, 1], expect=([], []), oracle="TensorFlow 2 lists axes of length 1"
    ),
    case("BroadcastGradientArgs", np.zeros(0, np.int32), [2], expect=([0], [])),
]

COMPARISONS = {
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Equal": np.equal,
    "NotEqual": np.not_equal,
}
for name, function in COMPARISONS.items():
    CASES += [
        case(name, VALUES[:, None], VALUES, expect=function, note="specials"),
        case(name, *SIGNS, expect=function),
        case(name, np.zeros((0, 2), np.float32), np.float32(1), expect=function, note="empty"),
    ]
CASES += [
    case("Equal", text(["a", "b"]), text(["a", "c"]), expect=[[True, False]]),
    case("Equal", np.array([True, False]), np.array([True]), expect=[[True, False]]),
    case("NotEqual", text(["a", "b"]), text("a"), expect=[[False, True]]),
]
BOOLEANS = np.array([[True], [False]]), np.array([True, False])
for name, function in {"LogicalAnd": np.logical_and, "LogicalOr": np.logical_or}.items():
    CASES.append(case(name, *BOOLEANS, expect=function))
for name, function in {
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
}.items():
    CASES.append(case(name, *SIGNS, expect=function))
    CASES.append(case(name, np.array([12, 255], np.uint8), np.array([10, 1], np.uint8), expect=function))

CASES.append(
    case(
        "Pow",
        np.array([0, 0, 2j], np.complex64),
        np.array([0, 2, 0], np.complex64),
        expect=np.array([complex(np.nan, np.nan), 0, 1], np.complex64),
        grad="at zero",
        note="complex zeros",
    )
)
