"""The `checkpoint` state file, and from any path that means a checkpoint to its prefix.

The state file is the text of a `tensorflow.CheckpointState`. It often names places that do not exist
any more (the author's machine, steps that were not kept), so what it says is looked up, then looked
up beside it, then given up for the newest checkpoint that is complete; the answer says which.
"""

from __future__ import annotations

import ntpath
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import files, protos, sniff
from .errors import (
    DataLossError,
    InvalidValueError,
    MissingFileError,
    OpError,
    is_unreadable,
    nearest,
    suggestion,
)
from .leftovers import is_leftover

STATE_NAME = "checkpoint"
_SHARD = re.compile(r"(?P<prefix>.*)\.data-\d{5}-of-(?P<count>\d{5})", re.DOTALL)
# Not the data file of a second-generation checkpoint, whose name ends in the same way.
V1_SHARD = re.compile(r"(?P<prefix>.*)(?<!\.data)-(\d{5}|\?{5})-of-(?P<count>\d{5})", re.DOTALL)
_NO_V1 = frozenset((".index", ".meta", ".pb", ".pbtxt", ".h5", ".npz", ".py", ".json"))
_SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")
_STEP = re.compile(r"-(\d+)$")
_LISTED = 8
"""Names in a directory that an error lists."""


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """What a state file says, with paths joined to its directory; the fields of TensorFlow's message."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: tuple[str, ...] = ()
    all_model_checkpoint_timestamps: tuple[float, ...] = ()
    last_preserved_timestamp: float = 0.0


@dataclass(frozen=True, slots=True)
class ResolvedCheckpoint:
    """A checkpoint that exists.

    Attributes:
        prefix: Its prefix (of a first-generation checkpoint: its file, or the pattern of its files).
        index: Its `.index` (of a first-generation checkpoint: its first file).
        meta: Its `.meta`, if there is one.
        how: How it was found, to be told where it is not plain ("" where the path named it).
        version: 2, or 1 for the first generation.
        stands_in: Whether it stands in for one that was named but is not there; `how` says so.
    """

    prefix: str
    index: str
    meta: str | None
    how: str = ""
    version: int = 2
    stands_in: bool = False

    def warn(self, stacklevel: int = 3) -> None:
        """Says as a Python warning that it stands in for another, if it does."""
        if self.stands_in:
            warnings.warn(f"Using {self.prefix}, {self.how}.", stacklevel=stacklevel)


@dataclass(slots=True)
class _Search:
    """What was looked for, for the error at the end."""

    tried: list[str] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    def at(self, prefix: str, how: str = "", stands_in: bool = False) -> ResolvedCheckpoint | None:
        """The checkpoint of this very prefix, if it exists."""
        if files.is_file(f"{prefix}.index"):
            return ResolvedCheckpoint(prefix, f"{prefix}.index", _meta_beside(prefix), how, 2, stands_in)
        if prefix and not prefix.endswith("/"):
            shards = _v1_files(prefix)
            if shards:
                return ResolvedCheckpoint(prefix, shards[0], _meta_beside(prefix), how, 1, stands_in)
        if f"{prefix}.index" not in self.tried:
            self.tried.append(f"{prefix}.index")
        return None


def resolve_prefix(path: files.Path, latest_filename: str = STATE_NAME) -> ResolvedCheckpoint:
    """The checkpoint that a path means.

    Any of: the prefix; its `.index`, `.meta` or `.data-…-of-…` file; `PREFIX-00000-of-00001` where
    only `PREFIX.index` can be meant; the state file; a directory (what its state file names, else the
    newest complete checkpoint in it); a SavedModel directory or the graph in it; a file of a first-generation
    checkpoint. Paths are literal; the pattern `PREFIX-?????-of-NNNNN` of first-generation names is
    the one exception.

    Args:
        path: The path.
        latest_filename: What the state file is called.

    Raises:
        MissingFileError: None of these; lists what was looked for and what is there.
        DataLossError: A state file that is not one.
    """
    name = _with_count(files.location(path))
    search = _Search()
    if files.is_directory(name):
        # `dir/` is itself the prefix where the base name is empty.
        literal = search.at(name) if name.endswith("/") and files.is_file(f"{name}.index") else None
        found = literal or _in_directory(name, latest_filename, search)
    else:
        refused: OpError | None = None
        try:
            found = search.at(name)
        except OpError as error:  # what it belongs to can be known by its name
            if not is_unreadable(error):
                raise
            found, refused = None, error
        found = found or _from_file_name(name, search)
        if found is None and refused is not None:
            raise refused
        if found is None and files.is_file(name) and is_state_file(name):
            found = _from_state(os.path.dirname(name), os.path.basename(name), search)
    if found is None:
        raise _not_found(name, search)
    return found


def _with_count(name: str) -> str:
    """`PREFIX-?????-of-00002` for `PREFIX-?????-of-?????`, where there are files of one count alone."""
    stem = name.removesuffix("-?????-of-?????")
    folder, base = os.path.split(stem)
    if stem == name or not files.is_directory(folder or "."):
        return name
    matches = (V1_SHARD.fullmatch(other) for other in files.list_directory(folder or "."))
    counts = {match["count"] for match in matches if match and match["prefix"] == base}
    return f"{stem}-?????-of-{counts.pop()}" if len(counts) == 1 else name


def read_state(directory: files.Path, latest_filename: str = STATE_NAME) -> CheckpointState | None:
    """What the state file of a directory says, relative paths joined to the directory; None without one.

    Raises:
        DataLossError: It is not a state file; says the line.
    """
    path = os.path.join(directory, latest_filename)
    if not files.is_file(path):
        return None
    data = files.read_found(path)
    try:
        text = data.decode("utf-8-sig")  # editors of Windows write a byte-order mark
        message = protos.parse_text(protos.CheckpointState, text, path)
    except (UnicodeDecodeError, InvalidValueError) as error:
        raise DataLossError(f"{path} is not a checkpoint state file: {error}", path=path) from error
    return CheckpointState(
        os.path.join(directory, message.model_checkpoint_path) if message.model_checkpoint_path else "",
        tuple(os.path.join(directory, one) for one in message.all_model_checkpoint_paths),
        tuple(message.all_model_checkpoint_timestamps),
        message.last_preserved_timestamp,
    )


def latest_checkpoint(directory: files.Path, latest_filename: str = STATE_NAME) -> str | None:
    """The prefix that a directory's state file names, if that checkpoint exists, else None.

    As TensorFlow's, but a checkpoint that was moved together with its state file is found, with a Python
    warning. A state file that cannot be read is a Python warning and None.
    """
    try:
        state = read_state(directory, latest_filename)
    except OpError as error:
        warnings.warn(str(error), stacklevel=2)
        return None
    if state is None or not state.model_checkpoint_path:
        return None
    state_path = os.path.join(directory, latest_filename)
    found = _named(state.model_checkpoint_path, os.fspath(directory), state_path, _Search())
    if found is None:
        return None
    found.warn()
    return found.prefix


def complete_checkpoints(directory: files.Path) -> list[str]:
    """The prefixes of the V2 checkpoints in a directory whose files are all there, oldest first.

    Of two written at the same time the one with the higher step number in its name is the later.
    """
    return _prefixes(files.location(directory), complete=True)


def _prefixes(folder: str, complete: bool) -> list[str]:
    """`complete_checkpoints`, or those that have an index but not all their data files."""
    names = files.list_directory(folder or ".")
    present: dict[str, set[tuple[str, int]]] = {}
    for name in names:
        match = _SHARD.fullmatch(name)
        if match:
            present.setdefault(match["prefix"], set()).add((name, int(match["count"])))
    found = []
    for name in names:
        if not name.endswith(".index"):
            continue
        base = name.removesuffix(".index")
        counts = [count for _, count in present.get(base, ())]
        if any(counts.count(count) == count for count in counts) == complete:
            step = _STEP.search(base)
            when = files.modified(os.path.join(folder, name))
            found.append((when, int(step[1]) if step else -1, os.path.join(folder, base)))
    return [prefix for _, _, prefix in sorted(found)]


def _in_directory(name: str, latest_filename: str, search: _Search) -> ResolvedCheckpoint | None:
    if files.is_file(os.path.join(name, latest_filename)):
        return _from_state(name, latest_filename, search)
    search.tried.append(os.path.join(name, latest_filename))
    if any(files.is_file(os.path.join(name, one)) for one in _SAVED_MODELS):
        return search.at(
            os.path.join(name, "variables", "variables"), f"the variables of the SavedModel {name}"
        )
    newest = _newest(name, f"the newest complete checkpoint in {name}")
    if newest is None:
        search.tried.append(os.path.join(name, "*.index with all its data files"))
        return _incomplete(name)
    return newest


def _incomplete(directory: str) -> ResolvedCheckpoint | None:
    """The newest checkpoint that is not whole: whoever reads it says what it lacks: more than "none"."""
    names = files.list_directory(directory or ".")
    found = [
        one
        for one in _prefixes(directory, complete=False)
        if any(name.startswith(f"{os.path.basename(one)}.data-") for name in names)
        or is_table(f"{one}.index")
    ]
    if found:
        how = f"the newest checkpoint in {directory}, of which data files are missing"
        return _Search().at(found[-1], how)
    cut = v1_checkpoints(directory, cut=True)
    return _Search().at(cut[-1], f"the newest checkpoint in {directory}, which is cut off") if cut else None


def _newest(directory: str, how: str, stands_in: bool = False) -> ResolvedCheckpoint | None:
    candidates = complete_checkpoints(directory) or v1_checkpoints(directory)
    return _Search().at(candidates[-1], how, stands_in) if candidates else None


def v1_checkpoints(directory: str, cut: bool = False) -> list[str]:
    """The first-generation checkpoints in a directory (files, or patterns of files), oldest first.

    What may not be read is left out, unless other files of the pattern can be.

    Args:
        directory: Where to look.
        cut: Those that are cut off, instead of those that end as they should.
    """
    found = {}
    for name in files.list_directory(directory or "."):
        if is_leftover(name):
            continue
        path = os.path.join(directory, name)
        shard = V1_SHARD.fullmatch(path)
        prefix = f"{shard['prefix']}-?????-of-{shard['count']}" if shard else path
        if os.path.splitext(name)[1] in _NO_V1 or not files.is_file(path):
            continue
        with _passing_over():
            every = _v1_files(prefix)
            if every and cut == any(_is_cut(path) for path in every if not _is_refused(path)):
                found[prefix] = files.modified(path)
    return sorted(found, key=lambda prefix: (found[prefix], prefix))


def _from_state(directory: str, filename: str, search: _Search) -> ResolvedCheckpoint | None:
    """What the state file means, or stands in for what it means."""
    state_path = os.path.join(directory, filename)
    search.states.append(state_path)
    state = read_state(directory, filename)
    named = state.model_checkpoint_path if state else ""
    if named:
        found = _named(named, directory, state_path, search)
        if found is not None:
            return found
    why = f"{state_path} names {named}, which does not exist" if named else f"{state_path} names none"
    how = f"the newest complete checkpoint beside {state_path} ({why})"
    return _newest(directory or ".", how, stands_in=True)


def _named(named: str, directory: str, state_path: str, search: _Search) -> ResolvedCheckpoint | None:
    """The checkpoint a state file names, or the one of that base name beside the state file."""
    how = f"named by {state_path}"
    found = search.at(named, how)
    if found is not None:
        return found
    if files.is_file(named) and not is_state_file(named):  # overwritten: whoever reads it says what it is
        return ResolvedCheckpoint(named, named, _meta_beside(named), how, version=1)
    base = ntpath.basename(named)  # splits at both kinds of slash: the author may have used Windows
    how = f"of the name in {state_path}, but beside it ({named} does not exist)"
    return search.at(os.path.join(directory, base), how, stands_in=True)


def _from_file_name(name: str, search: _Search) -> ResolvedCheckpoint | None:
    """The checkpoint that a file belongs to, by the file's name."""
    if os.path.basename(name) in _SAVED_MODELS and files.is_file(name):
        folder = os.path.dirname(name)
        variables = os.path.join(folder, "variables", "variables")
        return search.at(variables, f"the variables of the SavedModel {folder or '.'}")
    for suffix in (".index", ".meta"):
        if name.endswith(suffix):
            return search.at(name.removesuffix(suffix)) or _v1_of_meta(name)
    match = _SHARD.fullmatch(name)
    if match:
        return search.at(match["prefix"])
    match = V1_SHARD.fullmatch(name)
    if match:
        prefix = match["prefix"]
        return search.at(prefix, f"{name} does not exist; {prefix} does")
    return _v1_of_meta(f"{name}.meta")


