"""Variables whose initializers read a checkpoint: by name, by scope, in parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as ours
from sgtool.graphcore.errors import InvalidArgumentError

VALUES = {"a": [[1.0, 2.0]], "scope/b": [3.0, 4.0, 5.0, 6.0], "scope/in/c": 7.0}


def save(folder: Path) -> str:
    with ours.Graph().as_default(), ours.Session() as session:
        for name, value in VALUES.items():
            ours.get_variable(name, initializer=value)
        session.run(ours.global_variables_initializer())
        return str(ours.train.Saver().save(session, str(folder / "m"), global_step=3))


@pytest.fixture(params=["ours", pytest.param("theirs", marks=pytest.mark.oracle)])
def tf(request: pytest.FixtureRequest) -> Any:
    module: Any = ours
    if request.param == "theirs":
        module = pytest.importorskip("tensorflow.compat.v1")
        module.disable_eager_execution()
    return module


def first_values(tf: Any, *variables: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [np.asarray(value).tolist() for value in session.run(list(variables))]


def zeros(tf: Any, name: str, shape: list[int], **options: Any) -> Any:
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer(), **options)


def test_by_name_by_variable_and_by_scope(tf: Any, tmp_path: Path) -> None:
    path = save(tmp_path)
    with tf.Graph().as_default():
        a = zeros(tf, "mine/a", [1, 2])
        b = zeros(tf, "b", [4], use_resource=True)
        with tf.variable_scope("other"):
            c = zeros(tf, "in/c", [])
            d = zeros(tf, "b", [4])
        tf.train.init_from_checkpoint(path, {"a": "mine/a", "scope/b": b, "scope/": "other/"})
        assert first_values(tf, a, b, c, d) == [[[1, 2]], [3, 4, 5, 6], 7, [3, 4, 5, 6]]


def test_a_directory_means_its_latest(tf: Any, tmp_path: Path) -> None:
    save(tmp_path)
    with tf.Graph().as_default():
        a = zeros(tf, "a", [1, 2])
        tf.train.init_from_checkpoint(str(tmp_path), {"a": a})
        assert first_values(tf, a) == [[[1, 2]]]


def test_the_root_is_a_scope_on_both_sides(tf: Any, tmp_path: Path) -> None:
    path = save(tmp_path)
    with tf.Graph().as_default():
        b = zeros(tf, "b", [4])
        tf.train.init_from_checkpoint(path, {"scope/": "/"})
        assert first_values(tf, b) == [[3, 4, 5, 6]]
    with tf.Graph().as_default():
        with tf.variable_scope("under"):
            a = zeros(tf, "a", [1, 2])
        tf.train.init_from_checkpoint(path, {"/": "under/"})
        assert first_values(tf, a) == [[[1, 2]]]


@pytest.mark.parametrize("how", ["name", "list", "scope"])
def test_partitioned_variables_read_their_parts(tf: Any, tmp_path: Path, how: str) -> None:
    path = save(tmp_path)
    with tf.Graph().as_default():
        with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
            b = zeros(tf, "b", [4])
        target = {"name": "p/b", "list": list(b), "scope": "p/"}[how]
        tf.train.init_from_checkpoint(path, {"scope/" if how == "scope" else "scope/b": target})
        assert first_values(tf, *list(b)) == [[3, 4], [5, 6]]


def test_the_initial_value_is_that_of_the_checkpoint(tf: Any, tmp_path: Path) -> None:
    path = save(tmp_path)
    with tf.Graph().as_default():
        a = zeros(tf, "a", [1, 2])
        tf.train.init_from_checkpoint(path, {"a": a})
        with tf.Session() as session:
            assert session.run(a.initial_value).tolist() == [[1, 2]]


def test_a_partitioned_variable_itself(tmp_path: Path) -> None:
    path = save(tmp_path)
    with ours.Graph().as_default():
        b = ours.get_variable("b", [4], partitioner=ours.fixed_size_partitioner(2))
        ours.train.init_from_checkpoint(path, {"scope/b": b})
        assert first_values(ours, *list(b)) == [[3, 4], [5, 6]]


def refused(assignments: Callable[[], dict[str, Any]], tmp_path: Path) -> str:
    path = save(tmp_path)
    with ours.Graph().as_default():
        zeros(ours, "other/a", [3])
        zeros(ours, "other/x", [2])
        before = [each.initializer for each in ours.global_variables()]
        with pytest.raises(InvalidArgumentError) as info:
            ours.train.init_from_checkpoint(path, assignments())
        assert [each.initializer for each in ours.global_variables()] == before
        return str(info.value)


def test_all_that_does_not_fit_is_in_one_error(tmp_path: Path) -> None:
    text = refused(
        lambda: {"nothing": "other/x", "a": "other/a", "scope/": "other/", "scope": "othr/"}, tmp_path
    )
    assert "Tensor nothing (other/x:0) is not found in" in text
    assert "Shape of variable other/a:0 ((3,)) doesn't match with shape of tensor a ([1, 2])" in text
    assert "Tensor scope/x (other/x:0) is not found in" in text
    assert "should map to scope only scope. Should be 'scope/': 'other_scope/'" in text
    assert "3.5 is neither a variable" in refused(lambda: {"a": 3.5}, tmp_path)


def test_a_checkpoint_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ours.errors.NotFoundError, match="Failed to find any matching files"):
        ours.train.init_from_checkpoint(str(tmp_path / "none"), {})


def test_warm_start(tf: Any, tmp_path: Path) -> None:
    path = save(tmp_path)
    with tf.Graph().as_default():
        a = zeros(tf, "a", [1, 2])
        renamed = zeros(tf, "new", [4])
        fixed = zeros(tf, "scope/b", [4], trainable=False)
        tf.train.warm_start(path, var_name_to_prev_var_name={"new": "scope/b"})
        assert first_values(tf, a, renamed, fixed) == [[[1, 2]], [3, 4, 5, 6], [0, 0, 0, 0]]
    with tf.Graph().as_default():
        a, b = zeros(tf, "a", [1, 2]), zeros(tf, "scope/b", [4], trainable=False)
        tf.train.warm_start(path, ["scope/.*"])
        assert first_values(tf, a, b) == [[[0, 0]], [3, 4, 5, 6]]
    with tf.Graph().as_default():
        a, b = zeros(tf, "a", [1, 2]), zeros(tf, "scope/b", [4])
        tf.train.warm_start(path, [a])
        assert first_values(tf, a, b) == [[[1, 2]], [0, 0, 0, 0]]


def test_what_warm_start_refuses(tmp_path: Path) -> None:
    path = save(tmp_path)
    with ours.Graph().as_default():
        a = zeros(ours, "a", [1, 2])
        with pytest.raises(ValueError, match=r"not used: b\. Perhaps you misspelled them"):
            ours.train.warm_start(path, var_name_to_prev_var_name={"b": "a"})
        with pytest.raises(ValueError, match="must be all `Variable` or all `str`"):
            ours.train.warm_start(path, [a, "a"])
        with pytest.raises(ValueError, match="must be a `list` or `str`"):
            ours.train.warm_start(path, 3)
        with pytest.raises(ours.errors.UnimplementedError, match="vocabulary"):
            ours.train.warm_start(path, var_name_to_vocab_info={"a": None})
