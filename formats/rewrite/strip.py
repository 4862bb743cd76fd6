"""A model without what only training needs: an optimizer's slots; on request summaries, savers, gradients."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..graph_facts import VARIABLE_OPS
from ..object_graph import OBJECT_GRAPH_KEY
from ..saved_variables import saved_parts
from ..slots import APPLY, slots_by_name, slots_of_graph
from .keep import keep
from .model import Model, node_of
from .saver import add_saver, is_function, remove_savers, restrict
from .walk import consumers, dependents, only_for

_SUMMARY = re.compile(r"\w*Summary(V2)?")
_GRADIENTS = re.compile(r"(^|.*/)gradients(_\d+)?/.*")
_POWER = re.compile(r"(.*/)?beta[12]_power(_\d+)?")
_POWERS_AT = {"ApplyAdam": (3, 4), "ApplyAdaMax": (3,), "ApplyAdamWithAmsgrad": (4, 5)}
"""Where the powers are among the inputs of an Apply operation, which are no slots of one variable."""
_PLAIN = frozenset(("Const", "Identity", "ReadVariableOp", "Cast", "NoOp"))
_WRITES = re.compile(r"Assign(Add|Sub)?(VariableOp)?")


@dataclass(frozen=True, slots=True)
class Stripped:
    """What `strip` did.

    Attributes:
        model: What is left.
        nodes: The ops of the nodes that went, by name.
        variables: The entries of the checkpoint that went: their bytes by key.
        slots: The slots among them: the variable that each belonged to, or None.
        graph_bytes: Bytes that the graph got smaller by.
    """

    model: Model
    nodes: dict[str, str]
    variables: dict[str, int]
    slots: dict[str, str | None]
    graph_bytes: int

    @property
    def saved(self) -> int:
        """Bytes saved, of graph and checkpoint together."""
        return self.graph_bytes + sum(self.variables.values())


def strip(
    model: Model,
    *,
    slots: bool = True,
    summaries: bool = False,
    savers: bool = False,
    training: bool = False,
) -> Stripped:
    """A model without its optimizer's variables, and more.

    What a slot is the graph's own Apply operations say. Only without any (a checkpoint alone, a graph for
    inference) the names do: `w/Adam` beside a `w` of the same shape, the counts of an optimizer of which
    there are such. A variable that is trained is never one, nor is a layer that is called `adam_layer`.

    Args:
        model: The model.
        slots: Take the optimizer's variables away, and the operations that use them.
        summaries: Take summaries away.
        savers: Take save and restore nodes away; variables and checkpoint stay.
        training: Take the operations that train and compute gradients away, and the slots.
    """
    found = optimizer_slots(model) if slots or training else {}
    model = model.with_copied_graph()
    before: dict[str, str] = {}
    size = 0
    keys = {key for key in found if key in model.variables}
    if model.meta_graph is not None:
        size = model.meta_graph.ByteSize()
        before = {node.name: node.op for node in model.meta_graph.graph_def.node}
        keys |= _strip_graph(model.meta_graph, found, slots or training, summaries, savers, training)
    after = model.nodes
    left = {key: model.variables[key] for key in model.variables if key not in keys}
    variables = {key: model.variables[key].nbytes for key in model.variables if key in keys}
    return Stripped(
        replace(model, variables=left),
        {name: op for name, op in before.items() if name not in after},
        variables,
        {name: base for name, base in found.items() if name in variables or name in before},
        size - model.meta_graph.ByteSize() if model.meta_graph is not None else 0,
    )


def optimizer_slots(model: Model) -> dict[str, str | None]:
    """The optimizer's variables of a model: the variable that each belongs to, None for a count.

    Names are those of the graph's operations and the keys of the checkpoint that belong to them.
    """
    stored = {key: model.variables[key].shape for key in model.variables if key != OBJECT_GRAPH_KEY}
    if model.meta_graph is None:
        return dict(slots_by_name(stored))
    nodes = model.nodes
    trained = _trained(model.meta_graph)
    found: dict[str, str | None] = dict(slots_of_graph(nodes.values()))
    found |= dict.fromkeys(_powers(nodes))
    if not any(APPLY.fullmatch(node.op) for node in nodes.values()):
        found = dict(slots_by_name(stored))
    elif found:
        # Sparse updates of some optimizers are made of other operations: of this graph's own kinds of slots.
        kinds = {name.rpartition("/")[2].rstrip("_0123456789") for name in found}
        by_name = slots_by_name({**stored, **_shapes(nodes)})
        found |= {
            name: base
            for name, base in by_name.items()
            if name not in found and base and name.rpartition("/")[2].rstrip("_0123456789") in kinds
        }
    parts = {
        part.variable: part.key
        for part in saved_parts(model.meta_graph.graph_def, model.meta_graph.saver_def)
    }
    found |= {parts[name]: base for name, base in found.items() if name in parts}
    return {name: base for name, base in found.items() if name not in trained}


def _shapes(nodes: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple(dim.size for dim in node.attr["shape"].shape.dim)
        for name, node in nodes.items()
        if node.op in VARIABLE_OPS
    }


def _trained(meta_graph: Any) -> set[str]:
    from ..collection_items import variable_defs

    collection = meta_graph.collection_def.get("trainable_variables")
    if collection is None:
        return set()
    named = [one.variable_name for one in variable_defs(collection)] + list(collection.node_list.value)
    return {node_of(name) for name in named}


def _powers(nodes: Mapping[str, Any]) -> set[str]:
    """The variables that Apply operations read as powers of their decay rates."""
    found = set()
    for node in nodes.values():
        for at in _POWERS_AT.get(node.op.removeprefix("Resource"), ()):
            name = node_of(node.input[at]) if at < len(node.input) else ""
            for _ in range(8):
                source = nodes.get(name)
                if source is None or source.op in VARIABLE_OPS or source.op not in _PLAIN or not source.input:
                    break
                name = node_of(source.input[0])
            if name in nodes and nodes[name].op in VARIABLE_OPS and _POWER.fullmatch(name):
                found.add(name)
    return found


def _strip_graph(
    meta_graph: Any,
    found: Mapping[str, str | None],
    slots: bool,
    summaries: bool,
    savers: bool,
    training: bool,
) -> set[str]:
    """Strips a graph in place; gives the keys of the checkpoint that go."""
    if savers:
        remove_savers(meta_graph)
    graph = meta_graph.graph_def
    nodes = {node.name: node for node in graph.node}
    parts = [part for part in saved_parts(graph, meta_graph.saver_def) if part.variable]
    variables = {name for name in found if name in nodes and nodes[name].op in VARIABLE_OPS}
    variables |= {part.variable for part in parts if part.key in found}
    keys = {part.key for part in parts if part.variable in variables}
    taken_by = consumers(graph.node)
    gone: set[str] = set()
    if summaries:
        gone |= dependents(taken_by, [n.name for n in graph.node if _SUMMARY.fullmatch(n.op)])
    if variables and is_function(meta_graph):  # as TensorFlow 2 saves: another saver, of what is left
        meta_graph.ClearField("saver_def")
        add_saver(meta_graph, [part for part in parts if part.variable not in variables])
        meta_graph.ClearField("object_graph_def")
        nodes = {node.name: node for node in graph.node}
        taken_by = consumers(graph.node)
    unsaved = restrict(meta_graph, variables)
    if slots:
        gone |= dependents(taken_by, variables) - _saving(nodes, unsaved) | unsaved
        if training or variables:
            gone |= {name for name in _applying(nodes) if training or _uses(nodes, name, gone)}
    if training:
        gone |= {
            name for name, node in nodes.items() if _GRADIENTS.fullmatch(name) and node.op not in VARIABLE_OPS
        }
        gone = dependents(taken_by, gone) - _saving(nodes, unsaved)
    if not gone:
        return keys
    gone |= _waiting(taken_by, gone)
    scopes = tuple(
        f"{name}/" for name in gone if nodes[name].op == "NoOp" or _WRITES.fullmatch(nodes[name].op)
    )
    named = _named(meta_graph)
    gone = only_for(
        nodes,
        gone,
        lambda node: (
            node.name not in named
            and node.op not in VARIABLE_OPS
            and (
                node.op in _PLAIN
                or node.name.startswith(scopes)
                or _GRADIENTS.fullmatch(node.name) is not None
            )
        ),
    )
    gone |= _waiting(taken_by, gone)
    if node_of(meta_graph.saver_def.save_tensor_name) in gone or any(
        nodes[name].op in ("SaveV2", "SaveSlices", "Save") for name in unsaved
    ):
        remove_savers(meta_graph)
        gone &= {node.name for node in graph.node}
    keep(meta_graph, {node.name for node in graph.node} - gone)
    return keys


def _applying(nodes: Mapping[str, Any]) -> list[str]:
    return [name for name, node in nodes.items() if APPLY.fullmatch(node.op)]


def _uses(nodes: Mapping[str, Any], name: str, gone: Collection[str]) -> bool:
    return any(text[:1] != "^" and node_of(text) in gone for text in nodes[name].input)


def _saving(nodes: Mapping[str, Any], unsaved: Collection[str]) -> set[str]:
    """Save operations, and what waits for them, that still have something to save."""
    saves = {name for name, node in nodes.items() if node.op in ("SaveV2", "SaveSlices", "Save")}
    return saves - set(unsaved)


def _waiting(taken_by: Mapping[str, list[Any]], gone: set[str]) -> set[str]:
    """Groups, and counts of steps, that waited only for what is gone."""
    found: set[str] = set()
    left: dict[str, set[str]] = {}  # what each still waits for
    stack = list(gone)
    while stack:
        source = stack.pop()
        for node in taken_by.get(source, ()):
            if node.name in gone or node.name in found:
                continue
            if node.name not in left:
                left[node.name] = {text[1:] for text in node.input if text[:1] == "^"} - gone - found
            waits = left[node.name]
            waits.discard(source)
            over = not waits and node.input and node.input[-1][:1] == "^"  # data come first
            users = taken_by.get(node.name, ())
            if not over or _initial(node):
                continue
            if node.op == "NoOp" or _WRITES.fullmatch(node.op):
                found.add(node.name)
                stack.append(node.name)
            elif node.op == "Const" and users and all(_WRITES.fullmatch(user.op) for user in users):
                # The number that is added to the count of steps waits, and the addition for it.
                found |= {node.name, *(user.name for user in users)}
                stack += [node.name, *(user.name for user in users)]
    return found


def _initial(node: Any) -> bool:
    """Whether a node gives a variable its first value."""
    return node.op in ("Assign", "AssignVariableOp") and node.name.endswith("/Assign")


def _named(meta_graph: Any) -> set[str]:
    """The nodes that collections and signatures name, which are meant to be used from outside."""
    found = set()
    for key, collection in meta_graph.collection_def.items():
        if key != "train_op":
            found |= {node_of(name) for name in collection.node_list.value}
    for signature in meta_graph.signature_def.values():
        infos = (*signature.inputs.values(), *signature.outputs.values())
        found |= {node_of(info.name) for info in infos}
    return found
