"""`sgtool verify`: is everything that should be in a file there, and as it was written?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from ...formats.errors import DataLossError, UnavailableError, bullets
from .. import exit_codes, locate, options, render

if TYPE_CHECKING:
    from ...formats.verification import Damage, Verification

SHOWN = 50
"""Damaged tensors that the table shows; `--json` has all."""


@options.command
@click.argument("path", required=False)
@click.option(
    "--salvage",
    metavar="OUT",
    callback=options.salvage_output,
    help="Write the intact tensors to a checkpoint prefix, .h5, .npz or .safetensors; of a graph the whole "
    "nodes to .pb, .pbtxt or .meta.",
)
@options.as_json
def command(path: str | None, salvage: str | None, as_json: bool) -> None:
    """Read all of PATH and check every checksum and length.

    PATH is a checkpoint in any form of its name (with the graph beside it), a store, a graph file, a
    SavedModel, or a directory: then every checkpoint in it. Each damaged tensor is named with its
    file, its place there, and what was expected and found; the exit code is 4 if there is any.
    --salvage writes the others, with the graph if that is intact, and says what it left out; OUT must
    not exist. Of a graph that is cut off it writes the nodes that are whole, those whose inputs are lost
    among them, which it lists; of a checkpoint with such a graph that is OUT with one of a graph's suffixes.

    Examples:
      sgtool verify model.ckpt-1000
      sgtool verify checkpoints/ --json | jq -r '.checked[].damaged[].name'
      sgtool verify broken.ckpt-9 --salvage rescued
      sgtool verify frozen.pb --salvage rescued.pb

    --json gives {"path", "whole", "checked": [{"path", "format", "whole", "intact": [names], "bytes",
    "damaged": [{"name", "kind", "path", "offset", "size", "expected", "found", "why"}], "causes",
    "notes", "unread": {name: why}}]}; --salvage adds "salvaged": {"output", "format", "written",
    "left_out"} (of a graph: "format" is its kind, "written" its nodes, "dangling" those whose inputs are
    lost; null if nothing is intact). A "kind" is checksum, length, missing, structure or
    unreadable (nothing else: the exit code is 7); "name" is empty where the file as a whole is meant.
    """
    from ...formats import verify

    where = locate.model_or_default(path)
    if salvage is not None:
        verify.check_new(salvage)  # before all is read
    with render.progress(f"Reading {where}", None):
        checked = verify.verify(where)
    whole = all(one.whole for one in checked)
    document: dict[str, Any] = {
        "path": where,
        "whole": whole,
        "checked": [_as_dict(one) for one in checked],
    }
    if salvage is not None:
        document["salvaged"] = _salvage(checked, salvage)
    with exit_codes.outliving_reader():
        if as_json:
            render.document(document)
        else:
            for one in checked:
                _show(one)
            if salvage is not None:
                _show_salvaged(document["salvaged"], salvage)
    if not whole:
        found = [damage.name or damage.path for one in checked for damage in one.damaged]
        names = list(dict.fromkeys(found))  # one may be damaged in several ways, which are told above
        _refuse_unreadable(where, checked)
        listed = f": {_listed(names)}" if names != [where] else ""
        raise DataLossError(f"{where} is damaged{listed}.", path=where, damaged=names)


def _salvage(checked: list[Verification], output: str) -> dict[str, Any] | None:
    """Writes what is intact, and says what that is; None if that is nothing."""
    from ...formats import verify

    stores = [one for one in checked if one.store is not None]
    graphs = [one for one in checked if one.graph is not None]
    if output.endswith(verify.GRAPH_SUFFIXES) or (graphs and not stores):
        if not graphs and not all(one.whole for one in checked):
            return None
        path, nodes, dangling = verify.salvage_graph(checked, output)
        kind = graphs[0].graph.kind if graphs[0].graph is not None else ""
        return {"output": path, "format": kind, "written": nodes, "left_out": [], "dangling": dangling}
    if not any(one.intact for one in stores) and not all(one.whole for one in checked):
        return None
    format, written, left_out = verify.salvage(checked, output)
    return {"output": output, "format": format.name, "written": written, "left_out": left_out}


def _refuse_unreadable(where: str, checked: list[Verification]) -> None:
    """Raises UnavailableError if nothing is known to be damaged, but files could not be read."""
    every = [damage for one in checked for damage in one.damaged]
    paths = list(dict.fromkeys(damage.path for damage in every))
    if all(damage.kind == "unreadable" for damage in every):
        whys = list(dict.fromkeys(damage.why for damage in every))
        raise UnavailableError(f"{where} cannot be checked:{bullets(whys)}", path=where, unreadable=paths)


def _as_dict(one: Verification) -> dict[str, Any]:
    return {
        "path": one.path,
        "format": one.format,
        "whole": one.whole,
        "intact": one.intact,
        "bytes": one.nbytes,
        "damaged": [asdict(damage) for damage in one.damaged],
        "causes": one.causes,
        "notes": one.notes,
        "unread": one.unread,
    }


def _show(one: Verification) -> None:
    what = "constants" if one.store is None else "tensors"
    total = len(one.intact) + len({damage.name for damage in one.damaged if damage.name}) + len(one.unread)
    state = "whole" if one.whole else "damaged"
    intact = (
        f", {render.count(len(one.intact))} of {render.count(total)} {what} intact, {render.size(one.nbytes)}"
    )
    render.line(f"{one.path} ({one.format}): {state}{intact if total else ''}")
    located = [damage for damage in one.damaged if damage.name and damage.offset is not None]
    if located:
        rows = [_row(damage) for damage in located[:SHOWN]]
        columns = ["tensor", "file", "offset", "bytes", "", "expected", "found"]
        render.table("Damaged", columns, rows, right=["offset", "bytes", "expected", "found"])
        if len(located) > SHOWN:
            render.line(f"  ... and {len(located) - SHOWN} more (--json has them all)")
    others = [damage for damage in one.damaged if damage not in located]
    for damage in others[:SHOWN]:
        render.line(f"  damaged: {damage.why}")
    if len(others) > SHOWN:
        render.line(f"  ... and {len(others) - SHOWN} more (--json has them all)")
    if one.damaged and one.intact:
        render.line(f"  intact: {_listed(one.intact)}")
    for cause in one.causes:
        render.line(f"  cause: {cause}")
    for note in one.notes:
        render.line(f"  note: {note}")
    for name, why in one.unread.items():
        render.line(f"  not checked: {name}: {why}")


def _row(damage: Damage) -> list[Any]:
    file = damage.path.rpartition("/")[2]
    return [damage.name, file, damage.offset, damage.size, damage.kind, damage.expected, damage.found]


def _show_salvaged(salvaged: dict[str, Any] | None, output: str) -> None:
    if salvaged is None:
        render.line(f"Nothing is intact: {output} is not written.")
        return
    number = len(salvaged["written"])
    what = "node" if "dangling" in salvaged else "tensor"
    written = f"{render.count(number)} {what}{'' if number == 1 else 's'}"
    for name in salvaged.get("dangling", ()):
        render.line(f"  its inputs are lost: {name}")
    render.line(f"Wrote {written} to {salvaged['output']} ({salvaged['format']}).")
    for name in salvaged["left_out"]:
        render.line(f"  left out: {name}")


def _listed(names: list[str]) -> str:
    """The first names; `--json` has them all."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
