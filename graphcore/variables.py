"""The kinds of variables, how they become tensors, and the functions on collections of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .convert import convert_to_tensor, register_tensor_conversion_function
from .default import GraphKeys, get_collection, name_scope
from .dtypes import DType
from .errors import InvalidValueError
from .op import group, no_op, raw_ops
from .operation import Operation, Tensor
from .ops.control_flow import tf_assert, with_dependencies
from .ref_variable import RefVariable
from .resource_variable import ResourceVariable
from .variable import (
    SaveSliceInfo,
    Variable,
    VariableAggregation,
    VariableSynchronization,
    disable_resource_variables,
    enable_resource_variables,
    resource_variables_enabled,
)

__all__ = [
    "RefVariable",
    "ResourceVariable",
    "SaveSliceInfo",
    "Variable",
    "VariableAggregation",
    "VariableSynchronization",
    "all_variables",
    "assert_variables_initialized",
    "assign",
    "assign_add",
    "assign_sub",
    "count_up_to",
    "disable_resource_variables",
    "enable_resource_variables",
    "global_variables",
    "global_variables_initializer",
    "is_variable_initialized",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "report_uninitialized_variables",
    "resource_variables_enabled",
    "tables_initializer",
    "trainable_variables",
    "variables_initializer",
]  # fmt: skip


def _variable_to_tensor(
    value: Variable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise InvalidValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}'"
        )
    return value._ref() if as_ref and isinstance(value, RefVariable) else value.value()


register_tensor_conversion_function(Variable, _variable_to_tensor)


def forward_operators(kind: type) -> None:
    """Gives a class of variables the operators of their value's tensor."""

    def forward(name: str) -> Callable[..., Any]:
        @functools.wraps(getattr(Tensor, name))
        def operator(self: Any, *args: Any) -> Any:
            return getattr(Tensor, name)(self.value(), *args)

        return operator

    for name in Tensor.OVERLOADABLE_OPERATORS:
        if hasattr(Tensor, name) and name not in vars(kind):
            setattr(kind, name, forward(name))


forward_operators(Variable)


# Collections of variables


def global_variables(scope: str | None = None) -> list[Any]:
    """`tf.global_variables`."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """`tf.local_variables`."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """`tf.model_variables`."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """`tf.trainable_variables`."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """`tf.moving_average_variables`."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Old name of `global_variables`."""
    return global_variables()


def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """An operation that initializes all the variables."""
    if not var_list:
        return no_op(name=name)
    return group(*[variable.initializer for variable in var_list], name=name)


def global_variables_initializer() -> Operation:
    """`tf.global_variables_initializer`."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """`tf.local_variables_initializer`."""
    return variables_initializer(local_variables())


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that initializes all look-up tables."""
    found = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*found, name=name) if found else no_op(name=name)


def is_variable_initialized(variable: Any) -> Any:
    """A boolean tensor: whether the variable has a value."""
    return (
        variable._is_initialized()
        if isinstance(variable, Variable)
        else raw_ops.IsVariableInitialized(variable)
    )


def report_uninitialized_variables(var_list: Any = None, name: str = "report_uninitialized_variables") -> Any:
    """A string tensor: the names of variables that have no value.

    Args:
        var_list: The variables; by default the global and local ones.
        name: Name of the operation.
    """
    variables = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    with name_scope(name):
        if not variables:
            return raw_ops.Const(value=np.empty(0, object), dtype="string")
        missing = raw_ops.LogicalNot(
            raw_ops.Pack([is_variable_initialized(variable) for variable in variables])
        )
        names = convert_to_tensor([variable.op.name for variable in variables])
        where = raw_ops.Reshape(raw_ops.Where(missing), [-1])
        return raw_ops.GatherV2(names, where, 0)


def assert_variables_initialized(var_list: Any = None) -> Any:
    """A tensor that fails to run unless all variables have values; None where there are none.

    Args:
        var_list: The variables; by default the global and local ones.
    """
    variables = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    if not variables:
        return None
    checks = [
        tf_assert(
            is_variable_initialized(variable), [f"Attempting to use uninitialized value {variable.op.name}"]
        )
        for variable in variables
    ]
    ranks = [raw_ops.Rank(variable.value()) for variable in variables]
    return with_dependencies(checks, ranks[0] if len(ranks) == 1 else raw_ops.Pack(ranks))


# Assignments as functions


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """`tf.assign`: sets a variable."""
    if isinstance(ref, ResourceVariable) or (isinstance(ref, Tensor) and not ref.dtype._is_ref_dtype):
        return ref.assign(value, name=name)  # a resource variable, or a slice of a variable
    options = {"validate_shape": validate_shape, "use_locking": use_locking}
    return raw_ops.Assign(
        ref, value, name=name, **{key: item for key, item in options.items() if item is not None}
    )


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """`tf.assign_add`: adds to a variable."""
    return (
        ref.assign_add(value)
        if isinstance(ref, ResourceVariable)
        else raw_ops.AssignAdd(ref, value, use_locking=bool(use_locking), name=name)
    )


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """`tf.assign_sub`: subtracts from a variable."""
    return (
        ref.assign_sub(value)
        if isinstance(ref, ResourceVariable)
        else raw_ops.AssignSub(ref, value, use_locking=bool(use_locking), name=name)
    )


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """`tf.count_up_to`: adds 1 to a scalar variable and gives the old value, until it reaches `limit`."""
    if isinstance(ref, ResourceVariable):
        return raw_ops.ResourceCountUpTo(ref.handle, limit=limit, T=ref.dtype, name=name)
    return raw_ops.CountUpTo(ref, limit=limit, name=name)
