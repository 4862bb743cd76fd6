"""Ordinary TensorFlow 1 programs, as people wrote them, but for the import line."""

from __future__ import annotations

import operator
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf
from sgtool.formats import files, graph_file


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each program runs in an empty folder, on an empty default graph."""
    monkeypatch.chdir(tmp_path)
    tf.reset_default_graph()
    return tmp_path


def test_two_savers_in_one_session(in_folder: Path) -> None:
    v1 = tf.Variable(tf.constant(1.0, shape=[1]), name="v1")
    v2 = tf.Variable(tf.constant(2.0, shape=[1]), name="v2")
    result = v1 + v2
    init_op = tf.global_variables_initializer()
    all_saver = tf.train.Saver()
    v2_saver = tf.train.Saver({"v2": v2})
    with tf.Session() as sess:
        sess.run(init_op)
        assert sess.run(result) == [3.0]
        all_saver.save(sess, "./data.chkp")
        v2_saver.save(sess, "./data-v2.chkp")
    assert sorted(path.name for path in in_folder.iterdir()) == [
        "checkpoint",
        "data-v2.chkp.data-00000-of-00001",
        "data-v2.chkp.index",
        "data-v2.chkp.meta",
        "data.chkp.data-00000-of-00001",
        "data.chkp.index",
        "data.chkp.meta",
    ]
    with tf.Session() as sess:
        all_saver.restore(sess, "./data.chkp")
        assert sess.run(result) == [3.0]
    with tf.Session() as sess:
        v2_saver.restore(sess, "data-v2.chkp")
        assert sess.run(v2) == [2.0]
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v1"):
            sess.run(v1)


def _train_and_save() -> None:
    """A training program with scopes, a step and hyperparameters, saved every 500 steps."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="input/x")
        y = tf.placeholder(tf.float32, [None, 1], name="input/y")
        with tf.variable_scope("model"):
            w = tf.get_variable("w", [3, 1], initializer=tf.truncated_normal_initializer(stddev=0.1, seed=1))
            b = tf.get_variable("b", [1], initializer=tf.constant_initializer(0.0))
            prediction = tf.add(tf.matmul(x, w), b, name="prediction")
        with tf.name_scope("loss"):
            global_step = tf.Variable(0, name="global_step", trainable=False)
            loss = tf.reduce_mean(tf.square(prediction - y), name="mse")
            train_op = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=global_step, name="train_op")
        assert train_op.name == "loss/train_op"
        tf.add_to_collection("hyperparameters", loss)
        tf.add_to_collection("hyperparameters", prediction)
        saver = tf.train.Saver(max_to_keep=2)
        data = np.random.RandomState(0).randn(64, 3).astype(np.float32)
        target = data @ np.array([[1.0], [-2.0], [3.0]], np.float32) + 0.25
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for step in range(1, 1001):
                sess.run(train_op, {x: data, y: target})
                if step % 250 == 0:
                    saver.save(sess, "results/model.ckpt", global_step=global_step)
        np.savez("data.npz", x=data, y=target)


def test_import_meta_graph_and_go_on(in_folder: Path) -> None:
    _train_and_save()
    assert tf.train.latest_checkpoint("results") == "results/model.ckpt-1000"
    state = tf.train.get_checkpoint_state("results")
    assert list(state.all_model_checkpoint_paths) == ["results/model.ckpt-750", "results/model.ckpt-1000"]
    assert not Path("results/model.ckpt-500.index").exists()

    saver = tf.train.import_meta_graph("results/model.ckpt-1000.meta")
    graph = tf.get_default_graph()
    global_step = graph.get_tensor_by_name("loss/global_step:0")
    train_op = graph.get_operation_by_name("loss/train_op")
    loss, prediction = tf.get_collection("hyperparameters")
    data = dict(np.load("data.npz"))
    feed = {"input/x:0": data["x"], "input/y:0": data["y"]}
    with tf.Session() as sess:
        saver.restore(sess, "results/model.ckpt-1000")
        assert sess.run(global_step) == 1000
        before = sess.run(loss, feed)
        for _ in range(100):
            sess.run(train_op, feed)
        assert sess.run(global_step) == 1100
        assert sess.run(loss, feed) < before
        assert sess.run(prediction, {"input/x:0": np.zeros((2, 3))}).shape == (2, 1)
        saver.save(sess, "results/model.ckpt", global_step=global_step)
    assert tf.train.latest_checkpoint("results") == "results/model.ckpt-1100"


