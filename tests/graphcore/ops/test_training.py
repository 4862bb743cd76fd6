"""What the updates of variables refuse, in TensorFlow's words."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import op_runs
import pytest
from op_cases import Var, training

from sgtool import graphcore as ours


def run(tf: Any, op: str, variables: dict[str, Any], inputs: dict[str, Any]) -> Any:
    """Runs an update; inputs are fed with unknown shapes, so that the kernel sees them."""
    with tf.Graph().as_default(), tf.Session() as session:
        starts, arguments = [], {}
        for name, value in variables.items():
            if op.startswith("Resource"):
                arguments[name] = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=None, shared_name=name)
                assign = tf.raw_ops.AssignVariableOp
                starts.append(assign(resource=arguments[name], value=tf.constant(value, tf.float32)))
            else:
                arguments[name] = tf.raw_ops.VariableV2(shape=None, dtype=tf.float32)
                value = tf.constant(value, tf.float32)
                starts.append(tf.raw_ops.Assign(ref=arguments[name], value=value, validate_shape=False))
        feeds = {}
        for name, value in inputs.items():
            array = np.asarray(value)
            array = array.astype(np.float32) if array.dtype.kind == "f" else array.astype(np.int64)
            arguments[name] = tf.placeholder(tf.as_dtype(array.dtype), None)
            feeds[arguments[name]] = array
        session.run(starts)
        result = getattr(tf.raw_ops, op)(**arguments)
        return session.run(result, feeds)


V3, V23 = [1.0, 2.0, 3.0], np.ones((2, 3))
FTRL = {"lr": 0.1, "l1": 0.0, "l2": 0.0, "lr_power": -0.5}
SLOTS = {"var": V23, "accum": V23, "linear": V23}
ADAGRAD, ROWS = {"var": V23, "accum": V23}, {"lr": 0.1, "grad": V23, "indices": [0, 1]}
REFUSED = [
    (
        "ApplyAdagrad",
        {"var": V3, "accum": V23},
        {"lr": 0.1, "grad": V3},
        "var and accum do not have the same shape[3] [2,3]",
    ),
    ("ApplyAdagrad", ADAGRAD, {"lr": [0.1], "grad": V23}, "lr is not a scalar: [1]"),
    ("ApplyAdagrad", ADAGRAD, {"lr": 0.1, "grad": V3}, "var and grad do not have the same shape[2,3] [3]"),
    (
        "ApplyProximalGradientDescent",
        {"var": V3},
        {"alpha": 0.1, "l1": [0.1, 0.2], "l2": 0.1, "delta": V3},
        "l1 regularization strength is not a scalar: [2]",
    ),
    (
        "ApplyProximalAdagrad",
        ADAGRAD,
        {"lr": -0.1, "l1": 0.0, "l2": 0.0, "grad": V23},
        "lr is not a positive scalar: []",
    ),
    (
        "SparseApplyFtrl",
        SLOTS,
        FTRL | {"grad": V23, "indices": [0, 1], "l2": -0.1},
        "l2 regularization strength is not a non-negative scalar: []",
    ),
    (
        "SparseApplyFtrlV2",
        SLOTS,
        FTRL | {"grad": V23, "indices": [0, 1], "l2_shrinkage": -0.1},
        "l2 shrinkage regularization strength is not a non-negative scalar: []",
    ),
    (
        "SparseApplyAdagrad",
        ADAGRAD,
        ROWS | {"indices": [0, 2]},
        "Index 2 at offset 1 in indices is out of range",
    ),
    (
        "SparseApplyAdagrad",
        ADAGRAD,
        ROWS | {"indices": [-1, 2]},
        "Index -1 at offset 0 in indices is out of range",
    ),
    ("SparseApplyAdagrad", ADAGRAD, ROWS | {"indices": [[0, 1]]}, "indices must be one-dimensional"),
    (
        "SparseApplyAdagrad",
        ADAGRAD,
        ROWS | {"grad": np.ones((2, 4))},
        "var and grad must match in dimension 1",
    ),
    (
        "SparseApplyAdagrad",
        ADAGRAD,
        ROWS | {"grad": np.ones((3, 3))},
        "grad must be the same size as indices in the first dimension.",
    ),
    (
        "SparseApplyAdagrad",
        {"var": 1.0, "accum": 1.0},
        ROWS,
        "var must be at least 1 dimensional",
    ),
    (
        "ResourceSparseApplyMomentum",
        ADAGRAD,
        ROWS | {"indices": [1, 3], "momentum": 0.9},
        "Index 3 at offset 1 in indices is out of range",
    ),
]
CASES = pytest.mark.parametrize(("op", "variables", "inputs", "text"), REFUSED)


@CASES
def test_refused(op: str, variables: Any, inputs: Any, text: str) -> None:
    with pytest.raises(ours.errors.InvalidArgumentError) as caught:
        run(ours, op, variables, inputs)
    assert text in caught.value.message


@pytest.mark.oracle
@CASES
def test_refused_by_tensorflow_in_the_same_words(op: str, variables: Any, inputs: Any, text: str) -> None:
    tf = pytest.importorskip("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        run(tf, op, variables, inputs)
    assert text in caught.value.message


def test_powers_of_the_learning_rate_are_not_positive() -> None:
    # TensorFlow 1.15 refuses it, later versions compute something.
    with pytest.raises(ours.errors.InvalidArgumentError, match="lr_power is not a non-positive scalar: "):
        run(ours, "ApplyFtrl", SLOTS, FTRL | {"grad": V23, "lr_power": 0.5})


def test_a_refused_update_changes_nothing() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        variable, slot = ours.Variable(V3), ours.Variable(V3)
        session.run(ours.global_variables_initializer())
        grad = ours.placeholder(ours.float32, None)
        update = ours.raw_ops.SparseApplyAdagrad(variable, slot, 0.1, grad, [0, 5])
        with pytest.raises(ours.errors.InvalidArgumentError):
            session.run(update, {grad: [1.0, 1.0]})
        assert session.run([variable, slot])[0].tolist() == V3


def test_variables_without_values() -> None:
    with ours.Graph().as_default(), ours.Session() as session:
        variable, slot = ours.Variable(V3), ours.Variable(V3)
        session.run(variable.initializer)
        with pytest.raises(ours.errors.FailedPreconditionError, match="uninitialized value Variable_1"):
            session.run(ours.raw_ops.ApplyAdagrad(variable, slot, 0.1, V3))


def test_static_shapes_that_do_not_fit() -> None:
    with ours.Graph().as_default():
        variable, slot = ours.Variable(V3), ours.Variable(V23.astype(np.float32))
        with pytest.raises(ValueError, match="Shapes must be equal rank, but are 1 and 2"):
            ours.raw_ops.ApplyAdagrad(variable, slot, 0.1, V3)
        with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
            ours.raw_ops.ApplyGradientDescent(variable, [0.1], V3)
        with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
            ours.raw_ops.SparseApplyAdagrad(variable, ours.Variable(V3), 0.1, V3, [0, 1])
        with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 3 and 2"):
            ours.raw_ops.ApplyGradientDescent(variable, 0.1, [1.0, 2.0])


SPECIAL = np.array([0, 0, 1, -1, np.nan, np.inf, -np.inf, 1e-30, 1e30, -0.0], np.float32)
FLOATS = [case for case in training.CASES if case.note == "float32"]


@pytest.mark.oracle
@pytest.mark.parametrize("case", FLOATS, ids=lambda case: case.op)
def test_numbers_that_are_special_in_tensorflow(case: Any) -> None:
    """Zeros, then NaN and infinity, then extremes, among the others."""
    tf = pytest.importorskip("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    random = np.random.RandomState(FLOATS.index(case))
    for kinds in (4, 6, 10):
        inputs = []
        for item in case.inputs:
            value = item.value if isinstance(item, Var) else item
            if value.dtype == np.float32 and value.ndim:
                value = np.where(
                    random.rand(*value.shape) < 0.5, random.choice(SPECIAL[:kinds], value.shape), value
                )
            inputs.append(Var(value) if isinstance(item, Var) else value)
        changed = dataclasses.replace(case, inputs=tuple(inputs))
        for mine, other in zip(op_runs.run(ours, changed)[1], op_runs.run(tf, changed)[1], strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
