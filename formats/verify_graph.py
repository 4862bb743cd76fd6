"""A graph file, checked: does it parse, do the nodes connect, are its constants whole?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from . import files, protos, session_bundle
from .errors import (
    DataLossError,
    InvalidArgumentError,
    InvalidTypeError,
    InvalidValueError,
    OpError,
    ResourceExhaustedError,
    UnimplementedError,
    is_unreadable,
)
from .graph_facts import output_rows
from .graph_file import GraphFile, decode_graph, read_graph
from .graph_salvage import whole_part
from .saved_variables import SavedVariable, saved_variables
from .tensor_proto import to_array
from .verification import Damage, Verification, damage_of
from .verify_causes import causes_of


def verify_graph(path: str) -> Verification:
    """Checks a graph file or the SavedModel in a directory; what is wrong is in the answer.

    Raises:
        MissingFileError: No such file.
    """
    found = Verification(path, "graph")
    try:
        graph = read_graph(path)
    except OpError as error:
        if is_unreadable(error):
            found.damaged.append(damage_of("", error, path))
            return found
        if not isinstance(error, (DataLossError, InvalidValueError)):
            raise
        where = error.fields.get("path") or path
        found.damaged.append(Damage("", "structure", where, str(error), error.fields.get("offset")))
        if files.is_file(where) and isinstance(error, DataLossError) and "as text" not in str(error):
            found.causes += causes_of(where)
            _check_what_is_whole(where, found)
        return found
    found.format = graph.kind
    found.path = graph.path
    found.graph = graph
    _check(graph, graph.path, found)
    versioned = graph.kind != "graph_def" or graph.message.HasField("versions") or graph.message.version
    if not (versioned or graph.text):
        found.notes.append(
            "It has no version, which TensorFlow writes behind the nodes: another program wrote it, or it is "
            "cut off exactly at the end of a node."
        )
    _check_assets(graph, found)
    if graph.kind == "saved_model":
        check_variables(graph, found)
    if found.whole and graph.kind == "meta_graph_def":
        found.meta_graph = protos.encode(graph.message)
    return found


def _check_what_is_whole(path: str, found: Verification) -> None:
    """Of a graph that does not decode the nodes that are whole, their constants checked."""
    try:
        salvaged = whole_part(files.read_found(path), path)
    except OpError:
        return
    if salvaged is None:
        return
    found.graph = salvaged.graph
    nodes, passed = salvaged.nodes, salvaged.passed_over
    for node in nodes:
        if node.op == "Const":
            _check_constant(node, path, found, "")
    constants = sum(node.op == "Const" for node in nodes)
    these = "node is" if len(nodes) == 1 else "nodes are"
    lost = f" ({passed} before it {'is' if passed == 1 else 'are'} not)" if passed else ""
    found.notes.append(
        f"{len(nodes)} {these} whole before the place where it breaks{lost}, {constants} of them constants; "
        f"the last is '{nodes[-1].name}'."
    )
    dangling = salvaged.dangling()
    if dangling:
        found.notes.append(f"{len(dangling)} of these take inputs that are lost: {_listed(dangling)}.")


def _check_assets(graph: GraphFile, found: Verification) -> None:
    """A SavedModel has its files beside it; a graph that was copied out of its export may lack them."""
    folder = os.path.join(os.path.dirname(graph.path), "assets")
    for meta in graph.meta_graphs:
        for tensor, name in session_bundle.assets(meta).items():
            asset = os.path.join(folder, name)
            if files.is_file(asset):
                continue
            why = f"The asset {asset}, whose path {tensor} is fed, does not exist."
            if graph.kind == "saved_model":
                found.damaged.append(Damage("", "missing", asset, why))
            else:
                found.notes.append(why)


def check_variables(graph: GraphFile, found: Verification) -> None:
    """A SavedModel whose graph restores variables has their values beside it."""
    index = os.path.join(os.path.dirname(graph.path), "variables", "variables.index")
    if files.is_file(index):
        return
    keys: dict[str, SavedVariable] = {}
    for meta in graph.meta_graphs:
        if meta.saver_def.restore_op_name:  # without one its variables are made anew in every process
            keys |= saved_variables(meta.graph_def, meta.saver_def)
    if keys:
        what = "variable" if len(keys) == 1 else "variables"
        why = f"{index} does not exist: the values of {len(keys)} {what} are lost ({_listed(list(keys))})."
        found.damaged.append(Damage("", "missing", index, why))


def check_message(data: bytes, where: str, found: Verification) -> None:
    """Checks the graph that a store keeps beside its tensors, and adds what is wrong to `found`."""
    try:
        graph = decode_graph(data, where)
    except (DataLossError, InvalidValueError) as error:
        found.damaged.append(Damage("", "structure", where, str(error)))
        return
    damaged = len(found.damaged)
    constants = Verification(where, "graph")
    _check(graph, where, constants)
    found.damaged += constants.damaged
    if len(found.damaged) == damaged:
        found.meta_graph = data


def _check(graph: GraphFile, where: str, found: Verification) -> None:
    metas = graph.meta_graphs
    for graph_def in [meta.graph_def for meta in metas] or [graph.message]:
        _check_nodes(graph_def.node, where, found)
        for function in graph_def.library.function:
            arguments = [one.name for one in function.signature.input_arg]
            _check_nodes(function.node_def, where, found, f"function {function.signature.name}: ", arguments)
    for meta in metas:
        nodes = {node.name: node for node in meta.graph_def.node}
        _check_outputs(meta, nodes, where, found)
        _check_meta(meta, set(nodes), where, found)


def _check_nodes(
    nodes: Iterable[Any], where: str, found: Verification, scope: str = "", arguments: Iterable[str] = ()
) -> None:
    """Names are unique, inputs exist, constants can be read."""
    names: set[str] = set(arguments)
    for node in nodes:
        if node.name in names:
            found.damaged.append(
                Damage(node.name, "structure", where, f"{scope}Two nodes are called '{node.name}'.")
            )
        names.add(node.name)
    for node in nodes:
        sources = [one[1:] if one[:1] == "^" else one.partition(":")[0] for one in node.input]
        missing = [one for one in dict.fromkeys(sources) if one not in names]
        if missing:
            why = f"{scope}Node '{node.name}' ({node.op}) takes its input from {_listed(missing)}, not there."
            found.damaged.append(Damage(node.name, "structure", where, why))
        if node.op == "Const":
            _check_constant(node, where, found, scope)


def _check_outputs(meta: Any, nodes: dict[str, Any], where: str, found: Verification) -> None:
    """Inputs name outputs that there are, as far as the file's list of ops says how many."""
    op_defs = {op.name: op for op in meta.meta_info_def.stripped_op_list.op}
    for node in nodes.values():
        for source in node.input:
            name, _, index = source.partition(":")
            given = nodes.get(name)
            if not index.isdigit() or given is None or given.op not in op_defs:
                continue
            count = len(output_rows(given, op_defs[given.op]))
            if int(index) >= count:
                have = f"{given.op} has {count} output{'' if count == 1 else 's'}"
                why = f"Node '{node.name}' ({node.op}) takes {source}, but {have}."
                found.damaged.append(Damage(node.name, "structure", where, why))


