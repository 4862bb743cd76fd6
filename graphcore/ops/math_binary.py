"""Element-wise functions of two arguments, with broadcasting, and the tensor operators."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import (
    FLOATING,
    INDEX,
    INTEGER,
    NUMBER,
    REAL,
    SIGNED,
    DType,
    as_dtype,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint32,
    quint8,
    string,
    uint8,
    uint16,
)
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError, UnimplementedError
from ..kernels.arrays import shape_text
from ..op import GraphOp, op, raw_ops
from ..operation import Tensor
from ..shapes import format_shape, is_fully_defined
from ..tensor_shape import TensorShape
from . import rules

Kernel = Callable[..., Any]

_PLAIN = (*SIGNED, int8, int16, uint8)
_EQUALITY = (*SIGNED, bool_, int8, int16, uint8, qint8, quint8, qint32, string)
_MODULO = (*FLOATING, int32, int64)
_NO_NAN = (float16, float32, float64, complex64, complex128)
_NO_BOOL = "booleans have no derivative"


def binary(
    name: str, text: str, kernel: Kernel, types: Any, grad: Any, result: str = "T", **flags: Any
) -> GraphOp:
    """Declares an element-wise op of two arguments.

    Args:
        name: The op type.
        text: What it computes.
        kernel: A ufunc, or a function with `out=`.
        types: The dtypes it takes.
        grad: From (operation, output gradient) to the pair of unsummed gradients, or text: why there
            is none. Summing over broadcast axes is done here.
        result: The result's type in the declaration.
        **flags: Further options of the declaration.
    """
    reason = grad if isinstance(grad, str) else None
    options = {"T": types} if types else {}
    kind = "T" if types else "bool"
    declared = op(
        name,
        f"x: {kind}, y: {kind} -> z: {result}",
        elementwise=result == "T",
        no_grad=reason,
        text=text,
        **options,
        **flags,
    )(kernel)
    declared.shape(rules.broadcast_inputs)
    if callable(grad):
        declared.grad(lambda node, dz: rules.unbroadcast(*node.inputs, *grad(node, dz)))
    return declared


def _xy(node: Any) -> tuple[Any, Any]:
    x, y = node.inputs
    return rules.conjugate(x), rules.conjugate(y)


def _zeros(tensor: Any) -> Any:
    return raw_ops.ZerosLike(tensor)


def _is_int(array: Any) -> bool:
    return bool(array.dtype.kind in "iu")


def _check_divisor(x: Any, y: Any) -> None:
    # What is not computed does not fail: an empty x may be divided by 0.
    if np.size(x) and not np.all(y):
        raise InvalidArgumentError("Integer division by zero")


def _check_real(x: Any, name: str) -> None:
    if x.dtype.kind == "c":  # declared, but TensorFlow has no kernel either
        raise UnimplementedError(f"{name} has no kernel for complex numbers, which have no order")


def _add(x: Any, y: Any, out: Any = None) -> Any:
    if x.dtype == object:
        return _join(x, y)
    return np.add(x, y, out=out)


_join = np.frompyfunc(lambda x, y: x + y, 2, 1)


def _divide(x: Any, y: Any, out: Any = None) -> Any:
    return _truncate_div(x, y) if _is_int(x) else np.divide(x, y, out=out)


def _truncate_div(x: Any, y: Any, out: Any = None) -> Any:
    """C's integer division: towards zero."""
    if not _is_int(x):
        _check_real(x, "TruncateDiv")
        return np.trunc(np.divide(x, y, out=out)).astype(x.dtype)
    _check_divisor(x, y)
    quotient = np.floor_divide(x, y)
    inexact = (np.multiply(quotient, y) != x) & ((x < 0) != (y < 0))
    return (quotient + inexact).astype(x.dtype)


def _floor_div(x: Any, y: Any, out: Any = None) -> Any:
    if _is_int(x):
        _check_divisor(x, y)
        return np.floor_divide(x, y, out=out)
    _check_real(x, "FloorDiv")
    return np.floor(np.divide(x, y, out=out), out=out)


def _floor_mod(x: Any, y: Any, out: Any = None) -> Any:
    if _is_int(x):
        _check_divisor(x, y)
        return np.remainder(x, y, out=out)
    remainder = np.fmod(x, y)
    return np.where((remainder != 0) & ((remainder < 0) != (y < 0)), remainder + y, remainder).astype(x.dtype)


