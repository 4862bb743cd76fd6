"""Shapes and what changes them; joining, splitting, repeating, making."""

from __future__ import annotations

import math

import numpy as np

from .blocks import Inexpressible
from .table import Call, translates


@translates("Reshape")
def _reshape(call: Call) -> str:
    value, target = call.value(1), call.partial(1)
    if value is None and target is not None and sum(size is None for size in target) <= 1 and 0 not in target:
        # Of a shape with one unknown entry, what is left follows from the number of elements.
        return call.make.reshape(call[0], *[-1 if size is None else size for size in target])
    if value is None or 0 not in value:
        return call.emit("Reshape", call[0], call.ints(1), allowzero=int(value is None))
    result = call.result_shape()
    if -1 not in value:
        return call.emit("Reshape", call[0], call.ints(1), allowzero=1)
    if result is None or None in result:
        raise Inexpressible("it asks for a size of 0 and for what is left")
    return call.emit("Reshape", call[0], call.const(np.array(result, np.int64)), allowzero=1)


@translates("ExpandDims")
def _expand_dims(call: Call) -> str:
    return call.emit("Unsqueeze", call[0], call.make.reshape(call.ints(1), -1))


@translates("Squeeze")
def _squeeze(call: Call) -> str:
    axes = list(call.attr("squeeze_dims"))
    if axes:
        return call.make.squeeze(call[0], *axes)
    shape = call.dims(0)
    if None in shape:
        raise Inexpressible("which axes it drops depends on sizes that are known to the run alone")
    return call.make.squeeze(call[0], *[axis for axis, size in enumerate(shape) if size == 1])


@translates("Transpose")
def _transpose(call: Call) -> str:
    return call.make.transpose(call[0], call.known(1, "permutation").tolist())


@translates("InvertPermutation")
def _invert(call: Call) -> str:
    length = call.make.squeeze(call.shape_of(0), 0)
    places = call.emit("Range", call.const(np.int64(0)), length, call.const(np.int64(1)))
    inverted = call.emit("ScatterElements", places, call.ints(0), places, axis=0)
    return call.make.sizes_as(inverted, call.dtype(0))


@translates("Concat", "ConcatV2")
def _concat(call: Call) -> str:
    last = call.op.type == "ConcatV2"
    count = len(call.inputs) - 1
    axis = int(call.known(count if last else 0, "axis").reshape(()))
    names = call.names[:-1] if last else call.names[1:]
    return call.emit("Concat", *names, axis=axis) if count > 1 else names[0]


@translates("Pack")
def _pack(call: Call) -> str:
    axis = int(call.attr("axis"))
    return call.emit("Concat", *[call.make.unsqueeze(name, axis) for name in call.names], axis=axis)


@translates("Unpack")
def _unpack(call: Call) -> list[str]:
    axis, count = int(call.attr("axis")), call.op.num_outputs
    if not count:
        return []
    return [call.make.squeeze(part, axis) for part in _split(call, call[0], [1] * count, axis)]


def _split(call: Call, name: str, sizes: list[int], axis: int) -> list[str]:
    if len(sizes) == 1:
        return [name]
    return call.make.emit_many("Split", [name, call.make.ints(*sizes)], len(sizes), axis=axis)


