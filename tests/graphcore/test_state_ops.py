"""References, temporary variables, tensors kept by sessions, slices and scattered updates of variables."""

from __future__ import annotations

import numpy as np
import pytest

from sgtool import graphcore as tf

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def variable(value, use_resource: bool, name: str = "v"):
    return tf.Variable(np.asarray(value, np.float32), use_resource=use_resource, name=name)


@KINDS
def test_slices_are_assigned(session, use_resource: bool) -> None:
    v = variable(np.zeros((3, 4)), use_resource)
    session.run(v.initializer)
    row = v[1].assign([1.0, 2.0, 3.0, 4.0])
    assert session.run(row)[1].tolist() == [1, 2, 3, 4]
    assert row.op.name == "strided_slice/_assign"
    assert row.op.type == ("ResourceStridedSliceAssign" if use_resource else "StridedSliceAssign")
    session.run(v[::2, -1].assign([8.0, 9.0], name="column"))
    session.run(v[..., :1].assign(5.0))
    assert session.run(v).tolist() == [[5, 0, 0, 8], [5, 2, 3, 4], [5, 0, 0, 9]]
    assert session.run(v[2, 3]) == 9
    by_name = tf.strided_slice(v, [0], [1], [1], var=v).assign([[7.0] * 4])
    assert session.run(by_name)[0].tolist() == [7] * 4
    with pytest.raises(ValueError, match="Sliced assignment is only supported for variables"):
        tf.identity(v)[0].assign(1.0)


@KINDS
def test_functions_and_methods_scatter(session, use_resource: bool) -> None:
    v = variable([[1, 2], [3, 4], [5, 6]], use_resource)
    expected = np.array([[1, 2], [3, 4], [5, 6]], np.float64)
    rows, values = [2, 0], np.array([[2.0, 4.0], [8.0, 0.5]])
    session.run(v.initializer)
    slices = tf.IndexedSlices(tf.constant(values, tf.float32), tf.constant(rows))
    for name, combine in (
        ("update", lambda old, new: new),
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("div", np.divide),
        ("min", np.minimum),
        ("max", np.maximum),
    ):
        for _ in range(2):
            expected[rows] = combine(expected[rows], values)
        session.run(getattr(tf, f"scatter_{name}")(v, rows, values))
        np.testing.assert_allclose(session.run(getattr(v, f"scatter_{name}")(slices)), expected)
    places, numbers = [[0, 1], [2, 0]], [10.0, 20.0]
    for name, combine in (("update", lambda old, new: new), ("add", np.add), ("sub", np.subtract)):
        for _ in range(2):
            expected[[0, 2], [1, 0]] = combine(expected[[0, 2], [1, 0]], numbers)
        session.run(getattr(tf, f"scatter_nd_{name}")(v, places, numbers))
        np.testing.assert_allclose(session.run(getattr(v, f"scatter_nd_{name}")(places, numbers)), expected)
    with pytest.raises(TypeError, match="sparse_delta is not IndexedSlices"):
        v.scatter_add([1.0, 2.0])


@KINDS
def test_batches_scatter(session, use_resource: bool) -> None:
    v = variable(np.zeros((2, 3)), use_resource)
    session.run(v.initializer)
    result = tf.batch_scatter_update(v, [[0, 2], [1, 0]], [[1.0, 2.0], [3.0, 4.0]])
    assert session.run(result).tolist() == [[1, 0, 2], [4, 3, 0]]


def test_resource_variables_gather_and_count(session) -> None:
    v = variable([[1, 2], [3, 4]], True)
    counter = tf.Variable(np.int32(1), use_resource=True)
    session.run(tf.global_variables_initializer())
    assert session.run(v.gather_nd([[1, 0], [0, 1]])).tolist() == [3, 2]
    count = counter.count_up_to(2)
    assert session.run(count) == 1
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        session.run(count)


