"""`sgtool inspect`: what is in a file, without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .. import completion, contents, locate, options, render

if TYPE_CHECKING:
    from ...formats.entry import Entry


@options.command
@click.argument("path", required=False)
@click.option("--tensors", is_flag=True, help="Every tensor: stored ones, and the outputs of every node.")
@click.option("--ops", is_flag=True, help="How often each op occurs; marks those that cannot be run here.")
@click.option("--graph", is_flag=True, help="Every node with its op and inputs.")
@click.option(
    "--values",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.variables,
    help="The values of a stored tensor, or of a constant of the graph; of a large one statistics and "
    "the first and last, with --full or --json all. Repeatable.",
)
@click.option("--full", is_flag=True, help="With --values: every element, of large tensors, too.")
@click.option(
    "--stats",
    is_flag=True,
    help="Least, greatest, mean, deviation, zeros and NaNs of stored tensors, or of a graph's constants.",
)
@options.as_json
def command(
    path: str | None,
    tensors: bool,
    ops: bool,
    graph: bool,
    values: tuple[str, ...],
    full: bool,
    stats: bool,
    as_json: bool,
) -> None:
    """Show what is in PATH: a model, a checkpoint in any form of its name, a graph file or a store.

    Without PATH it is $SGTOOL_MODEL, else the checkpoint or only model of the current directory.

    Examples:
      sgtool inspect model.ckpt-1000              a checkpoint and the graph beside it
      sgtool inspect model.ckpt-1000.meta --ops   which ops the graph is made of
      sgtool inspect frozen.pb --graph            every node
      sgtool inspect weights.h5 --values dense/kernel
      sgtool inspect --json | jq -r '.variables[].name'

    Outputs are those of signatures and of the collection `outputs`, then guesses from the nodes, the
    likeliest first: results, losses and metrics (what labels are compared in), others; of each output it
    is told which inputs it needs. Optimizer slots stand apart, by the graph's Apply operations or by their
    names. "Not run here" are ops that `sgtool run` has no kernel for; "not in the op list" compares with
    the list that the file itself carries, "not TensorFlow's" and "unknown attributes" with TensorFlow's.

    --json gives {"format", "path", "how" (it was chosen), "prefix", "text", "tags", "meta_graphs",
    "missing" (why the checkpoint beside was not read), "missing_files" (of so many "data_files"),
    "producer": {"graph", "tensorflow", "checkpoint", "made_by"}, "min_consumer", "checkpoints":
    [{"prefix", "step", "in_state", "latest"}], "variables": [{"name", "dtype", "shape", "bytes",
    "trainable", "saved", "key", "parts", "slot_of", "variable"}], "inputs": [{"name", "dtype", "shape",
    "optional", "needed", "label"}], "outputs": [{"name", "dtype", "shape", "role", "needs"}],
    "signatures", "collections", "assets", "saver", "ops", "unimplemented_ops", "unlisted_ops",
    "unlisted_attributes", "unknown_ops", "unknown_attributes", "devices", "functions", "function_ops",
    "nodes", "constants", "about", "skipped", "damaged", "parameters", "bytes"}; keys that do not apply
    are absent, an unknown dimension is null.
    "slot_of" is null for a count that belongs to no variable; "role" is "named" (by the file), "result",
    "loss" or "other". --tensors, --graph, --values and --stats add "tensors", "graph", "values" (with
    "value_types": {name: {"dtype", "shape"}}) and "stats": {name: {"size", "min", "max", "mean", "std",
    "zeros", "nan", "inf"}}, of complex numbers those of the absolute values, or {"damaged": why}.

    What is damaged is told beside what is not, and the exit code is 4.
    """
    from ...formats import summary

    if full and not values:
        raise click.UsageError("--full is about the tensors of --values; name them.")
    where = locate.model_or_default(path)
    details: dict[str, Any] = {}
    damaged: dict[str, str] = {}
    if tensors:
        details["tensors"] = _tensors(where)
    if graph:
        details["graph"] = _nodes(where)
    if values:
        found_values = _values(where, values)
        details["values"] = {name: array for name, (array, _) in found_values.items()}
        details["value_types"] = {
            name: {"dtype": dtype, "shape": list(array.shape)}
            for name, (array, dtype) in found_values.items()
        }
    if stats:
        details["stats"], damaged = _stats(where, values)
    found = summary.summarise(where)
    if "ops" in found:
        found["unimplemented_ops"] = _unimplemented(found)
    if as_json:
        render.document(found | details)
    elif values and not (tensors or ops or graph or stats):
        contents.show_values(details, full)
    else:
        contents.show(found, details, ops, full)
    _refuse(where, found.get("damaged", {}) | damaged)


# ---- what was asked for ------------------------------------------------------------------------


def _refuse(where: str, damaged: dict[str, str]) -> None:
    """Ends with the exit code of damage, after all that is intact was shown.

    Raises:
        DataLossError: Something is damaged; lists it all.
    """
    from ...formats.errors import DataLossError, bullets

    if damaged:
        raise DataLossError(
            f"{where} is damaged; of these there is nothing to show:{bullets(list(damaged.values()))}\n"
            "`sgtool verify --salvage OUT` writes what is intact.",
            path=where,
            names=list(damaged),
        )


def _unimplemented(found: dict[str, Any]) -> list[str]:
    """The ops of a graph and its functions that are neither functions themselves nor run here."""
    from .. import implemented

    return implemented.missing([*found["ops"], *found.get("function_ops", ())], found.get("functions", ()))


def _store(where: str) -> Mapping[str, Entry]:
    from ...formats import files, registry, summary
    from .. import models

    located = models.find(where)
    if located.variables and not located.is_checkpoint and files.is_file(located.variables):
        intact: Mapping[str, Entry] = summary.read_what_is_intact(
            located.variables, registry.detect(located.variables)
        )
        return intact
    return models.variables_of(located) if located.variables else {}


def _graph_defs(where: str) -> list[tuple[Any, dict[str, Any]]]:
    """The GraphDef of a model, if it has one, with the OpDefs that its file carries."""
    from .. import models

    located = models.find(where)
    if located.graph is None:
        return []
    file = models.graph_of(located)
    if not file.meta_graphs:
        return [(file.message, {})]
    meta_graph = models.serving_graph(file)
    return [(meta_graph.graph_def, {op.name: op for op in meta_graph.meta_info_def.stripped_op_list.op})]


def _tensors(where: str) -> list[dict[str, Any]]:
    from ...formats.graph_facts import output_rows

    rows = [
        {
            "name": e.name,
            "dtype": e.dtype.name,
            "shape": list(e.shape),
            "bytes": e.nbytes,
            "stored": e.location,
        }
        for e in _store(where).values()
    ]
    for graph_def, op_defs in _graph_defs(where):
        for node in graph_def.node:
            rows += [row | {"op": node.op} for row in output_rows(node, op_defs.get(node.op))]
    return rows


def _nodes(where: str) -> list[dict[str, Any]]:
    return [
        {"name": node.name, "op": node.op, "inputs": list(node.input), "device": node.device}
        for graph_def, _ in _graph_defs(where)
        for node in graph_def.node
    ]


def _values(where: str, names: Sequence[str]) -> dict[str, tuple[Any, str]]:
    """The arrays of the named stored tensors or constants, each with the name of its dtype.

    Raises:
        MissingNameError: Some are neither; all of them, with the nearest names.
    """
    from ...formats.errors import MissingNameError, bullets, did_you_mean

    store = _store(where)
    plain = {name: name if name in store else name.removesuffix(":0") for name in names}
    rest = set(plain.values()) - set(store)
    constants = _constants(where) if rest else {}
    missing = sorted(name for name in rest if name not in store and name not in constants)
    if missing:
        known = [*store, *constants]
        some = f" There are {contents.shortened(known)}." if known else ""
        lines = [f"'{name}'.{did_you_mean(name, known) or some}" for name in missing]
        raise MissingNameError(f"{where} stores no values of:{bullets(lines)}", names=missing)
    return {
        name: (store[key].read(), store[key].dtype.name) if key in store else _constant(constants[key], where)
        for name, key in plain.items()
    }


def _constants(where: str) -> dict[str, Any]:
    return {n.name: n for graph_def, _ in _graph_defs(where) for n in graph_def.node if n.op == "Const"}


def _constant(node: Any, where: str) -> tuple[Any, str]:
    """The array of a Const node, and the name of its dtype.

    Raises:
        DataLossError: Its value does not fit its shape.
    """
    from ...formats import dtypes
    from ...formats.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError
    from ...formats.tensor_proto import to_array

    tensor = node.attr["value"].tensor
    try:
        return to_array(tensor, f"{where}: the constant '{node.name}'"), dtypes.name_of(tensor.dtype)
    except (InvalidArgumentError, ResourceExhaustedError) as error:
        raise DataLossError(str(error), **error.fields, path=where, node=node.name) from error


def _stats(where: str, names: Sequence[str]) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Statistics of the named arrays, else of every stored tensor, else of the constants that are no scalars.

    Each is read once, in pieces where the format can; what is damaged is told beside the others.
    """
    from ...formats.errors import OpError
    from ...formats.statistics import statistics

    if names:
        return {name: statistics(array) for name, (array, _) in _values(where, names).items()}, {}
    sources: dict[str, Any] = {
        name: partial(_pieces, store, name) for store in [_store(where)] for name in store
    }
    if not sources:
        sources = {
            name: partial(_constant_pieces, node, where)
            for name, node in _constants(where).items()
            if node.attr["value"].tensor.tensor_shape.dim
        }
    found: dict[str, dict[str, Any]] = {}
    damaged: dict[str, str] = {}
    for name, pieces in sources.items():
        try:
            found[name] = statistics(pieces())
        except OpError as error:
            damaged[name] = str(error)
            found[name] = {"damaged": str(error)}
    return found, damaged


def _pieces(store: Mapping[str, Entry], name: str) -> Iterator[Any]:
    """The values of a stored tensor, of a partitioned one part by part."""
    parts = store.parts(name) if hasattr(store, "parts") else [store[name]]
    for entry in parts:
        yield from entry.read_pieces()


def _constant_pieces(node: Any, where: str) -> Iterator[Any]:
    yield _constant(node, where)[0]
