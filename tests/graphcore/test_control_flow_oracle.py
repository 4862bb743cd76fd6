"""Programs with loops and conditionals in both systems: values, gradients, each other's files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from control_flow_programs import PROGRAMS

from sgtool import graphcore as ours

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def theirs() -> Any:
    tensorflow = pytest.importorskip("tensorflow.compat.v1")
    tensorflow.disable_eager_execution()
    tensorflow.disable_control_flow_v2()
    tensorflow.logging.set_verbosity("ERROR")
    return tensorflow


def fetches_of(tf: Any, outputs: list[Any], inputs: list[Any], gated: bool = False) -> list[Any]:
    loss = tf.add_n([tf.reduce_sum(tf.sin(output)) for output in outputs])
    grads = tf.gradients(loss, inputs, gate_gradients=gated)
    return [*outputs, *[tf.convert_to_tensor(grad) for grad in grads]]


@pytest.mark.parametrize("gated", [False, True], ids=["plain", "gated"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_gradients(theirs: Any, name: str, gated: bool) -> None:
    found = []
    for tf in (ours, theirs):
        with tf.Graph().as_default():
            outputs, feeds = PROGRAMS[name](tf)
            fetches = fetches_of(tf, outputs, list(feeds), gated)
            with tf.Session() as session:
                found.append(session.run(fetches, feeds))
    for mine, wanted in zip(*found):
        assert mine.shape == wanted.shape
        np.testing.assert_allclose(mine, wanted, rtol=1e-10)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("direction", ["ours in TensorFlow", "TensorFlow's here"])
def test_a_file_of_the_other_system(theirs: Any, name: str, direction: str) -> None:
    """It runs, loops of gradients included, and can be differentiated anew."""
    writer, reader = (ours, theirs) if direction.startswith("ours") else (theirs, ours)
    with writer.Graph().as_default():
        outputs, feeds = PROGRAMS[name](writer)
        fetches = fetches_of(writer, outputs, list(feeds))
        with writer.Session() as session:
            expected = session.run(fetches, feeds)
        names = [[tensor.name for tensor in tensors] for tensors in (outputs, feeds, fetches)]
        data = writer.train.export_meta_graph().SerializeToString()
    with reader.Graph().as_default() as graph:
        reader.train.import_meta_graph(reader.MetaGraphDef.FromString(data))
        outputs, inputs, fetches = ([graph.get_tensor_by_name(each) for each in group] for group in names)
        anew = fetches_of(reader, outputs, inputs, gated=True)
        with reader.Session() as session:
            given = dict(zip(inputs, feeds.values()))
            for group in (fetches, anew):
                for value, wanted in zip(session.run(group, given), expected):
                    np.testing.assert_allclose(value, wanted, rtol=1e-10)
