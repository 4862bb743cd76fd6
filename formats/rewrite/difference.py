"""What differs between two models: nodes, functions, collections, signatures, variables and their values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import protos
from ..collection_items import collection_items
from ..entry import PIECE
from .model import Model

if TYPE_CHECKING:
    import numpy as np

    from ..entry import Entry


@dataclass(slots=True)
class Changes:
    """What one kind of thing gained and lost.

    Attributes:
        added: Names that only the second model has.
        removed: Names that only the first model has.
        changed: What is different, for each name that both have and that is not equal.
    """

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def as_json(self) -> dict[str, Any]:
        """The three as JSON has them."""
        return {"added": self.added, "removed": self.removed, "changed": self.changed}


@dataclass(slots=True)
class Difference:
    """What differs, by kind; all empty for equal models.

    Attributes:
        nodes: By name; changed: lines that say what.
        functions: Of the library.
        collections: By key.
        signatures: By key.
        variables: By key; changed: `{"dtype": [a, b]}`, `{"shape": [a, b]}`, or of other values
            `{"elements", "size", "largest", "relative"}`: how many differ of how many, by how much at most,
            and that divided by the largest magnitude there.
        equal: How many variables are equal.
        compared: Kinds that both models have.
    """

    nodes: Changes = field(default_factory=Changes)
    functions: Changes = field(default_factory=Changes)
    collections: Changes = field(default_factory=Changes)
    signatures: Changes = field(default_factory=Changes)
    variables: Changes = field(default_factory=Changes)
    equal: int = 0
    compared: list[str] = field(default_factory=list)

    def kinds(self) -> dict[str, Changes]:
        """All of it, by kind."""
        return {
            kind: getattr(self, kind)
            for kind in ("nodes", "functions", "collections", "signatures", "variables")
        }

    def __bool__(self) -> bool:
        return any(self.kinds().values())


def difference(
    first: Model, second: Model, *, tolerance: float = 0.0, graph: bool = True, variables: bool = True
) -> Difference:
    """Compares two models; values are read a piece at a time.

    Nodes are compared by name, whatever their order; what a graph says of itself besides (versions,
    recorded shapes, the list of ops) is no difference.

    Args:
        first: One model.
        second: The other.
        tolerance: Values that differ by no more are equal.
        graph: Compare the graphs, if both have one.
        variables: Compare the checkpoints, if either has one.
    """
    found = Difference()
    if graph and first.meta_graph is not None and second.meta_graph is not None:
        found.compared.append("graph")
        _compare_graphs(first.meta_graph, second.meta_graph, found)
    if variables and (first.variables or second.variables):
        found.compared.append("variables")
        found.variables, found.equal = _compare_variables(first.variables, second.variables, tolerance)
    return found


def _compare_graphs(first: Any, second: Any, found: Difference) -> None:
    nodes = [{node.name: node for node in one.graph_def.node} for one in (first, second)]
    found.nodes = _compare(nodes[0], nodes[1], _node)
    bodies = [
        {body.signature.name: body for body in one.graph_def.library.function} for one in (first, second)
    ]
    found.functions = _compare(bodies[0], bodies[1], _function)
    found.collections = _compare(dict(first.collection_def), dict(second.collection_def), None)
    for key in found.collections.changed:
        sides = [collection_items(key, one.collection_def[key]) for one in (first, second)]
        found.collections.changed[key] = _items(*sides)
    found.signatures = _compare(dict(first.signature_def), dict(second.signature_def), None)


def _compare(one: Mapping[str, Any], other: Mapping[str, Any], explain: Any) -> Changes:
    changes = Changes(
        [name for name in other if name not in one], [name for name in one if name not in other]
    )
    for name in one:
        if name in other and one[name] != other[name]:
            what = explain(one[name], other[name]) if explain is not None else ["other content"]
            if what:
                changes.changed[name] = what
    return changes


def _node(one: Any, other: Any) -> list[str]:
    found = []
    for what in ("op", "device"):
        sides = getattr(one, what), getattr(other, what)
        if sides[0] != sides[1]:
            found.append(f"{what} {sides[0] or '(none)'} -> {sides[1] or '(none)'}")
    inputs = [_inputs(node) for node in (one, other)]
    if inputs[0] != inputs[1]:
        found.append(f"inputs {', '.join(inputs[0]) or '(none)'} -> {', '.join(inputs[1]) or '(none)'}")
    for key in sorted({*one.attr, *other.attr}):
        if key == "_output_shapes":
            continue
        values = [node.attr.get(key) for node in (one, other)]
        if values[0] != values[1]:
            found.append(f"{key} {_shown(values[0])} -> {_shown(values[1])}")
    return found


def _inputs(node: Any) -> list[str]:
    data = [text for text in node.input if text[:1] != "^"]
    return data + sorted(text for text in node.input if text[:1] == "^")


def _function(one: Any, other: Any) -> list[str]:
    bodies = [{node.name: node for node in body.node_def} for body in (one, other)]
    changes = _compare(bodies[0], bodies[1], _node)
    lines = [f"+ {name}" for name in changes.added] + [f"- {name}" for name in changes.removed]
    lines += [f"{name}: {'; '.join(what)}" for name, what in changes.changed.items()]
    return lines or ["other arguments, results or attributes"]


def _shown(value: Any) -> str:
    if value is None:
        return "(absent)"
    if value.WhichOneof("value") == "tensor":
        tensor = value.tensor
        dtype = protos.DataType.Name(tensor.dtype)[3:].lower()
        return f"<{dtype} {[dim.size for dim in tensor.tensor_shape.dim]}>"
    text = " ".join(protos.format_text(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."


def _items(one: list[Any], other: list[Any]) -> list[str]:
    lines = [f"+ {item}" for item in other if item not in one] + [
        f"- {item}" for item in one if item not in other
    ]
    return lines or ["other content or order"]


# ---- values --------------------------------------------------------------------------------------


def _compare_variables(
    one: Mapping[str, Entry], other: Mapping[str, Entry], tolerance: float
) -> tuple[Changes, int]:
    changes = Changes([key for key in other if key not in one], [key for key in one if key not in other])
    equal = 0
    for key in one:
        if key not in other:
            continue
        entries = one[key], other[key]
        if entries[0].dtype != entries[1].dtype:
            changes.changed[key] = {"dtype": [entry.dtype.name for entry in entries]}
        elif entries[0].shape != entries[1].shape:
            changes.changed[key] = {"shape": [list(entry.shape) for entry in entries]}
        else:
            values = _compare_values(*entries, tolerance)
            if values is None:
                equal += 1
            else:
                changes.changed[key] = values
    return changes, equal


def _compare_values(one: Entry, other: Entry, tolerance: float) -> dict[str, Any] | None:
    import numpy as np

    elements, largest, magnitude = 0, 0.0, 0.0
    numeric = one.dtype.kind in ("float", "int", "uint", "complex", "bool")
    for a, b in _side_by_side(one, other):
        if not numeric:
            elements += int(np.sum(a != b)) if a.size else 0
            continue
        if a.tobytes() == b.tobytes():
            continue
        with np.errstate(all="ignore"):
            wide = np.complex128 if one.dtype.kind == "complex" else np.float64
            difference = np.abs(
                np.subtract(a, b, dtype=wide) if a.dtype.kind in "fiuc" else a.astype(wide) - b.astype(wide)
            )
            same = (a == b) | ((a != a) & (b != b))
            difference = np.where(same, 0.0, np.where(np.isnan(difference), math.inf, difference))
            elements += int(np.sum(~same & (difference > tolerance)))
            largest = max(largest, float(difference.max(initial=0.0)))
            finite = [np.abs(each.astype(wide)) for each in (a, b)]
            magnitude = max(magnitude, *(float(each[np.isfinite(each)].max(initial=0.0)) for each in finite))
    if not elements:
        return None
    found: dict[str, Any] = {"elements": elements, "size": one.size}
    if numeric:
        found |= {"largest": largest, "relative": largest / magnitude if magnitude else math.inf}
    return found


def _side_by_side(one: Entry, other: Entry) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """The values of two entries of one dtype and shape, in pieces of equal length."""
    import numpy as np

    if one.nbytes <= PIECE or one.dtype.size is None:
        yield one.read().reshape(-1), other.read().reshape(-1)
        return
    sides = [(piece.reshape(-1) for piece in entry.read_pieces()) for entry in (one, other)]
    held = [np.empty(0, one.dtype.numpy)] * 2
    while True:
        for at, side in enumerate(sides):
            if not held[at].size:
                held[at] = next(side, held[at])
        count = min(each.size for each in held)
        if not count:
            return
        yield held[0][:count], held[1][:count]
        held = [each[count:] for each in held]
