"""`tf.summary`: summary operations and event files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..formats import protos
from . import not_yet
from .convert import convert_to_tensor
from .default import GraphKeys, add_to_collections, get_collection, name_scope
from .dtypes import float32, string
from .errors import InvalidStateError, InvalidValueError
from .event_writer import FileWriter as FileWriter, FileWriterCache as FileWriterCache
from .op import raw_ops


def _collected(summary: Any, collections: Any) -> Any:
    add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary


def _clean(name: str | None) -> str | None:
    """A name without what node names must not have."""
    return None if name is None else re.sub(r"[^-/\w.]", "_", name).lstrip("/")


@contextmanager
def _summary_scope(
    name: str | None, family: str | None, values: Any, default_name: str | None = None
) -> Iterator[tuple[str, str]]:
    """Tag and scope of a summary: the scope's name, with the family before it."""
    name, family = _clean(name), _clean(family)
    with name_scope(name if family is None else f"{family}/{name}", default_name, values) as scope:
        tag = scope.rstrip("/")
        yield tag if family is None else f"{family}/{tag}", scope


def scalar(name: str, tensor: Any, collections: Any = None, family: str | None = None) -> Any:
    """`tf.summary.scalar`: a summary of one number.

    Args:
        name: Of the operation, and with its scopes the tag.
        tensor: A real number.
        collections: To which the summary is added; by default `SUMMARIES`.
        family: Put before the tag.

    Returns:
        A serialized `Summary` message, a scalar string.
    """
    with _summary_scope(name, family, [tensor]) as (tag, scope):
        return _collected(raw_ops.ScalarSummary(tag, tensor, name=scope), collections)


def histogram(name: str, values: Any, collections: Any = None, family: str | None = None) -> Any:
    """`tf.summary.histogram`: a summary of the distribution of values; see `scalar`."""
    with _summary_scope(name, family, [values], "HistogramSummary") as (tag, scope):
        return _collected(raw_ops.HistogramSummary(tag, values, name=scope), collections)


def image(
    name: str, tensor: Any, max_outputs: int = 3, collections: Any = None, family: str | None = None
) -> Any:
    """`tf.summary.image`: images as PNG files.

    Args:
        name: See `scalar`.
        tensor: (batch, height, width, 1, 3 or 4): uint8, or floating numbers, of which the largest
            becomes 255 or, where some are negative, 0 becomes 128.
        max_outputs: At most so many of the batch.
        collections: See `scalar`.
        family: See `scalar`.
    """
    with _summary_scope(name, family, [tensor]) as (tag, scope):
        found = raw_ops.ImageSummary(tag, tensor, max_images=max_outputs, name=scope)
        return _collected(found, collections)


def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    family: str | None = None,
) -> Any:
    """`tf.summary.audio`: sound as WAV files.

    Args:
        name: See `scalar`.
        tensor: float32 in [-1, 1], (batch, frames) or (batch, frames, channels).
        sample_rate: In Hz, float32.
        max_outputs: At most so many of the batch.
        collections: See `scalar`.
        family: See `scalar`.
    """
    with _summary_scope(name, family, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, float32, name="sample_rate")
        found = raw_ops.AudioSummaryV2(tag, tensor, rate, max_outputs=max_outputs, name=scope)
        return _collected(found, collections)


def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Any:
    """`tf.summary.tensor_summary`: a tensor as it is.

    Args:
        name: See `scalar`.
        tensor: Of any dtype and shape.
        summary_description: Text for the reader.
        collections: See `scalar`.
        summary_metadata: A `SummaryMetadata` message: what shows the summary.
        family: See `scalar`.
        display_name: The name shown instead of the tag.
    """
    metadata = protos.SummaryMetadata()
    if summary_metadata is not None:
        metadata.ParseFromString(summary_metadata.SerializeToString())
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with _summary_scope(name, family, [tensor]) as (tag, scope):
        found = raw_ops.TensorSummaryV2(
            tag=tag,
            tensor=tensor,
            serialized_summary_metadata=protos.encode(metadata),
            name=scope,
        )
        return _collected(found, collections)


def text(name: str, tensor: Any, collections: Any = None) -> Any:
    """`tf.summary.text`: strings, shown as Markdown.

    Args:
        name: See `scalar`.
        tensor: Strings.
        collections: See `scalar`.

    Raises:
        ValueError: They are no strings.
    """
    if tensor.dtype.base_dtype != string:
        raise InvalidValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = protos.SummaryMetadata()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def merge(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """Several summaries in one."""
    merged = raw_ops.MergeSummary(list(inputs), name=name)
    add_to_collections(collections or [], merged)
    return merged


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Any:
    """All summaries of a collection in one; None where there are none."""
    found = get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def: Any) -> Any:
    """`tf.summary.get_summary_description`: the SummaryDescription of a TensorSummary node.

    Raises:
        ValueError: It is another node, or its description is not JSON of one.
    """
    if node_def.op != "TensorSummary":
        raise InvalidValueError(f"Can't get_summary_description on {node_def.op}")
    from google.protobuf import json_format

    text = node_def.attr["description"].s.decode()
    try:
        return json_format.Parse(text, protos.SummaryDescription(), descriptor_pool=protos.pool())
    except json_format.ParseError as error:
        raise InvalidValueError(
            f"The description of '{node_def.name}' is not the JSON of a SummaryDescription: {error}"
        ) from error


def all_v2_summary_ops() -> list[Any]:
    """`tf.summary.all_v2_summary_ops`: the summary operations of the collection `_SUMMARY_V2`."""
    return get_collection("_SUMMARY_V2")


def initialize(graph: Any = None, session: Any = None) -> None:
    """`tf.summary.initialize`: would open the default writer of `tf.contrib.summary`.

    Raises:
        RuntimeError: Always: there is no such writer here. FileWriter opens its file by itself.
    """
    raise InvalidStateError(
        "No default tf.contrib.summary.SummaryWriter found: tf.contrib.summary is not here. "
        "tf.summary.FileWriter opens its file by itself."
    )


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"):
            return getattr(protos, name)
        raise not_yet.missing(__name__, name)
