"""`sgtool inspect`: what is in a file, without running anything."""

from __future__ import annotations

import click

from .. import options


@options.command
@click.argument("path", required=False)
@click.option("--tensors", is_flag=True, help="Every tensor that is stored, or that a node gives.")
@click.option("--ops", is_flag=True, help="How often each op occurs.")
@click.option("--graph", is_flag=True, help="Every node with its op and inputs.")
@click.option("--values", multiple=True, metavar="NAME", help="The values of a stored tensor. Repeatable.")
@click.option("--stats", is_flag=True, help="Least, greatest, mean and NaN count of each stored tensor.")
@options.as_json
def command(
    path: str | None,
    tensors: bool,
    ops: bool,
    graph: bool,
    values: tuple[str, ...],
    stats: bool,
    as_json: bool,
) -> None:
    """Show what is in PATH: a model, a checkpoint in any form of its name, a graph file or a store.

    Examples:
      sgtool inspect model.ckpt-1000              a checkpoint and the graph beside it
      sgtool inspect model.ckpt-1000.meta --ops   which ops the graph is made of
      sgtool inspect frozen.pb --graph            every node
      sgtool inspect weights.h5 --values dense/kernel
      sgtool inspect --json | jq '.variables[].name'

    --json gives {"format", "prefix", "producer", "variables": [{"name", "dtype", "shape", "bytes",
    "trainable"}], "inputs", "outputs", "signatures", "collections", "ops", "nodes", "parameters",
    "bytes"}; keys that do not apply are absent, an unknown dimension is null. --tensors, --graph,
    --values and --stats add keys of their names.
    """
    raise NotImplementedError
