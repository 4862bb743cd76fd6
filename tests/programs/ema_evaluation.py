rng = np.random.RandomState(13)
xs = rng.normal(size=(16, 2)).astype(np.float32)
with tf.Graph().as_default():
    w = tf.Variable([[1.0], [-1.0]], name="w")
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(tf.matmul(xs, w) - 2.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=step)
    with tf.control_dependencies([train]):
        train = ema.apply([w])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(10):
            sess.run(train)
        print("w", sess.run(w).ravel(), "average", sess.run(ema.average(w)).ravel())
        tf.train.Saver().save(sess, "ema/model")
with tf.Graph().as_default():
    w = tf.Variable([[0.0], [0.0]], name="w")
    mapping = tf.train.ExponentialMovingAverage(0.9).variables_to_restore()
    print({key: value.name for key, value in mapping.items()})
    with tf.Session() as sess:
        tf.train.Saver(mapping).restore(sess, "ema/model")
        print("evaluated with", sess.run(w).ravel())
