rng = np.random.RandomState(12)
xs = rng.normal(size=(20, 3)).astype(np.float32)
ys = xs.sum(1, keepdims=True) + rng.normal(0, 0.5, (20, 1)).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 1])
w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
loss = tf.losses.mean_squared_error(y, tf.matmul(x, w))
step = tf.train.create_global_step()
train = tf.train.GradientDescentOptimizer(0.4).minimize(loss, step)
last, best = tf.train.Saver(max_to_keep=2), tf.train.Saver(max_to_keep=1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    lowest, patience = np.inf, 0
    while patience < 2 and sess.run(step) < 15:
        sess.run(train, {x: xs[:10], y: ys[:10]})
        value = sess.run(loss, {x: xs[10:], y: ys[10:]})
        last.save(sess, "last/model", global_step=step)
        if value < lowest:
            lowest, patience = value, 0
            best.save(sess, "best/model", global_step=step, latest_filename="best_state")
        else:
            patience += 1
        print("validation", value)
    print([path.replace("\\", "/") for path in last.last_checkpoints], best.last_checkpoints)
    best.restore(sess, tf.train.latest_checkpoint("best", "best_state"))
    print("restored step", sess.run(step), "w", sess.run(w).ravel())
    print(tf.train.checkpoint_exists("last/model-1"))
