"""Sampling of classes, for losses over very many of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ...formats import files
from ..errors import InvalidArgumentError
from ..kernels import candidates as kernels
from ..kernels.philox import Philox
from ..op import GraphOp, op
from ..random_seed import get_seed
from ..shapes import Shape, with_rank

_UNDEFINED = "TensorFlow has none"
_OUTPUTS = "sampled_candidates: int64, true_expected_count: float32, sampled_expected_count: float32"
_SEEDS = ("seed: int = 0", "seed2: int = 0")
_COUNTERS_A_SAMPLE = 512
Make = Callable[[Any, Any], kernels.Sampler]


class _State:
    """A node's sampler and generator in one session; runs in several threads take turns."""

    def __init__(self, node: Any, sampler: kernels.Sampler) -> None:
        self.philox = Philox.from_seeds(node.attr("seed"), node.attr("seed2"))
        self.sampler = sampler
        self.lock = threading.Lock()


def _sampler(name: str, make: Make | None, text: str, *attrs: str) -> GraphOp:
    """Declares a sampler; `make` gives its distribution (None: every class once)."""

    def kernel(ctx: Any, true_classes: Any, *, node: Any) -> Any:
        count, num_true = node.attr("num_sampled"), node.attr("num_true")
        if true_classes.ndim != 2:
            raise InvalidArgumentError("true_classes must be a matrix")
        if true_classes.shape[1] != num_true:
            raise InvalidArgumentError(
                f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: {num_true}"
            )
        limit = count if make is None else node.attr("range_max")
        if make is not None and node.attr("unique") and count > limit:
            raise InvalidArgumentError("Sampler's range is too small.")
        outside = true_classes[(true_classes < 0) | (true_classes >= limit)]
        if outside.size:
            raise InvalidArgumentError(f"`true_candidate` out of range [0, {limit}), received {outside[0]}")
        if make is None:
            ones = np.ones(true_classes.shape, np.float32)
            return np.arange(count), ones, np.ones(count, np.float32)
        state = ctx.op_state(node, "sampler", lambda: _State(node, make(ctx, node)))
        with state.lock:
            random = kernels.SimplePhilox(state.philox.reserve(count * _COUNTERS_A_SAMPLE))
            results = kernels.sample(state.sampler, random, true_classes, count, node.attr("unique"))
            state.sampler.update(true_classes)
        return results

    kernel.__doc__ = text
    range_max = () if make is None else ("range_max: int >= 1",)
    declared = op(
        name,
        f"true_classes: int64 -> {_OUTPUTS}",
        "num_true: int >= 1",
        "num_sampled: int >= 1",
        "unique: bool",
        *range_max,
        *attrs,
        *_SEEDS,
        stateful=True,
        undefined_grad=_UNDEFINED,
    )(kernel)
    declared.shape(_sampler_shape)
    return declared


def _sampler_shape(node: Any) -> list[Shape]:
    batch, _ = with_rank(node.shape(0), 2)
    count, num_true = node.attr("num_sampled"), node.attr("num_true")
    return [(count,), (batch, num_true), (count,)]


def _fixed(ctx: Any, node: Any) -> kernels.Sampler:
    """By weights of a list or of a file, whose lines end in `,weight`."""
    path, given = node.attr("vocab_file").decode(), node.attr("unigrams")
    if not path and not given:
        raise InvalidArgumentError("Must provide either vocab_file or unigrams.")
    if path and given:
        raise InvalidArgumentError("Must only provide one of vocab_file and unigrams.")
    shards, shard = node.attr("num_shards"), node.attr("shard")
    reserved = [0.0 for word in range(node.attr("num_reserved_ids")) if word % shards == shard]
    weights = np.array(given or _weights_of_file(ctx, path), np.float32)
    first = len(reserved)
    own = [weight for word, weight in enumerate(weights, first) if word % shards == shard]
    powers = np.power(np.array(own, np.float32), np.float32(node.attr("distortion")))
    return kernels.FixedUnigram(node.attr("range_max"), [*reserved, *powers.tolist()])


def _weights_of_file(ctx: Any, path: str) -> list[float]:
    weights = []
    for line in files.read_bytes(path).decode(errors="replace").splitlines():
        try:
            weights.append(float(line.rpartition(",")[2]))
        except ValueError as error:
            raise InvalidArgumentError(f"Wrong vocabulary format at line: {line}") from error
    return weights


