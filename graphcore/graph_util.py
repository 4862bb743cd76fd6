"""`tf.graph_util`: sub-graphs and frozen graphs, as GraphDefs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..formats import protos
from . import attr_value, importer, not_yet
from .dtypes import as_dtype
from .errors import InvalidValueError, MissingNameError
from .importer import import_graph_def as import_graph_def
from .saveables import variable_behind


def _node_name(name: str) -> str:
    return name.removeprefix("^").split(":")[0]


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
    stack, kept = list(dest_nodes), set()
    while stack:
        name = stack.pop()
        if name not in kept and name in nodes:
            kept.add(name)
            stack.extend(_node_name(text) for text in nodes[name].input)
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
        FailedPreconditionError: A variable has no value.
        KeyError: A variable is not in the session's graph.
    """
    graph = extract_sub_graph(input_graph_def, output_node_names)
    frozen: dict[str, Any] = {}
    for node in graph.node:
        if node.op not in ("Variable", "VariableV2", "VarHandleOp"):
            continue
        chosen = variable_names_whitelist is None or node.name in variable_names_whitelist
        if chosen and node.name not in (variable_names_blacklist or ()):
            frozen[node.name] = _value(sess, node.name)
    nodes = {node.name: node for node in graph.node}
    reads = {
        node.name for node in graph.node if node.op == "ReadVariableOp" and _source(nodes, node) in frozen
    }
    result = protos.GraphDef()
    for node in graph.node:
        target = result.node.add()
        if node.name in frozen:
            dtype = as_dtype(node.attr["dtype"].type)
            target.name, target.op, target.device = node.name, "Const", node.device
            attr_value.fill(target.attr["dtype"], dtype.base_dtype)
            attr_value.fill(target.attr["value"], frozen[node.name])
        elif node.name in reads:
            target.name, target.op, target.device = node.name, "Identity", node.device
            target.input.extend(node.input)
            target.attr["T"].CopyFrom(node.attr["dtype"])
        else:
            target.CopyFrom(node)
    result.versions.CopyFrom(graph.versions)
    result.library.CopyFrom(graph.library)
    return result


def _value(sess: Any, name: str) -> Any:
    operation = sess.graph._operations.get(name)
    if operation is None or variable_behind(operation) is None:
        raise MissingNameError(f"The variable '{name}' is not in the session's graph", name=name)
    state = sess._state
    holder = state.resource_variable(operation) if operation.type == "VarHandleOp" else state.ref(operation)
    return holder.read()


def _source(nodes: dict[str, Any], node: Any) -> str:
    """The variable that a read reads, through identities."""
    name = _node_name(node.input[0])
    while name in nodes and nodes[name].op == "Identity":
        name = _node_name(nodes[name].input[0])
    return name


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
        if single and _node_name(inputs[node.name][0]) not in references:
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
