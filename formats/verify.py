"""Everything about a file or checkpoint that can be checked, checked: what is damaged, what is intact.

Every tensor is read once, one at a time, and compared with the checksum and length that the file has
for it. What looks wrong about a file as a whole (its size, its bytes, its neighbours) is told as a cause.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import checkpoint_state, files, registry
from .errors import (
    AlreadyExistsError,
    DataLossError,
    InvalidValueError,
    MissingFileError,
    NotFoundError,
    OpError,
    UnimplementedError,
    is_unreadable,
)
from .leftovers import leftovers, unfinished
from .verification import Damage, Verification, damage_of
from .verify_causes import causes_of

if TYPE_CHECKING:
    from .entry import Entry
    from .registry import Format
    from .store import Store

WITHOUT_CHECKSUMS = frozenset(("hdf5", "npy folder", "safetensors"))
"""Formats in which a changed number cannot be told from the right one."""
_SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")


def verify(path: files.Path) -> list[Verification]:
    """Reads and checks all of what a path names.

    That is a checkpoint with the graph beside it, a store, a graph file, a SavedModel, or every
    checkpoint in a directory. Memory is that of the largest tensor.

    Raises:
        MissingFileError: Nothing is there.
        UnimplementedError: A file of a kind that is not read.
    """
    from .verify_lost import name_what_is_lost

    with files.unmapped():
        checked = _verify(files.location(path))
    name_what_is_lost(checked)
    return checked


def _verify(name: str) -> list[Verification]:
    folder, base = os.path.split(name)
    if base in _SAVED_MODELS and files.is_file(name):
        return _verify_directory(folder or ".")
    if files.is_directory(name):
        return _verify_directory(name)
    from . import verify_incomplete
    from .summary import what_is_left

    left_over = verify_incomplete.left_over(name) if files.is_file(name) else None
    if left_over is not None:
        return [left_over]
    there, missing = checkpoint_state.v1_shards(name)
    if there and missing:  # before a file of several is taken for a checkpoint of its own
        from .verify_v1 import verify_v1

        beside = verify_incomplete.graph_beside(verify_incomplete.prefix_of(name))
        return [verify_v1(name, there, missing), *beside]
    try:
        resolved = checkpoint_state.resolve_prefix(name)
    except OpError as error:
        if not isinstance(error, MissingFileError) and not is_unreadable(error):
            raise
        prefix = verify_incomplete.prefix_meant(name)
        rest = verify_incomplete.pieces(prefix)
        if rest is not None:
            return [rest, *verify_incomplete.graph_beside(prefix)]
        if is_unreadable(error):
            raise
        lost = what_is_left(name) if files.is_remote(name) else None
        if lost is not None:
            damaged = [damage_of("", lost, lost.fields["path"])]
            return [
                Verification(prefix, "checkpoint", damaged=damaged),
                *verify_incomplete.graph_beside(prefix),
            ]
        alone = verify_incomplete.graph_beside(prefix)
        if alone and not files.is_file(name):  # a graph that has no checkpoint, by its prefix
            return alone
        if not files.is_file(name) or checkpoint_state.is_state_file(name):
            raise
        return [_verify_file(name)]
    return _verify_resolved(resolved)


def salvage(checked: Iterable[Verification], output: files.Path) -> tuple[Format, list[str], list[str]]:
    """Writes the intact tensors of what `verify` found to a new store, each read again in its turn.

    Args:
        checked: What `verify` gave; one of it has tensors.
        output: Where to: a path that `registry.write_store` takes. The graph goes along if it is intact.

    Returns:
        The format written, the names written, and those left out.

    Raises:
        InvalidValueError: None or several stores, or nothing intact.
        AlreadyExistsError: `output` exists.
        OpError: As `registry.write_store`.
    """
    stores = [one for one in checked if one.store is not None]
    if len(stores) != 1:
        which = "; name one of them: " + ", ".join(one.path for one in stores) if stores else ""
        raise InvalidValueError(
            f"There are {len(stores)} sets of tensors to salvage, not one{which}.", found=len(stores)
        )
    (source,) = stores
    store = source.store
    assert store is not None
    if not source.intact:
        raise InvalidValueError(f"No tensor of {source.path} is intact: there is nothing to salvage.")
    target = os.fspath(output)
    check_new(target)
    meta_graph = next((one.meta_graph for one in checked if one.meta_graph is not None), None)
    format = registry.write_store(target, (store[name] for name in source.intact), meta_graph=meta_graph)
    kept = set(source.intact)
    left_out = [name for name in store if name not in kept]
    left_out += [one.name for one in source.damaged if one.name and one.name not in left_out]
    return format, list(source.intact), left_out


GRAPH_SUFFIXES = (".meta", ".pb", ".pbtxt")
"""Of what `salvage_graph` writes."""


def salvage_graph(checked: Iterable[Verification], output: files.Path) -> tuple[str, list[str], list[str]]:
    """Writes the nodes that are whole of the graph that `verify` found, with what else of its file is whole.

    Nodes whose inputs are lost are written, too: to run what needs them says which they lack.

    Args:
        checked: What `verify` gave; one of it is a graph.
        output: A `.pb` or `.meta` file, or `.pbtxt` for text; without one of these suffixes that of the kind
            of graph is put behind it.

    Returns:
        The path written, the names of the nodes written, and of those the ones whose inputs are lost.

    Raises:
        InvalidValueError: No graph or several, or a suffix of another kind of file.
        AlreadyExistsError: The path exists.
        OpError: It cannot be written.
    """
    from . import graph_file
    from .graph_salvage import Salvaged

    graphs = [one for one in checked if one.graph is not None]
    if len(graphs) != 1:
        which = "; name one of them: " + ", ".join(one.path for one in graphs) if graphs else ""
        raise InvalidValueError(
            f"There are {len(graphs)} graphs to salvage, not one{which}.", found=len(graphs)
        )
    graph = graphs[0].graph
    assert graph is not None
    target = os.fspath(output)
    if any(target.endswith(one.suffixes) for one in registry.formats() if one.kind == "store"):
        raise InvalidValueError(
            f"{target} cannot hold a graph, which is what there is of {graphs[0].path}; use "
            f"{', '.join(GRAPH_SUFFIXES)}.",
            path=target,
        )
    if not target.endswith(GRAPH_SUFFIXES):
        target += ".meta" if graph.kind == graph_file.META_GRAPH else ".pb"
    check_new(target)
    part = Salvaged(graph, 0)
    graph_file.write_graph(target, graph.message)
    return target, [node.name for node in part.nodes], part.dangling()


def check_new(output: files.Path) -> None:
    """Raises AlreadyExistsError if `salvage` would replace something."""
    target = files.location(output)
    there = [path for path in (target, f"{target}.index", f"{target}.meta") if files.is_file(path)]
    if there:
        raise AlreadyExistsError(
            f"{there[0]} is there already, and nothing is replaced: name another place.",
            path=there[0],
        )


def _verify_directory(name: str) -> list[Verification]:
    """The SavedModel in a directory, or every checkpoint in it, complete or not, or the store that it is."""
    if any(files.is_file(os.path.join(name, one)) for one in _SAVED_MODELS):
        from .verify_graph import verify_graph

        prefix = os.path.join(name, "variables", "variables")
        found = [verify_graph(name)]
        if files.is_file(f"{prefix}.index"):
            found += _verify_resolved(checkpoint_state.ResolvedCheckpoint(prefix, f"{prefix}.index", None))
        return found
    from . import verify_incomplete

    bases = [
        one.removesuffix(".index")
        for one in files.list_directory(name)
        if one.endswith(".index") and files.is_file(os.path.join(name, one))
    ]
    found = []
    for base in bases:
        index = os.path.join(name, f"{base}.index")
        try:
            found += _verify_resolved(checkpoint_state.resolve_prefix(index))
        except UnimplementedError as error:  # something else by that name: the others are looked at still
            found.append(
                Verification(os.path.join(name, base), "checkpoint", damaged=[damage_of("", error, index)])
            )
    for cut in (False, True):
        for prefix in checkpoint_state.v1_checkpoints(name, cut):
            found += _verify_resolved(checkpoint_state.resolve_prefix(prefix))
    for rest in verify_incomplete.pieces_in(name, [one.path for one in found]):
        found += [rest, *verify_incomplete.graph_beside(verify_incomplete.prefix_of(rest.path))]
    if not found:
        try:
            found = _verify_resolved(checkpoint_state.resolve_prefix(name))
        except MissingFileError:
            format = registry.store_directory(name)
            if format is None:
                raise
            return [_verify_store(name, format)]
    _check_state(name, found)
    told = {damage.path for one in found for damage in one.damaged}
    found[-1].notes += [why for path, why in _unreadable_in(name).items() if path not in told]
    left = [path for path in leftovers(name) if not any(path in " ".join(one.notes) for one in found)]
    found[-1].notes += map(unfinished, left)
    return found


def _unreadable_in(directory: str) -> dict[str, str]:
    """The files in a directory that cannot be read, and sentences that say why."""
    found = {}
    for name in files.list_directory(directory):
        path = os.path.join(directory, name)
        try:
            if files.is_file(path) and not files.is_remote(path):
                files.read_head(path, 1)
        except OpError as error:
            if is_unreadable(error):
                found[path] = f"What is in {path} is not known. {error}"
    return found


def _check_state(directory: str, found: list[Verification]) -> None:
    """What the state file of a directory names and is not there."""
    path = os.path.join(directory, checkpoint_state.STATE_NAME)
    try:
        state = checkpoint_state.read_state(directory)
    except OpError as error:
        found.append(Verification(path, "state file", damaged=[damage_of("", error, path)]))
        return
    if state is None:
        return
    if not state.model_checkpoint_path:
        found[-1].notes.append(
            f"{path} names no checkpoint{'' if files.file_size(path) else ': it is empty'}."
        )
    named = dict.fromkeys((state.model_checkpoint_path, *state.all_model_checkpoint_paths))
    here = {os.path.basename(one.path) for one in found}
    gone = [one for one in named if one and os.path.basename(one) not in here]
    found[-1].notes += [f"{path} names {one}, which is not there." for one in gone]


def _verify_resolved(resolved: checkpoint_state.ResolvedCheckpoint) -> list[Verification]:
    """A checkpoint, and the graph beside it."""
    from .verify_bundle import verify_bundle
    from .verify_graph import verify_graph
    from .verify_v1 import verify_v1

    if resolved.version == 2:
        found = [verify_bundle(resolved.prefix)]
    else:
        paths = checkpoint_state.v1_files(resolved.prefix) or [resolved.index]
        found = [verify_v1(resolved.prefix, paths)]
    if resolved.meta is not None:
        found.append(verify_graph(resolved.meta))
    return found


def _verify_file(name: str) -> Verification:
    from .verify_graph import verify_graph

    try:
        format = registry.detect(name)
    except DataLossError as error:
        # What is damaged is told by those who know the kind by its suffix.
        meant = [one for one in registry.formats() if one.suffixes and name.endswith(one.suffixes)]
        if not meant or "found" in error.fields:
            return Verification(name, "unknown", damaged=[damage_of("", error, name)])
        format = meant[0]
    return verify_graph(name) if format.kind == "graph" else _verify_store(name, format)


def _verify_store(name: str, format: Format) -> Verification:
    found = Verification(name, format.name)
    check_entries(found, lambda: format.read(name), format.read_damaged)
    meta_graph = getattr(found.store, "meta_graph", None)
    if meta_graph:
        from .verify_graph import check_message

        check_message(meta_graph, f"the graph in {name}", found)
    return found


def check_entries(found: Verification, open_it: Any, open_damaged: Any = None) -> None:
    """A store without places of its own: each tensor is read, and the reader says what is wrong."""
    lost: Mapping[str, OpError] = {}
    try:
        store: Mapping[str, Entry] = open_it()
    except OpError as error:
        if not isinstance(error, (DataLossError, InvalidValueError)) and not is_unreadable(error):
            raise
        found.damaged.append(damage_of("", error, found.path))
        opened = _open_damaged(found.path, open_damaged)
        if opened is None:
            if files.is_file(found.path) and not is_unreadable(error):
                found.causes += causes_of(found.path)
            return
        store, lost = opened, opened.damaged
        if lost:  # which say it in detail
            found.damaged = [damage_of(name, why, found.path) for name, why in lost.items()]
    found.store = store
    if found.format in WITHOUT_CHECKSUMS:
        found.notes.append(
            f"This kind of file ({found.format}) has no checksums of its tensors: lengths and structure were "
            "checked."
        )
    for name, why in getattr(store, "missing", {}).items():
        found.damaged.append(Damage(name, "missing", found.path, why))
    for name in store:
        try:
            entry = store[name]
            entry.read()
        except UnimplementedError as error:
            found.unread[name] = str(error)
        except OpError as error:
            if not isinstance(error, (DataLossError, NotFoundError, InvalidValueError)) and not (
                is_unreadable(error)
            ):
                raise
            found.damaged.append(damage_of(name, error, found.path))
        else:
            found.intact.append(name)
            found.nbytes += entry.nbytes
    found.notes += [f"'{name}' is no tensor: {why}" for name, why in getattr(store, "skipped", {}).items()]
    if found.damaged and files.is_file(found.path):
        found.causes += causes_of(found.path)


def _open_damaged(path: str, open_it: Any) -> Store | None:
    """What can be opened of a damaged store, or None if nothing can."""
    if open_it is None:
        return None
    try:
        store: Store = open_it(path)
    except OpError:
        return None
    return store if len(store) or store.damaged else None
