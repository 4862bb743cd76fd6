"""Variables, by reference and by resource handle, and assignments to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import ANY, INDEX, NUMBER, int32
from ..errors import InvalidArgumentError, NotFoundError, OutOfRangeError
from ..indexed_slices import IndexedSlices
from ..kernels.gather_scatter import gather
from ..op import GraphOp, op, raw_ops
from ..shapes import Shape, format_shape, merge
from . import rules

_NAMES = ("container: string = ''", "shared_name: string = ''")
_NO_GRAD = "assignments are not differentiable"


def _ref_variable(ctx: Any, *, node: Any) -> Any:
    return ctx.state.ref(node)


for _name in ("VariableV2", "Variable"):
    _variable = op(
        _name,
        "-> ref: Ref(dtype)",
        "shape: shape",
        *_NAMES,
        dtype=ANY,
        stateful=True,
        no_grad="it has no inputs",
    )(_ref_variable)
    # Variable says unknown by rank 0, as its writers had no other way.
    _variable.shape(
        lambda node: None if node.node.type == "Variable" and node.attr("shape") == () else node.attr("shape")
    )


@op(
    "VarHandleOp",
    "-> resource: resource",
    *_NAMES,
    "shape: shape",
    dtype=ANY,
    stateful=True,
    no_grad="it has no inputs",
)
def var_handle_op(ctx: Any, *, node: Any) -> Any:
    """The handle of a resource variable."""
    return ctx.state.resource_variable(node)


var_handle_op.shape(rules.scalar)


@op("ReadVariableOp", "resource: resource -> value: dtype", dtype=ANY, stateful=True, ctx=False)
def read_variable_op(resource: Any) -> Any:
    """The value of a resource variable at this moment."""
    return resource.read()


read_variable_op.shape(lambda node: rules.shape_of_variable(node, 0))
read_variable_op.grad(lambda node, dy: dy)


@op(
    "VarIsInitializedOp",
    "resource: resource -> is_initialized: bool",
    stateful=True,
    ctx=False,
    no_grad="booleans have no derivative",
)
def var_is_initialized_op(resource: Any) -> Any:
    """Whether a resource variable has a value."""
    return np.array(resource.value is not None)


@op(
    "IsVariableInitialized",
    "ref: Ref(dtype) -> is_initialized: bool",
    dtype=ANY,
    allows_uninitialized_input=True,
    no_grad="booleans have no derivative",
)
def is_variable_initialized(ref: Any) -> Any:
    """Whether a ref variable has a value."""
    return np.array(ref.value is not None)


for _query in (var_is_initialized_op, is_variable_initialized):
    _query.shape(rules.scalar)


@op(
    "VariableShape",
    "input: resource -> output: out_type",
    out_type=(INDEX, int32),
    stateful=True,
    ctx=False,
    no_grad="its result is a shape",
)
def variable_shape(input: Any, *, out_type: Any) -> Any:
    """The shape of a resource variable's value."""
    return np.array(input.read().shape, out_type)


@variable_shape.shape
def _(node: Any) -> Shape:
    shape = rules.shape_of_variable(node, 0)
    return (None if shape is None else len(shape),)


@op(
    "DestroyResourceOp",
    "resource: resource ->",
    "ignore_lookup_error: bool = true",
    stateful=True,
    ctx=False,
    no_grad=_NO_GRAD,
)
def destroy_resource_op(resource: Any, *, ignore_lookup_error: bool) -> None:
    """Forgets the value of a resource variable."""
    if resource.value is None and not ignore_lookup_error:
        raise NotFoundError(f"Resource {resource.container}/{resource.name} does not exist.")
    resource.value = None


destroy_resource_op.shape(rules.nothing)


# Assignments


def check_same_shape(ref: Any, value: Any, what: str) -> None:
    """Raises InvalidArgumentError, in TensorFlow's words, unless shapes are equal."""
    if ref.shape != value.shape:
        raise InvalidArgumentError(
            f"{what} requires shapes of both tensors to match. lhs shape= {list(ref.shape)} rhs shape= "
            f"{list(value.shape)}"
        )


