"""`sgtool save`: the variables of a model or checkpoint, written to a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from .. import locate, options, render

if TYPE_CHECKING:
    from ...formats.dtypes import DTypeInfo
    from ...formats.entry import Entry


@options.command
@click.argument("model", required=False)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    callback=options.store_output,
    help="A checkpoint prefix, NAME.h5, NAME.npz or NAME.safetensors.",
)
@click.option(
    "--only", multiple=True, metavar="PATTERN", help="Only variables that match (* and ?). Repeatable."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="No variables that match. Repeatable.")
@click.option("--dtype", metavar="DTYPE", help="Store floating-point variables as this dtype, e.g. float16.")
@click.option("--shards", type=click.IntRange(1), help="Data files of the checkpoint.")
@options.as_json
def command(
    model: str | None,
    output: str,
    only: tuple[str, ...],
    exclude: tuple[str, ...],
    dtype: str | None,
    shards: int | None,
    as_json: bool,
) -> None:
    """Write the variables of MODEL to OUT: .h5, .npz or .safetensors, else a TensorFlow checkpoint.

    The values are those of MODEL's checkpoint, byte for byte; nothing is run.

    Examples:
      sgtool save model.ckpt-1000 -o weights.h5
      sgtool save model.ckpt-1000 -o weights.npz --exclude '*/Adam*'
      sgtool save model.ckpt-1000 -o weights.safetensors
      sgtool save model.ckpt-1000 -o half --dtype float16

    --json gives {"output", "format", "variables": [{"name", "dtype", "shape", "bytes"}], "bytes",
    "skipped": {name: why} (what MODEL holds besides, and is no tensor), "graph" (why MODEL's graph was
    not written along)}; the last two are absent where they do not apply.
    """
    from ...formats import registry
    from ...formats.errors import DataLossError, bullets
    from .. import models
    from ..casts import all_bad

    kept_dtype = _floating(dtype)
    located = models.find(locate.model_or_default(model))
    stored = models.variables_of(located)
    models.check_lost(located)
    names = _selected(stored, only, exclude)
    entries = [_cast(stored[name], kept_dtype) for name in names]
    # The graph goes along only where it still fits: all variables, in their own dtypes.
    whole = len(names) == len(stored) and kept_dtype is None
    left_out: dict[str, Any] = {}
    meta_graph = None
    if whole:
        try:
            meta_graph = models.meta_graph_bytes(located)
        except DataLossError as error:  # the variables do not depend on it
            left_out["graph"] = str(error)
            render.message(f"Warning: the graph is not written along: {error}")
    skipped = dict(getattr(stored, "skipped", {}))
    if skipped:
        left_out["skipped"] = skipped
        lines = [f"{name}: {why}" for name, why in skipped.items()]
        render.message(f"Left out, as they are no tensors:{bullets(lines)}")
    with render.progress(f"Saving {len(entries)} variables", len(entries)) as bar, all_bad(entries):
        if shards is None:
            written = registry.write_store(output, _counted(entries, bar), meta_graph=meta_graph).name
        else:
            written = _write_shards(output, _counted(entries, bar), shards, meta_graph)
    total = sum(entry.nbytes for entry in entries)
    if as_json:
        rows = [
            {"name": e.name, "dtype": e.dtype.name, "shape": list(e.shape), "bytes": e.nbytes}
            for e in entries
        ]
        told = {"output": output, "format": written, "variables": rows, "bytes": total}
        render.document(told | left_out)
    else:
        variables = render.counted(len(entries), "variable")
        render.line(f"Wrote {variables}, {render.size(total)}, to {output} ({written}).")


def _write_shards(output: str, entries: Iterator[Entry], shards: int, meta_graph: bytes | None) -> str:
    """A checkpoint of several data files."""
    from ...formats import bundle, files

    if output.endswith((".h5", ".hdf5", ".npz", ".safetensors")):
        raise click.UsageError(f"--shards is for checkpoints; {output} is one file.")
    bundle.write_bundle(output, entries, shards)
    if meta_graph is not None:
        files.write_bytes(f"{output}.meta", meta_graph)
    return bundle.FORMAT.name


def _floating(name: str | None) -> DTypeInfo | None:
    """The dtype of `--dtype`."""
    if name is None:
        return None
    from ...formats import dtypes
    from ...formats.errors import InvalidTypeError

    try:
        info = dtypes.from_name(name)
    except InvalidTypeError as error:
        raise click.BadParameter(str(error), param_hint="--dtype") from error
    if info.kind != "float":
        raise click.BadParameter(f"'{name}' is not a floating-point dtype.", param_hint="--dtype")
    return info


def _selected(entries: Mapping[str, Entry], only: Sequence[str], exclude: Sequence[str]) -> list[str]:
    """The names that the patterns leave, in the store's order.

    Raises:
        MissingNameError: A pattern that matches nothing (a misspelt one would save too much or too little).
    """
    from fnmatch import fnmatchcase

    from ...formats.errors import MissingNameError, bullets, did_you_mean

    idle = [p for p in (*only, *exclude) if not any(fnmatchcase(name, p) for name in entries)]
    if idle:
        lines = [f"'{pattern}'{did_you_mean(pattern, entries)}" for pattern in idle]
        raise MissingNameError(f"No variable matches:{bullets(lines)}", patterns=idle, variables=len(entries))
    kept = [
        name
        for name in entries
        if (not only or any(fnmatchcase(name, p) for p in only))
        and not any(fnmatchcase(name, p) for p in exclude)
    ]
    if not kept:
        raise MissingNameError("The patterns leave no variable to save.", variables=len(entries))
    return kept


def _cast(entry: Entry, dtype: DTypeInfo | None) -> Entry:
    from ..casts import cast_entry

    if dtype is None or entry.dtype.kind != "float" or entry.dtype == dtype:
        return entry
    return cast_entry(entry, dtype)


def _counted(entries: Sequence[Entry], bar: render.Progress) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        bar.advance()
