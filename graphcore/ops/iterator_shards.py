"""tf.data's iterators for several devices: the elements are dealt out to shards in turn.

Source: tensorflow/core/kernels/data/multi_device_iterator_ops.cc (r1.15), behaviour and texts.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

import numpy as np

from ..datasets import DatasetIterator, Row, as_dataset
from ..errors import InvalidArgumentError, OutOfRangeError
from ..op import op
from ..shapes import Shape
from . import rules
from .data_flow import named_resource
from .dataset import NO_GRAD, OUT, declared_shapes
from .string import text_of

_DEVICES = "devices: list(string) >= 1"


class _Shards:
    """Where a session stands in a dataset whose elements go to several shards.

    Args:
        name: For messages and string handles.
        count: How many shards there are.
    """

    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self._count = count
        self._iterator = DatasetIterator(name)
        self._waiting: list[deque[Row]] = []
        self._turn = self._incarnation = 0
        self._lock = threading.Lock()

    def start(self, dataset: Any) -> int:
        """Begins with a dataset; the number that later calls must know."""
        with self._lock:
            self._iterator.start(as_dataset(dataset))
            self._waiting = [deque() for _ in range(self._count)]
            self._turn = 0
            self._incarnation += 1
            return self._incarnation

    def next(self, ctx: Any, shard: int, incarnation: int) -> Row | None:
        """The next element of a shard, or None after the last."""
        with self._lock:
            if incarnation != self._incarnation:
                raise InvalidArgumentError(
                    f"Invalid incarnation id. Provided: {incarnation}; Expected: {self._incarnation}"
                )
            if not 0 <= shard < self._count:
                raise InvalidArgumentError(f"There is no shard {shard} among {self._count}")
            while not self._waiting[shard]:
                row = self._iterator.next(ctx)
                if row is None:
                    return None
                self._waiting[self._turn].append(row)
                self._turn = (self._turn + 1) % self._count
            return self._waiting[shard].popleft()


def _known(ctx: Any) -> dict[str, _Shards]:
    known: dict[str, _Shards] = ctx.state.resource("multi device iterators", "", "", dict)
    return known


@op(
    "MultiDeviceIterator",
    "-> handle: resource",
    _DEVICES,
    "shared_name: string",
    "container: string",
    *OUT,
    stateful=True,
    no_grad=NO_GRAD,
)
def multi_device_iterator(ctx: Any, *, node: Any) -> Any:
    """An iterator whose elements go to several devices in turn."""
    count = len(node.attr("devices"))
    return named_resource(ctx, "multi device iterator", node, lambda name: _Shards(name, count))


multi_device_iterator.shape(rules.scalar)


@op(
    "AnonymousMultiDeviceIterator",
    "-> handle: resource, deleter: variant",
    _DEVICES,
    *OUT,
    stateful=True,
    no_grad=NO_GRAD,
)
def anonymous_multi_device_iterator(ctx: Any, *, node: Any) -> tuple[Any, Any]:
    """Such an iterator for this run, and what deletes it."""
    return _Shards(f"AnonymousMultiDeviceIterator_{node.name}", len(node.attr("devices"))), None


anonymous_multi_device_iterator.shape(lambda node: [(), ()])


@op(
    "MultiDeviceIteratorInit",
    "dataset: variant, multi_device_iterator: resource, max_buffer_size: int64 -> incarnation_id: int64",
    stateful=True,
    ctx=False,
    no_grad=NO_GRAD,
)
def multi_device_iterator_init(dataset: Any, multi_device_iterator: Any, max_buffer_size: Any) -> Any:
    """Sets an iterator to the beginning of a dataset, and gives the number that reading it takes."""
    return np.array(multi_device_iterator.start(dataset), np.int64)


multi_device_iterator_init.shape(rules.scalar)


@op(
    "MultiDeviceIteratorGetNextFromShard",
    "multi_device_iterator: resource, shard_num: int32, incarnation_id: int64 -> components: output_types",
    *OUT,
    stateful=True,
    no_grad=NO_GRAD,
)
def multi_device_iterator_get_next_from_shard(
    ctx: Any, multi_device_iterator: Any, shard_num: Any, incarnation_id: Any
) -> Any:
    """The next element of a shard; OutOfRangeError after the last."""
    row = multi_device_iterator.next(ctx, int(shard_num), int(incarnation_id))
    if row is None:
        raise OutOfRangeError("End of sequence")
    return list(row)


multi_device_iterator_get_next_from_shard.shape(declared_shapes)


@op(
    "MultiDeviceIteratorToStringHandle",
    "multi_device_iterator: resource -> string_handle: string",
    stateful=True,
    no_grad=NO_GRAD,
)
def multi_device_iterator_to_string_handle(ctx: Any, multi_device_iterator: Any) -> Any:
    """A string that stands for an iterator in this session."""
    _known(ctx)[multi_device_iterator.name] = multi_device_iterator
    return np.array(multi_device_iterator.name.encode(), object)


multi_device_iterator_to_string_handle.shape(rules.scalar)


@op(
    "MultiDeviceIteratorFromStringHandle",
    "string_handle: string -> multi_device_iterator: resource",
    "output_types: list(type) >= 0 = []",
    "output_shapes: list(shape) >= 0 = []",
    stateful=True,
    no_grad=NO_GRAD,
)
def multi_device_iterator_from_string_handle(ctx: Any, string_handle: Any) -> Any:
    """The iterator that a string stands for."""
    name = text_of(np.asarray(string_handle, object).item())
    found = _known(ctx).get(name)
    if found is None:
        raise InvalidArgumentError(f"'{name}' is no string handle of such an iterator of this session")
    return found


multi_device_iterator_from_string_handle.shape(rules.scalar)


@op(
    "DeleteMultiDeviceIterator",
    "multi_device_iterator: resource, iterators: N * resource, deleter: variant ->",
    "N: int >= 0",
    stateful=True,
    ctx=False,
    no_grad=NO_GRAD,
)
def delete_multi_device_iterator(multi_device_iterator: Any, iterators: Any, deleter: Any) -> None:
    """Nothing: what nobody holds goes by itself."""


@delete_multi_device_iterator.shape
def _(node: Any) -> list[Shape]:
    return []
