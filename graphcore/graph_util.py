"""`tf.graph_util`: sub-graphs and frozen graphs, as GraphDefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..formats import protos
from ..formats.rewrite import freeze_graph
from ..formats.rewrite.model import node_of
from ..formats.rewrite.walk import closure
from . import importer, not_yet
from .errors import InvalidValueError, MissingNameError
from .importer import import_graph_def as import_graph_def
from .saveables import variable_behind


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The nodes that `dest_nodes` need, themselves included, in the order of `graph_def`.

    Raises:
        TypeError: `dest_nodes` is one name instead of a list.
        AssertionError: A name does not exist.
    """
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be a list.")
    graph_def = importer.as_message(graph_def, protos.GraphDef, "graph_def")
    nodes = {node.name: node for node in graph_def.node}
    missing = [name for name in dest_nodes if name not in nodes]
    if missing:
        raise AssertionError(f"{', '.join(missing)} is not in graph")
    kept = closure(nodes, dest_nodes)
    result = protos.GraphDef()
    result.node.extend(node for node in graph_def.node if node.name in kept)
    result.versions.CopyFrom(graph_def.versions)
    result.library.CopyFrom(graph_def.library)
    return result


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Sequence[str] | None = None,
    variable_names_blacklist: Sequence[str] | None = None,
) -> Any:
    """The sub-graph of the outputs with variables replaced by constants of their values in `sess`.

    Args:
        sess: A session that holds the variables.
        input_graph_def: The graph.
        output_node_names: Names of operations.
        variable_names_whitelist: Only these variables.
        variable_names_blacklist: All but these.

    Raises:
        AssertionError: An output does not exist.
        FailedPreconditionError: A variable has no value.
        InvalidValueError: An output needs the value that an assignment gives.
        KeyError: A variable is not in the session's graph.
        UnimplementedError: A variable is used in a way that a constant cannot stand in for.
    """
    graph = extract_sub_graph(input_graph_def, output_node_names)

    def chosen(name: str) -> bool:
        wanted = variable_names_whitelist is None or name in variable_names_whitelist
        return wanted and name not in (variable_names_blacklist or ())

    frozen, _, _ = freeze_graph(graph, output_node_names, lambda name, _: _value(sess, name), chosen)
    return frozen


def _value(sess: Any, name: str) -> Any:
    operation = sess.graph._operations.get(name)
    if operation is None or variable_behind(operation) is None:
        raise MissingNameError(f"The variable '{name}' is not in the session's graph", name=name)
    state = sess._state
    holder = state.resource_variable(operation) if operation.type == "VarHandleOp" else state.ref(operation)
    return holder.read()


def remove_training_nodes(input_graph: Any, protected_nodes: Sequence[str] | None = None) -> Any:
    """The graph without nodes that only training needs: numeric checks and identities.

    Raises:
        ValueError: `input_graph` is no GraphDef.
    """
    graph = importer.as_message(input_graph, protos.GraphDef, "input_graph")
    protected = set(protected_nodes or ())
    checks = {node.name for node in graph.node if node.op == "CheckNumerics"} - protected
    # What is ordered after a check is ordered after nothing once the check is gone.
    inputs = {
        node.name: [text for text in node.input if not (text[:1] == "^" and text[1:] in checks)]
        for node in graph.node
    }
    control = {text[1:] for texts in inputs.values() for text in texts if text.startswith("^")}
    references = {node.name for node in graph.node if node.op in ("VariableV2", "Variable", "Switch")}
    dropped: dict[str, str] = {name: inputs[name][0] for name in checks if inputs[name]}
    for node in graph.node:
        single = (
            node.op == "Identity" and node.name not in protected | control and len(inputs[node.name]) == 1
        )
        if single and node_of(inputs[node.name][0]) not in references:
            dropped[node.name] = inputs[node.name][0]
    result = protos.GraphDef()
    for node in graph.node:
        if node.name in dropped:
            continue
        target = result.node.add()
        target.CopyFrom(node)
        del target.input[:]
        for text in inputs[node.name]:
            seen = 0
            while text in dropped and seen <= len(dropped):
                text = dropped[text]
                seen += 1
            target.input.append(text)
    for part in ("versions", "library"):
        if graph.HasField(part):
            getattr(result, part).CopyFrom(getattr(graph, part))
    return result


def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Always: there is nothing but the CPU here."""
    return True


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> Any:
    """The static shape of a tensor by its name in a NodeDef.

    Raises:
        ValueError: The name is malformed.
    """
    if not input_name:
        raise InvalidValueError("The name of a tensor must not be empty")
    return graph.get_tensor_by_name(input_name if ":" in input_name else f"{input_name}:0").get_shape()


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        raise not_yet.missing(__name__, name)
