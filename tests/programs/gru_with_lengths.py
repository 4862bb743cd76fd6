rng = np.random.RandomState(6)
batch = rng.normal(size=(4, 6, 3)).astype(np.float32)
lengths = [6, 2, 0, 4]

x = tf.placeholder(tf.float32, [None, None, 3])
n = tf.placeholder(tf.int32, [None])
init = tf.random_uniform_initializer(-0.5, 0.5, seed=1)
with tf.variable_scope("net", initializer=init):
    cells = [tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(5), output_keep_prob=1.0) for _ in range(2)]
    (fw, bw), states = tf.nn.bidirectional_dynamic_rnn(
        tf.nn.rnn_cell.MultiRNNCell(cells), tf.nn.rnn_cell.GRUCell(4), x, sequence_length=n, dtype=tf.float32
    )
both = tf.concat([fw, bw], 2)
score = tf.reduce_sum(tf.square(both))
grads = tf.gradients(score, tf.trainable_variables())

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    values = sess.run([both, score] + grads, {x: batch, n: lengths})
    print(values[0].shape, "score", values[1])
    print("padded", np.abs(values[0][1, 2:]).sum(), np.abs(values[0][2]).sum())
    for variable, grad in zip(tf.trainable_variables(), values[2:]):
        print(variable.name, np.round(np.abs(grad).sum(), 3))
