"""TensorFlow's functions of `tf.linalg`, `tf.math`, `tf.signal` and `tf.bitwise` over the ops."""

from __future__ import annotations

import numpy as np
import pytest
from op_cases import floats, ints
from op_cases.linalg_solve import positive, regular
from op_cases.special import bessel, lgamma
from op_runs import run_program as run

from sgtool import graphcore

X, CUBE = floats(4, 3), floats(2, 3, 4)
A, B, P = regular(3, 3), floats(3, 2, seed=1), positive(3, 3)
SIGNAL = floats(2, 8)
SORTED = np.sort(floats(2, 6), axis=1)
DIAGONALS = floats(3, 5, seed=6) + np.float32([[0], [5], [0]])
DENSE = np.diag(DIAGONALS[1]) + np.diag(DIAGONALS[0, :-1], 1) + np.diag(DIAGONALS[2, 1:], -1)
RHS = floats(5, 2, seed=7)
COUNTED = ints(9, low=0, high=6)


def overlapped(frames, step):
    result = np.zeros((len(frames), (frames.shape[1] - 1) * step + frames.shape[2]), np.float32)
    for index in range(frames.shape[1]):
        result[:, index * step : index * step + frames.shape[2]] += frames[:, index]
    return result


def spectra(signal, length, step, size):
    window = np.hanning(length + 1)[:-1] if length % 2 == 0 else np.hanning(length)
    starts = range(0, signal.shape[1] - length + 1, step)
    return np.abs(np.fft.rfft(np.stack([signal[:, i : i + length] * window for i in starts], 1), size))


