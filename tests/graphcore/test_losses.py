"""`tf.losses`: collections, weights, reductions and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf

LABELS = np.array([[1, 0, 1], [0, 1, 1]], np.float32)
PREDICTIONS = np.array([[0.5, 0.2, 0.9], [0.1, 0.6, 0.3]], np.float32)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def run(tensor: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensor)


def test_a_loss_is_kept_and_summed_with_the_regularization() -> None:
    first = tf.losses.mean_squared_error(LABELS, PREDICTIONS)
    second = tf.losses.absolute_difference(LABELS, PREDICTIONS, loss_collection="others")
    assert tf.losses.get_losses() == [first]
    assert tf.losses.get_losses(loss_collection="others") == [second]
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0))
    mean = float(np.mean((LABELS - PREDICTIONS) ** 2))
    assert run(tf.losses.get_total_loss()) == pytest.approx(mean + 2.0)
    assert run(tf.losses.get_total_loss(add_regularization_losses=False)) == pytest.approx(mean)
    assert run(tf.losses.get_regularization_loss()) == pytest.approx(2.0)
    assert tf.losses.mean_squared_error(LABELS, PREDICTIONS, loss_collection=None).op.name.startswith(
        "mean_squared_error_1/"
    )
    assert tf.losses.get_losses() == [first]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        (2.0, 2.0),
        (np.float32([[1, 1, 1], [0, 0, 0]]), 1.0),
        (np.float32([[0.0], [3.0]]), 3.0),
        (0.0, 0.0),
    ],
)
def test_weights_that_are_not_zero_are_counted(weights: Any, expected: float) -> None:
    loss = tf.losses.compute_weighted_loss(np.ones((2, 3), np.float32), weights)
    assert run(loss) == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(1,), (3,), (1, 2), (2, 2), (2, 3, 1)])
def test_weights_that_do_not_fit_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.losses.mean_squared_error(LABELS, PREDICTIONS, np.ones(shape, np.float32))


def test_weights_of_unknown_shape_are_checked_in_the_run() -> None:
    weights = tf.placeholder(tf.float32)
    loss = tf.losses.mean_squared_error(LABELS, PREDICTIONS, weights)
    with tf.Session() as session:
        assert session.run(loss, {weights: [[1.0], [1.0]]}) > 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
            session.run(loss, {weights: [1.0, 2.0]})


def test_reductions_are_named() -> None:
    assert tf.losses.Reduction.SUM_OVER_NONZERO_WEIGHTS == tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS
    assert "none" in tf.losses.Reduction.all()
    with pytest.raises(ValueError, match="Invalid Reduction Key nothing"):
        tf.losses.compute_weighted_loss([1.0], reduction="nothing")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.losses.mean_squared_error(None, PREDICTIONS), "labels must not be None"),
        (lambda: tf.losses.huber_loss(LABELS, None), "predictions must not be None"),
        (lambda: tf.losses.hinge_loss(LABELS, None), "logits must not be None"),
        (lambda: tf.losses.cosine_distance(LABELS, PREDICTIONS), "You must specify 'axis'"),
        (lambda: tf.losses.softmax_cross_entropy(None, PREDICTIONS), "onehot_labels must not be None"),
        (lambda: tf.losses.sigmoid_cross_entropy(None, PREDICTIONS), "multi_class_labels must not be None"),
        (lambda: tf.losses.log_loss(LABELS, PREDICTIONS[:, :2]), "are incompatible"),
    ],
)
def test_what_is_missing_or_does_not_fit_is_said(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_values() -> None:
    error = np.abs(LABELS - PREDICTIONS)
    huber = np.where(error <= 0.4, error**2 / 2, 0.4 * error - 0.08)
    hinge = np.maximum(0, 1 - (2 * LABELS - 1) * PREDICTIONS)
    cosine = 1 - (LABELS * PREDICTIONS).sum(1)
    pairs = [
        np.mean([((d[i] - d[j]) ** 2) for i in range(3) for j in range(3) if i != j])
        for d in PREDICTIONS - LABELS
    ]
    expected = {
        tf.losses.huber_loss(LABELS, PREDICTIONS, delta=0.4): huber.mean(),
        tf.losses.hinge_loss(LABELS, PREDICTIONS): hinge.mean(),
        tf.losses.cosine_distance(LABELS, PREDICTIONS, axis=1): cosine.mean(),
        tf.losses.cosine_distance(LABELS, PREDICTIONS, dim=1): cosine.mean(),
        tf.losses.mean_pairwise_squared_error(LABELS, PREDICTIONS): np.sum(pairs),
    }
    np.testing.assert_allclose(run(list(expected)), list(expected.values()), rtol=1e-5)


def test_labels_may_have_a_last_dimension_of_1() -> None:
    labels, logits = np.array([[2], [0]]), PREDICTIONS
    flat = tf.losses.sparse_softmax_cross_entropy(labels[:, 0], logits)
    column = tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=[[1.0], [1.0]])
    assert run(flat) == run(column)
