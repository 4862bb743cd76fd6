"""What the shell offers after Tab: the tensors and variables of the model that the line names.

Turned on by click's own `_SGTOOL_COMPLETE=bash_source sgtool` (or `zsh_source`, `fish_source`). A
completion never fails and never prints: where nothing can be read, nothing is offered.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

LIMIT = 500
"""More names than this only slow the shell down."""


def tensors(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """`name:0` of each node of the graph."""
    return _matching((f"{node.name}:0" for node in _nodes(ctx)), incomplete)


def feeds(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """`name:0=` of each placeholder, or of each node once something is typed."""
    nodes = (node for node in _nodes(ctx) if incomplete or node.op.startswith("Placeholder"))
    return _matching((f"{node.name}:0=" for node in nodes), incomplete)


def scopes(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """`scope/=` of each name scope of the graph, or of the checkpoint's keys without one."""
    names = [node.name for node in _nodes(ctx)] or variables(ctx, _, "")
    found = {name[: at + 1] for name in names for at, sign in enumerate(name) if sign == "/"}
    return _matching((f"{scope}=" for scope in found), incomplete)


def variables(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """The keys of the checkpoint or store."""
    from ..formats import registry
    from ..formats.errors import OpError

    with suppress(OpError, OSError):
        return _matching(registry.open_store(_model(ctx)), incomplete)
    return []


def _model(ctx: click.Context) -> str:
    from .locate import VARIABLE, candidates

    params = ctx.params | _params_before_the_option(ctx)
    given = params.get("model") or params.get("path") or os.environ.get(VARIABLE)
    if given:
        return str(given)
    found = candidates(Path())
    return found[0] if len(found) == 1 else ""


def _params_before_the_option(ctx: click.Context) -> dict[str, Any]:
    """The line's parameters without the option that is being completed.

    click parses up to that option, which has no value yet, and then gives up on the whole line.
    """
    from click.shell_completion import split_arg_string

    words = split_arg_string(os.environ.get("COMP_WORDS", ""))[2:]
    position = os.environ.get("COMP_CWORD", "")
    words = words[: max(0, int(position) - 2)] if position.isdigit() else words[:-1]
    while words and words[-1].startswith("-"):
        words.pop()
    return ctx.command.make_context(ctx.info_name, words, resilient_parsing=True).params


def _nodes(ctx: click.Context) -> Iterator[Any]:
    from ..formats.errors import OpError
    from . import models

    with suppress(OpError, OSError, click.UsageError):
        file = models.graph_of(models.find(_model(ctx)))
        yield from models.serving_graph(file).graph_def.node if file.meta_graphs else file.message.node


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))[:LIMIT]
