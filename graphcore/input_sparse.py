"""Sparse tensors through queues: each is kept in a map, and the queue carries its number there.

Source: tensorflow/python/training/input.py (r1.15), behaviour and names of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .conditional import smart_cond
from .convert import constant
from .default import colocate_with, control_dependencies
from .dtypes import int64
from .errors import InvalidValueError
from .op import raw_ops
from .ops.array_create import ones
from .ops.array_select import gather
from .ops.array_shape import expand_dims, squeeze, tf_shape
from .sparse import retain
from .sparse_tensor import SparseTensor

_MAPS = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


@dataclass(frozen=True, slots=True)
class Info:
    """Where a tensor of an example is kept.

    Attributes:
        map_op: The operation that has the map; None for a dense tensor.
        rank: The rank of the sparse tensor of an example, or None where it is not known.
    """

    map_op: Any = None
    rank: int | None = None

    def fits(self, other: Info) -> bool:
        """Whether both can be of one source."""
        return self.map_op is other.map_op and (self.rank == other.rank or None in (self.rank, other.rank))


def store(
    tensors: list[Any], enqueue_many: bool, keep: Any, shared: list[Any] | None = None
) -> tuple[list[Any], list[Info]]:
    """The tensors as they go into the queue: of a sparse one its number, or numbers.

    Args:
        tensors: Tensors and sparse tensors.
        enqueue_many: Axis 0 goes over examples.
        keep: A bool tensor: which to store; what is not stored has number -1.
        shared: For each tensor the operation whose map is used, or None for a new one.
    """
    stored, infos = [], []
    for tensor, map_op in zip(tensors, shared or [None] * len(tensors)):
        if not isinstance(tensor, SparseTensor):
            stored.append(tensor)
            infos.append(Info())
            continue
        number = _store_sparse(tensor, enqueue_many, keep, map_op)
        rank = tensor.dense_shape.shape.with_rank(1).as_list()[0]
        if rank is not None and enqueue_many:
            rank -= 1
        infos.append(Info(map_op or _storing(number), rank))
        stored.append(number)
    return [
        expand_dims(item, [-1]) if info.map_op is not None else item for item, info in zip(stored, infos)
    ], infos


def _store_sparse(tensor: SparseTensor, enqueue_many: bool, keep: Any, map_op: Any) -> Any:
    name = map_op.name if map_op is not None else ""
    many = enqueue_many or keep.shape.ndims == 1

    def add(kept: SparseTensor = tensor) -> Any:
        make = raw_ops.AddManySparseToTensorsMap if many else raw_ops.AddSparseToTensorsMap
        return make(kept.indices, kept.values, kept.dense_shape, shared_name=name)

    if keep.shape.ndims == 1:
        return add(retain(tensor, gather(keep, tensor.indices[:, 0])))
    if not many:
        return smart_cond(keep, add, lambda: constant(-1, int64))
    result = smart_cond(keep, add, lambda: -1 * ones(tf_shape(tensor)[0:1], int64))
    result.set_shape([None])
    return result


def _storing(number: Any) -> Any:
    """The operation that stores: behind the Merge of a cond, or that itself."""
    before = [tensor.op for tensor in number.op.inputs if tensor.op.type in _MAPS]
    return before[0] if before else number.op


def store_join(sources: list[list[Any]], enqueue_many: bool, keep: Any) -> tuple[list[list[Any]], list[Info]]:
    """As `store`, for several sources that share the maps.

    Raises:
        ValueError: They do not have sparse tensors in the same places, of the same ranks.
    """
    stored, infos = store(sources[0], enqueue_many, keep)
    result = [stored]
    for source in sources[1:]:
        stored, found = store(source, enqueue_many, keep, [info.map_op for info in infos])
        if len(found) != len(infos) or not all(map(Info.fits, infos, found)):
            raise InvalidValueError(f"Inconsistent SparseTensors list: {sources[0]} vs. {source}")
        infos = [Info(a.map_op, b.rank if a.rank is None else a.rank) for a, b in zip(infos, found)]
        result.append(stored)
    return result, infos


def restore(dequeued: Any, infos: list[Info]) -> Any:
    """The tensors of a batch: numbers become sparse tensors again, each with one more axis."""
    is_list = isinstance(dequeued, (list, tuple))
    tensors = [
        _restore_sparse(item, info) if info.map_op is not None else item
        for item, info in zip(dequeued if is_list else [dequeued], infos)
    ]
    if any(isinstance(item, SparseTensor) for item in tensors):
        # Whoever fetches one takes all out of their maps, else the others would stay there for ever.
        values = [item.values if isinstance(item, SparseTensor) else item for item in tensors]

        def after(tensor: Any) -> Any:
            with control_dependencies(values):
                return raw_ops.Identity(tensor, name="control_dependency")

        tensors = [
            SparseTensor(after(item.indices), after(item.values), after(item.dense_shape))
            if isinstance(item, SparseTensor)
            else after(item)
            for item in tensors
        ]
    return tensors if is_list else tensors[0]


def _restore_sparse(numbers: Any, info: Info) -> SparseTensor:
    numbers, source = squeeze(numbers, [1]), info.map_op
    with colocate_with(source):
        shared = source.get_attr("shared_name").decode() or source.name
        indices, values, shape = raw_ops.TakeManySparseFromTensorsMap(
            numbers, dtype=source.get_attr("T"), shared_name=shared
        )
    rank = None if info.rank is None else info.rank + 1
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)
