"""The StepStats of a traced run in Chrome's trace format, which chrome://tracing and Perfetto show.

Each device has two processes, one for its operations and one for its tensors; operations that overlap in time
are in different threads ("lanes").

Source: tensorflow/python/client/timeline.py (r1.15), behaviour; github.com/catapult-project/catapult,
"Trace Event Format".
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_LABEL = re.compile(r"(.*) = (.*)\((.*)\)")


class AllocationMaximum(NamedTuple):
    """The most that an allocator had given out at one time.

    Attributes:
        timestamp: When, in microseconds since the epoch.
        num_bytes: How much, in bytes.
        tensors: Names of the tensors that held it.
    """

    timestamp: int
    num_bytes: int
    tensors: set[str]


class StepStatsAnalysis(NamedTuple):
    """What `Timeline.analyze_step_stats` gives.

    Attributes:
        chrome_trace: The events, a `ChromeTrace`.
        allocator_maximums: An `AllocationMaximum` for each allocator's name.
    """

    chrome_trace: ChromeTrace
    allocator_maximums: dict[str, AllocationMaximum]


class ChromeTrace:
    """Events in Chrome's trace format."""

    def __init__(self) -> None:
        self._metadata: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []

    def name_process(self, name: str, pid: int) -> None:
        """Gives a process its name."""
        self._metadata.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}})

    def add(self, ph: str, category: str, name: str, pid: int, tid: int, timestamp: int, **more: Any) -> None:
        """Adds an event of the kind `ph`, at a time in microseconds."""
        event = {"ph": ph, "cat": category, "name": name, "pid": pid, "tid": tid, "ts": timestamp}
        self._events.append(event | more)

    def format_to_string(self, pretty: bool = False) -> str:
        """The events as JSON."""
        trace = {"traceEvents": self._metadata + self._events}
        if pretty:
            return json.dumps(trace, indent=4, separators=(",", ": "))
        return json.dumps(trace, separators=(",", ":"))


@dataclass(slots=True)
class _Tensor:
    """A tensor that a run made: who made it, when, and how long it was used."""

    number: int
    pid: int
    allocator: str
    size: int
    created: int
    flow: tuple[int, int, int]  # time, process and thread of the end of what made it
    uses: list[int] = field(default_factory=list)

    @property
    def last_use(self) -> int:
        return max(self.uses)


