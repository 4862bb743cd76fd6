"""Joining, splitting, repeating, padding and reversing tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..convert import convert_to_tensor
from ..default import name_scope
from ..dtypes import ANY, INDEX, as_dtype, int32, int64
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import op, raw_ops
from ..shapes import Shape, format_shape, merge, merge_dims, with_rank, with_rank_at_least, with_value
from . import rules

_REVERSIBLE = tuple(
    as_dtype(name)
    for name in [
        "uint8",
        "int8",
        "uint16",
        "int16",
        "int32",
        "int64",
        "bool",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "string",
    ]
)


@op("Pack", "values: N * T -> output: T", "axis: int = 0", T=ANY)
def pack(values: list[Any], *, axis: int) -> Any:
    """Tensors of one shape stacked along a new axis."""
    shape = np.shape(values[0])
    for index, value in enumerate(values):
        if np.shape(value) != shape:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {format_shape(shape)} != "
                f"values[{index}].shape = "
                f"{format_shape(np.shape(value))}"
            )
    return np.stack(values, axis)


@pack.shape
def _(node: Any) -> Shape:
    shape = rules.merge_inputs(node)
    if shape is None:
        return None
    rank = len(shape) + 1
    axis = node.attr("axis")
    if not -rank <= axis < rank:
        raise InvalidValueError(f"Invalid axis: {axis}; must be in [{-rank},{rank})")
    axis %= rank
    return (*shape[:axis], node.num_inputs, *shape[axis:])


pack.grad(lambda node, dy: raw_ops.Unpack(dy, num=node.attr("N"), axis=node.attr("axis")))


@op("Unpack", "value: T -> output: num * T", "num: int >= 0", "axis: int = 0", T=ANY)
def unpack(value: Any, *, num: int, axis: int) -> list[Any]:
    """A tensor taken apart along an axis."""
    if not -value.ndim <= axis < value.ndim:
        raise InvalidArgumentError(f"axis = {axis} not in [{-value.ndim}, {value.ndim})")
    if value.shape[axis] != num:
        raise InvalidArgumentError(
            f"Input shape axis {axis} must equal {num}, got shape {format_shape(value.shape)}"
        )
    if axis in (0, -value.ndim):
        return list(value)
    return [np.ascontiguousarray(part) for part in np.moveaxis(value, axis, 0)]


@unpack.shape
def _(node: Any) -> list[Shape]:
    shape, axis, num = node.shape(0), node.attr("axis"), node.num_outputs
    if shape is None:
        return [None] * num
    rank = len(shape)
    if not -rank <= axis < rank:
        raise InvalidValueError(f"Invalid axis: {axis}; must be in [{-rank},{rank})")
    axis %= rank
    if shape[axis] not in (None, num):
        raise InvalidValueError(f"Dimension must be {num} but is {shape[axis]}")
    return [(*shape[:axis], *shape[axis + 1 :])] * num


unpack.grad(lambda node, *dys: raw_ops.Pack(list(dys), axis=node.attr("axis")))


def _concat(values: list[Any], axis: Any) -> Any:
    position = axis.item() if axis.size == 1 else int(np.reshape(axis, -1)[0])
    try:
        return np.concatenate(values, position)
    except ValueError:
        _check_concat(values, position)
        raise


def _check_concat(values: list[Any], position: int) -> None:
    """Raises what TensorFlow says of values that cannot be joined."""
    rank = max(np.ndim(value) for value in values)
    if not -max(rank, 1) <= position < max(rank, 1):
        raise InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but got {position}"
        )
    shapes = [value.shape for value in values]
    position %= max(rank, 1)
    first = shapes[0]
    for index, shape in enumerate(shapes):
        if len(shape) != len(first):
            raise InvalidArgumentError(
                f"ConcatOp : Ranks of all input tensors should match: shape[0] = {format_shape(first)} vs. "
                f"shape[{index}] = {format_shape(shape)}"
            )
        if any(a != b for axis_, (a, b) in enumerate(zip(first, shape)) if axis_ != position):
            raise InvalidArgumentError(
                f"ConcatOp : Dimensions of inputs should match: shape[0] = {format_shape(first)} vs. "
                f"shape[{index}] = {format_shape(shape)}"
            )
    if rank == 0:
        raise InvalidArgumentError("ConcatOp : Inputs must have at least one dimension")


def concat_shape(shapes: list[Shape], axis: Any) -> Shape:
    """The shape of arrays joined along `axis` (None: not known which).

    Raises:
        InvalidValueError: They do not fit, or have no such axis.
    """
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    rank = len(known[0])
    if axis is None:
        for each in known:
            with_rank(each, rank)
        return (None,) * rank
    position = int(np.reshape(axis, -1)[0])
    if not -rank <= position < rank:
        least = position + 1 if position >= 0 else -position
        raise InvalidValueError(f"Shape must be at least rank {least} but is rank {rank}")
    position %= rank
    total: int | None = 0
    result: Shape = None
    for shape in shapes:
        if shape is None:
            total = None
            continue
        dim = with_rank(shape, rank)[position]
        total = None if total is None or dim is None else total + dim
        result = merge(result, rules.replace_dim(shape, position, None))
    return rules.replace_dim(result, position, total) if result is not None else None


@op("ConcatV2", "values: N * T, axis: Tidx -> output: T", "N: int >= 2", T=ANY, Tidx=(INDEX, int32))
def concat_v2(values: list[Any], axis: Any) -> Any:
    """Tensors joined along an axis."""
    return _concat(values, axis)


@op("Concat", "concat_dim: int32, values: N * T -> output: T", "N: int >= 2", T=ANY)
def concat_v1(concat_dim: Any, values: list[Any]) -> Any:
    """Tensors joined along an axis, the axis given first."""
    return _concat(values, concat_dim)


concat_v2.shape(lambda node: concat_shape(node.shapes[:-1], node.value(node.num_inputs - 1)))
concat_v1.shape(lambda node: concat_shape(node.shapes[1:], node.value(0)))


def _summary(values: Any) -> str:
    """As TensorFlow prints the values of a vector, of at most ten."""
    return f"[{' '.join(str(item) for item in values[:10].tolist())}{'...' if len(values) > 10 else ''}]"


@op(
    "ConcatOffset",
    "concat_dim: int32, shape: N * int32 -> offset: N * int32",
    "N: int >= 2",
    no_grad="its results are offsets",
)
def concat_offset(concat_dim: Any, shape: list[Any]) -> list[Any]:
    """Where each of several tensors begins in their concatenation."""
    rank = len(shape[0])
    if not -rank <= int(concat_dim) < rank:
        raise InvalidArgumentError(f"Concat dim is out of range: {int(concat_dim)} vs. {rank}")
    axis = int(concat_dim) % rank
    for number, item in enumerate(shape):
        if len(item) != rank:
            raise InvalidArgumentError(f"input {number} should contain {rank} elements, but got {len(item)}")
        if any(other != axis and item[other] != shape[0][other] for other in range(rank)):
            raise InvalidArgumentError(
                f"All dimensions except {axis} must match. Input {number} has shape {_summary(item)} and "
                f"doesn't match input 0 with shape {_summary(shape[0])}."
            )
    offsets = []
    start = 0
    for item in shape:
        offset = np.zeros_like(item)
        offset[axis] = start
        start += int(item[axis])
        offsets.append(offset)
    return offsets


concat_offset.shape(lambda node: node.shapes[1:])


def _concat_grad(values: list[Any], axis: Any, dy: Any) -> list[Any]:
    if len(values) == 1:
        return [dy]
    position = axis.graph.constant_value(axis)
    sizes = None
    if position is not None and all(value.static_shape is not None for value in values):
        index = int(np.reshape(position, -1)[0])
        sizes = [value.static_shape[index] for value in values]
    if sizes is not None and None not in sizes:
        return list(raw_ops.SplitV(dy, sizes, index, num_split=len(values)))
    shapes = raw_ops.ShapeN(values)
    rank = raw_ops.Rank(values[0])
    offsets = raw_ops.ConcatOffset(raw_ops.FloorMod(raw_ops.Cast(axis, DstT=int32), rank), shapes)
    return [raw_ops.Slice(dy, offset, shape) for offset, shape in zip(offsets, shapes)]


concat_v2.grad(lambda node, dy: [*_concat_grad(list(node.inputs[:-1]), node.inputs[-1], dy), None])
concat_v1.grad(lambda node, dy: [None, *_concat_grad(list(node.inputs[1:]), node.inputs[0], dy)])


@op("Split", "split_dim: int32, value: T -> output: num_split * T", T=ANY)
def split_op(split_dim: Any, value: Any, *, num_split: int) -> list[Any]:
    """A tensor cut into equal parts along an axis."""
    axis = _split_axis(split_dim, value)
    if value.shape[axis] % num_split:
        raise InvalidArgumentError(
            f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis} "
            f"(size = {value.shape[axis]}) and num_split {num_split}"
        )
    return _contiguous(np.split(value, num_split, axis))


@split_op.specialize
def _(view: Any) -> Any:
    """A shape that can be divided and an axis that is known: the slices are, too."""
    split_dim, shape, count = view.value(0), view.shape(1), view.num_outputs
    axis = rules.static_axis(view, 0, None if shape is None else len(shape))
    if split_dim is None or axis is None or shape is None or None in shape or shape[axis] % count:
        return None
    size = shape[axis] // count
    leading = (slice(None),) * axis
    parts = [(*leading, slice(start, start + size)) for start in range(0, size * count, size or 1)]
    if len(parts) != count:
        return None
    return lambda split_dim, value: [value[part].copy() for part in parts]


def _split_axis(split_dim: Any, value: Any) -> int:
    axis = int(np.reshape(split_dim, -1)[0])
    if not -value.ndim <= axis < value.ndim:
        raise InvalidArgumentError(
            f"-input rank(-{value.ndim}) <= split_dim < input rank ({value.ndim}), but got {axis}"
        )
    return axis % int(value.ndim)


def _contiguous(parts: list[Any]) -> list[Any]:
    return [np.ascontiguousarray(part) for part in parts]


@split_op.shape
def _(node: Any) -> list[Shape]:
    shape, count = node.shape(1), node.num_outputs
    axis = rules.static_axis(node, 0, None if shape is None else len(shape))
    if shape is None:
        return [None] * count
    if axis is None:
        return [(None,) * len(shape)] * count
    size = shape[axis]
    if size is not None and size % count:
        raise InvalidValueError(f"Dimension size must be evenly divisible by {count} but is {size}")
    return [rules.replace_dim(shape, axis, None if size is None else size // count)] * count


split_op.grad(
    lambda node, *dys: [None, raw_ops.ConcatV2(list(dys), node.inputs[0]) if len(dys) > 1 else dys[0]]
)


@op(
    "SplitV",
    "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T",
    T=ANY,
    Tlen=(INDEX, int64),
)
def split_v(value: Any, size_splits: Any, split_dim: Any, *, num_split: int) -> list[Any]:
    """A tensor cut into parts of given sizes along an axis; one size may be -1."""
    axis = _split_axis(split_dim, value)
    if np.shape(size_splits) != (num_split,):
        raise InvalidArgumentError(
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{np.ndim(size_splits)} -D and {np.size(size_splits)} elements"
        )
    sizes = np.reshape(size_splits, -1).tolist()
    total = value.shape[axis]
    if sizes.count(-1) > 1:
        raise InvalidArgumentError("There can only be one -1 in the input.")
    if -1 in sizes:
        rest = total - sum(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = rest
    if min(sizes, default=0) < 0 or sum(sizes) != total:
        raise InvalidArgumentError(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less "
            f"than the size of the input along split_dim if not fully specified.  Got: {sum(sizes)}"
        )
    return _contiguous(np.split(value, np.cumsum(sizes)[:-1], axis))


@split_v.shape
def _(node: Any) -> list[Shape]:
    shape, sizes, count = node.shape(0), node.value(1), node.num_outputs
    if sizes is not None and np.size(sizes) != count:
        raise InvalidValueError("Length of size_splits should be equal to num_outputs")
    axis = rules.static_axis(node, 2, None if shape is None else len(shape))
    if shape is None:
        return [None] * count
    if axis is None:
        return [(None,) * len(shape)] * count
    dims: list[int | None] = (
        [None] * count if sizes is None else [int(size) for size in np.reshape(sizes, -1)]
    )
    total = shape[axis]
    if dims.count(-1) > 1:
        raise InvalidValueError("size_splits can only have one -1")
    known = sum(dim for dim in dims if dim not in (None, -1))
    if -1 in dims and total is not None:
        dims[dims.index(-1)] = total - known
    for index, dim in enumerate(dims):
        if dim is not None and dim < -(total is None):
            raise InvalidValueError(f"Split size at index {index} must be >= 0. Got: {dim}")
    if sizes is not None and total is not None and sum(dims) != total:  # type: ignore[arg-type]
        shown = ",".join(map(str, np.reshape(sizes, -1)))
        raise InvalidValueError(f"can't split axis of size {total} into pieces of size [{shown}]")
    return [rules.replace_dim(shape, axis, None if dim == -1 else dim) for dim in dims]


split_v.grad(
    lambda node, *dys: [raw_ops.ConcatV2(list(dys), node.inputs[2]) if len(dys) > 1 else dys[0], None, None]
)


@op(
    "ParallelConcat",
    "values: N * T -> output: T",
    "shape: shape",
    T=ANY,
    undefined_grad="TensorFlow has none",
)
def parallel_concat(values: list[Any], *, shape: tuple[int, ...]) -> Any:
    """Tensors whose first dimension is 1, joined along it into a declared shape."""
    for value in values:
        if value.shape != (1, *shape[1:]):
            raise InvalidArgumentError(
                f"value and update shape doesn't match: {format_shape(shape)} vs. {format_shape(value.shape)}"
            )
    return np.concatenate(values)


@parallel_concat.shape
def _(node: Any) -> Shape:
    declared: Shape = node.attr("shape")
    if declared is None or None in declared:
        raise InvalidValueError("shape attr must be fully defined.")
    current: Shape = (1, *declared[1:])
    for index, shape in enumerate(node.shapes):
        if shape is None or None in shape:
            raise InvalidValueError("All input shapes must be fully defined.")
        if shape[:1] != (1,):
            raise InvalidValueError("Size of first dimension must be 1.")
        try:
            current = merge(shape, current)
        except InvalidValueError as error:
            raise InvalidValueError(
                f"{error.message}\n\tFrom merging shape {index} with other shapes."
            ) from error
    return declared


@op("Tile", "input: T, multiples: Tmultiples -> output: T", T=ANY, Tmultiples=(INDEX, int32))
def tile(input: Any, multiples: Any) -> Any:
    """The input repeated `multiples` times along each axis."""
    times = np.reshape(multiples, -1).tolist()
    if len(times) != input.ndim:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {input.ndim} but got length {len(times)}"
        )
    if min(times, default=1) < 0:
        raise InvalidArgumentError(
            f"Expected multiples[{times.index(min(times))}] >= 0, but got {min(times)}"
        )
    return np.tile(input, times)


@tile.shape
def _(node: Any) -> Shape:
    shape, times = node.shape(0), node.value_as_shape(1)
    if shape is None:
        return None if times is None else (None,) * len(times)
    times = with_rank(times, len(shape))
    return tuple(0 if 0 in (a, b) else None if None in (a, b) else a * b for a, b in zip(shape, times))


@tile.specialize
def _(view: Any) -> Any:
    """Repeating length-1 axes only, as gradients of reductions do, is a broadcast."""
    shape, times = view.shape(0), view.value(1)
    if shape is None or times is None or None in shape or len(shape) != np.size(times):
        return None
    target = tuple(int(a) * int(b) for a, b in zip(shape, times.tolist()))
    if any(a != 1 and b != 1 for a, b in zip(shape, times.tolist())):
        return None
    return lambda input, _: np.broadcast_to(input, target)


@op("TileGrad", "input: T, multiples: int32 -> output: T", T=ANY, undefined_grad="TensorFlow has none")
def tile_grad(input: Any, multiples: Any) -> Any:
    """The sum of the parts of which Tile made the input."""
    times = np.reshape(multiples, -1).tolist()
    if len(times) != input.ndim:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {input.ndim} but got length {len(times)}"
        )
    split: list[int] = []
    for axis, (size, count) in enumerate(zip(input.shape, times)):
        if count <= 0:
            raise InvalidArgumentError(f"Expected multiples[{axis}] > 0, but got {count}")
        if size % count:
            raise InvalidArgumentError(
                f"Expected input_dim[{axis}] to be divisible by multiples[{axis}], but {size} % {count} != 0"
            )
        split += [count, size // count]
    return np.sum(input.reshape(split), axis=tuple(range(0, len(split), 2)), dtype=input.dtype)


@tile_grad.shape
def _(node: Any) -> Shape:
    shape, times = node.shape(0), node.value_as_shape(1)
    if shape is None or times is None or len(times) != len(shape):
        return None
    return tuple(None if not b or a is None or a % b else a // b for a, b in zip(shape, times))


@tile.grad
def _(node: Any, dy: Any) -> Any:
    x, multiples = node.inputs
    shape = raw_ops.Shape(x, out_type=multiples.dtype)
    # [m0, s0, m1, s1, ...]: sum over the multiples
    split = raw_ops.Reshape(raw_ops.Transpose(raw_ops.Pack([multiples, shape]), [1, 0]), [-1])
    axes = raw_ops.Range(0, raw_ops.Size(split), 2)
    return [raw_ops.Reshape(raw_ops.Sum(raw_ops.Reshape(dy, split), axes), shape), None]


_MIRROR = {"REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _paddings(paddings: Any, rank: int, text: str = "Paddings must be non-negative: {} {}") -> Any:
    if np.shape(paddings) != (rank, 2):
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs: {format_shape(np.shape(paddings))} "
            f"vs. rank {rank}"
        )
    pairs = [(int(a), int(b)) for a, b in np.asarray(paddings).tolist()]
    for pair in pairs:
        if min(pair) < 0:
            raise InvalidArgumentError(text.format(*pair))
    return pairs


def _padded(input: Any, paddings: Any, value: Any) -> Any:
    pairs = _paddings(paddings, np.ndim(input))
    result = np.full([size + a + b for size, (a, b) in zip(input.shape, pairs)], value, input.dtype)
    result[tuple(slice(a, a + size) for size, (a, _) in zip(input.shape, pairs))] = input
    return result


def _pad_shape(node: Any) -> Shape:
    shape, pairs = _padded_shape(node)
    if shape is None or pairs is None:
        return shape
    return tuple(None if dim is None else dim + a + b for dim, (a, b) in zip(shape, pairs))


def _padded_shape(node: Any, backward: bool = False) -> tuple[Shape, Any]:
    """The input's shape with the rank that the paddings tell, and the paddings where they are known."""
    sizes = with_rank(node.shape(1), 2)
    shape, paddings = node.shape(0), node.value(1)
    count = sizes[0]
    if not backward:
        with_value(sizes[1], 2)
    if count is None and shape is not None and not backward:
        count = len(shape)
    if count is None:
        return None, None
    shape = with_rank(shape, count)
    if backward:
        merge(sizes, (count, 2))
    if paddings is None:
        return (None,) * count, None
    if np.less(paddings, 0).any():
        raise InvalidValueError("Paddings must be non-negative")
    return shape, np.asarray(paddings).tolist()


