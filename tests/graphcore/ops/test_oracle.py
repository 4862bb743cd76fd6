"""The op table through a real TensorFlow, in the same process: values and gradients compared."""

from __future__ import annotations

import os

os.environ.setdefault(
    "TF_ENABLE_ONEDNN_OPTS", "0"
)  # oneDNN's softmax and convolutions round, and fail, their own way

import numpy as np
import op_cases
import op_runs
import pytest
from op_cases._pending import LATER_OPS

from sgtool import graphcore
from sgtool.graphcore import registry

pytestmark = pytest.mark.oracle

# Half precision: TensorFlow rounds intermediate results, we round once.
TOLERANCE = {
    "float16": 4e-3,
    "bfloat16": 2e-2,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float64": 1e-10,
    "complex128": 1e-10,
}


@pytest.fixture(scope="module")
def tensorflow():
    module = pytest.importorskip("tensorflow")
    return module.compat.v1


def parametrize(rows):
    return pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in rows])


def assert_close(ours, theirs, case, what):
    if isinstance(theirs, bytes) or np.asarray(theirs).dtype == object:
        assert op_cases.text(ours).tolist() == op_cases.text(theirs).tolist()
        return
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.dtype == theirs.dtype, what
    assert ours.shape == theirs.shape, what
    if ours.dtype.kind in "iub":
        np.testing.assert_array_equal(ours, theirs, what)
        return
    tolerance = max(TOLERANCE[ours.dtype.name], case.rtol)
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        ours.astype(wide),
        theirs.astype(wide),
        rtol=tolerance,
        atol=max(case.atol, tolerance * 0.1),
        err_msg=what,
    )


VALUES = [
    (name, case) for name, case in op_cases.all_cases() if not isinstance(case.oracle, str) and case.oracle
]


@parametrize(VALUES)
def test_values(case, tensorflow):
    """The same outputs, dtypes and shapes."""
    _, ours = op_runs.run(graphcore, case)
    _, theirs = op_runs.run(tensorflow, case)
    assert len(ours) == len(theirs)
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if case.oracle is True or index in case.oracle:
            assert_close(mine, other, case, f"output {index}")


GRADIENTS = [
    (name, case) for name, case in VALUES if case.oracle_grad is True and op_runs.differentiable_inputs(case)
]


@parametrize(GRADIENTS)
def test_gradients(case, tensorflow):
    """The same gradients for the same gradients of the outputs."""
    results = []
    _, outputs = op_runs.run(graphcore, case)
    for tf in (graphcore, tensorflow):
        with tf.Graph().as_default() as graph:
            grads = op_runs.Gradients(tf, case, list(case.inputs), outputs)
            with tf.Session(graph=graph) as session:
                results.append(session.run(grads.grads, grads.feeds))
    for index, (mine, other) in enumerate(zip(*results, strict=True)):
        assert_close(mine, other, case, f"gradient {index}")


EXPORTED = [
    (name, case) for name, case in VALUES if op_runs.differentiable_inputs(case) and case.exported is True
]


@parametrize(EXPORTED)
def test_our_gradient_graph_runs_in_tensorflow(case, tensorflow):
    """The gradients that we build are nodes that TensorFlow takes, and gives the same values for."""
    _, outputs = op_runs.run(graphcore, case)
    with graphcore.Graph().as_default() as graph:
        grads = op_runs.Gradients(graphcore, case, list(case.inputs), outputs)
        with graphcore.Session(graph=graph) as session:
            ours = session.run(grads.grads, grads.feeds)
        data = graph.as_graph_def().SerializeToString()
    with tensorflow.Graph().as_default() as graph:
        tensorflow.import_graph_def(tensorflow.GraphDef.FromString(data), name="")
        with tensorflow.Session(graph=graph) as session:
            feeds = {tensor.name: value for tensor, value in grads.feeds.items()}
            theirs = session.run([tensor.name for tensor in grads.grads], feeds)
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        assert_close(mine, other, case, f"gradient {index}")


@pytest.mark.parametrize(
    "op", [op for op in registry.all_ops() if op.grad_fn is None], ids=lambda op: op.name
)
def test_no_gradient_where_tensorflow_has_none(op, tensorflow):
    """What we do not differentiate, TensorFlow does not differentiate either."""
    from tensorflow.python.framework import ops

    try:
        function = ops.gradient_registry.lookup(op.name)
    except LookupError:
        function = None
    assert function is None or op.name in RETURNS_NOTHING | REFUSES | LATER_GRADIENTS
    if op.name in REFUSES:
        with pytest.raises(NotImplementedError):
            function(None, None)
    elif op.undefined_grad and op.name not in LATER_GRADIENTS:
        assert op.name not in ops.gradient_registry._registry  # where it is an error here, it is one there


# Gradients that came after 1.15.
LATER_GRADIENTS = {"RaggedTensorToTensor", "RaggedTensorToVariant", "RaggedTensorFromVariant"}
# Gradient functions that raise an error.
REFUSES = {"SparseDenseCwiseAdd", "SparseSparseMaximum", "SparseSparseMinimum"}
# Gradient functions that give None for every input, and ops whose conditionals are differentiated elsewhere.
RETURNS_NOTHING = {"ArgMax", "ArgMin", "LoopCond", "RefMerge", "RefSwitch"}


@pytest.mark.parametrize("name", sorted(LATER_OPS))
def test_an_op_that_came_after_1_15_is_declared_as_today(name, tensorflow):
    from tensorflow.python.framework import op_def_registry

    theirs, ours = op_def_registry.get(name), registry.find(name).definition.to_proto()
    for field in ("input_arg", "output_arg"):
        pairs = zip(getattr(theirs, field), getattr(ours, field), strict=True)
        assert all(
            (a.name, a.type, a.type_attr, a.type_list_attr, a.number_attr)
            == (b.name, b.type, b.type_attr, b.type_list_attr, b.number_attr)
            for a, b in pairs
        )
    mine = {(attr.name, attr.type) for attr in ours.attr}
    others = {(attr.name, attr.type): attr for attr in theirs.attr}
    assert mine <= others.keys()
    assert all(others[key].HasField("default_value") for key in others.keys() - mine)  # younger still
    assert theirs.is_stateful == ours.is_stateful
