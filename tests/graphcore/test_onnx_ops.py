"""Every translated op: the rows of the op table, by our session and exported to ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import op_cases
import op_runs
import pytest
from onnx_runs import difference, run

from sgtool import graphcore as tf
from sgtool.formats.errors import UnimplementedError
from sgtool.formats.rewrite import model_of
from sgtool.graphcore import onnx as exporter
from sgtool.graphcore.onnx.table import TRANSLATIONS

# Rows that do not agree, and why.
KNOWN = {
    "UniqueV2-5-nan": "onnxruntime takes NaNs for equal",
    "OneHot-3-empty": "onnxruntime refuses a depth of 0",
    "Unpack-3-none": "onnxruntime refuses an empty constant",
    "TopKV2-2-unsorted": "the order is not defined",
    "TopKV2-4-unsorted_all": "the order is not defined",
    "NonMaxSuppressionV3-13-undefined_0.2": "boxes without a size",
    "NonMaxSuppressionV3-14-undefined_-1.0": "boxes without a size",
    "MaxPool3D-5-nan": "onnxruntime passes NaNs over",
    "Mean-9-empty": "onnxruntime takes the mean of nothing for 0",
}
ELSEWHERE = {"PlaceholderWithDefault"}  # in test_onnx.py: what is made of it depends on what is fed
DRAWN = {"RandomUniform", "RandomStandardNormal"}


def cases() -> dict[str, list[tuple[str, Any]]]:
    """The rows of each translated op that has no variable among its inputs."""
    found: dict[str, list[tuple[str, Any]]] = {}
    for name, case in op_cases.all_cases():
        flat = op_runs.flatten(case.inputs)
        odd = any(isinstance(value, (op_cases.Var, op_cases.Quantized)) for value in flat)
        if case.op in TRANSLATIONS and not odd and name not in KNOWN and case.op not in ELSEWHERE:
            found.setdefault(case.op, []).append((name, case))
    return found


CASES = cases()


# onnxruntime pads and cuts no scalars, which shows where the rank is not known.
SCALARS = {"Pad-1-scalar", "Slice-3-scalar"}


@pytest.mark.parametrize("op", sorted(CASES))
@pytest.mark.parametrize(
    "how",
    [
        "fed",
        pytest.param("ranked", marks=pytest.mark.oracle),
        pytest.param("unknown", marks=pytest.mark.oracle),
    ],
)
def test_the_exported_op_gives_what_ours_gives(op: str, how: str, tmp_path: Path) -> None:
    lines, expressed = [], 0
    for name, case in CASES[op]:
        if how == "unknown" and name in SCALARS:
            continue
        with tf.Graph().as_default() as graph:
            built = op_runs.Built(tf, case, how)
            with tf.Session(graph=graph) as session:
                wanted = built.run(session)
            feeds = {tensor.name: np.asarray(value) for tensor, value in built.feeds.items()}
            graph_def, outputs = graph.as_graph_def(), [tensor.name for tensor in built.outputs]
        for given, fed in ((graph_def, feeds), _with_constants(graph_def, feeds)):
            if given is None:
                continue
            try:
                exported = exporter.export(model_of(given), outputs)
            except UnimplementedError:
                continue
            exported.write(tmp_path / "model.onnx")
            expressed += 1
            got = run(tmp_path / "model.onnx", outputs, fed)
            for tensor, a, b in zip(outputs, got, wanted, strict=True):
                told = difference(a, b) if op not in DRAWN else difference(np.shape(a), np.shape(b))
                lines += [f"{name}, {tensor}: {told}"] if told else []
    assert not lines, "\n".join(lines)
    assert expressed or op in NEVER or how != "fed", "no row of it is expressed"


# Ops whose translation only says why there is none, or whose rows all need something that ONNX lacks.
NEVER = {"ResizeBicubic"}


def _with_constants(graph_def: Any, feeds: dict[str, np.ndarray]) -> tuple[Any, dict[str, np.ndarray]]:
    """The graph with small integer inputs (axes, shapes) constant, as most graphs have them."""
    small = {
        name: value
        for name, value in feeds.items()
        if value.dtype.kind in "iu" and value.ndim <= 2 and value.size <= 32
    }
    if not small:
        return None, {}
    with tf.Graph().as_default() as graph:
        constants = {name: tf.constant(value) for name, value in small.items()}
        tf.import_graph_def(graph_def, input_map=constants, name="")
        rest = {name: value for name, value in feeds.items() if name not in small}
        return graph.as_graph_def(), rest
