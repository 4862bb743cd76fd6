"""`sgtool build`: a graph from a spec, checked and written as a MetaGraphDef."""

from __future__ import annotations

import sys

import click

from .. import options, render


@options.command
@click.argument("spec")
@click.option(
    "-o",
    "--output",
    metavar="MODEL.meta",
    help="The graph file to write; text if it ends in .pbtxt; '-': stdout.",
)
@options.overrides
@click.option(
    "--init",
    metavar="PREFIX",
    callback=options.prefix_output,
    help="Also initialise the variables and save them as this checkpoint.",
)
@click.option("--seed", type=int, metavar="N", help="Seed of the initial values.")
@options.as_json
def command(
    spec: str,
    output: str | None,
    overrides: tuple[str, ...],
    init: str | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Build the graph that SPEC describes, check every name, shape and dtype in it, and write it.

    SPEC is a YAML or JSON spec, a graph file (.pbtxt, .pb, .meta), or a Python file with a function
    `def build(tf)`, which is run.

    Examples:
      sgtool build model.yaml -o model.meta
      sgtool build model.yaml -o model.meta --set hidden=128 --set learning_rate=0.01
      sgtool build model.yaml --init start/model          the graph and fresh variables
      sgtool build make_model.py -o model.meta

    --json gives {"output", "checkpoint", ...} with all that `inspect --json` says of the graph.
    """
    from ...formats import summary
    from .. import specs

    if output is None and init is None:
        raise click.UsageError(
            "Say where to write the graph (-o MODEL.meta), or the checkpoint (--init PREFIX)."
        )
    built = specs.build(spec, specs.parse_overrides(overrides), seed)
    if output == "-":
        if as_json:
            raise click.UsageError("'-o -' and --json both want standard output; leave one out.")
        sys.stdout.buffer.write(specs.encode_graph(built))
        return
    if output is not None:
        specs.write_graph(built, output)
    if init is not None:
        specs.write_initial(built, init)
    written = output if output is not None else f"{init}.meta"
    if as_json:
        render.document(summary.summarise(written) | {"output": output, "checkpoint": init})
        return
    found = summary.summarise(written)
    render.line(
        f"Wrote {written}: {render.counted(found['nodes'], 'node')}, "
        f"{render.counted(len(found['variables']), 'variable')}, "
        f"{render.counted(found['parameters'], 'parameter')}."
    )
    if init is not None:
        render.line(f"Wrote {init}, its variables initialised.")
