"""`tf.data.Options`: what a pipeline is told about how to run. Nothing of it changes what it gives here.

Source: tensorflow/python/data/ops/dataset_ops.py and data/experimental/ops/*_options.py (r1.15), behaviour
only.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .errors import InvalidTypeError, InvalidValueError


class _Group:
    """Options by name, each None until it is set.

    `_names` has those that there are, with the type that each must be of (None: any).
    """

    _names: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        for name, kind in self._names.items():
            is_group = isinstance(kind, type) and issubclass(kind, _Group)
            object.__setattr__(self, name, kind() if is_group else None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names:
            raise AttributeError(
                f"Cannot set the property {name} on {type(self).__name__}. There are: "
                f"{', '.join(sorted(self._names))}."
            )
        kind = self._names[name]
        if kind is not None and value is not None and not isinstance(value, kind):
            raise InvalidTypeError(
                f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)})'
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def merge(self, options: Any) -> Any:
        """These options and others.

        Raises:
            TypeError: The others are of another kind.
            ValueError: One is set differently in both.
        """
        if type(options) is not type(self):
            raise InvalidTypeError(f"Cannot merge {type(self).__name__} with {options!r}")
        merged = type(self)()
        for name in self._names:
            ours, theirs = getattr(self, name), getattr(options, name)
            if isinstance(ours, _Group):
                value = ours.merge(theirs)
            elif ours is not None and theirs is not None and ours != theirs:
                raise InvalidValueError(f"Cannot merge incompatible values {ours!r} and {theirs!r} of {name}")
            else:
                value = theirs if ours is None else ours
            object.__setattr__(merged, name, value)
        return merged


class DistributeOptions(_Group):
    """Options for several workers."""

    _names: ClassVar[dict[str, Any]] = {"auto_shard": bool, "num_devices": int, "_make_stateless": bool}


class MapVectorizationOptions(_Group):
    """Options for mapping whole batches."""

    _names: ClassVar[dict[str, Any]] = {"enabled": bool, "use_choose_fastest": bool}


class OptimizationOptions(_Group):
    """Options for rewriting a pipeline."""

    _names: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(
            [
                *("apply_default_optimizations", "autotune", "autotune_buffers", "filter_fusion"),
                *("filter_with_random_uniform_fusion", "hoist_random_uniform", "map_and_batch_fusion"),
                *("map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination"),
                *("parallel_batch", "shuffle_and_repeat_fusion"),
            ],
            bool,
        ),
        "autotune_algorithm": None,
        "autotune_cpu_budget": int,
        "map_vectorization": MapVectorizationOptions,
        "prefetch_to_device": None,
    }


class StatsOptions(_Group):
    """Options for statistics."""

    _names: ClassVar[dict[str, Any]] = {
        "aggregator": None,
        "prefix": str,
        "counter_prefix": str,
        "latency_all_edges": bool,
    }


class ThreadingOptions(_Group):
    """Options for threads."""

    max_intra_op_parallelism: int | None
    private_threadpool_size: int | None

    _names: ClassVar[dict[str, Any]] = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class Options(_Group):
    """The options of a pipeline; groups of them are attributes themselves."""

    experimental_deterministic: bool | None
    experimental_distribute: DistributeOptions
    experimental_optimization: OptimizationOptions
    experimental_slack: bool | None
    experimental_stateful_whitelist: list[str] | None
    experimental_stats: StatsOptions
    experimental_threading: ThreadingOptions

    _names: ClassVar[dict[str, Any]] = {
        "experimental_deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_optimization": OptimizationOptions,
        "experimental_slack": bool,
        "experimental_stateful_whitelist": list,
        "experimental_stats": StatsOptions,
        "experimental_threading": ThreadingOptions,
    }
