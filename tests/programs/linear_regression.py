rng = np.random.RandomState(0)
train_x = rng.uniform(0, 10, 17).astype(np.float32)
train_y = 0.3 * train_x + 0.7 + rng.normal(0, 0.05, 17).astype(np.float32)

x = tf.placeholder("float")
y = tf.placeholder("float")
w = tf.Variable(0.1, name="weight")
b = tf.Variable(-0.2, name="bias")
prediction = tf.add(tf.multiply(x, w), b)
cost = tf.reduce_sum(tf.pow(prediction - y, 2)) / (2 * len(train_x))
train = tf.train.GradientDescentOptimizer(0.01).minimize(cost)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(30):
        for one_x, one_y in zip(train_x, train_y):
            sess.run(train, feed_dict={x: one_x, y: one_y})
        if (epoch + 1) % 10 == 0:
            print("epoch", epoch + 1, "cost", sess.run(cost, feed_dict={x: train_x, y: train_y}))
    print("w", sess.run(w), "b", sess.run(b))
    print(tf.train.Saver().save(sess, "linear"))
