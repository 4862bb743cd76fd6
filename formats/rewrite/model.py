"""A model in memory: its graph as a message, its variables as entries that are read when they are needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .. import protos
from ..errors import MissingNameError, bullets, did_you_mean

if TYPE_CHECKING:
    from ..entry import Entry


@dataclass(frozen=True, slots=True)
class Model:
    """A graph with its checkpoint. No rewrite changes the model it is given; each returns another.

    Attributes:
        meta_graph: The MetaGraphDef; of a GraphDef one that has nothing else; None without a graph.
        variables: The entries of the checkpoint, by key; empty without one.
        bare: Whether the graph was a GraphDef, without collections and saver.
        assets: Where the files are that the graph reads when it is loaded, by their names in `assets/`.
    """

    meta_graph: Any = None
    variables: Mapping[str, Entry] = field(default_factory=dict)
    bare: bool = False
    assets: Mapping[str, str] = field(default_factory=dict)

    @property
    def nodes(self) -> dict[str, Any]:
        """The NodeDefs by name; empty without a graph."""
        return {} if self.meta_graph is None else {node.name: node for node in self.meta_graph.graph_def.node}

    def with_copied_graph(self) -> Model:
        """The same model with a graph of its own, which may be changed."""
        if self.meta_graph is None:
            return self
        copied = protos.MetaGraphDef()
        copied.CopyFrom(self.meta_graph)
        return replace(self, meta_graph=copied)


def model_of(graph: Any = None, variables: Mapping[str, Entry] | Iterable[Entry] = ()) -> Model:
    """A model of a GraphDef or MetaGraphDef message (or None) and the entries of its checkpoint.

    Args:
        graph: The message; of this package's protos, or TensorFlow's own, which is copied.
        variables: The entries, by key or one after another.
    """
    if not isinstance(variables, Mapping):
        variables = {entry.name: entry for entry in variables}
    if graph is None:
        return Model(None, variables)
    kind = graph.DESCRIPTOR.name
    if not isinstance(graph, getattr(protos, kind)):
        graph = getattr(protos, kind).FromString(graph.SerializeToString())
    if kind == "MetaGraphDef":
        return Model(graph, variables)
    meta_graph = protos.MetaGraphDef()
    meta_graph.graph_def.CopyFrom(graph)
    return Model(meta_graph, variables, bare=True)


def node_of(text: str) -> str:
    """The node behind an input of a node or a tensor's name: `^a`, `a:1` and `a` are all of `a`."""
    return text[1:] if text[:1] == "^" else text.partition(":")[0]


def tensor_of(text: str) -> str:
    """The name that an input has in a NodeDef: that of output 0 is the node's."""
    return text.removesuffix(":0")


def check_names(names: Iterable[str], nodes: Mapping[str, Any], what: str) -> None:
    """Refuses names of tensors or nodes that a graph does not have.

    Raises:
        MissingNameError: Lists all, each with the nearest.
    """
    missing = [name for name in names if node_of(name) not in nodes]
    if missing:
        lines = [f"'{name}'{did_you_mean(node_of(name), nodes)}" for name in missing]
        raise MissingNameError(f"{what}:{bullets(lines)}", names=missing)