@op("Pad", "input: T, paddings: Tpaddings -> output: T", T=ANY, Tpaddings=(INDEX, int32))
def pad_op(input: Any, paddings: Any) -> Any:
    """The input with zeros around it."""
    return _padded(input, paddings, b"" if input.dtype == object else 0)


@op(
    "PadV2", "input: T, paddings: Tpaddings, constant_values: T -> output: T", T=ANY, Tpaddings=(INDEX, int32)
)
def pad_v2(input: Any, paddings: Any, constant_values: Any) -> Any:
    """The input with a constant around it."""
    return _padded(input, paddings, constant_values)


@op(
    "MirrorPad",
    "input: T, paddings: Tpaddings -> output: T",
    "mode: {'REFLECT', 'SYMMETRIC'}",
    T=ANY,
    Tpaddings=(INDEX, int32),
)
def mirror_pad(input: Any, paddings: Any, *, mode: str) -> Any:
    """The input with its own mirror image around it, without (REFLECT) or with the edge."""
    pairs = _paddings(paddings, np.ndim(input), "paddings must be non-negative: {} {}")
    for axis, ((before, after), size) in enumerate(zip(pairs, input.shape)):
        _check_mirrored(before, after, size, mode, "dimension size", axis)
    return np.pad(input, pairs, mode=_MIRROR[mode])  # type: ignore[call-overload]


