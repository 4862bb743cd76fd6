"""Shape rules that many ops share, and helpers for gradients; no op is declared here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import InvalidArgumentError, InvalidValueError
from ..op import raw_ops
from ..shapes import Shape, broadcast, format_shape, merge, with_rank


def same_as(index: int) -> Callable[[Any], Shape]:
    """The rule "shaped like input `index`"."""

    def rule(node: Any) -> Shape:
        shape: Shape = node.shape(index)
        return shape

    return rule


unchanged = same_as(0)


def scalar(node: Any) -> Shape:
    """The rule "always rank 0"."""
    return ()


def scalar_inputs_to_scalar(node: Any) -> Shape:
    """Rank 0 in, rank 0 out.

    Raises:
        InvalidValueError: An input has another rank.
    """
    for shape in node.shapes:
        with_rank(shape, 0)
    return ()


def broadcast_inputs(node: Any) -> Shape:
    """The NumPy broadcast of all inputs."""
    shapes = node.shapes
    result: Shape = shapes[0]
    for shape in shapes[1:]:
        result = broadcast(result, shape)
    return result


def merge_inputs(node: Any) -> Shape:
    """All inputs have one shape."""
    result: Shape = None
    for shape in node.shapes:
        result = merge(result, shape)
    return result


def nothing(node: Any) -> list[Shape]:
    """The rule of ops without outputs."""
    return []


def unknown(node: Any) -> Any:
    """The rule of ops whose output shapes only the values tell."""
    return [None] * node.num_outputs


def unary_operand(node: Any) -> Shape:
    """Shaped like the reference or resource in input 0, as far as the graph says."""
    return shape_of_variable(node, 0)


def shape_of_variable(node: Any, index: int) -> Shape:
    """The declared shape of the variable behind the handle (or reference) in input `index`."""
    tensor = node.node.inputs[index]
    if tensor.dtype.name != "resource":
        shape: Shape = node.shape(index)
        return shape
    source = tensor.op
    while source.type in ("Identity", "Enter", "Switch") and source.inputs:
        source = source.inputs[0].op
    if source.type == "VarHandleOp":
        declared: Shape = source.attr("shape").as_tuple()
        return declared
    return None


def static_axis(node: Any, index: int, rank: int | None) -> int | None:
    """The constant axis in input `index`, made non-negative; None where it or the rank is unknown.

    Raises:
        InvalidValueError: It lies outside the rank.
    """
    value = node.value(index)
    if value is None or rank is None:
        return None
    if not -rank <= int(value) < rank:
        raise InvalidValueError(
            f"Dimension size, given by scalar input {int(value)} must be in range [{-rank}, {rank})"
        )
    return int(value) % rank


def check_axis(axis: int, rank: int) -> int:
    """`axis` made non-negative.

    Raises:
        InvalidValueError: It lies outside the rank.
    """
    if not -rank <= axis < rank:
        raise InvalidValueError(f"Expected dimension in the range [{-rank}, {rank}), but got {axis}")
    return axis % rank


def replace_dim(shape: tuple[int | None, ...], axis: int, dim: int | None) -> Shape:
    """`shape` with another dimension at `axis`."""
    return (*shape[:axis], dim, *shape[axis + 1 :])


def sum_to(grad: Any, tensor: Any, axes: Any) -> Any:
    """`grad` summed over the broadcast `axes` and given the run-time shape of `tensor`."""
    return raw_ops.Reshape(raw_ops.Sum(grad, axes), raw_ops.Shape(tensor))


def unbroadcast(x: Any, y: Any, grad_x: Any, grad_y: Any) -> tuple[Any, Any]:
    """The gradients of a broadcasting binary op, each summed back to its operand's shape.

    Where both static shapes are known and equal there is nothing to sum.
    """
    x_shape, y_shape = x.static_shape, y.static_shape
    if x_shape is not None and x_shape == y_shape and None not in x_shape:
        return grad_x, grad_y
    shape_x, shape_y = raw_ops.Shape(x), raw_ops.Shape(y)
    axes_x, axes_y = raw_ops.BroadcastGradientArgs(shape_x, shape_y)
    return (
        None if grad_x is None else raw_ops.Reshape(raw_ops.Sum(grad_x, axes_x), shape_x),
        None if grad_y is None else raw_ops.Reshape(raw_ops.Sum(grad_y, axes_y), shape_y),
    )


def conjugate(tensor: Any) -> Any:
    """The complex conjugate where the dtype is complex, else `tensor` itself."""
    return raw_ops.Conj(tensor) if tensor.dtype.base_dtype.is_complex else tensor


def incompatible(a: Shape, b: Shape) -> InvalidValueError:
    """TensorFlow's error for operands that do not fit."""
    return InvalidValueError(f"Incompatible shapes: {format_shape(a)} vs. {format_shape(b)}")


def as_value_error(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a helper of the kernels in a shape rule, where a misfit is a ValueError.

    Raises:
        InvalidValueError: The helper raised InvalidArgumentError.
    """
    try:
        return function(*args, **kwargs)
    except InvalidArgumentError as error:
        raise InvalidValueError(error.message, **error.fields) from error


def check_scatter_nd(indices: Shape, updates: Shape, target: Shape, what: str) -> None:
    """Raises InvalidValueError unless updates fit into a target at tuples of indices, as far as is known."""
    if indices is not None and updates is not None and indices[-1] is not None:
        depth, outer = indices[-1], len(indices) - 1
        texts = [format_shape(shape) for shape in (indices, updates, target)]
        try:
            merge(indices[:-1], updates[:outer])
        except InvalidValueError as error:
            raise InvalidValueError(
                f"The outer {outer} dimensions of indices.shape={texts[0]} must match the outer {outer} "
                f"dimensions of updates.shape={texts[1]}: {error}"
            ) from error
        try:
            merge(None if target is None else target[depth:], updates[outer:])
        except InvalidValueError as error:
            raise InvalidValueError(
                f"The inner {len(target or ()) - depth} dimensions of {what}.shape={texts[2]} must match "
                f"the inner {len(updates) - outer} dimensions of updates.shape={texts[1]}: {error}"
            ) from error
