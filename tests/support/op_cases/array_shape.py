"""Asking for and changing shapes; passing tensors on."""

import numpy as np

from . import case, floats, ints, text

X = floats(2, 3, 4)
Y = floats(2, 1, 4, 1)


def same(x, *_):
    return x


CASES = [
    case("Identity", X, expect=same),
    case("Identity", text(["a", "b"]), expect=same),
    case("IdentityN", [X, ints(3)], expect=lambda xs: xs, grad=[0], second=False, oracle_grad=False),
    case("StopGradient", X, expect=same),
    case("PreventGradient", X, expect=same, message="no", grad="asking for it is an error"),
    case("Shape", X, expect=[[2, 3, 4]]),
    case("Shape", np.float32(1), out_type=np.int64, expect=[np.zeros(0)]),
    case("Shape", text([["a"]]), expect=[[1, 1]]),
    case("ShapeN", [X, Y], expect=([2, 3, 4], [2, 1, 4, 1])),
    case("Size", X, expect=np.int32(24)),
    case("Size", np.zeros((0, 3), np.float32), out_type=np.int64, expect=np.int64(0)),
    case("Rank", X, expect=np.int32(3)),
    case("Rank", np.float32(2), expect=np.int32(0)),
    case("Reshape", X, [6, -1], expect=lambda x, _: x.reshape(6, 4)),
    case("Reshape", X, np.array([4, 3, 2], np.int64), expect=lambda x, _: x.reshape(4, 3, 2)),
    case("Reshape", np.float32(3), np.zeros(0, np.int32), expect=same, note="scalar"),
    case(
        "Reshape", X[:1, :1, :1], np.zeros(0, np.int32), expect=lambda x, _: x.reshape(()), note="to_scalar"
    ),
    case(
        "Reshape", np.zeros((0, 4), np.float32), [2, -1], expect=np.zeros((2, 0)), grad="empty", note="empty"
    ),
    case(
        "Reshape", np.zeros((0, 4), np.float32), [0, 7], expect=np.zeros((0, 7)), grad="empty", note="empty"
    ),
    case("ExpandDims", X, 1, expect=lambda x, _: x[:, None]),
    case("ExpandDims", X, -1, expect=lambda x, _: x[..., None]),
    case("ExpandDims", X, np.int64(0), expect=lambda x, _: x[None]),
    case("ExpandDims", np.float32(1), 0, expect=[[1.0]], note="scalar"),
    case("Squeeze", Y, expect=np.squeeze),
    case("Squeeze", Y, squeeze_dims=[1], expect=lambda x: x[:, 0]),
    case("Squeeze", Y, squeeze_dims=[-1, 1], expect=np.squeeze),
    case("Squeeze", X[:1, :1, :1], expect=np.squeeze, note="to_scalar"),
    case("Transpose", X, [2, 0, 1], expect=np.transpose),
    case("Transpose", X[0], np.array([1, 0], np.int64), expect=np.transpose),
    case("Transpose", np.float32(1), np.zeros(0, np.int32), expect=same, note="scalar"),
    case("Transpose", text([["a", "b"]]), [1, 0], expect=[text([["a"], ["b"]])]),
    case("InvertPermutation", [2, 0, 1], expect=[[1, 2, 0]]),
    case("InvertPermutation", np.zeros(0, np.int64), expect=[np.zeros(0)]),
    case("BroadcastTo", floats(3, 1), [2, 3, 4], expect=lambda x, s: np.broadcast_to(x, tuple(s))),
    case("BroadcastTo", np.float32(2), [2], expect=[[2, 2]], note="scalar"),
    case("BroadcastTo", floats(1, 3), np.array([0, 3], np.int64), expect=np.zeros((0, 3)), note="empty"),
    case("BroadcastArgs", [2, 1, 3], [4, 1], expect=[[2, 4, 3]]),
    case("BroadcastArgs", np.zeros(0, np.int32), [4, 1], expect=[[4, 1]]),
    case("Bitcast", X, type=np.int32, expect=lambda x: x.view(np.int32)),
    case("Bitcast", X, type=np.int8, expect=lambda x: x[..., None].view(np.int8)),
    case("Bitcast", ints(3, 2), type=np.int64, expect=lambda x: x.view(np.int64)[:, 0]),
]
