"""Programs with loops, conditionals and arrays of tensors, written against TensorFlow 1's API.

Each takes the `tf` module (ours or TensorFlow's) and gives `(outputs, inputs)`: tensors to compute, and
the float64 placeholders that gradients are taken by, with their values.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any], tuple[list[Any], dict[Any, Any]]]
PROGRAMS: dict[str, Program] = {}
_Pair = namedtuple("_Pair", ["first", "second"])


def _program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def _inputs(tf: Any, **values: Any) -> tuple[list[Any], dict[Any, Any]]:
    arrays = {name: np.asarray(value, np.float64) for name, value in values.items()}
    tensors = [tf.placeholder(tf.float64, array.shape, name=name) for name, array in arrays.items()]
    return tensors, dict(zip(tensors, arrays.values()))


X = [0.3, -0.7, 1.1]
M = [[0.2, -0.1, 0.4], [0.3, 0.5, -0.2], [-0.6, 0.1, 0.7]]


@_program
def loop_with_invariant(tf: Any) -> Any:
    """A loop variable and a loop invariant."""
    (x, w), feeds = _inputs(tf, x=X, w=[1.0, 2.0, -1.5])
    _, y = tf.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, tf.sin(v * w) + v), [0, x])
    return [y], feeds


@_program
def loop_that_does_not_run(tf: Any) -> Any:
    """No iteration at all: the gradient is one."""
    (x,), feeds = _inputs(tf, x=X)
    _, y = tf.while_loop(lambda i, v: i < 0, lambda i, v: (i + 1, tf.sin(v)), [0, x])
    return [y * x], feeds


@_program
def loop_of_matrices(tf: Any) -> Any:
    """Matrix products, and an invariant that is used twice."""
    (x, m), feeds = _inputs(tf, x=[X], m=M)
    y = tf.while_loop(
        lambda v: tf.reduce_sum(v) < 50.0, lambda v: tf.matmul(v, m) + tf.matmul(v, m) + 3.0, [x]
    )
    return [y], feeds


@_program
def loop_with_a_limit(tf: Any) -> Any:
    """maximum_iterations ends it."""
    (x,), feeds = _inputs(tf, x=X)
    y = tf.while_loop(lambda v: tf.constant(True), lambda v: v * v + 0.1, [x], maximum_iterations=3)
    return [y], feeds


@_program
def several_variables(tf: Any) -> Any:
    """Variables that depend on each other, one that ends unused, one that never changes."""
    (a, b, c), feeds = _inputs(tf, a=X, b=[0.5, 0.1, -0.2], c=[2.0, 1.0, 0.5])
    _, y, _, kept = tf.while_loop(
        lambda i, *_: i < 3,
        lambda i, u, v, w: (i + 1, u * v, v + tf.cos(u) * c, w),
        [0, a, b, c],
    )
    return [y, kept], feeds


@_program
def structures(tf: Any) -> Any:
    """Named tuples, dicts and lists as loop variables."""
    (a, b), feeds = _inputs(tf, a=X, b=[0.5, 0.1, -0.2])
    _, pair, more = tf.while_loop(
        lambda i, p, d: i < 3,
        lambda i, p, d: (i + 1, _Pair(p.second, p.first + d["k"]), {"k": d["k"] * p.second}),
        [0, _Pair(a, b), {"k": a * b}],
    )
    return [pair.first, pair.second, more["k"]], feeds


@_program
def changing_shape(tf: Any) -> Any:
    """A variable that grows, by shape_invariants."""
    (x,), feeds = _inputs(tf, x=[X])
    _, y = tf.while_loop(
        lambda i, v: i < 3,
        lambda i, v: (i + 1, tf.concat([v, tf.sin(v[:1]) * v[-1:]], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 3])],
    )
    return [y], feeds


@_program
def nested_loops(tf: Any) -> Any:
    """A loop in a loop, with invariants of both."""
    (x, w), feeds = _inputs(tf, x=X, w=[1.0, 0.5, -1.5])

    def body(i: Any, v: Any) -> Any:
        inner = tf.while_loop(
            lambda j, u: j < i + 1, lambda j, u: (j + 1, tf.sin(u) * w + v), [0, v], name="inner"
        )
        return i + 1, inner[1] * 0.5 + v * w

    _, y = tf.while_loop(lambda i, v: i < 3, body, [0, x])
    return [y], feeds


@_program
def conditional_in_loop(tf: Any) -> Any:
    """Each iteration takes its own branch."""
    (x, w), feeds = _inputs(tf, x=X, w=[1.0, 0.5, -1.5])

    def body(i: Any, v: Any) -> Any:
        u = tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(v) * w, lambda: v * v + tf.cos(w))
        return i + 1, u

    _, y = tf.while_loop(lambda i, v: i < 5, body, [0, x])
    return [y], feeds


@_program
def loop_in_conditional(tf: Any) -> Any:
    """A loop on one branch, in both positions."""
    (x, w), feeds = _inputs(tf, x=X, w=[1.0, 0.5, -1.5])

    def loop() -> Any:
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * w), [0, tf.exp(x)])[1]

    yes = tf.reduce_sum(x) < 10.0
    return [tf.cond(yes, loop, lambda: x * w), tf.cond(yes, lambda: x * w, loop)], feeds


@_program
def nested_conditionals(tf: Any) -> Any:
    """A conditional in a conditional; one side does not use an input."""
    (x, w), feeds = _inputs(tf, x=X, w=[1.0, 0.5, -1.5])
    total = tf.reduce_sum(x)
    y = tf.cond(
        total > 0.0,
        lambda: tf.cond(total > 100.0, lambda: x * 2.0, lambda: tf.sin(x) * w),
        lambda: w * 3.0,
    )
    return [y], feeds


@_program
def cases(tf: Any) -> Any:
    """tf.case with a default and without."""
    (x,), feeds = _inputs(tf, x=X)
    total = tf.reduce_sum(x)
    pairs = [(total < 0.0, lambda: x * 2.0), (total < 1.0, lambda: tf.sin(x))]
    chosen = tf.case(pairs, default=lambda: x * x)
    only = tf.case([(total > 5.0, lambda: x), (total > 0.0, lambda: x * x * x)], exclusive=True)
    return [chosen, only], feeds


@_program
def array_of_tensors(tf: Any) -> Any:
    """Unstacking, reading, writing and stacking in a loop."""
    (x,), feeds = _inputs(tf, x=M)
    source = tf.TensorArray(tf.float64, 3).unstack(x)

    def body(i: Any, v: Any, out: Any) -> Any:
        v = tf.tanh(v + source.read(i))
        return i + 1, v, out.write(i, v * v)

    _, last, out = tf.while_loop(
        lambda i, *_: i < 3, body, [0, tf.zeros([3], tf.float64), tf.TensorArray(tf.float64, 3)]
    )
    return [last, out.stack()], feeds


@_program
def array_parts(tf: Any) -> Any:
    """Splitting, joining, scattering and gathering."""
    (x,), feeds = _inputs(tf, x=M)
    parts = tf.TensorArray(tf.float64, 2, infer_shape=False).split(x, [1, 2])
    joined = parts.concat()
    rows = tf.TensorArray(tf.float64, 3, clear_after_read=False).scatter([2, 0, 1], x * x)
    return [joined * 2.0, rows.gather([1, 2, 2])], feeds


@_program
def mapped(tf: Any) -> Any:
    """tf.map_fn over one tensor and over a structure."""
    (x, w), feeds = _inputs(tf, x=M, w=X)
    one = tf.map_fn(lambda row: tf.reduce_sum(row * w) * row, x)
    two = tf.map_fn(lambda pair: (pair[0] * pair[1], tf.sin(pair[1])), (x, w), dtype=(tf.float64, tf.float64))
    return [one, *two], feeds


@_program
def folded(tf: Any) -> Any:
    """tf.foldl and tf.foldr, with and without an initializer."""
    (x,), feeds = _inputs(tf, x=M)
    return [
        tf.foldl(lambda a, row: a * row + row, x),
        tf.foldl(lambda a, row: tf.sin(a) + row, x, initializer=tf.ones([3], tf.float64)),
        tf.foldr(lambda a, row: a * 0.5 + row * row, x),
    ], feeds


@_program
def scanned(tf: Any) -> Any:
    """tf.scan in both directions."""
    (x, w), feeds = _inputs(tf, x=M, w=X)
    return [
        tf.scan(lambda a, row: a * row + w, x),
        tf.scan(lambda a, row: tf.tanh(a + row), x, initializer=w),
        tf.scan(lambda a, row: a + row * w, x, reverse=True),
        tf.scan(lambda a, row: a + row * w, x, initializer=w, reverse=True),
    ], feeds


@_program
def rows_in_loop(tf: Any) -> Any:
    """Gradients of look-ups in a loop come as rows."""
    (x,), feeds = _inputs(tf, x=M)
    _, y = tf.while_loop(
        lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) + tf.gather(x, i)), [0, tf.zeros([3], tf.float64)]
    )
    return [y], feeds


@_program
def unknown_shapes(tf: Any) -> Any:
    """Nothing is known of the shapes when the graph is built."""
    values = {"x": np.array(X), "w": np.array([1.0, 0.5, -1.5])}
    x, w = (tf.placeholder(tf.float64, None, name=name) for name in values)

    def body(i: Any, v: Any) -> Any:
        return i + 1, tf.cond(i > 0, lambda: v * w + 1.0, lambda: tf.sin(v) * tf.reduce_sum(w))

    _, y = tf.while_loop(lambda i, v: i < 3, body, [0, x])
    return [y], dict(zip((x, w), values.values()))


@_program
def control_edges(tf: Any) -> Any:
    """Control dependencies into and around a loop."""
    (x,), feeds = _inputs(tf, x=X)
    before = tf.Assert(tf.reduce_all(x < 10.0), [x])
    with tf.control_dependencies([before]):

        def body(i: Any, v: Any) -> Any:
            with tf.control_dependencies([tf.Assert(i < 10, [i])]):
                return i + 1, tf.identity(v) * 2.0

        _, y = tf.while_loop(lambda i, v: i < 3, body, [0, x])
        return [y + 1.0], feeds
