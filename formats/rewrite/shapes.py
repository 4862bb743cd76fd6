"""Other shapes for the inputs of a model: another batch size, a batch size that is left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidValueError, bullets
from ..graph_results import PLACEHOLDER_OPS
from ..tensor_proto import shape_from_proto, shape_to_proto
from .model import Model, check_names, node_of
from .walk import consumers, dependents

Shape = Sequence[int | None] | None
_OLD_PRODUCER = 24
"""Below this version a placeholder of rank 0 is one of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Reshaped:
    """What `set_shape` did.

    Attributes:
        model: The model with the new shapes.
        before: The shape that each placeholder had, by the tensor's name.
        dropped: How many nodes had `_output_shapes`, which might be wrong now.
    """

    model: Model
    before: dict[str, tuple[int | None, ...] | None]
    dropped: int


def set_shape(model: Model, shapes: Mapping[str, Shape]) -> Reshaped:
    """A model whose placeholders have other static shapes; recorded shapes that may be wrong now are dropped.

    Signatures get the new shapes of their inputs; the shapes of outputs that depend on these are unknown.

    Args:
        model: The model.
        shapes: The shape of each placeholder (`x` or `x:0`), None for a dimension or rank left open.

    Raises:
        MissingNameError: A name that the graph does not have; lists all.
        InvalidValueError: What is named is no placeholder; lists all.
    """
    nodes = model.nodes
    check_names(shapes, nodes, "The graph has no such tensor")
    wrong = [
        f"'{name}' is an output of {nodes[node_of(name)].op}"
        for name in shapes
        if nodes[node_of(name)].op not in PLACEHOLDER_OPS or name.partition(":")[2] not in ("", "0")
    ]
    if wrong:
        raise InvalidValueError(
            f"Only placeholders have a shape that can be set:{bullets(wrong)}", names=list(shapes)
        )
    result = model.with_copied_graph()
    graph = result.meta_graph.graph_def
    wanted = {node_of(name): shape for name, shape in shapes.items()}
    before: dict[str, tuple[int | None, ...] | None] = {}
    dropped = 0
    old = graph.versions.producer < _OLD_PRODUCER
    for node in graph.node:
        if "_output_shapes" in node.attr:
            del node.attr["_output_shapes"]
            dropped += 1
        if node.name in wanted:
            shape = shape_from_proto(node.attr["shape"].shape) if "shape" in node.attr else None
            before[f"{node.name}:0"] = None if old and shape == () else shape
            node.attr["shape"].shape.CopyFrom(shape_to_proto(wanted[node.name]))
    for function in graph.library.function:
        for node in function.node_def:
            if "_output_shapes" in node.attr:
                del node.attr["_output_shapes"]
                dropped += 1
    _signatures(result.meta_graph, wanted)
    return Reshaped(result, before, dropped)


def _signatures(meta_graph: Any, shapes: Mapping[str, Shape]) -> None:
    if not meta_graph.signature_def:
        return
    behind = dependents(consumers(meta_graph.graph_def.node), shapes) - set(shapes)
    for signature in meta_graph.signature_def.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            name = node_of(info.name)
            if name in shapes:
                info.tensor_shape.CopyFrom(shape_to_proto(shapes[name]))
            elif name in behind and info.HasField("tensor_shape"):
                info.tensor_shape.CopyFrom(shape_to_proto(None))
