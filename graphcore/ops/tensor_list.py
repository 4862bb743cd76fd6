"""Lists of tensors as values, in which TensorFlow 2's loops accumulate.

Source: tensorflow/core/kernels/list_kernels.h, tensorflow/python/ops/list_ops.py (r1.15), behaviour only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import constant
from ..dtypes import ANY, INDEX, int32
from ..errors import InvalidArgumentError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape
from ..tensor_lists import (
    TensorList,
    as_list,
    is_compatible,
    merge_element_shapes,
    no_missing,
    zeros,
)
from . import rules

_NOT_DIFFERENTIABLE = "TensorFlow declares none"


def _partial(element_shape: Any) -> Shape:
    """An `element_shape` input: a vector with -1 for unknown dimensions, or the scalar -1 for all."""
    array = np.asarray(element_shape)
    if array.ndim == 0:
        if array == -1:
            return None
        raise InvalidArgumentError(
            f"The only valid scalar shape tensor is the fully unknown shape specified as -1. Got: {array}"
        )
    if array.ndim != 1:
        raise InvalidArgumentError(
            f"element_shape must be a scalar or vector, not {format_shape(array.shape)}"
        )
    if (array < -1).any():
        raise InvalidArgumentError(f"Shape dimensions must be -1 or more: {array.tolist()}")
    return tuple(None if dim < 0 else int(dim) for dim in array.tolist())


def _at_least_vector(tensor: Any, doing: str = "Tensor must be") -> None:
    if tensor.ndim == 0:
        raise InvalidArgumentError(f"{doing} at least a vector, but saw shape: []")


# Making lists


@op(
    "EmptyTensorList",
    "element_shape: shape_type, max_num_elements: int32 -> handle: variant",
    element_dtype=ANY,
    shape_type=INDEX,
    no_grad="it has no inputs that have derivatives",
)
def empty_tensor_list(element_shape: Any, max_num_elements: Any, *, element_dtype: Any) -> Any:
    """A list without elements."""
    return TensorList(np.dtype(element_dtype), _partial(element_shape), (), int(max_num_elements))


@op(
    "TensorListReserve",
    "element_shape: shape_type, num_elements: int32 -> handle: variant",
    element_dtype=ANY,
    shape_type=INDEX,
    no_grad="it has no inputs that have derivatives",
)
def tensor_list_reserve(element_shape: Any, num_elements: Any, *, element_dtype: Any) -> Any:
    """A list of missing elements."""
    if num_elements < 0:
        raise InvalidArgumentError(
            f"The num_elements to reserve must be a non negative number, but got {int(num_elements)}"
        )
    return TensorList(np.dtype(element_dtype), _partial(element_shape), [None] * int(num_elements))


@op(
    "TensorListFromTensor",
    "tensor: element_dtype, element_shape: shape_type -> output_handle: variant",
    element_dtype=ANY,
    shape_type=INDEX,
)
def tensor_list_from_tensor(tensor: Any, element_shape: Any) -> Any:
    """The rows of a tensor as a list."""
    _at_least_vector(tensor)
    shape = _partial(element_shape)
    if not is_compatible(shape, tensor.shape[1:]):
        raise InvalidArgumentError(
            f"Specified a list with shape {format_shape(shape)} from a tensor with shape "
            f"{format_shape(tensor.shape[1:])}"
        )
    return TensorList(tensor.dtype, shape, [np.asarray(row) for row in tensor])


@op(
    "TensorListSplit",
    "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    element_dtype=ANY,
    shape_type=INDEX,
)
def tensor_list_split(tensor: Any, element_shape: Any, lengths: Any) -> Any:
    """Parts of a tensor, of the given lengths along its first axis, as a list."""
    shape = _partial(element_shape)
    if shape is not None and not shape:
        raise InvalidArgumentError(
            "TensorListSplit requires element_shape to be at least of rank 1, but saw: []"
        )
    _at_least_vector(tensor)
    rest: Shape = (None, *tensor.shape[1:])
    if not is_compatible(shape, rest):
        raise InvalidArgumentError(
            f"tensor shape {format_shape(tensor.shape)} is not compatible with element_shape "
            f"{format_shape(shape)}"
        )
    if lengths.ndim != 1:
        raise InvalidArgumentError(
            f"Expected lengths to be a vector, received shape: {format_shape(lengths.shape)}"
        )
    ends = np.cumsum(lengths)
    for length, end in zip(lengths.tolist(), ends.tolist()):
        if length < 0:
            raise InvalidArgumentError(f"Invalid value in lengths: {length}")
        if end > tensor.shape[0]:
            raise InvalidArgumentError(
                f"Attempting to slice [{end - length}, {end}] from tensor with length {tensor.shape[0]}"
            )
    used = int(ends[-1]) if len(ends) else 0
    if used != tensor.shape[0]:
        raise InvalidArgumentError(
            f"Unused values in tensor. Length of tensor: {tensor.shape[0]} Values used: {used}"
        )
    return TensorList(tensor.dtype, shape, np.split(tensor, ends[:-1]) if len(ends) else [])


def _scattered(tensor: Any, indices: Any, elements: list[Any]) -> list[Any]:
    for index, row in zip(indices.tolist(), tensor):
        elements[index] = np.asarray(row)
    return elements


def _scatter(tensor: Any, indices: Any, element_shape: Any, num_elements: Any = -1) -> Any:
    """The rows of a tensor at given places of a list; the other elements are missing."""
    count = int(num_elements)
    if count < -1:
        raise InvalidArgumentError(f"TensorListScatter expects num_elements >= -1, found: {count}")
    _at_least_vector(tensor)
    shape = _partial(element_shape)
    if not is_compatible(shape, tensor.shape[1:]):
        raise InvalidArgumentError(
            f"Specified a list with shape {format_shape(shape)} from a tensor with shape "
            f"{format_shape(tensor.shape[1:])}"
        )
    if indices.size != tensor.shape[0]:
        raise InvalidArgumentError(
            f"Invalid number of rows in input tensor. Expected: {indices.size} Actual: {tensor.shape[0]}"
        )
    for index in indices.tolist():
        if index < 0:
            raise InvalidArgumentError("Indices in TensorListScatter must all be non-negative.")
        if count != -1 and index >= count:
            raise InvalidArgumentError(
                f"TensorListScatter: Trying to scatter at index {index} in list with size {count}"
            )
    size = max(int(indices.max(initial=-1)) + 1, count)
    return TensorList(tensor.dtype, shape, _scattered(tensor, indices, [None] * size))


_scatters = [
    op(
        name,
        f"tensor: element_dtype, indices: int32, element_shape: shape_type{more} -> output_handle: variant",
        element_dtype=ANY,
        shape_type=INDEX,
    )(_scatter)
    for name, more in (("TensorListScatter", ""), ("TensorListScatterV2", ", num_elements: int32"))
]


@op(
    "TensorListScatterIntoExistingList",
    "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant",
    element_dtype=ANY,
)
def tensor_list_scatter_into(input_handle: Any, tensor: Any, indices: Any) -> Any:
    """A list with the rows of a tensor at given places."""
    found = as_list(input_handle)
    if tensor.dtype != found.element_dtype:
        raise InvalidArgumentError(
            f"Invalid data types; input tensor type: {tensor.dtype.name} list element_type: "
            f"{found.element_dtype.name}"
        )
    _at_least_vector(tensor)
    if indices.ndim != 1:
        raise InvalidArgumentError(
            f"Expected indices to be a vector, but received shape: {format_shape(indices.shape)}"
        )
    if len(indices) != tensor.shape[0]:
        raise InvalidArgumentError(
            f"Expected len(indices) == tensor.shape[0], but saw: {len(indices)} vs. {tensor.shape[0]}"
        )
    elements = list(found.elements)
    elements += [None] * (int(indices.max(initial=-1)) + 1 - len(elements))
    return found.replaced(_scattered(tensor, indices, elements))


# Changing lists


@op(
    "TensorListPushBack",
    "input_handle: variant, tensor: element_dtype -> output_handle: variant",
    element_dtype=ANY,
)
def tensor_list_push_back(input_handle: Any, tensor: Any) -> Any:
    """The list with one more element at its end."""
    found = as_list(input_handle)
    found.check_element(tensor, "append")
    if found.max_num_elements != -1 and len(found) >= found.max_num_elements:
        raise InvalidArgumentError(
            "Tried to push item into a full list list size: "
            f"{len(found)} max_num_elements: {found.max_num_elements}"
        )
    return found.replaced([*found.elements, tensor])


@op(
    "TensorListPopBack",
    "input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    element_dtype=ANY,
)
def tensor_list_pop_back(input_handle: Any, element_shape: Any, *, element_dtype: Any) -> tuple[Any, Any]:
    """The list without its last element, and that element."""
    found = as_list(input_handle)
    found.check_dtype(element_dtype)
    if not found.elements:
        raise InvalidArgumentError("Trying to pop from an empty list.")
    last = found.elements[-1]
    if last is None:
        text = "Trying to read an uninitialized tensor but element_shape is not fully defined."
        last = zeros(found.shape_of_missing(_partial(element_shape), text), found.element_dtype)
    return found.replaced(found.elements[:-1]), last


@op(
    "TensorListSetItem",
    "input_handle: variant, index: int32, item: element_dtype -> output_handle: variant",
    element_dtype=ANY,
)
def tensor_list_set_item(input_handle: Any, index: Any, item: Any) -> Any:
    """The list with another element in one place."""
    found = as_list(input_handle)
    found.check_element(item, "set")
    if not 0 <= index < len(found):
        raise InvalidArgumentError(
            f"Trying to modify element {int(index)} in a list with {len(found)} elements."
        )
    elements = list(found.elements)
    elements[int(index)] = item
    return found.replaced(elements)


@op(
    "TensorListResize",
    "input_handle: variant, size: int32 -> output_handle: variant",
    stateful=True,
    effects=False,
    ctx=False,
)
def tensor_list_resize(input_handle: Any, size: Any) -> Any:
    """The list cut, or with missing elements at its end."""
    found = as_list(input_handle)
    if size < 0:
        raise InvalidArgumentError(f"TensorListSlice expects size to be non-negative. Got: {int(size)}")
    elements = found.elements[: int(size)]
    return found.replaced(elements + [None] * (int(size) - len(elements)))


@op(
    "TensorListConcatLists",
    "input_a: variant, input_b: variant -> output: variant",
    element_dtype=ANY,
    no_grad=_NOT_DIFFERENTIABLE,
)
def tensor_list_concat_lists(input_a: Any, input_b: Any, *, element_dtype: Any) -> Any:
    """Two lists, or two arrays of lists, one after the other."""
    if np.shape(input_a) != np.shape(input_b):
        raise InvalidArgumentError(
            "Incompatible input TensorList tensor shapes: "
            f"{format_shape(np.shape(input_a))} vs. {format_shape(np.shape(input_b))}"
        )
    if np.ndim(input_a):
        result = np.empty(input_a.shape, object)
        for index in np.ndindex(input_a.shape):
            result[index] = tensor_list_concat_lists.kernel(
                input_a[index], input_b[index], element_dtype=element_dtype
            )
        return result
    first, second = as_list(input_a), as_list(input_b)
    for each in (first, second):
        each.check_dtype(element_dtype)
    merged = merge_element_shapes(first.element_shape, second.element_shape)
    return TensorList(first.element_dtype, merged, first.elements + second.elements)


@op(
    "TensorListPushBackBatch",
    "input_handles: variant, tensor: element_dtype -> output_handles: variant",
    element_dtype=ANY,
    no_grad=_NOT_DIFFERENTIABLE,
)
def tensor_list_push_back_batch(input_handles: Any, tensor: Any) -> Any:
    """Each of a vector of lists with one row of a tensor at its end."""
    _at_least_vector(tensor, "Expected tensor to be")
    if np.ndim(input_handles) != 1:
        raise InvalidArgumentError(
            f"Expected input_handles to be a vector, but saw: {format_shape(np.shape(input_handles))}"
        )
    if len(input_handles) != len(tensor):
        raise InvalidArgumentError(
            f"Expected tensor.shape[0] == input_handles.size, but saw {len(tensor)} vs. {len(input_handles)}"
        )
    result = np.empty(len(tensor), object)
    for index, row in enumerate(tensor):
        result[index] = tensor_list_push_back.kernel(input_handles[index], np.asarray(row))
    return result


# Reading lists


@op("TensorListLength", "input_handle: variant -> length: int32", no_grad="its result is a size")
def tensor_list_length(input_handle: Any) -> Any:
    """The number of elements."""
    return np.array(len(as_list(input_handle)), np.int32)


@op(
    "TensorListElementShape",
    "input_handle: variant -> element_shape: shape_type",
    shape_type=INDEX,
    no_grad="its result is a shape",
)
def tensor_list_element_shape(input_handle: Any, *, shape_type: Any) -> Any:
    """What is known of the elements' shape: -1 for what is not."""
    shape = as_list(input_handle).element_shape
    if shape is None:
        return np.array(-1, shape_type)
    return np.array([-1 if dim is None else dim for dim in shape], shape_type)


