"""`Session.partial_run`, in TensorFlow and here: the same source text, the same values and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sgtool import graphcore as ours


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Iterator[Any]:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    with module.Graph().as_default():
        yield module


def test_steps(tf: Any) -> None:
    a, b, c = (tf.placeholder(tf.float32, []) for _ in range(3))
    r1 = a + b
    r2 = r1 * c
    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        first = session.partial_run(handle, r1, feed_dict={a: 1, b: 2})
        assert first == 3
        assert session.partial_run(handle, {"r2": r2}, feed_dict={c: first * 17}) == {"r2": 153}


def test_every_operation_runs_once(tf: Any) -> None:
    count = tf.Variable(0)
    more = tf.placeholder(tf.int32, [])
    drawn = tf.random_uniform([])
    bump = tf.assign_add(count, 1)
    with tf.control_dependencies([bump]):
        first = tf.identity(drawn)
    second = tf.stack([drawn, tf.cast(more, tf.float32)])
    with tf.Session() as session:
        session.run(count.initializer)
        handle = session.partial_run_setup([first, second], [more])
        number = session.partial_run(handle, first)
        assert session.partial_run(handle, second, {more: 2}).tolist() == [number, 2]
        assert session.run(count) == 1


def test_several_at_once_and_nothing_fetched(tf: Any) -> None:
    x = tf.placeholder(tf.float32, [])
    y = x * 2
    with tf.Session() as session:
        handles = [session.partial_run_setup([y], [x]) for _ in range(2)]
        session.partial_run(handles[1], [], {x: 5})
        assert session.partial_run(handles[0], y, {x: 1}) == 2
        assert session.partial_run(handles[1], y) == 10


def test_refuses(tf: Any) -> None:
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    r1, r2 = tf.add(a, b, name="r1"), tf.add(a, c, name="r2")
    invalid = tf.errors.InvalidArgumentError
    with tf.Session() as session:
        handle = session.partial_run_setup([r1, r2], [a, b, c])
        session.partial_run(handle, r1, {a: 1, b: 2})
        with pytest.raises(invalid, match="The feed a:0 has already been fed"):
            session.partial_run(handle, r2, {a: 1, c: 3})
        with pytest.raises(invalid, match="The fetch r1:0 has already been fetched"):
            session.partial_run(handle, r1, {c: 3})
        with pytest.raises(invalid, match="The fetch c:0 was not specified in partial_run_setup"):
            session.partial_run(handle, c)
        with pytest.raises(invalid, match="can't be computed from the feeds"):
            session.partial_run(handle, r2)
        only = session.partial_run_setup([r1], [a, b])
        with pytest.raises(invalid, match="The feed c:0 was not specified in partial_run_setup"):
            session.partial_run(only, r1, {a: 1, b: 2, c: 3})
        with pytest.raises(invalid, match="Must run 'setup' before performing partial runs"):
            session.partial_run("none", r1)
        with pytest.raises(invalid, match="pecify at least one target to fetch or execute"):
            session.partial_run_setup([], [a])
        unfed = session.partial_run_setup([r1], [])
        with pytest.raises(invalid, match="You must feed a value for"):
            session.partial_run(unfed, r1)