@op(
    "Assign",
    "ref: Ref(T), value: T -> output_ref: Ref(T)",
    "validate_shape: bool = true",
    "use_locking: bool = true",
    T=ANY,
    allows_uninitialized_input=True,
    no_grad=_NO_GRAD,
)
def assign(ref: Any, value: Any, *, validate_shape: bool, node: Any) -> Any:
    """Sets a ref variable."""
    if validate_shape:
        declared = node.inputs[0].static_shape if ref.value is None else ref.value.shape
        fits = declared is None or (
            len(declared) == np.ndim(value)
            and all(want is None or want == have for want, have in zip(declared, np.shape(value)))
        )
        if not fits:
            raise InvalidArgumentError(
                f"Assign requires shapes of both tensors to match. lhs shape= {format_shape(declared)} "
                f"rhs shape= {format_shape(np.shape(value))}",
                variable=ref.name,
            )
    ref.assign(np.asarray(value))
    return ref


@assign.shape
def _(node: Any) -> Shape:
    if node.attr("validate_shape"):
        return merge(node.shape(0), node.shape(1))
    shape: Shape = node.shape(1)
    return shape


def _update(name: str, ufunc: Callable[..., Any]) -> GraphOp:
    def kernel(ref: Any, value: Any) -> Any:
        with ref.lock:
            array = ref.writable()
            check_same_shape(array, value, name)
            ufunc(array, value, out=array)
        return ref

    declared = op(
        name,
        "ref: Ref(T), value: T -> output_ref: Ref(T)",
        "use_locking: bool = false",
        T=NUMBER,
        no_grad=_NO_GRAD,
    )(kernel)
    declared.shape(rules.merge_inputs)
    return declared


assign_add = _update("AssignAdd", np.add)
assign_sub = _update("AssignSub", np.subtract)


@op(
    "AssignVariableOp",
    "resource: resource, value: dtype ->",
    dtype=ANY,
    stateful=True,
    ctx=False,
    no_grad=_NO_GRAD,
)
def assign_variable_op(resource: Any, value: Any) -> None:
    """Sets a resource variable; a value of a shape that the variable cannot have is an error.

    TensorFlow accepts such a value silently, and computes with it; that is not imitated.
    """
    declared = resource.shape
    shape = np.shape(value)
    if declared is not None and (
        len(declared) != len(shape) or any(want not in (None, have) for want, have in zip(declared, shape))
    ):
        raise InvalidArgumentError(
            f"Assign requires shapes of both tensors to match. lhs shape= {format_shape(declared)} "
            f"rhs shape= {format_shape(shape)} (variable {resource.name})",
            variable=resource.name,
        )
    resource.assign(np.asarray(value))


assign_variable_op.shape(rules.nothing)


def _resource_update(name: str, ufunc: Callable[..., Any]) -> GraphOp:
    def kernel(resource: Any, value: Any) -> None:
        with resource.lock:
            array = resource.writable()
            check_same_shape(array, value, name)
            ufunc(array, value, out=array)

    declared = op(
        name, "resource: resource, value: dtype ->", dtype=ANY, stateful=True, ctx=False, no_grad=_NO_GRAD
    )(kernel)
    declared.shape(rules.nothing)
    return declared


assign_add_variable_op = _resource_update("AssignAddVariableOp", np.add)
assign_sub_variable_op = _resource_update("AssignSubVariableOp", np.subtract)


def _count_up_to(ref: Any, *, limit: int) -> Any:
    """Adds 1 to a scalar variable and gives the old value, until it reaches `limit`."""
    with ref.lock:
        array = ref.writable()
        old = array.copy()
        if old >= limit:
            raise OutOfRangeError(f"Reached limit of {limit}")
        array += 1
    return old


count_up_to = op("CountUpTo", "ref: Ref(T) -> output: T", "limit: int", T=INDEX, no_grad=_NO_GRAD)(
    _count_up_to
)
resource_count_up_to = op(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    "limit: int",
    T=INDEX,
    stateful=True,
    ctx=False,
    no_grad=_NO_GRAD,
)(_count_up_to)

for _counting in (count_up_to, resource_count_up_to):
    _counting.shape(rules.scalar)


# Sparse updates