def _v1_of_meta(name: str) -> ResolvedCheckpoint | None:
    """The sharded first-generation checkpoint of `export.meta` (there or not): `export-?????-of-NNNNN`."""
    prefix = name.removesuffix(".meta")
    folder, base = os.path.split(prefix)
    if not name.endswith(".meta") or not files.is_directory(folder or "."):
        return None
    for other in files.list_directory(folder or "."):
        match = V1_SHARD.fullmatch(other)
        if match and match["prefix"] == base:
            pattern = f"{prefix}-?????-of-{match['count']}"
            shards = _v1_files(pattern)
            if shards:
                return ResolvedCheckpoint(pattern, shards[0], _meta_beside(prefix), "", version=1)
    return None


def _v1_files(prefix: str) -> list[str]:
    """The files of a first-generation checkpoint: the literal one, or all those of a pattern.

    A shard of which all others are there stands for all of them.
    """
    match = V1_SHARD.fullmatch(prefix)
    literal = [prefix] if files.is_file(prefix) else []
    if literal and (prefix.endswith(".index") or not (match or _is_v1(prefix))):
        return []
    if not match or (not literal and "?????" not in prefix) or int(match["count"]) > 100_000:
        return literal
    count = int(match["count"])
    shards = [f"{match['prefix']}-{shard:05d}-of-{match['count']}" for shard in range(count)]
    if (not literal or prefix in shards) and all(map(files.is_file, shards)):
        refused: list[OpError] = []
        kinds = [_is_v1(path, refused) for path in shards]
        if all(kinds) and len(refused) < count:
            return shards
        if refused and prefix not in shards:
            raise refused[0]
    return [path for path in literal if _is_v1(path)]


