"""Writes control_flow_v2.npz: programs of tests/support/control_flow_programs.py as TensorFlow 2 builds them.

Conditionals and loops are functions of the graph's library there (If, While, TensorLists). For each
program the npz has `NAME/plain`, the MetaGraphDef, and `NAME/trained`, the same with gradients, both as
bytes; `NAME/gradients` are the names of these. Run it with a Python that has TensorFlow.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from control_flow_programs import PROGRAMS  # noqa: E402

NAMES = (
    "array_of_tensors",
    "changing_shape",
    "conditional_in_loop",
    "loop_in_conditional",
    "loop_of_matrices",
    "nested_loops",
    "rows_in_loop",
)


def written(graph: tf.Graph) -> np.ndarray:
    """The graph as bytes, without what depends on the machine."""
    message = tf.train.export_meta_graph(graph=graph, clear_devices=True)
    return np.frombuffer(message.SerializeToString(deterministic=True), np.uint8)


if __name__ == "__main__":
    tf.disable_eager_execution()
    tf.enable_control_flow_v2()
    entries = {}
    for name in NAMES:
        with tf.Graph().as_default() as graph:
            outputs, feeds = PROGRAMS[name](tf)
            named = [tf.identity(output, name=f"result_{index}") for index, output in enumerate(outputs)]
            entries[f"{name}/plain"] = written(graph)
            loss = tf.add_n([tf.reduce_sum(tf.sin(output)) for output in named])
            gradients = [tf.convert_to_tensor(each) for each in tf.gradients(loss, list(feeds))]
            entries[f"{name}/trained"] = written(graph)
            entries[f"{name}/gradients"] = np.array([each.name for each in gradients])
    arrays: dict[str, Any] = entries
    np.savez_compressed(HERE / "control_flow_v2.npz", **arrays)
