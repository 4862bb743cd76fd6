"""Fields of serialized protobuf messages as tensors, and back.

Source: tensorflow/core/kernels/decode_proto_op.cc, encode_proto_op.cc and core/util/proto/descriptors.cc
(r1.15), behaviour and texts.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...formats import files, protos
from ..errors import DataLossError, InvalidArgumentError, NotFoundError
from ..kernels import protobuf_wire as wire
from ..op import op
from ..shapes import Shape, format_shape, merge, with_rank_at_least

_NO_GRAD = "serialized data is not differentiable"
_KINDS = (
    *("", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group"),
    *("message", "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"),
)
_DTYPES = {
    "double": ("float64",),
    "float": ("float32", "float64"),
    "bool": ("bool",),
    "enum": ("int32",),
    **dict.fromkeys(("int64", "sfixed64", "sint64"), ("int64",)),
    **dict.fromkeys(("uint64", "fixed64"), ("uint64",)),
    **dict.fromkeys(("int32", "sfixed32", "sint32"), ("int32", "int64")),
    **dict.fromkeys(("uint32", "fixed32"), ("uint32", "uint64")),
    **dict.fromkeys(("string", "group", "message", "bytes"), ("string",)),
}


def _pool(ctx: Any, source: bytes, node: Any) -> Any:
    """The descriptors that an attribute names: TensorFlow's own, a file's, or those it holds itself."""
    if source == b"local://":
        return protos.pool()
    if source.startswith(b"bytes://"):
        data = source.removeprefix(b"bytes://")
        return _pool_of(data, "Source does not represent serialized file descriptor set proto.")
    path = source.decode("utf-8", "surrogateescape")
    ctx.policy.check_read(path, f"node '{node.name}' (op {node.type})")
    try:
        data = files.read_bytes(path)
    except NotFoundError as error:
        raise InvalidArgumentError(
            f"Source does not represent serialized file descriptor set proto: there is no file {path}"
        ) from error
    return _pool_of(data, f"descriptor_source contains invalid FileDescriptorSet: {path}")


@functools.lru_cache(maxsize=8)
def _pool_of(data: bytes, otherwise: str) -> Any:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import DecodeError

    try:
        descriptors = FileDescriptorSet.FromString(data)
    except DecodeError as error:
        raise InvalidArgumentError(otherwise) from error
    pool = DescriptorPool()
    for file in descriptors.file:
        try:
            pool.Add(file)
            pool.FindFileByName(file.name)
        except (TypeError, KeyError) as error:
            raise InvalidArgumentError(f"Failed to load FileDescriptorProto: {file.name}: {error}") from error
    return pool


def _message(pool: Any, name: str) -> Any:
    try:
        return pool.FindMessageTypeByName(name)
    except KeyError as error:
        raise InvalidArgumentError(
            f"No descriptor found for message type {name}", message_type=name
        ) from error


def _fields(pool: Any, message: Any, names: Sequence[str], extensions: bool) -> list[Any]:
    """The descriptors of fields, and of extensions by their full names."""
    known = dict(message.fields_by_name)
    if extensions:
        known.update({each.full_name: each for each in pool.FindAllExtensions(message)})
    wrong = [name for name in names if name not in known]
    if wrong:
        raise InvalidArgumentError(
            f"Unknown field: {', '.join(wrong)} in message type {message.full_name}", fields=wrong
        )
    return [known[name] for name in names]


def _field(descriptor: Any) -> wire.Field:
    return wire.Field(descriptor.number, _KINDS[descriptor.type], _is_repeated(descriptor))


def _is_repeated(descriptor: Any) -> bool:
    if hasattr(descriptor, "is_repeated"):  # since protobuf 6
        return bool(descriptor.is_repeated)
    return bool(descriptor.label == descriptor.LABEL_REPEATED)


def _default(descriptor: Any) -> Any:
    """What a missing value of a field is."""
    kind = _KINDS[descriptor.type]
    if kind in ("message", "group"):
        return b""
    if _is_repeated(descriptor):
        return b"" if kind in ("string", "bytes") else 0
    value = descriptor.default_value
    return value.encode() if isinstance(value, str) else value


@op(
    "DecodeProtoV2",
    "bytes: string -> sizes: int32, values: output_types",
    "message_type: string",
    "field_names: list(string)",
    "output_types: list(type) >= 0",
    "descriptor_source: string = 'local://'",
    "message_format: string = 'binary'",
    "sanitize: bool = false",
    ctx=True,
    no_grad=_NO_GRAD,
)
def decode_proto_op(
    ctx: Any,
    bytes: Any,
    *,
    message_type: str,
    field_names: list[str],
    message_format: str,
    sanitize: bool,
    node: Any,
) -> list[Any]:
    """Fields of serialized messages, filled up with defaults, and how many values each really has."""
    pool = _pool(ctx, node.attr("descriptor_source"), node)
    message = _message(pool, message_type)
    dtypes = node.attr("output_types")
    if len(field_names) != len(dtypes):
        raise InvalidArgumentError("field_names and output_types attributes must have the same length")
    descriptors = _fields(pool, message, field_names, extensions=True)
    for descriptor, dtype in zip(descriptors, dtypes):
        if dtype.name not in _DTYPES[_KINDS[descriptor.type]]:
            raise InvalidArgumentError(
                f"Unexpected output type for {descriptor.full_name}: "
                f"{_KINDS[descriptor.type]} to {dtype.name}"
            )
    if message_format not in ("binary", "text"):
        raise InvalidArgumentError("format must be one of binary or text")
    shape, records = np.shape(bytes), np.reshape(bytes, -1).tolist()
    if not records:
        raise InvalidArgumentError("Bufs argument must contain at least one value")
    if sanitize or message_format == "text":
        records = [_reserialized(data, pool, message, message_format) for data in records]
    fields = [_field(descriptor) for descriptor in descriptors]
    rows = [wire.read(data, fields) for data in records]
    sizes = np.array([[len(values) for values in row] for row in rows], np.int32)
    outputs = []
    for index, (descriptor, dtype) in enumerate(zip(descriptors, dtypes)):
        width = max(1, int(sizes[:, index].max()))
        result = np.full((len(records), width), _default(descriptor), dtype.np)
        for place, row in enumerate(rows):
            if row[index]:
                result[place, : len(row[index])] = row[index]
        outputs.append(result.reshape(*shape, width))
    return [sizes.reshape(*shape, len(fields)), *outputs]


def _reserialized(data: bytes, pool: Any, message: Any, message_format: str) -> bytes:
    """A message as protobuf itself writes it."""
    from google.protobuf import message_factory, text_format
    from google.protobuf.message import DecodeError, EncodeError

    made = message_factory.GetMessageClass(message)()
    try:
        if message_format == "binary":
            made.ParseFromString(data)
        else:
            text_format.Parse(data, made, descriptor_pool=pool)
        return made.SerializeToString()
    except (DecodeError, EncodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise DataLossError(f"Unable to parse {message_format} protobuf: {error}") from error


@decode_proto_op.shape
def _(node: Any) -> list[Shape]:
    given, count = node.shape(0), len(node.attr("output_types"))
    if given is None:
        return [None] * (count + 1)
    return [(*given, count), *[(*given, None)] * count]


@op(
    "EncodeProto",
    "sizes: int32, values: Tinput_types -> bytes: string",
    "field_names: list(string)",
    "message_type: string",
    "descriptor_source: string = 'local://'",
    "Tinput_types: list(type) >= 1",
    ctx=True,
    no_grad=_NO_GRAD,
)
def encode_proto_op(
    ctx: Any, sizes: Any, values: list[Any], *, field_names: list[str], message_type: str, node: Any
) -> Any:
    """Serialized messages of the values of fields."""
    pool = _pool(ctx, node.attr("descriptor_source"), node)
    descriptors = _fields(pool, _message(pool, message_type), field_names, extensions=False)
    if len(descriptors) != len(values):
        raise InvalidArgumentError("Length of inputs list must match field_names")
    for name, descriptor, value, dtype in zip(field_names, descriptors, values, node.attr("Tinput_types")):
        kind = _KINDS[descriptor.type]
        if dtype.name not in _DTYPES[kind]:
            raise InvalidArgumentError(
                f"Incompatible type for field {name}.  Saw dtype: {dtype.name} but field type is: {kind}"
            )
        if value.ndim < 2:
            raise InvalidArgumentError(
                f"Invalid shape for field {name}.  Saw shape {format_shape(value.shape)} but it should be at "
                "least a matrix."
            )
        if value.shape[:-1] != values[0].shape[:-1]:
            raise InvalidArgumentError("Values must match up to the last dimension")
    prefix = values[0].shape[:-1]
    if sizes.shape != (*prefix, len(values)):
        raise InvalidArgumentError(
            "sizes should be batch_size + [len(field_names)].  Saw: "
            f"{format_shape(sizes.shape)} but expected: {format_shape((*prefix, len(values)))}"
        )
    counts = sizes.reshape(-1, len(values))
    for index, value in enumerate(values):
        for row in np.flatnonzero(counts[:, index] > value.shape[-1]):
            raise InvalidArgumentError(
                f"Size to write must not be larger than value tensor; but saw: {counts[row, index]} > "
                f"{value.shape[-1]} at message {row} field {index}"
            )
    order = sorted(range(len(values)), key=lambda index: descriptors[index].number)
    columns = [
        (
            _field(descriptors[index]),
            index,
            values[index].reshape(len(counts), values[index].shape[-1]),
            _is_packed(descriptors[index]),
        )
        for index in order
    ]
    result = np.empty(len(counts), object)
    for place, row in enumerate(counts.tolist()):
        result[place] = b"".join(
            wire.write(field, matrix[place, : max(0, row[index])].tolist(), packed)
            for field, index, matrix, packed in columns
        )
    return result.reshape(prefix)


def _is_packed(descriptor: Any) -> bool:
    """Whether a field says itself that it is packed; that all of proto3 are does not count for TensorFlow."""
    return bool(descriptor.GetOptions().packed)


@encode_proto_op.shape
def _(node: Any) -> Shape:
    result: Shape = None
    for index in range(1, node.num_inputs):
        values = with_rank_at_least(node.shape(index), 2)
        result = merge(result, None if values is None else values[:-1])
    return result


# TensorFlow's Python functions


def decode_proto(
    bytes: Any,
    message_type: str,
    field_names: Sequence[str],
    output_types: Sequence[Any],
    descriptor_source: Any = "local://",
    message_format: str = "binary",
    sanitize: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.io.decode_proto`: fields of serialized messages.

    Args:
        bytes: Serialized messages, of any shape.
        message_type: Their full name.
        field_names: Which fields.
        output_types: Their dtypes.
        descriptor_source: A file with a FileDescriptorSet, "bytes://" and one, or "local://" for
            TensorFlow's own messages.
        message_format: "binary" or "text".
        sanitize: Whether protobuf parses the messages first.
        name: Name of the operation.

    Returns:
        How many values each field has in each message, and a list of their values, filled up.
    """
    return decode_proto_op(
        bytes,
        message_type=message_type,
        field_names=list(field_names),
        output_types=list(output_types),
        descriptor_source=descriptor_source,
        message_format=message_format,
        sanitize=sanitize,
        name=name,
    )


def encode_proto(
    sizes: Any,
    values: Sequence[Any],
    field_names: Sequence[str],
    message_type: str,
    descriptor_source: Any = "local://",
    name: str | None = None,
) -> Any:
    """`tf.io.encode_proto`: serialized messages of the values of fields.

    Args:
        sizes: How many values each field has in each message, int32 of shape (..., fields).
        values: For each field a tensor of shape (..., at least that many).
        field_names: The fields.
        message_type: The messages' full name.
        descriptor_source: As for `decode_proto`.
        name: Name of the operation.
    """
    return encode_proto_op(
        sizes,
        list(values),
        field_names=list(field_names),
        message_type=message_type,
        descriptor_source=descriptor_source,
        name=name,
    )