def _is_v1(path: str, refused: list[OpError] | None = None) -> bool:
    """Whether a file is a table, or a first-generation checkpoint that is cut off.

    Args:
        path: The file.
        refused: Takes the error of a file that cannot be read, which passes for one; None: it is raised.
    """
    try:
        return is_table(path) or _is_cut(path)
    except OpError as error:
        if refused is None or not is_unreadable(error):
            raise
        refused.append(error)
        return True


def _is_cut(path: str) -> bool:
    """Whether a file begins as a first-generation checkpoint and does not end as one; never of a URL."""
    if files.is_remote(path) or not files.file_size(path):
        return False
    head = files.read_head(path, sniff.HEAD)
    tail = files.read_range(path, max(0, files.file_size(path) - sniff.HEAD), sniff.HEAD)
    return sniff.describe(head, tail) == sniff.TABLE_CUT


def _is_refused(path: str) -> bool:
    try:
        files.read_head(path, 1)
    except OpError as error:
        return is_unreadable(error)
    return False


@contextmanager
def _passing_over() -> Iterator[None]:
    """Passes over what cannot be read."""
    try:
        yield
    except OpError as error:
        if not is_unreadable(error):
            raise


def is_checkpoint_file(path: str) -> bool:
    """Whether a file is part of a checkpoint by its name or content, or names one."""
    if _SHARD.fullmatch(path) or path.endswith(".index"):
        return True
    return is_table(path) or is_state_file(path)


