"""Tensors out of nothing, or with other contents than their input."""

import ml_dtypes
import numpy as np

from . import case, floats, text

ALL = "all elements are alike"

CASES = [
    case(
        "Const",
        value=np.arange(6, dtype=np.float32).reshape(2, 3),
        dtype=np.float32,
        expect=lambda: np.arange(6.0).reshape(2, 3),
        oracle="takes a TensorProto",
    ),
    case(
        "Const",
        value=text(["a", ""]),
        dtype=object,
        expect=lambda: text(["a", ""]),
        oracle="takes a TensorProto",
    ),
    case(
        "HostConst",
        value=np.arange(6, dtype=np.float32).reshape(2, 3),
        dtype=np.float32,
        expect=lambda: np.arange(6.0).reshape(2, 3),
        oracle="takes a TensorProto",
    ),
    case("Fill", [2, 3], 1.5, expect=np.full((2, 3), 1.5)),
    case("Fill", np.zeros(0, np.int32), 2.0, expect=np.float32(2), note="scalar"),
    case("Fill", np.array([0, 3], np.int64), np.int32(7), expect=np.zeros((0, 3)), note="empty"),
    case("Fill", [2], text("x"), expect=[text(["x", "x"])], note="text"),
    case("ZerosLike", floats(2, 3), expect=np.zeros((2, 3)), numeric=True, second=False),
    case("ZerosLike", text(["a"]), expect=[text([""])]),
    case("ZerosLike", np.array([True]), expect=[[False]]),
    case("OnesLike", floats(2, 3), expect=np.ones((2, 3)), second=False),
    case("OnesLike", np.zeros((0, 2), ml_dtypes.bfloat16), expect=np.ones((0, 2)), grad="empty"),
    case("Range", 0, 5, 2, expect=[[0, 2, 4]]),
    case("Range", 5, 0, -2, expect=[[5, 3, 1]]),
    case("Range", 3, 3, 1, expect=[np.zeros(0)], note="empty"),
    case("Range", 0.0, 1.0, 0.25, expect=[[0, 0.25, 0.5, 0.75]]),
    case("Range", 0.0, 1.0, 0.1, expect=np.cumsum(np.array([0] + [0.1] * 9, np.float32)), note="rounding"),
    case("Range", np.int64(2), np.int64(2**40 + 2), np.int64(2**39), expect=[[2, 2 + 2**39]]),
    case("LinSpace", 0.0, 1.0, 5, expect=[[0, 0.25, 0.5, 0.75, 1]]),
    case("LinSpace", 2.0, 9.0, 1, expect=[[2.0]]),
    case("LinSpace", np.float64(1), np.float64(0), np.int64(4), expect=[[1, 2 / 3, 1 / 3, 0]]),
    case("EnsureShape", floats(2, 3), shape=[None, 3], expect=lambda x: x),
    case("PlaceholderWithDefault", floats(2, 3), shape=[None, 3], expect=lambda x: x),
    case(
        "PlaceholderWithDefault",
        floats(2, 3),
        shape=None,
        expect=lambda x: x,
        oracle="TensorFlow 2 wants a shape",
    ),
]
