"""`tf.data.experimental.rejection_resample`: elements are dropped until classes are as frequent as wanted.

A class `i` with the share p of the elements and the wanted share t is kept with a probability that rises
with t / p; the class with the largest such ratio is always kept. So that fewer are dropped, a part of the
result comes from the dataset as it is: as large a part as the class with the smallest ratio allows.

Source: tensorflow/python/data/experimental/ops/resampling.py (r1.15), behaviour only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .conditional import cond
from .convert import convert_to_tensor
from .data_datasets import Dataset
from .data_grouping import scan
from .data_transformations import sample_from_datasets
from .dtypes import float32, int64
from .op import raw_ops
from .ops.array_create import tf_fill
from .ops.array_select import gather, one_hot
from .ops.logging import tf_print_v1
from .ops.random import random_uniform
from .ops.reduction import reduce_max, reduce_min, reduce_sum
from .tensor_util import constant_value

_ESTIMATION_BATCH = 32
_SMOOTHING = 10  # how often each class counts as seen before there is any element


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None
) -> Callable[[Dataset], Dataset]:
    """A transformation that gives (class, element) with the classes as frequent as wanted.

    Args:
        class_func: From an element to its class, an int32 scalar in [0, number of classes).
        target_dist: The wanted share of each class, a vector of floats.
        initial_dist: The share of each class in the dataset; without it, it is estimated while elements come.
        seed: Seed of the draws.
    """

    def apply(dataset: Dataset) -> Dataset:
        wanted = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        kept_share: float | None = None
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            kept_share = _known_share(initial, wanted)
            accepted, share = (Dataset.from_tensors(each).repeat() for each in _acceptance(initial, wanted))
            initials = Dataset.from_tensors(initial).repeat()
        else:
            initials = _estimates(wanted, classes)
            both = initials.map(lambda each: _acceptance(each, wanted))
            accepted, share = both.map(lambda kept, _: kept), both.map(lambda _, part: part)
        filtered = _filtered(dataset, accepted, initials, classes, seed).prefetch(3)
        whole = Dataset.zip((classes, dataset))
        if kept_share == 1:
            return whole
        if kept_share == 0:
            return filtered
        weights = share.map(lambda part: raw_ops.Pack([part, 1.0 - part]))
        mixed: Dataset = sample_from_datasets([whole, filtered], weights=weights, seed=seed)
        return mixed

    return apply


def _known_share(initial: Any, wanted: Any) -> float | None:
    """Which part comes from the dataset as it is, where that is known now."""
    values = [constant_value(each) for each in (initial, wanted)]
    if any(value is None for value in values):
        return None
    with np.errstate(all="ignore"):
        return float(np.min(values[1] / values[0]))


def _acceptance(initial: Any, wanted: Any) -> tuple[Any, Any]:
    """The probability with which each class is kept, and the part that comes from the dataset as it is."""
    ratio = wanted / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    least = reduce_min(ratio)
    return (ratio - least) / (reduce_max(ratio) - least), least


def _filtered(dataset: Dataset, accepted: Dataset, initials: Dataset, classes: Dataset, seed: Any) -> Dataset:
    def warned(kept: Any, initial: Any) -> Any:
        rejected = reduce_sum((1 - kept) * initial)
        says = "Proportion of examples rejected by sampler is high: "
        return cond(
            raw_ops.Less(rejected, 0.5),
            lambda: kept,
            lambda: tf_print_v1(kept, [rejected, initial, kept], message=says, summarize=100, first_n=10),
        )

    accepted = Dataset.zip((accepted, initials)).map(warned)
    drawn = Dataset.zip((classes, accepted, dataset)).map(
        lambda number, kept, element: (number, gather(kept, number), element)
    )
    drawn = drawn.filter(lambda _number, kept, _element: random_uniform([], seed=seed) < kept)
    return drawn.map(lambda number, _kept, element: (number, element))


def _estimates(wanted: Any, classes: Dataset) -> Dataset:
    """For each element the shares of the classes, as far as they have been seen."""
    count = wanted.get_shape().as_list()[0]
    size = raw_ops.Shape(wanted)[0] if count is None else count
    seen = tf_fill([size], np.int64(_SMOOTHING))

    def update(seen: Any, numbers: Any) -> Any:
        seen = seen + reduce_sum(one_hot(numbers, size, dtype=int64), 0)
        shares = raw_ops.Cast(seen / reduce_sum(seen), DstT=float32)
        return seen, raw_ops.Tile(raw_ops.ExpandDims(shares, 0), [_ESTIMATION_BATCH, 1])

    shares: Dataset = classes.batch(_ESTIMATION_BATCH).apply(scan(seen, update)).unbatch()
    return shares
