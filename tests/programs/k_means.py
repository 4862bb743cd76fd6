rng = np.random.RandomState(16)
points = tf.constant(np.concatenate([rng.normal(m, 0.3, (10, 2)) for m in (0, 3, 6)]), dtype=tf.float32)
centroids = tf.Variable(tf.slice(tf.random_shuffle(points, seed=3), [0, 0], [3, -1]))
assigned = tf.argmin(tf.reduce_sum(tf.square(tf.expand_dims(points, 0) - tf.expand_dims(centroids, 1)), 2), 0)
parts = tf.dynamic_partition(points, tf.to_int32(assigned), 3)
means = tf.stack([tf.reduce_mean(part, 0) for part in parts])
sums = tf.unsorted_segment_sum(points, assigned, 3)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        new, labels = sess.run([means, assigned])
        if not np.isnan(new).any():
            sess.run(centroids.assign(new))
        print(np.bincount(labels, minlength=3).tolist())
    print(sess.run(centroids), sess.run(sums))
