"""What of a damaged graph file is whole: its nodes, functions and other fields, one by one.

A message is a row of fields, each with its length, so that a file that was cut off is whole up to the field
in which it ends, and in a nested message (SavedModel, MetaGraphDef, GraphDef, its library) up to the field in
that. A field whose content does not parse is passed over while the lengths around it still lead from one
field to the next. In text the braces take the place of the lengths.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from . import protos, sniff
from .errors import DataLossError, InvalidValueError, OpError
from .graph_file import GRAPH_DEF, MESSAGES, META_GRAPH, SAVED_MODEL, GraphFile, graph_kind, message_fields
from .table import encode_varint

_INSIDE = {
    "SavedModel": {2: "MetaGraphDef"},
    "MetaGraphDef": {2: "GraphDef"},
    "GraphDef": {2: "FunctionDefLibrary"},
    "FunctionDefLibrary": {},
}
"""Of each message the field that is worth taking apart, and its message."""
_LEVELS = {GRAPH_DEF: 0, META_GRAPH: 1, SAVED_MODEL: 2}
"""How deep in a kind of file the nodes are."""
_TOKEN = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\#[^\n]*|[{}<>"']""", re.DOTALL)
_CLOSING = {"{": "}", "<": ">"}


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What is whole of a damaged graph file.

    Attributes:
        graph: The graph, of the same kind.
        passed_over: How many fields (nodes, mostly) before the break do not parse.
    """

    graph: GraphFile
    passed_over: int

    @property
    def nodes(self) -> list[Any]:
        """The NodeDefs, of all graphs of a SavedModel."""
        graphs = [one.graph_def for one in self.graph.meta_graphs]
        if self.graph.kind == GRAPH_DEF:
            graphs = [self.graph.message]
        return [node for graph_def in graphs for node in graph_def.node]

    def dangling(self) -> list[str]:
        """The names of nodes whose inputs are lost."""
        names = {node.name for node in self.nodes}
        sources = {
            node.name: [one.lstrip("^").partition(":")[0] for one in node.input] for node in self.nodes
        }
        return [name for name, inputs in sources.items() if not names.issuperset(inputs)]


def whole_part(data: bytes, path: str) -> Salvaged | None:
    """What is whole of a graph file that does not decode; None if that is no node.

    Args:
        data: The bytes of the file.
        path: Its name.
    """
    try:
        text = sniff.text_proto_field(data[: sniff.HEAD]) is not None
        found = _of_text(data, path) if text else _of_binary(data, path)
    except OpError:  # not a graph at all
        return None
    return found if found is not None and found.nodes else None


def _of_binary(data: bytes, path: str) -> Salvaged:
    kind = graph_kind(data, path)
    whole, passed_over = _whole_fields(data, MESSAGES[kind])
    return Salvaged(GraphFile(kind, _parse(MESSAGES[kind], whole), False, path), passed_over)


def _whole_fields(data: bytes, name: str) -> tuple[bytes, int]:
    """The fields of a message that parse, and how many do not."""
    known = getattr(protos, name).DESCRIPTOR.fields_by_number
    kept, passed_over, begin = [], 0, 0
    for number, wire, start, end in message_fields(data):
        if number not in known:
            break  # the lengths lead nowhere
        inner = _INSIDE[name].get(number) if wire == 2 else None
        if end <= len(data) and _parses(name, data[begin:end]):
            kept.append(data[begin:end])
        elif inner is not None:
            part, more = _whole_fields(data[start:end], inner)
            kept.append(encode_varint(number << 3 | 2) + encode_varint(len(part)) + part)
            passed_over += more
        elif end <= len(data):
            passed_over += 1
        if end > len(data):
            break
        begin = end
    return b"".join(kept), passed_over


def _parse(name: str, data: bytes) -> Any:
    return protos.parse(getattr(protos, name), data, "")


def _parses(name: str, data: bytes) -> bool:
    try:
        _parse(name, data)
    except DataLossError:
        return False
    return True


def _of_text(data: bytes, path: str) -> Salvaged | None:
    text = data.decode("utf-8-sig", "replace")
    field = sniff.text_proto_field(data[: sniff.HEAD])
    kind = next((one for one in MESSAGES if _has_field(one, field)), None)
    if kind is None:
        return None
    cls = getattr(protos, MESSAGES[kind])
    for _ in range(2):  # the second time only what lies before the line that does not parse
        try:
            return Salvaged(GraphFile(kind, protos.parse_text(cls, _closed(text, kind), path), True, path), 0)
        except InvalidValueError as error:
            line = error.fields.get("line")
            if not line:
                return None
            text = "".join(text.splitlines(keepends=True)[: line - 1])
    return None


def _has_field(kind: str, field: str | None) -> bool:
    return field in getattr(protos, MESSAGES[kind]).DESCRIPTOR.fields_by_name


def _closed(text: str, kind: str) -> str:
    """`text` up to the end of its last whole field, with the braces closed that are open there."""
    stack: list[str] = []
    end, still_open = 0, ""
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "\"'":  # a string that does not end
            break
        if sign in _CLOSING:
            stack.append(_CLOSING[sign])
        elif stack and sign == stack[-1]:
            stack.pop()
            if len(stack) <= _LEVELS[kind]:
                end, still_open = token.end(), "".join(reversed(stack))
    return text[:end] + still_open
