"""`sgtool inspect`: what is in a file, without running anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .. import completion, contents, locate, options, render

if TYPE_CHECKING:
    from ...formats.entry import Entry
    from ...formats.errors import OpError


_CHECKPOINTS = frozenset(("checkpoint", "v1 checkpoint", "meta_graph_def", "saved_model"))
"""Formats of which one file may be damaged and the values in another are whole."""


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
    "optional", "needed", "label", "inner"}], "outputs": [{"name", "dtype", "shape", "role", "needs"}],
    "signatures", "collections", "assets", "saver", "ops", "unimplemented_ops", "unlisted_ops",
    "unlisted_attributes", "unknown_ops", "unknown_attributes", "devices", "functions", "function_ops",
    "nodes", "constants", "about", "skipped", "damaged", "unreadable", "causes", "parameters", "bytes"}; keys
    that do not apply are absent, an unknown dimension is null.
    "slot_of" is null for a count that belongs to no variable; "role" is "named" (by the file), "result",
    "loss" or "other"; an "inner" input is fed in place of what the graph computes or reads. --tensors,
    --graph, --values and --stats add "tensors", "graph", "values" (with "value_types": {name: {"dtype",
    "shape"}}) and "stats": {name: {"size", "min", "max", "mean", "std", "zeros", "nan", "inf"}}, of
    complex numbers those of absolute values, or {"damaged": why}.

    What is damaged is told beside what is not, and the exit code is 4; 7 where files cannot be read (no
    permission, a failing disk) and none is known to be damaged.
    """
    from ...formats import summary

    if full and not values:
        raise click.UsageError("--full is about the tensors of --values; name them.")
    where = locate.model_or_default(path)
    details: dict[str, Any] = {}
    damaged: dict[str, OpError] = {}
    if tensors:
        details["tensors"] = _tensors(where)
    if graph:
        details["graph"] = _nodes(where)
    if values:
        read, damaged = _values(where, values)
        details |= read
    if stats:
        details["stats"], unread = _stats(where, values)
        damaged |= unread
    found = summary.summarise(where)
    if "ops" in found:
        found["unimplemented_ops"] = _unimplemented(found)
    if as_json:
        render.document(found | details)
    elif values and not (tensors or ops or graph or stats):
        contents.show_values(details, full)
    else:
        contents.show(found, details, ops, full)
    unopened = found.get("damaged", {})
    refused = found.get("unreadable", {})
    if values and not (tensors or ops or graph or stats) and found["format"] in _CHECKPOINTS:
        for why in (unopened | refused).values():  # of a checkpoint: the values asked for are there
            render.message(f"Warning: {why}")
        unopened = refused = {}
    _refuse(where, unopened, refused, damaged, found.get("causes", ()))


# ---- what was asked for ------------------------------------------------------------------------


def _refuse(
    where: str,
    unopened: dict[str, str],
    refused: dict[str, str],
    unread: dict[str, OpError],
    causes: Sequence[str],
) -> None:
    """Ends with the exit code of what is wrong, after all that is intact was shown.

    Args:
        where: The file.
        unopened: What is damaged and cannot be opened, and why.
        refused: What the system does not give, and why.
        unread: The errors of what cannot be read.
        causes: What seems to have happened.

    Raises:
        DataLossError: Something is damaged; lists it all.
        UnavailableError: Nothing is known to be damaged, but files were not given.
        OpError: What is wrong, where it is only one thing.
    """
    from ...formats.errors import DataLossError, UnavailableError, bullets

    if refused and not (unopened or unread):
        why = "; ".join(refused.values())
        raise UnavailableError(f"This is not all of {where}. {why}", path=where, unreadable=list(refused))
    unopened = unopened | refused
    told = unopened | {name: str(error) for name, error in unread.items()}
    if len(told) == 1 and unread:
        raise next(iter(unread.values()))
    if told:
        raise DataLossError(
            f"{where} is damaged; of these there is nothing to show:{bullets(list(told.values()))}\n"
            + "".join(f"{cause}\n" for cause in causes)
            + "`sgtool verify --salvage OUT` writes what is intact.",
            path=where,
            names=list(told),
        )


def _unimplemented(found: dict[str, Any]) -> list[str]:
    """The ops of a graph and its functions that are neither functions themselves nor run here."""
    from .. import implemented

    return implemented.missing([*found["ops"], *found.get("function_ops", ())], found.get("functions", ()))


def _store(where: str) -> Mapping[str, Entry]:
    from ...formats import checkpoint_state, files, intact, registry
    from .. import models

    located = models.find(where)
    if not located.variables:
        return {}
    store: Mapping[str, Entry] | None = None
    if located.is_checkpoint:
        store, _, _ = intact.open_what_is_intact(checkpoint_state.resolve_prefix(located.variables))
    elif files.is_file(located.variables):
        store = intact.read_what_is_intact(located.variables, registry.detect(located.variables))
    return models.variables_of(located) if store is None else store


