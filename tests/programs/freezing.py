rng = np.random.RandomState(14)
data = rng.normal(size=(3, 4)).astype(np.float32)
with tf.Graph().as_default() as graph, tf.Session() as sess:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    w = tf.get_variable("w", [4, 2], initializer=tf.random_normal_initializer(seed=5))
    r = tf.get_variable("r", [2], initializer=tf.constant_initializer(0.5), use_resource=True)
    y = tf.nn.softmax(tf.identity(tf.matmul(x, w)) + r, name="y")
    sess.run(tf.global_variables_initializer())
    print(sess.run(y, {x: data}))
    frozen = tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
    frozen = tf.graph_util.remove_training_nodes(frozen)
    with tf.gfile.GFile("frozen.pb", "wb") as f:
        f.write(frozen.SerializeToString())
print(sorted({node.op for node in frozen.node} & {"VariableV2", "VarHandleOp", "Placeholder", "Const"}))
with tf.Graph().as_default() as graph:
    graph_def = tf.GraphDef()
    with tf.gfile.GFile("frozen.pb", "rb") as f:
        graph_def.ParseFromString(f.read())
    (y,) = tf.import_graph_def(graph_def, return_elements=["y:0"], name="net")
    with tf.Session() as sess:
        print(sess.run(y, {"net/x:0": data}))
        print(sess.run("net/y:0", {"net/x:0": data[:1]}))