@pytest.mark.parametrize(
    "how",
    [
        "results/model.ckpt-1000-00000-of-00001",
        "results/model.ckpt-1000.index",
        "results/model.ckpt-1000.meta",
        "results/model.ckpt-1000.data-00000-of-00001",
        "results",
        "results/checkpoint",
    ],
)
def test_what_users_pass_to_restore(how: str) -> None:
    _train_and_save()
    saver = tf.train.import_meta_graph("results/model.ckpt-1000.meta")
    with tf.Session() as sess:
        saver.restore(sess, how)
        assert sess.run("loss/global_step:0") == 1000


def test_restore_of_what_is_not_there_says_what_is() -> None:
    _train_and_save()
    saver = tf.train.import_meta_graph("results/model.ckpt-1000.meta")
    with (
        tf.Session() as sess,
        pytest.raises(ValueError, match=r"not a valid checkpoint: results/model\.ckpt") as info,
    ):
        saver.restore(sess, "results/model.ckpt")
    assert "results/model.ckpt.index" in str(info.value)
    assert "'results/model.ckpt-1000'" in str(info.value)


def test_transfer_learning_trains_only_the_new_variables() -> None:
    """A pre-trained graph, an interior tensor, a new head on top."""
    pretrained = tf.Graph()
    with pretrained.as_default():
        image = tf.placeholder(tf.float32, [None, 8, 8, 3], name="image")
        kernel = tf.get_variable(
            "features/kernel", [3, 3, 3, 4], initializer=tf.random_normal_initializer(seed=1)
        )
        features = tf.nn.relu(tf.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME"), name="features/relu")
        tf.reduce_mean(features, name="old_head")
        saver = tf.train.Saver()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            saver.save(sess, "pretrained")
            old_kernel = sess.run(kernel)

    saver = tf.train.import_meta_graph("pretrained.meta")
    old = tf.global_variables()
    image = tf.get_default_graph().get_tensor_by_name("image:0")
    interior = tf.stop_gradient(tf.get_default_graph().get_tensor_by_name("features/relu:0"))
    channels = interior.get_shape().as_list()[-1]
    assert interior.get_shape().as_list() == [None, 8, 8, 4]
    w = tf.get_variable(
        "head/w", [1, 1, channels, 2], initializer=tf.random_normal_initializer(stddev=0.1, seed=2)
    )
    b = tf.get_variable("head/b", [2], initializer=tf.constant_initializer(0.1))
    head = tf.nn.relu(tf.nn.conv2d(interior, w, strides=[1, 1, 1, 1], padding="SAME") + b)
    target = tf.placeholder(tf.float32, [None, 8, 8, 2])
    loss = tf.reduce_mean(tf.square(head - target))
    new = [v for v in tf.global_variables() if v not in old]
    assert [v.op.name for v in new] == ["head/w", "head/b"]
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
    random = np.random.RandomState(0)
    feed = {image: random.randn(4, 8, 8, 3), target: random.rand(4, 8, 8, 2)}
    with tf.Session() as sess:
        sess.run(tf.variables_initializer(new))
        saver.restore(sess, "pretrained")
        first = sess.run(loss, feed)
        for _ in range(50):
            sess.run(train, feed)
        assert sess.run(loss, feed) < 0.9 * first
        np.testing.assert_array_equal(sess.run(old[0]), old_kernel)


class Trainer:
    """A class that keeps its graph, trains and saves."""

    def __init__(self) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(tf.float32, shape=[None, 2], name="x")
            self.y = tf.placeholder(tf.float32, shape=[None], name="y")
            w = tf.Variable(tf.zeros([2, 1]), name="w")
            self.out = tf.squeeze(tf.matmul(self.x, w), axis=1, name="out")
            self.loss = tf.reduce_sum((self.out - self.y) ** 2)
            self.step = tf.train.MomentumOptimizer(0.01, 0.9).minimize(self.loss)
            self.saver = tf.train.Saver()

    def train(self, path: str) -> None:
        with self.graph.as_default(), tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            x = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
            for _ in range(200):
                sess.run([self.step, self.loss], feed_dict={self.x: x, self.y: [2, 3, 5]})
            self.saver.save(sess, path)


class Predictor:
    """Another that imports, restores, fetches and feeds by name."""

    def __init__(self, path: str) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.sess = tf.Session(graph=self.graph)
            tf.train.import_meta_graph(path + ".meta").restore(self.sess, path)

    def predict(self, x: Any) -> Any:
        return self.sess.run("out:0", feed_dict={"x:0": x})


def test_one_class_trains_another_predicts() -> None:
    Trainer().train("./model")
    np.testing.assert_allclose(Predictor("./model").predict([[10, 1]]), [23], rtol=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_gradients_of_compositions_against_a_central_difference(seed: int) -> None:
    random = np.random.RandomState(seed)
    unary = [tf.sin, tf.cos, tf.exp, lambda x: tf.log(x * x + 1.0), lambda x: tf.pow(x * x + 0.5, 1.5)]
    binary = [tf.add, tf.subtract, tf.multiply, lambda a, b: tf.div(a, b * b + 1.0)]
    x, y = (tf.placeholder(tf.float64, [3], name=name) for name in "xy")
    pool = [x, y]
    for _ in range(6):
        a = pool[random.randint(len(pool))]
        b = pool[random.randint(len(pool))]
        pool.append(binary[random.randint(len(binary))](unary[random.randint(len(unary))](a), b))
    result = tf.reduce_sum(tf.sin(pool[-1] + x + y))
    grads = tf.gradients(result, [x, y])
    values = {x: random.uniform(-1, 1, 3), y: random.uniform(-1, 1, 3)}
    with tf.Session() as sess:
        got = sess.run(grads, values)
        for tensor, grad in zip((x, y), got):
            for index in range(3):
                moved = [dict(values), dict(values)]
                for sign, feed in zip((1, -1), moved):
                    feed[tensor] = values[tensor].copy()
                    feed[tensor][index] += sign * 1e-6
                up, down = (sess.run(result, feed) for feed in moved)
                assert grad[index] == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-6)


def test_a_missing_feed_names_every_placeholder() -> None:
    a = tf.placeholder(tf.float32, [None, 3], name="a")
    b = tf.placeholder(tf.int32, [], name="b")
    c = tf.placeholder(tf.float64, [2], name="c")
    tf.placeholder(tf.float32, name="not_needed")
    total = tf.reduce_sum(a) + tf.cast(b, tf.float32) + tf.cast(tf.reduce_sum(c), tf.float32)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as info:
        sess.run(total, {c: [1, 2]})
    text = str(info.value)
    assert "You must feed a value for placeholder tensor 'a' with dtype float and shape [?,3]" in text
    assert "You must feed a value for placeholder tensor 'b' with dtype int32" in text
    assert "'c'" not in text
    assert "not_needed" not in text
    assert info.value.fields["placeholders"] == [
        {"name": "a:0", "dtype": "float32", "shape": [None, 3]},
        {"name": "b:0", "dtype": "int32", "shape": []},
    ]


def test_restore_reports_everything_that_is_wrong() -> None:
    with tf.Graph().as_default():
        tf.get_variable("kept", [2], initializer=tf.zeros_initializer())
        tf.get_variable("reshaped", [2, 3], initializer=tf.zeros_initializer())
        tf.get_variable("retyped", [2], tf.int32, initializer=tf.zeros_initializer())
        tf.get_variable("gone", [7], initializer=tf.zeros_initializer())
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            tf.train.Saver().save(sess, "old")
    kept = tf.get_variable("kept", [2], initializer=tf.ones_initializer())
    tf.get_variable("reshaped", [3, 3], initializer=tf.zeros_initializer())
    tf.get_variable("retyped", [2], initializer=tf.zeros_initializer())
    tf.get_variable("keptt", [2], initializer=tf.zeros_initializer())
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.NotFoundError) as info:
            tf.train.Saver().restore(sess, "old")
        np.testing.assert_array_equal(sess.run(kept), [1, 1])  # a failed restore changes nothing
    text = str(info.value)
    assert "Key keptt not found in checkpoint Did you mean 'kept'?" in text
    assert "1 of 4 variables fit what is in old." in text
    assert "Missing in old (1):\n  keptt float32 [2] Did you mean 'kept'?" in text
    assert (
        "Of another dtype or shape (2):\n  reshaped: the model has float32 [3, 3], the store float32 [2, 3]"
        in text
    )
    assert "  retyped: the model has float32 [2], the store int32 [2]" in text
    assert "Not in the model (1):\n  gone float32 [7]" in text
    assert info.value.fields["missing"] == ["keptt"]
    assert info.value.fields["unused"] == ["gone"]
    assert [row["name"] for row in info.value.fields["mismatched"]] == ["reshaped", "retyped"]
    assert info.value.fields["described"] == {"keptt": "float32 [2]", "gone": "float32 [7]"}


