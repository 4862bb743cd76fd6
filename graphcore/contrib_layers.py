"""`tf.contrib.layers`: the initializers and regularizers that old scripts take from there, no layers.

Source: tensorflow/contrib/layers/python/layers/initializers.py (r1.15), behaviour only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import not_yet
from .dtypes import as_dtype, float32
from .errors import InvalidTypeError
from .ops import random
from .regularizers import (
    apply_regularization,
    l1_l2_regularizer,
    l1_regularizer,
    l2_regularizer,
    sum_regularizer,
)


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = float32
) -> Callable[..., Any]:
    """Uniform or truncated normal, scaled by the mean of inputs and outputs (Glorot and Bengio, 2010)."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: Any = float32,
) -> Callable[..., Any]:
    """An initializer scaled to the number of inputs or outputs: variance `factor / n`.

    Args:
        factor: Factor of the variance.
        mode: What n is: "FAN_IN", "FAN_OUT" or "FAN_AVG".
        uniform: Uniform rather than truncated normal.
        seed: Op seed.
        dtype: The element type where the call names none.

    Raises:
        TypeError: `mode` is unknown, or the dtype not floating point.
    """
    default = as_dtype(dtype)
    if not default.is_floating:
        raise InvalidTypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise InvalidTypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape: Any, dtype: Any = default, partition_info: Any = None) -> Any:
        if not as_dtype(dtype).is_floating:
            raise InvalidTypeError("Cannot create initializer for non-floating point type.")
        sizes = [float(dim) for dim in shape]
        window = math.prod(sizes[:-2])
        fan_in = window * sizes[max(-2, -len(sizes))] if sizes else 1.0
        fan_out = window * sizes[-1] if sizes else 1.0
        n = {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return random.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # 1.3 makes up for what truncation takes off the variance.
        return random.truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / n), dtype, seed=seed)

    return initializer


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing("sgtool.graphcore.contrib.layers", name)


__all__ = [
    "apply_regularization", "l1_l2_regularizer", "l1_regularizer", "l2_regularizer", "sum_regularizer",
    "variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d",
]  # fmt: skip
