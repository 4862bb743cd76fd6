"""Variables, variable scopes, initializers and savers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf

KINDS = [pytest.param(False, id="ref"), pytest.param(True, id="resource")]


@pytest.fixture(autouse=True)
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize("use_resource", KINDS)
def test_a_variable_is_assigned_and_read(session: Any, use_resource: bool) -> None:
    v = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
        session.run(v)
    assert not session.run(tf.is_variable_initialized(v))
    session.run(v.initializer)
    assert session.run(tf.is_variable_initialized(v))
    np.testing.assert_array_equal(session.run(v.assign([3.0, 4.0])), [3, 4])
    np.testing.assert_array_equal(session.run(v.assign_add([1.0, 1.0])), [4, 5])
    np.testing.assert_array_equal(session.run(tf.assign_sub(v, [4.0, 0.0])), [0, 5])
    np.testing.assert_array_equal(session.run(v + 1.0), [1, 6])
    np.testing.assert_array_equal(session.run(2.0 * v), [0, 10])
    np.testing.assert_array_equal(session.run(v[1]), 5)
    np.testing.assert_array_equal(session.run(v.read_value()), [0, 5])
    v.load([8.0, 9.0], session)
    np.testing.assert_array_equal(v.eval(session), [8, 9])
    slices = tf.IndexedSlices(tf.constant([10.0]), tf.constant([1]))
    np.testing.assert_array_equal(session.run(v.scatter_add(slices)), [8, 19])
    assert v.op.name == "v"
    assert v.get_shape().as_list() == [2]


@pytest.mark.parametrize("use_resource", KINDS)
def test_a_value_of_another_shape_is_refused(session: Any, use_resource: bool) -> None:
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with pytest.raises(ValueError, match=r"(?i)shapes"):
        v.assign([1.0, 2.0, 3.0])
    unknown = tf.placeholder(tf.float32)
    session.run(v.initializer)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Assign requires shapes of both tensors to match"
    ) as info:
        session.run(v.assign(unknown), {unknown: [1.0]})
    assert "lhs shape= [2] rhs shape= [1]" in str(info.value)
    np.testing.assert_array_equal(session.run(v), [1, 2])


def test_collections_and_their_initializers(session: Any) -> None:
    v = tf.Variable(1.0, name="v")
    frozen = tf.Variable(2.0, name="frozen", trainable=False)
    local = tf.Variable(3.0, name="local", trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    assert tf.global_variables() == [v, frozen]
    assert tf.trainable_variables() == [v]
    assert tf.local_variables() == [local]
    assert sorted(session.run(tf.report_uninitialized_variables()).tolist()) == [b"frozen", b"local", b"v"]
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    assert session.run(tf.report_uninitialized_variables()).tolist() == []
    assert session.run([v, frozen, local]) == [1, 2, 3]


def test_a_variable_made_of_another_needs_no_order(session: Any) -> None:
    a = tf.Variable(tf.random_uniform([3], seed=1), name="a")
    b = tf.Variable(a.initialized_value() * 2.0, name="b")
    c = tf.Variable(a + 1.0, name="c")
    session.run(tf.global_variables_initializer())
    got_a, got_b, got_c = session.run([a, b, c])
    np.testing.assert_allclose(got_b, got_a * 2)
    assert got_c.shape == (3,)


def test_what_a_variable_needs() -> None:
    with pytest.raises(ValueError, match="initial_value must be specified"):
        tf.Variable()
    with pytest.raises(ValueError, match="initial_value must have a shape specified"):
        tf.Variable(tf.placeholder(tf.float32))
    tf.Variable(tf.placeholder(tf.float32), validate_shape=False)
    with pytest.raises(ValueError, match="must be a list, tuple, or set"):
        tf.Variable(1.0, collections="variables")


# Scopes


def test_variables_are_shared_on_request_only() -> None:
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [2, 3])
        with pytest.raises(ValueError, match="Variable layer/w already exists, disallowed") as info:
            tf.get_variable("w", [2, 3])
        assert "test_variables.py" in str(info.value)
    with tf.variable_scope("layer", reuse=True):
        assert tf.get_variable("w") is w
        assert tf.get_variable("w", [2, 3]) is w
        with pytest.raises(ValueError, match=r"specified shape \(3, 3\) and found shape \(2, 3\)"):
            tf.get_variable("w", [3, 3])
        with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32"):
            tf.get_variable("w", [2, 3], tf.int32)
        with pytest.raises(ValueError, match="Variable layer/v does not exist, or was not created with"):
            tf.get_variable("v", [2])
    with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [2, 3]) is w
        assert tf.get_variable("v", [2]).op.name == "layer/v"
    with tf.variable_scope("layer") as scope:
        scope.reuse_variables()
        assert tf.get_variable("w") is w


def test_scopes_and_name_scopes() -> None:
    with tf.variable_scope("a"):
        with tf.variable_scope("b") as inner:
            v = tf.get_variable("v", [1])
            assert tf.constant(1, name="c").op.name == "a/b/c"
        with tf.name_scope("n"):
            w = tf.get_variable("w", [1])
            x = tf.Variable(1.0, name="x")
    with tf.variable_scope("a"):
        assert tf.constant(1, name="c").op.name == "a_1/c"
        assert tf.get_variable("u", [1]).op.name == "a/u"
    with tf.variable_scope(inner, reuse=True):
        assert tf.get_variable("v") is v
        assert tf.constant(1, name="d").op.name == "b/d"
    assert [item.op.name for item in (v, w, x)] == ["a/b/v", "a/w", "a/n/x"]
    names = []
    for _ in range(3):
        with tf.variable_scope(None, default_name="auto"):
            names.append(tf.get_variable("z", [1]).op.name)
    assert names == ["auto/z", "auto_1/z", "auto_2/z"]


def test_a_scope_gives_defaults(session: Any) -> None:
    calls = []

    def getter(inner: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        calls.append(name)
        return inner(name, *args, **kwargs)

    def regularizer(weights: Any) -> Any:
        return tf.reduce_sum(weights * weights)

    with tf.variable_scope(
        "s",
        initializer=tf.constant_initializer(2.0),
        regularizer=regularizer,
        custom_getter=getter,
        use_resource=True,
    ):
        v = tf.get_variable("v", [2])
        with tf.variable_scope("t", dtype=tf.float64):
            w = tf.get_variable("w", [1], initializer=tf.ones_initializer)
    assert calls == ["s/v", "s/t/w"]
    assert v.op.type == w.op.type == "VarHandleOp"
    assert w.dtype == tf.float64
    session.run(tf.global_variables_initializer())
    assert session.run(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)) == [8.0, 1.0]


def test_global_step(session: Any) -> None:
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step
    assert step.dtype.base_dtype == tf.int64
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()
    session.run(step.initializer)
    assert tf.train.global_step(session, step) == 0


@pytest.mark.parametrize(
    ("initializer", "check"),
    [
        (tf.zeros_initializer(), lambda x: np.all(x == 0)),
        (tf.ones_initializer(), lambda x: np.all(x == 1)),
        (tf.constant_initializer(3), lambda x: np.all(x == 3)),
        (
            tf.random_normal_initializer(5.0, 0.1, seed=1),
            lambda x: abs(x.mean() - 5) < 0.05 and 0.08 < x.std() < 0.12,
        ),
        (tf.random_uniform_initializer(-1, 1, seed=1), lambda x: -1 <= x.min() < -0.8 and 0.8 < x.max() <= 1),
        (tf.truncated_normal_initializer(0, 1, seed=1), lambda x: np.abs(x).max() <= 2 and x.std() > 0.7),
        (tf.glorot_uniform_initializer(seed=1), lambda x: 0.2 < np.abs(x).max() <= np.sqrt(6 / 70) + 1e-6),
        (tf.variance_scaling_initializer(2.0, seed=1), lambda x: abs(x.std() - np.sqrt(2 / 20)) < 0.03),
        (tf.initializers.identity(2.0), lambda x: np.array_equal(x, 2 * np.eye(20, 50))),
    ],
)
def test_initializers(session: Any, initializer: Any, check: Any) -> None:
    v = tf.get_variable("v", [20, 50], initializer=initializer)
    session.run(v.initializer)
    assert check(session.run(v))


def test_a_constant_initializer_fills_up_with_its_last_value(session: Any) -> None:
    v = tf.get_variable("v", [2, 3], initializer=tf.constant_initializer([1, 2, 3, 4]))
    session.run(v.initializer)
    np.testing.assert_array_equal(session.run(v), [[1, 2, 3], [4, 4, 4]])


def test_a_constraint_holds_after_an_update(session: Any) -> None:
    v = tf.get_variable("v", initializer=[1.0, 1.0], constraint=lambda x: tf.maximum(x, 0.5))
    step = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(v * [1.0, 0.1]))
    session.run(tf.global_variables_initializer())
    session.run(step)
    np.testing.assert_allclose(session.run(v), [0.5, 0.9])


@pytest.mark.parametrize("use_resource", KINDS)
@pytest.mark.parametrize(
    "make",
    [
        tf.train.GradientDescentOptimizer,
        tf.train.AdamOptimizer,
        lambda rate: tf.train.MomentumOptimizer(rate, 0.9),
    ],
)
def test_rows_that_were_not_read_stay(session: Any, make: Any, use_resource: bool) -> None:
    table = tf.get_variable("table", initializer=np.ones((4, 2), np.float32), use_resource=use_resource)
    loss = tf.reduce_sum(tf.gather(table, [1, 3, 1]))
    step = make(0.1).minimize(loss)
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(step)
    got = session.run(table)
    np.testing.assert_array_equal(got[[0, 2]], np.ones((2, 2)))
    assert np.all(got[[1, 3]] < 0.95)


# Savers


def test_old_checkpoints_go_when_new_ones_are_whole(session: Any, tmp_path: Path) -> None:
    v = tf.Variable(0, name="v")
    saver = tf.train.Saver(max_to_keep=2)
    session.run(v.initializer)
    paths = [saver.save(session, str(tmp_path / "m"), global_step=step) for step in (1, 2, 3)]
    assert paths == [str(tmp_path / f"m-{step}") for step in (1, 2, 3)]
    assert saver.last_checkpoints == paths[1:]
    assert not tf.train.checkpoint_exists(paths[0])
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("m-2")) == [
        "m-2.data-00000-of-00001",
        "m-2.index",
        "m-2.meta",
    ]
    again = tf.train.Saver(max_to_keep=2)
    again.recover_last_checkpoints(paths)
    assert again.last_checkpoints == paths[1:]
    again.save(session, str(tmp_path / "m"), global_step=4)
    assert not tf.train.checkpoint_exists(paths[1])
    state = tf.train.get_checkpoint_state(tmp_path)
    assert state.model_checkpoint_path == str(tmp_path / "m-4")
    times = tf.train.get_checkpoint_mtimes([str(tmp_path / "m-4"), str(tmp_path / "none")])
    assert len(times) == 1
    assert abs(times[0] - time.time()) < 60


def test_every_n_hours_one_is_kept(session: Any, tmp_path: Path) -> None:
    v = tf.Variable(0, name="v")
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    session.run(v.initializer)
    for step in range(3):
        time.sleep(0.01)
        saver.save(session, str(tmp_path / "m"), global_step=step)
    assert tf.train.checkpoint_exists(tmp_path / "m-0")


def test_keys_are_those_of_the_dict(session: Any, tmp_path: Path) -> None:
    a, b = tf.Variable([1.0], name="a"), tf.Variable([2.0], name="b", use_resource=True)
    session.run(tf.global_variables_initializer())
    path = tf.train.Saver({"first": a, "second": b}).save(
        session, str(tmp_path / "m"), write_meta_graph=False
    )
    assert tf.train.list_variables(path) == [("first", [1]), ("second", [1])]
    tf.train.Saver({"second": a, "first": b}).restore(session, path)
    assert session.run([a, b]) == [[2.0], [1.0]]


def test_the_step_is_padded_the_state_relative_and_the_folder_made(session: Any, tmp_path: Path) -> None:
    v = tf.Variable(0, name="v")
    session.run(v.initializer)
    saver = tf.train.Saver(pad_step_number=True, save_relative_paths=True)
    path = saver.save(session, str(tmp_path / "new" / "m"), global_step=tf.constant(7))
    assert path.endswith("m-00000007")
    text = (tmp_path / "new" / "checkpoint").read_text(encoding="utf-8")
    assert text == 'model_checkpoint_path: "m-00000007"\nall_model_checkpoint_paths: "m-00000007"\n'
    (tmp_path / "new").rename(tmp_path / "moved")
    assert tf.train.latest_checkpoint(tmp_path / "moved") == str(tmp_path / "moved" / "m-00000007")


def test_what_a_saver_refuses(session: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    v, w = tf.Variable(0.0, name="v"), tf.Variable(0.0, name="w")
    with pytest.raises(TypeError, match="Variable to save is not a Variable"):
        tf.train.Saver([tf.constant(1.0)])
    with pytest.raises(ValueError, match="At least two variables have the same name: v"):
        tf.train.Saver([v, v])
    saver = tf.train.Saver()
    with pytest.raises(tf.errors.FailedPreconditionError) as info:
        saver.save(session, str(tmp_path / "m"))
    assert "uninitialized value v" in str(info.value)
    assert "uninitialized value w" in str(info.value)
    session.run([v.initializer, w.initializer])
    with pytest.raises(ValueError, match=r"Parent directory of .* doesn't exist, can't save"):
        saver.save(session, str(tmp_path / "a" / "b" / "m"))
    with pytest.raises(ValueError, match="'latest_filename' collides with 'save_path'"):
        saver.save(session, str(tmp_path / "checkpoint"))
    with pytest.raises(TypeError, match="'sess' must be a Session"):
        saver.save(None, str(tmp_path / "m"))
    with pytest.raises(ValueError, match="Can't load save_path when it is None"):
        saver.restore(session, None)


def test_reshape_restores_into_another_shape(session: Any, tmp_path: Path) -> None:
    v = tf.Variable(np.arange(6, dtype=np.float32), name="v")
    session.run(v.initializer)
    path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as other:
        tf.get_variable("v", [2, 3])
        tf.train.Saver(reshape=True).restore(other, path)
        np.testing.assert_array_equal(other.run("v:0"), [[0, 1, 2], [3, 4, 5]])


def test_several_global_steps_are_named() -> None:
    tf.train.create_global_step()
    other = tf.Variable(0, name="other", trainable=False)
    tf.add_to_collection(tf.GraphKeys.GLOBAL_STEP, other)
    with pytest.raises(RuntimeError, match="GLOBAL_STEP collection: global_step:0, other:0"):
        tf.train.get_global_step()


def test_a_variable_without_initializer_needs_a_shape() -> None:
    with pytest.raises(ValueError, match="The initializer passed is not valid"):
        tf.get_variable("q")


def test_a_variable_whose_reads_need_not_be_copied_stays_what_it_was():
    """TensorFlow 2 writes DisableCopyOnRead into the graphs that it saves."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        session.run(v.initializer)
        before = session.run(v)
        session.run(tf.raw_ops.DisableCopyOnRead(v.handle))
        session.run(v.assign_add([1.0, 1.0]))
        assert before.tolist() == [1, 2]
        assert session.run(v).tolist() == [2, 3]


