"""Queue runners and coordinators, and whole input pipelines that TensorFlow wrote."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_files import model_folders

from sgtool import graphcore as tf
from sgtool.formats import graph_file, protos
from sgtool.graphcore import registry

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
PIPELINES = ("mtcnn_pnet", "mtcnn_rnet")


@pytest.fixture(autouse=True)
def _new_graph():
    with tf.Graph().as_default():
        yield


def counting_queue(limit, capacity=5, threads=1):
    """A queue that a runner fills with 1, 2, ... up to `limit`, and its runner."""
    queue = tf.FIFOQueue(capacity, tf.int32, shapes=[[]], name="numbers")
    with tf.variable_scope("counter", use_resource=False):
        counter = tf.get_variable("n", [], tf.int32, tf.zeros_initializer(), trainable=False)
    number = tf.raw_ops.CountUpTo(counter, limit=limit)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(number + 1)] * threads)
    tf.train.add_queue_runner(runner)
    return queue, runner


def test_a_program_with_a_queue_runs_to_its_end():
    queue, _ = counting_queue(10)
    batch = queue.dequeue_up_to(4)
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        try:
            while not coord.should_stop():
                found.append(session.run(batch).tolist())
        except tf.errors.OutOfRangeError as error:
            coord.request_stop(error)
        coord.join(threads, stop_grace_period_secs=5)
    assert found == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert not any(thread.is_alive() for thread in threads)


def test_several_threads_of_one_runner_close_once():
    queue, runner = counting_queue(60, capacity=3, threads=3)
    take = queue.dequeue()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = runner.create_threads(session, start=True, daemon=True)
        assert len(threads) == 3
        assert runner.create_threads(session) == []
        found = [session.run(take) for _ in range(60)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(take)
        for thread in threads:
            thread.join(5)
    assert runner.exceptions_raised == []
    assert sorted(found) == list(range(1, 61))


def test_stopping_releases_threads_that_wait_for_room():
    _, runner = counting_queue(1000, capacity=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = runner.create_threads(session, coord, start=True)
        time.sleep(0.05)
        assert all(thread.is_alive() for thread in threads)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=5)
        assert coord.joined


def test_closing_the_session_ends_the_threads_quietly():
    _, runner = counting_queue(1000, capacity=2)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    threads = runner.create_threads(session, start=True)
    time.sleep(0.05)
    session.close()
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def test_an_error_in_a_runner_reaches_the_main_thread():
    queue = tf.FIFOQueue(2, tf.float32, name="q")
    bad = tf.check_numerics(tf.constant(np.inf), "here")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(bad)]))
    with tf.Session() as session:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord)
        assert coord.wait_for_stop(5)
        with pytest.raises(tf.errors.OutOfRangeError):  # the stop closed the queue, so that nobody waits
            session.run(queue.dequeue())
        with pytest.raises(tf.errors.InvalidArgumentError, match="here : Tensor had Inf"):
            coord.join(threads, stop_grace_period_secs=5)


def fail(error: Exception) -> None:
    raise error


def test_the_coordinator_keeps_the_first_error():
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        fail(KeyError("first"))
    coord.request_stop(ValueError("second"))
    assert coord.should_stop()
    with pytest.raises(KeyError, match="first"):
        coord.join([])
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))
    coord.clear_stop()
    assert not coord.should_stop()
    with coord.stop_on_exception():
        fail(tf.errors.OutOfRangeError("the end"))
    coord.join([])  # the normal end is no error


def test_threads_that_do_not_stop_are_named():
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="stubborn", daemon=True)
    thread.start()
    coord = tf.train.Coordinator()
    coord.request_stop()
    try:
        with pytest.raises(RuntimeError, match="threads still running: stubborn"):
            coord.join([thread], stop_grace_period_secs=0.05)
    finally:
        release.set()
        thread.join()


def test_a_looper_calls_until_the_stop():
    coord, calls = tf.train.Coordinator(), []

    def call(value):
        calls.append(value)
        if len(calls) == 3:
            coord.request_stop()

    tf.train.LooperThread.loop(coord, 0.01, call, ("x",))
    coord.join(stop_grace_period_secs=5)
    assert calls == ["x"] * 3


def test_wrong_runners_are_refused():
    queue = tf.FIFOQueue(2, tf.float32)
    with pytest.raises(ValueError, match="Must provide queue and enqueue_ops"):
        tf.train.QueueRunner(queue, [])
    wrong: list[Any] = [ValueError]
    with pytest.raises(TypeError, match=r"must be a tuple of tf\.error types"):
        tf.train.QueueRunner(queue, [queue.close()], queue_closed_exception_types=wrong)
    with pytest.raises(ValueError, match="No default session"):
        tf.train.start_queue_runners()


@pytest.mark.parametrize("scope", ["", "inner"])
def test_runners_survive_a_meta_graph(scope):
    queue, runner = counting_queue(3)
    queue.dequeue(name="out")
    meta = tf.train.export_meta_graph()
    message = protos.QueueRunnerDef.FromString(meta.collection_def["queue_runners"].bytes_list.value[0])
    assert message.queue_name == "numbers"
    assert list(message.queue_closed_exception_types) == [11]
    assert tf.train.QueueRunner.from_proto(message).to_proto() == message == runner.to_proto()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(meta, import_scope=scope or None)
        (copy,) = tf.get_collection("queue_runners")
        assert copy.name == "/".join(filter(None, [scope, "numbers"]))
        session.run(tf.global_variables_initializer())
        threads = tf.train.start_queue_runners()
        take = graph.get_tensor_by_name(f"{scope}/out:0" if scope else "out:0")
        assert [session.run(take) for _ in range(3)] == [1, 2, 3]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(take)
        for thread in threads:
            thread.join(5)


def run_pipeline(module, fetches, most=1000):
    """All values that an imported pipeline gives, up to a number of runs, under a coordinator."""
    found: list[Any] = []
    with module.Session() as session:
        session.run(module.local_variables_initializer())
        coord = module.train.Coordinator()
        threads = module.train.start_queue_runners(session, coord)
        try:
            while len(found) < most:
                found.append(session.run(fetches))
        except module.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    return found


LINES = "number,text\n1.5,a\n,b\n3,c\n"


def test_a_pipeline_that_tensorflow_wrote(tmp_path, monkeypatch):
    """Two epochs of a file of lines, in batches of two, as TensorFlow's own helpers built it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.csv").write_text(LINES)
    tf.train.import_meta_graph(str(GOLDEN / "pipeline.meta"))
    batches = run_pipeline(tf, ["keys:0", "numbers:0", "texts:0"])
    assert [keys.tolist() for keys, _, _ in batches] == [
        [b"lines.csv:2", b"lines.csv:3"],
        [b"lines.csv:4", b"lines.csv:2"],
        [b"lines.csv:3", b"lines.csv:4"],
    ]
    assert [numbers.tolist() for _, numbers, _ in batches] == [[1.5, 0], [3, 1.5], [0, 3]]
    assert [texts.tolist() for _, _, texts in batches] == [[b"a", b"b"], [b"c", b"a"], [b"b", b"c"]]


