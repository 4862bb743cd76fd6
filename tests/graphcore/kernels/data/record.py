# ruff: noqa: B023 - each lambda is called before its loop goes on
"""Records what TensorFlow computes, for test_recorded.py. Run it with a Python that has TensorFlow 2:

    python record.py [SUBJECT ...]

Each SUBJECT.npz holds cases: a JSON list `cases` (kernel, arguments, keywords, tolerance, or the error
TensorFlow raised) and the arrays they name. bfloat16 arrays are kept as float32 and marked.
"""

import json
import os
import pathlib
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf

HERE = pathlib.Path(__file__).parent
raw = tf.raw_ops


class Recorder:
    """Collects the cases of one subject and writes them."""

    def __init__(self, subject):
        self.subject, self.cases, self.arrays = subject, [], {}
        self.rng = np.random.default_rng(7)

    def normal(self, *shape, dtype="float32"):
        return tf.cast(self.rng.standard_normal(shape), dtype).numpy()

    def ints(self, low, high, *shape, dtype="int32"):
        return self.rng.integers(low, high, shape).astype(dtype)

    def value(self, item):
        if isinstance(item, tuple):
            return {"list": [self.value(i) for i in item]}
        if isinstance(item, np.ndarray | np.generic):
            key = f"a{len(self.arrays)}"
            item = np.asarray(item)
            wide = item.dtype.name == "bfloat16"
            self.arrays[key] = item.astype(np.float32) if wide else item
            return {"array": key, "bfloat16": wide}
        return {"value": item}

    def add(self, kernel, op, args, kwargs=None, *, rtol=1e-5, atol=1e-5, **attributes):
        """One case: `op` is called with nothing; `kernel(*args, **kwargs)` must give the same."""
        case = {"kernel": kernel, "args": [self.value(a) for a in args], "rtol": rtol, "atol": atol}
        case["kwargs"] = {**(kwargs or {}), **attributes}
        try:
            results = op()
        except (tf.errors.OpError, ValueError) as error:
            text = getattr(error, "message", str(error))
            text = text.split("} }} ")[-1].split("}} ", 1)[-1].split(" [Op:")[0]
            case["error"] = text
        else:
            many = isinstance(results, list | tuple)
            results = results if many else [results]
            case["results"] = [self.value(np.asarray(r.numpy())) for r in results]
            case["many"] = many
        self.cases.append(case)

    def write(self):
        path = HERE / f"{self.subject}.npz"
        np.savez_compressed(path, cases=np.array(json.dumps(self.cases)), **self.arrays)
        errors = sum("error" in c for c in self.cases)
        print(f"{path.name}: {len(self.cases)} cases ({errors} errors), {path.stat().st_size} bytes")


CONVOLUTIONS = [
    # input, filter, strides, padding, dilations, explicit paddings
    ((2, 7, 6, 3), (3, 3, 3, 4), (1, 1), "SAME", (1, 1), None),
    ((2, 7, 6, 3), (3, 3, 3, 4), (1, 1), "VALID", (1, 1), None),
    ((2, 7, 6, 3), (3, 2, 3, 4), (2, 2), "SAME", (1, 1), None),
    ((2, 9, 8, 3), (3, 5, 3, 4), (3, 2), "VALID", (1, 1), None),
    ((2, 9, 8, 5), (1, 1, 5, 4), (1, 1), "SAME", (1, 1), None),
    ((2, 9, 8, 5), (1, 1, 5, 4), (2, 3), "VALID", (1, 1), None),
    ((2, 4, 5, 3), (4, 5, 3, 6), (1, 1), "VALID", (1, 1), None),
    ((1, 12, 11, 2), (3, 3, 2, 3), (1, 1), "SAME", (2, 3), None),
    ((1, 12, 11, 2), (3, 3, 2, 3), (1, 1), "VALID", (2, 3), None),
    ((1, 8, 9, 2), (3, 3, 2, 3), (1, 2), "EXPLICIT", (1, 1), [0, 0, 2, 1, 0, 3, 0, 0]),
    ((2, 9, 40, 1), (5, 5, 1, 3), (1, 1), "SAME", (1, 1), None),
    ((2, 9, 40, 1), (5, 5, 1, 3), (2, 2), "VALID", (1, 1), None),
    ((2, 9, 40, 3), (3, 3, 3, 3), (1, 1), "SAME", (1, 1), None),
    ((2, 10, 10, 3), (8, 8, 3, 2), (1, 1), "VALID", (1, 1), None),
    ((0, 7, 6, 3), (3, 3, 3, 4), (1, 1), "SAME", (1, 1), None),
    ((2, 3, 3, 3), (4, 4, 3, 4), (1, 1), "VALID", (1, 1), None),
    ((2, 3, 3, 3), (5, 4, 3, 4), (1, 1), "VALID", (1, 1), None),
    ((2, 3, 3, 3), (3, 3, 2, 4), (1, 1), "VALID", (1, 1), None),
    ((2, 6, 6, 4), (3, 3, 2, 4), (1, 1), "SAME", (1, 1), None),
]