def _check_constant(node: Any, where: str, found: Verification, scope: str) -> None:
    if "value" not in node.attr:
        why = f"{scope}The constant '{node.name}' has no value."
        found.damaged.append(Damage(node.name, "structure", where, why))
        return
    try:
        array = to_array(node.attr["value"].tensor, f"{scope}The constant '{node.name}'")
    except (UnimplementedError, InvalidTypeError) as error:
        found.unread[scope + node.name] = str(error)
    except (DataLossError, InvalidArgumentError, ResourceExhaustedError) as error:
        why = str(error)
        found.damaged.append(Damage(node.name, "structure", where, why))
    else:
        if not scope:
            found.intact.append(node.name)
        found.nbytes += array.nbytes if array.dtype != object else 0  # of strings `inspect` counts none


def _check_meta(meta: Any, names: set[str], where: str, found: Verification) -> None:
    """What signatures and saver name must be there; collections may name what was cut away."""
    for key, signature in meta.signature_def.items():
        for direction in (signature.inputs, signature.outputs):
            for argument, info in direction.items():
                if info.WhichOneof("encoding") == "name" and info.name.partition(":")[0] not in names:
                    why = f"Signature '{key}' names {info.name} as '{argument}', which is not in the graph."
                    found.damaged.append(Damage(info.name, "structure", where, why))
    saver = meta.saver_def
    wanted = (saver.filename_tensor_name, saver.save_tensor_name, saver.restore_op_name)
    for name in filter(None, wanted):
        if name.partition(":")[0] not in names:
            why = f"The saver's node {name} is not in the graph."
            found.damaged.append(Damage(name, "structure", where, why))
    for key, collection in meta.collection_def.items():
        gone = [one for one in collection.node_list.value if one.partition(":")[0] not in names]
        if gone:
            found.notes.append(f"Collection '{key}' names {_listed(gone)}, not in the graph.")


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
