"""`sgtool run` of what comes out of queues: runners fill them, or the user is told what to feed."""

from __future__ import annotations

from typing import Any

import pytest

from sgtool import graphcore as tf


@pytest.fixture
def graphs(sgtool: Any) -> None:
    """starved.meta: nobody fills the queue; filled.meta: a runner does; file.meta: one that reads a file."""
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(10, [tf.float32], shapes=[[]], name="q")
        enqueue = queue.enqueue_many([[1.0, 2.0, 3.0]])
        tf.multiply(queue.dequeue(name="x"), 2.0, name="y")
        tf.train.export_meta_graph("starved.meta")
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue]))
        tf.train.export_meta_graph("filled.meta")
        names = tf.FIFOQueue(10, [tf.string], shapes=[[]], name="files")
        tf.train.add_queue_runner(
            tf.train.QueueRunner(names, [names.enqueue([tf.raw_ops.ReadFile("starved.meta")])])
        )
        tf.identity(names.dequeue(), name="z")
        tf.train.export_meta_graph("file.meta")


@pytest.mark.usefixtures("graphs")
def test_a_queue_that_nobody_fills_does_not_hang(sgtool: Any) -> None:
    result = sgtool("run", "starved.meta", "--fetch", "y:0", "--json")
    assert result.code == 5
    assert "waits for queues that nothing in the graph fills" in result.err
    assert result.error["feeds"] == ["x:0"]
    assert (
        sgtool("run", "starved.meta", "--fetch", "y:0", "--feed", "x:0=4", "--json").json["outputs"]["y:0"][
            "value"
        ]
        == 8.0
    )


@pytest.mark.usefixtures("graphs")
def test_the_graphs_runners_fill_its_queues(sgtool: Any) -> None:
    result = sgtool("run", "filled.meta", "--fetch", "y:0", "--repeat", "3", "--json")
    assert result.code == 0, result.err
    assert result.json["outputs"]["y:0"]["value"] == 6.0


@pytest.mark.usefixtures("graphs")
def test_what_a_runner_failed_with_is_told(sgtool: Any) -> None:
    result = sgtool("run", "file.meta", "--fetch", "z:0")
    assert result.code == 7
    assert "node 'ReadFile' (op ReadFile) wants to read starved.meta" in result.err
    assert "--allow-files" in result.err
    assert sgtool("run", "file.meta", "--fetch", "z:0", "--allow-files", ".").code == 0
