"""`sgtool strip`: a model without what only its training needs."""

from __future__ import annotations

from collections import Counter

import click

from .. import options, render, rewriting


@options.command
@click.argument("model")
@rewriting.output
@click.option("--summaries", is_flag=True, help="Take summaries away, too.")
@click.option("--savers", is_flag=True, help="Take save and restore operations away, too.")
@click.option("--training", is_flag=True, help="Take gradients and all that trains away, too.")
@click.option("--keep-slots", is_flag=True, help="Leave the optimizer's variables.")
@rewriting.to
@options.as_json
def command(
    model: str,
    output: str,
    summaries: bool,
    savers: bool,
    training: bool,
    keep_slots: bool,
    to: str | None,
    as_json: bool,
) -> None:
    """Write MODEL without its optimizer's variables, and on request without more; say what went.

    Which variables are an optimizer's the graph's own Apply operations say. Of a checkpoint without a
    graph it is their names, together with a variable that each belongs to: w/Adam goes where there is
    a w of its shape, and a layer called adam_layer stays.

    Examples:
      sgtool strip model.ckpt-1000 -o small
      sgtool strip model.ckpt-1000 -o inference --training --summaries
      sgtool strip weights.h5 -o small.h5

    --json gives {"output", "format", "nodes", "variables", "bytes", "removed": {"variables": {key: bytes},
    "slots": {variable: what it belongs to, or null}, "nodes": {name: op}}, "saved": bytes}.
    """
    from ...formats import rewrite

    given = rewriting.read(model)
    stripped = rewrite.strip(
        given, slots=not keep_slots, summaries=summaries, savers=savers, training=training
    )
    told = rewriting.write(output, stripped.model, to)
    told |= {
        "removed": {"variables": stripped.variables, "slots": stripped.slots, "nodes": stripped.nodes},
        "saved": stripped.saved,
    }
    if as_json:
        render.document(told)
        return
    if stripped.variables:
        rows = [[name, stripped.slots.get(name), size] for name, size in stripped.variables.items()]
        render.table("Variables taken away", ["variable", "of", "bytes"], rows, right=["bytes"])
    if stripped.nodes:
        ops = Counter(stripped.nodes.values()).most_common()
        render.table("Nodes taken away", ["op", "nodes"], [list(pair) for pair in ops], right=["nodes"])
    if stripped.variables or stripped.nodes:
        render.line()
    render.line(f"Saved {render.size(stripped.saved)}.")
    rewriting.show_written(told)
