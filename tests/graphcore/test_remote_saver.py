"""`tf.train.Saver` and the functions around checkpoints on URLs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from sgtool import graphcore as tf

fsspec = pytest.importorskip("fsspec")
ROOT = "memory://savers/run"


@pytest.fixture(autouse=True)
def _files() -> Iterator[None]:
    tf.reset_default_graph()
    yield
    fsspec.filesystem("memory").store.clear()


def test_a_run_of_checkpoints() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for step in range(3):
            sess.run(v.assign([step, step + 1.0]))
            assert saver.save(sess, f"{ROOT}/m", global_step=step) == f"{ROOT}/m-{step}"
        names = [
            path.rpartition("/")[2] for path in fsspec.filesystem("memory").ls("/savers/run", detail=False)
        ]
        kept = [f"m-{step}.{part}" for step in (1, 2) for part in ("data-00000-of-00001", "index", "meta")]
        assert sorted(names) == ["checkpoint", *kept]
        assert tf.train.latest_checkpoint(ROOT) == f"{ROOT}/m-2"
        assert [tf.train.checkpoint_exists(f"{ROOT}/m-{step}") for step in range(3)] == [False, True, True]
        assert tf.train.list_variables(ROOT) == [("v", [2])]
        assert len(tf.train.get_checkpoint_mtimes([f"{ROOT}/m-1", f"{ROOT}/m-0"])) == 1
        saver.restore(sess, f"{ROOT}/m-1")
        np.testing.assert_array_equal(sess.run(v), [1, 2])
        saver.restore(sess, ROOT)
        np.testing.assert_array_equal(sess.run(v), [2, 3])
        with pytest.raises(ValueError, match=r"Did you mean 'memory://savers/run/m-2'"):
            saver.restore(sess, f"{ROOT}/m-9")
    with tf.Graph().as_default(), tf.Session() as sess:
        imported = tf.train.import_meta_graph(f"{ROOT}/m-2.meta")
        assert imported is not None
        imported.restore(sess, f"{ROOT}/m-2")
        np.testing.assert_array_equal(sess.run("v:0"), [2, 3])
