"""`sgtool restore`: the variables of a store, loaded into a model and written as its checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ...formats import matching
from ...formats.errors import InvalidValueError, bullets, suggestion
from .. import options, render

if TYPE_CHECKING:
    from ...formats.dtypes import DTypeInfo
    from ...formats.entry import Entry


@options.command
@click.argument("model")
@click.argument("store")
@click.option(
    "-o",
    "--output",
    metavar="PREFIX",
    callback=options.store_output,
    help="The checkpoint to write; its graph goes along.",
)
@click.option("--partial", is_flag=True, help="Variables that STORE lacks keep the model's own values.")
@click.option(
    "--map",
    "renames",
    multiple=True,
    metavar="OLD=NEW",
    help="Rename a prefix of STORE's names, or re:PATTERN=REPLACEMENT. The first that matches. Repeatable.",
)
@click.option("--ema", is_flag=True, help="Take x/ExponentialMovingAverage for x where STORE has it.")
@click.option("--cast", is_flag=True, help="Convert numbers of another dtype.")
@click.option("--dry-run", is_flag=True, help="Only report what would be restored.")
@options.as_json
def command(
    model: str,
    store: str,
    output: str | None,
    partial: bool,
    renames: tuple[str, ...],
    ema: bool,
    cast: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    r"""Load the variables in STORE into MODEL, and write the result as a checkpoint.

    Every variable of the model must be in STORE with its dtype and shape, and nothing else may be
    there; all that does not fit is listed at once. --partial allows variables that are missing (they
    keep the values of MODEL's own checkpoint, else their initial values) or not used. A prefix of
    --map ends where a component of a name does (old=new renames old and old/w, not older); one that
    matches nothing is an error. Numbers of another dtype are converted with --cast only.

    Examples:
      sgtool restore model.meta weights.h5 -o restored
      sgtool restore model.meta weights.npz -o restored --map 'encoder/=net/encoder/'
      sgtool restore model.meta weights.npz -o restored --map 're:^block(\d+)/=b\1/'
      sgtool restore model.ckpt-9 pretrained -o mixed --partial
      sgtool restore model.meta trained -o averaged --ema --partial
      sgtool restore model.meta weights.h5 --dry-run

    --json gives {"output" (null with --dry-run), "restored", "averaged" (by --ema), "missing", "near":
    {missing: [names in STORE, those of its shape first]}, "unused", "mismatched": [{"name", "model",
    "store", "cast"}]}.
    """
    from ...formats import registry
    from .. import models

    if output is None and not dry_run:
        raise click.UsageError("Say where to write the restored checkpoint (-o PREFIX), or use --dry-run.")
    maps = _parsed(renames)
    located = models.find(model)
    wanted = [
        matching.Wanted(one.key, one.dtype, one.shape) for one in models.saved_variables_of(located).values()
    ]
    given = matching.rename(registry.open_store(models.store_path(store)), maps)
    found = matching.match(wanted, given, cast=cast, ema=ema)
    report = _document(found, given)
    problem = _problem(report, found, partial, store)
    document = {"output": None if dry_run else output, **report}
    if dry_run:
        _show(document, as_json)
        if problem:
            raise problem
        return
    if problem:
        raise problem
    assert output is not None
    entries = {fit.wanted.key: _entry(fit) for fit in found.fitting}
    if report["missing"]:
        entries |= models.own_values(located, report["missing"])
    with render.progress(f"Writing {len(entries)} variables", None):
        registry.write_store(
            output, [entries[one.key] for one in wanted], meta_graph=models.meta_graph_bytes(located)
        )
    _show(document, as_json)


def _document(found: matching.Matching, store: Mapping[str, Entry]) -> dict[str, Any]:
    return {
        "restored": [fit.wanted.key for fit in found.fitting],
        "averaged": found.averaged,
        "missing": [one.key for one in found.missing],
        "near": {key: names for key, names in found.near(store).items() if names},
        "unused": found.unused,
        "mismatched": [
            {
                "name": one.wanted.key,
                "model": _described(one.wanted.dtype, one.wanted.shape),
                "store": _described(one.entry.dtype, one.entry.shape),
                "cast": "yes" if one.castable else "",
            }
            for one in found.mismatched
        ],
    }


def _described(dtype: DTypeInfo | None, shape: Sequence[int | None] | None) -> str:
    return f"{dtype.name if dtype else '?'} {render.shape(shape)}"


def _problem(
    report: dict[str, Any], found: matching.Matching, partial: bool, store: str
) -> InvalidValueError | None:
    """The one error that lists everything that does not fit, or None."""
    parts = []
    if report["missing"] and not partial:
        lines = [
            f"{one.key} {render.shape(one.shape)}{suggestion(report['near'].get(one.key, ()))}"
            for one in found.missing
        ]
        parts.append(f"Missing in {store} ({len(lines)}):{bullets(lines)}")
    if report["unused"] and not partial:
        parts.append(f"Not in the model ({len(report['unused'])}):{bullets(report['unused'])}")
    if report["mismatched"]:
        lines = [
            f"{row['name']}: the model has {row['model']}, the store {row['store']}"
            for row in report["mismatched"]
        ]
        parts.append(f"Of another dtype or shape ({len(lines)}):{bullets(lines)}")
    if not parts:
        return None
    hints = []
    if not partial and (report["missing"] or report["unused"]):
        hints.append("--partial restores what fits; --map 'OLD=NEW' renames.")
    if any(row["cast"] for row in report["mismatched"]):
        hints.append("--cast converts dtypes.")
    text = "\n".join([f"{store} does not fit the model.", *parts, *hints])
    return InvalidValueError(text, **report)


def _parsed(renames: tuple[str, ...]) -> list[matching.Rename]:
    try:
        return [matching.parse_rename(text) for text in renames]
    except InvalidValueError as error:
        raise click.BadParameter(str(error), param_hint="--map") from error


def _entry(fit: matching.Fit) -> Entry:
    """What is written: under the model's key, in the model's dtype."""
    from ..casts import cast_entry

    entry = replace(fit.entry, name=fit.wanted.key)
    if not fit.cast:
        return entry
    assert fit.wanted.dtype is not None
    return cast_entry(entry, fit.wanted.dtype)


def _show(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        render.document(document)
        return
    kinds = ("restored", "averaged", "missing", "unused", "mismatched")
    render.facts([(name, len(document[name])) for name in kinds if name == "restored" or document[name]])
    for name in document["missing"]:
        render.line(f"  missing: {name}{suggestion(document['near'].get(name, ()))}")
    for name in document["unused"]:
        render.line(f"  unused: {name}")
    for row in document["mismatched"]:
        render.line(f"  mismatched: {row['name']}: the model has {row['model']}, the store {row['store']}")
    if document["output"]:
        render.line(f"Wrote {document['output']}.")
