"""Two models in one: one graph, one saver, one checkpoint; results of the first go into the second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import protos, session_bundle
from ..errors import InvalidValueError, MissingNameError, bullets
from ..graph_facts import output_rows
from ..graph_results import PLACEHOLDER_OPS
from ..object_graph import OBJECT_GRAPH_KEY
from ..saved_variables import saved_parts
from ..tensor_proto import shape_from_proto
from .keep import keep
from .model import Model, check_names, node_of, tensor_of
from .names import Names, apply
from .saver import add_saver, remove_savers

_ONE_ONLY = ("global_step",)
"""Collections of which TensorFlow takes the only item: the first model's stays."""
_RUN_AT_LOAD = ("saved_model_main_op", "legacy_init_op")
"""Collections whose only item is run when the model is loaded: both are, as a group."""
_OLD_PRODUCER = 24


@dataclass(frozen=True, slots=True)
class Merged:
    """What `merge` did.

    Attributes:
        model: Both models.
        connected: The tensor that each replaced tensor comes from now.
        removed: The placeholders of the second model that are fed no more.
    """

    model: Model
    connected: dict[str, str]
    removed: list[str]


def merge(
    first: Model,
    second: Model,
    connect: Mapping[str, str] | None = None,
    prefixes: tuple[str, str] = ("a", "b"),
) -> Merged:
    """One model of two, each below a scope of its own.

    Nodes, variables, what collections, savers and signatures name, shared resources and checkpoint keys
    get the prefix of their side. A signature that both sides have becomes one of all inputs that are
    still fed and all outputs; each side's own is kept under its prefix.

    Args:
        first: One model.
        second: The other.
        connect: Tensors of `first` and the tensor of `second` that each takes the place of, without prefixes.
        prefixes: The scopes.

    Raises:
        MissingNameError: Tensors that do not exist; lists all.
        InvalidValueError: Tensors whose dtypes or shapes differ; lists all. Or equal prefixes.
    """
    if prefixes[0].strip("/") == prefixes[1].strip("/") or not all(one.strip("/") for one in prefixes):
        raise InvalidValueError(
            f"The two prefixes must be two, and none empty: {prefixes}.", prefixes=prefixes
        )
    links = dict(connect or {})
    if (first.meta_graph is None) != (second.meta_graph is None) or (links and first.meta_graph is None):
        raise MissingNameError("A graph can only be merged with a graph: one of the two has variables alone.")
    _check(first, second, links)
    scopes = [one.strip("/") + "/" for one in prefixes]
    sides = [
        _prefixed(one, scope, other) for one, scope, other in zip((first, second), scopes, (None, first))
    ]
    variables = {**sides[0].variables, **sides[1].variables}
    assets = {**sides[0].assets, **sides[1].assets}
    if sides[0].meta_graph is None:
        return Merged(Model(None, variables), {}, [])
    parts = []
    graphs = []
    for side in sides:
        graph = side.with_copied_graph().meta_graph
        parts += saved_parts(graph.graph_def, graph.saver_def)
        for key, signature in session_bundle.signature_defs(graph).items():
            graph.signature_def[key].CopyFrom(signature)
        remove_savers(graph)
        graphs.append(graph)
    options = {"max_to_keep": first.meta_graph.saver_def.max_to_keep}
    joined, changes, removed = _connected(graphs, {scopes[0] + a: scopes[1] + b for a, b in links.items()})
    add_saver(joined, parts, options)
    _join_signatures(joined, graphs, scopes, changes, set(removed))
    bare = first.bare and second.bare
    return Merged(Model(joined, variables, bare, assets), {new: old for old, new in changes.items()}, removed)


def _check(first: Model, second: Model, links: Mapping[str, str]) -> None:
    if not links:
        return
    nodes = first.nodes, second.nodes
    for name, known, what in ((list(links), nodes[0], "first"), (list(links.values()), nodes[1], "second")):
        check_names(name, known, f"The {what} model has no such tensor")
    twice = sorted({one for one in links.values() if list(links.values()).count(one) > 1})
    problems = [f"'{one}' is connected twice" for one in twice]
    for out, into in links.items():
        rows = [_row(name, known) for name, known in zip((out, into), nodes)]
        missing = [name for name, row in zip((out, into), rows) if row is None]
        if missing:
            raise MissingNameError(f"There is no output {', '.join(map(repr, missing))}.", names=missing)
        source, target = rows
        assert source is not None
        assert target is not None
        if source["dtype"] and target["dtype"] and source["dtype"] != target["dtype"]:
            problems.append(f"'{out}' is {source['dtype']}, '{into}' is {target['dtype']}")
        elif not _fits(source["shape"], target["shape"]):
            problems.append(f"'{out}' has the shape {source['shape']}, '{into}' {target['shape']}")
    if problems:
        raise InvalidValueError(f"These cannot be connected:{bullets(problems)}", problems=problems)


def _row(name: str, nodes: Mapping[str, Any]) -> dict[str, Any] | None:
    rows = output_rows(nodes[node_of(name)])
    index = int(name.partition(":")[2] or 0)
    return rows[index] if index < len(rows) else None


def _fits(one: Any, other: Any) -> bool:
    if not one or not other:  # of rank 0 an old placeholder is one of which nothing is known
        return True
    return len(one) == len(other) and all(a is None or b is None or a == b for a, b in zip(one, other))


