rng = np.random.RandomState(9)
images = rng.randint(0, 2, (10, 16)).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 16])


def dense(value, size, name, activation=None):
    with tf.variable_scope(name):
        w = tf.get_variable(
            "w", [value.shape[1], size], initializer=tf.glorot_normal_initializer(seed=len(name))
        )
        b = tf.get_variable("b", [size], initializer=tf.zeros_initializer())
        result = tf.nn.xw_plus_b(value, w, b)
        return result if activation is None else activation(result)


h = dense(x, 10, "encoder", tf.nn.softplus)
mean = dense(h, 2, "mean")
log_var = dense(h, 2, "log_var")
eps = tf.random_normal(tf.shape(log_var), dtype=tf.float32, mean=0.0, stddev=1.0, seed=12)
z = mean + tf.exp(log_var / 2) * eps
logits = dense(dense(z, 10, "decoder_hidden", tf.nn.softplus), 16, "decoder")
reconstruction = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), 1)
cost = tf.reduce_mean(reconstruction + kl)
train = tf.train.AdamOptimizer(learning_rate=0.02).minimize(cost)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(8):
        print("cost", sess.run([train, cost], {x: images})[1])
    print("latent", sess.run(mean, {x: images[:2]}))
