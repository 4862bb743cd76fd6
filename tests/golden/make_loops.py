"""Writes loops.meta (while loops as TensorFlow 1 makes them) and loops.npz (what TensorFlow computes).

Run with a Python that has TensorFlow: python tests/golden/make_loops.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

HERE = Path(__file__).parent
FEEDS = {"n:0": np.int32(5), "x:0": np.array([1.0, -2.0, 3.0], np.float32)}
FETCHES = (
    "sum:0",
    "nested:0",
    "branch:0",
    "state:0",
    "steps:0",
    "fibonacci:0",
    "rows:0",
    "inside:0",
    "none:0",
)


def build() -> None:
    """Loops of every make: nested, with a conditional, with state, with a changing shape, inside a cond."""
    n = tf.placeholder(tf.int32, [], "n")
    x = tf.placeholder(tf.float32, [None], "x")
    zero = tf.constant(0)

    def count(i: tf.Tensor, *_: tf.Tensor) -> tf.Tensor:
        return i < n

    _, total = tf.while_loop(
        count, lambda i, s: (i + 1, s + tf.reduce_sum(x) * tf.cast(i, tf.float32)), (zero, 0.0)
    )
    tf.identity(total, "sum")

    def outer(i: tf.Tensor, s: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        _, inner = tf.while_loop(lambda j, _: j < i, lambda j, t: (j + 1, t * 10 + j), (zero, s))
        return i + 1, inner

    _, nested = tf.while_loop(count, outer, (zero, zero))
    tf.identity(nested, "nested")

    def choose(i: tf.Tensor, v: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: v * 2.0, lambda: v - 1.0)

    _, branch = tf.while_loop(count, choose, (zero, x))
    tf.identity(branch, "branch")

    state = tf.get_variable("accumulator", initializer=1.0, use_resource=False)
    steps = tf.get_variable("counter", initializer=0, use_resource=True)

    def update(i: tf.Tensor) -> tf.Tensor:
        with tf.control_dependencies([tf.assign(state, state * 2.0), steps.assign_add(1)]):
            return i + 1

    end = tf.while_loop(count, update, (zero,))
    with tf.control_dependencies([end]):
        tf.identity(state.read_value(), "state")
        tf.identity(steps.read_value(), "steps")

    _, a, _ = tf.while_loop(count, lambda i, a, b: (i + 1, b, a + b), (zero, 0, 1))
    tf.identity(a, "fibonacci")

    shape = tf.TensorShape([None, 3])
    start = tf.ones([1, 3])
    _, rows = tf.while_loop(
        count,
        lambda i, r: (i + 1, tf.concat([r, r[-1:] * 2.0], 0)),
        (zero, start),
        shape_invariants=(zero.get_shape(), shape),
    )
    tf.identity(rows, "rows")

    inside = tf.cond(
        n > 3, lambda: tf.while_loop(count, lambda i, s: (i + 1, s + i), (zero, zero))[1], lambda: n
    )
    tf.identity(inside, "inside")
    _, none = tf.while_loop(lambda i, _: i < 0, lambda i, s: (i + 1, s + 1.0), (zero, 7.0))
    tf.identity(none, "none")


def main() -> None:
    """Writes the two files."""
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    tf.disable_resource_variables()
    with tf.Graph().as_default(), tf.Session() as session:
        build()
        session.run(tf.global_variables_initializer())
        values = dict(zip(FETCHES, session.run(list(FETCHES), FEEDS), strict=True))
        tf.train.Saver().export_meta_graph(str(HERE / "loops.meta"))
        np.savez(HERE / "loops.npz", **values)
        print(values)


if __name__ == "__main__":
    main()
