"""Runs the benchmarks: engines in alternation, in separate processes, on one machine at one time."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .cases import CASES, CONVERTED, ONNX_RUNTIME

ROUNDS = 7
CORPUS = Path(os.environ.get("SGTOOL_CORPUS") or Path(__file__).resolve().parents[3] / "shared" / "corpus")

# An installed package has its bytecode: a checkout may have it, too, whatever this shell says.
INSTALLED = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


class Worker:
    """One engine and case in its process."""

    def __init__(self, engine: str, case: str) -> None:
        command = [sys.executable, "-m", "tests.bench.worker", engine, case]
        self.messages = tempfile.TemporaryFile("w+")  # noqa: SIM115  TensorFlow's log; shown when it fails
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.messages, text=True
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            self.messages.seek(0)
            raise RuntimeError(f"{engine} could not prepare {case}:\n{self.messages.read()}")

    def measure(self) -> dict[str, Any]:
        """One measurement."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        result: dict[str, Any] = json.loads(self.process.stdout.readline())
        return result

    def close(self) -> None:
        """Ends the process."""
        self.process.communicate()
        self.messages.close()


def in_process(case: str) -> None:
    """Prints the ratios of one case of `cases.py`: to TensorFlow, and to onnxruntime where that runs it."""
    engines = ["ours", "tensorflow"]
    if case in CONVERTED and importlib.util.find_spec(ONNX_RUNTIME) and importlib.util.find_spec("onnx"):
        engines.append(ONNX_RUNTIME)
    workers = {name: Worker(name, case) for name in engines}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in workers}
    for _ in range(ROUNDS):
        for name, worker in workers.items():
            rows[name].append(worker.measure())
    for worker in workers.values():
        worker.close()
    seconds = {name: statistics.median(row["seconds"] for row in found) for name, found in rows.items()}
    peaks = {name: max(row["peak"] for row in found) for name, found in rows.items()}
    for name in engines[1:]:
        show(f"{case} / {name}", seconds["ours"], seconds[name], peaks["ours"] / peaks[name])


def whole_process(name: str, ours: Sequence[str], other: Sequence[str], what: str) -> None:
    """Prints the ratio of two commands, start to end, output piped."""
    times: dict[str, list[float]] = {"ours": [], "other": []}
    for _ in range(ROUNDS):
        for key, command in (("ours", ours), ("other", other)):
            start = time.perf_counter()
            subprocess.run(
                command, env=INSTALLED, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            times[key].append(time.perf_counter() - start)
    # The first of each warms the disk's cache up.
    show(f"{name} / {what}", statistics.median(times["ours"][1:]), statistics.median(times["other"][1:]))


def show(name: str, ours: float, other: float, memory: float | None = None) -> None:
    """One line: the case, both times, the ratio, and that of peak memory."""
    peak = "" if memory is None else f"{memory:8.2f}"
    print(f"{name:44} {ours * 1e3:10.3f} ms {other * 1e3:10.3f} ms {ours / other:8.3f} {peak}", flush=True)


def start_up() -> None:
    """The command line, piped, against importing TensorFlow and against importing NumPy."""
    python = sys.executable
    inspect = [python, "-m", "sgtool.cli", "inspect"]
    tensorflow = [python, "-c", "import tensorflow"]
    numpy = [python, "-c", "import numpy"]
    with tempfile.TemporaryDirectory() as folder:
        small = str(Path(folder) / "small.meta")
        build = "from sgtool.graphcore import train; from sgtool.graphcore.spec import build_spec\n"
        build += "from sgtool.sample_models import spec_path\n"
        build += "import sys\nwith build_spec(spec_path('cnn')).as_default():\n"
        build += "    train.Saver().export_meta_graph(sys.argv[1])"
        subprocess.run([python, "-c", build, small], check=True)
        whole_process("sgtool --help", [python, "-m", "sgtool.cli", "--help"], numpy, "import numpy")
        whole_process("sgtool inspect cnn.meta", [*inspect, small], tensorflow, "import tensorflow")
        metas = sorted(CORPUS.glob("models/*/*.meta"), key=lambda path: path.stat().st_size)
        if metas:
            largest = str(metas[-1])
            whole_process(f"sgtool inspect {metas[-1].name}", [*inspect, largest], numpy, "import numpy")
            whole_process(
                f"sgtool inspect {metas[-1].name}", [*inspect, largest], tensorflow, "import tensorflow"
            )
        else:
            print("(no corpus: the largest published .meta is left out)")


def main() -> None:
    """Runs the cases named on the command line, or all."""
    chosen = sys.argv[1:] or ["start-up", *CASES]
    unknown = [name for name in chosen if name not in CASES and name != "start-up"]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}; there are start-up, {', '.join(CASES)}")
    print(
        f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, {ROUNDS} rounds"
    )
    print(f"{'case':44} {'ours':>13} {'other':>13} {'ratio':>8} {'memory':>8}")
    for name in chosen:
        start_up() if name == "start-up" else in_process(name)


if __name__ == "__main__":
    main()
