"""TensorFlow's Python functions on top of the ops: what they give, and the nodes they make.

Each row is a program of `tf` and some arrays, and what NumPy says. The rows marked for it run through a
real TensorFlow as well: values, static shapes and gradients compared.
"""

from __future__ import annotations

import numpy as np
import pytest
from op_cases import floats
from op_cases.nn import log_softmax, softmax
from op_cases.nn_conv import Direct
from op_cases.nn_pool import Direct as Pool
from op_runs import run_program as run

from sgtool import graphcore

X, Y, CUBE = floats(4, 3), floats(4, 3, seed=1), floats(2, 3, 4)
IMAGE, KERNEL = floats(2, 6, 5, 4), floats(3, 2, 4, 3, seed=1)
MASK = np.array([True, False, True, True])
CLASSES = np.array([2, 0, 1, 2], np.int32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def xent(logits, labels, axis=-1):
    logits, labels = np.moveaxis(logits, axis, -1), np.moveaxis(labels, axis, -1)
    return -np.sum(labels * log_softmax(logits), -1)


def dilate(w, rate):
    out = np.zeros(((w.shape[0] - 1) * rate + 1, (w.shape[1] - 1) * rate + 1, *w.shape[2:]), w.dtype)
    out[::rate, ::rate] = w
    return out


SAME, VALID = {"strides": [1, 1, 1, 1], "padding": "SAME"}, {"strides": [1, 1, 1, 1], "padding": "VALID"}

# name: (program, inputs, expected)
PROGRAMS = {
    "getitem": (lambda tf, x: x[:, 1:, ::-2], [CUBE], CUBE[:, 1:, ::-2]),
    "getitem_int": (lambda tf, x: x[-1, 0], [CUBE], CUBE[-1, 0]),
    "getitem_new_axis": (lambda tf, x: x[..., tf.newaxis, 2], [CUBE], CUBE[..., None, 2]),
    "getitem_tensor": (lambda tf, x: x[tf.constant(1), : tf.constant(2)], [CUBE], CUBE[1, :2]),
    "getitem_mask": (lambda tf, x: x[MASK], [X], X[MASK]),
    "slice": (lambda tf, x: tf.slice(x, [0, 1, 0], [-1, 2, 3]), [CUBE], CUBE[:, 1:3, :3]),
    "strided_slice": (lambda tf, x: tf.strided_slice(x, [0, 1], [2, 3]), [CUBE], CUBE[0:2, 1:3]),
    "gather": (lambda tf, x: tf.gather(x, [2, 0]), [X], X[[2, 0]]),
    "gather_axis": (lambda tf, x: tf.gather(x, [[2], [0]], axis=1), [X], X[:, [[2], [0]]]),
    "gather_batch": (
        lambda tf, x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1),
        [CUBE],
        np.stack([CUBE[0][[2, 0]], CUBE[1][[1, 1]]]),
    ),
    "gather_nd": (lambda tf, x: tf.gather_nd(x, [[1, 2], [0, 0]]), [CUBE], CUBE[[1, 0], [2, 0]]),
    "gather_nd_batch": (
        lambda tf, x: tf.gather_nd(x, [[2], [0]], batch_dims=1),
        [CUBE],
        CUBE[[0, 1], [2, 0]],
    ),
    "scatter_nd": (
        lambda tf, x: tf.scatter_nd([[1], [1]], x, [3, 3]),
        [X[:2]],
        np.stack([np.zeros(3, np.float32), X[0] + X[1], np.zeros(3, np.float32)]),
    ),
    "where": (lambda tf, x, y: tf.where(x > y, x, y), [X, Y], np.maximum(X, Y)),
    "where_rows": (lambda tf, x, y: tf.where(MASK, x, y), [X, Y], np.where(MASK[:, None], X, Y)),
    "where_indices": (lambda tf, x: tf.where(x > 0), [X], np.argwhere(X > 0)),
    "one_hot": (lambda tf: tf.one_hot(CLASSES, 3), [], np.eye(3, dtype=np.float32)[CLASSES]),
    "one_hot_values": (
        lambda tf: tf.one_hot([0, 2], 3, on_value=5, off_value=-1, axis=0),
        [],
        np.where(np.eye(3)[:, [0, 2]] > 0, 5, -1).astype(np.int32),
    ),
    "one_hot_dtype": (lambda tf: tf.one_hot([1], 2, dtype=tf.int64), [], np.array([[0, 1]])),
    "boolean_mask": (lambda tf, x: tf.boolean_mask(x, MASK), [X], X[MASK]),
    "boolean_mask_axis": (lambda tf, x: tf.boolean_mask(x, [True, False, True], axis=1), [X], X[:, [0, 2]]),
    "boolean_mask_2d": (lambda tf, x: tf.boolean_mask(x, X > 0), [X], X[X > 0]),
    "unique": (lambda tf: tf.unique([3, 1, 3])[0], [], np.array([3, 1], np.int32)),
    "dynamic_partition": (lambda tf, x: tf.dynamic_partition(x, [0, 1, 1, 0], 2)[1], [X], X[[1, 2]]),
    "top_k": (lambda tf, x: tf.nn.top_k(x, 2).values, [X], -np.sort(-X)[:, :2]),
    "in_top_k": (lambda tf, x: tf.nn.in_top_k(x, CLASSES, 1), [X], X.argmax(1) == CLASSES),
    "leaky_relu": (lambda tf, x: tf.nn.leaky_relu(x, 0.3), [X], np.where(X > 0, X, np.float32(0.3) * X)),
    "crelu": (lambda tf, x: tf.nn.crelu(x), [X], np.maximum(np.concatenate([X, -X], 1), 0)),
    "swish": (lambda tf, x: tf.nn.swish(x), [X], X * sigmoid(X)),
    "bias_add": (lambda tf, x, b: tf.nn.bias_add(x, b), [IMAGE, floats(4)], IMAGE + floats(4)),
    "bias_add_first": (
        lambda tf, x, b: tf.nn.bias_add(x, b, "NCHW"),
        [IMAGE, floats(6)],
        IMAGE + floats(6)[:, None, None],
    ),
    "softmax_axis": (lambda tf, x: tf.nn.softmax(x, axis=0), [X], softmax(X.T).T),
    "log_softmax_axis": (
        lambda tf, x: tf.nn.log_softmax(x, 1),
        [CUBE],
        np.moveaxis(log_softmax(np.moveaxis(CUBE, 1, -1)), -1, 1),
    ),
    "softmax_cross_entropy": (
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x),
        [CUBE, softmax(CUBE)],
        xent(CUBE, softmax(CUBE)),
    ),
    "softmax_cross_entropy_v1": (
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        [X, softmax(Y)],
        xent(X, softmax(Y)),
    ),
    "softmax_cross_entropy_axis": (
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x, axis=0),
        [X, softmax(Y)],
        xent(X, softmax(Y), 0),
    ),
    "sparse_softmax_cross_entropy": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=CLASSES, logits=x),
        [X],
        xent(X, np.eye(3)[CLASSES]),
    ),
    "sparse_softmax_cross_entropy_3d": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[0, 1, 3], [2, 2, 0]], logits=x),
        [CUBE],
        xent(CUBE, np.eye(4)[[[0, 1, 3], [2, 2, 0]]]),
    ),
    "sigmoid_cross_entropy": (
        lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
        [X, sigmoid(Y)],
        -sigmoid(Y) * np.log(sigmoid(X)) - (1 - sigmoid(Y)) * np.log(sigmoid(-X)),
    ),
    "weighted_cross_entropy": (
        lambda tf, x, y: tf.nn.weighted_cross_entropy_with_logits(labels=y, logits=x, pos_weight=2.0),
        [X, sigmoid(Y)],
        -2 * sigmoid(Y) * np.log(sigmoid(X)) - (1 - sigmoid(Y)) * np.log(sigmoid(-X)),
    ),
    "log_poisson_loss": (
        lambda tf, x, y: tf.nn.log_poisson_loss(y, x, compute_full_loss=True),
        [X, np.exp(Y)],
        np.exp(X)
        - X * np.exp(Y)
        + np.where(np.exp(Y) <= 1, 0, np.exp(Y) * Y - np.exp(Y) + 0.5 * np.log(2 * np.pi * np.exp(Y))),
    ),
    "zero_fraction": (
        lambda tf, x: tf.nn.zero_fraction(tf.nn.relu(x)),
        [X],
        np.mean(X <= 0, dtype=np.float32),
    ),
    "l2_normalize": (
        lambda tf, x: tf.nn.l2_normalize(x, 1),
        [X],
        X / np.linalg.norm(X, axis=1, keepdims=True),
    ),
    "moments": (lambda tf, x: tf.stack(tf.nn.moments(x, [0])), [X], np.stack([X.mean(0), X.var(0)])),
    "batch_normalization": (
        lambda tf, x, s: tf.nn.batch_normalization(x, 0.5, 2.0, s, 3.0, 0.001),
        [X, floats(3)],
        (X - 0.5) / np.sqrt(2.001) * 3 + floats(3),
    ),
    "fused_batch_norm": (
        lambda tf, x, s: tf.nn.fused_batch_norm(x, s, s, epsilon=0.01)[0],
        [IMAGE, floats(4)],
        (IMAGE - IMAGE.mean((0, 1, 2))) / np.sqrt(IMAGE.var((0, 1, 2)) + 0.01) * floats(4) + floats(4),
    ),
    "xw_plus_b": (
        lambda tf, x, w, b: tf.nn.xw_plus_b(x, w, b),
        [X, X.T.copy(), floats(4)],
        X @ X.T + floats(4),
    ),
    "conv2d": (
        lambda tf, x, w: tf.nn.conv2d(x, w, 2, "SAME"),
        [IMAGE, KERNEL],
        Direct(strides=[1, 2, 2, 1], padding="SAME").forward(IMAGE, KERNEL),
    ),
    "conv2d_explicit": (
        lambda tf, x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], [[0, 0], [1, 0], [2, 1], [0, 0]]),
        [IMAGE, KERNEL],
        Direct(strides=[1, 1, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 1, 0, 0]).forward(
            IMAGE, KERNEL
        ),
    ),
    "conv2d_transpose": (
        lambda tf, x, w: tf.nn.conv2d_transpose(x, w, [2, 12, 10, 4], 2),
        [floats(2, 6, 5, 3), KERNEL],
        Direct(strides=[1, 2, 2, 1], padding="SAME").by_input([2, 12, 10, 4], KERNEL, floats(2, 6, 5, 3)),
    ),
    "conv1d": (
        lambda tf, x, w: tf.nn.conv1d(x, w, 2, "VALID"),
        [IMAGE[0], KERNEL[0]],
        Direct(strides=[1, 1, 2, 1], padding="VALID").forward(IMAGE[0][:, None], KERNEL[:1])[:, 0],
    ),
    "convolution": (
        lambda tf, x, w: tf.nn.convolution(x, w, "SAME", strides=[2, 1]),
        [IMAGE, KERNEL],
        Direct(strides=[1, 2, 1, 1], padding="SAME").forward(IMAGE, KERNEL),
    ),
    "atrous_conv2d": (
        lambda tf, x, w: tf.nn.atrous_conv2d(x, w, 2, "SAME"),
        [IMAGE, KERNEL],
        Direct(**SAME).forward(IMAGE, dilate(KERNEL, 2)),
    ),
    "atrous_conv2d_valid": (
        lambda tf, x, w: tf.nn.atrous_conv2d(x, w, 2, "VALID"),
        [IMAGE, KERNEL],
        Direct(**VALID).forward(IMAGE, dilate(KERNEL, 2)),
    ),
    "depthwise_conv2d": (
        lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"),
        [IMAGE, KERNEL],
        Direct(True, **SAME).forward(IMAGE, KERNEL),
    ),
    "depthwise_conv2d_rate": (
        lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID", rate=[2, 2]),
        [IMAGE, KERNEL],
        Direct(True, **VALID).forward(IMAGE, dilate(KERNEL, 2)),
    ),
    "separable_conv2d": (
        lambda tf, x, w, p: tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], "SAME"),
        [IMAGE, KERNEL, floats(1, 1, 12, 2)],
        Direct(True, **SAME).forward(IMAGE, KERNEL) @ floats(12, 2),
    ),
    "max_pool": (
        lambda tf, x: tf.nn.max_pool(x, [1, 2, 3, 1], 2, "SAME"),
        [IMAGE],
        Pool([1, 2, 3, 1], [1, 2, 2, 1], "SAME").pool(np.max)(IMAGE),
    ),
    "pool": (
        lambda tf, x: tf.nn.pool(x, [2, 2], "MAX", "VALID", strides=[2, 2]),
        [IMAGE],
        Pool([1, 2, 2, 1], [1, 2, 2, 1], "VALID").pool(np.max)(IMAGE),
    ),
    "segment_mean": (
        lambda tf, x: tf.segment_mean(x, [0, 0, 1, 1]),
        [X],
        np.stack([X[:2].mean(0), X[2:].mean(0)]),
    ),
    "unsorted_segment_mean": (
        lambda tf, x: tf.unsorted_segment_mean(x, [1, 0, 1, 1], 2),
        [X],
        np.stack([X[1], X[[0, 2, 3]].mean(0)]),
    ),
    "space_to_depth": (
        lambda tf, x: tf.space_to_depth(x, 2),
        [IMAGE[:, :, :4]],
        np.concatenate([IMAGE[:, i::2, j:4:2] for i in range(2) for j in range(2)], -1),
    ),
    "sparse_to_dense": (
        lambda tf, x: tf.sparse_to_dense([[0, 1], [2, 0]], [3, 2], x),
        [X[0, :2]],
        np.array([[0, X[0, 0]], [0, 0], [X[0, 1], 0]], np.float32),
    ),
    "avg_pool": (
        lambda tf, x: tf.nn.avg_pool(x, 3, 1, "SAME"),
        [IMAGE],
        Pool([1, 3, 3, 1], [1, 1, 1, 1], "SAME").pool(np.mean)(IMAGE),
    ),
}
ROWS = [pytest.param(*row, id=name) for name, row in PROGRAMS.items()]


