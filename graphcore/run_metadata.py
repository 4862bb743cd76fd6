"""Fills RunMetadata messages with step timings, as `timeline`-style tools read them.

Source: tensorflow/core/framework/step_stats.proto (r1.15).
"""

from __future__ import annotations

import time
from typing import Any

from ..formats import protos

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def fill(run_metadata: Any, rows: list[Any]) -> None:
    """Adds the rows of `Plan.run_traced` to a RunMetadata message.

    Args:
        run_metadata: The message; what it held of step stats is replaced.
        rows: (operation, start, end, outline) with times in seconds of `time.perf_counter`.
    """
    offset = time.time() - time.perf_counter()
    run_metadata.ClearField("step_stats")
    device = run_metadata.step_stats.dev_stats.add(device=DEVICE)
    for operation, start, end, _ in rows:
        micros = int((end - start) * 1e6)
        inputs = ", ".join(tensor.op.name for tensor in operation.inputs)
        device.node_stats.add(
            node_name=operation.name,
            all_start_micros=int((start + offset) * 1e6),
            op_start_rel_micros=0,
            op_end_rel_micros=micros,
            all_end_rel_micros=micros,
            timeline_label=f"{operation.name} = {operation.type}({inputs})",
        )


def needed_graph(fetches: Any) -> Any:
    """A GraphDef of the operations that fetches (tensors or operations) need: the one partition of a run."""
    needed: dict[Any, None] = {}
    stack = [getattr(fetch, "op", fetch) for fetch in fetches]
    while stack:
        operation = stack.pop()
        if operation not in needed:
            needed[operation] = None
            stack.extend(tensor.op for tensor in operation.inputs)
            stack.extend(operation.control_inputs)
    ordered = sorted(needed, key=lambda operation: operation._id)
    return protos.GraphDef(node=[operation.to_proto() for operation in ordered])
