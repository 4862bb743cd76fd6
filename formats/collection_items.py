"""The items of a MetaGraphDef's collections, as names and numbers a person can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import protos
from .errors import DataLossError

VARIABLE_COLLECTIONS = (
    "variables",
    "trainable_variables",
    "local_variables",
    "model_variables",
    "metric_variables",
    "moving_average_variables",
    "global_step",
)

# Collection -> (message in its bytes_list, the field that names an item)
_NAMED_BY = {
    **dict.fromkeys(VARIABLE_COLLECTIONS, ("VariableDef", "variable_name")),
    "savers": ("SaverDef", "save_tensor_name"),
    "queue_runners": ("QueueRunnerDef", "queue_name"),
    "cond_context": ("CondContextDef", "context_name"),
    "while_context": ("WhileContextDef", "context_name"),
}


# Collection -> what is told of an item beside its name
_DETAILS: dict[str, Callable[[Any], str]] = {
    "queue_runners": lambda one: f"enqueues by {', '.join(one.enqueue_op_name)}",
    "cond_context": lambda one: f"branch {one.branch} of {one.pred_name}",
    "while_context": lambda one: f"{len(one.loop_exit_names)} results, {one.parallel_iterations} at a time",
    "savers": lambda one: f"keeps {one.max_to_keep}",
}


def collection_items(key: str, collection: Any) -> list[Any]:
    """The items of one CollectionDef.

    Args:
        key: The collection's name, which says what messages its bytes are.
        collection: The message.

    Returns:
        Names of nodes and tensors; the name that an encoded message gives its thing, of contexts, queue
        runners and savers with what else there is to know in parentheses; numbers; text;
        or `"<N bytes>"` for what nothing is known about.
    """
    kind = collection.WhichOneof("kind")
    if kind is None:
        return []
    values = getattr(collection, kind).value
    if kind == "bytes_list":
        return [_item_of_bytes(key, value) for value in values]
    if kind == "any_list":
        return [_item_of_any(value) for value in values]
    return list(values)


def variable_defs(collection: Any) -> list[Any]:
    """The VariableDefs in a collection; empty for one that holds names (graphs of TensorFlow 1.0 do)."""
    found = []
    for value in collection.bytes_list.value:
        variable = _as_variable(value)
        if variable is not None:
            found.append(variable)
    return found


def _item_of_bytes(key: str, value: bytes) -> str:
    if key not in _NAMED_BY:
        variable = _as_variable(value)
        return (variable.variable_name if variable is not None else "") or _text(value)
    message, field = _NAMED_BY[key]
    try:
        decoded = protos.parse(getattr(protos, message), value, key)
    except DataLossError:
        return _text(value)
    name: str = getattr(decoded, field)
    if not name:
        return _text(value)
    return f"{name} ({_DETAILS[key](decoded)})" if key in _DETAILS else name


def _as_variable(value: bytes) -> Any:
    """A VariableDef, or None if `value` is something else: nearly any bytes decode as some message."""
    try:
        variable = protos.parse(protos.VariableDef, value, "")
    except DataLossError:
        return None
    return variable if ":" in variable.variable_name else None


def _item_of_any(value: Any) -> str:
    name = value.type_url.rpartition("/")[2].rpartition(".")[2]
    try:
        if name in ("AssetFileDef", "AssetFile"):
            return f"asset {protos.parse(getattr(protos, name), value.value, name).filename}"
        if name == "Signatures":
            signatures = protos.parse(protos.Signatures, value.value, name)
            default = ["default"] if signatures.HasField("default_signature") else []
            return f"signatures {', '.join(default + sorted(signatures.named_signatures))}"
        if name == "GraphDef":
            return f"graph of {len(protos.parse(protos.GraphDef, value.value, name).node)} nodes"
    except DataLossError:
        pass
    return f"<{name or 'Any'}, {len(value.value)} bytes>"


def _text(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return f"<{len(value)} bytes>"
    return text if text.isprintable() else f"<{len(value)} bytes>"
