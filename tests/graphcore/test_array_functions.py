"""Functions over arrays and numbers, in TensorFlow and here: the same source text, the same values."""

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


X = np.array([[3, 1, 2], [0, 5, 4]], np.int32)


def test_sequence_mask(tf: Any) -> None:
    got = evaluate(tf, [tf.sequence_mask([1, 0, 3]), tf.sequence_mask([[1], [3]], 2, tf.float32)])
    assert got[0].tolist() == [[True, False, False], [False, False, False], [True, True, True]]
    assert got[0].dtype == np.bool_
    assert got[1].tolist() == [[[1, 0]], [[1, 1]]]
    with pytest.raises(ValueError, match=r"maxlen.? must be scalar"):
        tf.sequence_mask([1], [1])


def test_reverse_sequence(tf: Any) -> None:
    got = tf.reverse_sequence(X, [2, 3], seq_axis=1, batch_axis=0)
    assert got.op.type == "ReverseSequence"
    assert evaluate(tf, got).tolist() == [[1, 3, 2], [4, 5, 0]]
    assert evaluate(tf, tf.reverse_sequence(X, [2, 1, 1], seq_dim=0, batch_dim=1)).tolist() == [
        [0, 1, 2],
        [3, 5, 4],
    ]


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_meshgrid(tf: Any, indexing: str, count: int) -> None:
    vectors = [np.arange(2.0), np.arange(3.0), np.arange(4.0)][:count]
    got = evaluate(tf, tf.meshgrid(*vectors, indexing=indexing))
    for have, want in zip(got, np.meshgrid(*vectors, indexing=indexing)):
        np.testing.assert_array_equal(have, want)
        assert have.dtype == want.dtype


def test_meshgrid_refuses(tf: Any) -> None:
    with pytest.raises(TypeError, match="'axis' is an invalid keyword argument"):
        tf.meshgrid([1], axis=0)
    with pytest.raises(ValueError, match=r"indexing.? parameter must be either 'xy' or 'ij'"):
        tf.meshgrid([1], indexing="yx")


@pytest.mark.parametrize(("repeats", "axis"), [(2, None), ([1, 2, 0], 1), ([3, 1], 0), (0, 1), ([2], -1)])
def test_repeat(tf: Any, repeats: Any, axis: int | None) -> None:
    got = evaluate(tf, tf.repeat(X, repeats, axis=axis))
    np.testing.assert_array_equal(got, np.repeat(X, repeats, axis=axis))
    assert got.dtype == np.int32


@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
def test_sorting(tf: Any, axis: int, direction: str) -> None:
    values, places = evaluate(tf, [tf.sort(X, axis, direction), tf.argsort(X, axis, direction)])
    sign = 1 if direction == "ASCENDING" else -1
    np.testing.assert_array_equal(values, sign * np.sort(sign * X, axis))
    np.testing.assert_array_equal(places, np.argsort(sign * X, axis, kind="stable"))
    fed = tf.placeholder(tf.int32)
    np.testing.assert_array_equal(evaluate(tf, tf.sort(fed, axis, direction), {fed: X}), values)


def test_sorting_refuses(tf: Any) -> None:
    with pytest.raises(ValueError, match="should be one of ASCENDING, DESCENDING"):
        tf.sort(X, direction="up")
    with pytest.raises(ValueError, match=r"axis.? must be a constant scalar"):
        tf.sort(X, axis=tf.placeholder(tf.int32, []))


def test_space_to_batch_paddings(tf: Any) -> None:
    paddings, crops = tf.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 0], [0, 1]])
    assert evaluate(tf, [paddings, crops])[0].tolist() == [[1, 0], [0, 2]]
    assert evaluate(tf, crops).tolist() == [[0, 0], [0, 1]]
    shape = tf.placeholder(tf.int32, [2])
    assert evaluate(tf, tf.required_space_to_batch_paddings(shape, [2, 4]), {shape: [5, 6]})[0].tolist() == [
        [0, 1],
        [0, 2],
    ]


def test_where_and_masks(tf: Any) -> None:
    assert evaluate(tf, tf.where_v2([True, False], 1, [[2], [3]])).tolist() == [[1, 2], [1, 3]]
    assert evaluate(tf, tf.where_v2([True, False, True])).tolist() == [[0], [2]]
    with pytest.raises(ValueError, match="x and y must both be non-None or both be None"):
        tf.where_v2([True], 1)
    slices = tf.IndexedSlices(tf.constant([[1], [2], [3]]), tf.constant([5, 7, 9]), tf.constant([10, 1]))
    left = tf.sparse_mask(slices, [7])
    assert evaluate(tf, [left.indices, left.values])[1].tolist() == [[1], [3]]
    assert evaluate(tf, tf.broadcast_dynamic_shape([2, 1], [3])).tolist() == [2, 3]


def test_saturate_cast(tf: Any) -> None:
    got = evaluate(tf, tf.saturate_cast([-300.0, 5.7, 300.0], tf.uint8))
    assert got.tolist() == [0, 5, 255]
    assert got.dtype == np.uint8


def test_counts_and_moments(tf: Any) -> None:
    x = np.array([[0, 1, 2], [0, 0, 4]], np.float32)
    fetches = [
        tf.count_nonzero(x),
        tf.count_nonzero(x, axis=0, keepdims=True, dtype=tf.int32),
        tf.count_nonzero(tf.constant(["", "a"])),
        tf.math.reduce_variance(x, axis=1),
        tf.math.reduce_std(x),
    ]
    got = evaluate(tf, fetches)
    assert got[0] == 3
    assert got[0].dtype == np.int64
    assert got[1].tolist() == [[0, 1, 2]]
    assert got[2] == 1
    np.testing.assert_allclose(got[3], x.var(1), rtol=1e-6)
    np.testing.assert_allclose(got[4], x.std(), rtol=1e-6)


def test_scalars_and_quotients(tf: Any) -> None:
    x = tf.constant([1.0, 2.0])
    slices = tf.IndexedSlices(x, tf.constant([3, 4]))
    got = evaluate(
        tf,
        [
            tf.scalar_mul(3, x),
            tf.scalar_mul(3, slices).values,
            tf.div_no_nan([1.0, 2.0], [0.0, 4.0]),
            tf.math.reciprocal_no_nan([0.0, 4.0]),
            tf.log_sigmoid([0.0, -100.0]),
            tf.clip_by_average_norm([3.0, 4.0], 1.0),
        ],
    )
    assert got[0].tolist() == got[1].tolist() == [3, 6]
    assert got[2].tolist() == [0, 0.5]
    assert got[3].tolist() == [0, 0.25]
    np.testing.assert_allclose(got[4], [-np.log(2), -100], rtol=1e-6)
    np.testing.assert_allclose(got[5], [1.2, 1.6], rtol=1e-6)
    with pytest.raises(
        ValueError, match=r"(Only scalar multiply works, got|must be a 0-D value. Received) shape"
    ):
        tf.scalar_mul([1.0], x)


def test_a_slice_of_no_variable_is_not_assigned() -> None:
    tf = ours
    with pytest.raises(ValueError, match="Sliced assignment is only supported for variables"):
        tf.constant([1, 2])[:1].assign([3])


@pytest.mark.parametrize("use_resource", [False, True])
def test_assign_to_a_slice(tf: Any, use_resource: bool) -> None:
    variable = tf.Variable([1, 2, 3], use_resource=use_resource)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(tf.assign(variable[1:], [5, 6])).tolist() == [1, 5, 6]