def test_creators_make_the_variables_inside() -> None:
    made = []

    def renamed(next_creator: Any, **kwargs: Any) -> Any:
        return next_creator(**{**kwargs, "name": f"{kwargs['name']}_new"})

    def noted(next_creator: Any, **kwargs: Any) -> Any:
        made.append(kwargs["name"])
        return next_creator(**kwargs)

    with tf.Graph().as_default():
        with tf.variable_creator_scope(noted), tf.variable_creator_scope(renamed):
            first = tf.Variable(1.0, name="v")
            second = tf.get_variable("w", [])
        assert (first.op.name, second.op.name) == ("v_new", "w_new")
        assert made == ["v_new", "w_new"]
        assert tf.Variable(1.0, name="x").op.name == "x"


def test_variables_take_the_kind_of_their_scope() -> None:
    with tf.Graph().as_default(), tf.variable_scope("s", use_resource=True):
        assert tf.Variable(1.0).op.type == "VarHandleOp"


def test_a_scope_that_is_entered_again_keeps_its_name_scope() -> None:
    with tf.Graph().as_default():
        with tf.name_scope("one"), tf.variable_scope("tower") as tower:
            pass
        with tf.name_scope("two"), tf.variable_scope(tower) as again:
            assert again.original_name_scope == "one/tower/"
            assert tf.constant(1.0).op.name == "two/tower/Const"


