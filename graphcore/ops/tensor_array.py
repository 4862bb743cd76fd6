"""Arrays of tensors, as while loops read and write them, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..default import get_default_graph
from ..dtypes import ANY
from ..errors import InvalidArgumentError
from ..op import op, raw_ops
from ..shapes import Shape, merge
from ..tensor_arrays import TensorArray
from . import rules

_FLOW = np.float32(0)
_HANDLES = "handles have no derivative"


@op(
    "TensorArrayV3",
    "size: int32 -> handle: resource, flow: float32",
    "element_shape: shape = unknown",
    "dynamic_size: bool = false",
    "clear_after_read: bool = true",
    "identical_element_shapes: bool = false",
    "tensor_array_name: string = ''",
    dtype=ANY,
    stateful=True,
    ctx=False,
    no_grad=_HANDLES,
)
def tensor_array_v3(
    size: Any,
    *,
    dtype: Any,
    element_shape: Shape,
    dynamic_size: bool,
    clear_after_read: bool,
    identical_element_shapes: bool,
    tensor_array_name: str,
    node: Any,
) -> tuple[Any, Any]:
    """A new array for this run."""
    if np.ndim(size):
        raise InvalidArgumentError(f"TensorArray size must be scalar, but had shape: {list(np.shape(size))}")
    if size < 0:
        raise InvalidArgumentError(f"Size should be >= 0, not {int(size)}")
    name = tensor_array_name or node.name
    array = TensorArray(
        name, dtype, int(size), element_shape, dynamic_size, clear_after_read, identical_element_shapes
    )
    return array, _FLOW


@op(
    "TensorArrayGradV3",
    "handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32",
    "source: string",
    stateful=True,
    ctx=False,
    no_grad=_HANDLES,
)
def tensor_array_grad_v3(handle: Any, flow_in: Any, *, source: str) -> tuple[Any, Any]:
    """The array of gradients that belongs to one."""
    return handle.gradient(source), flow_in


@op(
    "TensorArrayGradWithShape",
    "handle: resource, flow_in: float32, shape_to_prepend: int32 -> grad_handle: resource, flow_out: float32",
    "source: string",
    stateful=True,
    ctx=False,
    no_grad=_HANDLES,
)
def tensor_array_grad_with_shape(
    handle: Any, flow_in: Any, shape_to_prepend: Any, *, source: str
) -> tuple[Any, Any]:
    """The same, its elements with more leading dimensions."""
    return handle.gradient(source, tuple(shape_to_prepend.tolist())), flow_in


for _maker in (tensor_array_v3, tensor_array_grad_v3, tensor_array_grad_with_shape):
    _maker.shape(lambda node: [(), ()])


@op(
    "TensorArrayWriteV3",
    "handle: resource, index: int32, value: T, flow_in: float32 -> flow_out: float32",
    T=ANY,
    stateful=True,
    ctx=False,
)
def tensor_array_write_v3(handle: Any, index: Any, value: Any, flow_in: Any) -> Any:
    """Writes an element."""
    handle.write(int(index), np.asarray(value))
    return flow_in


@op(
    "TensorArrayReadV3",
    "handle: resource, index: int32, flow_in: float32 -> value: dtype",
    dtype=ANY,
    stateful=True,
    ctx=False,
)
def tensor_array_read_v3(handle: Any, index: Any, flow_in: Any, *, dtype: Any) -> Any:
    """Reads an element."""
    _check_dtype(handle, dtype)
    return handle.read(int(index))


def _check_dtype(array: TensorArray, dtype: Any) -> None:
    if array.dtype != dtype:
        raise InvalidArgumentError(
            f"TensorArray dtype is {array.dtype.name} but Op requested dtype {np.dtype(dtype).name}."
        )


@op(
    "TensorArrayGatherV3",
    "handle: resource, indices: int32, flow_in: float32 -> value: dtype",
    "element_shape: shape = unknown",
    dtype=ANY,
    stateful=True,
    ctx=False,
)
def tensor_array_gather_v3(
    handle: Any, indices: Any, flow_in: Any, *, dtype: Any, element_shape: Shape
) -> Any:
    """Reads elements and stacks them."""
    _check_dtype(handle, dtype)
    return handle.gather(indices.tolist(), element_shape)


@op(
    "TensorArrayScatterV3",
    "handle: resource, indices: int32, value: T, flow_in: float32 -> flow_out: float32",
    T=ANY,
    stateful=True,
    ctx=False,
)
def tensor_array_scatter_v3(handle: Any, indices: Any, value: Any, flow_in: Any) -> Any:
    """Writes the rows of a tensor as elements."""
    handle.scatter(indices.tolist(), np.asarray(value))
    return flow_in


@op(
    "TensorArrayConcatV3",
    "handle: resource, flow_in: float32 -> value: dtype, lengths: int64",
    "element_shape_except0: shape = unknown",
    dtype=ANY,
    stateful=True,
    ctx=False,
)
def tensor_array_concat_v3(
    handle: Any, flow_in: Any, *, dtype: Any, element_shape_except0: Shape
) -> tuple[Any, Any]:
    """All elements joined along their first axis, and how long each is."""
    _check_dtype(handle, dtype)
    values = [handle.read(index) for index in range(len(handle))]
    lengths = np.array([value.shape[0] if value.ndim else 0 for value in values], np.int64)
    if any(value.ndim == 0 for value in values):
        raise InvalidArgumentError("Concat saw a scalar shape, but it requires at least vectors.")
    if not values:
        return np.zeros((0, *[dim or 0 for dim in element_shape_except0 or ()]), dtype), lengths
    for position, value in enumerate(values):
        if value.shape[1:] != values[0].shape[1:]:
            raise InvalidArgumentError(
                f"TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                f"{list(values[0].shape[1:])} but index {position} has (excepting dimension 0) shape: "
                f"{list(value.shape[1:])}"
            )
    return np.concatenate(values), lengths


@op(
    "TensorArraySplitV3",
    "handle: resource, value: T, lengths: int64, flow_in: float32 -> flow_out: float32",
    T=ANY,
    stateful=True,
    ctx=False,
)
def tensor_array_split_v3(handle: Any, value: Any, lengths: Any, flow_in: Any) -> Any:
    """Writes parts of a tensor, of the given lengths along its first axis, as elements."""
    if int(lengths.sum()) != value.shape[0]:
        raise InvalidArgumentError(
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
            f"{int(lengths.sum())} "
            f"and value's shape is: {list(value.shape)}"
        )
    if len(lengths) != len(handle) and not handle.dynamic:
        raise InvalidArgumentError(
            f"TensorArray's size is not equal to the size of lengths ({len(handle)} vs. "
            f"{len(lengths)}), and the "
            "TensorArray is not marked as dynamically resizeable"
        )
    for index, part in enumerate(np.split(value, np.cumsum(lengths)[:-1]) if len(lengths) else ()):
        handle.write(index, part)
    return flow_in


@op(
    "TensorArraySizeV3",
    "handle: resource, flow_in: float32 -> size: int32",
    stateful=True,
    ctx=False,
    no_grad="its result is a size",
)
def tensor_array_size_v3(handle: Any, flow_in: Any) -> Any:
    """The number of elements."""
    return np.array(len(handle), np.int32)


@op("TensorArrayCloseV3", "handle: resource ->", stateful=True, ctx=False, no_grad="it has no outputs")
def tensor_array_close_v3(handle: Any) -> None:
    """Forgets all elements."""
    handle.close()


for _scalar in (tensor_array_write_v3, tensor_array_scatter_v3, tensor_array_split_v3, tensor_array_size_v3):
    _scalar.shape(rules.scalar)
tensor_array_close_v3.shape(rules.nothing)


def _declared_shape(node: Any) -> Shape:
    """The element shape that the array behind the handle was declared with."""
    source = node.node.inputs[0].op
    while source.type in ("Enter", "Identity", "Switch", "TensorArrayGradV3") and source.inputs:
        source = source.inputs[0].op
    if source.type != "TensorArrayV3":
        return None
    shape: Shape = source.attr("element_shape").as_tuple()
    return shape


tensor_array_read_v3.shape(_declared_shape)


@tensor_array_gather_v3.shape
def _(node: Any) -> Shape:
    element = merge(_declared_shape(node), node.attr("element_shape"))
    indices = node.shape(1)
    return None if element is None else (None if indices is None else indices[0], *element)


@tensor_array_concat_v3.shape
def _(node: Any) -> list[Shape]:
    rest = node.attr("element_shape_except0")
    return [None if rest is None else (None, *rest), (None,)]


# Gradients: each array has an array of gradients, one for each call of tf.gradients.


def _source(name: str) -> str:
    """Which call of `tf.gradients` a gradient belongs to: its name up to the `gradients` scope.

    Raises:
        InvalidArgumentError: The gradient was not made in such a scope.
    """
    parts = name.split("/")
    found = [index for index, part in enumerate(parts) if part.startswith("gradients")]
    if not found:
        raise InvalidArgumentError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: {name}"
        )
    return "/".join(parts[: found[-1] + 1])


def _gradient_array(handle: Any, flow: Any, grad: Any) -> tuple[Any, Any]:
    """The handle of the array of gradients, and a flow that comes after its making."""
    graph = get_default_graph()
    with graph.colocate_with(handle.op):
        grad_handle, _ = raw_ops.TensorArrayGradV3(handle, flow, source=_source(grad.name))
        with graph.control_dependencies([grad_handle]):
            return grad_handle, raw_ops.Identity(flow, name="gradient_flow")


@tensor_array_read_v3.grad
def _(node: Any, grad: Any) -> Any:
    handle, index, flow = node.inputs
    array, flow = _gradient_array(handle, flow, grad)
    return [None, None, raw_ops.TensorArrayWriteV3(array, index, grad, flow)]


@tensor_array_write_v3.grad
def _(node: Any, flow: Any) -> Any:
    handle, index, value, _ = node.inputs
    array, inner = _gradient_array(handle, flow, flow)
    return [None, None, raw_ops.TensorArrayReadV3(array, index, inner, dtype=value.dtype.base_dtype), flow]


@tensor_array_gather_v3.grad
def _(node: Any, grad: Any) -> Any:
    handle, indices, flow = node.inputs
    array, flow = _gradient_array(handle, flow, grad)
    return [None, None, raw_ops.TensorArrayScatterV3(array, indices, grad, flow)]


@tensor_array_scatter_v3.grad
def _(node: Any, flow: Any) -> Any:
    handle, indices, value, _ = node.inputs
    array, inner = _gradient_array(handle, flow, flow)
    dtype = value.dtype.base_dtype
    return [None, None, raw_ops.TensorArrayGatherV3(array, indices, inner, dtype=dtype), flow]


@tensor_array_concat_v3.grad
def _(node: Any, grad: Any, _: Any) -> Any:
    handle, flow = node.inputs
    array, flow = _gradient_array(handle, flow, grad)
    return [None, raw_ops.TensorArraySplitV3(array, grad, node.outputs[1], flow)]


@tensor_array_split_v3.grad
def _(node: Any, flow: Any) -> Any:
    handle, value, _, _ = node.inputs
    array, inner = _gradient_array(handle, flow, flow)
    return [None, raw_ops.TensorArrayConcatV3(array, inner, dtype=value.dtype.base_dtype).value, None, flow]
