rng = np.random.RandomState(2)
images = rng.uniform(size=(32, 20)).astype(np.float32)
labels = rng.randint(0, 5, 32)

x = tf.placeholder(tf.float32, [None, 20])
y = tf.placeholder(tf.int64, [None])
keep = tf.placeholder_with_default(1.0, [])
init = tf.glorot_uniform_initializer(seed=3)
hidden = tf.layers.dense(x, 16, tf.nn.relu, kernel_initializer=init, name="hidden")
dropped = tf.nn.dropout(hidden, keep_prob=keep, seed=11)
logits = tf.layers.dense(
    dropped, 5, kernel_initializer=tf.random_normal_initializer(0, 0.1, seed=5), name="out"
)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
step = tf.train.get_or_create_global_step()
train = tf.train.AdamOptimizer(1e-2).minimize(loss, global_step=step)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(12):
        _, value = sess.run([train, loss], {x: images, y: labels, keep: 0.8})
        print("%.4f" % value)
    print("step", sess.run(step), "final", sess.run(loss, {x: images, y: labels}))
    tf.train.Saver(max_to_keep=1).save(sess, "mlp", global_step=step)
