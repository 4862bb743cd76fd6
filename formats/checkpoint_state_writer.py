"""The `checkpoint` state file, written: which checkpoints a directory has, and which is the newest.

Source: tensorflow/python/training/checkpoint_management.py (r1.15), behaviour only.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from . import files, protos
from .checkpoint_state import STATE_NAME
from .errors import InvalidStateError, InvalidValueError


def write_state(
    directory: files.Path,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] = (),
    save_relative_paths: bool = False,
    latest_filename: str = STATE_NAME,
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
) -> None:
    """Writes the state file of a directory atomically, as TensorFlow does; arguments as `state_message`.

    Raises:
        InvalidStateError: The state file would overwrite the checkpoint.
        InvalidValueError: There are not as many times as paths.
        OpError: The file cannot be written.
    """
    folder = files.location(directory)
    message = state_message(
        folder,
        model_checkpoint_path,
        all_model_checkpoint_paths,
        timestamps,
        last_preserved,
        save_relative_paths,
    )
    target = os.path.join(folder, latest_filename)
    if target == message.model_checkpoint_path:
        raise InvalidStateError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path.",
            path=target,
        )
    files.write_bytes(target, protos.format_text(message).encode())


def state_message(
    directory: files.Path,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] = (),
    timestamps: Sequence[float] = (),
    last_preserved: float | None = None,
    save_relative_paths: bool = False,
) -> Any:
    """What a state file is to say, as a CheckpointState message.

    Absolute paths stay absolute unless `save_relative_paths`; relative ones are rewritten to be
    relative to a relative `directory`. The newest path is put last in the list if it is not.

    Args:
        directory: The directory of the state file.
        model_checkpoint_path: The newest checkpoint.
        all_model_checkpoint_paths: All that there are, oldest first.
        timestamps: When they were written, in seconds since the epoch; none, or one for each path.
        last_preserved: When the last one that is kept for good was written.
        save_relative_paths: Make absolute paths relative to `directory`.

    Raises:
        InvalidValueError: There are not as many times as paths.
    """
    folder = files.location(directory)
    every = list(all_model_checkpoint_paths)
    if not every or every[-1] != model_checkpoint_path:
        every.append(model_checkpoint_path)
    if timestamps and len(timestamps) != len(every):
        raise InvalidValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {every} and "
            f"timestamps {list(timestamps)})",
            paths=every,
            timestamps=list(timestamps),
        )

    def stored(path: str) -> str:
        absolute = os.path.isabs(path)
        if (absolute and save_relative_paths) or (not absolute and not os.path.isabs(folder)):
            relative = os.path.relpath(path, folder or ".")
            # relpath drops the slash that tells an empty base name from a file
            return relative + "/" if path.endswith("/") else relative
        return path

    return protos.CheckpointState(
        model_checkpoint_path=stored(model_checkpoint_path),
        all_model_checkpoint_paths=map(stored, every),
        all_model_checkpoint_timestamps=timestamps,
        last_preserved_timestamp=last_preserved,
    )
