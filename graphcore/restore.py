"""Restoring: what fits, what is missing, what differs, in one report before anything changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..formats import matching, registry
from ..formats.entry import Entry
from ..formats.errors import damaged_together, suggestion
from ..formats.parts import Part
from ..formats.restore_report import RestoreReport, report_of
from .default import GraphKeys
from .errors import DataLossError, InvalidArgumentError, MissingNameError
from .operation import Operation
from .ops.io import read_part
from .saveables import Contents, Saveable, TensorSaveable
from .shapes import format_shape
from .variable import Variable

_Saved = TypeVar("_Saved", bound=Saveable | TensorSaveable)

_HEAD = (
    "Restoring from checkpoint failed. This is most likely due to a {cause} from the checkpoint. "
    "Please ensure that you have not altered the graph expected based on the checkpoint. Original error:\n\n"
)


def restore_contents(
    session: Any, contents: Contents, resolved: Any, reshape: bool = False, partial: bool = False
) -> RestoreReport:
    """Sets variables and whatever else to what a checkpoint holds; all values are read before one is set.

    Args:
        session: The session.
        contents: What to restore.
        resolved: A `ResolvedCheckpoint`.
        reshape: Accept another shape with as many elements.
        partial: Leave out what is missing.

    Raises:
        NotFoundError: Keys are missing.
        InvalidArgumentError: Shapes or dtypes differ.
        DataLossError: The checkpoint is damaged; lists all values that are.
        UnimplementedError: Something that was saved would be lost; lists all of it.
    """
    contents.check_restorable()
    store = registry.open_checkpoint(resolved)
    by_nodes = {(one.key, one.slice_spec) for one in contents.fed}
    wanted: list[Saveable | TensorSaveable] = [
        one for one in contents.variables if (one.key, one.slice_spec) not in by_nodes
    ]
    wanted += [one for one in contents.fed if one.key]
    report, chosen, complaint = compare(store, wanted, resolved.prefix, reshape)
    check(report, complaint, partial)
    values = read_all(store, chosen)
    if reshape:
        for index, (saveable, _) in enumerate(chosen):
            shape = saveable.static_shape
            if shape is not None and None not in shape:
                values[index] = np.reshape(values[index], shape)
    feed: dict[Any, Any] = {one.tensor: resolved.prefix for one in contents.fed if not one.key}
    for (saveable, _), value in zip(chosen, values):
        if isinstance(saveable, Saveable):
            saveable.holder(session._state).assign(value)
        else:
            feed[saveable.tensor] = value
    _note(session, {one.variable for one, _ in chosen if isinstance(one, Saveable)}, resolved.prefix)
    if contents.restores and len(feed) == len(contents.fed):
        session.run(contents.restores, feed)
    return report


def read_all(store: Mapping[str, Entry], chosen: Iterable[tuple[_Saved, Entry]]) -> list[Any]:
    """The values of entries, for the saveables that `compare` put beside them.

    Raises:
        DataLossError: Some are damaged; lists all of them.
    """
    values = []
    damaged: dict[str, DataLossError] = {}
    for saveable, entry in chosen:
        try:
            values.append(read_part(store, entry.name, saveable.slice_spec, saveable.dtype))
        except DataLossError as error:
            damaged[entry.name] = error
    if damaged:
        raise damaged_together(damaged)
    return values


def _note(session: Any, variables: set[Operation], prefix: str) -> None:
    """Notes the initializers of restored variables, so that running one later warns."""
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES)
    known = [each for key in keys for each in session.graph.get_collection(key)]
    session._state.note_restored(
        {
            each.initializer: each.op
            for each in known
            if isinstance(each, Variable) and each.op in variables and each.initializer is not None
        },
        prefix,
    )


def compare(
    store: Mapping[str, Entry], saveables: Sequence[_Saved], path: str, reshape: bool = False
) -> tuple[RestoreReport, list[tuple[_Saved, Entry]], str]:
    """What fits: the report, each saveable that can be restored with its entry, and what TensorFlow says.

    That is its sentence about the first key that does not fit, or "".
    """
    wanted = list(map(_wanted, saveables))
    behind = {(one.key, one.part): saveable for one, saveable in zip(wanted, saveables)}
    found = matching.match(wanted, store, reshape=reshape)
    complaint = ""
    if found.missing:
        complaint = f"Key {found.missing[0].key} not found in checkpoint"
    elif found.mismatched:
        complaint = f"tensor_name = {found.mismatched[0].wanted.key}; {_why(found.mismatched[0])}"
    chosen = [(behind[fit.wanted.key, fit.wanted.part], fit.entry) for fit in found.fitting]
    return report_of(found, store, path), chosen, complaint


def _wanted(saveable: Saveable | TensorSaveable) -> matching.Wanted:
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


def check(report: RestoreReport, complaint: str, partial: bool = False) -> None:
    """Raises what `report` says is wrong, all of it, after TensorFlow's sentence about the first.

    Args:
        report: What `compare` found.
        complaint: That sentence, which `compare` gives.
        partial: Whether keys may be missing.

    Raises:
        NotFoundError: Keys are missing.
        InvalidArgumentError: Shapes or dtypes differ.
    """
    missing = report.missing and not partial
    if not (missing or report.mismatched):
        return
    fields = report.fields()
    near = suggestion(report.near.get(report.missing[0], ())) if missing else ""
    total = len(report.restored) + len(report.missing) + len(report.mismatched)
    text = (
        f"{complaint}{near}\n\t [[checkpoint {report.path}]]\n\n"
        f"{len(report.restored)} of {total} variables fit what is in {report.path}.\n"
        f"{report.sections(partial)}"
    )
    if missing:
        head = _HEAD.format(cause="Variable name or other graph key that is missing")
        raise MissingNameError(head + text, path=report.path, **fields)
    head = _HEAD.format(cause="mismatch between the current graph and the graph")
    raise InvalidArgumentError(head + text, path=report.path, **fields)
