"""Models of the corpus for the tests of rewrites: opened as messages and entries, and run after a rewrite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus_files import description
from corpus_runs import Model as Recorded

from sgtool import graphcore as tf
from sgtool.cli import rewriting
from sgtool.formats import registry, targets
from sgtool.formats.rewrite import Model


def opened(folder: Path) -> Model:
    """The graph and the variables of a model of the corpus."""
    about = description(folder)
    model = rewriting.read(str(folder / about["source"]))
    if not model.variables and about.get("ckpt") is not None and about["kind"] != "sm":
        prefix = f"{folder}/{about['ckpt']}"
        if about["ckpt"] or Path(f"{prefix}.index").exists():
            model = replace(model, variables=registry.open_store(prefix))
    return model


def run(path: Path, feeds: dict[str, Any], fetches: list[str], init: Any = ()) -> list[Any]:
    """What tensors of a model that was written to `path` are: a checkpoint, a SavedModel or a `.pb`.

    What it is fed and does not have (a placeholder that nothing needs any more) is left out.
    """
    graph = tf.Graph()
    with graph.as_default(), tf.Session(graph=graph) as session:
        if path.is_dir():
            tf.saved_model.load(session, ["serve"], path)
        elif path.suffix in (".pb", ".pbtxt"):
            from sgtool.formats import graph_file

            tf.import_graph_def(graph_file.read_graph(path).message, name="")
        else:
            saver = tf.train.import_meta_graph(f"{path}.meta")
            if Path(f"{path}.index").exists() and saver is not None:
                saver.restore(session, str(path))
        session.run([name for name in init if name in graph._operations])
        there = {name: value for name, value in feeds.items() if name.partition(":")[0] in graph._operations}
        values: list[Any] = session.run(fetches, there)
        return values


def disagreements(
    recorded: Recorded, path: Path, change: Any = lambda name: name, fetches: Any = None
) -> list[str]:
    """A line for each recorded fetch that a rewritten model computes otherwise; `change` renames tensors."""
    names = recorded.fetches if fetches is None else fetches
    feeds = {change(name): value for name, value in recorded.feeds.items()}
    init = [change(name) for name in recorded.about.get("initialised_by_assign", [])]
    values = run(path, feeds, [change(name) for name in names], init)
    lines = [recorded.compare(f"fetch/{name}", value) for name, value in zip(names, values)]
    return [line for line in lines if line]


def written(model: Model, path: Path, name: str | None = None) -> Path:
    """`path`, to which the model is written."""
    targets.write(path, model, name)
    return path


def trained(tf: Any, prefix: str, scope: str = "net", resource: bool = False) -> str:
    """A small model after two steps of Adam, saved as `prefix`, with a cond, a loop, batch norm, a summary.

    Its scopes are `net`, and beside it `net2` and `net_z`; a layer is called `adam_layer`. It computes `y:0`
    of `x:0` (and of `training:0`), and its loss of `t:0`; `train` is a step.

    Args:
        tf: TensorFlow 1's API, ours or TensorFlow's own.
        prefix: Where to.
        scope: The first scope.
        resource: Make resource variables.
    """
    import numpy as np

    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        t = tf.placeholder(tf.float32, [None, 2], name="t")
        training = tf.placeholder_with_default(False, [], name="training")

        def variable(name: str, shape: list[int], initializer: Any, **options: Any) -> Any:
            return tf.get_variable(name, shape, initializer=initializer, use_resource=resource, **options)

        def dense(value: Any, size: int) -> Any:
            shape = [value.shape.as_list()[1], size]
            w = variable("w", shape, tf.glorot_uniform_initializer(seed=2))
            return tf.nn.xw_plus_b(value, w, variable("b", [size], tf.zeros_initializer()))

        with tf.variable_scope(scope):
            h = tf.tanh(dense(x, 4), name="h")
            mean = variable("mean", [4], tf.zeros_initializer(), trainable=False)
            batch = tf.reduce_mean(h, 0)
            done = tf.cond(
                training,
                lambda: tf.identity(tf.assign(mean, 0.9 * mean + 0.1 * batch)),
                lambda: tf.zeros([4]),
            )
            with tf.control_dependencies([done]):
                h = tf.identity(h)
            h = h - tf.cond(training, lambda: batch, lambda: tf.identity(mean))
        with tf.variable_scope(f"{scope}2"):
            h = tf.tanh(dense(h, 4))
        with tf.variable_scope(f"{scope}_z"), tf.variable_scope("adam_layer"):
            h = dense(h, 2)
            gain = variable("gain", [], tf.ones_initializer())
            _, h = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.tanh(v) * 0.9), [0, h * gain])
        y = tf.identity(h, name="y")
        loss = tf.reduce_mean(tf.squared_difference(y, t), name="loss")
        tf.summary.scalar("loss_summary", loss)
        tf.add_to_collection("inputs", "x:0")
        step = tf.train.get_or_create_global_step()
        tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step, name="train")
        saver = tf.train.Saver()
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run("train", {x: np.ones((2, 3), np.float32), t: np.zeros((2, 2), np.float32)})
        saver.save(session, prefix)
    return prefix


FEED = [[1.0, -2.0, 0.5], [0.0, 1.0, 2.0]]


def results(tf: Any, prefix: str, change: Any = lambda name: name, steps: int = 0) -> Any:
    """`y:0` of a model that `trained` made, after more steps of training."""
    import numpy as np

    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(f"{prefix}.meta").restore(session, prefix)
        x = np.array(FEED, np.float32)
        for _ in range(steps):
            session.run(change("train"), {change("x:0"): x, change("t:0"): x[:, :2]})
        return session.run(change("y:0"), {change("x:0"): x})
