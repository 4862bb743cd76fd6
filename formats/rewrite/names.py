"""All places where names of nodes, tensors, functions and checkpoint keys stand in a model.

nodes            name, inputs, control inputs, colocation (`_class`), names of shared resources and frames,
                 functions that are called; the keys in the constants of save and restore operations
functions        the same of the nodes in their bodies, what they return
collections      names of nodes; VariableDef, SaverDef, QueueRunnerDef, CondContextDef, WhileContextDef,
                 text that is a node's or tensor's name; AssetFileDef, Signatures and the like (Any)
the rest         SaverDef, signatures, assets, the object graph of TensorFlow 2
the checkpoint   keys, and the object graph in it
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .. import collection_items, object_graph, protos
from ..entry import Entry, entry_of
from ..errors import DataLossError
from .model import Model, node_of

if TYPE_CHECKING:
    Change = Callable[[str], str]

SAVE_AND_RESTORE = frozenset(("Save", "SaveSlices", "SaveV2", "Restore", "RestoreSlice", "RestoreV2"))
"""Ops whose second input are keys of a checkpoint."""
_RESOURCE_NAMES = ("shared_name", "frame_name")
_NAMES_ONLY = {  # messages all of whose strings are names of nodes and tensors
    "savers": "SaverDef",
    "queue_runners": "QueueRunnerDef",
    "cond_context": "CondContextDef",
    "while_context": "WhileContextDef",
    **dict.fromkeys(collection_items.VARIABLE_COLLECTIONS, "VariableDef"),
}
_TENSOR_FIELDS = frozenset(
    ("name", "tensor_name", "values_tensor_name", "indices_tensor_name", "dense_shape_tensor_name")
)
"""Fields of messages about tensors, as signatures have them, that are names."""


@dataclass(slots=True)
class Names:
    """What names become.

    Attributes:
        node: Of a node, a scope, a context, a shared resource or a frame (without `^` and `:0`).
        key: Of an entry of the checkpoint.
        inner: Of a node in a function's body, which no other graph sees.
        functions: Of the functions that get another name.
    """

    node: Change
    key: Change
    inner: Change
    functions: Mapping[str, str] = field(default_factory=dict)

    def tensor(self, text: str) -> str:
        """Of a tensor, or an input of a node."""
        mark, bare = ("^", text[1:]) if text[:1] == "^" else ("", text)
        head, colon, index = bare.partition(":")
        return f"{mark}{self.node(head)}{colon}{index}"


def apply(model: Model, names: Names) -> Model:
    """The model under other names; nothing is checked."""
    given = names.key
    fixed = object_graph.OBJECT_GRAPH_KEY
    names = replace(names, key=lambda key: key if key == fixed else given(key))
    model = model.with_copied_graph()
    if model.meta_graph is not None:
        _of_meta_graph(model.meta_graph, names)
    return replace(model, variables=_of_variables(model.variables, names))


def _of_meta_graph(meta_graph: Any, names: Names) -> None:
    graph = meta_graph.graph_def
    known = {node.name for node in graph.node}
    keys = _key_constants(graph.node)
    for node in graph.node:
        _of_node(node, names, names.node, names.tensor, keys)
    for function in graph.library.function:
        _of_function(function, names)
    for gradient in graph.library.gradient:
        gradient.function_name = names.functions.get(gradient.function_name, gradient.function_name)
        gradient.gradient_func = names.functions.get(gradient.gradient_func, gradient.gradient_func)
    graph.ClearField("debug_info")  # where nodes were made, by their old names
    for key, collection in meta_graph.collection_def.items():
        _of_collection(key, collection, names, known)
    _change_strings(meta_graph.saver_def, names.tensor)
    for signature in meta_graph.signature_def.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _of_tensor_info(info, names)
    for asset in meta_graph.asset_file_def:
        _of_tensor_info(asset.tensor_info, names)
    for one in meta_graph.object_graph_def.nodes:
        if one.WhichOneof("kind") == "variable" and one.variable.name:
            one.variable.name = names.node(one.variable.name)
    aliases = dict(meta_graph.meta_info_def.function_aliases)
    if names.functions and aliases:
        meta_graph.meta_info_def.function_aliases.clear()
        for function, alias in aliases.items():
            meta_graph.meta_info_def.function_aliases[names.functions.get(function, function)] = alias


def _of_node(node: Any, names: Names, own: Change, source: Change, keys: Mapping[str, Any]) -> None:
    if node.name in keys:
        values = node.attr["value"].tensor.string_val
        values[:] = [
            names.key(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
            for value in values
        ]
    node.name = own(node.name)
    for at, text in enumerate(node.input):
        changed = source(text)
        if changed != text:
            node.input[at] = changed
    attributes = node.attr
    if "_class" in attributes:
        groups = attributes["_class"].list.s
        groups[:] = [
            b"loc:@" + names.node(one[5:].decode()).encode() if one[:5] == b"loc:@" else one for one in groups
        ]
    for name in _RESOURCE_NAMES:
        if name in attributes and attributes[name].s:
            attributes[name].s = names.node(attributes[name].s.decode()).encode()
    if names.functions:
        node.op = names.functions.get(node.op, node.op)
        for value in attributes.values():
            for called in called_functions(value):
                called.name = names.functions.get(called.name, called.name)


def _of_function(function: Any, names: Names) -> None:
    arguments = {argument.name for argument in function.signature.input_arg}

    def source(text: str) -> str:
        mark, bare = ("^", text[1:]) if text[:1] == "^" else ("", text)
        head, colon, rest = bare.partition(":")
        return text if head in arguments else f"{mark}{names.inner(head)}{colon}{rest}"

    keys = _key_constants(function.node_def)
    for node in function.node_def:
        _of_node(node, names, names.inner, source, keys)
    for returned in (function.ret, function.control_ret):
        for output, text in list(returned.items()):
            returned[output] = source(text)
    name = function.signature.name
    function.signature.name = names.functions.get(name, name)


def called_functions(value: Any) -> Iterator[Any]:
    """The NameAttrLists in an attribute, those in their attributes, too."""
    kind = value.WhichOneof("value")
    found = [value.func] if kind == "func" else list(value.list.func) if kind == "list" else []
    for one in found:
        yield one
        for inner in one.attr.values():
            yield from called_functions(inner)


def _key_constants(nodes: Iterable[Any]) -> dict[str, Any]:
    """The constants that hold the keys which save and restore operations use, by name."""
    described = list(nodes)
    wanted = {
        node_of(node.input[1]) for node in described if node.op in SAVE_AND_RESTORE and len(node.input) > 1
    }
    return {node.name: node for node in described if node.name in wanted and node.op == "Const"}


# ---- collections ---------------------------------------------------------------------------------


def _of_collection(key: str, collection: Any, names: Names, known: set[str]) -> None:
    kind = collection.WhichOneof("kind")
    if kind == "node_list":
        values = collection.node_list.value
        values[:] = [names.tensor(value) for value in values]
    elif kind == "bytes_list":
        values = collection.bytes_list.value
        values[:] = [_of_bytes(key, value, names, known) for value in values]
    elif kind == "any_list":
        for item in collection.any_list.value:
            _of_any(item, names)


def _of_bytes(key: str, value: bytes, names: Names, known: set[str]) -> bytes:
    message = decoded(key, value, known)
    if message is None:
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return value
        return names.tensor(text).encode() if node_of(text) in known else value
    whole = message.save_slice_info_def.full_name if message.DESCRIPTOR.name == "VariableDef" else ""
    _change_strings(message, names.tensor)
    if whole:  # the key that all parts of the variable share
        message.save_slice_info_def.full_name = names.key(whole)
    return protos.encode(message)


def decoded(key: str, value: bytes, known: Container[str] | None = None) -> Any:
    """The message that an item of a collection is, or None where it is text or nobody knows what.

    Args:
        key: The collection.
        value: The item.
        known: The names of the graph's nodes: in other collections an item is taken for a variable that
            names one; by default any name will do.
    """
    kind = _NAMES_ONLY.get(key, "VariableDef")
    try:
        message = protos.parse(getattr(protos, kind), value, key)
    except DataLossError:
        return None
    if kind == "VariableDef" and not (
        ":" in message.variable_name and (known is None or node_of(message.variable_name) in known)
    ):
        return None
    return message


def _of_any(item: Any, names: Names) -> None:
    kind = item.type_url.rpartition("/")[2].rpartition(".")[2]
    if kind not in ("AssetFileDef", "AssetFile", "Signatures"):
        return
    try:
        message = protos.parse(getattr(protos, kind), item.value, kind)
    except DataLossError:
        return
    _change_strings(message, names.tensor, _TENSOR_FIELDS)
    item.value = protos.encode(message)


def _of_tensor_info(info: Any, names: Names) -> None:
    if info.WhichOneof("encoding") == "composite_tensor":
        for component in info.composite_tensor.components:
            _of_tensor_info(component, names)
    else:
        _change_strings(info, names.tensor, _TENSOR_FIELDS)


def _change_strings(message: Any, change: Change, only: frozenset[str] | None = None) -> None:
    """Changes the strings in a message and those in it; `only` those fields, where it is given."""
    for described, value in message.ListFields():
        name, inner = described.name, described.message_type
        if name == "external_values":  # of a context: what a tensor outside is called inside
            pairs = [(change(outer), change(one)) for outer, one in value.items()]
            value.clear()
            value.update(pairs)
        elif inner is None:
            if described.type == described.TYPE_STRING and (only is None or name in only):
                if isinstance(value, str):
                    setattr(message, name, change(value))
                else:
                    value[:] = [change(one) for one in value]
        elif inner.GetOptions().map_entry:
            for one in value.values():
                if hasattr(one, "ListFields"):
                    _change_strings(one, change, only)
        elif hasattr(value, "ListFields"):
            _change_strings(value, change, only)
        else:
            for one in value:
                _change_strings(one, change, only)


# ---- the checkpoint ------------------------------------------------------------------------------


def _of_variables(variables: Mapping[str, Entry], names: Names) -> dict[str, Entry]:
    found = {}
    for key in variables:
        entry = variables[key]
        if key == object_graph.OBJECT_GRAPH_KEY:
            found[key] = _of_object_graph(variables, names)
            continue
        changed = names.key(key)
        found[changed] = entry if changed == key else replace(entry, name=changed)
    return found


def _of_object_graph(variables: Mapping[str, Entry], names: Names) -> Entry:
    graph = object_graph.read_object_graph(variables)
    for one in graph.nodes:
        for attribute in one.attributes:
            attribute.full_name = names.node(attribute.full_name)
            attribute.checkpoint_key = names.key(attribute.checkpoint_key)
    return entry_of(object_graph.OBJECT_GRAPH_KEY, protos.encode(graph), "string")
