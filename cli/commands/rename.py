"""`sgtool rename`: other names for the scopes of a model, in its graph and its checkpoint together."""

from __future__ import annotations

import click

from .. import completion, options, render, rewriting

SHOWN = 10
"""New names that are shown; `--json` has all."""


@options.command
@click.argument("model")
@click.argument("renames", nargs=-1, required=True, metavar="OLD=NEW...", shell_complete=completion.scopes)
@rewriting.output
@rewriting.to
@options.as_json
def command(model: str, renames: tuple[str, ...], output: str, to: str | None, as_json: bool) -> None:
    r"""Write MODEL with other names, in its graph and all that belongs to it, and its checkpoint together.

    A name matches where its components do: old/=new/ changes old/w, but neither old2/w nor old_z;
    old=new changes old itself, too; old/= takes a prefix away, =new/ puts one before every name;
    re:PATTERN=REPLACEMENT is a regular expression. The first that matches a name counts.

    Examples:
      sgtool rename model.ckpt-1000 encoder/=net/encoder/ -o renamed
      sgtool rename model.ckpt-1000 tower_0/= -o renamed
      sgtool rename weights.h5 're:^block(\d+)/=b\1/' -o renamed.h5

    --json gives {"output", "format", "nodes", "variables", "bytes", "renamed": {"nodes": {old: new},
    "variables": {old: new}}}.
    """
    from ...formats import matching, rewrite
    from ...formats.errors import InvalidValueError

    try:
        parsed = [matching.parse_rename(text) for text in renames]
    except InvalidValueError as error:
        raise click.BadParameter(str(error), param_hint="OLD=NEW") from error
    done = rewrite.rename(rewriting.read(model), parsed)
    told = rewriting.write(output, done.model, to)
    told["renamed"] = {"nodes": done.nodes, "variables": done.keys}
    if as_json:
        render.document(told)
        return
    changed = done.keys | done.nodes
    for old, new in list(changed.items())[:SHOWN]:
        render.line(f"  {old} -> {new}")
    if len(changed) > SHOWN:
        render.line(f"  ... and {len(changed) - SHOWN} more (--json has them all)")
    nodes, variables = (
        render.counted(len(done.nodes), "node"),
        render.counted(len(done.keys), "stored variable"),
    )
    render.line(f"Renamed {nodes} and {variables}.")
    rewriting.show_written(told)
