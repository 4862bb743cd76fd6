"""Slots: variables that belong to another variable, named `VARIABLE/NAME`.

Source: tensorflow/python/training/slot_creator.py (r1.15), behaviour only.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from ..default import get_default_graph
from ..initializers import Zeros
from ..op import raw_ops
from ..ops.array_create import zeros
from ..tensor_shape import TensorShape
from ..variable import SaveSliceInfo, Variable
from ..variable_scope import get_variable, get_variable_scope, variable_scope
from ..variables import RefVariable, ResourceVariable


def create_slot(primary: Any, val: Any, name: str, colocate_with_primary: bool = True) -> Any:
    """A slot of `primary` with the tensor `val` at first.

    Args:
        primary: A variable, or a tensor.
        val: The initial value; its shape need not be the variable's.
        name: Follows the variable's name.
        colocate_with_primary: Whether it shares the variable's device.
    """
    return _create(primary, name, colocate_with_primary, val.get_shape(), initializer=val)


def create_slot_with_initializer(
    primary: Any, initializer: Any, shape: Any, dtype: Any, name: str, colocate_with_primary: bool = True
) -> Any:
    """A slot of `primary` of that shape and dtype, with what an initializer gives at first."""
    known = TensorShape(shape)
    return _create(
        primary, name, colocate_with_primary, known, initializer=initializer, shape=known, dtype=dtype
    )


def create_zeros_slot(primary: Any, name: str, dtype: Any = None, colocate_with_primary: bool = True) -> Any:
    """A slot of the shape of `primary`, 0 at first; also where that shape is only known when it runs."""
    dtype = (dtype or primary.dtype).base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(primary, Zeros(), shape, dtype, name, colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(raw_ops.Shape(value), dtype), name, colocate_with_primary)


def _create(primary: Any, name: str, colocate: bool, known: TensorShape, **options: Any) -> Any:
    is_resource = isinstance(primary, ResourceVariable)
    use_resource = is_resource if is_resource or isinstance(primary, RefVariable) else None
    graph = get_default_graph()
    beside = graph.colocate_with(primary.op) if colocate else nullcontext()
    with variable_scope(None, f"{primary.op.name}/{name}"), beside:
        # A slot of a part of a variable is a part itself, whatever the scope's partitioner says.
        scope = get_variable_scope()
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        slot = get_variable(
            "",
            trainable=False,
            use_resource=use_resource,
            validate_shape=known.is_fully_defined(),
            **options,
        )
        scope.set_partitioner(partitioner)
    part = primary._get_save_slice_info() if isinstance(primary, Variable) else None
    if part is not None:
        suffix = slot.op.name[len(primary.op.name) + 1 :]
        slot._set_save_slice_info(
            SaveSliceInfo(f"{part.full_name}/{suffix}", part.full_shape, part.var_offset, part.var_shape)
        )
    return slot