def test_the_first_misfit_is_told_in_the_words_of_tensorflow() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("shape", [2, 3], initializer=tf.zeros_initializer())
        tf.get_variable("dtype", [2], tf.int32, initializer=tf.zeros_initializer())
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, "old")
    shape = tf.get_variable("shape", [3, 3], initializer=tf.zeros_initializer())
    dtype = tf.get_variable("dtype", [2], initializer=tf.zeros_initializer())
    for variable, words in (
        (shape, "Assign requires shapes of both tensors to match. lhs shape= [3,3] rhs shape= [2,3]"),
        (dtype, "expected dtype float32 does not equal original dtype int32"),
    ):
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as info:
            tf.train.Saver([variable]).restore(sess, "old")
        assert f"tensor_name = {variable.op.name}; {words}" in str(info.value)


@pytest.mark.parametrize(
    ("named", "how"),
    [
        ("/home/somebody/run/m", "of the name in run/checkpoint, but beside it"),
        ("gone-7", "the newest complete checkpoint beside run/checkpoint"),
    ],
)
def test_a_checkpoint_that_stands_in_for_another_is_told(named: str, how: str) -> None:
    Path("run").mkdir()
    v = tf.Variable([1.0], name="v")
    with tf.Session() as sess:
        sess.run(v.initializer)
        tf.train.Saver().save(sess, "run/m")
        tf.train.Saver().restore(sess, "run")  # no warning: the state file names it
        Path("run/checkpoint").write_text(f'model_checkpoint_path: "{named}"')
        with pytest.warns(UserWarning, match=f"Using run/m, {how}"):
            tf.train.Saver().restore(sess, "run")
        with pytest.warns(UserWarning, match=f"Using run/m, {how}"):
            tf.train.Saver().restore_report(sess, "run")


