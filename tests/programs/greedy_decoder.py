vocabulary, units, start, end = 7, 5, 0, 1
embedding = tf.get_variable(
    "embedding", [vocabulary, units], initializer=tf.random_normal_initializer(seed=3)
)
cell = tf.nn.rnn_cell.LSTMCell(units, initializer=tf.random_uniform_initializer(-1, 1, seed=4))
projection = tf.get_variable(
    "projection", [units, vocabulary], initializer=tf.random_normal_initializer(seed=5)
)
batch = 3
state = cell.zero_state(batch, tf.float32)
state = tf.nn.rnn_cell.LSTMStateTuple(state.c + tf.reshape(tf.range(15.0), [3, 5]) / 7, state.h)
tokens = tf.fill([batch], start)
outputs = tf.TensorArray(tf.int32, size=0, dynamic_size=True)


def step(time, tokens, state, finished, outputs):
    output, state = cell(tf.nn.embedding_lookup(embedding, tokens), state)
    following = tf.argmax(tf.matmul(output, projection), 1, output_type=tf.int32)
    following = tf.where(finished, tf.fill([batch], end), following)
    return (
        time + 1,
        following,
        state,
        tf.logical_or(finished, tf.equal(following, end)),
        outputs.write(time, following),
    )


def going_on(time, tokens, state, finished, outputs):
    return tf.logical_and(time < 6, tf.logical_not(tf.reduce_all(finished)))


_, _, last, _, outputs = tf.while_loop(going_on, step, [0, tokens, state, tf.fill([batch], False), outputs])
decoded = tf.transpose(outputs.stack())
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    words, final = sess.run([decoded, last])
    print(words.tolist())
    print(final.h)
