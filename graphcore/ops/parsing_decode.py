"""Decoding compressed strings, padded raw bytes, and Examples written as JSON.

Source: tensorflow/core/kernels/decode_compressed_op.cc, decode_padded_raw_op.cc and
example_parsing_ops.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np

from ...formats import protos
from ..dtypes import as_dtype, float16, float32, float64, int8, int16, int32, int64, uint8, uint16
from ..errors import DataLossError, InvalidArgumentError, InvalidValueError
from ..kernels import protobuf_wire as wire
from ..op import op
from ..shapes import Shape, format_shape, with_rank
from . import rules
from .string import mapped

_NO_GRAD = "serialized data is not differentiable"
_KINDS = ("bytes_list", "float_list", "int64_list")
_WINDOW = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}


@op(
    "DecodeCompressed",
    "bytes: string -> output: string",
    "compression_type: string = ''",
    no_grad=_NO_GRAD,
)
def decode_compressed_op(bytes: Any, *, compression_type: str) -> Any:
    """Strings, decompressed; of one that is cut off, what there is."""
    if compression_type and compression_type not in _WINDOW:
        raise InvalidArgumentError("Only ZLIB, GZIP or NONE are supported compressions")

    def inflated(data: Any) -> Any:
        if not compression_type:
            return data
        try:
            return zlib.decompressobj(_WINDOW[compression_type]).decompress(data)
        except zlib.error as error:
            raise DataLossError(f"inflate() failed with error: {error}") from error

    return mapped(inflated, bytes)


decode_compressed_op.shape(rules.unchanged)


@op(
    "DecodePaddedRaw",
    "input_bytes: string, fixed_length: int32 -> output: out_type",
    "little_endian: bool = true",
    out_type=(float16, float32, float64, int32, uint16, uint8, int16, int8, int64),
    no_grad=_NO_GRAD,
)
def decode_padded_raw_op(input_bytes: Any, fixed_length: Any, *, little_endian: bool, out_type: Any) -> Any:
    """The bytes of strings, cut or filled up to one length, as numbers along a new last axis."""
    if np.ndim(fixed_length):
        raise InvalidArgumentError(f"k must be scalar, got shape {format_shape(np.shape(fixed_length))}")
    length, dtype = int(fixed_length), np.dtype(out_type)
    if length % dtype.itemsize:
        raise InvalidArgumentError(
            f"fixed_length ({length}) must be a multiple of the size of out_type ({dtype.itemsize})"
        )
    if length <= 0:
        raise InvalidArgumentError(f"fixed_length ({length}) must be greater than zero.")
    joined = b"".join(item[:length].ljust(length, b"\0") for item in np.reshape(input_bytes, -1).tolist())
    flat = np.frombuffer(joined, dtype.newbyteorder("<" if little_endian else ">")).astype(dtype)
    return flat.reshape(*np.shape(input_bytes), length // dtype.itemsize)


@decode_padded_raw_op.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(1), 0)
    shape, length = node.shape(0), node.value(1)
    width = None
    if length is not None:
        size = as_dtype(node.attr("out_type")).np.itemsize
        if int(length) % size:
            raise InvalidValueError(
                f"fixed_length ({int(length)}) must be a multiple of the size of out_type ({size})"
            )
        width = int(length) // size
    return None if shape is None else (*shape, width)


@op("DecodeJSONExample", "json_examples: string -> binary_examples: string", no_grad=_NO_GRAD)
def decode_json_example_op(json_examples: Any) -> Any:
    """Examples in protobuf's JSON form, serialized."""
    return mapped(_example_of_json, json_examples)


decode_json_example_op.shape(rules.unchanged)


def _example_of_json(data: bytes) -> bytes:
    """A serialized Example, its features in the order of the text."""
    from google.protobuf import json_format

    try:
        tree = json.loads(data)
        example = json_format.ParseDict(tree, protos.Example(), descriptor_pool=protos.pool())
    except (ValueError, RecursionError, json_format.Error) as error:
        raise InvalidArgumentError(f"Error while parsing JSON: {error}") from error
    if not example.HasField("features"):
        return example.SerializeToString()  # type: ignore[no-any-return]
    # In the order of the text and with numbers one by one, as TensorFlow writes it.
    entries = []
    for key in tree["features"].get("feature") or {}:
        feature = example.features.feature[key]
        kind = feature.WhichOneof("kind")
        value = b"" if kind is None else wire.delimited(_KINDS.index(kind) + 1, _list_of(feature, kind))
        entries.append(wire.delimited(1, wire.delimited(1, key.encode()) + wire.delimited(2, value)))
    return wire.delimited(1, b"".join(entries))


def _list_of(feature: Any, kind: str) -> bytes:
    """The values of a feature as protobuf writes them unpacked."""
    values = getattr(feature, kind).value
    if kind == "bytes_list":
        return b"".join(wire.delimited(1, value) for value in values)
    if kind == "float_list":
        return b"".join(b"\x0d" + struct.pack("<f", value) for value in values)
    return b"".join(b"\x08" + wire.varint(value & 2**64 - 1) for value in values)


# TensorFlow's Python functions


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Any:
    """`tf.io.decode_compressed`: strings, decompressed.

    Args:
        bytes: Strings of any shape.
        compression_type: "", "ZLIB" or "GZIP".
        name: Name of the operation.
    """
    return decode_compressed_op(bytes, compression_type=compression_type, name=name)


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """`tf.io.decode_json_example`: Examples in protobuf's JSON form, serialized.

    Args:
        json_examples: Strings of any shape.
        name: Name of the operation.
    """
    return decode_json_example_op(json_examples, name=name)