# name: (program, inputs, expected)
PROGRAMS = {
    "tensordot": (lambda tf, x, y: tf.tensordot(x, y, 1), [X, A], X @ A),
    "tensordot_axes": (
        lambda tf, x, y: tf.tensordot(x, y, [[1, 2], [0, 1]]),
        [CUBE, CUBE[0]],
        np.tensordot(CUBE, CUBE[0], 2),
    ),
    "tensordot_pair": (
        lambda tf, x, y: tf.tensordot(x, y, [2, -1]),
        [CUBE, CUBE[0]],
        np.tensordot(CUBE, CUBE[0], [2, 1]),
    ),
    "norm": (lambda tf, x: tf.norm(x), [X], np.linalg.norm(X)),
    "norm_axis": (
        lambda tf, x: tf.norm(x, axis=1, keepdims=True),
        [X],
        np.linalg.norm(X, axis=1, keepdims=True),
    ),
    "norm_1": (lambda tf, x: tf.norm(x, ord=1, axis=0), [X], np.abs(X).sum(0)),
    "norm_inf": (lambda tf, x: tf.norm(x, ord=np.inf, axis=-1), [X], np.abs(X).max(1)),
    "norm_3": (lambda tf, x: tf.norm(x, ord=3, axis=-1), [X], (np.abs(X) ** 3).sum(1) ** (1 / 3)),
    "norm_matrix": (
        lambda tf, x: tf.norm(x, ord=1, axis=[-2, -1]),
        [CUBE],
        np.linalg.norm(CUBE, 1, (-2, -1)),
    ),
    "einsum": (lambda tf, x, y: tf.einsum("bij,kj->bik", x, y), [CUBE, floats(5, 4)], CUBE @ floats(5, 4).T),
    "einsum_implicit": (lambda tf, x, y: tf.einsum("ij,jk", x, y), [X, A], X @ A),
    "einsum_ellipsis": (
        lambda tf, x, y: tf.einsum("...ij,jk->...ki", x, y),
        [CUBE, floats(4, 2)],
        np.einsum("...ij,jk->...ki", CUBE, floats(4, 2)),
    ),
    "einsum_outer": (lambda tf, x, y: tf.einsum("i,j->ij", x, y), [X[0], X[1]], np.outer(X[0], X[1])),
    "einsum_sum": (lambda tf, x: tf.einsum("ijk->ki", x), [CUBE], CUBE.sum(1).T),
    "einsum_three": (lambda tf, x, y, z: tf.einsum("ij,jk,kl->il", x, y, z), [X, A, B], X @ A @ B),
    "einsum_batch": (
        lambda tf, x, y: tf.einsum("bij,bkj->bik", x, y),
        [CUBE, CUBE + 1],
        CUBE @ np.swapaxes(CUBE + 1, 1, 2),
    ),
    "trace": (lambda tf, x: tf.trace(x), [np.stack([A, P])], np.trace(np.stack([A, P]), axis1=1, axis2=2)),
    "matrix_transpose": (lambda tf, x: tf.matrix_transpose(x), [CUBE], np.swapaxes(CUBE, 1, 2)),
    "adjoint": (lambda tf, x: tf.linalg.adjoint(x), [CUBE], np.swapaxes(CUBE, 1, 2)),
    "diag": (lambda tf, x: tf.matrix_diag(x), [X], np.stack([np.diag(row) for row in X])),
    "diag_part": (lambda tf, x: tf.matrix_diag_part(x), [CUBE], np.diagonal(CUBE, axis1=1, axis2=2)),
    "set_diag": (
        lambda tf, x, d: tf.matrix_set_diag(x, d),
        [A, X[0]],
        A - np.diag(np.diag(A)) + np.diag(X[0]),
    ),
    "band_part": (lambda tf, x: tf.matrix_band_part(x, 1, 0), [A], np.tril(A) - np.tril(A, -2)),
    "tensor_diag": (lambda tf, x: tf.diag(x), [X[0]], np.diag(X[0])),
    "cholesky_solve": (lambda tf, a, b: tf.cholesky_solve(tf.cholesky(a), b), [P, B], np.linalg.solve(P, B)),
    "solve_ls": (
        lambda tf, a, b: tf.matrix_solve_ls(a, b, 0.1),
        [X, floats(4, 2)],
        np.linalg.solve(X.T @ X + 0.1 * np.eye(3), X.T @ floats(4, 2)),
    ),
    "solve": (lambda tf, a, b: tf.linalg.solve(a, b, adjoint=True), [A, B], np.linalg.solve(A.T, B)),
    "triangular": (
        lambda tf, a, b: tf.linalg.triangular_solve(a, b, lower=False),
        [A, B],
        np.linalg.solve(np.triu(A), B),
    ),
    "inverse": (lambda tf, a: tf.matrix_inverse(a), [A], np.linalg.inv(A)),
    "logdet": (lambda tf, a: tf.linalg.logdet(a), [P], np.log(np.linalg.det(P))),
    "slogdet": (lambda tf, a: tf.linalg.slogdet(a)[1], [A], np.log(abs(np.linalg.det(A)))),
    "svd": (lambda tf, a: tf.svd(a, compute_uv=False), [A], np.linalg.svd(A, compute_uv=False)),
    "eigvals": (lambda tf, a: tf.self_adjoint_eigvals(a), [P], np.linalg.eigvalsh(P)),
    "tridiagonal": (
        lambda tf, d, b: tf.linalg.tridiagonal_solve(d, b),
        [DIAGONALS, RHS],
        np.linalg.solve(DENSE, RHS),
    ),
    "tridiagonal_vector": (
        lambda tf, d, b: tf.linalg.tridiagonal_solve(d, b),
        [DIAGONALS, RHS[:, 0]],
        np.linalg.solve(DENSE, RHS[:, 0]),
    ),
    "tridiagonal_sequence": (
        lambda tf, u, m, lo, b: tf.linalg.tridiagonal_solve((u, m, lo), b, diagonals_format="sequence"),
        [DIAGONALS[0, :-1], DIAGONALS[1], DIAGONALS[2, 1:], RHS],
        np.linalg.solve(DENSE, RHS),
    ),
    "lbeta": (
        lambda tf, x: tf.lbeta(x),
        [np.abs(X) + 1],
        lgamma(np.abs(X) + 1).sum(1) - lgamma((np.abs(X) + 1).sum(1)),
    ),
    "bessel_i0": (lambda tf, x: tf.math.bessel_i0(x), [X], bessel(0)(X) * np.exp(np.abs(X))),
    "bessel_i1": (lambda tf, x: tf.math.bessel_i1(x), [X], bessel(1)(X) * np.exp(np.abs(X))),
    "polyval": (lambda tf, x: tf.math.polyval([2.0, -1.0, 3.0], x), [X], 2 * X**2 - X + 3),
    "accumulate_n": (lambda tf, x, y: tf.accumulate_n([x, y]), [X, X + 1], 2 * X + 1),
    "cumulative_logsumexp": (
        lambda tf, x: tf.math.cumulative_logsumexp(x, axis=1),
        [X],
        np.log(np.cumsum(np.exp(X), 1)),
    ),
    "euclidean_norm": (lambda tf, x: tf.math.reduce_euclidean_norm(x, 1), [X], np.linalg.norm(X, axis=1)),
    "bincount": (
        lambda tf, x: tf.bincount(x, minlength=4, maxlength=5),
        [COUNTED],
        np.bincount(COUNTED)[:5].astype(np.int32),
    ),
    "bincount_weights": (
        lambda tf, x, w: tf.bincount(x, w),
        [COUNTED, ints(9, seed=1)],
        np.bincount(COUNTED, ints(9, seed=1)).astype(np.int32),
    ),
    "histogram": (
        lambda tf, x: tf.histogram_fixed_width(x, [-1.0, 1.0], 4),
        [X],
        np.histogram(np.clip(X, -1, 0.999), 4, (-1, 1))[0].astype(np.int32),
    ),
    "histogram_bins": (
        lambda tf, x: tf.histogram_fixed_width_bins(x, [-1.0, 1.0], 4),
        [X],
        np.clip(np.floor((X + 1) * 2), 0, 3).astype(np.int32),
    ),
    "searchsorted": (
        lambda tf, s, v: tf.searchsorted(s, v, side="right"),
        [SORTED, SORTED[:, 1:4]],
        np.tile(np.int32([2, 3, 4]), (2, 1)),
    ),
    "unravel_index": (
        lambda tf, i: tf.unravel_index(i, [3, 4]),
        [np.int32([5, 11])],
        np.int32([[1, 2], [1, 3]]),
    ),
    "parallel_stack": (
        lambda tf, x, y: tf.parallel_stack([x, y]),
        [COUNTED, COUNTED],
        np.stack([COUNTED, COUNTED]),
    ),
    "conjugate_transpose": (lambda tf, x: tf.real(tf.transpose(tf.complex(x, x), conjugate=True)), [X], X.T),
    "shifts": (lambda tf, x: tf.bitwise.right_shift(tf.bitwise.left_shift(x, 3), 1), [COUNTED], COUNTED * 4),
    "rfft": (lambda tf, x: tf.abs(tf.signal.rfft(x)), [SIGNAL], np.abs(np.fft.rfft(SIGNAL))),
    "rfft_padded": (lambda tf, x: tf.abs(tf.signal.rfft(x, [12])), [SIGNAL], np.abs(np.fft.rfft(SIGNAL, 12))),
    "irfft": (lambda tf, x: tf.signal.irfft(tf.signal.rfft(x)), [SIGNAL], SIGNAL),
    "irfft_length": (
        lambda tf, x: tf.stop_gradient(tf.signal.irfft(tf.signal.rfft(x, [7]), [7])),
        [SIGNAL],
        SIGNAL[:, :7],
    ),
    "fftshift": (
        lambda tf, x: tf.signal.ifftshift(tf.signal.fftshift(x, axes=1), axes=[1]),
        [SIGNAL],
        SIGNAL,
    ),
    "frame": (
        lambda tf, x: tf.signal.frame(x, 4, 3),
        [SIGNAL],
        np.stack([SIGNAL[:, i : i + 4] for i in (0, 3)], 1),
    ),
    "frame_padded": (
        lambda tf, x: tf.signal.frame(x, 4, 3, pad_end=True, pad_value=9.0),
        [SIGNAL],
        np.stack([np.pad(SIGNAL, [(0, 0), (0, 2)], constant_values=9)[:, i : i + 4] for i in (0, 3, 6)], 1),
    ),
    "frame_axis": (
        lambda tf, x: tf.signal.frame(x, 2, 1, axis=0),
        [X],
        np.stack([X[i : i + 2] for i in range(3)]),
    ),
    "overlap_and_add": (lambda tf, x: tf.signal.overlap_and_add(x, 2), [CUBE], overlapped(CUBE, 2)),
    "stft": (lambda tf, x: tf.abs(tf.signal.stft(x, 5, 2)), [SIGNAL], spectra(SIGNAL, 5, 2, 8)),
    "stft_padded": (
        lambda tf, x: tf.abs(tf.signal.stft(x, 4, 3, fft_length=6, pad_end=True)),
        [SIGNAL],
        spectra(np.pad(SIGNAL, [(0, 0), (0, 2)]), 4, 3, 6),
    ),
    "inverse_stft": (
        lambda tf, x: tf.stop_gradient(
            tf.signal.inverse_stft(tf.signal.stft(x, 4, 4, window_fn=None), 4, 4, window_fn=None)
        ),
        [SIGNAL],
        SIGNAL,
    ),
    "hann": (lambda tf: tf.signal.hann_window(6), [], np.hanning(7)[:-1]),
    "hamming": (lambda tf: tf.signal.hamming_window(6, periodic=False), [], np.hamming(6)),
}
ROWS = [pytest.param(*row, id=name) for name, row in PROGRAMS.items()]


