"""Assertions about tensors: `tf.assert_equal`, `tf.assert_rank`, `tf.debugging.assert_shapes` and kin.

What can be known when the graph is built is checked then; the rest becomes an Assert operation, which a
program runs by a control dependency on it.

Source: tensorflow/python/ops/check_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .conditional import cond
from .convert import convert_to_tensor
from .default import colocate_with, control_dependencies, get_default_graph, name_scope
from .dtypes import DType, float16, float32, float64
from .errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from .op import group, no_op, raw_ops
from .operation import Tensor
from .ops.array_shape import tf_reshape, tf_shape, tf_size
from .ops.control_flow import tf_assert, with_dependencies
from .ops.reduction import reduce_all
from .sparse_tensor import SparseTensor
from .tensor_util import constant_value

_ELEMENT_WISE: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "assert_equal": ("==", "Equal", np.equal),
    "assert_none_equal": ("!=", "NotEqual", np.not_equal),
    "assert_less": ("<", "Less", np.less),
    "assert_less_equal": ("<=", "LessEqual", np.less_equal),
    "assert_greater": (">", "Greater", np.greater),
    "assert_greater_equal": (">=", "GreaterEqual", np.greater_equal),
}


def _element_wise(
    kind: str, x: Any, y: Any, data: Any, summarize: int | None, message: str | None, name: str | None
) -> Any:
    sign, op_name, ufunc = _ELEMENT_WISE[kind]
    with name_scope(name, kind, [x, y, data]):
        if kind == "assert_equal" and x is y:
            return no_op()
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y")
        if data is None:
            data = [
                f"Condition x {sign} y did not hold element-wise:",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        if message is not None:
            data = [message, *data]
        condition = reduce_all(getattr(raw_ops, op_name)(x, y))
        known_x, known_y = constant_value(x), constant_value(y)
        if known_x is not None and known_y is not None and not np.all(ufunc(known_x, known_y)):
            raise InvalidArgumentError("\n".join(_text(part) for part in data))
        return tf_assert(condition, data, summarize=summarize)


def _text(part: Any) -> str:
    value = constant_value(part) if isinstance(part, Tensor) else None
    return str(part if value is None else value)


def _comparison(kind: str) -> Callable[..., Any]:
    sign = _ELEMENT_WISE[kind][0]

    def check(
        x: Any,
        y: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        return _element_wise(kind, x, y, data, summarize, message, name)

    check.__name__ = check.__qualname__ = kind
    check.__doc__ = f"""An operation that fails unless `x {sign} y` for all elements.

    Args:
        x: Numeric tensor.
        y: Numeric tensor of the same dtype, of a shape that broadcasts with that of `x`.
        data: What the error shows; by default a sentence and both tensors.
        summarize: How many elements of each tensor it shows, 3 by default.
        message: What the error says first.
        name: Name scope, `{kind}` by default.

    Raises:
        InvalidArgumentError: It is known now that the condition does not hold.
    """
    return check


assert_equal = _comparison("assert_equal")
assert_none_equal = _comparison("assert_none_equal")
assert_less = _comparison("assert_less")
assert_less_equal = _comparison("assert_less_equal")
assert_greater = _comparison("assert_greater")
assert_greater_equal = _comparison("assert_greater_equal")


def _against_zero(kind: str, sign: str, compare: Callable[..., Any], zero_first: bool) -> Callable[..., Any]:
    def check(
        x: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        with name_scope(name, kind, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [
                    message or "",
                    f"Condition x {sign} 0 did not hold element-wise:",
                    f"x ({x.name}) = ",
                    x,
                ]
            zero = convert_to_tensor(0, dtype=x.dtype)
            return compare(*((zero, x) if zero_first else (x, zero)), data=data, summarize=summarize)

    check.__name__ = check.__qualname__ = kind
    check.__doc__ = f"""An operation that fails unless `x {sign} 0` for all elements.

    Args:
        x: Numeric tensor.
        data: What the error shows; by default a sentence and the tensor.
        summarize: How many elements of each tensor it shows, 3 by default.
        message: What the error says first.
        name: Name scope, `{kind}` by default.

    Raises:
        InvalidArgumentError: It is known now that the condition does not hold.
    """
    return check


assert_negative = _against_zero("assert_negative", "<", assert_less, False)
assert_positive = _against_zero("assert_positive", ">", assert_less, True)
assert_non_negative = _against_zero("assert_non_negative", ">=", assert_less_equal, True)
assert_non_positive = _against_zero("assert_non_positive", "<=", assert_less_equal, False)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """An operation that fails unless `|x - y| < atol + rtol * |y|` for all elements.

    Args:
        x: Tensor of floats.
        y: Tensor of the same dtype, of a shape that broadcasts with that of `x`.
        rtol: Relative tolerance; 10 times the dtype's machine epsilon by default.
        atol: Absolute tolerance; likewise.
        data: What the error shows; by default a sentence and both tensors.
        summarize: How many elements of each tensor it shows, 3 by default.
        message: What the error says first.
        name: Name scope.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype)
        epsilon = np.finfo(x.dtype.as_numpy_dtype).eps
        rtol, atol = (
            convert_to_tensor(10 * epsilon if value is None else value, name=label, dtype=x.dtype)
            for value, label in ((rtol, "rtol"), (atol, "atol"))
        )
        if data is None:
            data = [
                message or "",
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        condition = reduce_all(raw_ops.Less(raw_ops.Abs(x - y), atol + rtol * raw_ops.Abs(y)))
        return tf_assert(condition, data, summarize=summarize)


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Any:
    """Checks that `x` is of an integer dtype (the quantized ones count); gives an operation without effect.

    Raises:
        TypeError: It is not.
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise InvalidTypeError(
                f'{message or ""}  Expected "x" to be integer type.  Found: {x.name} of dtype {x.dtype}'
            )
        return no_op("statically_determined_was_integer")


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Checks that `tensor` has the dtype `tf_type`; gives an operation without effect.

    Raises:
        TypeError: It has not.
    """
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise InvalidTypeError(f"{message or ''}  {tensor.name} must be of type {tf_type}")
        return no_op("statically_determined_correct_type")


def assert_proper_iterable(values: Any) -> None:
    """Checks that `values` is an iterable of tensors, and not itself a tensor, array or text.

    Raises:
        TypeError: It is not.
    """
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)):
        raise InvalidTypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise InvalidTypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Sequence[Any] | None = None, dtype: DType | None = None) -> DType:
    """The one floating point dtype of `tensors` (None among them is ignored) and of `dtype`.

    Returns:
        The dtype; float32 when there is neither.

    Raises:
        ValueError: Dtypes differ, or it is not a floating point one.
    """
    first = None
    for item in tensors or ():
        if item is None:
            continue
        item_name = getattr(item, "name", None) or str(item)
        if not dtype:
            dtype, first = item.dtype.base_dtype, item_name
        elif dtype != item.dtype.base_dtype:
            raise InvalidValueError(
                f"{item_name}, type={item.dtype.base_dtype}, must be of the same type ({dtype})"
                f"{f' as {first}' if first else ''}."
            )
    if not dtype:
        return float32
    if not dtype.is_floating:
        raise InvalidValueError(f"Expected floating point type, got {dtype}.")
    return dtype


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers: not of bool, string, resource or variant."""
    return isinstance(tensor, Tensor) and (
        tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex
    )


def _differences(x: Any) -> Any:
    """x[1:] - x[:-1] of the elements in row-major order."""
    x = tf_reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise InvalidTypeError(f"Expected x to be numeric, instead found: {x}")

    def differences() -> Any:
        count = tf_shape(x) - 1
        return raw_ops.StridedSlice(x, [1], 1 + count, [1]) - raw_ops.StridedSlice(x, [0], count, [1])

    return cond(raw_ops.Less(tf_size(x), 2), lambda: convert_to_tensor([], dtype=x.dtype), differences)


def is_non_decreasing(x: Any, name: str | None = None) -> Any:
    """Whether each element of `x`, in row-major order, is at least the one before; a bool scalar.

    Raises:
        TypeError: `x` is not numeric.
    """
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _differences(convert_to_tensor(x))
        return reduce_all(raw_ops.LessEqual(convert_to_tensor(0, dtype=steps.dtype), steps))


def is_strictly_increasing(x: Any, name: str | None = None) -> Any:
    """Whether each element of `x`, in row-major order, is greater than the one before; a bool scalar.

    Raises:
        TypeError: `x` is not numeric.
    """
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _differences(convert_to_tensor(x))
        return reduce_all(raw_ops.Less(convert_to_tensor(0, dtype=steps.dtype), steps))


def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None, message: str | None = None
) -> Any:
    """`t`, with a run-time check that no element is NaN or infinite.

    Args:
        t: Tensor of floats.
        msg: What the error says first.
        name: Name scope.
        x: Another name of `t`.
        message: Another name of `msg`.

    Raises:
        ValueError: Both names of an argument are given.
    """
    for old, new, names in ((t, x, "'t' and 'x'"), (msg, message, "'msg' and 'message'")):
        if old is not None and new is not None:
            raise InvalidValueError(f"Cannot specify both {names}")
    value = t if x is None else x
    with name_scope(name, "VerifyFinite", [value]) as scope:
        tensor = convert_to_tensor(value, name="x")
        with colocate_with(tensor):
            check = raw_ops.CheckNumerics(tensor, message=msg if message is None else message)
            return with_dependencies([check], tensor, name=scope)


def add_check_numerics_ops() -> Any:
    """An operation that fails when a float tensor of the default graph, as it is now, is NaN or infinite.

    The checks run in the order in which the operations were made, so that the first to fail names the origin.

    Raises:
        ValueError: The graph has conds or loops.
    """
    last: list[Any] = []
    for operation in get_default_graph().get_operations():
        for index, output in enumerate(operation.outputs):
            if output.dtype not in (float16, float32, float64):
                continue
            if operation._control_flow_context is not None:
                raise InvalidValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow operations "
                    "such as `tf.cond()` or `tf.while_loop()`."
                )
            with control_dependencies(last):
                last = [raw_ops.CheckNumerics(output, message=f"{operation.name}:{index}")]
    return group(*last)