@pytest.mark.parametrize("places", [[[1], [0], [1]], [[1, 0], [0, 1], [1, 0]]])
def test_gradients_of_gathered_tuples(session, places) -> None:
    v = variable([[1, 2], [3, 4]], True)
    session.run(v.initializer)
    (grad,) = tf.gradients(tf.reduce_sum(tf.square(v.gather_nd(places))), [v])
    assert isinstance(grad, tf.IndexedSlices) == (len(places[0]) == 1)
    expected = [[2, 4], [12, 16]] if len(places[0]) == 1 else [[0, 4], [12, 0]]
    assert session.run(tf.convert_to_tensor(grad)).tolist() == expected


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda v, x: tf.scatter_nd_update(v, x, [1.0]),
            r"indices\[0\] = \[0, 5\] does not index into shape",
        ),
        (lambda v, x: tf.scatter_nd_add(v, [[0, 0], [1, 1]], x), "must match dimensions"),
        (lambda v, x: tf.scatter_min(v, [7], [[1.0, 2.0]]), r"indices\[0\] = 7 is not in \[0, 2\)"),
    ],
)
def test_refused_updates(session, make, text: str) -> None:
    v = variable([[1, 2], [3, 4]], False)
    session.run(v.initializer)
    fed = tf.placeholder(tf.int32 if "indices" in text else tf.float32, None)
    value = np.array([[0, 5]]) if "indices" in text else np.ones(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(make(v, fed), {fed: value})


def test_static_shapes_of_updates(session) -> None:
    v = variable([[1, 2], [3, 4]], False)
    with pytest.raises(ValueError, match=r"The inner 1 dimensions of input.shape="):
        tf.scatter_nd_update(v, [[0]], [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match=r"The outer 1 dimensions of indices.shape="):
        tf.scatter_nd_update(v, [[0], [1]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match="Dimension 1 in both shapes must be equal"):
        tf.scatter_add(v, [0], [[1.0, 2.0, 3.0]])


def test_a_reference_is_selected(session) -> None:
    first, second = variable(1, False, "a"), variable(2, False, "b")
    index = tf.placeholder(tf.int32, [])
    chosen = tf.raw_ops.RefSelect(index, [first, second])
    session.run(tf.global_variables_initializer())
    assert session.run(tf.raw_ops.AssignAdd(chosen, 10.0), {index: 1}) == 12
    assert session.run([first, second]) == [1, 12]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Index must be in the range \[0, 2\) but got 2"
    ):
        session.run(tf.raw_ops.Identity(chosen), {index: 2})


def test_temporary_variables(session) -> None:
    temporary = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="sum")
    total = tf.raw_ops.AssignAdd(tf.raw_ops.Assign(temporary, [1.0, 2.0]), [10.0, 20.0])
    result = tf.raw_ops.DestroyTemporaryVariable(total, var_name="sum")
    assert result.get_shape().as_list() == [2]
    for _ in range(2):  # each run has its own
        assert session.run(result).tolist() == [11, 22]
    missing = tf.raw_ops.DestroyTemporaryVariable(total, var_name="other")
    with pytest.raises(tf.errors.NotFoundError, match="other does not exist"):
        session.run(missing)


def test_sessions_keep_tensors(session) -> None:
    x = tf.placeholder(tf.float32, [2])
    handle = session.run(tf.get_session_handle(x * 2.0), {x: [1.0, 2.0]})
    assert str(handle).startswith("GetSessionHandle;0;/job:localhost")
    assert handle.eval().tolist() == [2, 4]
    holder, tensor = tf.get_session_tensor(handle.handle, tf.float32)
    assert session.run(tensor + 1.0, {holder: handle.handle}).tolist() == [3, 5]
    assert session.run(x + 1.0, {x: handle}).tolist() == [3, 5]  # in place of its value
    kept = session.run({"h": tf.get_session_handle(x)}, {x: handle})["h"]
    delete_holder, delete = tf.delete_session_tensor(kept.handle)
    session.run(delete, {delete_holder: kept.handle})
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        session.run(tensor, {holder: kept.handle})
    handle.delete()
    with pytest.raises(TypeError, match="may have already been deleted"):
        handle.eval()
    with pytest.raises(TypeError, match="must be of type Tensor"):
        tf.get_session_handle(1.0)


def test_abort_ends_the_run(session) -> None:
    with pytest.raises(tf.errors.AbortedError, match="enough"):
        session.run(tf.raw_ops.Abort(error_msg="enough"))


@KINDS
def test_counts(session, use_resource: bool) -> None:
    counter = tf.Variable(np.int64(0), use_resource=use_resource)
    session.run(counter.initializer)
    count = tf.count_up_to(counter, 2)
    assert [session.run(count) for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        session.run(count)
