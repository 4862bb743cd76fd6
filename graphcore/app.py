"""`tf.app`: `run` starts a script's `main` after its flags are parsed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from . import flags


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Parses the flags of `argv`, calls `main` with what is left, and exits with what it gives.

    Flags that nobody defined are left for `main`.

    Args:
        main: The function to call; the script's own `main` by default.
        argv: The program's name and its arguments; `sys.argv` by default.
    """
    from absl import app

    def parse(given: list[str]) -> list[str]:
        return list(flags.FLAGS(sys.argv if argv is None else given, known_only=True))

    arguments = None if argv is None else list(argv)
    app.run(main or sys.modules["__main__"].main, arguments, flags_parser=parse)
    sys.exit()


__all__ = ["flags", "run"]
