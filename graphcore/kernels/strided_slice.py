"""TensorFlow's StridedSlice: begin, end and strides with five bit masks, as a NumPy index.

Bit i of a mask speaks of entry i of the *sparse* specification, the one that was written down:
`ellipsis_mask` makes the entry an ellipsis (at most one; without one, it stands at the end),
`new_axis_mask` a new axis of size 1, `shrink_axis_mask` a single index that removes its axis, and
`begin_mask` and `end_mask` leave out a bound. An ellipsis beats a new axis, which beats a shrunk one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...formats.errors import InvalidArgumentError
from .arrays import Array, shape_text

Bounds = Sequence[int | None]


class Masks(NamedTuple):
    """The five mask attributes of StridedSlice."""

    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0


def resolve(
    shape: Sequence[int],
    begin: Sequence[int] | Array,
    end: Sequence[int] | Array,
    strides: Sequence[int] | Array,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The NumPy index that a specification means for an array of `shape`.

    Args:
        shape: Of the array.
        begin: First element along each axis; may be out of range for ranges.
        end: One past the last.
        strides: Steps; not zero.
        begin_mask: See the module.
        end_mask: See the module.
        ellipsis_mask: See the module.
        new_axis_mask: See the module.
        shrink_axis_mask: See the module.

    Returns:
        `(index, result_shape)`: `array[index]` has the result's shape.

    Raises:
        InvalidArgumentError: The specification does not fit the shape; TensorFlow's texts.
    """
    bounds = [np.asarray(part) for part in (begin, end, strides)]
    if any(part.ndim != 1 or part.shape != bounds[0].shape for part in bounds):
        first, second, third = (shape_text(part.shape) for part in bounds)
        raise InvalidArgumentError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{first}, {second}, and {third} instead."
        )
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    index: list[Any] = []
    sizes: list[int] = []
    for part, size in _parts(shape, bounds[0].tolist(), bounds[1].tolist(), bounds[2].tolist(), masks):
        index.append(part)
        if size >= 0:
            sizes.append(size)
    return tuple(index), tuple(sizes)


def strided_slice(
    x: Array,
    begin: Sequence[int] | Array,
    end: Sequence[int] | Array,
    strides: Sequence[int] | Array,
    **masks: int,
) -> Array:
    """TensorFlow's StridedSlice; arguments as in `resolve`. The result is a view of x.

    Raises:
        InvalidArgumentError: See `resolve`.
    """
    index, _ = resolve(x.shape, begin, end, strides, **masks)
    return x[(*index, ...)]


