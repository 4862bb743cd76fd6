"""What a GraphDef says about itself without knowing any op: inputs, likely outputs, variables, counts.

Ops are told apart by name alone, and their outputs by the OpDefs that the file carries
(`stripped_op_list`), else by TensorFlow's list; those of others by `_output_shapes` or by the attributes that
ops usually have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import dtypes, known_ops, protos
from .graph_results import PLACEHOLDER_OPS, find_results, is_no_result
from .tensor_proto import shape_from_proto, shape_to_proto

Shape = list[int | None] | None

VARIABLE_OPS = frozenset(("VariableV2", "Variable", "VarHandleOp", "AutoReloadVariable"))
_SAVER_OPS = frozenset(
    (
        "Save",
        "SaveSlices",
        "SaveV2",
        "Restore",
        "RestoreSlice",
        "RestoreV2",
        "ShardedFilename",
        "MergeV2Checkpoints",
    )
)
_WRITE = re.compile(r"Assign(Add|Sub)?")
_SUMMARY = re.compile(r"\w*Summary(V2)?")
_AUXILIARY_NAME = re.compile(r"(^|/)gradients(_\d+)?/|/Initializer/|/(switch_[tf]|pred_id)$")
_DTYPE_ATTRIBUTES = (
    "output_type",
    "DstT",
    "out_type",
    "Tout",
    "dtype",
    "T",
    "Tparams",
    "out_idx",
    "element_dtype",
)
_OLD_PRODUCER = 24
"""Below this version the shape of a placeholder of rank 0 means that nothing is known."""


@dataclass(slots=True)
class GraphFacts:
    """The facts about one graph.

    Attributes:
        ops: How many nodes there are of each op, most frequent first.
        nodes: Number of nodes.
        inputs: Placeholders that something but a saver consumes, as `{"name", "dtype", "shape"}`; with
            `"optional": True` where there is a default, `"needed": False` where no output needs it,
            `"label": True` where results are only compared with it; then what else is fed, with `"inner":
            True`: what signatures name as inputs, what results need of iterators, queues and readers.
        outputs: Tensors that the file calls results, then those that look like it (`graph_results.py`),
            the likeliest first, as inputs, with `"role"`: `named`, `result`, `loss` or `other`, and
            `"needs"`: the names of the inputs it depends on.
        variables: Nodes that are variables, by name.
        constants: `{"nodes", "elements", "bytes"}` of all Const nodes.
        devices: How many nodes are placed on each device, most first.
    """

    ops: dict[str, int] = field(default_factory=dict)
    nodes: int = 0
    inputs: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    devices: dict[str, int] = field(default_factory=dict)


def graph_facts(
    graph_def: Any,
    op_defs: Mapping[str, Any] | None = None,
    saver_nodes: Iterable[str] = (),
    results: Iterable[str] = (),
    given: Iterable[str] = (),
) -> GraphFacts:
    """The facts about a GraphDef.

    Args:
        graph_def: The message.
        op_defs: OpDefs by op name, as far as the file has them.
        saver_nodes: Nodes that are known to belong to a saver, besides those that look so.
        results: Tensors that the file calls results (in signatures); those that do not exist are left out.
        given: Tensors that the file calls inputs, likewise.
    """
    op_defs = op_defs or {}
    nodes = list(graph_def.node)
    described = [(node.name, node.op, list(node.input), node) for node in nodes]
    facts = GraphFacts(nodes=len(nodes))
    facts.ops = dict(Counter(op for _, op, _, _ in described).most_common())
    facts.variables = {name: node for name, op, _, node in described if op in VARIABLE_OPS}
    saver_scopes = tuple({_scope(name) for name, op, _, _ in described if op in _SAVER_OPS} - {""})
    auxiliary = set(saver_nodes) | {
        name
        for name, op, _, _ in described
        if (saver_scopes and name.startswith(saver_scopes))
        or op in _SAVER_OPS
        or _SUMMARY.fullmatch(op)
        or _AUXILIARY_NAME.search(name)
    }
    consumed = _consumed(described)
    producer = graph_def.versions.producer
    for name, op, _, node in described:
        if op in PLACEHOLDER_OPS and name in consumed and name not in auxiliary:
            facts.inputs.append(_input(node, producer))
    facts.outputs = [row | {"role": "named"} for row in _rows_named(results, nodes, op_defs)]
    told = {row["name"] for row in facts.outputs}
    found = find_results(described, auxiliary, facts.variables)
    guessed = [
        row | {"role": role}
        for node, output, role in found.tensors
        for row in output_rows(node, op_defs.get(node.op))[
            slice(output, None if output is None else output + 1)
        ]
    ]
    if not guessed:
        guessed = _other_ends(described, auxiliary, facts.variables, op_defs)
    facts.outputs += list({row["name"]: row for row in guessed if row["name"] not in told}.values())
    for row in facts.inputs:
        if row["name"].removesuffix(":0") in found.labels:
            row["label"] = True
    _connect(described, facts)
    fed = {row["name"] for row in facts.inputs}
    inner = _rows_named(given, nodes, op_defs)
    inner += [output_rows(node, op_defs.get(node.op))[output] for node, output in found.inner]
    facts.inputs += list(
        {row["name"]: row | {"inner": True} for row in inner if row["name"] not in fed}.values()
    )
    facts.devices = dict(Counter(node.device for node in nodes if node.device).most_common())
    facts.constants = _constants(node for _, op, _, node in described if op == "Const")
    return facts


def unlisted(
    nodes: Iterable[Any], op_defs: Mapping[str, Any], functions: Iterable[str] = ()
) -> dict[str, list[str]]:
    """Ops, and attributes of ops (`Op.attribute`), that a file uses but its own list of ops does not have.

    Args:
        nodes: NodeDefs.
        op_defs: The list, by op.
        functions: Names of functions of the library, which are ops, too.
    """
    known = {op: {attribute.name for attribute in one.attr} for op, one in op_defs.items()}
    defined = set(functions)
    ops: set[str] = set()
    attributes: set[str] = set()
    for node in nodes:
        op = node.op
        declared = known.get(op)
        if declared is None:
            if op not in defined:
                ops.add(op)
            continue
        extra = set(node.attr).difference(declared)
        attributes.update(f"{op}.{name}" for name in extra if name[:1] != "_")
    found = {"unlisted_ops": sorted(ops), "unlisted_attributes": sorted(attributes)}
    return {key: names for key, names in found.items() if names}


def dtype_name(number: int) -> str | None:
    """NumPy's (or TensorFlow's) name of a dtype, without `_ref`; None for 0."""
    return dtypes.name_of(number).removesuffix("_ref") if number else None


def node_shape(node: Any, attribute: str = "shape") -> Shape:
    """The shape in an attribute of a node as a list, None for what is not known."""
    if attribute not in node.attr:
        return None
    return as_list(shape_from_proto(node.attr[attribute].shape))


def as_list(shape: tuple[int | None, ...] | None) -> Shape:
    """A shape as JSON has it."""
    return None if shape is None else list(shape)


def _consumed(described: list[tuple[str, str, list[str], Any]]) -> set[str]:
    """The nodes that any node consumes."""
    return {
        one[1:] if one[:1] == "^" else one.partition(":")[0]
        for _, _, inputs, _ in described
        for one in inputs
    }


def _connect(described: list[tuple[str, str, list[str], Any]], facts: GraphFacts) -> None:
    """Which inputs each output needs: sets of inputs, as bits, handed on from node to node."""
    consumers: dict[str, list[str]] = {}
    for name, _, inputs, _ in described:
        for one in inputs:
            source = one[1:] if one[:1] == "^" else one.partition(":")[0]
            consumers.setdefault(source, []).append(name)
    needs: dict[str, int] = {}
    pending = []
    for at, row in enumerate(facts.inputs):
        name = row["name"].removesuffix(":0")
        needs[name] = 1 << at
        pending.append(name)
    for name in pending:  # grows; a node comes again when more has arrived at it
        bits = needs[name]
        for consumer in consumers.get(name, ()):
            before = needs.get(consumer, 0)
            if before | bits != before:
                needs[consumer] = before | bits
                pending.append(consumer)
    every = 0
    for row in facts.outputs:
        bits = needs.get(row["name"].rpartition(":")[0], 0)
        every |= bits
        row["needs"] = [one["name"] for at, one in enumerate(facts.inputs) if bits >> at & 1]
    for at, row in enumerate(facts.inputs):
        if not every >> at & 1:
            row["needed"] = False


def tensor_info(row: Mapping[str, Any]) -> Any:
    """The TensorInfo of a row of `GraphFacts`."""
    info = protos.TensorInfo(name=row["name"], dtype=dtypes.from_name(row["dtype"]).number)
    info.tensor_shape.CopyFrom(shape_to_proto(row["shape"]))
    return info


def _scope(name: str) -> str:
    scope = name.rpartition("/")[0]
    return f"{scope}/" if scope else ""


def _input(node: Any, producer: int) -> dict[str, Any]:
    shape = node_shape(node)
    if shape == [] and node.op == "Placeholder" and producer < _OLD_PRODUCER:
        shape = None
    if shape is None and "_output_shapes" in node.attr:
        shape = next((as_list(shape_from_proto(one)) for one in node.attr["_output_shapes"].list.shape), None)
    number = node.attr["dtype"].type if "dtype" in node.attr else 0
    optional = {"optional": True} if node.op == "PlaceholderWithDefault" else {}
    return {"name": f"{node.name}:0", "dtype": dtype_name(number), "shape": shape, **optional}


def _rows_named(
    names: Iterable[str], nodes: Iterable[Any], op_defs: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The rows of the tensors of these names that exist, in the order of the names."""
    wanted = list(dict.fromkeys(names))
    heads = {name.rpartition(":")[0] for name in wanted}
    rows = {
        row["name"]: row
        for node in nodes
        if node.name in heads
        for row in output_rows(node, op_defs.get(node.op))
    }
    return [rows[name] for name in wanted if name in rows]


