"""Arrays and lists of tensors (TensorArray, TensorList), as far as loops fill or read them in order.

ONNX has one tensor in the place of an array: its elements along a new first axis. What a loop writes at the
number of each iteration is a scan output of Loop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..operation import Operation, Tensor
from .blocks import Builder, Inexpressible
from .table import Call, translates


@dataclass(frozen=True)
class Array:
    """An array of tensors: the name of its elements in one tensor, or None before any is written.

    Attributes:
        contents: The name.
        size: The name of a vector of one int64, how many elements were asked for; None where nobody said.
        dtype: The elements' dtype.
        first: The elements that were written one by one, from 0 on.
    """

    contents: str | None
    size: str | None
    dtype: Any
    first: tuple[str, ...] = ()


@dataclass(frozen=True)
class Written:
    """An array after one element was written: what a loop's body may give for the array it was given."""

    array: Array
    index: str
    value: str
    by: Operation


def _array(call: Call, index: int) -> Array:
    value = call.given(index)
    if isinstance(value, Array):
        return value
    if isinstance(value, Written):
        raise Inexpressible("an element of its array was written elsewhere than at the next place")
    raise Inexpressible("what it takes is no array of tensors that is known here")


def _contents(call: Call, index: int) -> str:
    array = _array(call, index)
    if array.contents is not None:
        return array.contents
    if array.first:
        return joined(call.make, array)
    raise Inexpressible("it reads an array whose elements are not written in order, once in each iteration")


def joined(make: Builder, array: Array, *rest: str) -> str:
    """The elements that were written one by one as one tensor, and `rest` behind them."""
    parts = [*[make.unsqueeze(name, 0) for name in array.first], *rest]
    return make.emit("Concat", *parts, axis=0) if len(parts) > 1 else parts[0]


def _is_range(tensor: Tensor, call: Call) -> bool:
    """Whether a tensor is 0, 1, 2, ..."""
    value = call.scope.draft.value(tensor)
    if value is not None:
        return bool(np.array_equal(value, np.arange(value.size)))
    if tensor.op.type != "Range":
        return False
    start, _, delta = (call.scope.draft.value(one) for one in call.scope.draft.nodes[tensor.op].inputs)
    return start is not None and delta is not None and int(start) == 0 and int(delta) == 1


@translates("TensorArrayV3")
def _tensor_array(call: Call) -> list[Array]:
    size = call.make.reshape(call.ints(0), 1)
    array = Array(None, size, call.attr("dtype"))
    return [array, array]


@translates("TensorArraySizeV3")
def _tensor_array_size(call: Call) -> str:
    return _length(call, 1)


def _length(call: Call, index: int) -> str:
    array = _array(call, index)
    if array.contents is not None:
        shape = call.emit("Shape", array.contents)
        return call.make.sizes_as(call.emit("Gather", shape, call.const(np.int64(0))), np.int32)
    if array.size is None:
        raise Inexpressible("the length of a list that grows is known to the run alone")
    return call.make.sizes_as(call.make.squeeze(array.size, 0), np.int32)


@translates("TensorArrayScatterV3")
def _tensor_array_scatter(call: Call) -> Array:
    if _array(call, 3).contents is not None or not _is_range(call.inputs[1], call):
        raise Inexpressible("it writes elements elsewhere than at 0, 1, 2, ... of a new array")
    return Array(call[2], call.size_of(2, 0), call.dtype(2))


@translates("TensorArrayReadV3")
def _tensor_array_read(call: Call) -> str:
    return call.emit("Gather", _contents(call, 2), call[1], axis=0)


@translates("TensorArrayGatherV3")
def _tensor_array_gather(call: Call) -> str:
    contents = _contents(call, 2)
    if _is_range(call.inputs[1], call):
        return contents
    return call.emit("Gather", contents, call[1], axis=0)


@translates("TensorArrayConcatV3")
def _tensor_array_concat(call: Call) -> list[Any]:
    contents = _contents(call, 1)
    shape = call.emit("Shape", contents)
    rest = call.emit("Slice", shape, call.make.ints(2), call.make.ints(1 << 40))
    return [call.emit("Reshape", contents, call.emit("Concat", call.make.ints(-1), rest, axis=0))]


@translates("TensorArrayWriteV3")
def _tensor_array_write(call: Call) -> Written | Array:
    return _written(call, 3, call[1], call[2])


@translates("TensorArrayCloseV3")
def _tensor_array_close(call: Call) -> list[str]:
    return []


def _written(call: Call, index: int, at: str, value: str) -> Written | Array:
    array = _array(call, index)
    if array.contents is not None:
        raise Inexpressible("it writes to an array that has its elements already")
    number = call.make.constants.get(at)
    if number is not None and int(number.reshape(())) == len(array.first):
        return replace(array, first=(*array.first, value))
    return Written(array, at, value, call.op)


@translates("TensorListReserve", "EmptyTensorList")
def _tensor_list(call: Call) -> Array:
    size = call.make.reshape(call.ints(1), 1) if call.op.type == "TensorListReserve" else None
    return Array(None, size, call.attr("element_dtype"))


@translates("TensorListFromTensor")
def _tensor_list_from_tensor(call: Call) -> Array:
    return Array(call[0], call.size_of(0, 0), call.dtype(0))


@translates("TensorListGetItem")
def _tensor_list_get_item(call: Call) -> str:
    return call.emit("Gather", _contents(call, 0), call[1], axis=0)


@translates("TensorListSetItem")
def _tensor_list_set_item(call: Call) -> Written | Array:
    return _written(call, 0, call[1], call[2])


@translates("TensorListStack")
def _tensor_list_stack(call: Call) -> str:
    return _contents(call, 0)


@translates("TensorListGather")
def _tensor_list_gather(call: Call) -> str:
    return call.emit("Gather", _contents(call, 0), call[1], axis=0)


@translates("TensorListLength")
def _tensor_list_length(call: Call) -> str:
    return _length(call, 0)
