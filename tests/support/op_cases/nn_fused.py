"""Fused convolutions as the steps that they are made of, and dimensions of data formats."""

import numpy as np

from . import case, floats
from .nn_conv import Direct

X, W = floats(2, 5, 6, 3), floats(3, 2, 3, 4, seed=1)
ONE = X[:1]
BATCH = "TensorFlow gives the first image's result for all images of a batch"
PADS = np.array([[0, 0], [2, 1], [1, 3], [0, 0]], np.int32)


def resized(x, size, align):
    """Bilinear along one axis after the other."""
    for axis, out in zip((1, 2), size, strict=True):
        last = x.shape[axis] - 1
        scale = last / (out - 1) if align and out > 1 else x.shape[axis] / out
        place = np.arange(out) * scale
        low = np.minimum(place.astype(int), last)
        share = (place - np.floor(place)).reshape([-1 if i == axis else 1 for i in range(4)])
        high = np.minimum(low + 1, last)
        x = x.take(low, axis) * (1 - share) + x.take(high, axis) * share
    return x


def padded(mode, **attrs):
    direct = Direct(**attrs)
    return lambda x, pads, w: direct.forward(np.pad(x, pads, mode=mode.lower()), w)


def both(mode, align, **attrs):
    return lambda x, size, pads, w: padded(mode, **attrs)(resized(x, size.tolist(), align), pads, w)


CASES = []
for mode, attrs in [
    ("REFLECT", {"strides": [1, 1, 1, 1], "padding": "SAME"}),
    ("SYMMETRIC", {"strides": [1, 2, 1, 1], "padding": "VALID"}),
]:
    options = {"mode": mode, "note": mode, "rtol": 1e-4, "atol": 1e-4, **attrs}
    size = np.array([7, 4], np.int32)
    align = mode == "REFLECT"
    CASES += [
        case("FusedPadConv2D", ONE, PADS, W, expect=padded(mode, **attrs), **options),
        case("FusedPadConv2D", X, PADS, W, expect=padded(mode, **attrs), **{**options, "oracle": BATCH}),
        case(
            "FusedResizeAndPadConv2D",
            ONE,
            size,
            PADS,
            W,
            expect=both(mode, align, **attrs),
            resize_align_corners=align,
            **options,
        ),
        case(
            "FusedPadConv2D",
            ONE.astype(np.float64),
            PADS,
            W.astype(np.float64),
            expect=padded(mode, **attrs),
            **options,
        ),
    ]

DIMS = np.array([[0, 1, 2], [3, -1, -4]])
CASES += [
    case(
        "DataFormatDimMap",
        DIMS.astype(np.int32),
        expect=lambda x: np.array([0, 2, 3, 1])[x],
    ),
    case(
        "DataFormatDimMap",
        DIMS,
        src_format="NCHW",
        dst_format="NHWC",
        expect=lambda x: np.array([0, 3, 1, 2])[x],
        note="back",
    ),
    case(
        "DataFormatDimMap",
        np.array([0, 4, -5], np.int32),
        src_format="NDHWC",
        dst_format="NCDHW",
        expect=[[0, 1, 0]],
        note="volumes",
    ),
    case("DataFormatVecPermute", np.array([7, 4, 9, 3], np.int32), expect=[[7, 3, 4, 9]]),
    case(
        "DataFormatVecPermute",
        np.array([[1, 2], [3, 4], [5, 6], [7, 8]]),
        src_format="NCHW",
        dst_format="NHWC",
        expect=np.array([[1, 2], [5, 6], [7, 8], [3, 4]]),
        note="pairs",
    ),
    case(
        "DataFormatVecPermute",
        np.array([4, 9], np.int32),
        src_format="NHWC",
        dst_format="NCWH",
        expect=[[9, 4]],
        note="spatial",
    ),
]
