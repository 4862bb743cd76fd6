"""Convolutions fused with what goes before them, and dimensions renumbered for another data format."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import INDEX, float16, float32, float64, int32
from ..errors import InvalidArgumentError, InvalidValueError
from ..kernels import convolution
from ..kernels.arrays import shape_text
from ..kernels.resize import check_images, neighbours
from ..op import op
from ..shapes import Dim, Shape, merge_dims, vector_of, with_rank, with_value
from . import rules
from .nn_conv import windowed_size

_TYPES = (float16, float32, float64)
_CONV = ("mode: {'REFLECT', 'SYMMETRIC'}", "strides: list(int)", "padding: {'SAME', 'VALID'}")
_NONE = "TensorFlow has none for this op"


# Convolution after resizing and mirror padding


@op(
    "FusedPadConv2D",
    "input: T, paddings: int32, filter: T -> output: T",
    *_CONV,
    T=_TYPES,
    undefined_grad=_NONE,
)
def fused_pad_conv2d(input: Any, paddings: Any, filter: Any, *, mode: str, strides: Any, padding: str) -> Any:
    """A convolution of an image that mirrors its borders."""
    padded = _mirrored(input, paddings, mode)
    return convolution.conv2d(padded, filter, strides=strides, padding=padding)


@op(
    "FusedResizeAndPadConv2D",
    "input: T, size: int32, paddings: int32, filter: T -> output: T",
    "resize_align_corners: bool = false",
    *_CONV,
    T=_TYPES,
    undefined_grad=_NONE,
)
def fused_resize_and_pad_conv2d(
    input: Any,
    size: Any,
    paddings: Any,
    filter: Any,
    *,
    resize_align_corners: bool,
    mode: str,
    strides: Any,
    padding: str,
) -> Any:
    """A convolution of an image that is resized first and mirrors its borders."""
    resized = _resized(input, size, resize_align_corners)
    padded = _mirrored(resized, paddings, mode)
    return convolution.conv2d(padded, filter, strides=strides, padding=padding)


def _resized(x: Any, size: Any, align_corners: bool) -> Any:
    """Bilinear, in the dtype of the images where ResizeBilinear would give float32."""
    if x.ndim != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional: {shape_text(x.shape)}")
    if np.shape(size) != (2,) or np.min(size) <= 0:
        raise InvalidArgumentError(f"size must be two positive numbers, but is {np.asarray(size).tolist()}")
    check_images(x)
    height, width = np.asarray(size).tolist()
    low, high, share = neighbours(x.shape[2], width, align_corners, False)
    left = x[:, :, low]
    across = left + (x[:, :, high] - left) * share[:, None].astype(x.dtype)
    low, high, share = neighbours(x.shape[1], height, align_corners, False)
    top = across[:, low]
    return top + (across[:, high] - top) * share[:, None, None].astype(x.dtype)


def _mirrored(x: Any, paddings: Any, mode: str) -> Any:
    """The image with its borders mirrored, after checking what TensorFlow checks."""
    if not x.size:
        raise InvalidArgumentError("Input tensor can't be empty")
    if paddings.ndim != 2 or paddings.shape[1] != 2:
        raise InvalidArgumentError(f"paddings must be a matrix with 2 columns: {shape_text(paddings.shape)}")
    if paddings.shape[0] != x.ndim or x.ndim != 4:
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs: {x.ndim} "
            f"{shape_text(paddings.shape)} {shape_text(x.shape)}"
        )
    pairs = paddings.tolist()
    for (before, after), size in zip(pairs, x.shape, strict=True):
        if min(before, after) < 0:
            raise InvalidArgumentError(f"paddings must be non-negative: {before} {after}")
        if max(before, after) > size - (mode == "REFLECT"):
            what = "less than" if mode == "REFLECT" else "no greater than"
            raise InvalidArgumentError(
                f"paddings must be {what} the dimension size: {before}, {after}, {size}"
            )
    for pair, what in ((pairs[0], "batches"), (pairs[3], "channels")):
        if pair != [0, 0]:
            raise InvalidArgumentError(
                f"Fused mirror padding only support spatial padding, not {what}: {pairs}"
            )
    return np.pad(x, pairs, mode="reflect" if mode == "REFLECT" else "symmetric")


@fused_pad_conv2d.shape
@fused_resize_and_pad_conv2d.shape
def _(node: Any) -> Shape:
    x: tuple[Dim, ...] = with_rank(node.shape(0), 4)
    last = node.num_inputs - 1
    if last == 3:
        vector_of(node.shape(1), 2)
        size = node.value(1)
        height, width = (None, None) if size is None else size.tolist()
        x = (x[0], height, width, x[3])
    rows, columns = with_rank(node.shape(last - 1), 2)
    with_value(rows, 4)
    with_value(columns, 2)
    paddings = node.value(last - 1)
    if paddings is None:
        x = (None,) * 4
    else:
        if (paddings < 0).any():
            raise InvalidValueError("Paddings must be non-negative")
        x = tuple(None if dim is None else dim + sum(pair) for dim, pair in zip(x, paddings.tolist()))
    w = with_rank(node.shape(last), 4)
    strides, padding = node.attr("strides"), node.attr("padding")
    if len(strides) != 4:
        raise InvalidValueError(
            f"Operation requires the stride attribute to contain 4 values, but got: {len(strides)}"
        )
    merge_dims(x[3], w[2])
    spatial = [windowed_size(x[axis], w[axis - 1], strides[axis], padding) for axis in (1, 2)]
    return (x[0], *spatial, w[3])


# Data formats

_FORMATS = ("src_format: string = 'NHWC'", "dst_format: string = 'NCHW'")


def _order(src_format: Any, dst_format: Any) -> tuple[str, list[int]]:
    """The source format, and for each of its dimensions the place in the other format.

    Raises:
        InvalidArgumentError: They are no permutation of each other.
    """
    source, target = (
        item.decode() if isinstance(item, bytes) else str(item) for item in (src_format, dst_format)
    )
    for name, which, text in (("Source", "src", source), ("Destination", "dst", target)):
        if len(text) not in (4, 5):
            raise InvalidArgumentError(
                f"{name} format must be of length 4 or 5, received {which}_format = {text}"
            )
    if sorted(source) != sorted(target) or len(set(source)) != len(source):
        raise InvalidArgumentError(
            f"Destination and source format must determine a permutation, got {source} and {target}"
        )
    return source, [target.index(letter) for letter in source]


@op(
    "DataFormatDimMap",
    "x: T -> y: T",
    *_FORMATS,
    T=(INDEX, int32),
    no_grad="dimension numbers are integers",
)
def data_format_dim_map(x: Any, *, src_format: Any, dst_format: Any) -> Any:
    """Dimension numbers of one format as those of another."""
    _, order = _order(src_format, dst_format)
    count = len(order)
    place = np.fmod(x + x.dtype.type(count), count)
    return np.array(order, x.dtype)[np.where((place < 0) | (place >= count), count - 1, place)]


@op(
    "DataFormatVecPermute",
    "x: T -> y: T",
    *_FORMATS,
    T=(INDEX, int32),
    no_grad="what belongs to dimensions is integers",
)
def data_format_vec_permute(x: Any, *, src_format: Any, dst_format: Any) -> Any:
    """What belongs to each dimension, in the order of another format."""
    source, order = _order(src_format, dst_format)
    if x.ndim not in (1, 2):
        raise InvalidArgumentError(
            f"input must be a vector or 2D tensor, but got shape {shape_text(x.shape)}"
        )
    if x.ndim == 2 and x.shape[1] != 2:
        raise InvalidArgumentError(
            f"Second dimension of 2D input must be of size 2, but got shape {shape_text(x.shape)}"
        )
    if len(x) == len(order) - 2:  # spatial dimensions alone
        kept = [place for letter, place in zip(source, order) if letter not in "NC"]
        order = [sorted(kept).index(place) for place in kept]
    if len(x) != len(order):
        what = "First dimension of 2D" if x.ndim == 2 else "1D"
        raise InvalidArgumentError(
            f"{what} input must be of size {len(source)}, but got shape {shape_text(x.shape)}"
        )
    out = np.empty_like(x)
    out[order] = x
    return out


data_format_dim_map.shape(rules.unchanged)
data_format_vec_permute.shape(rules.unchanged)
