"""Variables whose first values come from a checkpoint: their initializers read it.

Source: tensorflow/python/training/{checkpoint_utils,warm_starting_util}.py (r1.15), behaviour and texts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..formats import checkpoint_state
from ..formats.errors import bullets, did_you_mean
from .checkpoint_reader import CheckpointReader, load_checkpoint
from .default import GraphKeys, get_default_graph
from .errors import InvalidValueError, UnimplementedError
from .op import raw_ops
from .partitioned_variable import PartitionedVariable
from .resource_variable import ResourceVariable
from .tensor_shape import TensorShape
from .variable import Variable
from .variable_scope import get_variable_store

_PART = "/part_"


def init_from_checkpoint(ckpt_dir_or_file: str | os.PathLike[str], assignment_map: Mapping[str, Any]) -> None:
    """`tf.train.init_from_checkpoint`: variables get initializers that read a checkpoint.

    Run them (`tf.global_variables_initializer`, made afterwards) to have the values. Nothing changes unless
    everything fits.

    Args:
        ckpt_dir_or_file: The checkpoint, or a directory whose latest is meant.
        assignment_map: From names in the checkpoint to variables, names of variables, or lists of the parts
            of a partitioned one; from `scope/` in the checkpoint to `scope/` in the graph; `/` is the root.

    Raises:
        ValueError: A tensor is not in the checkpoint, or has another shape; lists all that is wrong.
        NotFoundError: There is no checkpoint.
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    problems: list[str] = []
    pairs: list[tuple[list[Any], str]] = []
    for name, target in sorted(assignment_map.items()):
        found = _variables_of(target)
        if found:
            pairs.append((found, name))
        elif isinstance(target, str):
            pairs += _pairs_of_scope(name, target, problems)
        else:
            problems.append(f"{target!r} is neither a variable nor the name of one (for {name})")
    _set_initializers(reader, pairs, problems, os.fspath(ckpt_dir_or_file))


def _variables_of(target: Any) -> list[Any]:
    """The variable, or the parts of one, that a value of an assignment map means; none of a scope."""
    if isinstance(target, Variable):
        return [target]
    if isinstance(target, PartitionedVariable):
        return list(target)
    if isinstance(target, (list, tuple)):
        return list(target) if all(isinstance(each, Variable) for each in target) else []
    return _named(target) if isinstance(target, str) else []


def _named(name: str) -> list[Any]:
    store = get_variable_store().variables
    if name in store:
        return [store[name]]
    parts: list[Any] = []
    while f"{name}{_PART}{len(parts)}" in store:
        parts.append(store[f"{name}{_PART}{len(parts)}"])
    return parts


def _pairs_of_scope(name: str, target: str, problems: list[str]) -> list[tuple[list[Any], str]]:
    """(variable, name in the checkpoint) for all variables of a scope."""
    scope = target.rpartition("/")[0]
    if not name.endswith("/"):
        problems.append(
            f"Assignment map with scope only name {scope} should map to scope only {name}. Should be "
            f"'scope/': 'other_scope/'.{did_you_mean(target, get_variable_store().variables)}"
        )
        return []
    prefix = f"{scope}/" if scope else ""
    inside = {each.split(_PART)[0] for each in get_variable_store().variables if each.startswith(prefix)}
    outer = "" if name == "/" else name
    return [(_named(each), outer + each.removeprefix(prefix)) for each in sorted(inside)]


def _set_initializers(
    reader: CheckpointReader, pairs: list[tuple[list[Any], str]], problems: list[str], where: str
) -> None:
    shapes = reader.get_variable_to_shape_map()
    for variables, name in pairs:
        label = ",".join(each.name for each in variables)
        wholes = {_whole(each) for each in variables} if len(variables) > 1 else set()
        if name not in shapes:
            problems.append(
                f"Tensor {name} ({label}) is not found in {where} checkpoint{did_you_mean(name, shapes)}"
            )
        elif len(wholes) > 1:
            named = " != ".join(sorted(map(str, wholes)))
            problems.append(f"Slices must all be from the same tensor: {named}")
        elif not _shape_of(variables[0]).is_compatible_with(shapes[name]):
            problems.append(
                f"Shape of variable {label} ({_shape_of(variables[0])}) doesn't match with shape of tensor "
                f"{name} ({shapes[name]}) from checkpoint reader."
            )
    if problems:
        text = problems[0] if len(problems) == 1 else f"These do not fit:{bullets(problems)}"
        raise InvalidValueError(text, problems=problems)
    prefix = checkpoint_state.resolve_prefix(where).prefix
    for variables, name in pairs:
        for variable in variables:
            _set_initializer(variable, prefix, name)


