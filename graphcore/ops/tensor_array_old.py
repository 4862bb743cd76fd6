"""Arrays of tensors of the first two generations, as graphs of TensorFlow 0.x have them.

Handles are references to strings, or strings, in place of resources; and the ops have no state in their
declarations. Everything else is the third generation's.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ..default import get_default_graph
from ..dtypes import ANY
from ..op import op, raw_ops
from ..shapes import Shape
from . import rules, tensor_array as newest
from .tensor_array import gradient_source

_HANDLES = "handles have no derivative"
_UNDEFINED = "TensorFlow has none"


def _array(
    size: Any,
    *,
    dtype: Any,
    element_shape: Shape,
    dynamic_size: bool,
    clear_after_read: bool,
    tensor_array_name: str,
    node: Any,
) -> Any:
    """A new array for this run."""
    array, _ = newest.tensor_array_v3.kernel(
        size,
        dtype=dtype,
        element_shape=element_shape,
        dynamic_size=dynamic_size,
        clear_after_read=clear_after_read,
        identical_element_shapes=False,
        tensor_array_name=tensor_array_name,
        node=node,
    )
    return array


def _gradient(handle: Any, flow_in: Any, *, source: str) -> Any:
    """The array of gradients that belongs to one."""
    return handle.gradient(source)


def _pack(handle: Any, flow_in: Any, *, dtype: Any, element_shape: Shape) -> Any:
    """All elements, stacked."""
    newest.check_dtype(handle, dtype)
    return handle.gather(list(range(len(handle))), element_shape)


def _unpack(handle: Any, value: Any, flow_in: Any) -> Any:
    """Writes the rows of a tensor as elements."""
    handle.scatter(list(range(value.shape[0] if value.ndim else 0)), value)
    return flow_in


_SIZE = "size: int32"
_SHAPE = "element_shape: shape = unknown"
_GROWS = ("dynamic_size: bool = false", "clear_after_read: bool = true", "tensor_array_name: string = ''")

for _version, _handle, _order in (
    ("", "Ref(string)", (*_GROWS, _SHAPE)),
    ("V2", "string", (_SHAPE, *_GROWS)),
):
    op(
        f"TensorArray{_version}",
        f"{_SIZE} -> handle: {_handle}",
        *_order,
        dtype=ANY,
        stateful=True,
        ctx=False,
        no_grad=_HANDLES,
    )(_array).shape(lambda node: (2,))
    op(
        f"TensorArrayGrad{_version}",
        f"handle: string, flow_in: float32 -> grad_handle: {_handle}",
        "source: string",
        stateful=True,
        ctx=False,
        no_grad=_HANDLES,
    )(_gradient).shape(lambda node: (2,))


# Gradients


def _gradient_array(version: str, handle: Any, flow: Any, grad: Any) -> tuple[Any, Any]:
    """The handle of the array of gradients, and a flow that comes after its making."""
    graph = get_default_graph()
    with graph.colocate_with(handle.op):
        make = getattr(raw_ops, f"TensorArrayGrad{version}")
        grad_handle = make(handle, flow, source=gradient_source(grad.name))
        with graph.control_dependencies([grad_handle]):
            return grad_handle, raw_ops.Identity(flow, name="gradient_flow")


def _call(name: str, version: str, *inputs: Any, **attrs: Any) -> Any:
    return getattr(raw_ops, f"TensorArray{name}{version}")(*inputs, **attrs)


def _read_grad(version: str, node: Any, grad: Any) -> Any:
    handle, index, flow = node.inputs
    array, flow = _gradient_array(version, handle, flow, grad)
    return [None, None, _call("Write", version, array, index, grad, flow)]


def _write_grad(version: str, node: Any, flow: Any) -> Any:
    handle, index, value, _ = node.inputs
    array, inner = _gradient_array(version, handle, flow, flow)
    return [None, None, _call("Read", version, array, index, inner, dtype=value.dtype.base_dtype), flow]


def _gather_grad(version: str, node: Any, grad: Any) -> Any:
    handle, indices, flow = node.inputs
    array, flow = _gradient_array(version, handle, flow, grad)
    return [None, None, _call("Scatter", version, array, indices, grad, flow)]


def _scatter_grad(version: str, node: Any, flow: Any) -> Any:
    handle, indices, value, _ = node.inputs
    array, inner = _gradient_array(version, handle, flow, flow)
    dtype = value.dtype.base_dtype
    return [None, None, _call("Gather", version, array, indices, inner, dtype=dtype), flow]


def _concat_grad(version: str, node: Any, grad: Any, _: Any) -> Any:
    handle, flow = node.inputs
    array, flow = _gradient_array(version, handle, flow, grad)
    return [None, _call("Split", version, array, grad, node.outputs[1], flow)]


def _split_grad(version: str, node: Any, flow: Any) -> Any:
    handle, value, _, _ = node.inputs
    array, inner = _gradient_array(version, handle, flow, flow)
    joined = _call("Concat", version, array, inner, dtype=value.dtype.base_dtype)
    return [None, joined.value, None, flow]


_FLOW_IN, _FLOW_OUT = "flow_in: float32", "flow_out: float32"
_VALUE, _DTYPE = {"T": ANY}, {"dtype": ANY}
# By what follows TensorArray: kernel, signature after the handle, attributes, types, shape rule, gradient.
_ACTIONS: dict[str, tuple[Any, str, tuple[str, ...], dict[str, Any], Any, Any]] = {
    "Write": (
        newest.tensor_array_write_v3.kernel,
        f", index: int32, value: T, {_FLOW_IN} -> {_FLOW_OUT}",
        (),
        _VALUE,
        rules.scalar,
        _write_grad,
    ),
    "Read": (
        newest.tensor_array_read_v3.kernel,
        f", index: int32, {_FLOW_IN} -> value: dtype",
        (),
        _DTYPE,
        rules.unknown,
        _read_grad,
    ),
    "Gather": (
        newest.tensor_array_gather_v3.kernel,
        f", indices: int32, {_FLOW_IN} -> value: dtype",
        (_SHAPE,),
        _DTYPE,
        rules.unknown,
        _gather_grad,
    ),
    "Scatter": (
        newest.tensor_array_scatter_v3.kernel,
        f", indices: int32, value: T, {_FLOW_IN} -> {_FLOW_OUT}",
        (),
        _VALUE,
        rules.scalar,
        _scatter_grad,
    ),
    "Concat": (
        newest.tensor_array_concat_v3.kernel,
        f", {_FLOW_IN} -> value: dtype, lengths: int64",
        ("element_shape_except0: shape = unknown",),
        _DTYPE,
        lambda node: [None, (None,)],
        _concat_grad,
    ),
    "Split": (
        newest.tensor_array_split_v3.kernel,
        f", value: T, lengths: int64, {_FLOW_IN} -> {_FLOW_OUT}",
        (),
        _VALUE,
        rules.scalar,
        _split_grad,
    ),
    "Size": (
        newest.tensor_array_size_v3.kernel,
        f", {_FLOW_IN} -> size: int32",
        (),
        {},
        rules.scalar,
        {"no_grad": "its result is a size"},
    ),
    "Close": (
        newest.tensor_array_close_v3.kernel,
        "->",
        (),
        {},
        rules.nothing,
        {"no_grad": "it has no outputs"},
    ),
    "Pack": (
        _pack,
        f", {_FLOW_IN} -> value: dtype",
        (_SHAPE,),
        _DTYPE,
        rules.unknown,
        {"undefined_grad": _UNDEFINED},
    ),
    "Unpack": (
        _unpack,
        f", value: T, {_FLOW_IN} -> {_FLOW_OUT}",
        (),
        _VALUE,
        rules.scalar,
        {"undefined_grad": _UNDEFINED},
    ),
}

for _version, _handle in (("", "Ref(string)"), ("V2", "string")):
    for _name, (_kernel, _signature, _attrs, _types, _shape, _grad) in _ACTIONS.items():
        if _version and _name in ("Pack", "Unpack"):
            continue
        _declared = op(
            f"TensorArray{_name}{_version}",
            f"handle: {_handle}{_signature if _signature.startswith(',') else ' ' + _signature}",
            *_attrs,
            effects=True,
            **_types,
            **(_grad if isinstance(_grad, dict) else {}),
        )(_kernel)
        _declared.shape(_shape)
        if not isinstance(_grad, dict):
            _declared.grad(partial(_grad, _version))
