rng = np.random.RandomState(30)
text = rng.randint(0, 20, (4, 6))
inputs, targets = tf.placeholder(tf.int32, [4, 5]), tf.placeholder(tf.int64, [4, 5])
with tf.variable_scope("lm", initializer=tf.random_uniform_initializer(-0.1, 0.1, seed=3)):
    embedding = tf.get_variable("embedding", [20, 6])
    cell = tf.nn.rnn_cell.BasicRNNCell(6)
    outputs, _ = tf.nn.static_rnn(
        cell, tf.unstack(tf.nn.embedding_lookup(embedding, inputs), axis=1), dtype=tf.float32
    )
    flat = tf.reshape(tf.stack(outputs, 1), [-1, 6])
    w, b = tf.get_variable("softmax_w", [20, 6]), tf.get_variable("softmax_b", [20])
    labels = tf.reshape(targets, [-1, 1])
    sampled = tf.nn.uniform_candidate_sampler(labels, 1, 5, True, 20, seed=8)
    train_loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(w, b, labels, flat, 5, 20, sampled_values=sampled))
    logits = tf.matmul(flat, w, transpose_b=True) + b
full = tf.reduce_mean(
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(targets, [-1]), logits=logits)
)
train = tf.train.AdagradOptimizer(1.0).minimize(train_loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        feed = {inputs: text[:, :-1], targets: text[:, 1:]}
        print("sampled", sess.run([train_loss, train], feed)[0], "perplexity", np.exp(sess.run(full, feed)))
