"""A checkpoint of the first generation, checked: every part of every tensor, also where files are cut off."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from . import files
from .entry import Entry
from .errors import DataLossError, InvalidValueError, OpError, UnimplementedError, is_unreadable
from .leftovers import leftovers, unfinished
from .table import Table, check_unread, end_of_table
from .v1 import V1Checkpoint, open_cut
from .verification import Damage, Verification, damage_of, note_parts
from .verify_causes import causes_of


def verify_v1(prefix: str, paths: list[str], missing: Iterable[str] = ()) -> Verification:
    """The files that there are of a first-generation checkpoint, those that cannot be opened told apart.

    Of a file whose end is lost the blocks that are whole are read, as far as its first describes them.
    """
    found = Verification(prefix, "v1 checkpoint")
    for path in missing:
        why = f"{files.absence(path)}; the tensors and parts in it are lost."
        found.damaged.append(Damage("", "missing", path, why))
    store = open_damaged_v1(prefix, paths, found)
    if store is not None:
        _check_tensors(store, found)
    folder, base = os.path.split(prefix)
    found.notes += [unfinished(one, found.whole) for one in leftovers(folder, base.partition("-?")[0])]
    return found


def open_damaged_v1(prefix: str, paths: Iterable[str], found: Verification) -> V1Checkpoint | None:
    """What the files describe as far as they are whole, or None; what is wrong goes to `found`."""
    good = []
    cut: dict[str, Table] = {}
    for path in paths:
        try:
            V1Checkpoint(path, [path])
        except OpError as error:
            found.damaged.append(damage_of("", error, path))
            if is_unreadable(error):
                continue
            found.causes += causes_of(path)
            with suppress(OpError):
                cut[path] = open_cut(path)
                V1Checkpoint(path, [path], cut)
                good.append(path)
        else:
            good.append(path)
            check_rest(path, found)
    try:
        return V1Checkpoint(prefix, good, cut) if good else None
    except DataLossError as error:  # files that contradict each other
        found.damaged.append(damage_of("", error, prefix))
        return None


def _check_tensors(store: V1Checkpoint, found: Verification) -> None:
    """Reads every part of every tensor; fills `intact`, `damaged` and `unread`."""
    found.store = store
    for name in store:
        damaged = len(found.damaged)
        whole = []
        try:
            parts = store.parts(name)
            for part in parts:
                label = name if part.part is None else f"{name}{list(map(list, part.part.ranges))}"
                problem = _problem(part)
                if problem is None:
                    whole.append(label)
                else:
                    found.damaged.append(damage_of(label, problem, problem.fields.get("path") or store.where))
            if len(whole) == len(parts) and parts[0].part is not None:
                problem = _problem(store[name])  # whether the parts are all of it
                if problem is not None:
                    found.damaged.append(damage_of(name, problem, store.where))
        except UnimplementedError as error:
            found.unread[name] = str(error)
            continue
        if len(found.damaged) == damaged:
            found.intact.append(name)
            found.nbytes += sum(part.nbytes for part in parts)
        else:
            note_parts(name, whole, found)


def _problem(entry: Entry) -> OpError | None:
    """Why an entry cannot be read; None if it can."""
    try:
        entry.read()
    except (DataLossError, InvalidValueError) as error:
        return error
    except OpError as error:
        if is_unreadable(error):
            return error
        raise
    return None


def check_rest(path: str, found: Verification) -> None:
    """Checks what of a table no tensor depends on."""
    content = files.open_content(path)
    try:
        check_unread(content, path)
    except DataLossError as error:
        found.damaged.append(damage_of("", error, path, " No tensor depends on it."))
        return
    extra = content.size - end_of_table(content, path)
    if extra:
        found.notes.append(
            f"{path} has {extra} bytes between its last block and its footer: of another file?"
        )