def called_a_checkpoint_by(name: str) -> str:
    """Which file says that one is a first-generation checkpoint: a graph or state file beside it; or ""."""
    if files.is_file(f"{name}.meta"):
        return f"{name}.meta"
    folder = os.path.dirname(name)
    try:
        state = read_state(folder)
    except OpError:
        return ""
    named = (state.model_checkpoint_path, *state.all_model_checkpoint_paths) if state else ()
    known = os.path.basename(name) in map(ntpath.basename, named)
    return os.path.join(folder, STATE_NAME) if known else ""


def v1_files(prefix: str) -> list[str]:
    """The files of the first-generation checkpoint that `ResolvedCheckpoint.prefix` names."""
    return _v1_files(prefix)


def v1_shards(name: str) -> tuple[list[str], list[str]]:
    """Of a first-generation checkpoint in several files, by one of its names: those there, those not."""
    match = V1_SHARD.fullmatch(name)
    if match is None or int(match["count"]) > 100_000:
        return [], []
    every = [f"{match['prefix']}-{at:05d}-of-{match['count']}" for at in range(int(match["count"]))]
    there = [path for path in every if files.is_file(path)]
    return there, [path for path in every if path not in there]


def _meta_beside(prefix: str) -> str | None:
    match = V1_SHARD.fullmatch(prefix)
    for base in (prefix, match["prefix"] if match else prefix):
        if files.is_file(f"{base}.meta"):
            return f"{base}.meta"
    return None