@translates("Split")
def _split_evenly(call: Call) -> list[str]:
    axis, count = call.axis(0, call.rank(1)), call.op.num_outputs
    if count == 1:
        return [call[1]]
    size = call.dims(1)[axis]
    if size is not None:
        return _split(call, call[1], [size // count] * count, axis)
    each = call.emit("Div", call.size_of(1, axis), call.make.ints(count))
    sizes = call.emit("Expand", each, call.make.ints(count))
    return call.make.emit_many("Split", [call[1], sizes], count, axis=axis)


@translates("SplitV")
def _split_by_sizes(call: Call) -> list[str]:
    axis, count = call.axis(2, call.rank(0)), call.op.num_outputs
    value = call.value(1)
    if count == 1:
        return [call[0]]
    if value is None:
        raise Inexpressible("the sizes of its parts are computed")
    sizes = value.tolist()
    if -1 in sizes:
        whole = call.dims(0)[axis]
        others = sum(sizes) + 1
        if whole is None:
            sizes_name = call.emit("Sub", call.size_of(0, axis), call.make.ints(others))
            parts = [sizes_name if size == -1 else call.make.ints(size) for size in sizes]
            joined = call.emit("Concat", *parts, axis=0)
            return call.make.emit_many("Split", [call[0], joined], count, axis=axis)
        sizes[sizes.index(-1)] = whole - others
    return _split(call, call[0], sizes, axis)


@translates("Tile")
def _tile(call: Call) -> str:
    return call.emit("Tile", call[0], call.ints(1))


@translates("Shape")
def _shape(call: Call) -> str:
    return call.make.sizes_as(call.emit("Shape", call[0]), call.out_dtype())


@translates("ShapeN")
def _shapes(call: Call) -> list[str]:
    return [call.make.sizes_as(call.emit("Shape", name), call.out_dtype()) for name in call.names]


@translates("Size")
def _size(call: Call) -> str:
    return call.make.sizes_as(call.emit("Size", call[0]), call.out_dtype())


@translates("Rank")
def _rank(call: Call) -> str:
    rank = call.emit("Shape", call.emit("Shape", call[0]))
    return call.make.sizes_as(call.make.squeeze(rank, 0), np.int32)


@translates("Fill")
def _fill(call: Call) -> str:
    return call.emit("Expand", call[1], call.ints(0))


@translates("ZerosLike", "OnesLike")
def _like(call: Call) -> str:
    number = call.like(0, float(call.op.type == "OnesLike"))
    return call.emit("Expand", number, call.shape_of(0))


@translates("BroadcastTo")
def _broadcast(call: Call) -> str:
    return call.emit("Expand", call[0], call.ints(1))


@translates("BroadcastArgs")
def _broadcast_args(call: Call) -> str:
    one = call.const(np.int64(1))
    whole = call.emit("Expand", call.emit("Expand", one, call.ints(0)), call.ints(1))
    return call.make.sizes_as(call.emit("Shape", whole), call.out_dtype())


@translates("Range")
def _range(call: Call) -> str:
    return call.emit("Range", *call.names)


@translates("LinSpace")
def _lin_space(call: Call) -> str:
    start, stop, dtype = call[0], call[1], call.dtype(0)
    zero, one = call.const(np.int64(0)), call.const(np.int64(1))
    count = call.ints(2)
    steps = call.make.cast(call.emit("Range", zero, count, one), dtype)
    gaps = call.make.cast(call.emit("Max", call.emit("Sub", count, one), one), dtype)
    step = call.emit("Div", call.emit("Sub", stop, start), gaps)
    return call.emit("Add", start, call.emit("Mul", steps, step))


@translates("Pad", "PadV2", "MirrorPad")
def _pad(call: Call) -> str:
    if call.shape(0) == ():
        return call[0]
    value = call.value(1)
    if value is not None:
        pads = call.const(np.asarray(value, np.int64).T.reshape(-1))
    else:
        pads = call.make.reshape(call.make.transpose(call.ints(1), [1, 0]), -1)
    if call.op.type == "MirrorPad":
        if call.attr("mode") == "REFLECT":
            return call.emit("Pad", call[0], pads, mode="reflect")
        return _symmetric(call)
    fill = call[2] if call.op.type == "PadV2" else call.like(0, 0)
    return call.emit("Pad", call[0], pads, fill, mode="constant")


def _symmetric(call: Call) -> str:
    """The edges again, mirrored: one slice backwards on each side."""
    name = call[0]
    for axis, (before, after) in enumerate(call.known(1, "padding").tolist()):
        parts = [name]
        if before:
            parts.insert(0, call.make.slice(name, axis, before - 1, -(1 << 40), -1))
        if after:
            parts.append(call.make.slice(name, axis, -1, -after - 1, -1))
        if len(parts) > 1:
            name = call.emit("Concat", *parts, axis=axis)
    return name


@translates("ReverseV2")
def _reverse(call: Call) -> str:
    rank = call.rank(0)
    name = call[0]
    axes = [int(axis) % rank for axis in call.known(1, "axes").tolist()]
    if not axes:
        return name
    ends = call.make.ints(*[-(1 << 40)] * len(axes))
    starts = call.make.ints(*[-1] * len(axes))
    return call.emit("Slice", name, starts, ends, call.make.ints(*axes), starts)


@translates("ReverseSequence")
def _reverse_sequence(call: Call) -> str:
    sequence, batch = int(call.attr("seq_dim")), int(call.attr("batch_dim"))
    rank = call.rank(0)
    rest = [axis for axis in range(rank) if axis not in (sequence, batch)]
    perm = [sequence, batch, *rest]
    back = [perm.index(axis) for axis in range(rank)]
    moved = call.make.transpose(call[0], perm)
    turned = call.emit("ReverseSequence", moved, call.ints(1), time_axis=0, batch_axis=1)
    return call.make.transpose(turned, back)


@translates("SpaceToDepth")
def _space_to_depth(call: Call) -> str:
    _check_nhwc(call)
    size = int(call.attr("block_size"))
    moved = call.make.transpose(call[0], [0, 3, 1, 2])
    return call.make.transpose(call.emit("SpaceToDepth", moved, blocksize=size), [0, 2, 3, 1])


@translates("DepthToSpace")
def _depth_to_space(call: Call) -> str:
    _check_nhwc(call)
    moved = call.make.transpose(call[0], [0, 3, 1, 2])
    spread = call.emit("DepthToSpace", moved, blocksize=int(call.attr("block_size")), mode="DCR")
    return call.make.transpose(spread, [0, 2, 3, 1])


def _check_nhwc(call: Call) -> None:
    if call.attr("data_format") != "NHWC":
        raise Inexpressible(f"its data format is {call.attr('data_format')}")


def _blocks(call: Call) -> tuple[list[int], str]:
    """The block's sizes, and the paddings or crops, int64 of shape (axes, 2)."""
    if call.op.type in ("SpaceToBatch", "BatchToSpace"):
        return [int(call.attr("block_size"))] * 2, call.ints(1)
    return [int(size) for size in call.known(1, "block shape")], call.ints(2)


def _column(call: Call, pairs: str, index: int) -> str:
    return call.emit("Gather", pairs, call.const(np.int64(index)), axis=1)


@translates("SpaceToBatchND", "SpaceToBatch")
def _space_to_batch(call: Call) -> str:
    block, pairs = _blocks(call)
    rank, count = call.rank(0), len(block)
    rest = rank - 1 - count
    zero, zeros = call.make.ints(0), call.make.ints(*[0] * rest)
    before, after = _column(call, pairs, 0), _column(call, pairs, 1)
    pads = call.emit("Concat", zero, before, zeros, zero, after, zeros, axis=0)
    padded = call.emit("Pad", call[0], pads, call.like(0, 0), mode="constant")
    # [batch, s0 / b0, b0, s1 / b1, b1, ..., rest]
    shape = call.emit("Shape", padded)
    parts = [call.emit("Gather", shape, call.make.ints(0))]
    for axis, size in enumerate(block):
        whole = call.emit("Gather", shape, call.make.ints(axis + 1))
        parts += [call.emit("Div", whole, call.make.ints(size)), call.make.ints(size)]
    tail = call.emit("Slice", shape, call.make.ints(count + 1), call.make.ints(rank))
    split = call.emit("Reshape", padded, call.emit("Concat", *parts, tail, axis=0))
    within = [2 * axis + 2 for axis in range(count)]
    outer = [2 * axis + 1 for axis in range(count)]
    last = [2 * count + 1 + axis for axis in range(rest)]
    moved = call.make.transpose(split, [*within, 0, *outer, *last])
    sizes = [parts[2 * axis + 1] for axis in range(count)]
    batch = call.emit("Mul", parts[0], call.make.ints(math.prod(block)))
    return call.emit("Reshape", moved, call.emit("Concat", batch, *sizes, tail, axis=0))


@translates("BatchToSpaceND", "BatchToSpace")
def _batch_to_space(call: Call) -> str:
    block, pairs = _blocks(call)
    rank, count = call.rank(0), len(block)
    shape = call.emit("Shape", call[0])
    batch = call.emit("Div", call.emit("Gather", shape, call.make.ints(0)), call.make.ints(math.prod(block)))
    rest = call.emit("Slice", shape, call.make.ints(1), call.make.ints(rank))
    split = call.emit("Reshape", call[0], call.emit("Concat", call.make.ints(*block), batch, rest, axis=0))
    perm = [count]
    for axis in range(count):
        perm += [count + 1 + axis, axis]
    perm += range(2 * count + 1, rank + count)
    moved = call.make.transpose(split, perm)
    inner = call.emit("Slice", shape, call.make.ints(1), call.make.ints(count + 1))
    sizes = call.emit("Mul", inner, call.make.ints(*block))
    tail = call.emit("Slice", shape, call.make.ints(count + 1), call.make.ints(rank))
    joined = call.emit("Reshape", moved, call.emit("Concat", batch, sizes, tail, axis=0))
    ends = call.emit("Sub", sizes, _column(call, pairs, 1))
    return call.emit("Slice", joined, _column(call, pairs, 0), ends, call.make.ints(*range(1, count + 1)))


@translates("RandomUniform", "RandomStandardNormal")
def _random(call: Call) -> str:
    name = "RandomUniformLike" if call.op.type == "RandomUniform" else "RandomNormalLike"
    frame = call.emit("Expand", call.const(np.zeros((), call.out_dtype())), call.ints(0))
    return call.emit(name, frame)
