"""`tf.linalg` and `tf.signal` functions that are programs over ops, in TensorFlow and here; type specs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    with module.Graph().as_default():
        yield module


def evaluate(tf: Any, fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feed)


RNG = np.random.RandomState(3)
A = RNG.normal(size=(2, 4, 3))


def test_pseudo_inverse_and_rank(tf: Any) -> None:
    deficient = np.concatenate([A[..., :2], A[..., :1] + A[..., 1:2]], axis=-1)
    got = evaluate(
        tf, [tf.linalg.pinv(A), tf.linalg.pinv(deficient), tf.linalg.matrix_rank(np.stack([A, deficient]))]
    )
    np.testing.assert_allclose(got[0], np.linalg.pinv(A), atol=1e-10)
    np.testing.assert_allclose(got[1], np.linalg.pinv(deficient, 1e-10), atol=1e-10)
    assert got[2].tolist() == [[3, 3], [2, 2]]
    assert got[2].dtype == np.int32
    with pytest.raises(TypeError, match="must have `float`-like `dtype`"):
        tf.linalg.pinv(np.array([[1, 2]]))
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        tf.linalg.matrix_rank(np.array([1.0, 2.0]))


@pytest.mark.parametrize("scale", [1e-3, 0.1, 0.5, 2.0, 30.0])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_exponential(tf: Any, scale: float, dtype: str) -> None:
    square = (RNG.normal(size=(2, 3, 3)) * scale / 3).astype(dtype)
    values, vectors = np.linalg.eig(square.astype(np.complex128))
    want = np.einsum("bij,bj,bjk->bik", vectors, np.exp(values), np.linalg.inv(vectors))
    fed = tf.placeholder(dtype)
    got = evaluate(tf, [tf.linalg.expm(square), tf.linalg.expm(fed)], {fed: square})
    tolerance = {"rtol": 1e-3, "atol": 1e-3} if dtype == "float32" else {"rtol": 1e-8, "atol": 1e-8}
    size = np.abs(want).max()
    for each in got:
        right = want if dtype == "complex128" else want.real
        np.testing.assert_allclose(each / size, right / size, **tolerance)


def test_vectors_norms_and_diagonals(tf: Any) -> None:
    v = RNG.normal(size=(2, 3))
    matrix = np.diag([1.0, 2.0, 3.0]) + np.diag([4.0, 5.0], 1) + np.diag([6.0, 7.0], -1)
    sequence = ([4.0, 5.0, 0.0], [1.0, 2.0, 3.0], [0.0, 6.0, 7.0])
    rhs = RNG.normal(size=(3, 2))
    fetches = [
        tf.linalg.matvec(A, v),
        *tf.linalg.normalize(v, axis=1),
        tf.linalg.tridiagonal_matmul(matrix, rhs, "matrix"),
        tf.linalg.tridiagonal_matmul(np.array(sequence), rhs),
        tf.linalg.tridiagonal_matmul([np.array(each) for each in sequence], rhs, "sequence"),
    ]
    got = evaluate(tf, fetches)
    np.testing.assert_allclose(got[0], np.einsum("bij,bj->bi", A, v))
    np.testing.assert_allclose(got[1] * got[2], v)
    for each in got[3:]:
        np.testing.assert_allclose(each, matrix @ rhs)
    with pytest.raises(ValueError, match="diagonals_format"):
        tf.linalg.tridiagonal_matmul(matrix, rhs, "dense")


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 5, 12])
def test_cosine_transforms(tf: Any, kind: int, norm: str | None, n: int | None) -> None:
    x = RNG.normal(size=(2, 8)).astype(np.float32)
    if kind == 1 and norm:
        with pytest.raises(ValueError, match="Normalization is not supported for the Type-I DCT"):
            tf.signal.dct(x, kind, norm=norm)
        return
    if kind == 1 and n is not None:
        n = None
    size = n or 8
    y = np.zeros((2, size))
    y[:, : min(size, 8)] = x[:, :size]
    k, m = np.arange(size)[:, None], np.arange(size)[None, :]
    if kind == 1:
        weights = np.where((m == 0) | (m == size - 1), 1.0, 2.0)
        matrix = weights * np.cos(np.pi * k * m / (size - 1))
    elif kind == 2:
        matrix = 2 * np.cos(np.pi * k * (2 * m + 1) / (2 * size))
        if norm:
            matrix = matrix * np.where(k == 0, np.sqrt(1 / (4 * size)), np.sqrt(1 / (2 * size)))
    elif norm:
        matrix = (
            np.sqrt(2 / size)
            * np.cos(np.pi * m * (2 * k + 1) / (2 * size))
            * np.where(m == 0, np.sqrt(0.5), 1)
        )
    else:
        matrix = np.where(m == 0, 1.0, 2.0) * np.cos(np.pi * m * (2 * k + 1) / (2 * size))
    got = evaluate(tf, tf.signal.dct(x, kind, n, norm=norm))
    np.testing.assert_allclose(got, y @ matrix.T, rtol=1e-4, atol=1e-4)
    if n is None:
        scale = {1: 2 * (size - 1), 2: 2 * size, 3: 2 * size}[kind] if norm is None else 1
        back = evaluate(tf, tf.spectral.idct(got, kind, norm=norm))
        np.testing.assert_allclose(back / scale, x, rtol=1e-4, atol=1e-4)


def test_cosine_transforms_refuse(tf: Any) -> None:
    x = np.zeros((2, 8), np.float32)
    with pytest.raises(NotImplementedError, match="axis must be -1"):
        tf.signal.dct(x, axis=0)
    for options, text in (({"type": 5}, "supported"), ({"n": 0}, "positive"), ({"norm": "no"}, "norm")):
        with pytest.raises(ValueError, match=text):
            tf.signal.dct(x, **options)


def test_mel_scales(tf: Any) -> None:
    matrix = tf.signal.linear_to_mel_weight_matrix(4, 17, 8000, 100.0, 3000.0)
    logs = RNG.normal(size=(3, 4)).astype(np.float32)
    got = evaluate(tf, [matrix, tf.signal.mfccs_from_log_mel_spectrograms(logs)])
    assert got[0].shape == (17, 4)
    mel = 1127.0 * np.log(1 + np.linspace(0, 4000, 17) / 700.0)
    edges = np.linspace(1127.0 * np.log(1 + 100 / 700), 1127.0 * np.log(1 + 3000 / 700), 6)
    for band, (low, center, high) in enumerate(zip(edges, edges[1:], edges[2:])):
        want = np.maximum(0, np.minimum((mel - low) / (center - low), (high - mel) / (high - center)))
        want[0] = 0
        np.testing.assert_allclose(got[0][:, band], want, rtol=1e-4, atol=1e-5)
    angles = np.pi * np.arange(4)[:, None] * (2 * np.arange(4) + 1) / 8
    np.testing.assert_allclose(got[1], logs @ (2 * np.cos(angles)).T / np.sqrt(8), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="upper_edge_hertz must not be larger than the Nyquist frequency"):
        tf.signal.linear_to_mel_weight_matrix(4, 17, 8000, 100.0, 5000.0)


def test_a_window_that_undoes_another(tf: Any) -> None:
    wave = RNG.normal(size=64).astype(np.float32)
    frames = tf.signal.stft(wave, 16, 4)
    window = tf.signal.inverse_stft_window_fn(4)
    back = evaluate(tf, tf.signal.inverse_stft(frames, 16, 4, window_fn=window))
    np.testing.assert_allclose(back[16:48], wave[16:48], rtol=1e-3, atol=1e-4)


def test_type_specs(tf: Any) -> None:
    spec = tf.TensorSpec([None, 3], tf.float32, "x")
    assert spec == tf.TensorSpec([None, 3], tf.float32, "x")
    assert spec != tf.TensorSpec([None, 3], tf.float32)
    assert spec.is_compatible_with(tf.zeros([2, 3]))
    assert not spec.is_compatible_with(tf.zeros([2, 4]))
    assert tf.TensorSpec.from_tensor(tf.zeros([2], name="z")).name == "z"
    sparse = tf.SparseTensorSpec([None, 4], tf.int32)
    assert sparse.is_compatible_with(tf.SparseTensor([[0, 0]], [1], [2, 4]))
    assert sparse.value_type is tf.SparseTensor
    assert len({sparse, tf.SparseTensorSpec([None, 4], tf.int32)}) == 1


def test_complex_numbers_are_as_wide_as_their_parts(tf: Any) -> None:
    for part, whole in ((tf.float32, tf.complex64), (tf.float64, tf.complex128)):
        value = tf.complex(tf.constant(1.0, part), tf.constant(2.0, part))
        assert value.dtype == whole
        assert (tf.real(value).dtype, tf.imag(value).dtype, tf.abs(value).dtype) == (part, part, part)
    for wrong in ((tf.constant(1.0, tf.float64), tf.constant(1.0)), (tf.constant(1), tf.constant(1))):
        with pytest.raises(
            TypeError,
            match=r"real and imag have incorrect types|`real` and `imag` components have incorrect types",
        ):
            tf.complex(*wrong)
