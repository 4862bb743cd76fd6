"""From a model to ONNX: freeze, settle, translate, move transposes, fold, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...formats import files, session_bundle, targets
from ...formats.errors import bullets, did_you_mean
from ...formats.rewrite.freeze import checkpoint_values, freeze_graph
from ...formats.rewrite.model import Model, check_names, node_of
from ..compiler.draft import Draft, Options
from ..errors import InvalidValueError, MissingNameError, UnimplementedError
from ..graph import Graph
from ..importer import Importer
from ..operation import Tensor
from ..resources import SessionState
from . import (  # noqa: F401 - each adds its translations to the table
    arrays,
    control,
    loop_shapes,
    ops_image,
    ops_math,
    ops_nn,
    ops_reduce,
    ops_shape,
    ops_slice,
    tidy,
    transposes,
)
from .blocks import Builder, Inexpressible, Port, dtype_number
from .table import Absent
from .translate import Problems, Scope, prepare
from .write import library, write_model

_DEFAULTS = "PlaceholderWithDefault"
_PLACEHOLDERS = ("Placeholder", "PlaceholderV2", _DEFAULTS)


@dataclass(frozen=True)
class Exported:
    """What was made of a graph.

    Attributes:
        make: The nodes and constants.
        fixed: Placeholders that have a default and were given it.
    """

    make: Builder
    fixed: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[str]:
        """The names of what is fed, as TensorFlow has them."""
        return [port.name for port in self.make.root.inputs]

    @property
    def outputs(self) -> list[str]:
        """The names of what is computed."""
        return [port.name for port in self.make.root.outputs]

    @property
    def unranked(self) -> list[str]:
        """Inputs and outputs of which not even the rank is known; ONNX's checker wants it."""
        root = self.make.root
        return [port.name for port in (*root.inputs, *root.outputs) if port.shape is None]

    @property
    def nodes(self) -> int:
        """How many nodes there are, those of inner graphs too."""
        return sum(1 for _ in self.make.root.walk())

    def write(self, path: files.Path) -> int:
        """Checks and writes the model; see `write.write_model`."""
        return write_model(path, self.make)


def signature(model: Model) -> tuple[list[str], list[str]]:
    """The tensors that a model's signature (the one that serves, else the first) feeds and fetches.

    Without one, no inputs and what looks like the graph's results.

    Raises:
        InvalidValueError: The graph does not say what its results are.
    """
    found = session_bundle.signature_defs(model.meta_graph)
    chosen = found.get("serving_default") or next(iter(found.values()), None)
    if chosen is not None:
        named = [
            [info.name for info in part.values() if info.name] for part in (chosen.inputs, chosen.outputs)
        ]
        if named[1]:
            return sorted(named[0]), sorted(named[1])
    outputs = targets.default_outputs(model)
    if not outputs:
        raise InvalidValueError(
            "The graph does not say what its results are: name what the ONNX model has to compute (--fetch)."
        )
    return [], outputs


def export(model: Model, outputs: Sequence[str], inputs: Sequence[str] = ()) -> Exported:
    """The part of a model that computes some tensors, in ONNX's operators.

    Args:
        model: A graph with its checkpoint.
        outputs: Names of tensors; the ONNX model's outputs have the same.
        inputs: Names of tensors to feed besides the placeholders: what computes them is left out. A
            scalar placeholder with a default that is not among them is given its default.

    Returns:
        The model, to be written.

    Raises:
        MissingExtraError: The onnx package is not installed.
        MissingNameError: A tensor does not exist.
        UnimplementedError: Nodes that ONNX cannot express; lists all, each with its op and the reason, in
            the field `nodes` too.
        FailedPreconditionError, InvalidValueError: As `rewrite.freeze`.
    """
    if not outputs:
        raise InvalidValueError("An ONNX model has outputs: name tensors to compute.")
    library()
    graph_def, values = _frozen(model, outputs)
    fixed = _fix_defaults(graph_def, inputs)
    graph = Graph()
    with graph.as_default():
        importer = Importer(graph, "", {}, {})
        importer.add(graph_def)
    for name, value in values.items():
        if name in graph._operations:  # see _frozen
            graph._operations[name]._attrs["value"] = value
    loop_shapes.settle(graph)
    fetches = _tensors(graph, outputs)
    check_names(inputs, model.nodes, "The graph has no such tensor")
    cut = _tensors(graph, [name for name in inputs if node_of(name) in graph._operations])
    feeds: dict[Tensor, Any] = {tensor: tensor.static_shape for tensor in cut}
    for operation in list(graph._operations.values()):
        if operation.type in _PLACEHOLDERS:
            feeds.setdefault(operation.output(0), operation.output(0).static_shape)
    make, problems = Builder(), Problems()
    given = {}
    for tensor, shape in feeds.items():
        name = make.fresh(tensor.name)
        given[tensor] = name
        try:
            dtype_number(tensor.dtype.np)
            make.root.inputs.append(make.port(name, tensor.dtype.np, shape))
        except Inexpressible as error:
            problems.add(tensor.op, "", str(error))
    for tensor in fetches:
        make.fresh(tensor.name)
    draft = Draft(graph, list(fetches), feeds, SessionState(), Options())
    branches = prepare(draft, [])
    results = Scope(make, draft, branches, problems, "", dict(given)).run()
    needed = {operation.name for operation in draft.nodes} | {port.name for port in make.root.inputs}
    _finish(make, fetches, results, problems)
    rows = [row for row in problems.rows if row["op"] not in _PLACEHOLDERS or f"{row['name']}:0" in needed]
    if rows:
        lines = [f"'{row['name']}' ({row['op']}): {row['reason']}" for row in rows]
        raise UnimplementedError(
            f"ONNX cannot express {len(rows)} of {len(draft.nodes)} nodes:{bullets(lines, 1000)}\n"
            "Name a tensor before them with --fetch, or one behind them with --input.",
            nodes=rows,
        )
    tidy.tidy(make)
    transposes.move(make)
    tidy.tidy(make)
    tidy.fold_into_convolutions(make)
    tidy.tidy(make)
    taken = make.root.taken()
    make.root.inputs = [port for port in make.root.inputs if port.name in taken]
    return Exported(make, fixed)