_IN_PLACE: dict[str, Callable[..., Any]] = {
    "Add": np.add.at,
    "Sub": np.subtract.at,
    "Mul": np.multiply.at,
    "Div": np.divide.at,
    "Min": np.minimum.at,
    "Max": np.maximum.at,
}


def scatter(array: Any, indices: Any, updates: Any, how: str) -> None:
    """Updates rows of `array` in place; repeated indices add up (or the last one wins for Update).

    Raises:
        InvalidArgumentError: An index lies outside, or the shapes do not fit.
    """
    flat = np.reshape(indices, -1)
    wrong = np.flatnonzero((flat < 0) | (flat >= array.shape[0])) if array.ndim else np.arange(0)
    if wrong.size:
        place = [int(i) for i in np.unravel_index(wrong[0], np.shape(indices))]
        where = f"indices{place}" if place else "indices"
        raise InvalidArgumentError(f"{where} = {flat[wrong[0]]} is not in [0, {array.shape[0]})")
    if np.ndim(updates) and np.shape(updates) != np.shape(indices) + array.shape[1:]:
        raise InvalidArgumentError(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got "
            "updates.shape "
            f"{list(np.shape(updates))}, indices.shape {list(np.shape(indices))}, params.shape "
            f"{list(array.shape)}"
        )
    rows = updates if not np.ndim(updates) else np.reshape(updates, (flat.size, *array.shape[1:]))
    if how == "Update":
        array[flat] = rows
    elif how == "Div" and array.dtype.kind in "iu":
        for index, row in zip(flat, np.broadcast_to(rows, (flat.size, *array.shape[1:]))):
            array[index] = np.trunc(array[index] / row)
    else:
        _IN_PLACE[how](array, flat, rows)


def _scatter_ops(how: str, types: Any, locking: str) -> None:
    def by_ref(ref: Any, indices: Any, updates: Any) -> Any:
        with ref.lock:
            scatter(ref.writable(), indices, updates, how)
        return ref

    def by_resource(resource: Any, indices: Any, updates: Any) -> None:
        with resource.lock:
            scatter(resource.writable(), indices, updates, how)

    op(
        f"Scatter{how}",
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        f"use_locking: bool = {locking}",
        T=types,
        Tindices=INDEX,
        no_grad=_NO_GRAD,
    )(by_ref).shape(rules.unchanged)
    op(
        f"ResourceScatter{how}",
        "resource: resource, indices: Tindices, updates: dtype ->",
        dtype=types if how != "Update" else ANY,
        Tindices=INDEX,
        stateful=True,
        ctx=False,
        no_grad=_NO_GRAD,
    )(by_resource).shape(rules.nothing)


_scatter_ops("Update", ANY, "true")
for _how in ("Add", "Sub", "Mul", "Div"):
    _scatter_ops(_how, NUMBER, "false")


@op(
    "ResourceGather",
    "resource: resource, indices: Tindices -> output: dtype",
    "batch_dims: int = 0",
    "validate_indices: bool = true",
    dtype=ANY,
    Tindices=INDEX,
    stateful=True,
    ctx=False,
)
def resource_gather(resource: Any, indices: Any, *, batch_dims: int) -> Any:
    """Rows of a resource variable."""
    return gather(resource.read(), indices, batch_dims, batch_dims)


@resource_gather.shape
def _(node: Any) -> Shape:
    params, indices = rules.shape_of_variable(node, 0), node.shape(1)
    if params is None or indices is None:
        return None
    batch = node.attr("batch_dims")
    return (*params[:batch], *indices[batch:], *params[batch + 1 :])


@resource_gather.grad
def _(node: Any, dy: Any) -> Any:
    """IndexedSlices of the rows that were read."""
    handle, indices = node.inputs
    shape = raw_ops.VariableShape(handle)
    tail = raw_ops.StridedSlice(shape, [1], [0], [1], end_mask=1)
    size = raw_ops.ExpandDims(raw_ops.Size(indices), 0)
    values = raw_ops.Reshape(dy, raw_ops.ConcatV2([size, tail], 0))
    return [IndexedSlices(values, raw_ops.Reshape(indices, size), shape), None]
