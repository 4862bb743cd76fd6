"""The command line: `sgtool …`. `main` is the console script; the library is `sgtool.graphcore`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the tool with `arguments` (by default the process's) and exit with its code."""
    from .main import run

    raise SystemExit(run(arguments))
