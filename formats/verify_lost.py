"""What a damaged checkpoint has lost without a trace: the graph beside it lists what its saver writes."""

from __future__ import annotations

from collections.abc import Iterable

from .saved_variables import saved_variables
from .verification import Damage, Verification
from .verify_incomplete import prefix_of

_SHOWN = 5


def name_what_is_lost(checked: Iterable[Verification]) -> None:
    """Adds to checkpoints that lost a file, or blocks of one, the tensors of which nothing is left.

    Args:
        checked: What `verify` found: checkpoints, and the graphs beside them.
    """
    checked = list(checked)
    graphs = {one.path: one for one in checked if one.graph is not None and one.whole}
    for one in checked:
        lost_files = [damage for damage in one.damaged if _loses_names(damage)]
        beside = graphs.get(f"{prefix_of(one.path.partition('-?????-of-')[0])}.meta")
        if one.graph is not None or not lost_files or beside is None or beside.graph is None:
            continue
        keys: dict[str, None] = {}
        for meta in beside.graph.meta_graphs:
            keys |= dict.fromkeys(saved_variables(meta.graph_def, meta.saver_def))
        known = {*(one.store or ()), *one.unread, *(damage.name for damage in one.damaged)}
        lost = [key for key in keys if key not in known]
        if one.store is not None:
            path = lost_files[0].path
            why = f"'{{}}' is lost: {beside.path} lists it, and nothing that can be read has it."
            one.damaged += [Damage(key, "missing", path, why.format(key)) for key in lost]
        elif lost:
            more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
            one.notes.append(f"{beside.path} lists what it held: {', '.join(lost[:_SHOWN])}{more}.")


def _loses_names(damage: Damage) -> bool:
    """Whether tensors may be lost with a file, or a part of it, of which nothing else tells."""
    return not damage.name and damage.kind != "unreadable" and not damage.why.endswith("depends on it.")
