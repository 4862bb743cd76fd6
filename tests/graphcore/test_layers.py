"""`tf.layers`: names, sharing, collections, checks of inputs, and what a layer tells of itself."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from sgtool import graphcore as tf


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def names(items: Any) -> list[str]:
    return [item.op.name for item in items]


def image(*shape: int | None) -> Any:
    return tf.placeholder(tf.float32, shape or (None, 8, 8, 3))


# Names and sharing


def test_layers_count_their_names() -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    for _ in range(2):
        x = tf.layers.dense(x, 3)
    with tf.variable_scope("tower"):
        x = tf.layers.dense(x, 3, name="head")
    assert names(tf.trainable_variables()) == [
        "dense/kernel",
        "dense/bias",
        "dense_1/kernel",
        "dense_1/bias",
        "tower/head/kernel",
        "tower/head/bias",
    ]
    assert x.op.name == "tower/head/BiasAdd"


def test_a_layer_that_is_called_again_shares_its_variables() -> None:
    layer = tf.layers.Dense(4, name="twice")
    first, second = layer(tf.ones([1, 3])), layer(tf.zeros([2, 3]))
    assert names(layer.variables) == ["twice/kernel", "twice/bias"]
    assert tf.global_variables() == layer.variables
    assert (first.op.name, second.op.name) == ("twice/BiasAdd", "twice/BiasAdd_1")


def test_functions_share_by_name_when_asked() -> None:
    x = tf.ones([1, 3])
    tf.layers.dense(x, 2, name="shared")
    tf.layers.dense(x, 2, name="shared", reuse=True)
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        tf.layers.dense(x, 2, name="shared")
    assert len(tf.global_variables()) == 2
    with pytest.raises(ValueError, match="Variable shared/kernel already exists"):
        tf.layers.dense(x, 2, name="shared")
    with pytest.raises(ValueError, match="Variable other/kernel does not exist"):
        tf.layers.dense(x, 2, name="other", reuse=True)


def test_a_scope_gives_initializer_partitioner_and_kind() -> None:
    with tf.variable_scope(
        "s", initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2), use_resource=True
    ):
        tf.layers.dense(tf.ones([1, 4]), 2, use_bias=False)
    assert names(tf.global_variables()) == ["s/dense/kernel/part_0", "s/dense/kernel/part_1"]
    assert {item.op.type for item in tf.global_variables()} == {"VarHandleOp"}


def test_keras_style_layers_use_name_scopes() -> None:
    with tf.layers.experimental.keras_style_scope():
        layer = tf.layers.Dense(2, name="d")
    with tf.name_scope("place"):
        layer(tf.ones([1, 3]))
        layer(tf.ones([1, 3]))
    assert names(layer.variables) == ["place/d/kernel", "place/d/bias"]
    with pytest.raises(ValueError, match="scope argument not allowed when keras style layers"):
        layer(tf.ones([1, 3]), scope="x")


# Collections


def test_losses_of_weights_and_outputs() -> None:
    layer = tf.layers.Dense(
        2,
        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.5),
        activity_regularizer=tf.reduce_sum,
        kernel_initializer=tf.ones_initializer(),
        name="d",
    )
    x = tf.ones([4, 3])
    layer(x)
    assert layer.losses == tf.losses.get_regularization_losses()
    assert names(layer.losses) == ["d/kernel/Regularizer/l2_regularizer", "d/ActivityRegularizer/truediv"]
    assert layer.get_losses_for(None) == layer.losses[:1]
    assert layer.get_losses_for(x) == layer.losses[1:]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(layer.losses) == [1.5, 6.0]


def test_regularizers_apply_once_to_shared_variables() -> None:
    for reuse in (None, True):
        tf.layers.dense(tf.ones([1, 3]), 2, name="d", reuse=reuse, kernel_regularizer=tf.nn.l2_loss)
    assert len(tf.losses.get_regularization_losses()) == 1


def test_updates_of_batch_normalization_are_kept() -> None:
    x = image()
    layer = tf.layers.BatchNormalization(name="bn")
    layer(x, training=True)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert [update.name for update in updates] == ["bn/AssignMovingAvg", "bn/AssignMovingAvg_1"]
    assert layer.get_updates_for(x) == updates
    assert layer.get_updates_for(None) == []
    assert names(layer.trainable_variables) == ["bn/gamma", "bn/beta"]
    assert names(layer.non_trainable_variables) == ["bn/moving_mean", "bn/moving_variance"]
    tf.layers.batch_normalization(x, training=False)
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == updates


def test_what_is_not_trainable() -> None:
    layer = tf.layers.Dense(2, trainable=False)
    layer(tf.ones([1, 3]))
    assert layer.trainable_variables == []
    assert len(layer.non_trainable_variables) == 2
    assert tf.trainable_variables() == []


# What a layer tells of itself


def test_connections() -> None:
    layer = tf.layers.Dense(2)
    with pytest.raises(AttributeError, match="is not connected, no input to return"):
        _ = layer.input
    with pytest.raises(AttributeError, match="never been called and thus has no defined output shape"):
        _ = layer.output_shape
    x = tf.placeholder(tf.float32, [None, 3])
    y = layer(x)
    assert layer.input is x
    assert layer.output is y
    assert (layer.input_shape, layer.output_shape) == ((None, 3), (None, 2))
    layer(tf.ones([5, 3]))
    assert layer.get_input_shape_at(1) == (5, 3)
    with pytest.raises(AttributeError, match="multiple inbound nodes, with different input shapes"):
        _ = layer.input_shape
    with pytest.raises(ValueError, match="the layer has only 2 inbound nodes"):
        layer.get_output_at(2)


def test_weights_are_read_and_set_in_the_default_session() -> None:
    layer = tf.layers.Dense(2)
    layer(tf.ones([1, 3]))
    with pytest.raises(RuntimeError, match="default session"):
        layer.get_weights()
    with tf.Session():
        kernel = np.arange(6, dtype=np.float32).reshape(3, 2)
        layer.set_weights([kernel, [1.0, 2.0]])
        found = layer.get_weights()
    np.testing.assert_array_equal(found[0], kernel)
    np.testing.assert_array_equal(found[1], [1, 2])
    assert layer.count_params() == 8
    with pytest.raises(ValueError, match="the layer was expecting 2 weights"):
        layer.set_weights([kernel])
    with pytest.raises(ValueError, match="not compatible with provided weight shape"):
        layer.set_weights([kernel.T, [1.0, 2.0]])


def test_names_dtype_and_parameters_before_the_first_call() -> None:
    layer = tf.layers.Dense(2)
    before = layer.dtype
    assert before is None
    with pytest.raises(ValueError, match="has not been used yet"):
        _ = layer.scope_name
    with pytest.raises(ValueError, match="but the layer isn't built"):
        layer.count_params()
    layer(tf.ones([1, 3], tf.float64))
    assert layer.dtype == "float64"
    assert layer.scope_name == "dense"
    assert layer.kernel.dtype.base_dtype == tf.float64


def test_a_copy_keeps_what_is_built() -> None:
    layer = tf.layers.Dense(2)
    layer(tf.ones([1, 3]))
    made = copy.deepcopy(layer)
    assert made.kernel is layer.kernel
    assert made.name == layer.name


def test_a_layer_of_the_same_configuration() -> None:
    layer = tf.layers.Conv2D(4, 3, activation=tf.nn.relu, padding="same", name="c")
    config = layer.get_config()
    assert config["kernel_size"] == (3, 3)
    assert tf.layers.Conv2D.from_config(config).get_config() == config


SHAPES = {
    "dense": (tf.layers.Dense(5), (2, 7, 3), (2, 7, 5)),
    "conv1d": (tf.layers.Conv1D(4, 3, 2), (2, 9, 3), (2, 4, 4)),
    "conv2d_first": (
        tf.layers.Conv2D(4, 3, padding="same", data_format="channels_first"), (2, 3, 9, 8), (2, 4, 9, 8),
    ),
    "conv3d": (tf.layers.Conv3D(4, 2, dilation_rate=2), (1, 6, 6, 6, 2), (1, 4, 4, 4, 4)),
    "transpose": (tf.layers.Conv2DTranspose(4, 3, 2), (2, 5, 6, 3), (2, 11, 13, 4)),
    "transpose3d": (tf.layers.Conv3DTranspose(4, 3, 2, "same"), (1, 3, 3, 3, 2), (1, 6, 6, 6, 4)),
    "separable": (tf.layers.SeparableConv2D(4, 3), (2, 9, 8, 3), (2, 7, 6, 4)),
    "pool1d": (tf.layers.MaxPooling1D(2, 2), (2, 9, 3), (2, 4, 3)),
    "pool3d": (
        tf.layers.AveragePooling3D(2, 2, "same", "channels_first"), (1, 2, 5, 6, 7), (1, 2, 3, 3, 4),
    ),
    "flatten": (tf.layers.Flatten(), (2, 3, 4), (2, 12)),
    "norm": (tf.layers.BatchNormalization(), (2, 3), (2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_output_shapes(name: str) -> None:
    made, shape, expected = SHAPES[name]
    assert tuple(tf.TensorShape(made.compute_output_shape(shape)).as_list()) == expected
    layer = type(made).from_config(made.get_config())
    given = np.random.RandomState(0).rand(*shape).astype(np.float32)
    y = layer(tf.constant(given))
    assert tuple(y.shape.as_list()) == expected
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y).shape == expected


def test_flatten_moves_channels_to_the_end() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    y = tf.layers.flatten(tf.constant(x), data_format="channels_first")
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), x.transpose(0, 2, 1).reshape(2, 12))
    unknown = tf.layers.flatten(tf.placeholder(tf.float32, [None, None, 4]))
    assert unknown.shape.as_list() == [None, None]


def test_convolutions_of_unknown_size_are_dilated() -> None:
    x = image(None, None, None, 2)
    y = tf.layers.conv2d(
        x, 1, 3, padding="same", dilation_rate=2, kernel_initializer=tf.ones_initializer(), use_bias=False
    )
    given = np.random.RandomState(0).rand(1, 7, 6, 2).astype(np.float32)
    padded = np.pad(given.sum(3)[0], 2)
    expected = sum(padded[i : i + 7, j : j + 6] for i in (0, 2, 4) for j in (0, 2, 4))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y, {x: given})[0, :, :, 0], expected, rtol=1e-5)
    assert {op.type for op in tf.get_default_graph().get_operations()} >= {"SpaceToBatchND", "BatchToSpaceND"}


# What is refused


class Picky(tf.layers.Layer):
    def __init__(self, **spec: Any) -> None:
        super().__init__()
        self.input_spec = tf.layers.InputSpec(**spec)


@pytest.mark.parametrize(
    ("spec", "x", "text"),
    [
        ({"ndim": 2}, [1.0], "expected ndim=2, found ndim=1"),
        ({"min_ndim": 2}, [1.0], "expected min_ndim=2, found ndim=1"),
        ({"max_ndim": 1}, [[1.0]], "expected max_ndim=1, found ndim=2"),
        ({"dtype": "int32"}, [1.0], "expected dtype=int32"),
        ({"axes": {-1: 3}}, [[1.0, 2.0]], "expected axis -1 of input shape to have value 3"),
        ({"shape": (None, 3)}, [[1.0, 2.0]], r"expected shape=\(None, 3\), found shape=\[1, 2\]"),
    ],
)
def test_inputs_are_checked(spec: dict[str, Any], x: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Picky(**spec)(tf.constant(x))


def test_a_rank_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="its rank is undefined, but the layer requires a defined rank"):
        Picky(ndim=2)(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="Axis 2 is greater than the maximum allowed value: 1"):
        tf.layers.InputSpec(ndim=2, axes={2: 1})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.layers.dense(image(2, None), 3), "The last dimension of the inputs to `Dense`"),
        (lambda: tf.layers.dense(tf.constant([[1]]), 3), "non-floating point dtype"),
        (lambda: tf.layers.conv2d(image(1, 8, 8, None), 3, 2), "The channel dimension of the inputs"),
        (lambda: tf.layers.conv2d(image(), 3, (1, 2, 3)), "`kernel_size` argument must be a tuple of 2"),
        (lambda: tf.layers.conv2d(image(), 3, 2, padding="other"), '"valid", "same". Received: other'),
        (lambda: tf.layers.conv2d(image(), 3, 2, data_format="x"), '"channels_first", "channels_last"'),
        (lambda: tf.layers.conv2d(image(), 3, 2, 2, dilation_rate=2), "strides > 1 not supported"),
        (lambda: tf.layers.max_pooling2d(image(), 3, "a"), "`strides` argument must be a tuple of 2"),
        (lambda: tf.layers.batch_normalization(image(), axis=4), "Invalid axis: 4"),
        (lambda: tf.layers.batch_normalization(image(), axis=[1, 1]), "Duplicate axis"),
        (lambda: tf.layers.batch_normalization(image(), axis="a"), "axis must be int or list"),
        (
            lambda: tf.layers.batch_normalization(image(), renorm=True, renorm_clipping={"a": 1}),
            "contains keys not in",
        ),
        (lambda: tf.layers.batch_normalization(image(), virtual_batch_size=-1), "must be a positive integer"),
        (lambda: tf.layers.Dense(2, colour=1), "Keyword argument not understood: colour"),
        (lambda: tf.layers.Dense(2, activation="rely"), "Unknown activation function:rely"),
    ],
)
def test_what_is_wrong_is_said(call: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=text):
        call()


def test_a_layer_gives_something() -> None:
    class Nothing(tf.layers.Layer):
        def call(self, inputs: Any) -> None:
            return None

    with pytest.raises(
        ValueError, match="`call` method should return a Tensor or a list of Tensors, not None"
    ):
        Nothing()(tf.ones([1]))


# Batch normalization


def test_moving_averages_follow_the_batches() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    training = tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, momentum=0.5, training=training, epsilon=0.0)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    mean, variance = tf.global_variables()[2:]
    given = np.float32([[1, 2], [3, 6]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        result, _ = session.run([y, updates], {x: given, training: True})
        np.testing.assert_allclose(result, [[-1, -1], [1, 1]], rtol=1e-5)
        np.testing.assert_allclose(session.run(mean), [1, 2])
        np.testing.assert_allclose(session.run(variance), [1, 2.5])
        result, _ = session.run([y, updates], {x: given, training: False})
        np.testing.assert_allclose(result, [[0, 0], [2, 4 / np.sqrt(2.5)]], rtol=1e-5)
        np.testing.assert_allclose(session.run(mean), [1, 2])


def test_images_are_normalized_by_one_op_where_that_can_be() -> None:
    tf.layers.batch_normalization(image(), training=True)
    assert "FusedBatchNormV3" in {op.type for op in tf.get_default_graph().get_operations()}
    with tf.Graph().as_default() as graph:
        tf.layers.batch_normalization(image(), training=True, renorm=True)
        tf.layers.batch_normalization(image(), training=True, fused=False)
        assert "FusedBatchNormV3" not in {op.type for op in graph.get_operations()}
        assert {"moving_stddev", "renorm_mean", "renorm_stddev"} <= {
            variable.op.name.rpartition("/")[2] for variable in tf.global_variables()
        }
