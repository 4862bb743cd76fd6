"""Element-wise functions of one argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import (
    FLOATING,
    FLOATING_OR_COMPLEX,
    INTEGER,
    SIGNED,
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int32,
    int64,
    variant,
)
from ..op import GraphOp, op, raw_ops
from ..operation import Tensor
from . import rules

Kernel = Callable[..., Any]


def unary(
    name: str, text: str, kernel: Kernel, types: Any, grad: Any, signature: str = "x: T -> y: T"
) -> GraphOp:
    """Declares an element-wise op of one argument.

    Args:
        name: The op type.
        text: What it computes.
        kernel: A ufunc, or a function with `out=`.
        types: The dtypes it takes.
        grad: From (operation, output gradient) to the input's gradient, or text: why there is none.
        signature: The declaration, where it is not `x: T -> y: T`.
    """
    options = {"T": types} if "T" in signature else {}
    reason = grad if isinstance(grad, str) else None
    declared = op(name, signature, elementwise="bool" not in signature, no_grad=reason, text=text, **options)(
        kernel
    )
    declared.shape(rules.unchanged)
    if not isinstance(grad, str):
        declared.grad(grad)
    return declared


def grad_of(name: str, text: str, kernel: Kernel, grad: Any) -> GraphOp:
    """Declares a helper `(y, dy) -> dx` that TensorFlow has for some gradients."""
    declared = op(name, "y: T, dy: T -> z: T", T=FLOATING_OR_COMPLEX, text=text)(kernel)
    declared.shape(rules.merge_inputs)
    declared.grad(grad)
    return declared


def _x(node: Any) -> Any:
    return node.inputs[0]


def _times(node: Any, dy: Any, derivative: Any) -> Any:
    return dy * rules.conjugate(derivative)


def _const(value: Any, like: Any) -> Any:
    return convert_to_tensor(value, like.dtype.base_dtype)


def _sigmoid(x: Any, out: Any = None) -> Any:
    # tanh does not overflow where exp(-x) would
    half = x.dtype.type(0.5)
    result = np.tanh(np.multiply(x, half, out=out), out=out)
    result = np.multiply(result, half, out=out)
    return np.add(result, half, out=out)


def _rsqrt(x: Any, out: Any = None) -> Any:
    return np.divide(x.dtype.type(1), np.sqrt(x, out=out), out=out)


def _reciprocal(x: Any, out: Any = None) -> Any:
    if x.dtype.kind in "iu":
        result = np.zeros_like(x)
        np.floor_divide(x.dtype.type(1), np.abs(x), out=result, where=x != 0)
        return result * np.sign(x)
    return np.divide(x.dtype.type(1), x, out=out)


def _sign(x: Any, out: Any = None) -> Any:
    return np.sign(x, out=out)


abs_ = unary(
    "Abs",
    "The absolute value.",
    np.absolute,
    (*FLOATING, int32, int64),
    lambda node, dy: dy * raw_ops.Sign(_x(node)),
)
neg = unary("Neg", "The number with the other sign.", np.negative, SIGNED, lambda node, dy: -dy)
sign = unary(
    "Sign",
    "The sign: -1, 0 or 1, or of complex numbers x / |x|.",
    _sign,
    SIGNED,
    lambda node, dy: raw_ops.ZerosLike(_x(node)),
)
square = unary(
    "Square",
    "The square.",
    np.square,
    SIGNED,
    lambda node, dy: _times(node, dy, _const(2, _x(node)) * _x(node)),
)
sqrt = unary(
    "Sqrt",
    "The square root.",
    np.sqrt,
    FLOATING_OR_COMPLEX,
    lambda node, dy: raw_ops.SqrtGrad(node.outputs[0], dy),
)
rsqrt = unary(
    "Rsqrt",
    "1 over the square root.",
    _rsqrt,
    FLOATING_OR_COMPLEX,
    lambda node, dy: raw_ops.RsqrtGrad(node.outputs[0], dy),
)
exp = unary(
    "Exp",
    "e to the power x.",
    np.exp,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, node.outputs[0]),
)
expm1 = unary(
    "Expm1",
    "exp(x) - 1, exact for small x.",
    np.expm1,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, raw_ops.Exp(_x(node))),
)
log = unary(
    "Log",
    "The natural logarithm.",
    np.log,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, raw_ops.Reciprocal(_x(node))),
)
log1p = unary(
    "Log1p",
    "log(1 + x), exact for small x.",
    np.log1p,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, raw_ops.Reciprocal(_const(1, _x(node)) + _x(node))),
)
sin = unary(
    "Sin",
    "The sine of an angle in radians.",
    np.sin,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, raw_ops.Cos(_x(node))),
)
cos = unary(
    "Cos",
    "The cosine of an angle in radians.",
    np.cos,
    FLOATING_OR_COMPLEX,
    lambda node, dy: -_times(node, dy, raw_ops.Sin(_x(node))),
)
tanh = unary(
    "Tanh",
    "The hyperbolic tangent.",
    np.tanh,
    FLOATING_OR_COMPLEX,
    lambda node, dy: raw_ops.TanhGrad(rules.conjugate(node.outputs[0]), dy),
)
sigmoid = unary(
    "Sigmoid",
    "1 / (1 + exp(-x)).",
    _sigmoid,
    FLOATING_OR_COMPLEX,
    lambda node, dy: raw_ops.SigmoidGrad(rules.conjugate(node.outputs[0]), dy),
)
reciprocal = unary(
    "Reciprocal", "1 / x.", _reciprocal, SIGNED, lambda node, dy: raw_ops.ReciprocalGrad(node.outputs[0], dy)
)
inv = unary(
    "Inv", "1 / x.", _reciprocal, SIGNED, lambda node, dy: raw_ops.ReciprocalGrad(node.outputs[0], dy)
)
sinh = unary(
    "Sinh",
    "The hyperbolic sine.",
    np.sinh,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, raw_ops.Cosh(_x(node))),
)
cosh = unary(
    "Cosh",
    "The hyperbolic cosine.",
    np.cosh,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, raw_ops.Sinh(_x(node))),
)
asinh = unary(
    "Asinh",
    "The inverse hyperbolic sine.",
    np.arcsinh,
    FLOATING_OR_COMPLEX,
    lambda node, dy: dy / rules.conjugate(raw_ops.Cosh(node.outputs[0])),
)
acosh = unary(
    "Acosh",
    "The inverse hyperbolic cosine.",
    np.arccosh,
    FLOATING_OR_COMPLEX,
    lambda node, dy: dy / rules.conjugate(raw_ops.Sinh(node.outputs[0])),
)
atanh = unary(
    "Atanh",
    "The inverse hyperbolic tangent.",
    np.arctanh,
    FLOATING_OR_COMPLEX,
    lambda node, dy: _times(node, dy, raw_ops.Reciprocal(_const(1, _x(node)) - raw_ops.Square(_x(node)))),
)


def _secant_squared(node: Any, dy: Any) -> Any:
    return _times(node, dy, raw_ops.Square(raw_ops.Reciprocal(raw_ops.Cos(_x(node)))))


def _root_of_one_minus_square(node: Any) -> Any:
    return raw_ops.Sqrt(_const(1, _x(node)) - raw_ops.Square(_x(node)))


tan = unary("Tan", "The tangent of an angle in radians.", np.tan, SIGNED, _secant_squared)
asin = unary(
    "Asin",
    "The angle in radians whose sine is x.",
    np.arcsin,
    SIGNED,
    lambda node, dy: _times(node, dy, raw_ops.Reciprocal(_root_of_one_minus_square(node))),
)
acos = unary(
    "Acos",
    "The angle in radians whose cosine is x.",
    np.arccos,
    SIGNED,
    lambda node, dy: -_times(node, dy, raw_ops.Reciprocal(_root_of_one_minus_square(node))),
)
atan = unary(
    "Atan",
    "The angle in radians whose tangent is x.",
    np.arctan,
    SIGNED,
    lambda node, dy: _times(node, dy, raw_ops.Reciprocal(_const(1, _x(node)) + raw_ops.Square(_x(node)))),
)

floor = unary(
    "Floor", "The largest whole number that is not above x.", np.floor, FLOATING, lambda node, dy: None
)
ceil = unary(
    "Ceil", "The smallest whole number that is not below x.", np.ceil, FLOATING, lambda node, dy: None
)
rint = unary(
    "Rint", "The nearest whole number, of two the even one.", np.rint, FLOATING, lambda node, dy: None
)
round_ = unary(
    "Round", "The nearest whole number, of two the even one.", np.round, SIGNED, lambda node, dy: None
)
is_nan = unary(
    "IsNan", "Whether x is no number.", np.isnan, FLOATING, "booleans have no derivative", "x: T -> y: bool"
)
is_inf = unary(
    "IsInf", "Whether x is infinite.", np.isinf, FLOATING, "booleans have no derivative", "x: T -> y: bool"
)
is_finite = unary(
    "IsFinite",
    "Whether x is neither infinite nor no number.",
    np.isfinite,
    FLOATING,
    "booleans have no derivative",
    "x: T -> y: bool",
)
logical_not = unary(
    "LogicalNot",
    "Whether x is false.",
    np.logical_not,
    (),
    "booleans have no derivative",
    "x: bool -> y: bool",
)
invert = unary("Invert", "All bits of x flipped.", np.invert, INTEGER, "integers have no derivative")


def _sqrt_grad(y: Any, dy: Any) -> Any:
    return dy * y.dtype.type(0.5) / np.conj(y)


def _rsqrt_grad(y: Any, dy: Any) -> Any:
    conj = np.conj(y)
    return dy * y.dtype.type(-0.5) * conj * conj * conj


def _sqrt_grad_grad(node: Any, grad: Any) -> tuple[Any, Any]:
    y, _ = node.inputs
    scaled = grad / y
    return -rules.conjugate(scaled) * node.outputs[0], _const(0.5, y) * scaled


def _rsqrt_grad_grad(node: Any, grad: Any) -> tuple[Any, Any]:
    y, dy = node.inputs
    conj = rules.conjugate(y)
    return _const(-1.5, y) * rules.conjugate(grad) * dy * raw_ops.Square(conj), raw_ops.RsqrtGrad(conj, grad)


def _tanh_grad_grad(node: Any, grad: Any) -> tuple[Any, Any]:
    y, dy = (rules.conjugate(tensor) for tensor in node.inputs)
    return grad * _const(-2, y) * dy * y, raw_ops.TanhGrad(y, grad)


def _sigmoid_grad_grad(node: Any, grad: Any) -> tuple[Any, Any]:
    y, dy = (rules.conjugate(tensor) for tensor in node.inputs)
    scaled = grad * dy
    return scaled - _const(2, y) * scaled * y, raw_ops.SigmoidGrad(y, grad)


def _reciprocal_grad_grad(node: Any, grad: Any) -> tuple[Any, Any]:
    y, dy = node.inputs
    conj = rules.conjugate(y)
    return _const(-2, y) * rules.conjugate(grad) * dy * conj, raw_ops.ReciprocalGrad(conj, grad)


grad_of("SqrtGrad", "The gradient of Sqrt, by its output.", _sqrt_grad, _sqrt_grad_grad)
grad_of("RsqrtGrad", "The gradient of Rsqrt, by its output.", _rsqrt_grad, _rsqrt_grad_grad)
grad_of(
    "TanhGrad",
    "The gradient of Tanh, by its output.",
    lambda y, dy: dy * (y.dtype.type(1) - np.square(y)),
    _tanh_grad_grad,
)
grad_of(
    "SigmoidGrad",
    "The gradient of Sigmoid, by its output.",
    lambda y, dy: dy * y * (y.dtype.type(1) - y),
    _sigmoid_grad_grad,
)
for _name in ("ReciprocalGrad", "InvGrad"):
    grad_of(
        _name,
        "The gradient of 1 / x, by its output.",
        lambda y, dy: -dy * np.square(np.conj(y)),
        _reciprocal_grad_grad,
    )


# Complex numbers

_PARTS = {"T": ((complex64, complex128), complex64), "Tout": ((float32, float64), float32)}


@op("Conj", "input: T -> output: T", T=((complex64, complex128, variant), complex64))
def conj(input: Any) -> Any:
    """The complex conjugate."""
    return np.conj(input)


conj.shape(rules.unchanged)
conj.grad(lambda node, dy: raw_ops.Conj(dy))


@op("Real", "input: T -> output: Tout", **_PARTS)
def real(input: Any, *, Tout: Any) -> Any:
    """The real part."""
    return input.real.astype(Tout)


@op("Imag", "input: T -> output: Tout", **_PARTS)
def imag(input: Any, *, Tout: Any) -> Any:
    """The imaginary part."""
    return input.imag.astype(Tout)


@op("Angle", "input: T -> output: Tout", **_PARTS)
def angle(input: Any, *, Tout: Any) -> Any:
    """The argument in radians."""
    return np.angle(input).astype(Tout)


@op("ComplexAbs", "x: T -> y: Tout", **_PARTS)
def complex_abs(x: Any, *, Tout: Any) -> Any:
    """The absolute value of complex numbers."""
    return np.absolute(x).astype(Tout)


for _part in (real, imag, angle, complex_abs):
    _part.shape(rules.unchanged)


@real.grad
def _(node: Any, dy: Any) -> Any:
    return raw_ops.Complex(dy, raw_ops.ZerosLike(dy), Tout=node.inputs[0].dtype)


@imag.grad
def _(node: Any, dy: Any) -> Any:
    return raw_ops.Complex(raw_ops.ZerosLike(dy), dy, Tout=node.inputs[0].dtype)


@angle.grad
def _(node: Any, dy: Any) -> Any:
    x = node.inputs[0]
    inverse = raw_ops.Reciprocal(
        raw_ops.Complex(raw_ops.Imag(x, Tout=dy.dtype), raw_ops.Real(x, Tout=dy.dtype), Tout=x.dtype)
    )
    return -raw_ops.Complex(dy, raw_ops.ZerosLike(dy), Tout=x.dtype) * inverse


@complex_abs.grad
def _(node: Any, dy: Any) -> Any:
    x = node.inputs[0]
    return raw_ops.Complex(dy, raw_ops.ZerosLike(dy), Tout=x.dtype) * raw_ops.Sign(x)


# Casting

_ANY: tuple[DType, ...] = ()


@op("Cast", "x: SrcT -> y: DstT", "Truncate: bool = false", SrcT=_ANY, DstT=_ANY)
def cast(x: Any, *, DstT: Any) -> Any:
    """Values converted to another dtype: towards zero from floating to integer types."""
    source = x.dtype
    if source == DstT:
        return x
    if source.kind == "c" and DstT.kind != "c":
        x = x.real
    return x.astype(DstT)


cast.shape(rules.unchanged)


@cast.grad
def _(node: Any, dy: Any) -> Any:
    differentiable = (float16, float32, float64, bfloat16, complex64, complex128)
    source, target = node.inputs[0].dtype.base_dtype, node.outputs[0].dtype.base_dtype
    return raw_ops.Cast(dy, DstT=source) if source in differentiable and target in differentiable else None


# TensorFlow's Python functions


def tf_abs(x: Any, name: str | None = None) -> Any:
    """`tf.abs`: the absolute value; real for complex numbers."""
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex:
        return complex_abs(x, Tout=x.dtype.real_dtype, name=name or "Abs")
    return abs_(x, name=name)


def tf_cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`tf.cast`: `x` converted to `dtype`; the same tensor where it has it already."""
    wanted = as_dtype(dtype).base_dtype
    if isinstance(x, Tensor) and x.dtype == wanted:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if hasattr(x, "indices") and hasattr(x, "values"):
            return type(x)._rebuilt(x, tf_cast(x.values, wanted, scope))
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype == wanted:
            return x
        return cast(x, DstT=wanted, name=scope)