def _other_ends(
    described: list[tuple[str, str, list[str], Any]],
    auxiliary: set[str],
    variables: Mapping[str, Any],
    op_defs: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """What stands for results in a graph without any: what is written, left a loop, read, or all there is."""
    consumed = {
        source[1:] if source[:1] == "^" else source.partition(":")[0]
        for name, _, inputs, _ in described
        if name not in auxiliary
        for source in inputs
    }
    ends = [
        (op, inputs, node)
        for name, op, inputs, node in described
        if name not in consumed and name not in auxiliary and op != "NoOp"
    ]
    chosen = (
        [
            node
            for op, inputs, node in ends
            if not is_no_result(op)
            and not (
                op in ("Identity", "ReadVariableOp") and inputs and inputs[0].partition(":")[0] in variables
            )
        ]
        or _written(ends, {name: node for name, _, _, node in described})
        or [node for op, _, node in ends if op in ("Exit", "RefExit")]
        or [node for op, inputs, node in ends if op in ("Identity", "ReadVariableOp") and inputs[:1]]
        or [node for op, _, node in ends if op in PLACEHOLDER_OPS or op == "Const"]
    )
    rows = [row for node in chosen for row in output_rows(node, op_defs.get(node.op))]
    return [row | {"role": "other"} for row in rows]


def _written(ends: list[tuple[str, list[str], Any]], nodes: Mapping[str, Any]) -> list[Any]:
    """What is assigned to variables but their initial values; where it is fed, the assignment."""
    found: dict[str, Any] = {}
    for op, inputs, node in ends:
        value = nodes.get(inputs[1].partition(":")[0]) if len(inputs) > 1 else None
        if not _WRITE.fullmatch(op) or value is None or value.op == "Const":
            continue
        chosen = node if value.op in PLACEHOLDER_OPS else value
        found[chosen.name] = chosen
    return list(found.values())


def output_rows(node: Any, op_def: Any = None) -> list[dict[str, Any]]:
    """The outputs of a node as `{"name", "dtype", "shape"}`, None for what the file does not say.

    Args:
        node: The NodeDef.
        op_def: Its OpDef, if the file has it; else TensorFlow's is taken, if there is one.
    """
    op_def = op_def or known_ops.find(node.op)
    known = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
    shapes = [as_list(shape_from_proto(shape)) for shape in known] or _declared_shapes(node)
    types = _output_types(node, op_def)
    count = max(len(types), len(shapes)) if op_def is None else len(types)
    return [
        {
            "name": f"{node.name}:{index}",
            "dtype": dtype_name(types[index]) if index < len(types) else None,
            "shape": shapes[index] if index < len(shapes) else None,
        }
        for index in range(count)
    ]


def _declared_shapes(node: Any) -> list[Shape]:
    """The shape of a node's only output where an attribute has it: of constants, variables, placeholders."""
    if node.op == "Const":
        return (
            [as_list(shape_from_proto(node.attr["value"].tensor.tensor_shape))]
            if "value" in node.attr
            else []
        )
    if node.op in VARIABLE_OPS and node.op != "VarHandleOp":
        return [node_shape(node)]
    # Of a placeholder rank 0 may mean that nothing is known (see `_input`).
    shape = node_shape(node) if node.op in PLACEHOLDER_OPS else None
    return [shape] if shape else []


def _output_types(node: Any, op_def: Any) -> list[int]:
    """The dtype numbers of a node's outputs, 0 where unknown."""
    if op_def is None:
        number = next((node.attr[name].type for name in _DTYPE_ATTRIBUTES if name in node.attr), 0)
        return [number]
    types: list[int] = []
    for output in op_def.output_arg:
        if output.type_list_attr:
            types += (
                list(node.attr[output.type_list_attr].list.type) if output.type_list_attr in node.attr else []
            )
            continue
        number = output.type or _attribute_or_default(node, op_def, output.type_attr).type
        repeat = _attribute_or_default(node, op_def, output.number_attr).i if output.number_attr else 1
        types += [number] * min(repeat, 10_000)
    return types


def _attribute_or_default(node: Any, op_def: Any, name: str) -> Any:
    if name in node.attr:
        return node.attr[name]
    declared = next((attribute for attribute in op_def.attr if attribute.name == name), None)
    return declared.default_value if declared is not None else protos.AttrValue()


def _constants(nodes: Iterable[Any]) -> dict[str, int]:
    count = elements = size = 0
    for node in nodes:
        count += 1
        tensor = node.attr["value"].tensor
        number = 1
        for dim in tensor.tensor_shape.dim:
            number *= max(dim.size, 0)
        info = dtypes.BY_NUMBER.get(tensor.dtype)
        elements += number
        size += number * (info.size or 0) if info else 0
    return {"nodes": count, "elements": elements, "bytes": size}
