"""Fills RunMetadata messages with step timings, as `timeline`-style tools read them.

Source: tensorflow/core/framework/step_stats.proto (r1.15).
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ..formats import protos

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def fill(run_metadata: Any, rows: list[Any]) -> None:
    """Adds the rows of `Plan.run_traced` to a RunMetadata message.

    Args:
        run_metadata: The message; what it held of step stats is replaced.
        rows: (operations, start, end, outline) with times in seconds of `time.perf_counter`. Several
            operations that ran as one are the last one's node, with all types and the first one's inputs.
    """
    offset = time.time() - time.perf_counter()
    run_metadata.ClearField("step_stats")
    device = run_metadata.step_stats.dev_stats.add(device=DEVICE)
    for operations, start, end, outline in rows:
        operation = operations[-1]
        micros = int((end - start) * 1e6)
        kinds = "+".join(each.type for each in operations)
        inputs = ", ".join(tensor.op.name for tensor in operations[0].inputs)
        node = device.node_stats.add(
            node_name=operation.name,
            all_start_micros=int((start + offset) * 1e6),
            op_start_rel_micros=0,
            op_end_rel_micros=micros,
            all_end_rel_micros=micros,
            timeline_label=f"{operation.name} = {kinds}({inputs})",
        )
        outlines = outline if isinstance(outline, list) else [outline]
        for slot, (tensor, what) in enumerate(zip(operation.outputs, outlines)):
            if what is not None:
                _add_output(node, slot, tensor, *what)


def _add_output(node: Any, slot: int, tensor: Any, dtype: str, shape: tuple[int, ...]) -> None:
    description = node.output.add(slot=slot).tensor_description
    description.dtype = tensor.dtype.base_dtype.as_datatype_enum
    description.shape.dim.extend(protos.TensorShapeProto.Dim(size=size) for size in shape)
    item = 8 if dtype == "object" else np.dtype(dtype).itemsize
    allocation = description.allocation_description
    allocation.requested_bytes = allocation.allocated_bytes = item * math.prod(shape)
    allocation.allocator_name = "cpu"


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