def test_what_a_restore_found_can_be_asked_for() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        for name in ("a", "b"):
            tf.get_variable(name, [2], initializer=tf.ones_initializer())
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, "old")
    a = tf.get_variable("a", [2])
    with tf.Session() as sess:
        report = tf.train.Saver([a]).restore_report(sess, "old")
        np.testing.assert_array_equal(sess.run(a), [1, 1])
    assert (report.path, report.restored, report.missing, report.unused) == ("old", ["a"], [], ["b"])


def test_a_failed_save_leaves_the_previous_checkpoint_intact(monkeypatch: pytest.MonkeyPatch) -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(v.initializer)
        saver.save(sess, "model")
        sess.run(tf.assign(v, [7.0, 8.0]))

        def full_disk(step: str, path: str) -> None:
            if step == "write":
                raise OSError(28, "No space left on device", path)

        monkeypatch.setattr(files, "fault_hook", full_disk)
        with pytest.raises(tf.errors.OpError):
            saver.save(sess, "model")
        monkeypatch.setattr(files, "fault_hook", None)
        saver.restore(sess, "model")
        np.testing.assert_array_equal(sess.run(v), [1.0, 2.0])
    assert not [path.name for path in Path().iterdir() if "tmp" in path.name]


def test_the_fiftieth_save_adds_no_node() -> None:
    v = tf.Variable([1.0], name="v")
    saver = tf.train.Saver(max_to_keep=1)
    graph = tf.get_default_graph()
    with tf.Session() as sess:
        sess.run(v.initializer)
        graph.finalize()
        count = len(graph.get_operations())
        for step in range(50):
            saver.save(sess, "m", global_step=step)
        saver.restore(sess, "m-49")
        assert len(graph.get_operations()) == count
    nodes = graph_file.read_graph("m-49.meta").message.graph_def.node
    assert sum(node.op == "SaveV2" for node in nodes) == 1


