"""The published networks that the benchmarks run, with random weights: the same text for both engines."""

from __future__ import annotations

from typing import Any

import numpy as np


class Layers:
    """Layers over variables, as the models of TensorFlow's slim library made them."""

    def __init__(self, tf: Any) -> None:
        self.tf = tf
        self.count = 0

    def variable(self, shape: list[int], scale: float, mean: float = 0.0) -> Any:
        """A variable of random numbers that are the same for every engine."""
        self.count += 1
        values = np.random.default_rng(self.count).normal(mean, scale, shape).astype(np.float32)
        return self.tf.get_variable(f"v{self.count}", initializer=values)

    def filter(self, height: int, width: int, channels: int, filters: int) -> Any:
        """A filter bank that keeps the variance."""
        fan_in = height * width * (channels if filters > 1 else 1)
        return self.variable([height, width, channels, filters], (2.0 / fan_in) ** 0.5)

    def batch_norm(self, x: Any) -> Any:
        """Batch normalization by fixed statistics."""
        depth = int(x.shape[-1])
        scale, offset = self.variable([depth], 0.1, 1.0), self.variable([depth], 0.1)
        mean, variance = self.variable([depth], 0.1), self.variable([depth], 0.01, 1.0)
        outputs = self.tf.nn.fused_batch_norm(
            x, scale, offset, mean, variance, epsilon=0.001, is_training=False
        )
        return outputs[0]

    def conv(self, x: Any, size: int, filters: int, stride: int = 1) -> Any:
        """A convolution with SAME padding."""
        w = self.filter(size, size, int(x.shape[-1]), filters)
        return self.tf.nn.conv2d(x, w, strides=[1, stride, stride, 1], padding="SAME")

    def depthwise(self, x: Any, stride: int = 1) -> Any:
        """A depthwise 3x3 convolution."""
        w = self.filter(3, 3, int(x.shape[-1]), 1)
        return self.tf.nn.depthwise_conv2d(x, w, strides=[1, stride, stride, 1], padding="SAME")

    def dense(self, x: Any, units: int) -> Any:
        """A dense layer with bias."""
        depth = int(x.shape[-1])
        return self.tf.nn.bias_add(
            self.tf.matmul(x, self.variable([depth, units], (2.0 / depth) ** 0.5)),
            self.variable([units], 0.1),
        )


def mobilenet_v1(tf: Any, x: Any) -> Any:
    """MobileNet v1 1.0 (Howard et al. 2017) to the probabilities of 1001 classes."""
    layers = Layers(tf)
    x = tf.nn.relu6(layers.batch_norm(layers.conv(x, 3, 32, 2)))
    for filters, stride in (
        *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
        *[(512, 1)] * 5,
        *((1024, 2), (1024, 1)),
    ):
        x = tf.nn.relu6(layers.batch_norm(layers.depthwise(x, stride)))
        x = tf.nn.relu6(layers.batch_norm(layers.conv(x, 1, filters)))
    return tf.nn.softmax(layers.dense(tf.reduce_mean(x, [1, 2]), 1001))


def resnet50(tf: Any, x: Any) -> Any:
    """ResNet-50 v1 (He et al. 2015) to the probabilities of 1000 classes."""
    layers = Layers(tf)
    x = tf.nn.relu(layers.batch_norm(layers.conv(x, 7, 64, 2)))
    x = tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    for units, filters, stride in ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)):
        for unit in range(units):
            step = stride if unit == 0 else 1
            shortcut = layers.batch_norm(layers.conv(x, 1, 4 * filters, step)) if unit == 0 else x
            y = tf.nn.relu(layers.batch_norm(layers.conv(x, 1, filters, step)))
            y = tf.nn.relu(layers.batch_norm(layers.conv(y, 3, filters)))
            x = tf.nn.relu(layers.batch_norm(layers.conv(y, 1, 4 * filters)) + shortcut)
    return tf.nn.softmax(layers.dense(tf.reduce_mean(x, [1, 2]), 1000))


def vgg16(tf: Any, x: Any) -> Any:
    """VGG-16 (Simonyan and Zisserman 2014) to the probabilities of 1000 classes."""
    layers = Layers(tf)
    for convolutions, filters in ((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)):
        for _ in range(convolutions):
            x = tf.nn.relu(tf.nn.bias_add(layers.conv(x, 3, filters), layers.variable([filters], 0.1)))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    x = tf.reshape(x, [-1, 7 * 7 * 512])
    for units in (4096, 4096):
        x = tf.nn.relu(layers.dense(x, units))
    return tf.nn.softmax(layers.dense(x, 1000))


def cnn(tf: Any, images: Any) -> Any:
    """Two 5x5 convolutions and a dense layer of 512, to ten logits: TensorFlow's own MNIST example."""
    layers = Layers(tf)
    x = images
    for filters in (32, 64):
        x = tf.nn.relu(tf.nn.bias_add(layers.conv(x, 5, filters), layers.variable([filters], 0.1)))
        x = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    x = tf.nn.relu(layers.dense(tf.reshape(x, [-1, 7 * 7 * 64]), 512))
    return layers.dense(x, 10)


def mlp16(tf: Any, x: Any) -> Any:
    """Three layers of 16 units."""
    layers = Layers(tf)
    for _ in range(3):
        x = tf.nn.relu(layers.dense(x, 16))
    return x


def mlp(tf: Any, x: Any) -> Any:
    """784-512-512-10."""
    layers = Layers(tf)
    for units in (512, 512):
        x = tf.nn.relu(layers.dense(x, units))
    return layers.dense(x, 10)


def lstm(tf: Any, x: Any, units: int = 128) -> Any:
    """An LSTM as a while loop over time, as `tf.nn.dynamic_rnn` makes it; x is (batch, time, depth)."""
    layers = Layers(tf)
    batch, steps, depth = (int(dim) for dim in x.shape)
    w, b = layers.variable([depth + units, 4 * units], 0.1), layers.variable([4 * units], 0.1)
    rows = tf.TensorArray(tf.float32, steps).unstack(tf.transpose(x, [1, 0, 2]))
    zeros = tf.zeros([batch, units])

    def step(time: Any, c: Any, h: Any, out: Any) -> Any:
        gates = tf.nn.bias_add(tf.matmul(tf.concat([rows.read(time), h], 1), w), b)
        i, j, f, o = tf.split(gates, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
        return time + 1, c, h, out.write(time, h)

    start = (tf.constant(0), zeros, zeros, tf.TensorArray(tf.float32, steps))
    *_, out = tf.while_loop(lambda time, *_: time < steps, step, start)
    return tf.transpose(out.stack(), [1, 0, 2])
