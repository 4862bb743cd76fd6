"""What the commands that write another model have in common: where it comes from, and where it goes to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..formats import files
from . import locate, models, options, render

if TYPE_CHECKING:
    from ..formats.rewrite import Model

F = TypeVar("F", bound=Callable[..., Any])

TARGETS = (
    "checkpoint",
    "v1",
    "saved_model",
    "frozen",
    "graph_def",
    "pbtxt",
    "meta",
    "hdf5",
    "keras",
    "npz",
    "safetensors",
)
"""The names of `formats.targets.TARGETS`, which are needed before that is loaded; a test compares."""

output = click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    callback=options.model_output,
    help="What to write: a checkpoint prefix (the graph goes along), DIRECTORY/ (a SavedModel), .meta, .pb, "
    ".pbtxt, .h5, .npz or .safetensors.",
)
to = click.option(
    "--to", type=click.Choice(TARGETS), help="What to write, where the suffix of OUT does not say it."
)


def read(model: str) -> Model:
    """A MODEL argument with its graph, where it has one, and its variables.

    Raises:
        OpError: Nothing is there, or it is damaged.
    """
    from ..formats import protos, registry, rewrite, session_bundle
    from ..formats.errors import DataLossError

    located = models.find(locate.model_or_default(model))
    if located.variables is None:
        models.check_lost(located)
    variables = registry.open_store(located.variables) if located.variables is not None else {}
    if located.graph is None:
        kept = getattr(variables, "meta_graph", None)  # a store may have a graph in it
        graph = protos.parse(protos.MetaGraphDef, kept, located.given) if kept else None
        if graph is not None and not graph.graph_def.node:
            raise DataLossError(f"{located.given} holds a graph without nodes.", path=located.given)
        return rewrite.Model(graph, variables)
    file = models.graph_of(located)
    if not file.meta_graphs:
        made = rewrite.model_of(file.message)
        return rewrite.Model(made.meta_graph, variables, bare=True)
    meta_graph = models.serving_graph(file)
    folder = os.path.join(os.path.split(file.path)[0], "assets")
    assets = {
        tensor: files.contained(folder, name) for tensor, name in session_bundle.assets(meta_graph).items()
    }
    return rewrite.Model(meta_graph, variables, assets=assets)


def read_graph(model: str, checkpoint: str | None = None) -> Model:
    """As `read`, of a model that must have a graph; the variables may be those of another checkpoint.

    Raises:
        MissingFileError: It has none.
    """
    found = read(model)
    if found.meta_graph is None:
        models.graph_of(models.find(model))  # raises
    return found if checkpoint is None else replace(found, variables=read(checkpoint).variables)


def write(
    output: str,
    model: Model,
    to: str | None = None,
    *,
    shards: int = 1,
    outputs: Sequence[str] = (),
    skip: bool = False,
) -> dict[str, Any]:
    """Writes a model, and tells what its target has no place for.

    Returns:
        What `--json` says of it: `output`, `format`, `nodes`, `variables`, `bytes`, and `left_out` where
        there is something.
    """
    from ..formats import targets
    from ..formats.errors import bullets
    from .casts import all_bad

    target = targets.choose(output, model, to)
    problems = targets.refused(target, model)
    left_out = targets.left_out(target, model) | (problems if skip else {})
    kept = [] if not target.variables else [key for key in model.variables if key not in problems]
    entries = [model.variables[key] for key in kept]
    how = targets.Options(shards=shards, outputs=tuple(outputs))
    with render.progress(f"Writing {len(entries)} variables", None), all_bad(entries):
        targets.write(output, model, target.name, how, skip=skip)
    if left_out:
        lines = [f"{name}: {why}" for name, why in left_out.items()]
        render.message(f"Left out:{bullets(lines)}")
    nodes = len(model.meta_graph.graph_def.node) if model.meta_graph is not None and target.graph else 0
    told: dict[str, Any] = {
        "output": output,
        "format": target.name,
        "nodes": nodes,
        "variables": len(entries),
        "bytes": sum(entry.nbytes for entry in entries),
    }
    return told | ({"left_out": left_out} if left_out else {})


def write_onnx(
    output: str, model: Model, outputs: Sequence[str] = (), inputs: Sequence[str] = ()
) -> dict[str, Any]:
    """Writes what computes some tensors of a model as an ONNX model.

    Args:
        output: The file.
        model: A graph with its checkpoint.
        outputs: Tensors to compute; by default those of the signature that serves, else the results.
        inputs: Tensors to feed besides the placeholders; by default, if no outputs are named either, those
            of that signature.

    Returns:
        What `--json` says of it: as of `write`, with `opset`, `inputs`, `outputs` and `fixed`.
    """
    from ..graphcore import onnx

    files.check_writable(output)
    if not outputs:
        named, outputs = onnx.signature(model)
        inputs = inputs or named
    exported = onnx.export(model, outputs, inputs)
    nbytes = exported.write(output)
    if exported.fixed:
        render.message(f"Given their defaults (--input NAME keeps one): {', '.join(exported.fixed)}.")
    if exported.unranked:
        render.message(
            f"Of unknown rank, which onnxruntime takes and not every reader: {', '.join(exported.unranked)}; "
            "`sgtool set-shape` gives them one."
        )
    return {
        "output": output,
        "format": "onnx",
        "nodes": exported.nodes,
        "variables": len(exported.make.constants),
        "bytes": nbytes,
        "opset": onnx.OPSET,
        "inputs": exported.inputs,
        "outputs": exported.outputs,
        "fixed": exported.fixed,
    }


def show_written(told: dict[str, Any]) -> None:
    """One line about what was written."""
    what = [render.counted(told["nodes"], "node")] if told["nodes"] else []
    if told["variables"]:
        kind = "constant" if told["format"] == "onnx" else "variable"
        what.append(f"{render.counted(told['variables'], kind)}, {render.size(told['bytes'])}")
    render.line(f"Wrote {told['output']} ({told['format']}): {', '.join(what) or 'nothing but its form'}.")


def assignments(values: Sequence[str], what: str, example: str) -> dict[str, str]:
    """`NAME=VALUE` words as a dict, split at the first `=`.

    Raises:
        click.BadParameter: One without `=`, or a name that is given twice.
    """
    found: dict[str, str] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise click.BadParameter(f"'{text}': write {what}, as in {example}.")
        if name in found:
            raise click.BadParameter(f"'{name}' is given twice.")
        found[name] = value
    return found
