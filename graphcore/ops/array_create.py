"""Tensors out of nothing, or with other contents than their input: constants, placeholders, fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import constant, convert_to_tensor
from ..default import name_scope
from ..dtypes import (
    ANY,
    INDEX,
    DType,
    as_dtype,
    bfloat16,
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
    uint8,
    uint16,
)
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..op import op, raw_ops
from ..operation import Tensor
from ..shapes import Shape, format_shape, merge, with_rank
from ..tensor_lists import TensorList
from ..tensor_shape import TensorShape
from . import rules


@op("Const", "-> output: dtype", "value: tensor", dtype=ANY, no_grad="a constant depends on nothing")
def const(*, value: Any) -> Any:
    """The value of the attribute."""
    return value


host_const = op(
    "HostConst", "-> output: dtype", "value: tensor", dtype=ANY, no_grad="a constant depends on nothing"
)(const.kernel)


@const.shape
@host_const.shape
def _(node: Any) -> Shape:
    value = node.node.attr("value")
    if hasattr(value, "tensor_shape"):
        return TensorShape(value.tensor_shape).as_tuple()
    shape: tuple[int, ...] = value.shape
    return shape


def _placeholder(*, node: Any) -> Any:
    """A value that has to be fed."""
    raise InvalidArgumentError(
        f"You must feed a value for placeholder tensor '{node.name}' with dtype {node.attr('dtype').name}"
    )


_OLD_PLACEHOLDER_PRODUCER = 24


def _placeholder_shape(node: Any) -> Shape:
    shape: Shape = node.attr("shape")
    # Before that version, writers said "unknown" by rank 0.
    if (
        shape == ()
        and node.node.type == "Placeholder"
        and node.node.graph.versions.producer < _OLD_PLACEHOLDER_PRODUCER
    ):
        return None
    return shape


placeholder_op = op(
    "Placeholder",
    "-> output: dtype",
    "shape: shape = unknown",
    dtype=ANY,
    no_grad="it has no inputs",
    effects=True,
)(_placeholder)
placeholder_op.shape(_placeholder_shape)
placeholder_v2 = op(
    "PlaceholderV2", "-> output: dtype", "shape: shape", dtype=ANY, no_grad="it has no inputs", effects=True
)(_placeholder)
placeholder_v2.shape(_placeholder_shape)


@op("PlaceholderWithDefault", "input: dtype -> output: dtype", "shape: shape", dtype=ANY)
def placeholder_with_default_op(input: Any) -> Any:
    """The input, unless the output is fed."""
    return input


@placeholder_with_default_op.shape
def _(node: Any) -> Any:
    # What is fed may be of any such shape; the default must be one, too.
    wanted = node.attr("shape")
    merge(node.shape(0), wanted)
    return wanted


placeholder_with_default_op.grad(lambda node, dy: dy)


@op("Fill", "dims: index_type, value: T -> output: T", T=ANY, index_type=(INDEX, int32))
def fill(dims: Any, value: Any) -> Any:
    """A tensor of shape `dims` full of a scalar."""
    if np.ndim(value):
        raise InvalidArgumentError(f"value must be a scalar, got shape {format_shape(np.shape(value))}")
    _check_dims(dims)
    return np.full(dims.tolist(), value, getattr(value, "dtype", object))


def _check_dims(dims: Any) -> None:
    if np.ndim(dims) != 1:
        raise InvalidArgumentError(f"dims must be a vector, got shape {format_shape(np.shape(dims))}")
    if np.any(np.less(dims, 0)):
        raise InvalidArgumentError(f"Dimensions {dims.tolist()} must be >= 0")


@fill.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 1)
    with_rank(node.shape(1), 0)
    dims = node.value(0)
    if dims is not None and np.any(np.less(dims, 0)):
        raise InvalidValueError(f"Fill dimensions must be >= 0, got {np.asarray(dims).tolist()}")
    shape: Shape = node.value_as_shape(0)
    return shape


fill.grad(lambda node, dy: [None, raw_ops.Sum(dy, raw_ops.Range(0, raw_ops.Rank(dy), 1))])

_DEFINITE = (
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    int64,
    complex64,
    complex128,
    bool_,
)


@op("ZerosLike", "x: T -> y: T", T=ANY, effects=False)
def zeros_like_op(x: Any) -> Any:
    """Zeros (empty strings, lists of zeros) of the input's shape and dtype."""
    if isinstance(x, TensorList):
        return x.zeros_like()
    return np.full(x.shape, b"", object) if x.dtype == object else np.zeros(x.shape, x.dtype)


@op("OnesLike", "x: T -> y: T", T=_DEFINITE)
def ones_like_op(x: Any) -> Any:
    """Ones of the input's shape and dtype."""
    return np.ones(x.shape, x.dtype)


for _like in (zeros_like_op, ones_like_op):
    _like.shape(rules.unchanged)
    _like.grad(lambda node, dy: None)


