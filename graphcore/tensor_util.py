"""`tf.make_tensor_proto`, `tf.make_ndarray`: arrays as messages and back.

Source: tensorflow/python/framework/tensor_util.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats import tensor_proto
from .convert import as_array
from .dtypes import as_dtype
from .errors import InvalidTypeError, InvalidValueError
from .indexed_slices import IndexedSlices
from .operation import Tensor
from .sparse_tensor import SparseTensor
from .variable import Variable


def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> Any:
    """A TensorProto of `values`.

    Args:
        values: A Python value, nested list or array; a TensorProto is given back as it is.
        dtype: The element type; by default that of an array, float32 for Python floats, int32 for ints that
            fit.
        shape: The shape, by default that of `values`. A message may have fewer values than its shape: whoever
            reads it repeats the last.
        verify_shape: Whether values of another shape than `shape` are refused.
        allow_broadcast: Whether only a single value may stand for many.

    Returns:
        The message.

    Raises:
        TypeError: Values are not of `dtype`, or of another shape where `verify_shape` or `allow_broadcast`
            is set.
        ValueError: The values are None, not rectangular, too many for `shape`, or both flags are set.
    """
    if allow_broadcast and verify_shape:
        raise InvalidValueError("allow_broadcast and verify_shape are not both allowed.")
    if type(values).__name__ == "TensorProto":
        return values
    wanted = None if dtype is None else as_dtype(dtype).base_dtype
    dims = None if shape is None else tuple(int(dim) for dim in shape)
    if not isinstance(values, (np.ndarray, np.generic)) and hasattr(values, "__array__"):
        values = np.asarray(values)
    if dims is not None and 0 in dims and not isinstance(values, (np.ndarray, np.generic)):
        array = np.empty(dims, np.float32 if wanted is None else wanted.np)
    else:
        array = as_array(values, wanted)
    actual = as_dtype(array.dtype)
    if wanted is not None and not wanted.is_quantized and wanted != actual:
        raise InvalidTypeError(f"Incompatible types: {wanted!r} vs. {array.dtype}. Value is {values}")
    info = (actual if wanted is None else wanted)._info
    if dims is None or dims == array.shape:
        return tensor_proto.from_array(array, info)
    count = int(np.prod(dims, dtype=np.int64))
    if verify_shape or (allow_broadcast and array.shape not in ((), (1,)) and array.size != count):
        raise InvalidTypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
    if not allow_broadcast and array.size > count:
        raise InvalidValueError(
            f"Too many elements provided. Needed at most {count}, but received {array.size}"
        )
    if array.size == count:
        return tensor_proto.from_array(array.reshape(dims), info)
    proto = tensor_proto.from_array(array.reshape(-1)[:0], info)
    proto.tensor_shape.CopyFrom(tensor_proto.shape_to_proto(dims))
    tensor_proto.add_typed_values(proto, array.reshape(-1), info)
    return proto


def make_ndarray(tensor: Any) -> np.ndarray:
    """The array that a TensorProto spells, of its shape and dtype (bytes as Python objects).

    Raises:
        InvalidArgumentError: The message is not one, or its parts do not fit.
    """
    return np.array(tensor_proto.to_array(tensor))


# What TensorFlow 1.15 evaluates when a graph is built; more would move errors from the run to the building.
_FOLDED = frozenset(
    [
        "Cast",
        "Concat",
        "ConcatV2",
        "Const",
        "Equal",
        "Fill",
        "NotEqual",
        "Pack",
        "Range",
        "Rank",
        "Shape",
        "Size",
    ]
)


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """`tf.get_static_value`: the array that a tensor always has, or None where that is not known.

    Args:
        tensor: A tensor; anything else is given back as it is.
        partial: Whether of a stack of tensors those values that are known are given, and None for the others.
    """
    if not isinstance(tensor, Tensor):
        return tensor
    kind = tensor.op.type
    if kind not in _FOLDED:
        return None
    if kind == "Pack":
        if not tensor.op.inputs or tensor.op.get_attr("axis"):
            return None
        values = [constant_value(item, partial) for item in tensor.op.inputs]
        if any(value is None for value in values) and not (
            partial and any(each is not None for each in values)
        ):
            return None
        return np.array(values)
    if any(constant_value(item) is None for item in tensor.op.inputs) and kind in _OF_VALUES:
        return None
    return tensor.graph.constant_value(tensor)


_OF_VALUES = _FOLDED - {"Const", "Rank", "Shape", "Size"}


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, SparseTensor, IndexedSlices or variable."""
    return isinstance(x, (Tensor, SparseTensor, IndexedSlices, Variable)) or bool(
        getattr(x, "is_tensor_like", False)
    )
