"""Clipping of values, of norms, and of the gradients of a whole model.

Source: Pascanu, Mikolov, Bengio 2012, "On the difficulty of training recurrent neural networks"
(clip_by_global_norm); the composition of ops is that of tensorflow/python/ops/clip_ops.py (r1.15).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import ops
from .convert import constant, convert_to_tensor
from .default import get_default_graph, name_scope
from .dtypes import float32
from .errors import InvalidTypeError
from .indexed_slices import IndexedSlices
from .op import raw_ops
from .operation import Tensor
from .ops.array_shape import tf_rank, tf_size
from .ops.math_unary import tf_cast
from .ops.reduction import reduce_sum


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t` with everything below `clip_value_min` and above `clip_value_max` replaced by these.

    Args:
        t: A tensor, or IndexedSlices.
        clip_value_min: Scalar, or a shape that broadcasts to that of `t`.
        clip_value_max: The same.
        name: A name for the operations.

    Raises:
        ValueError: A bound has more elements than `t`.
    """
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        values = _values(t, "t")
        low = ops.math_binary.minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(low.shape)
        clipped = ops.math_binary.maximum(low, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(clipped.shape)
    return _like(t, clipped)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down so that its L2 norm is at most `clip_norm`.

    Args:
        t: A tensor, or IndexedSlices.
        clip_norm: A positive scalar.
        axes: The axes that one norm is taken over; by default all.
        name: A name for the operations.
    """
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        values = _values(t, "t")
        total = ops.reduction.reduce_sum(values * values, axes, keepdims=True)
        # The root has no derivative at 0: there the norm is 0 itself.
        positive = total > 0
        safe = ops.array_select.where(positive, total, ops.array_create.ones_like(total))
        norm = ops.array_select.where(positive, ops.math_unary.sqrt(safe), total)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        clipped = ops.array_shape.identity(scaled / ops.math_binary.maximum(norm, clip_norm), name=scope)
    return _like(t, clipped)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """`t` scaled so that its L2 norm divided by its number of elements is at most `clip_norm`.

    Args:
        t: Tensor.
        clip_norm: Scalar.
        name: Name scope.
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = tf_cast(tf_size(t), float32)
        inverse = raw_ops.Rsqrt(reduce_sum(t * t, raw_ops.Range(0, tf_rank(t), 1)))
        least = raw_ops.Minimum(inverse * count, constant(1.0) / clip_norm)
        return raw_ops.Identity(t * clip_norm * least, name=scope)


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The L2 norm of all tensors together, a scalar; None entries do not count.

    Raises:
        TypeError: `t_list` is not a list of tensors.
    """
    tensors = _list(t_list)
    with name_scope(name, "global_norm", tensors):
        values = [None if t is None else _values(t, f"t_{index}") for index, t in enumerate(tensors)]
        halves = []
        for value in values:
            if value is not None:
                with get_default_graph().colocate_with(value.op):
                    halves.append(ops.reduction.l2_loss(value))
        half = ops.reduction.reduce_sum(ops.array_join.stack(halves))
        norm: Tensor = ops.math_unary.sqrt(half * constant(2.0, dtype=half.dtype), name="global_norm")
    return norm


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """All tensors scaled by one factor, so that their common L2 norm is at most `clip_norm`.

    Args:
        t_list: Tensors, IndexedSlices or None.
        clip_norm: A positive scalar.
        use_norm: The norm, where it is known; by default `global_norm(t_list)`.
        name: A name for the operations.

    Returns:
        The clipped tensors, and the norm before. Where the norm is not finite all of them are NaN.

    Raises:
        TypeError: `t_list` is not a list of tensors.
    """
    tensors = _list(t_list)
    norm = global_norm(tensors, name) if use_norm is None else use_norm
    with name_scope(name, "clip_by_global_norm", [*tensors, clip_norm]) as scope:
        finite = clip_norm * ops.math_binary.minimum(1.0 / norm, constant(1.0, dtype=norm.dtype) / clip_norm)
        scale = ops.array_select.where(
            ops.math_unary.is_finite(norm), finite, constant(float("nan"), dtype=norm.dtype)
        )
        clipped: list[Any] = []
        values = [None if t is None else _values(t, f"t_{index}") for index, t in enumerate(tensors)]
        for index, (t, value) in enumerate(zip(tensors, values)):
            if value is None:
                clipped.append(None)
                continue
            with get_default_graph().colocate_with(value.op):
                result = ops.array_shape.identity(value * scale, name=f"{scope}_{index}")
            clipped.append(_like(t, result))
    return clipped, norm


def _list(tensors: Any) -> list[Any]:
    if isinstance(tensors, (str, bytes)) or not isinstance(tensors, Sequence):
        raise InvalidTypeError("t_list should be a sequence")
    return list(tensors)


def _values(t: Any, name: str) -> Tensor:
    tensor: Tensor = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)
    return tensor


def _like(t: Any, clipped: Tensor) -> Any:
    return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped
