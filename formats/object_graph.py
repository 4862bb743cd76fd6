"""TensorFlow 2's object-based checkpoints: which key holds the variable of a name.

Their keys are paths through Python objects (`layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE`); the tensor
`_CHECKPOINTABLE_OBJECT_GRAPH`, a serialized TrackableObjectGraph, says for each the full name that the
variable has in a graph. Full names need not differ there (two metrics have a `total` each, whichever
of the two a graph calls `total_1`): a name that several variables have stands for none.
Source: TensorFlow's `trackable_object_graph.proto` and `saved_object_graph.proto`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import protos
from .entry import Entry
from .errors import DataLossError

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
ATTRIBUTES = "/.ATTRIBUTES/"
_VARIABLE_VALUE = "VARIABLE_VALUE"


@dataclass(frozen=True, slots=True)
class TrackedVariable:
    """A variable of an object graph.

    Attributes:
        key: Its key in the checkpoint.
        object_path: The path through the objects, without the attribute: `layer-1/kernel`.
        full_name: The name that it had in the program, which another's may be, too.
    """

    key: str
    object_path: str
    full_name: str


def is_object_based(store: Mapping[str, Entry]) -> bool:
    """Whether TensorFlow 2's object-based saving wrote a checkpoint."""
    return OBJECT_GRAPH_KEY in store


def variable_keys(store: Mapping[str, Entry]) -> dict[str, str]:
    """The checkpoint key of each variable by its full name, as far as that name is the only one such.

    Args:
        store: A checkpoint; one that TensorFlow 2 did not write gives an empty dict.

    Raises:
        DataLossError: The object graph in it is damaged.
    """
    return {name: keys[0] for name, keys in keys_by_name(store).items() if len(keys) == 1}


def keys_by_name(store: Mapping[str, Entry]) -> dict[str, list[str]]:
    """All keys of each full name, in the order of the object graph; errors as `variable_keys`."""
    found: dict[str, list[str]] = {}
    for variable in tracked_variables(store):
        found.setdefault(variable.full_name, []).append(variable.key)
    return found


def tracked_variables(store: Mapping[str, Entry]) -> list[TrackedVariable]:
    """The variables of a checkpoint's object graph, in its order; errors as `variable_keys`."""
    if not is_object_based(store):
        return []
    return [
        TrackedVariable(key, key.partition(ATTRIBUTES)[0], full_name)
        for full_name, key in _values(read_object_graph(store))
    ]


def read_object_graph(store: Mapping[str, Entry]) -> Any:
    """The TrackableObjectGraph message in a checkpoint.

    Raises:
        DataLossError: It is damaged.
        KeyError: There is none.
    """
    entry = store[OBJECT_GRAPH_KEY]
    what = f"The object graph at {entry.location}"
    if entry.dtype.kind != "string" or entry.size != 1:
        raise DataLossError(
            f"{what} is a {entry.dtype.name} tensor of shape {list(entry.shape)}, not a string."
        )
    (serialized,) = entry.read().reshape(-1).tolist()
    return protos.parse(protos.TrackableObjectGraph, serialized, what)


def trainable_keys(object_graph: Any) -> dict[str, bool]:
    """Whether each variable of a SavedModel's `object_graph_def` is trained, by its checkpoint key.

    A key is the path by which the object is reached first, level by level. Slots of optimizers, which
    have keys of another form, are left out.
    """
    nodes = object_graph.nodes
    paths = {0: ""} if len(nodes) else {}
    found = {}
    for number in (queue := list(paths)):
        node = nodes[number]
        if node.WhichOneof("kind") == "variable":
            found[f"{paths[number]}{ATTRIBUTES}{_VARIABLE_VALUE}"] = node.variable.trainable
        for child in node.children:
            if child.node_id not in paths and 0 <= child.node_id < len(nodes):
                name = child.local_name.replace(".", "..").replace("/", ".S")
                paths[child.node_id] = f"{paths[number]}/{name}" if paths[number] else name
                queue.append(child.node_id)
    return found


def _values(graph: Any) -> Iterator[tuple[str, str]]:
    """(full name, key) of each variable; what has no name (Python state) is left out."""
    for node in graph.nodes:
        for attribute in node.attributes:
            if attribute.name == _VARIABLE_VALUE and attribute.full_name:
                yield attribute.full_name.partition(":")[0], attribute.checkpoint_key
