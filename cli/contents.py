"""What `inspect` shows as tables: the facts about a file, and its contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import render

SHOWN = 40
"""Rows of inputs, outputs and signatures that a table shows; `--json` has all."""
LARGE = 1000
"""Elements up to which `--values` prints all; of more it prints statistics, the first and the last."""
ITEMS = 4
"""Items that are named of each collection."""


def show(found: dict[str, Any], details: dict[str, Any], ops: bool, full: bool) -> None:
    """Tables of a summary and of what was asked for besides; without the latter, of all contents."""
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
            ("not there", _missing_files(found)),
            ("made by", ", ".join(filter(None, made_by))),
            (
                "needs",
                f"a reader of graph version {found['min_consumer']}" if "min_consumer" in found else "",
            ),
            ("tags", ", ".join(found.get("tags", []))),
            ("model", _keras_model(about.get("model_config"))),
            (
                "assets",
                shortened(
                    [
                        one["file"] + ("" if one["present"] else " (missing)")
                        for one in found.get("assets", [])
                    ]
                ),
            ),
            ("nodes", render.count(found["nodes"]) if "nodes" in found else None),
            ("devices", ", ".join(f"{name} ({count})" for name, count in found.get("devices", {}).items())),
            ("functions", shortened(found.get("functions", []))),
            ("not run here", shortened(found.get("unimplemented_ops", []))),
            ("not TensorFlow's", shortened(found.get("unknown_ops", []))),
            ("unknown attributes", shortened(found.get("unknown_attributes", []))),
            (
                "not in the op list",
                shortened(found.get("unlisted_ops", []) + found.get("unlisted_attributes", [])),
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


def _missing_files(found: dict[str, Any]) -> str:
    """The data files of a checkpoint that are missing, and how many there are of how many."""
    missing = found.get("missing_files", [])
    return f"{shortened(missing)} ({len(missing)} of {found['data_files']} data files)" if missing else ""


def _keras_model(configuration: Any) -> str:
    """A Keras model's class and layers in one line, or nothing."""
    from ..formats.keras_weights import model_layers

    layers = shortened([f"{kind} {name}".strip() for kind, name in model_layers(configuration)])
    return f"{configuration.get('class_name', '')}: {layers}" if layers else ""


def _show_contents(found: dict[str, Any]) -> None:
    rows = [[*_tensor_cells(row), _input_mark(row)] for row in found.get("inputs", ())]
    _limited("Inputs", ["tensor", "dtype", "shape", ""], rows)
    rows = [
        [*_tensor_cells(row), row["role"], shortened(row.get("needs", []))]
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
    marks.append("in place of what the graph computes" if row.get("inner") else "")
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
        show_values(details, full)


def _show_stats(stats: dict[str, dict[str, Any]]) -> None:
    if not stats:
        render.line("\nNothing is stored here to make statistics of.")
        return
    columns = ["size", "min", "max", "mean", "std", "zeros", "nan", "inf"]
    rows = [
        [name, *(["damaged"] if "damaged" in each else [_number(each.get(column)) for column in columns])]
        for name, each in stats.items()
    ]
    width = len(columns) + 1
    rows = [row + [""] * (width - len(row)) for row in rows]
    render.table("Statistics", ["variable", *columns], rows, right=columns)


def show_values(details: dict[str, Any], full: bool) -> None:
    """The values that were asked for: small ones in full, of large ones statistics as well."""
    from ..formats.statistics import statistics
    from . import outputs

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


def shortened(names: Sequence[str]) -> str:
    """The first few of some names, and how many more there are."""
    return ", ".join(names[:ITEMS]) + (f" and {len(names) - ITEMS} more" if len(names) > ITEMS else "")


def _info_name(name: str | list[str]) -> str:
    return name if isinstance(name, str) else " ".join(name)


def _number(value: Any) -> str:
    return "" if value is None else str(value) if isinstance(value, int) else f"{value:.6g}"
