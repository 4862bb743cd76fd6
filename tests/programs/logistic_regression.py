rng = np.random.RandomState(1)
points = rng.normal(size=(60, 4)).astype(np.float32)
classes = np.eye(3, dtype=np.float32)[np.argmax(points[:, :3], 1)]

x = tf.placeholder(tf.float32, [None, 4], name="x")
y = tf.placeholder(tf.float32, [None, 3], name="y")
W = tf.Variable(tf.zeros([4, 3]), name="W")
b = tf.Variable(tf.zeros([3]), name="b")
pred = tf.nn.softmax(tf.matmul(x, W) + b)
cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(pred), reduction_indices=1))
optimizer = tf.train.GradientDescentOptimizer(0.5).minimize(cost)
correct = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
for step in range(40):
    batch = slice(step % 3 * 20, step % 3 * 20 + 20)
    _, c = sess.run([optimizer, cost], {x: points[batch], y: classes[batch]})
    if step % 10 == 9:
        print(step, "cost", c)
print("accuracy", accuracy.eval({x: points, y: classes}))
print(W.eval())
sess.close()