@pytest.mark.parametrize(("program", "inputs", "expected"), ROWS)
def test_value(program, inputs, expected):
    value, shape, _ = run(graphcore, program, inputs)
    assert np.asarray(value).dtype == (np.float32 if expected.dtype.kind == "f" else expected.dtype)
    assert np.shape(value) == np.shape(expected)
    assert all(size in (None, actual) for size, actual in zip(shape, np.shape(value), strict=True))
    np.testing.assert_allclose(value, expected, rtol=1e-5, atol=2e-5)


@pytest.mark.oracle
@pytest.mark.parametrize(("program", "inputs", "expected"), ROWS)
def test_as_tensorflow(program, inputs, expected):
    tensorflow = pytest.importorskip("tensorflow")
    ours, theirs = (run(tf, program, inputs) for tf in (graphcore, tensorflow.compat.v1))
    assert ours[1] == theirs[1]
    assert len(ours[2]) == len(theirs[2])
    for mine, other in zip([ours[0], *ours[2]], [theirs[0], *theirs[2]], strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=2e-4)


def names(program):
    with graphcore.Graph().as_default() as graph:
        program(graphcore)
        return [operation.name for operation in graph.get_operations()]


def test_node_names_are_tensorflow_1s():
    """Names that scripts and saved graphs rely on."""
    tf = graphcore
    assert names(lambda tf: tf.constant([1, 2, 3])[1:]) == [
        "Const",
        "strided_slice/stack",
        "strided_slice/stack_1",
        "strided_slice/stack_2",
        "strided_slice",
    ]
    assert names(lambda tf: tf.constant([1, 2, 3])[tf.constant(1, name="n") :])[2:] == [
        "strided_slice/stack",
        "strided_slice/stack_1",
        "strided_slice/stack_2",
        "strided_slice",
    ]
    assert names(lambda tf: tf.stack([1, 2])) == ["stack"]
    assert names(lambda tf: tf.stack([[tf.constant(1.0), 1.0], [2.0, 3.0]])) == [
        "Const",
        "stack/0/1",
        "stack/0",
        "stack/1",
        "stack",
    ]
    assert names(lambda tf: tf.random_uniform([2], 1.0, 3.0, name="r")) == [
        "r/shape",
        "r/min",
        "r/max",
        "r/RandomUniform",
        "r/sub",
        "r/mul",
        "r",
    ]
    assert names(lambda tf: tf.truncated_normal([2]))[-3:] == [
        "truncated_normal/TruncatedNormal",
        "truncated_normal/mul",
        "truncated_normal",
    ]
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3])
        assert tf.nn.dropout(x, 0.5).op.name == "dropout/mul_1"
        assert tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x).op.name == (
            "softmax_cross_entropy_with_logits_sg/Reshape_2"
        )
        assert tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x).op.name == "logistic_loss"
        image = tf.placeholder(tf.float32, [1, 8, 8, 3])
        assert tf.nn.max_pool(image, 2, 2, "SAME").op.name == "MaxPool"
        assert tf.nn.conv2d(image, tf.ones([1, 1, 3, 2]), 1, "SAME").op.name == "Conv2D"


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (
            lambda tf, x: tf.nn.conv2d(x, tf.ones([9, 9, 3, 2]), 1, "VALID"),
            "Negative dimension size caused by subtracting 9 from 8",
        ),
        (
            lambda tf, x: tf.nn.conv2d(x, tf.ones([3, 3, 2, 2]), 1, "VALID"),
            "Depth of input (3) is not a multiple of input depth of filter (2)",
        ),
        (
            lambda tf, x: tf.nn.conv2d(x, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "EXPLICIT"),
            '"EXPLICIT" is not a valid value for the padding parameter',
        ),
        (
            lambda tf, x: tf.nn.max_pool(x, 2, [1, 2, 3], "SAME"),
            "strides should be of length 1, 2 or 4 but was 3",
        ),
        (lambda tf, x: x[0, 0, 0, 0, 0], "Index out of range using input dim 4"),
        (lambda tf, x: x[9], "slice index 9 of dimension 0 out of bounds."),
        (lambda tf, x: tf.gather(x, [0], axis=5), "Shape must be at least rank 6 but is rank 4"),
        (lambda tf, x: tf.where(x > 0, x), "x and y must both be non-None or both be None."),
        (lambda tf, x: tf.boolean_mask(x, True), "mask cannot be scalar."),
        (
            lambda tf, x: tf.nn.dropout(x, rate=1.5),
            "rate must be a scalar tensor or a float in the range [0, 1), got 1.5",
        ),
        (lambda tf, x: tf.nn.softmax_cross_entropy_with_logits(x, x), "with named arguments"),
        (
            lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=x),
            "Rank mismatch: Rank of labels (received 1)",
        ),
        (lambda tf, x: tf.nn.top_k(x, 4), "input must have last dimension >= k = 4 but is 3"),
        (lambda tf, x: tf.nn.bias_add(x, tf.ones([2])), "Dimensions must be equal, but are 3 and 2"),
    ],
)
def test_wrong_arguments_are_value_errors(program, text):
    with graphcore.Graph().as_default():
        x = graphcore.placeholder(graphcore.float32, [2, 8, 8, 3])
        with pytest.raises(ValueError) as raised:
            program(graphcore, x)
    assert text in str(raised.value)


