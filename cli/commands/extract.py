"""`sgtool extract`: the part of a model between given tensors."""

from __future__ import annotations

from typing import Any

import click

from .. import completion, options, render, rewriting


@options.command
@click.argument("model")
@rewriting.output
@click.option(
    "--fetch",
    "fetches",
    multiple=True,
    required=True,
    metavar="NAME",
    shell_complete=completion.tensors,
    help="A tensor or operation to keep, with all that it needs. Repeatable.",
)
@click.option(
    "--cut",
    "cuts",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.tensors,
    help="A tensor where the graph begins: it becomes a placeholder. Repeatable.",
)
@rewriting.to
@options.as_json
def command(
    model: str, output: str, fetches: tuple[str, ...], cuts: tuple[str, ...], to: str | None, as_json: bool
) -> None:
    """Write the part of MODEL that computes some tensors, from its inputs or from where it is cut.

    Variables that the part needs keep their initializers, their place in the saver, and their values in
    the checkpoint; all else goes.

    Examples:
      sgtool extract model.ckpt-1000 -o encoder --fetch encoder/output:0
      sgtool extract model.ckpt-1000 -o head --cut encoder/output:0 --fetch probabilities:0
      sgtool extract frozen.pb -o part.pb --cut conv1/Relu:0 --fetch conv5/Relu:0

    --json gives {"output", "format", "nodes", "variables", "bytes", "placeholders": {cut tensor: fed tensor},
    "needed": [placeholders that are left besides], "removed": nodes that went}.
    """
    from ...formats import rewrite

    given = rewriting.read_graph(model)
    part = rewrite.extract(given, fetches, cuts, shapes=_static_shapes(given, cuts))
    told = rewriting.write(output, part.model, to)
    told |= {"placeholders": part.placeholders, "needed": part.needed, "removed": part.removed}
    if as_json:
        render.document(told)
        return
    for cut, fed in part.placeholders.items():
        render.line(f"Fed now: {fed}" + (f", in the place of {cut}" if fed not in (cut, f"{cut}:0") else ""))
    if part.needed:
        render.line(f"Fed still: {', '.join(part.needed)}")
    render.line(f"Took out {render.counted(part.removed, 'node')}.")
    rewriting.show_written(told)


def _static_shapes(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The static shapes of tensors, where all that is before them is known here."""
    if not names:
        return {}
    from ... import graphcore as tf
    from ...formats import rewrite
    from ...formats.errors import OpError

    found = {}
    try:
        before = rewrite.extract(model, names).model
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(before.meta_graph.graph_def, name="")
    except (OpError, ValueError):
        return {}
    for name in names:
        try:
            shape = graph.get_tensor_by_name(name if ":" in name else f"{name}:0").shape
        except (OpError, ValueError):
            continue
        found[name] = None if shape.ndims is None else shape.as_list()
    return found
