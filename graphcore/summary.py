"""`tf.summary`: summary operations and event files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import not_yet
from .default import GraphKeys, add_to_collections, get_collection, name_scope
from .event_writer import FileWriter as FileWriter
from .op import raw_ops


def _collected(summary: Any, collections: Any) -> Any:
    add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    """A summary of one number, kept in the collection `SUMMARIES`."""
    with name_scope(name, values=[tensor]) as scope:
        tag = scope.rstrip("/")
        return _collected(raw_ops.ScalarSummary(tag, tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    """A summary of the distribution of values, kept in the collection `SUMMARIES`."""
    with name_scope(name, values=[values]) as scope:
        tag = scope.rstrip("/")
        return _collected(raw_ops.HistogramSummary(tag, values, name=scope), collections)


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """Several summaries in one."""
    merged = raw_ops.MergeSummary(list(inputs), name=name)
    add_to_collections(collections or [], merged)
    return merged


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    """All summaries of a collection in one; None where there are none."""
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)
