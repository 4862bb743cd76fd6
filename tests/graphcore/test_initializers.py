"""Initializers, regularizers, and what `tf.contrib` has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def run(tensors: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


CONFIGS: dict[Any, dict[str, Any]] = {
    tf.zeros_initializer: {"dtype": "float32"},
    tf.ones_initializer: {"dtype": "int32"},
    tf.constant_initializer: {"value": [1, 2], "dtype": "float64"},
    tf.random_uniform_initializer: {"minval": -1, "maxval": 2, "seed": 3, "dtype": "float32"},
    tf.random_normal_initializer: {"mean": 1.0, "stddev": 2.0, "seed": 3, "dtype": "float32"},
    tf.truncated_normal_initializer: {"mean": 1.0, "stddev": 2.0, "seed": None, "dtype": "float64"},
    tf.uniform_unit_scaling_initializer: {"factor": 2.0, "seed": 1, "dtype": "float32"},
    tf.variance_scaling_initializer: {
        "scale": 2.0, "mode": "fan_out", "distribution": "uniform", "seed": 4, "dtype": "float32",
    },
    tf.glorot_uniform_initializer: {"seed": 4, "dtype": "float32"},
    tf.glorot_normal_initializer: {"seed": 4, "dtype": "float32"},
    tf.orthogonal_initializer: {"gain": 2.0, "seed": 4, "dtype": "float32"},
    tf.initializers.identity: {"gain": 2.0, "dtype": "float32"},
}  # fmt: skip


@pytest.mark.parametrize("kind", CONFIGS, ids=lambda kind: kind.__name__)
def test_an_initializer_of_the_same_configuration(kind: Any) -> None:
    made = kind.from_config(CONFIGS[kind])
    assert made.get_config() == CONFIGS[kind]
    shape = [2] if kind is tf.constant_initializer else [3, 3]
    if made.get_config().get("seed", 0) is not None:
        np.testing.assert_array_equal(*run([made(shape), kind.from_config(made.get_config())(shape)]))


def test_names_that_stand_for_the_same() -> None:
    for name in (
        "zeros",
        "ones",
        "constant",
        "random_normal",
        "orthogonal",
        "glorot_uniform",
        "variance_scaling",
    ):
        assert getattr(tf.initializers, name) is getattr(tf, f"{name}_initializer")
    assert tf.initializers.global_variables is tf.global_variables_initializer


@pytest.mark.parametrize("kind", [tf.orthogonal_initializer, tf.random_normal_initializer])
def test_numbers_that_are_not_floating_are_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="Expected floating point type, got"):
        kind(dtype=tf.int32)


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (2, 3, 4)])
def test_orthogonal_rows_or_columns(shape: tuple[int, ...]) -> None:
    found = run(tf.orthogonal_initializer(2.0)(shape)).reshape(-1, shape[-1]) / 2
    rows, columns = found.shape
    product = found @ found.T if rows < columns else found.T @ found
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-5)
    with pytest.raises(ValueError, match="must be at least two-dimensional"):
        tf.orthogonal_initializer()([3])


def test_parts_of_an_identity() -> None:
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        matrix = tf.get_variable("m", [4, 3], initializer=tf.initializers.identity(3.0))
    np.testing.assert_array_equal(run(matrix.as_tensor()), 3 * np.eye(4, 3))
    with pytest.raises(ValueError, match="can only be used for 2D matrices"):
        tf.initializers.identity()([2, 2, 2])


def test_the_last_of_evenly_spaced_numbers_is_exact() -> None:
    assert run(tf.linspace(0.0, 1.0, 42))[-1] == 1.0


# Regularizers


def test_regularizers() -> None:
    layers = tf.contrib.layers
    weights = tf.constant([1.0, -2.0])
    found = run(
        [
            layers.l1_regularizer(0.5)(weights),
            layers.l2_regularizer(0.5)(weights),
            layers.l1_l2_regularizer(0.5, 0.1)(weights),
            layers.sum_regularizer([layers.l1_regularizer(1.0), None, layers.l2_regularizer(0.0)])(weights),
        ]
    )
    np.testing.assert_allclose(found, [1.5, 1.25, 1.75, 3.0])
    assert layers.l1_regularizer(0.0)(weights) is None
    assert layers.sum_regularizer([None]) is None
    assert layers.l2_regularizer(0.1, scope="decay")(weights).op.name == "decay"


def test_scales_that_are_wrong() -> None:
    layers = tf.contrib.layers
    with pytest.raises(ValueError, match="scale cannot be an integer: 1"):
        layers.l1_regularizer(1)
    with pytest.raises(ValueError, match="Setting a scale less than 0 on a regularizer"):
        layers.l2_regularizer(-0.5)
    with pytest.raises(ValueError, match="scale_l2 cannot be an integer"):
        layers.l1_l2_regularizer(0.5, 2)


def test_a_regularizer_of_all_weights() -> None:
    tf.add_to_collection(tf.GraphKeys.WEIGHTS, tf.constant([1.0, 2.0]))
    total = tf.contrib.layers.apply_regularization(tf.contrib.layers.l1_regularizer(0.5))
    assert tf.losses.get_regularization_losses() == [total]
    assert run(total) == 1.5
    with pytest.raises(ValueError, match="regularizer must return a scalar Tensor"):
        tf.contrib.layers.apply_regularization(lambda weights: weights)


def test_scaled_initializers() -> None:
    layers = tf.contrib.layers
    found, other = run(
        [layers.xavier_initializer(seed=1)([50, 150]), layers.xavier_initializer(False)([50, 150])]
    )
    assert np.abs(found).max() <= np.sqrt(6 / 200)
    assert np.std(other) == pytest.approx(np.sqrt(2 / 200), rel=0.1)
    kernel = run(layers.xavier_initializer_conv2d()([3, 3, 10, 20]))
    assert np.abs(kernel).max() <= np.sqrt(6 / 270)
    with pytest.raises(TypeError, match="Unknown mode fan"):
        layers.variance_scaling_initializer(mode="fan")


# tf.contrib.framework


def variables() -> None:
    with tf.variable_scope("a"):
        tf.get_variable("w", [2], initializer=tf.ones_initializer())
        tf.get_variable("b", [2], initializer=tf.zeros_initializer(), trainable=False)
    with tf.variable_scope("ab"):
        tf.get_variable("w", [2], initializer=tf.zeros_initializer())


def names(items: Any) -> list[str]:
    return [item.op.name for item in items]


def test_variables_by_scope_and_name() -> None:
    variables()
    framework = tf.contrib.framework
    assert names(framework.get_variables("a/")) == ["a/w", "a/b"]
    assert names(framework.get_variables_by_name("w")) == ["a/w", "ab/w"]
    assert names(framework.get_variables_by_suffix("b")) == ["a/b"]
    assert names(framework.get_trainable_variables()) == ["a/w", "ab/w"]
    assert names(framework.get_variables_to_restore(exclude=["ab"])) == ["a/w", "a/b"]
    assert names(framework.get_variables_to_restore(include=["ab"])) == ["ab/w"]
    assert framework.get_unique_variable("ab/w").op.name == "ab/w"
    assert names(framework.filter_variables(tf.global_variables(), ["w"], ["ab"])) == ["a/w"]
    with pytest.raises(TypeError, match="include is provided but is not a list or a tuple"):
        framework.get_variables_to_restore("a")
    with pytest.raises(ValueError, match="Couldn't find variable c"):
        framework.get_unique_variable("c")


def test_model_variables() -> None:
    made = tf.contrib.framework.model_variable("m", [2])
    assert tf.model_variables() == [made] == tf.contrib.framework.get_model_variables()
    assert tf.contrib.framework.local_variable(1.0, name="l") in tf.local_variables()


def test_values_from_a_checkpoint(tmp_path: Path) -> None:
    variables()
    framework = tf.contrib.framework
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefix = tf.train.Saver(tf.global_variables("a/")).save(session, str(tmp_path / "model"))
    with tf.Graph().as_default(), tf.Session() as session:
        parts = tf.get_variable("a/w", [2], partitioner=tf.fixed_size_partitioner(2))
        other = tf.get_variable("c", [2])
        missing = tf.get_variable("d", [2])
        session.run(tf.global_variables_initializer())
        operation, feeds = framework.assign_from_checkpoint(prefix, {"a/w": list(parts), "a/b": other})
        session.run(operation, feeds)
        np.testing.assert_array_equal(session.run(parts.as_tensor()), [1, 1])
        np.testing.assert_array_equal(session.run(other), [0, 0])
        with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[d\]"):
            framework.assign_from_checkpoint(prefix, [missing])
        with pytest.warns(UserWarning, match="Variable d missing in checkpoint"):
            assert framework.assign_from_checkpoint_fn(prefix, [missing], ignore_missing_vars=True) is None
        restore = framework.assign_from_checkpoint_fn(prefix, {"a/w": missing})
        assert restore is not None
        restore(session)
        np.testing.assert_array_equal(session.run(missing), [1, 1])
        with pytest.raises(ValueError, match="var_list cannot be empty"):
            framework.assign_from_checkpoint_fn(prefix, [])
        wide = tf.get_variable("wide", [3])
        with pytest.raises(ValueError, match="Total size of new array must be unchanged for a/w"):
            framework.assign_from_checkpoint(prefix, {"a/w": wide})


def test_values_by_name() -> None:
    variables()
    operation, feeds = tf.contrib.framework.assign_from_values({"a/w": np.float32([5, 6])})
    with tf.Session() as session:
        session.run(operation, feeds)
        assert session.run("a/w:0").tolist() == [5, 6]
    with pytest.raises(ValueError, match="Variable q wasn't found"):
        tf.contrib.framework.assign_from_values({"q": np.zeros(2)})


@pytest.mark.parametrize(
    ("module", "name"), [(tf.contrib, "slim"), (tf.contrib.layers, "conv2d"), (tf.contrib.framework, "nest")]
)
def test_what_contrib_has_not_is_said(module: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=rf"tf\.contrib\.(\w+\.)?{name}"):
        getattr(module, name)
