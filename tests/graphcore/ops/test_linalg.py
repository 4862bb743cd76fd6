"""Decompositions by what they are, whatever the signs; gradients of symmetric matrices; errors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from op_cases import floats
from op_cases.linalg_solve import h, regular

from sgtool import graphcore as tf

SHAPES = [(3, 3), (4, 3), (3, 4), (2, 3, 2)]
DTYPES = [np.float32, np.float64, np.complex64]


def run(op, x, **attrs):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(getattr(tf.raw_ops, op)(tf.constant(x), **attrs))


def matrices(shape, dtype):
    x = floats(*shape, dtype=np.float64)
    return (x + 1j * floats(*shape, seed=1) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def assert_orthogonal(q):
    np.testing.assert_allclose(h(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (h(q) @ q).shape), atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors(shape, full, dtype):
    """Their product is the matrix, and those that should be are orthogonal."""
    x = matrices(shape, dtype)
    q, r = run("Qr", x, full_matrices=full)
    np.testing.assert_allclose(q @ r, x, atol=1e-5)
    np.testing.assert_array_equal(np.tril(r, -1), 0)
    assert_orthogonal(q)
    s, u, v = run("Svd", x, full_matrices=full)
    inner = s.shape[-1]
    np.testing.assert_allclose(u[..., :inner] * s[..., None, :] @ h(v[..., :inner]), x, atol=1e-5)
    assert_orthogonal(u)
    assert_orthogonal(v)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_of_square_matrices(dtype):
    x = regular(2, 3, 3, dtype=dtype)[..., ::-1, :]
    packed, order = run("Lu", x)
    lower = np.tril(packed, -1) + np.eye(3)
    np.testing.assert_allclose(
        lower @ np.triu(packed), np.take_along_axis(x, order[..., None], -2), atol=1e-5
    )
    hermitian = x + h(x)
    e, v = run("SelfAdjointEigV2", hermitian)
    np.testing.assert_allclose(v * e[..., None, :] @ h(v), hermitian, atol=1e-5)


def difference(function, x, direction, step=1e-6):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float64, x.shape)
        y = function(fed)
        grad = tf.gradients(y, fed)[0]
        slope = session.run(y, {fed: x + step * direction}) - session.run(y, {fed: x - step * direction})
        return np.sum(session.run(grad, {fed: x}) * direction), np.sum(slope) / (2 * step)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: tf.raw_ops.Cholesky(tf.matmul(x, x, transpose_b=True)),
        lambda tf, x: tf.raw_ops.Svd(tf.concat([x, 2 * x[:1] + x[1:2] * x[1:2]], 0), full_matrices=True).s,
        lambda tf, x: tf.square(
            tf.raw_ops.Svd(tf.concat([x, x[:1] * x[1:2]], 0), full_matrices=True).u[:, :3]
        ),
        lambda tf, x: tf.square(tf.raw_ops.Svd(x[:2], full_matrices=True).v),
    ],
    ids=["cholesky", "svd_values", "svd_tall", "svd_short"],
)
def test_gradients(function):
    x, direction = regular(3, 3, dtype=np.float64), floats(3, 3, seed=5, dtype=np.float64)
    analytic, numeric = difference(lambda fed: function(tf, fed), x, direction)
    np.testing.assert_allclose(analytic, numeric, rtol=1e-5, atol=1e-6)


SINGULAR = np.ones((2, 2), np.float32)
ERRORS: dict[str, tuple[str, list[Any], str]] = {
    "inverse": ("MatrixInverse", [SINGULAR], "Input is not invertible."),
    "solve": ("MatrixSolve", [SINGULAR, SINGULAR], "Input matrix is not invertible."),
    "triangular": ("MatrixTriangularSolve", [0 * SINGULAR, SINGULAR], "Input matrix is not invertible."),
    "cholesky": ("Cholesky", [-SINGULAR], "Cholesky decomposition was not successful."),
    "least_squares": (
        "MatrixSolveLs",
        [0 * SINGULAR, SINGULAR, np.float64(0)],
        "Input matrix was rank deficient or ill-conditioned.",
    ),
    "regularizer": ("MatrixSolveLs", [SINGULAR, SINGULAR, np.float64(-1)], "l2_regularizer must be >= 0."),
    "lu": ("Lu", [0 * SINGULAR], "Input is not invertible."),
    "diag_rows": (
        "MatrixDiagV2",
        [SINGULAR, *map(np.int32, (0, 1, -1)), np.float32(0)],
        "The number of rows is too small.",
    ),
    "diag_part": (
        "MatrixDiagPartV2",
        [SINGULAR, np.int32(5), np.float32(0)],
        "lower_diag_index is out of bound: 5.",
    ),
    "set_diag": (
        "MatrixSetDiag",
        [SINGULAR, np.ones(3, np.float32)],
        "first dimensions of diagonal don't match",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    """TensorFlow's sentence at run time, where the graph knows no shapes and values."""
    op, inputs, text = ERRORS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(np.asarray(value).dtype) for value in inputs]
        result = getattr(tf.raw_ops, op)(*fed)
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            session.run(result, dict(zip(fed, inputs, strict=True)))
    assert text in str(raised.value)


def test_sparse_matmul_is_asked_for_by_hints():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 2])
        assert tf.matmul(x, x, a_is_sparse=True).op.type == "SparseMatMul"
        assert tf.matmul(x, tf.placeholder(tf.float32)).op.type == "BatchMatMulV2"
        assert tf.matmul(x, x).op.type == "MatMul"


def test_functions_that_need_scipy_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(tf.errors.UnavailableError, match=r"sgtool\[scipy\]") as raised:
        run("MatrixSquareRoot", np.eye(2, dtype=np.float32))
    assert raised.value.fields["extra"] == "scipy"
