"""Discrete Fourier transforms over the last one, two or three axes.

Source: tensorflow/core/ops/spectral_ops.cc and kernels/fft_ops.cc (r1.15), behaviour only.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import complex64, complex128, float32, int32
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, with_rank, with_rank_at_least

_OLD = "TensorFlow has none for this legacy op"
_TIMES = {1: "", 2: "2D", 3: "3D"}
_WHERE = {1: "axis", 2: "two axes", 3: "three axes"}


def _check_rank(shape: tuple[int, ...], rank: int) -> None:
    if len(shape) < rank:
        raise InvalidArgumentError(f"Input must have rank of at least {rank} but got: {format_shape(shape)}")


def _same_shape(rank: int) -> Any:
    return lambda node: with_rank_at_least(node.shape(0), rank)


def _complex_kernel(rank: int, inverse: bool) -> Any:
    function, axes = (np.fft.ifftn if inverse else np.fft.fftn), tuple(range(-rank, 0))

    def kernel(input: Any) -> Any:
        _check_rank(input.shape, rank)
        return function(input, axes=axes).astype(input.dtype) if input.size else np.array(input)

    kind = "inverse discrete Fourier transform" if inverse else "discrete Fourier transform"
    kernel.__doc__ = f"The {kind} over the last {_WHERE[rank]}."
    return kernel


def _size(x: Any, rank: int) -> Any:
    """The number of elements in the last `rank` axes."""
    sizes = raw_ops.StridedSlice(raw_ops.Shape(x), [-rank], [0], [1], end_mask=1)
    return raw_ops.Prod(sizes, [0])


def _complex_grad(rank: int, inverse: bool) -> Any:
    def grad(node: Any, dy: Any) -> Any:
        dtype = dy.dtype.base_dtype
        size = raw_ops.Cast(_size(dy, rank), DstT=dtype.real_dtype)
        if inverse:
            return getattr(raw_ops, f"FFT{_TIMES[rank]}")(dy) * raw_ops.Cast(
                raw_ops.Reciprocal(size), DstT=dtype
            )
        return getattr(raw_ops, f"IFFT{_TIMES[rank]}")(dy) * raw_ops.Cast(size, DstT=dtype)

    return grad


# Real numbers: half of the spectrum says all of it


def _lengths(input: Any, fft_length: Any, rank: int, inverse: bool) -> list[int]:
    _check_rank(input.shape, rank)
    if np.shape(fft_length) != (rank,):
        raise InvalidArgumentError(f"fft_length must have shape [{rank}]")
    lengths: list[int] = fft_length.tolist()
    if min(lengths) < 0:
        raise InvalidArgumentError(
            f"fft_length[{lengths.index(min(lengths))}] must >= 0, but got: {min(lengths)}"
        )
    needed = [*lengths[:-1], lengths[-1] // 2 + 1] if inverse else lengths
    for axis, (have, need) in enumerate(zip(input.shape[-rank:], needed)):
        if input.size and have < need:
            raise InvalidArgumentError(
                f"Input dimension {input.ndim - rank + axis} must have length of at least {need} but got: "
                f"{have}"
            )
    return lengths


def _real_kernel(rank: int, inverse: bool) -> Any:
    axes = tuple(range(-rank, 0))

    def forward(input: Any, fft_length: Any) -> Any:
        lengths = _lengths(input, fft_length, rank, False)
        half = lengths[-1] // 2 + 1 if lengths[-1] else 0
        shape = (*input.shape[:-rank], *lengths[:-1], half)
        if not input.size or 0 in lengths:
            return np.zeros(shape, np.complex64)
        return np.fft.rfftn(_cut(input, lengths), axes=axes).astype(np.complex64)

    def backward(input: Any, fft_length: Any) -> Any:
        lengths = _lengths(input, fft_length, rank, True)
        if not input.size or 0 in lengths:
            return np.zeros((*input.shape[:-rank], *lengths), np.float32)
        part = _cut(input, [*lengths[:-1], lengths[-1] // 2 + 1])
        return np.fft.irfftn(part, lengths, axes).astype(np.float32)

    forward.__doc__ = f"Half of the spectrum of real numbers, over the last {_WHERE[rank]}."
    backward.__doc__ = f"Real numbers from half of their spectrum, over the last {_WHERE[rank]}."
    return backward if inverse else forward


def _cut(x: Any, sizes: list[int]) -> Any:
    return x[(..., *(slice(0, size) for size in sizes))]


def _real_shape(rank: int, inverse: bool) -> Any:
    def rule(node: Any) -> Shape:
        shape = with_rank_at_least(node.shape(0), rank)
        (count,) = with_rank(node.shape(1), 1)
        if count not in (None, rank):
            raise InvalidValueError(f"Dimension must be {rank} but is {count}")
        lengths = node.value(1)
        if shape is None:
            return None
        if lengths is None:
            return (*shape[:-rank], *[None] * rank)
        sizes = lengths.tolist()
        if not inverse and sizes[-1]:
            sizes[-1] = sizes[-1] // 2 + 1
        return (*shape[:-rank], *sizes)

    return rule


def _padded_to(x: Any, sizes: Any, rank: int) -> Any:
    """Zeros behind the elements of the last `rank` axes, up to `sizes`."""
    missing = sizes - raw_ops.StridedSlice(raw_ops.Shape(x), [-rank], [0], [1], end_mask=1)
    before = raw_ops.ExpandDims(raw_ops.Rank(x) - rank, 0)
    behind = raw_ops.ConcatV2([raw_ops.Fill(before, 0), missing], 0)
    return raw_ops.Pad(x, raw_ops.Pack([raw_ops.ZerosLike(behind), behind], axis=1))


def _sizes(x: Any, rank: int) -> Any:
    return raw_ops.StridedSlice(raw_ops.Shape(x), [-rank], [0], [1], end_mask=1)


def _rfft_grad(rank: int) -> Any:
    def grad(node: Any, dy: Any) -> Any:
        """The real part of the unscaled inverse transform of dy, with zeros for the other half."""
        x, lengths = node.inputs
        whole = getattr(raw_ops, f"IFFT{_TIMES[rank]}")(_padded_to(dy, lengths, rank))
        scale = raw_ops.Cast(raw_ops.Prod(lengths, [0]), DstT=float32)
        return _padded_to(raw_ops.Real(whole, Tout=float32) * scale, _sizes(x, rank), rank), None

    return grad


def _irfft_grad(rank: int) -> Any:
    def grad(node: Any, dy: Any) -> Any:
        """The transform of dy; what stands for two elements of the spectrum counts twice."""
        x, lengths = node.inputs
        half = getattr(raw_ops, f"RFFT{_TIMES[rank]}")(dy, lengths)
        last = raw_ops.StridedSlice(lengths, [-1], [0], [1], end_mask=1, shrink_axis_mask=1)
        at = raw_ops.Range(0, raw_ops.FloorDiv(last, 2) + 1, 1)
        is_single = raw_ops.LogicalOr(raw_ops.Equal(at, 0), raw_ops.Equal(at * 2, last))
        ones = raw_ops.Cast(raw_ops.OnesLike(at), DstT=float32)
        scale = raw_ops.Reciprocal(raw_ops.Cast(raw_ops.Prod(lengths, [0]), DstT=float32))
        weights = raw_ops.Cast(raw_ops.Select(is_single, ones, 2.0 * ones) * scale, DstT=complex64)
        return _padded_to(half * weights, _sizes(x, rank), rank), None

    return grad


def _declare(rank: int, inverse: bool) -> None:
    times, sign = _TIMES[rank], "I" if inverse else ""
    kernel = _complex_kernel(rank, inverse)
    declared = op(
        f"{sign}FFT{times}",
        "input: Tcomplex -> output: Tcomplex",
        Tcomplex=((complex64, complex128), complex64),
    )(kernel)
    declared.shape(_same_shape(rank))
    declared.grad(_complex_grad(rank, inverse))
    legacy = op(f"Batch{sign}FFT{times}", "input: complex64 -> output: complex64", undefined_grad=_OLD)(
        kernel
    )
    legacy.shape(_same_shape(rank))
    source, target = ("complex64", "float32") if inverse else ("float32", "complex64")
    real = op(f"{sign}RFFT{times}", f"input: {source}, fft_length: int32 -> output: {target}")(
        _real_kernel(rank, inverse)
    )
    real.shape(_real_shape(rank, inverse))
    real.grad(_irfft_grad(rank) if inverse else _rfft_grad(rank))


for _rank in (1, 2, 3):
    for _inverse in (False, True):
        _declare(_rank, _inverse)


# TensorFlow's Python functions

fft, fft2d, fft3d = raw_ops.FFT, raw_ops.FFT2D, raw_ops.FFT3D
ifft, ifft2d, ifft3d = raw_ops.IFFT, raw_ops.IFFT2D, raw_ops.IFFT3D


def _real_function(rank: int, inverse: bool) -> Any:
    name_of_op = f"{'I' if inverse else ''}RFFT{_TIMES[rank]}"
    default = name_of_op.lower()

    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        with name_scope(name, default, [input_tensor, fft_length]) as scope:
            x = convert_to_tensor(input_tensor, complex64 if inverse else float32)
            x.get_shape().with_rank_at_least(rank)
            if fft_length is None:
                lengths = _inferred_lengths(x, rank, inverse)
            else:
                lengths = convert_to_tensor(fft_length, int32)
            return getattr(raw_ops, name_of_op)(_maybe_padded(x, lengths, rank, inverse), lengths, name=scope)

    function.__name__ = default
    function.__doc__ = f"""`tf.signal.{default}`: the op `{name_of_op}`, of an input padded with zeros.

    Args:
        input_tensor: A {"complex64" if inverse else "float32"} tensor of rank >= {rank}.
        fft_length: [{rank}], how many real numbers there are along each axis; by default what the
            input's shape says.
        name: Name of the operation.
    """
    return function


def _inferred_lengths(x: Any, rank: int, inverse: bool) -> Any:
    static = x.static_shape
    if static is not None and None not in static[-rank:]:
        sizes = list(static[-rank:])
        if inverse:
            sizes[-1] = max(0, 2 * (sizes[-1] - 1))
        return convert_to_tensor(sizes, int32)
    shape = _sizes(x, rank)
    if not inverse:
        return shape
    parts = raw_ops.Unpack(shape, num=rank)
    return raw_ops.Pack([*parts[:-1], raw_ops.Maximum(0, 2 * (parts[-1] - 1))])


def _maybe_padded(x: Any, lengths: Any, rank: int, inverse: bool) -> Any:
    static, wanted = x.static_shape, x.graph.constant_value(lengths)
    if static is not None and 0 in static:
        return x
    if static is not None and wanted is not None and None not in static[-rank:]:
        needed = wanted.tolist()
        if inverse:
            needed[-1] = needed[-1] // 2 + 1
        missing = [max(need - have, 0) for need, have in zip(needed, static[-rank:])]
        if not any(missing):
            return x
        return raw_ops.Pad(x, [[0, 0]] * (len(static) - rank) + [[0, count] for count in missing])
    needed = lengths
    if inverse:
        head = raw_ops.StridedSlice(lengths, [0], [-1], [1], begin_mask=1)
        last = raw_ops.StridedSlice(lengths, [-1], [0], [1], end_mask=1)
        needed = raw_ops.ConcatV2([head, raw_ops.FloorDiv(last, 2) + 1], 0)
    return _padded_to(x, raw_ops.Maximum(needed, _sizes(x, rank)), rank)


rfft, rfft2d, rfft3d = (_real_function(rank, False) for rank in (1, 2, 3))
irfft, irfft2d, irfft3d = (_real_function(rank, True) for rank in (1, 2, 3))


def _shifter(default: str, sign: int) -> Any:
    def function(x: Any, axes: Any = None, name: str | None = None) -> Any:
        with name_scope(name, default) as scope:
            x = convert_to_tensor(x)
            static = x.static_shape
            chosen = tuple(range(len(static or ()))) if axes is None else axes
            shift: Any
            if isinstance(chosen, int):
                shift = sign * math.floor(static[chosen] // 2)
            else:
                shift = [sign * math.floor(static[axis] // 2) for axis in chosen]
            return raw_ops.Roll(x, shift, chosen, name=scope)

    function.__name__ = default
    direction = "to" if sign > 0 else "back from"
    function.__doc__ = f"""`tf.signal.{default}`: the zero frequency moved {direction} the middle.

    Args:
        x: A tensor of known shape.
        axes: The axis or axes; by default all.
        name: Name of the operation.
    """
    return function


fftshift, ifftshift = _shifter("fftshift", 1), _shifter("ifftshift", -1)


def hann_window(
    window_length: Any, periodic: bool = True, dtype: Any = float32, name: str | None = None
) -> Any:
    """`tf.signal.hann_window`: 0.5 - 0.5 cos(2 pi n / length).

    Args:
        window_length: A scalar.
        periodic: Whether the window is one period; else it is symmetric.
        dtype: A floating dtype.
        name: Name of the operation.
    """
    return _raised_cosine("hann_window", 0.5, 0.5, window_length, periodic, dtype, name)


def hamming_window(
    window_length: Any, periodic: bool = True, dtype: Any = float32, name: str | None = None
) -> Any:
    """`tf.signal.hamming_window`: 0.54 - 0.46 cos(2 pi n / length); arguments as of `hann_window`."""
    return _raised_cosine("hamming_window", 0.54, 0.46, window_length, periodic, dtype, name)


def _raised_cosine(
    default: str, a: float, b: float, window_length: Any, periodic: bool, dtype: Any, name: str | None
) -> Any:
    with name_scope(name, default, [window_length, periodic]):
        length = convert_to_tensor(window_length, int32, name="window_length")
        is_periodic = convert_to_tensor(1 if periodic else 0, int32)
        even = 1 - raw_ops.FloorMod(length, 2)
        count = raw_ops.Cast(length + is_periodic * even - 1, DstT=dtype)
        position = raw_ops.Cast(raw_ops.Range(0, length, 1), DstT=dtype)
        angle = raw_ops.RealDiv(convert_to_tensor(2 * math.pi, dtype) * position, count)
        window = convert_to_tensor(a, dtype) - convert_to_tensor(b, dtype) * raw_ops.Cos(angle)
        static = length.graph.constant_value(length)
        return raw_ops.OnesLike(window) if static is not None and int(static) == 1 else window
