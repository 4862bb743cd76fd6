"""Normalization and losses. Cases that record.py records."""

# ruff: noqa: B023 - each lambda is called before its loop goes on; a row of a table is a line
import numpy as np
import tensorflow as tf
from record import tensors

raw = tf.raw_ops


def normalization(r):
    def vector(channels):
        return r.normal(channels), r.normal(channels), r.normal(channels), np.abs(r.normal(channels)) + 0.1

    empty = np.zeros(0, "float32")
    table = [
        ((3, 4, 5, 2), "NHWC"),
        ((3, 2, 4, 5), "NCHW"),
        ((1, 1, 1, 4), "NHWC"),
        ((2, 3, 2, 2, 2), "NDHWC"),
    ]
    for shape, data_format in table:
        for dtype in ["float32", "float16", "bfloat16"] if shape == (3, 4, 5, 2) else ["float32"]:
            x = (r.normal(*shape) * 3 + 5).astype("float32")
            x = tf.cast(x, dtype).numpy()
            scale, offset, mean, variance = vector(shape[1] if data_format == "NCHW" else shape[-1])
            low = {"float16": 1e-2, "bfloat16": 5e-2}.get(dtype, 3e-5)
            low = {"rtol": low, "atol": low}
            five = raw.FusedBatchNormV3
            for training, m, v, factor in [
                (True, empty, empty, 1.0),
                (True, mean, variance, 0.25),
                (False, mean, variance, 1.0),
            ]:
                kwargs = {
                    "epsilon": 0.01,
                    "data_format": data_format,
                    "is_training": training,
                    "exponential_avg_factor": factor,
                }

                def run():
                    out = five(x=tf.constant(x), scale=scale, offset=offset, mean=m, variance=v, **kwargs)
                    # Not training, TensorFlow leaves the memory of the reserves as it found it.
                    return list(out[:5]) if training else [*out[:3], tf.constant(m), tf.constant(v)]

                r.add("normalization.fused_batch_norm", run, [x, scale, offset, m, v], kwargs, **low)
            # TensorFlow's CPU kernel has no gradient of inference for NCHW.
            for training in (True, False) if data_format != "NCHW" else (True,):
                kwargs = {"epsilon": 0.01, "data_format": data_format, "is_training": training}
                dy = r.normal(*shape, dtype=dtype)
                names = {
                    "y_backprop": dy,
                    "x": x,
                    "scale": scale,
                    "reserve_space_1": mean,
                    "reserve_space_2": variance,
                }
                op = raw.FusedBatchNormGradV3
                r.add(
                    "normalization.fused_batch_norm_grad",
                    lambda: list(op(**tensors(names), reserve_space_3=empty, **kwargs)[:3]),
                    list(names.values()),
                    kwargs,
                    **low,
                )
    x = r.normal(3, 4, 5, 2)
    scale, offset, mean, variance = vector(2)
    bad = [
        (x[0], scale, offset, mean, variance, True),
        (x, scale[:1], offset, mean, variance, True),
        (x, scale, offset, empty, variance, False),
    ]
    for *args, training in bad:
        names = dict(zip(["x", "scale", "offset", "mean", "variance"], args, strict=True))
        r.add(
            "normalization.fused_batch_norm",
            lambda: list(raw.FusedBatchNormV3(**names, is_training=training)),
            args,
            {"is_training": training},
        )
    for shape, kwargs in [
        ((2, 3, 2, 12), {"depth_radius": 2, "bias": 1.5, "alpha": 0.3, "beta": 0.75}),
        ((2, 1, 2, 3), {}),
        ((1, 2, 2, 7), {"depth_radius": 1, "bias": 2.0, "alpha": 1e-4, "beta": 1.0}),
        ((0, 2, 2, 7), {}),
    ]:
        x, dy = r.normal(*shape), r.normal(*shape)
        y = raw.LRN(input=x, **kwargs)
        r.add("normalization.lrn", lambda: raw.LRN(input=x, **kwargs), [x], kwargs)
        r.add(
            "normalization.lrn_grad",
            lambda: raw.LRNGrad(input_grads=dy, input_image=x, output_image=y, **kwargs),
            [dy, x, y.numpy()],
            kwargs,
        )
    r.add(
        "normalization.lrn", lambda: raw.LRN(input=np.ones((2, 3), "float32")), [np.ones((2, 3), "float32")]
    )


def losses(r):
    nan, inf = np.nan, np.inf
    special = np.array(
        [[1, nan, 2], [inf, 1, 2], [-inf, 1, 2], [-inf, -inf, -inf], [inf, inf, 1], [1e38, -1e38, 1]],
        "float32",
    )
    big = r.normal(4, 7) * np.float32(50)
    for x in [
        special,
        big,
        r.normal(2, 3, 5),
        r.normal(6),
        r.normal(2, 0),
        r.normal(0, 3),
        r.normal(3, 4, dtype="float64"),
        r.normal(3, 4, dtype="float16"),
        r.normal(3, 4, dtype="bfloat16"),
        np.float32(1),
    ]:
        low = {"float16": 2e-3, "bfloat16": 2e-2}.get(x.dtype.name, 1e-5)
        r.add("losses.softmax", lambda: raw.Softmax(logits=tf.constant(x)), [x], rtol=low, atol=low)
        r.add("losses.log_softmax", lambda: raw.LogSoftmax(logits=tf.constant(x)), [x], rtol=low, atol=low)
    op = raw.SoftmaxCrossEntropyWithLogits
    five = r.normal(2, 5)
    table = [(special, np.array([[0, 0.5, 0.5]], "float32")), (big, np.abs(r.normal(4, 7)))]
    table += [(five, r.normal(1, 5)), (five[:1], r.normal(2, 5)), (five, r.normal(2, 1)), (five, r.normal(5))]
    table += [
        (five[:, :1], r.normal(2, 5)),
        (five, r.normal(2, 2)),
        (five[0], r.normal(5)),
        (five[:0], r.normal(0, 5)),
    ]
    table += [(r.normal(2, 3, dtype=d), r.normal(2, 3, dtype=d)) for d in ("float64", "float16")]
    for x, labels in table:
        low = 1e-2 if x.dtype == np.float16 else 1e-5
        r.add(
            "losses.softmax_cross_entropy",
            lambda: list(op(features=tf.constant(x), labels=tf.constant(labels))),
            [x, labels],
            rtol=low,
            atol=low,
        )
        if "error" in r.cases[-1]:
            r.cases[-1]["error"] = r.cases[-1]["error"].split(" or broadcasted")[0]
    op = raw.SparseSoftmaxCrossEntropyWithLogits
    table = [
        (special, [1, 2, 2, 0, 1, 1]),
        (big, [6, 0, 3, 3]),
        (five, [1, 7]),
        (five, [-1, 2]),
        (five, [1, 2, 3]),
    ]
    table += [
        (five[0], [1]),
        (five, [[1], [2]]),
        (five[:, :0], [1, 2]),
        (five[:0], []),
        (five.astype("float64"), [4, 0]),
    ]
    for x, labels in table:
        for kind in ("int32", "int64"):
            y = np.array(labels, kind)
            r.add(
                "losses.sparse_softmax_cross_entropy",
                lambda: list(op(features=tf.constant(x), labels=y)),
                [x, y],
            )
