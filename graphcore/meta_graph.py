"""MetaGraphDefs: a graph with its collections, versions and saver, out of a graph and into one.

Source: tensorflow/python/framework/meta_graph.py (r1.15), behaviour only; the kinds of collections are
told by the first item's type: messages in a bytes_list, text, numbers, else names of nodes.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from ..formats import graph_file, protos
from ..formats.errors import bullets
from . import importer, registry
from .control_contexts import ControlFlowContext, context_from_proto
from .default import GraphKeys, get_default_graph, name_scope
from .errors import InvalidValueError, MissingNameError
from .graph import Graph
from .operation import Operation
from .variables import Variable

# What the files that we write say about their writer: TensorFlow checks it to tell old ways apart.
TENSORFLOW_VERSION = "1.15.0"
UNBOUND_INPUTS = "unbound_inputs"
_UNBOUND_PREFIX = "$unbound_inputs_"

_converters: dict[Any, tuple[Any, Callable[..., Any] | None, Callable[..., Any] | None]] = {}


def register_proto_function(
    collection_name: Any,
    proto_type: Any = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Says how the items of a collection are kept in a MetaGraphDef.

    Args:
        collection_name: The collection.
        proto_type: The message class.
        to_proto: From (item, export_scope=) to a message, or None for an item outside the scope.
        from_proto: From (message, import_scope=) to an item.
    """
    _converters[collection_name] = (proto_type, to_proto, from_proto)


def _register_variables() -> None:
    for key in (
        GraphKeys.GLOBAL_VARIABLES,
        GraphKeys.TRAINABLE_VARIABLES,
        GraphKeys.LOCAL_VARIABLES,
        GraphKeys.MODEL_VARIABLES,
        GraphKeys.MOVING_AVERAGE_VARIABLES,
        GraphKeys.METRIC_VARIABLES,
        GraphKeys.GLOBAL_STEP,
        GraphKeys.TRAINABLE_RESOURCE_VARIABLES,
    ):
        register_proto_function(key, "VariableDef", Variable.to_proto, Variable.from_proto)
    for key, kind in (
        (GraphKeys.COND_CONTEXT, "CondContextDef"),
        (GraphKeys.WHILE_CONTEXT, "WhileContextDef"),
    ):
        register_proto_function(key, kind, _context_to_proto, context_from_proto)  # renamed by _item


def _context_to_proto(context: Any, export_scope: str | None = None) -> Any:
    """A context's message; one that is still a message, as it was imported, is its own."""
    if isinstance(context, ControlFlowContext):
        return context.to_proto(export_scope)
    return None if export_scope else context


_register_variables()


# Writing


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: list[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    unbound_inputs_col_name: str = UNBOUND_INPUTS,
    extra_nodes: Any = (),
) -> Any:
    """The graph as a MetaGraphDef message; written to `filename` where one is given.

    Args:
        filename: Where to write it (binary, or text with `as_text`).
        meta_info_def: A MetaInfoDef to start from.
        graph_def: Nodes to export in place of the graph's.
        saver_def: The SaverDef to put in.
        collection_list: Names of the collections to export; by default all.
        as_text: Write text.
        graph: The graph; by default the default graph.
        export_scope: Only the nodes of that name scope, without the prefix.
        clear_devices: Leave the nodes' devices out.
        clear_extraneous_savers: Leave out savers other than `saver_def`.
        strip_default_attrs: Leave out attributes that have their default.
        save_debug_info: Old argument without effect.
        unbound_inputs_col_name: Collection for the names of inputs from outside of `export_scope`.
        extra_nodes: NodeDefs to add (the save and restore nodes of a Saver).

    Raises:
        ValueError: Nothing is in `export_scope`.
    """
    graph = graph or get_default_graph()
    meta = protos.MetaGraphDef()
    if meta_info_def is not None:
        meta.meta_info_def.CopyFrom(
            importer.as_message(meta_info_def, protos.MetaGraphDef.MetaInfoDef, "meta_info_def")
        )
    unbound: list[str] = []
    if graph_def is None:
        _export_nodes(meta.graph_def, graph, export_scope, strip_default_attrs, unbound)
        meta.graph_def.node.extend(extra_nodes)
    else:
        meta.graph_def.CopyFrom(importer.as_message(graph_def, protos.GraphDef, "graph_def"))
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    if not meta.meta_info_def.tensorflow_version:
        meta.meta_info_def.tensorflow_version = TENSORFLOW_VERSION
        meta.meta_info_def.tensorflow_git_version = "sgtool"
    meta.meta_info_def.stripped_default_attrs = strip_default_attrs
    if not meta.meta_info_def.stripped_op_list.op:
        add_op_list(meta, graph)
    for name in graph.get_all_collection_keys() if collection_list is None else collection_list:
        if clear_extraneous_savers and name == GraphKeys.SAVERS:
            continue
        add_collection(meta, name, graph.get_collection(name), export_scope)
    if export_scope is None:
        for name, signature in graph._signatures.items():
            meta.signature_def[name].CopyFrom(signature)
    if unbound:
        meta.collection_def[unbound_inputs_col_name].bytes_list.value.extend(
            item.encode() for item in unbound
        )
    if saver_def is not None:
        meta.saver_def.CopyFrom(importer.as_message(saver_def, protos.SaverDef, "saver_def"))
    if filename is not None:
        graph_file.write_graph(filename, meta, text=as_text)
    return meta


