"""`sgtool inspect`: what is in a file, without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .. import completion, locate, options, render

if TYPE_CHECKING:
    from ...formats.entry import Entry

SHOWN = 40
"""Rows of inputs, outputs and signatures that a table shows; `--json` has all."""
LARGE = 1000
"""Elements up to which `--values` prints all; of more it prints statistics, the first and the last."""
ITEMS = 4
"""Items that are named of each collection."""


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
    "missing" (why the checkpoint beside was not read), "producer": {"graph", "tensorflow",
    "checkpoint", "made_by"}, "min_consumer", "checkpoints": [{"prefix", "step", "in_state",
    "latest"}], "variables": [{"name", "dtype", "shape", "bytes", "trainable", "saved", "key", "parts",
    "slot_of", "variable"}], "inputs": [{"name", "dtype", "shape", "optional", "needed", "label"}],
    "outputs": [{"name", "dtype", "shape", "role", "needs"}], "signatures", "collections", "assets",
    "saver", "ops", "unimplemented_ops", "unlisted_ops", "unlisted_attributes", "unknown_ops",
    "unknown_attributes", "devices", "functions", "function_ops", "nodes", "constants", "about",
    "skipped", "parameters", "bytes"}; keys that do not apply are absent, an unknown dimension is null.
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
        _show_values(details, full)
    else:
        _show(found, details, ops, full)
    _refuse(where, damaged)


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


def _show(found: dict[str, Any], details: dict[str, Any], ops: bool, full: bool) -> None:
    _show_facts(found)
    if ops:
        unknown = found.get("unimplemented_ops", ())
        rows = [
            [op, count, "not implemented" if op in unknown else ""]
            for op, count in found.get("ops", {}).items()
        ]
        render.table("Ops", ["op", "nodes", ""], rows, right=["nodes"])
    _show_details(details, full)
    if not (ops or details):
        _show_contents(found)


def _unimplemented(found: dict[str, Any]) -> list[str]:
    """The ops of a graph and its functions that are neither functions themselves nor run here."""
    from .. import implemented

    return implemented.missing([*found["ops"], *found.get("function_ops", ())], found.get("functions", ()))


def _store(where: str) -> Mapping[str, Entry]:
    from .. import models

    located = models.find(where)
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
        some = f" There are {_shortened(known)}." if known else ""
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


# ---- tables ------------------------------------------------------------------------------------


def _show_facts(found: dict[str, Any]) -> None:
    producer, about = found.get("producer", {}), found.get("about", {})
    tensorflow = f"TensorFlow {producer['tensorflow']}" if "tensorflow" in producer else ""
    if "made_by" in producer:
        tensorflow = producer["made_by"] + (f" (as {tensorflow})" if tensorflow else "")
    made_by = [
        tensorflow,
        f"graph version {producer['graph']}" if "graph" in producer else "",
        f"checkpoint version {producer['checkpoint']}" if "checkpoint" in producer else "",
        f"Keras {about['keras_version']}" if "keras_version" in about else "",
    ]
    variables = found.get("variables", [])
    constants = found.get("constants") or {}
    render.facts(
        [
            ("format", found["format"] + (" (text)" if found.get("text") else "")),
            ("path", found.get("path")),
            ("checkpoint", found.get("prefix")),
            ("chosen", found.get("how")),
            ("not read", found.get("missing")),
            ("made by", ", ".join(filter(None, made_by))),
            (
                "needs",
                f"a reader of graph version {found['min_consumer']}" if "min_consumer" in found else "",
            ),
            ("tags", ", ".join(found.get("tags", []))),
            ("model", _keras_model(about.get("model_config"))),
            (
                "assets",
                _shortened(
                    [
                        one["file"] + ("" if one["present"] else " (missing)")
                        for one in found.get("assets", [])
                    ]
                ),
            ),
            ("nodes", render.count(found["nodes"]) if "nodes" in found else None),
            ("devices", ", ".join(f"{name} ({count})" for name, count in found.get("devices", {}).items())),
            ("functions", _shortened(found.get("functions", []))),
            ("not run here", _shortened(found.get("unimplemented_ops", []))),
            ("not TensorFlow's", _shortened(found.get("unknown_ops", []))),
            ("unknown attributes", _shortened(found.get("unknown_attributes", []))),
            (
                "not in the op list",
                _shortened(found.get("unlisted_ops", []) + found.get("unlisted_attributes", [])),
            ),
            (
                "constants",
                f"{constants['nodes']}, {render.size(constants['bytes'])}"
                if constants.get("nodes")
                else None,
            ),
            ("variables", f"{render.count(len(variables))}, {render.size(found.get('bytes', 0))}"),
            ("parameters", render.count(found.get("parameters", 0)) if variables else None),
        ]
    )


def _keras_model(configuration: Any) -> str:
    """A Keras model's class and layers in one line, or nothing."""
    from ...formats.keras_weights import model_layers

    layers = _shortened([f"{kind} {name}".strip() for kind, name in model_layers(configuration)])
    return f"{configuration.get('class_name', '')}: {layers}" if layers else ""


