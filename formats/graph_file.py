"""Graph files: GraphDef, MetaGraphDef and SavedModel, as binary or text, told apart by content.

The three are protobuf messages without a signature. Their top-level fields tell them apart:

    field     GraphDef            MetaGraphDef         SavedModel
      1       node (repeated)     meta_info_def        schema version (a number)
      2       library             graph_def            meta_graphs
      3       version (a number)  saver_def
      4       versions            collection_def
      5       debug_info          signature_def
      6, 7                        asset_file_def, object_graph_def

Suffixes say nothing: `.pb` may be text, `expected_graph` has none.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import files, protos, sniff
from .errors import DataLossError, InvalidValueError, MissingFileError, UnimplementedError
from .registry import Format

GRAPH_DEF, META_GRAPH, SAVED_MODEL = "graph_def", "meta_graph_def", "saved_model"
MESSAGES = {GRAPH_DEF: "GraphDef", META_GRAPH: "MetaGraphDef", SAVED_MODEL: "SavedModel"}
TEXT_SUFFIXES = (".pbtxt", ".txt", ".prototxt")
_SAVED_MODEL_NAMES = ("saved_model.pb", "saved_model.pbtxt")
_CHUNKED = "saved_model.cpb"
_FIELDS = {
    GRAPH_DEF: ("node", "versions", "library", "version", "debug_info"),
    META_GRAPH: (
        "meta_info_def",
        "graph_def",
        "saver_def",
        "collection_def",
        "signature_def",
        "asset_file_def",
        "object_graph_def",
    ),
    SAVED_MODEL: ("saved_model_schema_version", "meta_graphs"),
}
_KIND_OF_FIELD = {field: kind for kind, fields in _FIELDS.items() for field in fields}
_TAGS = frozenset(b"\x0a\x12\x1a\x22\x2a\x32\x3a")
"""What a top-level field that has a length begins with: fields 1 to 7."""
_SHORT = 64
"""Bytes that a top-level field is taken to have lost, at most."""
_MANY = 1000
"""So many line feeds do not all lack a carriage return by chance: in graphs one in 100 to 1000 has it."""
_MANY_BEYOND = 8
"""So many bytes from 80 on do not all spell UTF-8 by chance."""
_OP_TYPE = re.compile(r"[A-Za-z0-9_.>\-/]+")


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A graph file in memory.

    Attributes:
        kind: `graph_def`, `meta_graph_def` or `saved_model`.
        message: The message of that kind.
        text: Whether the file was text.
        path: The file (of a SavedModel directory: the .pb or .pbtxt in it).
    """

    kind: str
    message: Any
    text: bool
    path: str

    @property
    def meta_graphs(self) -> list[Any]:
        """The MetaGraphDefs inside: none, one, or all of a SavedModel."""
        if self.kind == SAVED_MODEL:
            return list(self.message.meta_graphs)
        return [self.message] if self.kind == META_GRAPH else []

    @property
    def variables_prefix(self) -> str | None:
        """The checkpoint prefix of a SavedModel's variables; None for other kinds."""
        if self.kind != SAVED_MODEL:
            return None
        return os.path.join(os.path.dirname(self.path), "variables", "variables")


def read_graph(path: files.Path) -> GraphFile:
    """Reads a graph file, or the SavedModel in a directory, whatever its suffix.

    Raises:
        MissingFileError: Nothing there, or a directory without a SavedModel.
        DataLossError: Empty, cut short or garbled, or text with an error (says where).
        InvalidValueError, UnimplementedError: Something else than a graph; says what.
    """
    name = _graph_path(files.location(path))
    data = files.read_found(name)
    return decode_graph(data, name)


def decode_graph(data: bytes, path: str) -> GraphFile:
    """As `read_graph`, from the bytes of a file; `path` names it in errors."""
    head = data[: sniff.HEAD]
    if sniff.is_onnx(head):
        _refuse_onnx(data, path)
    foreign = sniff.describe(head, data[-sniff.HEAD :])
    if foreign is not None:
        raise sniff.refusal(foreign, f"{path} is not a graph: it is {foreign}.", path)
    field = sniff.text_proto_field(head)
    if field is not None:
        return _read_text(data, field, path)
    kind = graph_kind(data, path)
    cls = getattr(protos, MESSAGES[kind])
    try:
        message = protos.parse(cls, data, path)
    except DataLossError as error:
        raise DataLossError(
            f"{error.message}{_text_mode(data) or _where_it_breaks(data)}",
            path=path,
            **error.fields,
        ) from error
    if not message.ListFields():
        raise _not_a_graph(data, path)
    return _with_graph(GraphFile(kind, message, False, path))


