"""`tf.assert_*`, `tf.debugging`, `tf.math.confusion_matrix`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def fails(operation: Any, feed: Any = None) -> str:
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(operation, feed)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "good", "bad", "sign"),
    [
        ("assert_equal", ([1, 2], [1, 2]), ([1, 2], [1, 3]), "=="),
        ("assert_none_equal", ([1, 2], [2, 1]), ([1, 2], [1, 3]), "!="),
        ("assert_less", ([1, 2], [2, 3]), ([1, 3], [2, 3]), "<"),
        ("assert_less_equal", ([1, 2], [1, 3]), ([2, 3], [1, 3]), "<="),
        ("assert_greater", ([2, 3], [1, 2]), ([2, 3], [2, 3]), ">"),
        ("assert_greater_equal", ([2, 3], [2, 2]), ([1, 3], [2, 3]), ">="),
    ],
)
class TestElementWise:
    def test_known_now(self, name: str, good: Any, bad: Any, sign: str) -> None:
        check = getattr(tf, name)
        with tf.Session() as session:
            session.run(check(*good))
        with pytest.raises(tf.errors.InvalidArgumentError, match="said first") as caught:
            check(*bad, message="said first")
        assert f"Condition x {sign} y did not hold element-wise:" in str(caught.value)

    def test_at_the_run(self, name: str, good: Any, bad: Any, sign: str) -> None:
        x = tf.placeholder(tf.int32, [None], name="x")
        check = getattr(tf.debugging, name)(x, good[1], message="said first")
        with tf.Session() as session:
            session.run(check, {x: good[0]})
        text = fails(getattr(tf, name)(x, bad[1], message="said first"), {x: bad[0]})
        assert f"Condition x {sign} y did not hold element-wise:" in text
        assert "said first" in text
        assert "x (x:0) = " in text

    def test_empty_passes(self, name: str, good: Any, bad: Any, sign: str) -> None:
        with tf.Session() as session:
            session.run(getattr(tf, name)(np.zeros([0, 1], np.float32), np.zeros([1], np.float32)))


def test_an_equal_tensor_is_not_compared() -> None:
    x = tf.placeholder(tf.float32)
    assert tf.assert_equal(x, x).type == "NoOp"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("assert_negative", [-1, 0]),
        ("assert_positive", [1, 0]),
        ("assert_non_negative", [0, -1]),
        ("assert_non_positive", [0, 1]),
    ],
)
def test_against_zero(name: str, value: list[int]) -> None:
    check = getattr(tf, name)
    with tf.Session() as session:
        session.run(check(value[:1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="0 did not hold element-wise:"):
        check(value)


def test_near() -> None:
    with tf.Session() as session:
        session.run(tf.assert_near([1.0, 2.0], [1.0, 2.0 + 2e-6], rtol=1e-6, atol=1e-6))
    assert "x and y not equal to tolerance" in fails(tf.assert_near([1.0], [1.1], message="far"))


class TestRanks:
    def test_known_now(self) -> None:
        x = tf.zeros([2, 3], name="x")
        assert tf.assert_rank(x, 2).type == "NoOp"
        assert tf.assert_rank_at_least(x, 1).type == "NoOp"
        assert tf.assert_rank_in(x, (1, 2)).type == "NoOp"
        with pytest.raises(
            ValueError, match=r"fail\.  Tensor x:0 must have rank 1\.  Received rank 2, shape"
        ):
            tf.assert_rank(x, 1, message="fail")
        with pytest.raises(ValueError, match="must have rank at least 3"):
            tf.assert_rank_at_least(x, 3)
        with pytest.raises(ValueError, match=r"must have rank in \(0, 1\)"):
            tf.assert_rank_in(x, [0, 1])

    def test_at_the_run(self) -> None:
        x = tf.placeholder(tf.float32, name="x")
        assert "must have rank" in fails(tf.assert_rank(x, 1), {x: 1.0})
        assert "must have rank at least" in fails(tf.assert_rank_at_least(x, 1), {x: 1.0})
        assert "must have rank in" in fails(tf.assert_rank_in(x, [1, 2]), {x: 1.0})

    def test_what_is_no_rank(self) -> None:
        x = tf.placeholder(tf.float32, name="x")
        with pytest.raises(ValueError, match=r"Rank must be a scalar\."):
            tf.assert_rank(x, [1, 2])
        with pytest.raises(TypeError, match=r"must be of type <dtype: 'int32'>"):
            tf.assert_rank(x, 1.0)
        rank = tf.placeholder(tf.int32)
        text = fails(tf.assert_rank(x, rank), {x: [1.0], rank: [1]})
        assert "Rank must be a scalar. Received rank: " in text


class TestShapes:
    def test_symbols(self) -> None:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.placeholder(tf.float32, [None], name="y")
        check = tf.debugging.assert_shapes([(x, ("N", 2)), (y, ("N",)), (tf.zeros([]), ())])
        with tf.Session() as session:
            session.run(check, {x: np.zeros([3, 2]), y: np.zeros(3)})
        text = fails(check, {x: np.zeros([3, 2]), y: np.zeros(4)})
        assert "Specified by tensor x:0 dimension 0" in text

    def test_known_now(self) -> None:
        x = tf.zeros([4, 3], name="x")
        tf.debugging.assert_shapes({x: (..., 3)})
        with pytest.raises(ValueError, match="Tensor x:0 dimension -1 must have size 5"):
            tf.debugging.assert_shapes({x: ("*", 5)})
        with pytest.raises(ValueError, match="Specified by tensor x:0 dimension 0"):
            tf.debugging.assert_shapes({x: ("N", "N")})
        with pytest.raises(ValueError, match="is only allowed as the first entry"):
            tf.debugging.assert_shapes({x: ("N", "*")})
        with pytest.raises(ValueError, match="Specified shape must be an iterable"):
            tf.debugging.assert_shapes({x: 4})


def test_types() -> None:
    x = tf.zeros([2], name="x")
    assert tf.assert_integer(tf.zeros([2], tf.int8)).type == "NoOp"
    with pytest.raises(TypeError, match='Expected "x" to be integer type'):
        tf.assert_integer(x)
    with pytest.raises(TypeError, match=r"x:0 must be of type <dtype: 'int32'>"):
        tf.assert_type(x, tf.int32)
    assert tf.assert_scalar(3).op.type == "Const"
    with pytest.raises(ValueError, match="Expected scalar shape for x:0"):
        tf.assert_scalar(x)
    with pytest.raises(TypeError, match='"proper" iterable'):
        tf.assert_proper_iterable("text")
    assert tf.assert_same_float_dtype([x, None]) == tf.float32
    with pytest.raises(ValueError, match="must be of the same type"):
        tf.assert_same_float_dtype([x, tf.zeros([], tf.float64)])
    with pytest.raises(ValueError, match="Expected floating point type"):
        tf.assert_same_float_dtype([tf.zeros([], tf.int32)])
    assert tf.is_numeric_tensor(x)
    assert not tf.is_numeric_tensor(tf.constant("x"))


@pytest.mark.parametrize(
    ("value", "rises", "strictly"),
    [
        ([], True, True),
        ([1], True, True),
        ([1, 1, 2], True, False),
        ([1, 2], True, True),
        ([2, 1], False, False),
    ],
)
def test_monotonic(value: list[int], rises: bool, strictly: bool) -> None:
    with tf.Session() as session:
        x = np.array(value, np.int32)
        assert session.run([tf.is_non_decreasing(x), tf.is_strictly_increasing(x)]) == [rises, strictly]


def test_numerics() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    checked = tf.verify_tensor_all_finite(x, "not finite")
    tf.log(x, name="logarithm")
    every = tf.add_check_numerics_ops()
    with tf.Session() as session:
        assert session.run(checked, {x: [1, 2]}).tolist() == [1, 2]
        session.run(every, {x: [1, 2]})
    assert "not finite : Tensor had NaN" in fails(checked, {x: [1, np.nan]})
    assert "logarithm:0 : Tensor had Inf" in fails(every, {x: [0, 1]})


class TestConfusionMatrix:
    def test_counts_and_weights(self) -> None:
        with tf.Session() as session:
            assert session.run(tf.math.confusion_matrix([0, 1, 1, 2], [0, 1, 2, 2])).tolist() == [
                [1, 0, 0],
                [0, 1, 1],
                [0, 0, 1],
            ]
            weighted = tf.confusion_matrix(
                [[0], [1]], [1, 1], num_classes=2, weights=[2.0, 3.0], dtype=tf.float32
            )
            assert session.run(weighted).tolist() == [[0, 2], [0, 3]]

    def test_refuses(self) -> None:
        assert "`labels` out of bound" in fails(tf.math.confusion_matrix([0, 3], [0, 1], num_classes=2))
        x = tf.placeholder(tf.int32, [2])
        matrix = tf.math.confusion_matrix([0, 1], x)
        assert "`predictions` contains negative values" in fails(matrix, {x: [0, -1]})
