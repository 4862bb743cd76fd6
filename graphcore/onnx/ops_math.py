"""Element-wise arithmetic, comparisons and logic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .blocks import Inexpressible
from .table import Call, translates

SAME = {
    "Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Asin": "Asin", "Asinh": "Asinh", "Atan": "Atan",
    "Atanh": "Atanh", "Ceil": "Ceil", "Cos": "Cos", "Cosh": "Cosh", "Elu": "Elu", "Erf": "Erf", "Exp": "Exp",
    "Floor": "Floor", "IsNan": "IsNaN", "Log": "Log", "LogicalNot": "Not", "Neg": "Neg",
    "Reciprocal": "Reciprocal", "Inv": "Reciprocal", "Rint": "Round", "Selu": "Selu",
    "Sigmoid": "Sigmoid", "Sign": "Sign", "Sin": "Sin", "Sinh": "Sinh", "Softplus": "Softplus",
    "Softsign": "Softsign", "Sqrt": "Sqrt", "Tan": "Tan", "Tanh": "Tanh", "Invert": "BitwiseNot",
    "Add": "Add", "AddV2": "Add", "Sub": "Sub", "Mul": "Mul", "RealDiv": "Div", "Maximum": "Max",
    "Minimum": "Min", "Pow": "Pow", "Less": "Less", "LessEqual": "LessOrEqual", "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual", "LogicalAnd": "And", "LogicalOr": "Or", "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor",
    "Identity": "Identity", "StopGradient": "Identity", "PreventGradient": "Identity",
}  # fmt: skip
"""Ops that ONNX has under another name, or the same."""

PASSED_ON = (
    "Snapshot", "CheckNumerics", "Print", "EnsureShape", "PlaceholderWithDefault", "DebugGradientIdentity",
    "RefIdentity", "Enter", "Exit", "NextIteration", "LoopCond",
)  # fmt: skip
"""What gives its first input."""


def _same(name: str) -> Callable[[Call], str]:
    if name == "Identity":
        return lambda call: call.given(0)
    return lambda call: call.emit(name, *call.names)


for _op, _name in SAME.items():
    translates(_op)(_same(_name))
translates(*PASSED_ON)(lambda call: call.given(0))


@translates("IdentityN")
def _identities(call: Call) -> list[str]:
    return [call.given(index) for index in range(len(call.inputs))]


@translates("IsInf")
def _is_inf(call: Call) -> str:
    return call.emit("IsInf", call[0])


@translates("IsFinite")
def _is_finite(call: Call) -> str:
    return call.emit("Not", call.emit("Or", call.emit("IsInf", call[0]), call.emit("IsNaN", call[0])))


@translates("Round")
def _round(call: Call) -> str:
    return call[0] if call.dtype(0).kind in "iu" else call.emit("Round", call[0])


@translates("Square")
def _square(call: Call) -> str:
    return call.emit("Mul", call[0], call[0])


@translates("Rsqrt")
def _rsqrt(call: Call) -> str:
    return call.emit("Reciprocal", call.emit("Sqrt", call[0]))


@translates("Expm1")
def _expm1(call: Call) -> str:
    # exp(x) - 1 = 2 sinh(x/2) exp(x/2), which keeps what is small; of the large ones the plain form is right
    half = call.emit("Mul", call[0], call.like(0, 0.5))
    exact = call.emit(
        "Mul", call.emit("Mul", call.emit("Sinh", half), call.emit("Exp", half)), call.like(0, 2)
    )
    plain = call.emit("Sub", call.emit("Exp", call[0]), call.like(0, 1))
    return call.emit("Where", call.emit("Less", call.emit("Abs", call[0]), call.like(0, 1)), exact, plain)


@translates("Log1p")
def _log1p(call: Call) -> str:
    # log(1 + x) = 2 atanh(x / (2 + x)), which keeps what is small
    ratio = call.emit("Div", call[0], call.emit("Add", call[0], call.like(0, 2)))
    exact = call.emit("Mul", call.emit("Atanh", ratio), call.like(0, 2))
    plain = call.emit("Log", call.emit("Add", call[0], call.like(0, 1)))
    return call.emit("Where", call.emit("Less", call.emit("Abs", call[0]), call.like(0, 0.5)), exact, plain)


@translates("Erfc")
def _erfc(call: Call) -> str:
    return call.emit("Sub", call.like(0, 1), call.emit("Erf", call[0]))


@translates("Relu")
def _relu(call: Call) -> str:
    return call[0] if call.dtype(0).kind == "u" else call.emit("Relu", call[0])


@translates("Relu6")
def _relu6(call: Call) -> str:
    return call.emit("Clip", call[0], call.like(0, 0), call.like(0, 6))


@translates("LeakyRelu")
def _leaky_relu(call: Call) -> str:
    return call.emit("LeakyRelu", call[0], alpha=float(call.attr("alpha")))


@translates("ClipByValue")
def _clip(call: Call) -> str:
    return call.emit("Max", call.emit("Min", call[0], call[2]), call[1])


@translates("SquaredDifference")
def _squared_difference(call: Call) -> str:
    difference = call.emit("Sub", call[0], call[1])
    return call.emit("Mul", difference, difference)


@translates("AddN", "AccumulateNV2")
def _add_n(call: Call) -> str:
    if len(call.inputs) == 1:
        return call[0]
    if call.dtype(0).kind == "f":
        return call.emit("Sum", *call.names)
    total = call[0]
    for name in call.names[1:]:
        total = call.emit("Add", total, name)
    return total


@translates("BiasAdd", "BiasAddV1")
def _bias_add(call: Call) -> str:
    bias = call[1]
    if call.op.type == "BiasAdd" and call.attr("data_format").startswith("NC"):
        bias = call.make.reshape(bias, -1, *[1] * (call.rank(0) - 2))
    return call.emit("Add", call[0], bias)


@translates("Div")
def _div(call: Call) -> str:
    return call.emit("Div", call[0], call[1])


@translates("TruncateDiv")
def _truncate_div(call: Call) -> str:
    quotient = call.emit("Div", call[0], call[1])
    if call.dtype(0).kind != "f":
        return quotient
    below = call.emit("Less", quotient, call.like(0, 0))
    return call.emit("Where", below, call.emit("Ceil", quotient), call.emit("Floor", quotient))


@translates("DivNoNan")
def _div_no_nan(call: Call) -> str:
    zero = call.emit("Equal", call[1], call.like(1, 0))
    return call.emit("Where", zero, call.like(0, 0), call.emit("Div", call[0], call[1]))


@translates("MulNoNan")
def _mul_no_nan(call: Call) -> str:
    zero = call.emit("Equal", call[1], call.like(1, 0))
    return call.emit("Where", zero, call.like(0, 0), call.emit("Mul", call[0], call[1]))


@translates("FloorDiv")
def _floor_div(call: Call) -> str:
    if call.dtype(0).kind == "f":
        return call.emit("Floor", call.emit("Div", call[0], call[1]))
    if call.dtype(0).kind == "u":
        return call.emit("Div", call[0], call[1])
    rest = call.emit("Mod", call[0], call[1], fmod=0)  # of the divisor's sign
    return call.emit("Div", call.emit("Sub", call[0], rest), call[1])


@translates("FloorMod")
def _floor_mod(call: Call) -> str:
    if call.dtype(0).kind != "f":
        return call.emit("Mod", call[0], call[1], fmod=0)
    rest = call.emit("Mod", call[0], call[1], fmod=1)
    zero = call.like(0, 0)
    apart = call.emit("Xor", call.emit("Less", rest, zero), call.emit("Less", call[1], zero))
    wrong = call.emit("And", apart, call.emit("Not", call.emit("Equal", rest, zero)))
    return call.emit("Where", wrong, call.emit("Add", rest, call[1]), rest)


@translates("Mod", "TruncateMod")
def _truncate_mod(call: Call) -> str:
    return call.emit("Mod", call[0], call[1], fmod=1)


@translates("Xdivy")
def _xdivy(call: Call) -> str:
    return _unless_zero(call, call.emit("Div", call[0], call[1]))


@translates("Xlogy")
def _xlogy(call: Call) -> str:
    return _unless_zero(call, call.emit("Mul", call[0], call.emit("Log", call[1])))


@translates("Xlog1py")
def _xlog1py(call: Call) -> str:
    log = call.emit("Log", call.emit("Add", call[1], call.like(1, 1)))
    return _unless_zero(call, call.emit("Mul", call[0], log))


def _unless_zero(call: Call, value: str) -> str:
    return call.emit("Where", call.emit("Equal", call[0], call.like(0, 0)), call.like(0, 0), value)


@translates("Atan2")
def _atan2(call: Call) -> str:
    y, x = call[0], call[1]
    zero, pi = call.like(0, 0), call.like(0, np.pi)
    below, left = _negative(call, y), _negative(call, x)
    both = call.emit("And", call.emit("IsInf", y), call.emit("IsInf", x))  # in the ratio of one to one
    ratio = [call.emit("Where", both, call.emit("Sign", name), name) for name in (y, x)]
    plain = call.emit("Atan", call.emit("Div", *ratio))
    half_turn = call.emit("Where", below, call.emit("Neg", pi), pi)
    result = call.emit("Where", left, call.emit("Add", plain, half_turn), plain)
    upright = call.emit("Mul", call.emit("Sign", y), call.like(0, np.pi / 2))
    result = call.emit("Where", call.emit("Equal", x, zero), upright, result)
    flat = call.emit("And", call.emit("Equal", y, zero), call.emit("Not", call.emit("IsNaN", x)))
    return call.emit("Where", flat, call.emit("Where", left, half_turn, y), result)


def _negative(call: Call, name: str) -> str:
    """Whether a number has a minus, -0 too."""
    zero = call.like(0, 0)
    return call.emit(
        "Or", call.emit("Less", name, zero), call.emit("Less", call.emit("Reciprocal", name), zero)
    )


@translates("Equal")
def _equal(call: Call) -> str:
    _check_plain(call)
    return call.emit("Equal", call[0], call[1])


@translates("NotEqual")
def _not_equal(call: Call) -> str:
    _check_plain(call)
    return call.emit("Not", call.emit("Equal", call[0], call[1]))


def _check_plain(call: Call) -> None:
    if call.op.has_attr("incompatible_shape_error") and not call.attr("incompatible_shape_error"):
        raise Inexpressible("it compares tensors of shapes that need not fit")


@translates("ApproximateEqual")
def _approximately(call: Call) -> str:
    apart = call.emit("Abs", call.emit("Sub", call[0], call[1]))
    return call.emit("Less", apart, call.like(0, call.attr("tolerance")))


@translates("LeftShift", "RightShift")
def _shift(call: Call) -> str:
    if call.dtype(0).kind != "u":
        raise Inexpressible(f"ONNX shifts unsigned integers only, not {call.dtype(0).name}")
    most = call.like(0, call.dtype(0).itemsize * 8 - 1)
    by = call.emit("Min", call[1], most)
    return call.emit("BitShift", call[0], by, direction=call.op.type.removesuffix("Shift").upper())


@translates("Cast")
def _cast(call: Call) -> str:
    source, target = call.dtype(0), call.out_dtype()
    if call.attr("Truncate"):
        raise Inexpressible("ONNX casts by rounding, not by cutting off")
    if source == target:
        return call[0]
    return call.make.cast(call[0], target)


@translates("ReluGrad")
def _relu_grad(call: Call) -> str:
    return call.emit("Where", call.emit("Greater", call[1], call.like(1, 0)), call[0], call.like(0, 0))


@translates("SigmoidGrad")
def _sigmoid_grad(call: Call) -> str:
    slope = call.emit("Mul", call[0], call.emit("Sub", call.like(0, 1), call[0]))
    return call.emit("Mul", slope, call[1])


@translates("TanhGrad")
def _tanh_grad(call: Call) -> str:
    slope = call.emit("Sub", call.like(0, 1), call.emit("Mul", call[0], call[0]))
    return call.emit("Mul", slope, call[1])


@translates("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars")
def _fake_quant(call: Call) -> str:
    """Rounded to the steps between two ends that are moved so that 0 is one of them."""
    emit = call.emit
    if call.op.type.endswith("Vars"):
        low, high = call[1], call[2]
    else:
        low, high = call.like(0, call.attr("min")), call.like(0, call.attr("max"))
    first = call.like(0, float(call.attr("narrow_range")))
    last = call.like(0, 2.0 ** int(call.attr("num_bits")) - 1)
    half, zero = call.like(0, 0.5), call.like(0, 0)
    scale = emit("Div", emit("Sub", high, low), emit("Sub", last, first))
    step = emit("Where", emit("Equal", scale, zero), call.like(0, 1), scale)  # from 0 to 0: all is 0
    place = emit("Min", emit("Max", emit("Sub", first, emit("Div", low, step)), first), last)
    place = emit("Floor", emit("Add", place, half))
    low, high = (emit("Mul", emit("Sub", end, place), scale) for end in (first, last))
    inside = emit("Min", emit("Max", call[0], low), high)
    whole = emit("Floor", emit("Add", emit("Div", emit("Sub", inside, low), step), half))
    return emit("Add", emit("Mul", whole, scale), low)


@translates("Cross")
def _cross(call: Call) -> str:
    def part(index: int, axis: int) -> str:
        return call.make.slice(call[index], -1, axis, axis + 1)

    rows = []
    for axis in range(3):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        plus = call.emit("Mul", part(0, j), part(1, k))
        rows.append(call.emit("Sub", plus, call.emit("Mul", part(0, k), part(1, j))))
    return call.emit("Concat", *rows, axis=-1)


@translates("L2Loss")
def _l2_loss(call: Call) -> str:
    total = call.emit("ReduceSumSquare", call[0], keepdims=0)
    return call.emit("Mul", total, call.like(0, 0.5))