@op(
    "TensorListGetItem",
    "input_handle: variant, index: int32, element_shape: int32 -> item: element_dtype",
    element_dtype=ANY,
)
def tensor_list_get_item(input_handle: Any, index: Any, element_shape: Any, *, element_dtype: Any) -> Any:
    """One element."""
    found = as_list(input_handle)
    found.check_dtype(element_dtype)
    if not 0 <= index < len(found):
        raise InvalidArgumentError(
            f"Trying to access element {int(index)} in a list with {len(found)} elements."
        )
    item = found.elements[int(index)]
    if item is None:
        text = "Trying to read an uninitialized tensor but element_shape is not fully defined"
        item = zeros(found.shape_of_missing(_partial(element_shape), text), found.element_dtype)
    return item


@op(
    "TensorListStack",
    "input_handle: variant, element_shape: int32 -> tensor: element_dtype",
    "num_elements: int = -1",
    element_dtype=ANY,
)
def tensor_list_stack(input_handle: Any, element_shape: Any, *, element_dtype: Any, num_elements: int) -> Any:
    """All elements along a new first axis."""
    found = as_list(input_handle)
    found.check_dtype(element_dtype)
    if num_elements != -1 and len(found) != num_elements:
        raise InvalidArgumentError(
            f"Operation expected a list with {num_elements} elements but got a list with {len(found)} "
            "elements."
        )
    text = (
        "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
        "element_shape"
        if found.elements
        else "Tried to stack elements of an empty list with non-fully-defined element_shape"
    )
    return found.stacked(found.elements, found.shape_of_missing(_partial(element_shape), text))