@pytest.mark.parametrize(("program", "inputs", "expected"), ROWS)
def test_value(program, inputs, expected):
    value, shape, _ = run(graphcore, program, inputs)
    assert np.asarray(value).dtype == (np.float32 if expected.dtype.kind == "f" else expected.dtype)
    assert np.shape(value) == np.shape(expected)
    assert all(size in (None, actual) for size, actual in zip(shape, np.shape(value), strict=True))
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=2e-5)


@pytest.mark.oracle
@pytest.mark.parametrize(("program", "inputs", "expected"), ROWS)
def test_as_tensorflow(program, inputs, expected):
    tensorflow = pytest.importorskip("tensorflow")
    ours, theirs = (run(tf, program, inputs) for tf in (graphcore, tensorflow.compat.v1))
    assert ours[1] == theirs[1]
    assert len(ours[2]) == len(theirs[2])
    for mine, other in zip([ours[0], *ours[2]], [theirs[0], *theirs[2]], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=5e-4)


def dynamic(program, inputs):
    with graphcore.Graph().as_default() as graph:
        tensors = [graphcore.placeholder(value.dtype, [None] * value.ndim) for value in inputs]
        result = program(graphcore, *tensors)
        with graphcore.Session(graph=graph) as session:
            return session.run(result, dict(zip(tensors, inputs, strict=True)))


