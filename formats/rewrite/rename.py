"""Other names for the scopes and nodes of a model: in its graph, what belongs to it, and its checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ..errors import InvalidValueError, MissingNameError, bullets
from ..matching import Rename, parse_rename, unmatched
from ..object_graph import OBJECT_GRAPH_KEY
from .model import Model
from .names import Names, apply

_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
"""What TensorFlow accepts as the name of an operation."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """What `rename` did.

    Attributes:
        model: The model under its new names.
        nodes: New names of nodes, by the old ones.
        keys: New keys of the checkpoint, by the old ones.
    """

    model: Model
    nodes: dict[str, str]
    keys: dict[str, str]


def rename(model: Model, renames: Sequence[str | Rename]) -> Renamed:
    """A model in which names that begin in one way begin in another; the rest stays byte for byte.

    Changed together: nodes, their inputs and control inputs, colocation, names of shared resources and
    frames, collections (variables, contexts, queue runners, savers, text that names a node), the SaverDef
    and the keys in its constants, signatures, assets, the nodes in function bodies, the checkpoint.

    Args:
        model: The model.
        renames: `"old/=new/"`, which changes `old/w` but neither `old2/w` nor `old_z`; `"old=new"` changes
            `old`, too; `"old/="` takes a prefix away, `"=new/"` puts one before every name; see
            `matching.parse_rename`. Of several that match a name the first counts.

    Raises:
        InvalidValueError: Two names would become one, or a name be none; lists all. Or not a rename.
        MissingNameError: A rename matches no name of a node and no key; lists all.
    """
    parsed = [one if isinstance(one, Rename) else parse_rename(one) for one in renames]

    @cache
    def change(name: str) -> str:
        return next((new for one in parsed if (new := one.apply(name)) is not None), name) if name else name

    nodes = {name: change(name) for name in model.nodes}
    keys = {key: change(key) for key in model.variables if key != OBJECT_GRAPH_KEY}
    _check_used(parsed, [*nodes, *keys])
    inner = [
        ({node.name: change(node.name) for node in function.node_def}, function.signature.name)
        for function in (model.meta_graph.graph_def.library.function if model.meta_graph is not None else ())
    ]
    problems = [*_problems(nodes, "node", _NODE_NAME), *_problems(keys, "variable", None)]
    for body, name in inner:
        problems += _problems(body, f"in the function {name} node", _NODE_NAME)
    if problems:
        raise InvalidValueError(f"These names cannot be given:{bullets(problems)}", problems=problems)
    changed = apply(model, Names(change, change, change))
    return Renamed(
        changed,
        {old: new for old, new in nodes.items() if old != new},
        {old: new for old, new in keys.items() if old != new},
    )


def _problems(names: dict[str, str], what: str, allowed: re.Pattern[str] | None) -> list[str]:
    origin: dict[str, str] = {}
    found = []
    for old, new in names.items():
        if new in origin:
            found.append(f"{what}s '{origin[new]}' and '{old}' would both be '{new}'")
        origin[new] = old
        if old != new and (not new or (allowed is not None and not allowed.fullmatch(new))):
            found.append(f"{what} '{old}' would be '{new}', which TensorFlow takes for no name")
        elif _empty_parts(new) > _empty_parts(old):
            found.append(
                f"{what} '{old}' would be '{new}', with an empty part: end both sides with / or neither"
            )
    return found


def _empty_parts(name: str) -> int:
    """How many of a name's parts between slashes are empty, which no name scope makes."""
    return name.split("/").count("")


def _check_used(renames: Sequence[Rename], names: Iterable[str]) -> None:
    known = list(names)
    idle = [one for one in renames if not any(one.pattern.search(name) for name in known)]
    if not idle:
        return
    lines = unmatched(idle, known)
    raise MissingNameError(
        f"These match no name in the model:{bullets(lines)}", renames=[one.text for one in idle]
    )