def _truncate_mod(x: Any, y: Any, out: Any = None) -> Any:
    if _is_int(x):
        _check_divisor(x, y)
    return np.fmod(x, y, out=out)


def _pow(x: Any, y: Any, out: Any = None) -> Any:
    if x.dtype.kind == "i":
        if np.any(np.less(y, 0)):
            raise InvalidArgumentError("Integers to negative integer powers are not allowed")
        return np.power(x, y, out=out)
    if x.dtype.kind != "c":
        return np.power(x, y, out=out)
    zeros = np.equal(x, 0) & np.equal(y, 0)
    result = np.power(x, y, out=out)
    # exp(0 * log(0)), as C computes it; NumPy has 1.
    return np.where(zeros, result.dtype.type(complex(np.nan, np.nan)), result) if zeros.any() else result


def _squared_difference(x: Any, y: Any, out: Any = None) -> Any:
    difference = np.subtract(x, y, out=out)
    return (
        np.multiply(np.conj(difference), difference, out=out)
        if difference.dtype.kind == "c"
        else np.square(difference, out=out)
    )


def _maximum(x: Any, y: Any, out: Any = None) -> Any:
    return np.maximum(x, y, out=out)


def _minimum(x: Any, y: Any, out: Any = None) -> Any:
    return np.minimum(x, y, out=out)


def _masked(function: Kernel, zero_where: Callable[[Any, Any], Any]) -> Kernel:
    """`function`, but exactly 0 where `zero_where` holds, whatever the other operand is."""

    def kernel(x: Any, y: Any, out: Any = None) -> Any:
        return np.where(zero_where(x, y), x.dtype.type(0), function(x, y))

    return kernel


def _add_grad(node: Any, dz: Any) -> Any:
    return dz, dz


def _mul_grad(node: Any, dz: Any) -> Any:
    x, y = _xy(node)
    if x.static_shape == y.static_shape and is_fully_defined(x.static_shape):
        return raw_ops.Mul(dz, y), raw_ops.Mul(dz, x)
    return raw_ops.Mul(dz, y), raw_ops.Mul(x, dz)


def _div_grad(divide: str) -> Callable[..., Any]:
    def grad(node: Any, dz: Any) -> Any:
        x, y = _xy(node)
        div = getattr(raw_ops, divide)
        return div(dz, y), dz * div(div(-x, y), y)

    return grad


def _pow_grad(node: Any, dz: Any) -> Any:
    x, y = _xy(node)
    z = rules.conjugate(node.outputs[0])
    one = convert_to_tensor(1, x.dtype.base_dtype)
    grad_x = dz * y * raw_ops.Pow(x, y - one)
    # log(x) only where it exists: at 0 and below, TensorFlow gives 0
    positive = (
        raw_ops.NotEqual(x, _zeros(x)) if x.dtype.base_dtype.is_complex else raw_ops.Greater(x, _zeros(x))
    )
    ones = raw_ops.Fill(raw_ops.Shape(x), convert_to_tensor(1, x.dtype.base_dtype))
    log_x = raw_ops.Select(positive, raw_ops.Log(raw_ops.Select(positive, x, ones)), _zeros(x))
    return grad_x, dz * z * log_x


def _selecting_grad(compare: str) -> Callable[..., Any]:
    """The gradient of maximum and minimum goes to the operand that was chosen, x where equal."""

    def grad(node: Any, dz: Any) -> Any:
        x, y = node.inputs
        zeros = _zeros(dz)
        chosen = getattr(raw_ops, compare)(x, y)
        return raw_ops.Select(chosen, dz, zeros), raw_ops.Select(chosen, zeros, dz)

    return grad


def _squared_difference_grad(node: Any, dz: Any) -> Any:
    x, y = node.inputs
    grad = convert_to_tensor(2, dz.dtype.base_dtype) * dz * (x - y)
    return grad, -grad


def _floor_mod_grad(node: Any, dz: Any) -> Any:
    x, y = _xy(node)
    return dz, dz * raw_ops.Neg(raw_ops.FloorDiv(x, y))


def _xlogy_grad(node: Any, dz: Any) -> Any:
    x, y = node.inputs
    not_zero = raw_ops.Cast(raw_ops.NotEqual(x, _zeros(x)), DstT=x.dtype)
    return dz * raw_ops.Xlogy(not_zero, y), dz * raw_ops.Xdivy(x, y)


