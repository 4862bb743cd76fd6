"""Fields of serialized protobuf messages, read and written without knowing the whole message.

    message = (tag value)*     tag = varint (number << 3 | wire type)

Wire types: 0 a varint, 1 eight bytes, 2 a length and that many bytes, 3 and 4 the ends of a group, 5 four
bytes. Source: protobuf's encoding, and tensorflow/core/util/proto/decode.h (r1.15) for what TensorFlow
makes of fields that are not as declared.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..errors import DataLossError

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)

# By descriptor.proto's names of field types: the wire type, and how struct packs those of a fixed size.
_FORMATS = {
    "double": "<d",
    "float": "<f",
    "fixed64": "<Q",
    "fixed32": "<I",
    "sfixed32": "<i",
    "sfixed64": "<q",
}
_VARINTS = ("int64", "uint64", "int32", "uint32", "bool", "enum", "sint32", "sint64")
_BYTES = ("string", "message", "bytes")


class Field(NamedTuple):
    """A field of a message.

    Attributes:
        number: Its number.
        kind: The name of its type in descriptor.proto, in lower case without TYPE_.
        repeated: Whether it may come more than once.
    """

    number: int
    kind: str
    repeated: bool

    @property
    def wire_type(self) -> int:
        """How it is written."""
        if self.kind in _FORMATS:
            return FIXED64 if struct.calcsize(_FORMATS[self.kind]) == 8 else FIXED32
        return VARINT if self.kind in _VARINTS else START_GROUP if self.kind == "group" else DELIMITED


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DataLossError("Corrupt varint in a serialized message")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 2**64 - 1, at
        shift += 7


def _take(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    if at + size > len(data):
        raise DataLossError("Failed to consume entire buffer: a serialized message is cut off")
    return data[at : at + size], at + size


def _group_end(data: bytes, at: int, number: int) -> tuple[int, int]:
    """Where the contents of a group end, and where what follows begins."""
    while at < len(data):
        tag, after = _varint(data, at)
        if tag & 7 == END_GROUP:
            if tag >> 3 != number:
                break
            return at, after
        at = _value(data, after, tag)[1]
    raise DataLossError("Failed to consume entire buffer: a group does not end")


def _value(data: bytes, at: int, tag: int) -> tuple[Any, int]:
    """The raw value behind a tag, an int or bytes, and where it ends."""
    wire = tag & 7
    if wire == VARINT:
        return _varint(data, at)
    if wire in (FIXED64, FIXED32):
        return _take(data, at, 8 if wire == FIXED64 else 4)
    if wire == DELIMITED:
        size, at = _varint(data, at)
        return _take(data, at, size)
    if wire == START_GROUP:
        start = at - len(varint(tag))
        _, after = _group_end(data, at, tag >> 3)
        return data[start:after], after  # with its tags, as TensorFlow gives it
    raise DataLossError(f"A serialized message has a field of the unknown wire type {wire}")


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


def _number(value: int, kind: str) -> Any:
    """What a varint stands for."""
    if kind == "bool":
        return value != 0
    if kind in ("int32", "enum"):
        return _signed(value, 32)
    if kind == "int64":
        return _signed(value, 64)
    if kind == "uint32":
        return value & 2**32 - 1
    if kind == "uint64":
        return value
    if kind == "sint32":
        value &= 2**32 - 1
    return value >> 1 ^ -(value & 1)


def _packed(data: bytes, kind: str) -> Iterator[Any]:
    if kind in _FORMATS:
        size = struct.calcsize(_FORMATS[kind])
        if len(data) % size:
            raise DataLossError(f"Illegal data length for packed fixed-size type: {len(data)}")
        for (value,) in struct.iter_unpack(_FORMATS[kind], data):
            yield value
        return
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield _number(value, kind)


def read(data: bytes, fields: Sequence[Field]) -> list[list[Any]]:
    """The values of some fields; of one that is not repeated, the last at most.

    Args:
        data: A serialized message.
        fields: Which; a field of another wire type in the message counts as unknown, as for TensorFlow.

    Raises:
        DataLossError: `data` is no message.
    """
    found: list[list[Any]] = [[] for _ in fields]
    places: dict[int, list[int]] = {}
    for place, field in enumerate(fields):
        places.setdefault(field.number, []).append(place)
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag == 0 or tag & 7 == END_GROUP:
            raise DataLossError("Failed to consume entire buffer")
        raw, at = _value(data, at, tag)
        for place in places.get(tag >> 3, ()):
            field = fields[place]
            if tag & 7 == field.wire_type:
                values = [_typed(raw, field.kind)]
            elif tag & 7 == DELIMITED and field.wire_type not in (DELIMITED, START_GROUP):
                values = list(_packed(raw, field.kind))
            else:
                continue
            found[place] += values
            if not field.repeated:
                del found[place][:-1]
    return found


def _typed(raw: Any, kind: str) -> Any:
    if kind in _FORMATS:
        return struct.unpack(_FORMATS[kind], raw)[0]
    return _number(raw, kind) if kind in _VARINTS else raw


def varint(value: int) -> bytes:
    """A non-negative number as a varint."""
    digits = bytearray()
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    digits.append(value)
    return bytes(digits)


def delimited(number: int, data: bytes) -> bytes:
    """A field of bytes."""
    return varint(number << 3 | DELIMITED) + varint(len(data)) + data


def write(field: Field, values: Sequence[Any], packed: bool) -> bytes:
    """The values of a field as they stand in a message; nothing where there are none.

    Args:
        field: Which.
        values: Numbers, or bytes; numbers that are too large lose their high bits.
        packed: Whether numbers stand together behind one tag.
    """
    if not len(values):
        return b""
    if field.kind in _BYTES:
        return b"".join(delimited(field.number, value) for value in values)
    start = varint(field.number << 3 | field.wire_type)
    if field.kind == "group":
        end = varint(field.number << 3 | END_GROUP)
        return b"".join(start + value + end for value in values)
    parts = [_raw(value, field.kind) for value in values]
    return delimited(field.number, b"".join(parts)) if packed else b"".join(start + part for part in parts)


def _raw(value: Any, kind: str) -> bytes:
    if kind in ("double", "float"):
        return struct.pack(_FORMATS[kind], value)
    value = int(value)
    if kind in _FORMATS:
        size = struct.calcsize(_FORMATS[kind])
        data: bytes = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        return data
    if kind in ("sint32", "sint64"):
        bits = int(kind[4:])
        value = _signed(value, bits)
        return varint((value << 1 ^ value >> bits - 1) & (1 << bits) - 1)
    if kind in ("int32", "enum"):
        value = _signed(value, 32)
    return varint(value & (2**32 - 1 if kind == "uint32" else 2**64 - 1))
