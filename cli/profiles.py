"""`--profile` and `--trace`: where the time of a run went, from its RunMetadata."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from . import render

TOP = 20
"""Ops that the first table shows."""
SLOWEST = 15
"""Nodes that the second table shows."""


def new_metadata() -> Any:
    """An empty RunMetadata for `Session.run` to fill."""
    from ..formats import protos

    return protos.RunMetadata()


def run_options() -> Any:
    """RunOptions that ask for a full trace."""
    from ..formats import protos

    return protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)


@dataclass
class Step:
    """What one node (or several that ran as one) took.

    Attributes:
        node: The node; of several the last.
        kinds: The ops, as `Conv2D+BiasAdd+Relu`.
        inputs: Names of the nodes that the first takes.
        start: In microseconds.
        duration: In microseconds.
        shape: Of its first output, None where it is no array.
        nbytes: Of its outputs.
        operations: Floating point operations, a multiplication and an addition being two.
    """

    node: str
    kinds: str
    inputs: list[str]
    start: int
    duration: int
    shape: list[int] | None
    nbytes: int
    operations: int = 0


def steps(metadata: Any, graph: Any) -> list[Step]:
    """What ran, in order.

    Args:
        metadata: The RunMetadata that a run with `run_options` filled.
        graph: The graph that ran: sizes of filters and matrices, by which operations are counted.
    """
    found = []
    for device in metadata.step_stats.dev_stats:
        for stats in device.node_stats:
            kinds, _, inputs = stats.timeline_label.partition(" = ")[2].partition("(")
            outputs = [output.tensor_description for output in stats.output]
            step = Step(
                stats.node_name,
                kinds or stats.node_name,
                inputs.rstrip(")").split(", "),
                stats.all_start_micros + stats.op_start_rel_micros,
                stats.op_end_rel_micros - stats.op_start_rel_micros,
                [dim.size for dim in outputs[0].shape.dim] if outputs else None,
                sum(output.allocation_description.allocated_bytes for output in outputs),
            )
            step.operations = _count(step, graph)
            found.append(step)
    return found


def _count(step: Step, graph: Any) -> int:
    """The operations of a step, as far as that is known: products, or one for each element."""
    first, *rest = step.kinds.split("+")
    size = math.prod(step.shape or ())
    sums = {
        "Conv2D": lambda: _static(graph, step.inputs[1])[:-1],
        "Conv3D": lambda: _static(graph, step.inputs[1])[:-1],
        "DepthwiseConv2dNative": lambda: _static(graph, step.inputs[1])[:2],
        "MatMul": lambda: [_inner(graph, step)],
    }
    count = sums.get(first)
    try:
        return (2 * math.prod(count()) if count else 1) * size + len(rest) * size
    except (IndexError, TypeError):  # a size that is not known
        return 0


def _static(graph: Any, node: str) -> list[int]:
    return list(graph.get_operation_by_name(node).outputs[0].shape.as_list())


def _inner(graph: Any, step: Step) -> int:
    """The size that a product of matrices sums over."""
    operation = graph.get_operation_by_name(step.node)
    if operation.type != "MatMul":  # a chain ends with another node
        operation = next(tensor.op for tensor in operation.inputs if tensor.op.type == "MatMul")
    return int(_static(graph, step.inputs[1])[1 if operation.get_attr("transpose_b") else 0])


def show(metadata: Any, graph: Any) -> None:
    """The tables of ops and of nodes, most expensive first, on stderr."""
    ran = steps(metadata, graph)
    times: dict[str, list[int]] = {}
    for step in ran:
        times.setdefault(step.kinds, []).append(step.duration)
    total = sum(map(sum, times.values())) or 1
    ranked = sorted(times.items(), key=lambda item: -sum(item[1]))
    rows = [[op, len(t), sum(t), f"{100 * sum(t) / total:.1f} %"] for op, t in ranked[:TOP]]
    if len(ranked) > TOP:
        rest = [t for _, each in ranked[TOP:] for t in each]
        rows.append([f"{len(ranked) - TOP} more", len(rest), sum(rest), f"{100 * sum(rest) / total:.1f} %"])
    columns = ["microseconds", "share"]
    render.table("Time by op", ["op", "nodes", *columns], rows, right=["nodes", *columns], err=True)
    slowest = sorted(ran, key=lambda step: -step.duration)[:SLOWEST]
    columns += ["GFLOP/s", "bytes"]
    rows = [
        [
            step.node,
            step.kinds,
            "" if step.shape is None else render.shape(step.shape),
            step.duration,
            f"{100 * step.duration / total:.1f} %",
            f"{step.operations / step.duration / 1e3:.1f}" if step.operations and step.duration else "",
            step.nbytes,
        ]
        for step in slowest
    ]
    render.table("Slowest nodes", ["node", "op", "shape", *columns], rows, right=columns, err=True)


def write_trace(path: str, metadata: Any, graph: Any) -> None:
    """A Chrome trace: one complete event for each node."""
    import json

    from ..formats import files

    ran = steps(metadata, graph)
    origin = min((step.start for step in ran), default=0)
    events = [
        {
            "name": step.kinds,
            "cat": "Op",
            "ph": "X",
            "pid": 0,
            "tid": 0,
            "ts": step.start - origin,
            "dur": step.duration,
            "args": {
                "name": step.node,
                "shape": step.shape,
                "bytes": step.nbytes,
                "operations": step.operations,
            },
        }
        for step in ran
    ]
    files.write_bytes(path, json.dumps({"traceEvents": events}).encode())
    render.message(f"Wrote a trace of {len(events)} nodes to {path}.")
