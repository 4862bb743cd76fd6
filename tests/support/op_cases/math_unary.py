"""Element-wise functions of one argument."""

import ml_dtypes
import numpy as np

from . import case, floats, specials

WIDE, UNIT, POSITIVE, ABOVE_ONE = (-2.0, 2.0), (-0.9, 0.9), (0.1, 3.0), (1.1, 3.0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def sign(x):
    return np.where(x == 0, 0, x / np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


# op: (function, interval of the gradient check, what else a CPU takes: i(nt) c(omplex) h(alf))
FUNCTIONS = {
    "Abs": (np.abs, WIDE, "ih"),
    "Neg": (np.negative, WIDE, "ich"),
    "Sign": (sign, WIDE, "ich"),
    "Square": (np.square, WIDE, "ich"),
    "Sqrt": (np.sqrt, POSITIVE, "ch"),
    "Rsqrt": (lambda x: 1 / np.sqrt(x), POSITIVE, "ch"),
    "Exp": (np.exp, WIDE, "ch"),
    "Expm1": (np.expm1, WIDE, "ch"),
    "Log": (np.log, POSITIVE, "ch"),
    "Log1p": (np.log1p, UNIT, "ch"),
    "Sin": (np.sin, WIDE, "ch"),
    "Cos": (np.cos, WIDE, "ch"),
    "Tan": (np.tan, UNIT, "c"),
    "Sinh": (np.sinh, WIDE, "c"),
    "Cosh": (np.cosh, WIDE, "c"),
    "Tanh": (np.tanh, WIDE, "ch"),
    "Asin": (np.arcsin, UNIT, ""),
    "Acos": (np.arccos, UNIT, ""),
    "Atan": (np.arctan, WIDE, ""),
    "Asinh": (np.arcsinh, WIDE, "c"),
    "Acosh": (np.arccosh, ABOVE_ONE, "c"),
    "Atanh": (np.arctanh, UNIT, "c"),
    "Sigmoid": (sigmoid, WIDE, "ch"),
    "Reciprocal": (np.reciprocal, POSITIVE, "ch"),
    "Inv": (np.reciprocal, POSITIVE, "ch"),
    "Floor": (np.floor, WIDE, "h"),
    "Ceil": (np.ceil, WIDE, "h"),
    "Rint": (np.rint, WIDE, "h"),
    "Round": (np.round, WIDE, "ih"),
}

CASES = []
for name, (function, (low, high), kinds) in FUNCTIONS.items():
    steps = name in ("Floor", "Ceil", "Rint", "Round", "Sign")
    CASES += [
        case(name, floats(2, 3, low=low, high=high), expect=function, second=not steps),
        case(name, floats(4, low=low, high=high, dtype=np.float64), expect=function, grad="as float32"),
        case(name, np.zeros((0, 3), np.float32), expect=function, grad="empty", note="empty"),
        case(name, np.float32((low + high) / 2 + 0.2), expect=function, grad="as float32", note="scalar"),
        case(
            name,
            specials(),
            expect=function,
            grad="at corners",
            note="specials",
        ),
    ]
    if "c" in kinds:
        values = np.array([0.3 + 0.4j, -0.2 + 0.7j, 0.5 - 0.3j], np.complex64)
        CASES.append(
            case(
                name,
                values,
                expect=function,
                second=not steps,
                note="complex",
                rtol=1e-5,
                numeric=name != "Sign" or "TensorFlow's gradient is zero for complex numbers as well",
            )
        )
    if "h" in kinds:
        x = floats(5, low=low, high=high)
        for dtype in (np.float16, ml_dtypes.bfloat16):
            half = x.astype(dtype)
            expected = function(half.astype(np.float32)).astype(dtype)
            CASES.append(
                case(
                    name,
                    half,
                    expect=expected,
                    grad="as float32",
                    note=np.dtype(dtype).name,
                    oracle=name != "Rint" or "no such kernel on a CPU",
                )
            )
    if "i" in kinds:
        for dtype in (np.int32, np.int64):
            CASES.append(
                case(
                    name,
                    np.array([-7, 0, 5, 2], dtype),
                    expect=function,
                    note=np.dtype(dtype).name,
                    oracle=name != "Round" or "its kernel gives 0 for integers",
                )
            )

for name, function in {
    "SqrtGrad": lambda y, dy: dy * 0.5 / np.conj(y),
    "RsqrtGrad": lambda y, dy: dy * -0.5 * np.conj(y) ** 3,
    "TanhGrad": lambda y, dy: dy * (1 - y**2),
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "ReciprocalGrad": lambda y, dy: -dy * np.conj(y) ** 2,
    "InvGrad": lambda y, dy: -dy * np.conj(y) ** 2,
}.items():
    y, dy = floats(2, 3, low=0.2, high=0.9), floats(2, 3, seed=1)
    CASES.append(case(name, y, dy, expect=function))
    z, dz = y[0] + 1j * dy[0], dy[0] - 0.5j * y[1]
    CASES.append(case(name, z, dz, expect=function, note="complex", rtol=1e-5))
    CASES.append(
        case(name, np.zeros((0, 2), np.float32), np.zeros((0, 2), np.float32), expect=function, grad="empty")
    )

for name, function in {"IsNan": np.isnan, "IsInf": np.isinf, "IsFinite": np.isfinite}.items():
    CASES += [case(name, specials(dtype), expect=function) for dtype in (np.float32, np.float64, np.float16)]

COMPLEX = np.array([[1 + 2j, -0.5 + 0.25j], [3 - 1j, -2 - 0.5j]], np.complex64)
CASES += [
    case("LogicalNot", np.array([True, False]), expect=np.logical_not),
    case("Invert", np.array([0, 5, -3], np.int32), expect=np.invert),
    case("Invert", np.array([0, 5, 255], np.uint8), expect=np.invert),
    case("Conj", COMPLEX, expect=np.conj),
    case("Real", COMPLEX, expect=np.real, Tout=np.float32, second=False),
    case("Imag", COMPLEX, expect=np.imag, Tout=np.float32, second=False),
    case("Angle", COMPLEX, expect=np.angle, Tout=np.float32, second=False, rtol=1e-5),
    case("ComplexAbs", COMPLEX, expect=np.abs, Tout=np.float32, second=False),
    case("Cast", floats(2, 3), expect=lambda x: x.astype(np.float64), DstT=np.float64),
    case(
        "Cast",
        np.array([1.9, -1.9, 0.5, -0.5]),
        expect=[[1, -1, 0, 0]],
        DstT=np.int32,
        grad="not floating",
        note="truncates",
    ),
    case(
        "Cast",
        np.array([0.0, 2.0, np.nan, -1.0]),
        expect=lambda x: x != 0,
        DstT=np.bool_,
        grad="not floating",
    ),
    case("Cast", np.array([True, False]), expect=[[1.0, 0.0]], DstT=np.float32),
    case("Cast", COMPLEX, expect=np.real, DstT=np.float32, grad="takes the real part", oracle_grad=False),
    case(
        "Cast", floats(3), expect=lambda x: x.astype(np.complex64), DstT=np.complex64, grad="becomes complex"
    ),
    case(
        "Cast",
        floats(5),
        expect=lambda x: x.astype(ml_dtypes.bfloat16),
        DstT=ml_dtypes.bfloat16,
        grad="coarse",
    ),
    case(
        "Cast",
        np.array([300, -1], np.int32),
        expect=lambda x: x.astype(np.uint8),
        DstT=np.uint8,
        note="wraps",
    ),
    case("Cast", np.zeros((0, 2), np.int32), expect=lambda x: x.astype(np.float32), DstT=np.float32),
]
