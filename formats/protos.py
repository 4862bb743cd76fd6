"""TensorFlow's protobuf messages, in a descriptor pool of our own.

`protos.GraphDef` is the class of `tensorflow.GraphDef`; every message and enum of `proto_src/` is an
attribute under its own name, made when it is first asked for. The pool is private, so that the same
full names may exist in the default pool (an imported TensorFlow) in one process. Messages of this
pool do not pickle: hand bytes to another process.

The descriptor set is split here by hand, since importing `descriptor_pb2` for that costs more than
all else together.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from .errors import DataLossError, FailedPreconditionError, InvalidValueError, did_you_mean

PACKAGE = "tensorflow"
# Those that lie in packages below.
_FULL_NAMES = {
    "Code": f"{PACKAGE}.error.Code",
    **{
        name: f"{PACKAGE}.serving.{name}"
        for name in (
            "AssetFile",
            "ClassificationSignature",
            "GenericSignature",
            "RegressionSignature",
            "Signature",
            "Signatures",
            "TensorBinding",
        )
    },
}
_DESCRIPTORS = Path(__file__).with_name("descriptors.binpb")


def __getattr__(name: str) -> Any:
    """The message class or enum wrapper `tensorflow.<name>`."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = _lookup(name)
    globals()[name] = value
    return value


@cache
def pool() -> Any:
    """The private `DescriptorPool`, with every file of `proto_src/` in it.

    Raises:
        FailedPreconditionError: protobuf runs on its pure-Python implementation.
    """
    from google.protobuf.internal import api_implementation

    if api_implementation.Type() == "python":
        raise FailedPreconditionError(
            "protobuf runs on its pure-Python implementation, which is about 500 times too slow for graphs. "
            "Unset PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION, or reinstall protobuf from a binary wheel "
            "(pip install --force-reinstall --only-binary :all: protobuf)."
        )
    from google.protobuf.descriptor_pool import DescriptorPool

    made = DescriptorPool()
    for file in _split(_DESCRIPTORS.read_bytes()):
        made.AddSerializedFile(file)
    return made


def parse(cls: Any, data: bytes | memoryview, what: str) -> Any:
    """The message that `data` encodes.

    Args:
        cls: A message class of this module.
        data: The serialized message, whole.
        what: What is being read, for the error ("/tmp/model.meta", "the header of ...").

    Raises:
        DataLossError: `data` is not such a message.
    """
    from google.protobuf.message import DecodeError

    try:
        return cls.FromString(data)
    except DecodeError as error:
        name = cls.DESCRIPTOR.name
        raise DataLossError(
            f"{what} is not a {name}: its {len(data)} bytes do not decode. It is damaged, cut short, "
            f"or of another kind.",
            message_type=name,
            size=len(data),
        ) from error


def parse_text(cls: Any, text: str, what: str) -> Any:
    """The message that `text` (protobuf's text format) spells.

    Raises:
        InvalidValueError: Not the text of such a message; says the line and, if one is, the field
            that does not exist, with the nearest names that do.
    """
    import warnings

    from google.protobuf import text_format

    try:
        with warnings.catch_warnings():
            # Python reads an unknown escape as it stands, with a warning; to TensorFlow it is an error.
            warnings.filterwarnings("error", message=".*invalid (octal )?escape sequence")
            return text_format.Parse(text, cls(), descriptor_pool=pool())
    except Warning as warning:
        raise InvalidValueError(
            f"{what}: this is not the text of a {cls.DESCRIPTOR.name}: {warning}.",
            message_type=cls.DESCRIPTOR.name,
        ) from warning
    except text_format.ParseError as error:
        line, column = error.GetLine(), error.GetColumn()
        where = f", line {line}" if line else ""
        why = str(error).removeprefix(f"{line}:{column} : ") if line else str(error)
        raise InvalidValueError(
            f"{what}{where}: this is not the text of a {cls.DESCRIPTOR.name}: {why}{_field_hint(why)}",
            line=line,
            column=column,
            message_type=cls.DESCRIPTOR.name,
        ) from error


def format_text(message: Any) -> str:
    """`message` in protobuf's text format, in the order of TensorFlow's own files."""
    from google.protobuf import text_format

    text: str = text_format.MessageToString(message, descriptor_pool=pool())
    return text


def encode(message: Any) -> bytes:
    """`message` as bytes; equal messages give equal bytes (map entries are sorted).

    Raises:
        InvalidValueError: It takes 2 GiB or more.
    """
    from google.protobuf.message import EncodeError

    try:
        data: bytes = message.SerializeToString(deterministic=True)
    except (EncodeError, ValueError) as error:
        raise InvalidValueError(
            f"The {message.DESCRIPTOR.name} cannot be encoded: {error}. Protobuf ends at 2 GiB: keep large "
            "values in variables, not constants.",
            message_type=message.DESCRIPTOR.name,
            size=message.ByteSize(),
        ) from error
    return data


@cache
def message_names() -> tuple[str, ...]:
    """The names of all top-level messages, sorted."""
    names: set[str] = set()
    for file in _split(_DESCRIPTORS.read_bytes()):
        name = _string_field(file, 1)
        if not name.startswith("google/"):
            names.update(pool().FindFileByName(name).message_types_by_name)
    return tuple(sorted(names))


def _lookup(name: str) -> Any:
    found = pool()
    full = _FULL_NAMES.get(name, f"{PACKAGE}.{name}")
    try:
        descriptor = found.FindMessageTypeByName(full)
    except KeyError:
        pass
    else:
        from google.protobuf.message_factory import GetMessageClass

        return GetMessageClass(descriptor)
    try:
        enum = found.FindEnumTypeByName(full)
    except KeyError:
        raise AttributeError(
            f"there is no message or enum {full}.{did_you_mean(name, message_names())}"
        ) from None
    from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

    return EnumTypeWrapper(enum)


def _field_hint(why: str) -> str:
    """The nearest field names, where protobuf says `Message type "X" has no field named "y"`."""
    parts = why.split('"')
    if "has no field named" not in why or len(parts) < 4:
        return ""
    try:
        fields = pool().FindMessageTypeByName(parts[1]).fields_by_name
    except KeyError:
        return ""
    return did_you_mean(parts[3], fields)


def _split(descriptors: bytes) -> list[bytes]:
    """The serialized FileDescriptorProtos (field 1, repeated) of a FileDescriptorSet."""
    files, at = [], 0
    while at < len(descriptors):
        size, at = _varint(descriptors, at + 1)  # every tag is the byte 0x0a
        files.append(descriptors[at : at + size])
        at += size
    return files


def _string_field(data: bytes, number: int) -> str:
    """The length-delimited field `number`, which must be the first of the message."""
    if data[0] != number << 3 | 2:
        return ""
    size, at = _varint(data, 1)
    return data[at : at + size].decode()


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