def _whole(variable: Any) -> str | None:
    info = variable._get_save_slice_info()
    return None if info is None else info.full_name


def _shape_of(variable: Any) -> TensorShape:
    info = variable._get_save_slice_info()
    shape: TensorShape = variable.get_shape() if info is None else TensorShape(info.full_shape)
    return shape


def _set_initializer(variable: Any, prefix: str, name: str) -> None:
    graph = variable.graph
    info = variable._get_save_slice_info()
    with graph.as_default(), graph.control_dependencies(None), graph.device(variable.device):
        with graph.device("/cpu:0"):
            (value,) = raw_ops.RestoreV2(
                prefix,
                [name],
                ["" if info is None else info.spec],
                dtypes=[variable.dtype.base_dtype],
                name="checkpoint_initializer",
            )
        value.set_shape(variable.get_shape())
        if isinstance(variable, ResourceVariable):
            operation = raw_ops.AssignVariableOp(variable.handle, raw_ops.Identity(value))
        else:
            operation = raw_ops.Assign(variable._ref(), value).op
    variable._initializer_op = operation
    variable._initial_value = value


def warm_start(
    ckpt_to_initialize_from: str | os.PathLike[str],
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, Any] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """`tf.train.warm_start`: `init_from_checkpoint` for the variables that a pattern means.

    Args:
        ckpt_to_initialize_from: The checkpoint, or a directory whose latest is meant.
        vars_to_warm_start: A pattern for names of trainable variables, a list of patterns for names of
            any, or a list of variables.
        var_name_to_vocab_info: Not supported.
        var_name_to_prev_var_name: Names in the checkpoint, by those of variables, where they differ.

    Raises:
        ValueError: Nothing is meant, a name is of no variable, or a tensor does not fit; lists all.
        UnimplementedError: Vocabularies are given.
    """
    if var_name_to_vocab_info:
        raise UnimplementedError(
            "Variables whose vocabulary has changed are not warm-started; assign their rows with "
            "tf.train.load_variable and tf.Variable.load."
        )
    renamed = dict(var_name_to_prev_var_name or {})
    groups: dict[str, list[Any]] = {}
    for variable in _chosen(vars_to_warm_start):
        groups.setdefault(_whole(variable) or variable.op.name, []).append(variable)
    unused = sorted(set(renamed) - set(groups))
    if unused:
        raise InvalidValueError(
            "You provided the following variables in var_name_to_prev_var_name that were not used: "
            f"{', '.join(unused)}. Perhaps you misspelled them? Here is the list of viable variable names: "
            f"{', '.join(groups)}",
            names=unused,
        )
    reader = load_checkpoint(ckpt_to_initialize_from)
    pairs = [(variables, renamed.get(name, name)) for name, variables in groups.items()]
    _set_initializers(reader, pairs, [], os.fspath(ckpt_to_initialize_from))


def _chosen(wanted: Any) -> Iterable[Any]:
    graph = get_default_graph()
    if isinstance(wanted, str):
        return graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted)
    if wanted is None:  # those with a vocabulary, of which there are none
        return ()
    if not isinstance(wanted, list):
        raise InvalidValueError(
            f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}"
        )
    if all(isinstance(each, str) for each in wanted):
        return [one for each in wanted for one in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, each)]
    if all(isinstance(each, (Variable, PartitionedVariable)) for each in wanted):
        return [one for each in wanted for one in _variables_of(each)]
    raise InvalidValueError(
        "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
        f"{[type(each) for each in wanted]}"
    )