def _check_mirrored(before: int, after: int, size: int, mode: str, what: str, axis: int) -> None:
    """Checks that there is enough to mirror."""
    less = mode == "REFLECT"
    if max(before, after) > size - less:
        wanted, reason = ("less", "not less") if less else ("no greater", "greater")
        raise InvalidArgumentError(
            f"paddings must be {wanted} than the {what}: {before}, {after} {reason} than {size}, "
            f"in dimension {axis}"
        )


def _mirror_pad_grad(input: Any, paddings: Any, *, mode: str) -> Any:
    """Adds what lies in the mirrored borders back onto the elements that they mirror."""
    pairs = _paddings(paddings, np.ndim(input), "Paddings must be non-negative: {}, {}")
    for axis, (size, (a, b)) in enumerate(zip(input.shape, pairs)):
        if a + b >= size and (a or b):
            raise InvalidArgumentError(
                f"Total paddings must be less than the input dimension size: {a + b} was not less than {size}"
            )
        _check_mirrored(a, b, size - a - b, mode, "output dimension size", axis)
    shape = [size - a - b for size, (a, b) in zip(input.shape, pairs)]
    result = np.zeros(shape, input.dtype)
    sources = [np.pad(np.arange(size), pair, mode=_MIRROR[mode]) for size, pair in zip(shape, pairs)]  # type: ignore[call-overload]
    np.add.at(result, np.ix_(*sources), input)
    return result


