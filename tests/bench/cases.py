"""What is measured. A case prepares itself in an engine (`tf` is ours or TensorFlow's) and gives a function
that is timed; the text is the same for both engines.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from . import models

Timed = Callable[[], Any]
ONNX_RUNTIME = "onnxruntime"
"""The engine that runs what we converted; the text is then ours."""
CONVERTED: list[str] = []
"""The cases that it runs, too."""
CASES: dict[str, tuple[Callable[[Any], Timed], int]] = {}


def case(name: str, repeat: int) -> Callable[[Callable[[Any], Timed]], Callable[[Any], Timed]]:
    """Registers a case; `repeat` is how often the function runs in one measurement."""

    def register(prepare: Callable[[Any], Timed]) -> Callable[[Any], Timed]:
        CASES[name] = (prepare, repeat)
        return prepare

    return register


@case("scalar", 2000)
def scalar(tf: Any) -> Timed:
    """`y = w * x + b`, one run."""
    x = tf.placeholder(tf.float32, [])
    y = 2.0 * x + 1.0
    session = tf.Session()
    return lambda: session.run(y, {x: 3.0})


def _sample(name: str, batch: int) -> Callable[[Any], Timed]:
    """One training step of a shipped sample, by way of its MetaGraphDef."""

    def prepare(tf: Any) -> Timed:
        import importlib

        module = importlib.import_module(f"sgtool.sample_models.{name}")
        from sgtool.graphcore import train
        from sgtool.graphcore.spec import build_spec
        from sgtool.sample_models import spec_path

        folder = Path(tempfile.mkdtemp())
        graph = build_spec(spec_path(name), seed=1)
        with graph.as_default():
            train.Saver().export_meta_graph(str(folder / "m.meta"))
        tf.train.import_meta_graph(str(folder / "m.meta"))
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        (step,) = tf.get_collection("train_op")
        data = module.make(np.random.default_rng(0), batch)
        feed = {f"{key}:0": value for key, value in data.items()}
        return lambda: session.run(step, feed)

    return prepare


case("train-linear", 500)(_sample("linear", 64))
case("train-approximator", 500)(_sample("approximator", 64))
case("train-mlp", 300)(_sample("mlp", 64))
case("train-cnn", 30)(_sample("cnn", 64))


def _inference(name: str, shape: list[int], repeat: int) -> None:
    """One run of a network of `models`, one random input."""

    def prepare(tf: Any) -> Timed:
        x = tf.placeholder(tf.float32, shape, name="x")
        y = tf.identity(getattr(models, name)(tf, x), name="y")
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        row = np.random.default_rng(0).normal(size=shape).astype("f")
        if ONNX_RUNTIME not in sys.argv:
            return lambda: session.run(y, {x: row})
        saver = tf.train.Saver()
        return _under_onnxruntime(saver.save(session, str(Path(tempfile.mkdtemp()) / "m")), row)

    case(name.replace("_", "-"), repeat)(prepare)
    CONVERTED.append(name.replace("_", "-"))


def _under_onnxruntime(checkpoint: str, row: Any) -> Timed:
    """The same network, converted by `sgtool convert`, under onnxruntime."""
    import onnxruntime

    from sgtool.cli.main import run

    path = f"{checkpoint}.onnx"
    with redirect_stdout(sys.stderr):
        code = run(["convert", checkpoint, path, "--fetch", "y:0"])
    if code:
        raise RuntimeError(f"{checkpoint} was not converted")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    return lambda: session.run(None, {given.name: row})


_inference("mlp16", [1, 16], 2000)
_inference("lstm", [8, 50, 64], 20)
_inference("mobilenet_v1", [1, 224, 224, 3], 10)
_inference("resnet50", [1, 224, 224, 3], 3)
_inference("vgg16", [1, 224, 224, 3], 2)


def _training(name: str, shape: list[int], optimizer: Callable[[Any], Any], repeat: int) -> None:
    """One training step of a classifier of `models`."""

    def prepare(tf: Any) -> Timed:
        x, labels = tf.placeholder(tf.float32, shape), tf.placeholder(tf.int32, shape[:1])
        logits = getattr(models, name)(tf, x)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        step = optimizer(tf.train).minimize(tf.reduce_mean(losses))
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        random = np.random.default_rng(0)
        feed = {x: random.normal(size=shape).astype("f"), labels: random.integers(0, 10, shape[0])}
        return lambda: session.run(step, feed)

    case(f"train-{name}-{shape[0]}", repeat)(prepare)


_training("mlp", [128, 784], lambda train: train.AdamOptimizer(1e-4), 50)
_training("cnn", [64, 28, 28, 1], lambda train: train.MomentumOptimizer(1e-4, 0.9), 10)


@case("import-meta-graph", 1)
def import_meta_graph(tf: Any) -> Timed:
    """The training graph of ResNet-50 with Adam, 4,000 nodes."""
    from sgtool import graphcore

    graph = graphcore.Graph()
    with graph.as_default():
        y = models.resnet50(graphcore, graphcore.placeholder(graphcore.float32, [8, 224, 224, 3]))
        graphcore.train.AdamOptimizer().minimize(graphcore.reduce_sum(y))
        path = str(Path(tempfile.mkdtemp()) / "m.meta")
        graphcore.train.export_meta_graph(path)

    def timed() -> Any:
        with tf.Graph().as_default():
            return tf.train.import_meta_graph(path)

    return timed


def _variables(tf: Any) -> tuple[Any, Any]:
    for index in range(16):
        tf.get_variable(f"v{index}", [1024, 1024], initializer=tf.zeros_initializer())
    saver = tf.train.Saver(max_to_keep=1)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session, saver


@case("save-64MB", 3)
def save(tf: Any) -> Timed:
    """Sixteen variables of 4 MB, saved with the graph."""
    session, saver = _variables(tf)
    path = str(Path(tempfile.mkdtemp()) / "m")
    return lambda: saver.save(session, path)


@case("restore-64MB", 3)
def restore(tf: Any) -> Timed:
    """The same variables, restored."""
    session, saver = _variables(tf)
    path = saver.save(session, str(Path(tempfile.mkdtemp()) / "m"))
    return lambda: saver.restore(session, path)
