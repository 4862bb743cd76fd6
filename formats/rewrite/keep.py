"""Nodes taken out of a graph, and with them whatever in the MetaGraphDef speaks of them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from .. import protos
from .model import node_of
from .names import called_functions, decoded


def keep(meta_graph: Any, names: Collection[str]) -> None:
    """Keeps only some nodes, in place.

    What waited for or lay beside another does so no more. Gone are the items of collections, signatures
    and assets that name another, and functions that nothing calls. That no node needs the output of one
    that goes is for the caller to see to.

    Args:
        meta_graph: The MetaGraphDef.
        names: The names of the nodes that stay.
    """
    graph = meta_graph.graph_def
    kept = set(names)
    staying = [node for node in graph.node if node.name in kept]
    if len(staying) < len(graph.node):
        copies = protos.GraphDef()
        copies.node.extend(staying)
        graph.ClearField("node")
        graph.node.extend(copies.node)
    for node in graph.node:
        if any(text[:1] == "^" and text[1:] not in kept for text in node.input):
            node.input[:] = [text for text in node.input if text[:1] != "^" or text[1:] in kept]
        if "_class" in node.attr:
            groups = node.attr["_class"].list.s
            beside = [one for one in groups if one[:5] != b"loc:@" or one[5:].decode() in kept]
            if not beside:
                del node.attr["_class"]
            elif len(beside) < len(groups):
                groups[:] = beside
    graph.ClearField("debug_info")
    _keep_functions(graph)

    def there(name: str) -> bool:
        return node_of(name) in kept

    for key in list(meta_graph.collection_def):
        _keep_items(meta_graph, key, there, kept)
    for key in [key for key, one in meta_graph.signature_def.items() if not _signature_is_there(one, there)]:
        del meta_graph.signature_def[key]
    assets = [one for one in meta_graph.asset_file_def if there(one.tensor_info.name)]
    if len(assets) < len(meta_graph.asset_file_def):
        copies = protos.MetaGraphDef()
        copies.asset_file_def.extend(assets)
        meta_graph.ClearField("asset_file_def")
        meta_graph.asset_file_def.extend(copies.asset_file_def)
    saver = meta_graph.saver_def
    if not (there(saver.save_tensor_name) and there(saver.restore_op_name)):
        meta_graph.ClearField("saver_def")


def _keep_functions(graph: Any) -> None:
    """Keeps the functions that the nodes call, and those that these call."""
    bodies = {one.signature.name: one for one in graph.library.function}
    gradients = {one.function_name: one.gradient_func for one in graph.library.gradient}
    called: set[str] = set()
    stack = list(graph.node)
    while stack and bodies:
        node = stack.pop()
        names = {node.op} | {one.name for value in node.attr.values() for one in called_functions(value)}
        names |= {gradients[name] for name in names if name in gradients}
        for name in names & bodies.keys() - called:
            called.add(name)
            stack += bodies[name].node_def
    if len(called) == len(bodies):
        return
    library = protos.FunctionDefLibrary()
    library.function.extend(one for one in graph.library.function if one.signature.name in called)
    library.gradient.extend(one for one in graph.library.gradient if one.function_name in called)
    graph.library.CopyFrom(library)
    if not graph.library.ByteSize():
        graph.ClearField("library")


def _keep_items(meta_graph: Any, key: str, there: Callable[[str], bool], kept: set[str]) -> None:
    collection = meta_graph.collection_def[key]
    kind = collection.WhichOneof("kind")
    if kind == "node_list":
        values = [one for one in collection.node_list.value if there(one)]
        collection.node_list.value[:] = values
    elif kind == "bytes_list":
        items = (_kept_item(key, value, there, kept) for value in collection.bytes_list.value)
        values = [one for one in items if one is not None]
        collection.bytes_list.value[:] = values
    else:
        return
    if not values:
        del meta_graph.collection_def[key]


def _kept_item(key: str, value: bytes, there: Callable[[str], bool], kept: set[str]) -> bytes | None:
    message = decoded(key, value)
    if message is None:
        return value  # text, or nobody knows what
    kind = message.DESCRIPTOR.name
    if kind in ("CondContextDef", "WhileContextDef"):
        return protos.encode(message) if _keep_context(message, there) else None
    needed = {
        "VariableDef": ("variable_name", "initializer_name", "snapshot_name"),
        "SaverDef": ("filename_tensor_name", "save_tensor_name", "restore_op_name"),
        "QueueRunnerDef": ("queue_name", "enqueue_op_name", "close_op_name", "cancel_op_name"),
    }[kind]
    names = [getattr(message, field) for field in needed]
    flat = [name for one in names for name in ([one] if isinstance(one, str) else one) if name]
    if not all(map(there, flat)):
        return None
    if kind == "VariableDef" and not there(message.initial_value_name):
        message.initial_value_name = ""
        return protos.encode(message)
    return value


def _keep_context(message: Any, there: Callable[[str], bool]) -> bool:
    """Whether a context still stands; what of it is gone is taken out."""
    if not there(message.pivot_name):
        return False
    if message.DESCRIPTOR.name == "WhileContextDef":
        message.loop_exit_names[:] = [one for one in message.loop_exit_names if there(one)]
        message.loop_enter_names[:] = [one for one in message.loop_enter_names if there(one)]
    values = message.values_def
    values.values[:] = [one for one in values.values if there(one)]
    for name, inside in list(values.external_values.items()):
        if not there(inside):
            del values.external_values[name]
    nested = list(message.nested_contexts)
    stays = [one for one in nested if _keep_context(getattr(one, one.WhichOneof("ctxt")), there)]
    if len(stays) < len(nested):
        copies = type(message)()
        copies.nested_contexts.extend(stays)
        message.ClearField("nested_contexts")
        message.nested_contexts.extend(copies.nested_contexts)
    return True


def _signature_is_there(signature: Any, there: Callable[[str], bool]) -> bool:
    return all(
        _info_is_there(one, there) for one in (*signature.inputs.values(), *signature.outputs.values())
    )


def _info_is_there(info: Any, there: Callable[[str], bool]) -> bool:
    encoding = info.WhichOneof("encoding")
    if encoding == "coo_sparse":
        sparse = info.coo_sparse
        names = (sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name)
        return all(there(name) for name in names if name)
    if encoding == "composite_tensor":
        return all(_info_is_there(one, there) for one in info.composite_tensor.components)
    return not info.name or there(info.name)
