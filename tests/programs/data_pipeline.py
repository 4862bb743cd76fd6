rng = np.random.RandomState(17)
features = rng.normal(size=(12, 2)).astype(np.float32)
labels = features[:, 0] * 2 - features[:, 1]
dataset = tf.data.Dataset.from_tensor_slices((features, labels.astype(np.float32)))
dataset = (
    dataset.shuffle(12, seed=4)
    .map(lambda a, b: (a * 2, b))
    .repeat(3)
    .batch(5, drop_remainder=False)
    .prefetch(1)
)
iterator = tf.data.Iterator.from_structure(dataset.output_types, dataset.output_shapes)
start = iterator.make_initializer(dataset)
x, y = iterator.get_next()
w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(tf.tensordot(x, w, 1) - y))
train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
with tf.Session() as sess:
    sess.run([tf.global_variables_initializer(), start])
    while True:
        try:
            value, size, _ = sess.run([loss, tf.shape(x)[0], train])
        except tf.errors.OutOfRangeError:
            break
        print("batch of", size, "loss", value)
    print("w", sess.run(w))
