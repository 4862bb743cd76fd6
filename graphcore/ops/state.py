"""Variables, by reference and by resource handle, and assignments to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import ANY, INDEX, NUMBER, int32
from ..errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, OutOfRangeError
from ..op import GraphOp, op
from ..resources import Ref
from ..shapes import Shape, format_shape, merge, with_rank
from . import rules

_NAMES = ("container: string = ''", "shared_name: string = ''")
_NO_GRAD = "assignments are not differentiable"


def _ref_variable(ctx: Any, *, node: Any) -> Any:
    """The reference of a variable."""
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
    "DisableCopyOnRead",
    "resource: resource ->",
    stateful=True,
    ctx=False,
    no_grad="it has no outputs",
)
def disable_copy_on_read(resource: Any) -> None:
    """Nothing: how TensorFlow 2 shares a variable's buffer with its readers."""


disable_copy_on_read.shape(rules.nothing)


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
            f"{what} requires shapes of both tensors to match. lhs shape= {format_shape(ref.shape)} "
            "rhs shape= "
            f"{format_shape(value.shape)}"
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


def _update(name: str, text: str, ufunc: Callable[..., Any]) -> GraphOp:
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
        text=text,
    )(kernel)
    declared.shape(rules.merge_inputs)
    return declared


assign_add = _update("AssignAdd", "Adds a value to a variable.", np.add)
assign_sub = _update("AssignSub", "Subtracts a value from a variable.", np.subtract)


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


def _resource_update(name: str, text: str, ufunc: Callable[..., Any]) -> GraphOp:
    def kernel(resource: Any, value: Any) -> None:
        with resource.lock:
            array = resource.writable()
            check_same_shape(array, value, name)
            ufunc(array, value, out=array)

    declared = op(
        name,
        "resource: resource, value: dtype ->",
        dtype=ANY,
        stateful=True,
        ctx=False,
        no_grad=_NO_GRAD,
        text=text,
    )(kernel)
    declared.shape(rules.nothing)
    return declared


assign_add_variable_op = _resource_update("AssignAddVariableOp", "Adds a value to a variable.", np.add)
assign_sub_variable_op = _resource_update(
    "AssignSubVariableOp", "Subtracts a value from a variable.", np.subtract
)


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


# References


@op(
    "RefSelect",
    "index: int32, inputs: N * Ref(T) -> output: Ref(T)",
    T=ANY,
    no_grad="it selects a reference",
)
def ref_select(index: Any, inputs: list[Any]) -> Any:
    """One of several references."""
    if np.ndim(index):
        raise InvalidArgumentError(
            f"Index must be a scalar, but it has shape {format_shape(np.shape(index))}"
        )
    if not 0 <= index < len(inputs):
        raise InvalidArgumentError(f"Index must be in the range [0, {len(inputs)}) but got {index}")
    return inputs[int(index)]


@ref_select.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(0), 0)
    first: Shape = node.shape(1)
    if first is None:
        return None
    for index in range(2, len(node.shapes)):
        if node.shape(index) != first:
            return None
    return first


@op(
    "TemporaryVariable",
    "-> ref: Ref(dtype)",
    "shape: shape",
    "var_name: string = ''",
    dtype=ANY,
    stateful=True,
    no_grad="it has no inputs",
)
def temporary_variable(ctx: Any, *, var_name: str, node: Any) -> Ref:
    """A ref variable that lives until DestroyTemporaryVariable in the same run; it has no value at first."""
    name = var_name or node.name
    if ("temporary", name) in ctx.scratch:
        raise AlreadyExistsError(f"Resource __per_step__/{name} already exists", variable=name)
    made = Ref(name)
    ctx.scratch["temporary", name] = made
    return made


temporary_variable.shape(lambda node: node.attr("shape"))


@op(
    "DestroyTemporaryVariable",
    "ref: Ref(T) -> value: T",
    "var_name: string",
    T=ANY,
    ctx=True,
    no_grad=_NO_GRAD,
)
def destroy_temporary_variable(ctx: Any, ref: Any, *, var_name: str) -> Any:
    """The last value of a temporary variable, which is no more."""
    if ctx.scratch.pop(("temporary", var_name), None) is None:
        raise NotFoundError(f"Resource __per_step__/{var_name} does not exist.", variable=var_name)
    return ref.read()


destroy_temporary_variable.shape(rules.unchanged)