def _caster(dtype: DType, name: str) -> Callable[..., Any]:
    def convert(x: Any, name: str = name) -> Any:
        return tf_cast(x, dtype, name)

    convert.__doc__ = f"`tf.{name.lower()}`: `x` converted to {dtype.name}."
    return convert


to_float = _caster(float32, "ToFloat")
to_double = _caster(float64, "ToDouble")
to_int32 = _caster(int32, "ToInt32")
to_int64 = _caster(int64, "ToInt64")
to_bfloat16 = _caster(bfloat16, "ToBFloat16")
to_complex64 = _caster(complex64, "ToComplex64")
to_complex128 = _caster(complex128, "ToComplex128")


def tf_conj(x: Any, name: str | None = None) -> Any:
    """`tf.conj`: the complex conjugate; real tensors as they are."""
    x = convert_to_tensor(x, name="x")
    return conj(x, name=name) if x.dtype.is_complex or x.dtype == variant else x


def tf_real(input: Any, name: str | None = None) -> Any:
    """`tf.real`: the real part; real tensors as they are."""
    input = convert_to_tensor(input, name="input")
    return real(input, Tout=input.dtype.real_dtype, name=name) if input.dtype.is_complex else input


def tf_imag(input: Any, name: str | None = None) -> Any:
    """`tf.imag`: the imaginary part."""
    input = convert_to_tensor(input, name="input")
    return (
        imag(input, Tout=input.dtype.real_dtype, name=name)
        if input.dtype.is_complex
        else raw_ops.ZerosLike(input)
    )


def tf_round(x: Any, name: str | None = None) -> Any:
    """`tf.round`: to the nearest integer, halves to even; integer tensors as they are."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else round_(x, name=name)


Tensor._override_operator("__neg__", lambda x: neg(x))
Tensor._override_operator("__abs__", tf_abs)
Tensor._override_operator(
    "__invert__", lambda x: logical_not(x, name="LogicalNot") if x.dtype.base_dtype.is_bool else invert(x)
)