def _export_nodes(target: Any, graph: Graph, scope: str | None, strip: bool, unbound: list[str]) -> None:
    whole = protos.GraphDef()
    whole.versions.CopyFrom(graph.versions)
    prefix = f"{scope}/" if scope else ""
    for operation in graph.get_operations():
        if prefix and not operation.name.startswith(prefix):
            continue
        node = operation.to_proto(strip_defaults=strip, shapes=True)
        if prefix:
            _strip_scope(node, prefix, unbound)
        whole.node.append(node)
    if prefix and not whole.node:
        raise InvalidValueError(f"There is nothing in the name scope '{scope}' to export")
    for function in graph._functions.values():
        whole.library.function.append(function)
    whole.library.gradient.extend(graph._gradient_defs)
    if not whole.library.ByteSize():
        whole.ClearField("library")
    target.CopyFrom(whole)


def _strip_scope(node: Any, prefix: str, unbound: list[str]) -> None:
    node.name = node.name.removeprefix(prefix)
    for index, text in enumerate(node.input):
        mark = "^" if text.startswith("^") else ""
        bare = text.removeprefix("^")
        if bare.startswith(prefix):
            node.input[index] = mark + bare.removeprefix(prefix)
        else:
            node.input[index] = mark + _UNBOUND_PREFIX + bare
            if node.input[index] not in unbound:
                unbound.append(node.input[index])
    if "_class" in node.attr:
        values = node.attr["_class"].list.s
        for index, group in enumerate(list(values)):
            name = group.decode().removeprefix("loc:@")
            if group.startswith(b"loc:@") and name.startswith(prefix):
                values[index] = b"loc:@" + name.removeprefix(prefix).encode()


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


def add_collection(meta: Any, name: Any, items: list[Any], export_scope: str | None = None) -> None:
    """Adds one collection; one whose items cannot be kept in a file is left out with a warning."""
    if not items:
        return
    if not isinstance(name, str):
        return
    target = protos.CollectionDef()
    try:
        _fill_collection(target, name, items, export_scope)
    except (TypeError, AttributeError) as error:
        warnings.warn(
            f"Collection '{name}' is not written: an item of type {type(items[0]).__name__} cannot be "
            "kept in a "
            f"MetaGraphDef ({error})",
            stacklevel=2,
        )
        return
    if target.WhichOneof("kind"):
        meta.collection_def[name].CopyFrom(target)


def _fill_collection(target: Any, name: str, items: list[Any], scope: str | None) -> None:
    first = items[0]
    if hasattr(first, "to_proto") and not isinstance(first, Operation):
        values = []
        for item in items:
            proto = item.to_proto(export_scope=scope) if hasattr(item, "to_proto") else item
            if proto is not None:
                values.append(proto.SerializeToString(deterministic=True))
        target.bytes_list.value.extend(values)
    elif isinstance(first, (str, bytes)):
        target.bytes_list.value.extend(item.encode() if isinstance(item, str) else item for item in items)
    elif isinstance(first, bool):
        target.int64_list.value.extend(int(item) for item in items)
    elif isinstance(first, int):
        target.int64_list.value.extend(items)
    elif isinstance(first, float):
        target.float_list.value.extend(items)
    elif hasattr(first, "DESCRIPTOR") and first.DESCRIPTOR.name == "Any":
        target.any_list.value.extend(items)
    elif hasattr(first, "DESCRIPTOR"):
        target.bytes_list.value.extend(item.SerializeToString(deterministic=True) for item in items)
    else:
        prefix = f"{scope}/" if scope else ""
        names = [str(item.name) for item in items]
        target.node_list.value.extend(item.removeprefix(prefix) for item in names if item.startswith(prefix))


# Reading


def read_meta_graph(meta_graph_or_file: Any) -> Any:
    """A MetaGraphDef message from a message, serialized bytes, or a file (binary or text).

    Raises:
        InvalidValueError: The file is a graph of another kind.
        OpError: It cannot be read.
    """
    if not isinstance(meta_graph_or_file, (str, os.PathLike)):
        return importer.as_message(meta_graph_or_file, protos.MetaGraphDef, "meta_graph_def")
    found = graph_file.read_graph(meta_graph_or_file)
    if found.kind == "saved_model":
        graphs = found.message.meta_graphs
        if len(graphs) == 1:
            return graphs[0]
        raise InvalidValueError(
            f"{found.path} is a SavedModel with {len(graphs)} graphs; load it by its tags."
        )
    if found.kind != "meta_graph_def":
        raise InvalidValueError(
            f"{found.path} is a GraphDef, not a MetaGraphDef: it has no collections and no saver. "
            "Use import_graph_def.",
            path=str(found.path),
        )
    return found.message


