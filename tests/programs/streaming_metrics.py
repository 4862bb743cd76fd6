rng = np.random.RandomState(20)
labels = tf.placeholder(tf.int64, [None])
scores = tf.placeholder(tf.float32, [None, 3])
predictions = tf.argmax(scores, 1)
metrics = {
    "accuracy": tf.metrics.accuracy(labels, predictions),
    "precision": tf.metrics.precision(tf.equal(labels, 1), tf.equal(predictions, 1)),
    "recall": tf.metrics.recall(tf.equal(labels, 1), tf.equal(predictions, 1)),
    "auc": tf.metrics.auc(tf.equal(labels, 1), tf.nn.softmax(scores)[:, 1], num_thresholds=50),
    "iou": tf.metrics.mean_iou(labels, predictions, 3),
    "mean": tf.metrics.mean(scores, weights=tf.constant([[1.0, 0.0, 2.0]])),
    "top": tf.metrics.recall_at_k(tf.expand_dims(labels, 1), scores, 2),
}
with tf.Session() as sess:
    sess.run(tf.local_variables_initializer())
    for _ in range(4):
        feed = {labels: rng.randint(0, 3, 8), scores: rng.normal(size=(8, 3))}
        sess.run({key: update for key, (_, update) in metrics.items()}, feed)
    for key, (value, _) in sorted(metrics.items()):
        print(key, sess.run(value))
print(len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)))
