"""The nodes that control flow is made of, for references and plain tensors alike."""

from __future__ import annotations

from typing import Any

from .convert import convert_to_tensor
from .op import raw_ops
from .operation import Tensor
from .shapes import Shape


def switch_of(data: Any, pred: Any, name: str = "Switch") -> Any:
    """`(false side, true side)` of a Switch beside `data`."""
    data = convert_to_tensor(data, name="data", as_ref=True)
    kind = raw_ops.RefSwitch if data.dtype._is_ref_dtype else raw_ops.Switch
    with data.graph.colocate_with(data, ignore_existing=True):
        return kind(data, pred, name=name)


def merge_of(entered: Tensor, name: str | None = None) -> Tensor:
    """The Merge of a loop variable, its back edge still to be made (`close_back_edge`)."""
    kind = raw_ops.RefMerge if entered.dtype._is_ref_dtype else raw_ops.Merge
    result: Tensor = kind([entered, entered], name=name).output
    return result


def identity_of(tensor: Tensor) -> Tensor:
    """An Identity that keeps references."""
    kind = raw_ops.RefIdentity if tensor.dtype._is_ref_dtype else raw_ops.Identity
    result: Tensor = kind(tensor)
    return result


def exit_of(data: Tensor, name: str | None = None) -> Tensor:
    """An Exit out of the current frame."""
    kind = raw_ops.RefExit if data.dtype._is_ref_dtype else raw_ops.Exit
    result: Tensor = kind(data, name=name)
    return result


def next_iteration_of(data: Tensor, name: str | None = None) -> Tensor:
    """A NextIteration."""
    kind = raw_ops.RefNextIteration if data.dtype._is_ref_dtype else raw_ops.NextIteration
    result: Tensor = kind(data, name=name)
    return result


def close_back_edge(merged: Tensor, following: Tensor) -> None:
    """Makes `following`, a NextIteration, the value of a loop variable in all iterations but the first."""
    merged.op._update_input(1, following)


def set_shape_to(tensor: Tensor, shape: Shape) -> None:
    """Sets the static shape, whatever was inferred."""
    _ = tensor.static_shape
    shapes = tensor.op._shapes
    assert shapes is not None
    shapes[tensor.value_index] = shape
