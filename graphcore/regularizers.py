"""Regularizers: functions from weights to a loss; in TensorFlow 1 they are in `tf.contrib.layers`.

Source: tensorflow/contrib/layers/python/layers/regularizers.py (r1.15), behaviour only.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collection, get_collection, name_scope
from .errors import InvalidValueError
from .op import raw_ops
from .ops.reduction import reduce_sum

Regularizer = Callable[[Any], Any]


def _check_scale(scale: Any, name: str = "scale") -> None:
    if isinstance(scale, numbers.Integral):
        raise InvalidValueError(f"{name} cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise InvalidValueError(f"Setting a scale less than 0 on a regularizer: {float(scale):g}.")


def _penalty(scale: Any, scope: str | None, default: str, measure: Callable[[Any], Any]) -> Regularizer:
    _check_scale(scale)
    if isinstance(scale, numbers.Real) and scale == 0.0:
        return lambda _: None

    def regularize(weights: Any) -> Any:
        with name_scope(scope, default, [weights]) as name:
            factor = convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return raw_ops.Mul(factor, measure(weights), name=name)

    return regularize


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """A function from weights to `scale * sum(abs(weights))`, to None where `scale` is 0.

    Raises:
        ValueError: `scale` is negative, or an integer.
    """
    return _penalty(scale, scope, "l1_regularizer", lambda weights: reduce_sum(raw_ops.Abs(weights)))


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """A function from weights to `scale * sum(weights ** 2) / 2`, to None where `scale` is 0.

    Raises:
        ValueError: `scale` is negative, or an integer.
    """
    return _penalty(scale, scope, "l2_regularizer", raw_ops.L2Loss)


def l1_l2_regularizer(scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None) -> Any:
    """The sum of `l1_regularizer(scale_l1)` and `l2_regularizer(scale_l2)`.

    Raises:
        ValueError: A scale is negative, or an integer.
    """
    _check_scale(scale_l1, "scale_l1")
    _check_scale(scale_l2, "scale_l2")
    scope = scope or "l1_l2_regularizer"
    if isinstance(scale_l1, numbers.Real) and scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if isinstance(scale_l2, numbers.Real) and scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope)


def sum_regularizer(regularizer_list: Sequence[Regularizer | None], scope: str | None = None) -> Any:
    """The sum of regularizers; None where there is none."""
    regularizers = [item for item in regularizer_list if item is not None]
    if not regularizers:
        return None

    def regularize(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [loss for loss in (item(weights) for item in regularizers) if loss is not None]
            return raw_ops.AddN(losses, name=name) if losses else None

    return regularize


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """The sum of a regularizer's losses of weights, kept in `REGULARIZATION_LOSSES`.

    Args:
        regularizer: Function from weights to a scalar or None.
        weights_list: The weights; by default the collection `WEIGHTS`.

    Raises:
        ValueError: There are no weights, or a loss is no scalar.
    """
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise InvalidValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        losses = [regularizer(weights) for weights in weights_list]
        losses = [convert_to_tensor(0.0) if loss is None else loss for loss in losses]
        for loss in losses:
            if loss.get_shape().ndims != 0:
                raise InvalidValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with rank "
                    f"{loss.get_shape().ndims}."
                )
        total = raw_ops.AddN(losses, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
