"""MetaGraphDefs: a graph with its collections, versions and saver, put into a graph.

Source: tensorflow/python/framework/meta_graph.py (r1.15), behaviour only; the kinds of collections are
told by the first item's type: messages in a bytes_list, text, numbers, else names of nodes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from ..formats import graph_file, protos
from ..formats.errors import bullets
from . import importer
from .context_protos import context_from_proto
from .control_contexts import ControlFlowContext
from .default import GraphKeys, get_default_graph, name_scope
from .errors import InvalidValueError, MissingNameError
from .graph import Graph
from .operation import Operation
from .variables import Variable

UNBOUND_INPUTS = "unbound_inputs"
UNBOUND_PREFIX = "$unbound_inputs_"

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


def converter_of(collection_name: Any) -> Callable[..., Any] | None:
    """What makes messages of the items of a collection, or None."""
    return _converters.get(collection_name, (None, None, None))[1]


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
        returned: The operations and tensors that were asked for, or None.
    """

    def __init__(self, meta: Any, operations: dict[str, Operation]) -> None:
        self.meta = meta
        self.operations = operations
        self.variables: dict[str, Any] = {}
        self.returned: list[Any] | None = None

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
    return_elements: Iterable[str] | None = None,
) -> Imported:
    """Adds a MetaGraphDef's nodes and collections to a graph.

    Where names are taken already, the new nodes get other names, and the collections follow.

    Args:
        meta_graph_or_file: The message, its bytes, or a file.
        clear_devices: Leave the nodes' devices out.
        graph: The graph; by default the default graph.
        import_scope: Prefix of all names.
        input_map: Tensors by the names of those in the message whose place they take.
        unbound_inputs_col_name: The collection that says which of them are needed.
        restore_collections_predicate: From the name of a collection to whether to restore it.
        return_elements: Names in the message of operations and tensors to give back.

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
        here = graph.get_name_scope()
        with name_scope(import_scope or (f"{here}/" if here else None)) as scope:
            loader = importer.Importer(graph, scope, definitions, mapped)
            loader.add(graph_def)
        imported = Imported(meta, loader.operations)
        if return_elements is not None:
            imported.returned = loader.elements(return_elements)
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
    first = GraphKeys.TRAINABLE_VARIABLES  # of old files it alone says what is trained
    for key in sorted(meta.collection_def, key=lambda key: (key != first, key)):
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
    if converter[0] == "VariableDef" and _is_old(imported.meta):
        message.trainable = key == GraphKeys.TRAINABLE_VARIABLES
    if converter[0] in _CONTEXTS:
        item = context_from_proto(message, scope, imported.rename)
    else:
        item = converter[2](_renamed(message, imported))
    shared[value] = item
    if isinstance(item, Variable):
        imported.variables[message.variable_name] = item
    return item


def _is_old(meta: Any) -> bool:
    """Whether it is of a TensorFlow before 1.9, whose variables do not say if they are trained."""
    match = re.match(r"(\d+)\.(\d+)", meta.meta_info_def.tensorflow_version)
    return match is not None and (int(match[1]), int(match[2])) < (1, 9)


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
