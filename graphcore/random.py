"""`tf.random`: random tensors and seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .ops.random import (
    categorical,
    multinomial,
    random_normal as normal,
    random_shuffle as shuffle,
    random_uniform as uniform,
    stateless_categorical,
    stateless_multinomial,
    stateless_random_normal as stateless_normal,
    stateless_random_uniform as stateless_uniform,
    stateless_truncated_normal,
    truncated_normal,
)
from .ops.random_candidates import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from .ops.random_state import random_gamma as gamma, random_poisson as poisson
from .random_seed import get_seed, set_random_seed

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)


__all__ = [
    "all_candidate_sampler", "categorical", "fixed_unigram_candidate_sampler", "gamma", "get_seed",
    "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler", "multinomial", "normal",
    "poisson", "set_random_seed", "shuffle", "stateless_categorical", "stateless_multinomial",
    "stateless_normal", "stateless_truncated_normal", "stateless_uniform", "truncated_normal", "uniform",
    "uniform_candidate_sampler",
]  # fmt: skip
