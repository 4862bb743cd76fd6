"""The ops of TensorFlow 1.15 and 2 by name, with their attributes: what is not among them is somebody's own.

    known_ops.txt, one op a line:   Name attribute attribute=default ... > output output ...
    output:   T   the type in an attribute     3   a type by its number
              N*T   as many as an attribute says     [T]   a list of types in an attribute

Defaults are those of attributes that outputs name. `make op-lists` writes the file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from functools import cache
from typing import Any

from . import files, protos


@cache
def _lines() -> dict[str, str]:
    data = files.read_bytes(os.path.join(os.path.dirname(__file__), "known_ops.txt"))
    return {name: rest for name, _, rest in (line.partition(" ") for line in data.decode().splitlines())}


@cache
def find(op: str) -> Any:
    """An OpDef with the attributes and outputs of an op; None where TensorFlow has no such op.

    The attributes are those of every version together; defaults are there where an output needs them.
    """
    rest = _lines().get(op)
    if rest is None:
        return None
    attributes, _, outputs = f" {rest}".partition(" >")
    made = protos.OpDef(name=op)
    for word in outputs.split():
        number, star, dtype = word.rpartition("*")
        argument = made.output_arg.add(number_attr=number if star else "")
        if dtype[:1] == "[":
            argument.type_list_attr = dtype[1:-1]
        elif dtype.isdigit():
            argument.type = int(dtype)
        else:
            argument.type_attr = dtype
    numbers = {argument.number_attr for argument in made.output_arg}
    for word in attributes.split():
        name, _, default = word.partition("=")
        attribute = made.attr.add(name=name)
        if default:
            setattr(attribute.default_value, "i" if name in numbers else "type", int(default))
    return made


@cache
def attributes(op: str) -> frozenset[str] | None:
    """The names of an op's attributes, of all versions together; None where TensorFlow has no such op."""
    found = find(op)
    return None if found is None else frozenset(attribute.name for attribute in found.attr)


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
