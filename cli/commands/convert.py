"""`sgtool convert`: any model or store that is read, as any that is written."""

from __future__ import annotations

import click

from .. import completion, options, render, rewriting


@options.command
@click.argument("model", metavar="IN")
@click.argument("output", metavar="OUT", callback=options.converted_output)
@click.option(
    "--to",
    type=click.Choice((*rewriting.TARGETS, "onnx")),
    help="What to write, where the suffix of OUT does not say it.",
)
@click.option("--shards", type=click.IntRange(1), default=1, help="Data files of a checkpoint.")
@click.option(
    "--fetch",
    "fetches",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.tensors,
    help="What a frozen graph or ONNX model computes, and the signature of a SavedModel; by default what IN "
    "calls its results. Repeatable.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.tensors,
    help="A tensor that an ONNX model is fed besides placeholders; what computes it is left out. Repeatable.",
)
@options.checkpoint
@click.option("--skip", is_flag=True, help="Leave out entries that OUT cannot hold, instead of refusing.")
@options.as_json
def command(
    model: str,
    output: str,
    to: str | None,
    shards: int,
    fetches: tuple[str, ...],
    inputs: tuple[str, ...],
    checkpoint: str | None,
    skip: bool,
    as_json: bool,
) -> None:
    r"""Write the model or store IN as OUT, graph and variables, one variable at a time.

    What OUT is its suffix says, else --to:

    \b
      checkpoint   PREFIX                with PREFIX.meta
      v1           a first-generation checkpoint
      saved_model  DIRECTORY/            graph, variables and assets
      frozen       .pb                   a graph with constants for variables
      graph_def    .pb                   a graph that has none
      pbtxt        .pbtxt                a graph as text
      meta         .meta                 a graph with its collections
      hdf5         .h5, .hdf5            variables, and the graph in it
      keras        .weights.h5           variables by layers, as Keras reads them
      npz          .npz                  variables, and the graph in it
      safetensors  .safetensors          variables, and the graph in it
      onnx         .onnx                 what computes the fetches, in ONNX's operators

    Entries that OUT cannot hold (of a dtype that it lacks) are all listed before anything is written; so are
    nodes that ONNX cannot express. An ONNX model's inputs and outputs have the tensors' names; images go
    through it with channels first, and in and out as the graph has them. It needs the extra `onnx`.

    Examples:
      sgtool convert model.ckpt-1000 weights.h5
      sgtool convert weights.h5 restored --shards 2
      sgtool convert old_checkpoint new_checkpoint
      sgtool convert model.ckpt-1000 frozen.pb --fetch probabilities:0
      sgtool convert model.ckpt-1000 serving/1/
      sgtool convert model.meta model.pbtxt
      sgtool convert graph.pbtxt --checkpoint model.ckpt-1000 serving/1/
      sgtool convert model.ckpt-1000 model.onnx --fetch probabilities:0

    --json gives {"output", "format", "nodes", "variables", "bytes", "left_out": {what: why}}; the last is
    absent where nothing was left out. Of an ONNX model also {"opset", "inputs", "outputs", "fixed"}, the
    names of tensors; `fixed` are placeholders that were given their default.
    """
    if to == "onnx" or (to is None and output.endswith(".onnx")):
        told = rewriting.write_onnx(output, rewriting.read_graph(model, checkpoint), fetches, inputs)
        if as_json:
            render.document(told)
        else:
            rewriting.show_written(told)
        return
    if inputs:
        raise click.UsageError("--input is for ONNX models; `sgtool extract` cuts a graph.")
    given = rewriting.read(model) if checkpoint is None else rewriting.read_graph(model, checkpoint)
    told = rewriting.write(output, given, to, shards=shards, outputs=fetches, skip=skip)
    if as_json:
        render.document(told)
    else:
        rewriting.show_written(told)
