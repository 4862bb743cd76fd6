"""Max and average pooling, as TensorFlow's CPU kernels define them.

A window is a product of two intervals, so maxima and sums are taken along the height first and along
the width of that result then: kernel height + width passes instead of their product. What needs the
position of a maximum is in `pooling_argmax`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, OpError, UnimplementedError
from . import parallel
from .arrays import Array, extreme, shape_text, widened
from .windows import Axis, resolve, spatial_axes


def max_pool(
    x: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
) -> Array:
    """TensorFlow's MaxPool.

    NaN is ignored, as on TensorFlow's CPU; a window of nothing but NaN or -inf gives the lowest finite
    number of the dtype.

    Args:
        x: 4-D, in `data_format`; a real dtype.
        ksize: Window size, four ints in `data_format`. Either height and width or the depth may exceed 1.
        strides: Four ints in `data_format`.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: Eight ints in `data_format`, for "EXPLICIT".
        data_format: "NHWC" or "NCHW".

    Returns:
        The maxima, in x's dtype.

    Raises:
        InvalidArgumentError: x is not 4-D, or the window does not fit.
        UnimplementedError: Pooling over the batch, or over depth and space at once.
    """
    depth = 3 if data_format == "NHWC" else 1
    if len(ksize) == 4 and x.ndim == 4 and ksize[depth] != 1:
        return _max_pool_depth(x, ksize, strides, depth)
    axes = geometry(x.shape, ksize, strides, padding, explicit_paddings, data_format)
    pick: Any = np.fmax if x.dtype.kind in "fV" else np.maximum
    lowest = extreme(x.dtype, -1)
    result = np.empty(output_shape(x.shape, axes, data_format), x.dtype)

    def maxima(images: slice) -> None:
        out = x[images]
        for number, axis in zip(spatial_axes(data_format), axes, strict=True):
            out = reduce_windows(out, number, axis, pick, lowest)
        pick(out, lowest, out=result[images])

    parallel.by_images(x, maxima)
    return result


def avg_pool(
    x: Array, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NHWC"
) -> Array:
    """TensorFlow's AvgPool: means over windows; padding does not count.

    Args:
        x: 4-D, in `data_format`; a float dtype. Half precision is summed in float32.
        ksize: Window size, four ints in `data_format`; those of batch and depth are 1.
        strides: Four ints in `data_format`.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".

    Returns:
        The means, in x's dtype.

    Raises:
        InvalidArgumentError: x is not 4-D, or the window does not fit.
        UnimplementedError: Pooling over batch or depth.
    """
    axes = geometry(x.shape, ksize, strides, padding, (), data_format)
    out = widened(x)
    for number, axis in zip(spatial_axes(data_format), axes, strict=True):
        out = reduce_windows(out, number, axis, np.add, 0)
    if out.size:
        out = np.divide(out, _counts(axes, data_format, out.dtype), out=None if out is x else out)
    return out.astype(x.dtype, copy=False) if out is not x else out.copy()


def avg_pool_grad(
    orig_input_shape: Sequence[int],
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
) -> Array:
    """TensorFlow's AvgPoolGrad: each output's gradient is shared out evenly among its window.

    Args:
        orig_input_shape: Shape of the input of `avg_pool`.
        grad: Gradient with respect to its output.
        ksize: As in `avg_pool`, and so are the rest.
        strides: See there.
        padding: See there.
        data_format: See there.

    Returns:
        The gradient with respect to the input, in grad's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Pooling over batch or depth.
    """
    shape = [int(size) for size in orig_input_shape]
    axes = geometry(shape, ksize, strides, padding, (), data_format)
    check_shape("grad", grad.shape, output_shape(shape, axes, data_format))
    spread = widened(grad)
    if spread.size:
        spread = spread / _counts(axes, data_format, spread.dtype)
    for number, axis in zip(spatial_axes(data_format), axes, strict=True):
        out = np.zeros((*spread.shape[:number], axis.size, *spread.shape[number + 1 :]), spread.dtype)
        leading = (slice(None),) * number
        for tap in range(axis.kernel):
            inside, source = met(axis, tap)
            out[(*leading, source)] += spread[(*leading, inside)]
        spread = out
    return spread.astype(grad.dtype, copy=False)


def reduce_windows(x: Array, number: int, axis: Axis, combine: Any, start: Any) -> Array:
    """`combine` over the windows of one axis; x itself where each window is its own element."""
    if axis.kernel == axis.stride == 1 and axis.out == axis.size and not axis.before:
        return x
    leading = (slice(None),) * number
    meets = [met(axis, tap) for tap in range(axis.kernel)]
    shape = (*x.shape[:number], axis.out, *x.shape[number + 1 :])
    # A tap that every window has makes the start; only where padding hides all of them is one filled in.
    whole = next((m for m in meets if m[0] == slice(0, axis.out)), None)
    if whole is None:
        out = np.full(shape, start, x.dtype)
    else:
        out = x[(*leading, whole[1])].copy(order="C")
        meets.remove(whole)
    for inside, source in meets:
        part = out[(*leading, inside)]
        combine(part, x[(*leading, source)], out=part)
    return out


def met(axis: Axis, tap: int) -> tuple[slice, slice]:
    """The outputs whose tap lies within the input, and the input elements that it meets there."""
    first = max(0, -((tap - axis.before) // axis.stride))
    last = min(axis.out - 1, (axis.size - 1 + axis.before - tap) // axis.stride)
    if last < first:
        return slice(0, 0), slice(0, 0)
    start = first * axis.stride + tap - axis.before
    return slice(first, last + 1), slice(start, start + (last - first) * axis.stride + 1, axis.stride)


def _counts(axes: tuple[Axis, Axis], data_format: str, dtype: np.dtype[Any]) -> Array:
    """How many input elements each window has, shaped to divide the output."""
    counts = []
    for axis in axes:
        count = np.zeros(axis.out, dtype)
        for tap in range(axis.kernel):
            count[met(axis, tap)[0]] += 1
        counts.append(count)
    product = np.outer(*counts).astype(dtype, copy=False)
    return product[:, :, None] if data_format == "NHWC" else product


def _max_pool_depth(x: Array, ksize: Sequence[int], strides: Sequence[int], depth: int) -> Array:
    window = ksize[depth]
    if len(strides) != 4:
        raise InvalidArgumentError(
            f"Sliding window stride field must specify 4 dimensions, but is {list(strides)}"
        )
    if window <= 0:
        raise InvalidArgumentError(f"Sliding window ksize must be positive, but is {list(ksize)}")
    checks: list[tuple[bool, str]] = [
        (
            all(size == 1 for axis, size in enumerate(ksize) if axis != depth),
            "MaxPooling supports exactly one of pooling across depth or pooling across width/height.",
        ),
        (
            x.shape[depth] % window == 0,
            "Depthwise max pooling requires the depth window to evenly divide the input depth",
        ),
        (
            strides[depth] == window,
            "Depthwise max pooling requires the depth window to equal the depth stride",
        ),
    ]
    _require(checks, UnimplementedError, ksize=list(ksize), strides=list(strides), input_shape=list(x.shape))
    split = x.reshape(*x.shape[:depth], x.shape[depth] // window, window, *x.shape[depth + 1 :])
    pick: Any = np.fmax if x.dtype.kind in "fV" else np.maximum
    return pick.reduce(split, axis=depth + 1, initial=extreme(x.dtype, -1))  # type: ignore[no-any-return]


def geometry(
    shape: Sequence[int],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int],
    data_format: str,
) -> tuple[Axis, Axis]:
    """The height and width of a pooling window over an input of `shape`, after checking both."""
    if len(shape) != 4:
        raise InvalidArgumentError(f"tensor_in must be 4-dimensional, but has shape {shape_text(shape)}")
    if len(ksize) != 4:
        raise InvalidArgumentError(
            f"Sliding window ksize field must specify 4 dimensions, but is {list(ksize)}"
        )
    if len(strides) != 4:
        raise InvalidArgumentError(
            f"Sliding window stride field must specify 4 dimensions, but is {list(strides)}"
        )
    if min(ksize) <= 0:
        sizes = ",".join(map(str, ksize))
        raise InvalidArgumentError(
            f"Sliding window ksize must be positive. The specified or inferred ksize is: {sizes}"
        )
    rows, columns = spatial_axes(data_format)
    depth = 3 if data_format == "NHWC" else 1
    checks = [
        (ksize[0] == 1 and strides[0] == 1, "Pooling is not yet supported on the batch dimension."),
        (
            ksize[depth] == 1,
            "MaxPooling supports exactly one of pooling across depth or pooling across width/height.",
        ),
    ]
    _require(checks, UnimplementedError, ksize=list(ksize), strides=list(strides))
    return resolve(
        shape,
        (ksize[rows], ksize[columns]),
        strides=strides,
        padding=padding,
        explicit_paddings=explicit_paddings,
        data_format=data_format,
    )


def _require(checks: list[tuple[bool, str]], kind: Callable[..., OpError], **fields: Any) -> None:
    failed = [text for holds, text in checks if not holds]
    if failed:
        raise kind("; ".join(failed), **fields)


def output_shape(shape: Sequence[int], axes: tuple[Axis, Axis], data_format: str) -> tuple[int, ...]:
    """The shape of what pooling makes of an input of `shape`."""
    out = list(shape)
    for number, axis in zip(spatial_axes(data_format), axes, strict=True):
        out[number] = axis.out
    return tuple(out)


def check_shape(name: str, shape: Sequence[int], expected: Sequence[int]) -> None:
    """Raises InvalidArgumentError unless the array called `name` has the shape that it must have."""
    if tuple(shape) != tuple(expected):
        wanted, got = (shape_text(sizes) for sizes in (expected, shape))
        raise InvalidArgumentError(f"Expected {name} shape to be {wanted}, but got {got}")