mirror_pad_grad = op(
    "MirrorPadGrad",
    "input: T, paddings: Tpaddings -> output: T",
    "mode: {'REFLECT', 'SYMMETRIC'}",
    T=ANY,
    Tpaddings=(INDEX, int32),
)(_mirror_pad_grad)

for _pad in (pad_op, pad_v2, mirror_pad):
    _pad.shape(_pad_shape)


@mirror_pad_grad.shape
def _(node: Any) -> Shape:
    shape, pairs = _padded_shape(node, backward=True)
    if shape is None or pairs is None:
        return shape
    return tuple(None if dim is None else dim - a - b for dim, (a, b) in zip(shape, pairs))


def _unpadded(node: Any, dy: Any) -> Any:
    x, paddings = node.inputs[:2]
    begin = raw_ops.Reshape(raw_ops.Slice(paddings, [0, 0], raw_ops.Pack([raw_ops.Rank(x), 1])), [-1])
    sizes = raw_ops.Shape(x, out_type=begin.dtype)
    return raw_ops.Slice(dy, begin, sizes)


pad_op.grad(lambda node, dy: [_unpadded(node, dy), None])


@pad_v2.grad
def _(node: Any, dy: Any) -> Any:
    inner = _unpadded(node, dy)
    axes = raw_ops.Range(0, raw_ops.Rank(dy), 1)
    return [inner, None, raw_ops.Sum(dy, axes) - raw_ops.Sum(inner, axes)]