def write_graph(path: files.Path, message: Any, text: bool | None = None) -> None:
    """Writes a GraphDef, MetaGraphDef or SavedModel atomically.

    Args:
        path: The file.
        message: The message.
        text: Text format instead of binary; by default where the suffix is .pbtxt, .prototxt or .txt.

    Raises:
        InvalidValueError: The message is over the 2 GiB that protobuf can encode.
        OpError: The file cannot be written; see `files.atomic_writer`.
    """
    if text is None:
        text = os.fspath(path).endswith(TEXT_SUFFIXES)
    data = protos.format_text(message).encode() if text else protos.encode(message)
    files.write_bytes(path, data)


def _graph_path(path: str) -> str:
    if not files.is_directory(path):
        return path
    for name in _SAVED_MODEL_NAMES:
        inside = os.path.join(path, name)
        if files.is_file(inside):
            return inside
    if files.is_file(os.path.join(path, _CHUNKED)):
        raise UnimplementedError(
            f"{path} is a SavedModel in chunks ({_CHUNKED}), which is not read; save it again in TensorFlow "
            "without the option experimental_image_format.",
            path=path,
        )
    raise MissingFileError(
        f"{path} is a directory without a SavedModel: neither {' nor '.join(_SAVED_MODEL_NAMES)} is in it.",
        path=path,
        looked_for=list(_SAVED_MODEL_NAMES),
        found=files.list_directory(path)[:20],
    )


def _read_text(data: bytes, field: str, path: str) -> GraphFile:
    kind = _KIND_OF_FIELD.get(field)
    if kind is None:
        expected = "; ".join(f"{MESSAGES[kind]}: {', '.join(fields)}" for kind, fields in _FIELDS.items())
        raise UnimplementedError(
            f"{path} is text, but not of a graph: it begins with '{field}', which none of the messages "
            f"that a graph file can hold has ({expected}).",
            path=path,
            field=field,
        )
    try:
        text = data.decode("utf-8-sig")  # editors of Windows write a byte-order mark
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataLossError(f"{path}, line {line}: not UTF-8 text.", path=path, line=line) from error
    try:
        message = protos.parse_text(getattr(protos, MESSAGES[kind]), text, path)
    except InvalidValueError as error:
        raise DataLossError(str(error), path=path, **error.fields) from error
    return _with_graph(GraphFile(kind, message, True, path))


def _with_graph(file: GraphFile) -> GraphFile:
    """Refuses a SavedModel without a graph, which is what is left of one that is cut off early."""
    if file.kind == SAVED_MODEL and not file.meta_graphs:
        raise DataLossError(
            f"{file.path} is a SavedModel without a graph: cut off, or empty.", path=file.path
        )
    return file


def graph_kind(data: bytes, path: str) -> str:
    """The kind of a binary graph, from as few top-level fields as tell it.

    Raises:
        DataLossError: It is none.
        UnimplementedError: An ONNX model.
    """
    first: dict[int, tuple[int, int]] = {}  # field -> where its payload is
    for number, wire_type, start, end in message_fields(data):
        if wire_type == 0:
            if number == 1:
                _refuse_onnx(data, path)
                return SAVED_MODEL
            if number == 3:
                return GRAPH_DEF
        elif wire_type == 2:
            if number == 1 and 1 in first:
                return GRAPH_DEF
            if number in (3, 6, 7):
                return META_GRAPH
            if 1 <= number <= 5:
                first.setdefault(number, (start, end))
    if 1 in first:
        return GRAPH_DEF if _is_node(data[slice(*first[1])]) else META_GRAPH
    if 4 in first:  # a VersionDef begins with a number, an entry of collection_def with its key
        return META_GRAPH if data[first[4][0]] == 0x0A else GRAPH_DEF
    if 2 in first:
        inner = data[slice(*first[2])]
        nodes = (
            inner[start:end] for number, wire, start, end in message_fields(inner) if (number, wire) == (1, 2)
        )
        return META_GRAPH if _is_node(next(nodes, b"")) else GRAPH_DEF
    if 5 in first:
        return META_GRAPH
    raise _not_a_graph(data, path)