uniform = _sampler(
    "UniformCandidateSampler",
    lambda ctx, node: kernels.Sampler(node.attr("range_max")),
    "Classes sampled with equal probabilities, and expected counts.",
)
log_uniform = _sampler(
    "LogUniformCandidateSampler",
    lambda ctx, node: kernels.LogUniform(node.attr("range_max")),
    "Classes sampled by Zipf's law, and expected counts.",
)
learned_unigram = _sampler(
    "LearnedUnigramCandidateSampler",
    lambda ctx, node: kernels.LearnedUnigram(node.attr("range_max")),
    "Classes sampled as often as they were true ones, and expected counts.",
)
_sampler(
    "ThreadUnsafeUnigramCandidateSampler",
    lambda ctx, node: kernels.LearnedUnigram(node.attr("range_max")),
    "Classes sampled as often as they were true ones, and expected counts.",
)
fixed_unigram = _sampler(
    "FixedUnigramCandidateSampler",
    _fixed,
    "Classes sampled by given weights, and expected counts.",
    "vocab_file: string = ''",
    "distortion: float = 1.0",
    "num_reserved_ids: int = 0",
    "num_shards: int >= 1 = 1",
    "shard: int >= 0 = 0",
    "unigrams: list(float) = []",
)
all_classes = _sampler("AllCandidateSampler", None, "Every class once.")


@op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, weights: float32",
    "num_true: int",
    *_SEEDS,
    undefined_grad=_UNDEFINED,
)
def compute_accidental_hits_op(true_classes: Any, sampled_candidates: Any, *, num_true: int) -> Any:
    """Which rows have true classes that were sampled, where in the sample, and the lowest number for each."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise InvalidArgumentError("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.ndim != 1:
        raise InvalidArgumentError(
            "sampled_candidates must be a vector, which is typically an output from CandidateSampler"
        )
    places = {value: place for place, value in enumerate(sampled_candidates.tolist())}
    hits = [
        (row, places[value])
        for row, values in enumerate(true_classes.tolist())
        for value in values
        if value in places
    ]
    rows, ids = np.array(hits, np.int64).reshape(-1, 2).T
    return rows.astype(np.int32), ids, np.full(len(hits), np.finfo(np.float32).min, np.float32)


@compute_accidental_hits_op.shape
def _(node: Any) -> list[Shape]:
    with_rank(node.shape(0), 2)
    with_rank(node.shape(1), 1)
    return [(None,)] * 3


# TensorFlow's Python functions


def _function(declared: GraphOp, public: str, text: str) -> Any:
    def function(
        true_classes: Any,
        num_true: int,
        num_sampled: int,
        unique: bool,
        range_max: int,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        seed1, seed2 = get_seed(seed)
        return declared(
            true_classes, num_true, num_sampled, unique, range_max, seed=seed1, seed2=seed2, name=name
        )

    function.__name__ = public
    function.__doc__ = f"""`tf.nn.{public}`: {text}

    Args:
        true_classes: int64, (batch, num_true).
        num_true: How many true classes each example has.
        num_sampled: How many classes to sample.
        unique: Whether no class is sampled twice.
        range_max: How many classes there are.
        seed: The op's seed.
        name: Name of the operation.

    Returns:
        `(sampled_candidates, true_expected_count, sampled_expected_count)`.
    """
    return function


uniform_candidate_sampler = _function(
    uniform, "uniform_candidate_sampler", "classes sampled with equal probabilities."
)
log_uniform_candidate_sampler = _function(
    log_uniform, "log_uniform_candidate_sampler", "classes sampled by Zipf's law."
)
learned_unigram_candidate_sampler = _function(
    learned_unigram, "learned_unigram_candidate_sampler", "classes sampled as often as they were true ones."
)


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Any = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.fixed_unigram_candidate_sampler`: classes sampled by given weights.

    Args:
        true_classes: int64, (batch, num_true).
        num_true: How many true classes each example has.
        num_sampled: How many classes to sample.
        unique: Whether no class is sampled twice.
        range_max: How many classes there are.
        vocab_file: A file whose lines end in `,weight`.
        distortion: The power to which weights are raised.
        num_reserved_ids: How many classes at the front are never sampled.
        num_shards: Of how many shards this samples one.
        shard: Which one.
        unigrams: The weights, where there is no file.
        seed: The op's seed.
        name: Name of the operation.
    """
    seed1, seed2 = get_seed(seed)
    return fixed_unigram(
        true_classes,
        num_true,
        num_sampled,
        unique,
        range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
        seed=seed1,
        seed2=seed2,
        name=name,
    )


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.all_candidate_sampler`: every class once, for tests of sampled losses."""
    seed1, seed2 = get_seed(seed)
    return all_classes(true_classes, num_true, num_sampled, unique, seed=seed1, seed2=seed2, name=name)


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.compute_accidental_hits`: `(indices, ids, weights)` of sampled classes that are true ones."""
    seed1, seed2 = get_seed(seed)
    return compute_accidental_hits_op(
        true_classes, sampled_candidates, num_true, seed=seed1, seed2=seed2, name=name
    )
