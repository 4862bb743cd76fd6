t = np.linspace(0, 1, 64, endpoint=False).astype(np.float32)
wave = np.sin(2 * np.pi * 5 * t) + 0.5 * np.cos(2 * np.pi * 12 * t)
x = tf.placeholder(tf.float32, [64])
spectrum = tf.abs(tf.spectral.rfft(x))
frames = tf.signal.stft(x, frame_length=16, frame_step=8)
back = tf.signal.irfft(tf.signal.rfft(x))
matrix = tf.reshape(x[:9], [3, 3]) + tf.eye(3) * 3
s, u, v = tf.svd(matrix)
inverse = tf.matrix_inverse(matrix)
solved = tf.matrix_solve(matrix, tf.ones([3, 1]))
power = tf.einsum("ij,kj->ik", matrix, inverse)
with tf.Session() as sess:
    feed = {x: wave}
    print(np.argsort(sess.run(spectrum, feed))[-2:], sess.run(frames, feed).shape)
    print(np.abs(sess.run(back, feed) - wave).max() < 1e-5)
    print(sess.run([s, solved, tf.matrix_determinant(matrix), tf.trace(power)], feed))
    print(sess.run(tf.gradients(tf.log(tf.matrix_determinant(matrix)), x)[0], feed)[:9])
