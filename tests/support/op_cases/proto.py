"""Fields of serialized protobuf messages."""

from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.descriptor_pool import DescriptorPool

from sgtool.formats import protos

from . import case, text

KINDS = (
    *("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes"),
    *("uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"),
)
DTYPES = {
    "double": np.float64,
    "float": np.float32,
    "bool": np.bool_,
    "string": object,
    "bytes": object,
    "enum": np.int32,
    **dict.fromkeys(("int64", "sfixed64", "sint64"), np.int64),
    **dict.fromkeys(("uint64", "fixed64"), np.uint64),
    **dict.fromkeys(("int32", "sfixed32", "sint32"), np.int32),
    **dict.fromkeys(("uint32", "fixed32"), np.uint32),
}
DEFAULTS = {
    "string": "none",
    "bytes": "raw",
    "bool": "true",
    "enum": "THREE",
    "double": "0.5",
    "float": "-1.5",
}


def descriptors():
    """A set of one file: every kind of field once with a default, repeated, and repeated packed."""
    file = descriptor_pb2.FileDescriptorProto(name="rows.proto", package="rows", syntax="proto2")
    enum = file.enum_type.add(name="Number")
    for name, number in (("ZERO", 0), ("THREE", 3), ("LESS", -1)):
        enum.value.add(name=name, number=number)
    inner = file.message_type.add(name="Inner")
    inner.field.add(name="x", number=1, label=1, type=5)
    message = file.message_type.add(name="All")
    message.extension_range.add(start=900, end=1000)
    file.extension.add(name="more", number=900, label=1, type=5, extendee=".rows.All")
    types = descriptor_pb2.FieldDescriptorProto.Type
    for place, kind in enumerate(KINDS):
        number = types.Value(f"TYPE_{kind.upper()}")
        for start, prefix in ((1, ""), (101, "many_"), (201, "packed_")):
            if prefix == "packed_" and kind in ("string", "bytes"):
                continue
            added = message.field.add(
                name=f"{prefix}{kind}", number=start + place, label=3 if prefix else 1, type=number
            )
            if kind == "enum":
                added.type_name = ".rows.Number"
            if not prefix:
                added.default_value = DEFAULTS.get(kind, "7")
            if prefix == "packed_":
                added.options.packed = True
    for number, name, kind in ((301, "inner", 11), (302, "group", 10)):
        message.field.add(name=name, number=number, label=3, type=kind, type_name=".rows.Inner")
    return descriptor_pb2.FileDescriptorSet(file=[file])


SET = descriptors()
SOURCE = b"bytes://" + SET.SerializeToString()
POOL = DescriptorPool()
POOL.Add(SET.file[0])
ALL = message_factory.GetMessageClass(POOL.FindMessageTypeByName("rows.All"))
VALUES: dict[str, Any] = {
    "double": [1.5, -2.5, 1e300],
    "float": [1.5, -2.5, 0.0],
    "bool": [True, False, True],
    "string": ["a", "", "zé"],
    "bytes": [b"\0", b"", b"q"],
    "enum": [3, -1, 0],
    **{kind: [-(2**63), 2**63 - 1, -3] for kind in ("int64", "sfixed64", "sint64")},
    **{kind: [0, 2**64 - 1, 5] for kind in ("uint64", "fixed64")},
    **{kind: [-(2**31), 2**31 - 1, -3] for kind in ("int32", "sfixed32", "sint32")},
    **{kind: [0, 2**32 - 1, 5] for kind in ("uint32", "fixed32")},
}


def message(kind, count, prefix="many_"):
    """A message with the first values of a kind in a repeated field."""
    made = ALL()
    getattr(made, f"{prefix}{kind}").extend(VALUES[kind][:count])
    return made


def array(kind, rows):
    return text(rows) if DTYPES[kind] is object else np.array(rows, DTYPES[kind])


def filled(kind, count, width=3):
    """The first values, filled up as a decoded row is."""
    zero = {"string": "", "bytes": b""}.get(kind, 0)
    return [*VALUES[kind][:count], *[zero] * (width - count)]


ALONE = ALL(**{kind: VALUES[kind][0] for kind in KINDS})
# A group, an unknown field, a scalar that comes twice, a field of another wire type than declared.
ODD = (
    b"\xf3\x12\x08\x05\xf4\x12"
    + b"\xf8\x7f\x01"
    + b"\x28\x01\x28\x02"
    + b"\x1d\0\0\0\0"
    + b"\xea\x12\x02\x08\x09"
    + b"\xa0\x38\x06"
)
ATTRS = {"message_type": "rows.All", "descriptor_source": SOURCE}
EXAMPLE = protos.Example(features=protos.Features(feature={"a": protos.Feature()})).SerializeToString()

