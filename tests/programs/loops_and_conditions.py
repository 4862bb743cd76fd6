n = tf.placeholder(tf.float32, [])


def newton(guess, count):
    return (guess + n / guess) / 2, count + 1


root, count = tf.while_loop(
    lambda g, c: tf.logical_and(tf.abs(g * g - n) > 1e-5, c < 50), newton, [n, tf.constant(0)]
)
slope = tf.gradients(root, n)[0]
sign = tf.case(
    [(n > 100, lambda: tf.constant("big")), (n > 1, lambda: tf.constant("some"))],
    lambda: tf.constant("small"),
)
halved = tf.cond(n > 10, lambda: n / 2, lambda: tf.identity(n))
factorials = tf.scan(lambda a, x: a * x, tf.range(1, 7))
mapped = tf.map_fn(lambda x: (x * 2, tf.cast(x, tf.float32) / 2), tf.range(3), dtype=(tf.int32, tf.float32))
folded = tf.foldr(lambda a, x: a - x, tf.constant([1.0, 2.0, 4.0]))
with tf.Session() as sess:
    for value in (2.0, 25.0, 1e4):
        print(value, sess.run([root, count, slope, halved], {n: value}), sess.run(sign, {n: value}).decode())
    print(sess.run(factorials), sess.run(mapped), sess.run(folded))
