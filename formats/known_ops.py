"""The ops of TensorFlow 1.15 and 2 by name, with their attributes: what is not among them is somebody's own.

known_ops.txt: one op a line, its name and the names of its attributes (`make op-lists` writes it)
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from . import files


@cache
def _lines() -> dict[str, str]:
    data = files.read_bytes(os.path.join(os.path.dirname(__file__), "known_ops.txt"))
    return {name: rest for name, _, rest in (line.partition(" ") for line in data.decode().splitlines())}


def attributes(op: str) -> frozenset[str] | None:
    """The names of an op's attributes, of all versions together; None where TensorFlow has no such op."""
    rest = _lines().get(op)
    return None if rest is None else frozenset(rest.split())


def foreign(
    nodes: Iterable[Any], declared: Collection[str] = (), functions: Collection[str] = ()
) -> dict[str, list[str]]:
    """Op types that are not TensorFlow's, and attributes (`Op.attribute`) that no version's declaration has.

    Args:
        nodes: NodeDefs.
        declared: Ops that the file declares itself, whose attributes are not looked at.
        functions: Names of functions of the library, which are ops, too.

    Returns:
        `unknown_ops` and `unknown_attributes`, each only where there are some; attributes that begin with
        an underscore are everybody's.
    """
    ops: set[str] = set()
    attributes_of: dict[str, frozenset[str] | None] = {}
    extra: set[str] = set()
    for node in nodes:
        op = node.op
        if op not in attributes_of:
            attributes_of[op] = attributes(op)
            if attributes_of[op] is None and op not in functions:
                ops.add(op)
        known = attributes_of[op]
        if known is not None and op not in declared:
            extra.update(f"{op}.{name}" for name in set(node.attr).difference(known) if name[:1] != "_")
    found = {"unknown_ops": sorted(ops), "unknown_attributes": sorted(extra)}
    return {key: names for key, names in found.items() if names}
