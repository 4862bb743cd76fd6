"""Around checkpoints: the state file of a directory, and the files of a checkpoint.

Source: tensorflow/python/training/checkpoint_management.py (r1.15), behaviour only.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from ..formats import checkpoint_state, checkpoint_state_writer, files, protos
from ..formats.errors import OpError as _OpError
from .errors import InvalidValueError, MissingFileError

V1, V2 = 1, 2


def generate_checkpoint_state_proto(
    save_dir: str | os.PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """What the `checkpoint` file of a directory is to say, as a CheckpointState message.

    Args:
        save_dir: The directory. Where it is relative, so become relative paths: relative to it.
        model_checkpoint_path: The newest checkpoint.
        all_model_checkpoint_paths: All that there are, oldest first; the newest is added at the end.
        all_model_checkpoint_timestamps: When they were written, in seconds since the epoch.
        last_preserved_timestamp: When the last one that is kept for good was written.

    Raises:
        ValueError: There are not as many times as paths.
    """
    return checkpoint_state_writer.state_message(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths or (),
        all_model_checkpoint_timestamps or (),
        last_preserved_timestamp,
    )


def update_checkpoint_state(
    save_dir: str | os.PathLike[str],
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the `checkpoint` file of a directory; arguments as `generate_checkpoint_state_proto`.

    Raises:
        ValueError: There are not as many times as paths.
        RuntimeError: The file would overwrite the checkpoint.
    """
    checkpoint_state_writer.write_state(
        save_dir,
        model_checkpoint_path,
        list(all_model_checkpoint_paths or ()),
        False,
        latest_filename or checkpoint_state.STATE_NAME,
        list(all_model_checkpoint_timestamps or ()),
        last_preserved_timestamp,
    )


def get_checkpoint_state(checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None) -> Any:
    """What the `checkpoint` file of a directory says, as a CheckpointState message; None without one.

    Raises:
        ValueError: It does not say which checkpoint is the newest.
    """
    try:
        state = checkpoint_state.read_state(checkpoint_dir, latest_filename or checkpoint_state.STATE_NAME)
    except _OpError as error:
        warnings.warn(str(error), stacklevel=2)
        return None
    if state is None:
        return None
    if not state.model_checkpoint_path:
        raise InvalidValueError(
            f"Invalid checkpoint state loaded from {os.fspath(checkpoint_dir)}: "
            "it has no model_checkpoint_path"
        )
    return protos.CheckpointState(
        model_checkpoint_path=state.model_checkpoint_path,
        all_model_checkpoint_paths=state.all_model_checkpoint_paths,
        all_model_checkpoint_timestamps=state.all_model_checkpoint_timestamps,
        last_preserved_timestamp=state.last_preserved_timestamp,
    )


def latest_checkpoint(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> str | None:
    """The prefix of the newest checkpoint of a directory, or None."""
    return checkpoint_state.latest_checkpoint(checkpoint_dir, latest_filename or checkpoint_state.STATE_NAME)


def checkpoint_exists(checkpoint_prefix: str | os.PathLike[str]) -> bool:
    """Whether there is a checkpoint of that prefix, of either version."""
    try:
        checkpoint_state.resolve_prefix(checkpoint_prefix)
    except MissingFileError:
        return False
    return True


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str | os.PathLike[str]]) -> list[float]:
    """When checkpoints were written, in seconds since the epoch; those that do not exist are left out."""
    times = []
    for prefix in checkpoint_prefixes:
        try:
            times.append(files.modified(checkpoint_state.resolve_prefix(prefix).index) / 1e9)
        except MissingFileError:
            continue
    return times


_SHARD = re.compile(r"-[\d?]+-of-\d+$")


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The graph's file beside a checkpoint, of which one shard may be named."""
    return f"{_SHARD.sub('', checkpoint_filename)}.{meta_graph_suffix}"


def remove_checkpoint(
    checkpoint_prefix: str | os.PathLike[str],
    checkpoint_format_version: int = V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Deletes the files of a checkpoint; that some are not there does not matter.

    Args:
        checkpoint_prefix: Its prefix; of a sharded one of the first version the pattern of its files.
        checkpoint_format_version: `SaverDef.V1` or `SaverDef.V2`.
        meta_graph_suffix: Suffix of the graph's file.
    """
    prefix = os.fspath(checkpoint_prefix)
    folder, base = os.path.split(prefix)
    if not files.is_directory(folder or "."):
        return
    name = re.escape(base)
    if checkpoint_format_version == V2:
        name = rf"{name}(\.index|\.data-\d{{5}}-of-\d{{5}})"
    else:
        name = name.replace(r"\?", r"\d")
    pattern = re.compile(name)
    meta = os.path.basename(meta_graph_filename(base, meta_graph_suffix))
    for found in files.list_directory(folder or "."):
        if found == meta or pattern.fullmatch(found):
            files.remove_file(os.path.join(folder, found))
