rng = np.random.RandomState(8)
data = rng.uniform(size=(24, 12)).astype(np.float32)
weights = {
    "encoder_h1": tf.Variable(tf.random_normal([12, 8], seed=1)),
    "encoder_h2": tf.Variable(tf.random_normal([8, 3], seed=2)),
    "decoder_h1": tf.Variable(tf.random_normal([3, 8], seed=3)),
    "decoder_h2": tf.Variable(tf.random_normal([8, 12], seed=4)),
}
X = tf.placeholder("float", [None, 12])


def encoder(x):
    layer_1 = tf.nn.sigmoid(tf.matmul(x, weights["encoder_h1"]))
    return tf.nn.sigmoid(tf.matmul(layer_1, weights["encoder_h2"]))


def decoder(x):
    layer_1 = tf.nn.sigmoid(tf.matmul(x, weights["decoder_h1"]))
    return tf.nn.sigmoid(tf.matmul(layer_1, weights["decoder_h2"]))


y_pred = decoder(encoder(X))
cost = tf.reduce_mean(tf.pow(X - y_pred, 2))
optimizer = tf.train.RMSPropOptimizer(0.05, momentum=0.5, centered=True).minimize(cost)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(15):
        _, c = sess.run([optimizer, cost], feed_dict={X: data})
        if i % 5 == 0:
            print("Step %i: Minibatch Loss: %f" % (i, c))
    print(sess.run(y_pred, {X: data[:1]}))
