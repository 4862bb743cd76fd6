"""Every registered op: its declaration, and every case of the op table.

A case checks the kernel's values, the shape rule with known and unknown input shapes, the round trip
through a GraphDef, and the gradient and its gradient against central differences.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import op_cases
import op_runs
import pytest
from corpus_files import CORPUS
from op_cases._pending import EXTRA_ATTRS, LATER_OPS, PENDING, UNDIFFERENTIATED

from sgtool import graphcore as tf
from sgtool.formats import protos
from sgtool.graphcore import registry

CASES = op_cases.all_cases()
OP_TABLE = CORPUS.resolve().parent / "ops_tf115.binpb"
TOLERANCE = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 2e-6, "complex64": 2e-6}


def parametrize(rows):
    return pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in rows])


def assert_equal(actual, expected, case):
    if isinstance(actual, bytes) or np.asarray(actual).dtype == object:
        assert op_cases.text(actual).tolist() == op_cases.text(expected).tolist()
        return
    actual = np.asarray(actual)
    expected = np.asarray(expected)
    assert actual.shape == expected.shape
    if actual.dtype.kind in "iub":
        np.testing.assert_array_equal(actual, expected)
        return
    tolerance = max(TOLERANCE.get(actual.dtype.name, 1e-12), case.rtol)
    wide = np.complex128 if actual.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        actual.astype(wide), expected.astype(wide), rtol=tolerance, atol=max(case.atol, tolerance * 0.1)
    )


@parametrize(CASES)
def test_kernel(case):
    """The values are those expected, of the declared dtypes and shapes, however inputs come in."""
    built, results = op_runs.run(tf, case)
    expected = case.expected()
    assert len(results) == len(expected)
    for actual, wanted in zip(results, expected, strict=True):
        assert_equal(actual, wanted, case)
    check_outputs(built, results)
    if registry.find(case.op).is_pure:
        for how in ("unknown", "ranked", "constant"):
            again, values = op_runs.run(tf, case, how)
            check_outputs(again, values)
            for actual, wanted in zip(values, results, strict=True):
                assert_same(actual, wanted)


def assert_same(actual, wanted):
    if isinstance(actual, bytes) or np.asarray(actual).dtype == object:
        assert op_cases.text(actual).tolist() == op_cases.text(wanted).tolist()
    elif np.asarray(actual).dtype.kind in "iub":
        np.testing.assert_array_equal(actual, wanted)
    else:
        # Not bit for bit: sums depend on how a buffer is aligned.
        wide = np.complex128 if np.asarray(actual).dtype.kind == "c" else np.float64
        np.testing.assert_allclose(actual.astype(wide), wanted.astype(wide), rtol=2e-6, atol=1e-6)


def check_outputs(built, results):
    """The declared dtypes, and shapes that are instances of the shape rule's."""
    for tensor, value in zip(built.outputs, results, strict=False):
        array = np.asarray(value, object) if tensor.dtype.base_dtype == tf.string else np.asarray(value)
        dtype = tensor.dtype.base_dtype
        assert array.dtype == dtype.np if dtype.is_quantized else tf.as_dtype(array.dtype) == dtype
        shape = tensor.get_shape()
        assert shape.is_compatible_with(array.shape), f"{shape} does not allow {array.shape}"


@parametrize(
    [(name, case) for name, case in CASES if not any(isinstance(i, op_cases.Var) for i in case.inputs)]
)
def test_round_trip(case):
    """A GraphDef brings the same operation back."""
    with tf.Graph().as_default() as graph:
        built = op_runs.Built(tf, case)
        data = graph.as_graph_def().SerializeToString()
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(protos.GraphDef.FromString(data), name="")
        copy = graph.get_operation_by_name(built.operation.name)
        assert copy.node_def == built.operation.node_def
        assert [t.dtype for t in copy.outputs] == [t.dtype for t in built.outputs]
        assert [str(t.get_shape()) for t in copy.outputs] == [str(t.get_shape()) for t in built.outputs]
        if copy.outputs and not registry.find(case.op).takes_ctx:
            feeds = {tensor.name: value for tensor, value in built.feeds.items()}
            with tf.Session() as session:
                again = session.run(copy.outputs, feeds)
            with tf.Session(graph=built.operation.graph) as session:
                once = session.run(built.outputs, built.feeds)
            for actual, wanted in zip(again, once, strict=True):
                assert_same(actual, wanted)


DIFFERENTIABLE = [(name, case) for name, case in CASES if op_runs.differentiable_inputs(case)]
CHECKED = [(name, case) for name, case in DIFFERENTIABLE if case.numeric is True]


