rng = np.random.RandomState(15)
known = rng.normal(size=(12, 3)).astype(np.float32)
labels = rng.randint(0, 3, 12)
train = tf.placeholder("float", [None, 3])
test = tf.placeholder("float", [3])
distance = tf.reduce_sum(tf.abs(tf.add(train, tf.negative(test))), axis=1)
pred = tf.argmin(distance, 0)
values, indices = tf.nn.top_k(-distance, 3)
with tf.Session() as sess:
    for _ in range(4):
        point = rng.normal(size=3)
        index, best, three = sess.run([pred, indices, values], {train: known, test: point})
        print(index, labels[index], best.tolist(), three)