def infer_shape(
    shape: Sequence[int | None] | None,
    begin: Bounds | None,
    end: Bounds | None,
    strides: Bounds | None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> tuple[int | None, ...] | None:
    """The result's shape as far as it is known.

    Args:
        shape: Of the input; None for an unknown rank, None in it for an unknown size.
        begin: Entries may be None where unknown; None if even the number of entries is unknown.
        end: Alike.
        strides: Alike.
        begin_mask: See the module.
        end_mask: See the module.
        ellipsis_mask: See the module.
        new_axis_mask: See the module.
        shrink_axis_mask: See the module.

    Returns:
        Sizes, None where unknown; or None where not even the rank is known.

    Raises:
        InvalidArgumentError: The specification cannot fit the shape.
    """
    known = next((part for part in (begin, end, strides) if part is not None), None)
    if shape is None or known is None:
        return None
    unknown: list[int | None] = [None] * len(known)
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    bounds = [list(part) if part is not None else unknown for part in (begin, end, strides)]
    parts = _parts(shape, bounds[0], bounds[1], bounds[2], masks)
    return tuple(size for _, size in parts if size is None or size >= 0)


def strided_slice_grad(
    shape: Sequence[int] | Array,
    begin: Sequence[int] | Array,
    end: Sequence[int] | Array,
    strides: Sequence[int] | Array,
    dy: Array,
    **masks: int,
) -> Array:
    """TensorFlow's StridedSliceGrad: `dy` where the slice was, zeros elsewhere.

    Args:
        shape: Of the sliced array.
        begin: As in `resolve`, and so are the rest.
        end: See there.
        strides: See there.
        dy: Gradient with respect to the slice.
        **masks: See there.

    Raises:
        InvalidArgumentError: `dy` does not have the slice's shape, or see `resolve`.
    """
    sizes = tuple(int(size) for size in np.asarray(shape).reshape(-1))
    index, expected = resolve(sizes, begin, end, strides, **masks)
    if dy.shape != expected:
        got, wanted = (shape_text(s) for s in (dy.shape, expected))
        raise InvalidArgumentError(f"shape of dy was {got} instead of {wanted}")
    out = np.zeros(sizes, dy.dtype)
    out[index] = dy
    return out


def strided_slice_assign(
    x: Array,
    begin: Sequence[int] | Array,
    end: Sequence[int] | Array,
    strides: Sequence[int] | Array,
    value: Array,
    **masks: int,
) -> Array:
    """TensorFlow's StridedSliceAssign and TensorStridedSliceUpdate: a copy of x with a slice replaced.

    Args:
        x: Any array.
        begin: As in `resolve`, and so are the rest.
        end: See there.
        strides: See there.
        value: Broadcasts to the slice.
        **masks: See there.

    Raises:
        InvalidArgumentError: `value` does not broadcast to the slice, or see `resolve`.
    """
    index, expected = resolve(x.shape, begin, end, strides, **masks)
    try:
        filling = np.broadcast_to(value, expected)
    except ValueError:
        raise InvalidArgumentError(
            f"A value of shape {shape_text(value.shape)} does not broadcast to the slice, {list(expected)}.",
            value_shape=list(value.shape),
            slice_shape=list(expected),
        ) from None
    out = x.copy()
    out[index] = filling
    return out


def _parts(
    shape: Sequence[int | None], begin: Bounds, end: Bounds, strides: Bounds, masks: Masks
) -> list[tuple[Any, Any]]:
    """Each entry of the dense index with its size in the result: None if unknown, -1 if removed."""
    count = len(begin)
    ellipsis = [entry for entry in range(count) if masks.ellipsis_mask >> entry & 1]
    if masks.ellipsis_mask & (masks.ellipsis_mask - 1):
        raise InvalidArgumentError("Multiple ellipses in slice spec not allowed")
    at = ellipsis[0] if ellipsis else count
    named = [e for e in range(count) if e != at and not masks.new_axis_mask >> e & 1]
    hidden = len(shape) - len(named)
    if hidden < 0:
        if not shape:
            raise InvalidArgumentError("Attempting to slice scalar input.")
        raise InvalidArgumentError(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims",
            entries=len(named),
            rank=len(shape),
        )
    parts: list[tuple[Any, Any]] = []
    axis = 0
    for entry in range(count + 1):
        if entry == at:
            parts += [(slice(None), size) for size in shape[axis : axis + hidden]]
            axis += hidden
        elif entry < count and masks.new_axis_mask >> entry & 1:
            parts.append((np.newaxis, 1))
        elif entry < count:
            bits = [
                bool(mask >> entry & 1) for mask in (masks.begin_mask, masks.end_mask, masks.shrink_axis_mask)
            ]
            bounds = begin[entry], end[entry], strides[entry]
            parts.append(_axis(axis, shape[axis], *bounds, *bits))
            axis += 1
    return parts


def _axis(
    axis: int,
    size: int | None,
    begin: int | None,
    end: int | None,
    stride: int | None,
    no_begin: bool,
    no_end: bool,
    shrink: bool,
) -> tuple[Any, int | None]:
    """One axis' index and size in the result; see `_parts`."""
    if stride == 0:
        raise InvalidArgumentError(f"strides[{axis}] must be non-zero", axis=axis)
    if shrink:
        if stride is not None and stride < 0:
            raise InvalidArgumentError("only stride 1 allowed on non-range indexing.", axis=axis)
        if begin is None or size is None:
            return None, -1
        place = begin + size if begin < 0 else begin
        if not 0 <= place < size:
            raise InvalidArgumentError(
                f"slice index {place} of dimension {axis} out of bounds.", index=begin, axis=axis, size=size
            )
        return place, -1
    if size is None or stride is None:
        return None, None
    lowest, highest = (0, size) if stride > 0 else (-1, size - 1)
    ends = []
    for bound, absent, default in (
        (begin, no_begin, lowest if stride > 0 else highest),
        (end, no_end, highest if stride > 0 else lowest),
    ):
        if absent:
            ends.append(default)
        elif bound is None:
            return None, None
        else:
            ends.append(min(max(bound + size if bound < 0 else bound, lowest), highest))
    first, last = ends
    length = max(0, -((first - last) // stride))
    if length == 0:
        return slice(0, 0), 0
    # Before the first element is -1 here, which NumPy would take for the last one.
    return slice(first, last if last >= 0 else None, stride), length