def is_table(path: str) -> bool:
    """Whether a file ends as tables do."""
    size = files.file_size(path)
    return size >= 48 and files.read_range(path, size - 8, 8) == sniff.TABLE_MAGIC


def is_state_file(path: str) -> bool:
    """Whether a file is a `checkpoint` state file, by its name or its first field."""
    head = files.read_head(path, sniff.HEAD)
    return os.path.basename(path) == STATE_NAME or sniff.text_proto_field(head) in (
        "model_checkpoint_path",
        "all_model_checkpoint_paths",
    )


def _not_found(name: str, search: _Search) -> MissingFileError:
    """The error that says what was looked for, and what lies there: the nearest names, or of a folder all."""
    folder = name if files.is_directory(name) else os.path.dirname(name) or "."
    where = "The current directory" if folder == "." else f"The directory {folder}"
    here = files.is_directory(folder)
    blocked = next(filter(None, map(files.obstacle, (name, *search.tried[:5]))), "")
    found = [one for one in files.list_directory(folder) if not files.is_temporary(one)] if here else []
    if found:
        there = f"{where} holds: {_some(found)}."
    elif files.is_remote(folder):
        there = f"Nothing is listed below {folder}."
    else:
        there = f"{where} is empty." if here else f"The directory {folder} does not exist."
    if files.is_file(name):
        head = f"{name} is empty." if not files.file_size(name) else f"{name} is not part of a checkpoint."
    elif folder == name and files.is_remote(name) and not found:
        head = (
            f"{name} is a page (HTML) or a directory that is not listed, not a model: name a file below it."
        )
    elif folder == name:
        head = f"{name} is a directory without a checkpoint."
    else:
        head = f"{name or repr(name)}: no such file or checkpoint."
        meant = nearest(os.path.basename(name), _names(found)) if here else []
        there = suggestion([os.path.join(os.path.dirname(name), one) for one in meant]).strip() or there
    if blocked:
        there = f"{blocked}."
    refused = {one: why for one in (name, *search.tried[:3]) if (why := files.refusal(one))}
    if refused:
        there = "".join(f"\n{one}: the server answers {why}." for one, why in refused.items()).strip()
        there += " Many a server answers so, too, where there is nothing."
    tried = f" Looked for {', '.join(search.tried[:5])}." if search.tried else ""
    empty = [one for one in search.states if not files.file_size(one)]
    state = f" The state file {empty[0]} is empty." if empty and empty[0] != name else ""
    return MissingFileError(
        f"{head}{state}{tried}\n{there}", path=name, looked_for=search.tried, found=found[:50]
    )


def _names(found: Sequence[str]) -> list[str]:
    """What can be asked for in a directory: prefixes of checkpoints, and files that are no parts of one."""
    prefixes = {one.removesuffix(".index") for one in found if one.endswith(".index")}
    return sorted(
        prefixes | {one for one in found if not one.endswith(".index") and not _SHARD.fullmatch(one)}
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"
