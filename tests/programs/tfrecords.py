def feature(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
    for i in range(5):
        features = {
            "label": feature([i]),
            "numbers": feature(list(range(i))),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % i])),
            "score": tf.train.Feature(float_list=tf.train.FloatList(value=[i / 2, i])),
        }
        writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
print(sum(1 for _ in tf.python_io.tf_record_iterator("data.tfrecord")))


def parse(record):
    parsed = tf.parse_single_example(
        record,
        {
            "label": tf.FixedLenFeature([], tf.int64),
            "numbers": tf.VarLenFeature(tf.int64),
            "name": tf.FixedLenFeature([], tf.string, default_value=""),
            "score": tf.FixedLenFeature([2], tf.float32),
        },
    )
    return parsed["label"], tf.sparse_tensor_to_dense(parsed["numbers"]), parsed["name"], parsed["score"]


dataset = tf.data.TFRecordDataset(["data.tfrecord"]).map(parse).filter(lambda label, *_: label > 0)
dataset = dataset.padded_batch(2, ([], [None], [], [2]))
label, numbers, name, score = dataset.make_one_shot_iterator().get_next()
with tf.Session() as sess:
    for _ in range(2):
        got = sess.run([label, numbers, name, score])
        print([value.tolist() for value in got])
