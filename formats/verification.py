"""What checking a file found: what is damaged and how, what is intact, what can still be opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .errors import MissingFileError, OpError, is_unreadable

if TYPE_CHECKING:
    from .entry import Entry
    from .graph_file import GraphFile


@dataclass(frozen=True, slots=True)
class Damage:
    """One thing that is damaged.

    Attributes:
        name: The tensor (of a part: with its ranges), the node, or "" for the file as a whole.
        kind: `checksum`, `length`, `missing`, `structure`; `unreadable` where the file is not given.
        path: The file.
        why: A sentence.
        offset: Where in the file, in bytes, or None.
        size: How many bytes it takes there, or None.
        expected: The checksum or length that it should have, or None.
        found: That which it has, or None.
    """

    name: str
    kind: str
    path: str
    why: str
    offset: int | None = None
    size: int | None = None
    expected: int | None = None
    found: int | None = None


@dataclass(slots=True)
class Verification:
    """What was found out about one checkpoint, store or graph.

    Attributes:
        path: Its prefix or file.
        format: What it is.
        intact: The tensors (of a graph: the constants) that are whole, in the file's order.
        damaged: Everything that is not.
        causes: What seems to have happened, as sentences.
        notes: What else is worth knowing and does no harm.
        unread: Tensors that were not checked, and why.
        nbytes: Bytes of the intact tensors.
        store: The tensors that can be opened, for `salvage`; None for a graph.
        meta_graph: The serialized MetaGraphDef of an intact graph, or None.
        graph: The graph, of a damaged one what is whole, for `salvage_graph`; None for tensors.
    """

    path: str
    format: str
    intact: list[str] = field(default_factory=list)
    damaged: list[Damage] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    nbytes: int = 0
    store: Mapping[str, Entry] | None = None
    meta_graph: bytes | None = None
    graph: GraphFile | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damaged


def note_parts(name: str, intact: list[str], found: Verification) -> None:
    """Notes which parts of a damaged tensor are intact."""
    if intact:
        these = "this part is" if len(intact) == 1 else "these parts are"
        found.notes.append(f"Of '{name}' {these} intact: {', '.join(intact)}.")


def damage_of(name: str, error: OpError, path: str, more: str = "") -> Damage:
    """What an error says about a tensor (or "" for a file), as a finding; `more` is added to its text."""
    facts = error.fields
    kind = "checksum" if "stored" in facts else "structure"
    if is_unreadable(error):
        kind = "unreadable"
    elif isinstance(error, MissingFileError):  # it was there a moment ago
        kind = "missing"
    return Damage(
        name,
        kind,
        facts.get("path") or path,
        str(error) + more,
        facts.get("offset"),
        facts.get("size"),
        facts.get("stored"),
        facts.get("calculated", facts.get("computed")),
    )