mirror_pad.grad(lambda node, dy: [raw_ops.MirrorPadGrad(dy, node.inputs[1], mode=node.attr("mode")), None])
mirror_pad_grad.grad(lambda node, dy: [raw_ops.MirrorPad(dy, node.inputs[1], mode=node.attr("mode")), None])


@op(
    "ReverseV2",
    "tensor: T, axis: Tidx -> output: T",
    Tidx=(INDEX, int32),
    T=(*_REVERSIBLE, as_dtype("bfloat16")),
)
def reverse_v2(tensor: Any, axis: Any) -> Any:
    """The order of elements along the given axes turned round."""
    axes = _reversed_axes(axis, tensor.ndim)
    return np.ascontiguousarray(np.flip(tensor, tuple(axes))) if axes else tensor


def _reversed_axes(axis: Any, rank: int) -> list[int]:
    axes = np.reshape(axis, -1).tolist()
    for index, item in enumerate(axes):
        if not -rank <= item < rank:
            raise InvalidValueError(f"'axis'[{index}] = {item} is out of valid range [0, {rank - 1}]")
        if item % rank in [each % rank for each in axes[:index]]:
            raise InvalidValueError(f"axis {item % rank} specified more than once.")
    return axes


@reverse_v2.shape
def _(node: Any) -> Shape:
    with_rank(node.shape(1), 1)
    shape: Shape = node.shape(0)
    axis = node.value(1)
    if shape is not None and axis is not None:
        _reversed_axes(axis, len(shape))
    return shape


