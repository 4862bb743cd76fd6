"""Arrays of tensors, as while loops read and write them, element by element."""

from __future__ import annotations

from contextlib import nullcontext as _nothing
from typing import Any

import numpy as np

from .. import tensor_arrays
from ..convert import convert_to_tensor
from ..default import get_default_graph, name_scope
from ..dtypes import ANY, as_dtype, int64
from ..errors import InvalidArgumentError, InvalidTypeError, InvalidValueError
from ..op import op, raw_ops
from ..operation import Tensor
from ..shapes import Shape, format_shape, merge
from ..tensor_shape import TensorShape, as_shape
from . import rules
from .array_create import tf_range

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
        raise InvalidArgumentError(
            f"TensorArray size must be scalar, but had shape: {format_shape(np.shape(size))}"
        )
    if size < 0:
        raise InvalidArgumentError(f"Size should be >= 0, not {int(size)}")
    name = tensor_array_name or node.name
    array = tensor_arrays.TensorArray(
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
    _maker.shape(lambda node: [(2,), ()])


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
    check_dtype(handle, dtype)
    return handle.read(int(index))


def check_dtype(array: tensor_arrays.TensorArray, dtype: Any) -> None:
    """Raises InvalidArgumentError unless an array is of the dtype that an op asks for."""
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
    check_dtype(handle, dtype)
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
    check_dtype(handle, dtype)
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
            f"and value's shape is: {format_shape(value.shape)}"
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


def gradient_source(name: str) -> str:
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
        grad_handle, _ = raw_ops.TensorArrayGradV3(handle, flow, source=gradient_source(grad.name))
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


# TensorFlow's Python class


class TensorArray:
    """`tf.TensorArray`: an array of tensors, each written once and read once, for use in loops.

    Every write gives a new object, which stands for the array after that write; only the last one may
    be used further, as with TensorFlow's.

    Args:
        dtype: The elements' dtype.
        size: int32 scalar: the number of elements.
        dynamic_size: Whether writing past the end makes it grow.
        clear_after_read: Whether a read forgets the element (default True).
        tensor_array_name: The resource's name, for messages.
        handle: The handle of an array that exists, in place of `size`.
        flow: The flow of that array.
        infer_shape: Whether all elements must have one shape.
        element_shape: What is known of the elements' shapes.
        colocate_with_first_write_call: Put the writes beside the value of the first one.
        name: Name scope.

    Raises:
        ValueError: Both or neither of `handle` and `size` are given.
        TypeError: `handle` is no tensor.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        given = {
            "tensor_array_name": tensor_array_name or None,
            "size": size,
            "element_shape": element_shape,
            "dynamic_size": dynamic_size,
            "clear_after_read": clear_after_read,
        }
        if handle is not None:
            both = [key for key, value in given.items() if value is not None]
            if both:
                raise InvalidValueError(
                    f"Cannot provide both a handle and {', '.join(both)} at the same time"
                )
            if not isinstance(handle, Tensor):
                raise InvalidTypeError("Handle must be a Tensor")
            if flow is None:
                raise InvalidValueError("flow must not be None if handle is not None.")
        elif size is None:
            raise InvalidValueError("Size must be provided if handle is not provided")
        self._dtype = as_dtype(dtype).base_dtype
        self._infer_shape = infer_shape
        self._dynamic_size = bool(dynamic_size)
        self._shape = [as_shape(element_shape)]  # shared by all that stand for this array
        self._beside: list[Any] | None = [] if colocate_with_first_write_call else None
        graph = get_default_graph()
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                self._handle, self._flow = handle, flow
                return
            group = graph.colocate_with(None, ignore_existing=True) if self._beside is not None else None
            device = graph.device(None) if self._beside is not None else None
            with device or _nothing(), group or _nothing():
                self._handle, self._flow = raw_ops.TensorArrayV3(
                    size,
                    dtype=self._dtype,
                    element_shape=self._shape[0],
                    dynamic_size=bool(dynamic_size),
                    clear_after_read=clear_after_read is None or clear_after_read,
                    identical_element_shapes=infer_shape,
                    tensor_array_name=tensor_array_name or "",
                    name=scope,
                )

    @property
    def flow(self) -> Any:
        """float32 scalar: what orders the reads and writes."""
        return self._flow

    @property
    def dtype(self) -> Any:
        """The elements' dtype."""
        return self._dtype

    @property
    def handle(self) -> Any:
        """The resource."""
        return self._handle

    @property
    def dynamic_size(self) -> bool:
        """Whether it grows when one writes past its end."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the elements' shapes."""
        return self._shape[0]

    def _with_flow(self, flow: Any) -> TensorArray:
        """The array after what `flow` comes from."""
        made = object.__new__(TensorArray)
        made.__dict__.update(self.__dict__)
        made._flow = flow
        return made

    def _merge_shape(self, shape: TensorShape) -> None:
        if not shape.is_compatible_with(self._shape[0]):
            raise InvalidValueError(f"Inconsistent shapes: saw {shape} but expected {self._shape[0]} ")
        if self._infer_shape:
            self._shape[0] = self._shape[0].merge_with(shape)

    def _value(self, value: Any) -> Any:
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype.base_dtype != self._dtype:
            raise InvalidValueError(
                f"Error: Input value {value} has dtype {value.dtype.base_dtype.name}, but expected dtype "
                f"{self._dtype.name}.  This leads to undefined behavior and will be an error in future "
                "versions of TensorFlow."
            )
        return value

    def _colocated(self, value: Any) -> Any:
        if self._beside is None:
            return _nothing()
        if not self._beside:
            self._beside.append(value)
        return get_default_graph().colocate_with(self._beside[0])

    def identity(self) -> TensorArray:
        """The same array, once what the current scope waits for is done."""
        return self._with_flow(raw_ops.Identity(self._flow))

    def grad(self, source: str, flow: Any = None, name: str | None = None) -> TensorArray:
        """The array of gradients of one call of `tf.gradients`, which `source` names."""
        flow = self._flow if flow is None else flow
        graph = get_default_graph()
        with name_scope(name, "TensorArrayGrad", [self._handle]), graph.colocate_with(self._handle):
            handle, _ = raw_ops.TensorArrayGradV3(self._handle, flow, source=source, name=name)
            with graph.control_dependencies([handle]):
                flow = raw_ops.Identity(flow, name="gradient_flow")
            made = TensorArray(
                self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            made._shape = self._shape
            return made

    def read(self, index: Any, name: str | None = None) -> Any:
        """Element `index`."""
        value = raw_ops.TensorArrayReadV3(self._handle, index, self._flow, dtype=self._dtype, name=name)
        value.set_shape(self._shape[0])
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array after `value` was written to element `index`.

        Raises:
            ValueError: Dtype or shape do not fit.
        """
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._value(value)
            self._merge_shape(value.get_shape())
            with self._colocated(value):
                return self._with_flow(
                    raw_ops.TensorArrayWriteV3(self._handle, index, value, self._flow, name=name)
                )

    def stack(self, name: str | None = None) -> Any:
        """All elements in one tensor, along a new first axis."""
        with (
            get_default_graph().colocate_with(self._handle),
            name_scope(name, "TensorArrayStack", [self._handle]),
        ):
            return self.gather(tf_range(0, self.size()), name=name)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """The elements of the given indices, along a new first axis."""
        value = raw_ops.TensorArrayGatherV3(
            self._handle,
            indices,
            self._flow,
            dtype=self._dtype,
            element_shape=self._shape[0],
            name=name,
        )
        if self._shape[0].ndims is not None:
            value.set_shape([None, *self._shape[0].as_list()])
        return value

    def concat(self, name: str | None = None) -> Any:
        """All elements joined along their first axis."""
        known = self._shape[0].ndims is not None
        value, _ = raw_ops.TensorArrayConcatV3(
            self._handle,
            self._flow,
            dtype=self._dtype,
            element_shape_except0=self._shape[0][1:] if known else TensorShape(None),
            name=name,
        )
        if known:
            value.set_shape([None, *self._shape[0].as_list()[1:]])
        return value

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """The array after the rows of `value` were written to its elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = raw_ops.Shape(value)[0]
            return self.scatter(tf_range(0, count), value, name=name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """The array after the rows of `value` were written to the given indices."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._value(value)
            self._merge_shape(value.get_shape()[1:])
            with self._colocated(value):
                return self._with_flow(
                    raw_ops.TensorArrayScatterV3(self._handle, indices, value, self._flow, name=name)
                )

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """The array after parts of `value`, of the given lengths along its first axis, were written."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, self._dtype, name="value")
            with self._colocated(value):
                lengths = convert_to_tensor(lengths)
                if lengths.dtype != int64:
                    lengths = raw_ops.Cast(lengths, DstT=int64)
                known = get_default_graph().constant_value(lengths)
                rest = value.get_shape()[1:] if value.get_shape().ndims is not None else None
                if known is not None and known.size and rest is not None and known.max() == known.min():
                    self._merge_shape(TensorShape([int(known[0])]).concatenate(rest))
                return self._with_flow(
                    raw_ops.TensorArraySplitV3(self._handle, value, lengths, self._flow, name=name)
                )

    def size(self, name: str | None = None) -> Any:
        """int32 scalar: the number of elements."""
        return raw_ops.TensorArraySizeV3(self._handle, self._flow, name=name)

    def close(self, name: str | None = None) -> Any:
        """An operation that forgets all elements."""
        return raw_ops.TensorArrayCloseV3(self._handle, name=name)
