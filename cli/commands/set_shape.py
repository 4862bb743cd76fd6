"""`sgtool set-shape`: other static shapes for the placeholders of a model."""

from __future__ import annotations

import json
from typing import Any

import click

from .. import completion, options, render, rewriting


@options.command
@click.argument("model")
@click.argument("shapes", nargs=-1, required=True, metavar="NAME=SHAPE...", shell_complete=completion.feeds)
@rewriting.output
@rewriting.to
@options.as_json
def command(model: str, shapes: tuple[str, ...], output: str, to: str | None, as_json: bool) -> None:
    """Write MODEL with other shapes for its placeholders, another batch size for instance.

    A SHAPE is a list of numbers, null or ? for a dimension that is left open; ? alone is an unknown
    rank. Shapes that the graph recorded for what follows (_output_shapes, outputs of signatures) are
    dropped, since they may be wrong now. A shape that the graph contradicts is refused.

    Examples:
      sgtool set-shape frozen.pb 'x:0=[1, 224, 224, 3]' -o single.pb
      sgtool set-shape model.ckpt-1000 'x:0=[?, 784]' 'y:0=[?]' -o any_batch

    --json gives {"output", "format", "nodes", "variables", "bytes", "shapes": {tensor: {"before", "after"}},
    "dropped": nodes whose recorded shapes went}; a shape is a list with null for what is open, or null.
    """
    from ...formats import rewrite

    words = rewriting.assignments(shapes, "NAME=SHAPE", "'x:0=[?, 784]'")
    wanted = {name: _shape(text) for name, text in words.items()}
    done = rewrite.set_shape(rewriting.read_graph(model), wanted)
    _check(done.model)
    told = rewriting.write(output, done.model, to)
    after = {name if ":" in name else f"{name}:0": shape for name, shape in wanted.items()}
    told |= {
        "shapes": {name: {"before": before, "after": after[name]} for name, before in done.before.items()},
        "dropped": done.dropped,
    }
    if as_json:
        render.document(told)
        return
    for name, before in done.before.items():
        render.line(f"{name}: {render.shape(before)} -> {render.shape(after[name])}")
    rewriting.show_written(told)


def _shape(text: str) -> list[int | None] | None:
    """`[?, 784]`, `[null, 784]`, `?,784` as a list; `?` as None."""
    if text.strip() == "?":
        return None
    words = text.strip()
    words = words if words.startswith("[") else f"[{words}]"
    try:
        dims = json.loads(words.replace("?", "null"))
    except ValueError:
        dims = None
    sizes = dims if isinstance(dims, list) else [""]
    if any(not (one is None or (type(one) is int and one >= -1)) for one in sizes):
        raise click.BadParameter(f"'{text}' is not a shape, which reads like [?, 784] or [32, 10].")
    return [None if one is None or one == -1 else int(one) for one in sizes]


def _check(model: Any) -> None:
    """Raises InvalidValueError where what follows contradicts the shapes, as far as its ops are known."""
    from ... import graphcore as tf
    from ...formats.errors import InvalidValueError, OpError, UnimplementedError

    with tf.Graph().as_default() as graph:
        tf.import_graph_def(model.meta_graph.graph_def, name="")
        try:
            for operation in graph.get_operations():
                [tensor.shape for tensor in operation.outputs]
        except UnimplementedError:
            return
        except (OpError, ValueError) as error:
            raise InvalidValueError(
                f"The graph contradicts these shapes: {error}", **getattr(error, "fields", {})
            ) from error