@op("Reverse", "tensor: T, dims: bool -> output: T", T=_REVERSIBLE)
def reverse_v1(tensor: Any, dims: Any) -> Any:
    """As ReverseV2, the axes marked by a boolean vector."""
    if np.size(dims) != tensor.ndim:
        raise InvalidArgumentError(
            f"'dims' must have the same number of values as 'input' has dimensions: {np.size(dims)} vs. "
            f"{tensor.ndim}"
        )
    axes = tuple(index for index, wanted in enumerate(np.reshape(dims, -1)) if wanted)
    return np.ascontiguousarray(np.flip(tensor, axes)) if axes else tensor


@reverse_v1.shape
def _(node: Any) -> Shape:
    (count,) = with_rank(node.shape(1), 1)
    shape: Shape = node.shape(0)
    if shape is None:
        return None if count is None else (None,) * count
    return shape if count is None else with_rank(shape, count)


reverse_v1.grad(lambda node, dy: [raw_ops.Reverse(dy, node.inputs[1]), None])
reverse_v2.grad(lambda node, dy: [raw_ops.ReverseV2(dy, node.inputs[1]), None])


@op(
    "ReverseSequence",
    "input: T, seq_lengths: Tlen -> output: T",
    "seq_dim: int",
    "batch_dim: int = 0",
    T=ANY,
    Tlen=(INDEX, int64),
)
def reverse_sequence(input: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int) -> Any:
    """The first elements along one axis turned round, a number of them for each place along another."""
    rank, lengths = np.ndim(input), np.asarray(seq_lengths)
    if batch_dim == seq_dim:
        raise InvalidArgumentError(f"batch_dim == seq_dim == {seq_dim}")
    if lengths.ndim != 1:
        raise InvalidArgumentError(f"seq_lengths must be 1-dim, not {lengths.ndim}")
    for what, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if axis >= rank:
            raise InvalidArgumentError(f"{what} must be < input rank ( {axis} vs. {rank})")
        if axis < 0:
            raise InvalidArgumentError(f"Invalid {what} {axis}")
    if len(lengths) != input.shape[batch_dim]:
        raise InvalidArgumentError(
            f"Length of seq_lengths != input.dims({batch_dim}), ({len(lengths)} vs. {input.shape[batch_dim]})"
        )
    result = np.array(input)
    source, target = (np.moveaxis(each, (batch_dim, seq_dim), (0, 1)) for each in (input, result))
    for place, length in enumerate(lengths.tolist()):
        if length < 0:
            raise InvalidArgumentError(f"seq_lens({place}) < 0")
        if length > source.shape[1]:
            raise InvalidArgumentError(f"seq_lens({place}) > input.dims({seq_dim})")
        target[place, :length] = source[place, :length][::-1]
    return result