@op(
    "TensorListGather",
    "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype",
    element_dtype=ANY,
)
def tensor_list_gather(input_handle: Any, indices: Any, element_shape: Any, *, element_dtype: Any) -> Any:
    """Chosen elements along a new first axis."""
    found = as_list(input_handle)
    found.check_dtype(element_dtype)
    for index in indices.tolist():
        if not 0 <= index < len(found):
            raise InvalidArgumentError(f"Index {index} out o range; list only has {len(found)} elements.")
    text = (
        "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape"
        if len(indices)
        else "Tried to gather 0-elements from a list with non-fully-defined shape"
    )
    shape = found.shape_of_missing(_partial(element_shape), text)
    return found.stacked([found.elements[index] for index in indices.tolist()], shape)


def _concat(
    input_handle: Any, element_shape: Any, leading_dims: Any, element_dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    found = as_list(input_handle)
    found.check_dtype(element_dtype)
    given = merge_element_shapes(element_shape, found.element_shape)
    if given is not None and not given:
        raise InvalidArgumentError("Concat requires elements to be at least vectors, found scalars instead.")
    rest: Shape = None if given is None else given[1:]
    for index, element in enumerate(found.elements):
        if element is None:
            continue
        if element.ndim == 0:
            raise InvalidArgumentError(
                f"Concat saw a scalar shape at index {index} but requires at least vectors."
            )
        rest = merge_element_shapes(rest, element.shape[1:])
        if given is not None and given[0] is not None and given[0] != element.shape[0]:
            raise InvalidArgumentError(
                "First entry of element_shape input does not match the first dim of list element at index: "
                f"{index} Expected: {given[0]} Actual: {element.shape[0]}"
            )
    if rest is None or None in rest:
        raise InvalidArgumentError(
            "All except the first dimension must be fully defined when concating an empty tensor list. "
            f"element_shape: {format_shape(given)}"
            if not found.elements
            else "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim_ "
            f"is not fully defined: {format_shape(rest)}"
        )
    width = tuple(dim for dim in rest if dim is not None)
    first = given[0] if given is not None else None
    parts = [
        zeros((first if first is not None else no_missing(index, leading_dims), *width), found.element_dtype)
        if element is None
        else element
        for index, element in enumerate(found.elements)
    ]
    lengths = np.array([part.shape[0] for part in parts], np.int64)
    return np.concatenate(parts) if parts else zeros((0, *width), found.element_dtype), lengths


@op(
    "TensorListConcat",
    "input_handle: variant -> tensor: element_dtype, lengths: int64",
    "element_shape: shape = unknown",
    element_dtype=ANY,
)
def tensor_list_concat(input_handle: Any, *, element_dtype: Any, element_shape: Shape) -> tuple[Any, Any]:
    """All elements joined along their first axis, and how long each is."""
    return _concat(input_handle, element_shape, None, element_dtype)


@op(
    "TensorListConcatV2",
    "input_handle: variant, element_shape: shape_type, leading_dims: int64 -> "
    "tensor: element_dtype, lengths: int64",
    element_dtype=ANY,
    shape_type=INDEX,
)
def tensor_list_concat_v2(
    input_handle: Any, element_shape: Any, leading_dims: Any, *, element_dtype: Any
) -> tuple[Any, Any]:
    """The same, missing elements as zeros with so many rows as `leading_dims` says."""
    return _concat(input_handle, _partial(element_shape), leading_dims, element_dtype)


# Static shapes

for _list in (
    empty_tensor_list,
    tensor_list_reserve,
    tensor_list_from_tensor,
    tensor_list_split,
    *_scatters,
    tensor_list_scatter_into,
    tensor_list_push_back,
    tensor_list_set_item,
    tensor_list_resize,
    tensor_list_length,
):
    _list.shape(rules.scalar)
tensor_list_push_back_batch.shape(rules.unchanged)
tensor_list_concat_lists.shape(rules.unchanged)
tensor_list_get_item.shape(lambda node: node.value_as_shape(2) if node.shape(2) != () else None)
tensor_list_pop_back.shape(
    lambda node: [(), node.value_as_shape(1) if node.shape(1) != () else None],
)


@tensor_list_element_shape.shape
def _(node: Any) -> Shape:
    return None


@tensor_list_stack.shape
def _(node: Any) -> Shape:
    element = node.value_as_shape(1) if node.shape(1) != () else None
    count = node.attr("num_elements")
    return None if element is None else (None if count < 0 else count, *element)


@tensor_list_gather.shape
def _(node: Any) -> Shape:
    element = node.value_as_shape(2) if node.shape(2) != () else None
    indices = node.shape(1)
    return None if element is None else (indices[0] if indices else None, *element)


@tensor_list_concat.shape
def _(node: Any) -> list[Shape]:
    element = node.attr("element_shape")
    return [None if not element else (None, *element[1:]), (None,)]


@tensor_list_concat_v2.shape
def _(node: Any) -> list[Shape]:
    element = node.value_as_shape(1) if node.shape(1) != () else None
    return [None if not element else (None, *element[1:]), (None,)]


# Gradients


def _row_shape(tensor: Any) -> Any:
    """The shape of a row of a tensor, as a tensor."""
    return raw_ops.Slice(raw_ops.Shape(tensor), [1], [-1])


def _shape_in(handle: Any) -> Any:
    return raw_ops.TensorListElementShape(handle, shape_type=int32)


def _static(shape: Any) -> Any:
    """A static shape as an `element_shape` input."""
    if shape.ndims is None:
        return constant(-1, int32)
    return constant(np.array([-1 if dim is None else dim for dim in shape.as_list()], np.int32), int32)


@tensor_list_push_back.grad
def _(node: Any, dlist: Any) -> Any:
    tensor = node.inputs[1]
    return list(
        raw_ops.TensorListPopBack(dlist, raw_ops.Shape(tensor), element_dtype=tensor.dtype.base_dtype)
    )


@tensor_list_pop_back.grad
def _(node: Any, dlist: Any, delement: Any) -> Any:
    return [raw_ops.TensorListPushBack(dlist, delement), None]


@tensor_list_stack.grad
def _(node: Any, dtensor: Any) -> Any:
    shape = dtensor.get_shape()
    return [
        raw_ops.TensorListFromTensor(dtensor, _static(shape[1:] if shape.ndims is not None else shape)),
        None,
    ]


def _concat_grad(node: Any, dtensor: Any, _: Any) -> Any:
    dlist = raw_ops.TensorListSplit(dtensor, _shape_in(node.inputs[0]), node.outputs[1])
    return [dlist, *[None] * (len(node.inputs) - 1)]


tensor_list_concat.grad(_concat_grad)
tensor_list_concat_v2.grad(_concat_grad)


@tensor_list_split.grad
def _(node: Any, dlist: Any) -> Any:
    tensor, _, lengths = node.inputs
    shape = raw_ops.ConcatV2([constant([-1], int32), _row_shape(tensor)], 0)
    joined = raw_ops.TensorListConcatV2(dlist, shape, lengths, element_dtype=tensor.dtype.base_dtype)
    return [joined.tensor, None, None]


@tensor_list_from_tensor.grad
def _(node: Any, dlist: Any) -> Any:
    tensor = node.inputs[0]
    static = tensor.static_shape
    rows = static[0] if static and static[0] is not None else -1
    dtype = tensor.dtype.base_dtype
    stacked = raw_ops.TensorListStack(dlist, _row_shape(tensor), element_dtype=dtype, num_elements=rows)
    return [stacked, None]


@tensor_list_get_item.grad
def _(node: Any, ditem: Any) -> Any:
    handle, index, _ = node.inputs
    size = raw_ops.TensorListLength(handle)
    empty = raw_ops.TensorListReserve(_shape_in(handle), size, element_dtype=ditem.dtype.base_dtype)
    return [raw_ops.TensorListSetItem(empty, index, ditem), None, None]


@tensor_list_set_item.grad
def _(node: Any, dlist: Any) -> Any:
    _, index, item = node.inputs
    without = raw_ops.TensorListSetItem(dlist, index, raw_ops.ZerosLike(item))
    ditem = raw_ops.TensorListGetItem(dlist, index, raw_ops.Shape(item), element_dtype=item.dtype.base_dtype)
    return [without, None, ditem]


@tensor_list_resize.grad
def _(node: Any, dlist: Any) -> Any:
    return [raw_ops.TensorListResize(dlist, raw_ops.TensorListLength(node.inputs[0])), None]


@tensor_list_gather.grad
def _(node: Any, dtensor: Any) -> Any:
    handle, indices, _ = node.inputs
    size = raw_ops.TensorListLength(handle)
    empty = raw_ops.TensorListReserve(_shape_in(handle), size, element_dtype=dtensor.dtype.base_dtype)
    return [raw_ops.TensorListScatterIntoExistingList(empty, dtensor, indices), None, None]


def _gathered(dlist: Any, tensor: Any, indices: Any) -> Any:
    dtype = tensor.dtype.base_dtype
    return raw_ops.TensorListGather(dlist, indices, _row_shape(tensor), element_dtype=dtype)


def _scatter_grad(node: Any, dlist: Any) -> Any:
    tensor, indices = node.inputs[:2]
    return [_gathered(dlist, tensor, indices), *[None] * (len(node.inputs) - 1)]


for _each in _scatters:
    _each.grad(_scatter_grad)


@tensor_list_scatter_into.grad
def _(node: Any, dlist: Any) -> Any:
    _, tensor, indices = node.inputs
    without = raw_ops.TensorListScatterIntoExistingList(dlist, raw_ops.ZerosLike(tensor), indices)
    return [without, _gathered(dlist, tensor, indices), None]
