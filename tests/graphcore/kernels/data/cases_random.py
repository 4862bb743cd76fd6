"""Random ops. Cases that record.py records."""

# ruff: noqa: B023 - each lambda is called before its loop goes on; a row of a table is a line
import numpy as np
import tensorflow as tf

raw = tf.raw_ops


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