@reverse_sequence.shape
def _(node: Any) -> Shape:
    shape, lengths = node.shape(0), with_rank(node.shape(1), 1)
    batch_dim, seq_dim = node.attr("batch_dim"), node.attr("seq_dim")
    if batch_dim < 0:
        raise InvalidValueError(f"batch_dim must be >=0, got {batch_dim}")
    if shape is None:
        return None
    for what, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if axis >= len(shape):
            raise InvalidValueError(f"{what} must be < input rank: {axis} vs. {len(shape)}")
    count = merge_dims(shape[batch_dim], lengths[0])
    return rules.replace_dim(shape, batch_dim, count)


@reverse_sequence.grad
def _(node: Any, dy: Any) -> Any:
    axes = {name: node.attr(name) for name in ("seq_dim", "batch_dim")}
    return [raw_ops.ReverseSequence(dy, node.inputs[1], **axes), None]


@op("Roll", "input: T, shift: Tshift, axis: Taxis -> output: T", T=ANY, Tshift=INDEX, Taxis=INDEX)
def roll(input: Any, shift: Any, axis: Any) -> Any:
    """Elements moved along axes; what leaves at one end enters at the other."""
    rank = np.ndim(input)
    if rank == 0:
        raise InvalidArgumentError("input must be 1-D or higher")
    if np.shape(shift) != np.shape(axis):
        raise InvalidArgumentError("shift and axis must have the same size")
    axes = np.reshape(axis, -1).tolist()
    for item in axes:
        if not -rank <= item < rank:
            raise InvalidArgumentError(f"axis {item} is out of range")
    return np.roll(input, tuple(np.reshape(shift, -1).tolist()), tuple(axes)) if axes else input


