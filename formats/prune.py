"""Old checkpoints in a directory, and what interrupted writes left there: found, and removed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from . import checkpoint_state, checkpoint_state_writer, files, leftovers
from .errors import InvalidValueError, MissingFileError, OpError


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be removed from a directory.

    Attributes:
        directory: The directory.
        kept: Prefixes of the checkpoints that stay, oldest first.
        removed: Those that go, oldest first.
        files: The files that go, in the order in which they are removed, with the bytes of each.
        leftovers: Those among them that belong to no checkpoint.
        incomplete: Prefixes of checkpoints that lack files; they stay.
    """

    directory: str
    kept: list[str]
    removed: list[str]
    files: dict[str, int]
    leftovers: list[str]
    incomplete: list[str]


def plan(directory: files.Path, keep: int) -> Plan:
    """Which checkpoints of a directory are older than the newest `keep`, and what is left over there.

    The checkpoint that the state file names as the latest stays, however old its files are.

    Raises:
        MissingFileError: No such directory.
        InvalidValueError: `keep` is less than 1.
        DataLossError: The state file is damaged.
    """
    folder = files.location(directory)
    if keep < 1:
        raise InvalidValueError(f"At least one checkpoint is kept, not {keep}.", keep=keep)
    if not files.is_directory(folder):
        raise MissingFileError(f"{folder} is not a directory that exists.", path=folder)
    state = checkpoint_state.read_state(folder)
    latest = checkpoint_state.latest_checkpoint(folder) if state is not None else None
    complete = checkpoint_state.complete_checkpoints(folder)
    v1 = checkpoint_state.v1_checkpoints(folder)
    every = sorted([*complete, *v1], key=_when)
    same = next((one for one in every if latest is not None and _same(one, latest)), None)
    kept = every[-keep:]
    if same is not None and same not in kept:
        kept = sorted([same, *kept[1:]], key=every.index)
    removed = [one for one in every if one not in kept]
    going: dict[str, int] = {}
    for prefix in removed:
        going |= {path: files.file_size(path) for path in _files_of(prefix)}
    left = leftovers.leftovers(folder)
    for path in left:
        going |= {one: files.file_size(one) for one in _inside(path)}
    names = files.list_directory(folder)
    whole = {os.path.basename(one) for one in complete}
    lacking = [
        os.path.join(folder, name.removesuffix(".index"))
        for name in names
        if name.endswith(".index")
        and name.removesuffix(".index") not in whole
        and not leftovers.is_leftover(name)
    ]
    return Plan(folder, kept, removed, going, left, lacking)


def carry_out(chosen: Plan) -> None:
    """Removes what a plan says; the state file forgets the checkpoints before they go.

    Raises:
        OpError: A file cannot be removed, or the state file not be written.
    """
    state = checkpoint_state.read_state(chosen.directory)
    if state is not None and chosen.removed:
        gone = [os.path.basename(one) for one in chosen.removed]
        paths = [one for one in state.all_model_checkpoint_paths if os.path.basename(one) not in gone]
        if len(paths) < len(state.all_model_checkpoint_paths):
            checkpoint_state_writer.write_state(
                chosen.directory,
                state.model_checkpoint_path,
                paths,
                save_relative_paths=_relative(chosen.directory),
            )
    for path in chosen.files:
        with suppress(MissingFileError):
            files.remove_file(path)
    for path in chosen.leftovers:
        if os.path.isdir(path):
            with suppress(OSError):
                os.rmdir(path)


def _relative(directory: str) -> bool:
    """Whether a state file names its checkpoints relative to itself."""
    text = files.read_found(os.path.join(directory, checkpoint_state.STATE_NAME)).decode("utf-8", "replace")
    return not any('path: "/' in line for line in text.splitlines())


def _when(prefix: str) -> tuple[int, int, str]:
    first = _files_of(prefix)[0]
    step = prefix.rpartition("-")[2]
    return files.modified(first), int(step) if step.isdigit() else -1, prefix


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _files_of(prefix: str) -> list[str]:
    """The files of a checkpoint, that first without which it is none."""
    folder, base = os.path.split(prefix)
    if files.is_file(f"{prefix}.index"):
        beside = [
            os.path.join(folder, name)
            for name in files.list_directory(folder or ".")
            if name.startswith(f"{base}.data-") and len(name) == len(f"{base}.data-00000-of-00001")
        ]
        found = [f"{prefix}.index", *beside]
    else:
        found = checkpoint_state.v1_files(prefix)
        prefix = prefix.removesuffix(prefix[-len("-?????-of-00001") :]) if "-?????-of-" in prefix else prefix
    return [*found, *([f"{prefix}.meta"] if files.is_file(f"{prefix}.meta") else [])]


def _inside(path: str) -> Iterator[str]:
    """A file, or the files in a directory."""
    if not files.is_directory(path):
        yield path
        return
    with suppress(OpError):
        for name in files.list_directory(path):
            yield from _inside(os.path.join(path, name))