class Imported:
    """What came in with a MetaGraphDef.

    Attributes:
        meta: The message.
        operations: The new operations by their names in the message.
        variables: The new variables by their names in the message.
    """

    def __init__(self, meta: Any, operations: dict[str, Operation]) -> None:
        self.meta = meta
        self.operations = operations
        self.variables: dict[str, Any] = {}

    def rename(self, name: str) -> str:
        """The name now of an operation or tensor that the message calls `name`."""
        base, colon, index = name.rpartition(":")
        if not colon:
            base = name
        operation = self.operations.get(base)
        return name if operation is None else operation.name + (f":{index}" if colon else "")


def import_meta(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
) -> Imported:
    """Adds a MetaGraphDef's nodes and collections to a graph.

    Where names are taken already, the new nodes get other names, and the collections follow.

    Raises:
        ValueError: The graph is inconsistent, or it needs inputs that `input_map` does not give.
        KeyError: Collections name nodes that do not exist; all of them are listed.
    """
    meta = read_meta_graph(meta_graph_or_file)
    graph = graph or get_default_graph()
    if unbound_inputs_col_name and unbound_inputs_col_name in meta.collection_def:
        needed = [item.decode() for item in meta.collection_def[unbound_inputs_col_name].bytes_list.value]
        missing = [item for item in needed if item not in (input_map or {})]
        if missing:
            raise InvalidValueError(
                f"Graph contains unbound inputs: {', '.join(missing)}. Must provide these inputs "
                "through input_map."
            )
    graph_def = meta.graph_def
    if clear_devices:
        graph_def = protos.GraphDef()
        graph_def.CopyFrom(meta.graph_def)
        for node in graph_def.node:
            node.device = ""
    definitions = {item.name: item for item in meta.meta_info_def.stripped_op_list.op}
    mapped = {importer._key(key): value for key, value in (input_map or {}).items()}
    with graph.as_default():
        with name_scope(import_scope or None) as scope:
            loader = importer.Importer(graph, scope, definitions, mapped)
            loader.add(graph_def)
        imported = Imported(meta, loader.operations)
        _import_signatures(imported, graph)
        _import_collections(imported, graph, scope[:-1] if scope else "", restore_collections_predicate)
    return imported


def _import_signatures(imported: Imported, graph: Graph) -> None:
    """Takes signatures over under the names that the tensors have now; one that is there already stays."""
    for name, signature in imported.meta.signature_def.items():
        copy = protos.SignatureDef()
        copy.CopyFrom(signature)
        for infos in (copy.inputs, copy.outputs):
            for info in infos.values():
                if info.name:
                    info.name = imported.rename(info.name)
        graph._signatures.setdefault(name, copy)


def _import_collections(imported: Imported, graph: Graph, scope: str, wanted: Callable[[str], bool]) -> None:
    meta = imported.meta
    problems: list[str] = []
    shared: dict[bytes, Any] = {}
    for key in sorted(meta.collection_def):
        if not wanted(key) or key == UNBOUND_INPUTS:
            continue
        collection = meta.collection_def[key]
        kind = collection.WhichOneof("kind")
        if kind is None:
            continue
        values = getattr(collection, kind).value
        for value in values:
            try:
                item = _item(imported, graph, key, kind, value, scope, shared)
            except (KeyError, ValueError) as error:
                problems.append(f"collection '{key}': {error}")
                continue
            graph.add_to_collection(key, item)
    if problems:
        raise MissingNameError("The collections do not fit the graph:" + bullets(problems), problems=problems)


def _item(
    imported: Imported, graph: Graph, key: str, kind: str, value: Any, scope: str, shared: dict[bytes, Any]
) -> Any:
    if kind == "node_list":
        return graph.as_graph_element(imported.rename(value))
    converter = _converters.get(key)
    if kind != "bytes_list" or converter is None or converter[2] is None:
        return value
    if value in shared:  # one variable in several collections is one object
        return shared[value]
    message = protos.parse(getattr(protos, converter[0]), value, f"an item of collection '{key}'")
    if converter[0] in _CONTEXTS:
        item = context_from_proto(message, scope, imported.rename)
    else:
        item = converter[2](_renamed(message, imported))
    shared[value] = item
    if isinstance(item, Variable):
        imported.variables[message.variable_name] = item
    return item


_CONTEXTS = frozenset({"CondContextDef", "WhileContextDef"})
_NAME_FIELDS = (
    "variable_name", "initializer_name", "snapshot_name", "initial_value_name",
    "filename_tensor_name", "save_tensor_name", "restore_op_name",
    "queue_name", "close_op_name", "cancel_op_name",
)  # fmt: skip


def _renamed(message: Any, imported: Imported) -> Any:
    """A copy of a collection's message whose names are those in the graph now."""
    copy = type(message)()
    copy.CopyFrom(message)
    for name in _NAME_FIELDS:
        value = getattr(copy, name, "")
        if value:
            setattr(copy, name, imported.rename(value))
    values = getattr(copy, "enqueue_op_name", None)
    if values is not None:
        renamed = [imported.rename(value) for value in values]
        del values[:]
        values.extend(renamed)
    return copy
