"""Which model a command means when MODEL is left out: `$SGTOOL_MODEL`, else the current directory's.

The choice is named on stderr. Where there is none or more than one it is a usage error that lists
what was looked for and what was found; nothing is guessed.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import click

from . import render
from .options import read_stdin, settings

STDIN = "-"
VARIABLE = "SGTOOL_MODEL"
STATE_FILE = "checkpoint"
_GRAPHS = (".pb", ".pbtxt", ".pb.txt")
_SAVED_MODELS = ("saved_model.pb", "saved_model.pbtxt")
_LOOKED_FOR = (
    f"${VARIABLE} (not set)",
    "a checkpoint state file (checkpoint)",
    "a checkpoint or graph (*.index, *.meta, *.pb, *.pbtxt, *.pb.txt)",
    "a SavedModel (saved_model.pb, saved_model.pbtxt)",
)


def model_or_default(given: str | None, directory: Path | None = None) -> str:
    """`given`, or where it is left out the model that the user must mean.

    Args:
        given: The MODEL argument; `-` is a file on standard input.
        directory: Where to look; the current directory by default.

    Raises:
        click.UsageError: There is no model, or there are several.
    """
    if given == STDIN:
        return _from_stdin()
    if given is not None:
        return _only_graph(given) or given
    if os.environ.get(VARIABLE):
        chosen = os.environ[VARIABLE]
        render.message(f"Using {chosen} (from ${VARIABLE}).")
        return chosen
    here = directory or Path()
    stale = None
    if (here / STATE_FILE).is_file():
        from ..formats.checkpoint_state import latest_checkpoint

        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            latest = latest_checkpoint(here)
        for one in told:
            render.message(str(one.message))
        if latest is not None:
            if not told:  # else it is told which and why
                render.message(f"Using {latest} (the latest in the checkpoint state file).")
            return str(latest)
        stale = f"{STATE_FILE} (names no checkpoint that is there)"
    found = candidates(here)
    if len(found) == 1:
        render.message(f"Using {found[0]} (the only model in the current directory).")
        return found[0]
    lines = [
        "MODEL is left out, and "
        + ("there is no model here." if not found else "there are several models here.")
    ]
    lines += ["Looked for, in order:", *(f"  {what}" for what in _LOOKED_FOR)]
    seen = [*([stale] if stale else []), *found]
    lines += [f"Found in {here.absolute()}:", *(f"  {name}" for name in seen[:20])] if seen else []
    if not seen:
        lines.append(f"Found in {here.absolute()}: nothing of these.")
    elif len(seen) > 20:
        lines.append(f"  ... and {len(seen) - 20} more")
    lines.append("Name the one you mean, or set $" + VARIABLE + ".")
    raise click.UsageError("\n".join(lines))


def _only_graph(given: str) -> str:
    """The graph file or SavedModel that is the only model in a directory, or ""."""
    found = candidates(Path(given))
    if not found:
        return _saved_model_inside(Path(given))
    if len(found) != 1 or not found[0].endswith(_GRAPHS):
        return ""
    render.message(f"Using {found[0]} (the only model in {given}).")
    return found[0]


def _saved_model_inside(given: Path) -> str:
    """The SavedModel in a folder of a directory that is no model itself: the only one, or the latest version.

    Raises:
        click.UsageError: There are several whose names are no version numbers.
    """
    from ..formats import registry

    if not given.is_dir() or (given / STATE_FILE).is_file():
        return ""
    folders = sorted(
        entry for entry in given.iterdir() if any((entry / name).is_file() for name in _SAVED_MODELS)
    )
    versions = sorted((int(one.name), one) for one in folders if one.name.isdecimal())
    if not folders or registry.store_directory(str(given)) is not None:
        return ""
    if len(folders) > 1 and len(versions) < len(folders):
        lines = "".join(f"\n  {one}" for one in folders)
        raise click.UsageError(f"{given} holds several SavedModels; name the one you mean:{lines}")
    chosen = versions[-1][1] if versions else folders[0]
    which = f"the latest of {len(folders)} versions" if len(folders) > 1 else "the only SavedModel"
    render.message(f"Using {chosen} ({which} in {given}).")
    return str(chosen)


def _from_stdin() -> str:
    """Standard input as a file, which is there as long as the command runs."""
    import tempfile

    data = read_stdin("MODEL")
    folder = tempfile.TemporaryDirectory(prefix="sgtool-")
    click.get_current_context().call_on_close(folder.cleanup)
    path = Path(folder.name) / "standard_input"
    path.write_bytes(data)
    settings().stdin_path = str(path)
    return str(path)


def candidates(directory: Path) -> list[str]:
    """The models in a directory: prefixes of checkpoints, graph files, a SavedModel; sorted.

    Stores of arrays (.npz, .h5) and specs are none: they lie beside a model as its data and source.
    """
    found: set[str] = set()
    for entry in directory.iterdir() if directory.is_dir() else ():
        if not entry.is_file():
            continue
        if entry.name in _SAVED_MODELS:
            found.add(str(directory))
        elif entry.suffix in (".meta", ".index") or entry.name in (".meta", ".index"):
            stem = entry.name.removesuffix(".meta").removesuffix(".index")
            found.add(f"{directory}{os.sep}" if not stem else str(directory / stem))
        elif entry.name.endswith(_GRAPHS):
            found.add(str(entry))
    return sorted(found)