def convolution(r):
    for index, (x_shape, w_shape, (sh, sw), padding, (dh, dw), explicit) in enumerate(CONVOLUTIONS):
        dtypes = ["float32", "float64"] if index == 0 else ["float32"]
        for dtype in dtypes + (["float16", "bfloat16"] if index == 2 else []):
            x, w = r.normal(*x_shape, dtype=dtype), r.normal(*w_shape, dtype=dtype)
            kwargs = {"strides": [1, sh, sw, 1], "padding": padding, "dilations": [1, dh, dw, 1]}
            if explicit:
                kwargs["explicit_paddings"] = explicit
            tol = {"float16": 2e-2, "bfloat16": 1e-1}.get(dtype, 1e-5)
            tol = {"rtol": tol, "atol": tol}
            r.add(
                "convolution.conv2d", lambda: raw.Conv2D(input=x, filter=w, **kwargs), [x, w], kwargs, **tol
            )
            grouped = x_shape[3] != w_shape[2]  # TensorFlow has no such gradient on a CPU, nor a dilated one
            if "error" in r.cases[-1] or grouped or dh * dw > 1:
                continue
            dy = r.normal(*raw.Conv2D(input=x, filter=w, **kwargs).shape, dtype=dtype)
            if dy.size == 0:  # TensorFlow leaves the memory of these gradients as it found it
                continue
            r.add(
                "convolution.conv2d_backprop_input",
                lambda: raw.Conv2DBackpropInput(input_sizes=x_shape, filter=w, out_backprop=dy, **kwargs),
                [list(x_shape), w, dy],
                kwargs,
                **tol,
            )
            r.add(
                "convolution.conv2d_backprop_filter",
                lambda: raw.Conv2DBackpropFilter(input=x, filter_sizes=w_shape, out_backprop=dy, **kwargs),
                [x, list(w_shape), dy],
                kwargs,
                **tol,
            )


