"""One source text run by TensorFlow and by graphcore in one process, and what both give compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours


def tensorflow() -> Any:
    """TensorFlow with the behaviour of version 1; skips the test where it is not installed."""
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_eager_execution()
    theirs.disable_resource_variables()
    theirs.disable_control_flow_v2()
    theirs.logging.set_verbosity("ERROR")
    return theirs


def compare(theirs: Any, build: Any, steps: int, names: bool = True, rtol: float = 2e-5) -> None:
    """Builds the same graph twice and runs what it gives; values, and names of operations, agree.

    Args:
        theirs: TensorFlow.
        build: Function of either module; gives what to run at each step, what to fetch after it, and feeds
            as functions of the step.
        steps: How often.
        names: Whether the names and types of all operations are to agree.
        rtol: Relative tolerance of the values.
    """
    values, operations = [], []
    for tf in (ours, theirs):
        with tf.Graph().as_default() as graph:
            run, fetch, feeds = build(tf)
            # tf.add makes an Add in TensorFlow 1.15, an AddV2 later.
            operations.append({op.name: op.type.replace("AddV2", "Add") for op in graph.get_operations()})
            with tf.Session() as session:
                session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
                found = []
                for step in range(steps):
                    feed = {tensor: value(step) for tensor, value in feeds.items()}
                    session.run(run, feed)
                    found.append(session.run(fetch, feed))
                values.append(found)
    for mine, other in zip(values[0], values[1], strict=True):
        for a, b in zip(mine, other, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-6)
    if names:
        assert operations[0] == operations[1]
