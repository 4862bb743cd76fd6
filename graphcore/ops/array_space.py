"""Moving spatial positions into the batch or the channels, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..dtypes import ANY, INDEX, int32
from ..errors import InvalidArgumentError, InvalidValueError
from ..op import GraphOp, op, raw_ops
from ..shapes import Dim, Shape, format_shape, merge, with_rank, with_rank_at_least, with_value


def _pairs(pairs: Any, count: int, name: str) -> list[list[int]]:
    if np.shape(pairs) != (count, 2):
        raise InvalidArgumentError(
            f"{name} should have shape [{count}, 2] instead of {format_shape(np.shape(pairs))}"
        )
    if np.any(np.less(pairs, 0)):
        raise InvalidArgumentError(f"{name.capitalize()} must be non-negative: {np.asarray(pairs).tolist()}")
    result: list[list[int]] = np.asarray(pairs).tolist()
    return result


def _blocks(block_shape: Any, rank: int) -> list[int]:
    blocks = np.reshape(block_shape, -1).tolist()
    if rank < len(blocks) + 1:
        raise InvalidArgumentError(f"input rank should be >= {len(blocks) + 1} instead of {rank}")
    if any(block < 1 for block in blocks):
        raise InvalidArgumentError(f"block_shape must be positive: {blocks}")
    return blocks


@op(
    "SpaceToBatchND",
    "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T",
    T=ANY,
    Tblock_shape=(INDEX, int32),
    Tpaddings=(INDEX, int32),
)
def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any) -> Any:
    """Zero-pads, then makes a batch entry of each of the interleaved sub-images."""
    blocks = _blocks(block_shape, input.ndim)
    pairs = _pairs(paddings, len(blocks), "paddings")
    spatial = input.shape[1 : 1 + len(blocks)]
    rest = input.shape[1 + len(blocks) :]
    sizes = [size + before + after for size, (before, after) in zip(spatial, pairs, strict=True)]
    split: list[int] = []
    for axis, (size, block) in enumerate(zip(sizes, blocks, strict=True)):
        if size % block:
            raise InvalidArgumentError(
                f"padded_shape[{axis}]={size} is not divisible by block_shape[{axis}]={block}"
            )
        split += [size // block, block]
    padded = np.pad(input, [(0, 0), *map(tuple, pairs), *[(0, 0)] * len(rest)])
    count = len(blocks)
    turned = padded.reshape(input.shape[0], *split, *rest).transpose(
        *[2 * axis + 2 for axis in range(count)],
        0,
        *[2 * axis + 1 for axis in range(count)],
        *range(2 * count + 1, 2 * count + 1 + len(rest)),
    )
    return turned.reshape(input.shape[0] * math.prod(blocks), *split[::2], *rest)


@op(
    "BatchToSpaceND",
    "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T",
    T=ANY,
    Tblock_shape=(INDEX, int32),
    Tcrops=(INDEX, int32),
)
def batch_to_space_nd(input: Any, block_shape: Any, crops: Any) -> Any:
    """Interleaves the sub-images that SpaceToBatchND took apart, then crops."""
    blocks = _blocks(block_shape, input.ndim)
    pairs = _pairs(crops, len(blocks), "crops")
    count, total = len(blocks), math.prod(blocks)
    if input.shape[0] % total:
        raise InvalidArgumentError(
            f"Input batch dimension ({input.shape[0]}) is not divisible by product of block sizes ({total})"
        )
    spatial, rest = input.shape[1 : 1 + count], input.shape[1 + count :]
    order = [count]
    for axis in range(count):
        order += [count + 1 + axis, axis]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    batch = input.shape[0] // total
    turned = input.reshape(*blocks, batch, *spatial, *rest).transpose(order)
    sizes = [size * block for size, block in zip(spatial, blocks, strict=True)]
    index: list[slice] = [slice(None)]
    for axis, (size, (before, after)) in enumerate(zip(sizes, pairs, strict=True)):
        if before + after > size:
            raise InvalidArgumentError(f"cropped_shape[{axis}]={size - before - after} must be non-negative")
        index.append(slice(before, size - after))
    return np.ascontiguousarray(turned.reshape(batch, *sizes, *rest)[tuple(index)])


def _space_shape(node: Any, to_batch: bool) -> Shape:
    source = with_rank_at_least(node.shape(0), 2)
    blocks, pairs = node.value(1), node.value(2)
    (count,) = with_rank(node.shape(1), 1)
    if count is None:  # TensorFlow refuses to build it
        return None if source is None else (None,) * len(source)
    source = with_rank_at_least(source, count + 1)
    _check_pairs(node.shape(2), count)
    if source is None:
        return None
    if blocks is None:
        return (*[None] * (count + 1), *source[count + 1 :])
    return _block_shape(source, blocks, pairs, to_batch)


def _check_pairs(shape: Shape, count: int) -> None:
    merge(with_rank(shape, 2), (count, 2))


def _block_shape(source: tuple[Dim, ...], blocks: Any, pairs: Any, to_batch: bool) -> Shape:
    sizes = np.reshape(blocks, -1).tolist()
    with_rank_at_least(source, len(sizes) + 1)
    batch = source[0]
    for size in sizes:
        batch = _scaled(batch, size, to_batch)
    result: list[Dim] = [batch]
    for axis, block in enumerate(sizes):
        size = source[axis + 1]
        if size is None or pairs is None:
            result.append(None)
            continue
        extra = int(np.sum(pairs[axis]))
        result.append(_scaled(size + extra, block, False) if to_batch else _cropped(size * block, extra))
    return (*result, *source[len(sizes) + 1 :])


def _scaled(size: Dim, factor: int, up: bool) -> Dim:
    if size is None:
        return None
    if up:
        return size * factor
    if size % factor:
        raise InvalidValueError(f"Dimension size must be evenly divisible by {factor} but is {size}")
    return size // factor


def _cropped(size: int, extra: int) -> int:
    if extra > size:
        raise InvalidValueError(f"Negative dimension size caused by subtracting {extra} from {size}")
    return size - extra


space_to_batch_nd.shape(lambda node: _space_shape(node, True))
batch_to_space_nd.shape(lambda node: _space_shape(node, False))
space_to_batch_nd.grad(lambda node, dy: [raw_ops.BatchToSpaceND(dy, *node.inputs[1:]), None, None])
batch_to_space_nd.grad(lambda node, dy: [raw_ops.SpaceToBatchND(dy, *node.inputs[1:]), None, None])


def _square_op(name: str, other: str, argument: str, dtype: str, nd: GraphOp) -> None:
    """Declares SpaceToBatch or BatchToSpace: images, and one block size for height and width."""
    to_batch = name == "SpaceToBatch"

    def kernel(input: Any, pairs: Any, *, block_size: int) -> Any:
        if input.ndim != 4:
            raise InvalidArgumentError(f"Input rank should be: 4 instead of: {input.ndim}")
        return nd.kernel(input, np.full(2, block_size, np.int32), pairs)

    declared = op(
        name,
        f"input: T, {argument}: {dtype} -> output: T",
        "block_size: int >= 2",
        text=f"{nd.name} of images, with one block size for height and width.",
        T=ANY,
        **{dtype: (INDEX, int32)},
    )(kernel)

    @declared.shape
    def _(node: Any) -> Shape:
        source = with_rank(node.shape(0), 4)
        _check_pairs(node.shape(1), 2)
        return _block_shape(source, [node.attr("block_size")] * 2, node.value(1), to_batch)

    declared.grad(
        lambda node, dy: [
            getattr(raw_ops, other)(dy, node.inputs[1], block_size=node.attr("block_size")),
            None,
        ]
    )


_square_op("SpaceToBatch", "BatchToSpace", "paddings", "Tpaddings", space_to_batch_nd)
_square_op("BatchToSpace", "SpaceToBatch", "crops", "Tidx", batch_to_space_nd)


def _depth_op(name: str, other: str) -> GraphOp:
    """Declares SpaceToDepth or DepthToSpace."""
    to_depth = name == "SpaceToDepth"
    text = (
        "Blocks of positions moved into the channels."
        if to_depth
        else "Channels moved into blocks of positions."
    )

    def kernel(input: Any, *, block_size: int, data_format: str) -> Any:
        if input.ndim != 4:
            raise InvalidArgumentError(f"Input rank should be 4 instead of: {input.ndim}")
        if data_format not in ("NHWC", "NCHW"):
            raise InvalidArgumentError(f"The data format {data_format} is not possible on a CPU")
        last = np.moveaxis(input, 1, -1) if data_format == "NCHW" else input
        batch, height, width, depth = last.shape
        if to_depth:
            if height % block_size or width % block_size:
                raise InvalidArgumentError(
                    f"Image height {height} and width {width} should be divisible by block_size: {block_size}"
                )
            parts = last.reshape(
                batch, height // block_size, block_size, width // block_size, block_size, depth
            )
            result = parts.transpose(0, 1, 3, 2, 4, 5).reshape(
                batch, height // block_size, width // block_size, depth * block_size**2
            )
        else:
            if depth % block_size**2:
                raise InvalidArgumentError(
                    f"Input depth dimension {depth} should be divisible by: {block_size**2}"
                )
            rest = depth // block_size**2
            parts = last.reshape(batch, height, width, block_size, block_size, rest)
            result = parts.transpose(0, 1, 3, 2, 4, 5).reshape(
                batch, height * block_size, width * block_size, rest
            )
        return np.ascontiguousarray(np.moveaxis(result, -1, 1)) if data_format == "NCHW" else result

    declared = op(
        name,
        "input: T -> output: T",
        "block_size: int >= 2",
        "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
        T=ANY,
        text=text,
    )(kernel)

    @declared.shape
    def _(node: Any) -> Shape:
        data_format, block = node.attr("data_format"), node.attr("block_size")
        packed = data_format == "NCHW_VECT_C"  # which no kernel for a CPU takes; channels in fours, last
        source = with_rank(node.shape(0), 5 if packed else 4)
        if packed:
            with_value(source[4], 4)
        depth = 3 if data_format == "NHWC" else 1
        result: list[Dim] = [source[0], *[None] * 3]
        for axis in range(1, 4):
            is_depth = axis == depth
            result[axis] = _scaled(source[axis], block**2 if is_depth else block, is_depth == to_depth)
        return (*result, 4) if packed else tuple(result)

    @declared.grad
    def _(node: Any, dy: Any) -> Any:
        options = {key: node.attr(key) for key in ("block_size", "data_format")}
        return getattr(raw_ops, other)(dy, **options)

    return declared


space_to_depth_op = _depth_op("SpaceToDepth", "DepthToSpace")
depth_to_space_op = _depth_op("DepthToSpace", "SpaceToDepth")


# TensorFlow's Python functions


def space_to_depth(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """`tf.space_to_depth`: blocks of positions moved into the channels."""
    return space_to_depth_op(input, block_size, data_format=data_format, name=name)


def depth_to_space(input: Any, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Any:
    """`tf.depth_to_space`: channels moved into blocks of positions."""
    return depth_to_space_op(input, block_size, data_format=data_format, name=name)


def space_to_batch(
    input: Any, paddings: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> Any:
    """`tf.space_to_batch`: SpaceToBatchND with one block size for height and width."""
    size = block_size if block_shape is None else block_shape
    return space_to_batch_nd(input, np.full(2, size, np.int32), paddings, name=name)


def batch_to_space(
    input: Any, crops: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> Any:
    """`tf.batch_to_space`: BatchToSpaceND with one block size for height and width."""
    size = block_size if block_shape is None else block_shape
    return batch_to_space_nd(input, np.full(2, size, np.int32), crops, name=name)
