"""TensorFlow 2's object-based checkpoints: which key holds the variable of a name.

Their keys are paths through Python objects (`layer-1/kernel/.ATTRIBUTES/VARIABLE_VALUE`); the tensor
`_CHECKPOINTABLE_OBJECT_GRAPH`, a serialized TrackableObjectGraph, says for each the full name that the
variable has in a graph. Full names need not differ there (two metrics have a `total` each); a graph
makes them differ by `_1`, `_2`, in the order of the objects, and so does this module.
Source: TensorFlow's `trackable_object_graph.proto`.
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
        full_name: The name that its object gave, which another's may be, too.
        name: The name that it has in a graph: the full name, with `_1`, ... where one is taken.
    """

    key: str
    object_path: str
    full_name: str
    name: str


def is_object_based(store: Mapping[str, Entry]) -> bool:
    """Whether TensorFlow 2's object-based saving wrote a checkpoint."""
    return OBJECT_GRAPH_KEY in store


def variable_keys(store: Mapping[str, Entry]) -> dict[str, str]:
    """The checkpoint key of each variable, by the name that it has in a graph.

    Args:
        store: A checkpoint; one that TensorFlow 2 did not write gives an empty dict.

    Raises:
        DataLossError: The object graph in it is damaged.
    """
    return {variable.name: variable.key for variable in tracked_variables(store)}


def tracked_variables(store: Mapping[str, Entry]) -> list[TrackedVariable]:
    """The variables of a checkpoint's object graph, in its order; errors as `variable_keys`."""
    if not is_object_based(store):
        return []
    found = []
    taken: set[str] = set()
    for full_name, key in _values(read_object_graph(store)):
        name = _unique(full_name, taken)
        found.append(TrackedVariable(key, key.partition(ATTRIBUTES)[0], full_name, name))
    return found


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


def trainable_variables(object_graph: Any) -> dict[str, bool]:
    """Whether each variable of a SavedModel's `object_graph_def` is trained, by its name in the graph."""
    taken: set[str] = set()
    variables = [node.variable for node in object_graph.nodes if node.WhichOneof("kind") == "variable"]
    return {_unique(one.name.partition(":")[0], taken): one.trainable for one in variables if one.name}


def _values(graph: Any) -> Iterator[tuple[str, str]]:
    """(full name, key) of each variable; what has no name (Python state) is left out."""
    for node in graph.nodes:
        for attribute in node.attributes:
            if attribute.name == _VARIABLE_VALUE and attribute.full_name:
                yield attribute.full_name.partition(":")[0], attribute.checkpoint_key


def _unique(name: str, taken: set[str]) -> str:
    """`name`, or the first of `name_1`, `name_2`, ... that is free (letters' case does not count)."""
    candidate, number = name, 0
    while candidate.lower() in taken:
        number += 1
        candidate = f"{name}_{number}"
    taken.add(candidate.lower())
    return candidate
