"""Special functions: of error, gamma, beta, zeta and Bessel; element-wise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import FLOATING, float32, float64
from ..errors import InvalidArgumentError
from ..kernels import special as kernels, special_gamma
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, merge
from . import rules

_WIDE = (float32, float64)


def _const(value: float, like: Any) -> Any:
    return convert_to_tensor(value, like.dtype.base_dtype)


def _erf_grad(sign: float) -> Any:
    def grad(node: Any, dy: Any) -> Any:
        x = node.inputs[0]
        return dy * _const(sign * 2 / math.sqrt(math.pi), x) * raw_ops.Exp(-raw_ops.Square(x))

    return grad


def _digamma_grad(node: Any, dy: Any) -> Any:
    x = node.inputs[0]
    return dy * raw_ops.Polygamma(_const(1, x), x)


def _bessel_i0e_grad(node: Any, dy: Any) -> Any:
    x, y = node.inputs[0], node.outputs[0]
    return dy * (raw_ops.BesselI1e(x) - raw_ops.Sign(x) * y)


def _bessel_i1e_grad(node: Any, dy: Any) -> Any:
    x, y = node.inputs[0], node.outputs[0]
    eps = float(np.finfo(np.float32 if x.dtype.size <= 4 else np.float64).eps)
    zeros = raw_ops.ZerosLike(x)
    regular = raw_ops.Greater(raw_ops.Abs(x), _const(eps, x))
    safe = raw_ops.Select(regular, x, zeros + _const(eps, x))
    slope = raw_ops.BesselI0e(safe) - y * (raw_ops.Sign(safe) + raw_ops.Reciprocal(safe))
    return dy * raw_ops.Select(regular, slope, zeros + _const(0.5, x))


# name: (kernel, gradient, what it is)
_UNARY: dict[str, tuple[Any, Any, str]] = {
    "Erf": (kernels.erf, _erf_grad(1), "The error function."),
    "Erfc": (kernels.erfc, _erf_grad(-1), "1 - erf(x), without cancellation."),
    "Lgamma": (
        kernels.lgamma,
        lambda node, dy: dy * raw_ops.Digamma(node.inputs[0]),
        "The logarithm of the absolute value of the gamma function.",
    ),
    "Digamma": (kernels.digamma, _digamma_grad, "The derivative of lgamma."),
    "BesselI0e": (
        special_gamma.bessel_i0e,
        _bessel_i0e_grad,
        "exp(-|x|) times the modified Bessel function of order 0.",
    ),
    "BesselI1e": (
        special_gamma.bessel_i1e,
        _bessel_i1e_grad,
        "exp(-|x|) times the modified Bessel function of order 1.",
    ),
}


def _igamma_grad(sign: int) -> Any:
    def grad(node: Any, dz: Any) -> Any:
        a, x = node.inputs
        by_a = raw_ops.IgammaGradA(a, x)
        # the density in logarithms: the gamma function itself overflows soon
        by_x = raw_ops.Exp((a - _const(1, a)) * raw_ops.Log(x) - x - raw_ops.Lgamma(a))
        return (dz * by_a, dz * by_x) if sign > 0 else (-(dz * by_a), -(dz * by_x))

    return grad


def _zeta_grad(node: Any, dz: Any) -> Any:
    x, q = node.inputs
    return None, dz * -x * raw_ops.Zeta(x + _const(1, x), q)


def _polygamma_grad(node: Any, dz: Any) -> Any:
    n, x = node.inputs
    return None, dz * raw_ops.Polygamma(n + _const(1, n), x)


# name: (declaration, kernel, gradient, what it is)
_BINARY: dict[str, tuple[str, Any, Any, str]] = {
    "Igamma": (
        "a: T, x: T -> z: T",
        special_gamma.igamma,
        _igamma_grad(1),
        "The lower incomplete gamma function, over gamma(a).",
    ),
    "Igammac": (
        "a: T, x: T -> z: T",
        special_gamma.igammac,
        _igamma_grad(-1),
        "1 - igamma(a, x), without cancellation.",
    ),
    "IgammaGradA": (
        "a: T, x: T -> z: T",
        special_gamma.igamma_grad_a,
        None,
        "The derivative of igamma(a, x) by a.",
    ),
    "RandomGammaGrad": (
        "alpha: T, sample: T -> output: T",
        special_gamma.random_gamma_grad,
        None,
        "The derivative of a gamma-distributed sample by alpha.",
    ),
    "Zeta": ("x: T, q: T -> z: T", special_gamma.zeta, _zeta_grad, "Hurwitz's zeta function."),
    "Polygamma": (
        "a: T, x: T -> z: T",
        special_gamma.polygamma,
        _polygamma_grad,
        "The derivative of order a of digamma at x.",
    ),
}


def _declare() -> None:
    for name, (kernel, grad, text) in _UNARY.items():
        declared = op(name, "x: T -> y: T", T=FLOATING)(_documented(kernel, text))
        declared.shape(rules.unchanged)
        declared.grad(grad)
    for name, (signature, kernel, grad, text) in _BINARY.items():
        undefined = "TensorFlow has none" if grad is None else None
        declared = op(name, signature, T=_WIDE, undefined_grad=undefined)(_documented(kernel, text))
        declared.shape(rules.broadcast_inputs)
        if grad is not None:
            declared.grad(_summed(grad))


def _documented(kernel: Any, text: str) -> Any:
    def run(*args: Any) -> Any:
        return kernel(*args)

    run.__doc__ = text
    return run


def _summed(grad: Any) -> Any:
    return lambda node, dz: rules.unbroadcast(*node.inputs, *grad(node, dz))


_declare()


@op("Betainc", "a: T, b: T, x: T -> z: T", T=_WIDE)
def betainc_op(a: Any, b: Any, x: Any) -> Any:
    """The regularized incomplete beta integral; scalars go with any shape."""
    shapes = {np.shape(item) for item in (a, b, x)} - {()}
    if len(shapes) > 1:
        first, second = ("a", a), ("b", b)
        if np.shape(a) == np.shape(b) or () in (np.shape(a), np.shape(b)):
            first, second = (("a", a) if np.ndim(a) else ("b", b)), ("x", x)
        raise InvalidArgumentError(
            f"Shapes of {first[0]} and {second[0]} are inconsistent: "
            f"{format_shape(np.shape(first[1]))} vs. {format_shape(np.shape(second[1]))}"
        )
    return special_gamma.betainc(a, b, x)


@betainc_op.shape
def _(node: Any) -> Shape:
    result: Shape = ()
    for shape in node.shapes:
        if shape is None:
            result = None if result is None or result == () else result
        elif shape != ():
            result = shape if result in (None, ()) else merge(result, shape)
    unknown = any(shape is None for shape in node.shapes)
    return None if unknown and result == () else result


@betainc_op.grad
def _(node: Any, dz: Any) -> Any:
    """Of x alone, as in TensorFlow."""
    a, b, x = node.inputs
    one = _const(1, x)
    log_beta = raw_ops.Lgamma(a) + raw_ops.Lgamma(b) - raw_ops.Lgamma(a + b)
    density = raw_ops.Exp((b - one) * raw_ops.Log(one - x) + (a - one) * raw_ops.Log(x) - log_beta)
    return None, None, rules.unbroadcast(a, x, None, dz * density)[1]


# TensorFlow's Python functions


def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """`tf.math.polyval`: a polynomial by Horner's rule.

    Args:
        coeffs: A list of tensors, that of the highest power first.
        x: A tensor.
        name: Name of the operation.
    """
    with name_scope(name, "polyval", [*coeffs, x]):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return raw_ops.ZerosLike(x)
        coeffs = [
            convert_to_tensor(coeff, name="coeff" if index == 0 else f"coeff_{index}")
            for index, coeff in enumerate(coeffs)
        ]
        total = coeffs[0]
        for coeff in coeffs[1:]:
            total = coeff + total * x
        return total


def lbeta(x: Any, name: str | None = None) -> Any:
    """`tf.math.lbeta`: the logarithm of the beta function over the last axis.

    Args:
        x: A tensor of rank >= 1.
        name: Name of the operation.
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        logs = raw_ops.Sum(raw_ops.Lgamma(x), [-1])
        return raw_ops.Sub(logs, raw_ops.Lgamma(raw_ops.Sum(x, [-1])))


erf, erfc, lgamma, digamma = raw_ops.Erf, raw_ops.Erfc, raw_ops.Lgamma, raw_ops.Digamma
betainc = betainc_op
bessel_i0e, bessel_i1e = raw_ops.BesselI0e, raw_ops.BesselI1e
igamma, igammac, zeta, polygamma = raw_ops.Igamma, raw_ops.Igammac, raw_ops.Zeta, raw_ops.Polygamma


def _bessel(scaled: Any, default: str, order: int) -> Any:
    def function(x: Any, name: str | None = None) -> Any:
        with name_scope(name, default, [x]):
            return raw_ops.Exp(raw_ops.Abs(x)) * scaled(x)

    function.__name__ = default
    function.__doc__ = f"`tf.math.{default}`: the modified Bessel function of order {order}."
    return function


bessel_i0 = _bessel(bessel_i0e, "bessel_i0", 0)
bessel_i1 = _bessel(bessel_i1e, "bessel_i1", 1)
