"""`sgtool restore`: the variables of a store, loaded into a model and written as its checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from ...formats.errors import InvalidValueError, MissingNameError, bullets, did_you_mean
from .. import options, render

if TYPE_CHECKING:
    from ...formats.entry import Entry
    from ...formats.saved_variables import SavedVariable


@options.command
@click.argument("model")
@click.argument("store")
@click.option("-o", "--output", metavar="PREFIX", help="The checkpoint to write; its graph goes along.")
@click.option("--partial", is_flag=True, help="Variables that STORE lacks keep the model's own values.")
@click.option(
    "--map", "renames", multiple=True, metavar="OLD=NEW", help="Rename a prefix of STORE's names. Repeatable."
)
@click.option("--cast", is_flag=True, help="Convert numbers of another dtype.")
@click.option("--dry-run", is_flag=True, help="Only report what would be restored.")
@options.as_json
def command(
    model: str,
    store: str,
    output: str | None,
    partial: bool,
    renames: tuple[str, ...],
    cast: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Load the variables in STORE into MODEL, and write the result as a checkpoint.

    Every variable of the model must be in STORE with its dtype and shape, and nothing else may be
    there; all that does not fit is listed at once. --partial allows variables that are missing (they
    keep the values of MODEL's own checkpoint, else their initial values) or not used.

    Examples:
      sgtool restore model.meta weights.h5 -o restored
      sgtool restore model.meta weights.npz -o restored --map 'encoder/=net/encoder/'
      sgtool restore model.ckpt-9 pretrained -o mixed --partial
      sgtool restore model.meta weights.h5 --dry-run

    --json gives {"output", "restored", "kept", "missing", "unused", "mismatched": [{"name", "model",
    "store"}]}.
    """
    from ...formats import registry
    from .. import models

    if output is None and not dry_run:
        raise click.UsageError("Say where to write the restored checkpoint (-o PREFIX), or use --dry-run.")
    located = models.find(model)
    wanted = models.saved_variables_of(located)
    given = _renamed(registry.open_store(models.store_path(store)), renames)
    match = _compare(wanted, given, cast)
    problem = match.problem(partial, store)
    document = {"output": output, **match.as_dict()}
    if dry_run:
        _show(document, as_json)
        if problem:
            raise problem
        return
    if problem:
        raise problem
    assert output is not None
    entries = dict(match.fitting)
    if match.missing:
        entries |= models.own_values(located, match.missing)
    with render.progress(f"Writing {len(entries)} variables", None):
        registry.write_store(
            output, [entries[key] for key in wanted], meta_graph=models.meta_graph_bytes(located)
        )
    _show(document, as_json)


@dataclass(slots=True)
class _Match:
    """What of a store fits a model."""

    fitting: dict[str, Entry] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    mismatched: list[dict[str, str]] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "restored": list(self.fitting),
            "missing": self.missing,
            "unused": self.unused,
            "mismatched": self.mismatched,
        }

    def problem(self, partial: bool, store: str) -> InvalidValueError | None:
        """The one error that lists everything that does not fit, or None."""
        parts = []
        if self.missing and not partial:
            lines = [f"{name}{did_you_mean(name, self.unused)}" for name in self.missing]
            parts.append(f"Missing in {store} ({len(lines)}):{bullets(lines)}")
        if self.unused and not partial:
            lines = [f"{name}{did_you_mean(name, self.missing)}" for name in self.unused]
            parts.append(f"Not in the model ({len(lines)}):{bullets(lines)}")
        if self.mismatched:
            lines = [
                f"{row['name']}: the model has {row['model']}, the store {row['store']}"
                for row in self.mismatched
            ]
            parts.append(f"Of another dtype or shape ({len(lines)}):{bullets(lines)}")
        if not parts:
            return None
        hints = []
        if not partial and (self.missing or self.unused):
            hints.append("--partial restores what fits; --map 'OLD=NEW' renames.")
        if any(row["cast"] for row in self.mismatched):
            hints.append("--cast converts dtypes.")
        text = "\n".join([f"{store} does not fit the model.", *parts, *hints])
        return InvalidValueError(text, **self.as_dict())


def _renamed(store: Mapping[str, Entry], renames: tuple[str, ...]) -> dict[str, Entry]:
    """The entries under their new names.

    Raises:
        click.UsageError: No `=` in a rename.
        MissingNameError: A rename that no name begins with.
        InvalidValueError: Two names become one.
    """
    pairs = []
    for rename in renames:
        old, equals, new = rename.partition("=")
        if not equals or not old:
            raise click.UsageError(f"--map {rename}: write OLD=NEW, as in --map 'encoder/=net/encoder/'.")
        pairs.append((old, new))
    idle = [old for old, _ in pairs if not any(name.startswith(old) for name in store)]
    if idle:
        lines = [f"'{old}'{did_you_mean(old, store)}" for old in idle]
        raise MissingNameError(f"No name in the store begins with:{bullets(lines)}", prefixes=idle)
    result: dict[str, Entry] = {}
    for name in store:
        new_name = next((new + name.removeprefix(old) for old, new in pairs if name.startswith(old)), name)
        if new_name in result:
            raise InvalidValueError(f"--map makes two variables '{new_name}'.", name=new_name)
        result[new_name] = replace(store[name], name=new_name)
    return result


def _compare(wanted: dict[str, SavedVariable], given: dict[str, Entry], cast: bool) -> _Match:
    match = _Match(wanted=list(wanted))
    match.unused = [name for name in given if name not in wanted]
    for key, variable in wanted.items():
        entry = given.get(key)
        if entry is None:
            match.missing.append(key)
            continue
        same_dtype = variable.dtype is None or variable.dtype == entry.dtype
        castable = not same_dtype and _castable(entry, variable)
        if _fits(variable.shape, entry.shape) and (same_dtype or (cast and castable)):
            match.fitting[key] = entry if same_dtype else _cast(entry, variable)
            continue
        match.mismatched.append(
            {
                "name": key,
                "model": f"{variable.dtype.name if variable.dtype else '?'} {render.shape(variable.shape)}",
                "store": f"{entry.dtype.name} {render.shape(entry.shape)}",
                "cast": "yes" if castable and _fits(variable.shape, entry.shape) else "",
            }
        )
    return match


def _fits(expected: tuple[int | None, ...] | None, shape: tuple[int, ...]) -> bool:
    if expected is None:
        return True
    return len(expected) == len(shape) and all(e in (None, s) for e, s in zip(expected, shape, strict=True))


_NUMBERS = frozenset(("float", "int", "uint", "bool", "complex"))


def _castable(entry: Entry, variable: SavedVariable) -> bool:
    return variable.dtype is not None and {entry.dtype.kind, variable.dtype.kind} <= _NUMBERS


def _cast(entry: Entry, variable: SavedVariable) -> Entry:
    from .. import casts

    assert variable.dtype is not None
    return casts.cast_entry(entry, variable.dtype)


def _show(document: dict[str, Any], as_json: bool) -> None:
    if as_json:
        render.document(document)
        return
    kinds = ("restored", "missing", "unused", "mismatched")
    render.facts([(name, len(document[name])) for name in kinds if name == "restored" or document[name]])
    for name in ("missing", "unused"):
        for each in document[name]:
            render.line(f"  {name}: {each}")
    if document["output"]:
        render.line(f"Wrote {document['output']}.")
