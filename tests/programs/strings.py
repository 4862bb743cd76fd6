lines = tf.constant(["1,2.5,a", "3,,b", "5,6.5,c d"])
columns = tf.decode_csv(lines, [[0], [-1.0], [""]])
words = tf.string_split(["hello there", "one"], " ")
results = [
    columns[0],
    columns[1],
    tf.string_join([columns[2], tf.as_string(columns[0])], ":"),
    tf.sparse_tensor_to_dense(words, default_value=""),
    tf.string_to_hash_bucket_fast(columns[2], 100),
    tf.substr(lines, 0, 3),
    tf.regex_replace(lines, "[0-9]", "#"),
    tf.strings.length(lines),
    tf.string_to_number(["1.5", "-2"]),
    tf.reduce_join([["a", "b"], ["c", "d"]], 1),
    tf.decode_raw(["abcd"], tf.uint8),
    tf.encode_base64("hi there"),
]
with tf.Session() as sess:
    for value in sess.run(results):
        print(value.tolist() if hasattr(value, "tolist") else value)
