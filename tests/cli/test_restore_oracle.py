"""`sgtool restore` against what TensorFlow does for the same wish: maps, averages, subsets, casts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from .conftest import Tool

pytestmark = pytest.mark.oracle

OLD = {
    "old/w": np.arange(6, dtype=np.float32).reshape(2, 3),
    "old/b": np.array([7, 8, 9], np.float32),
    "old/deep/w": np.array([[1.5]], np.float32),
    "older": np.float32(11),
    "block1/w": np.array([21], np.float32),
    "block2/w": np.array([22], np.float32),
}


@pytest.fixture
def tf() -> Any:
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.reset_default_graph()
    return tf


def save(tf: Any, values: dict[str, Any], prefix: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in values.items():
            tf.get_variable(name, initializer=tf.constant(value))
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, prefix, write_meta_graph=False)


def variables(tf: Any, names: dict[str, Any]) -> dict[str, Any]:
    """Variables of -1 like the given values."""
    return {
        name: tf.get_variable(name, initializer=tf.constant(np.full_like(value, -1)))
        for name, value in names.items()
    }


def restored(tf: Any, prefix: str, names: Any) -> dict[str, Any]:
    """What TensorFlow reads of a checkpoint that was restored."""
    reader = tf.train.NewCheckpointReader(prefix)
    return {name: reader.get_tensor(name) for name in names}


# --map, TensorFlow's assignment map, the variables of the model: each its name in the checkpoint.
MAPS: list[tuple[list[str], dict[str, str], dict[str, str]]] = [
    (["old/=net/"], {"old/": "net/"}, {"net/w": "old/w", "net/b": "old/b", "net/deep/w": "old/deep/w"}),
    (["old/="], {"old/": "/"}, {"w": "old/w", "b": "old/b", "deep/w": "old/deep/w"}),
    (["=net/"], {"/": "net/"}, {f"net/{name}": name for name in OLD}),
    (["old/w=v"], {"old/w": "v"}, {"v": "old/w"}),
    (["old/w=v", "old/=net/"], {"old/w": "v", "old/": "net/"}, {"v": "old/w", "net/b": "old/b"}),
    (["old=net"], {"old/": "net/"}, {"net/w": "old/w", "net/b": "old/b"}),
    (
        [r"re:^block(\d)/=b\1/"],
        {"block1/": "b1/", "block2/": "b2/"},
        {"b1/w": "block1/w", "b2/w": "block2/w"},
    ),
]


@pytest.mark.parametrize(("maps", "assignment", "names"), MAPS)
def test_maps(
    maps: list[str], assignment: dict[str, str], names: dict[str, str], tf: Any, sgtool: Tool
) -> None:
    save(tf, OLD, "./old")
    with tf.Session() as session:
        made = variables(tf, {name: OLD[source] for name, source in names.items()})
        tf.train.export_meta_graph("model.meta")
        tf.train.init_from_checkpoint("./old", {old: made.get(new, new) for old, new in assignment.items()})
        session.run(tf.global_variables_initializer())
        theirs = session.run(made)
    options = [word for text in maps for word in ("--map", text)]
    result = sgtool("restore", "model.meta", "old", "-o", "ours", "--partial", *options, "--json")
    assert result.code == 0, result.err
    assert (sorted(result.json["restored"]), result.json["missing"]) == (sorted(names), [])
    for name, value in restored(tf, "./ours", names).items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)
        np.testing.assert_array_equal(value, OLD[names[name]], err_msg=name)


def test_a_map_that_matches_nothing_is_an_error_in_both(tf: Any, sgtool: Tool) -> None:
    save(tf, OLD, "./old")
    with tf.Session():
        variables(tf, {"net/w": OLD["old/w"]})
        tf.train.export_meta_graph("model.meta")
        with pytest.raises(ValueError, match="not found"):
            tf.train.init_from_checkpoint("./old", {"odl/": "net/"})
    result = sgtool("restore", "model.meta", "old", "-o", "ours", "--partial", "--map", "odl/=net/")
    assert result.code == 3
    assert "Did you mean 'old/'" in result.err


def test_averages(tf: Any, sgtool: Tool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        made = variables(tf, {"w": OLD["old/w"], "b": OLD["old/b"]})
        step = tf.train.create_global_step()
        change = [tf.assign_add(one, tf.ones_like(one)) for one in made.values()]
        averages = tf.train.ExponentialMovingAverage(0.5)
        with tf.control_dependencies([*change, tf.assign_add(step, 1)]):
            update = averages.apply([made["w"]])  # none of b, as batch statistics have none
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(update)
        plain = session.run(made["w"])
        tf.train.Saver().save(session, "./trained", write_meta_graph=False)
    with tf.Session() as session:
        made = variables(tf, {"w": OLD["old/w"], "b": OLD["old/b"]})
        step = tf.train.create_global_step()
        tf.train.export_meta_graph("model.meta")
        names = tf.train.ExponentialMovingAverage(0.5).variables_to_restore([made["w"]])
        tf.train.Saver(names).restore(session, "./trained")
        theirs = session.run(made | {"global_step": step})
    result = sgtool("restore", "model.meta", "trained", "-o", "ours", "--ema", "--json")
    assert result.code == 0, result.err
    assert (result.json["averaged"], result.json["unused"]) == (["w"], [])
    ours = restored(tf, "./ours", theirs)
    for name, value in theirs.items():
        np.testing.assert_array_equal(ours[name], value, err_msg=name)
    assert not np.array_equal(ours["w"], plain)


def test_a_subset(tf: Any, sgtool: Tool) -> None:
    save(tf, OLD, "./old")
    with tf.Session() as session:
        made = variables(tf, {"old/w": OLD["old/w"], "head": np.zeros(2, np.float32)})
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "./model")
        tf.train.Saver([made["old/w"]]).restore(session, "./old")
        theirs = session.run(made)
    assert sgtool("restore", "model", "old", "-o", "ours").code == 5
    assert sgtool("restore", "model", "old", "-o", "ours", "--partial").code == 0
    for name, value in restored(tf, "./ours", theirs).items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name)


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        ("float64", "float32"),
        ("float64", "float16"),
        ("float32", "bfloat16"),
        ("int32", "int64"),
        ("int64", "float32"),
    ],
)
def test_casts_only_on_request(stored: str, wanted: str, tf: Any, sgtool: Tool) -> None:
    values = np.linspace(-3, 3, 50) * 1.1 if stored.startswith("float") else np.arange(-20, 30)
    values = values.astype(stored)
    save(tf, {"w": values}, "./old")
    with tf.Session() as session:
        variable = tf.get_variable("w", initializer=tf.zeros([50], wanted))
        tf.train.export_meta_graph("model.meta")
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.train.Saver().restore(session, "./old")
        theirs = session.run(tf.cast(values, wanted))
    refused = sgtool("restore", "model.meta", "old", "-o", "ours")
    assert refused.code == 5
    assert f"the model has {wanted} [50], the store {stored} [50]" in refused.err
    assert sgtool("restore", "model.meta", "old", "-o", "ours", "--cast").code == 0
    ours = restored(tf, "./ours", ["w"])["w"]
    assert ours.dtype == variable.dtype.base_dtype.as_numpy_dtype
    np.testing.assert_array_equal(ours, theirs)
