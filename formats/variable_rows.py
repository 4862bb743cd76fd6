"""The variables of a graph and its checkpoint as rows of a summary: each once, whatever it is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import dtypes, object_graph
from .collection_items import VARIABLE_COLLECTIONS, variable_defs
from .graph_facts import GraphFacts, dtype_name, node_shape
from .saved_variables import restored_by_function
from .slots import slots_by_name, slots_of_graph

if TYPE_CHECKING:
    from .entry import Entry

Row = dict[str, Any]


def variable_rows(
    facts: GraphFacts, graph_def: Any, meta_graph: Any, store: Mapping[str, Entry] | None
) -> list[Row]:
    """The graph's variables (shapes from the checkpoint where it has them), then what else it has.

    Args:
        facts: Of the graph.
        graph_def: The graph.
        meta_graph: Its MetaGraphDef, or None.
        store: The checkpoint, or None.

    Returns:
        Rows `{"name", "dtype", "shape", "bytes"}`, with `trainable` and `saved` where that is known,
        `key` where the checkpoint has another name for it, `parts` (how many) of a partitioned one, and
        `slot_of` of an optimizer's: the variable it belongs to, None for a count of its own.
    """
    trainable: set[str] = set()
    key_of: dict[str, str] = {}
    whole_of: dict[str, Any] = {}  # of parts of partitioned variables: which part of what
    order: dict[str, None] = {}
    objects: dict[str, bool] = {}
    if meta_graph is not None:
        restored = restored_by_function(graph_def, meta_graph.saver_def)
        key_of = {variable.variable: key for key, variable in restored.items()}
        objects = object_graph.trainable_keys(meta_graph.object_graph_def)
        trainable = {name for name, key in key_of.items() if objects.get(key)}
    collections = meta_graph.collection_def if meta_graph is not None else {}
    for key in VARIABLE_COLLECTIONS:
        if key not in collections:
            continue
        for variable in variable_defs(collections[key]):
            name = variable.variable_name.partition(":")[0]
            order[name] = None
            if variable.save_slice_info_def.full_name not in ("", name):
                whole_of[name] = variable.save_slice_info_def
            if key == "trainable_variables":
                trainable.add(name)
        for item in collections[key].node_list.value:
            name = item.partition(":")[0]
            if name in facts.variables:
                order[name] = None
                if key == "trainable_variables":
                    trainable.add(name)
    order |= dict.fromkeys(facts.variables)
    known = bool(objects) or "trainable_variables" in collections or "variables" in collections
    rows: dict[str, Row] = {}
    used: set[str] = set()
    for name in order:
        info = whole_of.get(name)
        whole = info.full_name if info is not None else name
        key = key_of.get(name) or whole
        entry = store.get(key) if store is not None else None
        row = _row_of_node(whole, facts.variables.get(name), entry)
        if info is not None:
            if entry is None:
                row["shape"] = list(info.full_shape)
            before = rows.get(whole, {"parts": 0, "bytes": 0})
            row["parts"] = before["parts"] + 1
            if entry is None and row["bytes"] is not None:
                row["bytes"] += before["bytes"] or 0
        if known:
            row["trainable"] = name in trainable
        if store is not None:
            row["saved"] = entry is not None
            used.add(entry.name if entry is not None else key)
        rows[whole] = row
    for key in store or ():
        if key not in used:
            assert store is not None
            rows[key] = row_of_entry(store[key]) | ({"trainable": False} if known else {}) | {"saved": True}
    _mark_slots(rows, graph_def, {name: info.full_name for name, info in whole_of.items()})
    return list(rows.values())


def mark_slots(rows: Mapping[str, Row]) -> None:
    """Adds `slot_of` to the rows that are an optimizer's by their names; a weight is none that is trained."""
    shapes = {name: row["shape"] for name, row in rows.items()}
    for name, base in slots_by_name(shapes).items():
        if not rows[name].get("trainable"):
            rows[name].setdefault("slot_of", base)


def _mark_slots(rows: Mapping[str, Row], graph_def: Any, whole_of: Mapping[str, str]) -> None:
    for slot, base in slots_of_graph(graph_def.node).items():
        row = rows.get(whole_of.get(slot, slot))
        if row is not None and not row.get("trainable"):
            row["slot_of"] = whole_of.get(base, base)
    mark_slots(rows)


def _row_of_node(name: str, node: Any, entry: Entry | None) -> Row:
    if entry is not None:
        key = {"key": entry.name} if entry.name != name else {}
        return row_of_entry(entry) | {"name": name} | key
    dtype = dtype_name(node.attr["dtype"].type) if node is not None and "dtype" in node.attr else None
    shape = node_shape(node) if node is not None else None
    info = dtypes.BY_NAME.get(dtype or "")
    size = None
    if shape is not None and None not in shape and info is not None and info.size is not None:
        size = math.prod(one for one in shape if one is not None) * info.size
    return {"name": name, "dtype": dtype, "shape": shape, "bytes": size}


def row_of_entry(entry: Entry) -> Row:
    """The row of a stored tensor."""
    return {"name": entry.name, "dtype": entry.dtype.name, "shape": list(entry.shape), "bytes": entry.nbytes}
