"""`sgtool diff`: what differs between two models."""

from __future__ import annotations

from typing import Any

import click

from .. import exit_codes, options, render, rewriting

SHOWN = 40
"""Lines of each kind that are shown; `--json` has all."""


@options.command
@click.argument("model", metavar="A")
@click.argument("other", metavar="B")
@click.option("--graph", "what", flag_value="graph", help="Compare the graphs alone.")
@click.option("--variables", "what", flag_value="variables", help="Compare the variables alone.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.0,
    metavar="NUMBER",
    help="Values that differ by no more than this are equal.",
)
@options.as_json
def command(model: str, other: str, what: str | None, tolerance: float, as_json: bool) -> int:
    """Compare A and B: nodes, functions, collections, signatures, and variables with their values.

    What is only in B is added, what is only in A removed. The exit code is 0 where nothing differs, and
    1 where something does. Two graphs are compared where both have one, variables where either has some.

    Examples:
      sgtool diff model.ckpt-1000 model.ckpt-2000 --variables
      sgtool diff model.ckpt-1000 weights.h5 --tolerance 1e-6
      sgtool diff old.pb new.pb --json | jq '.nodes.changed'

    --json gives {"equal", "compared": ["graph", "variables"], and for each of "nodes", "functions",
    "collections", "signatures", "variables": {"added": [names], "removed": [names], "changed": {name: what}},
    "unchanged": number of equal variables}. Of a variable that is {"dtype": [a, b]}, {"shape": [a, b]} or
    {"elements" (that differ), "size", "largest", "relative"}; of others lines of text.
    """
    from ...formats import rewrite
    from ...formats.errors import InvalidValueError

    first, second = rewriting.read(model), rewriting.read(other)
    found = rewrite.difference(
        first, second, tolerance=tolerance, graph=what != "variables", variables=what != "graph"
    )
    if not found.compared:
        kinds = "graph" if what == "graph" else "graph or variables" if what is None else "variables"
        raise InvalidValueError(f"{model} and {other} have nothing in common to compare: no {kinds}.")
    with exit_codes.outliving_reader():
        if as_json:
            kinds_found = {kind: changes.as_json() for kind, changes in found.kinds().items()}
            document: dict[str, Any] = {"equal": not found, "compared": found.compared}
            render.document(document | kinds_found | {"unchanged": found.equal})
        else:
            _show(found)
    return exit_codes.ANSWER_IS_NO if found else exit_codes.OK


def _show(found: Any) -> None:
    for kind, changes in found.kinds().items():
        if not changes:
            continue
        numbers = [(len(getattr(changes, one)), one) for one in ("added", "removed", "changed")]
        render.line(f"{kind}: {', '.join(f'{number} {one}' for number, one in numbers if number)}")
        lines = [f"  + {name}" for name in changes.added] + [f"  - {name}" for name in changes.removed]
        changed = sorted(changes.changed.items(), key=lambda pair: _rank(pair[1]))
        lines += [f"  ~ {name}: {_told(what)}" for name, what in changed]
        for line in lines[:SHOWN]:
            render.line(line)
        if len(lines) > SHOWN:
            render.line(f"  ... and {len(lines) - SHOWN} more (--json has them all)")
    if "variables" in found.compared:
        render.line(f"{render.counted(found.equal, 'variable')} equal.")
    if not found:
        render.line(f"No difference ({' and '.join(found.compared)} compared).")


def _rank(what: Any) -> float:
    """The largest differences of values first, behind those of dtype and shape."""
    return -float(what["largest"]) if isinstance(what, dict) and "largest" in what else -float("inf")


def _told(what: Any) -> str:
    if isinstance(what, list):
        return "; ".join(what[:4]) + (f"; and {len(what) - 4} more" if len(what) > 4 else "")
    if "dtype" in what:
        return " -> ".join(what["dtype"])
    if "shape" in what:
        return " -> ".join(render.shape(one) for one in what["shape"])
    text = f"{render.count(what['elements'])} of {render.count(what['size'])} values"
    return text + (
        f", by up to {what['largest']:.6g} ({what['relative']:.2g} of the largest)"
        if "largest" in what
        else ""
    )
