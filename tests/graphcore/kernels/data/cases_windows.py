"""Convolution and pooling. Cases that record.py records."""

# ruff: noqa: B023 - each lambda is called before its loop goes on; a row of a table is a line
import numpy as np
import tensorflow as tf
from record import tensors

raw = tf.raw_ops


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
                    "pooling_argmax.max_pool_grad",
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
                        "pooling_argmax.max_pool_grad_grad",
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
                        r.add(
                            "pooling_argmax.max_pool_with_argmax",
                            lambda: list(op(input=x, **more)),
                            [x],
                            more,
                        )
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