def _xdivy_grad(node: Any, dz: Any) -> Any:
    x, y = node.inputs
    not_zero = raw_ops.Cast(raw_ops.NotEqual(x, _zeros(x)), DstT=x.dtype)
    return dz * raw_ops.Xdivy(not_zero, y), dz * raw_ops.Xdivy(-x, raw_ops.Square(y))


add = binary("Add", "x + y; strings are joined.", _add, (*_PLAIN, string), _add_grad)
add_v2 = binary("AddV2", "x + y.", np.add, _PLAIN, _add_grad, commutative=True, aggregate=True)
sub = binary("Sub", "x - y.", np.subtract, (*_PLAIN, uint16), lambda node, dz: (dz, -dz))
mul = binary("Mul", "x * y.", np.multiply, (*_PLAIN, uint16), _mul_grad, commutative=True)
div = binary("Div", "x / y; of integers rounded towards 0.", _divide, (*_PLAIN, uint16), _div_grad("Div"))
real_div = binary(
    "RealDiv", "x / y; of integers rounded towards 0.", _divide, (*_PLAIN, uint16), _div_grad("RealDiv")
)
truncate_div = binary(
    "TruncateDiv", "x / y rounded towards 0.", _truncate_div, (*_PLAIN, uint16), lambda node, dz: (None, None)
)
floor_div = binary(
    "FloorDiv", "x / y rounded down.", _floor_div, (*_PLAIN, uint16), lambda node, dz: (None, None)
)
floor_mod = binary(
    "FloorMod", "What FloorDiv leaves over; it has the sign of y.", _floor_mod, _MODULO, _floor_mod_grad
)
truncate_mod = binary(
    "TruncateMod",
    "What TruncateDiv leaves over; it has the sign of x.",
    _truncate_mod,
    _MODULO,
    None,
    undefined_grad="TensorFlow has none",
)
mod = binary(
    "Mod",
    "What TruncateDiv leaves over; it has the sign of x.",
    _truncate_mod,
    _MODULO,
    None,
    undefined_grad="TensorFlow has none",
)
pow_ = binary("Pow", "x to the power y.", _pow, SIGNED, _pow_grad)
maximum = binary(
    "Maximum", "The larger of x and y.", _maximum, (*FLOATING, int32, int64), _selecting_grad("GreaterEqual")
)
minimum = binary(
    "Minimum", "The smaller of x and y.", _minimum, (*FLOATING, int32, int64), _selecting_grad("LessEqual")
)
squared_difference = binary(
    "SquaredDifference",
    "(x - y)^2, or |x - y|^2 of complex numbers.",
    _squared_difference,
    SIGNED,
    _squared_difference_grad,
    commutative=True,
)
mul_no_nan = binary(
    "MulNoNan",
    "x * y, and 0 where y is 0, whatever x is.",
    _masked(np.multiply, lambda x, y: np.equal(y, 0)),
    _NO_NAN,
    lambda node, dz: _mul_no_nan_grad(node, dz),
)
div_no_nan = binary(
    "DivNoNan",
    "x / y, and 0 where y is 0.",
    _masked(np.divide, lambda x, y: np.equal(y, 0)),
    _NO_NAN,
    _div_grad("DivNoNan"),
)
xlogy = binary(
    "Xlogy",
    "x * log(y), and 0 where x is 0.",
    _masked(lambda x, y: x * np.log(y), lambda x, y: np.equal(x, 0)),
    _NO_NAN,
    _xlogy_grad,
)
xdivy = binary(
    "Xdivy",
    "x / y, and 0 where x is 0.",
    _masked(np.divide, lambda x, y: np.equal(x, 0)),
    _NO_NAN,
    _xdivy_grad,
)


def _mul_no_nan_grad(node: Any, dz: Any) -> Any:
    x, y = node.inputs
    return raw_ops.MulNoNan(dz, y), raw_ops.MulNoNan(x, dz)


def _atan2_grad(node: Any, dz: Any) -> Any:
    y, x = node.inputs
    inverse = dz / (raw_ops.Square(x) + raw_ops.Square(y))
    return rules.unbroadcast(y, x, x * inverse, -y * inverse)


atan2 = op(
    "Atan2",
    "y: T, x: T -> z: T",
    T=FLOATING,
    elementwise=True,
    text="The angle in radians of the point (x, y), in all four quadrants.",
)(np.arctan2)
atan2.shape(rules.broadcast_inputs)
atan2.grad(_atan2_grad)


