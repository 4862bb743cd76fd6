"""`sgtool inspect`: what is in a file, without running anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from .. import completion, locate, options, render

if TYPE_CHECKING:
    from ...formats.entry import Entry

SHOWN = 40
"""Rows of inputs, outputs and signatures that a table shows; `--json` has all."""
ITEMS = 4
"""Items that are named of each collection."""


@options.command
@click.argument("path", required=False)
@click.option("--tensors", is_flag=True, help="Every tensor: stored ones, and the outputs of every node.")
@click.option("--ops", is_flag=True, help="How often each op occurs.")
@click.option("--graph", is_flag=True, help="Every node with its op and inputs.")
@click.option(
    "--values",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.variables,
    help="The values of a stored tensor, or of a constant of the graph. Repeatable.",
)
@click.option("--stats", is_flag=True, help="Least, greatest, mean and NaN count of stored tensors.")
@options.as_json
def command(
    path: str | None,
    tensors: bool,
    ops: bool,
    graph: bool,
    values: tuple[str, ...],
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

    --json gives {"format", "path", "prefix", "producer", "variables": [{"name", "dtype", "shape",
    "bytes", "trainable", "saved"}], "inputs", "outputs", "signatures", "collections", "saver", "ops",
    "nodes", "constants", "parameters", "bytes"}; keys that do not apply are absent, an unknown
    dimension is null. --tensors, --graph, --values and --stats add "tensors", "graph", "values" and
    "stats".
    """
    from ...formats import summary

    where = locate.model_or_default(path)
    details: dict[str, Any] = {}
    if tensors:
        details["tensors"] = _tensors(where)
    if graph:
        details["graph"] = _nodes(where)
    if values:
        details["values"] = _values(where, values)
    if stats:
        details["stats"] = _stats(where, values)
    found = summary.summarise(where)
    if as_json:
        render.document(found | details)
        return
    if values and not (tensors or ops or graph or stats):
        _show_values(details["values"])
        return
    _show_facts(found)
    if ops:
        rows = [[op, count] for op, count in found.get("ops", {}).items()]
        render.table("Ops", ["op", "nodes"], rows, right=["nodes"])
    _show_details(details)
    if not (ops or details):
        _show_contents(found)


# ---- what was asked for ------------------------------------------------------------------------


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


def _values(where: str, names: Sequence[str]) -> dict[str, Any]:
    """The arrays of the named stored tensors or constants.

    Raises:
        MissingNameError: Some are neither; all of them, with the nearest names.
    """
    from ...formats.errors import MissingNameError, bullets, did_you_mean
    from ...formats.tensor_proto import to_array

    store = _store(where)
    plain = {name: name if name in store else name.removesuffix(":0") for name in names}
    rest = set(plain.values()) - set(store)
    constants = (
        {n.name: n for graph_def, _ in _graph_defs(where) for n in graph_def.node if n.op == "Const"}
        if rest
        else {}
    )
    missing = sorted(name for name in rest if name not in constants)
    if missing:
        lines = [f"'{name}'{did_you_mean(name, [*store, *constants])}" for name in missing]
        raise MissingNameError(f"{where} stores no values of:{bullets(lines)}", names=missing)
    return {
        name: store[key].read() if key in store else to_array(constants[key].attr["value"].tensor)
        for name, key in plain.items()
    }


def _stats(where: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    import numpy as np

    arrays: Iterable[tuple[str, Any]]
    if names:
        arrays = _values(where, names).items()
    else:
        arrays = ((name, entry.read()) for name, entry in _store(where).items())
    found: dict[str, dict[str, Any]] = {}
    for name, array in arrays:
        if array.dtype.kind in "OSU" or not array.size:
            found[name] = {"size": array.size}
            continue
        wide = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
        known = wide[~np.isnan(wide)]
        with np.errstate(all="ignore"):  # infinities give NaN
            moments = [known.min(), known.max(), known.mean(), known.std()] if known.size else [None] * 4
        found[name] = {
            "size": array.size,
            **dict(zip(("min", "max", "mean", "std"), moments, strict=True)),
            "zeros": int((wide == 0).sum()),
            "nan": int(array.size - known.size),
            "inf": int(np.isinf(known).sum()),
        }
    return found


# ---- tables ------------------------------------------------------------------------------------


def _show_facts(found: dict[str, Any]) -> None:
    producer = found.get("producer", {})
    made_by = [
        f"TensorFlow {producer['tensorflow']}" if "tensorflow" in producer else "",
        f"graph version {producer['graph']}" if "graph" in producer else "",
        f"checkpoint version {producer['checkpoint']}" if "checkpoint" in producer else "",
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
            ("tags", ", ".join(found.get("tags", []))),
            ("nodes", render.count(found["nodes"]) if "nodes" in found else None),
            ("functions", len(found["functions"]) if found.get("functions") else None),
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


def _show_contents(found: dict[str, Any]) -> None:
    for title, key in (("Inputs", "inputs"), ("Outputs", "outputs")):
        rows = [[row["name"], row["dtype"] or "?", render.shape(row["shape"])] for row in found.get(key, ())]
        _limited(title, ["tensor", "dtype", "shape"], rows)
    rows = [
        [name, direction, key, _info_name(info["name"]), info["dtype"] or "?", render.shape(info["shape"])]
        for name, signature in found.get("signatures", {}).items()
        for direction in ("inputs", "outputs")
        for key, info in signature[direction].items()
    ]
    rows = [[name, direction.removesuffix("s"), *rest] for name, direction, *rest in rows]
    _limited("Signatures", ["signature", "", "key", "tensor", "dtype", "shape"], rows)
    _show_variables(found.get("variables", []))
    collections = [
        [key, len(items), ", ".join(map(str, items[:ITEMS])) + (", ..." if len(items) > ITEMS else "")]
        for key, items in found.get("collections", {}).items()
    ]
    if collections:
        render.table("Collections", ["collection", "items", ""], collections, right=["items"])
    skipped = list(found.get("skipped", {}).items())
    if skipped:
        render.table("Not tensors", ["name", "why"], skipped)


def _show_variables(variables: list[dict[str, Any]]) -> None:
    if not variables:
        return
    marks = [key for key in ("trainable", "saved") if any(key in row for row in variables)]
    rows = [
        [
            row["name"],
            row["dtype"] or "?",
            render.shape(row["shape"]),
            row["bytes"],
            *("" if row.get(key) is None else "yes" if row[key] else "no" for key in marks),
        ]
        for row in variables
    ]
    render.table("Variables", ["variable", "dtype", "shape", "bytes", *marks], rows, right=["bytes"])


def _show_details(details: dict[str, Any]) -> None:
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
        columns = ["size", "min", "max", "mean", "std", "zeros", "nan", "inf"]
        rows = [
            [name, *(_number(each.get(column)) for column in columns)]
            for name, each in details["stats"].items()
        ]
        render.table("Statistics", ["variable", *columns], rows, right=columns)
    if "values" in details:
        _show_values(details["values"])


def _show_values(values: dict[str, Any]) -> None:
    from .. import outputs

    for name, value in values.items():
        outputs.show(name, value)


def _limited(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    if not rows:
        return
    render.table(title, columns, rows[:SHOWN])
    if len(rows) > SHOWN:
        render.line(f"  ... and {len(rows) - SHOWN} more (--json has them all)")


def _info_name(name: str | list[str]) -> str:
    return name if isinstance(name, str) else " ".join(name)


def _number(value: Any) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.6g}"
