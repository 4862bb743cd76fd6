rng = np.random.RandomState(11)
data = rng.normal(size=(12, 5)).astype(np.float32)
with tf.Graph().as_default(), tf.Session() as sess:
    x = tf.placeholder(tf.float32, [None, 5], name="input")
    w = tf.Variable(tf.random_normal([5, 4], seed=1), name="features/w")
    feature = tf.nn.relu(tf.matmul(x, w), name="features/out")
    head = tf.matmul(feature, tf.Variable(tf.random_normal([4, 2], seed=2), name="head/w"), name="head/out")
    tf.add_to_collection("outputs", head)
    sess.run(tf.global_variables_initializer())
    tf.train.Saver().save(sess, "./base/model.ckpt", global_step=7)
    print("base", sess.run(head, {x: data[:1]}))

with tf.Graph().as_default() as graph, tf.Session() as sess:
    saver = tf.train.import_meta_graph(tf.train.latest_checkpoint("./base") + ".meta", clear_devices=True)
    saver.restore(sess, tf.train.latest_checkpoint("./base"))
    x = graph.get_tensor_by_name("input:0")
    print("restored", sess.run(tf.get_collection("outputs")[0], {x: data[:1]}))
    frozen = tf.stop_gradient(graph.get_tensor_by_name("features/out:0"))
    with tf.variable_scope("new_head"):
        w = tf.get_variable("w", [4, 1], initializer=tf.random_normal_initializer(seed=3))
    loss = tf.reduce_mean(tf.square(tf.matmul(frozen, w) - 1.0))
    train = tf.train.AdagradOptimizer(0.5).minimize(loss, var_list=[w])
    new = [v for v in tf.global_variables() if v.name.startswith("new_head")]
    sess.run(tf.variables_initializer(new))
    for _ in range(5):
        print("loss", sess.run([loss, train], {x: data})[0])
    print(sorted(v.name for v in tf.global_variables()))
    tf.train.Saver().save(sess, "./tuned/model.ckpt")
