"""`tf.contrib.framework`: variables by name and scope, and their values from checkpoints.

Source: tensorflow/contrib/framework/python/ops/variables.py (r1.15), behaviour only.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import not_yet
from .checkpoint_reader import NewCheckpointReader, list_variables, load_checkpoint, load_variable
from .default import GraphKeys, add_to_collection, device as device_scope, get_collection
from .dtypes import float32
from .errors import InvalidTypeError, InvalidValueError
from .nest import flatten
from .op import group, raw_ops
from .saver import Saver
from .variable_scope import (
    VariableScope,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    get_variable,
    get_variable_scope,
)
from .variables import Variable


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a scope whose names end in `suffix`.

    Args:
        scope: A VariableScope, or a pattern that names begin with; by default all.
        suffix: The end of the name, or a pattern; by default any.
        collection: The collection that they are in.
    """
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix}{'' if ':' in suffix else ':'}"
    return get_collection(collection, scope)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """As `get_variables`, of the collection `MODEL_VARIABLES`."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """As `get_variables`, of the collection `LOCAL_VARIABLES`."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """As `get_variables`, of the collection `TRAINABLE_VARIABLES`."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_to_restore(
    include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
) -> list[Any]:
    """The global variables in the scopes `include` (by default all) and not in those of `exclude`.

    Raises:
        TypeError: An argument is no list.
    """
    for name, given in (("include", include), ("exclude", exclude)):
        if given is not None and not isinstance(given, (list, tuple)):
            raise InvalidTypeError(f"{name} is provided but is not a list or a tuple.")
    if include is None:
        included = get_variables()
    else:
        included = [variable for scope in include for variable in get_variables(scope)]
    excluded = {variable for scope in exclude or () for variable in get_variables(scope)}
    return [variable for variable in included if variable not in excluded]


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The global variables whose names end in `suffix`."""
    return get_variables(scope, suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The global variables called `given_name`, in whatever scope."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The global variable of that name.

    Raises:
        ValueError: There is none.
    """
    candidates = get_variables(var_op_name)
    if not candidates:
        raise InvalidValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise InvalidValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variable_full_name(var: Any) -> str:
    """The name of a variable, or of the whole that it is a slice of."""
    info = var._get_save_slice_info()
    return str(var.op.name if info is None else info.full_name)