def depthwise(r):
    table = [
        ((2, 7, 6, 3), (3, 3, 3, 1), 1, "SAME", None),
        ((2, 7, 6, 3), (3, 3, 3, 2), 2, "VALID", None),
        ((2, 7, 6, 3), (2, 3, 3, 4), 2, "SAME", None),
        ((0, 7, 6, 3), (2, 3, 3, 4), 2, "SAME", None),
        ((1, 3, 3, 3), (5, 5, 3, 1), 1, "VALID", None),
        ((1, 3, 3, 3), (2, 2, 2, 1), 1, "VALID", None),
        ((1, 8, 9, 2), (3, 3, 2, 3), 1, "EXPLICIT", [0, 0, 2, 1, 0, 2, 0, 0]),
    ]
    for index, (x_shape, w_shape, stride, padding, explicit) in enumerate(table):
        for dtype in ["float32", "float64", "float16"] if index == 1 else ["float32"]:
            x, w = r.normal(*x_shape, dtype=dtype), r.normal(*w_shape, dtype=dtype)
            kwargs = {"strides": [1, stride, stride, 1], "padding": padding}
            if explicit:
                kwargs["explicit_paddings"] = explicit
            tol = {"rtol": 2e-2, "atol": 2e-2} if dtype == "float16" else {}
            op = raw.DepthwiseConv2dNative
            r.add(
                "depthwise.depthwise_conv2d", lambda: op(input=x, filter=w, **kwargs), [x, w], kwargs, **tol
            )
            if "error" in r.cases[-1]:
                continue
            dy = r.normal(*op(input=x, filter=w, **kwargs).shape, dtype=dtype)
            if dy.size == 0:  # TensorFlow leaves the memory of these gradients as it found it
                continue
            r.add(
                "depthwise.depthwise_conv2d_backprop_input",
                lambda: raw.DepthwiseConv2dNativeBackpropInput(
                    input_sizes=x_shape, filter=w, out_backprop=dy, **kwargs
                ),
                [list(x_shape), w, dy],
                kwargs,
                **tol,
            )
            r.add(
                "depthwise.depthwise_conv2d_backprop_filter",
                lambda: raw.DepthwiseConv2dNativeBackpropFilter(
                    input=x, filter_sizes=w_shape, out_backprop=dy, **kwargs
                ),
                [x, list(w_shape), dy],
                kwargs,
                **tol,
            )


def tensors(named):
    """Tensors of the arrays' own dtypes: a raw op with a default dtype would convert an array to it."""
    return {name: tf.constant(array) for name, array in named.items()}


