step = tf.Variable(0, trainable=False, name="global_step")
rates = {
    "exponential": tf.train.exponential_decay(0.1, step, 4, 0.5, staircase=True),
    "polynomial": tf.train.polynomial_decay(0.1, step, 10, 0.01, power=2.0),
    "piecewise": tf.train.piecewise_constant(step, [2, 5], [0.1, 0.05, 0.01]),
    "cosine": tf.train.cosine_decay(0.1, step, 10),
    "inverse": tf.train.inverse_time_decay(0.1, step, 2, 0.7),
}
w = tf.Variable(5.0)
train = tf.train.MomentumOptimizer(rates["exponential"], 0.5).minimize(tf.square(w), global_step=step)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(8):
        print(sess.run(step), {key: round(float(value), 5) for key, value in sorted(sess.run(rates).items())})
        sess.run(train)
    print("w", sess.run(w), tf.train.global_step(sess, step))
