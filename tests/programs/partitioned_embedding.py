ids = tf.placeholder(tf.int32, [None])
with tf.variable_scope("emb", partitioner=tf.fixed_size_partitioner(3)):
    table = tf.get_variable("table", [10, 4], initializer=tf.random_uniform_initializer(-1, 1, seed=2))
found = tf.nn.embedding_lookup(table, ids, partition_strategy="div")
loss = tf.reduce_sum(tf.square(found))
train = tf.train.AdagradOptimizer(0.3).minimize(loss)
sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 5], tf.int64), [2, 2])
combined = tf.nn.embedding_lookup_sparse(table, sparse, None, combiner="mean", partition_strategy="div")
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        print("loss", sess.run([loss, train], {ids: [0, 4, 9, 4]})[0])
    print([part.name for part in table], [part.shape.as_list() for part in table])
    print(sess.run(found, {ids: [9, 0]}))
    print(sess.run(combined).shape)
    tf.train.Saver().save(sess, "parts")
print(tf.train.list_variables("parts"))
