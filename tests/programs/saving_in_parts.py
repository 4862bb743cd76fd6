with tf.Graph().as_default(), tf.Session() as sess:
    a = tf.get_variable("block/a", [2], initializer=tf.constant_initializer(1.0))
    b = tf.get_variable("block/b", [3], initializer=tf.constant_initializer(2.0), use_resource=True)
    c = tf.Variable([[True], [False]], name="c")
    d = tf.Variable("text", name="d")
    sess.run(tf.global_variables_initializer())
    tf.train.Saver({"renamed/a": a, "b": b}).save(sess, "part/one")
    tf.train.Saver([c, d], max_to_keep=None, pad_step_number=True).save(sess, "part/two", global_step=3)
    sharded = tf.train.Saver(sharded=True, keep_checkpoint_every_n_hours=1)
    print(sharded.save(sess, "part/all", write_meta_graph=False))
    meta = tf.train.export_meta_graph("part/graph.meta", collection_list=["variables"])
    print(sorted(meta.collection_def), len(meta.graph_def.node) > 10)
print(tf.train.list_variables("part/one"), tf.train.load_variable("part/two-00000003", "d"))
with tf.Graph().as_default(), tf.Session() as sess:
    b = tf.get_variable("other/b", [3], initializer=tf.zeros_initializer())
    tf.train.Saver({"b": b}).restore(sess, "part/one")
    print(sess.run(b), tf.train.latest_checkpoint("part"))
    try:
        tf.train.Saver({"missing": b}).restore(sess, "part/one")
    except tf.errors.NotFoundError as error:
        print("Key missing not found in checkpoint" in str(error))
    try:
        wrong = tf.get_variable("wrong", [4])
        tf.train.Saver({"b": wrong}).restore(sess, "part/one")
    except tf.errors.InvalidArgumentError as error:
        print("Assign requires shapes of both tensors to match" in str(error))
