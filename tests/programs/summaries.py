rng = np.random.RandomState(18)
x = tf.placeholder(tf.float32, [None, 3], name="x")
with tf.name_scope("layer"):
    w = tf.Variable(tf.ones([3, 2]), name="w")
    y = tf.matmul(x, w)
    tf.summary.histogram("w", w)
tf.summary.scalar("mean", tf.reduce_mean(y))
merged = tf.summary.merge_all()
bump = w.assign_add(tf.fill([3, 2], 0.5))
with tf.Session() as sess:
    writer = tf.summary.FileWriter("logs", sess.graph)
    sess.run(tf.global_variables_initializer())
    for step in range(3):
        summary = sess.run(merged, {x: rng.normal(size=(4, 3))})
        writer.add_summary(summary, step)
        sess.run(bump)
    writer.close()
found = []
for path in tf.gfile.Glob("logs/events*"):
    for event in tf.train.summary_iterator(path):
        for value in event.summary.value:
            kind = value.WhichOneof("value")
            number = value.simple_value if kind == "simple_value" else value.histo.sum
            found.append((event.step, value.tag, kind, round(float(number), 3)))
print(found)
