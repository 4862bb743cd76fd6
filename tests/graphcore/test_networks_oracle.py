"""Layers, losses, metrics, embeddings and initializers: TensorFlow is asked, in the same process."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from side_by_side import compare, tensorflow

from sgtool import graphcore as ours

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:.*`tf.layers.* is deprecated:UserWarning"),
]
Build = Callable[[Any], Any]


@pytest.fixture(scope="module")
def theirs() -> Any:
    return tensorflow()


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).rand(*shape).astype(np.float32)


# Metrics: by name a function of labels, predictions and weights.

METRICS: dict[str, Callable[..., Any]] = {
    "mean": lambda tf, y, p, w: tf.metrics.mean(p, w),
    "mean_tensor": lambda tf, y, p, w: tf.metrics.mean_tensor(p, w),
    "accuracy": lambda tf, y, p, w: tf.metrics.accuracy(y > 0.5, p > 0.5, w),
    "absolute": lambda tf, y, p, w: tf.metrics.mean_absolute_error(y, p, w),
    "squared": lambda tf, y, p, w: tf.metrics.mean_squared_error(y, p, w),
    "root": lambda tf, y, p, w: tf.metrics.root_mean_squared_error(y, p, w),
    "relative": lambda tf, y, p, w: tf.metrics.mean_relative_error(y, p, tf.floor(y * 2.0), w),
    "cosine": lambda tf, y, p, w: tf.metrics.mean_cosine_distance(y, p, 0),
    "below": lambda tf, y, p, w: tf.metrics.percentage_below(p, 0.4, w),
    "true_positives": lambda tf, y, p, w: tf.metrics.true_positives(y > 0.5, p > 0.5, w),
    "false_positives": lambda tf, y, p, w: tf.metrics.false_positives(y > 0.5, p > 0.5, w),
    "true_negatives": lambda tf, y, p, w: tf.metrics.true_negatives(y > 0.5, p > 0.5, w),
    "false_negatives": lambda tf, y, p, w: tf.metrics.false_negatives(y > 0.5, p > 0.5, w),
    "precision": lambda tf, y, p, w: tf.metrics.precision(y > 0.5, p > 0.5, w),
    "recall": lambda tf, y, p, w: tf.metrics.recall(y > 0.5, p > 0.5, w),
    "precision_at": lambda tf, y, p, w: tf.metrics.precision_at_thresholds(y > 0.5, p, [0.2, 0.7], w),
    "recall_at": lambda tf, y, p, w: tf.metrics.recall_at_thresholds(y > 0.5, p, [0.2, 0.7], w),
    "false_at": lambda tf, y, p, w: tf.metrics.false_negatives_at_thresholds(y > 0.5, p, [0.2, 0.7], w),
    "auc": lambda tf, y, p, w: tf.metrics.auc(y > 0.5, p, w, num_thresholds=20),
    "auc_pr": lambda tf, y, p, w: tf.metrics.auc(
        y > 0.5, p, w, 20, curve="PR", summation_method="careful_interpolation"
    ),
    "auc_minoring": lambda tf, y, p, w: tf.metrics.auc(y > 0.5, p, w, 20, summation_method="minoring"),
    "auc_majoring": lambda tf, y, p, w: tf.metrics.auc(
        y > 0.5, p, w, curve="PR", summation_method="majoring", thresholds=[0.3, 0.5, 0.6]
    ),
    "sensitivity": lambda tf, y, p, w: tf.metrics.sensitivity_at_specificity(y > 0.5, p, 0.6, w, 30),
    "specificity": lambda tf, y, p, w: tf.metrics.specificity_at_sensitivity(y > 0.5, p, 0.6, w, 30),
    "per_class": lambda tf, y, p, w: tf.metrics.mean_per_class_accuracy(
        tf.cast(y * 3, "int64"), tf.cast(p * 3, "int64"), 3, w
    ),
    "iou": lambda tf, y, p, w: tf.metrics.mean_iou(tf.cast(y * 3, "int64"), tf.cast(p * 3, "int64"), 3, w),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("name", METRICS)
def test_metrics(theirs: Any, name: str, weighted: bool) -> None:
    def build(tf: Any) -> Any:
        labels, predictions = (tf.placeholder(tf.float32, [12]) for _ in range(2))
        weights = tf.placeholder(tf.float32, [12]) if weighted else None
        value, update = METRICS[name](tf, labels, predictions, weights)
        variables = tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
        assert variables == tf.local_variables()
        feeds = {
            labels: lambda step: numbers(12, seed=step),
            predictions: lambda step: numbers(12, seed=step + 10),
        }
        if weights is not None:
            feeds[weights] = lambda step: np.floor(3 * numbers(12, seed=step + 20))
        names.append([variable.op.name for variable in variables])
        return update, [value, *variables], feeds

    names: list[list[str]] = []
    compare(theirs, build, 3, names=False)
    assert names[0] == names[1]


RANKS: dict[str, Callable[..., Any]] = {
    "precision": lambda tf, y, s: tf.metrics.precision_at_k(y, s, 3),
    "precision_of_a_class": lambda tf, y, s: tf.metrics.precision_at_k(y, s, 3, class_id=2),
    "recall": lambda tf, y, s: tf.metrics.recall_at_k(y, s, 3, weights=[1.0, 2.0, 0.0, 1.0]),
    "recall_of_a_class": lambda tf, y, s: tf.metrics.recall_at_k(y, s, 2, class_id=1),
    "average_precision": lambda tf, y, s: tf.metrics.average_precision_at_k(y, s, 4),
    "weighted_average_precision": lambda tf, y, s: tf.metrics.average_precision_at_k(
        y, s, 4, weights=[1.0, 2.0, 0.0, 1.0]
    ),
    "top": lambda tf, y, s: tf.metrics.precision_at_top_k(y, tf.nn.top_k(s, 2)[1], 2),
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", RANKS)
def test_metrics_of_the_best(theirs: Any, name: str, sparse: bool) -> None:
    labels = np.array([[0, 2], [1, 1], [3, 4], [2, 0]], np.int64)

    def build(tf: Any) -> Any:
        scores = tf.placeholder(tf.float32, [4, 6])
        truth: Any = tf.constant(labels)
        if sparse:
            truth = tf.SparseTensor(
                [[0, 0], [1, 0], [1, 1], [3, 0]], tf.constant([5, 1, 2, 7], "int64"), [4, 2]
            )
        value, update = RANKS[name](tf, truth, scores)
        return update, [value], {scores: lambda step: numbers(4, 6, seed=step)}

    compare(theirs, build, 3, names=False)


# Losses

LOSSES: dict[str, Callable[..., Any]] = {
    "squared": lambda tf, **k: tf.losses.mean_squared_error(**k),
    "absolute": lambda tf, **k: tf.losses.absolute_difference(**k),
    "cosine": lambda tf, weights, **k: tf.losses.cosine_distance(axis=1, weights=weights[:, :1], **k),
    "hinge": lambda tf, predictions, **k: tf.losses.hinge_loss(logits=predictions, **k),
    "huber": lambda tf, **k: tf.losses.huber_loss(delta=0.3, **k),
    "log": lambda tf, **k: tf.losses.log_loss(**k),
    "sigmoid": lambda tf, labels, predictions, **k: tf.losses.sigmoid_cross_entropy(
        labels, predictions, label_smoothing=0.2, **k
    ),
    "softmax": lambda tf, labels, predictions, weights, **k: tf.losses.softmax_cross_entropy(
        labels, predictions, weights[:, 0], 0.1, **k
    ),
}
REDUCTIONS = [
    "none",
    "weighted_sum",
    "weighted_sum_over_batch_size",
    "weighted_mean",
    "weighted_sum_by_nonzero_weights",
]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", LOSSES)
def test_losses(theirs: Any, name: str, reduction: str) -> None:
    def build(tf: Any) -> Any:
        given = [tf.placeholder(tf.float32, [4, 3]) for _ in range(3)]
        labels, predictions, weights = given
        loss = LOSSES[name](tf, labels=labels, predictions=predictions, weights=weights, reduction=reduction)
        assert tf.losses.get_losses() == [loss]
        gradient = tf.gradients(loss, predictions)
        values = [
            lambda step: np.round(numbers(4, 3, seed=step)),
            lambda step: numbers(4, 3, seed=step + 10),
            lambda step: np.floor(3 * numbers(4, 3, seed=step + 20)),
        ]
        return [], [loss, *gradient], dict(zip(given, values))

    compare(theirs, build, 2, names=False)


def test_pairwise_errors(theirs: Any) -> None:
    def build(tf: Any) -> Any:
        labels, predictions = (tf.placeholder(tf.float32, [3, 5]) for _ in range(2))
        loss = tf.losses.mean_pairwise_squared_error(labels, predictions, [[1.0], [0.0], [2.0]])
        feeds = {
            labels: lambda step: numbers(3, 5, seed=step),
            predictions: lambda step: numbers(3, 5, seed=step + 10),
        }
        return [], [loss], feeds

    compare(theirs, build, 2, names=False)


# Layers: values with op seeds, variables and operations by name


def _initializer(tf: Any, seed: int) -> Any:
    return tf.random_uniform_initializer(-1, 1, seed=seed)


LAYERS: dict[str, tuple[tuple[int, ...], Callable[..., Any]]] = {
    "dense": ((2, 3), lambda tf, x, i: tf.layers.dense(x, 4, tf.nn.relu, kernel_initializer=i)),
    "dense_of_rank_3": ((2, 5, 3), lambda tf, x, i: tf.layers.dense(x, 4, kernel_initializer=i)),
    "conv1d": ((2, 7, 3), lambda tf, x, i: tf.layers.conv1d(x, 4, 3, 2, "same", kernel_initializer=i)),
    "conv1d_dilated": (
        (2, 9, 3), lambda tf, x, i: tf.layers.conv1d(x, 4, 3, dilation_rate=2, kernel_initializer=i),
    ),
    "conv2d": ((2, 6, 5, 3), lambda tf, x, i: tf.layers.conv2d(x, 4, (3, 2), 2, kernel_initializer=i)),
    "conv2d_dilated": (
        (2, 8, 8, 3),
        lambda tf, x, i: tf.layers.conv2d(x, 4, 3, padding="same", dilation_rate=2, kernel_initializer=i),
    ),
    "conv3d": ((1, 4, 5, 4, 2), lambda tf, x, i: tf.layers.conv3d(x, 3, 2, kernel_initializer=i)),
    "conv2d_transpose": (
        (2, 3, 4, 3), lambda tf, x, i: tf.layers.conv2d_transpose(x, 4, 3, 2, "same", kernel_initializer=i),
    ),
    "conv2d_transpose_valid": (
        (2, 3, 4, 3), lambda tf, x, i: tf.layers.conv2d_transpose(x, 4, 3, 2, kernel_initializer=i),
    ),
    "conv3d_transpose": (
        (1, 3, 2, 3, 2), lambda tf, x, i: tf.layers.conv3d_transpose(x, 2, 2, 2, kernel_initializer=i),
    ),
    "separable_conv1d": (
        (2, 7, 3),
        lambda tf, x, i: tf.layers.separable_conv1d(
            x, 4, 3, depth_multiplier=2, depthwise_initializer=i, pointwise_initializer=i
        ),
    ),
    "separable_conv2d": (
        (2, 6, 6, 3),
        lambda tf, x, i: tf.layers.separable_conv2d(
            x, 4, 3, 2, "same", depthwise_initializer=i, pointwise_initializer=i
        ),
    ),
    "max_pooling1d": ((2, 7, 3), lambda tf, x, i: tf.layers.max_pooling1d(x, 3, 2)),
    "average_pooling1d": (
        (2, 3, 7), lambda tf, x, i: tf.layers.average_pooling1d(x, 3, 2, "same", "channels_first"),
    ),
    "max_pooling2d": ((2, 7, 6, 3), lambda tf, x, i: tf.layers.max_pooling2d(x, (3, 2), 2)),
    "average_pooling3d": ((1, 4, 5, 6, 2), lambda tf, x, i: tf.layers.average_pooling3d(x, 2, 2, "same")),
    "flatten": ((2, 3, 4), lambda tf, x, i: tf.layers.flatten(x)),
    "dropout": ((20, 30), lambda tf, x, i: tf.layers.dropout(x, 0.3, (20, 1), seed=5, training=True)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers(theirs: Any, name: str) -> None:
    shape, layer = LAYERS[name]

    def build(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, shape, name="x")
        with tf.variable_scope("net"):
            y = layer(tf, x, _initializer(tf, 3))
        kind = re.sub("_(of|dilated|valid).*", "", name)
        assert y.op.name.startswith(f"net/{kind}/")
        gradients = tf.gradients(tf.reduce_sum(y * y), tf.trainable_variables()) if "pool" not in name else []
        variables.append([(item.op.name, item.shape.as_list()) for item in tf.global_variables()])
        return [], [y, *gradients], {x: lambda step: numbers(*shape, seed=step)}

    variables: list[Any] = []
    compare(theirs, build, 1, names=False, rtol=1e-4)
    assert variables[0] == variables[1]


NORMS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "plain": ((6, 3), {}),
    "fused": ((2, 4, 4, 3), {}),
    "not_fused": ((2, 4, 4, 3), {"fused": False, "momentum": 0.8, "scale": False}),
    "axis_1": ((2, 3, 4, 5), {"axis": 1, "fused": False, "center": False}),
    "two_axes": ((3, 4, 5), {"axis": [1, 2]}),
    "renorm": ((6, 3), {"renorm": True, "renorm_clipping": {"rmax": 2.0, "rmin": 0.3, "dmax": 1.5}}),
    "virtual": ((6, 4, 3), {"virtual_batch_size": 3}),
    "adjusted": ((6, 3), {"adjustment": True}),
}


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("training", ["always", "fed"])
def test_batch_normalization(theirs: Any, name: str, training: str) -> None:
    shape, options = NORMS[name]
    if name == "virtual" and training == "fed":
        training = "always"  # later versions then take the whole batch at once

    def build(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, shape)
        flag = tf.placeholder_with_default(False, []) if training == "fed" else True
        given = dict(options)
        if "adjustment" in given:
            given["adjustment"] = lambda shape: (tf.constant(2.0), tf.constant(0.5))
        y = tf.layers.batch_normalization(x, training=flag, **given)
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        assert len(updates) == 2
        variables = tf.global_variables()
        found.append([variable.op.name for variable in variables])
        feeds = {x: lambda step: numbers(*shape, seed=step)}
        if training == "fed":
            feeds[flag] = lambda step: step % 2 == 0
        with tf.control_dependencies(updates):
            run = tf.identity(y)
        return run, [y, *variables], feeds

    found: list[Any] = []
    compare(theirs, build, 4, names=False, rtol=1e-4)
    assert found[0] == found[1]


# Embeddings and sampled losses

EMBEDDINGS: dict[str, Callable[..., Any]] = {
    "mod": lambda tf, t, ids: tf.nn.embedding_lookup(t, [[0, 6], [3, 3]]),
    "div": lambda tf, t, ids: tf.nn.embedding_lookup(t, [5, 0, 6], "div"),
    "limited": lambda tf, t, ids: tf.nn.embedding_lookup(t, [1, 2], max_norm=0.5),
    "mean": lambda tf, t, ids: tf.nn.embedding_lookup_sparse(t, ids(1), None, combiner="mean"),
    "sqrtn": lambda tf, t, ids: tf.nn.embedding_lookup_sparse(t, ids(1), ids(0.5), combiner="sqrtn"),
    "sum": lambda tf, t, ids: tf.nn.embedding_lookup_sparse(t, ids(1), ids(0.5), "div", combiner="sum"),
    "safe": lambda tf, t, ids: tf.nn.safe_embedding_lookup_sparse(t, ids(1), ids(0.5)),
    "safe_default": lambda tf, t, ids: tf.nn.safe_embedding_lookup_sparse(t, ids(1), default_id=2),
    "nce": lambda tf, t, ids: tf.nn.nce_loss(
        t, tf.zeros([7]), tf.constant([[1], [2]]), tf.ones([2, 3]), 4, 7, sampled_values=(
            tf.constant([0, 3, 5, 2], "int64"), tf.fill([2, 1], 0.3), tf.fill([4], 0.2)
        ), remove_accidental_hits=True, partition_strategy="div",
    ),
    "sampled_softmax": lambda tf, t, ids: tf.nn.sampled_softmax_loss(
        t, tf.zeros([7]), tf.constant([[1, 0], [2, 4]]), tf.ones([2, 3]), 5, 7, 2,
        partition_strategy="div", seed=4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embeddings(theirs: Any, name: str, parts: int) -> None:
    table = numbers(7, 3)

    def build(tf: Any) -> Any:
        def ids(kind: Any) -> Any:
            values = tf.constant([3, 6, 0, 1], "int64") if kind == 1 else tf.constant([1.0, 0.5, 2.0, 3.0])
            return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 2]], values, [3, 3])

        parameters = tf.get_variable(
            "table", initializer=tf.constant(table), partitioner=tf.fixed_size_partitioner(parts)
        )
        result = EMBEDDINGS[name](tf, parameters, ids)
        gradients = tf.gradients(tf.reduce_sum(result * result), list(parameters))
        dense = [tf.convert_to_tensor(gradient) for gradient in gradients if gradient is not None]
        return [], [result, *dense], {}

    compare(theirs, build, 1, names=False, rtol=1e-4)


# Initializers with an op seed

INITIALIZERS: dict[str, Callable[..., Any]] = {
    "glorot_uniform": lambda tf: tf.glorot_uniform_initializer(seed=1),
    "glorot_normal": lambda tf: tf.glorot_normal_initializer(seed=2),
    "he_normal": lambda tf: tf.initializers.he_normal(seed=3),
    "he_uniform": lambda tf: tf.initializers.he_uniform(seed=3),
    "lecun_normal": lambda tf: tf.initializers.lecun_normal(seed=3),
    "lecun_uniform": lambda tf: tf.initializers.lecun_uniform(seed=3),
    "orthogonal": lambda tf: tf.orthogonal_initializer(0.5, seed=4),
    "identity": lambda tf: tf.initializers.identity(2.0),
    "unit_scaling": lambda tf: tf.uniform_unit_scaling_initializer(2.0, seed=5),
    "truncated": lambda tf: tf.truncated_normal_initializer(1.0, 0.5, seed=6),
    "variance": lambda tf: tf.variance_scaling_initializer(3.0, "fan_out", "untruncated_normal", seed=7),
    "constant": lambda tf: tf.constant_initializer([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers(theirs: Any, name: str, parts: int) -> None:
    def build(tf: Any) -> Any:
        variable = tf.get_variable(
            "v",
            [4, 6],
            initializer=INITIALIZERS[name](tf),
            partitioner=tf.fixed_size_partitioner(parts, axis=1),
        )
        config = INITIALIZERS[name](tf).get_config()
        configs.append({key: value for key, value in config.items() if not isinstance(value, np.ndarray)})
        return [], list(variable), {}

    configs: list[Any] = []
    # Later versions make the identity by another op.
    compare(theirs, build, 1, names=name != "identity", rtol=1e-5)
    assert configs[0] == configs[1]


# Partitioned variables in checkpoints


@pytest.mark.parametrize("direction", ["we_write", "they_write"])
def test_slices_of_a_checkpoint(theirs: Any, tmp_path: Path, direction: str) -> None:
    """Written in three slices, read in two, and whole."""
    writer, reader = (ours, theirs) if direction == "we_write" else (theirs, ours)
    whole = numbers(7, 3)
    prefix = str(tmp_path / "model")
    with writer.Graph().as_default(), writer.Session() as session:
        with writer.variable_scope("net", partitioner=writer.fixed_size_partitioner(3)):
            writer.get_variable("table", initializer=writer.constant(whole))
        session.run(writer.global_variables_initializer())
        writer.train.Saver().save(session, prefix)
    for parts in (1, 2, 4):
        with reader.Graph().as_default(), reader.Session() as session:
            with reader.variable_scope("net", partitioner=reader.fixed_size_partitioner(parts)):
                table = reader.get_variable("table", [7, 3])
            reader.train.Saver().restore(session, prefix)
            np.testing.assert_array_equal(session.run(reader.convert_to_tensor(table)), whole)
    with reader.Graph().as_default(), reader.Session() as session:
        saver = reader.train.import_meta_graph(prefix + ".meta")
        saver.restore(session, prefix)
        parts_found = session.run(["net/table/part_0:0", "net/table/part_1:0", "net/table/part_2:0"])
        np.testing.assert_array_equal(np.concatenate(parts_found), whole)
