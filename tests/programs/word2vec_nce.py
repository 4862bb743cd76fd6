rng = np.random.RandomState(7)
centers = rng.randint(0, 30, 16)
contexts = rng.randint(0, 30, (16, 1))

inputs = tf.placeholder(tf.int32, shape=[16])
labels = tf.placeholder(tf.int32, shape=[16, 1])
embeddings = tf.Variable(tf.random_uniform([30, 8], -1.0, 1.0, seed=1), name="embeddings")
embed = tf.nn.embedding_lookup(embeddings, inputs)
nce_weights = tf.Variable(tf.truncated_normal([30, 8], stddev=0.35, seed=2), name="nce_w")
nce_biases = tf.Variable(tf.zeros([30]), name="nce_b")
sampled = tf.nn.log_uniform_candidate_sampler(tf.cast(labels, tf.int64), 1, 6, True, 30, seed=4)
loss = tf.reduce_mean(
    tf.nn.nce_loss(
        weights=nce_weights,
        biases=nce_biases,
        labels=labels,
        inputs=embed,
        num_sampled=6,
        num_classes=30,
        sampled_values=sampled,
    )
)
train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keep_dims=True))
similarity = tf.matmul(embeddings / norm, embeddings / norm, transpose_b=True)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(5):
        print("loss", sess.run([train, loss], {inputs: centers, labels: contexts})[1])
    nearest = (-sess.run(similarity)[:3]).argsort(axis=1)[:, 1:4]
    print("nearest", nearest.tolist())
    tf.train.Saver([embeddings]).save(sess, "w2v")