@op(
    "Range",
    "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx",
    Tidx=((bfloat16, float32, float64, int32, int64), int32),
    no_grad="TensorFlow declares none",
)
def range_op(start: Any, limit: Any, delta: Any) -> Any:
    """start, start + delta, ... up to but without limit."""
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if np.ndim(value):
            raise InvalidArgumentError(f"{name} must be a scalar, not shape {format_shape(np.shape(value))}")
    if delta == 0:
        raise InvalidArgumentError("Requires delta != 0: 0")
    if delta > 0 and not start <= limit:
        raise InvalidArgumentError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if not delta > 0 and not start >= limit:
        raise InvalidArgumentError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    size = _range_size(start, limit, delta)
    dtype = start.dtype
    if dtype.kind in "iu":
        return np.arange(int(start), int(start) + size * int(delta), int(delta), dtype=dtype)[:size]
    # Adding up as the kernel does, in the dtype itself
    values = np.full(size, delta, dtype)
    if size:
        values[0] = start
    return np.add.accumulate(values, dtype=dtype)


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    if np.asarray(start).dtype.kind in "iu":
        first, last, step = int(start), int(limit), int(delta)
        return max(0, -(-(last - first) // step) if step > 0 else -((first - last) // step))
    size = np.ceil(abs((float(limit) - float(start)) / float(delta)))
    largest = np.iinfo(np.int64).max
    if not size <= largest:
        raise InvalidArgumentError(f"Requires ((limit - start) / delta) <= {largest}")
    return int(size)


@range_op.shape
def _(node: Any) -> Shape:
    values = [node.value(index) for index in range(3)]
    if any(value is None or np.ndim(value) for value in values):
        return (None,)
    start, limit, delta = values
    if delta == 0:
        raise InvalidValueError("Requires delta != 0")
    if (delta > 0 and start > limit) or (delta < 0 and start < limit):
        sign = "start <= limit when delta > 0" if delta > 0 else "start >= limit when delta < 0"
        raise InvalidValueError(f"Requires {sign}: {start}/{limit}")
    return (_range_size(start, limit, delta),)


@op(
    "LinSpace",
    "start: T, stop: T, num: Tidx -> output: T",
    T=(bfloat16, float32, float64),
    Tidx=(INDEX, int32),
    no_grad="TensorFlow declares none",
)
def lin_space(start: Any, stop: Any, num: Any) -> Any:
    """`num` values from start to stop, both included."""
    count = int(num)
    if count <= 0:
        raise InvalidArgumentError(f"Requires num > 0: {count}")
    if count == 1:
        return np.array([start], start.dtype)
    step = (stop - start) / start.dtype.type(count - 1)
    values = (start + step * np.arange(count, dtype=np.float64)).astype(start.dtype)
    values[-1] = stop  # exactly, whatever rounding makes of the sum
    return values


@lin_space.shape
def _(node: Any) -> Shape:
    for index in range(3):
        with_rank(node.shape(index), 0)
    num = node.value(2)
    if num is not None and num <= 0:
        raise InvalidValueError(f"Requires num > 0: {num}")
    return (None if num is None else int(num),)


@op("EnsureShape", "input: T -> output: T", "shape: shape", T=ANY)
def ensure_shape(input: Any, *, shape: Shape, node: Any) -> Any:
    """The input, once its shape is known to be an instance of `shape`."""
    fits = shape is None or (
        len(shape) == input.ndim
        and all(want is None or want == have for want, have in zip(shape, input.shape))
    )
    if not fits:
        wanted = (
            "<unknown>"
            if shape is None
            else "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"
        )
        raise InvalidArgumentError(
            f"Shape of tensor {node.inputs[0].op.name} {format_shape(input.shape)} is not compatible with "
            f"expected shape {wanted}."
        )
    return input


ensure_shape.shape(lambda node: merge(node.attr("shape"), node.shape(0)))
ensure_shape.grad(lambda node, dy: dy)


# TensorFlow's Python functions


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """`tf.placeholder`: a tensor that every run must feed."""
    return placeholder_op(dtype=as_dtype(dtype), shape=TensorShape(shape), name=name)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """`tf.placeholder_with_default`: a tensor that a run may feed; `input` where it does not."""
    return placeholder_with_default_op(input, TensorShape(shape), name=name)


def _shape_argument(shape: Any) -> Any:
    """A shape as a constant where it is static, else as a tensor."""
    if isinstance(shape, (TensorShape, list, tuple)):
        try:
            static = TensorShape(shape)
        except (TypeError, ValueError):
            return convert_to_tensor(shape, int32)
        if static.is_fully_defined():
            return constant(static.as_list(), int32, shape=[len(static)], name="shape_as_tensor")
        if isinstance(shape, TensorShape):
            raise InvalidValueError(f"Cannot convert a partially known TensorShape to a Tensor: {shape}")
        return convert_to_tensor(shape, int32)
    return convert_to_tensor(shape, preferred_dtype=int32)


def _filled(value: Any, shape: Any, dtype: DType, name: str | None, default: str) -> Any:
    with name_scope(name, default, [shape]) as scope:
        static = None
        try:
            static = TensorShape(shape) if isinstance(shape, (list, tuple, TensorShape, int)) else None
        except (TypeError, ValueError):
            static = None
        if static is not None and static.is_fully_defined() and (static.num_elements() or 0) < 1000:
            # Small ones are constants, as in TensorFlow.
            return constant(value, shape=static, dtype=dtype, name=scope)
        dims = _shape_argument(shape)
        if dims.get_shape().ndims == 0:
            dims = raw_ops.Reshape(dims, [-1])
        return fill(dims, constant(value, dtype=dtype), name=scope)


def zeros(shape: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """`tf.zeros`: a tensor of zeros (False, empty strings)."""
    dtype = as_dtype(dtype).base_dtype
    value: Any = False if dtype == bool_ else b"" if dtype.name == "string" else 0
    return _filled(value, shape, dtype, name, "zeros")


def ones(shape: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """`tf.ones`: a tensor of ones (True)."""
    dtype = as_dtype(dtype).base_dtype
    return _filled(True if dtype == bool_ else 1, shape, dtype, name, "ones")


def tf_fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """`tf.fill`: a tensor of shape `dims` full of a scalar."""
    return fill(dims, value, name=name)


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """`tf.zeros_like`: zeros of the shape of `tensor`."""
    return _like_with(0, tensor, dtype, name, "zeros_like", optimize)


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """`tf.ones_like`: ones of the shape of `tensor`."""
    return _like_with(1, tensor, dtype, name, "ones_like", optimize)


def _like_with(value: int, tensor: Any, dtype: Any, name: str | None, default: str, optimize: bool) -> Any:
    make = ones if value else zeros
    with name_scope(name, default, [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        wanted = tensor.dtype.base_dtype if dtype is None else as_dtype(dtype).base_dtype
        if optimize and tensor.get_shape().is_fully_defined():
            return make(tensor.get_shape(), wanted, scope)
        if wanted == tensor.dtype.base_dtype and not value:
            return zeros_like_op(tensor, name=scope)
        return make(raw_ops.Shape(tensor), wanted, scope)


def tf_range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """`tf.range`: numbers from `start` (default 0) up to but without `limit`."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        order = [int32, int64, float32, float64]
        if dtype is None:
            values = [
                convert_to_tensor(value, name=key)
                for key, value in (("start", start), ("limit", limit), ("delta", delta))
            ]
            found = [value.dtype.base_dtype for value in values]
            if not all(item in order for item in found):
                raise InvalidTypeError(f"Range over dtypes {[item.name for item in found]} is not possible")
            wanted = max(found, key=order.index)
            values = [
                value if value.dtype.base_dtype == wanted else raw_ops.Cast(value, DstT=wanted)
                for value in values
            ]
        else:
            values = [
                convert_to_tensor(value, as_dtype(dtype), name=key)
                for key, value in (("start", start), ("limit", limit), ("delta", delta))
            ]
        return range_op(*values, name=scope)


def linspace(start: Any, stop: Any, num: Any, name: str | None = None) -> Any:
    """`tf.linspace`: `num` values from `start` to `stop`, both included."""
    return lin_space(start, stop, num, name=name)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """`tf.eye`: the identity matrix, or a batch of it; sizes and batch shape may be tensors."""
    with name_scope(name, "eye", []):
        rows, columns = num_rows, num_rows if num_columns is None else num_columns
        if any(isinstance(each, Tensor) for each in (rows, columns, batch_shape)):
            batch = [] if batch_shape is None else batch_shape
            rows, columns = (convert_to_tensor(size, int32) for size in (rows, columns))
            batch = convert_to_tensor(batch, int32)
            diagonal = raw_ops.Minimum(rows, columns)
            shape = raw_ops.ConcatV2([batch, raw_ops.Pack([diagonal])], 0)
            if num_columns is None:
                return raw_ops.MatrixDiag(ones(shape, dtype=dtype))
            whole = raw_ops.ConcatV2([batch, raw_ops.Pack([rows, columns])], 0)
            return raw_ops.MatrixSetDiag(zeros(whole, dtype=dtype), ones(shape, dtype=dtype))
        matrix = np.eye(int(rows), int(columns), dtype=as_dtype(dtype).np)
        if batch_shape is not None:
            matrix = np.broadcast_to(matrix, (*[int(dim) for dim in batch_shape], *matrix.shape)).copy()
        return constant(matrix)


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """`tf.get_static_value`: the ndarray that `tensor` always has, or None where that is not known."""
    return tensor.graph.constant_value(tensor)