def test_scopes_are_left_in_order() -> None:
    with tf.Graph().as_default():
        outer = tf.variable_scope("a")
        outer.__enter__()
        with tf.variable_scope("b"), pytest.raises(RuntimeError, match="Improper nesting of variable_scope"):
            outer.__exit__(None, None, None)
        outer.__exit__(None, None, None)


def test_readers_on_another_device() -> None:
    with tf.Graph().as_default(), tf.variable_scope("s", caching_device="/device:CPU:1"):
        assert tf.get_variable("v", []).value().device == "/device:CPU:1"
        assert tf.get_variable("r", [], use_resource=True).value().device == "/device:CPU:1"


def test_variables_synchronized_on_read_are_not_trained() -> None:
    with tf.Graph().as_default():
        variable = tf.get_variable("v", [], synchronization=tf.VariableSynchronization.ON_READ)
        assert not variable.trainable
        assert tf.trainable_variables() == []


def test_values_of_another_dtype_than_asked_for_are_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Initializer type '<dtype: 'int32'>' and explicit dtype"):
            tf.get_variable("v", dtype=tf.float32, initializer=tf.constant(1))
        with pytest.raises(ValueError, match="If initializer is a constant, do not specify shape"):
            tf.get_variable("v", [], initializer=tf.constant(1.0))


