"""What can be opened of a damaged store or checkpoint, and what cannot: for those who show it."""

from __future__ import annotations

from typing import Any

from . import checkpoint_state, files, registry
from .checkpoint_state import ResolvedCheckpoint
from .errors import DataLossError, OpError, bullets, is_unreadable


def open_what_is_intact(resolved: ResolvedCheckpoint) -> tuple[Any, OpError | None, dict[str, str]]:
    """A checkpoint; of a damaged one the tensors that its index still describes.

    Returns:
        The store, or None if nothing can be opened; the error that says that it is damaged, or None; and why,
        in detail, by the file that is damaged.

    Raises:
        UnimplementedError: It was written for readers of the future.
    """
    try:
        return registry.open_checkpoint(resolved), None, {}
    except OpError as error:
        if is_unreadable(error):
            return None, error, {}
        if not isinstance(error, DataLossError):
            raise
        store, lost = _open_damaged(resolved, error)
        return (store, error, lost) if store else (None, error, {})


def _open_damaged(resolved: ResolvedCheckpoint, error: DataLossError) -> tuple[Any, dict[str, str]]:
    from .verification import Verification
    from .verify_bundle import open_damaged_bundle
    from .verify_v1 import open_damaged_v1

    found = Verification(resolved.prefix, "")
    store: Any
    if resolved.version == 2:
        store = open_damaged_bundle(resolved.prefix, error, found)
    else:
        paths = checkpoint_state.v1_files(resolved.prefix) or [resolved.index]
        store = open_damaged_v1(resolved.prefix, paths, found)
    lost: dict[str, str] = {}
    for damage in found.damaged:
        lost[damage.path] = f"{lost[damage.path]} {damage.why}" if damage.path in lost else damage.why
    return store, lost


def read_what_is_intact(name: str, format: registry.Format) -> Any:
    """A store; of a damaged one what can be opened, its attribute `damaged` saying what cannot.

    Raises:
        OpError: Nothing can be opened.
    """
    try:
        return format.read(name)
    except OpError as error:
        if format.read_damaged is None or not (isinstance(error, DataLossError) or is_unreadable(error)):
            raise
        try:
            store = format.read_damaged(name)
        except OpError:
            store = {}
        if not len(store):
            raise _explained(name, error, getattr(store, "damaged", {})) from error
        return store


def _explained(name: str, error: OpError, damaged: dict[str, OpError]) -> OpError:
    """The error of a store that cannot be opened, with what is wrong in detail, and the causes."""
    from .verify_causes import causes_of

    if is_unreadable(error) or not files.is_file(name):
        return error
    text = bullets([str(why) for why in damaged.values()]) if damaged else ""
    causes = "".join(f"\n{cause}" for cause in causes_of(name))
    if not (text or causes):
        return error
    return DataLossError(f"{error}{text}{causes}", **error.fields)
