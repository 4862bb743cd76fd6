"""`sgtool ops`: which ops can be run, and which of a model cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from ...formats.errors import NotFoundError
from .. import locate, options, render

if TYPE_CHECKING:
    from ...graphcore.dtypes import DType
    from ...graphcore.op_def import ArgDef
    from ...graphcore.registry import Op


@options.command
@click.argument("model", required=False)
@click.option(
    "--named", metavar="TEXT", help="Only ops whose name has TEXT in it; of one of exactly that name, all."
)
@options.as_json
def command(model: str | None, named: str | None, as_json: bool) -> None:
    """List the ops that can be run, or those of MODEL and what of it cannot.

    Without MODEL: each implemented op, what it does, its dtypes, and whether it has a gradient; with
    --named and the name of one op all about it, inputs and attributes too. With MODEL (a graph file,
    SavedModel, or checkpoint with a graph beside it): each op of the graph and its functions, how often
    it occurs, and whether it can be run and differentiated.

    Examples:
      sgtool ops                          the whole table
      sgtool ops --named Conv2D           one op, all about it
      sgtool ops model.ckpt-1000.meta     what of a model can be run
      sgtool ops frozen.pb --json | jq -r '.missing[]'

    --json gives {"ops": [{"name", "inputs", "outputs", "attributes", "dtypes", "gradient", "why_none",
    "stateful", "summary"}]}; with MODEL {"path", "ops": [{"name", "count", "runs", "gradient"}],
    "missing": [names]}. "inputs" and "outputs" are [{"name", "type"}], "dtypes" is {attribute: [names]},
    "why_none" says why there is no gradient.
    """
    if model is not None:
        try:
            _show_model(model, named, as_json)
        except NotFoundError:
            if any(op.name == model for op in _registry()):
                raise click.UsageError(
                    f"There is no model {model!r}. Of the op say: sgtool ops --named {model}"
                ) from None
            raise
        return
    table = [op for op in _registry() if named is None or named.lower() in op.name.lower()]
    exact = [op for op in table if op.name == named]
    if not table:
        raise click.BadParameter(_unknown(named or ""), param_hint="--named")
    if as_json:
        render.document({"ops": [_as_dict(op) for op in exact or table]})
    elif exact:
        _show_one(exact[0])
    else:
        rows = [
            (op.name, "yes" if op.grad_fn is not None else "no", op.summary, _dtypes_in_short(op))
            for op in table
        ]
        render.table(f"{len(rows)} ops", ["op", "gradient", "what", "dtypes"], rows)


def _registry() -> list[Op]:
    """All ops, by name."""
    from ...graphcore import ops, registry  # importing the families fills the table

    assert ops
    return list(registry.all_ops())


def _unknown(name: str) -> str:
    from ...formats.errors import did_you_mean

    return f"No op has {name!r} in its name.{did_you_mean(name, [op.name for op in _registry()])}"


# ---- one op ------------------------------------------------------------------------------------


def _type(arg: ArgDef) -> str:
    kind = arg.dtype.name if arg.dtype is not None else arg.type_attr or arg.type_list_attr
    if arg.number_attr:
        kind = f"{arg.number_attr} * {kind}"
    return f"Ref({kind})" if arg.is_ref else kind


def _signature(op: Op) -> str:
    sides = (op.definition.inputs, op.definition.outputs)
    left, right = (", ".join(f"{arg.name}: {_type(arg)}" for arg in args) for args in sides)
    return f"{left} -> {right}".strip()


def _type_attributes(op: Op) -> dict[str, tuple[DType, ...]]:
    """The dtypes that each type attribute may have; none for any."""
    attrs = op.definition.attrs.values()
    return {attr.name: attr.allowed for attr in attrs if attr.kind in ("type", "list(type)")}


def _dtypes_in_short(op: Op) -> str:
    return "; ".join(f"{name}: {_group(allowed)}" for name, allowed in _type_attributes(op).items())


def _group(allowed: Iterable[DType]) -> str:
    """Some dtypes, by the name of their group where they are one."""
    from importlib import import_module

    dtypes = import_module("sgtool.graphcore.dtypes")

    groups = {
        "any": dtypes.ANY,
        "floating": dtypes.FLOATING,
        "complex": dtypes.COMPLEX,
        "floating or complex": dtypes.FLOATING_OR_COMPLEX,
        "integer": dtypes.INTEGER,
        "index (int32, int64)": dtypes.INDEX,
        "quantized": dtypes.QUANTIZED,
        "real": dtypes.REAL,
        "number": dtypes.NUMBER,
        "number or quantized": dtypes.NUMERIC,
        "signed (floating, complex, int32, int64)": dtypes.SIGNED,
    }
    wanted = set(allowed)
    for name, group in groups.items():
        if set(group) == wanted:
            return name
    for name, group in groups.items():  # most of a group's, and some more
        rest = [dtype.name for dtype in allowed if dtype not in group]
        if len(group) > 3 and set(group) < wanted and len(rest) < 3:
            return f"{name} or {', '.join(rest)}"
    return ", ".join(dtype.name for dtype in allowed)


def _gradient(op: Op) -> str:
    if op.grad_fn is not None:
        return "yes"
    return f"no: {op.no_grad or op.undefined_grad or 'not implemented'}"


def _attributes(op: Op) -> list[dict[str, Any]]:
    from ...graphcore.op_def import MISSING

    inferred = op.definition.inferred_attrs
    found = []
    for attr in op.definition.attrs.values():
        row: dict[str, Any] = {"name": attr.name, "type": attr.kind, "inferred": attr.name in inferred}
        if attr.default is not MISSING:
            row["default"] = _plain(attr.default)
        if attr.allowed:
            row["allowed"] = [_plain(value) for value in attr.allowed]
        found.append(row)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return (
        value
        if value is None or isinstance(value, (bool, int, float, str))
        else getattr(value, "name", str(value))
    )


def _as_dict(op: Op) -> dict[str, Any]:
    args = {
        side: [{"name": arg.name, "type": _type(arg)} for arg in found]
        for side, found in (("inputs", op.definition.inputs), ("outputs", op.definition.outputs))
    }
    return {
        "name": op.name,
        **args,
        "attributes": _attributes(op),
        "dtypes": {name: [dtype.name for dtype in allowed] for name, allowed in _type_attributes(op).items()},
        "gradient": op.grad_fn is not None,
        "why_none": None if op.grad_fn is not None else op.no_grad or op.undefined_grad,
        "stateful": op.definition.stateful,
        "summary": op.summary,
    }


def _show_one(op: Op) -> None:
    render.facts(
        [
            ("op", op.name),
            ("what", op.summary),
            ("inputs -> outputs", _signature(op)),
            ("dtypes", _dtypes_in_short(op)),
            ("gradient", _gradient(op)),
            ("stateful", "yes" if op.definition.stateful else ""),
        ]
    )
    kinds = ("type", "list(type)")
    rows = [
        (row["name"], row["type"], row.get("default"), ", ".join(map(str, row.get("allowed", ()))))
        for row in _attributes(op)
        if row["type"] not in kinds or not row["inferred"]
    ]
    if rows:
        render.table("Attributes", ["name", "type", "default", "allowed"], rows)


# ---- a model -----------------------------------------------------------------------------------


def _show_model(path: str, named: str | None, as_json: bool) -> None:
    from ...formats import summary
    from ...formats.errors import InvalidArgumentError

    where = locate.model_or_default(path)
    found = summary.summarise(where)
    if "ops" not in found:
        raise InvalidArgumentError(f"{where} has no graph, so no ops; give a .meta, .pb or SavedModel.")
    counts: dict[str, int] = dict(found["ops"])
    for name, count in found.get("function_ops", {}).items():
        counts[name] = counts.get(name, 0) + count
    rows = _rows(counts, set(found.get("functions", ())), named)
    missing = [row["name"] for row in rows if not row["runs"]]
    if as_json:
        render.document({"path": where, "ops": rows, "missing": missing})
        return
    title = f"{len(rows)} ops in {where}"
    cells = [(row["name"], row["count"], "yes" if row["runs"] else "no", row["gradient"]) for row in rows]
    render.table(title, ["op", "nodes", "runs here", "gradient"], cells, right=["nodes"])
    render.line()
    if missing:
        from ...graphcore.absent_ops import why

        render.line(f"Not run here: {', '.join(missing)}.")
        for name in missing:
            if reason := why(name):
                render.line(f"{name}: {reason}.")
    else:
        render.line("All of them can be run here.")


def _rows(counts: Mapping[str, int], functions: set[str], named: str | None) -> list[dict[str, Any]]:
    """The ops of a graph: those that cannot be run first, then the most frequent."""
    known = {op.name: op for op in _registry()}
    rows = []
    for name, count in counts.items():
        if named is not None and named.lower() not in name.lower():
            continue
        op = known.get(name)
        gradient = "yes, of the function" if name in functions else "" if op is None else _gradient(op)
        runs = op is not None or name in functions
        rows.append({"name": name, "count": count, "runs": runs, "gradient": gradient})
    return sorted(rows, key=lambda row: (row["runs"], -row["count"], row["name"]))