@pytest.mark.oracle
def test_tensorflow_runs_the_same_pipelines(tmp_path, monkeypatch):
    """The golden pipeline, and one of ours, give TensorFlow the values that they give us."""
    import tensorflow.compat.v1 as theirs

    monkeypatch.chdir(tmp_path)
    (tmp_path / "lines.csv").write_text(LINES)
    queue = tf.FIFOQueue(4, tf.string, shapes=[[]], name="names")
    runner = tf.train.QueueRunner(
        queue, [queue.enqueue("lines.csv")], queue_closed_exception_types=[tf.errors.OutOfRangeError]
    )
    tf.train.add_queue_runner(runner)
    key, value = tf.TextLineReader().read(queue)
    tf.identity(key, "key")
    tf.identity(tf.string_join([value, value], "|"), "value")
    tf.train.export_meta_graph(str(tmp_path / "ours.meta"))
    for path, fetches in (
        (GOLDEN / "pipeline.meta", ["keys:0", "numbers:0", "texts:0"]),
        (tmp_path / "ours.meta", ["key:0", "value:0"]),
    ):
        results = []
        for module in (tf, theirs):
            with module.Graph().as_default():
                module.train.import_meta_graph(str(path))
                results.append(run_pipeline(module, fetches, most=5))
        mine, others = results
        assert len(mine) == len(others)
        for a, b in zip(mine, others, strict=True):
            for x, y in zip(a, b, strict=True):
                np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("folder", model_folders(*PIPELINES))
def test_every_op_of_the_published_pipelines_is_implemented(folder):
    (path,) = folder.glob("*.meta")
    types = {node.op for node in graph_file.read_graph(path).message.graph_def.node}
    assert {
        "TFRecordReaderV2",
        "ReaderReadV2",
        "ParseSingleExample",
        "DecodeRaw",
        "QueueDequeueManyV2",
    } <= types
    assert [name for name in sorted(types) if registry.find(name) is None] == []


@pytest.mark.parametrize("folder", model_folders("mtcnn_pnet"))
def test_a_published_model_reads_its_training_data(folder, tmp_path, monkeypatch):
    """The model's own reader, parser and two queues, on a record file of the form that it was trained on."""
    (path,) = folder.glob("*.meta")
    nodes = {node.name: node for node in graph_file.read_graph(path).message.graph_def.node}
    (name,) = nodes["input_producer/Const"].attr["value"].tensor.string_val
    shapes = [[d.size for d in shape.dim] for shape in nodes["batch/fifo_queue"].attr["shapes"].list.shape]
    here = tmp_path / "a" / "b"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    file = Path(name.decode())
    file.parent.mkdir(parents=True)
    rng = np.random.default_rng(0)
    count = 450
    pixels = rng.integers(0, 256, (count, *shapes[0]), np.uint8)
    rois = rng.random((count, 4), np.float32)
    with tf.python_io.TFRecordWriter(file) as writer:
        for index in range(count):
            example = tf.train.Example()
            feature = example.features.feature
            feature["image/encoded"].bytes_list.value.append(pixels[index].tobytes())
            feature["image/label"].int64_list.value.append(index)
            feature["image/roi"].float_list.value.extend(rois[index])
            feature["image/landmark"].float_list.value.extend([index / 10] * 10)
            writer.write(example.SerializeToString())
    tf.train.import_meta_graph(str(path))
    graph = tf.get_default_graph()
    outputs = graph.get_operation_by_name("batch").outputs
    (images, labels, boxes, landmarks), *_ = run_pipeline(tf, outputs, most=1)
    assert images.shape == (len(labels), *shapes[0])
    seen = labels.astype(int)
    assert (
        len(set(seen)) == len(seen) <= count
    )  # several threads fill the queue: each element once, in any order
    np.testing.assert_allclose(images, (pixels[seen].astype(np.float32) - 127.5) / 128, rtol=1e-6)
    np.testing.assert_array_equal(boxes, rois[seen])
    np.testing.assert_allclose(landmarks[:, 0], seen / 10, rtol=1e-6)
