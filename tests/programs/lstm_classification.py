rng = np.random.RandomState(5)
sequences = rng.normal(size=(10, 7, 4)).astype(np.float32)
labels = rng.randint(0, 3, 10)

x = tf.placeholder(tf.float32, [None, 7, 4])
y = tf.placeholder(tf.int32, [None])
with tf.variable_scope("rnn", initializer=tf.random_uniform_initializer(-0.2, 0.2, seed=7)):
    cell = tf.nn.rnn_cell.BasicLSTMCell(6, forget_bias=1.0)
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
W = tf.get_variable("W", [6, 3], initializer=tf.random_normal_initializer(seed=8))
logits = tf.matmul(outputs[:, -1], W)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
optimizer = tf.train.RMSPropOptimizer(0.01)
grads, variables = zip(*optimizer.compute_gradients(loss))
grads, norm = tf.clip_by_global_norm(grads, 0.5)
train = optimizer.apply_gradients(zip(grads, variables))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        print("loss, norm", *sess.run([loss, norm, train], {x: sequences, y: labels})[:2])
    print("last state", sess.run(state, {x: sequences}).h[0])
    tf.train.Saver().save(sess, "lstm")