class Timeline:
    """Makes a trace of the StepStats of a run.

    Args:
        step_stats: A StepStats message, `run_metadata.step_stats`.
        graph: Kept for compatibility.
    """

    def __init__(self, step_stats: Any, graph: Any = None) -> None:
        self._step_stats = step_stats
        self._graph = graph

    def analyze_step_stats(self, show_dataflow: bool = True, show_memory: bool = True) -> StepStatsAnalysis:
        """The events, and how much memory each allocator had given out at most.

        Args:
            show_dataflow: Show from where to where tensors go.
            show_memory: Show when tensors come and go.
        """
        trace = ChromeTrace()
        self._trace = trace
        self._tensors: dict[str, _Tensor] = {}
        self._flows = 0
        trace.name_process("Allocators", 0)
        devices = list(self._step_stats.dev_stats)
        pids = {stats.device: 2 * index + 1 for index, stats in enumerate(devices)}
        for name, pid in pids.items():
            trace.name_process(f"{name} Compute", pid)
            trace.name_process(f"{name} Tensors", pid + 1)
        for stats in devices:
            _assign_lanes(stats)
        for stats in devices:
            for node in stats.node_stats:
                self._add_tensors(node, pids[stats.device], show_memory)
        for stats in devices:
            traced = "/stream:" in stats.device or "/memcpy" in stats.device
            for node in stats.node_stats:
                self._add_operation(node, pids[stats.device], traced, show_dataflow)
        maxima = self._add_memory() if show_memory else {}
        return StepStatsAnalysis(trace, maxima)

    def generate_chrome_trace_format(self, show_dataflow: bool = True, show_memory: bool = False) -> str:
        """The trace as JSON; arguments as `analyze_step_stats`."""
        return self.analyze_step_stats(show_dataflow, show_memory).chrome_trace.format_to_string(pretty=True)

    def _add_tensors(self, node: Any, pid: int, show_memory: bool) -> None:
        start, end = _span(node)
        for index, output in enumerate(node.output):
            name = f"{node.node_name}:{index}" if index else node.node_name
            allocation = output.tensor_description.allocation_description
            tensor = _Tensor(
                len(self._tensors),
                pid + 1,
                allocation.allocator_name,
                allocation.requested_bytes,
                start,
                (end, pid, node.thread_id),
                [end],
            )
            self._tensors[name] = tensor
            if show_memory:
                where = ("Tensor", name, pid + 1, node.thread_id)
                self._trace.add("N", *where, start, id=tensor.number)
                text = str(output.tensor_description).replace('"', "")
                snapshot = {"snapshot": {"tensor_description": text}}
                self._trace.add("O", *where, end - 1, id=tensor.number, args=snapshot)

    def _add_operation(self, node: Any, pid: int, traced: bool, show_dataflow: bool) -> None:
        start, end = _span(node)
        label = _LABEL.match(node.timeline_label)
        op, inputs = (label[2], label[3].split(", ") if label[3] else []) if label else ("unknown", [])
        name, shown = node.node_name, inputs
        if traced:  # "<node>:<op>", from a tracer of the device
            name, op = [*node.node_name.split(":"), "unknown"][:2]
            shown = []
        elif name == "RecvTensor":
            op, shown = "RecvTensor", []
        args = {"name": name, "op": op} | {f"input{index}": item for index, item in enumerate(shown)}
        self._trace.add("X", "Op", op, pid, node.thread_id, start, dur=end - start, args=args)
        if traced or name == "RecvTensor":
            return
        for item in inputs:
            # What was sent from another device has a suffix "/_<number>".
            source = item if item in self._tensors or item.rfind("/_") <= 0 else item[: item.rfind("/_")]
            tensor = self._tensors.get(source)
            if tensor is None:
                continue
            tensor.uses.append(end - 1)
            made, from_pid, from_tid = tensor.flow
            if show_dataflow and (from_pid, from_tid) != (pid, node.thread_id):
                self._trace.add("s", "DataFlow", source, from_pid, from_tid, made, id=self._flows)
                self._trace.add("t", "DataFlow", source, pid, node.thread_id, start, id=self._flows)
                self._flows += 1

    def _add_memory(self) -> dict[str, AllocationMaximum]:
        changes: dict[str, list[tuple[int, int, str]]] = {}
        for name, tensor in self._tensors.items():
            self._trace.add("D", "Tensor", name, tensor.pid, 0, tensor.last_use, id=tensor.number)
            rows = changes.setdefault(tensor.allocator, [])
            rows += [(tensor.created, tensor.size, name), (tensor.last_use, -tensor.size, name)]
        maxima = {}
        for allocator, rows in changes.items():
            total, most = 0, AllocationMaximum(0, 0, set())
            held: set[str] = set()
            for when, size, name in sorted(rows):
                total += size
                (held.discard if size < 0 else held.add)(name)
                if total > most.num_bytes:
                    most = AllocationMaximum(when, total, set(held))
                self._trace.add("C", "Memory", allocator, 0, 0, when, args={allocator: total})
            maxima[allocator] = most
        return maxima


def _span(node: Any) -> tuple[int, int]:
    """Start and end in microseconds."""
    return node.all_start_micros, node.all_start_micros + node.all_end_rel_micros


def _assign_lanes(stats: Any) -> None:
    """Gives operations that overlap different threads."""
    ends = [0]
    for node in stats.node_stats:
        start, end = _span(node)
        free = next((lane for lane, until in enumerate(ends) if start > until), len(ends))
        if free == len(ends):
            ends.append(0)
        ends[free] = end
        node.thread_id = free
