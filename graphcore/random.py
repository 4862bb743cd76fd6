"""`tf.random`: random tensors and seeds."""

from __future__ import annotations

from .ops.random import (
    multinomial,
    multinomial as categorical,
    random_normal as normal,
    random_shuffle as shuffle,
    random_uniform as uniform,
    stateless_multinomial,
    stateless_multinomial as stateless_categorical,
    stateless_random_normal as stateless_normal,
    stateless_random_uniform as stateless_uniform,
    stateless_truncated_normal,
    truncated_normal,
)
from .random_seed import get_seed, set_random_seed

__all__ = [
    "categorical", "get_seed", "multinomial", "normal", "set_random_seed", "shuffle",
    "stateless_categorical", "stateless_multinomial", "stateless_normal", "stateless_truncated_normal",
    "stateless_uniform", "truncated_normal", "uniform",
]  # fmt: skip
