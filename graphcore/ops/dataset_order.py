"""tf.data's shuffling and sampling, caches, and what changes nothing that a dataset gives.

Source: tensorflow/core/kernels/data/*_dataset_op.cc and data/experimental (r1.15), behaviour and texts.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..datasets import (
    INFINITE,
    Dataset,
    Row,
    Rows,
    Source,
    Steps,
    Words,
    as_dataset,
    drawn_seeds,
    shuffled,
)
from ..errors import InvalidArgumentError, OpError, UnimplementedError
from ..op import op
from . import rules
from .data_flow import named_resource
from .dataset import NO_GRAD, OUT, dataset_op, repeated_size


def _shuffle(
    input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, count: Any = 1, reshuffles: bool = True
) -> Any:
    if buffer_size < 1:
        raise InvalidArgumentError("buffer_size must be greater than zero.")
    dataset, size, times = as_dataset(input_dataset), int(buffer_size), int(count)
    seeds = drawn_seeds(int(seed), int(seed2))
    owner = object()

    def rows(source: Source) -> Rows:
        own = seeds
        if reshuffles:  # each iterator of a pipeline has seeds of its own
            generator = source.keep(owner, lambda: Words(*seeds))
            own = (generator(), generator())
        return shuffled(source, dataset, size, own, times)

    return Dataset(rows, repeated_size(times if times >= 0 else INFINITE, dataset.cardinality))


@dataset_op(
    "ShuffleDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64 -> handle: variant",
    "reshuffle_each_iteration: bool = true",
    *OUT,
)
def shuffle_dataset(
    input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, *, reshuffle_each_iteration: bool
) -> Any:
    """The elements in random order, out of a buffer."""
    return _shuffle(input_dataset, buffer_size, seed, seed2, 1, reshuffle_each_iteration)


class _SeedGenerator:
    """What gives each iterator of a shuffled dataset seeds of its own.

    Args:
        seed: The first seed.
        seed2: The second one; random ones where both are 0.
        reshuffles: Whether iterators get different seeds.
    """

    def __init__(self, seed: Any, seed2: Any, reshuffles: bool = True) -> None:
        self.seeds = drawn_seeds(int(seed), int(seed2))
        self.reshuffles = reshuffles
        self.words = Words(*self.seeds)

    def next(self) -> tuple[int, int]:
        """The seeds of the next iterator."""
        return (self.words(), self.words()) if self.reshuffles else self.seeds


def _seed_generator(seed: Any, seed2: Any, reshuffle: Any = True) -> tuple[Any, Any]:
    """A generator of seeds, and what deletes it."""
    return _SeedGenerator(seed, seed2, bool(reshuffle)), None


for _name, _more in (("AnonymousRandomSeedGenerator", ""), ("AnonymousSeedGenerator", ", reshuffle: bool")):
    op(
        _name,
        f"seed: int64, seed2: int64{_more} -> handle: resource, deleter: variant",
        stateful=True,
        ctx=False,
        no_grad=NO_GRAD,
    )(_seed_generator).shape(lambda node: [(), ()])


def _anonymous_cache() -> tuple[Any, Any]:
    """Where a cache keeps its elements: with the pipeline, here."""
    return None, None


op(
    "AnonymousMemoryCache", "-> handle: resource, deleter: variant", stateful=True, ctx=False, no_grad=NO_GRAD
)(_anonymous_cache).shape(lambda node: [(), ()])


def _nothing_to_keep() -> Any:
    """A handle that stands for none."""
    return np.array(b"", object)


for _name in ("DummyMemoryCache", "DummySeedGenerator"):
    op(_name, "-> handle: resource", stateful=True, ctx=False, no_grad=NO_GRAD)(_nothing_to_keep).shape(
        rules.scalar
    )


def _shuffle_by(input_dataset: Any, buffer_size: Any, generator: Any) -> Any:
    if buffer_size < 1:
        raise InvalidArgumentError("buffer_size must be greater than zero.")
    dataset, size = as_dataset(input_dataset), int(buffer_size)
    if not isinstance(generator, _SeedGenerator):
        return _shuffle(input_dataset, buffer_size, 0, 0)
    return Dataset(lambda source: shuffled(source, dataset, size, generator.next(), 1), dataset.cardinality)


@dataset_op(
    "ShuffleDatasetV2",
    "input_dataset: variant, buffer_size: int64, seed_generator: resource -> handle: variant",
    *OUT,
    stateful=True,
)
def shuffle_dataset_v2(input_dataset: Any, buffer_size: Any, seed_generator: Any) -> Any:
    """The elements in random order, with seeds of a generator."""
    return _shuffle_by(input_dataset, buffer_size, seed_generator)


@dataset_op(
    "ShuffleDatasetV3",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, seed_generator: resource -> "
    "handle: variant",
    "reshuffle_each_iteration: bool = true",
    *OUT,
    stateful=True,
)
def shuffle_dataset_v3(
    input_dataset: Any,
    buffer_size: Any,
    seed: Any,
    seed2: Any,
    seed_generator: Any,
    *,
    reshuffle_each_iteration: bool,
) -> Any:
    """The elements in random order, with seeds of a generator where there is one."""
    if isinstance(seed_generator, _SeedGenerator):
        return _shuffle_by(input_dataset, buffer_size, seed_generator)
    return _shuffle(input_dataset, buffer_size, seed, seed2, 1, reshuffle_each_iteration)


@dataset_op(
    "ShuffleAndRepeatDataset",
    "input_dataset: variant, buffer_size: int64, seed: int64, seed2: int64, count: int64 -> handle: variant",
    *OUT,
)
def shuffle_and_repeat_dataset(
    input_dataset: Any, buffer_size: Any, seed: Any, seed2: Any, count: Any
) -> Any:
    """The elements in random order, several times over, with one buffer."""
    if count < -1 or count == 0:
        raise InvalidArgumentError("count must be greater than zero or equal to -1.")
    return _shuffle(input_dataset, buffer_size, seed, seed2, count, False)


@dataset_op(
    "SamplingDataset",
    "input_dataset: variant, rate: float32, seed: int64, seed2: int64 -> handle: variant",
    *OUT,
)
def sampling_dataset(input_dataset: Any, rate: Any, seed: Any, seed2: Any) -> Any:
    """A random share of the elements."""
    dataset, share = as_dataset(input_dataset), float(rate)
    seeds = drawn_seeds(int(seed), int(seed2))

    def rows(source: Source) -> Rows:
        words = Words(*seeds)

        def taken(_: Row) -> bool:
            # A float32 in [0, 1) out of 23 random bits, as TensorFlow makes it
            bits = np.array((words() & 0x7FFFFF) | 127 << 23, np.uint32)
            return bool(bits.view(np.float32) - np.float32(1.0) < share)

        return filter(taken, dataset.rows(source))

    return Dataset(rows)


# What changes nothing that a dataset gives


def _as_it_is(input_dataset: Any, *_: Any) -> Any:
    """The dataset itself: how fast it is read does not change what it gives."""
    return as_dataset(input_dataset)


_TUNING = ("algorithm: int = 0", "cpu_budget: int = 0")
_PREFETCH = ("slack_period: int = 0", "legacy_autotune: bool = true")
for _name, _inputs, _attrs, _old in (
    ("PrefetchDataset", ", buffer_size: int64", (*OUT, *_PREFETCH), False),
    ("ModelDataset", "", (*_TUNING, *OUT), False),
    (
        "OptimizeDataset",
        ", optimizations: string",
        (*OUT, "optimization_configs: list(string) = []"),
        False,
    ),
    ("MaxIntraOpParallelismDataset", ", max_intra_op_parallelism: int64", OUT, True),
    ("PrivateThreadPoolDataset", ", num_threads: int64", OUT, True),
    ("NonSerializableDataset", "", OUT, True),
    ("OptionsDataset", "", ("serialized_options: string", *OUT), False),
    ("RewriteDataset", ", rewrite_name: string", OUT, False),
    ("FinalizeDataset", "", ("has_captured_ref: bool = false", *OUT), False),
    ("AssertNextDataset", ", transformations: string", OUT, True),
    ("LatencyStatsDataset", ", tag: string", OUT, True),
    ("BytesProducedStatsDataset", ", tag: string", OUT, True),
):
    dataset_op(_name, f"input_dataset: variant{_inputs} -> handle: variant", *_attrs, experimental=_old)(
        _as_it_is
    )


for _name, _inputs in (
    ("SetStatsAggregatorDataset", ", stats_aggregator: resource, tag: string, counter_prefix: string"),
    ("ThreadPoolDataset", ", thread_pool: resource"),
):
    dataset_op(
        _name, f"input_dataset: variant{_inputs} -> handle: variant", *OUT, experimental=True, stateful=True
    )(_as_it_is)


def _alone(input_dataset: Any, count: Any, *_: Any, node: Any) -> Any:
    """The dataset itself, which one worker alone has; several of them share it in TensorFlow."""
    if int(count) != 1:
        raise UnimplementedError(
            f"{node.type} shares a pipeline among {int(count)} workers; one process runs it here. Give 1 for "
            "their number, or tf.data.Dataset.shard"
        )
    return as_dataset(input_dataset)


dataset_op(
    "AutoShardDataset",
    "input_dataset: variant, num_workers: int64, index: int64 -> handle: variant",
    *OUT,
    experimental=True,
)(_alone)
dataset_op(
    "RebatchDataset",
    "input_dataset: variant, num_replicas: int64 -> handle: variant",
    *OUT,
    "use_fallback: bool = true",
    experimental=True,
)(_alone)
dataset_op(
    "SnapshotDataset",
    "input_dataset: variant, path: string -> handle: variant",
    *OUT,
    "compression: string = ''",
    "reader_path_prefix: string = ''",
    "writer_path_prefix: string = ''",
    "shard_size_bytes: int = 10737418240",
    "pending_snapshot_expiry_seconds: int = 86400",
    "num_reader_threads: int = 1",
    "reader_buffer_size: int = 1",
    "num_writer_threads: int = 1",
    "writer_buffer_size: int = 1",
)(_as_it_is)


class _Pool:
    """What stands for threads, or for what gathers statistics: neither changes what a dataset gives."""

    def __init__(self, name: str) -> None:
        self.name = name


def _pool(ctx: Any, *, node: Any) -> Any:
    """A handle that datasets are given; it has no effect here."""
    return named_resource(ctx, node.type, node, _Pool)


_HANDLE_NAMES = ("container: string = ''", "shared_name: string = ''")
_THREADS: tuple[str, ...] = ("num_threads: int", "max_intra_op_parallelism: int = 1", "display_name: string")
for _name, _declared in (
    ("ThreadPoolHandle", _THREADS),
    ("ExperimentalThreadPoolHandle", _THREADS),
    ("StatsAggregatorHandle", ()),
    ("ExperimentalStatsAggregatorHandle", ()),
    ("StatsAggregatorHandleV2", ()),
):
    op(_name, "-> handle: resource", *_declared, *_HANDLE_NAMES, stateful=True, no_grad=NO_GRAD)(_pool).shape(
        rules.scalar
    )


@dataset_op(
    "SleepDataset",
    "input_dataset: variant, sleep_microseconds: int64 -> handle: variant",
    *OUT,
    experimental=True,
)
def sleep_dataset(input_dataset: Any, sleep_microseconds: Any) -> Any:
    """The elements, each after a pause."""
    dataset, pause = as_dataset(input_dataset), max(0, int(sleep_microseconds)) / 1e6

    def rows(source: Source) -> Rows:
        inputs = dataset.rows(source)

        def step() -> Row:
            time.sleep(pause)
            return next(inputs)

        return Steps(step)

    return Dataset(rows, dataset.cardinality)


@dataset_op(
    "ChooseFastestDataset",
    "input_datasets: N * variant -> handle: variant",
    "N: int >= 2",
    "num_experiments: int",
    *OUT,
    experimental=True,
)
def choose_fastest_dataset(input_datasets: Any) -> Any:
    """The first of datasets that give the same elements."""
    return as_dataset(input_datasets[0])


@dataset_op("IgnoreErrorsDataset", "input_dataset: variant -> handle: variant", *OUT, experimental=True)
def ignore_errors_dataset(input_dataset: Any) -> Any:
    """The elements, those left out that cannot be computed."""
    dataset = as_dataset(input_dataset)

    def rows(source: Source) -> Rows:
        inputs = dataset.rows(source)

        def step() -> Row:
            while True:
                try:
                    return next(inputs)
                except OpError:
                    continue

        return Steps(step)

    return Dataset(rows)


@dataset_op("UniqueDataset", "input_dataset: variant -> handle: variant", *OUT, experimental=True)
def unique_dataset(input_dataset: Any, *, node: Any) -> Any:
    """Each element that has not come before."""
    types = node.attr("output_types")
    if len(types) != 1 or types[0].name not in ("int32", "int64", "string"):
        raise InvalidArgumentError(
            "UniqueDataset only supports inputs with a single component of dtype int32, int64 or string."
        )
    dataset = as_dataset(input_dataset)

    def rows(source: Source) -> Rows:
        seen: set[Any] = set()

        def is_new(row: Row) -> bool:
            array = np.asarray(row[0])
            key = (array.shape, tuple(array.reshape(-1).tolist()))
            known = key in seen
            seen.add(key)
            return not known

        return filter(is_new, dataset.rows(source))

    return Dataset(rows)


def _cache(input_dataset: Any, filename: Any, *_: Any) -> Any:
    """The elements, computed once for all iterators of a pipeline."""
    name = np.asarray(filename).item()
    if name:
        raise UnimplementedError(
            f"A cache in a file ({name.decode(errors='replace')}) is not implemented; an empty file name "
            "caches in memory."
        )
    dataset = as_dataset(input_dataset)
    owner = object()

    def rows(source: Source) -> Rows:
        kept: dict[str, Any] = source.keep(owner, lambda: {"rows": [], "whole": False})
        if kept["whole"]:
            return iter(list(kept["rows"]))
        inputs = dataset.rows(source)
        found: list[Row] = []

        def step() -> Row:
            row = next(inputs, None)
            if row is None:
                kept["rows"], kept["whole"] = found, True
                raise StopIteration
            found.append(row)
            return row

        return Steps(step)

    return Dataset(rows, dataset.cardinality)


dataset_op("CacheDataset", "input_dataset: variant, filename: string -> handle: variant", *OUT)(_cache)
dataset_op(
    "CacheDatasetV2",
    "input_dataset: variant, filename: string, cache: resource -> handle: variant",
    *OUT,
    stateful=True,
)(_cache)


for _name in ("WrapDatasetVariant", "UnwrapDatasetVariant"):
    op(_name, "input_handle: variant -> output_handle: variant", no_grad=NO_GRAD)(_as_it_is).shape(
        rules.scalar
    )


def _cardinality(input_dataset: Any) -> Any:
    """The number of elements: -1 infinite, -2 unknown."""
    return np.array(as_dataset(input_dataset).cardinality, np.int64)


for _name in ("DatasetCardinality", "ExperimentalDatasetCardinality"):
    op(_name, "input_dataset: variant -> cardinality: int64", no_grad=NO_GRAD)(_cardinality).shape(
        rules.scalar
    )
