"""The optimizers of `tf.train`, one a file."""
