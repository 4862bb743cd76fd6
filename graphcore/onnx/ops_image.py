"""Resizing images, and the choice of boxes."""

from __future__ import annotations

import numpy as np

from .blocks import Inexpressible
from .table import Call, translates

_MODES = {"ResizeBilinear": "linear", "ResizeNearestNeighbor": "nearest"}


@translates(*_MODES)
def _resize(call: Call) -> str:
    mode = _MODES[call.op.type]
    corners, half = bool(call.attr("align_corners")), bool(call.attr("half_pixel_centers"))
    attrs = {"mode": mode, "coordinate_transformation_mode": "asymmetric"}
    if corners:
        attrs["coordinate_transformation_mode"] = "align_corners"
    elif half:
        attrs["coordinate_transformation_mode"] = "half_pixel"
    if mode == "nearest":
        attrs["nearest_mode"] = "round_prefer_ceil" if corners else "floor"
        if half:
            raise Inexpressible("ONNX rounds the centers of pixels otherwise")
    x = call.make.transpose(call[0], [0, 3, 1, 2])
    if mode != "nearest" and call.dtype(0) != np.float32:
        x = call.make.cast(x, np.float32)
    shape = call.emit("Shape", x)
    kept = call.emit("Slice", shape, call.make.ints(0), call.make.ints(2))
    known = call.shape(0)
    if known is not None and None not in known:
        kept = call.const(np.array([known[0], known[3]], np.int64))
    sizes = call.emit("Concat", kept, call.make.reshape(call.ints(1), 2), axis=0)
    return call.make.transpose(call.emit("Resize", x, "", "", sizes, **attrs), [0, 2, 3, 1])


@translates("ResizeBicubic")
def _bicubic(call: Call) -> str:
    raise Inexpressible("TensorFlow takes bicubic weights from a table of 1024, which ONNX does not have")


@translates("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def _non_max_suppression(call: Call) -> str:
    count = call.ints(2)
    if call.op.type == "NonMaxSuppression":
        overlap = call.const(np.float32(call.attr("iou_threshold")))
    else:
        overlap = call[3]
    given = [call.make.unsqueeze(call[0], 0), call.make.unsqueeze(call[1], 0, 1), call.make.reshape(count, 1)]
    given.append(call.make.reshape(overlap, 1))
    if call.op.type == "NonMaxSuppressionV3":
        given.append(call.make.reshape(call[4], 1))
    chosen = call.emit("NonMaxSuppression", *given)
    places = call.make.slice(chosen, 1, 2, 3)
    return call.make.sizes_as(call.make.squeeze(places, 1), np.int32)
