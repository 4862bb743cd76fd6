"""Restoring: what fits, what is missing, what differs, in one report before anything changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..formats import matching, registry
from ..formats.entry import Entry
from ..formats.errors import bullets, suggestion
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
        nearest: What `near` calls: looking for similar names takes a while.
    """

    path: str
    restored: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    mismatched: list[tuple[str, str]] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    nearest: Callable[[], dict[str, list[str]]] = field(default=dict, repr=False, compare=False)

    @property
    def near(self) -> dict[str, list[str]]:
        """For missing keys what the checkpoint has instead, unused keys of the same shape first."""
        return self.nearest()


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
    report, chosen = compare(store, saveables, resolved.prefix, reshape)
    if not partial:
        check(report)
    values = []
    for saveable, entry in chosen:
        value = read_part(store, entry.name, saveable.slice_spec, saveable.dtype)
        shape = saveable.static_shape
        if reshape and shape is not None and None not in shape:
            value = np.reshape(value, shape)
        values.append(value)
    for (saveable, _), value in zip(chosen, values):
        saveable.holder(state).assign(value)
    return report


def compare(
    store: Mapping[str, Entry], saveables: list[Saveable], path: str, reshape: bool = False
) -> tuple[RestoreReport, list[tuple[Saveable, Entry]]]:
    """The report, and each saveable that can be restored with what it is restored from."""
    wanted = list(map(_wanted, saveables))
    behind = {(one.key, one.part): saveable for one, saveable in zip(wanted, saveables)}
    found = matching.match(wanted, store, reshape=reshape)
    report = RestoreReport(
        path,
        restored=[fit.wanted.key for fit in found.fitting],
        missing=[one.key for one in found.missing],
        mismatched=[(one.wanted.key, _why(one)) for one in found.mismatched],
        unused=found.unused,
        nearest=lambda: found.near(store),
    )
    return report, [(behind[fit.wanted.key, fit.wanted.part], fit.entry) for fit in found.fitting]


def _wanted(saveable: Saveable) -> matching.Wanted:
    part = Part.parse(saveable.slice_spec)
    return matching.Wanted(saveable.key, saveable.dtype._info, saveable.static_shape, part)


def _why(one: matching.Mismatch) -> str:
    """TensorFlow's sentence about a mismatch."""
    wanted, entry = one.wanted, one.entry
    if one.kind == "dtype":
        assert wanted.dtype is not None
        return f"expected dtype {wanted.dtype.name} does not equal original dtype {entry.dtype.name}"
    if one.kind == "slice":
        assert wanted.part is not None
        return (
            f"shape in shape_and_slice spec {list(wanted.part.full_shape)} does not match the shape stored "
            f"in checkpoint: {list(entry.shape)}"
        )
    shape = entry.shape if wanted.part is None else wanted.part.shape
    return (
        f"Assign requires shapes of both tensors to match. lhs shape= {format_shape(wanted.shape)} "
        f"rhs shape= {format_shape(shape)}"
    )


def check(report: RestoreReport) -> None:
    """Raises what `report` says is wrong, all of it.

    Raises:
        NotFoundError: Keys are missing.
        InvalidArgumentError: Shapes or dtypes differ.
    """
    near = report.near if report.missing else {}
    lines = [f"Key {key} not found in checkpoint{suggestion(near.get(key, ()))}" for key in report.missing]
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
