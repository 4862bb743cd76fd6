"""Summaries as ops: serialized `tensorflow.Summary` messages for event files."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ...formats import protos, tensor_proto
from ..dtypes import ANY, REAL, float16, float32, float64, uint8
from ..errors import InvalidArgumentError
from ..kernels.arrays import Array, shape_text
from ..kernels.audio import encode_wav
from ..kernels.png import encode_png
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
            f"tags and values not the same shape: {shape_text(np.shape(tags))} != "
            f"{shape_text(np.shape(values))}"
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


# Images and sound


def _tag(tag: Any, name: str) -> str:
    if np.size(tag) != 1 or np.ndim(tag) > 1:
        raise InvalidArgumentError(f"{name} must be a scalar, not of shape {shape_text(np.shape(tag))}")
    text: bytes = np.reshape(tag, -1)[0]
    return text.decode("utf-8", "surrogateescape")


def _pixels(image: Array, bad_color: Array) -> Array:
    """An image of floating numbers as uint8: the largest becomes 255, or, where some are negative, 0 is 128.

    Args:
        image: (height, width, channels).
        bad_color: uint8, what stands for a pixel that is not finite.
    """
    wide = image.astype(np.float32)
    finite: Array = np.asarray(np.isfinite(wide).all(-1))
    values = wide[finite]
    low, high = (values.min(), values.max()) if values.size else (np.float32(np.inf), np.float32(-np.inf))
    most = max(abs(low), abs(high)) if low < 0 else high
    middle = 128 if low < 0 else 0
    scale = (127 if low < 0 else 255) / most if most >= 1e-6 else 0
    number = image.dtype.type
    with np.errstate(all="ignore"):
        scaled = image * number(scale) + number(middle)
    out = np.where(finite[..., None], scaled, 0).astype(np.uint8)
    out[~finite] = bad_color[: image.shape[2]]
    return out


@op(
    "ImageSummary",
    "tag: string, tensor: T -> summary: string",
    "max_images: int >= 1 = 3",
    "bad_color: tensor = uint8 [255, 0, 0, 255]",
    T=((uint8, float32, float16, float64), float32),
    no_grad=_NO_GRAD,
)
def image_summary(tag: Any, tensor: Any, *, max_images: int, bad_color: Any) -> Any:
    """Images as PNG files.

    Source: tensorflow/core/kernels/summary_image_op.cc (r1.15).
    """
    if bad_color.dtype != np.uint8 or bad_color.ndim != 1:
        raise InvalidArgumentError(
            f"bad_color must be a vector of uint8, got {bad_color.dtype.name} of shape "
            f"{shape_text(bad_color.shape)}"
        )
    name = _tag(tag, "Tags")
    shape = shape_text(tensor.shape)
    if tensor.ndim != 4 or tensor.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError(f"Tensor must be 4-D with last dim 1, 3, or 4, not {shape}")
    if tensor.shape[1] * tensor.shape[2] >= 1 << 29:
        raise InvalidArgumentError(f"Tensor too large for summary {shape}")
    if not tensor.shape[1] * tensor.shape[2]:
        found = ", ".join(map(str, tensor.shape))
        raise InvalidArgumentError(f"input tensor must have non-zero dims. Found: [{found}].")
    if tensor.dtype != np.uint8 and len(bad_color) < tensor.shape[3]:
        raise InvalidArgumentError(
            f"expected depth <= bad_color.size, got depth = {tensor.shape[3]}, "
            f"bad_color.size = {len(bad_color)}"
        )
    summary = protos.Summary()
    for number, image in enumerate(tensor[:max_images]):
        value = summary.value.add(tag=f"{name}/image/{number}" if max_images > 1 else f"{name}/image")
        value.image.height, value.image.width, value.image.colorspace = image.shape
        pixels = image if image.dtype == np.uint8 else _pixels(image, bad_color)
        value.image.encoded_image_string = encode_png(pixels)
    return _scalar_string(protos.encode(summary))


def _audio_summary(tag: Any, tensor: Any, sample_rate: float, max_outputs: int) -> Any:
    name = _tag(tag, "Tag")
    if not 2 <= tensor.ndim <= 3:
        raise InvalidArgumentError(f"Tensor must be 3-D or 2-D, got: {shape_text(tensor.shape)}")
    if not sample_rate > 0:
        raise InvalidArgumentError(f"sample_rate must be > 0, but is {sample_rate:g}")
    summary = protos.Summary()
    for number, sound in enumerate(tensor[:max_outputs]):
        samples = sound[:, None] if sound.ndim == 1 else sound
        value = summary.value.add(tag=f"{name}/audio/{number}" if max_outputs > 1 else f"{name}/audio")
        value.audio.sample_rate, value.audio.content_type = sample_rate, "audio/wav"
        value.audio.length_frames, value.audio.num_channels = samples.shape
        value.audio.encoded_audio_string = encode_wav(samples, max(int(np.rint(sample_rate)), 1))
    return _scalar_string(protos.encode(summary))


@op(
    "AudioSummary",
    "tag: string, tensor: float32 -> summary: string",
    "sample_rate: float",
    "max_outputs: int >= 1 = 3",
    no_grad=_NO_GRAD,
)
def audio_summary(tag: Any, tensor: Any, *, sample_rate: float, max_outputs: int) -> Any:
    """Sound as WAV files."""
    return _audio_summary(tag, tensor, sample_rate, max_outputs)


@op(
    "AudioSummaryV2",
    "tag: string, tensor: float32, sample_rate: float32 -> summary: string",
    "max_outputs: int >= 1 = 3",
    no_grad=_NO_GRAD,
)
def audio_summary_v2(tag: Any, tensor: Any, sample_rate: Any, *, max_outputs: int) -> Any:
    """Sound as WAV files."""
    return _audio_summary(tag, tensor, float(sample_rate), max_outputs)


# Tensors


def _tensor_content(tensor: Any) -> Any:
    """A TensorProto with the numbers as bytes, strings as a list."""
    if tensor.dtype == object:
        return tensor_proto.from_array(tensor)
    proto = tensor_proto.from_array(tensor.reshape(-1)[:0])
    for size in tensor.shape:
        proto.tensor_shape.dim.add(size=size)
    del proto.tensor_shape.dim[0]
    little = tensor.astype(tensor.dtype.newbyteorder("<"), copy=False) if tensor.dtype.kind != "V" else tensor
    proto.tensor_content = little.tobytes()
    return proto


@op(
    "TensorSummary",
    "tensor: T -> summary: string",
    "description: string = ''",
    "labels: list(string) = []",
    "display_name: string = ''",
    T=ANY,
    no_grad=_NO_GRAD,
)
def tensor_summary(tensor: Any, *, node: Any) -> Any:
    """A tensor as it is, by the name of this operation."""
    summary = protos.Summary()
    summary.value.add(node_name=node.name).tensor.CopyFrom(_tensor_content(np.asarray(tensor)))
    return _scalar_string(protos.encode(summary))


@op(
    "TensorSummaryV2",
    "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string",
    T=ANY,
    no_grad=_NO_GRAD,
)
def tensor_summary_v2(tag: Any, tensor: Any, serialized_summary_metadata: Any) -> Any:
    """A tensor as it is, by a tag."""
    name = _tag(tag, "tag")
    summary = protos.Summary()
    value = summary.value.add(tag=name)
    value.tensor.CopyFrom(_tensor_content(np.asarray(tensor)))
    data = np.reshape(serialized_summary_metadata, -1)[0]
    value.metadata.CopyFrom(protos.parse(protos.SummaryMetadata, data, "the metadata of a summary"))
    return _scalar_string(protos.encode(summary))


for _summary in (
    scalar_summary,
    histogram_summary,
    merge_summary,
    image_summary,
    audio_summary,
    audio_summary_v2,
    tensor_summary,
    tensor_summary_v2,
):
    _summary.shape(rules.scalar)
