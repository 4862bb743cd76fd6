"""`tf.train`: input pipelines on queues, clusters, `checkpoints_iterator`, `write_graph`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from input_programs import PROGRAMS, outline
from side_by_side import tensorflow

from sgtool import graphcore as tf
from sgtool.formats.graph_file import read_graph


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made


def run(fetches: Any, limit: int = 100) -> list[Any]:
    """What some fetches give until the input ends."""
    found: list[Any] = []
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(coord=coord)
        try:
            while len(found) < limit:
                found.append(session.run(fetches))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        session.run([runner.cancel_op for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)])
        coord.join(threads)
    return found


class TestProducers:
    def test_strings(self) -> None:
        queue = tf.train.string_input_producer(["a", "b"], num_epochs=2, shuffle=False)
        assert run(queue.dequeue()) == [b"a", b"b", b"a", b"b"]

    def test_shuffled_by_epochs(self) -> None:
        queue = tf.train.range_input_producer(4, num_epochs=3, seed=5)
        found = np.reshape(run(queue.dequeue()), [3, 4])
        assert [sorted(row) for row in found.tolist()] == [[0, 1, 2, 3]] * 3

    def test_slices_belong_together(self) -> None:
        first, second = tf.train.slice_input_producer([[1, 2, 3], ["1", "2", "3"]], num_epochs=1)
        assert sorted((int(a), b) for a, b in run([first, second])) == [(1, b"1"), (2, b"2"), (3, b"3")]

    def test_refusals(self) -> None:
        with pytest.raises(ValueError, match="string_input_producer requires a non-null input tensor"):
            tf.train.string_input_producer([])
        with pytest.raises(ValueError, match="Expected at least one tensor in slice_input_producer"):
            tf.train.slice_input_producer([])
        with pytest.raises(ValueError, match="Either `input_tensor` must have a fully defined shape"):
            tf.train.input_producer(tf.placeholder(tf.float32, [None, None]))
        with pytest.raises(ValueError, match="num_epochs must be > 0 not 0"):
            tf.train.limit_epochs([1], 0)

    def test_an_empty_tensor_is_told_in_the_run(self) -> None:
        queue = tf.train.string_input_producer(tf.constant([], tf.string))
        coord = tf.train.Coordinator()
        with tf.Session() as session:
            threads = tf.train.start_queue_runners(coord=coord)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(queue.dequeue())
            with pytest.raises(tf.errors.InvalidArgumentError, match="requires a non-null input tensor"):
                coord.join(threads)

    def test_files_are_looked_for_once(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name).write_text("")
        files = tf.io.match_filenames_once(str(tmp_path / "*"))
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            (tmp_path / "c").write_text("")
            assert session.run(files).tolist() == [str(tmp_path / "a").encode(), str(tmp_path / "b").encode()]


class TestBatches:
    def numbers(self, count: int = 5) -> Any:
        return tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()

    def test_whole_ones_only(self) -> None:
        assert [value.tolist() for value in run(tf.train.batch([self.numbers()], 2))] == [[0, 1], [2, 3]]

    def test_a_smaller_last_one(self) -> None:
        batch = tf.train.batch([self.numbers()], 2, allow_smaller_final_batch=True)
        assert [value.tolist() for value in run(batch)] == [[0, 1], [2, 3], [4]]

    def test_many_and_threads(self) -> None:
        n = self.numbers(6)
        (batch,) = [tf.train.batch([[n, n + 100]], 3, num_threads=3, enqueue_many=True)]
        assert sorted(np.concatenate(run(batch)).tolist()) == [0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105]

    def test_padded(self) -> None:
        batch = tf.train.batch([tf.range(1, self.numbers(4) + 1)], 2, dynamic_pad=True)
        assert [value.tolist() for value in run(batch)] == [[[0], [1]], [[1, 2, 0], [1, 2, 3]]]

    def test_dicts_with_sparse_tensors(self) -> None:
        n = tf.cast(self.numbers(4), tf.int64)
        sparse = tf.SparseTensor(tf.reshape(n, [1, 1]), [n * 10], [5])
        found = run(tf.train.batch({"n": n, "s": sparse}, 2))
        assert [value["n"].tolist() for value in found] == [[0, 1], [2, 3]]
        assert found[1]["s"].indices.tolist() == [[0, 2], [1, 3]]
        assert found[1]["s"].values.tolist() == [20, 30]
        assert found[1]["s"].dense_shape.tolist() == [2, 5]

    def test_only_some(self) -> None:
        n = self.numbers(6)
        batch = tf.train.maybe_batch([n], tf.equal(n % 2, 0), 3)
        assert [value.tolist() for value in run(batch)] == [[0, 2, 4]]

    def test_only_some_of_many_sparse(self) -> None:
        sparse = tf.SparseTensor([[0, 0], [1, 1], [2, 2]], [1, 2, 3], [3, 4])
        number = self.numbers(1)
        with tf.control_dependencies([number]):
            keep = tf.constant([True, False, True]) & True
        batch = tf.train.maybe_batch([sparse, [7, 8, 9]], keep, 2, enqueue_many=True)
        (found,) = run(batch, limit=1)
        assert found[0].values.tolist() == [1, 3]
        assert found[1].tolist() == [7, 9]

    def test_joined(self) -> None:
        sources = [[self.numbers(3), "a"], [self.numbers(3), "b"]]
        found = run(tf.train.batch_join(sources, 6))
        assert sorted(zip(found[0][0].tolist(), found[0][1].tolist())) == [
            (n, name) for n in range(3) for name in (b"a", b"b")
        ]

    def test_shuffled(self) -> None:
        batch = tf.train.shuffle_batch([self.numbers(20)], 10, 32, 10, seed=1)
        found = np.concatenate(run(batch))
        assert sorted(found.tolist()) == list(range(20))
        assert found.tolist() != list(range(20))
        (batch,) = [tf.train.shuffle_batch_join([[self.numbers(4)], [self.numbers(4)]], 8, 32, 4)]
        assert sorted(run(batch)[0].tolist()) == [0, 0, 1, 1, 2, 2, 3, 3]

    def test_refusals(self) -> None:
        zeros, unknown = tf.zeros([2]), tf.placeholder(tf.float32)
        cases: list[tuple[type[Exception], str, Any]] = [
            (ValueError, r"Expected at least one tensor in batch\(\)", lambda: tf.train.batch([], 2)),
            (ValueError, "Expected at least one set of tensors", lambda: tf.train.batch_join([], 2)),
            (ValueError, "Cannot infer Tensor's rank", lambda: tf.train.batch([unknown], 2)),
            (
                ValueError,
                "capacity 4 must be bigger than min_after_dequeue 4",
                lambda: tf.train.shuffle_batch([zeros], 2, 4, 4),
            ),
            (
                ValueError,
                "`keep_input` cannot be a vector when `enqueue_many=False`",
                lambda: tf.train.maybe_batch([zeros], [True], 2),
            ),
            (
                ValueError,
                "`keep_input` must be 0 or 1 dimensions",
                lambda: tf.train.maybe_batch([zeros], [[True]], 2, enqueue_many=True),
            ),
            (
                ValueError,
                "`keep_input` dimensions must be known",
                lambda: tf.train.maybe_batch([zeros], tf.placeholder(tf.bool), 2),
            ),
            (
                TypeError,
                "Expected types to be consistent: float32 vs. int32",
                lambda: tf.train.batch_join([[zeros], [1]], 2),
            ),
            (
                ValueError,
                "All dictionaries in tensors_list must have the same keys",
                lambda: tf.train.batch_join([{"a": zeros}, {"b": zeros}], 2),
            ),
            (
                ValueError,
                "Inconsistent SparseTensors list",
                lambda: tf.train.batch_join([[tf.SparseTensor([[0]], [1.0], [2])], [zeros]], 2),
            ),
        ]
        for kind, text, make in cases:
            with pytest.raises(kind, match=text):
                make()


@pytest.mark.oracle
@pytest.mark.parametrize("name", PROGRAMS)
def test_graphs_are_tensorflows(name: str) -> None:
    assert outline(tf, PROGRAMS[name]) == outline(tensorflow(), PROGRAMS[name])


class TestClusterSpec:
    def test_forms(self) -> None:
        spec = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": {1: "c:1", 3: "d:1"}})
        assert spec.as_dict() == {"ps": ["a:1", "b:1"], "worker": {1: "c:1", 3: "d:1"}}
        assert tf.train.ClusterSpec(spec.as_cluster_def()) == spec == tf.train.ClusterSpec(spec)
        assert str(spec) == "ClusterSpec({'ps': ['a:1', 'b:1'], 'worker': {1: 'c:1', 3: 'd:1'}})"
        assert sorted(spec.jobs) == ["ps", "worker"]
        assert spec.num_tasks("ps") == 2
        assert spec.task_indices("worker") == [1, 3]
        assert spec.job_tasks("worker") == [None, "c:1", None, "d:1"]
        assert spec.task_address("worker", 3) == "d:1"
        assert not tf.train.ClusterSpec({})
        assert tf.train.ServerDef(cluster=spec.as_cluster_def(), job_name="ps").cluster.job[0].name == "ps"

    def test_refusals(self) -> None:
        spec = tf.train.ClusterSpec({"ps": ["a:1"]})
        with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
            spec.num_tasks("x")
        with pytest.raises(ValueError, match="No task with index 4 in job 'ps'"):
            spec.task_address("ps", 4)
        with pytest.raises(TypeError, match="The tasks for job 'ps' must be a list or a dictionary"):
            tf.train.ClusterSpec({"ps": "a:1"})
        with pytest.raises(TypeError, match="Task address 1 must be bytes or unicode"):
            tf.train.ClusterSpec({"ps": [1]})
        with pytest.raises(TypeError, match="`cluster` must be a dictionary mapping one or more job names"):
            tf.train.ClusterSpec(["a"])

    def test_device_functions(self) -> None:
        with tf.device(tf.train.replica_device_setter(cluster={"ps": ["a:1", "b:1"], "worker": ["c:1"]})):
            variables = [tf.Variable(1.0) for _ in range(3)]
            total = tf.add_n(variables)
            with tf.device("/cpu:0"):
                own = tf.Variable(1.0)
        assert [v.device for v in variables] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
        assert total.device == "/job:worker"
        assert own.device == "/job:ps/task:1/device:CPU:0"
        assert tf.train.replica_device_setter() is None
        assert tf.train.replica_device_setter(cluster={"worker": ["c:1"]}) is None
        with pytest.raises(TypeError, match="ps_strategy must be callable"):
            tf.train.replica_device_setter(1, ps_strategy=1)


class TestCheckpointsIterator:
    def save(self, folder: Path, step: int) -> str:
        with tf.Graph().as_default(), tf.Session() as session:
            v = tf.Variable(1.0)
            session.run(v.initializer)
            return tf.train.Saver().save(session, str(folder / "m"), global_step=step)

    def test_each_once_until_the_timeout(self, tmp_path: Path) -> None:
        first = self.save(tmp_path, 1)
        found = []
        for path in tf.train.checkpoints_iterator(str(tmp_path), timeout=0):
            found.append(path)
            if path == first:
                second = self.save(tmp_path, 2)
        assert found == [first, second]

    def test_a_function_says_whether_to_end(self, tmp_path: Path) -> None:
        answers = [False, True]
        calls = tf.train.checkpoints_iterator(str(tmp_path), timeout=0, timeout_fn=lambda: answers.pop(0))
        assert list(calls) == []
        assert not answers


def test_write_graph(tmp_path: Path, graph: Any) -> None:
    tf.constant(1, name="c")
    text = tf.train.write_graph(graph, str(tmp_path / "new"), "g.pbtxt")
    binary = tf.io.write_graph(graph.as_graph_def(), str(tmp_path), "g.pb", as_text=False)
    assert Path(text).read_text().startswith("node {")
    for path in (text, binary):
        assert [node.name for node in read_graph(path).message.node] == ["c"]