def _frozen(model: Model, outputs: Sequence[str]) -> tuple[Any, dict[str, np.ndarray]]:
    """The graph with empty constants for variables, and their values: a message has 2 GB at most."""
    read = checkpoint_values(model)
    values: dict[str, np.ndarray] = {}

    def value(name: str, node: Any) -> Any:
        found = read(name, node)
        if found is None:
            return None
        values[name] = found
        return np.zeros((), found.dtype) if found.dtype != object else found

    frozen, _, _ = freeze_graph(model.meta_graph.graph_def, outputs, value)
    return frozen, values


def _is_setting(node: Any, nodes: Mapping[str, Any]) -> bool:
    """Whether a placeholder with a default is a scalar, such as `training`: others are data."""
    shape = node.attr["shape"].shape
    if not shape.unknown_rank:
        return not shape.dim
    default = nodes.get(node_of(node.input[0]))
    return default is not None and default.op == "Const" and not default.attr["value"].tensor.tensor_shape.dim


def _fix_defaults(graph_def: Any, inputs: Sequence[str]) -> list[str]:
    """Gives scalar placeholders their defaults; returns the names of their tensors."""
    wanted = {name.partition(":")[0] for name in inputs}
    nodes = {node.name: node for node in graph_def.node}
    fixed = []
    for node in graph_def.node:
        if node.op != _DEFAULTS or node.name in wanted:
            continue
        given = node_of(node.input[0]) in wanted  # its default is fed
        if given or _is_setting(node, nodes):
            number = node.attr["dtype"].type
            node.op = "Identity"
            node.attr.clear()
            node.attr["T"].type = number
            if not given:
                fixed.append(f"{node.name}:0")
    return fixed


def _tensors(graph: Graph, names: Sequence[str]) -> list[Tensor]:
    found, missing = [], []
    for name in names:
        operation, _, index = name.partition(":")
        node = graph._operations.get(operation)
        if node is None or not (index or "0").isdigit() or int(index or 0) >= node.num_outputs:
            missing.append(f"'{name}'{did_you_mean(operation, graph._operations)}")
        else:
            found.append(node.output(int(index or 0)))
    if missing:
        raise MissingNameError(f"The graph has no such tensor:{bullets(missing)}", names=missing)
    return list(dict.fromkeys(found))


def _finish(make: Builder, fetches: Sequence[Tensor], results: Sequence[Any], problems: Problems) -> None:
    for tensor, value in zip(fetches, results):
        if not isinstance(value, str):
            what = "which ONNX does not give" if isinstance(value, Absent) else "an array of tensors"
            problems.add(tensor.op, "", f"what is asked for is its output {tensor.value_index}, {what}")
            continue
        if value == tensor.name:  # an input is asked for: it is an output, too
            make.root.outputs.append(Port(value, tensor.dtype.np, tensor.static_shape))
            continue
        make.scope = tensor.name
        name = make.copied(value)
        node = make.block.nodes[-1]
        node.outputs[0] = tensor.name
        make.producers[tensor.name] = node
        del make.producers[name]
        try:
            dtype_number(tensor.dtype.np)
        except Inexpressible as error:
            problems.add(tensor.op, "", str(error))
            continue
        make.root.outputs.append(Port(tensor.name, tensor.dtype.np, tensor.static_shape))
