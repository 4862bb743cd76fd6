"""Graphs, or name scopes of them, as MetaGraphDefs.

Source: tensorflow/python/framework/meta_graph.py (r1.15), behaviour only.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import Any

from ..formats import graph_file, protos
from ..formats.errors import bullets
from . import importer, registry
from .default import GraphKeys, get_default_graph
from .errors import InvalidStateError, InvalidTypeError, InvalidValueError
from .graph import Graph
from .meta_graph import UNBOUND_INPUTS, UNBOUND_PREFIX, converter_of, import_meta

# What the files that we write say about their writer: TensorFlow checks it to tell old ways apart.
TENSORFLOW_VERSION = "1.15.0"
_SAVER_OPS = frozenset(
    {"SaveV2", "Save", "SaveSlices", "RestoreV2", "Restore", "RestoreSlice", "MergeV2Checkpoints"}
)


def export_meta_graph(
    filename: str | os.PathLike[str] | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Iterable[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
    extra_nodes: Any = (),
) -> Any:
    """The graph as a MetaGraphDef message; written to `filename` where one is given.

    Args:
        filename: Where to write it (binary, or text with `as_text`).
        meta_info_def: A MetaInfoDef to start from.
        graph_def: Nodes to export in place of the graph's.
        saver_def: The SaverDef to put in; left out where its nodes are not exported.
        collection_list: Names of the collections to export; by default all.
        as_text: Write text.
        graph: The graph; by default the default graph.
        export_scope: Only the nodes of that name scope, without the prefix.
        clear_devices: Leave the nodes' devices out.
        clear_extraneous_savers: Leave out savers other than `saver_def`, and their nodes.
        strip_default_attrs: Leave out attributes that have their default.
        save_debug_info: Old argument without effect.
        unbound_inputs_col_name: Collection for the names of inputs from outside of `export_scope`.
        extra_nodes: NodeDefs to add (the save and restore nodes of a Saver).

    Raises:
        TypeError: A message is of another type.
        ValueError: Nothing is in `export_scope`.
    """
    graph = graph or get_default_graph()
    if not isinstance(graph, Graph):
        raise InvalidTypeError(f"graph must be of type Graph, not {type(graph).__name__}")
    meta = protos.MetaGraphDef()
    if meta_info_def is not None:
        meta.meta_info_def.CopyFrom(
            importer.as_message(meta_info_def, protos.MetaGraphDef.MetaInfoDef, "meta_info_def")
        )
    if saver_def is not None:
        saver_def = importer.as_message(saver_def, protos.SaverDef, "saver_def")
    if graph_def is None:
        for saver in graph.get_collection(GraphKeys.SAVERS):
            if hasattr(saver, "as_saver_def") and not graph.finalized:
                saver.as_saver_def()  # its nodes have to be there
        whole = graph_message(graph)
        whole.node.extend(extra_nodes)
    else:
        whole = importer.as_message(graph_def, protos.GraphDef, "graph_def")
    excluded = _other_savers(whole, saver_def) if clear_extraneous_savers else frozenset()
    unbound: list[str] = []
    _add_nodes(meta.graph_def, whole, export_scope, excluded, unbound)
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    if strip_default_attrs:
        strip_default_attributes(meta.graph_def)
    if not meta.meta_info_def.tensorflow_version:
        meta.meta_info_def.tensorflow_version = TENSORFLOW_VERSION
        meta.meta_info_def.tensorflow_git_version = "sgtool"
    meta.meta_info_def.stripped_default_attrs = strip_default_attrs
    if not meta.meta_info_def.stripped_op_list.op:
        add_op_list(meta, graph)
    collections = _Collections(meta, export_scope, excluded)
    for name in graph.get_all_collection_keys() if collection_list is None else collection_list:
        if clear_extraneous_savers and name == GraphKeys.SAVERS:
            if saver_def is not None:
                values = meta.collection_def[name].bytes_list.value
                values.append(saver_def.SerializeToString(deterministic=True))
            continue
        collections.add(name, graph.get_collection(name))
    if export_scope is None:
        for name, signature in graph._signatures.items():
            meta.signature_def[name].CopyFrom(signature)
    if unbound and unbound_inputs_col_name:
        meta.collection_def[unbound_inputs_col_name].bytes_list.value.extend(
            item.encode() for item in unbound
        )
    if saver_def is not None:
        _add_saver(meta, saver_def, export_scope)
    if filename is not None:
        graph_file.write_graph(filename, meta, text=as_text)
    return meta


def graph_message(graph: Graph) -> Any:
    """The graph as a GraphDef message, with the shapes of outputs."""
    whole = protos.GraphDef()
    whole.versions.CopyFrom(graph.versions)
    whole.node.extend(operation.to_proto(shapes=True) for operation in graph.get_operations())
    whole.library.function.extend(graph._functions.values())
    whole.library.gradient.extend(graph._gradient_defs)
    if not whole.library.ByteSize():
        whole.ClearField("library")
    return whole


def _add_nodes(
    target: Any, whole: Any, scope: str | None, excluded: frozenset[str], unbound: list[str]
) -> None:
    """Copies a GraphDef, or what is in a scope of it, without the nodes of other savers."""
    if not scope and not excluded:
        target.CopyFrom(whole)
        return
    prefix = f"{scope}/" if scope else ""
    target.versions.CopyFrom(whole.versions)
    if whole.HasField("library"):
        target.library.CopyFrom(whole.library)
    for node in whole.node:
        if node.name in excluded or not node.name.startswith(prefix):
            continue
        copy = target.node.add()
        copy.CopyFrom(node)
        if prefix:
            _strip_scope(copy, prefix, unbound)
    if prefix and not target.node:
        raise InvalidValueError(f"There is nothing in the name scope '{scope}' to export")


def _strip_scope(node: Any, prefix: str, unbound: list[str]) -> None:
    node.name = node.name.removeprefix(prefix)
    for index, text in enumerate(node.input):
        mark = "^" if text.startswith("^") else ""
        bare = text.removeprefix("^")
        if bare.startswith(prefix):
            node.input[index] = mark + bare.removeprefix(prefix)
        else:
            node.input[index] = mark + UNBOUND_PREFIX + bare
            if node.input[index] not in unbound:
                unbound.append(node.input[index])
    if "_class" in node.attr:  # a group outside is left: nobody could be there
        groups = [group.decode().removeprefix("loc:@") for group in node.attr["_class"].list.s]
        inside = [name.removeprefix(prefix) for name in groups if name.startswith(prefix)]
        del node.attr["_class"]
        if inside:
            node.attr["_class"].list.s.extend(f"loc:@{name}".encode() for name in inside)
    if node.op in ("Enter", "RefEnter"):
        frame = node.attr["frame_name"].s.decode()
        node.attr["frame_name"].s = frame.removeprefix(prefix).encode()


def _other_savers(graph_def: Any, saver_def: Any) -> frozenset[str]:
    """The names of the nodes in scopes of savers, but those of the scopes that `saver_def` names."""
    kept = set()
    if saver_def is not None:
        kept = {_scope_of(saver_def.save_tensor_name), _scope_of(saver_def.restore_op_name)}
    scopes = {_scope_of(node.name) for node in graph_def.node if node.op in _SAVER_OPS} - kept - {""}
    prefixes = tuple(f"{scope}/" for scope in scopes)
    return frozenset(node.name for node in graph_def.node if node.name.startswith(prefixes))


def _scope_of(name: str) -> str:
    return name.rpartition("/")[0]


def strip_default_attributes(graph_def: Any) -> None:
    """Takes attributes that have their default out of all nodes, those of functions too.

    A node whose op is a function, or not known, stays as it is.
    """
    defaults: dict[str, dict[str, Any]] = {}
    functions = graph_def.library.function
    own = {function.signature.name for function in functions}
    for nodes in (graph_def.node, *(function.node_def for function in functions)):
        for node in nodes:
            if node.op not in defaults:
                kind = registry.find(node.op) if node.op not in own else None
                declared = kind.definition.to_proto().attr if kind is not None else ()
                defaults[node.op] = {
                    attr.name: attr.default_value for attr in declared if attr.HasField("default_value")
                }
            for name, value in defaults[node.op].items():
                if name in node.attr and node.attr[name] == value:
                    del node.attr[name]


def _add_saver(meta: Any, saver_def: Any, scope: str | None) -> None:
    prefix = f"{scope}/" if scope else ""
    copy = protos.SaverDef()
    copy.CopyFrom(saver_def)
    names = {node.name for node in meta.graph_def.node}
    for key in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
        name = getattr(copy, key)
        if prefix and not (name.startswith(prefix) and name.removeprefix(prefix).partition(":")[0] in names):
            return
        setattr(copy, key, name.removeprefix(prefix))
    meta.saver_def.CopyFrom(copy)


def add_op_list(meta: Any, graph: Graph | None = None) -> None:
    """Fills `stripped_op_list` with the declarations of the ops that the nodes use, by name."""
    used = {node.op for node in meta.graph_def.node}
    for function in meta.graph_def.library.function:
        used.update(node.op for node in function.node_def)
    known: dict[str, Any] = {}
    for name in used:
        kind = registry.find(name)
        if kind is not None:
            known[name] = kind.definition.to_proto()
    if graph is not None:
        for operation in graph.get_operations():
            if operation.kind is None and operation.definition is not None and operation.type in used:
                known.setdefault(
                    operation.type, operation.definition.extra or operation.definition.to_proto()
                )
    meta.meta_info_def.stripped_op_list.op.extend(known[name] for name in sorted(known))


class _Collections:
    """Adds collections to a MetaGraphDef whose nodes are there already."""

    def __init__(self, meta: Any, scope: str | None, excluded: frozenset[str] = frozenset()) -> None:
        self.meta = meta
        self.scope = scope
        self.prefix = f"{scope}/" if scope else ""
        self.excluded = excluded
        self.names = {node.name for node in meta.graph_def.node}

    def add(self, name: Any, items: list[Any]) -> None:
        """Adds one; one whose items cannot be kept in a file is left out with a warning."""
        if not isinstance(name, str):
            warnings.warn(
                f"Only collections with string type keys will be serialized. This key has {type(name)}",
                stacklevel=4,
            )
            return
        chosen = [item for item in items if self._included(item)]
        if not chosen:
            return
        target = protos.CollectionDef()
        try:
            lost = self._fill(target, name, chosen)
        except (TypeError, AttributeError, ValueError, InvalidStateError) as error:
            warnings.warn(
                f"Issue encountered when serializing {name}: an item of type {type(chosen[0]).__name__} "
                f"cannot be kept in a MetaGraphDef ({error}). The collection is not written.",
                stacklevel=4,
            )
            return
        if lost:
            warnings.warn(
                f"These items of collection {name} are not written, since the graph has no such nodes:"
                f"{bullets(lost)}",
                stacklevel=4,
            )
        if target.WhichOneof("kind"):
            self.meta.collection_def[name].CopyFrom(target)

    def _included(self, item: Any) -> bool:
        name = item if isinstance(item, str) else getattr(item, "name", None)
        if not isinstance(name, str):
            return True
        return name.partition(":")[0] not in self.excluded and (
            name.startswith((self.prefix, UNBOUND_PREFIX))
        )

    def _fill(self, target: Any, name: str, items: list[Any]) -> list[str]:
        """Writes the items; gives the names of those whose nodes do not exist."""
        first, to_proto = items[0], converter_of(name)
        if to_proto is not None:
            messages = [to_proto(item, export_scope=self.scope) for item in items]
            target.bytes_list.value.extend(
                one.SerializeToString(deterministic=True) for one in messages if one is not None
            )
        elif isinstance(first, (str, bytes)):
            target.bytes_list.value.extend(item.encode() if isinstance(item, str) else item for item in items)
        elif isinstance(first, int):
            target.int64_list.value.extend(int(item) for item in items)
        elif isinstance(first, float):
            target.float_list.value.extend(items)
        elif hasattr(first, "DESCRIPTOR") and first.DESCRIPTOR.name == "Any":
            for item in items:  # it may be of a pool of its own
                target.any_list.value.add().MergeFromString(item.SerializeToString())
        elif hasattr(first, "DESCRIPTOR"):
            target.bytes_list.value.extend(item.SerializeToString(deterministic=True) for item in items)
        else:
            names = [str(item.name).removeprefix(self.prefix) for item in items]
            known = [one for one in names if one.partition(":")[0] in self.names]
            target.node_list.value.extend(known)
            return [one for one in names if one not in known]
        return []


# Of a scope


def export_scoped_meta_graph(
    filename: str | None = None,
    graph_def: Any = None,
    graph: Graph | None = None,
    export_scope: str | None = None,
    as_text: bool = False,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
    clear_devices: bool = False,
    saver_def: Any = None,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> tuple[Any, dict[str, Any]]:
    """As `export_meta_graph`, together with the variables of the scope by their names there.

    The names of inputs from outside of the scope are also put into the graph's own collection.
    """
    graph = graph or get_default_graph()
    meta = export_meta_graph(
        filename,
        graph_def=graph_def,
        graph=graph,
        export_scope=export_scope,
        as_text=as_text,
        unbound_inputs_col_name=unbound_inputs_col_name,
        clear_devices=clear_devices,
        saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        **kwargs,
    )
    if unbound_inputs_col_name and export_scope:
        graph.clear_collection(unbound_inputs_col_name)
        for item in meta.collection_def[unbound_inputs_col_name].bytes_list.value:
            graph.add_to_collection(unbound_inputs_col_name, item.decode())
        if not meta.collection_def[unbound_inputs_col_name].bytes_list.value:
            del meta.collection_def[unbound_inputs_col_name]
    prefix = f"{export_scope}/" if export_scope else ""
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    return meta, {each.name.removeprefix(prefix): each for each in variables if each.name.startswith(prefix)}


def import_scoped_meta_graph(meta_graph_or_file: Any, **kwargs: Any) -> dict[str, Any]:
    """As `meta_graph.import_meta`; gives the new variables by their names in the message."""
    imported = import_meta(meta_graph_or_file, **kwargs)
    return dict(imported.variables)


def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file: Any, return_elements: Iterable[str] | None = None, **kwargs: Any
) -> tuple[dict[str, Any], list[Any] | None]:
    """As `import_scoped_meta_graph`, together with the operations and tensors of the names asked for."""
    imported = import_meta(meta_graph_or_file, return_elements=return_elements, **kwargs)
    return dict(imported.variables), imported.returned


def copy_scoped_meta_graph(
    from_scope: str, to_scope: str, from_graph: Graph | None = None, to_graph: Graph | None = None
) -> dict[str, Any]:
    """Copies what is in a name scope to another, of the same graph or not.

    Returns:
        The new variables by their names in the scope.

    Raises:
        ValueError: It is the same place.
    """
    from_graph, to_graph = from_graph or get_default_graph(), to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise InvalidValueError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same graph."
        )
    meta, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(meta, graph=to_graph, import_scope=to_scope)
