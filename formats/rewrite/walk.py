"""What depends on what among the nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from .model import node_of


def closure(
    nodes: Mapping[str, Any], starts: Iterable[str], follow: Callable[[str, str], bool] | None = None
) -> set[str]:
    """The nodes that some nodes need, themselves included.

    Args:
        nodes: NodeDefs by name.
        starts: Names of nodes.
        follow: `follow(consumer, input)`: whether what an input names is needed; by default always.
    """
    found: set[str] = set()
    stack = list(starts)
    while stack:
        name = stack.pop()
        if name in found or name not in nodes:
            continue
        found.add(name)
        stack += [node_of(text) for text in nodes[name].input if follow is None or follow(name, text)]
    return found


def consumers(nodes: Iterable[Any]) -> dict[str, list[Any]]:
    """The nodes that take each node's outputs, or wait for it."""
    found: dict[str, list[Any]] = {}
    for node in nodes:
        for source in {node_of(text) for text in node.input}:
            found.setdefault(source, []).append(node)
    return found


def dependents(taken_by: Mapping[str, list[Any]], starts: Iterable[str]) -> set[str]:
    """The nodes that take an output of some nodes, directly or not; those included, control edges not."""
    found: set[str] = set()
    data: dict[str, set[str]] = {}  # what each takes outputs of
    stack = list(starts)
    while stack:
        name = stack.pop()
        if name in found:
            continue
        found.add(name)
        for node in taken_by.get(name, ()):
            if node.name in found:
                continue
            if node.name not in data:
                data[node.name] = {node_of(text) for text in node.input if text[:1] != "^"}
            if name in data[node.name]:
                stack.append(node.name)
    return found


def loops(nodes: Iterable[Any]) -> dict[str, str]:
    """The nodes inside of while loops of TensorFlow 1, each with the name of its innermost frame."""
    described = list(nodes)
    taken_by = consumers(described)
    frame: dict[str, tuple[str, ...]] = {}
    stack: list[tuple[str, tuple[str, ...]]] = [(node.name, ()) for node in described if not node.input]
    by_name = {node.name: node for node in described}
    while stack:
        name, inside = stack.pop()
        node = by_name[name]
        if node.op in ("Enter", "RefEnter"):
            inside = (*inside, node.attr["frame_name"].s.decode("utf-8", "replace"))
        elif node.op in ("Exit", "RefExit"):
            inside = inside[:-1]
        if name in frame and len(frame[name]) >= len(inside):
            continue
        frame[name] = inside
        stack += [(one.name, inside) for one in taken_by.get(name, ())]
    return {name: inside[-1] for name, inside in frame.items() if inside}


def only_for(nodes: Mapping[str, Any], gone: Collection[str], may_go: Callable[[Any], bool]) -> set[str]:
    """`gone`, and what only these nodes needed, as far as `may_go` lets it."""
    result = set(gone)
    left = {name: len({one.name for one in found}) for name, found in consumers(nodes.values()).items()}
    stack = list(result)
    while stack:
        for source in {node_of(text) for text in nodes[stack.pop()].input}:
            left[source] -= 1
            new = source in nodes and source not in result
            if new and not left[source] and may_go(nodes[source]):
                result.add(source)
                stack.append(source)
    return result
