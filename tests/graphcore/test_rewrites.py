"""Rewrites of models, run before and after: the same results, and training that goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus_files import model_folders
from corpus_runs import Model as Recorded
from rewritten import FEED, disagreements, opened, results, run, trained, written

from sgtool import graphcore as tf
from sgtool.cli import rewriting
from sgtool.formats import rewrite, targets
from sgtool.formats.errors import FailedPreconditionError, InvalidValueError, MissingNameError
from sgtool.formats.rewrite import Model, model_of


@pytest.fixture(params=[False, True], ids=["ref", "resource"])
def prefix(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return trained(tf, f"{tmp_path}/model", resource=request.param)


def test_rename_keeps_to_components_and_trains_on(prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    done = rewrite.rename(model, ["net/=deep/er/"])
    out = written(done.model, tmp_path / "out")
    keys = set(rewriting.read(str(out)).variables)
    assert {"deep/er/w", "deep/er/w/Adam", "net2/w", "net_z/adam_layer/w"} <= keys
    assert not any(key.startswith("net/") for key in keys)
    meta = done.model.meta_graph
    text = str(meta.collection_def["variables"]) + str(meta.collection_def["while_context"])
    assert "net/" not in text.replace("deep/er", "")
    np.testing.assert_array_equal(results(tf, str(out)), results(tf, prefix))
    np.testing.assert_array_equal(results(tf, str(out), steps=2), results(tf, prefix, steps=2))


def test_rename_all_and_back_gives_the_same_graph(prefix: str) -> None:
    model = rewriting.read(prefix)
    there = rewrite.rename(model, ["=a/b/"]).model
    assert not rewrite.difference(rewrite.rename(there, ["a/b/="]).model, model)
    assert rewrite.difference(there, model)
    assert rewriting.read(prefix).meta_graph == model.meta_graph, "the given model was changed"


def test_strip_by_apply_ops(prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    stripped = rewrite.strip(model)
    gone = set(stripped.variables)
    assert {"net/w/Adam", "net/w/Adam_1", "beta1_power", "beta2_power"} <= gone
    left = set(stripped.model.variables)
    assert {"net/w", "net_z/adam_layer/w", "net_z/adam_layer/gain", "net/mean", "global_step"} <= left
    assert not any("Adam" in name or "beta" in name for name in left)
    assert "train" in stripped.nodes
    assert stripped.saved > sum(stripped.variables.values()) > 0
    out = written(stripped.model, tmp_path / "out")
    np.testing.assert_array_equal(results(tf, str(out)), results(tf, prefix))
    loss = run(out, {"x:0": FEED, "t:0": np.zeros((2, 2))}, ["loss:0"])
    assert np.isfinite(loss[0])
    with tf.Graph().as_default(), tf.Session() as session:  # a fresh optimizer can be put on it
        saver = tf.train.import_meta_graph(f"{out}.meta")
        step = tf.train.AdamOptimizer(0.1).minimize(tf.get_default_graph().get_tensor_by_name("loss:0"))
        session.run(tf.global_variables_initializer())
        saver.restore(session, str(out))
        session.run(step, {"x:0": FEED, "t:0": np.zeros((2, 2))})


def test_strip_more(prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    stripped = rewrite.strip(model, training=True, summaries=True, savers=True)
    left = stripped.model.nodes
    assert not any(name.startswith(("gradients", "save/")) for name in left)
    assert not any(node.op.endswith("Summary") for node in left.values())
    assert {"y", "loss", "net/w/Assign"} <= set(left)
    assert not stripped.model.meta_graph.HasField("saver_def")
    graph = tf.Graph()
    with graph.as_default():
        tf.train.import_meta_graph(stripped.model.meta_graph)


def test_freeze(prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    frozen = rewrite.freeze(model, ["y:0"])
    nodes = frozen.model.nodes
    assert not any("Variable" in node.op or node.op.startswith("Ref") for node in nodes.values())
    assert {"net/w", "net/mean", "net_z/adam_layer/gain"} <= set(frozen.variables)
    assert frozen.dropped
    out = written(frozen.model, tmp_path / "frozen.pb", "graph_def")
    (y,) = run(out, {"x:0": FEED}, ["y:0"])
    np.testing.assert_array_equal(y, results(tf, prefix))


def test_freeze_refuses_what_is_written(prefix: str) -> None:
    model = rewriting.read(prefix)
    with pytest.raises(InvalidValueError, match="global_step"):
        rewrite.freeze(model, ["train"])
    with pytest.raises(MissingNameError, match=r"'yy:0'"):
        rewrite.freeze(model, ["yy:0", "y:0"])
    some = dict(model.variables)
    del some["net/b"], some["net2/b"]
    with pytest.raises(FailedPreconditionError, match=r"net/b\n  net2/b"):
        rewrite.freeze(Model(model.meta_graph, some), ["y:0"])


def test_freeze_refuses_a_read_after_a_write() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0, name="v")
        with tf.control_dependencies([tf.assign_add(v, 1.0)]):
            tf.add(v.read_value(), 1.0, name="late")
    model = model_of(graph.as_graph_def(), [])
    from sgtool.formats.entry import entry_of

    model = Model(model.meta_graph, {"v": entry_of("v", np.float32(1))})
    with pytest.raises(InvalidValueError, match=r"reads 'v' after"):
        rewrite.freeze(model, ["late"])


def test_freeze_of_functions(tmp_path: Path) -> None:
    """A SavedModel of TensorFlow 2, whose variables are read in functions."""
    source = Path(__file__).resolve().parents[1] / "golden" / "tf2" / "saved_model"
    model = rewriting.read(str(source))
    outputs = targets.default_outputs(model)
    signature = model.meta_graph.signature_def["serving_default"]
    feeds = {
        info.name: np.ones([d.size if d.size > 0 else 2 for d in info.tensor_shape.dim], np.float32)
        for info in signature.inputs.values()
    }
    frozen = rewrite.freeze(model, outputs)
    bodies = [node for one in frozen.model.meta_graph.graph_def.library.function for node in one.node_def]
    assert bodies
    assert not any(node.op in ("ReadVariableOp", "VarHandleOp") for node in bodies)
    out = written(frozen.model, tmp_path / "frozen.pb", "graph_def")
    for before, after in zip(run(source, feeds, outputs), run(out, feeds, outputs)):
        np.testing.assert_array_equal(before, after)


def test_extract(prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    part = rewrite.extract(model, ["y:0"], ["net/h:0"])
    assert part.placeholders == {"net/h:0": "net/h:0"}
    assert set(part.model.variables) == {
        "net/mean",
        "net2/w",
        "net2/b",
        "net_z/adam_layer/w",
        "net_z/adam_layer/b",
        "net_z/adam_layer/gain",
    }
    out = written(part.model, tmp_path / "out")
    h, y = run(Path(prefix), {"x:0": FEED}, ["net/h:0", "y:0"])
    (again,) = run(out, {"net/h:0": h}, ["y:0"])
    np.testing.assert_array_equal(again, y)
    with tf.Graph().as_default(), tf.Session() as session:  # its variables can be initialised, and trained
        tf.train.import_meta_graph(f"{out}.meta")
        assert len(tf.trainable_variables()) == 5
        session.run(tf.global_variables_initializer())


def test_extract_refuses(prefix: str) -> None:
    model = rewriting.read(prefix)
    inside = next(
        n for n, node in model.nodes.items() if node.op == "Mul" and n.startswith("net_z/adam_layer/while/")
    )
    with pytest.raises(InvalidValueError, match=r"inside of the while loop[^\n]*\n.*no output needs 't:0'"):
        rewrite.extract(model, ["y:0"], [f"{inside}:0", "t:0"])
    with pytest.raises(MissingNameError, match=r"'z:0'\n.*'nt/h:0'.*Did you mean 'net/h'"):
        rewrite.extract(model, ["z:0"], ["nt/h:0"])


def test_merge(prefix: str, tmp_path: Path) -> None:
    other = trained(tf, f"{tmp_path}/other", resource=True)
    with tf.Graph().as_default(), tf.Session() as session:  # what makes three columns of two
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        v = tf.get_variable("net/w", [2, 3], initializer=tf.ones_initializer())
        tf.matmul(x, v, name="y")
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, f"{tmp_path}/middle")
    first = rewrite.merge(rewriting.read(prefix), rewriting.read(f"{tmp_path}/middle"), {"y:0": "x:0"})
    assert first.removed == ["b/x"]
    both = rewrite.merge(first.model, rewriting.read(other), {"b/y:0": "x"}, ("left", "right"))
    out = written(both.model, tmp_path / "out")
    (y,) = run(out, {"left/a/x:0": FEED}, ["right/y:0"])
    (expected,) = run(Path(other), {"x:0": results(tf, prefix) @ np.ones((2, 3), np.float32)}, ["y:0"])
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    keys = set(rewriting.read(str(out)).variables)
    assert {"left/a/net/w", "left/b/net/w", "right/net/w", "right/net/w/Adam"} <= keys
    with tf.Graph().as_default():
        tf.train.import_meta_graph(f"{out}.meta")
        assert tf.train.get_global_step().name == "left/a/global_step:0"


def test_merge_refuses_what_does_not_fit(prefix: str) -> None:
    model = rewriting.read(prefix)
    with pytest.raises(InvalidValueError, match=r"\[\?, 2\]"):
        rewrite.merge(model, model, {"y:0": "x:0"})
    with pytest.raises(InvalidValueError, match="is float32, 'training:0' is bool"):
        rewrite.merge(model, model, {"loss:0": "training:0"})
    with pytest.raises(MissingNameError, match="second model"):
        rewrite.merge(model, model, {"y:0": "xx:0"})
    with pytest.raises(InvalidValueError, match="prefixes"):
        rewrite.merge(model, model, prefixes=("a/", "a"))


def test_set_shape(prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    done = rewrite.set_shape(model, {"x:0": [2, 3]})
    assert done.before == {"x:0": (None, 3)}
    assert done.dropped > 10
    assert not any("_output_shapes" in node.attr for node in done.model.nodes.values())
    out = written(done.model, tmp_path / "out")
    np.testing.assert_array_equal(results(tf, str(out)), results(tf, prefix))
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(f"{out}.meta")
        assert graph.get_tensor_by_name("net/h:0").shape.as_list() == [2, 4]
    with pytest.raises(InvalidValueError, match="'y:0' is an output of Identity"):
        rewrite.set_shape(model, {"y:0": [1]})


def test_difference(prefix: str, tmp_path: Path) -> None:
    model = rewriting.read(prefix)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{prefix}.meta")
        saver.restore(session, prefix)
        session.run("train", {"x:0": FEED, "t:0": np.zeros((2, 2))})
        saver.save(session, f"{tmp_path}/later")
    found = rewrite.difference(model, rewriting.read(f"{tmp_path}/later"))
    assert not found.nodes
    assert found.variables.changed["global_step"] == {
        "elements": 1,
        "size": 1,
        "largest": 1.0,
        "relative": 1 / 3,
    }
    assert "net/w" in found.variables.changed
    assert not rewrite.difference(model, rewriting.read(f"{tmp_path}/later"), tolerance=10.0)


# ---- published models ----------------------------------------------------------------------------

SMALL = (
    "MSD_musicnn",
    "basic_pitch",
    "deepbrain",
    "guesslang",
    "mtcnn_pnet",
    "refdata_batch_norm",
    "session_bundle_v1_tf115",
    "t2o_gru",
    "tdgammon",
    "tf115_half_plus_two_v2",
    "tf2x_SimpleWhileLoop",
    "tfjs_multi_output",
    "txt_tensor_array_loop",
)
REWRITES: dict[str, Any] = {
    "rename": lambda model, fetches: (rewrite.rename(model, ["=net/"]).model, "net/"),
    "freeze": lambda model, fetches: (rewrite.freeze(model, fetches).model, ""),
    "extract": lambda model, fetches: (rewrite.extract(model, fetches).model, ""),
    "strip": lambda model, fetches: (rewrite.strip(model, summaries=True).model, ""),
    "merge": lambda model, fetches: (rewrite.merge(model, model).model, "b/"),
}


@pytest.mark.parametrize("folder", model_folders(*SMALL))
def test_published_models_compute_the_same(folder: Path, tmp_path: Path) -> None:
    recorded, model = Recorded(folder), opened(folder)
    wrong = {}
    for name, change in REWRITES.items():
        rewritten, scope = change(model, recorded.fetches)
        path = written(rewritten, tmp_path / (f"{name}.pb" if name == "freeze" else name))
        there = [one for one in recorded.fetches if (scope + one).partition(":")[0] in rewritten.nodes]
        assert len(there) > len(recorded.fetches) // 2
        wrong[name] = disagreements(recorded, path, lambda one, scope=scope: scope + one, there)
    assert not any(wrong.values()), wrong
