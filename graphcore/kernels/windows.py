"""The arithmetic of sliding windows: output sizes and padding as TensorFlow has them.

Used by convolution, pooling and by the shape rules of both, so sizes may be None (unknown). The
rules are those of `tf.nn.convolution`'s documentation; SAME pads the odd element at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...formats.errors import InvalidArgumentError


class Axis(NamedTuple):
    """One spatial axis of a sliding window.

    Attributes:
        size: Input elements along the axis.
        kernel: Window taps.
        stride: Input elements between two outputs.
        dilation: Input elements between two taps.
        out: Output elements.
        before: Padding before the first input element.
        after: Padding after the last one; negative where the windows do not reach the end.
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    out: int
    before: int
    after: int


def output_size(
    size: int | None,
    kernel: int | None,
    stride: int,
    dilation: int = 1,
    padding: str = "SAME",
    explicit: tuple[int, int] | Sequence[int] = (0, 0),
) -> tuple[int | None, int | None, int | None]:
    """Output size and padding of one axis.

    Args:
        size: Input size, or None where it is unknown.
        kernel: Window taps, or None where unknown.
        stride: Input elements between two outputs.
        dilation: Input elements between two taps.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit: Padding before and after; read for "EXPLICIT" only.

    Returns:
        `(out, pad_before, pad_after)`; None where an unknown size prevents the answer.

    Raises:
        InvalidArgumentError: The window is larger than the padded input, a stride or dilation is not
            positive, or the padding is of no known kind.
    """
    if stride <= 0:
        raise InvalidArgumentError(f"Stride must be > 0, but got {stride}", stride=stride)
    if dilation < 1:
        raise InvalidArgumentError(f"Dilation rate must be >= 1, but got {dilation}", dilation=dilation)
    if padding == "SAME":
        if size is None:
            return None, None, None
        out = -(-size // stride)
        if kernel is None:
            return out, None, None
        total = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
        return out, total // 2, total - total // 2
    if padding == "VALID":
        before, after = 0, 0
    elif padding == "EXPLICIT":
        before, after = explicit
    else:
        raise InvalidArgumentError(
            f"Padding must be SAME, VALID or EXPLICIT, but is {padding!r}.", padding=padding
        )
    if size is None or kernel is None:
        return None, before, after
    effective = (kernel - 1) * dilation + 1
    span = size + before + after - effective + stride
    # C's division truncates towards zero: a window that misses by less than a stride gives no output,
    # one that misses by more is an error.
    out = span // stride if span >= 0 else -(-span // stride)
    if out < 0:
        raise InvalidArgumentError(
            f"Computed output size would be negative: {out} [input_size: {size + before + after}, "
            f"effective_filter_size: {effective}, stride: {stride}]",
            output_size=out,
            input_size=size + before + after,
            effective_filter_size=effective,
            stride=stride,
        )
    return out, before, after


def spatial_axes(data_format: str) -> tuple[int, int]:
    """The positions of height and width in "NHWC" or "NCHW".

    Raises:
        InvalidArgumentError: Another data format.
    """
    if data_format == "NHWC":
        return 1, 2
    if data_format == "NCHW":
        return 2, 3
    raise InvalidArgumentError(
        f"Invalid data format: {data_format!r} (NHWC or NCHW).", data_format=data_format
    )


def resolve(
    shape: Sequence[int],
    kernel: Sequence[int],
    *,
    strides: Sequence[int],
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "NHWC",
    dilations: Sequence[int] = (1, 1, 1, 1),
) -> tuple[Axis, Axis]:
    """The height and width axis of a window over an input of `shape` (4-D, all sizes known).

    Args:
        shape: Input shape in `data_format`.
        kernel: Taps along height and width.
        strides: Four ints in `data_format`.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: Eight ints, (before, after) for each dimension in `data_format`.
        data_format: "NHWC" or "NCHW".
        dilations: Four ints in `data_format`, or nothing for ones.

    Raises:
        InvalidArgumentError: See `output_size`; or a list has the wrong length.
    """
    axes = []
    dilations = dilations or (1, 1, 1, 1)
    if len(strides) != 4 or len(dilations) != 4:
        raise InvalidArgumentError(
            "Sliding window strides and dilations must specify 4 dimensions, but are "
            f"{list(strides)} and {list(dilations)}.",
            strides=list(strides),
            dilations=list(dilations),
        )
    if padding == "EXPLICIT" and len(explicit_paddings) != 8:
        raise InvalidArgumentError(
            f"explicit_paddings must hold 8 ints, but has {len(explicit_paddings)}.",
            explicit_paddings=list(explicit_paddings),
        )
    for taps, axis in zip(kernel, spatial_axes(data_format), strict=True):
        stride, dilation = strides[axis], dilations[axis]
        out, before, after = output_size(
            shape[axis], taps, stride, dilation, padding, explicit_paddings[2 * axis : 2 * axis + 2]
        )
        assert out is not None and before is not None and after is not None  # noqa: PT018 - sizes are known
        axes.append(Axis(shape[axis], taps, stride, dilation, out, before, after))
    return axes[0], axes[1]


def volume_axes(data_format: str) -> tuple[int, int, int]:
    """The positions of depth, height and width in "NDHWC" or "NCDHW".

    Raises:
        InvalidArgumentError: Another data format.
    """
    if data_format == "NDHWC":
        return 1, 2, 3
    if data_format == "NCDHW":
        return 2, 3, 4
    raise InvalidArgumentError(
        f"Invalid data format: {data_format!r} (NDHWC or NCDHW).", data_format=data_format
    )


def resolve_volume(
    shape: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int] = (1, 1, 1, 1, 1),
    forward: bool = False,
) -> tuple[Axis, ...]:
    """The depth, height and width axis of a window over an input of `shape` (5-D, all sizes known).

    Args:
        shape: Input shape in `data_format`.
        kernel: Taps along depth, height and width.
        strides: Five ints in `data_format`.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: Five ints in `data_format`.
        forward: Whether this is for a result, not a gradient; see `centred`.

    Raises:
        InvalidArgumentError: See `output_size`.
    """
    axes = []
    for taps, axis in zip(kernel, volume_axes(data_format), strict=True):
        out, before, after = output_size(shape[axis], taps, strides[axis], dilations[axis], padding)
        assert out is not None and before is not None and after is not None  # noqa: PT018 - sizes are known
        found = Axis(shape[axis], taps, strides[axis], dilations[axis], out, before, after)
        axes.append(centred(found) if forward and padding == "SAME" else found)
    return tuple(axes)


def centred(axis: Axis) -> Axis:
    """The axis as TensorFlow's CPU kernels for volumes have it with padding SAME.

    Where a stride is so much larger than the window that elements are left over, the first window does
    not begin at the first element, but the rest is shared out before and after. (The kernels of their
    gradients do not know that.)
    """
    rest = axis.size - (axis.out - 1) * axis.stride - (axis.kernel - 1) * axis.dilation - 1
    return axis._replace(before=-(rest // 2)) if axis.out and rest > 1 else axis
