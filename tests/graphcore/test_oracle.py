"""A training run goes from one system to the other and back: TensorFlow is asked, in the same process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours

pytestmark = pytest.mark.oracle

OPTIMIZERS = {
    "sgd": lambda tf: tf.train.GradientDescentOptimizer(0.05),
    "momentum": lambda tf: tf.train.MomentumOptimizer(0.01, 0.9),
    "nesterov": lambda tf: tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True),
    # A small rate: Adam divides by the root of tiny squares, which magnifies differences of rounding.
    "adam": lambda tf: tf.train.AdamOptimizer(0.001),
    "rms_prop": lambda tf: tf.train.RMSPropOptimizer(0.001, momentum=0.5),
    "rms_prop_centered": lambda tf: tf.train.RMSPropOptimizer(0.001, 0.8, centered=True),
    "adagrad": lambda tf: tf.train.AdagradOptimizer(0.05),
    "adagrad_da": lambda tf: tf.train.AdagradDAOptimizer(
        0.05, tf.train.get_or_create_global_step(), l1_regularization_strength=0.001
    ),
    "adadelta": lambda tf: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-4),
    "ftrl": lambda tf: tf.train.FtrlOptimizer(0.05, l1_regularization_strength=0.001),
    "ftrl_shrinkage": lambda tf: tf.train.FtrlOptimizer(0.05, l2_shrinkage_regularization_strength=0.01),
    "proximal_descent": lambda tf: tf.train.ProximalGradientDescentOptimizer(0.05, 0.001, 0.001),
    "proximal_adagrad": lambda tf: tf.train.ProximalAdagradOptimizer(0.05, 0.1, 0.001, 0.001),
}
KINDS = [pytest.param(False, id="ref"), pytest.param(True, id="resource")]
BATCH, STEPS = 8, 20


@pytest.fixture(scope="module")
def theirs() -> Any:
    tensorflow = pytest.importorskip("tensorflow.compat.v1")
    tensorflow.disable_eager_execution()
    tensorflow.disable_resource_variables()  # as TensorFlow 1 has it
    tensorflow.logging.set_verbosity("ERROR")
    return tensorflow


def data() -> dict[str, Any]:
    random = np.random.RandomState(0)
    return {
        "image:0": random.randn(BATCH, 8, 8, 2).astype(np.float32),
        "label:0": random.randint(0, 3, BATCH).astype(np.int64),
    }


def build(tf: Any, optimizer: str, use_resource: bool) -> Any:
    """A small convolutional classifier; the same source text for both systems. Gives the saver."""
    image = tf.placeholder(tf.float32, [None, 8, 8, 2], name="image")
    label = tf.placeholder(tf.int64, [None], name="label")
    random = np.random.RandomState(1)

    def variable(name: str, *shape: int) -> Any:
        value = random.randn(*shape).astype(np.float32) * 0.3
        return tf.get_variable(name, initializer=value, use_resource=use_resource)

    with tf.variable_scope("net"):
        hidden = tf.nn.conv2d(image, variable("kernel", 3, 3, 2, 4), [1, 1, 1, 1], "SAME")
        hidden = tf.nn.relu(tf.nn.bias_add(hidden, variable("bias", 4)))
        hidden = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        hidden = tf.reshape(hidden, [-1, 4 * 4 * 4])
        hidden = tf.tanh(tf.matmul(hidden, variable("w1", 64, 16)) + variable("b1", 16))
        logits = tf.add(tf.matmul(hidden, variable("w2", 16, 3)), variable("b2", 3), name="logits")
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits), name="loss"
    )
    step = tf.train.get_or_create_global_step()
    OPTIMIZERS[optimizer](tf).minimize(loss, global_step=step, name="train")
    return tf.train.Saver()


def start(tf: Any, optimizer: str, use_resource: bool, path: Path, steps: int) -> list[float]:
    """Trains from the beginning, saves; gives the losses."""
    with tf.Graph().as_default():
        saver = build(tf, optimizer, use_resource)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            losses = train(session, steps)
            saver.save(session, str(path))
    return losses


def train(session: Any, steps: int) -> list[float]:
    return [float(session.run(["loss:0", "train"], data())[0]) for _ in range(steps)]


def go_on(tf: Any, path: Path, steps: int, save_to: Path | None = None) -> tuple[Any, list[float]]:
    """Imports the graph, restores, trains; gives the logits before and the losses."""
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph(str(path) + ".meta")
        with tf.Session() as session:
            saver.restore(session, str(path))
            logits = session.run("net/logits:0", data())
            losses = train(session, steps)
            if save_to is not None:
                saver.save(session, str(save_to))
    return logits, losses


@pytest.mark.parametrize("use_resource", KINDS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_run_goes_on_in_the_other_system(
    theirs: Any, tmp_path: Path, optimizer: str, use_resource: bool
) -> None:
    for writer, reader in ((ours, theirs), (theirs, ours)):
        path = tmp_path / f"from_{'ours' if writer is ours else 'theirs'}"
        start(writer, optimizer, use_resource, path, 10)
        logits, losses = go_on(writer, path, STEPS)
        other_logits, other_losses = go_on(reader, path, STEPS, tmp_path / "further")
        np.testing.assert_allclose(other_logits, logits, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(other_losses, losses, rtol=1e-5)
        # And back again
        _, further = go_on(writer, tmp_path / "further", 3)
        assert further[0] < losses[0]


@pytest.mark.parametrize("use_resource", KINDS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_both_systems_train_alike_from_the_same_program(
    theirs: Any, tmp_path: Path, optimizer: str, use_resource: bool
) -> None:
    wanted = start(theirs, optimizer, use_resource, tmp_path / "theirs", STEPS)
    got = start(ours, optimizer, use_resource, tmp_path / "ours", STEPS)
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("use_resource", KINDS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_both_systems_make_the_same_names(theirs: Any, optimizer: str, use_resource: bool) -> None:
    """What TensorFlow's loss, training step and initializers run has the same names here, gradients aside."""
    names, variables = [], []
    for tf in (ours, theirs):
        with tf.Graph().as_default() as graph:
            build(tf, optimizer, use_resource)
            wanted = [graph.get_operation_by_name(name) for name in ("loss", "train")]
            wanted += [variable.initializer for variable in tf.global_variables()]
            names.append({op.name: op.type for op in needed(wanted) if "gradients/" not in op.name})
            variables.append([(variable.op.name, variable.op.type) for variable in tf.global_variables()])
    assert variables[0] == variables[1]
    if optimizer.startswith("ftrl"):
        return  # later versions start the slots otherwise than TensorFlow 1.15, and scale l2
    # tf.add makes an Add in TensorFlow 1.15, an AddV2 later.
    assert names[0] == names[1] | ({"net/logits": "Add"} if names[1]["net/logits"] == "AddV2" else {})


