rng = np.random.RandomState(24)
image = tf.constant(rng.randint(0, 256, (9, 7, 3)).astype(np.uint8))
tf.set_random_seed(5)
floats = tf.image.convert_image_dtype(image, tf.float32)
results = {
    "resized": tf.image.resize_images(floats, [5, 4]),
    "nearest": tf.image.resize_nearest_neighbor(tf.expand_dims(image, 0), [3, 3])[0],
    "cropped": tf.image.resize_image_with_crop_or_pad(image, 5, 9),
    "flipped": tf.image.random_flip_left_right(image, seed=3),
    "random": tf.random_crop(image, [4, 4, 3], seed=2),
    "bright": tf.image.random_brightness(floats, 0.3, seed=1),
    "contrast": tf.image.adjust_contrast(floats, 1.5),
    "gray": tf.image.rgb_to_grayscale(image),
    "hue": tf.image.adjust_hue(floats, 0.2),
    "standard": tf.image.per_image_standardization(floats),
    "boxes": tf.image.crop_and_resize(tf.expand_dims(floats, 0), [[0.1, 0.1, 0.8, 0.9]], [0], [3, 3]),
}
with tf.Session() as sess:
    for key, value in sorted(sess.run(results).items()):
        print(key, value.shape, value.dtype, np.round(value.astype(np.float64).sum(), 2))
