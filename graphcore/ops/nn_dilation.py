"""Grey-scale dilation of images, and the patches of images and volumes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..default import name_scope
from ..dtypes import REAL, int64
from ..errors import InvalidValueError
from ..kernels import dilation as kernels
from ..kernels.windows import output_size
from ..op import op, raw_ops
from ..shapes import Dim, Shape, merge_dims, with_rank
from . import rules
from .nn_conv import either

_PADDING = "padding: {'SAME', 'VALID'}"
_DILATION = ("strides: list(int) >= 4", "rates: list(int) >= 4", _PADDING)
_NONE = "TensorFlow has none for the gradient of this op"


def _check_length(op_type: str, name: str, values: Sequence[int], count: int) -> None:
    if len(values) != count:
        raise InvalidValueError(
            f"{op_type} requires the {name} attribute to contain {count} values, but got: {len(values)}"
        )


def _size(size: Dim, window: Dim, stride: int, rate: int, padding: str) -> Dim:
    """The output size along an axis; 0 where the window misses by less than a stride.

    Raises:
        InvalidValueError: It misses by more.
    """
    found: Dim = rules.as_value_error(output_size, size, window, stride, rate, padding)[0]
    return found


# Dilation

dilation2d_op = op("Dilation2D", "input: T, filter: T -> output: T", *_DILATION, T=REAL)(kernels.dilation2d)


@dilation2d_op.shape
def _(node: Any) -> Shape:
    x, w = with_rank(node.shape(0), 4), with_rank(node.shape(1), 3)
    strides, rates = node.attr("strides"), node.attr("rates")
    _check_length("Dilation2D", "stride", strides, 4)
    _check_length("Dilation2D", "rates", rates, 4)
    merge_dims(x[3], w[2])
    padding = node.attr("padding")
    spatial = [_size(x[axis], w[axis - 1], strides[axis], rates[axis], padding) for axis in (1, 2)]
    return (x[0], *spatial, w[2])


@op(
    "Dilation2DBackpropInput",
    "input: T, filter: T, out_backprop: T -> in_backprop: T",
    *_DILATION,
    T=REAL,
    undefined_grad=_NONE,
)
def dilation2d_backprop_input(
    input: Any, filter: Any, out_backprop: Any, *, strides: Any, rates: Any, padding: str
) -> Any:
    """Gradients added up where each maximum was in the input."""
    return kernels.dilation2d_backprop(
        input, filter, out_backprop, strides=strides, rates=rates, padding=padding, by_filter=False
    )


@op(
    "Dilation2DBackpropFilter",
    "input: T, filter: T, out_backprop: T -> filter_backprop: T",
    *_DILATION,
    T=REAL,
    undefined_grad=_NONE,
)
def dilation2d_backprop_filter(
    input: Any, filter: Any, out_backprop: Any, *, strides: Any, rates: Any, padding: str
) -> Any:
    """Gradients added up where each maximum was in the filter."""
    return kernels.dilation2d_backprop(
        input, filter, out_backprop, strides=strides, rates=rates, padding=padding, by_filter=True
    )


dilation2d_backprop_input.shape(lambda node: node.shape(0))
dilation2d_backprop_filter.shape(lambda node: node.shape(1))


@dilation2d_op.grad
def _(node: Any, dy: Any) -> Any:
    options = {key: node.attr(key) for key in ("strides", "rates", "padding")}
    return [
        dilation2d_backprop_input(*node.inputs, dy, **options),
        dilation2d_backprop_filter(*node.inputs, dy, **options),
    ]


# Patches


@op(
    "ExtractImagePatches",
    "images: T -> patches: T",
    "ksizes: list(int) >= 4",
    "strides: list(int) >= 4",
    "rates: list(int) >= 4",
    _PADDING,
    T=REAL,
)
def extract_image_patches_op(images: Any, *, ksizes: Any, strides: Any, rates: Any, padding: str) -> Any:
    """The elements of each window as channels."""
    return kernels.extract_patches(images, ksizes=ksizes, strides=strides, rates=rates, padding=padding)


@op(
    "ExtractVolumePatches",
    "input: T -> patches: T",
    "ksizes: list(int) >= 5",
    "strides: list(int) >= 5",
    _PADDING,
    T=REAL,
)
def extract_volume_patches(input: Any, *, ksizes: Any, strides: Any, padding: str) -> Any:
    """The elements of each window of a volume as channels."""
    return kernels.extract_patches(
        input, ksizes=ksizes, strides=strides, rates=[1] * len(ksizes), padding=padding
    )


@extract_image_patches_op.shape
@extract_volume_patches.shape
def _(node: Any) -> Shape:
    kind = node.node.type
    rank = 4 if kind == "ExtractImagePatches" else 5
    x = with_rank(node.shape(0), rank)
    ksizes, strides = node.attr("ksizes"), node.attr("strides")
    rates = node.attr("rates") if rank == 4 else [1] * rank
    for name, values in (("ksizes", ksizes), ("stride", strides), ("rates", rates)):
        _check_length(kind, name, values, rank)
    channels: Dim = None if x[-1] is None else x[-1] * math.prod(ksizes[1:-1])
    spatial = [
        _size(x[axis], ksizes[axis], strides[axis], rates[axis], node.attr("padding"))
        for axis in range(1, rank - 1)
    ]
    return (x[0], *spatial, channels)


@extract_image_patches_op.grad
@extract_volume_patches.grad
def _(node: Any, dy: Any) -> Any:
    """Each patch's gradient added to where its elements came from, by their numbers; padding is 0."""
    x, taps = node.inputs[0], math.prod(node.attr("ksizes")[1:-1])
    keys = [key for key in ("ksizes", "strides", "rates", "padding") if node.has_attr(key)]
    shape = raw_ops.Shape(x, out_type=int64)
    batch, sizes, channels = shape[:1], shape[1:-1], shape[-1:]
    count = raw_ops.Prod(sizes, [0])
    numbers = raw_ops.Reshape(
        raw_ops.Range(raw_ops.OnesLike(count), count + 1, raw_ops.OnesLike(count)),
        raw_ops.ConcatV2([raw_ops.OnesLike(batch), sizes, raw_ops.OnesLike(batch)], 0),
    )
    options = {key: node.attr(key) for key in keys}
    places = raw_ops.Reshape(getattr(raw_ops, node.type)(numbers, **options), [-1])
    # (places, taps) first, so that whole rows of (batch, channels) are added up.
    split = raw_ops.Reshape(dy, raw_ops.ConcatV2([batch, [-1, taps], channels], 0))
    rows = raw_ops.Reshape(
        raw_ops.Transpose(split, [1, 2, 0, 3]),
        raw_ops.ConcatV2([raw_ops.Shape(places, out_type=int64), batch, channels], 0),
    )
    summed = raw_ops.UnsortedSegmentSum(rows, places, count + 1)[1:]
    flat = raw_ops.Transpose(summed, [1, 0, 2])
    return raw_ops.Reshape(flat, shape)


