"""`tf.sparse` and `tf.sets`: functions of sparse tensors."""

import numpy as np
import pytest

from sgtool import graphcore as tf

DENSE = np.array([[0, 2, 0], [3, 0, 4]], np.float32)
OTHER = np.array([[5, -2, 0], [0, 0, 1]], np.float32)
TALL = np.array([[1, 0], [2, 3], [0, 4]], np.float32)


def sparse_of(api, array):
    index = np.stack(np.nonzero(array), 1).astype(np.int64)
    return api.SparseTensor(index, array[tuple(index.T)], np.array(array.shape, np.int64))


# What each function gives, as a dense array: the name, and a function of the module and two sparse tensors.
PROGRAMS = {
    "to_dense": (lambda tf, a, b: tf.sparse.to_dense(a, default_value=9), np.where(DENSE, DENSE, 9)),
    "from_dense": (lambda tf, a, b: tf.sparse.from_dense(DENSE), DENSE),
    "eye": (lambda tf, a, b: tf.sparse.eye(2, 3), np.eye(2, 3)),
    "add": (lambda tf, a, b: tf.sparse.add(a, b), DENSE + OTHER),
    "add_dense": (lambda tf, a, b: tf.sparse.add(OTHER, a), DENSE + OTHER),
    "matmul": (lambda tf, a, b: tf.sparse.sparse_dense_matmul(a, TALL), DENSE @ TALL),
    "matmul_adjoint": (
        lambda tf, a, b: tf.sparse_tensor_dense_matmul(a, TALL[1:].T, adjoint_a=True, adjoint_b=True),
        DENSE.T @ TALL[1:],
    ),
    "maximum": (lambda tf, a, b: tf.sparse.maximum(a, b), np.maximum(DENSE, OTHER)),
    "minimum": (lambda tf, a, b: tf.sparse.minimum(a, b), np.minimum(DENSE, OTHER)),
    "concat": (lambda tf, a, b: tf.sparse.concat(1, [a, b]), np.concatenate([DENSE, OTHER], 1)),
    "concat_expanding": (
        lambda tf, a, b: tf.sparse.concat(0, [a, sparse_of(tf, TALL)], expand_nonconcat_dim=True),
        np.concatenate([DENSE, np.pad(TALL, [(0, 0), (0, 1)])]),
    ),
    "split": (lambda tf, a, b: tf.sparse.split(sp_input=a, num_split=2, axis=1)[0], DENSE[:, :2]),
    "slice": (lambda tf, a, b: tf.sparse.slice(a, [1, 0], [1, 2]), DENSE[1:, :2]),
    "transpose": (lambda tf, a, b: tf.sparse.transpose(a), DENSE.T),
    "transpose_perm": (lambda tf, a, b: tf.sparse.transpose(a, [1, 0]), DENSE.T),
    "reshape": (lambda tf, a, b: tf.sparse.reshape(a, [3, -1]), DENSE.reshape(3, 2)),
    "reset_shape": (lambda tf, a, b: tf.sparse.reset_shape(a, [3, 4]), np.pad(DENSE, [(0, 1), (0, 1)])),
    "reset_shape_tight": (
        lambda tf, a, b: tf.sparse.reset_shape(tf.sparse.reset_shape(a, [9, 9])),
        DENSE,
    ),
    "retain": (lambda tf, a, b: tf.sparse.retain(a, [True, False, True]), DENSE * [[0, 1, 0], [0, 0, 1]]),
    "expand_dims": (lambda tf, a, b: tf.sparse.expand_dims(a, 1), DENSE[:, None]),
    "expand_dims_last": (lambda tf, a, b: tf.sparse.expand_dims(a), DENSE[..., None]),
    "fill_empty_rows": (
        lambda tf, a, b: tf.sparse.fill_empty_rows(tf.sparse.retain(a, [False, True, True]), 8)[0],
        np.array([[8, 0, 0], [3, 0, 4]]),
    ),
    "reduce_sum": (lambda tf, a, b: tf.sparse.reduce_sum(a, 1), DENSE.sum(1)),
    "reduce_sum_all": (lambda tf, a, b: tf.sparse.reduce_sum(a), DENSE.sum()),
    "reduce_max_sparse": (lambda tf, a, b: tf.sparse.reduce_max_sparse(a, 0), DENSE.max(0)),
    "softmax": (
        lambda tf, a, b: tf.sparse.softmax(a),
        np.array([[0, 1, 0], [1 / (1 + np.e), 0, np.e / (1 + np.e)]]),
    ),
    "merge": (
        lambda tf, a, b: tf.sparse.merge(
            tf.SparseTensor(a.indices, tf.constant([3, 1, 0]), a.dense_shape), a, 5
        ),
        np.array([[0, 0, 0, 2, 0], [4, 3, 0, 0, 0]]),
    ),
    "to_indicator": (
        lambda tf, a, b: tf.sparse.to_indicator(
            tf.SparseTensor(a.indices, tf.constant([3, 1, 0]), a.dense_shape), 4
        ),
        np.array([[0, 0, 0, 1], [1, 1, 0, 0]]),
    ),
    "serialized": (
        lambda tf, a, b: tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(a), tf.float32, 1),
        DENSE,
    ),
    "difference": (
        lambda tf, a, b: tf.sets.set_difference(tf.constant([[1, 2, 3]]), tf.constant([[2]])),
        np.array([[1, 3]]),
    ),
    "union_with_sparse": (
        lambda tf, a, b: tf.sets.set_union(sparse_of(tf, np.array([[1, 2]])), np.array([[2, 7]])),
        np.array([[1, 2, 7]]),
    ),
    "sparse_minus_dense": (
        lambda tf, a, b: tf.sets.set_difference(sparse_of(tf, np.array([[1, 2]])), np.array([[2, 7]])),
        np.array([[1]]),
    ),
}


