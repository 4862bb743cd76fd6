"""Exports to ONNX and runs what came out under onnxruntime, for the tests that compare with our sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.formats.rewrite import Model, model_of

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
runtime.set_default_logger_severity(4)

RTOL, ATOL = 1e-4, 1e-5


def frozen(session: Any, outputs: Sequence[Any]) -> Model:
    """The part of a session's graph that tensors need, with its variables as constants."""
    names = [tensor.op.name for tensor in outputs]
    graph_def = tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), names)
    return model_of(graph_def)


def run(path: Path, outputs: Sequence[str], feeds: Mapping[str, Any]) -> list[np.ndarray]:
    """What onnxruntime computes; where it has no kernel for a dtype, ONNX's own reference."""
    model = onnx.load(path)
    taken = {one.name for one in model.graph.input}
    given = {name: np.asarray(value) for name, value in feeds.items() if name in taken}
    ports = (*model.graph.input, *model.graph.output)
    narrow = any(one.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16 for one in ports)
    if not narrow:
        try:
            session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        except Exception as error:
            if "NOT_IMPLEMENTED" not in str(error):
                raise
        else:
            return list(session.run(list(outputs), {name: _decoded(one) for name, one in given.items()}))
    from onnx.reference import ReferenceEvaluator

    return list(ReferenceEvaluator(model).run(list(outputs), given))


def _decoded(value: np.ndarray) -> np.ndarray:
    """Strings as onnxruntime takes them."""
    if value.dtype != object:
        return value
    texts = [text.decode() if isinstance(text, bytes) else text for text in value.reshape(-1)]
    return np.array(texts, object).reshape(value.shape)


def difference(got: Any, wanted: Any, rtol: float = RTOL, atol: float = ATOL) -> str:
    """What differs, or ""."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    if wanted.dtype.kind in "SO":
        encoded = [text.encode() if isinstance(text, str) else text for text in got.reshape(-1).tolist()]
        same = got.shape == wanted.shape and encoded == wanted.reshape(-1).tolist()
        return "" if same else f"{got!r} instead of {wanted!r}"
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind in "iub":
        return "" if np.array_equal(got, wanted) else f"{np.sum(got != wanted)} elements differ"
    if wanted.dtype.itemsize == 2:
        rtol, atol = 2e-2, 2e-2
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    if np.allclose(a, b, rtol, atol, equal_nan=True):
        return ""
    return f"differs by {np.nanmax(np.abs(a - b)):.3g}"