@pytest.mark.parametrize(
    ("program", "inputs", "expected"),
    [
        row
        for row in ROWS
        if row.values[1] and row.id not in {"parallel_stack", "fftshift", "tridiagonal_sequence"}
    ],
)
def test_unknown_dimensions(program, inputs, expected):
    """The same where only the ranks are known."""
    np.testing.assert_allclose(dynamic(program, inputs), expected, rtol=1e-4, atol=2e-5)


ERRORS = {
    "tensordot": (lambda tf, x: tf.tensordot(x, x, 3), "must not be larger than the number of dimensions"),
    "tensordot_axes": (
        lambda tf, x: tf.tensordot(x, x, [[0], [0, 1]]),
        "Different number of contraction axes",
    ),
    "norm": (lambda tf, x: tf.norm(x, ord="nuclear"), "'ord' must be a supported vector norm"),
    "norm_axis": (lambda tf, x: tf.norm(x, axis=[0, 0]), "a tuple of 2 unique integers"),
    "einsum": (lambda tf, x: tf.einsum("ij;jk", x, x), "Indices have incorrect format"),
    "einsum_count": (lambda tf, x: tf.einsum("ij,jk->ik", x), "Got 1 arguments for equation"),
    "einsum_twice": (lambda tf, x: tf.einsum("ii,ij->j", x, x), "an axis appears more than once"),
    "searchsorted": (lambda tf, x: tf.searchsorted(x, x, side="middle"), "side must be either"),
    "matrix_transpose": (lambda tf, x: tf.matrix_transpose(x[0]), "with rank >= 2"),
    "accumulate_n": (lambda tf, x: tf.accumulate_n([]), "inputs must be a list of at least one Tensor"),
    "tridiagonal": (
        lambda tf, x: tf.linalg.tridiagonal_solve(x, x, "dense"),
        "Unrecognized diagonals_format",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_arguments_are_value_errors(name):
    program, text = ERRORS[name]
    with graphcore.Graph().as_default():
        x = graphcore.placeholder(graphcore.float32, [2, 2])
        with pytest.raises(ValueError) as raised:
            program(graphcore, x)
    assert text in str(raised.value)


def test_samplers_and_distributions_take_seeds():
    tf = graphcore
    with tf.Graph().as_default(), tf.Session() as session:
        true = tf.constant([[0], [3]], tf.int64)
        sampled = tf.nn.log_uniform_candidate_sampler(true, 1, 4, True, 50, seed=3)
        hits = tf.nn.compute_accidental_hits(true, sampled[0], 1)
        gamma = tf.random_gamma([3], [0.5, 2.0], beta=2.0, seed=1)
        poisson = tf.random_poisson(4.0, [5], seed=1)
        classes, _, rows, numbers, counts = session.run([sampled[0], sampled[1], hits[0], gamma, poisson])
    assert len(set(classes.tolist())) == 4
    assert set(rows.tolist()) <= {0, 1}
    assert numbers.shape == (3, 2)
    assert (numbers > 0).all()
    assert counts.shape == (5,)
    assert counts.dtype == np.float32


def names(program):
    with graphcore.Graph().as_default() as graph:
        x = graphcore.placeholder(graphcore.float32, [3, 3], "x")
        program(graphcore, x)
        return [(operation.name, operation.type) for operation in graph.get_operations()[1:]]


def test_node_names_are_tensorflow_1s():
    """Names and types that saved graphs have; TensorFlow 2 makes some of these of other ops."""
    assert names(lambda tf, x: tf.matrix_diag(x)) == [("diag", "MatrixDiag")]
    assert names(lambda tf, x: tf.einsum("ij,jk->ik", x, x)) == [("einsum/MatMul", "MatMul")]
    assert names(lambda tf, x: tf.trace(x)) == [
        ("Trace/diag_part", "MatrixDiagPart"),
        ("Trace/reduction_indices", "Const"),
        ("Trace", "Sum"),
    ]
    assert names(lambda tf, x: tf.tensordot(x, x, 1)) == [
        ("Tensordot/transpose/perm", "Const"),
        ("Tensordot/transpose", "Transpose"),
        ("Tensordot/Reshape/shape", "Const"),
        ("Tensordot/Reshape", "Reshape"),
        ("Tensordot/transpose_1/perm", "Const"),
        ("Tensordot/transpose_1", "Transpose"),
        ("Tensordot/Reshape_1/shape", "Const"),
        ("Tensordot/Reshape_1", "Reshape"),
        ("Tensordot/MatMul", "MatMul"),
        ("Tensordot/shape", "Const"),
        ("Tensordot", "Reshape"),
    ]
    assert names(lambda tf, x: tf.accumulate_n([x, x])) == [("AccumulateNV2", "AccumulateNV2")]
    assert names(lambda tf, x: tf.norm(x))[-1] == ("norm/Squeeze", "Squeeze")
    assert names(lambda tf, x: tf.signal.rfft(x))[-1] == ("rfft", "RFFT")
