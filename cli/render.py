"""What commands show: tables and facts on stdout, messages and progress on stderr, JSON documents.

On a terminal tables are drawn by rich; in a pipe, and where they are long, they are plain aligned text,
and rich is not imported. Nothing else in the package prints.
"""

from __future__ import annotations

import base64
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, Protocol

import click

from .options import settings

if TYPE_CHECKING:
    from rich.console import Console


_DRAWN = 1000
"""Rows up to which rich draws a table, at three a millisecond."""


def on_terminal() -> bool:
    """Whether stdout is a terminal that can show a drawn table."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def prints_aside() -> Iterator[None]:
    """While it lasts, what a model or its Python file prints goes to stderr: stdout has results alone."""
    with redirect_stdout(sys.stderr):
        yield


# ---- stdout ------------------------------------------------------------------------------------


def line(text: str = "") -> None:
    """One line of the answer."""
    click.echo(settings().shown(text))


def facts(pairs: Iterable[tuple[str, object]]) -> None:
    """Name and value, one pair a line, aligned; pairs without a value are left out."""
    show = settings().shown
    shown = [(name, show(str(value))) for name, value in pairs if value not in (None, "")]
    width = max((len(name) for name, _ in shown), default=0)
    bold = on_terminal() and not os.environ.get("NO_COLOR")
    for name, value in shown:
        label = click.style(name, bold=True) if bold else name
        click.echo(f"{label}{' ' * (width - len(name))}  {value}")


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[str] = (),
    err: bool = False,
) -> None:
    """A table with a title.

    Args:
        title: Stands above it.
        columns: The headings.
        rows: As many cells each as there are headings; None is an empty cell.
        right: The headings of columns of numbers, which are aligned to the right.
        err: Show it on stderr, beside the answer.
    """
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    numbers = set(right)
    if len(cells) <= _DRAWN and (sys.stderr.isatty() if err else on_terminal()):
        _rich_table(title, columns, cells, numbers, err)
        return
    widths = [max([len(head), *(len(row[i]) for row in cells)]) for i, head in enumerate(columns)]
    places = [(width, head in numbers) for width, head in zip(widths, columns, strict=True)]
    lines = ["", title]
    for row in [list(columns), *cells]:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, (width, to_right) in zip(row, places, strict=True)
        ]
        lines.append(("  " + "  ".join(padded)).rstrip())
    click.echo("\n".join(lines), err=err)  # at once: each call flushes


def _rich_table(
    title: str, columns: Sequence[str], rows: list[list[str]], numbers: set[str], err: bool
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for head in columns:
        drawn.add_column(head, justify="right" if head in numbers else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*map(Text, row))  # a name such as a[0] is no markup
    _console(err).print(drawn)


def _console(err: bool) -> Console:
    from rich.console import Console

    if os.environ.get("NO_COLOR"):
        return Console(highlight=False, stderr=err, color_system=None)
    return Console(highlight=False, stderr=err)


def document(value: Any) -> None:
    """One JSON document; values are converted as `json_value` says."""
    # In UTF-8 stdout itself escapes what is no text (a lone surrogate), and as JSON does: \udc8a.
    escape = (sys.stdout.encoding or "").lower() not in ("utf-8", "utf8")
    indent = 2 if on_terminal() else None
    options: dict[str, Any] = {"ensure_ascii": escape, "allow_nan": False, "indent": indent}
    try:  # nearly everything is what JSON has, and need not be copied
        text = json.dumps(value, default=json_value, **options)
    except (ValueError, TypeError):
        text = json.dumps(json_value(value), **options)
    click.echo(settings().shown(text))


def json_value(value: Any) -> Any:
    """`value` in what JSON has.

    Non-finite numbers become "NaN", "Infinity", "-Infinity"; bytes their UTF-8 text, or
    {"base64": ...} where they are no text; a complex number [re, im]; an array nested lists. Numbers
    of 16 and 32 bits are written with the fewest digits that give them back.
    """
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _NON_FINITE[str(value)]
    if isinstance(value, complex):
        return [json_value(value.real), json_value(value.imag)]
    if isinstance(value, (bytes, bytearray)):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if hasattr(value, "dtype"):
        return _json_array(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [json_value(item) for item in value]
    return str(value)


_NON_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _json_array(value: Any) -> Any:
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        return json_value(array.tolist())
    if array.dtype.kind == "c":
        pairs = np.stack([array.real, array.imag], axis=-1)
        return _json_array(pairs)
    if array.dtype.kind in "biu":
        return array.tolist()
    if array.dtype.kind == "V":  # ml_dtypes: bfloat16, float8 and int4
        array = array.astype(np.int32 if "int" in array.dtype.name else np.float32)
        return _json_array(array)
    if array.dtype.itemsize < 8:
        array = array.astype(np.float32).astype("U").astype(np.float64)
    listed = array.tolist()
    return listed if np.isfinite(array).all() else json_value(listed)


# ---- numbers -----------------------------------------------------------------------------------


def count(number: int) -> str:
    """1234567 -> '1,234,567'."""
    return f"{number:,}"


def counted(number: int, what: str) -> str:
    """1, "variable" -> '1 variable'; 2, "variable" -> '2 variables'."""
    return f"{count(number)} {what}{'' if number == 1 else 's'}"


def size(number: int) -> str:
    """Bytes for people: 1536 -> '1.5 KiB'."""
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def shape(dims: Sequence[int | None] | None) -> str:
    """A shape as TensorFlow prints it: [?, 784]; unknown rank is '?'."""
    return "?" if dims is None else "[" + ", ".join("?" if d is None else str(d) for d in dims) + "]"


# ---- stderr ------------------------------------------------------------------------------------


def message(text: str) -> None:
    """Something that the user should know beside the answer; `-q` and `--json` leave it out."""
    current = settings()
    if not (current.quiet or current.json or text in current.told):
        current.told.add(text)
        click.echo(current.shown(text), err=True)


class Progress(Protocol):
    """A running progress bar."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Move on by `steps`; `note` is shown beside the bar."""


class _Silent:
    def advance(self, steps: int = 1, note: str = "") -> None:
        pass


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Progress]:
    """A progress bar on stderr while the block runs; nothing with `-q`, `--json`, or no terminal."""
    if not settings().progress or not sys.stderr.isatty():
        yield _Silent()
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Bar(*columns, console=_console(True), transient=True) as bar:
        task = bar.add_task(what, total=total, note="")

        class Running:
            def advance(self, steps: int = 1, note: str = "") -> None:
                bar.update(task, advance=steps, note=note)

        yield Running()
