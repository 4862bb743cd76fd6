"""Writes the golden files with a real TensorFlow; run it in an environment that has both it and sgtool.

The values come from `tests/support/golden_values.py`. The files are committed; they change only when
this script does, or when TensorFlow writes something differently, which is worth knowing.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from golden_values import named_values  # noqa: E402

tf.disable_eager_execution()


def tensor(info, array):
    """A constant of the dtype; NumPy has no quantized types, so these are bit casts."""
    if info.kind != "quantized":
        return tf.constant(array)
    return tf.bitcast(tf.constant(array), tf.as_dtype(info.number))


def save_all_dtypes() -> None:
    """dtypes.*: every dtype in every shape, in the order that a Saver would use."""
    named = sorted(named_values().items())
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [tensor(info, array) for _, (info, array) in named]
        names = [name for name, _ in named]
        session.run(
            tf.raw_ops.SaveV2(
                prefix=str(HERE / "dtypes"),
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=tensors,
            )
        )


def save_constants() -> None:
    """constants.pb: the same values as Const nodes, and splats, in TensorFlow's own encodings."""
    with tf.Graph().as_default() as graph:
        for name, (info, array) in sorted(named_values().items()):
            if info.kind == "quantized" or not array.size:
                continue
            tf.constant(array, name=name)
        tf.constant(7, shape=[3, 3], name="splat")
        (HERE / "constants.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))


def save_slices() -> None:
    """slices.*: parts of one variable, spelled both ways; slices_v1: the same in the first format."""
    value = np.arange(200 * 3, dtype=np.float32).reshape(200, 3)
    specs = ["200 3 0,150:0,3", "200 3 150,50:0,3", "4 3 -:0,2", "4 3 -:2,1"]
    parts = [value[:150], value[150:], value[:4, :2], value[:4, 2:]]
    names = ["part", "part", "wide", "wide"]
    with tf.Graph().as_default(), tf.Session() as session:
        tensors = [*map(tf.constant, parts), tf.constant([b"x", b"yz"]), tf.constant(5, tf.int64)]
        session.run(
            tf.raw_ops.SaveV2(
                prefix=str(HERE / "slices"),
                tensor_names=[*names, "strings", "step"],
                shape_and_slices=[*specs, "", ""],
                tensors=tensors,
            )
        )
        v1 = [
            *map(tf.constant, parts),
            tf.constant([[1.5, -2]], tf.half),
            tf.constant(-5),
            tf.constant([True, False]),
        ]
        session.run(
            tf.raw_ops.SaveSlices(
                filename=str(HERE / "slices_v1"),
                tensor_names=[*names, "half", "step", "flags"],
                shapes_and_slices=[*specs, "", "", ""],
                data=v1,
            )
        )


def save_sharded() -> None:
    """sharded.*: a Saver with two devices, so two data files."""
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        with tf.device("/cpu:1"):
            tf.get_variable("a", initializer=np.arange(5, dtype=np.float32))
        with tf.device("/cpu:0"):
            tf.get_variable("b", initializer=np.arange(4, dtype=np.int32))
            tf.get_variable("c", initializer=2.5)
        session.run(tf.global_variables_initializer())
        tf.train.Saver(sharded=True).save(
            session, str(HERE / "sharded"), write_meta_graph=False, write_state=False
        )


def save_model() -> None:
    """model/*: a small training graph with its checkpoints, state file, text forms; saved_model/."""
    folder = HERE / "model"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], "x")
        target = tf.placeholder(tf.float32, [None], "target")
        w = tf.get_variable("layer/w", initializer=np.array([[1.0], [2.0]], np.float32), use_resource=False)
        b = tf.get_variable("layer/b", initializer=np.float32(0.5), use_resource=True)
        tf.get_variable("steps", initializer=np.int64(0), use_resource=False, trainable=False)
        y = tf.squeeze(tf.matmul(x, w), 1) + b
        y = tf.identity(y, "y")
        loss = tf.reduce_mean(tf.square(y - target), name="loss")
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, name="train")
        tf.add_to_collection("hyperparameters", x)
        tf.add_to_collection("hyperparameters", loss)
        tf.add_to_collection("train_op", train)
        tf.add_to_collection("rate", 0.1)
        tf.add_to_collection("notes", "plain text")
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        for step in (1, 2):
            saver.save(session, str(folder / "model.ckpt"), global_step=step, write_state=False)
        tf.train.write_graph(graph, str(folder), "graph.pbtxt", as_text=True)
        tf.train.write_graph(graph, str(folder), "graph.pb", as_text=False)
        tf.train.update_checkpoint_state(str(folder), "model.ckpt-2", ["model.ckpt-1", "model.ckpt-2"])
        shutil.rmtree(HERE / "saved_model", ignore_errors=True)
        builder = tf.saved_model.Builder(str(HERE / "saved_model"))
        signature = tf.saved_model.predict_signature_def({"input": x}, {"score": y})
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()


if __name__ == "__main__":
    save_all_dtypes()
    save_constants()
    save_slices()
    save_sharded()
    save_model()
