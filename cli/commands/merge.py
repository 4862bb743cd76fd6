"""`sgtool merge`: two models in one, results of the first going into the second."""

from __future__ import annotations

import click

from .. import options, render, rewriting


@options.command
@click.argument("model", metavar="A")
@click.argument("other", metavar="B")
@rewriting.output
@click.option(
    "--connect",
    "links",
    multiple=True,
    metavar="OUT=IN",
    help="A tensor of A that takes the place of a tensor of B, both by their own names. Repeatable.",
)
@click.option(
    "--prefix",
    "prefixes",
    nargs=2,
    default=("a", "b"),
    show_default=True,
    metavar="A B",
    help="The scopes that the two get.",
)
@rewriting.to
@options.as_json
def command(
    model: str,
    other: str,
    output: str,
    links: tuple[str, ...],
    prefixes: tuple[str, str],
    to: str | None,
    as_json: bool,
) -> None:
    """Write one model of A and B, with one saver and one checkpoint.

    All names of A get the prefix a/, all of B b/: nodes, variables, what collections and signatures
    name, functions, shared tables and queues, keys of the checkpoint. Dtypes and shapes of what is
    connected must fit.

    Examples:
      sgtool merge encoder.ckpt-5 head.ckpt-9 -o joined --connect output:0=input:0
      sgtool merge resize.pb classify.pb -o both.pb --connect image:0=x:0 --prefix resize classify
      sgtool merge first.ckpt-1 second.ckpt-1 -o both

    --json gives {"output", "format", "nodes", "variables", "bytes", "connected": {tensor of A: the
    tensor of B that it replaces}, "removed": [placeholders of B that are fed no more]}.
    """
    from ...formats import rewrite

    connect = rewriting.assignments(links, "OUT=IN", "--connect output:0=input:0")
    merged = rewrite.merge(rewriting.read(model), rewriting.read(other), connect, prefixes)
    told = rewriting.write(output, merged.model, to)
    told |= {"connected": merged.connected, "removed": merged.removed}
    if as_json:
        render.document(told)
        return
    for out, into in merged.connected.items():
        render.line(f"  {out} -> {into}")
    rewriting.show_written(told)
