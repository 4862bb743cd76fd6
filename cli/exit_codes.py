"""From errors to exit codes: one table, and how an error is shown."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..formats import errors as tree

OK = 0
ANSWER_IS_NO = 1
USAGE = 2
NOT_FOUND = 3
DAMAGED = 4
MISMATCH = 5
UNIMPLEMENTED = 6
FAILED = 7
BUG = 70
INTERRUPTED = 130

# The first class that an error is an instance of decides; an error that is none of them is a bug.
TABLE: tuple[tuple[type[BaseException], int], ...] = (
    (tree.MissingExtraError, UNIMPLEMENTED),
    (tree.UnimplementedError, UNIMPLEMENTED),
    (tree.InternalError, BUG),
    (tree.MissingPartError, DAMAGED),
    (tree.NotFoundError, NOT_FOUND),
    (tree.DataLossError, DAMAGED),
    (tree.InvalidArgumentError, MISMATCH),
    (tree.AlreadyExistsError, MISMATCH),
    (tree.OpError, FAILED),
    (FileNotFoundError, NOT_FOUND),
    (OSError, FAILED),
    (MemoryError, FAILED),
    (KeyboardInterrupt, INTERRUPTED),
    (click.Abort, INTERRUPTED),
)

REPORTING = (
    "This is a bug in sgtool. Run the command again with -v for a traceback, and report both with\n"
    "`sgtool --version` and, if you can, the file."
)


def code_of(error: BaseException) -> int:
    """The exit code that an error ends the process with."""
    if isinstance(error, click.ClickException):
        return USAGE
    # A kernel that refused its inputs failed while running; elsewhere, and while a graph is built
    # (which gives the subclasses that are ValueErrors, too), it is a mismatch.
    # A missing feed names its placeholder, but is the caller's mistake, not the graph's.
    if (
        type(error) is tree.InvalidArgumentError
        and error.op is not None
        and "placeholders" not in error.fields
    ):
        return FAILED
    return next((code for kind, code in TABLE if isinstance(error, kind)), BUG)


def report(error: BaseException, *, verbose: bool, as_json: bool) -> int:
    """Show an error on stderr and give its exit code.

    Args:
        error: What ended the command.
        verbose: Show a traceback, whatever the error is.
        as_json: The last line is the error as an object, and there are no other lines but a traceback.
    """
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else OK
    code = code_of(error)
    if verbose and not isinstance(error, (click.ClickException, click.Abort, KeyboardInterrupt)):
        traceback.print_exception(error)
    if as_json:
        escape = (sys.stderr.encoding or "").lower() not in ("utf-8", "utf8")
        click.echo(json.dumps(as_object(error, code), ensure_ascii=escape, default=str), err=True)
    elif isinstance(error, click.ClickException):
        error.show()
    elif code == INTERRUPTED:
        click.echo("Interrupted.", err=True)
    else:
        click.echo(f"Error: {message_of(error)}", err=True)
        if code == BUG and not verbose:
            click.echo(REPORTING, err=True)
    return code


def message_of(error: BaseException) -> str:
    """What an error says, in a form that tells a bug's kind, too."""
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return "Interrupted."
    if isinstance(error, tree.OpError):
        return str(error)
    if isinstance(error, OSError):
        where = f"{os.fspath(error.filename)}: " if isinstance(error.filename, (str, os.PathLike)) else ""
        return f"{where}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return f"Not enough memory. {error}".rstrip()
    return f"{type(error).__name__}: {error}"


def as_object(error: BaseException, code: int) -> dict[str, Any]:
    """The error as `--json` shows it: `code`, `error` (its class), `message`, and its fields."""
    fields = dict(error.fields) if isinstance(error, tree.OpError) else {}
    return {**fields, "code": code, "error": type(error).__name__, "message": message_of(error)}


@contextmanager
def outliving_reader() -> Iterator[None]:
    """Inside is shown what a verdict rests on: who reads no further (`… | head`) gets the exit code still."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        close_broken_stdout()


def close_broken_stdout() -> int:
    """The reader of our output has gone (`sgtool … | head`): end quietly, as it wanted."""
    # What Python still holds in the buffer must not fail again when the interpreter exits.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK
