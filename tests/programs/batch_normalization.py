rng = np.random.RandomState(4)
images = rng.normal(1, 3, (6, 8, 8, 2)).astype(np.float32)
target = rng.normal(size=(6, 3)).astype(np.float32)

x = tf.placeholder(tf.float32, [None, 8, 8, 2])
training = tf.placeholder(tf.bool)
init = tf.random_uniform_initializer(-0.3, 0.3, seed=6)
net = tf.layers.conv2d(x, 4, 3, strides=2, padding="same", use_bias=False, kernel_initializer=init)
net = tf.layers.batch_normalization(net, training=training, momentum=0.9)
net = tf.nn.relu(net)
net = tf.reduce_mean(net, [1, 2])
net = tf.layers.dense(net, 3, kernel_initializer=init)
loss = tf.losses.mean_squared_error(target, net)
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    train = tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(8):
        print("train", sess.run([loss, train], {x: images, training: True})[0])
    print("eval", sess.run(loss, {x: images, training: False}))
    for variable in tf.global_variables():
        print(variable.op.name, variable.shape.as_list(), np.round(sess.run(variable).sum(), 3))