def filter_variables(
    var_list: Sequence[Any],
    include_patterns: Sequence[str] | None = None,
    exclude_patterns: Sequence[str] | None = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names have one of the first patterns (by default any) and none of the others."""
    find = re.search if reg_search else re.match

    def has(variable: Any, patterns: Sequence[str]) -> bool:
        return any(find(pattern, variable.name) for pattern in patterns)

    return [
        variable
        for variable in var_list
        if (include_patterns is None or has(variable, include_patterns))
        and not has(variable, exclude_patterns or ())
    ]


# Making variables


def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    **options: Any,
) -> Any:
    """As `tf.get_variable`, on `device`."""
    keys = list(dict.fromkeys(collections if collections is not None else [GraphKeys.GLOBAL_VARIABLES]))
    getter: Callable[..., Any] = get_variable
    if custom_getter is not None:
        reuse = get_variable_scope().reuse

        def getter(name: str, **given: Any) -> Any:
            return custom_getter(name, reuse=reuse, **given)

    with device_scope(device or ""):
        return getter(
            name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
            trainable=trainable, collections=keys, caching_device=caching_device, partitioner=partitioner,
            use_resource=use_resource, **options,
        )  # fmt: skip


def model_variable(name: str, *args: Any, collections: Any = None, **kwargs: Any) -> Any:
    """As `variable`, also in the collection `MODEL_VARIABLES`; float32 by default."""
    if len(args) < 2:
        kwargs.setdefault("dtype", float32)
    keys = [*(collections or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(name, *args, **{**kwargs, "collections": keys})


def local_variable(
    initial_value: Any, validate_shape: bool = True, name: str | None = None, use_resource: bool | None = None
) -> Any:
    """A variable that is not trained, in the collection `LOCAL_VARIABLES`."""
    return Variable(
        initial_value, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=validate_shape, name=name, use_resource=use_resource,
    )  # fmt: skip


def add_model_variable(var: Any) -> None:
    """Adds a variable to the collection `MODEL_VARIABLES`."""
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


# Values


def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """(operation, feeds): running the one with the other sets global variables to NumPy arrays.

    Args:
        var_names_to_values: Arrays by the variables' names.

    Raises:
        ValueError: There is no such variable.
    """
    assignments, feeds = [], {}
    for name, value in var_names_to_values.items():
        found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
        if not found:
            raise InvalidValueError(f"Variable {name} wasn't found")
        exact = found if len(found) == 1 else [item for item in found if item.op.name == name]
        if not exact:
            raise InvalidValueError(f"Variable {name} doesn't uniquely identify a variable")
        placeholder, assignment = _assigned(exact[0])
        assignments.append(assignment)
        feeds[placeholder] = value.reshape(exact[0].get_shape().as_list())
    return group(*assignments), feeds


def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that sets global variables; see `assign_from_values`."""
    operation, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(operation, feeds)


def _assigned(variable: Any) -> tuple[Any, Any]:
    """(placeholder, operation that assigns it)."""
    placeholder = raw_ops.Placeholder(
        dtype=variable.dtype.base_dtype, shape=variable.get_shape(), name=f"placeholder/{variable.op.name}"
    )
    return placeholder, variable.assign(placeholder)


def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """(operation, feeds): running the one with the other sets variables to a checkpoint's values.

    Args:
        model_path: The checkpoint's prefix.
        var_list: A list of variables, or variables (or lists of slices) by their names in the checkpoint.
        ignore_missing_vars: Warn of what the checkpoint lacks rather than fail.

    Raises:
        ValueError: The checkpoint lacks a variable, or has it in another shape.
    """
    named: dict[str, list[Any]] = {}
    if isinstance(var_list, dict):
        named = {name: flatten(value) for name, value in var_list.items()}
    else:
        for item in var_list:
            named.setdefault(get_variable_full_name(item), []).append(item)
    reader = NewCheckpointReader(model_path)
    missing = [name for name in named if not reader.has_tensor(name)]
    if missing and not ignore_missing_vars:
        raise InvalidValueError("\n".join(f"Checkpoint is missing variable [{name}]" for name in missing))
    assignments, feeds = [], {}
    for name, items in named.items():
        if name in missing:
            warnings.warn(f"Checkpoint is missing variable [{name}]", stacklevel=2)
            continue
        value = reader.get_tensor(name)
        for item in items:
            placeholder, assignment = _assigned(item)
            assignments.append(assignment)
            info = item._get_save_slice_info()
            part = value
            if info is not None:
                part = value[
                    tuple(slice(start, start + size) for start, size in zip(info.var_offset, info.var_shape))
                ]
            if list(part.shape) != item.get_shape().as_list():
                raise InvalidValueError(
                    f"Total size of new array must be unchanged for {name} lh_shape: [{part.shape}], "
                    f"rh_shape: [{item.get_shape()}]"
                )
            feeds[placeholder] = part
    return group(*assignments), feeds


def assign_from_checkpoint_fn(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False, reshape_variables: bool = False
) -> Callable[[Any], None] | None:
    """A function of a session that restores variables from a checkpoint; None where it has none of them.

    Args:
        model_path: The checkpoint's prefix.
        var_list: A list of variables, or variables by their names in the checkpoint.
        ignore_missing_vars: Warn of what the checkpoint lacks rather than fail.
        reshape_variables: Restore values of other shapes but as many elements.

    Raises:
        ValueError: `var_list` is empty.
    """
    if not var_list:
        raise InvalidValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = NewCheckpointReader(model_path)
        named = var_list if isinstance(var_list, dict) else {item.op.name: item for item in var_list}
        for name in [name for name in named if not reader.has_tensor(name)]:
            warnings.warn(f"Variable {name} missing in checkpoint {model_path}", stacklevel=2)
        var_list = {name: item for name, item in named.items() if reader.has_tensor(name)}
        if not var_list:
            return None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing("sgtool.graphcore.contrib.framework", name)


__all__ = [
    "add_model_variable", "assign_from_checkpoint", "assign_from_checkpoint_fn", "assign_from_values",
    "assign_from_values_fn", "create_global_step", "filter_variables", "get_global_step",
    "get_local_variables", "get_model_variables", "get_or_create_global_step", "get_trainable_variables",
    "get_unique_variable", "get_variable_full_name", "get_variables", "get_variables_by_name",
    "get_variables_by_suffix", "get_variables_to_restore", "list_variables", "load_checkpoint",
    "load_variable", "local_variable", "model_variable", "variable",
]  # fmt: skip