def _graph_defs(where: str, shown: bool = False) -> list[tuple[Any, dict[str, Any]]]:
    """The GraphDef of a model, if it has one, with the OpDefs that its file carries.

    Args:
        where: The model.
        shown: It is for a list beside the summary, which says what is wrong with the graph of a checkpoint.
    """
    from ...formats.errors import DataLossError
    from .. import models

    located = models.find(where)
    if located.graph is None:
        return []
    try:
        file = models.graph_of(located)
    except DataLossError:
        if shown and located.is_checkpoint:
            return []
        raise
    if not file.meta_graphs:
        return [(file.message, {})]
    meta_graph = models.serving_graph(file)
    return [(meta_graph.graph_def, {op.name: op for op in meta_graph.meta_info_def.stripped_op_list.op})]


def _tensors(where: str) -> list[dict[str, Any]]:
    from ...formats.errors import DataLossError
    from ...formats.graph_facts import output_rows

    try:
        store = _store(where)
    except DataLossError:  # of a checkpoint with a graph: the summary says why
        if not _graph_defs(where, shown=True):
            raise
        store = {}
    rows = [
        {
            "name": e.name,
            "dtype": e.dtype.name,
            "shape": list(e.shape),
            "bytes": e.nbytes,
            "stored": e.location,
        }
        for e in store.values()
    ]
    for graph_def, op_defs in _graph_defs(where, shown=True):
        for node in graph_def.node:
            rows += [row | {"op": node.op} for row in output_rows(node, op_defs.get(node.op))]
    return rows


def _nodes(where: str) -> list[dict[str, Any]]:
    return [
        {"name": node.name, "op": node.op, "inputs": list(node.input), "device": node.device}
        for graph_def, _ in _graph_defs(where, shown=True)
        for node in graph_def.node
    ]


def _sources(where: str, names: Sequence[str]) -> dict[str, Callable[[], Entry]]:
    """What opens each of the named stored tensors or constants.

    Without names it is every stored tensor; in a graph without a checkpoint every constant but scalars.

    Raises:
        MissingNameError: Some are neither; all of them, with the nearest names.
    """
    from ...formats.errors import MissingNameError, bullets, did_you_mean
    from .. import models

    store = _store(where)
    plain = {name: name if name in store else name.removesuffix(":0") for name in names}
    rest = set(plain.values()) - set(store)
    nodes = _constants(where) if rest or not (names or store) else {}
    if not names:
        weights = {name: node for name, node in nodes.items() if node.attr["value"].tensor.tensor_shape.dim}
        plain = {name: name for name in (store or weights)}
    missing = sorted(name for name in plain.values() if name not in store and name not in nodes)
    if missing:
        models.check_lost(models.find(where))
        known = [*store, *nodes]
        some = f" There are {contents.shortened(known)}." if known else ""
        skipped = getattr(store, "skipped", {})
        lines = [
            f"'{name}'."
            + (
                f" It is there, but {skipped[name]}."
                if name in skipped
                else did_you_mean(name, known) or some
            )
            for name in missing
        ]
        raise MissingNameError(f"{where} stores no values of:{bullets(lines)}", names=missing)
    return {
        name: partial(store.__getitem__, key) if key in store else partial(_constant, nodes[key], where)
        for name, key in plain.items()
    }


def _constants(where: str) -> dict[str, Any]:
    return {n.name: n for graph_def, _ in _graph_defs(where) for n in graph_def.node if n.op == "Const"}


def _constant(node: Any, where: str) -> Entry:
    """A Const node as what is stored.

    Raises:
        DataLossError: Its value does not fit its shape.
    """
    from ...formats import dtypes
    from ...formats.entry import entry_of
    from ...formats.errors import DataLossError, InvalidArgumentError, ResourceExhaustedError
    from ...formats.tensor_proto import to_array

    tensor = node.attr["value"].tensor
    try:
        array = to_array(tensor, f"{where}: the constant '{node.name}'")
        return entry_of(node.name, array, dtypes.from_number(tensor.dtype))
    except (InvalidArgumentError, ResourceExhaustedError) as error:
        raise DataLossError(str(error), **error.fields, path=where, node=node.name) from error


def _values(where: str, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, OpError]]:
    """`values` and `value_types` of the named tensors, and the errors of those that are damaged."""
    from ...formats.errors import OpError

    values: dict[str, Any] = {}
    types: dict[str, Any] = {}
    damaged: dict[str, OpError] = {}
    for name, source in _sources(where, names).items():
        try:
            entry = source()
            values[name] = entry.read()
            types[name] = {"dtype": entry.dtype.name, "shape": list(entry.shape)}
        except OpError as error:
            damaged[name] = error
    return {"values": values, "value_types": types}, damaged


def _stats(where: str, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, OpError]]:
    """Statistics of each of `_sources`, read once and in pieces, and the errors of those that are damaged."""
    from ...formats.errors import OpError
    from ...formats.statistics import statistics

    store = _store(where)
    found: dict[str, dict[str, Any]] = {}
    damaged: dict[str, OpError] = {}
    for name, source in _sources(where, names).items():
        try:
            found[name] = statistics(_pieces(source(), store))
        except OpError as error:
            damaged[name] = error
            found[name] = {"damaged": str(error)}
    return found, damaged


def _pieces(entry: Entry, store: Mapping[str, Entry]) -> Iterator[Any]:
    """The values of a tensor; of a partitioned one in a checkpoint part by part."""
    parts = store.parts(entry.name) if hasattr(store, "parts") and entry.name in store else [entry]
    for part in parts:
        yield from part.read_pieces()
