"""`tf.math`: element-wise mathematics and reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.linalg import matmul
from .ops.math_binary import (
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

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "abs", "acos", "acosh", "add", "add_n", "angle", "argmax", "argmin", "asin", "asinh", "atan", "atan2",
    "atanh", "ceil", "conj", "cos", "cosh", "cumprod", "cumsum", "divide", "divide_no_nan", "equal",
    "exp", "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal", "imag", "is_finite",
    "is_inf", "is_nan", "less", "less_equal", "log", "log1p", "logical_and", "logical_not", "logical_or",
    "logical_xor", "matmul", "maximum", "minimum", "mod", "multiply", "multiply_no_nan", "negative",
    "not_equal", "pow", "real", "reciprocal", "reduce_all", "reduce_any", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "rint", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "squared_difference", "subtract", "tan", "tanh",
    "truediv", "xdivy", "xlogy",
]  # fmt: skip
