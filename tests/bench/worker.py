"""One engine with one case in a process of its own; measures when told to by a line on standard input."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from typing import Any

from .cases import CASES, ONNX_RUNTIME


def engine(name: str) -> Any:
    """Ours (which also prepares what onnxruntime runs), or TensorFlow's v1 API in graph mode."""
    if name in ("ours", ONNX_RUNTIME):
        from sgtool import graphcore

        return graphcore
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    tf.disable_resource_variables()
    tf.logging.set_verbosity("ERROR")
    return tf


def main() -> None:
    """`worker ENGINE CASE`: a JSON line for each line read, {"seconds": per call, "peak": MiB}."""
    prepare, repeat = CASES[sys.argv[2]]
    timed = prepare(engine(sys.argv[1]))
    for _ in range(3):
        timed()
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in range(repeat):
            timed()
        seconds = (time.perf_counter() - start) / repeat
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "peak": peak}), flush=True)


if __name__ == "__main__":
    main()
