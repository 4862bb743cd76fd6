"""SavedModel directories, written: the graph, the variables and the assets.

    DIRECTORY/saved_model.pb                            a SavedModel message (or its text, saved_model.pbtxt)
    DIRECTORY/variables/variables.index                 the variables of all its graphs: a checkpoint
    DIRECTORY/variables/variables.data-?????-of-?????
    DIRECTORY/assets/NAME                               files that its graphs read when they are loaded

A directory is a SavedModel once `saved_model.pb` is in it, so this file takes its place last.

Source: tensorflow/python/saved_model/builder_impl.py and constants.py (r1.15), behaviour only.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from . import files, protos
from .bundle_writer import add_bundle
from .entry import Entry
from .errors import DirectoryNotEmptyError, InvalidValueError, bullets

ASSETS_DIRECTORY = "assets"
ASSETS_KEY = "saved_model_assets"
INIT_OP_SIGNATURE_KEY = "__saved_model_init_op"
LEGACY_INIT_OP_KEY = "legacy_init_op"
MAIN_OP_KEY = "saved_model_main_op"
TRAIN_OP_SIGNATURE_KEY = "__saved_model_train_op"
FILENAME_PB = "saved_model.pb"
FILENAME_PBTXT = "saved_model.pbtxt"
SCHEMA_VERSION = 1
VARIABLES_DIRECTORY = "variables"
VARIABLES_FILENAME = "variables"


def variables_prefix(directory: files.Path) -> str:
    """The checkpoint prefix of the variables of the SavedModel in `directory`."""
    return os.path.join(directory, VARIABLES_DIRECTORY, VARIABLES_FILENAME)


def saved_model_of(meta_graphs: Iterable[Any]) -> Any:
    """A SavedModel message of MetaGraphDefs, which say their own tags and signatures.

    Raises:
        InvalidValueError: Two have the same tags, or one has none: no loader could tell them apart.
    """
    message = protos.SavedModel(saved_model_schema_version=SCHEMA_VERSION)
    message.meta_graphs.extend(meta_graphs)
    seen: set[frozenset[str]] = set()
    problems = []
    for number, meta in enumerate(message.meta_graphs):
        tags = frozenset(meta.meta_info_def.tags)
        if not tags:
            problems.append(f"graph {number} has no tags")
        elif tags in seen:
            problems.append(f"graph {number} has the tags of another: {', '.join(sorted(tags))}")
        seen.add(tags)
    if problems:
        raise InvalidValueError(f"These graphs make no SavedModel:{bullets(problems)}", problems=problems)
    return message


def write_saved_model(
    directory: files.Path,
    message: Any,
    variables: Iterable[Entry] | None = None,
    assets: Mapping[str, files.Path] | None = None,
    text: bool = False,
    shards: int = 1,
) -> str:
    """Writes a whole SavedModel: all files under temporary names first, `saved_model.pb` renamed last.

    Args:
        directory: Where; it and those above it are made. It must be empty, or not exist.
        message: The SavedModel message; see `saved_model_of`.
        variables: The variables, in the order of the data file (by name); None where there are none.
        assets: The files to copy, by the names that they get.
        text: Write `saved_model.pbtxt` instead of `saved_model.pb`.
        shards: Number of data files of the variables.

    Returns:
        The path of the graph file.

    Raises:
        DirectoryNotEmptyError: There is something in the directory.
        PermissionDeniedError: The name of an asset leads out of the directory.
        OpError: A file cannot be read or written, or an entry cannot be written; nothing is left behind.
    """
    check_empty(directory)
    with _directories(directory) as make, files.atomic_files() as replacement:
        if variables is not None:
            make(VARIABLES_DIRECTORY)
            add_bundle(replacement, variables_prefix(directory), variables, shards)
        if assets:
            make(ASSETS_DIRECTORY)
            _copy(replacement, directory, assets)
        path = graph_path(directory, text)
        replacement.open(path).write(protos.format_text(message).encode() if text else protos.encode(message))
    return path


def graph_path(directory: files.Path, text: bool = False) -> str:
    """The path of the graph file in `directory`."""
    return os.path.join(directory, FILENAME_PBTXT if text else FILENAME_PB)


def check_empty(directory: files.Path) -> None:
    """Raises DirectoryNotEmptyError where `directory` has something in it already."""
    if files.is_directory(directory):
        found = files.list_directory(directory)
        if found:
            raise DirectoryNotEmptyError(
                "Export directory already exists, and isn't empty. Please choose a different export "
                "directory, or delete all the contents of the specified directory: "
                f"{os.fspath(directory)}. It has: {', '.join(found[:8])}",
                path=os.fspath(directory),
                found=found[:50],
            )


def write_assets(directory: files.Path, assets: Mapping[str, files.Path]) -> None:
    """Copies files into `DIRECTORY/assets`; one that is there already stays, as in TensorFlow.

    Args:
        directory: The directory of the SavedModel.
        assets: The files to copy, by the names that they get.

    Raises:
        MissingFileError: A file does not exist; nothing is copied.
        PermissionDeniedError: A name leads out of the directory.
    """
    if not assets:
        return
    with _directories(directory) as make, files.atomic_files() as replacement:
        make(ASSETS_DIRECTORY)
        _copy(replacement, directory, assets)


def asset_names(paths: Iterable[str], taken: Mapping[str, str] | None = None) -> dict[str, str]:
    """The names of files in `assets/`: their base names; `NAME_1` for another file of the same name.

    Args:
        paths: The files.
        taken: Names that are in use, with their files.

    Returns:
        A name for each path. Files of equal content share one.
    """
    sources = dict(taken or {})
    found: dict[str, str] = {}
    for path in paths:
        base = name = os.path.basename(path)
        number = 0
        while name in sources and not _same(sources[name], path):
            number += 1
            name = f"{base}_{number}"
        sources[name] = path
        found[path] = name
    return found


def _same(one: str, other: str) -> bool:
    return one == other or files.read_bytes(one) == files.read_bytes(other)


def _copy(replacement: files.Replacement, directory: files.Path, assets: Mapping[str, files.Path]) -> None:
    root = os.path.join(directory, ASSETS_DIRECTORY)
    for name, source in assets.items():
        target = files.contained(root, name)
        if files.is_file(target):
            continue
        with files.open_binary(source) as reading:
            writing = replacement.open(target)
            while piece := reading.read(1 << 20):
                writing.write(piece)


@contextmanager
def _directories(directory: files.Path) -> Iterator[Any]:
    """A function that makes sub-directories of `directory`; those that were made go again on an error."""
    made = []
    name = files.location(directory)
    if not files.is_remote(name):
        above = name
        while above and not files.is_directory(above):
            made.append(above)
            above = os.path.dirname(above)
    files.make_directory(name, parents=True)

    def make(inside: str) -> None:
        path = os.path.join(name, inside)
        if not files.is_remote(path) and not files.is_directory(path):
            made.insert(0, path)
        files.make_directory(path)

    try:
        yield make
    except BaseException:
        for path in made:
            with suppress(OSError):
                os.rmdir(path)  # only where nothing is in it
        raise