def _prefixed(model: Model, scope: str, other: Model | None) -> Model:
    """A model below a scope; its functions get other names where `other` has different ones of these."""
    functions: dict[str, str] = {}
    if other is not None and other.meta_graph is not None and model.meta_graph is not None:
        theirs = {one.signature.name: one for one in other.meta_graph.graph_def.library.function}
        taken = set(theirs)
        for one in model.meta_graph.graph_def.library.function:
            name = one.signature.name
            if name in theirs:
                made = f"{scope.strip('/').replace('/', '_')}_{name}"
                while made in taken:
                    made += "_"
                functions[name] = made
                taken.add(made)
    if OBJECT_GRAPH_KEY in model.variables:  # describes the whole of a checkpoint, which this is no more
        model = replace(
            model, variables={k: model.variables[k] for k in model.variables if k != OBJECT_GRAPH_KEY}
        )

    def change(name: str) -> str:
        return scope + name if name else name

    made_model = apply(model, Names(change, change, lambda name: name, functions))
    if made_model.meta_graph is not None:
        made_model.meta_graph.ClearField("object_graph_def")
        _modernise(made_model.meta_graph.graph_def)
    return made_model


def _modernise(graph: Any) -> None:
    """Says what is said otherwise in old graphs: nothing is known of a placeholder's shape."""
    if graph.versions.producer < _OLD_PRODUCER:
        for node in graph.node:
            if node.op == "Placeholder" and shape_from_proto(node.attr["shape"].shape) == ():
                node.attr["shape"].shape.unknown_rank = True


def _connected(graphs: Sequence[Any], links: Mapping[str, str]) -> tuple[Any, dict[str, str], list[str]]:
    """One MetaGraphDef; the new source of each replaced tensor; the placeholders that went."""
    first, second = graphs
    changes = {tensor_of(into): tensor_of(out) for out, into in links.items()}
    by_node = {node_of(into): node_of(out) for into, out in changes.items()}
    ended = {
        node.name for node in second.graph_def.node if node.name in by_node and node.op in PLACEHOLDER_OPS
    }
    joined = protos.MetaGraphDef()
    joined.CopyFrom(first)
    graph = joined.graph_def
    for node in second.graph_def.node:
        if node.name in ended:
            continue
        copy = graph.node.add()
        copy.CopyFrom(node)
        for at, text in enumerate(copy.input):
            if text[:1] == "^" and text[1:] in ended:
                copy.input[at] = f"^{by_node[text[1:]]}"
            elif text in changes:
                copy.input[at] = changes[text]
        # data first, then what is waited for, each once
        data = [text for text in copy.input if text[:1] != "^"]
        copy.input[:] = data + list(dict.fromkeys(text for text in copy.input if text[:1] == "^"))
        if "_output_shapes" in copy.attr and links:
            del copy.attr["_output_shapes"]
    graph.library.MergeFrom(second.graph_def.library)
    if not graph.library.ByteSize():
        graph.ClearField("library")
    versions, others = graph.versions, second.graph_def.versions
    versions.producer = max(versions.producer, others.producer)
    versions.min_consumer = max(versions.min_consumer, others.min_consumer)
    versions.bad_consumers[:] = sorted({*versions.bad_consumers, *others.bad_consumers})
    known = {one.name for one in joined.meta_info_def.stripped_op_list.op}
    joined.meta_info_def.stripped_op_list.op.extend(
        one for one in second.meta_info_def.stripped_op_list.op if one.name not in known
    )
    _join_collections(joined, second)
    joined.asset_file_def.extend(second.asset_file_def)
    if ended:
        keep(joined, {node.name for node in graph.node})
    return (
        joined,
        {f"{into}:0" if ":" not in into else into: out for into, out in changes.items()},
        sorted(ended),
    )


def _join_collections(joined: Any, second: Any) -> None:
    for key, collection in second.collection_def.items():
        if key not in joined.collection_def:
            joined.collection_def[key].CopyFrom(collection)
            continue
        if key in _ONE_ONLY:
            continue
        target = joined.collection_def[key]
        if target.WhichOneof("kind") != collection.WhichOneof("kind"):
            other = f"{key}_1"
            joined.collection_def[other].CopyFrom(collection)
            continue
        target.MergeFrom(collection)
    for key in _RUN_AT_LOAD:
        if key in joined.collection_def and len(joined.collection_def[key].node_list.value) > 1:
            names = list(joined.collection_def[key].node_list.value)
            group = joined.graph_def.node.add(name=f"{key}_group", op="NoOp")
            group.input.extend(f"^{node_of(name)}" for name in names)
            joined.collection_def[key].node_list.value[:] = [group.name]


def _join_signatures(
    joined: Any, graphs: Sequence[Any], scopes: Sequence[str], changes: Mapping[str, str], removed: set[str]
) -> None:
    sides = [dict(graph.signature_def) for graph in graphs]
    joined.signature_def.clear()
    for side, scope, others in zip(sides, scopes, reversed(sides)):
        for key, signature in side.items():
            if key in others:
                if all(node_of(info.name) not in removed for info in signature.inputs.values()):
                    joined.signature_def[scope + key].CopyFrom(signature)
            else:
                _add_signature(joined.signature_def[key], signature, scope, changes)
    for key in sides[0].keys() & sides[1].keys():
        target = joined.signature_def[key]
        target.method_name = sides[1][key].method_name or sides[0][key].method_name
        for side, scope in zip(sides, scopes):
            _add_signature(target, side[key], scope, changes)


def _add_signature(target: Any, signature: Any, scope: str, changes: Mapping[str, str]) -> None:
    target.method_name = target.method_name or signature.method_name
    for name in ("inputs", "outputs"):
        infos = getattr(target, name)
        for key, info in getattr(signature, name).items():
            if name == "inputs" and info.name in changes:
                continue  # it is computed now
            one = infos[scope + key if key in infos else key]
            one.CopyFrom(info)
            if info.name in changes:
                one.name = changes[info.name] if ":" in changes[info.name] else f"{changes[info.name]}:0"
