"""Restoring: what fits, what is missing, what differs, in one report before anything changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..formats import registry
from ..formats.entry import Entry
from ..formats.errors import bullets, did_you_mean
from ..formats.object_graph import OBJECT_GRAPH_KEY
from ..formats.parts import Part
from .errors import InvalidArgumentError, MissingNameError
from .ops.io import read_part
from .resources import SessionState
from .saveables import Saveable
from .shapes import format_shape

_HEAD = (
    "Restoring from checkpoint failed. This is most likely due to a {cause} from the checkpoint. "
    "Please ensure that you have not altered the graph expected based on the checkpoint. Original error:\n\n"
)


@dataclass
class RestoreReport:
    """What a restore found.

    Attributes:
        path: The checkpoint's prefix.
        restored: Keys that were (or would be) restored.
        missing: Keys that the checkpoint lacks.
        mismatched: (key, why) of entries of another shape or dtype.
        unused: Keys of the checkpoint that no variable asked for.
    """

    path: str
    restored: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    mismatched: list[tuple[str, str]] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


def restore_saveables(
    state: SessionState,
    saveables: list[Saveable],
    resolved: Any,
    reshape: bool = False,
    partial: bool = False,
) -> RestoreReport:
    """Sets variables to what a checkpoint holds; all values are read before the first is set.

    Args:
        state: The session's state.
        saveables: What to restore.
        resolved: A `ResolvedCheckpoint`.
        reshape: Accept another shape with as many elements.
        partial: Leave out what is missing or does not fit.

    Raises:
        NotFoundError: Keys are missing.
        InvalidArgumentError: Shapes or dtypes differ.
        DataLossError: The checkpoint is damaged.
    """
    store = registry.open_checkpoint(resolved)
    report = RestoreReport(resolved.prefix)
    chosen = compare(store, saveables, report, reshape)
    if not partial:
        check(report, store)
    values = []
    for saveable in chosen:
        value = read_part(store, saveable.key, saveable.slice_spec, saveable.dtype)
        shape = saveable.static_shape
        if reshape and shape is not None and None not in shape:
            value = np.reshape(value, shape)
        values.append(value)
    for saveable, value in zip(chosen, values):
        saveable.holder(state).assign(value)
    return report


def compare(
    store: Mapping[str, Entry], saveables: list[Saveable], report: RestoreReport, reshape: bool = False
) -> list[Saveable]:
    """Fills `report`; gives the saveables that can be restored."""
    chosen = []
    wanted = set()
    for saveable in saveables:
        entry = store.get(saveable.key)
        if entry is not None:
            wanted.add(entry.name)  # a checkpoint of TensorFlow 2 finds a variable by its name, too
        else:
            report.missing.append(saveable.key)
            continue
        why = _mismatch(saveable, entry, reshape)
        if why:
            report.mismatched.append((saveable.key, why))
        else:
            chosen.append(saveable)
            report.restored.append(saveable.key)
    report.unused = [name for name in store if name not in wanted and name != OBJECT_GRAPH_KEY]
    return chosen


def _mismatch(saveable: Saveable, entry: Entry, reshape: bool) -> str:
    if entry.dtype.number != saveable.dtype.as_datatype_enum:
        return f"expected dtype {saveable.dtype.name} does not equal original dtype {entry.dtype.name}"
    part = Part.parse(saveable.slice_spec)
    if part is not None:
        if part.full_shape != entry.shape:
            return (
                f"shape in shape_and_slice spec {list(part.full_shape)} does not match the shape stored in "
                f"checkpoint: {list(entry.shape)}"
            )
        return ""
    shape = saveable.static_shape
    if shape is None:
        return ""
    fits = len(shape) == len(entry.shape) and all(a is None or a == b for a, b in zip(shape, entry.shape))
    if fits or (reshape and None not in shape and int(np.prod(shape, dtype=np.int64)) == entry.size):
        return ""
    return (
        f"Assign requires shapes of both tensors to match. lhs shape= {format_shape(shape)} "
        f"rhs shape= {format_shape(entry.shape)}"
    )


def check(report: RestoreReport, store: Mapping[str, Entry]) -> None:
    """Raises what `report` says is wrong, all of it.

    Raises:
        NotFoundError: Keys are missing.
        InvalidArgumentError: Shapes or dtypes differ.
    """
    lines = [f"Key {key} not found in checkpoint{did_you_mean(key, store)}" for key in report.missing]
    lines += [f"tensor_name = {key}; {why}" for key, why in report.mismatched]
    if not lines:
        return
    fields = {
        "path": report.path,
        "missing": report.missing,
        "mismatched": [key for key, _ in report.mismatched],
    }
    text = (
        lines[0] if len(lines) == 1 else bullets(lines).lstrip("\n")
    ) + f"\n\t [[checkpoint {report.path}]]"
    if report.missing:
        head = _HEAD.format(cause="Variable name or other graph key that is missing")
        raise MissingNameError(head + text, **fields)
    head = _HEAD.format(cause="mismatch between the current graph and the graph")
    raise InvalidArgumentError(head + text, **fields)