def test_what_changes_a_variable_is_where_it_is() -> None:
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            variable = tf.Variable(0, name="v")
        with tf.device("/job:worker/task:7"):
            changed = variable.assign(1)
        assert changed.device == "/job:ps"
        assert changed.op.colocation_groups() == [b"loc:@v"]


def test_a_first_value_of_a_loop_is_refused() -> None:
    def body(i: Any) -> Any:
        tf.Variable(initial_value=tf.zeros([]))
        return i + 1

    with tf.Graph().as_default(), pytest.raises(ValueError, match="inside a control-flow construct"):
        tf.while_loop(lambda i: i < 3, body, [0])


def test_synchronization_is_saved() -> None:
    with tf.Graph().as_default():
        variable = tf.Variable(
            1.0,
            synchronization=tf.VariableSynchronization.NONE,
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )
        again = tf.Variable.from_proto(variable.to_proto())
        assert again.synchronization == tf.VariableSynchronization.NONE
        assert again.aggregation == tf.VariableAggregation.ONLY_FIRST_REPLICA


def test_variables_without_values_fail_an_assertion() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert tf.assert_variables_initialized() is None
        tf.Variable(1.0, name="v")
        check = tf.assert_variables_initialized()
        with pytest.raises(tf.errors.OpError, match="Attempting to use uninitialized value v"):
            session.run(check)
        session.run(tf.global_variables_initializer())
        session.run(check)
