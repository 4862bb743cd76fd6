"""`sgtool freeze`: the part of a model that its outputs need, with constants for variables."""

from __future__ import annotations

import click

from .. import completion, options, render, rewriting


@options.command
@click.argument("model")
@rewriting.output
@click.option(
    "--fetch",
    "fetches",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.tensors,
    help="A tensor or operation that the frozen graph computes; by default what the model calls its results. "
    "Repeatable.",
)
@click.option(
    "--keep",
    "kept",
    multiple=True,
    metavar="PATTERN",
    help="Variables that stay variables (* and ?). Repeatable.",
)
@options.checkpoint
@rewriting.to
@options.as_json
def command(
    model: str,
    output: str,
    fetches: tuple[str, ...],
    kept: tuple[str, ...],
    checkpoint: str | None,
    to: str | None,
    as_json: bool,
) -> None:
    """Write the part of MODEL that computes some tensors, with its checkpoint's values as constants.

    Variables of both kinds are replaced, in while loops, conds and functions, too. What only updates a
    variable (moving averages) goes; a result that is itself such an update is refused.

    Examples:
      sgtool freeze model.ckpt-1000 -o frozen.pb --fetch probabilities:0
      sgtool freeze export/1 -o frozen.pb
      sgtool freeze model.ckpt-1000 -o frozen.pbtxt --fetch y:0
      sgtool freeze graph.pbtxt --checkpoint model.ckpt-1000 -o frozen.pb --fetch y:0

    --json gives {"output", "format", "nodes", "fetches", "frozen": {variable: bytes}, "dropped": updates that
    went, "variables", "bytes" (of what stayed variable)}.
    """
    from fnmatch import fnmatchcase

    from ...formats import rewrite, targets
    from ...formats.errors import InvalidValueError

    given = rewriting.read_graph(model, checkpoint)
    wanted = list(fetches) or targets.default_outputs(given)
    if not wanted:
        raise InvalidValueError(
            f"{model} does not say what its results are: name them with --fetch.", path=model
        )
    only = (lambda name: not any(fnmatchcase(name, one) for one in kept)) if kept else None
    frozen = rewrite.freeze(given, wanted, only=only)
    target = to or ("graph_def" if output.endswith(".pb") else None)
    told = rewriting.write(output, frozen.model, target)
    updates = sorted({node for _, node in frozen.dropped})
    told |= {"fetches": wanted, "frozen": frozen.variables, "dropped": updates}
    if as_json:
        render.document(told)
        return
    if not fetches:
        render.message(f"Freezing what computes {', '.join(wanted)} (--fetch names others).")
    size = render.size(sum(frozen.variables.values()))
    render.line(f"Froze {render.counted(len(frozen.variables), 'variable')}, {size}.")
    if updates:
        render.line(
            f"Left out {render.counted(len(updates), 'update')} that waited: {', '.join(updates[:4])}."
        )
    rewriting.show_written(told)
