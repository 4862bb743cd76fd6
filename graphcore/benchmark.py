"""`tf.test.Benchmark`: how long runs of an operation take.

Source: tensorflow/python/platform/benchmark.py (r1.15), behaviour only.
"""

from __future__ import annotations

import inspect
import statistics
import sys
import time
from typing import Any

from ..formats import protos
from . import nest
from .default import get_default_session
from .errors import InvalidTypeError, InvalidValueError
from .session import Session


class Benchmark:
    """Base of classes whose methods `benchmark...` measure."""

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether this is the base itself."""
        return cls is Benchmark

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: list[dict[str, Any]] | None = None,
    ) -> None:
        """Writes a result to stdout, as TensorFlow's text of a BenchmarkEntry.

        Args:
            iters: How many runs there were.
            cpu_time: Seconds of the processor for one.
            wall_time: Seconds for one.
            throughput: MB/s.
            extras: What else there is to say: numbers, or anything as text.
            name: The name; by default that of the method.
            metrics: Dictionaries with `name` and `value`, and perhaps `min_value` and `max_value`.

        Raises:
            TypeError: `extras` or `metrics` are not of that form.
        """
        if extras is not None and not isinstance(extras, dict):
            raise InvalidTypeError("extras must be a dict")
        if metrics is not None and not isinstance(metrics, list):
            raise InvalidTypeError("metrics must be a list")
        values = {"iters": iters, "cpu_time": cpu_time, "wall_time": wall_time, "throughput": throughput}
        lines = [f'name: "{self._full_name(name)}"']
        lines += [f"{key}: {value}" for key, value in values.items() if value is not None]
        for key, value in sorted((extras or {}).items()):
            field = (
                f"double_value: {value}" if isinstance(value, (int, float)) else f'string_value: "{value}"'
            )
            lines += ["extras {", f'  key: "{key}"', "  value {", f"    {field}", "  }", "}"]
        for metric in metrics or []:
            lines += ["metrics {", *[f"  {line}" for line in _metric(metric)], "}"]
        sys.stdout.write("\n".join(["entry {", *[f"  {line}" for line in lines], "}"]) + "\n\n")

    def _full_name(self, name: str | None) -> str:
        if name is None:
            own = [frame for frame in inspect.stack() if frame.frame.f_locals.get("self") is self]
            name = own[-1].function
        return f"{type(self).__name__}.{name}"

    def run_op_benchmark(
        self,
        sess: Session,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Measures runs of an operation or tensor and reports the median.

        Args:
            sess: The session.
            op_or_tensor: What to run.
            feed_dict: What to feed.
            burn_iters: Runs before any is measured.
            min_iters: Runs that are measured, at least one.
            store_trace: Also give a trace of one run, under `extras` of the result.
            store_memory_usage: Accepted; memory is not measured.
            name: The name; by default that of the method.
            extras: What else to report.
            mbs: MB that a run moves, for the throughput.

        Returns:
            What was reported, by the names of `report_benchmark`'s arguments.

        Raises:
            ValueError: `min_iters` is less than one.
        """
        if min_iters < 1:
            raise InvalidValueError(f"min_iters must be at least 1, got {min_iters}")
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        seconds = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict)
            seconds.append(time.perf_counter() - start)
        median = statistics.median(seconds)
        extras = dict(extras or {})
        throughput = mbs / median
        self.report_benchmark(min_iters, None, median, throughput, extras, name)
        if store_trace:
            extras["full_trace_chrome_format"] = _trace(sess, op_or_tensor, feed_dict)
        return {
            "iters": min_iters,
            "wall_time": median,
            "extras": extras,
            "name": name,
            "throughput": throughput,
        }

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors, in the default session or one of the default graph."""
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with Session() as session:
            return session.run(nest.map_structure(lambda each: each, tensors))


def _metric(metric: dict[str, Any]) -> list[str]:
    missing = [key for key in ("name", "value") if key not in metric]
    if missing:
        raise InvalidTypeError(f"metric must has a '{missing[0]}' field")
    bounds = [key for key in ("min_value", "max_value") if key in metric]
    return [
        f'name: "{metric["name"]}"',
        f"value: {metric['value']}",
        *[f"{key} {{ value: {metric[key]} }}" for key in bounds],
    ]


def _trace(sess: Session, op_or_tensor: Any, feed_dict: Any) -> str:
    from .timeline import Timeline

    metadata = protos.RunMetadata()
    options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
    sess.run(op_or_tensor, feed_dict, options=options, run_metadata=metadata)
    text: str = Timeline(metadata.step_stats).generate_chrome_trace_format()
    return text


def benchmark_config() -> Any:
    """A ConfigProto for measuring; all of its settings are accepted without effect here."""
    return protos.ConfigProto()
