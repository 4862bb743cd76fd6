"""Summaries as ops: serialized `tensorflow.Summary` messages for event files."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...formats import protos
from ..dtypes import REAL, float32
from ..errors import InvalidArgumentError
from ..op import op
from . import rules

_NO_GRAD = "summaries are not differentiable"


def _scalar_string(data: bytes) -> Any:
    return np.array(data, object)


@op("ScalarSummary", "tags: string, values: T -> summary: string", T=REAL, no_grad=_NO_GRAD)
def scalar_summary(tags: Any, values: Any) -> Any:
    """One value for each tag."""
    if np.shape(tags) != np.shape(values):
        raise InvalidArgumentError(
            f"tags and values not the same shape: {list(np.shape(tags))} != {list(np.shape(values))}"
        )
    summary = protos.Summary()
    for tag, value in zip(np.reshape(tags, -1).tolist(), np.reshape(values, -1).tolist()):
        summary.value.add(tag=tag.decode(), simple_value=float(value))
    return _scalar_string(protos.encode(summary))


@cache
def _bucket_limits() -> np.ndarray:
    """The default limits: 1e-12 growing by 1.1 up to 1e20, both signs, and the largest double."""
    positive = []
    value = 1e-12
    while value < 1e20:
        positive.append(value)
        value *= 1.1
    largest = np.finfo(np.float64).max
    return np.array([-largest, *(-v for v in reversed(positive)), 0.0, *positive, largest])


@op("HistogramSummary", "tag: string, values: T -> summary: string", T=(REAL, float32), no_grad=_NO_GRAD)
def histogram_summary(tag: Any, values: Any) -> Any:
    """A histogram of all values.

    Source: tensorflow/core/lib/histogram/histogram.cc (r1.15): buckets and their compression.
    """
    flat = np.asarray(values, np.float64).reshape(-1)
    if not np.all(np.isfinite(flat)):
        word = "NaN" if np.isnan(flat).any() else "Infinity"
        raise InvalidArgumentError(f"{word} in summary histogram for: {np.reshape(tag, -1)[0].decode()}")
    limits = _bucket_limits()
    counts = np.bincount(np.searchsorted(limits, flat, side="right"), minlength=len(limits))[: len(limits)]
    summary = protos.Summary()
    histogram = summary.value.add(tag=np.reshape(tag, -1)[0].decode()).histo
    largest = np.finfo(np.float64).max
    histogram.min = float(flat.min()) if flat.size else largest
    histogram.max = float(flat.max()) if flat.size else -largest
    histogram.num, histogram.sum, histogram.sum_squares = (
        flat.size,
        float(flat.sum()),
        float(np.square(flat).sum()),
    )
    index = 0
    while index < len(limits):
        end, count = limits[index], counts[index]
        index += 1
        if count <= 0:  # a run of empty buckets is one bucket
            while index < len(limits) and counts[index] <= 0:
                end, count = limits[index], counts[index]
                index += 1
        histogram.bucket_limit.append(float(end))
        histogram.bucket.append(float(count))
    if not len(histogram.bucket):
        histogram.bucket_limit.append(largest)
        histogram.bucket.append(0.0)
    return _scalar_string(protos.encode(summary))


@op("MergeSummary", "inputs: N * string -> summary: string", no_grad=_NO_GRAD)
def merge_summary(inputs: list[Any]) -> Any:
    """All summaries in one."""
    merged = protos.Summary()
    seen: set[str] = set()
    for item in inputs:
        for data in np.reshape(item, -1).tolist():
            for value in protos.parse(protos.Summary, data, "a summary").value:
                if value.tag in seen:
                    raise InvalidArgumentError(f"Duplicate tag {value.tag} found in summary inputs")
                seen.add(value.tag)
                merged.value.append(value)
    return _scalar_string(protos.encode(merged))


for _summary in (scalar_summary, histogram_summary, merge_summary):
    _summary.shape(rules.scalar)