@parametrize(CHECKED)
def test_gradient(case):
    """Along a random direction, the gradient and its gradient are what central differences say."""
    inputs = op_runs.widen(case)
    wide = dataclasses.replace(case, inputs=tuple(inputs))
    with tf.Graph().as_default():
        _, outputs = op_runs.run(tf, wide)
    with tf.Graph().as_default(), tf.Session() as session:
        grads = op_runs.Gradients(tf, case, inputs, outputs)
        assert grads.outputs, "no output has a derivative"
        rng = op_runs.seeded(case, 1)
        step, rtol, atol = precision([*grads.values, *grads.seed_values])
        directions = [op_runs.like(rng, value) for value in grads.values]
        values = session.run(grads.grads, grads.feeds)
        for value, grad in zip(grads.values, values, strict=True):
            assert np.asarray(grad).dtype == value.dtype
            assert np.shape(grad) == value.shape

        def total(at, weights, fetches, feeds):
            moved = [
                value + np.asarray(at * direction).astype(value.dtype)
                for value, direction in zip(base, along, strict=True)
            ]
            found = session.run(fetches, {**feeds, **dict(zip(points, moved, strict=True))})
            return op_runs.dot(weights, [np.asarray(item) for item in found])

        points, base, along = grads.inputs, grads.values, directions
        numeric = (
            total(step, grads.seed_values, grads.outputs, grads.feeds)
            - total(-step, grads.seed_values, grads.outputs, grads.feeds)
        ) / (2 * step)
        analytic = op_runs.dot([np.asarray(value) for value in values], directions)
        np.testing.assert_allclose(analytic, numeric, rtol=rtol, atol=atol)
        if case.second is not True:
            return
        # The gradient is itself a function, of the inputs and of the gradients that come in.
        weights = [tf.constant(direction) for direction in directions]
        points = grads.inputs + grads.seeds
        base = grads.values + grads.seed_values
        along = [op_runs.like(rng, value) for value in base]
        second = session.run(grads.of(grads.grads, points, weights), grads.feeds)
        numeric = (
            total(step, directions, grads.grads, grads.feeds)
            - total(-step, directions, grads.grads, grads.feeds)
        ) / (2 * step)
        analytic = op_runs.dot([np.asarray(value) for value in second], along)
        np.testing.assert_allclose(analytic, numeric, rtol=rtol, atol=atol)


@parametrize([(name, case) for name, case in DIFFERENTIABLE if case.numeric is True or case.through])
@pytest.mark.parametrize("how", ["ranked", "unknown"])
def test_gradient_without_static_shapes(case, how):
    """The same gradients where the graph knows no shapes."""
    _, outputs = op_runs.run(tf, case)
    results = []
    for known in ("fed", how):
        with tf.Graph().as_default(), tf.Session() as session:
            grads = op_runs.Gradients(tf, case, list(case.inputs), outputs, known)
            results.append(session.run(grads.grads, grads.feeds))
    for actual, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-5)


def precision(values):
    """Step of the difference, and tolerances, for the least precise of the dtypes."""
    if all(value.dtype in (np.float64, np.complex128) for value in values):
        return 1e-6, 1e-6, 1e-7
    return 1e-2, 2e-2, 1e-2


def test_every_op_has_a_case():
    covered = {case.op for _, case in CASES}
    names = {op.name for op in registry.all_ops()}
    assert names - covered - PENDING.keys() == set(), "ops without a case"
    assert set(PENDING) & covered == set(), "ops that are no longer pending"
    assert covered <= names


def test_every_op_has_a_decision_on_its_gradient():
    undecided = [
        op.name
        for op in registry.all_ops()
        if not (op.grad_fn or op.no_grad or op.undefined_grad) and op.name not in PENDING
    ]
    assert undecided == []


def test_every_op_says_what_it_computes():
    """In one sentence of its own, which `sgtool ops` shows."""
    assert [op.name for op in registry.all_ops() if not op.summary.endswith(".")] == []
    assert [op.name for op in registry.all_ops() if len(op.summary) > 160] == []


def test_every_gradient_is_checked():
    checked = {case.op for _, case in CHECKED}
    missing = {op.name for op in registry.all_ops() if op.grad_fn} - checked - PENDING.keys()
    assert missing - UNDIFFERENTIATED.keys() == set(), "gradients without a check"
    assert set(UNDIFFERENTIATED) & checked == set(), "gradients that are checked now"


@functools.cache
def op_table():
    table = protos.OpList.FromString(OP_TABLE.read_bytes())
    return {op.name: op for op in table.op}


@pytest.mark.corpus
@pytest.mark.skipif(not OP_TABLE.exists(), reason="TensorFlow's op table is not there")
@pytest.mark.parametrize(
    "op", [op for op in registry.all_ops() if op.name not in LATER_OPS], ids=lambda op: op.name
)
def test_declaration(op):
    """As TensorFlow 1.15 declares it."""
    theirs, ours = op_table()[op.name], op.definition.to_proto()
    assert [str(arg) for arg in ours.input_arg] == [str(strip(arg)) for arg in theirs.input_arg]
    assert [str(arg) for arg in ours.output_arg] == [str(strip(arg)) for arg in theirs.output_arg]
    for field in ("is_stateful", "is_commutative", "is_aggregate", "allows_uninitialized_input"):
        assert getattr(ours, field) == getattr(theirs, field), field
    extra = EXTRA_ATTRS.get(op.name, ())
    mine = {attr.name: attr for attr in ours.attr if attr.name not in extra}
    others = {attr.name: attr for attr in theirs.attr}
    assert mine.keys() == others.keys()
    for name, attr in mine.items():
        assert plain(attr) == plain(others[name]), name


def strip(arg):
    copy = type(arg)()
    copy.CopyFrom(arg)
    copy.ClearField("description")
    return copy


def plain(attr):
    """An attribute's declaration as comparable values, allowed values as a set."""
    allowed = attr.allowed_values.list
    return (
        attr.type,
        attr.has_minimum,
        attr.minimum,
        attr.HasField("default_value"),
        str(attr.default_value),
        frozenset(allowed.type) or frozenset(allowed.s),
    )
