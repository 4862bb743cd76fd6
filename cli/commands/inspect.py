"""`sgtool inspect`: what is in a file."""

from __future__ import annotations

import click

from .. import options


@options.command
@click.argument("path", required=False)
@options.as_json
def command(path: str | None, as_json: bool) -> None:
    """Show what is in PATH.

    Examples:
      sgtool inspect x
    """
