"""Options that several commands share, each declared once."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from . import completion

F = TypeVar("F", bound=Callable[..., Any])

VERBOSE = "Say more on stderr; a bug shows its traceback."
QUIET = "Say nothing on stderr but errors."

CONTEXT_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@dataclass(slots=True)
class Settings:
    """What the user asked of every command.

    Attributes:
        verbose: How often `-v` was given.
        quiet: No messages and no progress on stderr.
        json: One JSON document on stdout; no progress.
        stdin_for: What has read standard input already, or None.
    """

    verbose: int = 0
    quiet: bool = False
    json: bool = False
    stdin_for: str | None = None

    @property
    def progress(self) -> bool:
        """Whether progress may be shown."""
        return not (self.quiet or self.json)


def settings() -> Settings:
    """The settings of the running command."""
    return click.get_current_context().ensure_object(Settings)


def read_stdin(what: str) -> bytes:
    """All of standard input, which one thing can have.

    Raises:
        click.UsageError: Something else has read it.
    """
    current = settings()
    if current.stdin_for is not None:
        raise click.UsageError(
            f"Standard input ('-') is given twice: for {current.stdin_for} and for {what}."
        )
    current.stdin_for = what
    return sys.stdin.buffer.read()


def command(function: F) -> click.Command:
    """A click command out of a function, named after its file; it takes `-v` and `-q` as well.

    The docstring from the line `Examples:` on becomes the epilog, the examples verbatim.
    """
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition("Examples:")
    epilog = f"\b\nExamples:{examples}" if examples else None
    name = function.__module__.rpartition(".")[2]

    @functools.wraps(function)
    def call(*args: Any, verbose: int, quiet: bool, **kwargs: Any) -> Any:
        current = settings()
        current.verbose += verbose
        current.quiet |= quiet
        current.json = bool(kwargs.get("as_json"))
        return function(*args, **kwargs)

    made = click.command(name, help=text, epilog=epilog, context_settings=CONTEXT_SETTINGS)(call)
    made.params += [
        click.Option(["-v", "--verbose"], count=True, help=VERBOSE),
        click.Option(["-q", "--quiet"], is_flag=True, help=QUIET),
    ]
    return made


as_json = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout; errors as JSON on stderr."
)

fetch = click.option(
    "--fetch",
    "fetches",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.tensors,
    help="A tensor to compute, or an operation to run. Repeatable.",
)

feed = click.option(
    "--feed",
    "feeds",
    multiple=True,
    metavar="NAME=VALUE",
    shell_complete=completion.feeds,
    help="A tensor's value: JSON, a path (.npy, .npz[:key], .h5[:/path], .csv, .json), "
    "or '-' for npy on stdin. Repeatable.",
)

checkpoint = click.option(
    "--checkpoint",
    metavar="CHECKPOINT",
    help="Take the variables from this checkpoint instead of the model's own.",
)

allow_files = click.option(
    "--allow-files",
    multiple=True,
    metavar="DIR",
    help="Let the graph's own ops read and write files below DIR; none by default. Repeatable.",
)

overrides = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Override a parameter of the spec. Repeatable.",
)
