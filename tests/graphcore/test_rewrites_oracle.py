"""TensorFlow loads what the rewrites made, computes what it computed before, and goes on training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rewritten import FEED, results, trained, written

from sgtool.cli import rewriting
from sgtool.formats import graph_file, rewrite, targets

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def real() -> Any:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    return tf


@pytest.fixture(params=[False, True], ids=["ref", "resource"])
def prefix(request: pytest.FixtureRequest, tmp_path: Path, real: Any) -> str:
    return trained(real, f"{tmp_path}/model", resource=request.param)


def test_renamed(real: Any, prefix: str, tmp_path: Path) -> None:
    out = str(written(rewrite.rename(rewriting.read(prefix), ["=top/"]).model, tmp_path / "out"))

    def top(name: str) -> str:
        return f"top/{name}"

    np.testing.assert_array_equal(results(real, out, top), results(real, prefix))
    np.testing.assert_allclose(results(real, out, top, 3), results(real, prefix, steps=3), rtol=1e-5)
    scoped = str(written(rewrite.rename(rewriting.read(prefix), ["net/=other/"]).model, tmp_path / "scoped"))
    np.testing.assert_allclose(results(real, scoped, steps=3), results(real, prefix, steps=3), rtol=1e-5)


def test_stripped(real: Any, prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    for number, options in enumerate([{}, {"summaries": True, "training": True}]):
        out = str(written(rewrite.strip(model, **options).model, tmp_path / f"out{number}"))
        np.testing.assert_array_equal(results(real, out), results(real, prefix))
        with real.Graph().as_default(), real.Session() as session:
            saver = real.train.import_meta_graph(f"{out}.meta")
            loss = real.get_default_graph().get_tensor_by_name("loss:0")
            step = real.train.GradientDescentOptimizer(0.1).minimize(loss)
            saver.restore(session, out)
            feed = {"x:0": FEED, "t:0": np.zeros((2, 2))}
            before = session.run(loss, feed)
            session.run(step, feed)
            assert session.run(loss, feed) < before
            saver.save(session, f"{tmp_path}/again{number}")


def test_frozen(real: Any, prefix: str, tmp_path: Path) -> None:
    expected = results(real, prefix)
    frozen = rewrite.freeze(rewriting.read(prefix), ["y:0"]).model
    np.testing.assert_allclose(
        _run(real, frozen.meta_graph.graph_def, {"x:0": FEED}, "y:0"), expected, rtol=1e-6
    )


def test_frozen_functions(real: Any, tmp_path: Path) -> None:
    real.enable_control_flow_v2()
    try:
        with real.Graph().as_default(), real.Session() as session:
            x = real.placeholder(real.float32, [2], name="x")
            v = real.get_variable("v", [3], initializer=real.constant_initializer(2.0), use_resource=True)
            chosen = real.cond(x[0] > 0, lambda: x * v[0], lambda: x + real.gather(v, [0, 1]))
            _, y = real.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, a * v[1]), [0, chosen])
            real.identity(y, name="y")
            session.run(real.global_variables_initializer())
            feeds = [{"x:0": [1.0, 2.0]}, {"x:0": [-1.0, 2.0]}]
            before = [session.run("y:0", feed) for feed in feeds]
            real.train.Saver().save(session, f"{tmp_path}/m")
    finally:
        real.disable_control_flow_v2()
    frozen = rewrite.freeze(rewriting.read(f"{tmp_path}/m"), ["y"]).model.meta_graph.graph_def
    assert not any("Variable" in node.op for one in frozen.library.function for node in one.node_def)
    for feed, expected in zip(feeds, before):
        np.testing.assert_array_equal(_run(real, frozen, feed, "y:0"), expected)
    from sgtool import graphcore

    with graphcore.Graph().as_default(), graphcore.Session() as ours:
        graphcore.import_graph_def(frozen, name="")
        for feed, expected in zip(feeds, before):
            np.testing.assert_array_equal(ours.run("y:0", feed), expected)


def _run(real: Any, graph_def: Any, feed: Any, fetch: str) -> Any:
    theirs = real.GraphDef.FromString(graph_def.SerializeToString())
    with real.Graph().as_default(), real.Session() as session:
        real.import_graph_def(theirs, name="")
        return session.run(fetch, feed)


def test_extracted_and_merged(real: Any, prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    expected = results(real, prefix)
    head = rewrite.extract(model, ["y:0", "loss:0"], ["net/h:0"]).model
    body = rewrite.extract(model, ["net/h:0"]).model
    joined = rewrite.merge(body, head, {"net/h:0": "net/h:0"}, ("body", "head")).model
    out = str(written(joined, tmp_path / "joined"))
    with real.Graph().as_default(), real.Session() as session:
        saver = real.train.import_meta_graph(f"{out}.meta")
        saver.restore(session, out)
        y = session.run("head/y:0", {"body/x:0": FEED})
        np.testing.assert_allclose(y, expected, rtol=1e-6)
        step = real.train.GradientDescentOptimizer(0.1).minimize(
            real.get_default_graph().get_tensor_by_name("head/loss:0")
        )
        session.run(step, {"body/x:0": FEED, "head/t:0": np.zeros((2, 2))})
        saver.save(session, f"{tmp_path}/again")
    assert set(rewriting.read(f"{tmp_path}/again").variables) == set(joined.variables)


def test_reshaped(real: Any, prefix: str, tmp_path: Path) -> None:
    out = str(written(rewrite.set_shape(rewriting.read(prefix), {"x": [2, 3]}).model, tmp_path / "out"))
    np.testing.assert_array_equal(results(real, out, steps=2), results(real, prefix, steps=2))


def test_saved_model(real: Any, prefix: str, tmp_path: Path) -> None:
    import tensorflow

    targets.write(f"{tmp_path}/export/", rewriting.read(prefix), options=targets.Options(outputs=("y:0",)))
    with real.Graph().as_default(), real.Session() as session:
        meta = real.saved_model.load(session, ["serve"], f"{tmp_path}/export")
        signature = meta.signature_def["serving_default"]
        assert list(signature.inputs) == ["x"]
        y = session.run(signature.outputs["y"].name, {"x:0": FEED})
    np.testing.assert_array_equal(y, results(real, prefix))
    loaded = tensorflow.saved_model.load(f"{tmp_path}/export")
    assert list(loaded.signatures) == ["serving_default"]


def test_checkpoints_of_both_generations(real: Any, prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    expected = results(real, prefix)
    copied = str(written(model, tmp_path / "copy"))
    for suffix in (".index", ".data-00000-of-00001"):
        assert Path(copied + suffix).read_bytes() == Path(prefix + suffix).read_bytes()
    v1 = str(written(model, tmp_path / "old", "v1"))
    reader = real.train.NewCheckpointReader(v1)
    np.testing.assert_array_equal(reader.get_tensor("net/w"), model.variables["net/w"].read())
    np.testing.assert_array_equal(results(real, v1), expected)
    again = str(written(rewriting.read(v1), tmp_path / "new"))
    assert Path(f"{again}.index").read_bytes() == Path(f"{prefix}.index").read_bytes()
    sharded = targets.write(tmp_path / "shards", model, options=targets.Options(shards=3))
    assert sharded.name == "checkpoint"
    np.testing.assert_array_equal(results(real, f"{tmp_path}/shards"), expected)


def test_old_savers_are_replaced(real: Any, tmp_path: Path) -> None:
    """A graph whose saver reads first-generation files, converted together with its checkpoint."""
    with real.Graph().as_default(), real.Session() as session:
        v = real.Variable([1.0, 2.0], name="v", use_resource=False)
        real.identity(v, name="y")
        session.run(real.global_variables_initializer())
        saver = real.train.Saver(write_version=real.train.SaverDef.V1)
        saver.save(session, f"{tmp_path}/old")
    model = rewriting.read(f"{tmp_path}/old")
    out = str(written(model, tmp_path / "new"))
    with real.Graph().as_default(), real.Session() as session:
        real.train.import_meta_graph(f"{out}.meta").restore(session, out)
        assert session.run("y:0").tolist() == [1.0, 2.0]


def test_text(real: Any, prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    written(model, tmp_path / "m.pbtxt")
    assert graph_file.read_graph(tmp_path / "m.pbtxt").message == model.meta_graph
    from google.protobuf import text_format

    theirs = text_format.Parse((tmp_path / "m.pbtxt").read_text(), real.MetaGraphDef())
    with real.Graph().as_default():
        real.train.import_meta_graph(theirs)
