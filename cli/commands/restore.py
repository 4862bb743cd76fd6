"""`sgtool restore`: the variables of a store, loaded into a model and written as its checkpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ...formats import matching
from ...formats.errors import InvalidValueError
from ...formats.restore_report import RestoreReport, report_of
from .. import locate, options, render

if TYPE_CHECKING:
    from ...formats.entry import Entry


@options.command
@click.argument("model")
@click.argument("store")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    callback=options.store_output,
    help="What to write: a checkpoint prefix (its graph goes along), NAME.h5, .npz or .safetensors.",
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
    r"""Load the variables in STORE into MODEL, and write the result: a checkpoint, or a file of arrays.

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
    "store", "cast"}], "described": {missing or unused name: "DTYPE SHAPE"}}.
    """
    from ...formats import registry
    from .. import models
    from ..casts import all_bad

    if output is None and not dry_run:
        raise click.UsageError("Say where to write the restored checkpoint (-o OUT), or use --dry-run.")
    for what, name in (("MODEL", model), ("STORE", store)):
        if name == locate.STDIN:
            raise click.UsageError(f"{what} is not read from standard input ('-'): name a file.")
    maps = _parsed(renames)
    located = models.find(model)
    wanted = [
        matching.Wanted(one.key, one.dtype, one.shape) for one in models.saved_variables_of(located).values()
    ]
    given = matching.rename(registry.open_store(models.store_path(store)), maps)
    found = matching.match(wanted, given, cast=cast, ema=ema)
    report = report_of(found, given, store)
    if ema and not report.averaged:
        render.message(f"{store} has no moving averages (x/ExponentialMovingAverage) of these variables.")
    if dry_run:
        _show(report, None, as_json)
        if _problem(report, partial):  # what it is stands in the report
            raise InvalidValueError(_text(report, partial), **report.fields())
        render.message("Nothing was written (--dry-run).")
        return
    if _problem(report, partial):
        raise InvalidValueError(_text(report, partial, report.sections(partial)), **report.fields())
    assert output is not None
    entries = {fit.wanted.key: _entry(fit) for fit in found.fitting}
    if report.missing:
        entries |= models.own_values(located, report.missing)
    with render.progress(f"Writing {len(entries)} variables", None), all_bad(entries.values()):
        registry.write_store(
            output, [entries[one.key] for one in wanted], meta_graph=models.meta_graph_bytes(located)
        )
    _show(report, output, as_json)


def _problem(report: RestoreReport, partial: bool) -> bool:
    return bool(report.mismatched or ((report.missing or report.unused) and not partial))


def _text(report: RestoreReport, partial: bool, sections: str = "") -> str:
    """The error of what does not fit: the sections, and what can be done."""
    hints = []
    if not partial and (report.missing or report.unused):
        hints.append("--partial restores what fits; --map 'OLD=NEW' renames.")
    if any(one.castable for one in report.mismatched):
        hints.append("--cast converts dtypes.")
    return "\n".join(filter(None, [f"{report.path} does not fit the model.", sections, *hints]))


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


def _show(report: RestoreReport, output: str | None, as_json: bool) -> None:
    if as_json:
        render.document({"output": output, **report.fields()})
        return
    numbers = {
        "restored": len(report.restored),
        "averaged": len(report.averaged),
        "missing": len(report.missing),
        "unused": len(report.unused),
        "mismatched": len(report.mismatched),
    }
    render.facts([(name, number) for name, number in numbers.items() if name == "restored" or number])
    missing, mismatched, unused = report.lines()
    for kind, lines in (("missing", missing), ("mismatched", mismatched), ("unused", unused)):
        for line in lines:
            render.line(f"  {kind}: {line}")
    if output:
        render.line(f"Wrote {output}.")
