rng = np.random.RandomState(10)
real = rng.normal(3, 0.5, (20, 1)).astype(np.float32)
noise = rng.uniform(-1, 1, (20, 2)).astype(np.float32)


def generator(z):
    with tf.variable_scope("generator"):
        h = tf.layers.dense(z, 6, tf.tanh, kernel_initializer=tf.random_normal_initializer(seed=1))
        return tf.layers.dense(h, 1, kernel_initializer=tf.random_normal_initializer(seed=2))


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        h = tf.layers.dense(x, 6, tf.nn.leaky_relu, kernel_initializer=tf.random_normal_initializer(seed=3))
        return tf.layers.dense(h, 1, kernel_initializer=tf.random_normal_initializer(seed=4))


X = tf.placeholder(tf.float32, [None, 1])
Z = tf.placeholder(tf.float32, [None, 2])
fake = generator(Z)
d_real, d_fake = discriminator(X), discriminator(fake, reuse=True)
cross = tf.nn.sigmoid_cross_entropy_with_logits
d_loss = tf.reduce_mean(
    cross(logits=d_real, labels=tf.ones_like(d_real)) + cross(logits=d_fake, labels=tf.zeros_like(d_fake))
)
g_loss = tf.reduce_mean(cross(logits=d_fake, labels=tf.ones_like(d_fake)))
g_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="generator")
d_vars = [v for v in tf.trainable_variables() if v.name.startswith("discriminator/")]
d_step = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(d_loss, var_list=d_vars)
g_step = tf.train.AdamOptimizer(0.01, beta1=0.5).minimize(g_loss, var_list=g_vars)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
        _, d = sess.run([d_step, d_loss], {X: real, Z: noise})
        _, g = sess.run([g_step, g_loss], {Z: noise})
        print("d", d, "g", g)
    print(sorted(v.op.name for v in tf.global_variables() if "Adam" in v.name))
    tf.train.Saver().save(sess, "gan")