def pooling(r):
    table = [
        # input, window, strides, padding
        ((2, 6, 7, 3), (2, 2), (2, 2), "VALID"),
        ((2, 6, 7, 3), (2, 2), (2, 2), "SAME"),
        ((2, 7, 6, 3), (3, 2), (1, 2), "SAME"),
        ((1, 9, 8, 2), (3, 3), (2, 1), "VALID"),
        ((1, 5, 5, 2), (1, 1), (2, 3), "SAME"),
        ((1, 5, 5, 2), (1, 1), (1, 1), "VALID"),
        ((1, 4, 5, 2), (4, 5), (1, 1), "VALID"),
        ((1, 3, 4, 2), (7, 6), (2, 3), "SAME"),
        ((0, 4, 5, 2), (2, 2), (1, 1), "SAME"),
        ((1, 3, 3, 2), (4, 4), (1, 1), "VALID"),
        ((1, 3, 3, 2), (5, 5), (1, 1), "VALID"),
    ]
    special = np.array(
        [np.nan, 1, 2, np.nan, -np.inf, -np.inf, np.nan, np.nan, 3, np.inf, 3, np.inf], "float32"
    )
    for index, (shape, window, (sh, sw), padding) in enumerate(table):
        dtypes = ["float32"] + (["float64", "float16", "bfloat16", "int32", "uint8"] if index == 1 else [])
        for dtype in [*dtypes, "ties", "special"]:
            if dtype == "ties":
                x = r.ints(0, 3, *shape, dtype="float32")
            elif dtype == "special":
                x = special[r.ints(0, len(special), *shape)]
            elif dtype in ("int32", "uint8"):
                x = r.ints(0, 50, *shape, dtype=dtype)
            else:
                x = r.normal(*shape, dtype=dtype)
            kwargs = {"ksize": [1, *window, 1], "strides": [1, sh, sw, 1], "padding": padding}
            r.add(
                "pooling.max_pool",
                lambda: raw.MaxPool(input=tf.constant(x), **kwargs),
                [x],
                kwargs,
                rtol=0,
                atol=0,
            )
            failed = "error" in r.cases[-1]
            if not failed:
                y = raw.MaxPool(input=tf.constant(x), **kwargs).numpy()
                # TensorFlow leaves the memory of the gradient as it found it where there are no outputs.
                failed = y.size == 0
            if not failed and x.dtype.kind == "f":
                dy = r.normal(*y.shape, dtype=x.dtype)
                names = {"orig_input": x, "orig_output": y, "grad": dy}
                low = {"rtol": 1e-2, "atol": 1e-2} if x.dtype == np.float16 else {}
                r.add(
                    "pooling.max_pool_grad",
                    lambda: raw.MaxPoolGrad(**tensors(names), **kwargs),
                    [x, y, dy],
                    kwargs,
                    **low,
                )
                names["grad"] = r.normal(*x.shape, dtype=x.dtype)
                if dtype != "special":
                    args = [x, y, names["grad"]]
                    op = raw.MaxPoolGradGrad
                    r.add(
                        "pooling.max_pool_grad_grad",
                        lambda: op(**tensors(names), **kwargs),
                        args,
                        kwargs,
                        rtol=0,
                        atol=0,
                    )
                if dtype == "ties":
                    op = raw.MaxPoolWithArgmax
                    for batch in (False, True):
                        more = {**kwargs, "include_batch_in_index": batch}
                        r.add("pooling.max_pool_with_argmax", lambda: list(op(input=x, **more)), [x], more)
            if x.dtype.kind == "f" or dtype == "bfloat16":
                low = {"float16": 1e-2, "bfloat16": 2e-2}.get(dtype, 1e-5)
                low = {"rtol": low, "atol": low}
                r.add("pooling.avg_pool", lambda: raw.AvgPool(value=x, **kwargs), [x], kwargs, **low)
                if not failed:
                    dy = r.normal(*y.shape, dtype=x.dtype)
                    op = raw.AvgPoolGrad
                    args = [list(shape), dy]
                    if dtype == "float32":
                        r.add(
                            "pooling.avg_pool_grad",
                            lambda: op(orig_input_shape=shape, grad=dy, **kwargs),
                            args,
                            kwargs,
                        )
    x = r.normal(1, 2, 3, 6)
    for ksize, strides in (
        ((1, 1, 1, 3), (1, 1, 1, 3)),
        ((1, 1, 1, 4), (1, 1, 1, 4)),
        ((1, 1, 1, 2), (1, 1, 1, 1)),
        ((1, 2, 1, 2), (1, 1, 1, 2)),
        ((2, 1, 1, 1), (1, 1, 1, 1)),
        ((1, 0, 1, 1), (1, 1, 1, 1)),
    ):
        kwargs = {"ksize": list(ksize), "strides": list(strides), "padding": "VALID"}
        r.add("pooling.max_pool", lambda: raw.MaxPool(input=x, **kwargs), [x], kwargs)
    kwargs = {
        "ksize": [1, 3, 2, 1],
        "strides": [1, 2, 1, 1],
        "padding": "EXPLICIT",
        "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0],
    }
    x = r.ints(0, 3, 2, 6, 5, 3, dtype="float32")
    r.add("pooling.max_pool", lambda: raw.MaxPool(input=x, **kwargs), [x], kwargs)


