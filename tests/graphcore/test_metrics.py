"""`tf.metrics`: where their variables and results are kept, their names, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf

LABELS = np.array([0, 1, 1, 0], np.float32)
PREDICTIONS = np.array([0.1, 0.8, 0.3, 0.6], np.float32)
CALLS: dict[str, Any] = {
    "mean": lambda **k: tf.metrics.mean(PREDICTIONS, **k),
    "accuracy": lambda **k: tf.metrics.accuracy(LABELS, PREDICTIONS, **k),
    "auc": lambda **k: tf.metrics.auc(LABELS, PREDICTIONS, **k),
    "true_positives": lambda **k: tf.metrics.true_positives(LABELS, PREDICTIONS, **k),
    "precision_at_thresholds": lambda **k: tf.metrics.precision_at_thresholds(
        LABELS, PREDICTIONS, [0.5], **k
    ),
    "mean_iou": lambda **k: tf.metrics.mean_iou(np.int64([0, 1]), np.int64([1, 1]), 2, **k),
    "recall_at_2": lambda **k: tf.metrics.recall_at_k(np.int64([[0]]), np.float32([[1, 2, 3]]), 2, **k),
}


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.fixture
def session() -> Any:
    with tf.Session() as made:
        yield made


@pytest.mark.parametrize("name", CALLS)
def test_results_and_variables_are_kept(name: str) -> None:
    value, update = CALLS[name](metrics_collections=["values", "more"], updates_collections=["updates"])
    assert tf.get_collection("values") == tf.get_collection("more") == [value]
    assert tf.get_collection("updates") == [update]
    variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    assert variables == tf.local_variables()
    assert not tf.global_variables()
    assert not tf.trainable_variables()
    assert all(variable.op.name.startswith(f"{name}/") for variable in variables)


def test_variables_have_tensorflows_names() -> None:
    tf.metrics.mean(PREDICTIONS)
    tf.metrics.accuracy(LABELS, PREDICTIONS, name="right")
    tf.metrics.auc(LABELS, PREDICTIONS)
    tf.metrics.precision(LABELS, PREDICTIONS)
    assert [variable.op.name for variable in tf.local_variables()] == [
        "mean/total", "mean/count", "right/total", "right/count",
        "auc/true_positives", "auc/false_negatives", "auc/true_negatives", "auc/false_positives",
        "precision/true_positives/count", "precision/false_positives/count",
    ]  # fmt: skip


def test_a_value_changes_only_by_its_update(session: Any) -> None:
    batch = tf.placeholder(tf.float32, [None])
    value, update = tf.metrics.mean(batch)
    session.run(tf.local_variables_initializer())
    assert session.run(value) == 0.0
    assert session.run(update, {batch: [1.0, 3.0]}) == 2.0
    assert session.run(update, {batch: [8.0]}) == 4.0
    for _ in range(3):
        assert session.run(value) == 4.0


def test_a_value_does_not_wait_for_what_is_around_the_call() -> None:
    with tf.control_dependencies([tf.constant(1.0)]):
        value, _ = tf.metrics.mean(PREDICTIONS)
    assert value.op.control_inputs == []


@pytest.mark.parametrize(
    ("weights", "expected"), [(2.0, 0.45), ([1.0, 0.0, 0.0, 1.0], 0.35), ([[1.0], [0.0], [0.0], [1.0]], 0.35)]
)
def test_weights(session: Any, weights: Any, expected: float) -> None:
    _, update = tf.metrics.mean(PREDICTIONS, weights)
    session.run(tf.local_variables_initializer())
    assert session.run(update) == pytest.approx(expected)


def test_weights_that_do_not_fit_are_refused(session: Any) -> None:
    for shape in [(3,), (1, 1, 4)]:
        with pytest.raises(ValueError, match="weights can not be broadcast to values"):
            tf.metrics.mean(PREDICTIONS, np.ones(shape, np.float32))
    weights = tf.placeholder(tf.float32)
    _, update = tf.metrics.mean(PREDICTIONS, weights)
    session.run(tf.local_variables_initializer())
    with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
        session.run(update, {weights: [1.0, 2.0]})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.metrics.accuracy(LABELS, PREDICTIONS[:3]), "are incompatible"),
        (lambda: tf.metrics.auc(LABELS, PREDICTIONS, curve="other"), "curve must be either ROC or PR, other"),
        (lambda: tf.metrics.auc(LABELS, PREDICTIONS, summation_method="x"), "Invalid summation_method: x"),
        (lambda: tf.metrics.sensitivity_at_specificity(LABELS, PREDICTIONS, 2.0), "must be in the range"),
        (lambda: tf.metrics.specificity_at_sensitivity(LABELS, PREDICTIONS, -1.0), "must be in the range"),
        (lambda: tf.metrics.average_precision_at_k(np.int64([[0]]), np.float32([[1]]), 0), "Invalid k=0"),
        (
            lambda: tf.metrics.precision_at_k(np.zeros((2, 2, 2), np.int64), np.zeros((2, 3), np.float32), 1),
            "Unexpected labels shape",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_predictions_outside_0_and_1_fail(session: Any) -> None:
    predictions = tf.placeholder(tf.float32, [4])
    _, update = tf.metrics.auc(LABELS, predictions)
    session.run(tf.local_variables_initializer())
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
        session.run(update, {predictions: [0.0, 0.5, 1.5, 1.0]})


def test_a_perfect_ranking_has_an_area_of_1(session: Any) -> None:
    updates = [
        tf.metrics.auc(LABELS, LABELS, curve=curve, summation_method=method)[1]
        for curve in ("ROC", "PR")
        for method in ("trapezoidal", "careful_interpolation", "minoring", "majoring")
    ]
    session.run(tf.local_variables_initializer())
    np.testing.assert_allclose(session.run(updates), 1.0, atol=1e-4)


def test_sparse_labels_are_sets(session: Any) -> None:
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [2, 2])
    scores = np.float32([[0.9, 0.1, 0.5], [0.2, 0.1, 0.7]])
    updates = [
        tf.metrics.precision_at_k(labels, scores, 2)[1],
        tf.metrics.recall_at_k(labels, scores, 2)[1],
        tf.metrics.recall_at_k(labels, scores, 2, class_id=1)[1],
        tf.metrics.average_precision_at_k(labels, scores, 2)[1],
    ]
    session.run(tf.local_variables_initializer())
    np.testing.assert_allclose(session.run(updates), [0.5, 2 / 3, 0.0, 0.5])


def test_classes_that_occur_nowhere_do_not_count(session: Any) -> None:
    value, update = tf.metrics.mean_iou(np.int64([0, 1, 1]), np.int64([0, 1, 0]), 4)
    session.run(tf.local_variables_initializer())
    assert session.run(update).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert session.run(value) == pytest.approx(0.5)
