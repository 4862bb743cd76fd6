"""`tf.math`: element-wise mathematics and reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .confusion import confusion_matrix
from .ops.array_shape import invert_permutation
from .ops.histogram import bincount
from .ops.linalg import matmul
from .ops.linalg_functions import cumulative_logsumexp, reduce_euclidean_norm
from .ops.math_binary import (
    accumulate_n,
    add_n,
    atan2,
    div_no_nan as divide_no_nan,
    equal,
    floor_mod as floormod,
    floor_mod as mod,
    floordiv,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mul as multiply,
    mul_no_nan as multiply_no_nan,
    next_after as nextafter,
    not_equal,
    pow_ as pow,
    squared_difference,
    sub as subtract,
    tf_add as add,
    truediv,
    truediv as divide,
    xdivy,
    xlogy,
)
from .ops.math_unary import (
    acos,
    acosh,
    angle,
    asin,
    asinh,
    atan,
    atanh,
    ceil,
    cos,
    cosh,
    exp,
    expm1,
    floor,
    is_finite,
    is_inf,
    is_nan,
    log,
    log1p,
    logical_not,
    neg as negative,
    reciprocal,
    rint,
    rsqrt,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    tf_abs as abs,
    tf_conj as conj,
    tf_imag as imag,
    tf_real as real,
    tf_round as round,
)
from .ops.reduction import (
    argmax,
    argmin,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    tf_cumprod as cumprod,
    tf_cumsum as cumsum,
)
from .ops.special import (
    bessel_i0,
    bessel_i0e,
    bessel_i1,
    bessel_i1e,
    betainc,
    digamma,
    erf,
    erfc,
    igamma,
    igammac,
    lbeta,
    lgamma,
    polygamma,
    polyval,
    zeta,
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "argmax", "argmin", "asin", "asinh",
    "atan", "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "betainc", "bincount",
    "ceil", "confusion_matrix", "conj", "cos", "cosh", "cumprod", "cumsum", "cumulative_logsumexp",
    "digamma", "divide", "divide_no_nan", "equal", "erf", "erfc", "exp", "expm1", "floor", "floordiv",
    "floormod", "greater", "greater_equal", "igamma", "igammac", "imag", "invert_permutation",
    "is_finite", "is_inf", "is_nan", "lbeta", "less", "less_equal", "lgamma", "log", "log1p",
    "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "maximum", "minimum", "mod",
    "multiply", "multiply_no_nan", "negative", "nextafter", "not_equal", "polygamma", "polyval", "pow",
    "real", "reciprocal", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "rint", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "squared_difference", "subtract", "tan", "tanh",
    "truediv", "xdivy", "xlogy", "zeta",
]  # fmt: skip
