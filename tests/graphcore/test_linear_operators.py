"""Matrices as operators: what they give is what the dense matrix gives, in TensorFlow as here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours

RNG = np.random.default_rng(5)
SQUARE = RNG.normal(size=(3, 3)) + 3 * np.eye(3)
BATCH = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
DIAG = np.array([1.5, -2.0, 0.5])
COMPLEX = np.array([[1.0 + 2.0j, 2.0, 0.5 - 1.0j]])
TALL = RNG.normal(size=(4, 3))
X = RNG.normal(size=(3, 2))

OPERATORS: dict[str, Callable[[Any], Any]] = {
    "full": lambda tf: tf.linalg.LinearOperatorFullMatrix(SQUARE),
    "batch": lambda tf: tf.linalg.LinearOperatorFullMatrix(BATCH, is_non_singular=True),
    "unknown shape": lambda tf: tf.linalg.LinearOperatorFullMatrix(
        tf.placeholder_with_default(SQUARE, None), is_square=True
    ),
    "triangular": lambda tf: tf.linalg.LinearOperatorLowerTriangular(BATCH),
    "diagonal": lambda tf: tf.linalg.LinearOperatorDiag(DIAG),
    "complex diagonal": lambda tf: tf.linalg.LinearOperatorDiag(COMPLEX),
    "identity": lambda tf: tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64),
    "identities": lambda tf: tf.linalg.LinearOperatorIdentity(3, [2], dtype=tf.float64),
    "scaled": lambda tf: tf.linalg.LinearOperatorScaledIdentity(3, np.array([2.0, -0.5])),
    "composed": lambda tf: tf.linalg.LinearOperatorComposition(
        [tf.linalg.LinearOperatorFullMatrix(BATCH), tf.linalg.LinearOperatorDiag(DIAG)]
    ),
    "adjoint": lambda tf: tf.linalg.LinearOperatorAdjoint(tf.linalg.LinearOperatorFullMatrix(BATCH)),
    "inverse": lambda tf: tf.linalg.LinearOperatorInversion(
        tf.linalg.LinearOperatorFullMatrix(SQUARE, is_non_singular=True)
    ),
}


def results(tf: Any, make: Callable[[Any], Any]) -> dict[str, Any]:
    """What an operator gives, by the name of the method."""
    with tf.Graph().as_default():
        operator = make(tf)
        x = tf.cast(tf.constant(X), operator.dtype)
        row, wide = x[:, 0], tf.transpose(x)
        made = {
            "dense": operator.to_dense(),
            "matmul": operator.matmul(x),
            "matmul adjoint": operator.matmul(x, adjoint=True),
            "matmul adjoint_arg": operator.matmul(wide, adjoint_arg=True),
            "matvec": operator.matvec(row),
            "solve": operator.solve(x),
            "solve adjoint": operator.solve(x, adjoint=True),
            "solve adjoint_arg": operator.solve(wide, adjoint_arg=True),
            "solvevec": operator.solvevec(row),
            "determinant": operator.determinant(),
            "log_abs_determinant": operator.log_abs_determinant(),
            "diag_part": operator.diag_part(),
            "trace": operator.trace(),
            "add_to_tensor": operator.add_to_tensor(tf.ones_like(operator.to_dense())),
            "adjoint": operator.adjoint().to_dense(),
            "inverse": operator.inverse().to_dense(),
            "product": operator.matmul(operator.adjoint()).to_dense(),
            "shape": operator.shape_tensor(),
            "batch": operator.batch_shape_tensor(),
            "columns": operator.domain_dimension_tensor(),
        }
        with tf.Session() as session:
            values: dict[str, Any] = session.run(made)
        values["static"] = str(operator.shape)
        return values


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_its_matrix(name: str) -> None:
    found = results(ours, OPERATORS[name])
    dense = found["dense"]
    adjoint = np.conj(np.swapaxes(dense, -1, -2))
    expected = {
        "matmul": dense @ X,
        "matmul adjoint": adjoint @ X,
        "matmul adjoint_arg": dense @ X,
        "matvec": dense @ X[:, 0],
        "solve": np.linalg.inv(dense) @ X,
        "solve adjoint": np.linalg.inv(adjoint) @ X,
        "solve adjoint_arg": np.linalg.inv(dense) @ X,
        "solvevec": np.linalg.inv(dense) @ X[:, 0],
        "determinant": np.linalg.det(dense),
        "log_abs_determinant": np.log(np.abs(np.linalg.det(dense))),
        "diag_part": np.diagonal(dense, axis1=-2, axis2=-1),
        "trace": np.trace(dense, axis1=-2, axis2=-1),
        "add_to_tensor": dense + 1,
        "adjoint": adjoint,
        "inverse": np.linalg.inv(dense),
        "product": dense @ adjoint,
        "shape": dense.shape,
        "batch": dense.shape[:-2],
        "columns": 3,
    }
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-9, atol=1e-12, err_msg=key)


@pytest.mark.oracle
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_tensorflows(name: str) -> None:
    theirs = pytest.importorskip("tensorflow.compat.v1")
    theirs.disable_eager_execution()
    mine, wanted = results(ours, OPERATORS[name]), results(theirs, OPERATORS[name])
    assert mine.pop("static") == wanted.pop("static").replace("None", "?")
    for key, value in wanted.items():
        assert np.asarray(mine[key]).dtype == np.asarray(value).dtype, key
        assert np.shape(mine[key]) == np.shape(value), key
        np.testing.assert_allclose(mine[key], value, rtol=1e-9, atol=1e-12, err_msg=key)


def test_hints_and_what_follows_from_them() -> None:
    linalg = ours.linalg
    with ours.Graph().as_default():
        operator = linalg.LinearOperatorFullMatrix(
            SQUARE @ SQUARE.T, is_positive_definite=True, is_self_adjoint=True
        )
        assert operator.is_non_singular
        assert operator.is_square
        assert operator.adjoint() is operator
        assert operator.inverse().inverse() is operator
        assert linalg.LinearOperatorDiag(DIAG).is_self_adjoint
        checks = [operator.assert_non_singular(), operator.assert_self_adjoint()]
        checks.append(operator.assert_positive_definite())
        with ours.Session() as session:
            factor = session.run([operator.cholesky().to_dense(), *checks])[0]
            np.testing.assert_allclose(factor @ factor.T, SQUARE @ SQUARE.T)
            wrong = linalg.LinearOperatorFullMatrix(np.ones([2, 2]))
            with pytest.raises(ours.errors.InvalidArgumentError, match="Singular matrix"):
                session.run(wrong.assert_non_singular())
        with pytest.raises(ValueError, match="always non-singular"):
            linalg.LinearOperatorFullMatrix(SQUARE, is_positive_definite=True, is_non_singular=False)
        with pytest.raises(ValueError, match="always self adjoint"):
            linalg.LinearOperatorDiag(DIAG, is_self_adjoint=False)
        with pytest.raises(ValueError, match="not implemented for non-square"):
            linalg.LinearOperatorFullMatrix(TALL).determinant()
        with pytest.raises(NotImplementedError, match="expected to be not square"):
            linalg.LinearOperatorFullMatrix(TALL).solve(X)
        with pytest.raises(ValueError, match="not square, or is singular"):
            linalg.LinearOperatorFullMatrix(TALL).inverse()
        with pytest.raises(TypeError, match="same dtype"):
            linalg.LinearOperatorComposition([operator, linalg.LinearOperatorIdentity(3)])