def needed(operations: list[Any]) -> set[Any]:
    found: set[Any] = set()
    stack = list(operations)
    while stack:
        operation = stack.pop()
        if operation not in found:
            found.add(operation)
            stack += [tensor.op for tensor in operation.inputs] + list(operation.control_inputs)
    return found


@pytest.mark.parametrize("use_resource", KINDS)
def test_bundles_are_the_same_bytes(theirs: Any, tmp_path: Path, use_resource: bool) -> None:
    path = tmp_path / "theirs"
    start(theirs, "adam", use_resource, path, 3)
    with ours.Graph().as_default():
        saver = ours.train.import_meta_graph(f"{path}.meta")
        with ours.Session() as session:
            saver.restore(session, str(path))
            saver.save(session, str(tmp_path / "ours"))
    for suffix in (".index", ".data-00000-of-00001"):
        assert Path(f"{path}{suffix}").read_bytes() == Path(f"{tmp_path / 'ours'}{suffix}").read_bytes()


def test_our_save_and_restore_nodes_run_in_tensorflow(theirs: Any, tmp_path: Path) -> None:
    path = tmp_path / "model"
    start(ours, "adam", True, path, 3)
    with theirs.Graph().as_default():
        saver = theirs.train.import_meta_graph(f"{path}.meta")
        definition = saver.as_saver_def()
        with theirs.Session() as session:
            session.run(definition.restore_op_name, {definition.filename_tensor_name: str(path)})
            saved = session.run(
                definition.save_tensor_name, {definition.filename_tensor_name: str(tmp_path / "b")}
            )
            assert saved == str(tmp_path / "b").encode()
    assert Path(f"{path}.index").read_bytes() == (tmp_path / "b.index").read_bytes()


def test_a_graph_goes_over_whole(theirs: Any, tmp_path: Path) -> None:
    """Every node and attribute that TensorFlow wrote is in what we write again, and TensorFlow takes it."""
    path = tmp_path / "theirs"
    start(theirs, "momentum", False, path, 1)
    with ours.Graph().as_default() as graph:
        ours.train.import_meta_graph(f"{path}.meta")
        again = graph.as_graph_def()
    with theirs.Graph().as_default() as graph:
        original = theirs.train.import_meta_graph(f"{path}.meta")
        assert original is not None
        wanted = {node.name: node for node in graph.as_graph_def(add_shapes=True).node}
    definition = theirs.GraphDef.FromString(again.SerializeToString())
    assert [node.name for node in definition.node] == list(wanted)
    for node in definition.node:
        assert node.op == wanted[node.name].op
        assert list(node.input) == list(wanted[node.name].input)
        assert dict(node.attr) == dict(wanted[node.name].attr), node.name