CASES = []
for _kind in KINDS:
    for _prefix in ("many_", "packed_"):
        if _prefix == "packed_" and _kind in ("string", "bytes"):
            continue
        _messages = text([message(_kind, count, _prefix).SerializeToString() for count in (3, 0, 1)])
        CASES += [
            case(
                "DecodeProtoV2",
                _messages,
                field_names=[f"{_prefix}{_kind}"],
                output_types=[DTYPES[_kind]],
                **ATTRS,
                expect=(
                    np.int32([[3], [0], [1]]),
                    array(_kind, [filled(_kind, count) for count in (3, 0, 1)]),
                ),
                note=f"{_prefix}{_kind}",
            ),
            case(
                "EncodeProto",
                np.int32([[3], [0], [1]]),
                [array(_kind, [VALUES[_kind]] * 3)],
                field_names=[f"{_prefix}{_kind}"],
                **ATTRS,
                expect=_messages,
                note=f"{_prefix}{_kind}",
            ),
        ]

OTHERS = {"bool": True, "double": 0.5, "float": -1.5, "string": "none", "bytes": b"raw"}
BUT_ENUM = [kind for kind in KINDS[::-1] if kind != "enum"]
CASES += [
    case(
        "DecodeProtoV2",
        text([ALONE.SerializeToString(), b""]),
        field_names=BUT_ENUM,
        output_types=[DTYPES[kind] for kind in BUT_ENUM],
        **ATTRS,
        expect=(
            np.int32([[1] * len(BUT_ENUM), [0] * len(BUT_ENUM)]),
            *[array(kind, [[VALUES[kind][0]], [OTHERS.get(kind, 7)]]) for kind in BUT_ENUM],
        ),
        note="defaults",
    ),
]
CASES += [
    case(
        "DecodeProtoV2",
        text(b""),
        field_names=["enum"],
        output_types=[np.int32],
        **ATTRS,
        expect=(np.int32([0]), np.int32([3])),
        oracle="TensorFlow takes the default of an enum for a number, which is a pointer",
        note="enum_default",
    ),
    case(
        "DecodeProtoV2",
        text([[ODD]]),
        field_names=["int32", "group", "int64", "inner", "rows.more"],
        output_types=[np.int32, object, np.int64, object, np.int32],
        **ATTRS,
        expect=(
            np.int32([[[1, 1, 0, 1, 1]]]),
            np.int32([[[2]]]),
            text([[[b"\xf3\x12\x08\x05\xf4\x12"]]]),
            np.int64([[[7]]]),
            text([[[b"\x08\x09"]]]),
            np.int32([[[6]]]),
        ),
        note="odd",
    ),
    case(
        "DecodeProtoV2",
        text(["many_int32: [1, -2] string: 'q'", ""]),
        field_names=["many_int32", "string"],
        output_types=[np.int64, object],
        message_format="text",
        **ATTRS,
        expect=(np.int32([[2, 1], [0, 0]]), np.int64([[1, -2], [0, 0]]), text([["q"], ["none"]])),
        note="text",
    ),
    case(
        "DecodeProtoV2",
        text(EXAMPLE),
        field_names=["features"],
        output_types=[object],
        message_type="tensorflow.Example",
        sanitize=True,
        expect=(np.int32([1]), text([EXAMPLE[2:]])),
        note="local",
    ),
    case(
        "EncodeProto",
        np.int32([[2, 1, 1, 2]]),
        [
            np.int64([[2**33 + 1, -2, 0]]),
            text([["\x08\x05"]]),
            np.float64([[0.1]]),
            text([["\x08\x09", ""]]),
        ],
        field_names=["many_int32", "group", "float", "inner"],
        **ATTRS,
        expect=lambda *_: text(
            [
                ALL(float=0.1, many_int32=[1, -2]).SerializeToString()
                + b"\xea\x12\x02\x08\x09\xea\x12\0\xf3\x12\x08\x05\xf4\x12"
            ]
        ),
        note="several",
    ),
    case(
        "EncodeProto",
        np.zeros((0, 2, 1), np.int32),
        [np.zeros((0, 2, 3), np.int32)],
        field_names=["int32"],
        **ATTRS,
        expect=np.zeros((0, 2), object),
        note="empty",
    ),
]
