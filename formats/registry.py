"""Formats, found by looking at this folder: each module that ends in `FORMAT = Format(...)` is one.

A format's `matches` decides from the first and last bytes of a file; where several match, the suffix
ranks them. Importing a format module imports neither NumPy nor h5py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from . import files, sniff
from .errors import DataLossError, InvalidValueError, MissingFileError, UnimplementedError

if TYPE_CHECKING:
    from .checkpoint_state import ResolvedCheckpoint
    from .entry import Entry


@dataclass(frozen=True, slots=True)
class Format:
    """One file format.

    Attributes:
        name: What it is called in reports.
        suffixes: File name endings that suggest it, the preferred one first.
        matches: `matches(head, tail, path)`: whether a file with these first and last bytes is one.
        kind: `graph` (read gives a GraphFile) or `store` (read gives a mapping of entries).
        read: `read(path)`.
        write: `write(path, message)` for a graph, `write(path, entries, meta_graph=None)` for a
            store, or None.
        read_damaged: As `read`, of a damaged store: what can be opened; its attribute `damaged` has the
            error of each tensor that cannot. None where one damaged part loses all.
        matches_directory: Whether a directory (its path) is one; None for formats that are files.
    """

    name: str
    suffixes: tuple[str, ...]
    matches: Callable[[bytes, bytes, str], bool]
    kind: str
    read: Callable[..., Any]
    write: Callable[..., Any] | None
    matches_directory: Callable[[str], bool] | None = None
    read_damaged: Callable[..., Any] | None = None


@cache
def formats() -> tuple[Format, ...]:
    """All formats, by name."""
    import importlib

    found = []
    folder = os.path.dirname(__file__)
    for name in files.list_directory(folder):
        stem, suffix = os.path.splitext(name)
        path = os.path.join(folder, name)
        if suffix == ".py" and b"\nFORMAT = Format(" in files.read_bytes(path):
            found.append(importlib.import_module(f".{stem}", __package__).FORMAT)
    return tuple(sorted(found, key=lambda format: format.name))


def detect(path: files.Path) -> Format:
    """The format of a file, by its content.

    Raises:
        MissingFileError: No such file.
        InvalidValueError: A directory.
        DataLossError: Its content is lost (empty, a page or pointer in its place), or no format matches
            though its suffix names one: it is damaged.
        UnimplementedError: No format matches; says what the file is where that is known.
    """
    name = files.location(path)
    found = _matching(name)
    if found is not None:
        return found
    head, tail = _ends(name)
    kind = sniff.describe(head, tail)
    known = ", ".join(format.name for format in formats())
    if kind is not None:
        raise sniff.refusal(kind, f"{name} is {kind}; the formats that are read are: {known}.", name)
    meant = next((one for one in formats() if one.suffixes and name.endswith(one.suffixes)), None)
    if meant is not None and meant.kind == "graph":
        meant.read(name)  # raises what is wrong with it, as a rule
        return meant
    if meant is not None:
        raise DataLossError(
            f"{name} is damaged or no {meant.name} file: its {files.file_size(name)} bytes begin with "
            f"{head[:8].hex(' ')}.{sniff.text_mode_damage(head)}",
            path=name,
        )
    from . import checkpoint_state

    called = checkpoint_state.called_a_checkpoint_by(name)
    if called:
        raise DataLossError(
            f"{name} is damaged: it is a checkpoint by {called}, but its {files.file_size(name)} bytes begin "
            f"with {head[:8].hex(' ')} and do not end as a table does (cut off or overwritten)."
            f"{sniff.text_mode_damage(head)}",
            path=name,
        )
    raise UnimplementedError(
        f"{name} is of a kind that is not known; the formats that are read are: {known}."
        f"{sniff.text_mode_damage(head)}",
        path=name,
    )


def open_store(path: files.Path) -> Mapping[str, Entry]:
    """The variables in a checkpoint (any form of its path) or another store, as lazy entries by name.

    In a checkpoint that TensorFlow 2 wrote, variables are found by their names as well as by its keys.

    Raises:
        MissingFileError: Neither a file nor a checkpoint; lists what was looked for.
        UnimplementedError: A file, but no store of variables.
        DataLossError: Damaged.
    """
    from . import checkpoint_state

    name = files.location(path)
    if files.is_file(name):
        format = _matching(name, "store")
        if format is not None:
            store: Mapping[str, Entry] = format.read(name)
            return store
    try:
        resolved = checkpoint_state.resolve_prefix(name)
    except MissingFileError:
        if files.is_file(name) and not checkpoint_state.is_checkpoint_file(name):
            detect(name)  # raises what it is instead, unless it is a graph without a checkpoint
            if checkpoint_state.called_a_checkpoint_by(name):
                from . import v1

                return v1.open_v1(name)  # raises that it is none
        folder = store_directory(name)
        if folder is None:
            raise
        opened: Mapping[str, Entry] = folder.read(name)
        return opened
    return open_checkpoint(resolved)


def store_directory(path: files.Path) -> Format | None:
    """The format of a directory that is a store of variables and no checkpoint, or None."""
    name = files.location(path)
    if not files.is_directory(name):
        return None
    return next((one for one in formats() if one.matches_directory and one.matches_directory(name)), None)


def open_checkpoint(resolved: ResolvedCheckpoint) -> Mapping[str, Entry]:
    """The tensors of a checkpoint of either generation; errors as `open_store`."""
    from . import bundle, v1

    return bundle.open_bundle(resolved.prefix) if resolved.version == 2 else v1.open_v1(resolved.prefix)


def write_store(path: files.Path, entries: Iterable[Entry], meta_graph: bytes | None = None) -> Format:
    """Writes entries in the format that the suffix of `path` names, else as a checkpoint with that prefix.

    Args:
        path: `NAME.h5`, `NAME.hdf5`, `NAME.npz`, `NAME.safetensors`, or a checkpoint prefix.
        entries: What to write, in this order; each is read once, when its turn comes.
        meta_graph: A serialized MetaGraphDef to keep with them (beside a checkpoint: `PREFIX.meta`).

    Returns:
        The format written.

    Raises:
        InvalidValueError: A suffix of a format that cannot hold variables.
        OpError: What the format or the file system refuses.
    """
    name = files.location(path)
    files.check_writable(name)
    named = [format for format in formats() if name.endswith(format.suffixes)]
    by_prefix = next(format for format in formats() if format.name == "bundle")
    chosen = next((format for format in named if format.kind == "store"), None)
    if chosen is None and named:
        raise InvalidValueError(
            f"{name}: the suffix is of a {named[0].name} file, which cannot hold variables; "
            "use .h5, .npz, .safetensors, or a checkpoint prefix without suffix.",
            path=name,
        )
    chosen = chosen or by_prefix
    assert chosen.write is not None
    chosen.write(name, entries, meta_graph=meta_graph)
    return chosen


def _matching(path: str, kind: str | None = None) -> Format | None:
    """The format (of a kind) that the content of a file is in; the suffix decides between several."""
    head, tail = _ends(path)
    candidates = [format for format in formats() if kind in (None, format.kind)]
    matching = [format for format in candidates if format.matches(head, tail, path)]
    return min(matching, key=lambda format: not path.endswith(format.suffixes), default=None)


def _ends(path: str) -> tuple[bytes, bytes]:
    """The first and the last bytes of a file."""
    size = files.file_size(path)
    return files.read_head(path, sniff.HEAD), files.read_range(path, max(0, size - sniff.HEAD), sniff.HEAD)