def _not_a_graph(data: bytes, path: str) -> DataLossError:
    return DataLossError(
        f"{path} is neither a GraphDef, a MetaGraphDef nor a SavedModel, and no text of one: its {len(data)} "
        f"bytes begin with {data[:8].hex(' ')}. It is damaged or of another kind."
        f"{_text_mode(data)}",
        path=path,
        size=len(data),
    )


def _is_node(payload: bytes) -> bool:
    """Whether a payload reads as a NodeDef; a MetaInfoDef has an OpList where a node has its op."""
    try:
        node = protos.parse(protos.NodeDef, payload, "")
    except DataLossError:
        return False
    return bool(node.name) and _OP_TYPE.fullmatch(node.op) is not None


def _refuse_onnx(data: bytes, path: str) -> None:
    """ONNX models begin as SavedModels do, but have a graph in field 7 or opsets in field 8."""
    fields = list(message_fields(data))
    connected = bool(fields) and fields[-1][3] >= len(data) and not sniff.text_mode_damage(data)
    if connected and any(number in (7, 8) and wire_type == 2 for number, wire_type, _, _ in fields):
        raise UnimplementedError(f"{path} looks like an ONNX model, which is not read as a graph.", path=path)


def message_fields(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """(number, wire type, start, end) of each top-level field of a message; stops where it breaks."""
    at, size = 0, len(data)
    while at < size:
        tag, at = _varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == 0:
            _, end = _varint(data, at)
        elif wire_type == 2:
            length, at = _varint(data, at)
            end = at + length
        elif wire_type in (1, 5):
            end = at + (8 if wire_type == 1 else 4)
        else:
            return
        if number == 0 or at > size:
            return
        yield number, wire_type, at, end
        at = end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A varint and where the next byte is; beyond the end of `data` if it is cut short."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    return value, len(data) + 1


def _where_it_breaks(data: bytes) -> str:
    for number, _, start, end in message_fields(data):
        if end > len(data):
            missing = end - len(data)
            return (
                f" Field {number} at byte {start} needs {missing} bytes more than there are: it is cut short."
            )
    return ""


def _text_mode(data: bytes) -> str:
    """What to add to an error of a graph that went through a transfer as text."""
    feeds = data.count(b"\n")
    inside = 0
    if data[:1] == b"\x08":  # the one long field of a SavedModel is its graph, after two numbers
        inside = _varint(data, _varint(data, 1)[1] + 1)[1]
    if not feeds or b"\r\n" in data or not (feeds >= _MANY or _fields_are_short(data[inside:])):
        return sniff.text_mode_damage(data) or _all_is_text(data)
    return (
        f" It looks as if it was transferred as text (none of its {feeds} line feeds follows a carriage "
        f"return, and bytes are missing from its middle): {sniff.TEXT_MODE}."
    )


def _all_is_text(data: bytes) -> str:
    """As `_text_mode`, of a graph of mostly ASCII: its lengths from 128 on are no UTF-8 by chance."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data)  # the last character may be cut in two
    except UnicodeDecodeError:
        return ""
    beyond = sum(one > "\x7f" for one in text)
    if beyond < _MANY_BEYOND:
        return ""
    return (
        f" It looks as if it was transferred as text (all of it is UTF-8, with {beyond} characters beyond "
        f"ASCII): {sniff.TEXT_MODE}."
    )


def _fields_are_short(data: bytes) -> bool:
    """Whether the top-level fields connect up to the end once some end a few bytes before they say."""
    at, moved = 0, False
    while at < len(data):
        if data[at] not in _TAGS:
            return False
        length, start = _varint(data, at + 1)
        end = start + length
        if end > len(data):
            return moved and end - len(data) <= _SHORT
        steps = range(max(1, min(_SHORT, length)))  # never before its own content: it goes on
        back = next((by for by in steps if end == len(data) or data[end - by] in _TAGS), None)
        if back is None:
            return False
        moved |= bool(back)
        at = end - back
    return moved


def _matches(head: bytes, tail: bytes, path: str) -> bool:
    if sniff.describe(head, tail) is not None or not head:
        return False
    field = sniff.text_proto_field(head)
    if field is not None:
        return field in _KIND_OF_FIELD
    try:
        graph_kind(head, path)
    except (DataLossError, UnimplementedError):
        return False
    return True


FORMAT = Format(
    name="graph",
    suffixes=(".meta", ".pb", ".pbtxt", ".pb.txt"),
    matches=_matches,
    kind="graph",
    read=read_graph,
    write=write_graph,
)