@op("NextAfter", "x1: T, x2: T -> output: T", T=((float64, float32), float32))
def next_after(x1: Any, x2: Any) -> Any:
    """The floating number next to x1 in the direction of x2."""
    return np.nextafter(x1, x2)


next_after.shape(rules.broadcast_inputs)


@next_after.grad
def _(node: Any, dz: Any) -> Any:
    """That of x1, and zeros."""
    x1, x2 = node.inputs
    return rules.unbroadcast(x1, x2, dz, dz * _zeros(x2))


less = binary("Less", "Whether x < y.", np.less, REAL, _NO_BOOL, "bool")
less_equal = binary("LessEqual", "Whether x <= y.", np.less_equal, REAL, _NO_BOOL, "bool")
greater = binary("Greater", "Whether x > y.", np.greater, REAL, _NO_BOOL, "bool")
greater_equal = binary("GreaterEqual", "Whether x >= y.", np.greater_equal, REAL, _NO_BOOL, "bool")


def _compare(ufunc: Kernel) -> Kernel:
    def kernel(x: Any, y: Any) -> Any:
        result = ufunc(x, y)
        is_object = getattr(result, "dtype", np.dtype(bool)).kind == "O"
        return result.astype(np.bool_) if is_object else np.asarray(result)

    return kernel


equal = binary(
    "Equal", "Whether x and y are equal.", _compare(np.equal), _EQUALITY, _NO_BOOL, "bool", commutative=True
)
not_equal = binary(
    "NotEqual",
    "Whether x and y differ.",
    _compare(np.not_equal),
    _EQUALITY,
    _NO_BOOL,
    "bool",
    commutative=True,
)
logical_and = binary(
    "LogicalAnd", "Whether x and y are true.", np.logical_and, (), _NO_BOOL, "bool", commutative=True
)
logical_or = binary(
    "LogicalOr", "Whether x or y is true.", np.logical_or, (), _NO_BOOL, "bool", commutative=True
)
bitwise_and = binary(
    "BitwiseAnd",
    "The bits that x and y both have.",
    np.bitwise_and,
    INTEGER,
    "integers have no derivative",
    commutative=True,
)
bitwise_or = binary(
    "BitwiseOr",
    "The bits that x or y has.",
    np.bitwise_or,
    INTEGER,
    "integers have no derivative",
    commutative=True,
)
bitwise_xor = binary(
    "BitwiseXor",
    "The bits that one of x and y has.",
    np.bitwise_xor,
    INTEGER,
    "integers have no derivative",
    commutative=True,
)


@op(
    "ApproximateEqual",
    "x: T, y: T -> z: bool",
    "tolerance: float = 9.999999747378752e-06",
    T=NUMBER,
    commutative=True,
    no_grad=_NO_BOOL,
)
def approximate_equal(x: Any, y: Any, *, tolerance: float) -> Any:
    """Whether |x - y| < tolerance."""
    return np.abs(np.subtract(x, y)) < tolerance


approximate_equal.shape(rules.merge_inputs)


@op(
    "Complex",
    "real: T, imag: T -> out: Tout",
    T=((float32, float64), float32),
    Tout=((complex64, complex128), complex64),
)
def complex_(real: Any, imag: Any, *, Tout: Any) -> Any:
    """Complex numbers of real and imaginary parts."""
    # Not real + 1j * imag, in which an infinite imaginary part times 0 makes the real one NaN.
    result = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), Tout)
    result.real, result.imag = real, imag
    return result


complex_.shape(rules.broadcast_inputs)
complex_.grad(
    lambda node, dz: rules.unbroadcast(
        node.inputs[0],
        node.inputs[1],
        raw_ops.Real(dz, Tout=node.inputs[0].dtype),
        raw_ops.Imag(dz, Tout=node.inputs[0].dtype),
    )
)


@op(
    "AddN",
    "inputs: N * T -> sum: T",
    T=(*NUMBER, as_dtype("variant")),
    commutative=True,
    aggregate=True,
    effects=False,
)
def add_n(inputs: list[Any]) -> Any:
    """The sum of any number of tensors of one shape."""
    first = inputs[0]
    for number, other in enumerate(inputs[1:], 1):
        if other.shape != first.shape:
            raise InvalidArgumentError(
                "Inputs to operation must have the same size and shape.  Input 0: "
                f"{format_shape(first.shape)} != input {number}: {format_shape(other.shape)}"
            )
    if len(inputs) == 1:
        return first
    if not isinstance(first, np.ndarray | np.generic):  # lists of tensors, which add up themselves
        return functools.reduce(operator.add, inputs)
    total = np.add(first, inputs[1])
    for other in inputs[2:]:
        total = np.add(total, other, out=total if total.ndim else None)
    return total


