"""Writes the golden files with a real TensorFlow; run it in an environment that has both it and sgtool.

The values come from `tests/support/golden_values.py`. The files are committed; they change only when
this script does, or when TensorFlow writes something differently, which is worth knowing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402
from golden_values import named_values  # noqa: E402

EAGER = "eager"
"""The argument of the process that writes what TensorFlow 2 writes; the rest is written in graph mode."""

if sys.argv[1:] != [EAGER]:
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


def save_pipeline() -> None:
    """pipeline.meta: queues that read `lines.csv` twice and batch it, by TensorFlow 1's helpers."""
    with tf.Graph().as_default() as graph:
        names = tf.train.string_input_producer(["lines.csv"], num_epochs=2, shuffle=False)
        key, line = tf.TextLineReader(skip_header_lines=1).read(names)
        number, text = tf.decode_csv(line, [[0.0], [""]])
        keys, numbers, texts = tf.train.batch([key, number, text], 2, allow_smaller_final_batch=True)
        tf.identity(keys, "keys")
        tf.identity(numbers, "numbers")
        tf.identity(texts, "texts")
        tf.train.export_meta_graph(str(HERE / "pipeline.meta"), graph=graph)


def save_variants() -> None:
    """variants.*: TensorLists, which are tensors of dtype variant."""
    with tf.Graph().as_default(), tf.Session() as session:
        numbers = tf.raw_ops.TensorListFromTensor(
            tensor=tf.constant([[1.0, 2.0], [3.0, 4.0]]), element_shape=[2]
        )
        words = tf.raw_ops.TensorListFromTensor(
            tensor=tf.constant([b"a", b"bc"]), element_shape=tf.constant([], tf.int32)
        )
        session.run(
            tf.raw_ops.SaveV2(
                prefix=str(HERE / "variants"),
                tensor_names=["list", "lists", "plain"],
                shape_and_slices=["", "", ""],
                tensors=[numbers, tf.stack([numbers, words]), tf.constant(3)],
            )
        )


def partitioned(shape: tuple[int, ...], parts: int) -> list[tf.Variable]:
    """The parts of a variable `p` that counts up."""
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        return list(
            tf.get_variable(
                "p",
                shape=shape,
                initializer=lambda shape, dtype, partition_info: tf.fill(
                    shape, 1.0 + partition_info.var_offset[0]
                ),
                partitioner=tf.fixed_size_partitioner(parts),
                use_resource=False,
            )
        )


def save_partitioned() -> None:
    """partitioned.*: seven rows in three parts; repartitioned.*: the same, restored into two and saved."""
    for name, parts in (("partitioned", 3), ("repartitioned", 2)):
        with tf.Graph().as_default(), tf.Session() as session:
            partitioned((7, 2), parts)
            saver = tf.train.Saver()
            if parts == 3:
                session.run(tf.global_variables_initializer())
            else:
                saver.restore(session, str(HERE / "partitioned"))
            saver.save(session, str(HERE / name), write_meta_graph=False, write_state=False)


def save_first_generation() -> None:
    """v1/*: the first generation: every dtype in one file; two shards with a partitioned variable."""
    folder = HERE / "v1"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    lacking = ("bfloat16", "float8", "int4", "uint4", "uint16", "uint32", "uint64", "qint16", "quint16")
    named = sorted((n, p) for n, p in named_values().items() if not p[0].name.startswith(lacking))
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(
            tf.raw_ops.SaveSlices(
                filename=str(folder / "dtypes"),
                tensor_names=[name for name, _ in named],
                shapes_and_slices=[""] * len(named),
                data=[tensor(info, array) for _, (info, array) in named],
            )
        )
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        with tf.device("/cpu:1"):
            tf.get_variable("a", initializer=np.arange(5, dtype=np.float32))
        with tf.device("/cpu:0"):
            tf.get_variable("b", initializer=np.arange(4, dtype=np.int32))
            partitioned((7, 2), 3)
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(sharded=True, write_version=tf.train.SaverDef.V1)
        saver.save(session, str(folder / "sharded"))
    tf.train.update_checkpoint_state(str(folder), "sharded-?????-of-00002")


def save_big_endian() -> None:
    """big_endian.*: what a big-endian machine would write, made by hand; TensorFlow must read its values."""
    sys.path.insert(0, str(HERE.parent / "support"))
    from big_endian import write_big_endian

    named = {
        name: pair
        for name, pair in sorted(named_values().items())
        if not name.startswith(("bfloat16", "float8", "int4", "uint4", "q"))
    }
    write_big_endian(HERE / "big_endian", named)
    reader = tf.train.NewCheckpointReader(str(HERE / "big_endian"))
    for name, (info, array) in named.items():
        read = reader.get_tensor(name)
        if info.kind == "string":
            read = np.array(read, object)
        np.testing.assert_array_equal(read, array, err_msg=name)


class Model(tf.Module):  # type: ignore[misc]
    """Two variables of one name, one below another object, and a function over them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = tf.Variable([1.0, 2.0], name="w")
        self.inner = tf.Module()
        self.inner.second = tf.Variable([[3.0]], name="w", trainable=False)
        self.count = tf.Variable(np.int64(4), name="scope/count")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def score(self, x: tf.Tensor) -> dict[str, tf.Tensor]:
        """The scores."""
        return {"y": x * self.first + self.inner.second}


def save_second_generation() -> None:
    """tf2/*: an object-based checkpoint, and a SavedModel whose signature is a function; keras.h5."""
    import tensorflow as tf2

    folder = HERE / "tf2"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    model = Model()
    tf2.train.Checkpoint(model=model).write(str(folder / "ckpt"))
    tf2.saved_model.save(model, str(folder / "saved_model"), signatures={"serving_default": model.score})
    shutil.rmtree(folder / "saved_model" / "assets")
    (folder / "saved_model" / "fingerprint.pb").unlink()

    keras = tf2.keras
    tf2.random.set_seed(1)
    layers = [keras.layers.Dense(3, name="first"), keras.layers.Dense(1, name="second", use_bias=False)]
    net = keras.Sequential([keras.Input((2,)), *layers], name="net")
    net.compile(keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    net.layers[0].set_weights([np.arange(6.0).reshape(2, 3), np.ones(3)])
    net.layers[1].set_weights([np.full((3, 1), 0.5)])
    net.save(HERE / "keras.h5")


if __name__ == "__main__":
    if sys.argv[1:] == [EAGER]:
        save_second_generation()
        raise SystemExit
    save_variants()
    save_partitioned()
    save_first_generation()
    save_big_endian()
    subprocess.run([sys.executable, __file__, EAGER], check=True)
    save_all_dtypes()
    save_constants()
    save_slices()
    save_sharded()
    save_model()
    save_pipeline()
