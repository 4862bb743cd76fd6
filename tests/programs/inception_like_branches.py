rng = np.random.RandomState(31)
images = rng.uniform(size=(2, 10, 10, 3)).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 10, 10, 3])


def conv(value, size, kernel, stride, name):
    with tf.variable_scope(name):
        shape = [kernel, kernel, int(value.shape[-1]), size]
        w = tf.get_variable(
            "weights", shape, initializer=tf.variance_scaling_initializer(2.0, seed=len(name))
        )
        return tf.nn.relu6(tf.nn.conv2d(value, w, [1, stride, stride, 1], "VALID"))


stem = conv(x, 4, 3, 1, "stem")
branches = [
    conv(stem, 3, 1, 1, "one"),
    tf.pad(conv(stem, 3, 3, 1, "three"), [[0, 0], [1, 1], [1, 1], [0, 0]], "SYMMETRIC"),
    tf.nn.avg_pool(stem, [1, 3, 3, 1], [1, 1, 1, 1], "SAME"),
    tf.nn.local_response_normalization(stem, 2),
    tf.nn.depthwise_conv2d(stem, tf.random_normal([3, 3, 4, 2], seed=4), [1, 1, 1, 1], "SAME"),
    tf.nn.atrous_conv2d(stem, tf.random_normal([3, 3, 4, 2], seed=5), 2, "SAME"),
]
net = tf.concat(branches, 3)
up = tf.nn.conv2d_transpose(
    net, tf.random_normal([2, 2, 3, 24], seed=6), [2, 16, 16, 3], [1, 2, 2, 1], "SAME"
)
pooled, where = tf.nn.max_pool_with_argmax(up, [1, 4, 4, 1], [1, 4, 4, 1], "SAME")
loss = tf.reduce_mean(tf.square(pooled))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(net.shape.as_list(), [v.op.name for v in tf.trainable_variables()])
    value, places = sess.run([loss, where], {x: images})
    print("loss", value, places.shape, places.dtype)
    for grad in sess.run(tf.gradients(loss, tf.trainable_variables()), {x: images}):
        print(np.round(np.abs(grad).mean(), 4))