add_n.shape(rules.merge_inputs)
add_n.grad(lambda node, dy: [dy] * len(node.inputs))


@op("AccumulateNV2", "inputs: N * T -> sum: T", "shape: shape", T=NUMBER, commutative=True, aggregate=True)
def accumulate_nv2(inputs: list[Any]) -> Any:
    """The sum of any number of tensors of one shape, which is declared."""
    if any(other.shape != inputs[0].shape for other in inputs):
        shapes = ", ".join(format_shape(item.shape) for item in inputs)
        raise InvalidArgumentError(f"Parameters and update must be the same size, but are {shapes}")
    return add_n.kernel(inputs)


accumulate_nv2.shape(lambda node: node.attr("shape"))
accumulate_nv2.grad(lambda node, dy: [dy] * len(node.inputs))


@op("ClipByValue", "t: T, clip_value_min: T, clip_value_max: T -> output: T", T=NUMBER)
def clip_by_value_op(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Each element moved into the interval."""
    for bound in (clip_value_min, clip_value_max):
        if np.shape(bound) not in ((), t.shape):
            raise InvalidArgumentError(
                "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. "
                f"input shape: {shape_text(t.shape)}clip_value_min shape: "
                f"{shape_text(np.shape(clip_value_min))}clip_value_max shape: "
                f"{shape_text(np.shape(clip_value_max))}"
            )
    # comparisons, not np.maximum, which would let a bound that is NaN through
    upper = np.where(np.less(clip_value_max, t), clip_value_max, t)
    return np.where(np.less(upper, clip_value_min), clip_value_min, upper).astype(t.dtype)


clip_by_value_op.shape(rules.unchanged)


@clip_by_value_op.grad
def _(node: Any, dy: Any) -> Any:
    """To the operand that was chosen."""
    x, low, high = node.inputs
    zeros = _zeros(dy)
    below, above = raw_ops.Less(x, low), raw_ops.Greater(x, high)
    outside = raw_ops.LogicalOr(below, above)
    by_low = rules.unbroadcast(x, low, None, raw_ops.Select(below, dy, zeros))[1]
    by_high = rules.unbroadcast(x, high, None, raw_ops.Select(above, dy, zeros))[1]
    return raw_ops.Select(outside, zeros, dy), by_low, by_high


@op(
    "BroadcastGradientArgs",
    "s0: T, s1: T -> r0: T, r1: T",
    T=(INDEX, int32),
    no_grad="its results are shapes",
)
def broadcast_gradient_args(s0: Any, s1: Any) -> tuple[Any, Any]:
    """The axes over which each operand's gradient is summed after broadcasting shapes s0 and s1."""
    rank = max(len(s0), len(s1))
    a = [1] * (rank - len(s0)) + s0.tolist()
    b = [1] * (rank - len(s1)) + s1.tolist()
    r0, r1 = [], []
    for axis, (x, y) in enumerate(zip(a, b)):
        if x != y and 1 not in (x, y):
            raise InvalidArgumentError(
                f"Incompatible shapes: {format_shape(s0.tolist())} vs. {format_shape(s1.tolist())}"
            )
        if x == y == 1:
            r0.append(axis)
            r1.append(axis)
        elif x == 1:
            r0.append(axis)
        elif y == 1:
            r1.append(axis)
    if a == b:  # equal shapes: nothing to sum, as TensorFlow gives it
        r0, r1 = [], []
    return np.array(r0, s0.dtype), np.array(r1, s0.dtype)


broadcast_gradient_args.shape(lambda node: [(None,), (None,)])


# TensorFlow's Python functions and the operators of tensors


def tf_add(x: Any, y: Any, name: str | None = None) -> Any:
    """`tf.add`: x + y, element-wise with broadcasting (the op `Add`)."""
    return add(x, y, name=name)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Any:
    """`tf.accumulate_n`: the sum of tensors of one shape.

    Args:
        inputs: A list of tensors.
        shape: Their shape, where no tensor tells it.
        tensor_dtype: Their dtype, to be checked.
        name: Name of the operation.

    Raises:
        ValueError: There are none, or they differ in shape or dtype.
        TypeError: `tensor_dtype` is another one.
    """
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise InvalidValueError("inputs must be a list of at least one Tensor/IndexedSlices")
    tensors = [convert_to_tensor(item) for item in inputs]
    if any(tensor.dtype != tensors[0].dtype for tensor in tensors):
        raise InvalidValueError("inputs must be a list of at least one Tensor with the same dtype and shape")
    merged = TensorShape(shape)
    for tensor in tensors:
        merged = merged.merge_with(tensor.get_shape())
    if tensor_dtype is not None and tensors[0].dtype != as_dtype(tensor_dtype):
        raise InvalidTypeError(
            f"tensor_dtype is {as_dtype(tensor_dtype)!r}, but input is of type {tensors[0].dtype!r}"
        )
    if len(tensors) == 1:
        return tensors[0] if name is None else raw_ops.Identity(tensors[0], name=name)
    return accumulate_nv2(tensors, shape=merged, name=name)


def truediv_types(dtype: DType) -> DType | None:
    """What integers are cast to before a true division."""
    if not dtype.is_integer:
        return None
    return float32 if dtype.size <= 2 else float64


def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """`tf.truediv`: Python 3's division; integers are divided as floats."""
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        wider = truediv_types(x.dtype.base_dtype)
        if wider is not None:
            x, y = raw_ops.Cast(x, DstT=wider), raw_ops.Cast(y, DstT=wider)
        return real_div(x, y, name=scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Any:
    """`tf.floordiv`: division rounded down."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return floor_div(x, y, name=scope)


def tf_div(x: Any, y: Any, name: str | None = None) -> Any:
    """`tf.div`: Python 2's division: floats truly, integers rounded down."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        return (real_div if x.dtype.is_floating or x.dtype.is_complex else floor_div)(x, y, name=scope)


def logical_xor(x: Any, y: Any, name: str = "LogicalXor") -> Any:
    """`tf.logical_xor`, made of And, Or and Not as in TensorFlow."""
    return raw_ops.LogicalAnd(
        raw_ops.LogicalOr(x, y), raw_ops.LogicalNot(raw_ops.LogicalAnd(x, y)), name=name
    )


def _mul_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    return mul(x, y, name=name)


def _operator(function: Callable[..., Any], word: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The operator and its reflected twin; the other operand is converted to the tensor's dtype."""

    def forward(x: Any, y: Any) -> Any:
        with name_scope(None, word, [x, y]) as scope:
            try:
                other = convert_to_tensor(y, x.dtype.base_dtype, name="y")
            except InvalidTypeError:
                if hasattr(type(y), f"__r{word}__") and not isinstance(y, Tensor):
                    return NotImplemented
                raise
            except ValueError:
                other = convert_to_tensor(y, name="y")  # a tensor of another dtype: let the op say so
            return function(x, other, name=scope)

    def backward(y: Any, x: Any) -> Any:
        with name_scope(None, word, [x, y]) as scope:
            other = convert_to_tensor(x, y.dtype.base_dtype, name="x")
            return function(other, y, name=scope)

    return forward, backward


def _add_dispatch(x: Any, y: Any, name: str | None = None) -> Any:
    return (add if x.dtype.base_dtype == string else add_v2)(x, y, name=name)


def _logical_or_bitwise(logical: Callable[..., Any], bitwise: Callable[..., Any]) -> Callable[..., Any]:
    def dispatch(x: Any, y: Any, name: str | None = None) -> Any:
        return (bitwise if x.dtype.base_dtype.is_integer else logical)(x, y, name=name)

    return dispatch


_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": _add_dispatch,
    "sub": sub,
    "mul": _mul_dispatch,
    "div": tf_div,
    "truediv": truediv,
    "floordiv": floor_div,
    "mod": floor_mod,
    "pow": pow_,
    "and": _logical_or_bitwise(logical_and, bitwise_and),
    "or": _logical_or_bitwise(logical_or, bitwise_or),
    "xor": _logical_or_bitwise(logical_xor, bitwise_xor),
}
for _word, _function in _OPERATORS.items():
    _forward, _backward = _operator(_function, _word)
    Tensor._override_operator(f"__{_word}__", _forward)
    Tensor._override_operator(f"__r{_word}__", _backward)
for _word, _function in {"lt": less, "le": less_equal, "gt": greater, "ge": greater_equal}.items():
    Tensor._override_operator(f"__{_word}__", lambda x, y, compare=_function: compare(x, y))
