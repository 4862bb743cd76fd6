rng = np.random.RandomState(19)
left, right = rng.normal(size=(2, 6, 4)).astype(np.float32)
same = np.array([1, 0, 1, 1, 0, 0], np.float32)


def tower(value):
    with tf.variable_scope("tower", reuse=tf.AUTO_REUSE, regularizer=lambda w: 0.01 * tf.nn.l2_loss(w)):
        w = tf.get_variable("w", [4, 3], initializer=tf.random_normal_initializer(seed=1))
        with tf.variable_scope("inner"):
            b = tf.get_variable("b", [3], initializer=tf.zeros_initializer(), regularizer=tf.no_regularizer)
        return tf.nn.tanh(tf.matmul(value, w) + b)


a, b = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None])
distance = tf.norm(tower(a) - tower(b) + 1e-6, axis=1)
contrastive = tf.reduce_mean(y * tf.square(distance) + (1 - y) * tf.square(tf.maximum(0.0, 1.0 - distance)))
tf.losses.add_loss(contrastive)
total = tf.losses.get_total_loss()
train = tf.train.AdadeltaOptimizer(1.0).minimize(total)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        print(*sess.run([total, contrastive, train], {a: left, b: right, y: same})[:2])
print([v.name for v in tf.trainable_variables()], len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)))
