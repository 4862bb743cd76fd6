"""`--profile` and `--trace`: where the time of a run went, from its RunMetadata."""

from __future__ import annotations

from typing import Any

from . import render

TOP = 20


def new_metadata() -> Any:
    """An empty RunMetadata for `Session.run` to fill."""
    from ..formats import protos

    return protos.RunMetadata()


def run_options() -> Any:
    """RunOptions that ask for a full trace."""
    from ..formats import protos

    return protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)


def node_times(metadata: Any) -> list[tuple[str, str, int, int]]:
    """(node, op, start, duration) of each node that ran, in microseconds."""
    found = []
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            label = node.timeline_label
            op = label.partition(" = ")[2].partition("(")[0] or node.node_name
            start = node.all_start_micros + node.op_start_rel_micros
            found.append((node.node_name, op, start, node.op_end_rel_micros - node.op_start_rel_micros))
    return found


def show(metadata: Any) -> None:
    """The table of ops, most expensive first, on stderr."""
    times: dict[str, list[int]] = {}
    for _, op, _, duration in node_times(metadata):
        times.setdefault(op, []).append(duration)
    total = sum(map(sum, times.values())) or 1
    ranked = sorted(times.items(), key=lambda item: -sum(item[1]))
    rows = [[op, len(t), sum(t), f"{100 * sum(t) / total:.1f} %"] for op, t in ranked[:TOP]]
    if len(ranked) > TOP:
        rest = [t for _, each in ranked[TOP:] for t in each]
        rows.append([f"{len(ranked) - TOP} more", len(rest), sum(rest), f"{100 * sum(rest) / total:.1f} %"])
    render.table(
        "Time by op",
        ["op", "nodes", "microseconds", "share"],
        rows,
        right=["nodes", "microseconds", "share"],
        err=True,
    )


def write_trace(path: str, metadata: Any) -> None:
    """A Chrome trace: one complete event for each node."""
    import json

    from ..formats import files

    times = node_times(metadata)
    origin = min((start for _, _, start, _ in times), default=0)
    events = [
        {
            "name": op,
            "cat": "Op",
            "ph": "X",
            "pid": 0,
            "tid": 0,
            "ts": start - origin,
            "dur": duration,
            "args": {"name": node},
        }
        for node, op, start, duration in times
    ]
    files.write_bytes(path, json.dumps({"traceEvents": events}).encode())
    render.message(f"Wrote a trace of {len(events)} nodes to {path}.")