def test_index_must_be_an_integer():
    with graphcore.Graph().as_default(), pytest.raises(TypeError, match="Only integers, slices"):
        graphcore.zeros([3])["a"]


def draws(seed, program, count=2):
    with graphcore.Graph().as_default() as graph:
        if seed is not None:
            graphcore.set_random_seed(seed)
        result = program(graphcore)
        with graphcore.Session(graph=graph) as session:
            return [session.run(result) for _ in range(count)]


class TestSeeds:
    def test_rules(self):
        with graphcore.Graph().as_default():
            assert graphcore.get_seed(None) == (None, None)
            assert graphcore.get_seed(5) == (87654321, 5)
            graphcore.set_random_seed(3)
            assert graphcore.get_seed(5) == (3, 5)
            graphcore.constant(1)
            assert graphcore.get_seed(None) == (3, 1)  # as many operations as there are
            graphcore.set_random_seed(0)
            assert graphcore.get_seed(0) == (0, 2**31 - 1)

    def test_seeded_runs_repeat_in_a_new_session_and_move_on_in_one(self):
        def program(tf):
            return tf.random_uniform([3])

        first, second = draws(7, program)
        assert not np.array_equal(first, second)
        np.testing.assert_array_equal(draws(7, program), [first, second])
        assert not np.array_equal(draws(8, program)[0], first)
        assert not np.array_equal(draws(None, program), draws(None, program))

    def test_two_ops_of_one_graph_differ(self):
        values = draws(7, lambda tf: tf.stack([tf.random_normal([4]), tf.random_normal([4])]), 1)[0]
        assert not np.array_equal(values[0], values[1])

    def test_stateless_gives_the_same_each_time(self):
        once, again = draws(None, lambda tf: tf.random.stateless_uniform([3], [1, 2]))
        np.testing.assert_array_equal(once, again)

    def test_dropout(self):
        x = np.ones((100, 100), np.float32)
        value = draws(None, lambda tf: tf.nn.dropout(tf.constant(x), rate=0.25, seed=1), 1)[0]
        assert set(np.unique(value)) == {0.0, np.float32(1 / 0.75)}
        assert abs(np.mean(value == 0) - 0.25) < 0.02

    def test_random_crop_is_a_part(self):
        x = np.arange(30).reshape(5, 6)
        value = draws(None, lambda tf: tf.random_crop(tf.constant(x), [2, 3], seed=3), 1)[0]
        row, column = np.argwhere(x == value[0, 0])[0]
        np.testing.assert_array_equal(value, x[row : row + 2, column : column + 3])