def _show_contents(found: dict[str, Any]) -> None:
    rows = [[*_tensor_cells(row), _input_mark(row)] for row in found.get("inputs", ())]
    _limited("Inputs", ["tensor", "dtype", "shape", ""], rows)
    rows = [
        [*_tensor_cells(row), row["role"], _shortened(row.get("needs", []))]
        for row in found.get("outputs", ())
    ]
    _limited("Outputs", ["tensor", "dtype", "shape", "role", "needs"], rows)
    rows = [
        [name, direction, key, _info_name(info["name"]), info["dtype"] or "?", render.shape(info["shape"])]
        for name, signature in found.get("signatures", {}).items()
        for direction in ("inputs", "outputs")
        for key, info in signature[direction].items()
    ]
    rows = [[name, direction.removesuffix("s"), *rest] for name, direction, *rest in rows]
    _limited("Signatures", ["signature", "", "key", "tensor", "dtype", "shape"], rows)
    variables = found.get("variables", [])
    _show_variables("Variables", [row for row in variables if "slot_of" not in row])
    _show_variables("Optimizer slots", [row for row in variables if "slot_of" in row])
    collections = [
        [key, len(items), ", ".join(map(str, items[:ITEMS])) + (", ..." if len(items) > ITEMS else "")]
        for key, items in found.get("collections", {}).items()
    ]
    if collections:
        render.table("Collections", ["collection", "items", ""], collections, right=["items"])
    skipped = list(found.get("skipped", {}).items())
    if skipped:
        render.table("Not tensors", ["name", "why"], skipped)
    checkpoints = found.get("checkpoints", [])
    if len(checkpoints) > 1:
        rows = [[row["prefix"], row.get("step"), _checkpoint_mark(row)] for row in checkpoints]
        render.table("Complete checkpoints here", ["prefix", "step", "state file"], rows, right=["step"])


def _tensor_cells(row: dict[str, Any]) -> list[str]:
    return [row["name"], row["dtype"] or "?", render.shape(row["shape"])]


def _input_mark(row: dict[str, Any]) -> str:
    marks = ["optional" if row.get("optional") else "", "label" if row.get("label") else ""]
    marks.append("no output needs it" if row.get("needed") is False else "")
    return ", ".join(filter(None, marks))


def _checkpoint_mark(row: dict[str, Any]) -> str:
    return "latest" if row["latest"] else "yes" if row["in_state"] else "no"


def _show_variables(title: str, variables: list[dict[str, Any]]) -> None:
    if not variables:
        return
    marks = [
        key for key in ("parts", "trainable", "saved", "slot_of") if any(key in row for row in variables)
    ]
    rows = [
        [
            row["name"],
            row["dtype"] or "?",
            render.shape(row["shape"]),
            row["bytes"],
            *(_mark(row.get(key)) for key in marks),
        ]
        for row in variables
    ]
    heads = [{"slot_of": "of"}.get(key, key) for key in marks]
    render.table(title, ["variable", "dtype", "shape", "bytes", *heads], rows, right=["bytes", "parts"])


def _mark(value: Any) -> str:
    return (
        "" if value is None else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    )


def _show_details(details: dict[str, Any], full: bool) -> None:
    if "tensors" in details:
        rows = [
            [row["name"], row["dtype"] or "?", render.shape(row["shape"]), row.get("op") or row.get("stored")]
            for row in details["tensors"]
        ]
        render.table("Tensors", ["tensor", "dtype", "shape", "from"], rows)
    if "graph" in details:
        rows = [[row["name"], row["op"], " ".join(row["inputs"])] for row in details["graph"]]
        render.table("Nodes", ["node", "op", "inputs"], rows)
    if "stats" in details:
        _show_stats(details["stats"])
    if "values" in details:
        _show_values(details, full)


def _show_stats(stats: dict[str, dict[str, Any]]) -> None:
    columns = ["size", "min", "max", "mean", "std", "zeros", "nan", "inf"]
    rows = [
        [name, *(["damaged"] if "damaged" in each else [_number(each.get(column)) for column in columns])]
        for name, each in stats.items()
    ]
    width = len(columns) + 1
    rows = [row + [""] * (width - len(row)) for row in rows]
    render.table("Statistics", ["variable", *columns], rows, right=columns)


def _show_values(details: dict[str, Any], full: bool) -> None:
    from ...formats.statistics import statistics
    from .. import outputs

    large = {}
    for name, value in details["values"].items():
        limit = max(value.size, 1) if full else LARGE
        outputs.show(name, value, limit, details["value_types"][name]["dtype"])
        if value.size > limit:
            large[name] = statistics(value)
    if large:
        _show_stats(large)


def _limited(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    if not rows:
        return
    render.table(title, columns, rows[:SHOWN])
    if len(rows) > SHOWN:
        render.line(f"  ... and {len(rows) - SHOWN} more (--json has them all)")


def _shortened(names: Sequence[str]) -> str:
    return ", ".join(names[:ITEMS]) + (f" and {len(names) - ITEMS} more" if len(names) > ITEMS else "")


def _info_name(name: str | list[str]) -> str:
    return name if isinstance(name, str) else " ".join(name)


def _number(value: Any) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.6g}"
