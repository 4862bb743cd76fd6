rng = np.random.RandomState(3)
images = rng.uniform(size=(8, 28 * 28)).astype(np.float32)
labels = np.eye(10, dtype=np.float32)[rng.randint(0, 10, 8)]


def weight_variable(shape, seed):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1, seed=seed))


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape))


def conv2d(x, W):
    return tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding="SAME")


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


x = tf.placeholder(tf.float32, shape=[None, 784])
y_ = tf.placeholder(tf.float32, shape=[None, 10])
x_image = tf.reshape(x, [-1, 28, 28, 1])
h1 = max_pool_2x2(tf.nn.relu(conv2d(x_image, weight_variable([5, 5, 1, 4], 1)) + bias_variable([4])))
h2 = max_pool_2x2(tf.nn.relu(conv2d(h1, weight_variable([5, 5, 4, 8], 2)) + bias_variable([8])))
flat = tf.reshape(h2, [-1, 7 * 7 * 8])
fc1 = tf.nn.relu(tf.matmul(flat, weight_variable([7 * 7 * 8, 32], 3)) + bias_variable([32]))
y_conv = tf.matmul(fc1, weight_variable([32, 10], 4)) + bias_variable([10])
cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y_conv))
train_step = tf.train.AdamOptimizer(1e-3).minimize(cross_entropy)
accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y_conv, 1), tf.argmax(y_, 1)), tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(6):
        print("loss", sess.run(cross_entropy, {x: images, y_: labels}))
        train_step.run(feed_dict={x: images, y_: labels})
    print("accuracy", accuracy.eval(feed_dict={x: images, y_: labels}))
    tf.train.Saver().save(sess, "./cnn")
