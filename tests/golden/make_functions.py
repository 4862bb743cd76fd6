"""Writes functions.meta (calls, branches and loops as functions) and functions.npz (what TensorFlow gives).

Run with a Python that has TensorFlow: python tests/golden/make_functions.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

HERE = Path(__file__).parent
FEEDS = {"n:0": 5, "x:0": np.array([1.0, -2.0, 3.0], np.float32)}
FETCHES = (
    "chosen:0",
    "not_chosen:0",
    "collatz:0",
    "product:0",
    "nested:0",
    "called:0",
    "parts:0",
    "counted:0",
)


def build() -> None:
    n = tf.placeholder(tf.int32, [], name="n")
    x = tf.placeholder(tf.float32, [None], name="x")
    counter = tf.get_variable("counter", initializer=10, use_resource=True)

    tf.identity(tf.cond(n > 3, lambda: x * 2.0, lambda: x - 1.0), name="chosen")
    tf.identity(tf.cond(n > 30, lambda: tf.reduce_sum(x), lambda: tf.reduce_max(x)), name="not_chosen")
    steps = tf.while_loop(
        lambda value, steps: value > 1,
        lambda value, steps: (tf.where(tf.equal(value % 2, 0), value // 2, 3 * value + 1), steps + 1),
        (n, 0),
    )[1]
    tf.identity(steps, name="collatz")
    # A loop whose variable grows.
    grown = tf.while_loop(
        lambda i, p: i < n,
        lambda i, p: (i + 1, tf.concat([p, x[:1]], 0)),
        (0, x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
    )[1]
    tf.reduce_prod(grown, name="product")

    # A conditional in a loop in a conditional.
    def loop() -> tf.Tensor:
        def body(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + 1, total + tf.cond(tf.equal(i % 2, 0), lambda: i, lambda: -10 * i)

        return tf.while_loop(lambda i, _: i < n, body, (0, 0))[1]

    tf.identity(tf.cond(n > 0, loop, lambda: -1), name="nested")

    @tf.function(autograph=False)
    def double(value: tf.Tensor, bias: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        first, second = tf.split(value[:2], 2)
        return value * 2.0 + bias, tf.concat([second, first], 0)

    called, parts = double(x, tf.cast(n, tf.float32))
    tf.identity(called, name="called")
    tf.identity(parts, name="parts")

    @tf.function(autograph=False)
    def count(amount: tf.Tensor) -> tf.Tensor:
        counter.assign_add(amount)
        return counter.read_value() * 2

    tf.identity(count(n), name="counted")


if __name__ == "__main__":
    tf.disable_eager_execution()
    tf.enable_control_flow_v2()
    with tf.Graph().as_default(), tf.Session() as session:
        build()
        session.run(tf.global_variables_initializer())
        np.savez(HERE / "functions.npz", **dict(zip(FETCHES, session.run(FETCHES, FEEDS))))
        tf.train.export_meta_graph(str(HERE / "functions.meta"), clear_devices=True)
