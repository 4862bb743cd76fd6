"""The command line against a real TensorFlow: what it writes is read, what TensorFlow wrote is run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from .conftest import Tool

pytestmark = pytest.mark.oracle

X = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


@pytest.fixture
def tf() -> Any:
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    tf.reset_default_graph()
    return tf


def tensorflow_runs(tf: Any, prefix: str, fetch: str, feed: dict[str, Any]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{prefix}.meta").restore(session, prefix)
        return session.run(fetch, feed)


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam"])
def test_tensorflow_reads_a_training_run_and_goes_on(
    optimizer: str, linear: Path, tf: Any, sgtool: Tool
) -> None:
    t = X @ np.array([[1.0], [-1.0]], np.float32)
    np.savez("data.npz", x=X, t=t)
    assert sgtool("build", linear, "-o", "graph.meta").code == 0
    arguments = ("--feed", "x=data.npz", "--feed", "t=data.npz", "--optimizer", optimizer, "--lr", "0.01")
    assert sgtool("train", "graph.meta", *arguments, "--steps", "5", "-o", "m").code == 0
    ours = sgtool("run", "m", "--fetch", "y:0", "--feed", "x=data.npz", "--json").json["outputs"]["y:0"][
        "value"
    ]
    np.testing.assert_allclose(tensorflow_runs(tf, "m", "y:0", {"x:0": X}), ours, rtol=1e-5)
    # Both go on from the same checkpoint for 20 steps with the same losses.
    losses = sgtool(
        "train", "m", "--feed", "x=data.npz", "--feed", "t=data.npz", "--loss", "loss", "--steps", "1"
    )
    assert losses.code == 0
    (train_op,) = sgtool("inspect", "m", "--json").json["collections"]["train_op"]
    feeds = ("--feed", "x=data.npz", "--feed", "t=data.npz", "--no-shuffle", "--train-op", train_op)
    history = sgtool("train", "m", *feeds, "--loss", "loss", "--steps", "20", "--json").json["history"]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph("m.meta").restore(session, "m")
        theirs = [session.run(["loss:0", train_op], {"x:0": X, "t:0": t})[0] for _ in range(20)]
    np.testing.assert_allclose([row["loss"] for row in history], theirs, rtol=1e-5)


@pytest.mark.parametrize("resource", [False, True])
def test_we_run_and_dump_what_tensorflow_saved(resource: bool, tf: Any, sgtool: Tool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        w = tf.get_variable("w", [2, 3], use_resource=resource)
        y = tf.nn.relu(tf.matmul(x, w), name="y")
        session.run(tf.global_variables_initializer())
        theirs = session.run(y, {x: X})
        tf.train.Saver().save(session, "theirs/model", global_step=7)
    np.save("x.npy", X)
    ours = sgtool("run", "theirs", "--fetch", "y", "--feed", "x=x.npy", "--json")
    assert ours.code == 0, ours.err
    np.testing.assert_allclose(ours.json["outputs"]["y"]["value"], theirs, rtol=1e-6)
    assert sgtool("save", "theirs", "-o", "w.h5").code == 0
    assert sgtool("restore", "theirs/model-7.meta", "w.h5", "-o", "again").code == 0
    for suffix in (".index", ".data-00000-of-00001"):
        assert Path(f"again{suffix}").read_bytes() == Path(f"theirs/model-7{suffix}").read_bytes()
    np.testing.assert_array_equal(tensorflow_runs(tf, "again", "y:0", {"x:0": X}), theirs)
