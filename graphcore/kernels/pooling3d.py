"""Max and average pooling of volumes, as TensorFlow's CPU kernels define them, and their gradients.

As in `pooling`, windows are reduced along one axis after the other.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...formats.errors import InvalidArgumentError, UnimplementedError
from .arrays import Array, extreme, shape_text, widened
from .pooling import check_shape, met, reduce_windows
from .windows import Axis, resolve_volume, volume_axes

NEAR = 1e-5
"""How near a maximum an element of the input must be for MaxPool3DGrad to give it the gradient."""


def max_pool3d(
    x: Array, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NDHWC"
) -> Array:
    """TensorFlow's MaxPool3D.

    NaN is ignored, as TensorFlow's vectorized code does; a window of nothing else gives -inf.

    Args:
        x: 5-D, in `data_format`.
        ksize: Window size, five ints in `data_format`; those of batch and channels are 1.
        strides: Five ints in `data_format`.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".

    Returns:
        The maxima, in x's dtype.

    Raises:
        InvalidArgumentError: x is not 5-D, or the window does not fit.
        UnimplementedError: Pooling over batch or channels.
    """
    axes = geometry("tensor_in", x.shape, ksize, strides, padding, data_format, forward=True)
    pick: Any = np.fmax if x.dtype.kind in "fV" else np.maximum
    lowest = x.dtype.type(-np.inf) if x.dtype.kind in "fV" else extreme(x.dtype, -1)
    out = x
    for number, axis in zip(volume_axes(data_format), axes, strict=True):
        out = reduce_windows(out, number, axis, pick, lowest)
    return pick(out, lowest, out=None if out is x else out)  # type: ignore[no-any-return]


def avg_pool3d(
    x: Array, *, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str = "NDHWC"
) -> Array:
    """TensorFlow's AvgPool3D: means over windows; padding does not count.

    Args:
        x: 5-D, in `data_format`; a float dtype. Half precision is summed in float32.
        ksize: See `max_pool3d`, and so are the rest.
        strides: See there.
        padding: See there.
        data_format: See there.

    Returns:
        The means, in x's dtype.

    Raises:
        InvalidArgumentError: x is not 5-D, or the window does not fit.
        UnimplementedError: Pooling over batch or channels.
    """
    axes = geometry("tensor_in", x.shape, ksize, strides, padding, data_format, forward=True)
    out = widened(x)
    for number, axis in zip(volume_axes(data_format), axes, strict=True):
        out = reduce_windows(out, number, axis, np.add, 0)
    if out.size:
        out = out / _counts(axes, data_format, out.dtype)
    return out.astype(x.dtype, copy=False) if out is not x else out.copy()


def avg_pool3d_grad(
    orig_input_shape: Sequence[int],
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
) -> Array:
    """TensorFlow's AvgPool3DGrad: each output's gradient is shared out evenly among its window.

    Args:
        orig_input_shape: Shape of the input of `avg_pool3d`, five ints.
        grad: Gradient with respect to its output.
        ksize: As in `avg_pool3d`, and so are the rest.
        strides: See there.
        padding: See there.
        data_format: See there.

    Returns:
        The gradient with respect to the input, in grad's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Pooling over batch or channels.
    """
    shape = [int(size) for size in orig_input_shape]
    axes = geometry("tensor_in", shape, ksize, strides, padding, data_format)
    check_shape("grad", grad.shape, output_shape(shape, axes, data_format))
    spread = widened(grad)
    if spread.size:
        spread = spread / _counts(axes, data_format, spread.dtype)
    for number, axis in zip(volume_axes(data_format), axes, strict=True):
        out = np.zeros((*spread.shape[:number], axis.size, *spread.shape[number + 1 :]), spread.dtype)
        leading = (slice(None),) * number
        for tap in range(axis.kernel):
            inside, source = met(axis, tap)
            out[(*leading, source)] += spread[(*leading, inside)]
        spread = out
    return spread.astype(grad.dtype, copy=False)


def max_pool3d_grad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
) -> Array:
    """TensorFlow's MaxPool3DGrad: each output's gradient goes to every element of its window near it.

    Near is an absolute difference below 1e-5, so that all ties get the whole gradient.

    Args:
        orig_input: The input of `max_pool3d`.
        orig_output: Its output.
        grad: Gradient with respect to the output.
        ksize: As in `max_pool3d`, and so are the rest.
        strides: See there.
        padding: See there.
        data_format: See there.

    Returns:
        The gradient with respect to `orig_input`, in grad's dtype.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Pooling over batch or channels.
    """
    axes = geometry("tensor_in", orig_input.shape, ksize, strides, padding, data_format)
    expected = output_shape(orig_input.shape, axes, data_format)
    check_shape("orig_output", orig_output.shape, expected)
    check_shape("grad", grad.shape, expected)
    out = np.zeros(orig_input.shape, grad.dtype)
    zero, near = np.zeros((), grad.dtype), np.asarray(NEAR, orig_input.dtype)
    for inside, source in _taps(axes, data_format):
        chosen = np.abs(orig_input[source] - orig_output[inside]) < near
        out[source] += np.where(chosen, grad[inside], zero)
    return out


def max_pool3d_grad_grad(
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NDHWC",
) -> Array:
    """TensorFlow's MaxPool3DGradGrad: picks `grad` (of the input's shape) at each first maximum.

    Args:
        orig_input: The input of `max_pool3d`.
        orig_output: Its output.
        grad: Gradient with respect to the result of `max_pool3d_grad`.
        ksize: As in `max_pool3d`, and so are the rest.
        strides: See there.
        padding: See there.
        data_format: See there.

    Returns:
        An array of the shape of `orig_output`; 0 where no element equals it.

    Raises:
        InvalidArgumentError: Shapes that do not fit.
        UnimplementedError: Pooling over batch or channels.
    """
    axes = geometry("tensor_in", orig_input.shape, ksize, strides, padding, data_format)
    expected = output_shape(orig_input.shape, axes, data_format)
    check_shape("orig_output", orig_output.shape, expected)
    check_shape("grad", grad.shape, orig_input.shape)
    out, free = np.zeros(expected, grad.dtype), np.ones(expected, np.bool_)
    for inside, source in _taps(axes, data_format):
        chosen = (orig_input[source] == orig_output[inside]) & free[inside]
        np.copyto(out[inside], grad[source], where=chosen)
        free[inside] &= ~chosen
    return out


def geometry(
    what: str,
    shape: Sequence[int],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
    *,
    forward: bool = False,
) -> tuple[Axis, ...]:
    """Depth, height and width of a pooling window over an input of `shape`, after checking both."""
    if len(shape) != 5:
        raise InvalidArgumentError(f"{what} must be 5-dimensional, but has shape {shape_text(shape)}")
    for name, values in (("ksize", ksize), ("stride", strides)):
        if len(values) != 5:
            raise InvalidArgumentError(
                f"Sliding window {name} field must specify 5 dimensions, but is {list(values)}"
            )
    if min(ksize) <= 0:
        raise InvalidArgumentError(f"Sliding window ksize for dimension {ksize} was zero or negative.")
    channel = 4 if data_format == "NDHWC" else 1
    for axis, name in ((0, "batch"), (channel, "depth")):
        if ksize[axis] != 1 or strides[axis] != 1:
            raise UnimplementedError(
                f"Pooling is not yet supported on the {name} dimension.",
                ksize=list(ksize),
                strides=list(strides),
            )
    window = [ksize[axis] for axis in volume_axes(data_format)]
    return resolve_volume(shape, window, strides, padding, data_format, forward=forward)


def output_shape(shape: Sequence[int], axes: Sequence[Axis], data_format: str) -> tuple[int, ...]:
    """The shape of what pooling makes of an input of `shape`."""
    out = list(shape)
    for number, axis in zip(volume_axes(data_format), axes, strict=True):
        out[number] = axis.out
    return tuple(out)


def _taps(axes: Sequence[Axis], data_format: str) -> Iterator[tuple[Any, Any]]:
    """For each tap, in row-major order: the outputs that have it, and the elements that it meets there."""
    leading = (slice(None),) * volume_axes(data_format)[0]
    for taps in itertools.product(*(range(axis.kernel) for axis in axes)):
        meets = [met(axis, tap) for axis, tap in zip(axes, taps, strict=True)]
        yield (*leading, *(inside for inside, _ in meets)), (*leading, *(source for _, source in meets))


def _counts(axes: Sequence[Axis], data_format: str, dtype: np.dtype[Any]) -> Array:
    """How many input elements each window has, shaped to divide the output."""
    counts = []
    for axis in axes:
        count = np.zeros(axis.out, dtype)
        for tap in range(axis.kernel):
            count[met(axis, tap)[0]] += 1
        counts.append(count)
    product: Array = functools.reduce(np.multiply.outer, counts)
    return product[..., None] if data_format == "NDHWC" else product