def test_the_graphs_own_save_and_restore_nodes_run() -> None:
    tf.Variable([1.0, 2.0], name="v", use_resource=True)
    u = tf.Variable([3.0], name="u")
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, "m")
    with tf.Graph().as_default():
        saver = tf.train.import_meta_graph("m.meta")
        count = len(tf.get_default_graph().get_operations())
        definition = saver.saver_def  # an imported sub-graph is reused, not duplicated
        assert len(tf.get_default_graph().get_operations()) == count
        with tf.Session() as sess:
            sess.run(definition.restore_op_name, {definition.filename_tensor_name: "m"})
            np.testing.assert_array_equal(sess.run(tf.global_variables()[0]), [1.0, 2.0])
            sess.run(definition.save_tensor_name, {definition.filename_tensor_name: "again"})
    assert Path("m.index").read_bytes() == Path("again.index").read_bytes()
    data = "data-00000-of-00001"
    assert Path(f"m.{data}").read_bytes() == Path(f"again.{data}").read_bytes()
    assert u.op.name == "u"


def test_a_new_saver_reuses_imported_nodes_or_gets_a_scope_of_its_own() -> None:
    def save_scopes(path: str) -> set[str]:
        nodes = graph_file.read_graph(path).message.graph_def.node
        return {node.name.split("/")[0] for node in nodes if node.name.startswith("save")}

    v = tf.Variable([1.0, 2.0], name="v")
    with tf.Session() as sess:
        sess.run(v.initializer)
        tf.train.Saver().save(sess, "first")
    tf.reset_default_graph()
    tf.train.import_meta_graph("first.meta")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, "same")
        assert save_scopes("same.meta") == {"save"}
        more = tf.Variable(3.0, name="more")
        sess.run(more.initializer)
        saver = tf.train.Saver()
        saver.save(sess, "other")
        assert save_scopes("other.meta") == {"save", "save_1"}
        assert saver.saver_def.restore_op_name == "save_1/restore_all"


def test_restore_of_a_resource_variable_of_another_shape_and_the_nearest_of_its_shape() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("w", [3, 2], use_resource=True, initializer=tf.zeros_initializer())
        tf.get_variable("layer/kernel", [5], initializer=tf.zeros_initializer())
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, "old")
    tf.get_variable("w", [2, 3], use_resource=True, initializer=tf.zeros_initializer())
    tf.get_variable("layr_2/kernel", [5], initializer=tf.zeros_initializer())
    with tf.Session() as sess, pytest.raises(tf.errors.NotFoundError) as info:
        tf.train.Saver().restore(sess, "old")
    text = str(info.value)
    assert "Key layr_2/kernel not found in checkpoint Did you mean 'layer/kernel'?" in text
    assert "  w: the model has float32 [2, 3], the store float32 [3, 2]" in text


SURFACES = [
    name
    for name, module in vars(tf).items()
    if isinstance(module, types.ModuleType) and name in tf.__all__ and name != "ops"  # ours, not TensorFlow's
]


@pytest.mark.parametrize("path", ["nothing", *(f"{name}.nothing" for name in SURFACES)])
def test_a_name_that_nobody_has_is_an_attribute_error(path: str) -> None:
    with pytest.raises(AttributeError, match=r"module 'sgtool\.graphcore.*' has no attribute 'nothing'"):
        operator.attrgetter(path)(tf)


def test_the_surfaces_are_those_that_readers_know() -> None:
    assert {"nn", "train", "saved_model", "sparse", "sets", "strings", "image", "data"} <= set(SURFACES)


@pytest.mark.parametrize("name", SURFACES)
def test_a_surface_gives_nothing_but_its_own_names(name: str) -> None:
    own = {"raw_ops", "GraphKeys", "convert_to_tensor", "name_scope", "nest", "get_default_graph"}
    assert not own & set(getattr(operator.attrgetter(name)(tf), "__all__", ()))