@roll.shape
def _(node: Any) -> Shape:
    with_rank_at_least(node.shape(0), 1)
    places = merge(node.shape(1), node.shape(2))
    if places is not None and len(places) > 1:
        raise InvalidValueError(f"Shape must be at most rank 1 but is rank {len(places)}")
    shape: Shape = node.shape(0)
    return shape


roll.grad(lambda node, dy: [raw_ops.Roll(dy, -node.inputs[1], node.inputs[2]), None, None])


# TensorFlow's Python functions


def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """`tf.stack`: tensors of one shape stacked along a new axis; a constant where all of them are."""
    if axis == 0:
        try:
            return convert_to_tensor(values if hasattr(values, "dtype") else list(values), name=name)
        except (TypeError, ValueError):
            pass  # what does not convert as a whole may still be packed
    return pack(list(values), axis=axis, name=name)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """`tf.unstack`: a tensor taken apart along an axis of known length.

    Raises:
        ValueError: `num` is not given and the length is not known statically.
    """
    value = convert_to_tensor(value)
    if num is None:
        shape = value.static_shape
        if shape is not None:
            if not -len(shape) <= axis < len(shape):
                raise InvalidValueError(f"axis = {axis} not in [{-len(shape)}, {len(shape)})")
            num = shape[axis]
    if num is None:
        raise InvalidValueError(f"Cannot infer num from shape {format_shape(value.static_shape)}")
    return unpack(value, num=num, axis=axis, name=name)


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """`tf.concat`: tensors joined along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name, "concat", values) as scope:
            return raw_ops.Identity(values[0], name=scope)
    return concat_v2(list(values), axis, name=name)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> Any:
    """`tf.split`: a tensor cut along an axis into a number of equal parts, or parts of given sizes.

    Raises:
        ValueError: The number of parts is not known statically.
    """
    if isinstance(num_or_size_splits, (int, np.integer)) or (
        hasattr(num_or_size_splits, "value") and not hasattr(num_or_size_splits, "op")
    ):
        return split_op(axis, value, num_split=int(num_or_size_splits), name=name)
    sizes = convert_to_tensor(num_or_size_splits)
    if num is None:
        shape = sizes.static_shape
        num = shape[0] if shape else None
        if num is None:
            raise InvalidValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return split_v(value, sizes, axis, num_split=num, name=name)


def tf_tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """`tf.tile`: the input repeated `multiples` times along each axis."""
    return tile(input, multiples, name=name)


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None, constant_values: Any = 0
) -> Any:
    """`tf.pad`: values put around a tensor; mode CONSTANT, REFLECT or SYMMETRIC.

    Raises:
        ValueError: The mode is unknown.
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not hasattr(constant_values, "op") and np.all(np.equal(constant_values, 0)):
            return pad_op(tensor, paddings, name=name)
        return pad_v2(tensor, paddings, constant_values, name=name)
    if mode not in _MIRROR:
        raise InvalidValueError(f"Unknown padding mode: {mode}")
    return mirror_pad(tensor, paddings, mode=mode, name=name)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """`tf.reverse`: the order of elements along the given axes turned round."""
    return reverse_v2(tensor, axis, name=name)


def parallel_stack(values: Any, name: str = "parallel_stack") -> Any:
    """`tf.parallel_stack`: tensors of one known shape stacked along axis 0."""
    with name_scope(name):
        tensors = [convert_to_tensor(value) for value in values]
        shape = tensors[0].get_shape()
        expanded = [raw_ops.ExpandDims(tensor, 0) for tensor in tensors]
        return parallel_concat(expanded, shape=[len(tensors), *shape.as_list()])
