"""Input pipelines on queues: what builds the same graph with TensorFlow and with graphcore."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _sparse(tf: Any) -> Any:
    return tf.SparseTensor(tf.constant([[0, 0]], tf.int64), [1.0], [2, 3])


def _switch(tf: Any, *shape: int) -> Any:
    return tf.placeholder(tf.bool, list(shape))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "slices": lambda tf: tf.train.slice_input_producer([[1, 2], ["a", "b"]], shuffle=False),
    "shuffled slices": lambda tf: tf.train.slice_input_producer([[1, 2]], seed=3, num_epochs=2),
    "range": lambda tf: tf.train.range_input_producer(5, num_epochs=1),
    "producer": lambda tf: tf.train.input_producer([[1.0], [2.0]], capacity=7, summary_name="full"),
    "batch": lambda tf: tf.train.batch([tf.zeros([2]), tf.constant("a")], 4, num_threads=2),
    "batch of a dict": lambda tf: tf.train.batch(
        {"x": tf.zeros([2]), "s": _sparse(tf)}, 4, allow_smaller_final_batch=True
    ),
    "padded": lambda tf: tf.train.batch(
        [tf.placeholder(tf.float32, [None, 2])], 4, dynamic_pad=True, name="n"
    ),
    "maybe": lambda tf: tf.train.maybe_batch([tf.zeros([2])], _switch(tf), 4),
    "maybe many": lambda tf: tf.train.maybe_batch([tf.zeros([2, 3])], _switch(tf, 2), 4, enqueue_many=True),
    "maybe sparse": lambda tf: tf.train.maybe_batch([_sparse(tf)], _switch(tf), 4),
    "maybe many sparse": lambda tf: tf.train.maybe_batch([_sparse(tf)], _switch(tf, 2), 4, enqueue_many=True),
    "join": lambda tf: tf.train.batch_join([[tf.zeros([2]), _sparse(tf)], [tf.ones([2]), _sparse(tf)]], 4),
    "maybe join": lambda tf: tf.train.maybe_batch_join([[tf.zeros([2])], [tf.ones([2])]], _switch(tf), 4),
    "shuffled": lambda tf: tf.train.shuffle_batch([tf.zeros([2])], 4, 32, 8, seed=3),
    "maybe shuffled": lambda tf: tf.train.maybe_shuffle_batch([tf.zeros([2])], 4, 32, 8, _switch(tf)),
    "shuffled join": lambda tf: tf.train.shuffle_batch_join(
        [[tf.zeros([3, 2])], [tf.zeros([3, 2])]], 4, 32, 8, enqueue_many=True
    ),
    "epochs": lambda tf: tf.train.limit_epochs(tf.constant(1), 3),
    "files": lambda tf: tf.train.match_filenames_once("/nowhere/*"),
}


def outline(tf: Any, build: Callable[[Any], Any]) -> list[Any]:
    """Nodes, queue runners, local variables and summaries of the graph that a program builds."""
    with tf.Graph().as_default() as graph:
        build(tf)
        found: list[Any] = [
            (node.name, node.op.replace("AddV2", "Add"), list(node.input))
            for node in graph.as_graph_def().node
        ]
        for runner in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS):
            message = runner.to_proto()
            found.append((message.queue_name, list(message.enqueue_op_name), message.cancel_op_name))
        found += [variable.name for variable in tf.local_variables()]
        return found + [summary.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]
