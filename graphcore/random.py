"""`tf.random`: random tensors and seeds."""

from __future__ import annotations

from .ops.random import (
    multinomial as categorical,
    multinomial as multinomial,
    random_normal as normal,
    random_shuffle as shuffle,
    random_uniform as uniform,
    stateless_multinomial as stateless_categorical,
    stateless_multinomial as stateless_multinomial,
    stateless_random_normal as stateless_normal,
    stateless_random_uniform as stateless_uniform,
    stateless_truncated_normal as stateless_truncated_normal,
    truncated_normal as truncated_normal,
)
from .random_seed import get_seed as get_seed, set_random_seed as set_random_seed