def random(r):
    """Three consecutive runs of stateful ops in a session, and stateless ops."""
    v1 = tf.compat.v1

    def stateful(kernel, args, make, seeds, **tolerance):
        with tf.Graph().as_default(), v1.Session() as session:
            node = make(*seeds)
            runs = [session.run(node) for _ in range(3)]
        case = {"kernel": f"philox.{kernel}", "seeds": list(seeds), "args": [r.value(a) for a in args]}
        r.cases.append({**case, "results": [r.value(run) for run in runs], **tolerance})

    def stateless(kernel, args, op, seed, **tolerance):
        result = op(seed).numpy()
        case = {"kernel": f"philox.{kernel}", "stateless": seed, "args": [r.value(a) for a in args]}
        r.cases.append({**case, "results": [r.value(result)], **tolerance})

    shapes = [[], [1], [2], [3], [5], [7, 3], [2, 0, 3], [4, 4, 4], [203]]
    seeds = [(1, 2), (0, 7), (87654321, 42), (-3, 2**40 + 5), (2**62 + 11, -(2**50))]
    exact = {"rtol": 0.0, "atol": 0.0}
    near = {"float64": {"rtol": 1e-15, "atol": 0.0}, "float32": {"rtol": 3e-7, "atol": 0.0}}
    for number, shape in enumerate(shapes):
        for dtype in ["float32", "float64", "float16", "bfloat16"]:
            pair = seeds[number % len(seeds)]
            close = near.get(dtype, {"rtol": 1e-2, "atol": 1e-3})
            wanted = {"shape": np.array(shape, "int32"), "dtype": dtype}
            for kernel, op, tolerance in (
                ("random_uniform", raw.RandomUniform, exact),
                ("random_standard_normal", raw.RandomStandardNormal, close),
                ("truncated_normal", raw.TruncatedNormal, close),
            ):
                stateful(
                    kernel, [shape, dtype], lambda a, b: op(**wanted, seed=a, seed2=b), pair, **tolerance
                )
            for kernel, op, tolerance in (
                ("random_uniform", raw.StatelessRandomUniform, exact),
                ("random_standard_normal", raw.StatelessRandomNormal, close),
                ("truncated_normal", raw.StatelessTruncatedNormal, close),
            ):
                stateless(
                    kernel,
                    [shape, dtype],
                    lambda seed: op(**wanted, seed=tf.constant(seed, tf.int64)),
                    list(pair),
                    **tolerance,
                )
        for dtype, low, high in (
            ("int32", -5, 17),
            ("int32", -(2**31), 2**31 - 1),
            ("int64", 3, 2**40),
            ("int64", -(2**63), 2**63 - 1),
        ):
            bounds = {"minval": tf.constant(low, dtype), "maxval": tf.constant(high, dtype)}
            stateful(
                "random_uniform_int",
                [shape, low, high, dtype],
                lambda a, b: raw.RandomUniformInt(
                    shape=np.array(shape, "int32"),
                    minval=np.array(low, dtype),
                    maxval=np.array(high, dtype),
                    seed=a,
                    seed2=b,
                ),
                seeds[number % len(seeds)],
                **exact,
            )
            stateless(
                "random_uniform_int",
                [shape, low, high, dtype],
                lambda seed: raw.StatelessRandomUniformInt(
                    shape=np.array(shape, "int32"), **bounds, seed=tf.constant(seed, tf.int64)
                ),
                list(seeds[number % len(seeds)]),
                **exact,
            )
    for number, shape in enumerate([(1,), (2,), (9,), (64, 2), (5, 3, 2), (0, 3)]):
        value = r.ints(0, 1000, *shape)
        stateful(
            "random_shuffle",
            [value],
            lambda a, b: raw.RandomShuffle(value=value, seed=a, seed2=b),
            seeds[number % len(seeds)],
            **exact,
        )
    for number, (batch, classes, samples) in enumerate(
        [(1, 3, 5), (3, 4, 7), (2, 1, 4), (4, 10, 1), (2, 3, 0)]
    ):
        for dtype in ["float32", "float64", "float16"]:
            logits = r.normal(batch, classes, dtype=dtype)
            if classes > 3:
                logits[0, 1] = -np.inf
            pair = seeds[number % len(seeds)]
            for out in ["int32", "int64"]:
                stateful(
                    "multinomial",
                    [logits, samples, out],
                    lambda a, b: raw.Multinomial(
                        logits=logits, num_samples=samples, seed=a, seed2=b, output_dtype=out
                    ),
                    pair,
                    **exact,
                )
            stateless(
                "multinomial",
                [logits, samples],
                lambda seed: raw.StatelessMultinomial(
                    logits=logits, num_samples=samples, seed=tf.constant(seed, tf.int64)
                ),
                list(pair),
                **exact,
            )


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


SUBJECTS = {
    "convolution": convolution,
    "depthwise": depthwise,
    "pooling": pooling,
    "random": random,
    "normalization": normalization,
    "losses": losses,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or SUBJECTS:
        recorder = Recorder(name)
        SUBJECTS[name](recorder)
        recorder.write()
