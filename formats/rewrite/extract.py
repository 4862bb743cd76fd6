"""The part of a model between given tensors; where it is cut, placeholders are fed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import dtypes
from ..collection_items import VARIABLE_COLLECTIONS, variable_defs
from ..errors import InvalidValueError, MissingNameError, UnimplementedError, bullets
from ..graph_facts import VARIABLE_OPS, output_rows
from ..graph_results import PLACEHOLDER_OPS
from ..saved_variables import saved_parts
from ..tensor_proto import shape_to_proto
from .keep import keep
from .model import Model, check_names, node_of, tensor_of
from .names import decoded
from .saver import add_saver, is_function, remove_savers, restrict, saver_nodes
from .walk import closure, loops


@dataclass(frozen=True, slots=True)
class Extracted:
    """What `extract` did.

    Attributes:
        model: The part.
        placeholders: The tensor that is fed now, for each input that was cut.
        needed: The placeholders that it needs besides.
        removed: How many nodes went.
    """

    model: Model
    placeholders: dict[str, str]
    needed: list[str]
    removed: int


def extract(
    model: Model,
    outputs: Sequence[str],
    inputs: Sequence[str] = (),
    *,
    shapes: Mapping[str, Sequence[int | None] | None] | None = None,
) -> Extracted:
    """The nodes that `outputs` need, up to `inputs`, which are placeholders in it.

    Variables keep what initialises them, and the saver and checkpoint what belongs to them.

    Args:
        model: The model.
        outputs: Names of tensors or nodes.
        inputs: Names of tensors: each becomes a placeholder under the name of its node.
        shapes: The static shapes of inputs, where they are known; else what the graph says of them.

    Raises:
        MissingNameError: A tensor that the graph does not have; lists all.
        InvalidValueError: An input lies inside of a while loop, or no output needs it; lists all.
    """
    nodes = model.nodes
    check_names([*outputs, *inputs], nodes, "The graph has no such tensor")
    cuts = {tensor_of(name): name for name in inputs}
    op_defs = {one.name: one for one in model.meta_graph.meta_info_def.stripped_op_list.op}
    rows = {cut: _row(name, nodes, op_defs) for cut, name in cuts.items()}

    def follow(consumer: str, text: str) -> bool:
        return text not in cuts

    starts = [node_of(name) for name in outputs if tensor_of(name) not in cuts]
    kept = closure(nodes, starts, follow)
    _check_cuts(nodes, kept, cuts)
    kept |= _initializers(model.meta_graph, nodes, kept, cuts)
    variables = {name for name in kept if nodes[name].op in VARIABLE_OPS}
    result = model.with_copied_graph()
    meta_graph = result.meta_graph
    saved = {part.variable: part.key for part in saved_parts(meta_graph.graph_def, meta_graph.saver_def)}
    lost = {name for name, node in nodes.items() if node.op in VARIABLE_OPS and name not in variables}
    by_function = is_function(meta_graph)
    parts = [
        one for one in saved_parts(meta_graph.graph_def, meta_graph.saver_def) if one.variable in variables
    ]
    if saved and variables and not by_function:
        unsaved = restrict(meta_graph, lost)
        savers = saver_nodes(meta_graph.graph_def) - unsaved
        current = {node.name: node for node in meta_graph.graph_def.node}
        # Only what stands on its own: a saver that saves more than variables (tables) needs the rest.
        kept |= {name for name in savers if closure(current, [name]) <= savers | kept | variables}
    else:
        remove_savers(meta_graph)
    kept &= {node.name for node in meta_graph.graph_def.node}
    placed = _place(meta_graph, cuts, rows, kept, shapes or {})
    kept |= {node_of(name) for name in placed.values()}
    before = len(nodes)
    keep(meta_graph, kept)
    if by_function:
        add_saver(meta_graph, parts)
    meta_graph.ClearField("object_graph_def")
    keys = {saved.get(name, name) for name in variables}
    after = {node.name: node for node in meta_graph.graph_def.node}
    return Extracted(
        replace(result, variables={key: model.variables[key] for key in model.variables if key in keys}),
        {cuts[cut]: f"{name}:0" for cut, name in placed.items()},
        [
            f"{name}:0"
            for name, node in after.items()
            if node.op == "Placeholder" and name not in placed.values() and not name.startswith("save")
        ],
        before - len(after),
    )


def _row(name: str, nodes: Mapping[str, Any], op_defs: Mapping[str, Any]) -> dict[str, Any]:
    node = nodes[node_of(name)]
    index = int(name.partition(":")[2] or 0)
    rows = output_rows(node, op_defs.get(node.op))
    if index >= len(rows):
        raise MissingNameError(
            f"'{name}': operation '{node.name}' ({node.op}) has {len(rows)} outputs.", name=name
        )
    if rows[index]["dtype"] is None:
        raise UnimplementedError(
            f"'{name}': the dtype of this output of '{node.op}', somebody's own op, is not in the file; "
            "cut at another tensor.",
            name=name,
        )
    return rows[index]


def _check_cuts(nodes: Mapping[str, Any], kept: set[str], cuts: Mapping[str, str]) -> None:
    inside = loops(nodes.values()) if cuts else {}
    problems = []
    used = {text for name in kept for text in nodes[name].input}
    for cut, name in cuts.items():
        if node_of(cut) in inside:
            problems.append(f"'{name}' is inside of the while loop '{inside[node_of(cut)]}'")
        elif cut not in used:
            problems.append(f"no output needs '{name}'")
    if problems:
        raise InvalidValueError(f"The graph cannot be cut there:{bullets(problems)}", problems=problems)


def _initializers(
    meta_graph: Any, nodes: Mapping[str, Any], kept: set[str], cuts: Mapping[str, str]
) -> set[str]:
    """What gives the variables among `kept` their first values, where it needs no input."""
    found: set[str] = set()
    for key in VARIABLE_COLLECTIONS:
        if key not in meta_graph.collection_def:
            continue
        for variable in variable_defs(meta_graph.collection_def[key]):
            if node_of(variable.variable_name) not in kept:
                continue
            names = (variable.initializer_name, variable.snapshot_name, variable.initial_value_name)
            found |= closure(
                nodes, [node_of(name) for name in names if name], lambda _, text: text not in cuts
            )
    return found | _fillers(meta_graph, nodes, kept, cuts)


def _fillers(meta_graph: Any, nodes: Mapping[str, Any], kept: set[str], cuts: Mapping[str, str]) -> set[str]:
    """What fills the look-up tables and queues among `kept`."""
    starts: list[str] = []
    for key in ("table_initializer", "queue_runners"):
        if key not in meta_graph.collection_def:
            continue
        collection = meta_graph.collection_def[key]
        starts += [
            node_of(name)
            for name in collection.node_list.value
            if node_of(name) in nodes and kept & {node_of(text) for text in nodes[node_of(name)].input}
        ]
        for value in collection.bytes_list.value:
            runner = decoded(key, value)
            if runner is not None and key == "queue_runners" and node_of(runner.queue_name) in kept:
                names = [*runner.enqueue_op_name, runner.close_op_name, runner.cancel_op_name]
                starts += [node_of(name) for name in names if name]
    return closure(nodes, starts, lambda _, text: text not in cuts)


def _place(
    meta_graph: Any,
    cuts: Mapping[str, str],
    rows: Mapping[str, dict[str, Any]],
    kept: set[str],
    shapes: Mapping[str, Sequence[int | None] | None],
) -> dict[str, str]:
    """Puts placeholders in the place of what is cut; gives the name of each by the tensor."""
    graph = meta_graph.graph_def
    nodes = {node.name: node for node in graph.node}
    taken = set(nodes)
    placed: dict[str, str] = {}
    for cut in cuts:
        source = nodes[node_of(cut)]
        if source.name not in kept and source.name not in placed.values():
            name = source.name
        else:  # another output of the node is computed still
            name, number = f"{source.name}_input", 0
            while name in taken:
                number += 1
                name = f"{source.name}_input_{number}"
        taken.add(name)
        placed[cut] = name
    for name in kept:
        node = nodes[name]
        for at, text in enumerate(node.input):
            if text in placed:
                node.input[at] = placed[text]
    for cut, name in placed.items():
        row, old = rows[cut], nodes.get(name)
        if old is not None and old.op in PLACEHOLDER_OPS and old.op != "PlaceholderWithDefault":
            continue
        node = old if old is not None else graph.node.add(name=name)
        shape = shapes.get(cuts[cut], shapes.get(f"{cut}:0", row["shape"]))
        node.op = "Placeholder"
        node.ClearField("input")
        node.ClearField("attr")
        node.attr["dtype"].type = dtypes.from_name(row["dtype"]).number
        node.attr["shape"].shape.CopyFrom(shape_to_proto(shape))
    return placed