# TensorFlow's Python functions


def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: str | None = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """`tf.nn.dilation2d`: the maximum over a window of input plus filter.

    Args:
        input: (batch, height, width, channels).
        filter: (height, width, channels).
        strides: Four ints.
        rates: Four ints: input elements between two taps.
        padding: "SAME" or "VALID".
        name: Name of the operation.
        filters: Later name of `filter`.
        dilations: Later name of `rates`.

    Raises:
        ValueError: The shapes do not fit.
    """
    return dilation2d_op(
        input,
        either("filters", filters, "filter", filter),
        strides=strides,
        rates=either("dilations", dilations, "rates", rates),
        padding=padding,
        name=name,
    )


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Any:
    """`tf.nn.erosion2d`: the minimum over a window of input less kernel.

    Args:
        value: (batch, height, width, channels).
        kernel: (height, width, channels).
        strides: Four ints.
        rates: Four ints: input elements between two taps.
        padding: "SAME" or "VALID".
        name: Name of the operations.

    Raises:
        ValueError: The shapes do not fit.
    """
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        dilated = dilation2d_op(
            raw_ops.Neg(value),
            raw_ops.ReverseV2(kernel, [0, 1]),
            strides=strides,
            rates=rates,
            padding=padding,
            name=scope,
        )
        return raw_ops.Neg(dilated)


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: Any = None,
) -> Any:
    """`tf.image.extract_image_patches`: the elements of each window as channels.

    Args:
        images: (batch, height, width, channels).
        ksizes: Window size, four ints.
        strides: Four ints.
        rates: Four ints: elements between two taps.
        padding: "SAME" or "VALID".
        name: Name of the operation.
        sizes: Later name of `ksizes`.

    Raises:
        ValueError: The window does not fit.
    """
    return extract_image_patches_op(
        images,
        ksizes=either("sizes", sizes, "ksizes", ksizes),
        strides=strides,
        rates=rates,
        padding=padding,
        name=name,
    )
