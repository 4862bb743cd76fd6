counter = tf.Variable(0, name="counter")
copy = tf.Variable(counter.initialized_value() + 10, name="copy")
first = counter.assign_add(1)
with tf.control_dependencies([first]):
    second = copy.assign(counter.read_value() * 2)
grouped = tf.group(first, second)
checked = tf.Assert(counter < 3, [counter], name="limit")
scatter = tf.Variable([1, 2, 3, 4])
update = tf.scatter_update(scatter, [0, 2], [10, 30])
sliced = scatter[1:3].assign([7, 8])
counted = tf.count_up_to(counter, 4)
with tf.Session() as sess:
    print([name.decode() for name in sess.run(tf.report_uninitialized_variables())])
    sess.run(tf.global_variables_initializer())
    print(sess.run([counter, copy]))
    for _ in range(2):
        sess.run(grouped)
        print(sess.run([counter, copy]))
    sess.run(checked)
    print(sess.run(update), sess.run(sliced))
    print(sess.run(counted), sess.run(counter))
    try:
        sess.run(checked)
    except tf.errors.InvalidArgumentError as error:
        print("assertion failed" in error.message, error.op.name)
    try:
        sess.run([counted])
        sess.run([counted])
    except tf.errors.OutOfRangeError:
        print("reached")
