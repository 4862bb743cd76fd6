"""The sample models learn, and what they learn holds on data that they have not seen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

from sgtool import graphcore as tf, sample_models
from sgtool.graphcore.spec import build_spec
from sgtool.sample_models import approximator, cnn, data, linear, mlp

SCHEMA = Path(tf.__file__).with_name("spec_schema.json")


def batches(arrays: data.Arrays, size: int, epochs: int) -> Iterator[dict[str, Any]]:
    rows = len(next(iter(arrays.values())))
    random = np.random.default_rng(1)
    for _ in range(epochs):
        order = random.permutation(rows)
        for start in range(0, rows - size + 1, size):
            chosen = order[start : start + size]
            yield {f"{name}:0": array[chosen] for name, array in arrays.items()}


def train(name: str, module: ModuleType, size: int, epochs: int, fetch: str) -> tuple[Any, data.Arrays]:
    """Trains a sample; gives the fetch on its held-out data, and that data."""
    parts = data.split(module.make, module.TRAIN_ROWS, module.TEST_ROWS)
    graph = build_spec(sample_models.spec_path(name), seed=1)
    with graph.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (step,) = tf.get_collection(tf.GraphKeys.TRAIN_OP)
        for feed in batches(parts[0], size, epochs):
            session.run(step, feed)
        feed = {f"{key}:0": value for key, value in parts[1].items()}
        return session.run(fetch, feed), parts[1]


def test_linear_finds_the_line() -> None:
    loss, _ = train("linear", linear, 64, 20, "loss:0")
    assert loss < 2e-4  # the noise alone is 1e-4


def test_the_approximator_fits_a_curve() -> None:
    prediction, held_out = train("approximator", approximator, 64, 300, "prediction:0")
    assert np.mean((prediction - held_out["y"]) ** 2) < 0.01 * np.var(held_out["y"])


def test_the_perceptron_classifies() -> None:
    accuracy, _ = train("mlp", mlp, 64, 60, "accuracy:0")
    assert accuracy > 0.97


def test_the_convolutional_network_reads_digits() -> None:
    accuracy, held_out = train("cnn", cnn, 64, 8, "accuracy:0")
    majority = np.bincount(held_out["label"]).max() / len(held_out["label"])
    assert majority < 0.15
    assert accuracy > 0.95


@pytest.mark.parametrize("name", sample_models.NAMES)
def test_a_sample_follows_the_schema(name: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(
        yaml.safe_load(Path(sample_models.spec_path(name)).read_text(encoding="utf-8")), schema
    )


@pytest.mark.parametrize("name", sample_models.NAMES)
def test_a_sample_round_trips_through_a_meta_graph(name: str) -> None:
    graph = build_spec(sample_models.spec_path(name))
    with graph.as_default():
        exported = tf.train.Saver().export_meta_graph()
    with tf.Graph().as_default() as again:
        tf.train.import_meta_graph(exported)
        names = [op.name for op in graph.get_operations()]
        assert [op.name for op in again.get_operations()][: len(names)] == names
        assert len(tf.get_collection("outputs")) >= 1