def run(api, program):
    with api.Graph().as_default() as graph, api.Session() as session:
        result = program(api, sparse_of(api, DENSE), sparse_of(api, OTHER))
        parts = [result.indices, result.values, result.dense_shape] if hasattr(result, "values") else [result]
        values = session.run(parts)
    if len(values) == 1:
        return values[0], graph
    dense = np.zeros(values[2], values[1].dtype)
    dense[tuple(values[0].T)] = values[1]
    return dense, graph


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_function_gives_what_dense_tensors_give(name):
    program, expected = PROGRAMS[name]
    np.testing.assert_allclose(run(tf, program)[0], expected, rtol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_function_gives_what_tensorflow_gives(name):
    tensorflow = pytest.importorskip("tensorflow.compat.v1")
    program, _ = PROGRAMS[name]
    (ours, _), (theirs, _) = run(tf, program), run(tensorflow, program)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_gradients_reach_the_values_of_a_sparse_tensor():
    with tf.Graph().as_default(), tf.Session() as session:
        values = tf.constant([2.0, 3.0, 4.0])
        a = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], values, [2, 3])
        y = tf.reduce_sum(tf.sparse.sparse_dense_matmul(a, TALL)) + tf.reduce_sum(
            tf.sparse.to_dense(a) * OTHER
        )
        grad = session.run(tf.gradients(y, values)[0])
    np.testing.assert_allclose(grad, [5 - 2, 1 + 0, 4 + 1])


def test_a_sparse_placeholder_is_fed_with_a_value_of_any_shape():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.sparse.placeholder(tf.float32, [None, 3], name="x")
        y = tf.sparse.reduce_sum(x, 1)
        assert x.get_shape().as_list() == [None, 3] or x.get_shape().ndims == 2
        assert [each.name for each in (x.indices, x.values, x.dense_shape)] == [
            "x/indices:0",
            "x/values:0",
            "x/shape:0",
        ]
        value = tf.SparseTensorValue(np.array([[0, 1], [2, 2]]), np.float32([5, 6]), np.array([3, 3]))
        np.testing.assert_array_equal(session.run(y, {x: value}), [5, 0, 6])


def test_sparse_tensors_are_kept_and_taken_by_handle():
    with tf.Graph().as_default(), tf.Session() as session:
        a = sparse_of(tf, DENSE)
        handles = tf.raw_ops.AddManySparseToTensorsMap(
            a.indices, a.values, a.dense_shape, shared_name="map", name="adding"
        )
        taking = tf.placeholder(tf.int64, [None])
        taken = tf.raw_ops.TakeManySparseFromTensorsMap(taking, dtype=tf.float32, shared_name="map")
        given = session.run(handles)
        values = session.run(taken, {taking: given[::-1]})
        np.testing.assert_array_equal(values.sparse_indices, [[0, 0], [0, 2], [1, 1]])
        np.testing.assert_array_equal(values.sparse_values, [3, 4, 2])
        np.testing.assert_array_equal(values.sparse_shape, [2, 3])
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Unable to find SparseTensor: 0 in map: map"
        ):
            session.run(taken, {taking: given})


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda a: tf.sparse.add(DENSE, OTHER), TypeError, r"do you mean to use tf\.add\(\)"),
        (lambda a: tf.sparse.to_dense(DENSE), TypeError, "Input must be a SparseTensor"),
        (lambda a: tf.sparse.split(a, 2, 1), ValueError, "Keyword arguments are required"),
        (lambda a: tf.sparse.split(sp_input=a), ValueError, "num_split and axis must be given"),
        (lambda a: tf.sparse.reset_shape(a, [1, 3]), ValueError, r"Found new_shape \(\[1, 3\]\)"),
        (lambda a: tf.sparse.concat(0, a), TypeError, "must be a list of SparseTensors"),
        (lambda a: tf.sets.set_size(DENSE), TypeError, "Expected `SparseTensor`"),
        (lambda a: tf.sets.set_union([[1]], [[1.0]]), TypeError, "Types don't match"),
    ],
)
def test_what_does_not_fit_is_said_at_once(call, error, text):
    with tf.Graph().as_default(), pytest.raises(error, match=text):
        call(sparse_of(tf, DENSE))
