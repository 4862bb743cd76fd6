"""Moving spatial positions into the batch or the channels."""

import numpy as np

from . import case, floats, ints

IMAGE = floats(2, 4, 6, 3)
BLOCK, PADS = np.array([2, 3], np.int32), np.array([[1, 1], [0, 0]], np.int32)


def to_batch(x, block, pads):
    padded = np.pad(x, [(0, 0), *map(tuple, pads), (0, 0)])
    a, b = block
    return np.concatenate([padded[:, i::a, j::b] for i in range(a) for j in range(b)])


def to_space(x, block, crops):
    a, b = block
    batch = len(x) // (a * b)
    out = np.zeros((batch, x.shape[1] * a, x.shape[2] * b, x.shape[3]), x.dtype)
    for i in range(a):
        for j in range(b):
            part = i * b + j
            out[:, i::a, j::b] = x[part * batch : (part + 1) * batch]
    (top, bottom), (left, right) = crops
    return out[:, top : out.shape[1] - bottom, left : out.shape[2] - right]


def to_depth(x):
    return np.concatenate([x[:, i::2, j::2] for i in range(2) for j in range(2)], -1)


CASES = [
    case("SpaceToBatchND", IMAGE, BLOCK, PADS, expect=to_batch),
    case(
        "SpaceToBatchND",
        ints(1, 4, 2),
        np.array([2]),
        np.array([[0, 0]]),
        expect=lambda x, *_: np.concatenate([x[:, ::2], x[:, 1::2]]),
    ),
    case("BatchToSpaceND", floats(6, 2, 2, 3), BLOCK, PADS, expect=to_space),
    case(
        "SpaceToBatch",
        floats(2, 3, 4, 2),
        np.array([[0, 1], [2, 0]], np.int32),
        block_size=2,
        expect=lambda x, pads: to_batch(x, (2, 2), pads),
    ),
    case(
        "BatchToSpace",
        floats(8, 2, 3, 2),
        np.array([[1, 0], [0, 2]]),
        block_size=2,
        expect=lambda x, crops: to_space(x, (2, 2), crops),
    ),
    case("SpaceToDepth", IMAGE, block_size=2, expect=to_depth),
    case(
        "SpaceToDepth",
        np.moveaxis(IMAGE, -1, 1).copy(),
        block_size=2,
        data_format="NCHW",
        expect=lambda x: np.moveaxis(to_depth(np.moveaxis(x, 1, -1)), -1, 1),
        oracle="no NCHW on TensorFlow's CPU",
        oracle_grad=False,
    ),
    case("DepthToSpace", to_depth(IMAGE), block_size=2, expect=IMAGE),
    case(
        "DepthToSpace",
        np.zeros((0, 2, 2, 4), np.float32),
        block_size=2,
        expect=np.zeros((0, 4, 4, 1)),
        grad="empty",
    ),
]
