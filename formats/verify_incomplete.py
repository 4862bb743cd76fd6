"""Checkpoints of which files are missing or cut off: found by what is left of them, and told as damage."""

from __future__ import annotations

import ntpath
import os
import re
from collections.abc import Iterable

from . import checkpoint_state, files, registry, sniff
from .checkpoint_state import V1_SHARD
from .errors import MissingFileError, OpError
from .leftovers import explain, leftovers
from .verification import Damage, Verification
from .verify_v1 import verify_v1

_PIECE = re.compile(r"(?P<prefix>.*?)(\.meta|\.index|\.data-\d{5}-of-\d{5})", re.DOTALL)


def prefix_of(name: str) -> str:
    """The prefix that a file of a checkpoint has by its name; another name as it is."""
    match = _PIECE.fullmatch(name) or V1_SHARD.fullmatch(name)
    return match["prefix"] if match else name


def prefix_meant(name: str) -> str:
    """As `prefix_of`; of a state file the prefix that it names, if something is left of that."""
    if files.is_remote(name) or not (files.is_file(name) and checkpoint_state.is_state_file(name)):
        return prefix_of(name)
    folder, base = os.path.split(name)
    state = checkpoint_state.read_state(folder, base)
    named = state.model_checkpoint_path if state else ""
    if not named:
        return name
    beside = os.path.join(folder, ntpath.basename(named))
    return next((one for one in (named, beside) if pieces(one) is not None), name)


def pieces(prefix: str) -> Verification | None:
    """What is left of a checkpoint that cannot be opened by its prefix; None if there is nothing.

    Checkpoints with an index are not looked at: what those lack is told by what reads them.
    """
    folder = os.path.dirname(prefix)
    if not os.path.basename(prefix) or not files.is_directory(folder or "."):
        return None
    there, missing = _shards_of(prefix)
    if there:
        count = len(there) + len(missing)
        return verify_v1(f"{prefix}-?????-of-{count:05d}", there, missing)
    if files.is_file(prefix):
        return verify_v1(prefix, [prefix]) if _is_checkpoint(prefix) else None
    return _without_index(prefix)


def pieces_in(directory: str, known: Iterable[str]) -> list[Verification]:
    """As `pieces`, of every checkpoint of which a directory has files.

    Args:
        directory: Where to look.
        known: Prefixes (or patterns) that were checked already.
    """
    done = {prefix_of(path) for path in known}
    found = []
    for name in files.list_directory(directory or "."):
        path = os.path.join(directory, name)
        piece = _PIECE.fullmatch(name) or V1_SHARD.fullmatch(name)
        if not piece and not (files.is_file(path) and checkpoint_state.called_a_checkpoint_by(path)):
            continue
        prefix = prefix_of(path)
        if prefix not in done:
            done.add(prefix)
            one = pieces(prefix)
            found += [one] if one else []
    return found


def _shards_of(prefix: str) -> tuple[list[str], list[str]]:
    """As `v1_shards`, by the prefix."""
    folder, base = os.path.split(prefix)
    for name in files.list_directory(folder or "."):
        match = V1_SHARD.fullmatch(name)
        if match and match["prefix"] == base:
            return checkpoint_state.v1_shards(os.path.join(folder, name))
    return [], []


def _is_checkpoint(name: str) -> bool:
    """Whether an unreadable file began as a checkpoint, or a graph or state file beside it says so."""
    try:
        registry.detect(name)
    except OpError as error:
        if error.fields.get("found") == sniff.TABLE_CUT:
            return True
    else:
        return False
    return bool(checkpoint_state.called_a_checkpoint_by(name))


def _without_index(prefix: str) -> Verification | None:
    """A checkpoint of which only data files are there."""
    folder, base = os.path.split(prefix)
    if files.is_file(f"{prefix}.index"):
        return None
    names = [one for one in files.list_directory(folder or ".") if one.startswith(f"{base}.data-")]
    left = leftovers(folder, base)
    if not (names or left):
        return None
    index = f"{prefix}.index"
    why = f"{files.absence(index)}; without it nothing says what is in {', '.join(names) or 'what is left'}."
    found = Verification(prefix, "checkpoint", damaged=[Damage("", "missing", index, why)])
    if left:
        are = "is" if len(left) == 1 else "are"
        found.causes.append(f"A save did not finish: {', '.join(left)} {are} left over.{_rescue(left)}")
    return found


def _rescue(left: list[str]) -> str:
    """What can be tried where the index was written and only its renaming did not happen."""
    for path in left:
        stem, mark, _ = path.rpartition(".index.")
        if mark and files.is_file(path) and checkpoint_state.is_table(path):
            return (
                f" {path} is a whole index: copy it to {stem}.index, and what is left over of data files to "
                "their own names; then `sgtool verify` says what of the checkpoint there is."
            )
    return ""


def left_over(path: str) -> Verification | None:
    """A file that is left over, told as such; None for others."""
    why = explain(path)
    if not why:
        return None
    return Verification(path, "left-over file", damaged=[Damage("", "structure", path, why)])


def graph_beside(prefix: str) -> list[Verification]:
    """The graph beside a checkpoint, checked, if there is one."""
    from .verify_graph import verify_graph

    try:
        return [verify_graph(f"{prefix}.meta")]
    except MissingFileError:
        return []
